/** Time zones by name, and the wall clocks in them. */

const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]*$/

/** Names that ICU knows from old systems and that IANA never had. */
const NOT_IANA =
  /^(?:A[CEGR]T|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|P[LNRS]T|SST|VST|SystemV\/.*)$/i

/** Formats are dear to make. Names come in any case, so there could be more of them than there are time zones. */
const formats = new Map<string, Intl.DateTimeFormat>()
const MOST_FORMATS = 1000

/** True for an IANA name or link that the runtime knows; offsets such as `+02:00` are not names. */
export function isTimezone(name: string): boolean {
  if (!NAME.test(name) || NOT_IANA.test(name)) return false
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

/** @throws {RangeError} if the runtime doesn't know the time zone. */
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
    if (formats.size >= MOST_FORMATS) formats.clear()
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
export function wallClock(timezone: string): (instantMs: number) => WallTimeMs {
  const format = formatOf(timezone)
  return (instantMs) => {
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(instantMs)) part[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}

const DAY_MS = 86_400_000

/**
 * The instant at which the wall clock shows `wallTime`: the first, if it shows it twice; the first instant after
 * the gap, if it never does.
 */
export function instantOf(wallTime: WallTimeMs, clock: (instantMs: number) => WallTimeMs): number {
  // Offsets are under a day, so the zone's offsets a day earlier and later are those on both sides of any change.
  const before = wallTime - offsetAt(wallTime - DAY_MS, clock)
  const after = wallTime - offsetAt(wallTime + DAY_MS, clock)
  const matches = [before, after].filter((instant) => clock(instant) === wallTime)
  return matches.length > 0
    ? Math.min(...matches)
    : firstShowingAtLeast(wallTime, Math.min(before, after), Math.max(before, after), clock)
}

function offsetAt(instantMs: number, clock: (instantMs: number) => WallTimeMs): number {
  return clock(instantMs) - instantMs
}

/** The first instant after `low`, up to `high`, at which the clock shows `wallTime` or later. */
function firstShowingAtLeast(
  wallTime: WallTimeMs,
  low: number,
  high: number,
  clock: (instantMs: number) => WallTimeMs,
): number {
  let [under, over] = [low, high]
  while (over - under > 1000) {
    const middle = under + Math.floor((over - under) / 2000) * 1000
    if (clock(middle) >= wallTime) over = middle
    else under = middle
  }
  return over
}
