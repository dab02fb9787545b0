/** What the statements of API keys share: the named key, its sessions, how long the caller's key lives. */
import { and, eq, gt, isNotNull, isNull, ne, not, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isKeyAccessible, typeOfEnd } from '../../access/manage-keys.ts'
import { precondition, preconditionUnless } from '../../access/preconditions.ts'
import { isFresh, isSignIn, isWithinDays } from '../../access/signed-in.ts'
import { type NamedParameters, now, number, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn } from '../../db/rows.ts'
import { apiKeys } from '../../db/schema.ts'
import { filled } from '../../errors.ts'
import { apiKey } from './contract.ts'
import { apiKeyForbidden, apiKeyNotFound, freshSignInRequired, tokenAlreadyReturned } from './failures.ts'

export const id = text('id')
export const apiKeyId = text('apiKeyId')
export const hash = text('hash')
export const idempotencyKey = textOrNull('idempotencyKey')
export const expiresAt = textOrNull('expiresAt')
export const expiresAtIsGiven = number('expiresAtIsGiven')

/** True if the caller's key lives as long; null: forever. */
export const livesUntil = (expiresAt: SQLWrapper) =>
  sql`(${apiKeys.expiresAt} is null or coalesce(${expiresAt} <= ${apiKeys.expiresAt}, false))`

/** The app of a grant, as JSON; NULL for other kinds. */
export const appOf = (key: typeof apiKeys | typeof named) =>
  sql<string | null>`case when ${key.clientId} is not null then json_object('clientId', ${key.clientId},
    'name', ${key.clientName}, 'redirectHost', ${key.redirectHost}, 'endsAt', ${key.grantEndsAt}) end`.as('app')

/** True if a session of a sign-in may make or rotate a key that ends then, if it is fresh (`signInIsFresh`). */
export const isForSignIn = (expiresAt: SQLWrapper) => sql`(${isWithinDays(expiresAt)} and ${isSignIn})`

/** @param isAllowed what the session may do by itself. @param isAllowedFresh what it may do after a sign-in just now. */
export const signInIsFresh = <Own extends NamedParameters>(
  isAllowed: SQL | undefined,
  isAllowedFresh: SQL | undefined,
  takes: Own,
) => precondition(or(isAllowed, isFresh, not(isSignIn), not(isAllowedFresh ?? sql`false`)), freshSignInRequired, takes)

/** A key as the API returns it, except that its lists and its app are JSON. */
export const fields = columnsIn(apiKeys, apiKey, { app: appOf(apiKeys) })

/** The key that another request with the same `Idempotency-Key` created. */
export const earlier = alias(apiKeys, 'earlier')
export const earlierKey = {
  table: earlier,
  on: and(
    eq(earlier.organizationId, apiKeys.organizationId),
    eq(earlier.idempotencyKey, idempotencyKey),
    ne(earlier.id, id),
  ),
  takes: { idempotencyKey, id },
}
export const earlierKeyId = preconditionUnless(sql<string | null>`${earlier.id}`, (_, apiKeyId) =>
  filled(tokenAlreadyReturned, { apiKeyId }),
)

/** The key that the request names. */
export const named = alias(apiKeys, 'named')
export const isNamed = and(eq(named.organizationId, apiKeys.organizationId), eq(named.id, apiKeyId))
export const isCallersOwn = sql`${named.id} = ${apiKeys.id}`

export const keyExists = precondition(isNotNull(named.id), apiKeyNotFound)

export const accessibleKeyIf = (holds: SQL | undefined) => precondition(holds, apiKeyForbidden)

export const keyIsAccessible = accessibleKeyIf(isKeyAccessible(named))

export const session = alias(apiKeys, 'session')
/**
 * A session of the key, or an app that was connected in one, that has not ended. Sign-ins by a rule that the key made are
 * none, also of its own person, and neither are their apps.
 */
export const isLiveSessionOf = (key: typeof named | typeof apiKeys) =>
  and(
    eq(session.organizationId, apiKeys.organizationId),
    eq(session.createdByKeyId, key.id),
    sql`${key.kind} = 'key'`,
    sql`${session.identityId} is ${key.identityId}`,
    sql`(${session.kind} = 'session' or ${session.identityId} is null)`,
    // The condition of the index.
    sql`${session.kind} <> 'key'`,
    isNull(session.revokedAt),
    gt(session.expiresAt, now),
  )

export const endedSession = { type: typeOfEnd(session.kind), id: session.id, name: session.name }
