/** Users of the organization. Deleting a user revokes the user's API keys. */
import { and, eq, exists, gt, isNull, not, notExists, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordedForEach } from '../../access/events.ts'
import { unrestrictedKeyRequired } from '../../access/failures.ts'
import { isUnrestricted, mayAct } from '../../access/guard.ts'
import { isManageable, typeOfEnd } from '../../access/manage-keys.ts'
import { resourceId as id } from '../../access/platform-resource.ts'
import { authorized, precondition } from '../../access/preconditions.ts'
import { keyIsUnrestricted } from '../../access/project.ts'
import { now } from '../../db/parameters.ts'
import { columnsIn, indexedBy, isFoundBy } from '../../db/rows.ts'
import { apiKeys, deletions, identities, invitations, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { externalId } from '../../http/fields.ts'
import { type Kind, organizationResourceContracts } from './contract.ts'
import { liveApiKeyForbidden } from './failures.ts'
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
  dependents: 'its profile picture, pins, identities and invitations, and revokes its API keys',
  table: users,
  quota: 'users',
} as const satisfies Kind

/** An unrevoked API key of the user that the request names. */
const userKey = alias(apiKeys, 'userKey')
const isUserKey = and(
  eq(userKey.organizationId, apiKeys.organizationId),
  eq(userKey.userId, id),
  isNull(userKey.revokedAt),
)

const managesUserKeys = notExists(
  query
    .select({ one: sql`1` })
    .from(userKey)
    .where(
      and(isUserKey, or(isNull(userKey.expiresAt), gt(userKey.expiresAt, now)), not(sql`(${isManageable(userKey)})`)),
    ),
)

const forbidden = { change: unrestrictedKeyRequired, delete: liveApiKeyForbidden }
const toChange = { isUnrestricted: keyIsUnrestricted }
const toDelete = {
  ...toChange,
  managesUserKeys: precondition(managesUserKeys, liveApiKeyForbidden, { id }),
}

/** True once this request has deleted the user. */
const isUserDeleted = exists(
  query
    .select({ one: sql`1` })
    .from(deletions)
    .where(
      and(
        eq(deletions.organizationId, apiKeys.organizationId),
        eq(deletions.resourceType, 'user'),
        eq(deletions.resourceId, id),
        eq(deletions.deletedAt, now),
      ),
    ),
)
const mayRevokeUserKeys = and(mayAct, isUnrestricted, managesUserKeys, isUserDeleted)

/** The organization of the request, if it has deleted the user. */
const organizationOfDeletion = () =>
  query.select({ organizationId: apiKeys.organizationId }).from(apiKeys).where(mayRevokeUserKeys)

const recordUserKeys = recordedForEach(
  authorized,
  { id },
  { type: typeOfEnd(userKey.kind), id: userKey.id, name: userKey.name },
  (row, condition) =>
    query.select(row).from(apiKeys).innerJoin(userKey, isUserKey).where(and(mayRevokeUserKeys, condition)),
  'consequence',
)

/** In the same transaction as the deletion, so that no key outlives its user. */
const revokeUserKeys = guarded(authorized, { id }, () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(
      and(eq(apiKeys.organizationId, organizationOfDeletion()), eq(apiKeys.userId, id), isNull(apiKeys.revokedAt)),
    ),
)

const isUserIdentity = and(
  eq(identities.organizationId, apiKeys.organizationId),
  eq(identities.userId, id),
  isNull(identities.blockedAt),
)

const recordIdentities = recordedForEach(
  authorized,
  { id },
  { type: 'identity.deleted', id: identities.id, name: sql`coalesce(${identities.email}, ${identities.subject})` },
  (row, condition) =>
    query
      .select(row)
      .from(apiKeys)
      .innerJoin(indexedBy(identities, 'identitiesByUser'), isUserIdentity)
      .where(and(mayRevokeUserKeys, condition)),
  'further',
)

/** So that the person of a deleted user is unknown, and a further sign-in makes another user. Who is blocked stays so. */
const deleteIdentities = guarded(authorized, { id }, () =>
  query
    .delete(identities)
    .where(
      isFoundBy(
        identities,
        'identitiesByUser',
        and(
          eq(identities.organizationId, organizationOfDeletion()),
          eq(identities.userId, id),
          isNull(identities.blockedAt),
        ),
      ),
    ),
)

/** The invitations that make somebody this user. */
const recordInvitations = recordedForEach(
  authorized,
  { id },
  { type: 'invitation.deleted', id: invitations.id, name: invitations.email },
  (row, condition) =>
    query
      .select(row)
      .from(apiKeys)
      .innerJoin(
        invitations,
        and(
          eq(invitations.organizationId, apiKeys.organizationId),
          eq(invitations.userId, id),
          isNull(invitations.acceptedAt),
        ),
      )
      .where(and(mayRevokeUserKeys, condition)),
  'invitation',
)

const deleteInvitations = guarded(authorized, { id }, () =>
  query
    .delete(invitations)
    .where(and(eq(invitations.organizationId, organizationOfDeletion()), eq(invitations.userId, id))),
)

const contracts = organizationResourceContracts(USER, forbidden)
const fields = columnsIn(users, contracts.retrieve.success.schema)
const shared = organizationResourceStatements(USER, fields, { toChange, toDelete })

export const statements = {
  ...shared,
  deletion: {
    ...shared.deletion,
    recordInvitations,
    deleteInvitations,
    recordIdentities,
    deleteIdentities,
    recordUserKeys,
    revokeUserKeys,
  },
}
export const { put, retrieve, list, remove } = organizationResourceEndpoints(USER, contracts, statements)
