/** How many bytes a row takes in the database, with its indexes: in SQLite, on pages as D1 has them. */
import { DatabaseSync } from 'node:sqlite'
import { insert, type Row, schema } from './data.ts'

export interface Size {
  readonly name: string
  readonly bytes: number
}

const ROWS = 50_000
const ORGANIZATIONS = 100

/** As the service makes them: the rows of many organizations come in turn, ids in order of time. */
const ORGANIZATION = `printf('0198c2a4-0000-7000-8000-%012x', v % ${ORGANIZATIONS})`
const MADE_ID = "printf('0198c2a4-%04x-7c3a-9b52-%012x', v / 65536, v)"
const GIVEN_ID = uuid()
const NOW = "'2026-03-29T01:00:00.000Z'"
const TIMES = { createdAt: NOW, updatedAt: NOW }
const OBJECT_KEY = uuid()
const NAME = "'Fix the flaky checkout test'"

const ROW_OF: Readonly<Record<string, { readonly table: string; readonly row: Row }>> = {
  session: {
    table: 'sessions',
    row: { organizationId: ORGANIZATION, id: GIVEN_ID, projectId: GIVEN_ID, name: NAME, ...TIMES },
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
    },
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
  },
  run: {
    table: 'runs',
    row: {
      organizationId: ORGANIZATION,
      scheduleId: `printf('0198c2a4-0000-7000-8000-%012x', v % 1000)`,
      scheduledAt: "strftime('%Y-%m-%dT%H:%M:%fZ', 1774746000 + v / 1000 * 60, 'unixepoch')",
      id: GIVEN_ID,
      parentType: "'project'",
      parentId: GIVEN_ID,
      status: "'delivered'",
      attempts: '1',
      ...TIMES,
    },
  },
  'event of the audit trail': {
    table: 'auditEvents',
    row: {
      organizationId: ORGANIZATION,
      id: MADE_ID,
      operation: "'putSessionFile'",
      target: `'/v1/sessions/' || ${GIVEN_ID} || '/files'`,
      apiKeyId: GIVEN_ID,
      userId: "'ada'",
      requestId: GIVEN_ID,
      createdAt: NOW,
    },
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
  },
  'file of a skill of 2 KB': {
    table: 'skillFiles',
    row: {
      organizationId: ORGANIZATION,
      skillId: `printf('0198c2a4-0000-7000-8000-%012x', v / 5)`,
      filename: "'reference-' || v || '.md'",
      id: MADE_ID,
      content: 'hex(randomblob(1000))',
    },
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
  },
}

/** Of each kind, over many rows. */
export function sizes(): Size[] {
  return Object.entries(ROW_OF).map(([name, { table, row }]) => {
    const database = new DatabaseSync(':memory:')
    for (const statement of schema()) database.exec(statement)
    const before = bytesOf(database)
    database.exec(insert(table, ROWS, row))
    const bytes = (bytesOf(database) - before) / ROWS
    database.close()
    return { name, bytes }
  })
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
