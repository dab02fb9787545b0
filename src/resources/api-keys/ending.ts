/** Ends an API key with its sessions and, if the request includes them, its descendants and what they made. */
import { and, eq, isNotNull, isNull, not, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { hasRule } from '../../access/admission.ts'
import { guardedChange, mightAct, recordedForEach } from '../../access/events.ts'
import { isUnrestricted, mayAct } from '../../access/guard.ts'
import { callerIsUnrotated, isKeyAccessible, isUnrotated, typeOfEnd } from '../../access/manage-keys.ts'
import { type Preconditions, requiring } from '../../access/preconditions.ts'
import { identityOfSignIn, isAdminOf } from '../../access/signed-in.ts'
import { now, number, type Parameter } from '../../db/parameters.ts'
import { indexedBy, isFoundBy } from '../../db/rows.ts'
import { apiKeys, identities, invitations, signInRules } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { accessibleKeyIf, apiKeyId, isCallersOwn, isLiveSessionOf, isNamed, keyExists, named, session } from './keys.ts'

/** 1 if the deletion includes the descendants of the key, else 0. */
const descendants = number('descendants')
/** The key to end. */
const target = { apiKeyId, descendants }

const of = (table: SQL, column: string) => sql`${table}.${sql.identifier(column)}`

/** For a deletion: an admin revokes the keys of everybody. */
const isDeletable = or(isKeyAccessible(named), isAdminOf(named))
const keyIsDeletable = accessibleKeyIf(isDeletable)

export const deletable = requiring(
  // With its descendants, a key that is revoked already can be deleted: they can outlive it.
  [
    {
      table: named,
      on: and(isNamed, or(isNull(named.revokedAt), sql`${descendants}`)),
      takes: target,
    },
    identityOfSignIn,
  ],
  {
    keyExists,
    // The successor of a key that rotated itself is its descendant, so a rotated key deletes no descendants.
    callerIsUnrotated: callerIsUnrotated(and(isCallersOwn, not(descendants))),
    keyIsDeletable,
  },
)

/** The key of the caller, as the named key. */
export const ownDeletable = requiring(
  [{ table: named, on: eq(named.hash, apiKeys.hash), takes: {} }],
  {},
  { ownId: sql<string>`${named.id}` },
)

const ROLE_INDEX = 'identitiesByRoleKey'
const LINK_INDEX = 'identitiesByLinkKey'

const lineage = sql`"lineage"`
const ending = sql`"ending"`
const child = alias(apiKeys, 'child')
const revoked = alias(apiKeys, 'revoked')
/** A key of a person whom a rule admitted, or who was given a role. */
const admitted = alias(apiKeys, 'admitted')
const isKeyOfIdentity = and(
  eq(admitted.organizationId, identities.organizationId),
  eq(admitted.identityId, identities.id),
  // The condition of the index.
  isNotNull(admitted.identityId),
  isNull(admitted.revokedAt),
)
const isOfLineage = ({ organizationId }: Record<'organizationId', SQLWrapper>, keyId: SQLWrapper) =>
  and(sql`${organizationId} = ${of(lineage, 'organizationId')}`, sql`${keyId} = ${of(lineage, 'id')}`)
const fieldsOfLineage = (key: typeof admitted | typeof child | typeof named | typeof session, isNamed: 0 | 1) => ({
  organizationId: sql`${key.organizationId}`.as('organizationId'),
  id: sql`${key.id}`.as('id'),
  hash: sql`${key.hash}`.as('hash'),
  revokedAt: sql`${key.revokedAt}`.as('revokedAt'),
  isNamed: sql`${sql.raw(String(isNamed))}`.as('isNamed'),
})

/**
 * The named key, its sessions and, if the request includes them, its descendants, also revoked ones. The keys of the
 * people whom a descendant let in are descendants too. The index `apiKeysByCreator` has all that the search reads of a
 * descendant. SQLite keeps the order of a CROSS JOIN. Otherwise it starts at all keys of people, for each descendant.
 */
function lineageOf(rows: Preconditions['rows'], columns: string, condition: string): SQL {
  return sql`(with recursive ${lineage}("organizationId", "id", "hash", "revokedAt", "isNamed") as ${rows(
    fieldsOfLineage(named, 1),
  )
    .union(rows(fieldsOfLineage(session, 0)).innerJoin(session, isLiveSessionOf(named)))
    .union(
      query
        .select(fieldsOfLineage(child, 0))
        .from(child)
        .innerJoin(lineage, isOfLineage(child, child.createdByKeyId))
        .where(sql`${descendants}`),
    )
    .union(
      query
        .select(fieldsOfLineage(admitted, 0))
        .from(lineage)
        .crossJoin(signInRules)
        .crossJoin(identities)
        .crossJoin(admitted)
        .where(
          and(
            sql`${descendants}`,
            isOfLineage(signInRules, signInRules.createdByKeyId),
            eq(identities.organizationId, signInRules.organizationId),
            hasRule(identities.ruleIds, signInRules.id),
            isKeyOfIdentity,
          ),
        ),
    )
    .union(
      query
        .select(fieldsOfLineage(admitted, 0))
        .from(lineage)
        .crossJoin(indexedBy(identities, ROLE_INDEX))
        .crossJoin(admitted)
        .where(and(sql`${descendants}`, isOfLineage(identities, identities.roleByKeyId), isKeyOfIdentity)),
    )} select ${sql.raw(columns)} from ${lineage} where ${sql.raw(condition)})`
}

/** The deletion of the named key, with its sessions and, if it includes them, its descendants. */
function deletionStatements<P extends Parameter>(preconditions: Pick<Preconditions<unknown, P>, 'rows' | 'takes'>) {
  const { rows } = preconditions
  const endingKeys = sql`${lineageOf(rows, '*', '"revokedAt" is null')} as ${ending}`

  const recorded = recordedForEach(
    preconditions,
    { descendants },
    { type: typeOfEnd(revoked.kind), id: revoked.id, name: revoked.name },
    (row, condition) =>
      query
        .select(row)
        .from(apiKeys)
        .innerJoin(endingKeys, sql`true`)
        // SQLite keeps the order of a CROSS JOIN. Otherwise it starts at all keys.
        .crossJoin(revoked)
        .where(and(mayAct, sql`${revoked.hash} = ${of(ending, 'hash')}`, condition)),
  )

  // Descendants that are revoked together with their creators have no live descendants, so they lose their creator: no
  // later deletion has to search them.
  const creator = sql`case when ${of(ending, 'isNamed')} or not ${descendants} then ${apiKeys.createdByKeyId} end`
  const revoke = guardedChange(preconditions, { descendants }, recorded, () =>
    query
      .update(apiKeys)
      .set({ revokedAt: sql`${now}`, createdByKeyId: creator })
      .from(endingKeys)
      // The plus sign keeps SQLite from starting at all keys.
      .where(sql`${apiKeys.hash} = +${of(ending, 'hash')}`)
      .returning({ id: apiKeys.id }),
  )
  return { revoked: revoke }
}

export const deletion = deletionStatements(deletable)

/**
 * True for the creator of a rule, a role, a link or an invitation that is a descendant. The plus signs have SQLite search them only if there is
 * such a row. Only a key that is not restricted to projects changes them.
 */
const isOfDescendant = (organizationId: SQLWrapper, keyId: SQLWrapper) =>
  and(
    sql`${organizationId} = ${deletable.rows({ organizationId: apiKeys.organizationId }, and(isUnrestricted, sql`${descendants}`))}`,
    isNotNull(keyId),
    sql`(+${organizationId}, +${keyId}) in ${lineageOf(deletable.rows, '"organizationId", "id"', 'true')}`,
  )

/** Before the keys end: the named key takes over the rules, roles, links and invitations that its descendants made or gave. */
export const adoptRules = guarded(deletable, {}, () =>
  query
    .update(signInRules)
    .set({ createdByKeyId: sql`${apiKeyId}` })
    .where(isOfDescendant(signInRules.organizationId, signInRules.createdByKeyId)),
)
export const adoptRoles = guarded(deletable, {}, () =>
  query
    .update(identities)
    .set({ roleByKeyId: sql`${apiKeyId}` })
    .where(isFoundBy(identities, ROLE_INDEX, isOfDescendant(identities.organizationId, identities.roleByKeyId))),
)

export const adoptLinks = guarded(deletable, {}, () =>
  query
    .update(identities)
    .set({ linkedByKeyId: sql`${apiKeyId}` })
    .where(isFoundBy(identities, LINK_INDEX, isOfDescendant(identities.organizationId, identities.linkedByKeyId))),
)
export const adoptInvitations = guarded(deletable, {}, () =>
  query
    .update(invitations)
    .set({ createdByKeyId: sql`${apiKeyId}` })
    .where(isOfDescendant(invitations.organizationId, invitations.createdByKeyId)),
)

export const recordDeletedRules = recordedForEach(
  deletable,
  {},
  {
    type: 'sign-in-rule.deleted',
    id: signInRules.id,
    name: sql`${signInRules.claim} || '=' || ${signInRules.value}`,
  },
  (row, condition) =>
    deletable
      .rows(row, and(isUnrestricted, sql`${descendants}`, condition))
      .innerJoin(
        signInRules,
        and(eq(signInRules.organizationId, apiKeys.organizationId), eq(signInRules.createdByKeyId, apiKeyId)),
      ),
  'consequence',
)

export const recordDeletedInvitations = recordedForEach(
  deletable,
  {},
  { type: 'invitation.deleted', id: invitations.id, name: invitations.email },
  (row, condition) =>
    deletable
      .rows(row, and(isUnrestricted, sql`${descendants}`, isNull(invitations.acceptedAt), condition))
      .innerJoin(
        invitations,
        and(eq(invitations.organizationId, apiKeys.organizationId), eq(invitations.createdByKeyId, apiKeyId)),
      ),
  'invitation',
)

/** The event of each identity that a column says to depend on the deleted key. */
const recordIdentitiesOf = (
  type: 'identity.deleted' | 'identity.updated',
  keyId: typeof identities.linkedByKeyId | typeof identities.roleByKeyId,
  index: string,
  part: 'further' | 'role',
) =>
  recordedForEach(
    deletable,
    {},
    { type, id: identities.id, name: sql`coalesce(${identities.email}, ${identities.subject})` },
    (row, condition) =>
      deletable
        .rows(row, and(isUnrestricted, sql`${descendants}`, condition))
        .innerJoin(
          indexedBy(identities, index),
          and(eq(identities.organizationId, apiKeys.organizationId), eq(keyId, apiKeyId)),
        ),
    part,
  )

export const recordUnlinkedIdentities = recordIdentitiesOf(
  'identity.deleted',
  identities.linkedByKeyId,
  LINK_INDEX,
  'further',
)
export const recordTakenRoles = recordIdentitiesOf('identity.updated', identities.roleByKeyId, ROLE_INDEX, 'role')

/** After the keys ended, perhaps the caller's too: its organization, if it may have deleted the named key. */
const organizationOfDeletion = () =>
  query
    .select({ organizationId: apiKeys.organizationId })
    .from(apiKeys)
    .innerJoin(named, and(isNamed, isNotNull(named.revokedAt)))
    .leftJoin(identityOfSignIn.table, identityOfSignIn.on)
    .where(and(mightAct, isUnrestricted, isUnrotated, isDeletable, sql`${descendants}`))

export const deleteRules = guarded({ takes: [] }, target, () =>
  query
    .delete(signInRules)
    .where(and(eq(signInRules.organizationId, organizationOfDeletion()), eq(signInRules.createdByKeyId, apiKeyId))),
)

const isOfDeletedKey = (keyId: SQLWrapper) =>
  and(eq(identities.organizationId, organizationOfDeletion()), sql`${keyId} = ${apiKeyId}`)

/** The rules decide again for the people to whom a descendant gave a role. */
export const takeRoles = guarded({ takes: [] }, target, () =>
  query
    .update(identities)
    .set({ ruleIds: '[]', roleByKeyId: null })
    .where(isFoundBy(identities, ROLE_INDEX, isOfDeletedKey(identities.roleByKeyId))),
)

/**
 * A person who became an existing user by the word of a descendant is nobody: if a rule admits the person, the next sign-in makes
 * a user of their own. Their keys end, because their sessions count as created by that descendant.
 */
export const unlinkIdentities = guarded({ takes: [] }, target, () =>
  query.delete(identities).where(isFoundBy(identities, LINK_INDEX, isOfDeletedKey(identities.linkedByKeyId))),
)

export const deleteInvitations = guarded({ takes: [] }, target, () =>
  query
    .delete(invitations)
    .where(and(eq(invitations.organizationId, organizationOfDeletion()), eq(invitations.createdByKeyId, apiKeyId))),
)

export const ownDeletion = deletionStatements(ownDeletable)
