/** Who did what: one row for each change, written right after it, in the same batch. */

import { and, eq, gte, isNull, or, type SQL, sql } from 'drizzle-orm'
import { v7 as newUuid } from 'uuid'
import { apiKeys, auditEvents } from '../db/schema.ts'
import { guarded, insertRow, query, type Step, type Values } from '../db/statement.ts'
import { isCallersKey, isInScope, now } from './guard.ts'

/** What a request is recorded as, if it changes something. */
export interface AuditSubject {
  /** The operationId. */
  readonly operation: string
  /** The path, without the base path. */
  readonly path: string
  /** True if it makes something below the path. */
  readonly isCreation: boolean
  readonly requestId: string
}

/** What `recordChange` is bound to. @param values of the change: what is made has its `id` there. */
export function auditValues({ operation, path, isCreation, requestId }: AuditSubject, { id }: Values) {
  const target = isCreation && typeof id === 'string' ? `${path}/${id}` : path
  return { auditEventId: newUuid(), operation, target, requestId }
}

/** The guard as it was before the change, which may have ended the caller's own key. */
const mightAct = and(
  isCallersKey,
  isInScope,
  or(isNull(apiKeys.revokedAt), eq(apiKeys.revokedAt, now)),
  or(isNull(apiKeys.expiresAt), gte(apiKeys.expiresAt, now)),
)

/** What an event says of a change by the caller's key. */
const recorded = {
  organizationId: apiKeys.organizationId,
  id: sql.placeholder('auditEventId'),
  operation: sql.placeholder('operation'),
  target: sql.placeholder('target'),
  apiKeyId: apiKeys.id,
  userId: apiKeys.userId,
  requestId: sql.placeholder('requestId'),
  createdAt: now,
}

/** Only if the statement before it has changed something: that one has the guard of its operation. */
export const recordChange = guarded(() =>
  query
    .insert(auditEvents)
    .select(
      query.select(insertRow(auditEvents, recorded)).from(apiKeys).where(and(mightAct, sql`changes() > 0`)),
    )
    .onConflictDoNothing(),
)

/**
 * Records each key that the change of another resource, or of another key, is about to revoke. It runs before the
 * revocation, because nothing tells afterwards which keys that revoked.
 * @param revoked the keys, joined to the caller's key in `apiKeys` by the condition.
 * @param mayRevoke the guard of the revocation.
 */
export function recordRevocations(
  revoked: typeof apiKeys,
  isRevoked: SQL | undefined,
  mayRevoke: SQL | undefined,
) {
  return guarded(() =>
    query.insert(auditEvents).select(
      query
        .select(
          insertRow(auditEvents, {
            ...recorded,
            // A UUID of the same instant as the event of the change.
            id: sql`substr(${recorded.id}, 1, 24) || lower(hex(randomblob(6)))`,
            target: sql`'/v1/api-keys/' || ${revoked.id}`,
          }),
        )
        .from(apiKeys)
        .innerJoin(revoked, isRevoked)
        .where(mayRevoke),
    ),
  )
}

const isChange = (step: Step) => [step].flat().some((statement) => statement.isChange)

/** True if one of the steps makes a change. */
export function isChanging(steps: readonly Step[]): boolean {
  return steps.some(isChange)
}

/** The steps, each change followed by its record. It answers with no row, so the rows of the steps stay as they are. */
export function recordingChanges<const Steps extends readonly Step[]>(steps: Steps): Steps {
  const recorded = steps.map((step) => (isChange(step) ? [...[step].flat(), recordChange] : step))
  // A step with its record has the rows of the step, which the type checker can't follow.
  return recorded as unknown as Steps
}
