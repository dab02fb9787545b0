import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { localDatabase, localDatabaseFile } from '../../operate/database.ts'
import { prepareLocalDatabases } from '../../operate/local-databases.ts'
import { migrate, migrationNames, readMigrations } from '../../operate/migrations.ts'
import { listTables, OBJECT_COLUMNS } from '../../operate/organization-tables.ts'
import { parseToken } from '../../src/access/api-key.ts'
import { callScript, runScript } from '../support/commands.ts'
import { newFolder } from '../support/dev-server.ts'
import { newState, rowsOf } from '../support/local-state.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A state folder with databases that are empty. */
async function stateWith(databases: number) {
  const state = newState()
  folders.push(state)
  await prepareLocalDatabases({ remote: false, persistTo: state }, databases)
  const call = (script: string, ...args: string[]) => callScript(script, ...args, '--persist-to', state)
  const create = async (name: string): Promise<{ organizationId: string; apiKey: string }> =>
    JSON.parse(await call('operate bootstrap', '--organization', name, '--user', 'ada'))
  return { state, call, create }
}

const databaseOf = async (apiKey: string) => (await parseToken(apiKey))?.databaseNumber

/** Copies an organization to another database, as a move does. */
async function copied(state: string, id: string, from: number, to: number): Promise<void> {
  const tables = ['organizations', 'organizationUsage', 'users', 'apiKeys']
  for (const table of tables) {
    const rows = await rowsOf(
      state,
      `SELECT * FROM "${table}" WHERE '${id}' IN ("${table === 'organizations' ? 'id' : 'organizationId'}")`,
      from,
    )
    const target = localDatabase(localDatabaseFile({ remote: false, persistTo: state }, to))
    for (const row of rows) {
      const names = Object.keys(row)
      const sql = `INSERT OR REPLACE INTO "${table}" (${names.map((name) => `"${name}"`)}) VALUES (${names.map(() => '?')})`
      await target.batch([{ sql, parameters: Object.values(row) }])
    }
    target.close()
  }
}

/** The state after a move from one database to another. */
async function moved(state: string, id: string, from = 0, to = 1): Promise<void> {
  await rowsOf(state, `DELETE FROM "halts" WHERE "organizationId" = '${id}'`, to)
  await copied(state, id, from, to)
  await rowsOf(state, `DELETE FROM "organizations" WHERE "id" = '${id}'`, from)
  await rowsOf(state, `DELETE FROM "users" WHERE "organizationId" = '${id}'`, from)
  await rowsOf(state, `UPDATE "apiKeys" SET "movedTo" = ${to} WHERE "organizationId" = '${id}'`, from)
  await rowsOf(state, `INSERT INTO "halts" ("organizationId", "kind") VALUES ('${id}', 'left')`, from)
  await rowsOf(state, `UPDATE "directory" SET "database" = ${to} WHERE "organizationId" = '${id}'`)
}

it('two processes migrate a database at once', async () => {
  const file = join(newFolder(), 'new.sqlite')
  folders.push(dirname(file))
  const processes = [localDatabase(file), localDatabase(file)]
  await Promise.all(processes.map(migrate))
  const names = await Promise.all(processes.map(readMigrations))
  const applied = { applied: migrationNames(), differences: [] }
  expect(names).toEqual([applied, applied])
  for (const database of processes) database.close()
})

it('a database that is not what its migrations make is not migrated', async () => {
  const file = join(newFolder(), 'changed.sqlite')
  folders.push(dirname(file))
  const database = localDatabase(file)
  await migrate(database)
  // What an operator added harms nothing.
  for (const sql of ['CREATE INDEX "own" ON "projects" ("name")', 'DROP INDEX "pinsByResource"']) {
    await database.batch([{ sql }])
  }
  await database.batch([{ sql: 'ALTER TABLE "projects" ADD COLUMN "own" text' }])
  await expect(migrate(database)).rejects.toThrow(
    /^The database is not what its migrations make: index pinsByResource, table projects\. .*Nothing was changed\.$/,
  )
  // The code before an upgrade runs on the schema of the next version, too.
  await database.batch([{ sql: `INSERT INTO "d1_migrations" ("name") VALUES ('9999_next.sql')` }])
  expect(await migrate(database)).toEqual([])
  database.close()
})

describe('with one database', () => {
  it('the commands say nothing about databases', async () => {
    const { call, create } = await stateWith(1)
    const { organizationId, apiKey } = await create('Acme')
    expect(apiKey).toMatch(/^wsk_/)
    expect(await call('operate organization', 'list')).toMatch(
      new RegExp(`^NAME  ID +LIVE KEYS .*\nAcme  ${organizationId}  1 `),
    )
    const status = await call('operate status')
    expect(status).toMatch(
      /^Database +\S+\nSize +\d\.\d MB, < 1 % of 10 GB\nSchema +\S+\.sql, current\nLast tick +none\nSchedules /,
    )
    expect(Object.keys(JSON.parse(await call('operate status', '--json')))).not.toContain('databases')
    expect(await call('operate organization', 'show', 'Acme')).not.toContain('Database')
  })
})

describe('npm run operate -- database', () => {
  it('adds databases, and new organizations go to the smallest that is open', async () => {
    const { state, call, create } = await stateWith(1)
    expect(await call('operate database', 'add')).toMatch(/^Database 1 was added\./)
    // Database 0 has more bytes.
    await rowsOf(state, `INSERT INTO "lastTick" VALUES (7, hex(zeroblob(200000)))`)
    const first = await create('Acme')
    expect(await databaseOf(first.apiKey)).toBe(1)
    expect(await rowsOf(state, 'SELECT * FROM "directory"')).toEqual([
      { organizationId: first.organizationId, database: 1, movingTo: null },
    ])
    expect(await call('operate database', 'close', '1')).toBe('Database 1 gets no new organizations.\n')
    const second = await create('Globex')
    expect(await databaseOf(second.apiKey)).toBe(0)
    await call('operate database', 'close', '0')
    expect(await call('operate database', 'list')).toMatch(/^DATABASE .*\n0 .* closed .*\n1 .* closed .*\n$/)
    expect(
      await runScript('operate bootstrap', ['--organization', 'Initech', '--service', '--persist-to', state]),
    ).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('To add one: npm run operate -- database add'),
    })
    await call('operate database', 'open', '1')
    expect(await databaseOf((await create('Initech')).apiKey)).toBe(1)
    const more = JSON.parse(await call('operate bootstrap', '--organization-id', first.organizationId, '--service'))
    expect(await databaseOf(more.apiKey)).toBe(1)
    const sameName = ['--organization', 'Acme', '--service', '--persist-to', state]
    expect(await runScript('operate bootstrap', sameName)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(first.organizationId),
    })
    expect(await runScript('operate database', ['close', '7', '--persist-to', state])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^There is no database with this number; got "7"; allowed: 0, 1\./),
    })
    expect(await runScript('operate database', ['drop', '--persist-to', state])).toMatchObject({ status: 2 })
  })
})

describe('npm run operate -- brake', () => {
  it('stops a part in every database, and in those that are added; status says so until it goes on', async () => {
    const { state, call, create } = await stateWith(2)
    const { organizationId } = await create('Acme')
    expect(await call('operate brake', 'firing')).toBe(
      `Schedules of all organizations are stopped. To let them go on: npm run operate -- brake firing --off --persist-to ${state}\n`,
    )
    const since = String((await rowsOf(state, 'SELECT "since" FROM "brakes"'))[0]?.since)
    // Again: it keeps its time.
    await call('operate brake', 'firing')
    await call('operate database', 'add')
    for (const number of [0, 1, 2]) {
      expect(await rowsOf(state, 'SELECT * FROM "brakes"', number)).toEqual([{ kind: 'firing', since }])
    }
    const ofAcme = `npm run operate -- brake claims --organization ${organizationId} --off --persist-to ${state}`
    expect(await call('operate brake', 'claims', '--organization', 'Acme')).toBe(
      `Claims of Acme are stopped. To let them go on: ${ofAcme}\nStopped, too: firing of all organizations, since ${since}\n`,
    )
    const { stopped } = JSON.parse(await call('operate status', '--json'))
    expect(stopped).toEqual([
      { what: 'claims', since: expect.any(String), organizationId },
      { what: 'firing', since, organizationId: null },
    ])
    expect(await call('operate status')).toMatch(
      new RegExp(
        `\nStopped +claims of the organization ${organizationId}, since .*\n +firing of all organizations, since ${since}\n`,
      ),
    )
    expect(await call('operate organization', 'show', 'Acme')).toMatch(
      /\nStopped +claims of the organization .*\n +firing of all/,
    )
    const { status, stderr } = await runScript('operate status', ['--check', '--persist-to', state])
    expect([status, stderr.split('\n').filter((line) => line.startsWith('Stopped'))]).toEqual([
      1,
      [
        expect.stringMatching(new RegExp(`^Stopped: claims of the organization .* To let it go on: ${ofAcme}$`)),
        `Stopped: firing of all organizations, since ${since}. To let it go on: npm run operate -- brake firing --off --persist-to ${state}`,
      ],
    ])

    expect(await call('operate brake', 'firing', '--off')).toMatch(
      /^Schedules of all organizations go on\.\nStopped, too: claims /,
    )
    expect(await call('operate brake', 'firing', '--off')).toMatch(
      /^Schedules of all organizations were not stopped\.\n/,
    )
    expect(await call('operate brake', 'claims', '--organization', organizationId, '--off')).toBe(
      'Claims of Acme go on.\n',
    )
    for (const number of [0, 1, 2]) {
      expect(
        await rowsOf(state, 'SELECT "kind" FROM "brakes" UNION ALL SELECT "kind" FROM "organizationBrakes"', number),
      ).toEqual([])
    }
    expect(await runScript('operate brake', ['tick', '--persist-to', state])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^There is no such part; got "tick"; allowed: firing, deliveries, claims, feeds\./),
    })
    expect(
      await runScript('operate brake', ['claims', '--organization', 'Nobody', '--persist-to', state]),
    ).toMatchObject({ status: 1 })
  })

  it('goes with its organization to another database', async () => {
    const { state, call, create } = await stateWith(2)
    await call('operate database', 'close', '1')
    const { organizationId } = await create('Acme')
    await call('operate brake', 'deliveries', '--organization', 'Acme')
    await call('operate organization', 'move', organizationId, '--to', '1')
    const rows = (number: number) => rowsOf(state, 'SELECT "kind" FROM "organizationBrakes"', number)
    expect([await rows(0), await rows(1)]).toEqual([[], [{ kind: 'deliveries' }]])
  })
})

describe('an organization that moved', () => {
  it('is found where it is, and deleted with what it left behind', async () => {
    const { state, call, create } = await stateWith(2)
    await call('operate database', 'close', '1')
    const { organizationId } = await create('Acme')
    const other = await create('Globex')
    await moved(state, organizationId)
    expect(JSON.parse(await call('operate organization', 'show', 'Acme', '--json'))).toMatchObject({
      database: 1,
      liveKeys: 1,
    })
    expect((await call('operate organization', 'list')).split('\n')).toHaveLength(4)
    // A move that was interrupted: the rows of both are there.
    await rowsOf(
      state,
      `INSERT INTO "organizations" ("id", "name", "createdAt") VALUES ('${organizationId}', 'Acme', '')`,
    )
    expect((await call('operate organization', 'list')).split('\n')).toHaveLength(4)
    expect(JSON.parse(await call('operate status', '--json')).organizations).toHaveLength(2)
    await rowsOf(state, `UPDATE "directory" SET "movingTo" = 0 WHERE "organizationId" = '${organizationId}'`)
    const remove = ['delete', organizationId, '--name', 'Acme', '--persist-to', state]
    expect(await runScript('operate organization', remove)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Complete the move first'),
    })
    const bootstrap = ['--organization-id', organizationId, '--service', '--persist-to', state]
    expect(await runScript('operate bootstrap', bootstrap)).toMatchObject({
      status: 1,
      stderr: 'The organization is moving to database 0. Complete the move first.\n',
    })
    expect(await call('operate organization', 'list')).toMatch(
      new RegExp(`^Acme +${organizationId} +1, moving to 0  1 `, 'm'),
    )
    // A database that fails hides nothing of the others.
    await rowsOf(state, 'DROP TABLE "lastTick"', 1)
    expect(await runScript('operate status', ['--check', '--persist-to', state])).toMatchObject({
      status: 1,
      stderr: `Database 1: no such table: lastTick\nThe tick of database 0 is late: none has run.\nThe organization ${organizationId} is moving to database 0. If no command does it: npm run operate -- organization move ${organizationId} --to 0\n`,
    })
    await rowsOf(state, `UPDATE "directory" SET "movingTo" = NULL WHERE "organizationId" = '${organizationId}'`)
    await call('operate organization', 'delete', organizationId, '--name', 'Acme')
    for (const number of [0, 1]) {
      for (const table of ['organizations', 'apiKeys', 'users', 'halts']) {
        const rows = await rowsOf(state, `SELECT * FROM "${table}"`, number)
        expect([table, JSON.stringify(rows).includes(organizationId)]).toEqual([table, false])
      }
    }
    expect(await call('operate organization', 'list')).toMatch(
      new RegExp(`^NAME .*\nGlobex +${other.organizationId} .*\n$`),
    )
  })
})

describe('the tables of an organization', () => {
  /** What no organization owns. A table that is in neither list has to be considered by every command. */
  const OF_THE_SERVICE = [
    'alerts',
    'brakes',
    'd1_migrations',
    'databases',
    'directory',
    'lastTick',
    'objectSearches',
    'organizations',
    'orphanedObjects',
    'passes',
    'tickReports',
  ]

  it('are known to export, deletion and counts', async () => {
    const { state } = await stateWith(1)
    const database = localDatabase(localDatabaseFile({ remote: false, persistTo: state }))
    const all = await rowsOf(
      state,
      `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND "name" NOT LIKE 'sqlite%' ORDER BY 1`,
    )
    const known = await listTables(database)
    database.close()
    expect([...known, ...OF_THE_SERVICE].sort()).toEqual(all.map(({ name }) => name))
    expect([known[0], known.at(-1)]).toEqual(['apiKeys', 'halts'])
    const columns = await rowsOf(
      state,
      `SELECT "table"."name" AS "table", "column"."name" AS "column"
       FROM sqlite_master AS "table", pragma_table_info("table"."name") AS "column"
       WHERE "table"."type" = 'table' AND lower("column"."name") LIKE '%objectkey' AND "table"."name" <> 'orphanedObjects'`,
    )
    const listed = Object.entries(OBJECT_COLUMNS).flatMap(([table, names]) =>
      names.map((column) => ({ table, column })),
    )
    const byText = (each: object) => JSON.stringify(each)
    expect(columns.map(byText).sort()).toEqual(listed.map(byText).sort())
  })
})

describe('a backup of several databases', () => {
  async function backedUp() {
    const deployment = await stateWith(2)
    const { state, call, create } = deployment
    const folder = newFolder()
    folders.push(folder)
    await call('operate database', 'close', '1')
    const acme = await create('Acme')
    const globex = await create('Globex')
    await call('operate database', 'open', '1')
    await call('operate database', 'close', '0')
    const initech = await create('Initech')
    await call('operate database', 'open', '0')
    const output = join(folder, 'monday')
    await call('operate backup', '--output', output)
    const names = async (number: number, place = state) =>
      (await rowsOf(place, 'SELECT "name" FROM "organizations" ORDER BY 1', number)).map(({ name }) => name)
    const places = async (place = state) =>
      new Map(
        (await rowsOf(place, 'SELECT * FROM "directory"')).map(({ organizationId, database }) => [
          organizationId,
          database,
        ]),
      )
    const restore = (...args: string[]) => call('operate restore', '--yes', '--input', ...args)
    return { ...deployment, folder, output, acme, globex, initech, names, places, restore }
  }

  it('is a file for each and a manifest, and restores all, also to a new place', async () => {
    const { output, call, create, names, places, restore, acme, globex, initech, folder } = await backedUp()
    expect(readdirSync(output).sort()).toEqual(['database-0.sqlite', 'database-1.sqlite', 'manifest.json'])
    expect(JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))).toMatchObject({
      databases: [
        { number: 0, file: 'database-0.sqlite' },
        { number: 1, file: 'database-1.sqlite' },
      ],
    })
    await create('Later')
    expect(await restore(output)).toMatch(/^Not in the backup, and lost: the organizations \S+\.$/m)
    const then = new Map([
      [acme.organizationId, 0],
      [globex.organizationId, 0],
      [initech.organizationId, 1],
    ])
    expect([await names(0), await names(1)]).toEqual([['Acme', 'Globex'], ['Initech']])
    expect(await places()).toEqual(expect.objectContaining(then))
    const place = join(folder, 'state')
    await callScript('operate restore', '--yes', '--input', output, '--persist-to', place)
    expect([await names(0, place), await names(1, place)]).toEqual([['Acme', 'Globex'], ['Initech']])
    expect(await places(place)).toEqual(then)
    expect((await call('operate database', 'list')).split('\n')).toHaveLength(4)
    expect((await callScript('operate database', 'list', '--persist-to', place)).split('\n')).toHaveLength(4)
  })

  it('restores one database, and leaves the other', async () => {
    const { state, output, names, restore } = await backedUp()
    await rowsOf(state, `UPDATE "organizations" SET "name" = 'Changed'`, 0)
    await rowsOf(state, `UPDATE "organizations" SET "name" = 'Changed'`, 1)
    await restore(output, '--database', '1')
    expect([await names(0), await names(1)]).toEqual([['Changed', 'Changed'], ['Initech']])
    // The tick of database 0 searches for the objects of all.
    expect(await rowsOf(state, 'SELECT * FROM "objectSearches"')).toHaveLength(1)
    await restore(join(output, 'database-0.sqlite'), '--database', '0')
    expect([await names(0), await names(1)]).toEqual([['Acme', 'Globex'], ['Initech']])
    for (const args of [[join(output, 'database-0.sqlite')], [output, '--database', '7']]) {
      const { status, stderr } = await runScript('operate restore', [
        '--yes',
        '--persist-to',
        state,
        '--input',
        ...args,
      ])
      expect([status, /allowed: 0, 1\./.test(stderr)]).toEqual([2, true])
    }
  })

  it('leaves an organization that has moved since where it is, with its redirects', async () => {
    const { state, output, acme, globex, names, places, restore } = await backedUp()
    await moved(state, acme.organizationId)
    await rowsOf(
      state,
      `UPDATE "apiKeys" SET "revokedAt" = '2026' WHERE "organizationId" = '${acme.organizationId}'`,
      1,
    )
    await restore(output, '--database', '0')
    expect([await names(0), await names(1)]).toEqual([['Globex'], ['Acme', 'Initech']])
    expect((await places()).get(acme.organizationId)).toBe(1)
    const keys = `SELECT "movedTo" FROM "apiKeys" WHERE "organizationId" = '${acme.organizationId}'`
    expect(await rowsOf(state, keys)).toEqual([{ movedTo: 1 }])
    expect(await rowsOf(state, 'SELECT "kind" FROM "halts"')).toEqual([{ kind: 'left' }])
    // All of them go back together, and the key that was revoked in the other one stays revoked. The others are valid.
    await moved(state, globex.organizationId)
    await restore(output)
    expect([await names(0), await names(1)]).toEqual([['Acme', 'Globex'], ['Initech']])
    expect((await places()).get(acme.organizationId)).toBe(0)
    expect(await rowsOf(state, `${keys} AND "revokedAt" IS NULL`)).toEqual([])
    expect(await rowsOf(state, keys)).toEqual([{ movedTo: null }])
    const others = `SELECT "movedTo", "revokedAt" FROM "apiKeys" WHERE "organizationId" = '${globex.organizationId}'`
    expect(await rowsOf(state, others)).toEqual([{ movedTo: null, revokedAt: null }])
  })

  it('keeps the redirects of an organization that had moved before the backup', async () => {
    const { state, acme, folder, names, places, call, restore } = await backedUp()
    const { organizationId } = acme
    await moved(state, organizationId)
    await rowsOf(state, `INSERT INTO "alerts" ("database", "name", "begunAt") VALUES (1, 'failing', '2026')`)
    await rowsOf(state, `INSERT INTO "tickReports" ("database", "scheduledAt", "failedCalls") VALUES (1, '2026', 9)`)
    const output = join(folder, 'tuesday')
    await call('operate backup', '--output', output)
    const keys = `SELECT "movedTo", "revokedAt" FROM "apiKeys" WHERE "organizationId" = '${organizationId}'`
    const expectMoved = async (place: string) => {
      expect([await names(0, place), await names(1, place)]).toEqual([['Globex'], ['Acme', 'Initech']])
      expect((await places(place)).get(organizationId)).toBe(1)
      expect(await rowsOf(place, keys)).toEqual([{ movedTo: 1, revokedAt: null }])
      expect(await rowsOf(place, keys, 1)).toEqual([{ movedTo: null, revokedAt: null }])
      expect(await rowsOf(place, 'SELECT "kind" FROM "halts"')).toEqual([{ kind: 'left' }])
      // Reports of ticks from before the restore would be late.
      expect(await rowsOf(place, 'SELECT "name", 1 FROM "alerts" UNION SELECT 1, 1 FROM "tickReports"')).toEqual([])
    }
    const place = join(folder, 'state')
    await callScript('operate restore', '--yes', '--input', output, '--persist-to', place)
    await expectMoved(place)
    // It has moved back since then.
    await moved(state, organizationId, 1, 0)
    expect([await names(0), await names(1)]).toEqual([['Acme', 'Globex'], ['Initech']])
    await restore(output)
    await expectMoved(state)
  })

  it('leaves an organization suspended that was suspended since', async () => {
    const { state, output, initech, call, restore } = await backedUp()
    await call('operate organization', 'suspend', 'Initech', '--reason', 'Sends spam')
    await restore(output)
    expect(await call('operate organization', 'show', 'Initech')).toMatch(/^Suspended +Sends spam$/m)
    const keys = `SELECT 1 FROM "apiKeys" WHERE "organizationId" = '${initech.organizationId}' AND "suspendedAt" IS NOT NULL`
    expect(await rowsOf(state, keys, 1)).toHaveLength(1)
    await call('operate organization', 'resume', 'Initech')
    expect(await rowsOf(state, keys, 1)).toEqual([])
  })

  it('leaves stopped what is stopped today, and nothing else', async () => {
    const { state, initech, folder, call, restore } = await backedUp()
    await call('operate brake', 'feeds')
    const output = join(folder, 'stopped')
    await call('operate backup', '--output', output)
    await call('operate brake', 'feeds', '--off')
    await call('operate brake', 'firing')
    await call('operate brake', 'claims', '--organization', 'Initech')
    await restore(output)
    const brakes = (number: number) => rowsOf(state, 'SELECT "kind" FROM "brakes"', number)
    expect([await brakes(0), await brakes(1)]).toEqual([[{ kind: 'firing' }], [{ kind: 'firing' }]])
    expect(await rowsOf(state, 'SELECT "kind", "organizationId" FROM "organizationBrakes"', 1)).toEqual([
      { kind: 'claims', organizationId: initech.organizationId },
    ])
  })

  it('has each organization whose move was killed, where it is complete', async () => {
    const { state, acme, globex, initech, folder, names, call } = await backedUp()
    const halt = (id: string, kind: string, number: number) =>
      rowsOf(state, `INSERT INTO "halts" ("organizationId", "kind") VALUES ('${id}', '${kind}')`, number)
    const refer = (id: string, movedTo: number, number: number) =>
      rowsOf(state, `UPDATE "apiKeys" SET "movedTo" = ${movedTo} WHERE "organizationId" = '${id}'`, number)
    // For each: where it was, and where it went. Acme was still being copied.
    for (const [{ organizationId: id }, from, to] of [
      [acme, 0, 1],
      [globex, 0, 1],
      [initech, 1, 0],
    ] as const) {
      await copied(state, id, from, to)
      await rowsOf(state, `UPDATE "directory" SET "movingTo" = 1 WHERE "organizationId" = '${id}'`)
      await halt(id, 'arriving', 1)
    }
    await halt(acme.organizationId, 'leaving', 0)
    await refer(acme.organizationId, 0, 1)
    // Globex had left, and the directory was to be changed; that of Initech was.
    for (const { organizationId: id } of [globex, initech]) {
      await halt(id, 'left', 0)
      await refer(id, 1, 0)
    }
    const output = join(folder, 'tuesday')
    const printed = await call('operate backup', '--output', output)
    for (const { organizationId } of [acme, globex]) {
      expect(printed).toContain(`The organization ${organizationId} is moving: the backup has it in database 0.\n`)
    }
    const place = join(folder, 'state')
    await callScript('operate restore', '--yes', '--input', output, '--persist-to', place)
    expect([await names(0, place), await names(1, place)]).toEqual([['Acme', 'Globex'], ['Initech']])
    expect(await rowsOf(place, 'SELECT "movingTo" FROM "directory" WHERE "movingTo" IS NOT NULL')).toEqual([])
    for (const number of [0, 1]) {
      const here = number === 0 ? [acme, globex] : [initech]
      const elsewhere = number === 0 ? [initech] : [acme, globex]
      const keys = await rowsOf(place, 'SELECT "organizationId", "movedTo" FROM "apiKeys"', number)
      expect(new Map(keys.map(({ organizationId, movedTo }) => [organizationId, movedTo]))).toEqual(
        new Map<unknown, unknown>([
          ...here.map(({ organizationId }) => [organizationId, null] as const),
          ...elsewhere.map(({ organizationId }) => [organizationId, 1 - number] as const),
        ]),
      )
      const halts = await rowsOf(place, 'SELECT "organizationId", "kind" FROM "halts" ORDER BY 1', number)
      expect(halts).toEqual(elsewhere.map(({ organizationId }) => ({ organizationId, kind: 'left' })))
    }
  })

  it('is restored only if no organization moves, and if it is complete', async () => {
    const { state, output, acme } = await backedUp()
    await rowsOf(state, `UPDATE "directory" SET "movingTo" = 1 WHERE "organizationId" = '${acme.organizationId}'`)
    const all = ['--yes', '--persist-to', state, '--input', output]
    expect((await runScript('operate restore', all)).stderr).toContain('Complete the move first')
    await rowsOf(state, 'UPDATE "directory" SET "movingTo" = NULL')
    rmSync(join(output, 'database-1.sqlite'))
    expect((await runScript('operate restore', all)).stderr).toContain('The backup is incomplete')
    writeFileSync(join(output, 'database-1.sqlite'), 'damaged')
    expect(await runScript('operate restore', all)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Nothing was changed'),
    })
    rmSync(join(output, 'manifest.json'))
    expect((await runScript('operate restore', all)).stderr).toContain(
      'an unfinished backup: the folder has no manifest.json',
    )
  })
})
