/** The run that a schedule gets when it is due, or on request. */
import { and, eq, ne, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { insertRow } from '../../../db/rows.ts'
import { runs, schedules } from '../../../db/schema.ts'
import { now, query } from '../../../db/statement.ts'
import { hasRunEndpoint, runCreatedAt } from '../joins.ts'

/** The deadline of a run that was taken at this time; NULL if its schedule has no `maxRunSeconds`. */
export function deadlineOf(startedAt: SQLWrapper): SQL<string | null> {
  return sql<
    string | null
  >`strftime('%Y-%m-%dT%H:%M:%fZ', ${startedAt}, ${schedules.maxRunSeconds} || ' seconds')`
}

/** Of a run with its schedule: its claim and its time limit have ended, so the next tick fails it. */
export const isTimedOut = sql<0 | 1>`(${runs.status} = 'delivered'
  and coalesce(max(${runs.checkAt}, ${deadlineOf(runs.startedAt)}) <= ${now}, false))`

/**
 * Of a run with its schedule: with the overlap `skip`, its claim or its time limit has ended, and a newer run exists. A time
 * limit that was extended since does not make two runs active.
 */
export const isSuperseded = sql<
  0 | 1
>`(${runs.status} = 'delivered' and coalesce(${schedules.overlap} = 'skip'
  and ${schedules.lastRunAt} > ${runs.scheduledAt}
  and coalesce(${runs.checkAt}, ${deadlineOf(runs.startedAt)}) <= ${now}, false))`

const previous = alias(runs, 'previous')

/** With the overlap `skip`: the time of the run before, if that is pending or active. */
const overlapped = query
  .select({ scheduledAt: previous.scheduledAt })
  .from(previous)
  .where(
    and(
      eq(schedules.overlap, 'skip'),
      eq(previous.organizationId, schedules.organizationId),
      eq(previous.scheduleId, schedules.id),
      eq(previous.scheduledAt, schedules.lastRunAt),
      or(
        eq(previous.status, 'pending'),
        // Until its check or its deadline. A run that was taken before the schedule had a time limit has no check.
        and(
          eq(previous.status, 'delivered'),
          sql`max(coalesce(${previous.checkAt}, ''), ${deadlineOf(previous.startedAt)}) > ${now}`,
        ),
      ),
    ),
  )

interface NewRun {
  readonly scheduledAt: SQLWrapper
  readonly id: SQLWrapper
  /** True if the project or the agent is not archived. */
  readonly isParentActive?: SQL
  readonly idempotencyKey?: SQLWrapper
}

/** The row of a new run of a joined schedule. `checkAt` is bound: a run that has a run endpoint is queued again from then on. */
export function newRun({ scheduledAt, id, isParentActive = sql`true`, idempotencyKey }: NewRun) {
  const skippedBecause = sql`case
    when not (${isParentActive}) then 'The ' || ${schedules.parentType} || ' was archived.'
    when ${schedules.overlap} = 'skip' and ${schedules.lastRunAt} > ${scheduledAt}
      then 'The run of ' || ${schedules.lastRunAt} || ' was created before this one fired.'
    else 'The run of ' || ${overlapped} || ' was not finished.' end`
  const isSkipped = sql`(${skippedBecause}) is not null`
  return insertRow(runs, {
    organizationId: schedules.organizationId,
    scheduleId: schedules.id,
    scheduledAt,
    id,
    parentType: schedules.parentType,
    parentId: schedules.parentId,
    status: sql`case when ${isSkipped} then 'skipped' else 'pending' end`,
    attempts: sql`0`,
    lastError: skippedBecause,
    checkAt: sql`case when not ${isSkipped} and ${hasRunEndpoint} then ${sql.placeholder('checkAt')} end`,
    createdAt: runCreatedAt,
    updatedAt: now,
    ...(idempotencyKey && { idempotencyKey }),
  })
}

/** True for a run that counts as the latest of its schedule. */
export const isFired = ne(runs.status, 'skipped')
