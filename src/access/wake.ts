/** Hints that an event endpoint has something to deliver. The tick finds what a lost hint would have found. */
import { and, eq, exists, gte, isNull, lte, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { now } from '../db/parameters.ts'
import { apiKeys, auditEvents, eventEndpoints } from '../db/schema.ts'
import { guarded, query, type RowOf } from '../db/statement.ts'
import type { Environment } from '../environment.ts'
import { firstSequence, mightAct, requestId } from './events.ts'
import { isWantedBy } from './wanted.ts'

const recorded = alias(auditEvents, 'recorded')

/** The endpoints that want an event of the request and are neither disabled nor failing nor sending. */
export const selectWakeable = guarded({ takes: [] }, [], () =>
  query
    .select({
      organizationId: sql<string>`${eventEndpoints.organizationId}`.as('organizationId'),
      id: sql<string>`${eventEndpoints.id}`.as('id'),
      isSlow: sql<0 | 1>`coalesce(${eventEndpoints.slowUntil} > ${now}, 0)`.as('isSlow'),
    })
    .from(apiKeys)
    .innerJoin(eventEndpoints, eq(eventEndpoints.organizationId, apiKeys.organizationId))
    .where(
      and(
        mightAct,
        isNull(eventEndpoints.disabledAt),
        isNull(eventEndpoints.nextAttemptAt),
        // Who sends looks for more when it gives the lease back. Batches do not overlap, so it finds this event.
        or(isNull(eventEndpoints.leaseId), lte(eventEndpoints.leaseExpiresAt, now)),
        exists(
          query
            .select({ one: sql`1` })
            .from(recorded)
            .where(
              and(
                eq(recorded.organizationId, apiKeys.organizationId),
                gte(recorded.sequence, firstSequence),
                eq(recorded.requestId, requestId),
                isWantedBy(recorded),
              ),
            ),
        ),
      ),
    ),
)

/** Has the endpoints look for their events. */
export async function wake(
  { RUNS, SLOW_RUNS }: Pick<Environment, 'RUNS' | 'SLOW_RUNS'>,
  endpoints: readonly RowOf<typeof selectWakeable>[],
): Promise<void> {
  for (const { organizationId, id, isSlow } of endpoints) {
    const queue = isSlow ? SLOW_RUNS : RUNS
    await queue.send({ endpoint: { organizationId, id }, isSlow: isSlow === 1 })
  }
}
