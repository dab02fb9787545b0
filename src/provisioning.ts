/**
 * What the host platform brings: organizations, users, keys, and the resources that the operations work on.
 * These statements act for whoever runs the service and have no guard; no HTTP operation reaches them.
 */
import { and, eq, getTableColumns, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import { hashToken, mintToken } from './access/api-key.ts'
import type { Scope } from './access/scopes.ts'
import {
  agents,
  apiKeys,
  environmentVariables,
  organizations,
  pins,
  profilePictures,
  projects,
  pullRequests,
  sessionFiles,
  sessions,
  skillFiles,
  skills,
  users,
} from './db/schema.ts'
import { compileUnguarded, query, type Statement, type Values } from './db/statement.ts'

/** Each inserts a whole row: it is bound with a value for every column. */
export const insertOrganization = inserting(organizations)
export const insertUser = inserting(users)
export const insertApiKey = inserting(apiKeys)
export const insertProject = inserting(projects)
export const insertAgent = inserting(agents)
export const insertSession = inserting(sessions)
export const insertPullRequest = inserting(pullRequests)
export const insertPin = inserting(pins)
export const insertSessionFile = inserting(sessionFiles)
export const insertSkill = inserting(skills)
export const insertSkillFile = inserting(skillFiles)
export const insertProfilePicture = inserting(profilePictures)
export const insertEnvironmentVariable = inserting(environmentVariables)

function inserting(table: SQLiteTable): Statement {
  return compileUnguarded(query.insert(table).values(placeholders(table)))
}

/** A placeholder for each column, under the column's name. */
function placeholders<Table extends SQLiteTable>(table: Table) {
  const columns = Object.keys(getTableColumns(table))
  return Object.fromEntries(
    columns.map((column) => [column, sql.placeholder(column)]),
  ) as Table['$inferInsert']
}

/** Bound like `insertUser`; a user that is there stays as it is. */
export const insertUserIfMissing = compileUnguarded(
  query.insert(users).values(placeholders(users)).onConflictDoNothing(),
)

/** Bound with `id`. */
export const selectOrganization = compileUnguarded(
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(eq(organizations.id, sql.placeholder('id'))),
)

/** A row if the database has any organization. */
export const selectAnyOrganization = compileUnguarded(
  query.select({ id: organizations.id }).from(organizations).limit(1),
)

const now = sql`${sql.placeholder('now')}`
const isNamed = (table: { organizationId: SQLWrapper; id: SQLWrapper }) =>
  and(eq(table.organizationId, sql.placeholder('organizationId')), eq(table.id, sql.placeholder('id')))

/** Each changes one row, bound with `organizationId`, `id` and `now`. */
export const archiveProject = compileUnguarded(
  query.update(projects).set({ archivedAt: now }).where(isNamed(projects)),
)
export const archiveAgent = compileUnguarded(
  query.update(agents).set({ archivedAt: now }).where(isNamed(agents)),
)
export const deleteSession = compileUnguarded(
  query.update(sessions).set({ deletedAt: now }).where(isNamed(sessions)),
)
export const revokeApiKey = compileUnguarded(
  query.update(apiKeys).set({ revokedAt: now }).where(isNamed(apiKeys)),
)

/** Deletes a file of a session, bound with `organizationId`, `sessionId` and `id`. */
export const deleteSessionFile = compileUnguarded(
  query
    .delete(sessionFiles)
    .where(and(isNamed(sessionFiles), eq(sessionFiles.sessionId, sql.placeholder('sessionId')))),
)

/** Leases a user's picture to an upload, bound with `organizationId`, `userId`, `leaseExpiresAt` and `now`. */
export const leaseProfilePicture = compileUnguarded(
  query
    .insert(profilePictures)
    .values({
      organizationId: sql.placeholder('organizationId'),
      userId: sql.placeholder('userId'),
      leaseExpiresAt: sql.placeholder('leaseExpiresAt'),
      updatedAt: now,
    })
    .onConflictDoUpdate({
      target: [profilePictures.organizationId, profilePictures.userId],
      set: { leaseExpiresAt: sql`excluded.${sql.identifier('leaseExpiresAt')}` },
    }),
)

/** What a new key is given. */
export interface NewApiKey {
  readonly organizationId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly userId?: string
  /** The projects that the key is limited to; without it, none. */
  readonly projectIds?: readonly string[]
  readonly expiresAt?: string
  readonly createdAt: string
}

/** Mints a key. @returns the token, to be shown once, and the row for `insertApiKey`, which holds only its hash. */
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
    lastUsedAt: null,
    createdAt: key.createdAt,
  }
  return { token, row }
}
