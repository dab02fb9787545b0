/**
 * A sign-in, in SQL: one batch. After its first statement, the identity says whether the person is admitted, and the
 * others depend on that.
 */
import { and, eq, gt, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { admissionIn, claims, issuer, roleScopes, scopesOf } from '../access/admission.ts'
import { recordedByService } from '../access/events.ts'
import { isSubset, typeOfEnd } from '../access/manage-keys.ts'
import { exceededQuota } from '../access/quotas.ts'
import { newRevision } from '../access/revision.ts'
import { isActive } from '../db/halts.ts'
import { now, number, text, textOrNull } from '../db/parameters.ts'
import { excluded, insertRow } from '../db/rows.ts'
import { apiKeys, identities, organizations, signInRules, users } from '../db/schema.ts'
import { query, unguarded } from '../db/statement.ts'

const organizationId = text('organizationId')
const subject = text('subject')
const email = textOrNull('email')
/** Of the person: of the user, if it is new, and of the session. */
const name = text('name')
/** Of the identity and the user, if they are new. */
const newIdentityId = text('newIdentityId')
const newUserId = text('newUserId')
/** Of the session. */
const keyId = text('keyId')
const hash = text('hash')
const expiresAt = text('expiresAt')
const userQuota = number('quota.users')

const person = [organizationId, issuer, subject, now] as const
const isPerson = and(
  eq(identities.organizationId, organizationId),
  eq(identities.issuer, issuer),
  eq(identities.subject, subject),
  isActive(organizationId),
  isNull(identities.blockedAt),
)
const NO_RULES = sql`'[]'`
/** After the first statement: the person is admitted. */
const isAdmitted = and(isPerson, or(isNull(identities.ruleIds), ne(identities.ruleIds, NO_RULES)))
/** After the first statement: the sign-in created the identity. */
const isFirst = and(isAdmitted, eq(identities.id, newIdentityId))

const known = alias(identities, 'known')
const admission = admissionIn(organizationId)
const isExceeded = isNotNull(exceededQuota({ users: sql`1` }, organizations.id))

/**
 * Writes what the rules say now: the role and the projects, or that no rule admits the person. A new person gets an
 * identity only if a rule admits them.
 */
export const admit = unguarded([...person, email, claims, newIdentityId, newUserId, userQuota], () =>
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
            userId: newUserId,
            email,
            role: sql`coalesce(${admission.role}, ${known.role})`,
            projectIds: sql`case when ${admission.role} is null then ${known.projectIds} else ${admission.projectIds} end`,
            ruleIds: admission.ruleIds,
            lastSignInAt: now,
            createdAt: now,
          }),
        )
        .from(organizations)
        .innerJoin(admission.table, sql`true`)
        .leftJoin(
          known,
          and(eq(known.organizationId, organizations.id), eq(known.issuer, issuer), eq(known.subject, subject)),
        )
        .where(
          and(
            eq(organizations.id, organizationId),
            isActive(organizations.id),
            or(isNotNull(known.id), sql`(${admission.role} is not null and not ${isExceeded})`),
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
        lastSignInAt: sql`case when ${identities.ruleIds} is null or ${excluded('ruleIds')} <> ${NO_RULES}
          then ${excluded('lastSignInAt')} else ${identities.lastSignInAt} end`,
        email: excluded('email'),
      },
      setWhere: isNull(identities.blockedAt),
    }),
)

const ended = alias(apiKeys, 'ended')
/** A live key of the person that can do more than they may now: every key if no rule admits them. */
const isEnding = and(
  eq(ended.organizationId, identities.organizationId),
  eq(ended.identityId, identities.id),
  isNull(ended.revokedAt),
  or(isNull(ended.expiresAt), gt(ended.expiresAt, now)),
  sql`(${identities.ruleIds} = ${NO_RULES} or not ${isSubset(ended.scopes, scopesOf(identities.role))}
    or (${identities.projectIds} is not null
      and (${ended.projectIds} is null or not ${isSubset(ended.projectIds, identities.projectIds)})))`,
)

export const recordEndedKeys = recordedByService(
  [...person, roleScopes],
  { type: typeOfEnd(ended.kind), id: ended.id, name: ended.name, organizationId: ended.organizationId },
  (row) => query.select(row).from(identities).innerJoin(ended, isEnding).where(isPerson),
)

export const endKeys = unguarded([...person, roleScopes], () =>
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
export const extendGrants = unguarded([...person, grantIdleEnd], () =>
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

export const insertUser = unguarded([...person, newIdentityId, name], () =>
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
      .where(isFirst),
  ),
)

/** The key that made the oldest rule, or gave the role: with its descendants, it ends the session too. */
const creator = sql`case when ${identities.ruleIds} is null then ${identities.roleByKeyId} else ${query
  .select({ id: signInRules.createdByKeyId })
  .from(signInRules)
  .where(
    and(
      eq(signInRules.organizationId, identities.organizationId),
      sql`${signInRules.id} = ${identities.ruleIds} ->> 0`,
    ),
  )} end`

export const insertSession = unguarded([...person, keyId, hash, name, expiresAt, roleScopes], () =>
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
  [...person, newIdentityId, keyId, name, email],
  { ...ofPerson, type: 'identity.created', id: identities.id, name: sql`coalesce(${email}, ${subject})` },
  (row) => query.select(row).from(identities).where(isFirst),
)

export const recordUser = recordedByService(
  [...person, newIdentityId, keyId, name],
  { ...ofPerson, type: 'user.created', id: identities.userId },
  (row) => query.select(row).from(identities).where(isFirst),
)

export const recordSession = recordedByService(
  [...person, keyId, name],
  { ...ofPerson, type: 'api-key.session-created', id: keyId },
  (row) => query.select(row).from(identities).where(isAdmitted),
)

const session = alias(apiKeys, 'session')

/** What became of it. No row: there is no such organization. */
export const selectOutcome = unguarded([...person, claims, newIdentityId, hash, userQuota], () =>
  query
    .select({
      isActive: sql<0 | 1>`${isActive(organizations.id)}`.as('isActive'),
      isBlocked: sql<0 | 1>`${isNotNull(identities.blockedAt)}`.as('isBlocked'),
      isKnown: sql<0 | 1>`${isNotNull(identities.id)}`.as('isKnown'),
      isFirst: sql<0 | 1>`coalesce(${eq(identities.id, newIdentityId)}, 0)`.as('isFirst'),
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
