/**
 * How an operator creates an organization, its first user and its first API key. Everything else is created through
 * HTTP. These statements have no guard; no operation runs them.
 */
import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import { hashToken, mintToken } from '../src/access/api-key.ts'
import type { Scope } from '../src/access/scopes.ts'
import { apiKeys, deletions, organizations, users } from '../src/db/schema.ts'
import { query, unguarded, type Values } from '../src/db/statement.ts'

/** Inserts a row. Bound with a value for every column, as `insertApiKey` and `insertUserIfMissing` are. */
export const insertOrganization = unguarded(() =>
  query.insert(organizations).values(placeholders(organizations)),
)
export const insertApiKey = unguarded(() => query.insert(apiKeys).values(placeholders(apiKeys)))

/** An existing user stays as it is. */
export const insertUserIfMissing = unguarded(() =>
  query.insert(users).values(placeholders(users)).onConflictDoNothing(),
)

/** A placeholder for each column without a default, with the name of the column. */
function placeholders<Table extends SQLiteTable>(table: Table) {
  const columns = Object.entries(getTableColumns(table)).flatMap(([name, { hasDefault }]) =>
    hasDefault ? [] : [name],
  )
  return Object.fromEntries(
    columns.map((column) => [column, sql.placeholder(column)]),
  ) as Table['$inferInsert']
}

/** Bound with `id`. */
export const selectOrganization = unguarded(() =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(eq(organizations.id, sql.placeholder('id'))),
)

/** Bound with `name`. */
export const selectOrganizationsByName = unguarded(() =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(eq(organizations.name, sql.placeholder('name')))
    .orderBy(organizations.id),
)

/** Returns a row if the user was deleted: its id is never used again. Bound with `organizationId` and `id`. */
export const selectDeletedUser = unguarded(() =>
  query
    .select({ id: deletions.resourceId })
    .from(deletions)
    .where(
      and(
        eq(deletions.organizationId, sql.placeholder('organizationId')),
        eq(deletions.resourceType, 'user'),
        eq(deletions.resourceId, sql.placeholder('id')),
      ),
    ),
)

/** Returns a row if the database has any organization. */
export const selectAnyOrganization = unguarded(() =>
  query.select({ id: organizations.id }).from(organizations).limit(1),
)

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

/** Creates a key. @returns the token, to be shown once, and the row for `insertApiKey`, which has only its hash. */
export function mintApiKey(key: NewApiKey): { token: string; row: Values & { id: string } } {
  const token = mintToken()
  const row = {
    organizationId: key.organizationId,
    id: newUuid(),
    name: key.name,
    hash: hashToken(token),
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
  }
  return { token, row }
}
