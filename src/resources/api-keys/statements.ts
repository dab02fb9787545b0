/** The API keys of an organization, in SQL. No key creates or rotates one that can do more than itself. */
import {
  and,
  asc,
  desc,
  eq,
  exists,
  gt,
  isNotNull,
  isNull,
  ne,
  not,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { hasRule } from '../../access/admission.ts'
import { guardedChange, mightAct, recordedAfter, recordedForEach } from '../../access/events.ts'
import { namedUserNotFound, userExceedsOwnKey } from '../../access/failures.ts'
import { isUnrestricted, mayAct } from '../../access/guard.ts'
import {
  actsAs,
  callerIsUnrotated,
  hasScopes,
  includesProjects,
  isKeyAccessible,
  isUnrotated,
  typeOfEnd,
} from '../../access/manage-keys.ts'
import {
  authorized,
  type Preconditions,
  precondition,
  preconditionUnless,
  requiring,
} from '../../access/preconditions.ts'
import { projectsExist } from '../../access/project.ts'
import {
  identityOfSignIn,
  isAdmin,
  isAdminOf,
  isFresh,
  isLeaseOfAdmin,
  isSignIn,
  isWithinDays,
} from '../../access/signed-in.ts'
import { cursor, now, number, type Parameter, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn, indexedBy, insertRow, isFoundBy } from '../../db/rows.ts'
import { apiKeys, identities, invitations, signInRules, skillFeeds, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { failure, filled } from '../../errors.ts'
import { apiKey } from './contract.ts'
import {
  apiKeyAlreadyExpired,
  apiKeyAlreadyRotated,
  apiKeyForbidden,
  apiKeyNotFound,
  deletionScopeMissing,
  expiryExceedsOwnKey,
  freshSignInRequired,
  projectsExceedOwnKey,
  rotatedEndExceedsOwnKey,
  rotatedScopesExceedOwnKey,
  scopesExceedOwnKey,
  sessionCreatesSession,
  sessionExceedsOwnKey,
  sessionIsRotated,
  tokenAlreadyReturned,
} from './failures.ts'
import { withinApiKeyQuota } from './quota.ts'

/** The most sessions of an API key. */
const MAX_SESSIONS = 20

const id = text('id')
const apiKeyId = text('apiKeyId')
const hash = text('hash')
const name = text('name')
/** NULL: that of the caller's key. */
const sessionName = textOrNull('name')
const scopes = text('scopes')
const userId = textOrNull('userId')
const projectIds = textOrNull('projectIds')
const expiresAt = textOrNull('expiresAt')
/** 1 if the request has the field, which may be null; else 0. */
const userIdIsGiven = number('userIdIsGiven')
const projectIdsIsGiven = number('projectIdsIsGiven')
const expiresAtIsGiven = number('expiresAtIsGiven')
const idempotencyKey = textOrNull('idempotencyKey')
const kind = text('kind')
/** When the rotated key ends. */
const overlapEndsAt = text('overlapEndsAt')
/** 1 if the deletion includes the descendants of the key, else 0. */
const descendants = number('descendants')

const of = (table: SQL, column: string) => sql`${table}.${sql.identifier(column)}`

/** The value in the request or, if it is left out, the caller's own. */
const givenOrOwn = (given: Parameter, isGiven: Parameter, own: SQLWrapper) =>
  sql<string | null>`case when ${isGiven} then ${given} else ${own} end`
const newUserId = givenOrOwn(userId, userIdIsGiven, apiKeys.userId)
const newProjectIds = givenOrOwn(projectIds, projectIdsIsGiven, apiKeys.projectIds)
const newExpiresAt = givenOrOwn(expiresAt, expiresAtIsGiven, apiKeys.expiresAt)

/** True if the caller's key lives as long; null: forever. */
const livesUntil = (expiresAt: SQLWrapper) =>
  sql`(${apiKeys.expiresAt} is null or coalesce(${expiresAt} <= ${apiKeys.expiresAt}, false))`

/** The app of a grant, as JSON; NULL for other kinds. */
const appOf = (key: typeof apiKeys | typeof named) =>
  sql<string | null>`case when ${key.clientId} is not null then json_object('clientId', ${key.clientId},
    'name', ${key.clientName}, 'redirectHost', ${key.redirectHost}, 'endsAt', ${key.grantEndsAt}) end`.as('app')

/** True if a session of a sign-in may make or rotate a key that ends then, if it is fresh (`signInIsFresh`). */
const isForSignIn = (expiresAt: SQLWrapper) => sql`(${isWithinDays(expiresAt)} and ${isSignIn})`

/** @param isAllowed what the session may do by itself. @param isAllowedFresh what it may do after a sign-in just now. */
const signInIsFresh = <P extends Parameter>(isAllowed: SQL | undefined, isAllowedFresh: SQL | undefined, takes: P[]) =>
  precondition(or(isAllowed, isFresh, not(isSignIn), not(isAllowedFresh ?? sql`false`)), freshSignInRequired, takes)

/** A key as the API returns it, except that its lists and its app are JSON. */
const fields = columnsIn(apiKeys, apiKey, { app: appOf(apiKeys) })

/** The key that another request with the same `Idempotency-Key` created. */
const earlier = alias(apiKeys, 'earlier')
const earlierKey = {
  table: earlier,
  on: and(
    eq(earlier.organizationId, apiKeys.organizationId),
    eq(earlier.idempotencyKey, idempotencyKey),
    ne(earlier.id, id),
  ),
  takes: [idempotencyKey, id],
}
const earlierKeyId = preconditionUnless(sql<string | null>`${earlier.id}`, (_, apiKeyId) =>
  filled(tokenAlreadyReturned, { apiKeyId }),
)

export const creatable = requiring([earlierKey, identityOfSignIn], {
  pastExpiresAt: preconditionUnless(
    sql<string | null>`case when ${newExpiresAt} <= ${now} then ${newExpiresAt} end`,
    (_, expiresAt) =>
      failure('invalid_input', `expiresAt is not in the future; got "${expiresAt}"; allowed: a time after now.`),
    [expiresAt, expiresAtIsGiven],
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
    [userId, userIdIsGiven],
  ),
  projectsExist: projectsExist(projectIds, [projectIds]),
  callerIsUnrotated: callerIsUnrotated(),
  signInIsFresh: signInIsFresh(
    and(hasScopes(scopes), actsAs(newUserId), livesUntil(newExpiresAt)),
    and(
      or(hasScopes(scopes), isLeaseOfAdmin(scopes, newProjectIds)),
      or(actsAs(newUserId), and(isNull(newUserId), isAdmin)),
      or(livesUntil(newExpiresAt), isWithinDays(newExpiresAt)),
    ),
    [scopes, userId, userIdIsGiven, projectIds, projectIdsIsGiven, expiresAt, expiresAtIsGiven],
  ),
  callerHasScopes: precondition(or(hasScopes(scopes), isLeaseOfAdmin(scopes, newProjectIds)), scopesExceedOwnKey, [
    scopes,
    projectIds,
    projectIdsIsGiven,
  ]),
  userIsAccessible: precondition(or(actsAs(newUserId), and(isNull(newUserId), isAdmin)), userExceedsOwnKey, [
    userId,
    userIdIsGiven,
  ]),
  projectsAreAccessible: precondition(includesProjects(newProjectIds), projectsExceedOwnKey, [
    projectIds,
    projectIdsIsGiven,
  ]),
  callerLivesAsLong: precondition(or(livesUntil(newExpiresAt), isForSignIn(newExpiresAt)), expiryExceedsOwnKey, [
    expiresAt,
    expiresAtIsGiven,
  ]),
  earlierKeyId,
  // A rotation replaces one key by another, so it always fits.
  withinQuota: withinApiKeyQuota,
})

const recordedCreation = recordedAfter([id, name], { type: 'api-key.created', id, name })

export const insertKey = guardedChange(creatable, [name, hash], recordedCreation, () =>
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

/** The key that the request names. */
const named = alias(apiKeys, 'named')
const isNamed = and(eq(named.organizationId, apiKeys.organizationId), eq(named.id, apiKeyId))
const isCallersOwn = sql`${named.id} = ${apiKeys.id}`

const keyExists = precondition(isNotNull(named.id), apiKeyNotFound)

const accessibleKeyIf = (holds: SQL | undefined) => precondition(holds, apiKeyForbidden)

const keyIsAccessible = accessibleKeyIf(isKeyAccessible(named))

/** For a deletion: an admin revokes the keys of everybody. */
const isDeletable = or(isKeyAccessible(named), isAdminOf(named))
const keyIsDeletable = accessibleKeyIf(isDeletable)

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
  return guarded(authorized, [kind, cursor, rowLimit], () =>
    authorized
      .rows(columnsIn(named, apiKey, { app: appOf(named) }), and(isListed, includesProjects(named.projectIds)))
      // Before the keys, of which nothing is read then if none is listed.
      .leftJoin(identityOfSignIn.table, identityOfSignIn.on)
      .innerJoin(named, isListable)
      .orderBy(asc(named.id))
      .limit(rowLimit),
  )
}

const session = alias(apiKeys, 'session')
/**
 * A session of the key, or an app that was connected in one, that has not ended. Sign-ins by a rule that the key made are
 * none, also of its own person, and neither are their apps.
 */
const isLiveSessionOf = (key: typeof named | typeof apiKeys) =>
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

export const sessionCreatable = requiring([], {
  callerIsNoSession: precondition(sql`${apiKeys.kind} = 'key'`, sessionCreatesSession),
  callerIsUnrotated: callerIsUnrotated(),
  callerLivesAsLong: precondition(or(not(expiresAtIsGiven), livesUntil(expiresAt)), sessionExceedsOwnKey, [
    expiresAt,
    expiresAtIsGiven,
  ]),
})

/** The sessions of the caller's key that one more session ends: the oldest. */
const surplus = sql`"surplus"`
const surplusSessions = sql`(${sessionCreatable
  .rows({ id: sql`${session.id}`.as('id'), hash: sql`${session.hash}`.as('hash') })
  .innerJoin(session, and(isLiveSessionOf(apiKeys), sql`${session.kind} = 'session'`))
  .orderBy(desc(session.id))
  .limit(MAX_SESSIONS)
  .offset(MAX_SESSIONS - 1)}) as ${surplus}`

const endedSession = { type: typeOfEnd(session.kind), id: session.id, name: session.name }

export const recordSurplusSessions = recordedForEach(
  sessionCreatable,
  [],
  endedSession,
  (row, condition) =>
    query
      .select(row)
      .from(apiKeys)
      .innerJoin(session, sql`${session.hash} in (select "hash" from ${surplusSessions})`)
      .where(and(mayAct, condition)),
  'consequence',
)

export const endSurplusSessions = guarded(sessionCreatable, [], () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(sql`${apiKeys.hash} in (select "hash" from ${surplusSessions})`),
)

const recordedSession = recordedAfter([id, sessionName], {
  type: 'api-key.session-created',
  id,
  name: sql`coalesce(${sessionName}, ${apiKeys.name})`,
})

export const insertSession = guardedChange(sessionCreatable, [id, sessionName, hash], recordedSession, () =>
  query
    .insert(apiKeys)
    .select(
      sessionCreatable.rows(
        insertRow(apiKeys, {
          organizationId: apiKeys.organizationId,
          id,
          name: sql`coalesce(${sessionName}, ${apiKeys.name})`,
          kind: sql`'session'`,
          hash,
          scopes: apiKeys.scopes,
          userId: apiKeys.userId,
          projectIds: apiKeys.projectIds,
          expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${expiresAt}), ${expiresAt})`,
          createdAt: now,
          createdByKeyId: apiKeys.id,
          identityId: apiKeys.identityId,
        }),
      ),
    )
    .returning(fields),
)

export const rotatable = requiring(
  [{ table: named, on: and(isNamed, isNull(named.revokedAt)), takes: [apiKeyId] }, earlierKey, identityOfSignIn],
  {
    keyExists,
    callerIsUnrotated: callerIsUnrotated(isCallersOwn),
    keyIsAccessible,
    keyIsNoSession: precondition(sql`${named.kind} = 'key'`, sessionIsRotated),
    signInIsFresh: signInIsFresh(
      livesUntil(named.expiresAt),
      and(hasScopes(named.scopes), isWithinDays(named.expiresAt)),
      [],
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
  [apiKeyId],
  { type: 'api-key.rotated', id: named.id, name: named.name },
  { join: { table: named, on: isNamed } },
)

export const insertSuccessor = guardedChange(rotatable, [hash], recordedRotation, () =>
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
export const moveFeeds = guarded(rotatable, [], () =>
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
  [overlapEndsAt],
  endedSession,
  (row, condition) =>
    query
      .select(row)
      .from(apiKeys)
      .innerJoin(session, sql`${session.hash} in (select "hash" from ${shortenedSessions})`)
      .where(and(mayAct, sql`${overlapEndsAt} <= ${now}`, condition)),
  'consequence',
)

export const shortenSessions = guarded(rotatable, [overlapEndsAt], () =>
  query
    .update(apiKeys)
    .set({ expiresAt: sql`${overlapEndsAt}`, grantEndsAt: sql`min(${apiKeys.grantEndsAt}, ${overlapEndsAt})` })
    .where(sql`${apiKeys.hash} in (select "hash" from ${shortenedSessions})`),
)

/** Ends the key that has the successor, after the overlap. */
export const retireKey = guarded(rotatable, [overlapEndsAt], () =>
  query
    .update(apiKeys)
    .set({
      rotatedAt: sql`${now}`,
      expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${overlapEndsAt}), ${overlapEndsAt})`,
    })
    .where(and(eq(apiKeys.organizationId, rotatable.organizationId), eq(apiKeys.id, apiKeyId))),
)

export const deletable = requiring(
  // With its descendants, a key that is revoked already can be deleted: they can outlive it.
  [
    {
      table: named,
      on: and(isNamed, or(isNull(named.revokedAt), sql`${descendants}`)),
      takes: [apiKeyId, descendants],
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
  [{ table: named, on: eq(named.hash, apiKeys.hash), takes: [] }],
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
    [descendants],
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
  const revoke = guardedChange(preconditions, [descendants], recorded, () =>
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
export const adoptRules = guarded(deletable, [], () =>
  query
    .update(signInRules)
    .set({ createdByKeyId: sql`${apiKeyId}` })
    .where(isOfDescendant(signInRules.organizationId, signInRules.createdByKeyId)),
)
export const adoptRoles = guarded(deletable, [], () =>
  query
    .update(identities)
    .set({ roleByKeyId: sql`${apiKeyId}` })
    .where(isFoundBy(identities, ROLE_INDEX, isOfDescendant(identities.organizationId, identities.roleByKeyId))),
)

export const adoptLinks = guarded(deletable, [], () =>
  query
    .update(identities)
    .set({ linkedByKeyId: sql`${apiKeyId}` })
    .where(isFoundBy(identities, LINK_INDEX, isOfDescendant(identities.organizationId, identities.linkedByKeyId))),
)
export const adoptInvitations = guarded(deletable, [], () =>
  query
    .update(invitations)
    .set({ createdByKeyId: sql`${apiKeyId}` })
    .where(isOfDescendant(invitations.organizationId, invitations.createdByKeyId)),
)

export const recordDeletedRules = recordedForEach(
  deletable,
  [],
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
  [],
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
    [],
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

export const deleteRules = guarded({ takes: [apiKeyId, descendants] }, [], () =>
  query
    .delete(signInRules)
    .where(and(eq(signInRules.organizationId, organizationOfDeletion()), eq(signInRules.createdByKeyId, apiKeyId))),
)

const isOfDeletedKey = (keyId: SQLWrapper) =>
  and(eq(identities.organizationId, organizationOfDeletion()), sql`${keyId} = ${apiKeyId}`)

/** The rules decide again for the people to whom a descendant gave a role. */
export const takeRoles = guarded({ takes: [apiKeyId, descendants] }, [], () =>
  query
    .update(identities)
    .set({ ruleIds: '[]', roleByKeyId: null })
    .where(isFoundBy(identities, ROLE_INDEX, isOfDeletedKey(identities.roleByKeyId))),
)

/**
 * A person who became an existing user by the word of a descendant is nobody: if a rule admits the person, the next sign-in makes
 * a user of their own. Their keys end, because their sessions count as created by that descendant.
 */
export const unlinkIdentities = guarded({ takes: [apiKeyId, descendants] }, [], () =>
  query.delete(identities).where(isFoundBy(identities, LINK_INDEX, isOfDeletedKey(identities.linkedByKeyId))),
)

export const deleteInvitations = guarded({ takes: [apiKeyId, descendants] }, [], () =>
  query
    .delete(invitations)
    .where(and(eq(invitations.organizationId, organizationOfDeletion()), eq(invitations.createdByKeyId, apiKeyId))),
)

export const ownDeletion = deletionStatements(ownDeletable)

export const sessionsDeletable = requiring([], {
  callerIsUnrotated: callerIsUnrotated(),
  callerMaySignOut: precondition(
    or(eq(apiKeys.kind, 'session'), hasScopes(sql`'["api-keys:write"]'`)),
    deletionScopeMissing,
  ),
})

/** A session of the caller's user. */
const isOwnSession = and(
  eq(session.organizationId, apiKeys.organizationId),
  eq(session.userId, apiKeys.userId),
  eq(session.kind, 'session'),
  isNull(session.revokedAt),
  gt(session.expiresAt, now),
  includesProjects(session.projectIds),
)

const recordedOwnSessions = recordedForEach(sessionsDeletable, [], endedSession, (row, condition) =>
  query.select(row).from(apiKeys).innerJoin(session, isOwnSession).where(and(sessionsDeletable.guard, condition)),
)

export const endOwnSessions = guardedChange(sessionsDeletable, [], recordedOwnSessions, () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(sql`${apiKeys.hash} in ${sessionsDeletable.rows({ hash: session.hash }).innerJoin(session, isOwnSession)}`)
    .returning({ id: apiKeys.id }),
)
