/** Pauses a schedule after a number of failed runs in a row: `pauseAfterFailures`, or the default. */
import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { recordedByService } from '../../../access/events.ts'
import { now } from '../../../db/parameters.ts'
import { jsonRows } from '../../../db/rows.ts'
import { runs, schedules } from '../../../db/schema.ts'
import { query, unguarded } from '../../../db/statement.ts'
import { pausedEvent } from '../joins.ts'
import { MAX_FAILURES } from '../schedules/contract.ts'

const DEFAULT_FAILURES = 20
/** How many of the latest runs are read, of which many may have been skipped. */
const MAX_READ = 1000

const mostFailures = sql`coalesce(${schedules.pauseAfterFailures}, ${sql.raw(String(DEFAULT_FAILURES))})`

/**
 * How many of the latest runs failed, of those since the schedule was enabled. A run that was delivered and has no
 * outcome counts as a success, unless it has `checkAt`: then it has a claim or a time limit, and will get an outcome.
 */
const failures = sql`(select count(*) from (
    select "status", row_number() over (order by "scheduledAt" desc) as position from (
      select * from (
        select ${runs.status} as "status", ${runs.checkAt} as "checkAt", ${runs.scheduledAt} as "scheduledAt" from ${runs}
        where ${runs.organizationId} = ${schedules.organizationId} and ${runs.scheduleId} = ${schedules.id}
          and ${runs.scheduledAt} >= ${schedules.enabledAt}
        order by ${runs.scheduledAt} desc limit ${sql.raw(String(MAX_READ))}
      ) where "status" in ('succeeded', 'failed') or ("status" = 'delivered' and "checkAt" is null)
      limit ${sql.raw(String(MAX_FAILURES))}
    )
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

const failed = jsonRows('failed', 'organizationId', 'scheduleId', 'failure', 'error')

/** The schedules that `pauseFailing` pauses: an event that is recorded before it is one for each. */
const isPaused = and(
  failed.matches(schedules, 'organizationId'),
  eq(schedules.id, failed.column('scheduleId')),
  hasFailedTooOften,
)

/** For the statement after it. */
export const recordPauses = recordedByService({ parameter: failed.parameter }, pausedEvent, (row) =>
  query.select(row).from(failed.table).innerJoin(schedules, isPaused),
)

/** For runs that failed in a statement before. */
export const pauseFailing = unguarded({ parameter: failed.parameter, now }, () =>
  query
    .update(schedules)
    .set(paused(failed.column('failure'), failed.column('error')))
    .from(failed.table)
    .where(isPaused),
)

type FailedRun = Readonly<Record<'organizationId' | 'scheduleId' | 'failure' | 'error', string | null>>

/** The value of `pauseFailing`: the last failure of each schedule. */
export function failuresOf(runs: readonly FailedRun[]) {
  const bySchedule = new Map(runs.map((run) => [`${run.organizationId} ${run.scheduleId}`, run]))
  return { failed: failed.value([...bySchedule.values()]) }
}
