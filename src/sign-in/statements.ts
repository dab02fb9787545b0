/**
 * A sign-in, in SQL: one batch. An open invitation is accepted first. Then the identity says whether the person is
 * admitted, and the other statements depend on that.
 */
import { and, desc, eq, exists, gt, isNotNull, isNull, ne, not, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias, type SelectedFields } from 'drizzle-orm/sqlite-core'
import { admissionIn, claims, issuer, roleScopes, scopesOf } from '../access/admission.ts'
import { recordedByService } from '../access/events.ts'
import { areProjectsIn, areScopesIn, typeOfEnd } from '../access/manage-keys.ts'
import { exceededQuota } from '../access/quotas.ts'
import { newRevision } from '../access/revision.ts'
import { mayKeepLease } from '../access/signed-in.ts'
import { isActive, isSettled } from '../db/halts.ts'
import { now, number, text, textOrNull } from '../db/parameters.ts'
import { excluded, insertRow } from '../db/rows.ts'
import { apiKeys, identities, invitations, organizations, signInRules, users } from '../db/schema.ts'
import { query, unguarded } from '../db/statement.ts'

const organizationId = text('organizationId')
const subject = text('subject')
const email = textOrNull('email')
/** The name of the person, for the session and for a new user. */
const name = text('name')
/** The IDs of the identity and the user, if they are new. */
const newIdentityId = text('newIdentityId')
const newUserId = text('newUserId')
/** The ID and the hash of the session. */
const keyId = text('keyId')
const hash = text('hash')
const expiresAt = text('expiresAt')
const userQuota = number('quota.users')

const person = { organizationId, issuer, subject, now }
const isPerson = and(
  eq(identities.organizationId, organizationId),
  eq(identities.issuer, issuer),
  eq(identities.subject, subject),
  isActive(organizationId),
  isNull(identities.blockedAt),
)
const NO_RULES = sql`'[]'`
/** After `admit`: the person is admitted. */
const isAdmitted = and(isPerson, or(isNull(identities.ruleIds), ne(identities.ruleIds, NO_RULES)))
/** After `admit`: the sign-in created the identity. */
const isFirst = and(isAdmitted, eq(identities.id, newIdentityId))
/** After `admit`: the sign-in creates the user. */
const isNewUser = and(isFirst, eq(identities.userId, newUserId))

const known = alias(identities, 'known')
const admission = admissionIn(organizationId)
const isExceeded = (organizationId: SQLWrapper) => isNotNull(exceededQuota({ users: sql`1` }, organizationId))

/** The person as they were before the sign-in. */
const isKnownPerson = (organization: SQLWrapper) =>
  and(eq(known.organizationId, organization), eq(known.issuer, issuer), eq(known.subject, subject))
const knownPerson = <Fields extends SelectedFields>(fields: Fields, condition?: SQL) =>
  query
    .select(fields)
    .from(known)
    .where(and(isKnownPerson(organizationId), condition))

/** An invitation for the verified e-mail address of the person, at their issuer. */
const isInvited = and(
  eq(invitations.organizationId, organizationId),
  eq(invitations.issuer, issuer),
  sql`${invitations.email} = lower(${email})`,
  isNull(invitations.acceptedAt),
  gt(invitations.expiresAt, now),
)
/**
 * The person accepts it: somebody new, or, unless it names a user, a person without a role of their own. A person who is blocked
 * does not get in by an invitation.
 */
const isAccepted = and(
  isInvited,
  isActive(organizationId),
  sql`case when ${exists(knownPerson({ id: known.id }))}
    then ${isNull(invitations.userId)} and ${exists(
      knownPerson({ id: known.id }, and(isNull(known.blockedAt), isNotNull(known.ruleIds))),
    )}
    else ${or(isNotNull(invitations.userId), not(isExceeded(organizationId)))} end`,
)
const invitee = { ...person, email, userQuota }

/** Before the acceptance. */
export const recordAcceptance = recordedByService(
  { ...invitee, newUserId, keyId, name },
  {
    type: 'invitation.accepted',
    organizationId: invitations.organizationId,
    id: invitations.id,
    name: invitations.email,
    actor: {
      apiKeyId: keyId,
      apiKeyName: name,
      userId: sql`coalesce(${invitations.userId}, ${knownPerson({ userId: known.userId })}, ${newUserId})`,
    },
  },
  (row) => query.select(row).from(invitations).where(isAccepted),
)

/** Binds the invitation to the person. No other sign-in can accept it. */
export const acceptInvitation = unguarded({ ...invitee, newIdentityId }, () =>
  query
    .update(invitations)
    .set({ acceptedAt: sql`${now}`, identityId: sql`coalesce(${knownPerson({ id: known.id })}, ${newIdentityId})` })
    .where(isAccepted),
)

const invited = alias(invitations, 'invited')
/** The invitation that the statement before accepted. */
const isJustAccepted = and(
  eq(invited.organizationId, organizations.id),
  sql`${invited.identityId} = coalesce(${known.id}, ${newIdentityId})`,
  eq(invited.acceptedAt, now),
  sql`changes() > 0`,
)

/**
 * Directly after `acceptInvitation`: writes what the invitation gives, or else what the rules say now: the role and the
 * projects, or that no rule admits the person. A new person gets an identity only if they are admitted.
 */
export const admit = unguarded({ ...person, email, claims, newIdentityId, newUserId, userQuota }, () =>
  query
    .insert(identities)
    .select(
      query
        .select(
          insertRow(identities, {
            organizationId: organizations.id,
            id: newIdentityId,
            issuer,
            subject,
            userId: sql`coalesce(${invited.userId}, ${newUserId})`,
            email,
            role: sql`coalesce(${invited.role}, ${admission.role}, ${known.role})`,
            projectIds: sql`case when ${invited.id} is not null then ${invited.projectIds}
              when ${admission.role} is null then ${known.projectIds} else ${admission.projectIds} end`,
            ruleIds: sql`case when ${invited.id} is null then ${admission.ruleIds} end`,
            roleByKeyId: invited.createdByKeyId,
            linkedByKeyId: sql`case when ${invited.userId} is not null then ${invited.createdByKeyId} end`,
            lastSignInAt: now,
            createdAt: now,
          }),
        )
        .from(organizations)
        .innerJoin(admission.table, sql`true`)
        .leftJoin(known, isKnownPerson(organizations.id))
        .leftJoin(invited, isJustAccepted)
        .where(
          and(
            eq(organizations.id, organizationId),
            isActive(organizations.id),
            or(
              isNotNull(known.id),
              isNotNull(invited.id),
              sql`(${admission.role} is not null and not ${isExceeded(organizations.id)})`,
            ),
          ),
        ),
    )
    .onConflictDoUpdate({
      target: [identities.organizationId, identities.issuer, identities.subject],
      // A role that was given to the person stays.
      set: {
        role: sql`case when ${identities.ruleIds} is null then ${identities.role} else ${excluded('role')} end`,
        projectIds: sql`case when ${identities.ruleIds} is null then ${identities.projectIds} else ${excluded('projectIds')} end`,
        ruleIds: sql`case when ${identities.ruleIds} is not null then ${excluded('ruleIds')} end`,
        roleByKeyId: sql`case when ${identities.ruleIds} is null then ${identities.roleByKeyId} else ${excluded('roleByKeyId')} end`,
        lastSignInAt: sql`case when ${identities.ruleIds} is null or ${excluded('ruleIds')} is not ${NO_RULES}
          then ${excluded('lastSignInAt')} else ${identities.lastSignInAt} end`,
        email: excluded('email'),
      },
      setWhere: isNull(identities.blockedAt),
    }),
)

/** The most sessions of a person, with the one that the sign-in makes. */
const MAX_SESSIONS = 20

const other = alias(apiKeys, 'other')
/** The sessions of the person beyond the limit: the oldest. */
const surplusSessions = query
  .select({ hash: sql`${other.hash}`.as('hash') })
  .from(identities)
  .innerJoin(
    // For the order, SQLite would read the sessions of all people.
    sql`${apiKeys} as ${other} indexed by "apiKeysByIdentity"`,
    and(
      eq(other.organizationId, identities.organizationId),
      eq(other.identityId, identities.id),
      eq(other.kind, 'session'),
      isNull(other.revokedAt),
      gt(other.expiresAt, now),
    ),
  )
  .where(isPerson)
  .orderBy(desc(other.id))
  .limit(MAX_SESSIONS)
  .offset(MAX_SESSIONS - 1)

const ended = alias(apiKeys, 'ended')
/** A live key of the person that can do more than they may now, which is every key if no rule admits them; or a session too many. */
const isEnding = and(
  eq(ended.organizationId, identities.organizationId),
  eq(ended.identityId, identities.id),
  isNull(ended.revokedAt),
  or(isNull(ended.expiresAt), gt(ended.expiresAt, now)),
  sql`(${identities.ruleIds} = ${NO_RULES} or not (${areScopesIn(ended.scopes, scopesOf(identities.role))} or ${mayKeepLease(ended, identities.role, scopesOf(identities.role))})
    or (${identities.projectIds} is not null
      and (${ended.projectIds} is null or not ${areProjectsIn(ended.projectIds, identities.projectIds)}))
    or ${ended.hash} in ${surplusSessions})`,
)

export const recordEndedKeys = recordedByService(
  { ...person, roleScopes },
  { type: typeOfEnd(ended.kind), id: ended.id, name: ended.name, organizationId: ended.organizationId },
  (row) => query.select(row).from(identities).innerJoin(ended, isEnding).where(isPerson),
)

export const endKeys = unguarded({ ...person, roleScopes }, () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(
      sql`${apiKeys.hash} in ${query.select({ hash: ended.hash }).from(identities).innerJoin(ended, isEnding).where(isPerson)}`,
    ),
)

/** When an app ends whose person has signed in now and does not sign in again. */
const grantIdleEnd = text('grantIdleEnd')

/** The apps of the person that have not ended get their time again. */
export const extendGrants = unguarded({ ...person, grantIdleEnd }, () =>
  query
    .update(apiKeys)
    .set({ expiresAt: sql`min(${apiKeys.grantEndsAt}, ${grantIdleEnd})` })
    .where(
      and(
        eq(apiKeys.organizationId, organizationId),
        sql`${apiKeys.identityId} = ${query.select({ id: identities.id }).from(identities).where(isAdmitted)}`,
        sql`${apiKeys.kind} = 'grant'`,
        isNull(apiKeys.revokedAt),
        gt(apiKeys.expiresAt, now),
      ),
    ),
)

export const insertUser = unguarded({ ...person, newIdentityId, newUserId, name }, () =>
  query.insert(users).select(
    query
      .select(
        insertRow(users, {
          organizationId: identities.organizationId,
          id: identities.userId,
          name,
          createdAt: now,
          updatedAt: now,
          revision: newRevision,
        }),
      )
      .from(identities)
      .where(isNewUser),
  ),
)

/** The key that made the oldest rule, or gave the role. */
const roleGiver = sql`case when ${identities.ruleIds} is null then ${identities.roleByKeyId} else ${query
  .select({ id: signInRules.createdByKeyId })
  .from(signInRules)
  .where(
    and(
      eq(signInRules.organizationId, identities.organizationId),
      sql`${signInRules.id} = ${identities.ruleIds} ->> 0`,
    ),
  )} end`
/** With its descendants, this key ends the session too. The roles and rules of other keys are found by the identity. */
const creator = sql`coalesce(${identities.linkedByKeyId}, ${roleGiver})`

export const insertSession = unguarded({ ...person, keyId, hash, name, expiresAt, roleScopes }, () =>
  query.insert(apiKeys).select(
    query
      .select(
        insertRow(apiKeys, {
          organizationId: identities.organizationId,
          id: keyId,
          name,
          kind: sql`'session'`,
          hash,
          scopes: scopesOf(identities.role),
          userId: identities.userId,
          projectIds: identities.projectIds,
          expiresAt,
          createdAt: now,
          createdByKeyId: creator,
          identityId: identities.id,
        }),
      )
      .from(identities)
      .where(isAdmitted),
  ),
)

/** Who did it: the session. */
const actor = { apiKeyId: keyId, apiKeyName: name, userId: identities.userId }
const ofPerson = { organizationId: identities.organizationId, name, actor }

export const recordIdentity = recordedByService(
  { ...person, newIdentityId, keyId, name, email },
  { ...ofPerson, type: 'identity.created', id: identities.id, name: sql`coalesce(${email}, ${subject})` },
  (row) => query.select(row).from(identities).where(isFirst),
)

export const recordUser = recordedByService(
  { ...person, newIdentityId, newUserId, keyId, name },
  { ...ofPerson, type: 'user.created', id: identities.userId },
  (row) => query.select(row).from(identities).where(isNewUser),
)

export const recordSession = recordedByService(
  { ...person, keyId, name },
  { ...ofPerson, type: 'api-key.session-created', id: keyId, name: issuer },
  (row) => query.select(row).from(identities).where(isAdmitted),
)

const session = alias(apiKeys, 'session')

/** What became of it. No row: there is no such organization. */
export const selectOutcome = unguarded({ ...person, email, claims, newUserId, hash }, () =>
  query
    .select({
      isActive: sql<0 | 1>`${isActive(organizations.id)}`.as('isActive'),
      isSettled: sql<0 | 1>`${isSettled(organizations.id)}`.as('isSettled'),
      isBlocked: sql<0 | 1>`${isNotNull(identities.blockedAt)}`.as('isBlocked'),
      isKnown: sql<0 | 1>`${isNotNull(identities.id)}`.as('isKnown'),
      isFirst: sql<0 | 1>`coalesce(${eq(identities.userId, newUserId)}, 0)`.as('isFirst'),
      isInvited: sql<0 | 1>`${exists(query.select({ id: invitations.id }).from(invitations).where(isInvited))}`.as(
        'isInvited',
      ),
      hasRule: sql<0 | 1>`${isNotNull(admission.role)}`.as('hasRule'),
      userId: sql<string | null>`${session.userId}`.as('userId'),
      scopes: sql<string | null>`${session.scopes}`.as('scopes'),
    })
    .from(organizations)
    .innerJoin(admission.table, sql`true`)
    .leftJoin(
      identities,
      and(
        eq(identities.organizationId, organizations.id),
        eq(identities.issuer, issuer),
        eq(identities.subject, subject),
      ),
    )
    .leftJoin(session, and(eq(session.organizationId, organizations.id), eq(session.hash, hash)))
    .where(eq(organizations.id, organizationId)),
)
