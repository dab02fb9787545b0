/** What the operations on schedules and their runs require, for each type of parent. */
import { and, count, eq, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { agentNotFound, scheduleLimitReached } from '../../../access/failures.ts'
import { agentIsActive } from '../../../access/platform-resource.ts'
import {
  isNew,
  type Join,
  type Precondition,
  precondition,
  requiring,
  uncheckedPrecondition,
} from '../../../access/preconditions.ts'
import { projectExists, projectIsAccessible, projectIsActive } from '../../../access/project.ts'
import { withinQuotas } from '../../../access/quotas.ts'
import { changed, changes, isNewIfRequired, matchesRevision } from '../../../access/revision.ts'
import { now, number, text, textOrNull } from '../../../db/parameters.ts'
import { agents, apiKeys, deletions, projects, schedules } from '../../../db/schema.ts'
import { query } from '../../../db/statement.ts'
import type { Limits } from '../../../environment.ts'
import { filled } from '../../../errors.ts'
import {
  concurrentChange,
  keyReusedForSchedule,
  runAtIsPast,
  scheduleDeleted,
  scheduleIdTaken,
  scheduleNotFound,
  timeLimitRequired,
} from './failures.ts'

/** The project or the agent that the request names. */
export const parentId = text('parentId')
export const scheduleId = text('scheduleId')
export const idempotencyKey = textOrNull('idempotencyKey')
/** The `runAt` that a PUT or a PATCH sends; null without one. */
export const runAt = textOrNull('runAt')
const scheduleLimit = number('scheduleLimit')
const seenRevision = textOrNull('seenRevision')

export type ParentType = 'project' | 'agent'

interface ParentPreconditions {
  readonly namedParent: Join<{ readonly parentId: typeof parentId }>
  /** Agents belong to no project, so every API key of the organization reaches them. */
  readonly accessible: Readonly<Record<string, Precondition<0 | 1 | null, never>>>
  readonly parentIsActive: Precondition<0 | 1 | null, never>
}

const PARENTS: Readonly<Record<ParentType, ParentPreconditions>> = {
  project: {
    namedParent: {
      table: projects,
      on: and(eq(projects.organizationId, apiKeys.organizationId), eq(projects.id, parentId)),
      takes: { parentId },
    },
    accessible: { parentExists: projectExists, projectIsAccessible },
    parentIsActive: projectIsActive,
  },
  agent: {
    namedParent: {
      table: agents,
      on: and(eq(agents.organizationId, apiKeys.organizationId), eq(agents.id, parentId)),
      takes: { parentId },
    },
    accessible: {
      parentExists: precondition(isNotNull(agents.id), agentNotFound),
    },
    parentIsActive: agentIsActive,
  },
}

/** The schedule that an earlier request with the same `Idempotency-Key` created. */
export const earlier = alias(schedules, 'earlier')

/** A schedule of another parent with the ID that a PUT names. */
const namesake = alias(schedules, 'namesake')

const otherSchedule = {
  table: namesake,
  on: and(eq(namesake.organizationId, apiKeys.organizationId), eq(namesake.id, scheduleId)),
  takes: { scheduleId },
}
const scheduleDeletion = {
  table: deletions,
  on: and(
    eq(deletions.organizationId, apiKeys.organizationId),
    eq(deletions.resourceType, 'schedule'),
    eq(deletions.resourceId, scheduleId),
  ),
  takes: { scheduleId },
}

/** The overlap and the time limit that a PATCH leaves. */
const newOverlap = changed('overlap', schedules.overlap)
const newTimeLimit = changed('maxRunSeconds', schedules.maxRunSeconds)

/** Joins the schedules of the parent that the request names to `apiKeys`. */
export function isOfParent(parentType: ParentType, table: typeof schedules | typeof earlier = schedules) {
  return and(
    eq(table.organizationId, apiKeys.organizationId),
    eq(table.parentType, parentType),
    eq(table.parentId, parentId),
  )
}

function preconditionsOf(parentType: ParentType) {
  const { namedParent, accessible, parentIsActive } = PARENTS[parentType]
  const namedSchedule = {
    table: schedules,
    on: and(isOfParent(parentType), eq(schedules.id, scheduleId)),
    takes: { parentId, scheduleId },
  }
  const earlierSchedule = {
    table: earlier,
    on: and(isOfParent(parentType, earlier), eq(earlier.idempotencyKey, idempotencyKey)),
    takes: { parentId, idempotencyKey },
  }
  const scheduleExists = precondition(isNotNull(schedules.id), scheduleNotFound(parentType))
  const idempotencyKeyIsNew = precondition(isNull(earlier.id), keyReusedForSchedule)
  const scheduleCount = query.select({ count: count() }).from(schedules).where(isOfParent(parentType))
  const isBelowLimit = sql`${scheduleCount} < ${scheduleLimit}`
  const limitParameters = { parentId, scheduleLimit }
  const limitReached = ({ limits }: { limits: Limits }) =>
    filled(scheduleLimitReached(parentType), { limit: limits.schedules })
  /** The next run was computed from the schedule with this revision, if the handler read it first. */
  const isUnchanged = precondition(
    sql`${schedules.revision} = coalesce(${seenRevision}, ${schedules.revision})`,
    concurrentChange,
    { seenRevision },
  )
  const runAtIsAhead = precondition(
    sql`(${runAt} is null or ${runAt} > ${now} or ${runAt} is ${schedules.runAt})`,
    runAtIsPast,
    { runAt },
  )
  const hasTimeLimit = precondition(or(ne(newOverlap, 'skip'), isNotNull(newTimeLimit)), timeLimitRequired, { changes })
  const changeable = { ...accessible, scheduleExists, parentIsActive }
  const deletable = { ...changeable, matchesRevision: matchesRevision(schedules.revision) }
  return {
    creatable: requiring([namedParent, earlierSchedule], {
      ...accessible,
      idempotencyKeyIsNew,
      parentIsActive,
      exceededQuota: withinQuotas({ schedules: sql`1` }),
      isWithinLimit: uncheckedPrecondition(isBelowLimit, limitReached, limitParameters),
    }),
    listable: requiring([namedParent], { ...accessible }),
    readable: requiring([namedParent, namedSchedule], { ...accessible, scheduleExists }),
    changeable: requiring([namedParent, namedSchedule], changeable),
    deletable: requiring([namedParent, namedSchedule], deletable),
    /** The joins and the preconditions of an update. */
    updating: [[namedParent, namedSchedule], { ...deletable, isUnchanged, hasTimeLimit, runAtIsAhead }] as const,
    puttable: requiring(
      [namedParent, namedSchedule, otherSchedule, scheduleDeletion],
      {
        ...accessible,
        isNotDeleted: precondition(isNull(deletions.resourceId), scheduleDeleted),
        isFreeId: precondition(or(isNull(namesake.id), isNotNull(schedules.id)), scheduleIdTaken),
        parentIsActive,
        exceededQuota: withinQuotas({ schedules: isNull(schedules.id) }),
        isWithinLimit: uncheckedPrecondition(or(isNotNull(schedules.id), isBelowLimit), limitReached, limitParameters),
        runAtIsAhead,
        matchesRevision: matchesRevision(schedules.revision),
        isNewIfRequired: isNewIfRequired(schedules.revision),
      },
      { isNew: isNew(schedules.id) },
    ),
  }
}

export const projectPreconditions = preconditionsOf('project')
export const agentPreconditions = preconditionsOf('agent')
