/** The schedules of projects and agents, in SQL, written once for both types of parent. */
import { and, asc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { SelectedFields } from 'drizzle-orm/sqlite-core'
import { now } from '../../access/guard.ts'
import { newRevision } from '../../access/revision.ts'
import { insertRow } from '../../db/rows.ts'
import { apiKeys, deletions, schedules } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import {
  agentPreconditions,
  earlier,
  isOfParent,
  type ParentType,
  projectPreconditions,
} from './preconditions.ts'

const id = sql.placeholder('id')
const scheduleId = sql.placeholder('scheduleId')
const cron = sql.placeholder('cron')
const timezone = sql.placeholder('timezone')
/** 1 resumes the schedule, 0 pauses it, null does neither. */
const enabled = sql.placeholder('enabled')
const idempotencyKey = sql.placeholder('idempotencyKey')
const idempotencyFingerprint = sql.placeholder('idempotencyFingerprint')

/** @param fields a schedule as the API returns it when it is created. */
function statementsOf<Fields extends SelectedFields>(
  parentType: ParentType,
  preconditions: typeof projectPreconditions,
  fields: Fields,
) {
  const { creatable, listable, readable, deletable, updatable } = preconditions
  const parentId = sql.placeholder(`${parentType}Id`)
  const { revision } = schedules
  const state = { ...fields, pausedReason: schedules.pausedReason }

  const insert = guardedChange(() =>
    query.insert(schedules).select(
      creatable.rows(
        insertRow(schedules, {
          organizationId: apiKeys.organizationId,
          parentType,
          parentId,
          id,
          cron,
          timezone,
          enabledAt: now,
          nextRunAt: sql.placeholder('nextRunAt'),
          createdAt: now,
          updatedAt: now,
          idempotencyKey,
          idempotencyFingerprint,
          revision: newRevision,
        }),
      ),
    ),
  )

  const earlierId = query
    .select({ id: earlier.id })
    .from(earlier)
    .where(and(isOfParent(parentType, earlier), eq(earlier.idempotencyKey, idempotencyKey)))
  const hasEqualBody = or(
    isNull(schedules.idempotencyKey),
    eq(schedules.idempotencyFingerprint, idempotencyFingerprint),
  )
  /** The schedule that this request created, or an earlier one with the same `Idempotency-Key` and an equal body. */
  const selectCreated = guarded(() =>
    listable
      .rows({ ...fields, revision }, hasEqualBody)
      .innerJoin(
        schedules,
        and(isOfParent(parentType), eq(schedules.id, sql`coalesce(${earlierId}, ${id})`)),
      ),
  )

  const list = guarded(() =>
    query
      .select(state)
      .from(schedules)
      .where(
        and(
          eq(schedules.organizationId, listable.organizationId),
          eq(schedules.parentType, parentType),
          eq(schedules.parentId, parentId),
          gt(schedules.id, sql.placeholder('cursor')),
        ),
      )
      .orderBy(asc(schedules.id))
      .limit(sql.placeholder('rowLimit')),
  )

  const retrieve = guarded(() => readable.rows({ ...state, revision }))

  const isNamed = and(
    eq(schedules.parentType, parentType),
    eq(schedules.parentId, parentId),
    eq(schedules.id, scheduleId),
  )
  const enabledAt = sql`case when ${enabled} is null then ${schedules.enabledAt}
    when ${enabled} then coalesce(${schedules.enabledAt}, ${now}) end`
  /** True if it was enabled and fires at the same times: then a run that is due and has not fired yet still fires. */
  const keepsNextRun = sql`${schedules.nextRunAt} is not null and ${schedules.cron} = coalesce(${cron}, ${schedules.cron})
    and ${schedules.timezone} = coalesce(${timezone}, ${schedules.timezone})`
  /** Parameters that are null leave their columns unchanged. */
  const update = guardedChange(() =>
    query
      .update(schedules)
      .set({
        cron: sql`coalesce(${cron}, ${schedules.cron})`,
        timezone: sql`coalesce(${timezone}, ${schedules.timezone})`,
        enabledAt,
        nextRunAt: sql`case when ${enabledAt} is null then null when ${keepsNextRun} then ${schedules.nextRunAt}
          else ${sql.placeholder('nextRunAt')} end`,
        pausedReason: sql`case when ${enabled} then null else ${schedules.pausedReason} end`,
        updatedAt: sql`${now}`,
        revision: newRevision,
      })
      .where(and(eq(schedules.organizationId, updatable.organizationId), isNamed))
      .returning({ ...state, revision }),
  )

  /** Has the purge delete the rows that depend on the schedule. */
  const recordDeletion = guarded(() =>
    query.insert(deletions).select(
      deletable.rows(
        insertRow(deletions, {
          organizationId: schedules.organizationId,
          resourceType: sql`'schedule'`,
          resourceId: schedules.id,
          deletedAt: now,
        }),
      ),
    ),
  )
  const remove = guardedChange(() =>
    query
      .delete(schedules)
      .where(and(eq(schedules.organizationId, deletable.organizationId), isNamed))
      .returning({ id: schedules.id }),
  )

  return {
    ...preconditions,
    insert,
    selectCreated,
    list,
    retrieve,
    update,
    deletion: [recordDeletion, remove] as const,
  }
}

const times = {
  enabledAt: schedules.enabledAt,
  lastRunAt: schedules.lastRunAt,
  nextRunAt: schedules.nextRunAt,
  createdAt: schedules.createdAt,
  updatedAt: schedules.updatedAt,
}

export const projectSchedules = statementsOf('project', projectPreconditions, {
  id: schedules.id,
  projectId: sql<string>`${schedules.parentId}`.as('projectId'),
  cron: schedules.cron,
  timezone: schedules.timezone,
  ...times,
})

export const agentSchedules = statementsOf('agent', agentPreconditions, {
  id: schedules.id,
  agentId: sql<string>`${schedules.parentId}`.as('agentId'),
  cron: schedules.cron,
  ...times,
})
