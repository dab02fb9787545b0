/** Deletions that can be undone, in SQL. */
import { and, desc, eq, exists, gt, isNotNull, isNull, lt, lte, not, or, type SQL, sql } from 'drizzle-orm'
import { alias, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type DeletedType, fromJson } from '../../access/deletions.ts'
import type { EventType } from '../../access/event-types.ts'
import { guardedChange, recordedBefore } from '../../access/events.ts'
import { scheduleLimitReached, unrestrictedKeyRequired } from '../../access/failures.ts'
import { isAccessible, isUnrestricted } from '../../access/guard.ts'
import { agentIsActive } from '../../access/platform-resource.ts'
import { precondition, preconditionUnless, requiring } from '../../access/preconditions.ts'
import { accessibleIf, namesProjectIfRestricted, projectIdOrNull, projectIsActive } from '../../access/project.ts'
import { newRevision } from '../../access/revision.ts'
import { listOf } from '../../db/examined.ts'
import { cursor, type NamedParameters, now, number, type Parameter, text, textOrNull } from '../../db/parameters.ts'
import { asSql, equalsIfGiven, indexedBy, insertRow, jsonRows, keyOf } from '../../db/rows.ts'
import {
  agents,
  apiKeys,
  deletions,
  projects,
  pullRequests,
  schedules,
  sessions,
  skills,
  users,
} from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { filled } from '../../errors.ts'
import { deletionNotFound, parentDeleted, skillNameTaken } from './failures.ts'

const deletionId = text('deletionId')
const resourceType = textOrNull('resourceType')
const scheduleLimit = number('scheduleLimit')
/** The next run of a schedule that is restored. */
const nextRunAt = textOrNull('nextRunAt')

const parent = alias(deletions, 'parent')
/** True if the deletion of its project or agent is final: the purge ends it (maintenance/purge.ts). */
const endsWithParent = exists(
  query
    .select({ one: sql`1` })
    .from(parent)
    .where(
      and(
        eq(parent.organizationId, deletions.organizationId),
        sql`${parent.resourceType} = case when ${deletions.projectId} is null then 'agent' else 'project' end`,
        sql`${parent.resourceId} = coalesce(${deletions.projectId}, ${deletions.agentId})`,
        lte(parent.finalAt, now),
      ),
    ),
)

const ofRow = <Value = string>(name: string) => sql<Value>`(${deletions.row} ->> ${sql.raw(`'$.${name}'`)})`

const fields = {
  id: sql<string>`${deletions.id}`.as('id'),
  resourceType: deletions.resourceType,
  resourceId: deletions.resourceId,
  name: ofRow<string | null>('name').as('name'),
  projectId: deletions.projectId,
  agentId: deletions.agentId,
  deletedAt: deletions.deletedAt,
  finalAt: deletions.finalAt,
}

export const listable = requiring([], {
  isUnrestricted: namesProjectIfRestricted,
  isAccessible: accessibleIf(sql`${projectIdOrNull} is null or ${isAccessible(projectIdOrNull)}`),
})

/** @param parameters of the condition. */
function listed<Own extends NamedParameters>(index: string, parameters: Own, condition?: SQL) {
  return listOf(
    listable,
    { cursor, resourceType, ...parameters },
    {
      table: deletions,
      source: indexedBy(deletions, index),
      isInRange: and(eq(deletions.organizationId, listable.organizationId), condition, lt(deletions.id, cursor)),
      order: desc(deletions.id),
      position: { id: deletions.id },
      fields,
      isListed: and(
        gt(deletions.finalAt, now),
        not(endsWithParent),
        equalsIfGiven(deletions.resourceType, resourceType),
      ),
      // Those that are final stay in the index until the next tick.
      mayLeaveOut: sql`true`,
    },
  )
}

export const listOfAll = listed('deletionsById', {})
export const listInProject = listed(
  'deletionsByParent',
  { projectIdOrNull },
  and(eq(deletions.projectId, projectIdOrNull), isNull(deletions.agentId)),
)

const namedDeletion = {
  table: deletions,
  on: and(
    eq(deletions.organizationId, apiKeys.organizationId),
    eq(deletions.id, deletionId),
    gt(deletions.finalAt, now),
    not(endsWithParent),
  ),
  takes: { deletionId },
}

const isOf = (...types: readonly DeletedType[]) =>
  sql`${deletions.resourceType} in (${sql.raw(types.map((type) => `'${type}'`).join(', '))})`

const isThereAndAccessible = {
  deletionExists: precondition(isNotNull(deletions.id), deletionNotFound),
  projectIsAccessible: accessibleIf(or(isNull(deletions.projectId), isAccessible(deletions.projectId))),
  isUnrestricted: precondition(or(not(isOf('agent', 'user')), isUnrestricted), unrestrictedKeyRequired),
}

/** The caller may do with the deletion what its scope says: what it could have deleted. */
export const accessible = requiring([namedDeletion], isThereAndAccessible)

export const selectDeletion = guarded(accessible, {}, () => accessible.rows(fields))

/** What the next run of a deleted schedule is computed from. */
export const selectTiming = guarded(accessible, {}, () =>
  accessible.rows({
    resourceType: deletions.resourceType,
    cron: ofRow<string | null>('cron').as('cron'),
    runAt: ofRow<string | null>('runAt').as('runAt'),
    timezone: ofRow('timezone').as('timezone'),
    enabledAt: ofRow<string | null>('enabledAt').as('enabledAt'),
  }),
)

/** The schedules of a deleted project or agent that would fire at once for a time before the restoration. */
export const selectDue = guarded(accessible, {}, () =>
  accessible
    .rows({
      ...asSql({ id: schedules.id, cron: schedules.cron, runAt: schedules.runAt, timezone: schedules.timezone }),
      dueAt: sql<string>`${schedules.nextRunAt}`.as('dueAt'),
    })
    .innerJoin(
      indexedBy(schedules, 'schedulesByParent'),
      and(
        eq(schedules.organizationId, deletions.organizationId),
        eq(schedules.parentType, deletions.resourceType),
        eq(schedules.parentId, deletions.resourceId),
        lte(schedules.nextRunAt, now),
      ),
    ),
)

const itsProject = {
  table: projects,
  on: and(eq(projects.organizationId, deletions.organizationId), eq(projects.id, deletions.projectId)),
  takes: {},
}
const itsAgent = {
  table: agents,
  on: and(eq(agents.organizationId, deletions.organizationId), eq(agents.id, deletions.agentId)),
  takes: {},
}

const namesake = sql`select 1 from ${skills}
  where ${skills.organizationId} = ${apiKeys.organizationId} and ${skills.name} = ${ofRow('name')}`

const parentType = sql<'project' | 'agent'>`${ofRow('parentType')}`
const countOfParent = sql`(select count(*) from ${schedules} where ${schedules.organizationId} = ${apiKeys.organizationId}
  and ${schedules.parentType} = ${parentType} and ${schedules.parentId} = ${ofRow('parentId')})`

export const restorable = requiring([namedDeletion, itsProject, itsAgent], {
  ...isThereAndAccessible,
  parentExists: precondition(
    or(not(isOf('session', 'pull_request', 'schedule')), isNotNull(projects.id), isNotNull(agents.id)),
    parentDeleted,
  ),
  projectIsActive,
  agentIsActive,
  nameIsFree: precondition(sql`(not ${isOf('skill')} or not exists (${namesake}))`, skillNameTaken),
  fullParent: preconditionUnless(
    sql<
      'project' | 'agent' | null
    >`case when ${isOf('schedule')} and ${countOfParent} >= ${scheduleLimit} then ${parentType} end`,
    ({ limits }, type) => filled(scheduleLimitReached(type), { limit: limits.schedules }),
    { scheduleLimit },
  ),
})

type RestorableTable = SQLiteTable & Record<'organizationId' | 'id' | 'revision', SQLiteColumn>

/**
 * The statements that move a row back to its table.
 * @param values of columns that are not restored as they were.
 * @param parameters of these values.
 */
function restorationOf<Own extends NamedParameters = Record<never, never>>(
  type: DeletedType,
  table: RestorableTable,
  values: Readonly<Record<string, SQL | Parameter>> = {},
  parameters: Own = {} as Own,
) {
  const isType = isOf(type)
  const row: Record<string, SQL | Parameter | SQLiteColumn> = {
    ...fromJson(table, deletions.row),
    organizationId: deletions.organizationId,
    revision: newRevision,
    ...values,
  }
  const recorded = recordedBefore(
    restorable,
    {},
    {
      type: `${type === 'pull_request' ? 'pull-request' : type}.restored` satisfies EventType,
      id: deletions.resourceId,
      parentId: deletions.agentId,
      name: ofRow('name'),
      projectId: deletions.projectId,
    },
    isType,
  )
  const restored = sql`select 1 from ${table}
    where ${table.organizationId} = ${deletions.organizationId} and ${table.id} = ${deletions.resourceId}`
  return {
    insert: guardedChange(restorable, parameters, recorded, () =>
      query
        .insert(table)
        .select(restorable.rows(insertRow(table, row), isType))
        .returning({ id: sql<string>`${table.id}`.as('id') }),
    ),
    /** After the insertion, so that the row is never lost. */
    remove: guarded(accessible, {}, () =>
      query
        .delete(deletions)
        .where(
          and(
            eq(deletions.organizationId, accessible.organizationId),
            eq(deletions.id, deletionId),
            sql`exists (${restored})`,
          ),
        ),
    ),
  }
}

/** The `Idempotency-Key` of the creation, unless another row has it now. */
const unlessTaken = (table: typeof schedules | typeof skills, condition?: SQL) => {
  const isTaken = sql`exists (select 1 from ${table} where ${and(
    eq(table.organizationId, apiKeys.organizationId),
    eq(table.idempotencyKey, ofRow('idempotencyKey')),
    condition,
  )})`
  return { idempotencyKey: sql`case when not ${isTaken} then ${ofRow('idempotencyKey')} end` }
}
const isOfSameParent = and(eq(schedules.parentType, parentType), eq(schedules.parentId, ofRow('parentId')))

export const RESTORATIONS = {
  project: restorationOf('project', projects),
  agent: restorationOf('agent', agents),
  session: restorationOf('session', sessions),
  pull_request: restorationOf('pull_request', pullRequests),
  user: restorationOf('user', users),
  schedule: restorationOf(
    'schedule',
    schedules,
    { ...unlessTaken(schedules, isOfSameParent), nextRunAt },
    { nextRunAt },
  ),
  skill: restorationOf('skill', skills, unlessTaken(skills)),
}

/** The next runs of the schedules of a project or an agent. */
export const nextRuns = jsonRows('nextRuns', 'id', 'dueAt', 'nextRunAt')

/** Skips schedules whose next run the tick has moved on. */
export const storeNextRuns = guarded(accessible, { parameter: nextRuns.parameter }, () =>
  query
    .update(schedules)
    .set({ nextRunAt: sql`${nextRuns.column('nextRunAt')}` })
    .from(nextRuns.table)
    .where(
      and(
        // With an equation for the organization, SQLite starts at all of its schedules.
        sql`(${keyOf(schedules)}) in (select ${accessible.organizationId}, ${nextRuns.column('id')} from ${nextRuns.table})`,
        nextRuns.matches(schedules, 'id'),
        eq(schedules.nextRunAt, nextRuns.column('dueAt')),
      ),
    ),
)

const recordedPurge = recordedBefore(
  accessible,
  {},
  {
    type: 'deletion.purged',
    id: sql`${deletions.id}`,
    name: sql`coalesce(${ofRow('name')}, ${deletions.resourceId})`,
    projectId: deletions.projectId,
  },
)

/** Makes the deletion final. The purge ends the deletions of what was in it. */
export const purge = guardedChange(accessible, {}, recordedPurge, () =>
  query
    .update(deletions)
    .set({ finalAt: sql`${now}`, id: null, row: null })
    .where(and(eq(deletions.organizationId, accessible.organizationId), eq(deletions.id, deletionId)))
    .returning({ resourceId: deletions.resourceId }),
)
