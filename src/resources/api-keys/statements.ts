/** Creates and lists the API keys of an organization. No key creates one that can do more than itself. */
import { and, asc, eq, exists, gt, isNull, not, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { guardedChange, recordedAfter } from '../../access/events.ts'
import { namedUserNotFound, userExceedsOwnKey } from '../../access/failures.ts'
import { actsAs, callerIsUnrotated, hasScopes, includesProjects } from '../../access/manage-keys.ts'
import { authorized, precondition, preconditionUnless, requiring } from '../../access/preconditions.ts'
import { projectsExist } from '../../access/project.ts'
import { identityOfSignIn, isAdmin, isLeaseOfAdmin, isWithinDays } from '../../access/signed-in.ts'
import { cursor, now, number, type Parameter, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn, insertRow } from '../../db/rows.ts'
import { apiKeys, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { failure } from '../../errors.ts'
import { apiKey } from './contract.ts'
import { expiryExceedsOwnKey, projectsExceedOwnKey, scopesExceedOwnKey } from './failures.ts'
import {
  appOf,
  earlierKey,
  earlierKeyId,
  expiresAt,
  expiresAtIsGiven,
  fields,
  hash,
  id,
  idempotencyKey,
  isForSignIn,
  livesUntil,
  named,
  signInIsFresh,
} from './keys.ts'
import { withinApiKeyQuota } from './quota.ts'

const name = text('name')
const scopes = text('scopes')
const userId = textOrNull('userId')
const projectIds = textOrNull('projectIds')
/** 1 if the request has the field, which may be null; else 0. */
const userIdIsGiven = number('userIdIsGiven')
const projectIdsIsGiven = number('projectIdsIsGiven')
const kind = text('kind')

/** The value in the request or, if it is left out, the caller's own. */
const givenOrOwn = (given: Parameter, isGiven: Parameter, own: SQLWrapper) =>
  sql<string | null>`case when ${isGiven} then ${given} else ${own} end`
const newUserId = givenOrOwn(userId, userIdIsGiven, apiKeys.userId)
const newProjectIds = givenOrOwn(projectIds, projectIdsIsGiven, apiKeys.projectIds)
const newExpiresAt = givenOrOwn(expiresAt, expiresAtIsGiven, apiKeys.expiresAt)

export const creatable = requiring([earlierKey, identityOfSignIn], {
  pastExpiresAt: preconditionUnless(
    sql<string | null>`case when ${newExpiresAt} <= ${now} then ${newExpiresAt} end`,
    (_, expiresAt) =>
      failure('invalid_input', `expiresAt is not in the future; got "${expiresAt}"; allowed: a time after now.`),
    { expiresAt, expiresAtIsGiven },
  ),
  userExists: precondition(
    or(
      isNull(newUserId),
      exists(
        query
          .select({ id: users.id })
          .from(users)
          .where(and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, newUserId))),
      ),
    ),
    namedUserNotFound,
    { userId, userIdIsGiven },
  ),
  projectsExist: projectsExist(projectIds, { projectIds }),
  callerIsUnrotated: callerIsUnrotated(),
  signInIsFresh: signInIsFresh(
    and(hasScopes(scopes), actsAs(newUserId), livesUntil(newExpiresAt)),
    and(
      or(hasScopes(scopes), isLeaseOfAdmin(scopes, newProjectIds)),
      or(actsAs(newUserId), and(isNull(newUserId), isAdmin)),
      or(livesUntil(newExpiresAt), isWithinDays(newExpiresAt)),
    ),
    { scopes, userId, userIdIsGiven, projectIds, projectIdsIsGiven, expiresAt, expiresAtIsGiven },
  ),
  callerHasScopes: precondition(or(hasScopes(scopes), isLeaseOfAdmin(scopes, newProjectIds)), scopesExceedOwnKey, {
    scopes,
    projectIds,
    projectIdsIsGiven,
  }),
  userIsAccessible: precondition(or(actsAs(newUserId), and(isNull(newUserId), isAdmin)), userExceedsOwnKey, {
    userId,
    userIdIsGiven,
  }),
  projectsAreAccessible: precondition(includesProjects(newProjectIds), projectsExceedOwnKey, {
    projectIds,
    projectIdsIsGiven,
  }),
  callerLivesAsLong: precondition(or(livesUntil(newExpiresAt), isForSignIn(newExpiresAt)), expiryExceedsOwnKey, {
    expiresAt,
    expiresAtIsGiven,
  }),
  earlierKeyId,
  // A rotation replaces one key by another, so it always fits.
  withinQuota: withinApiKeyQuota,
})

const recordedCreation = recordedAfter({ id, name }, { type: 'api-key.created', id, name })

export const insertKey = guardedChange(creatable, { name, hash }, recordedCreation, () =>
  query
    .insert(apiKeys)
    .select(
      creatable.rows(
        insertRow(apiKeys, {
          organizationId: apiKeys.organizationId,
          id,
          name,
          kind: sql`'key'`,
          hash,
          scopes,
          userId: newUserId,
          projectIds: newProjectIds,
          expiresAt: newExpiresAt,
          createdAt: now,
          idempotencyKey,
          createdByKeyId: apiKeys.id,
          identityId: apiKeys.identityId,
        }),
      ),
    )
    .returning(fields),
)

/** Lists the keys of all users, for a caller that acts as none, and for an admin. */
export const listKeys = listing(or(isNull(apiKeys.userId), isAdmin))

/** Lists the keys of the caller's user. */
export const listOwnKeys = listing(and(eq(named.userId, apiKeys.userId), not(isAdmin)))

function listing(isListed: SQL | undefined) {
  const isListable = and(
    eq(named.organizationId, apiKeys.organizationId),
    eq(named.kind, kind),
    gt(named.id, cursor),
    isNull(named.revokedAt),
  )
  return guarded(authorized, { kind, cursor, rowLimit }, () =>
    authorized
      .rows(columnsIn(named, apiKey, { app: appOf(named) }), and(isListed, includesProjects(named.projectIds)))
      // Before the keys, of which nothing is read then if none is listed.
      .leftJoin(identityOfSignIn.table, identityOfSignIn.on)
      .innerJoin(named, isListable)
      .orderBy(asc(named.id))
      .limit(rowLimit),
  )
}
