/** Hints that an event endpoint has something to deliver. The tick finds what a lost hint would have found. */
import { and, eq, exists, gte, isNull, lte, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { describeFailure } from '../db/failures.ts'
import { now, text } from '../db/parameters.ts'
import { apiKeys, auditEvents, eventEndpoints } from '../db/schema.ts'
import { guarded, query, type RowOf, unguarded } from '../db/statement.ts'
import type { Environment } from '../environment.ts'
import { firstSequence, mightAct, requestId } from './events.ts'
import { isWantedBy } from './wanted.ts'

const recorded = alias(auditEvents, 'recorded')

const fields = {
  organizationId: sql<string>`${eventEndpoints.organizationId}`.as('organizationId'),
  id: sql<string>`${eventEndpoints.id}`.as('id'),
}

/** The endpoint is neither disabled nor failing nor sending, and wants an event that the batch recorded. */
const isWakeable = (organizationId: SQLWrapper, isOfBatch: SQL) =>
  and(
    eq(eventEndpoints.organizationId, organizationId),
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
            eq(recorded.organizationId, organizationId),
            gte(recorded.sequence, firstSequence),
            isOfBatch,
            isWantedBy(recorded),
          ),
        ),
    ),
  )

/** The endpoints that want an event of the request. */
export const selectWakeable = guarded({ takes: [] }, {}, () =>
  query
    .select(fields)
    .from(apiKeys)
    .innerJoin(eventEndpoints, isWakeable(apiKeys.organizationId, eq(recorded.requestId, requestId)))
    .where(mightAct),
)

const organizationId = text('organizationId')

/** The endpoints that want an event that the service recorded by itself. */
export const selectWakeableByService = unguarded({ organizationId, firstSequence, now }, () =>
  query
    .select(fields)
    .from(eventEndpoints)
    .where(isWakeable(organizationId, isNull(recorded.requestId))),
)

/** Has the endpoints look for their events. If the queue fails, the tick does. */
export async function wake(
  { DELIVERIES }: Pick<Environment, 'DELIVERIES'>,
  database: number,
  endpoints: readonly RowOf<typeof selectWakeable>[],
): Promise<void> {
  if (endpoints.length === 0) return
  try {
    await DELIVERIES.sendBatch(endpoints.map((endpoint) => ({ body: { database, endpoint } })))
  } catch (error) {
    console.error(JSON.stringify({ failure: describeFailure(error) }))
  }
}
