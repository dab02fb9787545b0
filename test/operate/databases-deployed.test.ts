import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { migrationNames } from '../../operate/migrations.ts'
import { parseToken } from '../../src/access/api-key.ts'
import { readConfiguration } from '../../tools/wrangler.ts'
import { newFolder } from '../support/dev-server.ts'
import { endProjects, newAccount, newProject, run, TOML } from '../support/project.ts'

const WORKER = 'workspace-api'
/** The number of databases of the deployment with many. */
const DATABASES = process.env.LONG ? 50 : 10
const UPLOAD = `POST /workers/scripts/${WORKER}/versions`

afterEach(endProjects)

/** A deployment with one database, without data. */
async function newDeployment() {
  const { api, url, deploy, variables } = await newAccount()
  const { queues, r2_buckets } = readConfiguration({})
  const names = queues.consumers?.flatMap((each) => [each.queue, each.dead_letter_queue ?? []].flat()) ?? []
  api.deployed(WORKER, {
    buckets: r2_buckets.map(({ bucket_name = '' }) => String(bucket_name)),
    queues: [...new Set(names)],
  })
  const project = newProject()
  const command = (script: string, ...args: string[]) =>
    run(script, [...args, '--remote', '--config', project.config], variables)
  const sqliteOf = (name: string) => {
    const found = api.databases.find((each) => each.name === name)
    if (!found) throw new Error(`The account has no database ${name}`)
    return found.sqlite
  }
  const rows = (name: string, sql: string) => sqliteOf(name).prepare(sql).all()
  return {
    api,
    url,
    project,
    command,
    rows,
    sqliteOf,
    deploy: (...args: string[]) => deploy(project, ...args),
    add: (...args: string[]) => command('operate database', 'add', '--url', url, ...args),
    create: async (name: string): Promise<{ organizationId: string; apiKey: string }> => {
      const { printed } = await command('operate bootstrap', '--organization', name, '--service')
      return JSON.parse(/^\{.*\}$/m.exec(printed)?.[0] ?? printed)
    },
  }
}

const LIST = 'SELECT "number", "name", "state" FROM "databases" ORDER BY 1'
const ADDING = [{ number: 1, name: 'workspace-api-1', state: 'adding' }]
const OPEN = [{ number: 1, name: 'workspace-api-1', state: 'open' }]
const inQuery = (text: string) => (call: string, body: unknown) =>
  call.endsWith('/query') && JSON.stringify(body).includes(text)

describe('npm run operate -- database add', { tags: 'slow' }, () => {
  it('adds a database, also after a failure at each step, and a deployment keeps it', async () => {
    const { api, add, create, rows, deploy, sqliteOf } = await newDeployment()
    const failures = [
      [inQuery("'adding'"), 'New database', []],
      ['POST /d1/database', 'D1 database workspace-api', ADDING],
      [inQuery('CREATE TABLE `sessions`'), 'Migrations', ADDING],
      [UPLOAD, 'Worker workspace-api', ADDING],
      [inQuery(`= 'open'`), 'Health', ADDING],
    ] as const
    for (const [call, title, listed] of failures) {
      api.failing = { call, status: 400 }
      const { printed, code } = await add('--location', 'weur')
      expect(printed).toMatch(new RegExp(`^\\d+/\\d+ ${title}: failed$`, 'm'))
      expect(printed).toContain('A failure on purpose')
      expect([code, title, rows('workspace-api', LIST)]).toEqual([1, title, listed])
    }
    // It gets no organizations before it is complete, and is complete before it is bound.
    expect(await parseToken((await create('Before')).apiKey)).toMatchObject({ databaseNumber: 0 })
    const uploads = () => api.uploads.get(WORKER)?.length
    const { printed, code } = await add('--location', 'weur')
    expect(printed).toContain('workspace-api-1 is being added already')
    expect(code).toBe(0)
    expect(rows('workspace-api', LIST)).toEqual(OPEN)
    expect(api.databases.map(({ name }) => name)).toEqual(['workspace-api', 'workspace-api-1'])
    expect(api.bound(WORKER, 'DB')?.name).toBe('workspace-api')
    expect(api.bound(WORKER, 'DB_1')?.name).toBe('workspace-api-1')

    api.sizes.set('workspace-api', 100_000_000)
    const acme = await create('Acme')
    expect(await parseToken(acme.apiKey)).toMatchObject({ databaseNumber: 1 })
    expect(rows('workspace-api', 'SELECT * FROM "directory" WHERE "database" = 1')).toMatchObject([
      { organizationId: acme.organizationId },
    ])
    expect(rows('workspace-api-1', 'SELECT "name" FROM "organizations"')).toEqual([{ name: 'Acme' }])
    expect(await deploy()).toMatchObject({ code: 0 })
    expect(api.bound(WORKER, 'DB_1')?.name).toBe('workspace-api-1')

    // Migrations run on every database before the upload.
    const before = uploads()
    const migrations = rows('workspace-api-1', 'SELECT * FROM "d1_migrations"')
    const other = api.databases[1]?.uuid
    api.failing = { call: `POST /d1/database/${other}/query`, status: 400 }
    const failed = await deploy()
    expect(failed.printed).toMatch(/Migrations: failed\n\nThe migrations of a database failed\.\nworkspace-api-1: /)
    expect([failed.code, uploads()]).toEqual([1, before])
    expect(await deploy()).toMatchObject({ code: 0 })
    expect(rows('workspace-api-1', 'SELECT * FROM "d1_migrations"')).toEqual(migrations)

    // A list that has lost a database must not remove it from the Worker.
    sqliteOf('workspace-api').exec('DELETE FROM "databases"')
    const lost = await deploy()
    expect(lost.printed).toContain('The deployed Worker has the binding DB_1, but workspace-api does not list')
    expect([lost.code, api.bound(WORKER, 'DB_1')?.name]).toEqual([1, 'workspace-api-1'])
  })

  it('takes no database with organizations of another deployment', async () => {
    const { api, url, add, rows } = await newDeployment()
    await fetch(`${url}/d1/database`, { method: 'POST', body: JSON.stringify({ name: 'workspace-api-1' }) })
    const sqlite = api.databases[1]?.sqlite
    sqlite?.exec(`CREATE TABLE "organizations" ("id" TEXT); INSERT INTO "organizations" VALUES ('other')`)
    const { printed, code } = await add()
    expect(printed).toContain('npm run wrangler -- d1 delete workspace-api-1')
    expect([code, rows('workspace-api', LIST)]).toEqual([1, ADDING])
    expect(api.bound(WORKER, 'DB_1')).toBeUndefined()
  })
})

describe('a deployment with two databases', { tags: 'slow' }, () => {
  it('shows both, closes one that is 70 % full, and backs up and restores each', async () => {
    const { api, url, add, command, create, rows, sqliteOf, project, deploy } = await newDeployment()
    await create('Globex')
    expect(await add()).toMatchObject({ code: 0 })
    api.sizes.set('workspace-api', 100_000_000)
    const acme = await create('Acme')
    api.sizes.set('workspace-api-1', 7_100_000_000)
    const list = await command('operate database', 'list')
    expect(list.printed).toMatch(
      /^DATABASE .*\n0 +workspace-api +open .*\n1 +workspace-api-1 +closed \(70 % full\) +7100\.0 MB, 71 % of 10 GB +1 /,
    )
    expect(await parseToken((await create('Initech')).apiKey)).toMatchObject({ databaseNumber: 0 })
    const status = await command('operate status', '--json')
    expect(JSON.parse(status.printed)).toMatchObject({
      database: { sizeBytes: 7_100_000_000 },
      databases: [
        { number: 0, name: 'workspace-api' },
        { number: 1, name: 'workspace-api-1' },
      ],
      organizations: [{ database: 1 }, { database: 0 }, { database: 0 }],
    })
    api.sizes.clear()

    const output = join(newFolder(), 'backup')
    expect(await command('operate backup', '--output', output)).toMatchObject({ code: 0 })
    const revokedAt = '2026-01-01T00:00:00.000Z'
    const sqlite = sqliteOf('workspace-api-1')
    sqlite.exec(`UPDATE "apiKeys" SET "revokedAt" = '${revokedAt}'; UPDATE "organizations" SET "name" = 'Changed'`)
    const first = api.bound(WORKER, 'DB')
    const old = api.bound(WORKER, 'DB_1')
    const restore = ['operate restore', '--yes', '--url', url, '--input', output] as const

    api.failing = { call: `PUT /workers/scripts/${WORKER}/schedules`, status: 400 }
    const failed = await command(...restore, '--database', '1')
    expect(failed.printed).toContain('A failure on purpose')
    expect([failed.code, api.bound(WORKER, 'DB_1'), rows('workspace-api', LIST)]).toEqual([1, old, OPEN])

    expect(await command(...restore, '--database', '1')).toMatchObject({ code: 0 })
    const restored = api.bound(WORKER, 'DB_1')
    expect(restored?.name).toMatch(/^workspace-api-1-\d{8}t\d{6}$/)
    expect(api.bound(WORKER, 'DB')).toBe(first)
    expect(rows('workspace-api', LIST)).toEqual([{ number: 1, name: restored?.name, state: 'open' }])
    expect(restored?.sqlite.prepare('SELECT "name" FROM "organizations"').all()).toEqual([{ name: 'Acme' }])
    expect(restored?.sqlite.prepare('SELECT 1 FROM "apiKeys" WHERE "revokedAt" IS NULL').all()).toEqual([])
    expect(readFileSync(project.config, 'utf8')).toBe(TOML)
    expect(await deploy()).toMatchObject({ code: 0 })
    expect(api.bound(WORKER, 'DB_1')).toBe(restored)

    // All: each fills a new database, and the list and the directory follow.
    expect(await command(...restore)).toMatchObject({ code: 0 })
    const [zero, one] = ['DB', 'DB_1'].map((binding) => api.bound(WORKER, binding))
    expect(zero?.name).toMatch(/^workspace-api-\d{8}t\d{6}$/)
    expect([zero === first, one === restored]).toEqual([false, false])
    expect(zero?.sqlite.prepare(LIST).all()).toEqual([{ number: 1, name: one?.name, state: 'open' }])
    expect(
      zero?.sqlite.prepare('SELECT "database" FROM "directory" WHERE "organizationId" = ?').all(acme.organizationId),
    ).toEqual([{ database: 1 }])
    expect(await deploy()).toMatchObject({ code: 0 })
  })

  it('goes back in time with one of them', async () => {
    const { api, url, add, command, create } = await newDeployment()
    await create('Globex')
    expect(await add()).toMatchObject({ code: 0 })
    api.sizes.set('workspace-api', 100_000_000)
    await create('Acme')
    api.remember()
    const instant = new Date().toISOString()
    await new Promise((resolve) => setTimeout(resolve, 10))
    const first = api.bound(WORKER, 'DB')
    api.bound(WORKER, 'DB_1')?.sqlite.exec(`UPDATE "organizations" SET "name" = 'Changed'`)
    const travel = ['operate restore', '--yes', '--url', url, '--time-travel', instant] as const
    expect(await command(...travel)).toMatchObject({
      code: 2,
      printed: expect.stringContaining('Pass --database <number>'),
    })
    expect(await command(...travel, '--database', '1')).toMatchObject({ code: 0 })
    expect(api.bound(WORKER, 'DB')).toBe(first)
    expect(api.bound(WORKER, 'DB_1')?.sqlite.prepare('SELECT "name" FROM "organizations"').all()).toEqual([
      { name: 'Acme' },
    ])
  })

  it('moves an organization with all of its rows', async () => {
    const { api, add, command, create, rows, sqliteOf } = await newDeployment()
    const { organizationId, apiKey } = await create('Acme')
    expect(await add()).toMatchObject({ code: 0 })
    const fill = sqliteOf('workspace-api').prepare(
      `INSERT INTO "sessions" ("organizationId", "id", "projectId", "name", "createdAt", "updatedAt") VALUES (?, ?, 'p', ?, ?, ?)`,
    )
    const now = new Date().toISOString()
    // Names that a query in text would break, and more rows than a page has.
    for (let index = 0; index < 3000; index++) fill.run(organizationId, `s${index}`, `'";\u0000 ${index}`, now, now)
    const sessions = (name: string) => rows(name, 'SELECT * FROM "sessions" ORDER BY "id"')
    const before = sessions('workspace-api')

    api.failing = { call: `POST /d1/database/${api.databases[1]?.uuid}/query`, status: 400 }
    expect(await command('operate organization', 'move', 'Acme', '--to', '1')).toMatchObject({ code: 1 })
    expect(sessions('workspace-api')).toEqual(before)

    const { code, printed } = await command('operate organization', 'move', 'Acme', '--to', '1')
    expect([code, printed]).toEqual([0, expect.stringMatching(/^Acme is in database 1\.$/m)])
    expect([sessions('workspace-api'), sessions('workspace-api-1')]).toEqual([[], before])
    const hash = (await parseToken(apiKey))?.hash
    const keys = (name: string) => rows(name, `SELECT "movedTo" FROM "apiKeys" WHERE "hash" = '${hash}'`)
    expect([keys('workspace-api'), keys('workspace-api-1')]).toEqual([[{ movedTo: 1 }], [{ movedTo: null }]])
    expect(rows('workspace-api', 'SELECT "database", "movingTo" FROM "directory"')).toEqual([
      { database: 1, movingTo: null },
    ])
  })
})

describe('a deployment with many databases', { tags: 'slow' }, () => {
  it('asks each of them the same few things for a deployment, for its status, and for one more', async () => {
    const { api, url, add, command, deploy, rows, sqliteOf } = await newDeployment()
    for (let number = 1; number < DATABASES; number++) {
      const name = `workspace-api-${number}`
      await fetch(`${url}/d1/database`, { method: 'POST', body: JSON.stringify({ name }) })
      sqliteOf('workspace-api').prepare(`INSERT INTO "databases" VALUES (?, ?, 'open')`).run(number, name)
    }
    /** The calls for each database but the first. */
    const callsOf = async (work: () => Promise<{ code: number | null }>) => {
      const before = api.calls.length
      expect(await work()).toMatchObject({ code: 0 })
      const calls = api.calls.slice(before)
      const [, ...others] = api.databases.map(({ uuid }) => calls.filter((call) => call.includes(uuid)).length)
      return others
    }
    const each = (calls: number) => Array<number>(DATABASES - 1).fill(calls)
    // One of them asks for encrypted values, because the Worker has no key.
    expect(await callsOf(deploy)).toEqual(each(6 + migrationNames().length))
    // The claim link is used.
    for (const { sqlite } of api.databases) sqlite.exec('UPDATE "apiKeys" SET "rotatedAt" = "createdAt"')
    // Nothing to migrate.
    expect(await callsOf(deploy)).toEqual(each(3))
    const checked = (await deploy('--check')).printed.split('\n').filter((line) => line.includes(': '))
    expect(checked.filter((line) => !line.endsWith(': as configured'))).toEqual(['Account: Acme'])
    expect(checked.length).toBeGreaterThan(3 * DATABASES)
    expect(await callsOf(() => command('operate status'))).toEqual(each(4))
    expect(await callsOf(add)).toEqual([...each(3), 2 + migrationNames().length])
    expect(rows('workspace-api-1', 'SELECT 1 FROM "d1_migrations"')).toHaveLength(migrationNames().length)
    expect(api.bound(WORKER, `DB_${DATABASES}`)?.name).toBe(`workspace-api-${DATABASES}`)
  })
})
