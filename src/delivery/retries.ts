/** When a run that was not taken is sent again. */

const MINUTE_MS = 60_000

/** The pause after each attempt: the run has one attempt more than there are pauses, over some four hours. */
const PAUSES_MS = [1, 5, 15, 60, 180].map((minutes) => minutes * MINUTE_MS)

/** Each pause grows by up to this share of itself, at random, so that what failed together does not come back together. */
const JITTER = 0.2

/**
 * When to try again; undefined after the last attempt.
 * @param attempts how many there have been.
 * @param random from 0 to 1.
 */
export function nextAttempt(attempts: number, now: Date, random: number): Date | undefined {
  const pauseMs = PAUSES_MS[attempts - 1]
  return pauseMs === undefined ? undefined : new Date(now.getTime() + pauseMs * (1 + JITTER * random))
}
