/** Creating a schedule, in SQL, for both kinds of parent. */
import { and, eq, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { explaining, isInReach, mayAct, now } from '../access/caller.ts'
import { agents, apiKeys, projects, schedules } from '../db/schema.ts'
import { compile, query } from '../db/statement.ts'

const parentId = sql.placeholder('parentId')
const id = sql.placeholder('id')
const idempotencyKey = sql.placeholder('idempotencyKey')
const idempotencyFingerprint = sql.placeholder('idempotencyFingerprint')
const scheduleLimit = sql.placeholder('scheduleLimit')

/** The schedule that an earlier request with the same `Idempotency-Key` made. */
const repeated = alias(schedules, 'repeated')

type ParentType = 'project' | 'agent'
type Parent = typeof projects | typeof agents

/** Joins the schedules of the parent that the request names to `apiKeys`. */
function isOfParent(parentType: ParentType, table: typeof schedules | typeof repeated) {
  return and(
    eq(table.organizationId, apiKeys.organizationId),
    eq(table.parentType, parentType),
    eq(table.parentId, parentId),
  )
}

function creating(parentType: ParentType, parent: Parent, inReach: SQL<0 | 1>) {
  const isParent = and(eq(parent.organizationId, apiKeys.organizationId), eq(parent.id, parentId))
  const scheduleCount = sql<number>`${query
    .select({ count: sql`count(*)` })
    .from(schedules)
    .where(isOfParent(parentType, schedules))}`

  const explain = compile(
    explaining({
      parentExists: sql<0 | 1>`${isNotNull(parent.id)}`.as('parentExists'),
      inReach: sql<0 | 1>`${inReach}`.as('inReach'),
      isArchived: sql<0 | 1>`${isNotNull(parent.archivedAt)}`.as('isArchived'),
      scheduleCount: scheduleCount.as('scheduleCount'),
      isRepeated: sql<0 | 1>`${isNotNull(schedules.id)}`.as('isRepeated'),
    })
      .leftJoin(parent, isParent)
      .leftJoin(
        schedules,
        and(isOfParent(parentType, schedules), eq(schedules.idempotencyKey, idempotencyKey)),
      ),
  )

  const insert = compile(
    query
      .insert(schedules)
      .select(
        query
          .select({
            organizationId: sql<string>`${parent.organizationId}`.as('organizationId'),
            parentType: sql<ParentType>`${parentType}`.as('parentType'),
            parentId: sql<string>`${parent.id}`.as('parentId'),
            id: sql<string>`${id}`.as('id'),
            cron: sql<string>`${sql.placeholder('cron')}`.as('cron'),
            timezone: sql<string>`${sql.placeholder('timezone')}`.as('timezone'),
            enabledAt: sql<string>`${now}`.as('enabledAt'),
            lastRunAt: sql<null>`null`.as('lastRunAt'),
            nextRunAt: sql<string>`${sql.placeholder('nextRunAt')}`.as('nextRunAt'),
            createdAt: sql<string>`${now}`.as('createdAt'),
            updatedAt: sql<string>`${now}`.as('updatedAt'),
            idempotencyKey: sql<string | null>`${idempotencyKey}`.as('idempotencyKey'),
            idempotencyFingerprint: sql<string | null>`${idempotencyFingerprint}`.as(
              'idempotencyFingerprint',
            ),
          })
          .from(apiKeys)
          .innerJoin(parent, isParent)
          .where(and(mayAct, inReach, isNull(parent.archivedAt), sql`${scheduleCount} < ${scheduleLimit}`)),
      )
      .onConflictDoNothing(),
  )

  return { explain, insert }
}

/** Joins the schedule that this request made, or that an earlier one with the same `Idempotency-Key` made. */
function isCreated(parentType: ParentType) {
  const repeatedId = query
    .select({ id: repeated.id })
    .from(repeated)
    .where(and(isOfParent(parentType, repeated), eq(repeated.idempotencyKey, idempotencyKey)))
  return and(isOfParent(parentType, schedules), eq(schedules.id, sql`coalesce(${repeatedId}, ${id})`))
}

/** True if it is this request's own schedule, or the earlier request had an equal body. */
const isAnswer = or(
  isNull(schedules.idempotencyKey),
  eq(schedules.idempotencyFingerprint, idempotencyFingerprint),
)

export const projectSchedules = {
  ...creating('project', projects, isInReach(projects.id)),
  selectCreated: compile(
    query
      .select({
        id: schedules.id,
        projectId: sql<string>`${schedules.parentId}`.as('projectId'),
        cron: schedules.cron,
        timezone: schedules.timezone,
        enabledAt: schedules.enabledAt,
        lastRunAt: schedules.lastRunAt,
        nextRunAt: schedules.nextRunAt,
        createdAt: schedules.createdAt,
        updatedAt: schedules.updatedAt,
      })
      .from(apiKeys)
      .innerJoin(schedules, isCreated('project'))
      .where(and(mayAct, isInReach(schedules.parentId), isAnswer)),
  ),
}

/** Agents belong to no project, so every key of the organization reaches them. */
export const agentSchedules = {
  ...creating('agent', agents, sql<1>`1`),
  selectCreated: compile(
    query
      .select({
        id: schedules.id,
        agentId: sql<string>`${schedules.parentId}`.as('agentId'),
        cron: schedules.cron,
        enabledAt: schedules.enabledAt,
        lastRunAt: schedules.lastRunAt,
        nextRunAt: schedules.nextRunAt,
        createdAt: schedules.createdAt,
        updatedAt: schedules.updatedAt,
      })
      .from(apiKeys)
      .innerJoin(schedules, isCreated('agent'))
      .where(and(mayAct, isAnswer)),
  ),
}
