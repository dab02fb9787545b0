/** Delivers the events that an endpoint has not got yet (docs/design.md, "Deliveries of events"). */
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
    const isInTime =
      isSlow || (await Promise.race([sending.then(() => true), scheduler.wait(SLOW_MS).then(() => false)]))
    if (!isInTime) {
      const slowUntil = new Date(Date.now() + SLOW_FOR_MS).toISOString()
      await runBatch(environment.DB, { markSlow }, { ...valuesOf(endpoint), slowUntil })
      const rest = sending.then(async (result) => {
        const isBehind = await store(environment.DB, next, result)
        if (isBehind) await environment.SLOW_RUNS.send({ endpoint, isSlow: true })
      })
      return context.waitUntil(rest.catch((error) => logFailure(endpoint.organizationId, error)))
    }
    const isBehind = await store(environment.DB, next, await sending)
    if (!isBehind) return
    // The messages of other endpoints come in between.
    if (isSlow || Date.now() - startedAt >= SLOW_MS) return void (await queue.send({ endpoint, isSlow }))
  }
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
  /** The number of the last event that was delivered or left out; null if the attempt failed. */
  readonly acceptedEnd: number | null
  /** Null if there was nothing to send. */
  readonly posted: Posted | null
}

async function sendTaken(taken: Taken, environment: Environment): Promise<Result> {
  const { messageEnd, examinedEnd, end, rows } = taken
  // The endpoint wants none of the events.
  if (messageEnd === null || rows.length === 0) return { acceptedEnd: messageEnd ?? examinedEnd, posted: null }
  const page = {
    items: rows.map(toEvent),
    nextCursor: toCursor(messageEnd),
    hasMore: end !== null && messageEnd < end,
  }
  const names = new Map(rows.map(({ id, user, project }) => [id, { user, project }]))
  const posted = await send(taken, page, names, environment)
  return { acceptedEnd: posted.attempt.error === null ? messageEnd : null, posted }
}

/** @returns true if the endpoint can go on with the next message. */
async function store(database: D1Database, taken: Taken, { acceptedEnd, posted }: Result): Promise<boolean> {
  const now = new Date()
  const { stored } = await runBatch(
    database,
    { stored: storeResult, recordDisabling },
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
  return acceptedEnd !== null && stored[0]?.isBehind === 1
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
