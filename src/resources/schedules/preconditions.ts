/** What the operations on schedules and their runs require, for each type of parent. */
import { and, eq, isNotNull, isNull, ne, or, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import {
  isNew,
  type Join,
  type Precondition,
  precondition,
  requiring,
  uncheckedPrecondition,
} from '../../access/preconditions.ts'
import { namedProject, projectExists, projectIsActive, projectIsInReach } from '../../access/project.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { isNewIfRequired, matchesRevision } from '../../access/revision.ts'
import { agents, apiKeys, deletions, schedules } from '../../db/schema.ts'
import { now, query } from '../../db/statement.ts'
import type { Limits } from '../../environment.ts'
import { ApiError, idempotencyKeyReused } from '../../errors.ts'

/** The value of a column after a PATCH: that of the JSON object `changes`, if it has the property, which may be null. */
export function changed(name: keyof typeof schedules.$inferSelect, column: SQLWrapper) {
  const path = sql.raw(`'$.${name}'`)
  const changes = sql.placeholder('changes')
  return sql`case when json_type(${changes}, ${path}) is null then ${column} else ${changes} ->> ${path} end`
}

export type ParentType = 'project' | 'agent'

interface ParentPreconditions {
  readonly namedParent: Join
  /** Agents belong to no project, so every API key of the organization reaches them. */
  readonly reachable: {
    readonly parentExists: Precondition<0 | 1 | null>
    readonly projectIsInReach?: Precondition<0 | 1 | null>
  }
  readonly parentIsActive: Precondition<0 | 1 | null>
}

const PARENTS: Readonly<Record<ParentType, ParentPreconditions>> = {
  project: {
    namedParent: namedProject,
    reachable: { parentExists: projectExists, projectIsInReach },
    parentIsActive: projectIsActive,
  },
  agent: {
    namedParent: {
      table: agents,
      on: and(eq(agents.organizationId, apiKeys.organizationId), eq(agents.id, sql.placeholder('agentId'))),
    },
    reachable: {
      parentExists: precondition(
        isNotNull(agents.id),
        () => new ApiError('agent_not_found', 'There is no agent with this agentId.'),
      ),
    },
    parentIsActive: precondition(
      isNull(agents.archivedAt),
      () => new ApiError('agent_archived', 'The agent is archived. Unarchive it first.'),
    ),
  },
}

/** The schedule that an earlier request with the same `Idempotency-Key` created. */
export const earlier = alias(schedules, 'earlier')

/** A schedule of another parent with the ID that a PUT names. */
const namesake = alias(schedules, 'namesake')

const scheduleId = sql.placeholder('scheduleId')

const otherSchedule: Join = {
  table: namesake,
  on: and(eq(namesake.organizationId, apiKeys.organizationId), eq(namesake.id, scheduleId)),
}
const scheduleDeletion: Join = {
  table: deletions,
  on: and(
    eq(deletions.organizationId, apiKeys.organizationId),
    eq(deletions.resourceType, 'schedule'),
    eq(deletions.resourceId, scheduleId),
  ),
}

/** The overlap and the time limit that a PATCH leaves. */
const newOverlap = changed('overlap', schedules.overlap)
const newTimeLimit = changed('maxRunSeconds', schedules.maxRunSeconds)

/** Joins the schedules of the parent that the request names to `apiKeys`. */
export function isOfParent(parentType: ParentType, table: typeof schedules | typeof earlier = schedules) {
  return and(
    eq(table.organizationId, apiKeys.organizationId),
    eq(table.parentType, parentType),
    eq(table.parentId, sql.placeholder(`${parentType}Id`)),
  )
}

function preconditionsOf(parentType: ParentType) {
  const { namedParent, reachable, parentIsActive } = PARENTS[parentType]
  const namedSchedule: Join = {
    table: schedules,
    on: and(isOfParent(parentType), eq(schedules.id, scheduleId)),
  }
  const earlierSchedule: Join = {
    table: earlier,
    on: and(isOfParent(parentType, earlier), eq(earlier.idempotencyKey, sql.placeholder('idempotencyKey'))),
  }
  const scheduleExists = precondition(
    isNotNull(schedules.id),
    () => new ApiError('schedule_not_found', `The ${parentType} has no schedule with this scheduleId.`),
  )
  const idempotencyKeyIsNew = precondition(isNull(earlier.id), () => idempotencyKeyReused('a new schedule'))
  const scheduleCount = query.select({ count: sql`count(*)` }).from(schedules).where(isOfParent(parentType))
  const isBelowLimit = sql`${scheduleCount} < ${sql.placeholder('scheduleLimit')}`
  const scheduleLimitReached = ({ limits }: { limits: Limits }) =>
    new ApiError(
      'schedule_limit',
      `The ${parentType} has reached the limit of schedules: ${limits.schedules}. Delete one first.`,
    )
  /** The next run was computed from the schedule with this revision, if the handler read it first. */
  const isUnchanged = precondition(
    sql`${schedules.revision} = coalesce(${sql.placeholder('seenRevision')}, ${schedules.revision})`,
    () =>
      new ApiError('concurrent_change', 'Another request changed the schedule at the same time. Try again.'),
  )
  const runAt = sql.placeholder('runAt')
  const runAtIsAhead = precondition(
    sql`(${runAt} is null or ${runAt} > ${now} or ${runAt} is ${schedules.runAt})`,
    () =>
      new ApiError(
        'invalid_input',
        'runAt is in the past; allowed: a later time, or the runAt that the schedule has.',
      ),
  )
  const hasTimeLimit = precondition(
    or(ne(newOverlap, 'skip'), isNotNull(newTimeLimit)),
    () =>
      new ApiError(
        'max_run_seconds_required',
        'The overlap "skip" requires maxRunSeconds, and the schedule would have none. Send maxRunSeconds, or the overlap "allow".',
      ),
  )
  const changeable = { ...reachable, scheduleExists, parentIsActive }
  const deletable = { ...changeable, matchesRevision: matchesRevision('schedule', schedules.revision) }
  return {
    creatable: requiring([namedParent, earlierSchedule], {
      ...reachable,
      idempotencyKeyIsNew,
      parentIsActive,
      exceededQuota: withinQuotas({ schedules: sql`1` }),
      isWithinLimit: uncheckedPrecondition(isBelowLimit, scheduleLimitReached),
    }),
    listable: requiring([namedParent], { ...reachable }),
    readable: requiring([namedParent, namedSchedule], { ...reachable, scheduleExists }),
    changeable: requiring([namedParent, namedSchedule], changeable),
    deletable: requiring([namedParent, namedSchedule], deletable),
    updatable: requiring([namedParent, namedSchedule], {
      ...deletable,
      isUnchanged,
      hasTimeLimit,
      runAtIsAhead,
    }),
    puttable: requiring(
      [namedParent, namedSchedule, otherSchedule, scheduleDeletion],
      {
        ...reachable,
        isNotDeleted: precondition(
          isNull(deletions.resourceId),
          () => new ApiError('schedule_deleted', 'The schedule was deleted. Its ID is never used again.'),
        ),
        isFreeId: precondition(
          or(isNull(namesake.id), isNotNull(schedules.id)),
          () =>
            new ApiError(
              'schedule_id_taken',
              'Another project or agent of the organization has or had a schedule with this ID. Use another ID.',
            ),
        ),
        parentIsActive,
        exceededQuota: withinQuotas({ schedules: isNull(schedules.id) }),
        isWithinLimit: uncheckedPrecondition(or(isNotNull(schedules.id), isBelowLimit), scheduleLimitReached),
        runAtIsAhead,
        matchesRevision: matchesRevision('schedule', schedules.revision),
        isNewIfRequired: isNewIfRequired('schedule', schedules.revision),
      },
      { isNew: isNew(schedules.id) },
    ),
  }
}

export const projectPreconditions = preconditionsOf('project')
export const agentPreconditions = preconditionsOf('agent')
