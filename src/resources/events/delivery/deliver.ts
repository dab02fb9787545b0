/** Delivers the events that an endpoint does not have yet (docs/design.md, "Deliveries of events"). */
import { v7 as newUuid } from 'uuid'
import { eventValues } from '../../../access/events.ts'
import { describeFailure } from '../../../db/failures.ts'
import { runBatch } from '../../../db/statement.ts'
import { DAY_MS, HOUR_MS } from '../../../durations.ts'
import type { EndpointMessage, Environment } from '../../../environment.ts'
import { pauseAfter, retryAfterMs } from '../../../webhooks/backoff.ts'
import type { Posted } from '../../../webhooks/post.ts'
import { toEvent } from '../event.ts'
import { toCursor } from '../sequence.ts'
import { send } from './send.ts'
import { markSlow, recordDisabling, selectIsSlow, selectMessage, storeResult, take } from './statements.ts'

/** An endpoint that takes longer is slow. */
const SLOW_MS = 2000
/** A batch of the first queue is not held longer, because an organization may have ten endpoints that hang. */
const HELD_MS = 100
/** How long an endpoint counts as slow after that. */
const SLOW_FOR_MS = 5 * 60_000
/** Longer than an attempt can take. After that, the tick has another consumer send the same message. */
const LEASE_MS = 60_000
/** The pause when those of backoff.ts are over. */
const LAST_PAUSE_MS = 6 * HOUR_MS
/** An endpoint that has failed for so long is disabled. */
const MAX_FAILING_MS = 3 * DAY_MS

/** @throws if D1 or a queue fails. The lease ends, and the tick has the message sent again. */
export async function deliverEvents(
  { endpoint, isSlow = false }: EndpointMessage,
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  const queue = isSlow ? environment.SLOW_RUNS : environment.RUNS
  const startedAt = Date.now()
  for (;;) {
    const next = await takeNext(endpoint, isSlow, environment)
    if (next === 'slow') return void (await environment.SLOW_RUNS.send({ endpoint, isSlow: true }))
    if (next === undefined) return
    const sending = sendTaken(next, environment)
    if (!isSlow && !(await isDoneWithin(HELD_MS, sending))) {
      const rest = finish(next, sending, environment)
      return context.waitUntil(rest.catch((error) => logFailure(endpoint.organizationId, error)))
    }
    const isBehind = await store(environment.DB, next, await sending)
    if (!isBehind) return
    // The messages of other endpoints come in between.
    if (isSlow || Date.now() - startedAt >= SLOW_MS) return void (await queue.send({ endpoint, isSlow }))
  }
}

async function isDoneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => true), scheduler.wait(ms).then(() => false)])
}

/** Continues after the batch. The lease limits an endpoint to one message at a time. */
async function finish(taken: Taken, sending: Promise<Result>, environment: Environment): Promise<void> {
  const { organizationId, id } = taken
  const endpoint = { organizationId, id }
  const isSlow = !(await isDoneWithin(SLOW_MS - HELD_MS, sending))
  if (isSlow) {
    const slowUntil = new Date(Date.now() + SLOW_FOR_MS).toISOString()
    const values = { ...valuesOf(endpoint), slowUntil, takenUpdatedAt: taken.updatedAt }
    // The result of the request counts nevertheless.
    await runBatch(environment.DB, { markSlow }, values).catch((error) => logFailure(organizationId, error))
  }
  const isBehind = await store(environment.DB, taken, await sending)
  if (isBehind) await (isSlow ? environment.SLOW_RUNS : environment.RUNS).send({ endpoint, isSlow })
}

const valuesOf = ({ organizationId, id }: EndpointMessage['endpoint']) => ({ organizationId, endpointId: id })

/** Takes the next message; `slow` if it has to go through the queue of slow endpoints. */
async function takeNext(endpoint: EndpointMessage['endpoint'], isSlow: boolean, { DB }: Environment) {
  const now = Date.now()
  const leaseId = newUuid()
  const { state, taken, rows } = await runBatch(
    DB,
    { state: selectIsSlow, taken: take, rows: selectMessage },
    {
      ...valuesOf(endpoint),
      now: new Date(now).toISOString(),
      leaseId,
      leaseExpiresAt: new Date(now + LEASE_MS).toISOString(),
      newMessageId: newUuid(),
      isSlow: Number(isSlow),
    },
  )
  if (taken[0]) return { ...taken[0], leaseId, rows }
  return state[0]?.isSlow === 1 && !isSlow ? ('slow' as const) : undefined
}

type Taken = Exclude<Awaited<ReturnType<typeof takeNext>>, 'slow' | undefined>

interface Result {
  readonly isAccepted: boolean
  /** Null if there was nothing to send. */
  readonly posted: Posted | null
}

async function sendTaken(taken: Taken, environment: Environment): Promise<Result> {
  const { messageEnd, end, rows } = taken
  // The endpoint wants none of the events.
  if (rows.length === 0) return { isAccepted: true, posted: null }
  const page = { items: rows.map(toEvent), nextCursor: toCursor(messageEnd), hasMore: messageEnd < end }
  const names = new Map(rows.map(({ id, user, project }) => [id, { user, project }]))
  const posted = await send(taken, page, names, environment)
  return { isAccepted: posted.attempt.error === null, posted }
}

/** @returns true if the endpoint can go on with the next message. */
async function store(database: D1Database, taken: Taken, { isAccepted, posted }: Result): Promise<boolean> {
  const now = new Date()
  const { stored } = await runBatch(
    database,
    { stored: storeResult, recordDisabling },
    {
      ...valuesOf(taken),
      ...eventValues(now.toISOString(), null),
      leaseId: taken.leaseId,
      acceptedMessageId: isAccepted ? taken.messageId : null,
      attempt: posted && JSON.stringify(posted.attempt),
      ...stateAfter(taken, posted, now),
      takenUpdatedAt: taken.updatedAt,
    },
  )
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

function logFailure(organizationId: string, error: unknown): void {
  console.error(JSON.stringify({ organizationId, failure: describeFailure(error) }))
}
