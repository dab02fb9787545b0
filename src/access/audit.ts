/** The audit trail: one row for each change, written right after it in the same batch. */

import { and, eq, gte, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import { now, type Parameter, text, type Values } from '../db/parameters.ts'
import { insertRow } from '../db/rows.ts'
import { apiKeys, auditEvents } from '../db/schema.ts'
import { guarded, query } from '../db/statement.ts'
import { isCallersKey, isInScope } from './guard.ts'
import { authorized, type Preconditions } from './preconditions.ts'

/** How a change by a request is recorded. */
export interface AuditSubject {
  /** The operationId. */
  readonly operation: string
  /** The path, without the base path. */
  readonly path: string
  /** True if it creates a resource below the path. */
  readonly isCreation: boolean
  readonly requestId: string
}

/** The values of `recordChange` and `recordRead`. @param values of the change, with the `id` of a created resource. */
export function auditValues({ operation, path, isCreation, requestId }: AuditSubject, { id }: Values) {
  const target = isCreation && typeof id === 'string' ? `${path}/${id}` : path
  return {
    'audit.id': newUuid(),
    'audit.operation': operation,
    'audit.target': target,
    'audit.requestId': requestId,
  }
}

/** The guard before the change, which may have revoked or ended the caller's own key. */
const mightAct = and(
  isCallersKey,
  isInScope,
  or(isNull(apiKeys.revokedAt), eq(apiKeys.revokedAt, now)),
  or(isNull(apiKeys.expiresAt), gte(apiKeys.expiresAt, now)),
)

/** The event of a change by the caller's key. */
const recorded = {
  organizationId: apiKeys.organizationId,
  id: text('audit.id'),
  operation: text('audit.operation'),
  target: text('audit.target'),
  apiKeyId: apiKeys.id,
  apiKeyName: apiKeys.name,
  userId: apiKeys.userId,
  requestId: text('audit.requestId'),
}

/** Records a change if the statement before it, which carries the guard of its operation, changed a row. */
export const recordChange = guarded(authorized, [], () =>
  query
    .insert(auditEvents)
    .select(query.select(insertRow(auditEvents, recorded)).from(apiKeys).where(and(mightAct, sql`changes() > 0`)))
    .onConflictDoNothing(),
)

/**
 * Records an operation that gives secrets away and changes no row.
 * @param parameters of the suffix.
 * @param suffix what the target has after the path, over the rows of the preconditions; NULL if nothing.
 */
export function recordRead<P extends Parameter, const Own extends readonly Parameter[]>(
  preconditions: Pick<Preconditions<unknown, P>, 'rows' | 'takes'>,
  parameters: Own,
  suffix: SQL,
) {
  return guarded(preconditions, parameters, () =>
    query
      .insert(auditEvents)
      .select(
        preconditions.rows(
          insertRow(auditEvents, { ...recorded, target: sql`${recorded.target} || coalesce(${suffix}, '')` }),
        ),
      )
      .onConflictDoNothing(),
  )
}

/**
 * Records each key that a change of another resource, or of another key, revokes. It runs before the revocation,
 * because the revoked keys cannot be told apart afterwards.
 * @param parameters of the conditions.
 * @param revoked the keys, joined to the caller's key in `apiKeys` by the condition.
 * @param mayRevoke the guard of the revocation.
 */
export function recordRevocations<P extends Parameter, const Own extends readonly Parameter[]>(
  preconditions: Pick<Preconditions<unknown, P>, 'takes'>,
  parameters: Own,
  revoked: SQLiteTable | SQL,
  revokedId: SQLWrapper,
  isRevoked: SQL | undefined,
  mayRevoke: SQL | undefined,
) {
  return guarded(preconditions, parameters, () =>
    query.insert(auditEvents).select(
      query
        .select(
          insertRow(auditEvents, {
            ...recorded,
            // A UUID with the same time as the event of the change.
            id: sql`substr(${recorded.id}, 1, 24) || lower(hex(randomblob(6)))`,
            target: sql`'/v1/api-keys/' || ${revokedId}`,
          }),
        )
        .from(apiKeys)
        .innerJoin(revoked, isRevoked)
        .where(mayRevoke),
    ),
  )
}
