/** How many bytes a row takes in the database, with its indexes: in SQLite, on pages as D1 has them. */
import { DatabaseSync } from 'node:sqlite'
import { insert, type Row, schema } from './data.ts'

export interface Size {
  readonly name: string
  /** The bytes of a usual row. */
  readonly bytes: number
  /** The bytes of a row whose texts are as long as they may be. */
  readonly mostBytes: number
}

const ROWS = 50_000
/** They are alike, so fewer will do. */
const MAX_ROWS = 500
const ORGANIZATIONS = 100

/** As the service makes them: the rows of many organizations come in turn, ids in order of time. */
const ORGANIZATION = `printf('0198c2a4-0000-7000-8000-%012x', v % ${ORGANIZATIONS})`
const MADE_ID = "printf('0198c2a4-%04x-7c3a-9b52-%012x', v / 65536, v)"
const GIVEN_ID = uuid()
/** In order of time. */
const RUN_ID = "printf('019d37f9-%04x-8c3a-9b52-', v / 1000) || lower(hex(randomblob(6)))"
const NOW = "'2026-03-29T01:00:00.000Z'"
const TIMES = { createdAt: NOW, updatedAt: NOW }
const OBJECT_KEY = uuid()
const NAME = "'Fix the flaky checkout test'"

/** A text of so many characters, each of the four bytes that one may have in UTF-8, apart from a number in front. */
const longest = (characters: number) =>
  `(printf('%08d', v) || replace(hex(zeroblob(${characters - 8})), '00', char(128512)))`
/** The same of one byte each. */
const longestName = (characters: number) => `printf('%0${characters}d', v)`
/** IDs of projects and users, and names. */
const MAX_ID_LENGTH = longest(255)
const MAX_NAME_LENGTH = longest(255)

/** The column `files` of a version with 5 files. */
const FILES_OF_A_VERSION = `json_array(${Array.from(
  { length: 5 },
  (_, index) => `json_object('id', ${uuid()}, 'filename', 'references/part-${index}.md',
    'sha256', lower(hex(randomblob(32))), 'sizeBytes', 2000, 'encoding', 'utf-8', 'executable', json('false'))`,
).join(', ')})`

/** A usual row, and what the longest has besides. */
interface Kind {
  readonly table: string
  readonly row: Row
  readonly longest: Row
}

const NAMED: Row = { organizationId: ORGANIZATION, id: GIVEN_ID, name: NAME, ...TIMES }

const ROW_OF: Readonly<Record<string, Kind>> = {
  project: { table: 'projects', row: NAMED, longest: { id: MAX_ID_LENGTH, name: MAX_NAME_LENGTH } },
  agent: { table: 'agents', row: NAMED, longest: { name: MAX_NAME_LENGTH } },
  user: { table: 'users', row: NAMED, longest: { id: MAX_ID_LENGTH, name: MAX_NAME_LENGTH } },
  session: {
    table: 'sessions',
    row: { ...NAMED, projectId: GIVEN_ID },
    longest: { projectId: MAX_ID_LENGTH, name: MAX_NAME_LENGTH },
  },
  'pull request': {
    table: 'pullRequests',
    row: { ...NAMED, projectId: GIVEN_ID },
    longest: { projectId: MAX_ID_LENGTH, name: MAX_NAME_LENGTH },
  },
  'API key': {
    table: 'apiKeys',
    row: {
      organizationId: ORGANIZATION,
      id: MADE_ID,
      name: "'CI of the checkout'",
      hash: 'lower(hex(randomblob(32)))',
      scopes: `'["sessions:read","sessions:write"]'`,
      userId: "'ada'",
      createdAt: NOW,
    },
    // The body of a request that makes one has up to 64 KiB.
    longest: { userId: MAX_ID_LENGTH, name: MAX_NAME_LENGTH, projectIds: longestName(63_000) },
  },
  'session file': {
    table: 'sessionFiles',
    row: {
      organizationId: ORGANIZATION,
      sessionId: `printf('0198c2a4-0000-7000-8000-%012x', v / 1000)`,
      id: MADE_ID,
      path: `'src/checkout/module-' || v || '.ts'`,
      objectKey: OBJECT_KEY,
      sizeBytes: '10000',
      ...TIMES,
      contentType: "'text/plain; charset=utf-8'",
      sha256: 'lower(hex(randomblob(32)))',
    },
    longest: { path: longest(1000), contentType: longestName(255) },
  },
  schedule: {
    table: 'schedules',
    row: {
      organizationId: ORGANIZATION,
      parentType: "'project'",
      parentId: GIVEN_ID,
      id: MADE_ID,
      cron: "'30 9 * * mon-fri'",
      timezone: "'Europe/Paris'",
      enabledAt: NOW,
      nextRunAt: NOW,
      ...TIMES,
    },
    longest: {
      parentId: MAX_ID_LENGTH,
      cron: longestName(255),
      idempotencyKey: longest(255),
      idempotencyFingerprint: longestName(64),
    },
  },
  run: {
    table: 'runs',
    row: {
      organizationId: ORGANIZATION,
      scheduleId: `printf('0198c2a4-0000-7000-8000-%012x', v % 1000)`,
      scheduledAt: "strftime('%Y-%m-%dT%H:%M:%fZ', 1774746000 + v / 1000 * 60, 'unixepoch')",
      id: RUN_ID,
      parentType: "'project'",
      parentId: GIVEN_ID,
      status: "'delivered'",
      attempts: '1',
      ...TIMES,
    },
    longest: { parentId: MAX_ID_LENGTH, idempotencyKey: longest(255) },
  },
  'audit event': {
    table: 'auditEvents',
    row: {
      organizationId: ORGANIZATION,
      sequence: '1817000000000000 + v',
      id: MADE_ID,
      type: "'session-file.created'",
      resourceId: GIVEN_ID,
      parentId: GIVEN_ID,
      resourceName: "'src/checkout/cart.ts'",
      projectId: "'website'",
      apiKeyId: GIVEN_ID,
      apiKeyName: "'CI of the checkout'",
      userId: "'ada'",
      requestId: GIVEN_ID,
    },
    longest: {
      resourceName: longest(1000),
      projectId: MAX_ID_LENGTH,
      apiKeyName: MAX_NAME_LENGTH,
      userId: MAX_ID_LENGTH,
    },
  },
  deletion: {
    table: 'deletions',
    row: {
      organizationId: ORGANIZATION,
      resourceType: "'session'",
      resourceId: GIVEN_ID,
      projectId: GIVEN_ID,
      deletedAt: NOW,
      finalAt: NOW,
      purgedAt: NOW,
    },
    longest: { resourceId: MAX_ID_LENGTH },
  },
  'environment variable of 100 bytes': {
    table: 'environmentVariables',
    row: {
      organizationId: ORGANIZATION,
      projectId: `printf('0198c2a4-0000-7000-8000-%012x', v / 100)`,
      key: "'VARIABLE_' || v",
      sealedValue: "'v1.key-1.' || hex(randomblob(90))",
      ...TIMES,
    },
    longest: { projectId: MAX_ID_LENGTH, key: longestName(255) },
  },
  skill: {
    table: 'skills',
    row: {
      organizationId: ORGANIZATION,
      id: MADE_ID,
      name: "'skill-' || v",
      description: "'Writes release notes from merged pull requests.'",
      version: '1',
      latestVersion: '1',
      revision: GIVEN_ID,
      ...TIMES,
    },
    longest: {
      name: longestName(64),
      description: longest(1024),
      idempotencyKey: longest(255),
      idempotencyFingerprint: longestName(64),
    },
  },
  'version of a skill of 5 files': {
    table: 'skillVersions',
    row: {
      organizationId: ORGANIZATION,
      skillId: GIVEN_ID,
      version: '1',
      name: "'skill-' || v",
      description: "'Writes release notes from merged pull requests.'",
      digest: 'lower(hex(randomblob(32)))',
      objectKey: OBJECT_KEY,
      archiveBytes: '5000',
      files: FILES_OF_A_VERSION,
      message: "'List breaking changes first.'",
      apiKeyId: GIVEN_ID,
      createdAt: NOW,
    },
    longest: {
      name: longestName(64),
      description: longest(1024),
      // 500 files with the longest names.
      files: longestName(225_000),
      message: longest(255),
      userId: MAX_ID_LENGTH,
    },
  },
  'content of a file of a skill of 2 KB': {
    table: 'skillContents',
    row: {
      organizationId: ORGANIZATION,
      skillId: `printf('0198c2a4-0000-7000-8000-%012x', v / 5)`,
      sha256: 'lower(hex(randomblob(32)))',
      content: 'hex(randomblob(1000))',
    },
    longest: {},
  },
  pin: {
    table: 'pins',
    row: {
      organizationId: ORGANIZATION,
      userId: "'user-' || v / 50",
      resourceType: "'session'",
      resourceId: GIVEN_ID,
      position: 'v * 1073741824',
      createdAt: NOW,
    },
    longest: { userId: MAX_ID_LENGTH },
  },
}

/** The bytes of each kind of row, over many rows. */
export function sizes(): Size[] {
  return Object.entries(ROW_OF).map(([name, { table, row, longest }]) => ({
    name,
    bytes: bytesEach(table, row, ROWS),
    mostBytes: bytesEach(table, { ...row, ...longest }, MAX_ROWS),
  }))
}

function bytesEach(table: string, row: Row, rows: number): number {
  const database = new DatabaseSync(':memory:')
  for (const statement of schema()) database.exec(statement)
  const before = bytesOf(database)
  database.exec(insert(table, rows, row))
  const bytes = (bytesOf(database) - before) / rows
  database.close()
  return bytes
}

function bytesOf(database: DatabaseSync): number {
  const row = database
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()')
    .get()
  return Number(row?.bytes)
}

function uuid(): string {
  const part = (bytes: number) => `lower(hex(randomblob(${bytes})))`
  return [4, 2, 2, 2, 6].map(part).join(` || '-' || `)
}
