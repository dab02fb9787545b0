/** Delivers the events that an endpoint does not have yet (docs/design-work.md, "Deliveries of events"). */
import { v7 as newUuid } from 'uuid'
import { eventValues } from '../../../access/events.ts'
import { selectWakeableByService, wake } from '../../../access/wake.ts'
import type { DatabaseEnvironment } from '../../../db/database.ts'
import { runBatch } from '../../../db/statement.ts'
import { DAY_MS, HOUR_MS } from '../../../durations.ts'
import type { EndpointMessage, Environment } from '../../../environment.ts'
import { pauseAfter, retryAfterMs } from '../../../webhooks/backoff.ts'
import { isDoneWithin, logFailure } from '../../../webhooks/deliveries.ts'
import type { Posted } from '../../../webhooks/post.ts'
import { send } from './send.ts'
import { recordDisabling, selectMessage, storeResult, take } from './statements.ts'

/** A batch of the queue is not held longer, because an organization may have ten endpoints that hang. */
const HELD_MS = 100
/** After that, no further message begins: Cloudflare ends what continues 30 seconds after a batch. */
const SENDING_MS = 5000
/** Longer than an attempt can take. After that, the tick has another consumer send the same message. */
const LEASE_MS = 60_000
/** The pause when those of backoff.ts are over. */
const LAST_PAUSE_MS = 6 * HOUR_MS
/** An endpoint that has failed for so long is disabled. */
const MAX_FAILING_MS = 3 * DAY_MS

/** @throws if D1 or a queue fails early. The lease ends, and the tick has the message sent again. */
export async function deliverEvents(
  { endpoint }: EndpointMessage,
  environment: DatabaseEnvironment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  const sending = sendMessages(endpoint, environment)
  if (await isDoneWithin(HELD_MS, sending)) return
  context.waitUntil(sending.catch((error) => logFailure(endpoint.organizationId, error)))
}

/** Sends one message after the other. The lease limits an endpoint to one at a time. */
async function sendMessages(endpoint: EndpointMessage['endpoint'], environment: DatabaseEnvironment): Promise<void> {
  const startedAt = Date.now()
  for (;;) {
    const taken = await takeNext(endpoint, environment)
    if (!taken) return
    const isBehind = await store(environment, taken, await sendTaken(taken, environment))
    if (!isBehind) return
    if (Date.now() - startedAt >= SENDING_MS) {
      return void (await environment.DELIVERIES.send({ database: environment.databaseNumber, endpoint }))
    }
  }
}

const valuesOf = ({ organizationId, id }: EndpointMessage['endpoint']) => ({ organizationId, endpointId: id })

async function takeNext(endpoint: EndpointMessage['endpoint'], { database }: DatabaseEnvironment) {
  const now = Date.now()
  const leaseId = newUuid()
  const { taken, rows } = await runBatch(
    database,
    { taken: take, rows: selectMessage },
    {
      ...valuesOf(endpoint),
      now: new Date(now).toISOString(),
      leaseId,
      leaseExpiresAt: new Date(now + LEASE_MS).toISOString(),
      newMessageId: newUuid(),
    },
  )
  return taken[0] && { ...taken[0], leaseId, rows }
}

type Taken = NonNullable<Awaited<ReturnType<typeof takeNext>>>

interface Result {
  readonly isAccepted: boolean
  /** Null if there was nothing to send. */
  readonly posted: Posted | null
}

async function sendTaken(taken: Taken, environment: Environment): Promise<Result> {
  const { messageId, messageEnd, end, rows } = taken
  // The endpoint wants none of the events.
  if (rows.length === 0) return { isAccepted: true, posted: null }
  const message = { id: messageId, rows, end: messageEnd, hasMore: messageEnd < end }
  const posted = await send(taken, message, environment)
  return { isAccepted: posted.attempt.error === null, posted }
}

/** @returns true if the endpoint can go on with the next message. */
async function store(environment: DatabaseEnvironment, taken: Taken, { isAccepted, posted }: Result): Promise<boolean> {
  const now = new Date()
  const state = stateAfter(taken, posted, now)
  const { stored, wakeable } = await runBatch(
    environment.database,
    { stored: storeResult, recordDisabling, wakeable: state.disabledAt === null ? [] : [selectWakeableByService] },
    {
      ...valuesOf(taken),
      ...eventValues(now.toISOString(), null),
      now: now.toISOString(),
      leaseId: taken.leaseId,
      acceptedMessageId: isAccepted ? taken.messageId : null,
      attempt: posted && JSON.stringify(posted.attempt),
      ...state,
      takenUpdatedAt: taken.updatedAt,
    },
  )
  await wake(environment, environment.databaseNumber, wakeable)
  return stored[0]?.isBehind === 1
}

const NOT_FAILING = { failures: 0, failingSince: null, nextAttemptAt: null, disabledAt: null, disabledReason: null }

/** Whether the endpoint is failing after the attempt, and when it tries again. */
function stateAfter(taken: Taken, posted: Posted | null, now: Date) {
  const { failures, failingSince } = taken
  if (posted === null) return { ...NOT_FAILING, failures, failingSince }
  const { error, status } = posted.attempt
  if (error === null) return NOT_FAILING
  const since = failingSince ?? now.toISOString()
  const pauseMs = retryAfterMs(posted.retryAfter, now.getTime()) ?? pauseAfter(failures + 1, LAST_PAUSE_MS)
  const failing = {
    failures: failures + 1,
    failingSince: since,
    nextAttemptAt: new Date(now.getTime() + pauseMs).toISOString(),
  }
  const isTooLong = now.getTime() - Date.parse(since) >= MAX_FAILING_MS
  if (status !== 410 && !isTooLong) return { ...failing, disabledAt: null, disabledReason: null }
  const disabledReason =
    status === 410 ? 'It responded with HTTP 410.' : `Every attempt of three days failed. The last one: ${error}`
  return { ...failing, nextAttemptAt: null, disabledAt: now.toISOString(), disabledReason }
}
