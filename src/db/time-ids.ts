/** IDs that begin with a time: the first 48 bits of a UUID of version 7 or 8 are milliseconds since 1970 (RFC 9562). */

const TIME_DIGITS = 12
/** The last time whose year has four digits, because times are compared as text. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** @param id of any version. @returns ISO 8601 in UTC. */
export function timeOfId(id: string): string {
  const milliseconds = Number.parseInt(id.replace('-', '').slice(0, TIME_DIGITS), 16)
  return new Date(Math.min(milliseconds, LATEST_MS)).toISOString()
}

/** Sorts before the IDs of this time and later ones, and after those of earlier times. @param instant ISO 8601. */
export function startOfIds(instant: string): string {
  const milliseconds = Math.max(Date.parse(instant), 0).toString(16).padStart(TIME_DIGITS, '0')
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`
}
