/** Pauses a schedule after a number of failed runs in a row: `pauseAfterFailures`, or the default. */
import { and, isNotNull, type SQL, sql } from 'drizzle-orm'
import { runs, schedules } from '../../../db/schema.ts'

const DEFAULT_FAILURES = 20
/** How many of the latest runs are examined, of which many may have been skipped. */
const MOST_EXAMINED = 1000

const now = sql.placeholder('now')

const mostFailures = sql`coalesce(${schedules.pauseAfterFailures}, ${sql.raw(String(DEFAULT_FAILURES))})`

/**
 * How many of the latest runs failed, of those since the schedule was enabled. A run that was delivered and has no outcome does
 * not count if it will get one, because the schedule has `maxRunSeconds`; otherwise it counts as a success.
 */
const failures = sql`(select count(*) from (
    select "status", row_number() over (order by "scheduledAt" desc) as position from (
      select ${runs.status} as "status", ${runs.scheduledAt} as "scheduledAt" from ${runs}
      where ${runs.organizationId} = ${schedules.organizationId} and ${runs.scheduleId} = ${schedules.id}
        and ${runs.scheduledAt} >= ${schedules.enabledAt}
      order by ${runs.scheduledAt} desc limit ${sql.raw(String(MOST_EXAMINED))}
    ) where "status" in ('succeeded', 'failed') or ("status" = 'delivered' and ${schedules.maxRunSeconds} is null)
  ) where position <= ${mostFailures} and "status" = 'failed')`

export const hasFailedTooOften = and(isNotNull(schedules.enabledAt), sql`${failures} >= ${mostFailures}`)

/** @param failure of the last run. @param error what its receiver or the service said. */
export function paused(failure: SQL, error: SQL) {
  return {
    enabledAt: null,
    nextRunAt: null,
    pausedReason: sql`case ${mostFailures} when 1 then 'A run failed.' else ${mostFailures} || ' runs in a row failed.' end
      || ' The last failure (' || ${failure} || ')' || coalesce(': ' || ${error}, '')`,
    updatedAt: sql`${now}`,
  }
}
