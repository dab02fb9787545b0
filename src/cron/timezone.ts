/** Time zones by name, and the wall clocks in them. */
import { DAY_MS } from '../durations.ts'

const SECOND_MS = 1000

const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]*$/

/** Names that ICU supports for old systems and that are not IANA names. */
const NOT_IANA =
  /^(?:A[CEGR]T|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|P[LNRS]T|SST|VST|SystemV\/.*)$/i

/**
 * Creating an `Intl.DateTimeFormat` is slow, so they are cached. Names are case-insensitive, so there can be more
 * formats than time zones.
 */
const formats = new Map<string, Intl.DateTimeFormat>()
const MAX_FORMATS = 1000

/** True for an IANA name or link that the runtime knows. Offsets such as `+02:00` are not names. */
export function isTimezone(name: string): boolean {
  if (!NAME.test(name) || NOT_IANA.test(name)) return false
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

/** @throws {RangeError} if the runtime does not know the time zone. */
function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    if (formats.size >= MAX_FORMATS) formats.clear()
    formats.set(timezone, format)
  }
  return format
}

/**
 * A wall clock's reading, written as the epoch milliseconds at which a clock in UTC shows the same: a number that
 * can be compared and added to.
 */
export type WallTimeMs = number

/** Tells what the wall clock of a time zone shows at an instant (epoch milliseconds). */
export type Clock = (instantMs: number) => WallTimeMs

/** @throws {RangeError} if the runtime does not know the time zone. */
export function wallClock(timezone: string): Clock {
  // The first `Intl.DateTimeFormat` of a process takes about 15 ms.
  if (timezone === 'UTC') return (instantMs) => instantMs
  const format = formatOf(timezone)
  return (instantMs) => {
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(instantMs)) part[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part
    return Date.UTC(year, month - 1, day, hour, minute, second) + (instantMs % SECOND_MS)
  }
}

/**
 * What the wall clock of a time zone shows at an instant (epoch milliseconds), with its offset:
 * `2026-03-29T03:00:00+02:00`.
 */
export function localTime(timezone: string, instantMs: number): string {
  const reading = wallClock(timezone)(instantMs)
  const offsetSeconds = (reading - instantMs) / SECOND_MS
  const parts = [offsetSeconds / 3600, (offsetSeconds / 60) % 60, offsetSeconds % 60].map((part) =>
    String(Math.trunc(Math.abs(part))).padStart(2, '0'),
  )
  // Offsets have had whole minutes for a century.
  const offset = (offsetSeconds < 0 ? '-' : '+') + parts.slice(0, parts[2] === '00' ? 2 : 3).join(':')
  return new Date(reading).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length) + offset
}

/**
 * The first instant after `from`, up to `to`, from which the clock is at another offset; to the second. The two are at
 * most some days apart, within which no clock changes twice.
 */
export function nextChange(from: number, to: number, clock: Clock): number | undefined {
  const offset = offsetAt(from, clock)
  if (offsetAt(to, clock) === offset) return undefined
  return firstInstant((instant) => offsetAt(instant, clock) !== offset, from, to)
}

/**
 * The instant at which the wall clock shows `wallTime`: the first, if it shows it twice; the first instant after
 * the gap, if it never does.
 */
export function toInstant(wallTime: WallTimeMs, clock: Clock): number {
  // Offsets are under a day, so the zone's offsets a day earlier and later are those on both sides of any change.
  const before = wallTime - offsetAt(wallTime - DAY_MS, clock)
  const after = wallTime - offsetAt(wallTime + DAY_MS, clock)
  if (before === after) return before
  const matches = [before, after].filter((instant) => clock(instant) === wallTime)
  return matches.length > 0
    ? Math.min(...matches)
    : firstInstant((instant) => clock(instant) >= wallTime, Math.min(before, after), Math.max(before, after))
}

/** How far the clock is ahead of UTC at an instant, in milliseconds. */
export function offsetAt(instantMs: number, clock: Clock): number {
  return clock(instantMs) - instantMs
}

/** The first whole second after `low`, up to `high`, at which it is so; from there on it stays so. */
function firstInstant(isSo: (instantMs: number) => boolean, low: number, high: number): number {
  let [under, over] = [Math.floor(low / SECOND_MS), Math.ceil(high / SECOND_MS)]
  while (over - under > 1) {
    const middle = Math.floor((under + over) / 2)
    if (isSo(middle * SECOND_MS)) over = middle
    else under = middle
  }
  return over * SECOND_MS
}
