/** Users of the organization. Deleting a user revokes the user's API keys. */
import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordRevocations } from '../../access/audit.ts'
import { isUnrestricted, mayAct, now } from '../../access/guard.ts'
import { isManageable } from '../../access/manage-keys.ts'
import { precondition } from '../../access/preconditions.ts'
import { unrestrictedFor } from '../../access/project.ts'
import { apiKeys, deletions, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { externalId } from '../../http/fields.ts'
import { type Kind, organizationResourceContracts } from './contract.ts'
import { organizationResourceEndpoints } from './handlers.ts'
import { organizationResourceStatements } from './statements.ts'

const USER = {
  type: 'user',
  noun: 'user',
  article: 'a',
  path: 'users',
  name: 'User',
  idName: 'userId',
  tag: 'Users',
  id: () => externalId({ description: 'The user.', example: EXAMPLE_IDS.userId }),
  exampleId: EXAMPLE_IDS.userId,
  exampleName: 'Ada Lovelace',
  dependents: 'its profile picture and pins, and revokes its API keys',
  table: users,
  quota: 'users',
} as const satisfies Kind

const userId = sql.placeholder('userId')

/** An unrevoked API key of the user that the request names. */
const userKey = alias(apiKeys, 'userKey')
const isUserKey = and(
  eq(userKey.organizationId, apiKeys.organizationId),
  eq(userKey.userId, userId),
  isNull(userKey.revokedAt),
)

const managesUserKeys = sql`not exists ${query
  .select({ one: sql`1` })
  .from(userKey)
  .where(
    and(
      isUserKey,
      or(isNull(userKey.expiresAt), gt(userKey.expiresAt, now)),
      sql`not (${isManageable(userKey)})`,
    ),
  )}`

const toChange = { isUnrestricted: unrestrictedFor('Changes of users') }
const toDelete = {
  ...toChange,
  managesUserKeys: precondition(
    managesUserKeys,
    () =>
      new ApiError(
        'api_key_forbidden',
        'The user has a live API key that yours may not delete. Use a key that acts as no user and was not rotated, or delete that key first.',
      ),
  ),
}

/** True once this request has deleted the user. */
const isUserDeleted = sql`exists ${query
  .select({ one: sql`1` })
  .from(deletions)
  .where(
    and(
      eq(deletions.organizationId, apiKeys.organizationId),
      eq(deletions.resourceType, 'user'),
      eq(deletions.resourceId, userId),
      eq(deletions.deletedAt, now),
    ),
  )}`
const mayRevokeUserKeys = and(mayAct, isUnrestricted, managesUserKeys, isUserDeleted)

const recordUserKeys = recordRevocations(userKey, userKey.id, isUserKey, mayRevokeUserKeys)

/** In the same transaction as the deletion, so that no key outlives its user. */
const revokeUserKeys = guarded(() =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(
      and(
        eq(
          apiKeys.organizationId,
          query.select({ organizationId: apiKeys.organizationId }).from(apiKeys).where(mayRevokeUserKeys),
        ),
        eq(apiKeys.userId, userId),
        isNull(apiKeys.revokedAt),
      ),
    ),
)

const shared = organizationResourceStatements(USER, { toChange, toDelete })

export const statements = {
  ...shared,
  deletion: [...shared.deletion, recordUserKeys, revokeUserKeys] as const,
}
export const { put, retrieve, list, remove } = organizationResourceEndpoints(
  organizationResourceContracts(USER, {
    code: 'unrestricted_key_required',
    change: 'The API key is restricted to projects.',
    delete:
      'The API key is restricted to projects, or the user has a valid API key that yours may not delete.',
  }),
  statements,
)
