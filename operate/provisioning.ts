/**
 * How an operator creates an organization, its first user and its first API key. Everything else is created through
 * HTTP. These statements have no guard; no operation runs them.
 */
import { and, eq, exists, getTableColumns, isNotNull, isNull, not, Placeholder, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import { mintToken, type TokenKind } from '../src/access/api-key.ts'
import type { Scope } from '../src/access/scopes.ts'
import { now, number, text, type Value } from '../src/db/parameters.ts'
import { apiKeys, deletions, directory, organizations, users } from '../src/db/schema.ts'
import { query, unguarded } from '../src/db/statement.ts'

const id = text('id')
const name = text('name')
const organizationId = text('organizationId')

const createdAt = text('createdAt')
const database = number('database')

export const insertOrganization = unguarded({ id, name, createdAt }, () =>
  query.insert(organizations).values({ id: sql`${id}`, name: sql`${name}`, createdAt: sql`${createdAt}` }),
)

/** In database 0, which has the directory. */
export const insertPlace = unguarded({ organizationId, database }, () =>
  query.insert(directory).values({ organizationId: sql`${organizationId}`, database: sql`${database}` }),
)

/** Inserts a row: takes a value for every column, as `insertUserIfMissing` does. */
export const insertApiKey = unguarded(columnsOf(apiKeys), () => insertInto(apiKeys))

/** An existing user stays as it is. */
export const insertUserIfMissing = unguarded(columnsOf(users), () => insertInto(users).onConflictDoNothing())

function insertInto<Table extends SQLiteTable>(table: Table) {
  return query.insert(table).values(columnsOf(table) as Table['$inferInsert'])
}

/** A parameter for each column without a default, with the name of the column. */
function columnsOf<Table extends SQLiteTable>(table: Table) {
  type Columns = Table['_']['columns']
  type Name = {
    [Each in keyof Columns]: Columns[Each]['_']['hasDefault'] extends true ? never : Each & string
  }[keyof Columns]
  const columns = Object.entries(getTableColumns(table)).filter(([, { hasDefault }]) => !hasDefault)
  const parameters = columns.map(([name]) => [name, new Placeholder(name)])
  return Object.fromEntries(parameters) as { readonly [Each in Name]: Placeholder<Each, Value> }
}

export const selectOrganization = unguarded({ id }, () =>
  query.select({ id: organizations.id }).from(organizations).where(eq(organizations.id, id)),
)

export const selectOrganizationsByName = unguarded({ name }, () =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(eq(organizations.name, name))
    .orderBy(organizations.id),
)

/** Returns a row if the user was deleted: its ID is never used again. */
export const selectDeletedUser = unguarded({ organizationId, id }, () =>
  query
    .select({ id: deletions.resourceId })
    .from(deletions)
    .where(
      and(
        eq(deletions.organizationId, organizationId),
        eq(deletions.resourceType, 'user'),
        eq(deletions.resourceId, id),
      ),
    ),
)

/** The oldest organizations, up to three. */
export const selectOldestOrganizations = unguarded({}, () =>
  query
    .select({ id: organizations.id, name: organizations.name })
    .from(organizations)
    .orderBy(organizations.id)
    .limit(3),
)

/** The name that `npm run deploy` and `npm run operate -- bootstrap --claim` give to a claim link. */
export const CLAIM_LINK_NAME = 'Claim link'

/** An API key of that name, whose creator was removed, differs as soon as it is used. */
const isClaimLink = and(
  eq(apiKeys.name, CLAIM_LINK_NAME),
  isNull(apiKeys.createdByKeyId),
  isNull(apiKeys.rotatedAt),
  isNotNull(apiKeys.expiresAt),
  isNull(apiKeys.lastUsedAt),
)

/** Ends the claim links of the organization that nobody has used. */
export const endClaimLinks = unguarded({ organizationId, now }, () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(and(eq(apiKeys.organizationId, organizationId), isClaimLink, isNull(apiKeys.revokedAt))),
)

/** The oldest organization that has claim links, none of which was used, and no other API key. */
export const selectUnclaimed = unguarded({}, () =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(and(exists(keysOf(isClaimLink)), not(exists(keysOf(sql`not (${isClaimLink})`)))))
    .orderBy(organizations.id)
    .limit(1),
)

function keysOf(condition: SQL | undefined) {
  return query
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.organizationId, organizations.id), condition))
}

export interface NewApiKey {
  readonly organizationId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly userId?: string
  /** The projects that the key is restricted to; left out: all projects. */
  readonly projectIds?: readonly string[]
  readonly expiresAt?: string
  readonly createdAt: string
}

/**
 * Creates a key. @returns the token, to be shown once, and the row for `insertApiKey`, which has only its hash.
 * @param databaseNumber the database that stores the row.
 * @param kind of the token.
 */
export async function mintApiKey(key: NewApiKey, databaseNumber = 0, kind: TokenKind = 'wsk') {
  const { hash, tokenIn } = await mintToken(kind)
  const row = {
    organizationId: key.organizationId,
    id: newUuid(),
    name: key.name,
    hash,
    scopes: JSON.stringify(key.scopes),
    userId: key.userId ?? null,
    projectIds: key.projectIds ? JSON.stringify(key.projectIds) : null,
    expiresAt: key.expiresAt ?? null,
    revokedAt: null,
    rotatedAt: null,
    lastUsedAt: null,
    createdAt: key.createdAt,
    idempotencyKey: null,
    createdByKeyId: null,
    identityId: null,
    clientId: null,
    clientName: null,
    redirectHost: null,
    grantEndsAt: null,
    redeemedAt: null,
    movedTo: null,
    suspendedAt: null,
  }
  return { token: tokenIn(databaseNumber), row }
}
