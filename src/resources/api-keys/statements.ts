/** The keys of an organization, in SQL. No key makes, and none gets hold of, one that can do more than itself. */
import { and, asc, eq, gt, isNotNull, isNull, ne, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordRevocations } from '../../access/audit.ts'
import { explaining, mayAct, now } from '../../access/guard.ts'
import {
  actsFor,
  isCurrent,
  isManageable as isManageableBy,
  isSubset,
  reaches,
} from '../../access/manage-keys.ts'
import { exceededQuota } from '../../access/quotas.ts'
import { apiKeys, projects, users } from '../../db/schema.ts'
import { guarded, guardedChange, insertRow, query } from '../../db/statement.ts'

const id = sql.placeholder('id')
const apiKeyId = sql.placeholder('apiKeyId')
const hash = sql.placeholder('hash')
const name = sql.placeholder('name')
const scopes = sql.placeholder('scopes')
const idempotencyKey = sql.placeholder('idempotencyKey')
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')
/** 1 if the deletion includes the descendants of the key, else 0. */
const descendants = sql.placeholder('descendants')

/** What the request gives, null too; or, where it leaves it out, what the caller has. */
function givenOrOwn(placeholder: string, own: SQLWrapper): SQL<string | null> {
  const isGiven = sql.placeholder(`${placeholder}IsGiven`)
  return sql<string | null>`case when ${isGiven} then ${sql.placeholder(placeholder)} else ${own} end`
}
const newUserId = givenOrOwn('userId', apiKeys.userId)
const newProjectIds = givenOrOwn('projectIds', apiKeys.projectIds)
const newExpiresAt = givenOrOwn('expiresAt', apiKeys.expiresAt)

/** True if the caller lives as long (null: for ever). */
const livesUntil = (expiresAt: SQLWrapper) =>
  sql<0 | 1>`(${apiKeys.expiresAt} is null or coalesce(${expiresAt} <= ${apiKeys.expiresAt}, false))`

const hasScopes = (list: SQLWrapper) => sql<0 | 1>`${isSubset(list, apiKeys.scopes)}`

const hasSuccessor = sql<0 | 1>`not ${isCurrent}`.as('hasSuccessor')

const earlier = alias(apiKeys, 'earlier')
const isRepeated = and(
  eq(earlier.organizationId, apiKeys.organizationId),
  eq(earlier.idempotencyKey, idempotencyKey),
)

/** A key in the shape of the wire, but for its lists, which are JSON. */
const fieldsOf = (table: typeof apiKeys) => ({
  id: table.id,
  name: table.name,
  scopes: table.scopes,
  userId: table.userId,
  projectIds: table.projectIds,
  expiresAt: table.expiresAt,
  rotatedAt: table.rotatedAt,
  lastUsedAt: table.lastUsedAt,
  createdAt: table.createdAt,
})

const hasUser = sql<0 | 1>`(${newUserId} is null or exists ${query
  .select({ one: sql`1` })
  .from(users)
  .where(and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, newUserId)))})`

/** The first of the projects that the request gives and the organization doesn't have. */
const missingProject = sql<
  string | null
>`(select value from json_each(${sql.placeholder('projectIds')}) where not exists ${query
  .select({ one: sql`1` })
  .from(projects)
  .where(and(eq(projects.organizationId, apiKeys.organizationId), sql`${projects.id} = value`))})`

const endsLater = sql<0 | 1>`coalesce(${newExpiresAt} > ${now}, true)`

/** A rotation takes one key out of the count for the one that it adds, so it always fits. */
const exceeded = exceededQuota({ apiKeys: sql`1` })

export const explainCreation = guarded(() =>
  explaining({
    earlierId: sql<string | null>`${earlier.id}`.as('earlierId'),
    hasUser: hasUser.as('hasUser'),
    missingProject: missingProject.as('missingProject'),
    hasScopes: hasScopes(scopes).as('hasScopes'),
    actsForUser: actsFor(newUserId).as('actsForUser'),
    reachesProjects: reaches(newProjectIds).as('reachesProjects'),
    livesAsLong: livesUntil(newExpiresAt).as('livesAsLong'),
    endsLater: endsLater.as('endsLater'),
    hasSuccessor,
    exceededQuota: exceeded.as('exceededQuota'),
  }).leftJoin(earlier, isRepeated),
)

export const insertKey = guardedChange(() =>
  query
    .insert(apiKeys)
    .select(
      query
        .select(
          insertRow(apiKeys, {
            organizationId: apiKeys.organizationId,
            id,
            name,
            hash,
            scopes,
            userId: newUserId,
            projectIds: newProjectIds,
            expiresAt: newExpiresAt,
            createdAt: now,
            idempotencyKey,
            createdByKeyId: apiKeys.id,
          }),
        )
        .from(apiKeys)
        .where(
          and(
            mayAct,
            isCurrent,
            hasUser,
            sql`${missingProject} is null`,
            hasScopes(scopes),
            actsFor(newUserId),
            reaches(newProjectIds),
            livesUntil(newExpiresAt),
            endsLater,
            isNull(exceeded),
          ),
        ),
    )
    .onConflictDoNothing()
    .returning(fieldsOf(apiKeys)),
)

/** The key that the request is about. */
const it = alias(apiKeys, 'it')
const isNamed = and(eq(it.organizationId, apiKeys.organizationId), eq(it.id, apiKeyId))
const isIt = and(isNamed, isNull(it.revokedAt))
const isManageable = isManageableBy(it)

export const explainRotation = guarded(() =>
  explaining({
    exists: sql<0 | 1>`${isNotNull(it.id)}`.as('exists'),
    isManageable: sql<0 | 1>`${isManageable}`.as('isManageable'),
    hasSuccessor,
    hasScopes: hasScopes(it.scopes).as('hasScopes'),
    livesAsLong: livesUntil(it.expiresAt).as('livesAsLong'),
    isRotated: sql<0 | 1>`${isNotNull(it.rotatedAt)}`.as('isRotated'),
    earlierId: sql<string | null>`${earlier.id}`.as('earlierId'),
  })
    .leftJoin(it, isIt)
    .leftJoin(earlier, isRepeated),
)

/** Lists the keys of all users, for a caller that is none. */
export const listKeys = listing(isNull(apiKeys.userId))

/** Lists the keys of the caller's user. */
export const listOwnKeys = listing(eq(it.userId, apiKeys.userId))

function listing(whose: SQL) {
  return guarded(() =>
    query
      // An alias has the columns of its table, under a type of its own.
      .select(fieldsOf(it as unknown as typeof apiKeys))
      .from(apiKeys)
      .innerJoin(
        it,
        and(eq(it.organizationId, apiKeys.organizationId), gt(it.id, cursor), isNull(it.revokedAt)),
      )
      .where(and(mayAct, whose, reaches(it.projectIds)))
      .orderBy(asc(it.id))
      .limit(rowLimit),
  )
}

const isRotatable = and(
  mayAct,
  isManageable,
  hasScopes(it.scopes),
  livesUntil(it.expiresAt),
  isNull(it.rotatedAt),
  or(isNull(it.expiresAt), gt(it.expiresAt, now)),
)

/** Makes the successor. */
export const insertSuccessor = guardedChange(() =>
  query
    .insert(apiKeys)
    .select(
      query
        .select(
          insertRow(apiKeys, {
            organizationId: it.organizationId,
            id,
            name: it.name,
            hash,
            scopes: it.scopes,
            userId: it.userId,
            projectIds: it.projectIds,
            expiresAt: it.expiresAt,
            createdAt: now,
            idempotencyKey,
            createdByKeyId: apiKeys.id,
          }),
        )
        .from(apiKeys)
        .innerJoin(it, isIt)
        .where(isRotatable),
    )
    .onConflictDoNothing()
    .returning(fieldsOf(apiKeys)),
)

const successor = alias(apiKeys, 'successor')
const retirableFrom = query
  .select({ organizationId: it.organizationId })
  .from(apiKeys)
  .innerJoin(it, isIt)
  .innerJoin(successor, and(eq(successor.organizationId, apiKeys.organizationId), eq(successor.id, id)))
  .where(isRotatable)

/** Ends the key that has the successor, after the overlap. */
export const retireKey = guarded(() =>
  query
    .update(apiKeys)
    .set({
      rotatedAt: sql`${now}`,
      expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${sql.placeholder('overlapEndsAt')}), ${sql.placeholder('overlapEndsAt')})`,
    })
    .where(and(eq(apiKeys.organizationId, retirableFrom), eq(apiKeys.id, apiKeyId))),
)

/** The key of a deletion. With its descendants it may be revoked already: they can outlive it. */
const isDeletedKey = and(isNamed, or(isNull(it.revokedAt), sql`${descendants}`))
/** The successor of a key that rotated itself is its descendant, so a key with a successor deletes no descendants. */
const isDeletable = and(isManageable, or(isCurrent, sql`not ${descendants}`))

export const explainDeletion = guarded(() =>
  explaining({
    exists: sql<0 | 1>`${isNotNull(it.id)}`.as('exists'),
    isDeletable: sql<0 | 1>`${isDeletable}`.as('isDeletable'),
    hasSuccessor,
  }).leftJoin(it, isDeletedKey),
)

const child = alias(apiKeys, 'child')
const lineage = sql`"lineage"`
const isChild = and(
  sql`${child.organizationId} = ${lineage}."organizationId"`,
  sql`${child.createdByKeyId} = ${lineage}."id"`,
)
/** The key of a deletion and, if it includes them, its descendants. A revoked key has descendants too. */
const deletedKeys = query
  .select({ organizationId: it.organizationId, id: it.id })
  .from(apiKeys)
  .innerJoin(it, isDeletedKey)
  .where(and(mayAct, isDeletable))
  .union(
    query
      .select({ organizationId: child.organizationId, id: child.id })
      .from(child)
      .innerJoin(lineage, isChild)
      .where(sql`${descendants}`),
  )

/** True if the deletion revokes the key. */
const isRevoked = (key: Readonly<Record<'organizationId' | 'id' | 'revokedAt', SQLWrapper>>) =>
  and(
    sql`(${key.organizationId}, ${key.id}) in
      (with recursive ${lineage}("organizationId", "id") as ${deletedKeys} select * from ${lineage})`,
    isNull(key.revokedAt),
  )

const descendant = alias(apiKeys, 'descendant')
export const recordDescendants = recordRevocations(
  descendant as unknown as typeof apiKeys,
  and(isRevoked(descendant), ne(descendant.id, apiKeyId)),
  mayAct,
)

export const revokeKeys = guardedChange(() =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(isRevoked(apiKeys))
    .returning({ id: apiKeys.id }),
)
