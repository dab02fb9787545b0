/** A deployment with three databases: here the organization of a test is in each of them in turn. */
import { applyD1Migrations } from 'cloudflare:test'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { insertPlace } from '../../operate/provisioning.ts'
import { bindingOf } from '../../src/db/database.ts'
import { bind } from '../../src/db/statement.ts'
import type { Message } from '../../src/environment.ts'
import * as scheduled from '../../src/scheduled.ts'
import { request } from '../support/api.ts'
import { databaseWith, failingDatabase, watchedDatabase } from '../support/bindings.ts'
import { env } from '../support/env.ts'
import { examples, send } from '../support/examples.ts'
import { newToken } from '../support/tokens.ts'
import { Workspace } from '../support/workspace.ts'

const NUMBERS = [0, 1, 2]
const DAY_MS = 86_400_000
const THE_SEVEN = [
  'updatePin',
  'createProjectSchedule',
  'createAgentSchedule',
  'listSessionFiles',
  'retrieveSkill',
  'deleteProfilePicture',
  'deleteEnvironmentVariable',
]

type Databases = Readonly<Record<string, D1Database>>

/** The bindings where the database of the test has this number, and two other ones the rest. */
function deployment(own: number, database: D1Database = env.DB, others = [env.SECOND_DB, env.THIRD_DB]): Databases {
  const rest = NUMBERS.filter((number) => number !== own).map((number, index) => [bindingOf(number), others[index]])
  return { ...Object.fromEntries(rest), [bindingOf(own)]: database }
}

/** Says in the directory of the deployment where an organization is. */
async function place({ organizationId }: Workspace, database: number, movingTo: number | null = null): Promise<void> {
  const { DB } = deployment(database) as { DB: D1Database }
  await bind(DB, insertPlace, { organizationId, database }).run()
  await DB.prepare('UPDATE "directory" SET "movingTo" = ? WHERE "organizationId" = ?')
    .bind(movingTo, organizationId)
    .run()
}

/** A watched database that is the test's, and one that nothing may ask. */
const untouched = () => databaseWith(() => Promise.reject(new Error('This database has nothing to do with it')))

beforeAll(async () => {
  for (const database of [env.SECOND_DB, env.THIRD_DB]) await applyD1Migrations(database, env.MIGRATIONS)
})
beforeEach(async () => {
  for (const database of [env.SECOND_DB, env.THIRD_DB]) {
    const tables = ['directory', 'apiKeys', 'lastTick', 'objectSearches', 'orphanedObjects']
    await database.batch(tables.map((table) => database.prepare(`DELETE FROM "${table}"`)))
  }
})

// With `DATABASES=3`, the database of the tests has another number already.
describe.skipIf(env.DATABASES > 1)('with three databases', () => {
  describe.each(NUMBERS)('the organizations of database %i', (number) => {
    it.each(THE_SEVEN)(
      'have %s in one call, the first of a key too, and no other database is asked',
      async (operationId) => {
        const workspace = await Workspace.create()
        const row = examples[operationId]
        if (!row) throw new Error(operationId)
        const example = await row.prepare(workspace)
        const key = await workspace.addKey({ ...example.keyOptions, database: number })
        for (const calls of [2, 1]) {
          const again = await row.prepare(workspace)
          const use = watchedDatabase()
          const environment = deployment(number, use.DB, [untouched(), untouched()])
          const { status } = await send(
            operationId,
            { ...again, environment: { ...again.environment, ...environment } },
            key,
          )
          expect(status).toBeLessThan(300)
          // The first use within the hour is noted after the response.
          expect(use.calls).toBe(calls)
        }
      },
    )

    it('are unknown to a key that names another database', async () => {
      const workspace = await Workspace.create()
      const other = NUMBERS.find((each) => each !== number) ?? 0
      const key = await workspace.addKey({ database: other })
      expect((await request('GET', '/v1/me', { key, environment: deployment(number) })).status).toBe(401)
    })

    it('have feeds whose address names it', async () => {
      const workspace = await Workspace.create()
      const environment = deployment(number)
      await workspace.addSkill({ name: 'release-notes' })
      const key = await workspace.addKey({ database: number })
      const { body } = await request('POST', '/v1/skill-feeds', { key, json: { name: 'Laptops' }, environment })
      const { pathname } = new URL(body.url)
      expect(pathname).toMatch(new RegExp(`/wsf${number || ''}_`))
      const index = `${pathname}/.well-known/agent-skills/index.json`
      const { status, body: feed } = await request('GET', index, { environment })
      expect([status, feed.skills.length]).toEqual([200, 1])
    })

    it('give the keys that they create its number', async () => {
      const workspace = await Workspace.create()
      const environment = deployment(number)
      const key = await workspace.addKey({ database: number })
      const json = { name: 'ci', scopes: ['skills:read'] }
      const { body } = await request('POST', '/v1/api-keys', { key, json, environment })
      expect(body.token.split('_')[0]).toBe(`wsk${number || ''}`)
      expect((await request('GET', '/v1/me', { key: body.token, environment })).status).toBe(200)
    })
  })

  it('a key that names a database that the deployment lacks is as unknown as any other, without a call', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ database: 3 })
    const use = watchedDatabase()
    const { status, headers } = await request('GET', '/v1/me', { key, environment: deployment(0, use.DB) })
    expect([status, headers.get('Error-Code'), use.calls]).toEqual([401, 'api_key_invalid', 0])
  })

  describe('a key whose organization moved from database 1 to the one of the test, 2', () => {
    async function withMoved() {
      const workspace = await Workspace.create()
      const { id, token: key } = await workspace.addKeyWithId({ database: 1 })
      const row = (await workspace.dump('apiKeys')).find((each) => each.id === id) ?? {}
      const columns = Object.keys(row)
      const insert = `INSERT INTO "apiKeys" (${columns.map((name) => `"${name}"`)}) VALUES (${columns.map(() => '?')})`
      const values = columns.map((name) => (name === 'movedTo' ? 2 : row[name]))
      await env.THIRD_DB.prepare(insert)
        .bind(...values)
        .run()
      const counted = async (asked: string = key, path = '/v1/me') => {
        const [source, target] = [{ calls: 0 }, watchedDatabase()]
        const SOURCE = databaseWith((statements) => {
          source.calls++
          return env.THIRD_DB.batch(statements)
        })
        const environment = { DB: untouched(), DB_1: fromThird(SOURCE), DB_2: target.DB }
        const { status, headers, body } = await request('GET', path, { key: asked, environment })
        return { status, code: headers.get('Error-Code'), body, calls: [source.calls, target.calls] }
      }
      return { workspace, id, key, counted }
    }
    const fromThird = (database: D1Database) =>
      ({ ...database, prepare: (sql: string) => env.THIRD_DB.prepare(sql) }) as D1Database

    it('costs one call more once, and then none', async () => {
      const { workspace, counted } = await withMoved()
      const first = await counted()
      expect([first.status, first.body.organization.id]).toEqual([200, workspace.organizationId])
      expect(first.calls).toEqual([1, 2])
      expect((await counted()).calls).toEqual([0, 1])
    })

    it.each([true, false])(
      'is refused from the next request on when it is revoked there (used before: %s)',
      async (used) => {
        const { workspace, id, counted } = await withMoved()
        if (used) await counted()
        await workspace.revokeKey(id)
        expect(await counted()).toMatchObject({ status: 401, code: 'api_key_revoked' })
      },
    )

    it('changes nothing where it was', async () => {
      const { workspace, key } = await withMoved()
      const environment = { DB: untouched(), DB_1: env.THIRD_DB, DB_2: env.DB }
      const before = await env.THIRD_DB.prepare('SELECT * FROM "apiKeys"').all()
      const json = { name: 'Website' }
      expect((await request('PUT', '/v1/projects/website', { key, json, environment })).status).toBe(201)
      expect((await env.THIRD_DB.prepare('SELECT * FROM "apiKeys"').all()).results).toEqual(before.results)
      expect((await env.THIRD_DB.prepare('SELECT * FROM "projects"').all()).results).toEqual([])
      expect(await workspace.dump('projects')).toMatchObject([{ id: 'website' }])
    })

    it('is followed back to the database that its token names', async () => {
      const { workspace, id, key, counted } = await withMoved()
      await counted()
      // It returned: what the isolate remembers is not so any more.
      await env.DB.prepare('UPDATE "apiKeys" SET "movedTo" = 1 WHERE "id" = ?').bind(id).run()
      await env.THIRD_DB.prepare('UPDATE "apiKeys" SET "movedTo" = NULL WHERE "id" = ?').bind(id).run()
      await env.THIRD_DB.prepare('INSERT OR IGNORE INTO "organizations" VALUES (?, ?, ?)')
        .bind(workspace.organizationId, 'Acme', new Date().toISOString())
        .run()
      const environment = { DB: untouched(), DB_1: env.THIRD_DB, DB_2: env.DB }
      expect((await request('GET', '/v1/me', { key, environment })).status).toBe(200)
    })

    it('is unavailable, and not unknown, if both databases name the other one', async () => {
      const { id, key } = await withMoved()
      await env.DB.prepare('UPDATE "apiKeys" SET "movedTo" = 1 WHERE "id" = ?').bind(id).run()
      const environment = { DB: untouched(), DB_1: env.THIRD_DB, DB_2: env.DB }
      expect((await request('GET', '/v1/projects', { key, environment })).status).toBe(503)
    })
  })

  describe('objects', () => {
    const tickOf = (number: number, environment: Databases, ms: number) =>
      scheduled.tick({ ...env, ...environment } as unknown as Cloudflare.Env, new Date(Date.now() + ms), number)

    const search = ({ DB }: Databases) =>
      (DB as D1Database)
        .prepare('INSERT INTO "objectSearches" ("startedAt") VALUES (?)')
        .bind(new Date(Date.now() + 1000).toISOString())
        .run()

    async function withObjects() {
      const workspace = await Workspace.create()
      const objectKey = await workspace.addPicture()
      const orphan = `profile-pictures/${workspace.organizationId}/orphan`
      await env.OBJECTS.put(orphan, 'no row refers to it')
      const left = async () => [await env.OBJECTS.head(objectKey), await env.OBJECTS.head(orphan)].map(Boolean)
      return { workspace, objectKey, orphan, left }
    }

    /** A search, and the ticks of all databases until what it found is deleted. */
    async function searchAndSweep(environment: Databases): Promise<void> {
      await search(environment)
      for (const number of NUMBERS) await tickOf(number, environment, 2000)
      for (const number of NUMBERS) await tickOf(number, environment, 8 * DAY_MS)
    }

    it.each(NUMBERS)('of an organization in database %i are compared with its rows', async (number) => {
      const { workspace, left } = await withObjects()
      await place(workspace, number)
      await searchAndSweep(deployment(number))
      expect(await left()).toEqual([true, false])
    })

    it.each(NUMBERS)(
      'of an organization that the directory does not know stay (its rows in database %i)',
      async (number) => {
        const { left } = await withObjects()
        await searchAndSweep(deployment(number))
        expect(await left()).toEqual([true, true])
      },
    )

    it('of an organization that moves stay, wherever its rows are', async () => {
      const { workspace, left } = await withObjects()
      await place(workspace, 1, 2)
      await searchAndSweep(deployment(1))
      expect(await left()).toEqual([true, true])
    })

    it('stay if their database does not answer, and the search goes on when it does', async () => {
      const { workspace, left } = await withObjects()
      await place(workspace, 1)
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const failing = deployment(1, failingDatabase(new Error('D1_ERROR: Network connection lost.')))
      await searchAndSweep(failing)
      expect(await left()).toEqual([true, true])
      vi.restoreAllMocks()
      for (const number of NUMBERS) await tickOf(number, deployment(1), 2000)
      for (const number of NUMBERS) await tickOf(number, deployment(1), 8 * DAY_MS)
      expect(await left()).toEqual([true, false])
    })

    it('that a restored database lists as orphans stay if the database that has the organization refers to them', async () => {
      const { workspace, objectKey, orphan, left } = await withObjects()
      await place(workspace, 2)
      // Database 1 as it was before the organization left it.
      const past = new Date(Date.now() - DAY_MS).toISOString()
      const restored = deployment(2).DB_1 as D1Database
      for (const key of [objectKey, orphan])
        await restored.prepare('INSERT INTO "orphanedObjects" VALUES (?, ?)').bind(key, past).run()
      await tickOf(1, deployment(2), 0)
      expect(await left()).toEqual([true, false])
    })
  })

  describe('a database that fails', () => {
    const failing = () => failingDatabase(new Error('D1_ERROR: Network connection lost.'))

    it.each(NUMBERS)('does not stop the requests of others: %i', async (number) => {
      const own = NUMBERS.find((each) => each !== number) ?? 0
      const workspace = await Workspace.create()
      const key = await workspace.addKey({ database: own })
      const environment = { ...deployment(own), [bindingOf(number)]: failing() }
      expect((await request('GET', '/v1/me', { key, environment })).status).toBe(200)
    })

    it.each(NUMBERS)('is named by the health check: %i', async (number) => {
      const environment = { ...deployment(0), [bindingOf(number)]: failing() }
      const { status, body } = await request('GET', '/health', { environment })
      expect([status, body.error]).toEqual([503, `The database ${number} does not answer. Retry after 5 seconds.`])
    })

    it('does not stop the ticks of others: each has its own, and one message a minute', async () => {
      const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
      const messages: Message[] = []
      const TICKS = {
        sendBatch: async (batch: { body: Message }[]) => void messages.push(...batch.map(({ body }) => body)),
      }
      const environment = { ...env, ...deployment(0, failing()), TICKS } as unknown as Cloudflare.Env
      const now = new Date()
      await scheduled.tickAll(environment, now)
      expect(messages).toEqual([1, 2].map((database) => ({ database, tickAt: now.toISOString() })))
      expect(errors.mock.calls.length).toBeGreaterThan(0)
      errors.mockClear()
      for (const { database } of messages) await scheduled.tick(environment, now, database)
      vi.restoreAllMocks()
      const { results } = await env.SECOND_DB.prepare('SELECT "scheduledAt" FROM "lastTick"').all()
      expect(results).toEqual([{ scheduledAt: now.toISOString() }])
    })
  })

  it('an unknown key of any database is refused', async () => {
    for (const _ of NUMBERS) {
      expect((await request('GET', '/v1/me', { key: newToken(), environment: deployment(0) })).status).toBe(401)
    }
  })
})
