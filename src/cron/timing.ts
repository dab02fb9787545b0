/** When a schedule fires: by a cron expression in a time zone, or once. */
import { nextRun } from './next-run.ts'

export interface Timing {
  /** Null if the schedule fires once. */
  readonly cron: string | null
  /** ISO 8601 in UTC; null if the schedule fires by its cron expression. */
  readonly runAt: string | null
  readonly timezone: string
}

/** The next time after this one, in ISO 8601; null if the schedule does not fire any more. */
export function nextTime({ cron, runAt, timezone }: Timing, after: Date): string | null {
  if (cron !== null) return nextRun(cron, timezone, after).toISOString()
  return runAt !== null && runAt > after.toISOString() ? runAt : null
}
