/** The pauses between attempts to deliver a webhook. */
import { HOUR_MS } from '../durations.ts'

const MINUTE_MS = 60_000
/** After the first attempt, after the second, and so on. */
const PAUSES_MS = [1, 5, 15, 60, 180].map((minutes) => minutes * MINUTE_MS)
/** Each pause grows by a random share of up to this, so that what failed together is not retried together. */
const JITTER = 0.2

/**
 * @param attempts how many have failed.
 * @param lastMs the pause after those of the list.
 * @returns undefined without a pause.
 */
export function pauseAfter(attempts: number): number | undefined
export function pauseAfter(attempts: number, lastMs: number): number
export function pauseAfter(attempts: number, lastMs?: number): number | undefined {
  const pauseMs = PAUSES_MS[attempts - 1] ?? lastMs
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (1 + JITTER * Math.random()))
}

const MAX_RETRY_AFTER_MS = 6 * HOUR_MS

/** How long a `Retry-After` asks to wait, in milliseconds; undefined if it says nothing valid. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (!header) return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}
