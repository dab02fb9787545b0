/** The runs of schedules, in SQL. */

import { and, asc, desc, eq, gt, gte, isNotNull, lt, not, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { eventType, guardedChange, recordedAfter, recordedBefore, recordedForEach } from '../../../access/events.ts'
import { sessionNotFound } from '../../../access/failures.ts'
import { isAccessible, isCallersKey, mayAct } from '../../../access/guard.ts'
import { hasProject } from '../../../access/platform-resource.ts'
import { precondition, requiring } from '../../../access/preconditions.ts'
import { accessibleIf, ofAllProjectsOrOne, projectIdOrNull } from '../../../access/project.ts'
import { hasDeleted, listOf } from '../../../db/examined.ts'
import { isNotStopped } from '../../../db/halts.ts'
import { type NamedParameters, now, type Parameter, rowLimit, text, textOrNull } from '../../../db/parameters.ts'
import { equalsIfGiven, indexedBy, namesOf } from '../../../db/rows.ts'
import { agents, apiKeys, projects, runs, schedules, sessions } from '../../../db/schema.ts'
import { guarded, query } from '../../../db/statement.ts'
import type { Failure } from '../../../errors.ts'
import { hasFailedTooOften, paused } from '../firing/pause-failing.ts'
import { hasParent, isAgentOf, isProjectOf, isScheduleOf, joinParents, parentOf } from '../joins.ts'
import { endpointExists, ownRunEndpoint } from '../run-endpoint/statements.ts'
import {
  checkAt,
  claimEnd,
  claimId,
  deadlineOf,
  isFired,
  isPending,
  isSuperseded,
  isTimedOut,
  isUnfinished,
  leaseExpiresAt,
  message,
  newRun,
  outcome,
  runId,
  sessionId,
  writeAcknowledgement,
  writeClaim,
  writeNewRuns,
  writeOutcome,
  writeRedelivery,
  writeRenewal,
} from '../run-transitions.ts'
import { agentPreconditions, idempotencyKey, projectPreconditions, scheduleId } from '../schedules/preconditions.ts'
import { claimableOfAll, claimableOfProject } from './claimable.ts'
import {
  claimedNotPending,
  claimedNotRedeliverable,
  claimIdMissing,
  claimMismatch,
  claimsStopped,
  newerRunExists,
  notRedeliverable,
  outcomeAfterNewerRun,
  outcomeExists,
  outcomeTooLate,
  redeliveryTooLate,
  runNotFound,
} from './failures.ts'
import { runFields } from './run.ts'
import { workFields } from './work.ts'

const id = text('id')
/** What the event of a run says. Its schedule is joined. */
const ofRun = { id: runs.id, name: schedules.name, ...parentOf(runs) }
/** The time of the request that creates a run. */
const scheduledAt = text('scheduledAt')
/** The time before which the listed runs of a schedule are. */
const before = text('before')

/** The run that an earlier request with the same `Idempotency-Key` created. */
const earlier = alias(runs, 'earlier')

const isNamedSchedule = and(eq(schedules.organizationId, apiKeys.organizationId), eq(schedules.id, scheduleId))

function statementsOf({ readable, changeable }: Pick<typeof projectPreconditions, 'readable' | 'changeable'>) {
  /** One row for the page, where a join would read one for each run. */
  const scheduleName = () => sql<string | null>`${readable.rows({ name: schedules.name })}`.as('scheduleName')
  const list = guarded(readable, { before, rowLimit }, () =>
    query
      .select({ ...runFields, scheduleName: scheduleName() })
      .from(runs)
      .where(
        and(
          eq(runs.organizationId, readable.organizationId),
          eq(runs.scheduleId, scheduleId),
          lt(runs.scheduledAt, before),
        ),
      )
      .orderBy(desc(runs.scheduledAt))
      .limit(rowLimit),
  )

  const recordedCreation = recordedAfter(
    { id, scheduleId },
    { type: 'run.created', id, name: schedules.name, ...parentOf(schedules) },
    { join: { table: schedules, on: isNamedSchedule } },
  )
  const insert = guardedChange(changeable, { scheduledAt, id, idempotencyKey, checkAt }, recordedCreation, () =>
    writeNewRuns(changeable.rows(newRun({ scheduledAt, id, idempotencyKey }))),
  )

  const isRunOfSchedule = and(eq(runs.organizationId, schedules.organizationId), eq(runs.scheduleId, schedules.id))
  const updateLastRun = guarded(changeable, { scheduledAt }, () => {
    const ranOrganization = changeable
      .rows({ organizationId: schedules.organizationId })
      .innerJoin(runs, and(isRunOfSchedule, eq(runs.scheduledAt, scheduledAt), isFired))
    return query
      .update(schedules)
      .set({ lastRunAt: sql`max(coalesce(${schedules.lastRunAt}, ''), ${scheduledAt})` })
      .where(and(eq(schedules.organizationId, sql`${ranOrganization}`), eq(schedules.id, scheduleId)))
  })

  const earlierInstant = query
    .select({ scheduledAt: earlier.scheduledAt })
    .from(earlier)
    .where(
      and(
        eq(earlier.organizationId, schedules.organizationId),
        eq(earlier.scheduleId, schedules.id),
        eq(earlier.idempotencyKey, idempotencyKey),
      ),
    )
  /**
   * The run that this request created, or an earlier one with the same `Idempotency-Key` or, without one, the same
   * `scheduledAt`. No row: the run of that `scheduledAt` has another `Idempotency-Key`.
   */
  const selectCreated = guarded(readable, { scheduledAt, idempotencyKey }, () =>
    readable
      .rows(runFields)
      .innerJoin(
        runs,
        and(
          isRunOfSchedule,
          eq(runs.scheduledAt, sql`coalesce(${earlierInstant}, ${scheduledAt})`),
          sql`(${idempotencyKey} is null or ${runs.idempotencyKey} = ${idempotencyKey})`,
        ),
      ),
  )

  return { readable, list, changeable, insert, updateLastRun, selectCreated }
}

export const projectScheduleRuns = statementsOf(projectPreconditions)
export const agentScheduleRuns = statementsOf(agentPreconditions)

const scheduleExists = and(isNotNull(schedules.id), hasParent)

export const listable = ofAllProjectsOrOne()
export const claimable = ofAllProjectsOrOne({
  areClaimsOn: precondition(isNotStopped('claims', apiKeys.organizationId), claimsStopped),
})

const status = textOrNull('status')
const scheduleFilter = textOrNull('scheduleId')
const isInOrganization = eq(runs.organizationId, listable.organizationId)

const isOfNamedProject = sql`(${projectIdOrNull} is null
  or (${runs.parentType} = 'project' and ${runs.parentId} = ${projectIdOrNull}))`
const filters = and(
  isOfNamedProject,
  equalsIfGiven(runs.status, status),
  equalsIfGiven(runs.scheduleId, scheduleFilter),
)

/**
 * A list of runs, in order.
 * @param range the parameters of the condition.
 * @param unserved the filters that no index serves.
 */
function listed<Range extends NamedParameters>(
  source: SQL,
  isInRange: SQL | undefined,
  range: Range,
  order: SQL,
  unserved: readonly Parameter[],
) {
  return listOf(
    listable,
    { ...range, status, scheduleFilter },
    {
      table: runs,
      source,
      isInRange,
      order,
      position: { id: runs.id },
      fields: runFields,
      joins: sql`left join ${schedules} on ${isScheduleOf(runs)} ${joinParents(runs)}`,
      isListed: and(filters, scheduleExists),
      mayLeaveOut: or(...unserved.map(isNotNull), hasDeleted(listable.organizationId, 'schedule', 'project', 'agent')),
    },
  )
}

/** What the IDs of a list are after, and before: its cursor and its times. */
const afterId = text('afterId')
const beforeId = text('beforeId')
const isBetween = and(gt(runs.id, afterId), lt(runs.id, beforeId))

/** Oldest first. */
export const pendingRuns = listed(
  indexedBy(runs, 'runsPending'),
  and(isInOrganization, isPending, isBetween),
  { afterId, beforeId },
  asc(runs.id),
  [scheduleFilter, projectIdOrNull],
)

/** Latest first. */
export const allRuns = listed(sql`${runs}`, and(isInOrganization, isBetween), { afterId, beforeId }, desc(runs.id), [
  status,
  projectIdOrNull,
])

/** The time from which a list is. */
const from = text('from')

/** Latest first. */
export const runsOfSchedule = listed(
  sql`${runs}`,
  and(isInOrganization, eq(runs.scheduleId, scheduleFilter), lt(runs.scheduledAt, before), gte(runs.scheduledAt, from)),
  { scheduleFilter, before, from },
  desc(runs.scheduledAt),
  [status, projectIdOrNull],
)

/** The caller's key, as JSON. */
const callersKey = () =>
  sql`${query
    .select({ key: sql`json_object('apiKeyId', ${apiKeys.id}, 'apiKeyName', ${apiKeys.name})`.as('key') })
    .from(apiKeys)
    .where(isCallersKey)}`

/**
 * Claims the oldest runs that wait to be pulled. Those that have `checkAt` are on their way to a run endpoint.
 * @param waiting selects them (claimable.ts).
 */
function claimOf(waiting: typeof claimableOfAll) {
  const selectedKeys = () => waiting({ organizationId: runs.organizationId, id: runs.id }, claimable.organizationId)
  // Numbering the claimable runs themselves would read all that are pending, because it comes before the limit.
  const recordedClaims = recordedForEach(claimable, { rowLimit }, { type: 'run.claimed', ...ofRun }, (row, condition) =>
    query
      .select(row)
      .from(apiKeys)
      .innerJoin(runs, sql`(${runs.organizationId}, ${runs.id}) in ${selectedKeys()}`)
      .innerJoin(schedules, isScheduleOf(runs))
      .where(and(mayAct, condition)),
  )
  const fields = { ...workFields, leaseExpiresAt: claimEnd(now).as('leaseExpiresAt') }
  return {
    /** Runs before the claim, in the same transaction, and finds the same runs. */
    selectClaimable: guarded(claimable, { leaseExpiresAt, rowLimit }, () =>
      query.select(namesOf(fields)).from(waiting(fields, claimable.organizationId)),
    ),
    claim: guardedChange(claimable, { claimId, leaseExpiresAt, rowLimit }, recordedClaims, () =>
      writeClaim(selectedKeys(), callersKey()),
    ),
  }
}

export const claimOfAll = claimOf(claimableOfAll)
export const claimOfProject = claimOf(claimableOfProject)

const namedRun = [
  {
    table: runs,
    on: and(eq(runs.organizationId, apiKeys.organizationId), eq(runs.id, runId)),
    takes: { runId },
  },
  { table: schedules, on: isScheduleOf(runs), takes: {} },
  { table: projects, on: isProjectOf(runs), takes: {} },
  { table: agents, on: isAgentOf(runs), takes: {} },
] as const
const runExists = precondition(and(isNotNull(runs.id), scheduleExists), runNotFound)
const runIsAccessible = accessibleIf(or(isNotNull(agents.id), isAccessible(projects.id)))

export const accessible = requiring(namedRun, { runExists, isAccessible: runIsAccessible })

export const selectRun = guarded(accessible, {}, () => accessible.rows(runFields))

const unclaimedOr = (failure: Failure) =>
  precondition(sql`not (${runs.status} = 'delivered' and ${runs.claimId} is not null)`, failure)

export const acknowledgeable = requiring(namedRun, {
  runExists,
  isAccessible: runIsAccessible,
  isUnclaimed: unclaimedOr(claimedNotPending),
})

const recordedAcknowledgement = recordedBefore(
  acknowledgeable,
  {},
  { type: 'run.acknowledged', ...ofRun },
  eq(runs.status, 'pending'),
)

export const acknowledge = guardedChange(acknowledgeable, {}, recordedAcknowledgement, () =>
  writeAcknowledgement(acknowledgeable.organizationId),
)

/** All of this holds after the change too. */
export const redeliverable = requiring([...namedRun, ownRunEndpoint], {
  runExists,
  endpointExists,
  isAccessible: runIsAccessible,
  isUnclaimed: unclaimedOr(claimedNotRedeliverable),
  isRedeliverable: precondition(or(isUnfinished, eq(runs.failure, 'delivery')), notRedeliverable),
  isInTime: precondition(not(isTimedOut), redeliveryTooLate),
  isLatestIfAlone: precondition(
    sql`not (${schedules.overlap} = 'skip' and coalesce(${schedules.lastRunAt} > ${runs.scheduledAt}, false))`,
    newerRunExists,
  ),
})

const recordedRedelivery = recordedBefore(redeliverable, {}, { type: 'run.redelivered', ...ofRun })

export const redeliver = guardedChange(redeliverable, { checkAt }, recordedRedelivery, () =>
  writeRedelivery(redeliverable.organizationId),
)

export const selectRedelivered = guarded(redeliverable, {}, () => redeliverable.rows(runFields))

export const renewable = requiring(namedRun, {
  runExists,
  isAccessible: runIsAccessible,
  isClaimed: precondition(
    and(
      eq(runs.status, 'delivered'),
      sql`${runs.claimId} is ${claimId} and coalesce(${deadlineOf(runs.startedAt)} > ${now}, true)`,
      not(isSuperseded),
    ),
    claimMismatch,
    { claimId },
  ),
})

/** No change that is recorded: a worker renews its claims every few minutes. */
export const renew = guarded(renewable, { leaseExpiresAt }, () =>
  writeRenewal(renewable.organizationId).returning({
    id: runs.id,
    claimId: sql<string>`${runs.claimId}`.as('claimId'),
    leaseExpiresAt: sql<string>`${runs.checkAt}`.as('leaseExpiresAt'),
  }),
)

/** All of this holds for a repeated request too, so the statements after the change carry the same guard. */
export const completable = requiring(
  [
    ...namedRun,
    {
      table: sessions,
      on: and(eq(sessions.organizationId, apiKeys.organizationId), eq(sessions.id, sessionId)),
      takes: { sessionId },
    },
  ],
  {
    runExists,
    sessionExists: precondition(
      // A session that was deleted since does not fail a repeated request.
      sql`${sessionId} is null or ${runs.status} in ('succeeded', 'failed')
        or (${hasProject(sessions)} and ${isAccessible(sessions.projectId)})`,
      sessionNotFound,
      { sessionId },
    ),
    isAccessible: runIsAccessible,
    // A pending run has the claim that has ended last, which may still complete it.
    namesClaim: precondition(
      sql`${claimId} is not null or ${runs.claimId} is null or ${runs.status} = 'pending'`,
      claimIdMissing,
      { claimId },
    ),
    isOfClaim: precondition(sql`${claimId} is null or ${runs.claimId} is ${claimId}`, claimMismatch, { claimId }),
    hasNoOtherOutcome: precondition(
      or(isUnfinished, sql`${runs.status} = ${outcome} and coalesce(${runs.failure}, 'task') = 'task'`),
      outcomeExists,
      { outcome },
    ),
    isInTime: precondition(not(isTimedOut), outcomeTooLate),
    isNotSuperseded: precondition(not(isSuperseded), outcomeAfterNewerRun),
  },
)

const recordedOutcome = recordedBefore(
  completable,
  { outcome },
  { type: eventType(sql`'run.' || ${outcome}`), ...ofRun },
  isUnfinished,
)

export const complete = guardedChange(completable, { message }, recordedOutcome, () =>
  writeOutcome(completable.organizationId),
)

const itsSchedule = query
  .select({ id: runs.scheduleId })
  .from(runs)
  .where(and(eq(runs.organizationId, apiKeys.organizationId), eq(runs.id, runId)))
const recordedPause = recordedAfter(
  { runId },
  { type: 'schedule.paused', id: schedules.id, name: schedules.name, ...parentOf(schedules) },
  {
    join: {
      table: schedules,
      on: and(eq(schedules.organizationId, apiKeys.organizationId), eq(schedules.id, itsSchedule)),
    },
    isByService: true,
  },
)

/** After a failure that this request recorded. */
export const pauseIfFailing = guardedChange(completable, { message }, recordedPause, () =>
  query
    .update(schedules)
    .set(paused(sql`'task'`, sql`${message}`))
    .where(
      and(
        eq(schedules.organizationId, completable.organizationId),
        eq(schedules.id, sql`${completable.rows({ id: runs.scheduleId }, eq(runs.finishedAt, now))}`),
        sql`${outcome} = 'failed'`,
        hasFailedTooOften,
      ),
    ),
)

export const selectAcknowledged = guarded(acknowledgeable, {}, () => acknowledgeable.rows(runFields))

export const selectCompleted = guarded(completable, {}, () => completable.rows(runFields))
