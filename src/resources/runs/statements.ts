/** The runs of schedules, in SQL. */
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { explaining, isInReach, isUnrestricted, mayAct, now } from '../../access/guard.ts'
import { insertRow } from '../../db/rows.ts'
import { agents, apiKeys, projects, runs, schedules } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import {
  hasParent,
  hasRunEndpoint,
  isAgentOf,
  isProjectOf,
  isScheduleOf,
  runCreatedAt,
} from '../schedules/parents.ts'
import { isSchedule, parentOf } from '../schedules/statements.ts'

const scheduleId = sql.placeholder('scheduleId')
const runId = sql.placeholder('runId')
const idempotencyKey = sql.placeholder('idempotencyKey')
/** The instant of a run on request. */
const scheduledAt = sql.placeholder('scheduledAt')
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')

/** A run in the shape of the wire. */
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

/** The run that an earlier request with the same `Idempotency-Key` made. */
const repeated = alias(runs, 'repeated')

function runsOf(parentType: 'project' | 'agent') {
  const { parent, isParent, inReach } = parentOf(parentType)
  const isIt = isSchedule(parentType)

  /** The organization whose runs may be listed, or NULL, which matches no row. */
  const listedFrom = query
    .select({ organizationId: schedules.organizationId })
    .from(apiKeys)
    .innerJoin(parent, isParent)
    .innerJoin(schedules, isIt)
    .where(and(mayAct, inReach))
  const list = guarded(() =>
    query
      .select(fields)
      .from(runs)
      .where(
        and(
          eq(runs.organizationId, listedFrom),
          eq(runs.scheduleId, scheduleId),
          lt(runs.scheduledAt, sql.placeholder('before')),
        ),
      )
      .orderBy(desc(runs.scheduledAt))
      .limit(rowLimit),
  )

  const mayRun = and(mayAct, inReach, isNull(parent.archivedAt))
  const insert = guardedChange(() =>
    query
      .insert(runs)
      .select(
        query
          .select(
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
          )
          .from(apiKeys)
          .innerJoin(parent, isParent)
          .innerJoin(schedules, isIt)
          .where(mayRun),
      )
      .onConflictDoNothing(),
  )

  const isMade = and(
    eq(runs.organizationId, schedules.organizationId),
    eq(runs.scheduleId, schedules.id),
    eq(runs.scheduledAt, scheduledAt),
  )
  /** The organization whose schedule has run now, or NULL, which matches no row. */
  const ranFrom = query
    .select({ organizationId: schedules.organizationId })
    .from(apiKeys)
    .innerJoin(parent, isParent)
    .innerJoin(schedules, isIt)
    .innerJoin(runs, isMade)
    .where(mayRun)
  const recordRun = guarded(() =>
    query
      .update(schedules)
      .set({ lastRunAt: sql`max(coalesce(${schedules.lastRunAt}, ''), ${scheduledAt})` })
      .where(
        and(
          eq(schedules.organizationId, ranFrom),
          eq(schedules.parentType, parentType),
          eq(schedules.parentId, sql.placeholder('parentId')),
          eq(schedules.id, scheduleId),
        ),
      ),
  )

  const repeatedInstant = query
    .select({ scheduledAt: repeated.scheduledAt })
    .from(repeated)
    .where(
      and(
        eq(repeated.organizationId, schedules.organizationId),
        eq(repeated.scheduleId, schedules.id),
        eq(repeated.idempotencyKey, idempotencyKey),
      ),
    )
  /**
   * The run that this request made, or that an earlier one with the same `Idempotency-Key` made; none if the instant was
   * taken by a run of another key.
   */
  const selectCreated = guarded(() =>
    query
      .select(fields)
      .from(apiKeys)
      .innerJoin(parent, isParent)
      .innerJoin(schedules, isIt)
      .innerJoin(
        runs,
        and(
          eq(runs.organizationId, schedules.organizationId),
          eq(runs.scheduleId, schedules.id),
          eq(runs.scheduledAt, sql`coalesce(${repeatedInstant}, ${scheduledAt})`),
          sql`(${idempotencyKey} is null or ${runs.idempotencyKey} = ${idempotencyKey})`,
        ),
      )
      .where(and(mayAct, inReach)),
  )

  return { list, insert, recordRun, selectCreated }
}

export const projectScheduleRuns = runsOf('project')
export const agentScheduleRuns = runsOf('agent')

/** Whatever its status: the index begins with it. */
const ofAnyStatus = inArray(runs.status, ['pending', 'delivered', 'failed', 'skipped'])
const isRun = and(eq(runs.organizationId, apiKeys.organizationId), ofAnyStatus, eq(runs.id, runId))

const isThere = and(isNotNull(schedules.id), hasParent)
const inReach = sql<0 | 1>`(${isNotNull(agents.id)} or ${isInReach(projects.id)})`

export const listRuns = guarded(() =>
  query
    .select(fields)
    .from(apiKeys)
    .innerJoin(
      runs,
      and(
        eq(runs.organizationId, apiKeys.organizationId),
        eq(runs.status, sql.placeholder('status')),
        gt(runs.id, cursor),
      ),
    )
    .leftJoin(schedules, isScheduleOf(runs))
    .leftJoin(projects, isProjectOf(runs))
    .leftJoin(agents, isAgentOf(runs))
    .where(and(mayAct, isUnrestricted, isThere))
    .orderBy(asc(runs.id))
    .limit(rowLimit),
)

export const explainRun = guarded(() =>
  explaining({
    runExists: sql<0 | 1>`${isNotNull(runs.id)} and ${isThere}`.as('runExists'),
    inReach: sql<0 | 1>`${inReach}`.as('inReach'),
  })
    .leftJoin(runs, isRun)
    .leftJoin(schedules, isScheduleOf(runs))
    .leftJoin(projects, isProjectOf(runs))
    .leftJoin(agents, isAgentOf(runs)),
)

/** The organization of the run that the request names, if the caller reaches it, or NULL, which matches no row. */
const reachedFrom = query
  .select({ organizationId: runs.organizationId })
  .from(apiKeys)
  .innerJoin(runs, isRun)
  .leftJoin(schedules, isScheduleOf(runs))
  .leftJoin(projects, isProjectOf(runs))
  .leftJoin(agents, isAgentOf(runs))
  .where(and(mayAct, inReach, isThere))

export const selectRun = guarded(() =>
  query
    .select(fields)
    .from(runs)
    .where(and(eq(runs.organizationId, reachedFrom), ofAnyStatus, eq(runs.id, runId))),
)

/** Changes a pending run only, so that it may be repeated. */
export const acknowledge = guardedChange(() =>
  query
    .update(runs)
    .set({ status: 'delivered', sendAfter: null, updatedAt: sql`${now}` })
    .where(and(eq(runs.organizationId, reachedFrom), eq(runs.status, 'pending'), eq(runs.id, runId))),
)
