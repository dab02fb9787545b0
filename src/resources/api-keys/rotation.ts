/** Replaces an API key by a successor, after an overlap. No key rotates one that can do more than itself. */
import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { guardedChange, recordedAfter, recordedForEach } from '../../access/events.ts'
import { mayAct } from '../../access/guard.ts'
import { callerIsUnrotated, hasScopes } from '../../access/manage-keys.ts'
import { precondition, requiring } from '../../access/preconditions.ts'
import { identityOfSignIn, isWithinDays } from '../../access/signed-in.ts'
import { now, text } from '../../db/parameters.ts'
import { insertRow } from '../../db/rows.ts'
import { apiKeys, skillFeeds } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import {
  apiKeyAlreadyExpired,
  apiKeyAlreadyRotated,
  rotatedEndExceedsOwnKey,
  rotatedScopesExceedOwnKey,
  sessionIsRotated,
} from './failures.ts'
import {
  apiKeyId,
  earlierKey,
  earlierKeyId,
  endedSession,
  fields,
  hash,
  id,
  idempotencyKey,
  isCallersOwn,
  isForSignIn,
  isLiveSessionOf,
  isNamed,
  keyExists,
  keyIsAccessible,
  livesUntil,
  named,
  session,
  signInIsFresh,
} from './keys.ts'

/** When the rotated key ends. */
const overlapEndsAt = text('overlapEndsAt')

export const rotatable = requiring(
  [{ table: named, on: and(isNamed, isNull(named.revokedAt)), takes: { apiKeyId } }, earlierKey, identityOfSignIn],
  {
    keyExists,
    callerIsUnrotated: callerIsUnrotated(isCallersOwn),
    keyIsAccessible,
    keyIsNoSession: precondition(sql`${named.kind} = 'key'`, sessionIsRotated),
    signInIsFresh: signInIsFresh(
      livesUntil(named.expiresAt),
      and(hasScopes(named.scopes), isWithinDays(named.expiresAt)),
      {},
    ),
    callerHasScopes: precondition(hasScopes(named.scopes), rotatedScopesExceedOwnKey),
    callerLivesAsLong: precondition(
      or(livesUntil(named.expiresAt), isForSignIn(named.expiresAt)),
      rotatedEndExceedsOwnKey,
    ),
    earlierKeyId,
    keyIsUnrotated: precondition(isNull(named.rotatedAt), apiKeyAlreadyRotated),
    keyIsUnexpired: precondition(or(isNull(named.expiresAt), gt(named.expiresAt, now)), apiKeyAlreadyExpired),
  },
)

/** After the change, because the preconditions read many rows. */
const recordedRotation = recordedAfter(
  { apiKeyId },
  { type: 'api-key.rotated', id: named.id, name: named.name },
  { join: { table: named, on: isNamed } },
)

export const insertSuccessor = guardedChange(rotatable, { hash }, recordedRotation, () =>
  query
    .insert(apiKeys)
    .select(
      rotatable.rows(
        insertRow(apiKeys, {
          organizationId: named.organizationId,
          id,
          name: named.name,
          kind: named.kind,
          hash,
          scopes: named.scopes,
          userId: named.userId,
          projectIds: named.projectIds,
          expiresAt: named.expiresAt,
          createdAt: now,
          idempotencyKey,
          createdByKeyId: apiKeys.id,
          // The owner of the successor's token loses it together with their access.
          identityId: sql`coalesce(${named.identityId}, ${apiKeys.identityId})`,
        }),
      ),
    )
    .returning(fields),
)

/** The successor takes over the feeds of skills, which end with their key. */
export const moveFeeds = guarded(rotatable, {}, () =>
  query
    .update(skillFeeds)
    .set({ apiKeyId: sql`${id}` })
    .where(and(eq(skillFeeds.organizationId, rotatable.organizationId), eq(skillFeeds.apiKeyId, apiKeyId))),
)

/** The sessions that would outlive the rotated key. */
const shortened = sql`"shortened"`
const shortenedSessions = sql`(${rotatable
  .rows({ id: sql`${session.id}`.as('id'), hash: sql`${session.hash}`.as('hash') })
  .innerJoin(session, and(isLiveSessionOf(named), gt(session.expiresAt, overlapEndsAt)))}) as ${shortened}`

/** Without an overlap, the rotation ends the sessions. */
export const recordEndedSessions = recordedForEach(
  rotatable,
  { overlapEndsAt },
  endedSession,
  (row, condition) =>
    query
      .select(row)
      .from(apiKeys)
      .innerJoin(session, sql`${session.hash} in (select "hash" from ${shortenedSessions})`)
      .where(and(mayAct, sql`${overlapEndsAt} <= ${now}`, condition)),
  'consequence',
)

export const shortenSessions = guarded(rotatable, { overlapEndsAt }, () =>
  query
    .update(apiKeys)
    .set({ expiresAt: sql`${overlapEndsAt}`, grantEndsAt: sql`min(${apiKeys.grantEndsAt}, ${overlapEndsAt})` })
    .where(sql`${apiKeys.hash} in (select "hash" from ${shortenedSessions})`),
)

/** Ends the key that has the successor, after the overlap. */
export const retireKey = guarded(rotatable, { overlapEndsAt }, () =>
  query
    .update(apiKeys)
    .set({
      rotatedAt: sql`${now}`,
      expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${overlapEndsAt}), ${overlapEndsAt})`,
    })
    .where(and(eq(apiKeys.organizationId, rotatable.organizationId), eq(apiKeys.id, apiKeyId))),
)
