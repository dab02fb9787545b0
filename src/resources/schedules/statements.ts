/** The schedules of projects and of agents, in SQL, once for both kinds of parent. */
import { and, asc, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { explaining, isInReach, mayAct, now } from '../../access/guard.ts'
import { exceededQuota } from '../../access/quotas.ts'
import { insertRow } from '../../db/rows.ts'
import { agents, apiKeys, deletions, projects, schedules } from '../../db/schema.ts'
import { guarded, guardedChange, query, type Statement } from '../../db/statement.ts'

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

/** Joins the schedules of the parent that the request names to `apiKeys`. */
function isOfParent(parentType: ParentType, table: typeof schedules | typeof repeated) {
  return and(
    eq(table.organizationId, apiKeys.organizationId),
    eq(table.parentType, parentType),
    eq(table.parentId, parentId),
  )
}

/** Joins the schedule that the request names to `apiKeys`. */
export function isSchedule(parentType: ParentType) {
  return and(isOfParent(parentType, schedules), eq(schedules.id, scheduleId))
}

/** The parent that the request names, as it is joined to `apiKeys`, and what is explained of it. */
export function parentOf(parentType: ParentType) {
  const parent = parentType === 'project' ? projects : agents
  // Agents belong to no project, so every key of the organization reaches them.
  const inReach = parentType === 'project' ? isInReach(projects.id) : sql<0 | 1>`1`
  return {
    parent,
    isParent: and(eq(parent.organizationId, apiKeys.organizationId), eq(parent.id, parentId)),
    inReach,
    facts: {
      parentExists: sql<0 | 1>`${isNotNull(parent.id)}`.as('parentExists'),
      inReach: sql<0 | 1>`${inReach}`.as('inReach'),
      isArchived: sql<0 | 1>`${isNotNull(parent.archivedAt)}`.as('isArchived'),
    },
  }
}

function creating(parentType: ParentType) {
  const { parent, isParent, inReach, facts } = parentOf(parentType)
  const scheduleCount = sql<number>`${query
    .select({ count: sql`count(*)` })
    .from(schedules)
    .where(isOfParent(parentType, schedules))}`

  const exceeded = exceededQuota({ schedules: sql`1` })

  const explainCreation = guarded(() =>
    explaining({
      ...facts,
      isRepeated: sql<0 | 1>`${isNotNull(schedules.id)}`.as('isRepeated'),
      exceededQuota: exceeded.as('exceededQuota'),
    })
      .leftJoin(parent, isParent)
      .leftJoin(
        schedules,
        and(isOfParent(parentType, schedules), eq(schedules.idempotencyKey, idempotencyKey)),
      ),
  )

  const insert = guardedChange(() =>
    query
      .insert(schedules)
      .select(
        query
          .select(
            insertRow(schedules, {
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
          .where(
            and(
              mayAct,
              inReach,
              isNull(parent.archivedAt),
              sql`${scheduleCount} < ${scheduleLimit}`,
              isNull(exceeded),
            ),
          ),
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

/** What there is to say of a schedule once it has been running (contract.ts). */
interface State {
  pausedReason: string | null
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
  fields: Record<keyof Schedule, SQLiteColumn | SQL.Aliased>,
) {
  const { parent, isParent, inReach, facts } = parentOf(parentType)
  const state = { ...fields, pausedReason: schedules.pausedReason }
  const isIt = isSchedule(parentType)

  const explain = guarded(() =>
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
  const selectCreated = guarded(() =>
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
  const list = guarded(() =>
    query
      .select(state)
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

  const retrieve = guarded(() =>
    query
      .select(state)
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
  /** True if it goes on as it was: then what came due and has not fired yet still does. */
  const goesOn = sql`${schedules.nextRunAt} is not null and ${schedules.cron} = coalesce(${cron}, ${schedules.cron})
    and ${schedules.timezone} = coalesce(${timezone}, ${schedules.timezone})`
  /** What is null stays as it is. The next run was computed from what the row must still have, where the request lacks it. */
  const update = guardedChange(() =>
    query
      .update(schedules)
      .set({
        cron: sql`coalesce(${cron}, ${schedules.cron})`,
        timezone: sql`coalesce(${timezone}, ${schedules.timezone})`,
        enabledAt,
        nextRunAt: sql`case when ${enabledAt} is null then null when ${goesOn} then ${schedules.nextRunAt}
          else ${sql.placeholder('nextRunAt')} end`,
        pausedReason: sql`case when ${enabled} then null else ${schedules.pausedReason} end`,
        updatedAt: sql`${now}`,
      })
      .where(
        and(
          isChangeable,
          sql`${schedules.cron} = coalesce(${sql.placeholder('seenCron')}, ${schedules.cron})`,
          sql`${schedules.timezone} = coalesce(${sql.placeholder('seenTimezone')}, ${schedules.timezone})`,
        ),
      )
      .returning(state),
  )

  /** So that the purge removes what hangs on it. */
  const remember = guarded(() =>
    query.insert(deletions).select(
      query
        .select(
          insertRow(deletions, {
            organizationId: schedules.organizationId,
            resourceType: sql`'schedule'`,
            resourceId: schedules.id,
            deletedAt: now,
          }),
        )
        .from(schedules)
        .where(isChangeable),
    ),
  )
  const remove = guardedChange(() =>
    query.delete(schedules).where(isChangeable).returning({ id: schedules.id }),
  )

  // The rows have the fields, which the type checker can't follow through a generic selection.
  return {
    explain,
    removals: [remember, remove] as const,
    selectCreated: selectCreated as Statement<Schedule>,
    ...({ list, retrieve, update } as Record<'list' | 'retrieve' | 'update', Statement<Schedule & State>>),
  }
}

const times = {
  enabledAt: schedules.enabledAt,
  lastRunAt: schedules.lastRunAt,
  nextRunAt: schedules.nextRunAt,
  createdAt: schedules.createdAt,
  updatedAt: schedules.updatedAt,
}

export const projectSchedules = {
  ...creating('project'),
  ...lifeOf<ProjectSchedule>('project', {
    id: schedules.id,
    projectId: sql<string>`${schedules.parentId}`.as('projectId'),
    cron: schedules.cron,
    timezone: schedules.timezone,
    ...times,
  }),
}

export const agentSchedules = {
  ...creating('agent'),
  ...lifeOf<AgentSchedule>('agent', {
    id: schedules.id,
    agentId: sql<string>`${schedules.parentId}`.as('agentId'),
    cron: schedules.cron,
    ...times,
  }),
}
