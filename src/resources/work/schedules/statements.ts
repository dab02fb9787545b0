/** The schedules of projects and agents, in SQL, written once for both types of parent. */
import { and, asc, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { copyToDeletions } from '../../../access/deletions.ts'
import { eventType, guardedChange, recordedAfter, recordedBefore } from '../../../access/events.ts'
import { isUnrestricted } from '../../../access/guard.ts'
import { precondition, requiring } from '../../../access/preconditions.ts'
import { changed, differs, newRevision, unchangedIf } from '../../../access/revision.ts'
import { hasDeleted, listOf } from '../../../db/examined.ts'
import { cursor, now, numberOrNull, rowLimit, text, textOrNull } from '../../../db/parameters.ts'
import { asSql, columnsIn, containsIfGiven, equalsIfGiven, excluded, indexedBy, insertRow } from '../../../db/rows.ts'
import { apiKeys, runs, schedules } from '../../../db/schema.ts'
import { guarded, query } from '../../../db/statement.ts'
import { hasParent, joinParents, parentIdOf } from '../joins.ts'
import { agentScheduleState, projectScheduleState } from './contract.ts'
import { listRequiresUnrestricted } from './failures.ts'
import {
  agentPreconditions,
  earlier,
  idempotencyKey,
  isOfParent,
  type ParentType,
  parentId,
  projectPreconditions,
  runAt,
  scheduleId,
} from './preconditions.ts'

const id = text('id')
const idempotencyFingerprint = textOrNull('idempotencyFingerprint')
const nextRunAt = textOrNull('nextRunAt')
/** 1 enables the schedule, 0 pauses it; null leaves it as it is. Of a list, 1: the enabled ones, 0: the paused ones. */
const enabled = numberOrNull('enabled')

/** The settings of a schedule, which a PUT replaces and a PATCH changes. */
const SETTINGS = {
  name: textOrNull('name'),
  cron: textOrNull('cron'),
  runAt,
  timezone: text('timezone'),
  overlap: text('overlap'),
  maxRunSeconds: numberOrNull('maxRunSeconds'),
  pauseAfterFailures: numberOrNull('pauseAfterFailures'),
  note: textOrNull('note'),
  payload: textOrNull('payload'),
}
const settingNames = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]
const changedColumn = (name: keyof typeof SETTINGS) => changed(name, schedules[name])
const settingsBy = (settingOf: (name: keyof typeof SETTINGS) => SQL) =>
  Object.fromEntries(settingNames.map((name) => [name, settingOf(name)])) as Record<keyof typeof SETTINGS, SQL>
const excludedSettings = settingsBy(excluded)
const changedSettings = settingsBy(changedColumn)

/** The time from which runs are counted in the statistics of their schedule, and how many of them at most. */
const since = text('since')
const MAX_COUNTED = 2500

type Fields = Readonly<Record<string, SQLiteColumn | SQL.Aliased>>

/**
 * @param created a schedule as the API returns it when it is created by a POST.
 * @param state a schedule as the API returns it later.
 */
function statementsOf<Created extends Fields, State extends Fields>(
  parentType: ParentType,
  preconditions: typeof projectPreconditions,
  created: Created,
  state: State,
) {
  const { creatable, listable, readable, deletable, updating, puttable } = preconditions
  const { revision } = schedules
  const { cron, timezone } = SETTINGS

  /** What the path of a schedule names beside it. */
  const ofParent = parentType === 'project' ? { projectId: parentId } : { parentId }

  const recordedCreation = recordedAfter({ id, parentId }, { type: 'schedule.created', id, ...ofParent })
  const inserted = { id, cron, timezone, nextRunAt, idempotencyFingerprint }
  const insert = guardedChange(creatable, inserted, recordedCreation, () =>
    query.insert(schedules).select(
      creatable.rows(
        insertRow(schedules, {
          organizationId: apiKeys.organizationId,
          id,
          parentType,
          parentId,
          cron,
          timezone,
          overlap: 'allow',
          enabledAt: now,
          nextRunAt,
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
  /** A schedule that got a `runAt` since is not what the creation returns. */
  const isCreated = or(
    isNull(schedules.idempotencyKey),
    and(eq(schedules.idempotencyFingerprint, idempotencyFingerprint), isNotNull(schedules.cron)),
  )
  /** The schedule that this request created, or an earlier one with the same `Idempotency-Key` and an equal body. */
  const selectCreated = guarded(listable, { id, idempotencyKey, idempotencyFingerprint }, () =>
    listable
      .rows({ ...created, revision }, isCreated)
      .innerJoin(schedules, and(isOfParent(parentType), eq(schedules.id, sql`coalesce(${earlierId}, ${id})`))),
  )

  const isEqual = (name: keyof typeof SETTINGS) => sql`${schedules[name]} is ${excluded(name)}`
  const isEqualTiming = sql`${isEqual('cron')} and ${isEqual('runAt')} and (${schedules.cron} is null or ${isEqual('timezone')})`
  /** When a schedule that a PUT replaces was enabled: one that the service paused stays paused. */
  const enabledSince = sql`case when ${enabled} and ${schedules.pausedReason} is null
    then coalesce(${schedules.enabledAt}, ${now}) end`
  const replaced = { ...excludedSettings, enabledAt: enabledSince }
  const recordedPut = recordedBefore(
    puttable,
    { scheduleId, parentId, enabled, ...SETTINGS },
    {
      type: eventType(sql`case when ${isNull(schedules.id)} then 'schedule.created'
        when not ${enabled} and ${schedules.enabledAt} is not null then 'schedule.paused'
        when ${schedules.enabledAt} is null and ${enabledSince} is not null then 'schedule.resumed'
        else 'schedule.updated' end`),
      id: scheduleId,
      name: SETTINGS.name,
      ...ofParent,
    },
    or(isNull(schedules.id), differs(schedules, { ...SETTINGS, enabledAt: enabledSince })),
  )
  /** Creates the schedule, or replaces its settings if one of them differs. */
  const put = guardedChange(puttable, { enabled, nextRunAt, ...SETTINGS }, recordedPut, () =>
    query
      .insert(schedules)
      .select(
        puttable.rows(
          insertRow(schedules, {
            organizationId: apiKeys.organizationId,
            id: scheduleId,
            parentType,
            parentId,
            ...SETTINGS,
            enabledAt: sql`case when ${enabled} then ${now} end`,
            nextRunAt: sql`case when ${enabled} then ${nextRunAt} end`,
            createdAt: now,
            updatedAt: now,
            revision: newRevision,
          }),
        ),
      )
      .onConflictDoUpdate({
        target: [schedules.organizationId, schedules.id],
        set: {
          ...replaced,
          nextRunAt: sql`case when ${enabledSince} is null then null
            when ${schedules.nextRunAt} is not null and ${isEqualTiming} then ${schedules.nextRunAt}
            else ${excluded('nextRunAt')} end`,
          updatedAt: excluded('updatedAt'),
          revision: excluded('revision'),
        },
        setWhere: differs(schedules, replaced),
      }),
  )

  const list = guarded(listable, { cursor, rowLimit }, () =>
    query
      // Drizzle's types have to see a column.
      .select(asSql({ ...state, id: schedules.id }))
      .from(indexedBy(schedules, 'schedulesByParent'))
      .where(
        and(
          eq(schedules.organizationId, listable.organizationId),
          eq(schedules.parentType, parentType),
          eq(schedules.parentId, parentId),
          gt(schedules.id, cursor),
        ),
      )
      .orderBy(asc(schedules.id))
      .limit(rowLimit),
  )

  const retrieve = guarded(readable, {}, () => readable.rows({ ...state, revision }))

  const milliseconds = sql`round(1000 * (unixepoch("finishedAt", 'subsec') - unixepoch("startedAt", 'subsec')))`
  /** In one pass: SQLite would sort all times for a median, and D1 counts each row that is sorted several times. */
  const recent = sql`(select case count(*) when ${sql.raw(String(MAX_COUNTED))} then min("scheduledAt") else ${since} end as "since",
      count(*) filter (where "status" <> 'skipped') as "runs",
      count(*) filter (where "status" = 'succeeded') as "succeeded",
      count(*) filter (where "status" = 'failed') as "failed",
      json_group_array(${milliseconds}) filter (where "status" = 'succeeded' or "failure" = 'task') as "milliseconds"
    from (
      select ${runs.status}, ${runs.failure}, ${runs.scheduledAt}, ${runs.startedAt}, ${runs.finishedAt} from ${runs}
      where ${runs.organizationId} = ${readable.organizationId} and ${runs.scheduleId} = ${scheduleId}
        and ${runs.scheduledAt} >= ${since}
      order by ${runs.scheduledAt} desc limit ${sql.raw(String(MAX_COUNTED))}
    )) as "statistics"`
  const selectStatistics = guarded(readable, { since }, () =>
    query
      .select({
        since: sql<string>`"since"`.as('since'),
        runs: sql<number>`"runs"`.as('runs'),
        succeeded: sql<number>`"succeeded"`.as('succeeded'),
        failed: sql<number>`"failed"`.as('failed'),
        /** How long each run with an outcome took, as a JSON array. */
        milliseconds: sql<string>`"milliseconds"`.as('milliseconds'),
      })
      .from(recent)
      // Without the guard, the counts of no runs would be a row.
      .where(isNotNull(readable.organizationId)),
  )

  const isNamed = and(
    eq(schedules.parentType, parentType),
    eq(schedules.parentId, parentId),
    eq(schedules.id, scheduleId),
  )
  const enabledAt = sql`case when ${enabled} is null then ${schedules.enabledAt}
    when ${enabled} then coalesce(${schedules.enabledAt}, ${now}) end`
  /** True if it was enabled and fires at the same times: then a run that is due and has not fired yet still fires. */
  const keepsNextRun = sql`${schedules.nextRunAt} is not null and ${schedules.cron} is ${changedColumn('cron')}
    and ${schedules.runAt} is ${changedColumn('runAt')}
    and (${schedules.cron} is null or ${schedules.timezone} is ${changedColumn('timezone')})`
  const updated = {
    ...changedSettings,
    enabledAt,
    pausedReason: sql`case when ${enabled} then null else ${schedules.pausedReason} end`,
  }
  /** Also an enabled schedule that lost its next run gets one. */
  const isUpdated = sql`(${differs(schedules, updated)}
    or (${enabledAt} is not null and ${schedules.nextRunAt} is null and ${nextRunAt} is not null))`
  const updatable = requiring(...updating, unchangedIf(isUpdated, { ...state, revision }), { enabled, nextRunAt })
  const recordedUpdate = recordedBefore(
    updatable,
    {},
    {
      type: eventType(sql`case when not ${enabled} and ${schedules.enabledAt} is not null then 'schedule.paused'
        when ${enabled} and ${schedules.enabledAt} is null then 'schedule.resumed'
        else 'schedule.updated' end`),
      id: schedules.id,
      name: changedColumn('name'),
      ...ofParent,
    },
    isUpdated,
  )
  const update = guardedChange(updatable, {}, recordedUpdate, () =>
    query
      .update(schedules)
      .set({
        ...updated,
        nextRunAt: sql`case when ${enabledAt} is null then null when ${keepsNextRun} then ${schedules.nextRunAt}
          else ${nextRunAt} end`,
        updatedAt: sql`${now}`,
        revision: newRevision,
      })
      .where(and(eq(schedules.organizationId, updatable.organizationIdIf(isUpdated)), isNamed))
      .returning({ ...state, revision }),
  )

  const copyDeleted = copyToDeletions(deletable, 'schedule', schedules, {
    [parentType === 'project' ? 'projectId' : 'agentId']: schedules.parentId,
  })
  const recordedRemoval = recordedBefore(
    deletable,
    {},
    {
      type: 'schedule.deleted',
      id: schedules.id,
      name: schedules.name,
      ...ofParent,
    },
  )
  const remove = guardedChange(deletable, {}, recordedRemoval, () =>
    query
      .delete(schedules)
      .where(and(eq(schedules.organizationId, deletable.organizationId), isNamed))
      .returning({ id: schedules.id }),
  )

  return {
    ...preconditions,
    insert,
    selectCreated,
    put,
    list,
    retrieve,
    selectStatistics,
    updatable,
    update,
    copyDeleted,
    remove,
  }
}

const times = {
  enabledAt: schedules.enabledAt,
  lastRunAt: schedules.lastRunAt,
  nextRunAt: schedules.nextRunAt,
  createdAt: schedules.createdAt,
  updatedAt: schedules.updatedAt,
}
/** The cron expression, which a creation by a POST always has. */
const cron = sql<string>`${schedules.cron}`.as('cron')
const projectId = sql<string>`${schedules.parentId}`.as('projectId')
const agentId = sql<string>`${schedules.parentId}`.as('agentId')

/** A column for each property of the schema, and no other. */
type SelectedFor<Schema extends { readonly shape: object }> = Record<keyof Schema['shape'], unknown>

export const projectSchedules = statementsOf(
  'project',
  projectPreconditions,
  { id: schedules.id, projectId, cron, timezone: schedules.timezone, ...times },
  columnsIn(schedules, projectScheduleState, { projectId }) satisfies SelectedFor<typeof projectScheduleState>,
)

export const agentSchedules = statementsOf(
  'agent',
  agentPreconditions,
  { id: schedules.id, agentId, cron, ...times },
  columnsIn(schedules, agentScheduleState, { agentId }) satisfies SelectedFor<typeof agentScheduleState>,
)

export const organizationListable = requiring([], {
  isUnrestricted: precondition(isUnrestricted, listRequiresUnrestricted),
})

const parentType = textOrNull('parentType')
const nextRunBefore = textOrNull('nextRunBefore')
const nameQuery = textOrNull('query')
/** A filter that is null holds for every schedule. */
const filters = and(
  equalsIfGiven(sql`(${schedules.enabledAt} is not null)`, enabled),
  equalsIfGiven(schedules.parentType, parentType),
  sql`(${nextRunBefore} is null or ${schedules.nextRunAt} < ${nextRunBefore})`,
  containsIfGiven(schedules.name, nameQuery),
)
/** A JSON array, the latest first. */
const lastOutcomes = sql<string>`(select json_group_array("status") filter (where "status" in ('succeeded', 'failed')) from (
    select ${runs.status} as "status" from ${runs}
    where ${runs.organizationId} = ${schedules.organizationId} and ${runs.scheduleId} = ${schedules.id}
    order by ${runs.scheduledAt} desc limit 10
  ))`

export const selectSchedules = listOf(
  organizationListable,
  { cursor, enabled, parentType, nextRunBefore, nameQuery },
  {
    table: schedules,
    isInRange: and(eq(schedules.organizationId, organizationListable.organizationId), gt(schedules.id, cursor)),
    order: asc(schedules.id),
    position: { id: schedules.id },
    fields: {
      id: schedules.id,
      projectId: parentIdOf(schedules, 'project').as('projectId'),
      agentId: parentIdOf(schedules, 'agent').as('agentId'),
      name: schedules.name,
      cron: schedules.cron,
      runAt: schedules.runAt,
      timezone: schedules.timezone,
      enabledAt: schedules.enabledAt,
      pausedReason: schedules.pausedReason,
      nextRunAt: schedules.nextRunAt,
      lastRunAt: schedules.lastRunAt,
      lastOutcomes: lastOutcomes.as('lastOutcomes'),
    },
    joins: joinParents(schedules),
    isListed: and(filters, hasParent),
    mayLeaveOut: or(
      ...[enabled, parentType, nextRunBefore, nameQuery].map(isNotNull),
      hasDeleted(organizationListable.organizationId, 'project', 'agent'),
    ),
  },
)
