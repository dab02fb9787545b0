/**
 * The ids of runs: UUIDs of version 8 (RFC 9562, section 5.8). The first 48 bits are the instant in milliseconds, as in
 * version 7; the others are from the SHA-256 of schedule and instant. So repeated attempts to insert a run have the
 * same id, and ids are in order of time.
 */
// Synchronous, and only the tick and the operations on runs load it.
import { hash } from 'node:crypto'

const TIME_DIGITS = 12

/** @param scheduledAt ISO 8601 in UTC, after 1970. */
export function computeRunId(scheduleId: string, scheduledAt: string): string {
  const time = Date.parse(scheduledAt).toString(16).padStart(TIME_DIGITS, '0')
  const digest = hash('sha256', `${scheduleId} ${scheduledAt}`)
  const variant = '89ab'[Number.parseInt(digest.slice(3, 4), 16) % 4]
  const groups = [
    time.slice(0, 8),
    time.slice(8),
    `8${digest.slice(0, 3)}`,
    `${variant}${digest.slice(4, 7)}`,
    digest.slice(7, 19),
  ]
  return groups.join('-')
}
