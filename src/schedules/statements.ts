/** The schedules of projects and of agents, in SQL, once for both kinds of parent. */
import { and, asc, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { explaining, isInReach, mayAct, now } from '../access/caller.ts'
import { agents, apiKeys, projects, schedules } from '../db/schema.ts'
import { compile, query, rowOf, type Statement } from '../db/statement.ts'

const parentId = sql.placeholder('parentId')
const id = sql.placeholder('id')
const scheduleId = sql.placeholder('scheduleId')
const cron = sql.placeholder('cron')
const timezone = sql.placeholder('timezone')
const enabled = sql.placeholder('enabled')
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')
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

/** The parent that the request names, as it is joined to `apiKeys`, and what is explained of it. */
function parentOf(parent: Parent, inReach: SQL<0 | 1>) {
  return {
    isParent: and(eq(parent.organizationId, apiKeys.organizationId), eq(parent.id, parentId)),
    facts: {
      parentExists: sql<0 | 1>`${isNotNull(parent.id)}`.as('parentExists'),
      inReach: sql<0 | 1>`${inReach}`.as('inReach'),
      isArchived: sql<0 | 1>`${isNotNull(parent.archivedAt)}`.as('isArchived'),
    },
  }
}

function creating(parentType: ParentType, parent: Parent, inReach: SQL<0 | 1>) {
  const { isParent, facts } = parentOf(parent, inReach)
  const scheduleCount = sql<number>`${query
    .select({ count: sql`count(*)` })
    .from(schedules)
    .where(isOfParent(parentType, schedules))}`

  const explainCreation = compile(
    explaining({
      ...facts,
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
          .select(
            rowOf(schedules, {
              organizationId: parent.organizationId,
              parentType,
              parentId: parent.id,
              id,
              cron,
              timezone,
              enabledAt: now,
              nextRunAt: sql.placeholder('nextRunAt'),
              createdAt: now,
              updatedAt: now,
              idempotencyKey,
              idempotencyFingerprint,
            }),
          )
          .from(apiKeys)
          .innerJoin(parent, isParent)
          .where(and(mayAct, inReach, isNull(parent.archivedAt), sql`${scheduleCount} < ${scheduleLimit}`)),
      )
      .onConflictDoNothing(),
  )

  return { explainCreation, insert }
}

/** True if it is this request's own schedule, or the earlier request had an equal body. */
const isAnswer = or(
  isNull(schedules.idempotencyKey),
  eq(schedules.idempotencyFingerprint, idempotencyFingerprint),
)

/** SPEC.txt, Project schedule. */
export interface ProjectSchedule extends Timetable {
  projectId: string
  timezone: string
}

/** SPEC.txt, Agent schedule. */
export interface AgentSchedule extends Timetable {
  agentId: string
}

interface Timetable {
  id: string
  cron: string
  enabledAt: string | null
  lastRunAt: string | null
  nextRunAt: string | null
  createdAt: string
  updatedAt: string
}

/** The life of a schedule. @param fields the schedule in the shape of the wire (SPEC.txt, Project schedule, Agent schedule). */
function lifeOf<Schedule>(
  parentType: ParentType,
  parent: Parent,
  inReach: SQL<0 | 1>,
  fields: Record<keyof Schedule, SQLiteColumn | SQL.Aliased>,
) {
  const { isParent, facts } = parentOf(parent, inReach)
  const isIt = and(isOfParent(parentType, schedules), eq(schedules.id, scheduleId))

  const explain = compile(
    explaining({
      ...facts,
      scheduleExists: sql<0 | 1>`${isNotNull(parent.id)} and ${isNotNull(schedules.id)}`.as('scheduleExists'),
    })
      .leftJoin(parent, isParent)
      .leftJoin(schedules, isIt),
  )

  const repeatedId = query
    .select({ id: repeated.id })
    .from(repeated)
    .where(and(isOfParent(parentType, repeated), eq(repeated.idempotencyKey, idempotencyKey)))
  /** The schedule that this request made, or that an earlier one with the same `Idempotency-Key` made. */
  const selectCreated = compile(
    query
      .select(fields)
      .from(apiKeys)
      .innerJoin(parent, isParent)
      .innerJoin(
        schedules,
        and(isOfParent(parentType, schedules), eq(schedules.id, sql`coalesce(${repeatedId}, ${id})`)),
      )
      .where(and(mayAct, inReach, isAnswer)),
  )

  /** The organization whose schedules may be listed, or NULL, which matches no row. */
  const listedFrom = query
    .select({ organizationId: parent.organizationId })
    .from(apiKeys)
    .innerJoin(parent, isParent)
    .where(and(mayAct, inReach))
  const list = compile(
    query
      .select(fields)
      .from(schedules)
      .where(
        and(
          eq(schedules.organizationId, listedFrom),
          eq(schedules.parentType, parentType),
          eq(schedules.parentId, parentId),
          gt(schedules.id, cursor),
        ),
      )
      .orderBy(asc(schedules.id))
      .limit(rowLimit),
  )

  const retrieve = compile(
    query
      .select(fields)
      .from(apiKeys)
      .innerJoin(parent, isParent)
      .innerJoin(schedules, isIt)
      .where(and(mayAct, inReach)),
  )

  /** The organization whose schedule may be changed, or NULL, which matches no row. */
  const changeableFrom = query
    .select({ organizationId: parent.organizationId })
    .from(apiKeys)
    .innerJoin(parent, isParent)
    .where(and(mayAct, inReach, isNull(parent.archivedAt)))
  const isChangeable = and(
    eq(schedules.organizationId, changeableFrom),
    eq(schedules.parentType, parentType),
    eq(schedules.parentId, parentId),
    eq(schedules.id, scheduleId),
  )
  const enabledAt = sql`case when ${enabled} is null then ${schedules.enabledAt}
    when ${enabled} then coalesce(${schedules.enabledAt}, ${now}) end`
  /** What is null stays as it is. The next run was computed from what the row must still have, where the request lacks it. */
  const update = compile(
    query
      .update(schedules)
      .set({
        cron: sql`coalesce(${cron}, ${schedules.cron})`,
        timezone: sql`coalesce(${timezone}, ${schedules.timezone})`,
        enabledAt,
        nextRunAt: sql`case when ${enabledAt} is not null then ${sql.placeholder('nextRunAt')} end`,
        updatedAt: sql`${now}`,
      })
      .where(
        and(
          isChangeable,
          sql`${schedules.cron} = coalesce(${sql.placeholder('seenCron')}, ${schedules.cron})`,
          sql`${schedules.timezone} = coalesce(${sql.placeholder('seenTimezone')}, ${schedules.timezone})`,
        ),
      )
      .returning(fields),
  )

  const remove = compile(query.delete(schedules).where(isChangeable).returning({ id: schedules.id }))

  // The rows have the fields, which the type checker can't follow through a generic selection.
  return {
    explain,
    remove,
    ...({ selectCreated, list, retrieve, update } as Record<
      'selectCreated' | 'list' | 'retrieve' | 'update',
      Statement<Schedule>
    >),
  }
}

const times = {
  enabledAt: schedules.enabledAt,
  lastRunAt: schedules.lastRunAt,
  nextRunAt: schedules.nextRunAt,
  createdAt: schedules.createdAt,
  updatedAt: schedules.updatedAt,
}
const projectReach = isInReach(projects.id)
/** Agents belong to no project, so every key of the organization reaches them. */
const agentReach = sql<1>`1`

export const projectSchedules = {
  ...creating('project', projects, projectReach),
  ...lifeOf<ProjectSchedule>('project', projects, projectReach, {
    id: schedules.id,
    projectId: sql<string>`${schedules.parentId}`.as('projectId'),
    cron: schedules.cron,
    timezone: schedules.timezone,
    ...times,
  }),
}

export const agentSchedules = {
  ...creating('agent', agents, agentReach),
  ...lifeOf<AgentSchedule>('agent', agents, agentReach, {
    id: schedules.id,
    agentId: sql<string>`${schedules.parentId}`.as('agentId'),
    cron: schedules.cron,
    ...times,
  }),
}
