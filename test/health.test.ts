import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { createApp } from '../src/app.ts'
import { ORIGIN, PREFIX, request } from './support/api.ts'
import { failingDatabase, watchedDatabase } from './support/bindings.ts'
import { databaseNumber, deployed, env } from './support/env.ts'
import { Workspace } from './support/workspace.ts'

const BASE_PATHS = ['', PREFIX]
const isSeveral = env.DATABASES > 1
const WELL = {
  database: 'answers',
  schema: 'current',
  ...(isSeveral && { databases: env.DATABASES }),
  encryptionKeys: 'configured',
}
/** What the message calls the database of the tests. */
const named = () => (isSeveral ? ` ${databaseNumber()}` : '')
const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

/** The test's database, where the table of applied migrations answers with other rows. */
function databaseMigratedBy(rows: string): D1Database {
  return {
    prepare: (sql: string) =>
      env.DB.prepare(
        sql.includes('d1_migrations') ? sql.replace(/"?d1_migrations"?/, `(${rows}) as "d1_migrations"`) : sql,
      ),
    batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements),
  } as unknown as D1Database
}

describe.each(BASE_PATHS)('%s/health', (basePath) => {
  const path = `${basePath}/health`

  it('answers 200 without a key, and asks for none', async () => {
    for (const options of [{}, { key: 'nonsense' }]) {
      const answer = await request('GET', path, options)
      expect([answer.status, answer.body]).toEqual([200, WELL])
    }
  })

  it('answers 503 in the one error shape if the database fails, and says nothing of the failure', async () => {
    const DB = failingDatabase(new Error('D1_ERROR: secret of the engine'))
    const answer = await request('GET', path, { environment: { DB } })
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: `The database${named()} does not answer. Retry after 5 seconds.` },
    ])
    expect(answer.body.error).not.toContain('secret')
    expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/)
  })

  it.each([
    ['missing', undefined as never],
    ['empty', ''],
    ['without an id', KEY],
    ['of 31 bytes', `a:${btoa('x'.repeat(31))}`],
    ['of 33 bytes', `a:${btoa('x'.repeat(33))}`],
    ['no base64', `a:${'!'.repeat(44)}`],
    ['one well and one not', `a:${KEY},b`],
    ['two with one id', `a:${KEY},a:${KEY}`],
    ['with a comma at the end', `a:${KEY},`],
  ])('answers 503 if ENCRYPTION_KEYS is %s, and repeats nothing of it', async (_name, ENCRYPTION_KEYS) => {
    const answer = await request('GET', path, { environment: { ENCRYPTION_KEYS } })
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: 'ENCRYPTION_KEYS is not configured. Retry after 5 seconds.' },
    ])
    expect(answer.body.error).not.toContain(KEY)
  })

  it.each([
    ['older', `select 1 as "id", '0000_older.sql' as "name"`],
    ['empty', `select 1 as "id", '' as "name" where false`],
  ])('answers 503 if the schema is %s, and says what to apply', async (_name, rows) => {
    const answer = await request('GET', path, { environment: { DB: databaseMigratedBy(rows) } })
    expect([answer.status, answer.body]).toEqual([
      503,
      {
        error: expect.stringMatching(
          /^The schema( of the database \d)? is not current: apply the migrations up to \d{4}_\w+\.sql\./,
        ),
      },
    ])
  })

  it('answers 200 if the database is ahead of the code, as it is while a deployment goes on', async () => {
    const DB = databaseMigratedBy(`select "name" from "d1_migrations" union all select '9999_newer.sql'`)
    const answer = await request('GET', path, { environment: { DB } })
    expect([answer.status, answer.body]).toEqual([200, WELL])
  })

  it('answers 503 if no migration was ever applied', async () => {
    const DB = databaseMigratedBy('select * from "no_such_table"')
    const answer = await request('GET', path, { environment: { DB } })
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: expect.stringMatching(/^The schema.* is not current/) },
    ])
  })

  it('answers GET and HEAD only', async () => {
    const answer = await request('POST', path)
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('says nothing of what is stored, and writes nothing', async () => {
    const workspace = await Workspace.create()
    const use = watchedDatabase()
    const answer = await request('GET', path, { environment: { DB: use.DB } })
    expect(JSON.stringify(answer.body)).not.toContain(workspace.organizationId)
    expect(use.rowsWritten).toBe(0)
  })
})

describe('/openapi.json', () => {
  async function openapi(path: string, method = 'GET', headers: Record<string, string> = {}) {
    const context = createExecutionContext()
    const response = await createApp().fetch(new Request(ORIGIN + path, { method, headers }), deployed(env), context)
    await waitOnExecutionContext(context)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  it('is served at both base paths as application/json, without a key, and is one text', async () => {
    const [plain, prefixed, again] = await Promise.all([
      openapi('/openapi.json'),
      openapi(`${PREFIX}/openapi.json`),
      openapi('/openapi.json'),
    ])
    for (const { status, headers } of [plain, prefixed, again]) {
      expect([status, headers.get('Content-Type')]).toEqual([200, 'application/json'])
      expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect(prefixed.text).toBe(plain.text)
    expect(again.text).toBe(plain.text)
  })

  it('answers 304 to who has it already', async () => {
    const first = await openapi('/openapi.json')
    const ETag = first.headers.get('ETag') ?? ''
    const again = await openapi(`${PREFIX}/openapi.json`, 'GET', { 'If-None-Match': ETag })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  it('describes the seven operations, in OpenAPI 3.1', async () => {
    const { body } = await request('GET', '/openapi.json')
    expect(body.openapi).toMatch(/^3\.1\./)
    expect(body.info.version).toBe('1.0.0')
    const operations = Object.entries<object>(body.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(operations).toEqual(
      expect.arrayContaining([
        'PATCH /v1/pins/{resourceType}/{resourceId}',
        'POST /v1/projects/{projectId}/schedules',
        'POST /v1/agents/{agentId}/schedules',
        'GET /v1/sessions/{sessionId}/files',
        'GET /v1/skills/{skillId}',
        'DELETE /v1/users/{userId}/profile-picture',
        'DELETE /v1/projects/{projectId}/environment-variables/{key}',
      ]),
    )
    expect(body.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' })
  })

  it('answers GET and HEAD only', async () => {
    const head = await openapi('/openapi.json', 'HEAD')
    expect([head.status, head.text]).toEqual([200, ''])
    const answer = await request('POST', '/openapi.json')
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  })
})
