/** Delivers what the queue hands over: each run is sent to its run endpoint, and the ledger records what came of it. */
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { type KeyRing, parseKeyRing } from '../crypto/key-ring.ts'
import { open } from '../crypto/sealed-value.ts'
import { describeFailure } from '../db/failures.ts'
import { agents, projects, runEndpoints, runs, schedules } from '../db/schema.ts'
import { compileUnguarded, jsonRows, query, runBatch } from '../db/statement.ts'
import { type Environment, isOn } from '../environment.ts'
import { hasParent, isAgentOf, isProjectOf, isScheduleOf } from '../schedules/parents.ts'
import { attempt, type Outcome } from './attempt.ts'
import type { RunMessage } from './message.ts'
import { problemOfReceiver } from './receiver.ts'
import { nextAttempt } from './retries.ts'
import { SECRET_CONTEXT } from './signature.ts'

/** A Worker has six connections at once; others would wait, and the time that they wait would count. */
const CONNECTIONS = 6

const FAILURES_IN_A_ROW = 20

const now = sql.placeholder('now')

const references = jsonRows('references', 'organizationId', 'scheduleId', 'scheduledAt', 'attempts')

/** The runs that are still to be sent: nothing has become of them since they were put into the queue. */
const selectDeliveries = compileUnguarded(
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
      sealedSecret: runEndpoints.sealedSecret,
      previousSealedSecret: sql<string | null>`case when ${runEndpoints.previousExpiresAt} > ${now}
        then ${runEndpoints.previousSealedSecret} end`.as('previousSealedSecret'),
    })
    .from(references.table)
    .crossJoin(runs)
    .innerJoin(schedules, isScheduleOf(runs))
    .leftJoin(projects, isProjectOf(runs))
    .leftJoin(agents, isAgentOf(runs))
    .leftJoin(runEndpoints, eq(runEndpoints.organizationId, runs.organizationId))
    .where(
      and(
        references.matches(runs, 'organizationId', 'scheduleId', 'scheduledAt', 'attempts'),
        eq(runs.status, 'pending'),
        hasParent,
      ),
    ),
)

type Delivery = NonNullable<(typeof selectDeliveries)['row']>

const results = jsonRows(
  'results',
  'organizationId',
  'scheduleId',
  'scheduledAt',
  'status',
  'attempts',
  'lastError',
  'sendAfter',
)

const recordResults = compileUnguarded(
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
    .where(
      and(results.matches(runs, 'organizationId', 'scheduleId', 'scheduledAt'), eq(runs.status, 'pending')),
    ),
)

const failures = jsonRows('failures', 'organizationId', 'parentType', 'parentId', 'scheduleId', 'lastError')

/** How many of the latest runs failed of those that something became of since the schedule was enabled. */
const failedInARow = sql`(select count(*) from (
    select ${runs.status} as "status" from ${runs}
    where ${runs.organizationId} = ${schedules.organizationId} and ${runs.scheduleId} = ${schedules.id}
      and ${runs.scheduledAt} >= ${schedules.enabledAt} and ${runs.status} in ('delivered', 'failed')
    order by ${runs.scheduledAt} desc limit ${sql.raw(String(FAILURES_IN_A_ROW))}
  ) where "status" = 'failed')`

const pauseFailing = compileUnguarded(
  query
    .update(schedules)
    .set({
      enabledAt: null,
      nextRunAt: null,
      pausedReason: sql`${`${FAILURES_IN_A_ROW} runs in a row failed. The last: `} || ${failures.column('lastError')}`,
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

/** Unless it was set to another URL meanwhile. */
const removeGone = compileUnguarded(
  query.delete(runEndpoints).where(
    sql`(${runEndpoints.organizationId}, ${runEndpoints.url}) in
        (select ${goneEndpoints.column('organizationId')}, ${goneEndpoints.column('url')} from ${goneEndpoints.table})`,
  ),
)

/** @throws if D1 fails: the queue hands the batch over again, and runs that were sent are sent again, with the same id. */
export async function deliverRuns(batch: MessageBatch<RunMessage>, environment: Environment): Promise<void> {
  const [deliveries] = await runBatch(environment.DB, [selectDeliveries], {
    now: new Date().toISOString(),
    ...references.values(batch.messages.flatMap(({ body }) => body.runs)),
  })
  if (deliveries.length === 0) return
  const sender = senderOf(environment)
  const sent = await inLanes(
    byKey(deliveries, ({ id }) => id),
    async (delivery) => resultOf(delivery, await sender(delivery)),
  )

  const failed = sent.filter(({ status }) => status === 'failed')
  await runBatch(environment.DB, [recordResults, pauseFailing, removeGone], {
    now: new Date().toISOString(),
    ...results.values(sent),
    ...failures.values(byKey(failed, ({ scheduleId }) => scheduleId)),
    ...goneEndpoints.values(sent.filter(({ isGone }) => isGone)),
  })
}

/** One of those of an organization that have the same key. */
function byKey<Item extends { organizationId: string }>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Item[] {
  return [...new Map(items.map((item) => [`${item.organizationId} ${keyOf(item)}`, item])).values()]
}

/** Sends runs. Null: there is no run endpoint. */
function senderOf(environment: Environment): (delivery: Delivery) => Promise<Outcome | null> {
  const ring = parseKeyRing(environment.ENCRYPTION_KEYS ?? '')
  const allowsLocal = isOn(environment.LOCAL_RUN_ENDPOINTS)
  return async (delivery) => {
    const { url } = delivery
    if (url === null) return null
    const problem = problemOfReceiver(url, allowsLocal)
    if (problem) return { error: `The URL of the run endpoint is not allowed: ${problem}` }
    const secrets = await openSecrets(delivery, ring)
    if (!secrets) return { error: 'The secret of the run endpoint can’t be opened: rotate it' }
    return attempt(delivery, url, secrets, new Date())
  }
}

/** The secrets that sign, or undefined if the key of the current one is not in the ring any more. */
async function openSecrets(
  { organizationId, sealedSecret, previousSealedSecret }: Delivery,
  ring: KeyRing,
): Promise<string[] | undefined> {
  const openOrLog = (sealed: string | null) =>
    sealed === null
      ? undefined
      : open(sealed, { ...SECRET_CONTEXT, organizationId }, ring).catch((error) => {
          console.error(JSON.stringify({ organizationId, failure: describeFailure(error) }))
          return undefined
        })
  const [current, previous] = await Promise.all([openOrLog(sealedSecret), openOrLog(previousSealedSecret)])
  return current === undefined ? undefined : [current, previous].filter((secret) => secret !== undefined)
}

/** What the ledger records. A run that nobody takes, because there is no run endpoint any more, waits to be pulled. */
function resultOf(delivery: Delivery, outcome: Outcome | null) {
  const unsent = { ...delivery, status: 'pending', sendAfter: null, isGone: false }
  if (outcome === null) return unsent
  const result = { ...unsent, attempts: delivery.attempts + 1, lastError: null }
  if (outcome === 'taken') return { ...result, status: 'delivered' }
  if (outcome === 'gone') {
    return { ...result, isGone: true, lastError: 'HTTP 410: the run endpoint wants no more, and was removed' }
  }
  const lastError = outcome.error
  const sendAfter = nextAttempt(result.attempts, new Date(), Math.random())
  if (sendAfter) return { ...result, lastError, sendAfter: sendAfter.toISOString() }
  return { ...result, status: 'failed', lastError }
}

/** Works on a few at a time. @returns the results in the order of the items. */
async function inLanes<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const queue = items.entries()
  const lane = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
  return results
}
