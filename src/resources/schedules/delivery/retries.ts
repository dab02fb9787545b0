/** When a failed delivery is retried. */

const MINUTE_MS = 60_000

/** The pause after each attempt but the last: six attempts over about four hours. */
const PAUSES_MS = [1, 5, 15, 60, 180].map((minutes) => minutes * MINUTE_MS)

/** Each pause grows by a random share of up to this, so that runs that failed together are not retried together. */
const JITTER = 0.2

/**
 * The time of the next attempt; undefined after the last one.
 * @param attempts the number of attempts so far.
 * @param random from 0 to 1.
 */
export function nextAttempt(attempts: number, now: Date, random: number): Date | undefined {
  const pauseMs = PAUSES_MS[attempts - 1]
  return pauseMs === undefined ? undefined : new Date(now.getTime() + pauseMs * (1 + JITTER * random))
}
