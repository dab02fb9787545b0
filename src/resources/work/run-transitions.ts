/**
 * The life of a run: its states, and the only code that writes them (docs/design-work.md, Schedules).
 *
 * | cause                                               | from      | to                                               |
 * | --------------------------------------------------- | --------- | ------------------------------------------------ |
 * | the tick fires a schedule, or POST …/runs           |           | pending, or skipped                              |
 * | the tick records a missed time                      |           | skipped                                          |
 * | POST /v1/runs/claim, POST …/acknowledge             | pending   | delivered                                        |
 * | POST …/renew                                        | delivered | delivered, with a later end of its claim         |
 * | POST …/redeliver                                    | pending   | pending, in the queue again                      |
 * |                                                     | delivered | pending; not if a worker holds it                |
 * |                                                     | failed    | pending; only from `delivery`                    |
 * | POST …/complete                                     | pending   | succeeded, or failed (`task`)                    |
 * |                                                     | delivered | succeeded, or failed (`task`)                    |
 * | a delivery that was accepted                        | pending   | delivered; with an outcome, succeeded or failed  |
 * | its outcome, if the run was acknowledged meanwhile  | delivered | succeeded, or failed (`task`)                    |
 * | a delivery that failed                              | pending   | pending, with the time of a retry                |
 * | the last delivery that failed                       | pending   | failed (`delivery`)                              |
 * | a delivery or a check without a run endpoint        | pending   | pending, until a worker takes it                 |
 * | the tick checks a run that waits for its delivery   | pending   | pending, in the queue again                      |
 * | the tick checks a run whose time is over            | delivered | failed (`timeout`)                               |
 * | the tick checks a run whose claim has ended         | delivered | pending                                          |
 * | the tick checks a run whose deadline has moved      | delivered | delivered, until its new deadline                |
 * | the tick checks a run of a deleted schedule         | any       | the same; it is checked again later              |
 * | the tick checks a run of a suspended organization   | any       | the same; it is checked after the suspension     |
 * | the tick checks a run whose delivery is stopped     | pending   | the same; it is checked once deliveries go on    |
 *
 * Skipped and succeeded runs keep their status, and failed ones unless they are sent again; a late delivery adds its
 * attempt to them, and its start. Of a delivery from before a redelivery, only an outcome still counts. Runs are deleted after their
 * schedule (maintenance/purge.ts) and after 90 days (maintenance/retention.ts).
 */
import { and, eq, inArray, isNull, ne, not, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias, type SQLiteInsertSelectQueryBuilder } from 'drizzle-orm/sqlite-core'
import { ON_RESUMPTION } from '../../brakes.ts'
import { isActive } from '../../db/halts.ts'
import { now, text, textOrNull } from '../../db/parameters.ts'
import { insertRow, type JsonRows, jsonRows } from '../../db/rows.ts'
import { missedSpans, projects, runs, schedules, sessions } from '../../db/schema.ts'
import { query } from '../../db/statement.ts'
import { withAttempt } from '../../webhooks/attempts.ts'
import { pauseAfter } from '../../webhooks/backoff.ts'
import type { DeliveryAttempt } from '../../webhooks/contract.ts'
import { hasRunEndpoint, isScheduleOf, notBeforeRunEndpoint } from './joins.ts'
import type { OUTCOMES } from './outcomes.ts'

/** Not a parameter, because SQLite has to see that a partial index has these runs. */
export const isPending = sql`${runs.status} = 'pending'`
/** True for a run that has no outcome yet. */
export const isUnfinished = inArray(runs.status, ['pending', 'delivered'])
/** True for a run that counts as the latest of its schedule. */
export const isFired = ne(runs.status, 'skipped')

type TakenRun = Readonly<Record<'checkAt' | 'startedAt', SQLWrapper>>

/** The time of a check as it was before it was postponed (`writePostponement`): the last 24 characters, an instant. */
export const unpostponed = (checkAt: SQLWrapper) => sql<string | null>`substr(${checkAt}, -24)`

/** The deadline of a run that was taken at this time; NULL if its schedule has no `maxRunSeconds`. */
export function deadlineOf(startedAt: SQLWrapper): SQL<string | null> {
  return sql<string | null>`strftime('%Y-%m-%dT%H:%M:%fZ', ${startedAt}, ${schedules.maxRunSeconds} || ' seconds')`
}

/**
 * When the time of an active run is over: at its deadline, and not before its check. A run that was taken before its
 * schedule had a time limit has no check.
 */
const endOf = ({ checkAt, startedAt }: TakenRun) =>
  sql`max(coalesce(${unpostponed(checkAt)}, ''), ${deadlineOf(startedAt)})`

/** The claim and the time limit of a run have ended, so the next tick fails it. Its schedule is joined. */
export const isTimedOut = sql<0 | 1>`(${runs.status} = 'delivered' and ${runs.checkAt} is not null
  and coalesce(${endOf(runs)} <= ${now}, false))`

/**
 * The check of a run has come, and with the overlap `skip` a newer run exists. Its schedule is joined. Not at `endOf`: a
 * time limit that was extended since the newer run was created would make two runs active.
 */
export const isSuperseded = sql<0 | 1>`(${runs.status} = 'delivered' and coalesce(${schedules.overlap} = 'skip'
  and ${schedules.lastRunAt} > ${runs.scheduledAt}
  and coalesce(${unpostponed(runs.checkAt)}, ${deadlineOf(runs.startedAt)}) <= ${now}, false))`

// New runs

const previous = alias(runs, 'previous')

/** With the overlap `skip`: the time of the run before, if that is pending or active. */
const overlapped = query
  .select({ scheduledAt: previous.scheduledAt })
  .from(previous)
  .where(
    and(
      eq(schedules.overlap, 'skip'),
      eq(previous.organizationId, schedules.organizationId),
      eq(previous.scheduleId, schedules.id),
      eq(previous.scheduledAt, schedules.lastRunAt),
      or(eq(previous.status, 'pending'), and(eq(previous.status, 'delivered'), sql`${endOf(previous)} > ${now}`)),
    ),
  )

interface NewRun {
  readonly scheduledAt: SQLWrapper
  readonly id: SQLWrapper
  /** True if the project or the agent is not archived. */
  readonly isParentActive?: SQL
  readonly idempotencyKey?: SQLWrapper
}

/** The columns that all new rows have. */
const ofParent = ({ organizationId, parentType, parentId }: typeof schedules | typeof missedSpans) => ({
  organizationId,
  parentType,
  parentId,
  attempts: sql`0`,
  updatedAt: now,
})

/** When a new run that has a run endpoint is queued again. */
export const checkAt = text('checkAt')

/** The row of a new run of a joined schedule. */
export function newRun({ scheduledAt, id, isParentActive = sql`true`, idempotencyKey }: NewRun) {
  const skippedBecause = sql`case
    when not (${isParentActive}) then 'The ' || ${schedules.parentType} || ' was archived.'
    when ${schedules.overlap} = 'skip' and ${schedules.lastRunAt} > ${scheduledAt}
      then 'The run of ' || ${schedules.lastRunAt} || ' was created before this one fired.'
    else 'The run of ' || ${overlapped} || ' was not finished.' end`
  const isSkipped = sql`(${skippedBecause}) is not null`
  return insertRow(runs, {
    ...ofParent(schedules),
    scheduleId: schedules.id,
    scheduledAt,
    id,
    status: sql`case when ${isSkipped} then 'skipped' else 'pending' end`,
    lastError: skippedBecause,
    checkAt: sql`case when not ${isSkipped} and ${hasRunEndpoint} then ${checkAt} end`,
    createdAt: notBeforeRunEndpoint(schedules),
    ...(idempotencyKey && { idempotencyKey }),
  })
}

/** The row of a time that was missed, of a joined span. */
export function missedRun({ scheduledAt, id }: Pick<NewRun, 'scheduledAt' | 'id'>) {
  return insertRow(runs, {
    ...ofParent(missedSpans),
    scheduleId: missedSpans.scheduleId,
    scheduledAt,
    id,
    status: sql`'skipped'`,
    lastError: sql`'The run was missed. The run of ' || ${missedSpans.missedUntil} || ' replaces it.'`,
    createdAt: now,
  })
}

/** Inserts the rows. A schedule has one run for each time, so a repeated insert does nothing. */
export function writeNewRuns(rows: SQLiteInsertSelectQueryBuilder<typeof runs>) {
  return query.insert(runs).select(rows).onConflictDoNothing()
}

// Workers that pull runs

export const runId = text('runId')
/** Null: the run was taken without a claim. */
export const claimId = textOrNull('claimId')
export const outcome = text('outcome')
export const message = textOrNull('message')
export const sessionId = textOrNull('sessionId')
export const leaseExpiresAt = text('leaseExpiresAt')

/** When a claim ends: with its lease, or with the time limit of the run. Of a run that is joined to its schedule. */
export const claimEnd = (startedAt: SQLWrapper) =>
  sql<string>`min(${leaseExpiresAt}, coalesce(${deadlineOf(startedAt)}, ${leaseExpiresAt}))`

/** The value for the schedule of an updated run, which joins nothing. */
const fromSchedule = (value: SQL) =>
  sql`${query
    .select({ value: value.as('value') })
    .from(schedules)
    .where(isScheduleOf(runs))}`

/** A run on its way to a run endpoint has been sent if somebody takes it, although no attempt may be recorded yet. */
const attemptsOfTaken = sql`max(${runs.attempts}, ${isPending} and ${runs.checkAt} is not null)`

/**
 * @param claimable selects the keys of the runs that the worker gets.
 * @param claimedBy the API key of the worker, as JSON.
 */
export function writeClaim(claimable: SQLWrapper, claimedBy: SQLWrapper) {
  return query
    .update(runs)
    .set({
      status: 'delivered',
      claimId: sql`${claimId}`,
      claimedBy: sql`${claimedBy}`,
      attempts: sql`${runs.attempts} + 1`,
      checkAt: fromSchedule(claimEnd(now)),
      startedAt: sql`${now}`,
      updatedAt: sql`${now}`,
    })
    .where(sql`(${runs.organizationId}, ${runs.id}) in ${claimable}`)
}

/** Changes only a pending run, so a repeated request changes nothing. */
export function writeAcknowledgement(organizationId: SQLWrapper) {
  return query
    .update(runs)
    .set({
      status: 'delivered',
      claimId: null,
      attempts: attemptsOfTaken,
      checkAt: fromSchedule(deadlineOf(now)),
      nextAttemptAt: null,
      startedAt: sql`${now}`,
      updatedAt: sql`${now}`,
    })
    .where(and(eq(runs.organizationId, organizationId), eq(runs.status, 'pending'), eq(runs.id, runId)))
}

export function writeRenewal(organizationId: SQLWrapper) {
  return query
    .update(runs)
    .set({ checkAt: fromSchedule(claimEnd(runs.startedAt)), updatedAt: sql`${now}` })
    .where(and(eq(runs.organizationId, organizationId), eq(runs.id, runId)))
}

/** The first outcome stands. */
export function writeOutcome(organizationId: SQLWrapper) {
  return query
    .update(runs)
    .set({
      status: sql`${outcome}`,
      failure: sql`case ${outcome} when 'failed' then 'task' end`,
      claimId: sql`${claimId}`,
      attempts: attemptsOfTaken,
      checkAt: null,
      nextAttemptAt: null,
      startedAt: sql`coalesce(${runs.startedAt}, ${now})`,
      finishedAt: sql`${now}`,
      message: sql`${message}`,
      sessionId: sql`${sessionId}`,
      updatedAt: sql`${now}`,
    })
    .where(and(eq(runs.organizationId, organizationId), eq(runs.id, runId), isUnfinished))
}

// Deliveries

/** Sends a run again: its attempts start from the beginning, and a worker whose claim has ended completes it no more. */
export function writeRedelivery(organizationId: SQLWrapper) {
  return query
    .update(runs)
    .set({
      status: 'pending',
      failure: null,
      attempts: 0,
      claimId: null,
      checkAt: sql`${checkAt}`,
      nextAttemptAt: null,
      redeliveredAt: notBeforeRunEndpoint(runs),
      startedAt: null,
      finishedAt: null,
      updatedAt: sql`${now}`,
    })
    .where(and(eq(runs.organizationId, organizationId), eq(runs.id, runId)))
}

/** A run shows as many. */
const MAX_ATTEMPTS_SHOWN = 6

/** What a receiver responds of the run that it was sent (runs/contract.ts). */
interface Report {
  readonly outcome: (typeof OUTCOMES)[number]
  readonly message?: string | null | undefined
  readonly sessionId?: string | null | undefined
}

/** An attempt, and what the response says of the run. */
export interface AttemptResult {
  readonly attempt: DeliveryAttempt
  /** The outcome in the response, if any. */
  readonly report?: Report
  /** Why the outcome in the response was ignored. */
  readonly ignored?: string
}

interface AttemptedRun {
  readonly attempts: number
  readonly lastError: string | null
  readonly maxRunSeconds: number | null
}

/** True if the receiver wants no more runs. */
export const isGone = (result: AttemptResult | null) => result?.attempt.status === 410

/**
 * The run after an attempt to deliver it.
 * @param result null if there is no run endpoint. Then the run waits to be pulled.
 */
export function afterAttempt(run: AttemptedRun, result: AttemptResult | null) {
  const unsent = {
    status: 'pending',
    failure: null,
    attempts: run.attempts,
    lastError: run.lastError,
    lastAttempt: null,
    checkAt: null,
    nextAttemptAt: null,
    startedAt: null,
    finishedAt: null,
    message: null,
    sessionId: null,
  }
  if (result === null) return unsent
  const { attempt, report, ignored = null } = result
  const { startedAt, error } = attempt
  const attempted = {
    ...unsent,
    attempts: run.attempts + 1,
    lastError: error,
    lastAttempt: JSON.stringify(attempt),
  }
  if (error === null) {
    const delivered = { ...attempted, startedAt, lastError: ignored }
    const deadline = run.maxRunSeconds === null ? null : Date.parse(startedAt) + run.maxRunSeconds * 1000
    const checkAt = deadline === null ? null : new Date(deadline).toISOString()
    if (!report) return { ...delivered, status: 'delivered', checkAt }
    const finishedAt = new Date().toISOString()
    if (checkAt !== null && checkAt <= finishedAt) {
      const lastError = 'The outcome in the response was ignored: the time limit of the run is over.'
      return { ...delivered, status: 'delivered', checkAt, lastError }
    }
    const { outcome, message = null, sessionId = null } = report
    const failure = outcome === 'failed' ? 'task' : null
    return { ...delivered, status: outcome, failure, finishedAt, message, sessionId }
  }
  if (isGone(result)) {
    // If the endpoint was replaced since, the tick sends the run to the new one. If not, the run waits to be pulled.
    const checkAt = new Date().toISOString()
    return { ...attempted, checkAt, lastError: 'HTTP 410: the run endpoint was deleted' }
  }
  const nextAttemptAt = timeOfAttempt(attempted.attempts)
  if (nextAttemptAt) return { ...attempted, checkAt: nextAttemptAt, nextAttemptAt }
  return { ...attempted, status: 'failed', failure: 'delivery', finishedAt: new Date().toISOString() }
}

/** When the next attempt is due; undefined after the last: six attempts over about four hours. */
function timeOfAttempt(attempts: number): string | undefined {
  const pauseMs = pauseAfter(attempts)
  return pauseMs === undefined ? undefined : new Date(Date.now() + pauseMs).toISOString()
}

/** The runs of `writeAttempts`. */
export const attempted = jsonRows(
  'results',
  'organizationId',
  'id',
  'status',
  'failure',
  'attempts',
  'lastError',
  'lastAttempt',
  'checkAt',
  'nextAttemptAt',
  'redeliveredAt',
  'startedAt',
  'finishedAt',
  'message',
  'sessionId',
)

const isUnclaimed = isNull(runs.claimId)
const isCurrent = ({ column }: JsonRows<'redeliveredAt'>) => sql`${runs.redeliveredAt} is ${column('redeliveredAt')}`

/**
 * The run becomes what its attempt says: it is pending and was not sent again meanwhile, or it has no outcome yet and the
 * response has one.
 */
export function takesResult(results: JsonRows<'status' | 'failure' | 'redeliveredAt'>): SQL {
  const { column } = results
  const reportsOutcome = sql`(${column('status')} = 'succeeded' or ${column('failure')} is 'task')`
  return sql`((${runs.status} = 'pending' and (${isCurrent(results)} or ${reportsOutcome}))
  or (${runs.status} = 'delivered' and ${isUnclaimed} and ${reportsOutcome}))`
}

/** Counts the attempt also if the receiver acknowledged or completed the run before it responded. */
export function writeAttempts() {
  const { column } = attempted
  const session = sql<string | null>`(select ${sessions.id} from ${sessions}
  inner join ${projects} on ${projects.organizationId} = ${sessions.organizationId} and ${projects.id} = ${sessions.projectId}
  where ${sessions.organizationId} = ${runs.organizationId} and ${sessions.id} = ${column('sessionId')})`
  const isTaken = takesResult(attempted)
  const ifTaken = (stored: SQLWrapper, value: SQL) => sql`case when ${isTaken} then ${value} else ${stored} end`
  return query
    .update(runs)
    .set({
      status: ifTaken(runs.status, column('status')),
      failure: ifTaken(runs.failure, column('failure')),
      attempts: sql`case when ${isCurrent(attempted)} then max(${runs.attempts}, ${column('attempts')}) else ${runs.attempts} end`,
      lastAttempts: sql`case when ${column('lastAttempt')} is null then ${runs.lastAttempts}
        else ${withAttempt(runs.lastAttempts, column('lastAttempt'), MAX_ATTEMPTS_SHOWN)} end`,
      lastError: ifTaken(
        runs.lastError,
        sql`case when ${column('sessionId')} is not null and ${session} is null
          then 'The sessionId in the response was ignored: there is no such session.'
          else ${column('lastError')} end`,
      ),
      checkAt: ifTaken(runs.checkAt, column('checkAt')),
      nextAttemptAt: ifTaken(runs.nextAttemptAt, column('nextAttemptAt')),
      // An acknowledgement has set when the run started. A run that was sent again has not started.
      startedAt: sql`case when ${isUnfinished} and not ${isTaken} then ${runs.startedAt}
        else coalesce(${column('startedAt')}, ${runs.startedAt}) end`,
      finishedAt: ifTaken(runs.finishedAt, column('finishedAt')),
      message: ifTaken(runs.message, column('message')),
      sessionId: ifTaken(runs.sessionId, session),
      // Without a run endpoint, nothing was attempted.
      updatedAt: sql`case when ${column('lastAttempt')} is null then ${runs.updatedAt} else ${now} end`,
    })
    .from(attempted.table)
    .where(and(attempted.matches(runs, 'organizationId', 'id'), or(ne(runs.status, 'delivered'), isUnclaimed)))
}

// Checks of the tick

interface CheckedRun {
  readonly status: (typeof runs.$inferSelect)['status']
  readonly hasEndpoint: 0 | 1
  readonly claimId: string | null
  readonly deadline: string | null
  readonly maxRunSeconds: number | null
  readonly isSuperseded: 0 | 1
}

/**
 * The run after its check.
 * @param leaseExpiresAt how long the queue has to deliver it.
 */
export function afterCheck(run: CheckedRun, now: string, leaseExpiresAt: string) {
  const unchanged = { newStatus: run.status, failure: null, lastError: null, newCheckAt: null }
  // Without a run endpoint, a run waits to be pulled.
  if (run.status === 'pending') return { ...unchanged, newCheckAt: run.hasEndpoint ? leaseExpiresAt : null }
  const timedOut = { ...unchanged, newStatus: 'failed', failure: 'timeout' }
  if (run.deadline !== null && run.deadline <= now)
    return { ...timedOut, lastError: `The run had no outcome within ${run.maxRunSeconds} seconds.` }
  if (run.isSuperseded) return { ...timedOut, lastError: 'A newer run was created before this one had an outcome.' }
  if (run.claimId !== null) return { ...unchanged, newStatus: 'pending' }
  // `maxRunSeconds` has changed since the run was taken.
  return { ...unchanged, newCheckAt: run.deadline }
}

/** The runs of `writePostponement`. */
export const postponed = jsonRows('postponed', 'organizationId', 'id', 'checkAt', 'newCheckAt')

/**
 * Postpones the check of runs that are left as they are, so that the tick does not find them each minute. The check of a
 * run whose schedule, or its parent, was deleted comes after a restoration too. The time before follows it, because the
 * claim and the time limit of a run end as if it had never been deleted.
 */
export function writePostponement() {
  const next = postponed.column('newCheckAt')
  return query
    .update(runs)
    .set({ checkAt: sql`${next} || ' ' || ${unpostponed(runs.checkAt)}` })
    .from(postponed.table)
    .where(
      and(
        postponed.matches(runs, 'organizationId', 'id'),
        eq(runs.checkAt, postponed.column('checkAt')),
        // Not if it was resumed since the runs were read.
        or(ne(next, sql.raw(`'${ON_RESUMPTION}'`)), not(isActive(runs.organizationId))),
      ),
    )
}

/** The runs of `writeChecks`. */
export const checked = jsonRows(
  'checked',
  'organizationId',
  'id',
  'checkAt',
  'status',
  'newStatus',
  'failure',
  'lastError',
  'newCheckAt',
)

/** The run has not changed since it was read. */
export const isAsRead = (read: JsonRows<'status' | 'checkAt'>) =>
  and(read.matches(runs, 'status'), eq(runs.checkAt, read.column('checkAt')))

export function writeChecks() {
  const { column } = checked
  const isEnding = sql`${column('status')} = 'delivered'`
  const isReleased = sql`${isEnding} and ${column('newStatus')} = 'pending'`
  return query
    .update(runs)
    .set({
      status: sql`${column('newStatus')}`,
      failure: sql`${column('failure')}`,
      lastError: sql`coalesce(${column('lastError')}, ${runs.lastError})`,
      startedAt: sql`case when not (${isReleased}) then ${runs.startedAt} end`,
      finishedAt: sql`case when ${column('newStatus')} = 'failed' then ${now} end`,
      checkAt: sql`${column('newCheckAt')}`,
      nextAttemptAt: null,
      updatedAt: sql`case when ${isEnding} then ${now} else ${runs.updatedAt} end`,
    })
    .from(checked.table)
    .where(and(checked.matches(runs, 'organizationId', 'id'), isAsRead(checked)))
}
