/** The people who signed in, in SQL. A change of an identity ends the keys of the person. */

import { and, asc, eq, exists, gt, isNotNull, isNull, or, type SQLWrapper, sql } from 'drizzle-orm'
import { callerHasScopesOf, endOfKeys, ofIdentity, roleScopes, scopesOf } from '../../access/admission.ts'
import { eventType, guardedChange, recordedBefore } from '../../access/events.ts'
import { callerIsUnrotated, hasScopes } from '../../access/manage-keys.ts'
import { precondition, requiring } from '../../access/preconditions.ts'
import { keyIsUnrestricted, projectsExist } from '../../access/project.ts'
import { differs, unchangedIf } from '../../access/revision.ts'
import { cursor, now, number, numberOrNull, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { asSql, columnsIn, indexedBy } from '../../db/rows.ts'
import { apiKeys, identities, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { identity } from './contract.ts'
import { blockedExceedsOwnKey, identityNotFound, ownRole, userDeleted } from './failures.ts'

const identityId = text('identityId')
const userId = text('userId')
const role = textOrNull('role')
/** 1 if the request has a role, which may be null; else 0. */
const roleIsGiven = number('roleIsGiven')
const projectIds = textOrNull('projectIds')
/** 1 blocks the person, 0 unblocks them; null leaves it as it is. */
const blocked = numberOrNull('blocked')
/** 1 if the person gets a role, or can use theirs again; else 0. */
const isGiving = number('isGiving')

const isUnrestricted = keyIsUnrestricted
const isOwn = eq(identities.organizationId, apiKeys.organizationId)

const user = query
  .select({ name: users.name })
  .from(users)
  .where(and(eq(users.organizationId, identities.organizationId), eq(users.id, identities.userId)))
const label = sql<string>`coalesce(${identities.email}, ${identities.subject})`
/** An identity as the API returns it, except that its lists are JSON. */
const fields = columnsIn(identities, identity, { userName: sql<string>`coalesce(${user}, ${label})`.as('userName') })

export const listable = requiring([], { isUnrestricted })

export const selectIdentities = guarded(listable, { cursor, rowLimit }, () =>
  listable
    .rows(fields)
    .innerJoin(identities, and(isOwn, gt(identities.id, cursor)))
    .orderBy(asc(identities.id))
    .limit(rowLimit),
)

export const selectIdentitiesOfUser = guarded(listable, { userId, cursor, rowLimit }, () =>
  listable
    .rows(asSql(fields))
    .innerJoin(
      indexedBy(identities, 'identitiesByUser'),
      and(isOwn, eq(identities.userId, userId), gt(identities.id, cursor)),
    )
    .orderBy(asc(identities.id))
    .limit(rowLimit),
)

const named = { table: identities, on: and(isOwn, eq(identities.id, identityId)), takes: { identityId } }
const isNamed = eq(identities.id, identityId)
const identityExists = precondition(isNotNull(identities.id), identityNotFound)
const ofNamed = { id: identities.id, name: label }

export const readable = requiring([named], { identityExists, isUnrestricted })

export const selectIdentity = guarded(readable, {}, () => readable.rows(fields))

const toChange = { identityExists, isUnrestricted, callerIsUnrotated: callerIsUnrotated() }

/** @param callersKeyId of a person who gets a role, the key that gives it. */
const settingsWith = (callersKeyId: SQLWrapper) => ({
  role: sql`coalesce(${role}, ${identities.role})`,
  projectIds: sql`case when ${role} is null then ${identities.projectIds} else ${projectIds} end`,
  ruleIds: sql`case when not ${roleIsGiven} then ${identities.ruleIds}
    when ${role} is null then coalesce(${identities.ruleIds}, '[]') end`,
  roleByKeyId: sql`case when not ${roleIsGiven} then ${identities.roleByKeyId}
    when ${role} is not null then ${callersKeyId} end`,
  blockedAt: sql`case ${blocked} when 1 then coalesce(${identities.blockedAt}, ${now})
    when 0 then null else ${identities.blockedAt} end`,
})
const isChanged = differs(identities, settingsWith(apiKeys.id))

export const updatable = requiring(
  [named],
  {
    ...toChange,
    isNotOwnRole: precondition(sql`(${role} is null or ${identities.id} is not ${apiKeys.identityId})`, ownRole, {
      role,
    }),
    userExists: precondition(or(sql`${blocked} is not 0`, exists(user)), userDeleted, { blocked }),
    callerHasScopes: callerHasScopesOf(sql`coalesce(${role}, ${identities.role})`, { role, isGiving }, isGiving),
    projectsExist: projectsExist(projectIds, { projectIds }),
  },
  unchangedIf(isChanged, fields),
  { roleIsGiven },
)

const recordedUpdate = recordedBefore(
  updatable,
  {},
  {
    ...ofNamed,
    type: eventType(sql`case when ${blocked} = 1 and ${isNull(identities.blockedAt)} then 'identity.blocked'
      when ${blocked} = 0 and ${isNotNull(identities.blockedAt)} then 'identity.unblocked' else 'identity.updated' end`),
  },
  isChanged,
)

export const updateIdentity = guardedChange(updatable, {}, recordedUpdate, () =>
  query
    .update(identities)
    .set(settingsWith(sql`${updatable.rows({ id: apiKeys.id })}`))
    .where(and(eq(identities.organizationId, updatable.organizationIdIf(isChanged)), isNamed))
    .returning(fields),
)

export const endOfUpdated = endOfKeys(updatable, ofIdentity(identityId), isChanged)

export const deletable = requiring([named], {
  ...toChange,
  // By a rule, the person can sign in again, as if they were unblocked.
  callerMayUnblock: precondition(
    or(isNull(identities.blockedAt), hasScopes(scopesOf(identities.role))),
    blockedExceedsOwnKey,
    { roleScopes },
  ),
})

const recordedDeletion = recordedBefore(deletable, {}, { ...ofNamed, type: 'identity.deleted' })

export const deleteIdentity = guardedChange(deletable, {}, recordedDeletion, () =>
  query
    .delete(identities)
    .where(and(eq(identities.organizationId, deletable.organizationId), isNamed))
    .returning({ id: identities.id }),
)

export const endOfDeleted = endOfKeys(deletable, ofIdentity(identityId))
