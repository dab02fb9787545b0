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
  notExists,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { guardedChange, recordedAfter, recordedForEach } from '../../access/events.ts'
import { mayAct } from '../../access/guard.ts'
import {
  actsAs,
  includesProjects,
  isKeyAccessible,
  isSubset,
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
import { withinApiKeyQuota } from '../../access/quotas.ts'
import { cursor, now, number, type Parameter, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn, insertRow } from '../../db/rows.ts'
import { apiKeys, projects, skillFeeds, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import { apiKey } from './contract.ts'

/** Of an API key. */
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

/** True if the caller's key has the scopes. */
const hasScopes = (list: SQLWrapper) => isSubset(list, apiKeys.scopes)

/** A key as the API returns it, except that its lists are JSON. */
const fields = columnsIn(apiKeys, apiKey)

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
const earlierKey = {
  table: earlier,
  on: and(
    eq(earlier.organizationId, apiKeys.organizationId),
    eq(earlier.idempotencyKey, idempotencyKey),
    ne(earlier.id, id),
  ),
  takes: [idempotencyKey, id],
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
      new ApiError('invalid_input', `expiresAt is not in the future; got "${expiresAt}"; allowed: a time after now.`),
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
    () => new ApiError('user_not_found', 'userId names a user that the organization does not have.'),
    [userId, userIdIsGiven],
  ),
  projectsExist: precondition(
    notExists(
      query
        .select({ one: sql`1` })
        .from(sql`json_each(${projectIds})`)
        .where(
          notExists(
            query
              .select({ id: projects.id })
              .from(projects)
              .where(and(eq(projects.organizationId, apiKeys.organizationId), sql`${projects.id} = value`)),
          ),
        ),
    ),
    () => new ApiError('project_not_found', 'projectIds names a project that the organization does not have.'),
    [projectIds],
  ),
  callerIsUnrotated: callerIsUnrotated(),
  callerHasScopes: precondition(
    hasScopes(scopes),
    () =>
      new ApiError(
        'exceeds_own_key',
        'scopes has a scope that your API key lacks. Leave it out, or use an API key that has it.',
      ),
    [scopes],
  ),
  userIsAccessible: precondition(
    actsAs(newUserId),
    () =>
      new ApiError(
        'exceeds_own_key',
        'userId is not the user that your API key acts as. Leave it out, or use an API key that acts as no user.',
      ),
    [userId, userIdIsGiven],
  ),
  projectsAreAccessible: precondition(
    includesProjects(newProjectIds),
    () =>
      new ApiError(
        'exceeds_own_key',
        'projectIds goes beyond the projects of your API key. Leave it out, or use an API key that may use these projects.',
      ),
    [projectIds, projectIdsIsGiven],
  ),
  callerLivesAsLong: precondition(
    livesUntil(newExpiresAt),
    () =>
      new ApiError(
        'exceeds_own_key',
        'expiresAt goes beyond the end of your API key. Leave it out, or use an API key that is valid for longer.',
      ),
    [expiresAt, expiresAtIsGiven],
  ),
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
        }),
      ),
    )
    .returning(fields),
)

/** The key that the request names. */
const named = alias(apiKeys, 'named')
const isNamed = and(eq(named.organizationId, apiKeys.organizationId), eq(named.id, apiKeyId))
const isCallersOwn = sql`${named.id} = ${apiKeys.id}`

const keyExists = precondition(
  isNotNull(named.id),
  () => new ApiError('api_key_not_found', 'There is no API key with this apiKeyId.'),
)

const keyIsAccessible = precondition(
  isKeyAccessible(named),
  () =>
    new ApiError('api_key_forbidden', 'The API key belongs to another user, or may use projects that yours may not.'),
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
  return guarded(authorized, [kind, cursor, rowLimit], () =>
    authorized
      .rows(columnsIn(named, apiKey), and(isListed, includesProjects(named.projectIds)))
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
    or(not(expiresAtIsGiven), livesUntil(expiresAt)),
    () =>
      new ApiError(
        'exceeds_own_key',
        'expiresInSeconds goes beyond the end of your API key. Leave it out, or use an API key that is valid for longer.',
      ),
    [expiresAt, expiresAtIsGiven],
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

const endedSession = { type: 'api-key.session-ended', id: session.id, name: session.name } as const

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
        }),
      ),
    )
    .returning(fields),
)

export const rotatable = requiring(
  [{ table: named, on: and(isNamed, isNull(named.revokedAt)), takes: [apiKeyId] }, earlierKey],
  {
    keyExists,
    callerIsUnrotated: callerIsUnrotated(isCallersOwn),
    keyIsAccessible,
    keyIsNoSession: keyIsNoSession(named, 'The API key is a session, which cannot be rotated. Create another session.'),
    callerHasScopes: precondition(
      hasScopes(named.scopes),
      () => new ApiError('exceeds_own_key', 'The API key has scopes that yours lacks. Use an API key that has them.'),
    ),
    callerLivesAsLong: precondition(
      livesUntil(named.expiresAt),
      () => new ApiError('exceeds_own_key', 'The API key ends after yours. Use an API key that is valid for longer.'),
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
    .set({ expiresAt: sql`${overlapEndsAt}` })
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
  ],
  {
    keyExists,
    // The successor of a key that rotated itself is its descendant, so a rotated key deletes no descendants.
    callerIsUnrotated: callerIsUnrotated(and(isCallersOwn, not(descendants))),
    keyIsAccessible,
  },
)

/** The key of the caller, as the named key. */
export const ownDeletable = requiring(
  [{ table: named, on: eq(named.hash, apiKeys.hash), takes: [] }],
  {},
  { ownId: sql<string>`${named.id}` },
)

const lineage = sql`"lineage"`
const ending = sql`"ending"`
const child = alias(apiKeys, 'child')
const revoked = alias(apiKeys, 'revoked')
const fieldsOfLineage = (key: typeof child | typeof named | typeof session, isNamed: 0 | 1) => ({
  organizationId: sql`${key.organizationId}`.as('organizationId'),
  id: sql`${key.id}`.as('id'),
  hash: sql`${key.hash}`.as('hash'),
  revokedAt: sql`${key.revokedAt}`.as('revokedAt'),
  isNamed: sql`${sql.raw(String(isNamed))}`.as('isNamed'),
})

/**
 * The deletion of the named key. It revokes the key's sessions too and, if it includes them, the descendants, also
 * those of revoked keys. The index `apiKeysByCreator` has all that the search reads of a descendant.
 */
function deletionStatements<P extends Parameter>(preconditions: Pick<Preconditions<unknown, P>, 'rows' | 'takes'>) {
  const { rows } = preconditions
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
          and(eq(child.organizationId, of(lineage, 'organizationId')), eq(child.createdByKeyId, of(lineage, 'id'))),
        )
        .where(sql`${descendants}`),
    )} select * from ${lineage} where "revokedAt" is null) as ${ending}`

  const recorded = recordedForEach(
    preconditions,
    [descendants],
    { type: typeOfEnd(revoked.kind), id: revoked.id, name: revoked.name },
    (row, condition) =>
      query
        .select(row)
        .from(apiKeys)
        .innerJoin(endingKeys, sql`true`)
        .innerJoin(revoked, sql`${revoked.hash} = ${of(ending, 'hash')}`)
        .where(and(mayAct, condition)),
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
export const ownDeletion = deletionStatements(ownDeletable)
