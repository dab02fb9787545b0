/** Delivers the events that an endpoint has not got yet (docs/design.md, "Deliveries of events"). */
import { v7 as newUuid } from 'uuid'
import { eventValues } from '../../../access/events.ts'
import { wake } from '../../../access/wake.ts'
import { describeFailure } from '../../../db/failures.ts'
import { type RowOf, runBatch } from '../../../db/statement.ts'
import { DAY_MS, HOUR_MS } from '../../../durations.ts'
import type { EndpointMessage, Environment } from '../../../environment.ts'
import { pauseAfter, retryAfterMs } from '../../../webhooks/backoff.ts'
import type { Posted } from '../../../webhooks/post.ts'
import { toEvent } from '../event.ts'
import { toCursor } from '../sequence.ts'
import { send } from './send.ts'
import { markSlow, recordDisabling, selectIsSlow, selectMessage, storeResult, take } from './statements.ts'

/** An endpoint that takes longer is slow. A batch of the first queue is not held longer for it. */
const SLOW_MS = 2000
/** How long an endpoint counts as slow after that. */
const SLOW_FOR_MS = 5 * 60_000
/** Longer than an attempt can take. After that, the tick has another consumer send the same message. */
const LEASE_MS = 60_000
/** The pause when those of backoff.ts are over. */
const LAST_PAUSE_MS = 6 * HOUR_MS
/** An endpoint that has failed for so long is disabled. */
const MAX_FAILING_MS = 3 * DAY_MS

type Taken = RowOf<typeof take> & { readonly leaseId: string }

/** @throws if D1 or a queue fails. The lease ends, and the tick has the message sent again. */
export async function deliverEvents(
  { endpoint, isSlow = false }: EndpointMessage,
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  const { RUNS, SLOW_RUNS } = environment
  const startedAt = Date.now()
  let next = await takeNext(endpoint, isSlow, environment)
  if (next === 'slow') return void (await SLOW_RUNS.send({ endpoint, isSlow: true }))
  while (next) {
    const { taken, page } = next
    const sending = sendTaken(taken, page, environment)
    const isInTime = isSlow || (await Promise.race([sending.then(() => true), waitUntilSlow(startedAt)]))
    if (!isInTime) {
      const slowUntil = new Date(Date.now() + SLOW_FOR_MS).toISOString()
      await runBatch(environment.DB, { markSlow }, { ...valuesOf(endpoint), slowUntil })
      const rest = sending.then((result) => finish(taken, result, SLOW_RUNS, environment, true))
      context.waitUntil(rest.catch((error) => logFailure(endpoint.organizationId, error)))
      return
    }
    const result = await sending
    // One message of the queue does not keep others waiting.
    if (isSlow || Date.now() - startedAt >= SLOW_MS) {
      return finish(taken, result, isSlow ? SLOW_RUNS : RUNS, environment, isSlow)
    }
    await store(taken, result, environment)
    next = result.hasMore ? await takeNext(endpoint, isSlow, environment) : undefined
    if (next === 'slow') return
  }
}

async function waitUntilSlow(startedAt: number): Promise<false> {
  await scheduler.wait(Math.max(SLOW_MS - (Date.now() - startedAt), 0))
  return false
}

/** Stores the result, and has the queue go on if there is more. */
async function finish(
  taken: Taken,
  result: Result,
  queue: Environment['RUNS'],
  environment: Environment,
  isSlow: boolean,
): Promise<void> {
  await store(taken, result, environment)
  const { organizationId, id } = taken
  if (result.hasMore) await queue.send({ endpoint: { organizationId, id }, isSlow })
}

const valuesOf = ({ organizationId, id }: EndpointMessage['endpoint']) => ({ organizationId, endpointId: id })

/** Takes the next message; `slow` if it has to go through the queue of slow endpoints. */
async function takeNext(endpoint: EndpointMessage['endpoint'], isSlow: boolean, { DB }: Environment) {
  const now = Date.now()
  const leaseId = newUuid()
  const { state, taken, page } = await runBatch(
    DB,
    { state: selectIsSlow, taken: take, page: selectMessage },
    {
      ...valuesOf(endpoint),
      now: new Date(now).toISOString(),
      leaseId,
      leaseExpiresAt: new Date(now + LEASE_MS).toISOString(),
      newMessageId: newUuid(),
      isSlow: Number(isSlow),
    },
  )
  if (taken[0]) return { taken: { ...taken[0], leaseId }, page }
  return state[0]?.isSlow === 1 && !isSlow ? ('slow' as const) : undefined
}

interface Result {
  /** The number of the last event that was delivered or left out; null if the attempt failed. */
  readonly acceptedEnd: number | null
  /** Null if there was nothing to send. */
  readonly posted: Posted | null
  readonly hasMore: boolean
}

async function sendTaken(taken: Taken, rows: readonly RowOf<typeof selectMessage>[], environment: Environment) {
  const { messageEnd, examinedEnd, end } = taken
  const last = messageEnd ?? examinedEnd
  const hasMore = last !== null && end !== null && last < end
  // The endpoint wants none of these events.
  if (messageEnd === null || rows.length === 0) return { acceptedEnd: last, posted: null, hasMore }
  const page = { items: rows.map(toEvent), nextCursor: toCursor(messageEnd), hasMore }
  const names = new Map(rows.map(({ id, user, project }) => [id, { user, project }]))
  const posted = await send(taken, page, names, environment)
  const isAccepted = posted.attempt.error === null
  return { acceptedEnd: isAccepted ? messageEnd : null, posted, hasMore: isAccepted && hasMore }
}

async function store(taken: Taken, { acceptedEnd, posted }: Result, environment: Environment): Promise<void> {
  const now = new Date()
  const { disabled } = await runBatch(
    environment.DB,
    { storeResult, disabled: recordDisabling },
    {
      ...valuesOf(taken),
      ...eventValues(now.toISOString(), null),
      leaseId: taken.leaseId,
      messageId: taken.messageId,
      acceptedEnd,
      attempt: posted && JSON.stringify(posted.attempt),
      ...stateAfter(taken, posted, now),
    },
  )
  await wake(environment, disabled)
}

const NOT_FAILING = { failures: 0, failingSince: null, nextAttemptAt: null, disabledAt: null, disabledReason: null }

/** Whether the endpoint is failing after the attempt, and when it tries again. */
function stateAfter(taken: Taken, posted: Posted | null, now: Date) {
  const { failures, failingSince } = taken
  if (posted === null) return { ...NOT_FAILING, failures, failingSince }
  const { error, status } = posted.attempt
  if (error === null) return NOT_FAILING
  const since = failingSince ?? now.toISOString()
  const pauseMs = retryAfterMs(posted.retryAfter, now.getTime()) ?? pauseAfter(failures + 1) ?? LAST_PAUSE_MS
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

function logFailure(organizationId: string, error: unknown): void {
  console.error(JSON.stringify({ organizationId, failure: describeFailure(error) }))
}
