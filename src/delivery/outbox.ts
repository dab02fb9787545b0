/** Puts runs from the runs table into the queues: retries, and runs whose lease has expired. */
import { and, asc, isNotNull, lte, sql } from 'drizzle-orm'
import type { TickEnvironment } from '../db/database.ts'
import { jsonRows } from '../db/rows.ts'
import { runEndpoints, runs } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { enqueueByEndpoint } from '../queue.ts'
import { isRunEndpointOf } from '../resources/schedules/joins.ts'

const PAGE_SIZE = 1000
const PAGES_A_TICK = 30

/** How long the queue has to deliver a run before the run is put into it again. */
const LEASE_MS = 15 * 60_000

const now = sql.placeholder('now')

export const selectToSend = unguarded(() =>
  query
    .select({
      organizationId: sql<string>`${runs.organizationId}`.as('organizationId'),
      id: runs.id,
      attempts: runs.attempts,
      hasEndpoint: sql<0 | 1>`${isNotNull(runEndpoints.organizationId)}`.as('hasEndpoint'),
      isSlow: sql<0 | 1>`coalesce(${runEndpoints.slowUntil} > ${now}, false)`.as('isSlow'),
    })
    .from(runs)
    .leftJoin(runEndpoints, isRunEndpointOf(runs))
    .where(lte(runs.sendAfter, now))
    .orderBy(asc(runs.sendAfter))
    .limit(PAGE_SIZE),
)

const sent = jsonRows('sent', 'organizationId', 'id', 'hasEndpoint')

/** Without a run endpoint, runs wait to be pulled. */
export const leaseSent = unguarded(() =>
  query
    .update(runs)
    .set({
      sendAfter: sql`case when ${sent.column('hasEndpoint')} then ${sql.placeholder('leaseExpiresAt')} end`,
    })
    .from(sent.table)
    .where(and(sent.matches(runs, 'organizationId', 'id'), lte(runs.sendAfter, now))),
)

/** Sends some pages. If the lease is not stored after the queue took the runs, they are sent twice and not lost. */
export async function sendRuns({ DB, ...queues }: TickEnvironment, instant: Date): Promise<void> {
  const values = {
    now: instant.toISOString(),
    leaseExpiresAt: new Date(instant.getTime() + LEASE_MS).toISOString(),
  }
  let [toSend] = await runBatch(DB, [selectToSend], values)
  for (let page = 0; toSend.length > 0 && page < PAGES_A_TICK; page++) {
    const sendable = toSend.filter(({ hasEndpoint }) => hasEndpoint === 1)
    await enqueueByEndpoint(queues, sendable, ({ isSlow }) => isSlow === 1)
    ;[, toSend] = await runBatch(DB, [leaseSent, selectToSend], { ...values, ...sent.values(toSend) })
  }
}
