/** The API keys of an organization, in SQL. No key creates or rotates one that can do more than itself. */
import {
  and,
  asc,
  desc,
  eq,
  gt,
  isNotNull,
  isNull,
  ne,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordRevocations } from '../../access/audit.ts'
import { mayAct, now } from '../../access/guard.ts'
import { actsAs, includesProjects, isKeyInReach, isSubset, isUnrotated } from '../../access/manage-keys.ts'
import {
  authorized,
  type Join,
  type Preconditions,
  precondition,
  preconditionUnless,
  requiring,
} from '../../access/preconditions.ts'
import { withinApiKeyQuota } from '../../access/quotas.ts'
import { insertRow } from '../../db/rows.ts'
import { apiKeys, projects, skillFeeds, users } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'

/** Of an API key. */
const MAX_SESSIONS = 20

const id = sql.placeholder('id')
const apiKeyId = sql.placeholder('apiKeyId')
const hash = sql.placeholder('hash')
const name = sql.placeholder('name')
const scopes = sql.placeholder('scopes')
const expiresAt = sql.placeholder('expiresAt')
const idempotencyKey = sql.placeholder('idempotencyKey')
const kind = sql.placeholder('kind')
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')
/** 1 if the deletion includes the descendants of the key, else 0. */
const descendants = sql.placeholder('descendants')

const of = (table: SQL, column: string) => sql`${table}.${sql.identifier(column)}`

/** The value in the request, which may be null; if it is left out, the caller's own. */
function givenOrOwn(placeholder: string, own: SQLWrapper): SQL<string | null> {
  const isGiven = sql.placeholder(`${placeholder}IsGiven`)
  return sql<string | null>`case when ${isGiven} then ${sql.placeholder(placeholder)} else ${own} end`
}
const newUserId = givenOrOwn('userId', apiKeys.userId)
const newProjectIds = givenOrOwn('projectIds', apiKeys.projectIds)
const newExpiresAt = givenOrOwn('expiresAt', apiKeys.expiresAt)

/** True if the caller's key lives as long; null: forever. */
const livesUntil = (expiresAt: SQLWrapper) =>
  sql`(${apiKeys.expiresAt} is null or coalesce(${expiresAt} <= ${apiKeys.expiresAt}, false))`

/** True if the caller's key has the scopes. */
const hasScopes = (list: SQLWrapper) => isSubset(list, apiKeys.scopes)

/** A key as the API returns it, except that its lists are JSON. */
const fieldsOf = (table: typeof apiKeys) => ({
  id: table.id,
  name: table.name,
  kind: table.kind,
  scopes: table.scopes,
  userId: table.userId,
  projectIds: table.projectIds,
  expiresAt: table.expiresAt,
  rotatedAt: table.rotatedAt,
  lastUsedAt: table.lastUsedAt,
  createdAt: table.createdAt,
})

/** The caller's key was not rotated. @param exception what a rotated key may do. */
const callerIsUnrotated = (exception?: SQL) =>
  precondition(
    or(isUnrotated, exception),
    () =>
      new ApiError(
        'api_key_rotated',
        'Your API key was rotated. Until it expires, it can manage no key but itself: it can delete itself, without descendants. Use its successor.',
      ),
  )

/** The key that another request with the same `Idempotency-Key` created. */
const earlier = alias(apiKeys, 'earlier')
const earlierKey: Join = {
  table: earlier,
  on: and(
    eq(earlier.organizationId, apiKeys.organizationId),
    eq(earlier.idempotencyKey, idempotencyKey),
    ne(earlier.id, id),
  ),
}
const earlierKeyId = preconditionUnless(
  sql<string | null>`${earlier.id}`,
  (_, earlierId) =>
    new ApiError(
      'token_already_returned',
      `This Idempotency-Key created the API key ${earlierId}, whose token was returned then. Rotate that key, or use a new Idempotency-Key.`,
    ),
)

export const creatable = requiring([earlierKey], {
  pastExpiresAt: preconditionUnless(
    sql<string | null>`case when ${newExpiresAt} <= ${now} then ${newExpiresAt} end`,
    (_, expiresAt) =>
      new ApiError(
        'invalid_input',
        `expiresAt is not in the future; got "${expiresAt}"; allowed: a time after now.`,
      ),
  ),
  userExists: precondition(
    sql`${newUserId} is null or exists ${query
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, newUserId)))}`,
    () => new ApiError('user_not_found', 'userId names a user that the organization does not have.'),
  ),
  projectsExist: precondition(
    sql`not exists (select 1 from json_each(${sql.placeholder('projectIds')}) where not exists ${query
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.organizationId, apiKeys.organizationId), sql`${projects.id} = value`))})`,
    () =>
      new ApiError('project_not_found', 'projectIds names a project that the organization does not have.'),
  ),
  callerIsUnrotated: callerIsUnrotated(),
  callerHasScopes: precondition(
    hasScopes(scopes),
    () =>
      new ApiError(
        'exceeds_own_key',
        'scopes has a scope that your API key lacks. Leave it out, or use an API key that has it.',
      ),
  ),
  userIsInReach: precondition(
    actsAs(newUserId),
    () =>
      new ApiError(
        'exceeds_own_key',
        'userId is not the user that your API key acts as. Leave it out, or use an API key that acts as no user.',
      ),
  ),
  projectsAreInReach: precondition(
    includesProjects(newProjectIds),
    () =>
      new ApiError(
        'exceeds_own_key',
        'projectIds goes beyond the projects of your API key. Leave it out, or use an API key that may use these projects.',
      ),
  ),
  callerLivesAsLong: precondition(
    livesUntil(newExpiresAt),
    () =>
      new ApiError(
        'exceeds_own_key',
        'expiresAt goes beyond the end of your API key. Leave it out, or use an API key that is valid for longer.',
      ),
  ),
  earlierKeyId,
  // A rotation replaces one key by another, so it always fits.
  withinQuota: withinApiKeyQuota,
})

export const insertKey = guardedChange(() =>
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
        }),
      ),
    )
    .returning(fieldsOf(apiKeys)),
)

/** The key that the request names. */
const named = alias(apiKeys, 'named')
const isNamed = and(eq(named.organizationId, apiKeys.organizationId), eq(named.id, apiKeyId))
const isCallersOwn = sql`${named.id} = ${apiKeys.id}`

const keyExists = precondition(
  isNotNull(named.id),
  () => new ApiError('api_key_not_found', 'There is no API key with this apiKeyId.'),
)

const keyIsInReach = precondition(
  isKeyInReach(named),
  () =>
    new ApiError(
      'api_key_forbidden',
      'The API key belongs to another user, or may use projects that yours may not.',
    ),
)

/** Lists the keys of all users, for a caller that acts as none. */
export const listKeys = listing(isNull(apiKeys.userId))

/** Lists the keys of the caller's user. */
export const listOwnKeys = listing(eq(named.userId, apiKeys.userId))

function listing(isListed: SQL) {
  const isListable = and(
    eq(named.organizationId, apiKeys.organizationId),
    eq(named.kind, kind),
    gt(named.id, cursor),
    isNull(named.revokedAt),
  )
  return guarded(() =>
    authorized
      // An alias has the columns of its table, under a type of its own.
      .rows(fieldsOf(named as unknown as typeof apiKeys), and(isListed, includesProjects(named.projectIds)))
      .innerJoin(named, isListable)
      .orderBy(asc(named.id))
      .limit(rowLimit),
  )
}

const session = alias(apiKeys, 'session')
/** A session of the key that has not ended. */
const isLiveSessionOf = (key: typeof named | typeof apiKeys) =>
  and(
    eq(session.organizationId, apiKeys.organizationId),
    eq(session.createdByKeyId, key.id),
    // As in the condition of the index.
    sql`${session.kind} = 'session'`,
    isNull(session.revokedAt),
    gt(session.expiresAt, now),
  )

const keyIsNoSession = (key: typeof named | typeof apiKeys, message: string) =>
  precondition(sql`${key.kind} <> 'session'`, () => new ApiError('api_key_is_session', message))

export const sessionCreatable = requiring([], {
  callerIsNoSession: keyIsNoSession(
    apiKeys,
    'Your API key is a session, which cannot create sessions. Use the API key that created it.',
  ),
  callerIsUnrotated: callerIsUnrotated(),
  callerLivesAsLong: precondition(
    or(sql`not ${sql.placeholder('expiresAtIsGiven')}`, livesUntil(expiresAt)),
    () =>
      new ApiError(
        'exceeds_own_key',
        'expiresInSeconds goes beyond the end of your API key. Leave it out, or use an API key that is valid for longer.',
      ),
  ),
})

/** The sessions of the caller's key that one more session ends: the oldest. */
const surplus = sql`"surplus"`
const surplusSessions = sql`(${sessionCreatable
  .rows({ id: sql`${session.id}`.as('id'), hash: sql`${session.hash}`.as('hash') })
  .innerJoin(session, isLiveSessionOf(apiKeys))
  .orderBy(desc(session.id))
  .limit(MAX_SESSIONS)
  .offset(MAX_SESSIONS - 1)}) as ${surplus}`

export const recordSurplusSessions = recordRevocations(surplusSessions, of(surplus, 'id'), sql`true`, mayAct)

export const endSurplusSessions = guarded(() =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(sql`${apiKeys.hash} in (select "hash" from ${surplusSessions})`),
)

export const insertSession = guardedChange(() =>
  query
    .insert(apiKeys)
    .select(
      sessionCreatable.rows(
        insertRow(apiKeys, {
          organizationId: apiKeys.organizationId,
          id,
          name: sql`coalesce(${name}, ${apiKeys.name})`,
          kind: sql`'session'`,
          hash,
          scopes: apiKeys.scopes,
          userId: apiKeys.userId,
          projectIds: apiKeys.projectIds,
          expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${expiresAt}), ${expiresAt})`,
          createdAt: now,
          createdByKeyId: apiKeys.id,
        }),
      ),
    )
    .returning(fieldsOf(apiKeys)),
)

export const rotatable = requiring(
  [{ table: named, on: and(isNamed, isNull(named.revokedAt)) }, earlierKey],
  {
    keyExists,
    callerIsUnrotated: callerIsUnrotated(isCallersOwn),
    keyIsInReach,
    keyIsNoSession: keyIsNoSession(
      named,
      'The API key is a session, which cannot be rotated. Create another session.',
    ),
    callerHasScopes: precondition(
      hasScopes(named.scopes),
      () =>
        new ApiError(
          'exceeds_own_key',
          'The API key has scopes that yours lacks. Use an API key that has them.',
        ),
    ),
    callerLivesAsLong: precondition(
      livesUntil(named.expiresAt),
      () =>
        new ApiError(
          'exceeds_own_key',
          'The API key ends after yours. Use an API key that is valid for longer.',
        ),
    ),
    earlierKeyId,
    keyIsUnrotated: precondition(
      isNull(named.rotatedAt),
      () => new ApiError('api_key_already_rotated', 'The API key was rotated. Rotate its successor.'),
    ),
    keyIsUnexpired: precondition(
      or(isNull(named.expiresAt), gt(named.expiresAt, now)),
      () => new ApiError('api_key_already_expired', 'The API key has expired. Create a new one.'),
    ),
  },
)

export const insertSuccessor = guardedChange(() =>
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
        }),
      ),
    )
    .returning(fieldsOf(apiKeys)),
)

/** The successor takes over the feeds of skills, which end with their key. */
export const moveFeeds = guarded(() =>
  query
    .update(skillFeeds)
    .set({ apiKeyId: sql`${id}` })
    .where(and(eq(skillFeeds.organizationId, rotatable.organizationId), eq(skillFeeds.apiKeyId, apiKeyId))),
)

const overlapEndsAt = sql.placeholder('overlapEndsAt')

/** The sessions that would outlive the rotated key. */
const shortened = sql`"shortened"`
const shortenedSessions = sql`(${rotatable
  .rows({ id: sql`${session.id}`.as('id'), hash: sql`${session.hash}`.as('hash') })
  .innerJoin(session, and(isLiveSessionOf(named), gt(session.expiresAt, overlapEndsAt)))}) as ${shortened}`

/** Without an overlap, the rotation ends the sessions. */
export const recordEndedSessions = recordRevocations(
  shortenedSessions,
  of(shortened, 'id'),
  sql`${overlapEndsAt} <= ${now}`,
  mayAct,
)

export const shortenSessions = guarded(() =>
  query
    .update(apiKeys)
    .set({ expiresAt: sql`${overlapEndsAt}` })
    .where(sql`${apiKeys.hash} in (select "hash" from ${shortenedSessions})`),
)

/** Ends the key that has the successor, after the overlap. */
export const retireKey = guarded(() => {
  return query
    .update(apiKeys)
    .set({
      rotatedAt: sql`${now}`,
      expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${overlapEndsAt}), ${overlapEndsAt})`,
    })
    .where(and(eq(apiKeys.organizationId, rotatable.organizationId), eq(apiKeys.id, apiKeyId)))
})

export const deletable = requiring(
  // With its descendants, a key that is revoked already can be deleted: they can outlive it.
  [{ table: named, on: and(isNamed, or(isNull(named.revokedAt), sql`${descendants}`)) }],
  {
    keyExists,
    // The successor of a key that rotated itself is its descendant, so a rotated key deletes no descendants.
    callerIsUnrotated: callerIsUnrotated(and(isCallersOwn, sql`not ${descendants}`)),
    keyIsInReach,
  },
)

/** The key of the caller, as the named key. */
export const ownDeletable = requiring(
  [{ table: named, on: eq(named.hash, apiKeys.hash) }],
  {},
  { ownId: sql<string>`${named.id}` },
)

const lineage = sql`"lineage"`
const ending = sql`"ending"`
const child = alias(apiKeys, 'child')
const fieldsOfLineage = (key: typeof child | typeof named | typeof session, isNamed: 0 | 1) => ({
  organizationId: sql`${key.organizationId}`.as('organizationId'),
  id: sql`${key.id}`.as('id'),
  hash: sql`${key.hash}`.as('hash'),
  revokedAt: sql`${key.revokedAt}`.as('revokedAt'),
  isNamed: sql`${sql.raw(String(isNamed))}`.as('isNamed'),
})

/**
 * The deletion of the named key. It revokes the key's sessions too and, if it includes them, the descendants, also those of
 * revoked keys. The index `apiKeysByCreator` has all that the search reads of a descendant.
 */
function deletionOf({ rows }: Pick<Preconditions, 'rows'>) {
  const endingKeys = sql`(with recursive ${lineage}("organizationId", "id", "hash", "revokedAt", "isNamed") as ${rows(
    fieldsOfLineage(named, 1),
  )
    .union(rows(fieldsOfLineage(session, 0)).innerJoin(session, isLiveSessionOf(named)))
    .union(
      query
        .select(fieldsOfLineage(child, 0))
        .from(child)
        .innerJoin(
          lineage,
          and(
            eq(child.organizationId, of(lineage, 'organizationId')),
            eq(child.createdByKeyId, of(lineage, 'id')),
          ),
        )
        .where(sql`${descendants}`),
    )} select * from ${lineage} where "revokedAt" is null) as ${ending}`

  const record = recordRevocations(endingKeys, of(ending, 'id'), sql`not ${of(ending, 'isNamed')}`, mayAct)

  // Descendants that are revoked together with their creators have no live descendants, so they lose their creator: no later
  // deletion has to search them.
  const creator = sql`case when ${of(ending, 'isNamed')} or not ${descendants} then ${apiKeys.createdByKeyId} end`
  const revoke = guardedChange(() =>
    query
      .update(apiKeys)
      .set({ revokedAt: sql`${now}`, createdByKeyId: creator })
      .from(endingKeys)
      // The plus sign keeps SQLite from starting at all keys.
      .where(sql`${apiKeys.hash} = +${of(ending, 'hash')}`)
      .returning({ id: apiKeys.id }),
  )
  return [record, revoke] as const
}

export const deletion = deletionOf(deletable)
export const ownDeletion = deletionOf(ownDeletable)
