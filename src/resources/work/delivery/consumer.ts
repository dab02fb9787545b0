/**
 * The consumer of the queues: sends each run to its run endpoint and records the outcome in the runs table.
 * docs/design-work.md, "Deliveries", explains why there are two queues.
 */

import { and, eq, sql } from 'drizzle-orm'
import { eventValues, recordedByService } from '../../../access/events.ts'
import { selectWakeableByService, wake } from '../../../access/wake.ts'
import { parseKeyRing } from '../../../crypto/key-ring.ts'
import type { DatabaseEnvironment } from '../../../db/database.ts'
import { isActive, isNotStopped } from '../../../db/halts.ts'
import { now, text } from '../../../db/parameters.ts'
import { jsonRows } from '../../../db/rows.ts'
import { agents, projects, runEndpoints, runs, schedules } from '../../../db/schema.ts'
import { query, type RowOf, runBatch, unguarded } from '../../../db/statement.ts'
import { type Environment, isOn, type RunMessage } from '../../../environment.ts'
import { isDoneWithin, logFailure } from '../../../webhooks/deliveries.ts'
import { notSent } from '../../../webhooks/post.ts'
import { problemOfReceiver } from '../../../webhooks/receiver-url.ts'
import { rotationOf } from '../../../webhooks/rotation.ts'
import { openSecrets } from '../../../webhooks/secrets.ts'
import { failuresOf, pauseFailing, recordPauses } from '../firing/pause-failing.ts'
import { hasParent, isAgentOf, isProjectOf, isRunEndpointOf, isScheduleOf } from '../joins.ts'
import { runEndpointContext } from '../run-endpoint/sealed-context.ts'
import { enqueueRuns } from '../run-queue.ts'
import { type AttemptResult, afterAttempt, attempted, isGone, takesResult, writeAttempts } from '../run-transitions.ts'
import { toWork, workFields } from '../runs/work.ts'
import { sendRun } from './attempt.ts'
import { failedRuns, recordFailures } from './run-failures.ts'

/** A run endpoint that takes longer to respond is slow. A batch of the first queue is not held longer for it. */
const SLOW_MS = 2000

/** How long the run endpoint counts as slow after that. */
const SLOW_FOR_MS = 5 * 60_000

const references = jsonRows('references', 'organizationId', 'id', 'attempts')

/** The runs that are still to be sent: pending, and not attempted since they were put into the queue. */
export const selectDeliveries = unguarded({ parameter: references.parameter, now }, () =>
  query
    .select({
      organizationId: sql<string>`${runs.organizationId}`.as('organizationId'),
      ...workFields,
      lastError: runs.lastError,
      redeliveredAt: runs.redeliveredAt,
      maxRunSeconds: schedules.maxRunSeconds,
      url: runEndpoints.url,
      endpointCreatedAt: sql<string | null>`${runEndpoints.createdAt}`.as('endpointCreatedAt'),
      isSlow: sql<0 | 1>`coalesce(${runEndpoints.slowUntil} > ${now}, false)`.as('isSlow'),
      sealedSecret: runEndpoints.sealedSecret,
      previousSealedSecret: rotationOf(runEndpoints).previousSealedSecret,
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
        isActive(runs.organizationId),
        isNotStopped('deliveries', runs.organizationId),
      ),
    ),
)

type Delivery = RowOf<typeof selectDeliveries>

export const recordFailed = recordFailures(takesResult(failedRuns))

export const recordResults = unguarded({ parameter: attempted.parameter, now }, writeAttempts)

const goneEndpoints = jsonRows('goneEndpoints', 'organizationId', 'url', 'endpointCreatedAt')
const slowEndpoints = jsonRows('slowEndpoints', 'organizationId', 'url', 'endpointCreatedAt')
/** Until when the run endpoint counts as slow. */
const slowUntil = text('slowUntil')

/** Skips run endpoints that were changed, or deleted and set again, since the attempt. */
function isRunEndpointIn({ table, column }: Pick<typeof goneEndpoints, 'table' | 'column'>) {
  return sql`(${runEndpoints.organizationId}, ${runEndpoints.url}, ${runEndpoints.createdAt}) in
    (select ${column('organizationId')}, ${column('url')}, ${column('endpointCreatedAt')} from ${table})`
}

export const recordGone = recordedByService(
  { parameter: goneEndpoints.parameter },
  { type: 'run-endpoint.deleted', organizationId: runEndpoints.organizationId, id: runEndpoints.organizationId },
  (row) => query.select(row).from(runEndpoints).where(isRunEndpointIn(goneEndpoints)),
)

export const deleteGone = unguarded({ parameter: goneEndpoints.parameter }, () =>
  query.delete(runEndpoints).where(isRunEndpointIn(goneEndpoints)),
)

export const markSlow = unguarded({ parameter: slowEndpoints.parameter, slowUntil }, () =>
  query
    .update(runEndpoints)
    .set({ slowUntil: sql`${slowUntil}` })
    .where(isRunEndpointIn(slowEndpoints)),
)

/**
 * On the queue of slow run endpoints, a message is held until all of its runs have a response, which limits how many
 * are sent at the same time. On the first queue, requests without an early response continue after the message;
 * `checkAt` ends their lease.
 * @throws if D1 or a queue fails. Then the queue repeats the message, and runs may be sent again, with the same id.
 */
export async function deliverRuns(
  { runs, isSlow = false }: RunMessage,
  environment: DatabaseEnvironment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  const { database, databaseNumber, SLOW_DELIVERIES } = environment
  const { rows } = await runBatch(
    database,
    { rows: selectDeliveries },
    { now: new Date().toISOString(), references: references.value(runs) },
  )
  const deliveries = byKey(rows, ({ organizationId, id }) => `${organizationId} ${id}`)
  const organizationId = deliveries[0]?.organizationId
  if (organizationId === undefined) return
  if (!isSlow && deliveries.some((delivery) => delivery.isSlow)) {
    return enqueueRuns(SLOW_DELIVERIES, databaseNumber, runs, true)
  }

  const sender = senderOf(environment)
  const settled: Recorded[] = []
  const sending = Promise.all(
    deliveries.map(async (delivery) => {
      settled.push(recordedOf(delivery, await sender(delivery)))
    }),
  )
  if (await isDoneWithin(SLOW_MS, sending)) return record(environment, organizationId, settled)

  const answered = settled.splice(0)
  const unanswered = deliveries.filter(({ id }) => !answered.some((result) => result.id === id))
  await record(environment, organizationId, answered, unanswered)
  const rest = sending.then(() => record(environment, organizationId, settled))
  if (isSlow) return rest
  context.waitUntil(rest.catch((error) => logFailure(organizationId, error)))
}

/** @param slow the deliveries whose run endpoints are slow. */
async function record(
  environment: DatabaseEnvironment,
  organizationId: string,
  sent: readonly Recorded[],
  slow: readonly Delivery[] = [],
): Promise<void> {
  const now = new Date()
  const failed = sent.filter(({ status }) => status === 'failed')
  const gone = sent.filter(({ isGone }) => isGone)
  const { wakeable } = await runBatch(
    environment.database,
    {
      recordFailed,
      recordResults,
      recordPauses,
      pauseFailing,
      recordGone,
      deleteGone,
      markSlow,
      wakeable: failed.length + gone.length > 0 ? [selectWakeableByService] : [],
    },
    {
      organizationId,
      now: now.toISOString(),
      ...eventValues(now.toISOString(), null),
      failedRuns: failedRuns.value(failed),
      slowUntil: new Date(now.getTime() + SLOW_FOR_MS).toISOString(),
      results: attempted.value(sent),
      ...failuresOf(failed.map((run) => ({ ...run, error: run.message ?? run.lastError }))),
      goneEndpoints: goneEndpoints.value(gone),
      slowEndpoints: slowEndpoints.value(slow),
    },
  )
  await wake(environment, environment.databaseNumber, wakeable)
}

/** The last item of each key. */
function byKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}

/** The function that sends a run. It returns null if there is no run endpoint. */
function senderOf(environment: Environment): (delivery: Delivery) => Promise<AttemptResult | null> {
  const ring = parseKeyRing(environment.ENCRYPTION_KEYS)
  const allowsLocal = isOn(environment.LOCAL_RECEIVERS)
  return async (delivery) => {
    const { url } = delivery
    if (url === null) return null
    const problem = problemOfReceiver(url, allowsLocal)
    if (problem) {
      return { attempt: notSent(`The URL of the run endpoint ${problem.wrong}; allowed: ${problem.allowed}.`) }
    }
    const secrets = await openSecrets(delivery, runEndpointContext(delivery.organizationId), ring)
    if (!secrets) return { attempt: notSent('The secret of the run endpoint cannot be decrypted. Rotate it.') }
    return sendRun(toWork(delivery), url, secrets, new Date())
  }
}

type Recorded = ReturnType<typeof recordedOf>

/** What is stored in the runs table, and the run endpoint that was asked. */
function recordedOf(delivery: Delivery, result: AttemptResult | null) {
  const { organizationId, scheduleId, id, url, endpointCreatedAt, redeliveredAt } = delivery
  const after = afterAttempt(delivery, result)
  return { organizationId, scheduleId, id, url, endpointCreatedAt, redeliveredAt, isGone: isGone(result), ...after }
}
