/** Computes when a schedule fires next. Pure: the instant to start from is an argument. */
import { DAY_MS } from '../durations.ts'
import { type Cron, parseCron } from './expression.ts'
import { type Clock, nextChange, offsetAt, toInstant, type WallTimeMs, wallClock } from './timezone.ts'

const MINUTE_MS = 60_000

/**
 * The instants at which the expression fires in the time zone, from the first one strictly after `after` on.
 *
 * Fixed times follow the wall clock (docs/contract-work.md, Schedules): times in a skipped hour fire once, at the first
 * instant after the gap; times in a repeated hour fire the first time. Intervals fire at every real minute that
 * matches.
 *
 * @param expression a valid cron expression (expression.ts).
 * @param timezone a time zone that the runtime knows.
 */
export function* runsAfter(expression: string, timezone: string, after: Date): Generator<Date, never> {
  const cron = parseCron(expression)
  const clock = wallClock(timezone)
  const next = cron.hasFixedTimes ? nextFixedTime : nextRealMinute
  for (let at = after.getTime(); ; ) {
    at = next(cron, clock, at)
    yield new Date(at)
  }
}

/** The first of them. */
export function nextRun(expression: string, timezone: string, after: Date): Date {
  return runsAfter(expression, timezone, after).next().value
}

/**
 * The last instant at which the expression fires, from `due`, at which it fires, up to `until`. A binary search,
 * because the span may be long.
 */
export function latestRun(expression: string, timezone: string, due: Date, until: Date): Date {
  let [latest, end] = [due.getTime(), until.getTime()]
  while (latest < end) {
    const middle = Math.floor((latest + end) / 2)
    const next = nextRun(expression, timezone, new Date(middle)).getTime()
    if (next <= until.getTime()) latest = next
    else end = middle
  }
  return new Date(latest)
}

/** Walks through the readings that match, until the clock shows one of them after `after`. */
function nextFixedTime(cron: Cron, clock: Clock, after: number): number {
  let reading = clock(after)
  for (;;) {
    reading = nextReading(cron, reading)
    const instant = toInstant(reading, clock)
    if (instant > after) return instant
    // The clock repeats these readings, and they fired the first time.
    const change = nextChange(instant, after, clock)
    if (change !== undefined) reading = change + offsetAt(instant, clock) - 1
  }
}

/** The largest difference of two offsets of a time zone: summer time and a move across the date line together. */
const MAX_REPETITION_MS = 2 * DAY_MS

/**
 * Walks through real time from one change of the offset to the next. In between, readings and real time advance alike.
 */
function nextRealMinute(cron: Cron, clock: Clock, after: number): number {
  let from = after + 1
  for (;;) {
    const offset = offsetAt(from, clock)
    const instant = nextReading(cron, from + offset - 1) - offset
    const change = nextChange(from, Math.min(instant, from + MAX_REPETITION_MS), clock)
    if (change !== undefined) from = change
    else if (instant <= from + MAX_REPETITION_MS) return instant
    // No reading matches before, so only a change of the offset close to this instant matters.
    else from = instant - MAX_REPETITION_MS
  }
}

/** The first whole minute after this reading that matches. */
function nextReading(cron: Cron, after: WallTimeMs): WallTimeMs {
  const date = new Date(Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS)
  for (;;) {
    if (!cron.months.has(date.getUTCMonth() + 1)) date.setUTCMonth(date.getUTCMonth() + 1, 1)
    else if (!isDay(cron, date)) date.setUTCDate(date.getUTCDate() + 1)
    else if (!cron.hours.has(date.getUTCHours())) {
      date.setUTCHours(date.getUTCHours() + 1, 0)
      continue
    } else if (!cron.minutes.has(date.getUTCMinutes())) {
      date.setUTCMinutes(date.getUTCMinutes() + 1)
      continue
    } else return date.getTime()
    date.setUTCHours(0, 0)
  }
}

function isDay({ daysOfMonth, daysOfWeek, isAnyDayOfMonth, isAnyDayOfWeek }: Cron, date: Date): boolean {
  const isDayOfMonth = daysOfMonth.has(date.getUTCDate())
  const isDayOfWeek = daysOfWeek.has(date.getUTCDay())
  return isAnyDayOfMonth || isAnyDayOfWeek ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek
}
