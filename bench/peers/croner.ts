/** What croner takes as the next run. Null if there is none. */
import { Cron } from 'croner'

export function nextRun(expression: string, timezone: string, after: Date): Date | null {
  return new Cron(expression, { timezone, mode: '5-part', sloppyRanges: true }).nextRun(after)
}
