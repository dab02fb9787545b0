/** What the operations on schedules and their runs require, for each type of parent. */
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import {
  type Join,
  type Precondition,
  precondition,
  requiring,
  uncheckedPrecondition,
} from '../../access/preconditions.ts'
import { namedProject, projectExists, projectIsActive, projectIsInReach } from '../../access/project.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { matchesRevision } from '../../access/revision.ts'
import { agents, apiKeys, schedules } from '../../db/schema.ts'
import { query } from '../../db/statement.ts'
import { ApiError, idempotencyKeyReused } from '../../errors.ts'

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
    on: and(isOfParent(parentType), eq(schedules.id, sql.placeholder('scheduleId'))),
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
  const isWithinLimit = uncheckedPrecondition(
    sql`${scheduleCount} < ${sql.placeholder('scheduleLimit')}`,
    ({ limits }) =>
      new ApiError(
        'schedule_limit',
        `The ${parentType} has reached the limit of schedules: ${limits.schedules}. Delete one first.`,
      ),
  )
  /** The next run was computed from the cron expression and the time zone that the request read, unless it sets both. */
  const isUnchanged = precondition(
    and(
      sql`${schedules.cron} = coalesce(${sql.placeholder('seenCron')}, ${schedules.cron})`,
      sql`${schedules.timezone} = coalesce(${sql.placeholder('seenTimezone')}, ${schedules.timezone})`,
    ),
    () =>
      new ApiError('concurrent_change', 'Another request changed the schedule at the same time. Try again.'),
  )
  const changeable = { ...reachable, scheduleExists, parentIsActive }
  const deletable = { ...changeable, matchesRevision: matchesRevision('schedule', schedules.revision) }
  return {
    creatable: requiring([namedParent, earlierSchedule], {
      ...reachable,
      idempotencyKeyIsNew,
      parentIsActive,
      exceededQuota: withinQuotas({ schedules: sql`1` }),
      isWithinLimit,
    }),
    listable: requiring([namedParent], { ...reachable }),
    readable: requiring([namedParent, namedSchedule], { ...reachable, scheduleExists }),
    changeable: requiring([namedParent, namedSchedule], changeable),
    deletable: requiring([namedParent, namedSchedule], deletable),
    updatable: requiring([namedParent, namedSchedule], { ...deletable, isUnchanged }),
  }
}

export const projectPreconditions = preconditionsOf('project')
export const agentPreconditions = preconditionsOf('agent')
