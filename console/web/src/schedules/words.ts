/** A schedule in words. */
import cronstrue from 'cronstrue'
import type { ScheduleSummary } from '../api.ts'
import { HAS_24_HOURS, toZoned } from '../time.ts'

const OPTIONS = { use24HourTimeFormat: HAS_24_HOURS, trimHoursLeadingZero: !HAS_24_HOURS, verbose: false }

type When = Pick<ScheduleSummary, 'cron' | 'runAt' | 'timezone'>

/** Such as "At 09:30, Monday through Friday". */
export function describeWhen({ cron, runAt, timezone }: When): string {
  if (runAt !== null) return `Once, on ${toZoned(new Date(runAt), timezone)}`
  return cron === null ? 'Never' : describeCron(cron)
}

export function describeCron(cron: string): string {
  try {
    return cronstrue.toString(cron, OPTIONS)
  } catch {
    return cron
  }
}
