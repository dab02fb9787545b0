/** When a schedule fires next. Pure: the instant to start from is an argument. */
import { Cron as CronIterator } from 'croner'
import { parseCron } from './cron.ts'
import { instantOf, wallClock } from './timezone.ts'

/**
 * The first instant strictly after `after` at which the expression fires in the time zone.
 *
 * Fixed times follow the wall clock (docs/contract.md, Schedules): what falls in skipped time fires once, at the first
 * instant after the gap; what falls in repeated time fires the first time. Intervals fire at every real minute that matches.
 *
 * @param expression a valid cron expression (cron.ts).
 * @param timezone a time zone that the runtime knows.
 * @throws if it never fires, which no valid expression does.
 */
export function nextRun(expression: string, timezone: string, after: Date): Date {
  const { pattern, hasFixedTimes } = parseCron(expression)
  return hasFixedTimes ? nextFixedTime(pattern, timezone, after) : nextMatch(pattern, { timezone }, after)
}

/** Walks the wall clock's readings that match, and asks of each when the clock shows it. */
function nextFixedTime(pattern: string, timezone: string, after: Date): Date {
  const clock = wallClock(timezone)
  let reading = new Date(clock(after.getTime()))
  for (;;) {
    reading = nextMatch(pattern, { utcOffset: 0 }, reading)
    const instant = instantOf(reading.getTime(), clock)
    if (instant > after.getTime()) return new Date(instant)
  }
}

function nextMatch(pattern: string, zone: { timezone: string } | { utcOffset: 0 }, after: Date): Date {
  const next = new CronIterator(pattern, { ...zone, mode: '5-part' }).nextRun(after)
  if (!next) throw new Error('A valid cron expression never fires')
  return next
}
