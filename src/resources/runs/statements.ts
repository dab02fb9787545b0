/** The runs of schedules, in SQL. */
import { and, asc, desc, eq, gt, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isInReach, now } from '../../access/guard.ts'
import { precondition, requiring } from '../../access/preconditions.ts'
import { reached, unrestrictedFor } from '../../access/project.ts'
import { asSql, indexedBy, insertRow } from '../../db/rows.ts'
import { agents, apiKeys, projects, runs, schedules } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import {
  hasParent,
  hasRunEndpoint,
  isAgentOf,
  isProjectOf,
  isScheduleOf,
  runCreatedAt,
} from '../schedules/joins.ts'
import { agentPreconditions, type ParentType, projectPreconditions } from '../schedules/preconditions.ts'

const scheduleId = sql.placeholder('scheduleId')
const runId = sql.placeholder('runId')
const idempotencyKey = sql.placeholder('idempotencyKey')
/** The time of the request that creates a run. */
const scheduledAt = sql.placeholder('scheduledAt')
const rowLimit = sql.placeholder('rowLimit')

/** A run as the API returns it. */
const fields = {
  id: runs.id,
  scheduleId: runs.scheduleId,
  projectId: sql<string | null>`case ${runs.parentType} when 'project' then ${runs.parentId} end`.as(
    'projectId',
  ),
  agentId: sql<string | null>`case ${runs.parentType} when 'agent' then ${runs.parentId} end`.as('agentId'),
  scheduledAt: runs.scheduledAt,
  status: runs.status,
  attempts: runs.attempts,
  lastError: runs.lastError,
  createdAt: runs.createdAt,
  updatedAt: runs.updatedAt,
}

/** The run that an earlier request with the same `Idempotency-Key` created. */
const earlier = alias(runs, 'earlier')

function statementsOf(
  parentType: ParentType,
  { readable, changeable }: Pick<typeof projectPreconditions, 'readable' | 'changeable'>,
) {
  const list = guarded(() =>
    query
      .select(fields)
      .from(runs)
      .where(
        and(
          eq(runs.organizationId, readable.organizationId),
          eq(runs.scheduleId, scheduleId),
          lt(runs.scheduledAt, sql.placeholder('before')),
        ),
      )
      .orderBy(desc(runs.scheduledAt))
      .limit(rowLimit),
  )

  const insert = guardedChange(() =>
    query
      .insert(runs)
      .select(
        changeable.rows(
          insertRow(runs, {
            organizationId: schedules.organizationId,
            scheduleId: schedules.id,
            scheduledAt,
            id: sql.placeholder('id'),
            parentType: schedules.parentType,
            parentId: schedules.parentId,
            status: sql`'pending'`,
            attempts: sql`0`,
            sendAfter: sql`case when ${hasRunEndpoint} then ${sql.placeholder('sendAfter')} end`,
            createdAt: runCreatedAt,
            updatedAt: now,
            idempotencyKey,
          }),
        ),
      )
      .onConflictDoNothing(),
  )

  const isRunOfSchedule = and(
    eq(runs.organizationId, schedules.organizationId),
    eq(runs.scheduleId, schedules.id),
  )
  const updateLastRun = guarded(() => {
    const ranOrganization = changeable
      .rows({ organizationId: schedules.organizationId })
      .innerJoin(runs, and(isRunOfSchedule, eq(runs.scheduledAt, scheduledAt)))
    return query
      .update(schedules)
      .set({ lastRunAt: sql`max(coalesce(${schedules.lastRunAt}, ''), ${scheduledAt})` })
      .where(
        and(
          eq(schedules.organizationId, sql`${ranOrganization}`),
          eq(schedules.parentType, parentType),
          eq(schedules.parentId, sql.placeholder(`${parentType}Id`)),
          eq(schedules.id, scheduleId),
        ),
      )
  })

  const earlierInstant = query
    .select({ scheduledAt: earlier.scheduledAt })
    .from(earlier)
    .where(
      and(
        eq(earlier.organizationId, schedules.organizationId),
        eq(earlier.scheduleId, schedules.id),
        eq(earlier.idempotencyKey, idempotencyKey),
      ),
    )
  /**
   * The run that this request created, or an earlier one with the same `Idempotency-Key` or, without one, the same
   * `scheduledAt`. No row: the run of that `scheduledAt` has another `Idempotency-Key`.
   */
  const selectCreated = guarded(() =>
    readable
      .rows(fields)
      .innerJoin(
        runs,
        and(
          isRunOfSchedule,
          eq(runs.scheduledAt, sql`coalesce(${earlierInstant}, ${scheduledAt})`),
          sql`(${idempotencyKey} is null or ${runs.idempotencyKey} = ${idempotencyKey})`,
        ),
      ),
  )

  return { readable, list, changeable, insert, updateLastRun, selectCreated }
}

export const projectScheduleRuns = statementsOf('project', projectPreconditions)
export const agentScheduleRuns = statementsOf('agent', agentPreconditions)

const scheduleExists = and(isNotNull(schedules.id), hasParent)

export const listable = requiring([], {
  isUnrestricted: unrestrictedFor('Lists of all runs', 'List the runs of one schedule instead.'),
})

const isAfterCursor = gt(runs.id, sql.placeholder('cursor'))

/** @param source the runs to list, joined under the name of their table. */
const listStatement = (source: SQL, isListed: SQL) =>
  guarded(() =>
    listable
      .rows(asSql(fields), scheduleExists)
      .innerJoin(source, and(eq(runs.organizationId, apiKeys.organizationId), isAfterCursor, isListed))
      .leftJoin(schedules, isScheduleOf(runs))
      .leftJoin(projects, isProjectOf(runs))
      .leftJoin(agents, isAgentOf(runs))
      .orderBy(asc(runs.id))
      .limit(rowLimit),
  )

export const selectPendingRuns = listStatement(
  indexedBy(runs, 'runsPending'),
  sql`${runs.status} = 'pending'`,
)

/** No index has the other statuses, because it would add a row to every change of a run. So a page examines up to this many. */
export const MOST_EXAMINED = 2500

const isExamined = and(eq(runs.organizationId, listable.organizationId), isAfterCursor)
const examined = sql`(select * from ${runs} where ${isExamined} order by ${runs.id}
  limit ${sql.raw(String(MOST_EXAMINED))}) as ${runs}`

export const selectRunsByStatus = listStatement(examined, eq(runs.status, sql.placeholder('status')))

/** No row if all runs after the cursor were examined. */
export const selectLastExamined = guarded(() =>
  query
    .select({ id: runs.id })
    .from(runs)
    .where(isExamined)
    .orderBy(asc(runs.id))
    .limit(1)
    .offset(MOST_EXAMINED - 1),
)

const isRun = and(eq(runs.organizationId, apiKeys.organizationId), eq(runs.id, runId))

export const accessible = requiring(
  [
    { table: runs, on: isRun },
    { table: schedules, on: isScheduleOf(runs) },
    { table: projects, on: isProjectOf(runs) },
    { table: agents, on: isAgentOf(runs) },
  ],
  {
    runExists: precondition(
      and(isNotNull(runs.id), scheduleExists),
      () => new ApiError('run_not_found', 'There is no run with this runId.'),
    ),
    isInReach: reached(or(isNotNull(agents.id), isInReach(projects.id))),
  },
)

export const selectRun = guarded(() => accessible.rows(fields))

/** Changes only a pending run, so a repeated request changes nothing. */
export const acknowledge = guardedChange(() =>
  query
    .update(runs)
    .set({ status: 'delivered', sendAfter: null, updatedAt: sql`${now}` })
    .where(
      and(eq(runs.organizationId, accessible.organizationId), eq(runs.status, 'pending'), eq(runs.id, runId)),
    ),
)
