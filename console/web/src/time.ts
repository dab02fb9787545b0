/** Times as people read them: in their own time zone, and relative to now. */

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const
const MAX_RELATIVE_MS = 14 * DAY_MS

/** Such as "in 3 hr." or "2 days ago"; a date if that is long ago or far ahead. */
export function toRelative(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime()
  if (Math.abs(ms) > MAX_RELATIVE_MS) return toDate(at)
  const [unit, unitMs] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? ['second', 1000]
  if (unit === 'second') return Math.abs(ms) < 10_000 ? 'now' : ms < 0 ? 'just now' : 'in < 1 min.'
  return relative.format(Math.trunc(ms / unitMs), unit)
}

/** Whether the person's clock has 24 hours rather than AM and PM. */
export const HAS_24_HOURS = !new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12
/** "09:30", but "9:30 AM". */
const hour = HAS_24_HOURS ? '2-digit' : 'numeric'

// Creating a format is slow.
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { hour, minute: '2-digit' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

export const toDate = (at: Date): string => date.format(at)
export const toClock = (at: Date): string => clock.format(at)
/** With the time zone. */
export const toExact = (at: Date): string => exact.format(at)

const inZone = new Map<string, Intl.DateTimeFormat>()

/** Date and time of day in a time zone, such as "Mon, Nov 23, 9:30 AM". */
export function toZoned(at: Date, timeZone?: string): string {
  const key = timeZone ?? ''
  let format = inZone.get(key)
  if (!format) {
    const zone = timeZone === undefined ? {} : { timeZone }
    const fields = { weekday: 'short', month: 'short', day: 'numeric', hour, minute: '2-digit' } as const
    format = new Intl.DateTimeFormat(undefined, { ...fields, ...zone })
    inZone.set(key, format)
  }
  return format.format(at)
}

/** Such as "84 ms", "3.2 s", "4 min 12 s" or "2 h 5 min". */
export function toDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
