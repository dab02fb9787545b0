/**
 * The tables. Column names are the names of the wire (SPEC.txt, Resources and their fields), times are ISO 8601
 * text in UTC with milliseconds, so rows leave the database in the shape of the answer.
 *
 * Every row of an organization has `organizationId` first in its primary key. There are no foreign keys: a child
 * is inserted by a statement that selects its parent, which checks existence and tenancy in one look-up.
 */
import { sql } from 'drizzle-orm'
import {
  index,
  integer,
  primaryKey,
  type SQLiteColumn,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'

/** The id of the key that a value was sealed with (crypto/sealed-value.ts): what is between its first two dots. */
export function keyIdOf(sealed: SQLiteColumn) {
  const rest = sql`substr(${sealed}, 4)`
  return sql<string>`substr(${rest}, 1, instr(${rest}, '.') - 1)`
}

export const organizations = sqliteTable('organizations', {
  id: text().primaryKey(),
  name: text().notNull(),
  createdAt: text().notNull(),
})

/**
 * What an organization stores of each resource that has a quota. Triggers keep it up to date (migrations/0005 and 0008), so
 * no statement writes it; usage.ts counts the same from the rows.
 */
export const organizationUsage = sqliteTable('organizationUsage', {
  organizationId: text().primaryKey(),
  sessions: integer().notNull(),
  /** Session files, and the bytes of their contents in R2. */
  files: integer().notNull(),
  bytes: integer().notNull(),
  projects: integer().notNull().default(0),
  agents: integer().notNull().default(0),
  users: integer().notNull().default(0),
  pullRequests: integer().notNull().default(0),
  schedules: integer().notNull().default(0),
  /** Keys that are neither revoked nor rotated. */
  apiKeys: integer().notNull().default(0),
  skills: integer().notNull().default(0),
  /** Of the contents of their files, in UTF-8. */
  skillBytes: integer().notNull().default(0),
  variables: integer().notNull().default(0),
  /** Of the sealed values. */
  variableBytes: integer().notNull().default(0),
})

/** API keys, found by the SHA-256 of their token; the token itself is never stored. */
export const apiKeys = sqliteTable(
  'apiKeys',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    /** SHA-256 of the token, in lower-case hexadecimal. */
    hash: text().notNull(),
    /** JSON array of scopes. */
    scopes: text().notNull(),
    /** The user that the key acts as, if any. */
    userId: text(),
    /** JSON array of the projects that the key is limited to; null: all. */
    projectIds: text(),
    expiresAt: text(),
    revokedAt: text(),
    /** When a successor took its place; from then on it lives until the overlap ends. */
    rotatedAt: text(),
    lastUsedAt: text(),
    createdAt: text().notNull(),
    /** The `Idempotency-Key` that it was created under. */
    idempotencyKey: text(),
    /** The API key of the request that created it, also as the successor of another; null: `npm run bootstrap` did. */
    createdByKeyId: text(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.id] }),
    uniqueIndex('apiKeysByHash').on(table.hash),
    index('apiKeysByUser').on(table.organizationId, table.userId, table.id),
    index('apiKeysUnrevoked').on(table.organizationId, table.id).where(sql`"revokedAt" is null`),
    uniqueIndex('apiKeysByIdempotencyKey')
      .on(table.organizationId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
    index('apiKeysByCreator')
      .on(table.organizationId, table.createdByKeyId)
      .where(sql`"createdByKeyId" is not null`),
  ],
)

export const users = sqliteTable(
  'users',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.id] })],
)

export const projects = sqliteTable(
  'projects',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    archivedAt: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.id] })],
)

export const agents = sqliteTable(
  'agents',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    archivedAt: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.id] })],
)

export const sessions = sqliteTable(
  'sessions',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    projectId: text().notNull(),
    name: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.id] }),
    index('sessionsByProject').on(table.organizationId, table.projectId, table.id),
  ],
)

export const pullRequests = sqliteTable(
  'pullRequests',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    projectId: text().notNull(),
    name: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.id] }),
    index('pullRequestsByProject').on(table.organizationId, table.projectId, table.id),
  ],
)

/**
 * What was deleted. Its id is never used again, what hangs on it is gone for every operation from then on, and the
 * purge removes that in pages.
 */
export const deletions = sqliteTable(
  'deletions',
  {
    organizationId: text().notNull(),
    resourceType: text({
      enum: ['project', 'agent', 'session', 'pull_request', 'user', 'schedule'],
    }).notNull(),
    resourceId: text().notNull(),
    /** The project that it belonged to, if it was a session or a pull request. */
    projectId: text(),
    deletedAt: text().notNull(),
    /** When nothing was left that hung on it. */
    purgedAt: text(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.resourceType, table.resourceId] }),
    index('deletionsToPurge').on(table.purgedAt, table.deletedAt).where(sql`"purgedAt" is null`),
  ],
)

/** A user's pins: one list across all three types, in order of `position`. */
export const pins = sqliteTable(
  'pins',
  {
    organizationId: text().notNull(),
    userId: text().notNull(),
    resourceType: text({ enum: ['session', 'pull_request', 'project'] }).notNull(),
    resourceId: text().notNull(),
    /** Only its order counts. Gaps are left, so that placing a pin writes one row. */
    position: integer().notNull(),
    createdAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.userId, table.resourceType, table.resourceId] }),
    index('pinsByResource').on(table.organizationId, table.resourceType, table.resourceId),
  ],
)

/** Schedules of projects and of agents. */
export const schedules = sqliteTable(
  'schedules',
  {
    organizationId: text().notNull(),
    parentType: text({ enum: ['project', 'agent'] }).notNull(),
    parentId: text().notNull(),
    id: text().notNull(),
    cron: text().notNull(),
    /** IANA time zone; `UTC` for an agent's schedule. */
    timezone: text().notNull(),
    enabledAt: text(),
    lastRunAt: text(),
    nextRunAt: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** The `Idempotency-Key` that it was created under, and the fingerprint of that request's body. */
    idempotencyKey: text(),
    idempotencyFingerprint: text(),
    /** Why the service paused it; null if a request did, or while it is enabled. */
    pausedReason: text(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.parentType, table.parentId, table.id] }),
    uniqueIndex('schedulesByIdempotencyKey')
      .on(table.organizationId, table.parentType, table.parentId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
    index('schedulesDue').on(table.nextRunAt).where(sql`"nextRunAt" is not null`),
  ],
)

/** The ledger: one row for each instant of a schedule, whatever became of it. It is the outbox too. */
export const runs = sqliteTable(
  'runs',
  {
    organizationId: text().notNull(),
    scheduleId: text().notNull(),
    /** The instant that it was due at; of a run on request, that of the request. */
    scheduledAt: text().notNull(),
    /** Derived from schedule and instant, in order of time: schedules/runs/run-id.ts. */
    id: text().notNull(),
    parentType: text({ enum: ['project', 'agent'] }).notNull(),
    parentId: text().notNull(),
    status: text({ enum: ['pending', 'delivered', 'failed', 'skipped'] }).notNull(),
    /** How often it was sent. */
    attempts: integer().notNull(),
    lastError: text(),
    /** When the tick puts it into the queue (again), if nothing became of it until then; null: never. */
    sendAfter: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** The `Idempotency-Key` of the request that made it. */
    idempotencyKey: text(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.scheduleId, table.scheduledAt] }),
    index('runsByStatus').on(table.organizationId, table.status, table.id),
    index('runsToSend').on(table.sendAfter).where(sql`"sendAfter" is not null`),
    index('runsByAge').on(table.scheduledAt),
    uniqueIndex('runsByIdempotencyKey')
      .on(table.organizationId, table.scheduleId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
  ],
)

/** Spans of time in which a schedule came due unseen; the tick records their instants as skipped, in pages. */
export const missedSpans = sqliteTable(
  'missedSpans',
  {
    organizationId: text().notNull(),
    scheduleId: text().notNull(),
    /** The first instant that is not recorded yet, and the one before which the span ends. */
    missedFrom: text().notNull(),
    missedUntil: text().notNull(),
    parentType: text({ enum: ['project', 'agent'] }).notNull(),
    parentId: text().notNull(),
    /** As they were then. */
    cron: text().notNull(),
    timezone: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.scheduleId, table.missedUntil] }),
    index('missedSpansByAge').on(table.missedFrom),
  ],
)

/** The pass that computes stored next runs again (tick/refresh-next-runs.ts). Without its one row, a pass is due. */
export const nextRunRefresh = sqliteTable('nextRunRefresh', {
  id: integer().primaryKey(),
  /** When the next pass is due; while one is under way, when that was due. */
  dueAt: text().notNull(),
  /** The rowid of the last schedule that the pass has dealt with; 0 before the first. */
  cursor: integer().notNull(),
})

/** Who did what: a row for each change, written in the batch that makes it. Kept for a year. */
export const auditEvents = sqliteTable(
  'auditEvents',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    /** The operationId. */
    operation: text().notNull(),
    /** The path of what was changed. */
    target: text().notNull(),
    apiKeyId: text().notNull(),
    userId: text(),
    /** The `X-Request-Id` of the answer. */
    requestId: text().notNull(),
    createdAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.id] }),
    index('auditEventsByAge').on(table.createdAt),
  ],
)

/** Where the runs of an organization are sent. */
export const runEndpoints = sqliteTable(
  'runEndpoints',
  {
    organizationId: text().primaryKey(),
    url: text().notNull(),
    /** See crypto/sealed-value.ts. */
    sealedSecret: text().notNull(),
    /** The secret before it, which signs too until it expires. */
    previousSealedSecret: text(),
    previousExpiresAt: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** It was slow to answer, and until then its runs go through the queue of those that are. */
    slowUntil: text(),
  },
  (table) => [
    index('runEndpointsByKeyId').on(keyIdOf(table.sealedSecret)),
    index('runEndpointsByPreviousKeyId').on(keyIdOf(table.previousSealedSecret)),
  ],
)

/** The files of a session; their contents are objects in R2. */
export const sessionFiles = sqliteTable(
  'sessionFiles',
  {
    organizationId: text().notNull(),
    sessionId: text().notNull(),
    id: text().notNull(),
    path: text().notNull(),
    /** The object in R2 that holds the content. */
    objectKey: text().notNull(),
    sizeBytes: integer().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.sessionId, table.id] }),
    uniqueIndex('sessionFilesById').on(table.organizationId, table.id),
    uniqueIndex('sessionFilesByPath').on(table.organizationId, table.sessionId, table.path),
    index('sessionFilesByObjectKey').on(table.objectKey),
  ],
)

export const skills = sqliteTable(
  'skills',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    /** New with every change of the skill or its files: its entity tag. */
    revision: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** The `Idempotency-Key` that it was created under, and the fingerprint of that request's body. */
    idempotencyKey: text(),
    idempotencyFingerprint: text(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.id] }),
    uniqueIndex('skillsByName').on(table.organizationId, table.name),
    uniqueIndex('skillsByIdempotencyKey')
      .on(table.organizationId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
  ],
)

export const skillFiles = sqliteTable(
  'skillFiles',
  {
    organizationId: text().notNull(),
    skillId: text().notNull(),
    filename: text().notNull(),
    id: text().notNull(),
    content: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.skillId, table.filename] })],
)

/** A user's picture: the object that holds it, and the lease of an upload that is under way. */
export const profilePictures = sqliteTable(
  'profilePictures',
  {
    organizationId: text().notNull(),
    userId: text().notNull(),
    /** The object in R2; null until a first upload is complete. */
    objectKey: text(),
    contentType: text(),
    /** The object that the newest upload writes, and until when it may. */
    uploadingObjectKey: text(),
    leaseExpiresAt: text(),
    updatedAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.userId] }),
    index('profilePicturesByObjectKey').on(table.objectKey),
  ],
)

/** Objects in R2 that nothing refers to, yet or any more: an upload that is done spares its own, the sweep deletes the rest. */
export const orphanedObjects = sqliteTable(
  'orphanedObjects',
  {
    objectKey: text().primaryKey(),
    /** Not before this instant: nothing can still write the object then. */
    deleteAfter: text().notNull(),
  },
  (table) => [index('orphanedObjectsByDeleteAfter').on(table.deleteAfter)],
)

/** A search for objects in R2 that no row refers to, after a restore: how far it is. */
export const objectSearches = sqliteTable('objectSearches', {
  /** Objects that were written later are not looked at: an upload may be under way. */
  startedAt: text().primaryKey(),
  /** R2's cursor; null at the beginning. */
  cursor: text(),
})

export const environmentVariables = sqliteTable(
  'environmentVariables',
  {
    organizationId: text().notNull(),
    projectId: text().notNull(),
    key: text().notNull(),
    /** See crypto/sealed-value.ts. No statement of an HTTP operation selects it. */
    sealedValue: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.projectId, table.key] }),
    index('environmentVariablesByKeyId').on(keyIdOf(table.sealedValue)),
  ],
)

/**
 * The `Idempotency-Key`s of requests that set many variables at once: no single variable could remember one. Kept for
 * a day.
 */
export const variableRequests = sqliteTable(
  'variableRequests',
  {
    organizationId: text().notNull(),
    projectId: text().notNull(),
    idempotencyKey: text().notNull(),
    /** `keyId.HMAC-SHA-256` of the body, in hexadecimal: a plain digest would let values be guessed. */
    idempotencyFingerprint: text().notNull(),
    createdAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.projectId, table.idempotencyKey] }),
    index('variableRequestsByAge').on(table.createdAt),
  ],
)
