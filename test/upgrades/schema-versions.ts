/**
 * The rows of every schema version. A migration that changes what the service writes begins a version: add it
 * here, with what it makes of existing rows, and with new rows.
 */
import { env } from 'cloudflare:workers'
import { hashToken, mintToken } from '../../src/access/api-key.ts'
import { sha256 } from '../../src/crypto/digest.ts'
import { initial } from './0000-initial.ts'
import { resourceLives } from './0001-resource-lives.ts'
import { schedulesFire } from './0002-schedules-fire.ts'
import {
  ACME,
  asTheyAre,
  CHANGED,
  ICONS,
  MOBILE,
  type Rows,
  type SchemaVersion,
  uuid,
  WEBSITE,
  WRITTEN,
} from './schema-version.ts'

const auditEvents: SchemaVersion = {
  migration: '0003_audit_events.sql',
  becomes: asTheyAre,
  rows: {
    auditEvents: [
      {
        organizationId: ACME,
        id: uuid(3001),
        operation: 'deleteEnvironmentVariable',
        target: `/v1/projects/${encodeURIComponent(MOBILE)}/environment-variables/TOKEN`,
        apiKeyId: uuid(21),
        userId: 'ada',
        requestId: uuid(3002),
        createdAt: WRITTEN,
      },
      {
        organizationId: ACME,
        id: uuid(3003),
        operation: 'createProjectSchedule',
        target: `/v1/projects/${WEBSITE}/schedules/${uuid(404)}`,
        apiKeyId: uuid(1021),
        requestId: uuid(3004),
        createdAt: CHANGED,
      },
    ],
  },
}

const objectSearches: SchemaVersion = {
  migration: '0006_object_searches.sql',
  becomes: asTheyAre,
  rows: { objectSearches: [{ startedAt: WRITTEN, cursor: btoa('a') }, { startedAt: CHANGED }] },
}

const nextRunRefresh: SchemaVersion = {
  migration: '0007_next_run_refresh.sql',
  becomes: asTheyAre,
  rows: { nextRunRefresh: [{ id: 1, dueAt: CHANGED, cursor: 2 }] },
}

const INITECH = uuid(4)

const slowRunEndpoints: SchemaVersion = {
  migration: '0009_slow_run_endpoints.sql',
  becomes: asTheyAre,
  rows: {
    organizations: [{ id: INITECH, name: 'Initech', createdAt: WRITTEN }],
    runEndpoints: [
      {
        organizationId: INITECH,
        url: 'https://hooks.example.com/initech',
        sealedSecret:
          'v1.test.BrqKFZN1CmGE0KYp.6V7hzSNY48hN4ayb_kZLSmXwliXTQZPRMyZlRpSYzoIXd-RfPt15YlbcqFvS4qS868_x6bSkId0PPwFhR73xaxpQ',
        createdAt: WRITTEN,
        updatedAt: WRITTEN,
        slowUntil: CHANGED,
      },
    ],
  },
}

const apiKeyDescendants: SchemaVersion = {
  migration: '0010_api_key_descendants.sql',
  becomes: asTheyAre,
  rows: {
    apiKeys: [
      {
        organizationId: ACME,
        id: uuid(4021),
        name: 'created with another key',
        hash: hashToken(mintToken()),
        scopes: '["pins:read"]',
        userId: 'ada',
        createdAt: CHANGED,
        createdByKeyId: uuid(21),
      },
    ],
  },
}

/** What can be edited, of earlier versions, has the revision 0 until its next edit. */
const revisions: SchemaVersion = {
  migration: '0011_revisions.sql',
  becomes: (rows) => {
    const edited = ['agents', 'projects', 'pullRequests', 'schedules', 'sessions', 'users']
    const withRevision = edited.map((table) => [
      table,
      (rows[table] ?? []).map((row) => ({ ...row, revision: '0' })),
    ])
    return { ...rows, ...Object.fromEntries(withRevision) }
  },
  rows: {
    users: [
      {
        organizationId: INITECH,
        id: 'peter',
        name: 'Peter',
        createdAt: WRITTEN,
        updatedAt: CHANGED,
        revision: '7d1e4c70a3529b3f',
      },
    ],
  },
}

const CONTENT_OF_LOG = `session-files/${ACME}/${uuid(5002)}`

const sessionFileDetails: SchemaVersion = {
  migration: '0012_session_file_details.sql',
  becomes: asTheyAre,
  rows: {
    sessionFiles: [
      {
        organizationId: ACME,
        sessionId: ICONS,
        id: uuid(5001),
        path: 'build.log',
        objectKey: CONTENT_OF_LOG,
        sizeBytes: 5,
        createdAt: WRITTEN,
        updatedAt: CHANGED,
        contentType: 'text/plain; charset="utf-8"',
        sha256: sha256('done\n'),
      },
    ],
  },
  objects: { [CONTENT_OF_LOG]: 'done\n' },
}

const lastTick: SchemaVersion = {
  migration: '0013_last_tick.sql',
  becomes: asTheyAre,
  rows: { lastTick: [{ id: 1, scheduledAt: CHANGED }] },
}

export const schemaVersions: readonly SchemaVersion[] = [
  initial,
  resourceLives,
  schedulesFire,
  auditEvents,
  objectSearches,
  nextRunRefresh,
  slowRunEndpoints,
  apiKeyDescendants,
  revisions,
  sessionFileDetails,
  lastTick,
]

/** The names of the migrations, in order. */
export const MIGRATIONS = env.MIGRATIONS.map(({ name }) => name)

/** The schema versions up to a migration. */
export function schemaVersionsUntil(migration: string): SchemaVersion[] {
  return schemaVersions.filter(
    (version) => MIGRATIONS.indexOf(version.migration) <= MIGRATIONS.indexOf(migration),
  )
}

/** The rows of a database whose newest migration this is, as its service left them. */
export function rowsAt(migration: string): Rows {
  return schemaVersionsUntil(migration).reduce<Rows>(
    (rows, version) => withRows(version.becomes(rows), version.rows),
    {},
  )
}

/** What a migration makes of rows. */
export function rowsAfter(migration: string, rows: Rows): Rows {
  return schemaVersions.find((version) => version.migration === migration)?.becomes(rows) ?? rows
}

function withRows(rows: Rows, more: Rows): Rows {
  const tables = [...new Set([...Object.keys(rows), ...Object.keys(more)])]
  return Object.fromEntries(tables.map((table) => [table, [...(rows[table] ?? []), ...(more[table] ?? [])]]))
}
