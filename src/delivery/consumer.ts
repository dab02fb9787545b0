/**
 * The consumer of the queues: sends each run to its run endpoint and records the outcome in the runs table.
 * docs/design.md, "Deliveries", explains why there are two queues.
 */
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { type KeyRing, parseKeyRing } from '../crypto/key-ring.ts'
import { open } from '../crypto/sealed-value.ts'
import { describeFailure } from '../db/failures.ts'
import { jsonRows } from '../db/rows.ts'
import { agents, projects, runEndpoints, runs, schedules } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { type Environment, isOn } from '../environment.ts'
import { enqueueRuns, type RunMessage } from '../queue.ts'
import { SECRET_CONTEXT } from '../resources/run-endpoint/signature.ts'
import { problemOfReceiver } from '../resources/run-endpoint/url.ts'
import {
  hasParent,
  isAgentOf,
  isProjectOf,
  isRunEndpointOf,
  isScheduleOf,
} from '../resources/schedules/joins.ts'
import { attempt, type Outcome } from './attempt.ts'
import { nextAttempt } from './retries.ts'

/** A run endpoint that takes longer to respond is slow. A batch of the first queue is not held longer for it. */
const SLOW_MS = 2000

/** How long the run endpoint counts as slow after that. */
const SLOW_FOR_MS = 5 * 60_000

const FAILURES_IN_A_ROW = 20

const now = sql.placeholder('now')

const references = jsonRows('references', 'organizationId', 'id', 'attempts')

/** The runs that are still to be sent: pending, and not attempted since they were put into the queue. */
export const selectDeliveries = unguarded(() =>
  query
    .select({
      organizationId: sql<string>`${runs.organizationId}`.as('organizationId'),
      scheduleId: runs.scheduleId,
      scheduledAt: runs.scheduledAt,
      id: sql<string>`${runs.id}`.as('id'),
      parentType: sql<'project' | 'agent'>`${runs.parentType}`.as('parentType'),
      parentId: sql<string>`${runs.parentId}`.as('parentId'),
      attempts: runs.attempts,
      lastError: runs.lastError,
      cron: schedules.cron,
      timezone: schedules.timezone,
      url: runEndpoints.url,
      isSlow: sql<0 | 1>`coalesce(${runEndpoints.slowUntil} > ${now}, false)`.as('isSlow'),
      sealedSecret: runEndpoints.sealedSecret,
      previousSealedSecret: sql<string | null>`case when ${runEndpoints.previousExpiresAt} > ${now}
        then ${runEndpoints.previousSealedSecret} end`.as('previousSealedSecret'),
    })
    .from(references.table)
    .crossJoin(runs)
    .innerJoin(schedules, isScheduleOf(runs))
    .leftJoin(projects, isProjectOf(runs))
    .leftJoin(agents, isAgentOf(runs))
    .leftJoin(runEndpoints, isRunEndpointOf(runs))
    .where(
      and(
        references.matches(runs, 'organizationId', 'id', 'attempts'),
        eq(runs.status, 'pending'),
        hasParent,
      ),
    ),
)

type Delivery = NonNullable<(typeof selectDeliveries)['row']>

const results = jsonRows('results', 'organizationId', 'id', 'status', 'attempts', 'lastError', 'sendAfter')

export const recordResults = unguarded(() =>
  query
    .update(runs)
    .set({
      status: sql`${results.column('status')}`,
      attempts: sql`${results.column('attempts')}`,
      lastError: sql`${results.column('lastError')}`,
      sendAfter: sql`${results.column('sendAfter')}`,
      updatedAt: sql`${now}`,
    })
    .from(results.table)
    .where(and(results.matches(runs, 'organizationId', 'id'), eq(runs.status, 'pending'))),
)

const failures = jsonRows('failures', 'organizationId', 'parentType', 'parentId', 'scheduleId', 'lastError')

/** How many of the latest runs failed, of those that were delivered or failed since the schedule was enabled. */
const failedInARow = sql`(select count(*) from (
    select ${runs.status} as "status" from ${runs}
    where ${runs.organizationId} = ${schedules.organizationId} and ${runs.scheduleId} = ${schedules.id}
      and ${runs.scheduledAt} >= ${schedules.enabledAt} and ${runs.status} in ('delivered', 'failed')
    order by ${runs.scheduledAt} desc limit ${sql.raw(String(FAILURES_IN_A_ROW))}
  ) where "status" = 'failed')`

export const pauseFailing = unguarded(() =>
  query
    .update(schedules)
    .set({
      enabledAt: null,
      nextRunAt: null,
      pausedReason: sql`${`${FAILURES_IN_A_ROW} runs in a row failed. The last error: `} || ${failures.column('lastError')}`,
      updatedAt: sql`${now}`,
    })
    .from(failures.table)
    .where(
      and(
        failures.matches(schedules, 'organizationId', 'parentType', 'parentId'),
        eq(schedules.id, failures.column('scheduleId')),
        isNotNull(schedules.enabledAt),
        sql`${failedInARow} >= ${sql.raw(String(FAILURES_IN_A_ROW))}`,
      ),
    ),
)

const goneEndpoints = jsonRows('goneEndpoints', 'organizationId', 'url')
const slowEndpoints = jsonRows('slowEndpoints', 'organizationId', 'url')

/** Skips run endpoints that were set to another URL since the attempt. */
function isRunEndpointIn({ table, column }: typeof goneEndpoints) {
  return sql`(${runEndpoints.organizationId}, ${runEndpoints.url}) in
    (select ${column('organizationId')}, ${column('url')} from ${table})`
}

export const deleteGone = unguarded(() => query.delete(runEndpoints).where(isRunEndpointIn(goneEndpoints)))

export const markSlow = unguarded(() =>
  query
    .update(runEndpoints)
    .set({ slowUntil: sql`${sql.placeholder('slowUntil')}` })
    .where(isRunEndpointIn(slowEndpoints)),
)

/** @throws if D1 or a queue fails. Then the queue repeats the batch, and runs may be sent again, with the same id. */
export async function deliverRuns(
  batch: MessageBatch<RunMessage>,
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  for (const { body } of batch.messages) await deliverMessage(body, environment, context)
}

/**
 * On the queue of slow run endpoints, a message is held until all of its runs have a response, which limits how many are
 * sent at the same time. On the first queue, requests without an early response continue after the message; `sendAfter`
 * is their lease.
 */
async function deliverMessage(
  { runs, isSlow = false }: RunMessage,
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  const { DB, SLOW_RUNS } = environment
  const [rows] = await runBatch(DB, [selectDeliveries], {
    now: new Date().toISOString(),
    ...references.values(runs),
  })
  const deliveries = byKey(rows, ({ id }) => id)
  if (deliveries.length === 0) return
  if (!isSlow && deliveries.some((delivery) => delivery.isSlow)) return enqueueRuns(SLOW_RUNS, runs, true)

  const sender = senderOf(environment)
  const settled: Result[] = []
  const sending = Promise.all(
    deliveries.map(async (delivery) => settled.push(resultOf(delivery, await sender(delivery)))),
  )
  const isInTime = await Promise.race([sending.then(() => true), scheduler.wait(SLOW_MS).then(() => false)])
  if (isInTime) return record(DB, settled)

  const answered = settled.splice(0)
  const unanswered = deliveries.filter(({ id }) => !answered.some((result) => result.id === id))
  await record(DB, answered, unanswered)
  const rest = sending.then(() => record(DB, settled))
  if (isSlow) return rest
  const [{ organizationId } = { organizationId: '' }] = unanswered
  context.waitUntil(rest.catch((error) => logFailure(organizationId, error)))
}

/** @param slow the deliveries whose run endpoints are slow. */
async function record(
  database: D1Database,
  sent: readonly Result[],
  slow: readonly Delivery[] = [],
): Promise<void> {
  const now = new Date()
  const failed = sent.filter(({ status }) => status === 'failed')
  await runBatch(database, [recordResults, pauseFailing, deleteGone, markSlow], {
    now: now.toISOString(),
    slowUntil: new Date(now.getTime() + SLOW_FOR_MS).toISOString(),
    ...results.values(sent),
    ...failures.values(byKey(failed, ({ scheduleId }) => scheduleId)),
    ...goneEndpoints.values(sent.filter(({ isGone }) => isGone)),
    ...slowEndpoints.values(slow),
  })
}

function logFailure(organizationId: string, error: unknown): void {
  console.error(JSON.stringify({ organizationId, failure: describeFailure(error) }))
}

/** One item for each organization and key. */
function byKey<Item extends { organizationId: string }>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Item[] {
  return [...new Map(items.map((item) => [`${item.organizationId} ${keyOf(item)}`, item])).values()]
}

/** The function that sends a run. It returns null if there is no run endpoint. */
function senderOf(environment: Environment): (delivery: Delivery) => Promise<Outcome | null> {
  const ring = parseKeyRing(environment.ENCRYPTION_KEYS)
  const allowsLocal = isOn(environment.LOCAL_RUN_ENDPOINTS)
  return async (delivery) => {
    const { url } = delivery
    if (url === null) return null
    const problem = problemOfReceiver(url, allowsLocal)
    if (problem)
      return { error: `The URL of the run endpoint ${problem.wrong}; allowed: ${problem.allowed}.` }
    const secrets = await openSecrets(delivery, ring)
    if (!secrets) return { error: 'The secret of the run endpoint cannot be decrypted. Rotate it.' }
    return attempt(delivery, url, secrets, new Date())
  }
}

/** The secrets that sign; undefined if the key that encrypts the current one is no longer in the key ring. */
async function openSecrets(
  { organizationId, sealedSecret, previousSealedSecret }: Delivery,
  ring: KeyRing,
): Promise<string[] | undefined> {
  const openOrLog = (sealed: string | null) =>
    sealed === null
      ? undefined
      : open(sealed, { ...SECRET_CONTEXT, organizationId }, ring).catch((error) => {
          logFailure(organizationId, error)
          return undefined
        })
  const [current, previous] = await Promise.all([openOrLog(sealedSecret), openOrLog(previousSealedSecret)])
  return current === undefined ? undefined : [current, previous].filter((secret) => secret !== undefined)
}

type Result = ReturnType<typeof resultOf>

/** What is stored in the runs table. Without a run endpoint, the run waits to be pulled. */
function resultOf(delivery: Delivery, outcome: Outcome | null) {
  const unsent = { ...delivery, status: 'pending', sendAfter: null, isGone: false }
  if (outcome === null) return unsent
  const result = { ...unsent, attempts: delivery.attempts + 1, lastError: null }
  if (outcome === 'accepted') return { ...result, status: 'delivered' }
  if (outcome === 'gone') {
    // If the endpoint was replaced since, the tick sends the run to the new one. If not, the run waits to be pulled.
    const sendAfter = new Date().toISOString()
    return {
      ...result,
      sendAfter,
      isGone: true,
      lastError: 'HTTP 410: the run endpoint was deleted',
    }
  }
  const lastError = outcome.error
  const sendAfter = nextAttempt(result.attempts, new Date(), Math.random())
  if (sendAfter) return { ...result, lastError, sendAfter: sendAfter.toISOString() }
  return { ...result, status: 'failed', lastError }
}
