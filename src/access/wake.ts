/** Hints that an event endpoint may have something to deliver. The tick finds what a lost hint would have found. */
import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { now } from '../db/parameters.ts'
import { apiKeys, eventEndpoints } from '../db/schema.ts'
import { guarded, query, type RowOf } from '../db/statement.ts'
import type { Environment } from '../environment.ts'
import type { EventType } from './event-types.ts'
import { mightAct } from './events.ts'

/** The endpoints of the organization that are neither disabled nor failing nor sending, after a change. */
export const selectWakeable = guarded({ takes: [] }, [], () =>
  query
    .select({
      organizationId: sql<string>`${eventEndpoints.organizationId}`.as('organizationId'),
      id: sql<string>`${eventEndpoints.id}`.as('id'),
      types: eventEndpoints.types,
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
      ),
    ),
)

/** `skill.*` is every type of the resource. */
const matches = (pattern: string, type: EventType) =>
  pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern

/**
 * Has the endpoints that want one of the types look for their events.
 * @param types that may have been recorded.
 */
export async function wake(
  { RUNS, SLOW_RUNS }: Pick<Environment, 'RUNS' | 'SLOW_RUNS'>,
  endpoints: readonly RowOf<typeof selectWakeable>[],
  types: readonly EventType[],
): Promise<void> {
  for (const { organizationId, id, types: wanted, isSlow } of endpoints) {
    const patterns: readonly string[] | null = wanted && JSON.parse(wanted)
    if (patterns && !types.some((type) => patterns.some((pattern) => matches(pattern, type)))) continue
    const message = { endpoint: { organizationId, id }, isSlow: isSlow === 1 }
    await (message.isSlow ? SLOW_RUNS : RUNS).send(message)
  }
}
