/**
 * The tables. Columns have the names of the API, and times are ISO 8601 text in UTC with milliseconds, so rows leave
 * the database as the API returns them.
 *
 * Every row of an organization has `organizationId` first in its primary key; API keys, which identify the
 * organization, have their hash. There are no foreign keys: a child is inserted by a statement that selects its parent,
 * which checks in one look-up that the parent exists in the organization.
 *
 * Drizzle cannot declare tables WITHOUT ROWID, nor triggers: the migrations do (`npm run check -- migrations` compares
 * both).
 */

import { type SQLWrapper, sql } from 'drizzle-orm'
import {
  index,
  integer,
  primaryKey,
  type SQLiteColumn,
  type SQLiteColumnBuilderBase,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import { BRAKES } from '../brakes.ts'

/** The ID of the key that sealed a value (crypto/sealed-value.ts): the text between its first two dots. */
export function keyIdOf(sealed: SQLiteColumn) {
  const rest = sql`substr(${sealed}, 4)`
  return sql<string>`substr(${rest}, 1, instr(${rest}, '.') - 1)`
}

/** When an API key ended or will end; NULL if it never does. */
export function endOf({ revokedAt, expiresAt }: Record<'revokedAt' | 'expiresAt', SQLWrapper>) {
  return sql<string | null>`coalesce(${revokedAt}, ${expiresAt})`
}

const byId = (table: { organizationId: SQLiteColumn; id: SQLiteColumn }) =>
  primaryKey({ columns: [table.organizationId, table.id] })

/**
 * The entity tag of what can be edited. Every edit by a request gives it another value. The demo's rows have the
 * default.
 */
const revision = () => text().notNull().default('0')

/** A resource of the platform that uses the service, under the ID that it has there. */
const platformResource = <Own extends Record<string, SQLiteColumnBuilderBase>>(own: Own) => ({
  organizationId: text().notNull(),
  id: text().notNull(),
  name: text().notNull(),
  ...own,
  createdAt: text().notNull(),
  updatedAt: text().notNull(),
  revision: revision(),
})

export const organizations = sqliteTable('organizations', {
  id: text().primaryKey(),
  name: text().notNull(),
  createdAt: text().notNull(),
})

/** The organizations that the tick and the queues leave alone. */
export const halts = sqliteTable('halts', {
  organizationId: text().primaryKey(),
  /**
   * Why: the operator suspended it, it is being copied to another database, it arrives from one, or it has left to one.
   */
  kind: text({ enum: ['suspended', 'leaving', 'arriving', 'left'] }).notNull(),
  /** When the halt ends by itself; null: never. */
  until: text(),
  /** The operator's words about a suspension, or the ID of the attempt to move. */
  reason: text(),
})

/** What the operator has stopped for all organizations of the database. */
export const brakes = sqliteTable('brakes', {
  kind: text({ enum: BRAKES }).primaryKey(),
  since: text().notNull(),
})

/** What the operator has stopped for one of them. */
export const organizationBrakes = sqliteTable(
  'organizationBrakes',
  {
    organizationId: text().notNull(),
    kind: text({ enum: BRAKES }).notNull(),
    since: text().notNull(),
  },
  ({ organizationId, kind }) => [primaryKey({ columns: [organizationId, kind] })],
)

/** In database 0: the database of each organization, for what has no API key or token that names it. */
export const directory = sqliteTable('directory', {
  organizationId: text().primaryKey(),
  /** The number of the database that has its rows. */
  database: integer().notNull(),
  /** During a move, the number of the database that gets them; both may refer to its objects. */
  movingTo: integer(),
})

/**
 * In database 0: what the operator's commands know about the databases of the deployment. Requests do not read it: they
 * use the bindings. Database 0 has a row only once it was closed.
 */
export const databases = sqliteTable('databases', {
  number: integer().primaryKey(),
  /** The D1 database in the account; null for database 0, which wrangler.toml names, and in a state folder. */
  name: text(),
  /** `adding` until the first deployment with it is healthy; only an `open` one gets new organizations. */
  state: text({ enum: ['adding', 'open', 'closed'] }).notNull(),
})

/**
 * The usage of each quota of an organization, except that of API keys, because no trigger sees a key expire. Triggers
 * keep it up to date (migrations/0000_initial.sql), so no statement writes it; usage.ts counts the same from the rows.
 */
export const organizationUsage = sqliteTable('organizationUsage', {
  organizationId: text().primaryKey(),
  sessions: integer().notNull().default(0),
  /** The number of session files, and the size of their contents in R2. */
  files: integer().notNull().default(0),
  bytes: integer().notNull().default(0),
  projects: integer().notNull().default(0),
  agents: integer().notNull().default(0),
  users: integer().notNull().default(0),
  pullRequests: integer().notNull().default(0),
  schedules: integer().notNull().default(0),
  skills: integer().notNull().default(0),
  /** The size of the stored contents of skill files, in UTF-8. */
  skillBytes: integer().notNull().default(0),
  variables: integer().notNull().default(0),
  /** The size of the sealed values. */
  variableBytes: integer().notNull().default(0),
})

/** API keys, found by the SHA-256 of their token; the token itself is never stored. */
export const apiKeys = sqliteTable(
  'apiKeys',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    /**
     * A session ends after 12 hours at most: that of a key for itself, with which it ends, or that of a person who signed
     * in. A grant is the key of an app that a person connected.
     */
    kind: text({ enum: ['key', 'session', 'grant'] })
      .notNull()
      .default('key'),
    /** SHA-256 of the token, in lower-case hexadecimal. */
    hash: text().primaryKey(),
    /** JSON array of scopes. */
    scopes: text().notNull(),
    /** The user that the key acts as, if any. */
    userId: text(),
    /** JSON array of the projects that the key is restricted to; null: all projects. */
    projectIds: text(),
    expiresAt: text(),
    revokedAt: text(),
    /** When it got a successor. It stays valid until the overlap ends. */
    rotatedAt: text(),
    lastUsedAt: text(),
    createdAt: text().notNull(),
    /** The `Idempotency-Key` that it was created under. Of a grant, the SHA-256 of its consent. */
    idempotencyKey: text(),
    /**
     * The API key of the request that created it, also as the successor of another; null: `npm run operate -- bootstrap` did. When
     * that key is removed, it becomes the key that created that one (maintenance/ended-keys.ts).
     */
    createdByKeyId: text(),
    /** The identity of the person who signed in, also of every key that was created from there; null: nobody did. */
    identityId: text(),
    /** The app of a grant, by its OAuth client ID, its name, and the host that it was sent back to. */
    clientId: text(),
    clientName: text(),
    redirectHost: text(),
    /** The end of a grant that its person chose. `expiresAt` is earlier unless the person signs in now and then. */
    grantEndsAt: text(),
    /** When the code of a grant was exchanged, which is done once. */
    redeemedAt: text(),
    /** The number of the database that the key moved to with its organization; null: this one decides. */
    movedTo: integer(),
    /** When the operator suspended its organization. */
    suspendedAt: text(),
  },
  (table) => [
    uniqueIndex('apiKeysById').on(table.organizationId, table.id),
    index('apiKeysUnrevoked').on(table.organizationId, table.kind, table.id).where(sql`"revokedAt" is null`),
    index('apiKeysByUser').on(table.organizationId, table.userId, table.kind, table.id).where(sql`"revokedAt" is null`),
    index('apiKeysCounted')
      .on(table.organizationId, table.expiresAt)
      .where(sql`"kind" = 'key' and "revokedAt" is null and "rotatedAt" is null`),
    index('apiKeysSessions')
      .on(table.organizationId, table.createdByKeyId, table.expiresAt)
      .where(sql`"kind" <> 'key' and "revokedAt" is null`),
    index('apiKeysByEnd')
      .on(table.kind, endOf(table))
      .where(sql`coalesce("revokedAt", "expiresAt") is not null and "movedTo" is null`),
    uniqueIndex('apiKeysByIdempotencyKey')
      .on(table.organizationId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
    // It has all columns that the search for descendants reads.
    index('apiKeysByCreator')
      .on(table.organizationId, table.createdByKeyId, table.id, table.revokedAt)
      .where(sql`"createdByKeyId" is not null`),
    index('apiKeysByIdentity')
      .on(table.organizationId, table.identityId)
      .where(sql`"identityId" is not null and "revokedAt" is null`),
  ],
)

/** A person as an identity provider knows them, and the user that they are here. */
export const identities = sqliteTable(
  'identities',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    issuer: text().notNull(),
    subject: text().notNull(),
    userId: text().notNull(),
    /** The verified e-mail address of the last sign-in, in lower case. */
    email: text(),
    role: text({ enum: ['viewer', 'member', 'admin'] }).notNull(),
    /** JSON array of the projects that the role is restricted to; null: all projects. */
    projectIds: text(),
    /** JSON array of the rules that gave the role at the last sign-in; null: the role was given to this person. */
    ruleIds: text(),
    /** The API key that gave the role to this person; like `createdByKeyId` of a rule. */
    roleByKeyId: text(),
    /** The API key whose invitation made the person an existing user; like `createdByKeyId` of a rule. */
    linkedByKeyId: text(),
    /** Since when the person cannot sign in. */
    blockedAt: text(),
    lastSignInAt: text(),
    createdAt: text().notNull(),
  },
  (table) => [
    byId(table),
    uniqueIndex('identitiesBySubject').on(table.organizationId, table.issuer, table.subject),
    index('identitiesByUser').on(table.organizationId, table.userId),
    index('identitiesByRoleKey').on(table.organizationId, table.roleByKeyId).where(sql`"roleByKeyId" is not null`),
    index('identitiesByLinkKey').on(table.organizationId, table.linkedByKeyId).where(sql`"linkedByKeyId" is not null`),
  ],
)

/** Who may sign in: people who have a claim with a value get a role. */
export const signInRules = sqliteTable(
  'signInRules',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    issuer: text().notNull(),
    claim: text().notNull(),
    value: text().notNull(),
    role: text({ enum: ['viewer', 'member', 'admin'] }).notNull(),
    /** JSON array of the projects that the role is restricted to; null: all projects. */
    projectIds: text(),
    /**
     * The API key of the request that created it or changed it last. When that key is removed, it becomes the key that
     * created that one (maintenance/ended-keys.ts).
     */
    createdByKeyId: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    revision: revision(),
  },
  (table) => [byId(table), index('signInRulesByCreator').on(table.organizationId, table.createdByKeyId)],
)

/**
 * Who may sign in by an admin's word: the person who has this verified e-mail address at this issuer, once. The next invitation
 * removes those that have ended, so that an organization has few.
 */
export const invitations = sqliteTable(
  'invitations',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    issuer: text().notNull(),
    /** ASCII letters are in lower case. */
    email: text().notNull(),
    role: text({ enum: ['viewer', 'member', 'admin'] }).notNull(),
    /** JSON array of the projects that the role is restricted to; null: all projects. */
    projectIds: text(),
    /** The existing user that the person becomes; null: a new one. */
    userId: text(),
    /** Like that of a rule. */
    createdByKeyId: text(),
    createdAt: text().notNull(),
    expiresAt: text().notNull(),
    acceptedAt: text(),
    /** Who accepted it. */
    identityId: text(),
  },
  (table) => [byId(table), index('invitationsByCreator').on(table.organizationId, table.createdByKeyId)],
)

export const users = sqliteTable('users', platformResource({}), (table) => [byId(table)])

/** What projects and agents have beside what all platform resources have. */
const described = () => platformResource({ description: text(), archivedAt: text() })

export const projects = sqliteTable('projects', described(), (table) => [byId(table)])

export const agents = sqliteTable('agents', described(), (table) => [byId(table)])

export const sessions = sqliteTable('sessions', platformResource({ projectId: text().notNull() }), (table) => [
  byId(table),
  index('sessionsByProject').on(table.organizationId, table.projectId, table.id),
  index('sessionsByCreation').on(table.organizationId, table.createdAt, table.id),
])

export const pullRequests = sqliteTable('pullRequests', platformResource({ projectId: text().notNull() }), (table) => [
  byId(table),
  index('pullRequestsByProject').on(table.organizationId, table.projectId, table.id),
  index('pullRequestsByCreation').on(table.organizationId, table.createdAt, table.id),
])

/**
 * Deleted resources. Their IDs are never used again. From the deletion on, no operation finds them or their dependents.
 * Until `finalAt`, a restoration moves the row back; then the purge removes the dependents in pages.
 */
export const deletions = sqliteTable(
  'deletions',
  {
    organizationId: text().notNull(),
    resourceType: text({
      enum: ['project', 'agent', 'session', 'pull_request', 'user', 'schedule', 'skill'],
    }).notNull(),
    resourceId: text().notNull(),
    /** The project that it belonged to, or was; the agent that a schedule belonged to. */
    projectId: text(),
    agentId: text(),
    deletedAt: text().notNull(),
    finalAt: text().notNull(),
    /** When its last dependents were removed. */
    purgedAt: text(),
    /** The public ID; null once it is final. */
    id: text(),
    /** The row that was deleted, as JSON; null once it is final. It counts towards the quotas. */
    row: text(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.resourceType, table.resourceId] }),
    index('deletionsByEnd').on(table.finalAt).where(sql`"row" is not null`),
    index('deletionsToPurge').on(table.organizationId, table.finalAt).where(sql`"purgedAt" is null and "row" is null`),
    uniqueIndex('deletionsById').on(table.organizationId, table.id).where(sql`"id" is not null`),
    index('deletionsByParent')
      .on(table.organizationId, table.projectId, table.agentId, table.id)
      .where(sql`"id" is not null`),
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
    /** Only the order matters. There are gaps, so that placing a pin writes one row. */
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
    id: text().notNull(),
    parentType: text({ enum: ['project', 'agent'] }).notNull(),
    parentId: text().notNull(),
    name: text(),
    /** Null if it fires once, at `runAt`. */
    cron: text(),
    /** Null if it fires by its cron expression. */
    runAt: text(),
    /** IANA time zone of the cron expression; `UTC` for an agent's schedule. */
    timezone: text().notNull(),
    /** `skip`: it does not fire while the run before is pending or active. */
    overlap: text({ enum: ['allow', 'skip'] })
      .notNull()
      .default('allow'),
    /** How long a run may be active; null: without a limit. */
    maxRunSeconds: integer(),
    /** How many failed runs in a row pause it; null: the default. */
    pauseAfterFailures: integer(),
    enabledAt: text(),
    lastRunAt: text(),
    nextRunAt: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** The `Idempotency-Key` that it was created under, and the fingerprint of that request's body. */
    idempotencyKey: text(),
    idempotencyFingerprint: text(),
    /** Why the service paused it; null if a request paused it, or it is enabled. */
    pausedReason: text(),
    /** What the tick writes does not change it. */
    revision: revision(),
    note: text(),
    /** JSON of up to 16 KiB, in the last column, so that reading the others does not read it. */
    payload: text(),
  },
  (table) => [
    byId(table),
    index('schedulesByParent').on(table.organizationId, table.parentType, table.parentId, table.id),
    uniqueIndex('schedulesByIdempotencyKey')
      .on(table.organizationId, table.parentType, table.parentId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
    index('schedulesDue').on(table.nextRunAt).where(sql`"nextRunAt" is not null`),
  ],
)

/** One row for each due time of a schedule, also if it was skipped. The table is the outbox too. */
export const runs = sqliteTable(
  'runs',
  {
    organizationId: text().notNull(),
    scheduleId: text().notNull(),
    /** When the run was due; for a run on request, the time of the request. */
    scheduledAt: text().notNull(),
    /** Derived from the schedule and `scheduledAt`, in order of time (resources/work/run-id.ts). */
    id: text().notNull(),
    parentType: text({ enum: ['project', 'agent'] }).notNull(),
    parentId: text().notNull(),
    status: text({ enum: ['pending', 'delivered', 'succeeded', 'failed', 'skipped'] }).notNull(),
    /** Why it failed: no receiver took it, the work failed, or its outcome did not come in time. */
    failure: text({ enum: ['delivery', 'task', 'timeout'] }),
    /** How many times it was sent or claimed. */
    attempts: integer().notNull(),
    lastError: text(),
    /** Its last delivery attempts, as JSON, the latest first (webhooks/attempts.ts); null: none. */
    lastAttempts: text(),
    /** When it is sent again; null while it is in a queue, and if it is not pending or waits to be pulled. */
    nextAttemptAt: text(),
    /** When a request sent it again. Attempts from before that count no more. */
    redeliveredAt: text(),
    /** The claim that it was taken with; null if it was delivered or acknowledged. */
    claimId: text(),
    /** The API key of the claim, with its name at that time, as JSON. */
    claimedBy: text(),
    /**
     * When the tick checks the run next (delivery/check-runs.ts); null: never. Of a pending run, when it is queued
     * (again). Of an active run, when its lease or its time ends. Of a run whose schedule is deleted, the next check and
     * that time, with a space between them.
     */
    checkAt: text(),
    /** When it was taken; when its outcome came. */
    startedAt: text(),
    finishedAt: text(),
    /** What the receiver said of the outcome, and the session in which it worked. */
    message: text(),
    sessionId: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** The `Idempotency-Key` of the request that created it. */
    idempotencyKey: text(),
  },
  (table) => [
    byId(table),
    uniqueIndex('runsBySchedule').on(table.organizationId, table.scheduleId, table.scheduledAt),
    index('runsPending').on(table.organizationId, table.id).where(sql`"status" = 'pending'`),
    index('runsToPull')
      .on(table.organizationId, table.scheduleId, table.id)
      .where(sql`"status" = 'pending' and "checkAt" is null`),
    index('runsToCheck').on(table.checkAt).where(sql`"checkAt" is not null`),
    uniqueIndex('runsByIdempotencyKey')
      .on(table.organizationId, table.scheduleId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
  ],
)

/** Periods in which the tick did not fire a schedule. The tick records their due times as skipped runs, in pages. */
export const missedSpans = sqliteTable(
  'missedSpans',
  {
    organizationId: text().notNull(),
    scheduleId: text().notNull(),
    /** The start (inclusive) and the end (exclusive) of the part that is not recorded yet. */
    missedFrom: text().notNull(),
    missedUntil: text().notNull(),
    parentType: text({ enum: ['project', 'agent'] }).notNull(),
    parentId: text().notNull(),
    /** The values at that time. */
    cron: text().notNull(),
    timezone: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.scheduleId, table.missedUntil] }),
    index('missedSpansByAge').on(table.missedFrom),
  ],
)

/**
 * Passes: daily work on every row of a table, page by page over several ticks (pass.ts). Without its row, a pass is
 * due.
 */
export const passes = sqliteTable('passes', {
  name: text().primaryKey(),
  /** When the next pass is due; during a pass, when that pass was due. */
  dueAt: text().notNull(),
  /** The key of the last row that the pass has worked on; '' before the first. */
  cursor: text().notNull(),
})

/** The last tick: one row, which each tick updates. */
export const lastTick = sqliteTable('lastTick', {
  id: integer().primaryKey(),
  /** The minute for which the tick ran. */
  scheduledAt: text().notNull(),
})

/** In database 0, if the operator gets alerts: the last tick of each database that was completed. */
export const tickReports = sqliteTable('tickReports', {
  database: integer().primaryKey(),
  /** The minute for which the tick ran. */
  scheduledAt: text().notNull(),
  /** How many calls to the database failed since the last tick without a failed call. */
  failedCalls: integer().notNull(),
})

/** In database 0: the alerts that have begun and not ended (alerts/). */
export const alerts = sqliteTable(
  'alerts',
  {
    /** The number of the database that it is about. */
    database: integer().notNull(),
    name: text({ enum: ['late', 'failing', 'size-70', 'size-85', 'size-95', 'dead-letters', 'events'] }).notNull(),
    begunAt: text().notNull(),
    /** When the operator was told; null: the next tick tries again. */
    sentAt: text(),
    /** When it ends by itself; null: when its cause is gone. */
    endsAt: text(),
  },
  (table) => [primaryKey({ columns: [table.database, table.name] })],
)

/**
 * Events: a row for each change, written in the batch of the change. Kept for a year, and the last one before that, so
 * that the sequence of an organization never begins again (maintenance/retention.ts).
 */
export const auditEvents = sqliteTable(
  'auditEvents',
  {
    organizationId: text().notNull(),
    /** The order of the commits, and the time: 1024 for each millisecond since 1970 (access/events.ts). */
    sequence: integer().notNull(),
    /** The public ID, a UUID. */
    id: text().notNull(),
    /** See access/event-types.ts, also for what the path of the resource is made from. */
    type: text().notNull(),
    resourceId: text().notNull(),
    parentId: text(),
    /** The name of the resource at that time. */
    resourceName: text(),
    /** The project that the resource belongs to, or is. */
    projectId: text(),
    /** Null if the service made the change by itself. */
    apiKeyId: text(),
    /** The name of the key at that time: the key itself is removed some time after its end. */
    apiKeyName: text(),
    userId: text(),
    /** The `X-Request-Id` of the response; null if there was no request. */
    requestId: text(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.sequence] })],
)

/** How many bytes of events an organization has, counted by the tick (maintenance/event-bytes.ts). */
export const eventUsage = sqliteTable('eventUsage', {
  organizationId: text().primaryKey(),
  /** The last event that was counted. */
  countedTo: integer().notNull(),
  /** The bytes of the events up to there. A trigger subtracts those that are removed. */
  bytes: integer().notNull(),
  /** The last event that was removed: a feed may not continue before it. */
  removedTo: integer().notNull(),
})

/** Where the runs of an organization are sent. */
export const runEndpoints = sqliteTable(
  'runEndpoints',
  {
    organizationId: text().primaryKey(),
    url: text().notNull(),
    /** See crypto/sealed-value.ts. */
    sealedSecret: text().notNull(),
    /** The previous secret, which also signs until it expires. */
    previousSealedSecret: text(),
    previousExpiresAt: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** Until when its runs go through the queue of slow run endpoints, because it responded slowly. */
    slowUntil: text(),
  },
  (table) => [
    index('runEndpointsByKeyId').on(keyIdOf(table.sealedSecret)),
    index('runEndpointsByPreviousKeyId').on(keyIdOf(table.previousSealedSecret)),
  ],
)

/** Where the events of an organization are sent. Each has its own place in them. */
export const eventEndpoints = sqliteTable(
  'eventEndpoints',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    format: text({ enum: ['standard', 'text'] }).notNull(),
    /** The URL may be a secret. */
    sealedUrl: text().notNull(),
    /** Its host and last four characters. */
    url: text().notNull(),
    /** Null for the format `text`, which has no signature. */
    sealedSecret: text(),
    /** The previous secret, which also signs until it expires. */
    previousSealedSecret: text(),
    previousExpiresAt: text(),
    /** JSON array of the types that it wants, which may end in `.*`; null: all. */
    types: text(),
    /** The project whose events it wants; null: all events. */
    projectId: text(),
    note: text(),
    /** 1 if a message may have several events. */
    batch: integer().notNull(),
    /** The number of the last event that was delivered or left out. */
    deliveredSequence: integer().notNull(),
    /** The message that is being sent: its ID, and the number of its last event. It stays the same until it is accepted. */
    messageId: text(),
    messageEnd: integer(),
    /** Who sends, and until when nobody else does; without a `leaseId`, a hint is in the queue until then. */
    leaseId: text(),
    leaseExpiresAt: text(),
    /** How many attempts failed since the last one that succeeded, since when, and when the next one is due. */
    failures: integer().notNull(),
    failingSince: text(),
    nextAttemptAt: text(),
    disabledAt: text(),
    disabledReason: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** JSON array of the last attempts, the latest first (webhooks/attempts.ts). */
    lastAttempts: text(),
  },
  (table) => [
    byId(table),
    index('eventEndpointsByUrlKeyId').on(keyIdOf(table.sealedUrl)),
    index('eventEndpointsByKeyId').on(keyIdOf(table.sealedSecret)),
    index('eventEndpointsByPreviousKeyId').on(keyIdOf(table.previousSealedSecret)),
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
    /** The `Content-Type` of the upload; null if it had none. */
    contentType: text(),
    /** SHA-256 of the content, in lower-case hexadecimal. */
    sha256: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.sessionId, table.id] }),
    uniqueIndex('sessionFilesById').on(table.organizationId, table.id),
    uniqueIndex('sessionFilesByPath').on(table.organizationId, table.sessionId, table.path),
    index('sessionFilesByObjectKey').on(table.objectKey),
  ],
)

/** Skills, with the name and the description of the current version. */
export const skills = sqliteTable(
  'skills',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    /** The current version, and the latest one that was made. */
    version: integer().notNull(),
    latestVersion: integer().notNull(),
    /** The entity tag. It changes with the current version. */
    revision: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** The `Idempotency-Key` that it was created under, and the fingerprint of that request's body. */
    idempotencyKey: text(),
    idempotencyFingerprint: text(),
  },
  (table) => [
    byId(table),
    uniqueIndex('skillsByName').on(table.organizationId, table.name),
    uniqueIndex('skillsByIdempotencyKey')
      .on(table.organizationId, table.idempotencyKey)
      .where(sql`"idempotencyKey" is not null`),
  ],
)

/** The versions of skills. A version never changes. */
export const skillVersions = sqliteTable(
  'skillVersions',
  {
    organizationId: text().notNull(),
    skillId: text().notNull(),
    version: integer().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    /** SHA-256 of the archive, in lower-case hexadecimal. */
    digest: text().notNull(),
    /** The archive: an object in R2. */
    objectKey: text().notNull(),
    archiveBytes: integer().notNull(),
    /** JSON array of the files, sorted by filename: see `StoredFile` in resources/skills/version.ts. */
    files: text().notNull(),
    message: text(),
    /** Who made it. */
    apiKeyId: text().notNull(),
    userId: text(),
    createdAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.skillId, table.version] }),
    index('skillVersionsByObjectKey').on(table.objectKey),
  ],
)

/** The contents of the files of a skill's versions. Equal contents are stored once. */
export const skillContents = sqliteTable(
  'skillContents',
  {
    organizationId: text().notNull(),
    skillId: text().notNull(),
    /** SHA-256 of the bytes, in lower-case hexadecimal. */
    sha256: text().notNull(),
    /** Text; or base64, as the encoding of the file in its version says. */
    content: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.skillId, table.sha256] })],
)

/** Feeds, found by the SHA-256 of the token in their URL; the token itself is never stored. */
export const skillFeeds = sqliteTable(
  'skillFeeds',
  {
    organizationId: text().notNull(),
    id: text().notNull(),
    hash: text().primaryKey(),
    name: text().notNull(),
    /** JSON array of `{ skillId, version }`, where the version is null for the current one; null: all skills. */
    skills: text(),
    expiresAt: text(),
    /** The feed ends with this key. A successor of the key takes over its feeds. */
    apiKeyId: text().notNull(),
    createdAt: text().notNull(),
    /** The same as for API keys. */
    movedTo: integer(),
  },
  (table) => [
    uniqueIndex('skillFeedsById').on(table.organizationId, table.id),
    index('skillFeedsByKey').on(table.organizationId, table.apiKeyId),
  ],
)

/** A user's picture: its object, and the lease of an upload in progress. */
export const profilePictures = sqliteTable(
  'profilePictures',
  {
    organizationId: text().notNull(),
    userId: text().notNull(),
    /** The object in R2; null until a first upload is complete. */
    objectKey: text(),
    contentType: text(),
    /** The object that the newest upload writes, and when its lease expires. */
    uploadingObjectKey: text(),
    leaseExpiresAt: text(),
    updatedAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.userId] }),
    index('profilePicturesByObjectKey').on(table.objectKey),
  ],
)

/**
 * Objects in R2 without a row that refers to them. A completed upload removes its object from here; the sweep deletes
 * the others.
 */
export const orphanedObjects = sqliteTable(
  'orphanedObjects',
  {
    objectKey: text().primaryKey(),
    /** When the sweep may delete the object: no upload can write it any more. */
    deleteAfter: text().notNull(),
  },
  (table) => [index('orphanedObjectsByDeleteAfter').on(table.deleteAfter)],
)

/** The progress of the search for orphaned objects in R2 after a restore. */
export const objectSearches = sqliteTable('objectSearches', {
  /** Objects that were written later are skipped: their upload may be in progress. */
  startedAt: text().primaryKey(),
  /** R2's cursor; null at the start. */
  cursor: text(),
})

export const environmentVariables = sqliteTable(
  'environmentVariables',
  {
    organizationId: text().notNull(),
    projectId: text().notNull(),
    key: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** See crypto/sealed-value.ts. Of the HTTP operations, only a lease selects it. */
    sealedValue: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.projectId, table.key] }),
    index('environmentVariablesByKeyId').on(keyIdOf(table.sealedValue)),
  ],
)

/**
 * The `Idempotency-Key`s of requests that set several variables, which no single variable could store. Kept for a day.
 */
export const variableRequests = sqliteTable(
  'variableRequests',
  {
    organizationId: text().notNull(),
    projectId: text().notNull(),
    idempotencyKey: text().notNull(),
    /** `keyId.HMAC-SHA-256` of the body, in hexadecimal. With a plain hash, values could be guessed. */
    idempotencyFingerprint: text().notNull(),
    createdAt: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.projectId, table.idempotencyKey] }),
    index('variableRequestsByAge').on(table.createdAt),
  ],
)
