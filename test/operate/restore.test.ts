import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadBackup, verifyBackup } from '../../operate/backups/backup-file.ts'
import { loadDump } from '../../operate/backups/sql-dump.ts'
import { execute, localDatabaseFile } from '../../operate/database.ts'
import { insertApiKey, mintApiKey } from '../../operate/provisioning.ts'
import { Service } from '../../scripts/service.ts'
import { runWrangler } from '../../tools/wrangler.ts'
import { ROOT, runScript, startScript } from '../support/commands.ts'
import { type DevServer, freePort, newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { countOf, newState, rowsOf } from '../support/local-state.ts'

const KEYS = 1200
/** How often a restore is killed. */
const KILLS = process.env.LONG ? 10 : 2
const HOSTILE_TEXT = 'BEGIN TRANSACTION;\nCOMMIT;\n\'";--/*\u{1f511}'

const state = newState()
const files = newFolder()
const target = { remote: false, persistTo: state }
const backup = join(files, 'backup.sqlite')
/** A dump of the same database, as wrangler writes it. */
const dump = join(files, 'dump.sql')
const largeSkill = {
  name: 'large',
  description: HOSTILE_TEXT,
  files: [
    {
      filename: 'SKILL.md',
      content: `---\nname: large\ndescription: |-\n  ${HOSTILE_TEXT.replaceAll('\n', '\n  ')}\n---\n${'é\u{1f680}\n'.repeat(100_000)}`,
    },
    { filename: 'transaction.sql', content: HOSTILE_TEXT.repeat(10_000) },
  ],
}

let server: DevServer
let service: (key: string) => Service
let demo: ReturnType<typeof readDemo>
/** The tokens of many keys, and the ids of some. */
const tokens: string[] = []
let revoked: { token: string; id: string }
let skillId: string

const restore = (...args: string[]) => run('operate restore', '--yes', '--persist-to', state, ...args)
const isAlive = async (token: string) =>
  (await fetch(`${demo.baseUrl}/v1/me`, { headers: { Authorization: `Bearer ${token}` } })).status === 200

/** What a tick changes by itself. */
const TICKED = ['orphanedObjects', 'missedSpans', 'passes', 'lastTick', 'objectSearches', 'runs']

/** Schema and rows, apart from what a tick or a key's use changes. */
async function fingerprint(): Promise<string> {
  const tables = await rowsOf(
    state,
    `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND "name" NOT LIKE '\\_cf%' ESCAPE '\\' ORDER BY 1`,
  )
  const stable = tables.filter(({ name }) => !TICKED.includes(String(name)))
  const counts = await Promise.all(stable.map(async ({ name }) => [name, await countOf(state, `"${name}"`)]))
  const schema = await rowsOf(state, 'SELECT "type", "name" FROM sqlite_master ORDER BY 1, 2')
  const keys = await rowsOf(state, 'SELECT "hash", "revokedAt" IS NULL AS "isValid" FROM "apiKeys" ORDER BY 1')
  return JSON.stringify({ counts, schema, keys })
}

beforeAll(async () => {
  server = await startDevServer(state, await freePort(), '--databases', '1')
  demo = readDemo(state)
  service = (key) => new Service(demo.baseUrl, key)
  await run('operate bootstrap', '--organization', 'BEGIN TRANSACTION;', '--service', '--persist-to', state)
  const made = await service(demo.apiKey).send<{ id: string }>('POST', '/v1/skills', largeSkill)
  skillId = made.body.id
  await service(demo.apiKey).send('POST', `/v1/projects/${demo.projectId}/schedules`, {
    cron: '0 6 * * *',
    timezone: 'Europe/Paris',
  })
  const keys = await Promise.all(
    Array.from({ length: KEYS }, (_, index) =>
      mintApiKey({
        organizationId: demo.organizationId,
        name: `key ${index}`,
        scopes: [],
        createdAt: new Date().toISOString(),
      }),
    ),
  )
  await execute(
    target,
    keys.map(({ row }) => ({ statement: insertApiKey, values: row })),
  )
  tokens.push(...keys.map(({ token }) => token))
  revoked = { token: tokens[0] ?? '', id: keys[0]?.row.id ?? '' }

  const folder = join(files, 'export')
  mkdirSync(join(folder, '.wrangler'), { recursive: true })
  symlinkSync(state, join(folder, '.wrangler', 'state'))
  const config = join(folder, 'wrangler.toml')
  copyFileSync(join(ROOT, 'wrangler.toml'), config)
  runWrangler(['d1', 'export', 'DB', '--local', '--output', dump], { config })
})

afterAll(async () => {
  await stopDevServer(server)
  rmSync(state, { recursive: true })
  rmSync(files, { recursive: true })
})

describe('a backup', () => {
  it('is one state of the database, also while the service writes', async () => {
    const ada = service(demo.apiKey)
    let isDone = false
    let writes = 0
    const write = async (lane: number) => {
      while (!isDone) {
        const path = `/v1/sessions/${demo.sessionId}/files?path=${lane}/${writes++ % 3}.txt`
        const { body } = await ada.send<{ id: string }>('PUT', path, Buffer.from(`content ${writes}`))
        if (writes % 2) await ada.send('DELETE', `/v1/sessions/${demo.sessionId}/files/${body.id}`)
      }
    }
    const lanes = Promise.all([1, 2, 3, 4].map(write))
    /** Of one backup. @returns how many writes began meanwhile. */
    const check = async (output: string) => {
      const writesBefore = writes
      await Promise.race([run('operate backup', '--output', output, '--persist-to', state), lanes])
      const during = writes - writesBefore
      const copy = new DatabaseSync(output)
      verifyBackup(copy)
      const wrong = copy
        .prepare(
          `SELECT * FROM "organizationUsage" AS "usage" WHERE
             "files" <> (SELECT count(*) FROM "sessionFiles" WHERE "organizationId" = "usage"."organizationId")
             OR "bytes" <> (SELECT coalesce(sum("sizeBytes"), 0) FROM "sessionFiles" WHERE "organizationId" = "usage"."organizationId")`,
        )
        .all()
      const referenced = copy.prepare('SELECT * FROM "orphanedObjects" JOIN "sessionFiles" USING ("objectKey")').all()
      copy.close()
      expect([wrong, referenced]).toEqual([[], []])
      return during
    }
    try {
      let during = 0
      // On a busy machine, a backup can end before the service gets to write.
      for (let index = 0; during === 0 || (process.env.LONG && index < 3); index++) {
        during += await check(join(files, `${index}.sqlite`))
      }
    } finally {
      isDone = true
      await lanes
    }
  })

  it('can be read by its owner alone, has no token and no value, and replaces no file', async () => {
    await run('operate backup', '--output', backup, '--persist-to', state)
    expect(statSync(backup).mode & 0o077).toBe(0)
    const bytes = readFileSync(backup)
    for (const secret of [demo.apiKey, revoked.token, 'postgres://']) expect(bytes.includes(secret)).toBe(false)
    expect(bytes.includes(demo.organizationId)).toBe(true)
    await expect(run('operate backup', '--output', backup, '--persist-to', state)).rejects.toThrow(/does not exist yet/)
    await expect(run('operate backup', '--output', join(files, 'x'), '--persist-to', files)).rejects.toThrow(
      /There is no database in/,
    )
  })
})

describe('a backup with objects', () => {
  const folder = join(files, 'whole')
  const file = join(folder, 'backup.sqlite')
  const contentsOf = async (place: string) => {
    const output = newFolder()
    await run(
      'operate organization',
      'export',
      demo.organizationId,
      '--output',
      join(output, 'export'),
      '--persist-to',
      place,
    )
    const found = readdirSync(output, { recursive: true, withFileTypes: true }).filter(
      (each) => each.isFile() && !/\.jsonl?$/.test(each.name),
    )
    const contents = found.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(output.length), readFileSync(path, 'base64')]
    })
    rmSync(output, { recursive: true })
    return contents.sort()
  }

  it('is restored byte for byte into a new place, and copies and uploads nothing twice', {
    tags: 'slow',
  }, async () => {
    mkdirSync(folder)
    const data = randomBytes(300_000)
    await service(demo.apiKey).send('PUT', `/v1/sessions/${demo.sessionId}/files?path=random.bin`, data)
    await run('operate backup', '--output', file, '--with-objects', '--persist-to', state)
    const printed = await run(
      'operate backup',
      '--output',
      join(folder, 'next.sqlite'),
      '--with-objects',
      '--persist-to',
      state,
    )
    expect(printed).toMatch(/objects: \d+ objects, 0 copied now, 0 missing\n$/)

    const place = newFolder()
    const args = ['--yes', '--input', file, '--with-objects', '--persist-to', place]
    expect(await run('operate restore', ...args)).toMatch(/ (\d+) in the backup, \1 uploaded now, 0 missing\n/)
    expect(await run('operate restore', ...args)).toMatch(/ 0 uploaded now, 0 missing\n/)
    const contents = await contentsOf(place)
    expect(contents).toEqual(await contentsOf(state))
    expect(contents.map(([, content]) => content)).toContain(data.toString('base64'))
    rmSync(place, { recursive: true })

    // What another folder has is not uploaded, and nothing is changed.
    const objects = join(folder, 'objects')
    const elsewhere = newFolder()
    const [name = ''] = readdirSync(objects)
    renameSync(join(objects, name), join(elsewhere, name))
    symlinkSync(join(elsewhere, name), join(objects, name))
    const empty = newFolder()
    const commands: [script: string, ...args: string[]][] = [
      ['operate restore', '--yes', '--input', file, '--with-objects', '--persist-to', empty],
      ['operate backup', '--output', join(folder, 'linked.sqlite'), '--with-objects', '--persist-to', state],
    ]
    for (const command of commands) {
      await expect(run(...command)).rejects.toThrow(`${join(objects, name)} is a symbolic link; allowed: `)
    }
    expect(await contentsOf(empty).catch(() => [])).toEqual([])
    for (const path of [empty, elsewhere]) rmSync(path, { recursive: true })

    rmSync(objects, { recursive: true })
    await expect(
      run('operate restore', '--yes', '--input', file, '--with-objects', '--persist-to', newFolder()),
    ).rejects.toThrow(/--with-objects needs the folder/)
  })
})

describe('a restore over a database that serves', () => {
  it('brings everything back byte for byte, and no key that was revoked, at any time', async () => {
    const ada = service(demo.apiKey)
    await service(demo.serviceKey).send('DELETE', `/v1/api-keys/${revoked.id}`)
    const late = await ada.send<{ token: string }>('POST', '/v1/api-keys', { name: 'late', scopes: [] })
    await ada.send('DELETE', `/v1/skills/${skillId}`)
    await ada.send('PUT', `/v1/sessions/${demo.sessionId}/files?path=late.txt`, Buffer.from('late'))
    await rowsOf(state, `UPDATE "schedules" SET "nextRunAt" = '2026-01-01T00:00:00.000Z'`)

    let isDone = false
    const seen = { revoked: 0, partial: 0, checks: 0 }
    const watch = async () => {
      while (!isDone) {
        seen.checks++
        if (await isAlive(revoked.token)) seen.revoked++
        // It may be locked for a moment, and never has half of its schema.
        if (/not current/.test(await (await fetch(`${demo.baseUrl}/health`)).text())) seen.partial++
      }
    }
    const watching = watch()
    const printed = await run('operate restore', '--yes', '--persist-to', state, '--input', backup)
    isDone = true
    await watching
    expect(seen).toMatchObject({ revoked: 0, partial: 0 })
    expect(seen.checks).toBeGreaterThan(0)
    expect(printed).toMatch(/skills: 3 rows, 2 before\n/)
    expect(printed).toMatch(/Restored\. Valid API keys: \d+\.\n$/)

    const { body } = await ada.send<typeof largeSkill>('GET', `/v1/skills/${skillId}`)
    expect(body.description).toBe(HOSTILE_TEXT)
    expect(body.files.map(({ filename, content }) => ({ filename, content }))).toEqual(largeSkill.files)
    expect(await rowsOf(state, `SELECT "name" FROM "organizations" WHERE "name" LIKE 'BEGIN%'`)).toEqual([
      { name: 'BEGIN TRANSACTION;' },
    ])
    expect(await Promise.all([late.body.token, revoked.token].map(isAlive))).toEqual([false, false])
    expect(await Promise.all(tokens.slice(1, 20).map(isAlive))).not.toContain(false)
    expect(await countOf(state, '"apiKeys" WHERE "revokedAt" IS NULL')).toBeGreaterThanOrEqual(KEYS - 1)
    // Nothing fires for the time between: the tick computes when the schedules go on.
    expect(await countOf(state, `"schedules" WHERE "nextRunAt" <= '${new Date().toISOString()}'`)).toBe(0)
    expect(await countOf(state, '"objectSearches"')).toBe(1)
    expect(await countOf(state, '"sessionFiles" WHERE "path" = \'late.txt\'')).toBe(0)
  })

  it('leaves what was there in a file, which can be restored in its turn', async () => {
    const [name = ''] = readdirSync(files).filter((file) => file.startsWith('backup.sqlite.replaced-'))
    expect(statSync(join(files, name)).mode & 0o077).toBe(0)
    await restore('--input', join(files, name))
    expect(await countOf(state, '"sessionFiles" WHERE "path" = \'late.txt\'')).toBe(1)
    expect(await isAlive(revoked.token)).toBe(false)
    expect(await isAlive(demo.apiKey)).toBe(true)
    await restore('--input', backup)
  })

  it('asks first', async () => {
    await expect(run('operate restore', '--input', backup, '--persist-to', state)).rejects.toThrow(
      /Nothing was changed\. Pass --yes/,
    )
  })

  it('loads a dump that wrangler wrote, byte for byte', async () => {
    await restore('--input', dump)
    const { body } = await service(demo.apiKey).send<typeof largeSkill>('GET', `/v1/skills/${skillId}`)
    expect(body.files.map(({ filename, content }) => ({ filename, content }))).toEqual(largeSkill.files)
    expect(await isAlive(revoked.token)).toBe(false)
  })

  it('revives no key where a schedule has a time zone that nobody knows', async () => {
    const copy = join(files, 'zone.sqlite')
    copyFileSync(backup, copy)
    const database = new DatabaseSync(copy)
    database.exec(`UPDATE "schedules" SET "timezone" = 'Mars/Olympus', "nextRunAt" = '2026-01-01T00:00:00.000Z'`)
    database.close()
    await restore('--input', copy)
    expect(await isAlive(revoked.token)).toBe(false)
    expect(await isAlive(demo.apiKey)).toBe(true)
    await restore('--input', backup)
  })

  it('is whole or did not happen, when its process is killed at any moment', async () => {
    const [small, large] = [join(files, 'small.sqlite'), backup]
    copyFileSync(backup, small)
    const database = new DatabaseSync(small)
    database.exec('DELETE FROM "skills"; DELETE FROM "skillVersions"; DELETE FROM "skillContents"')
    database.close()

    const started = Date.now()
    await restore('--input', small)
    const durationMs = Date.now() - started
    const states = [await fingerprint()]
    await restore('--input', large)
    states.push(await fingerprint())
    for (let round = 0; round < KILLS; round++) {
      // Most of the time goes by before the database is touched.
      const afterMs = durationMs * (round === 0 ? 0.3 : 0.6 + (0.4 * round) / KILLS)
      await killed(
        startScript('operate restore', ['--yes', '--persist-to', state, '--input', round % 2 ? large : small]),
        afterMs,
      )
      expect(states).toContain(await fingerprint())
      expect(await rowsOf(state, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
      expect(await isAlive(revoked.token)).toBe(false)
      expect(await isAlive(demo.apiKey)).toBe(true)
    }
    await restore('--input', large)
  })

  it('revokes all keys, if that is asked for, and says how to get in', async () => {
    const printed = await restore('--input', backup, '--revoke-all-keys')
    expect(await countOf(state, '"apiKeys" WHERE "revokedAt" IS NULL')).toBe(0)
    expect(printed).toContain(
      'No API key is valid. To create one: npm run operate -- bootstrap --organization-id <id> --service',
    )
    // What was revoked stays revoked.
    expect(await restore('--input', backup)).toContain('No API key is valid.')
  })
})

describe('a restore into a new place', () => {
  it('keeps the keys as the backup has them', async () => {
    const empty = newFolder()
    for (const place of [empty, join(empty, 'new', 'folder')]) {
      const printed = await run('operate restore', '--yes', '--input', backup, '--persist-to', place)
      expect(printed).toContain('is empty')
      expect(await countOf(place, '"apiKeys" WHERE "revokedAt" IS NULL')).toBeGreaterThanOrEqual(KEYS)
      expect(statSync(localDatabaseFile({ remote: false, persistTo: place })).mode & 0o077).toBe(0)
    }
    rmSync(empty, { recursive: true })
  })
})

describe('what is no whole backup', () => {
  const text = () => readFileSync(dump, 'utf8')
  /** Places to cut a dump at: one in each kind of statement, and between any two kinds. */
  const cuts: Record<string, (sql: string) => number> = {
    'at the beginning': () => 0,
    'in the first table': (sql) => sql.indexOf('CREATE TABLE') + 40,
    'after the first table': (sql) => sql.indexOf(';', sql.indexOf('CREATE TABLE')) + 1,
    'in a row': (sql) => sql.indexOf('INSERT INTO "apiKeys"') + 100,
    'between rows': (sql) => sql.lastIndexOf('INSERT INTO "auditEvents"'),
    'in a content': (sql) => sql.indexOf('BEGIN TRANSACTION;\nCOMMIT;') + 1000,
    'before the last table': (sql) => sql.lastIndexOf('CREATE TABLE'),
    'before the indexes': (sql) => sql.search(/^CREATE (UNIQUE )?INDEX/m),
    'between indexes': (sql) => sql.lastIndexOf('CREATE INDEX'),
    'before the triggers': (sql) => sql.indexOf('CREATE TRIGGER'),
    'in a trigger': (sql) => sql.indexOf(';', sql.indexOf('CREATE TRIGGER')) + 1,
    'before the last statement': (sql) =>
      Math.max(sql.lastIndexOf('\nCREATE INDEX'), sql.lastIndexOf('\nCREATE TRIGGER')),
    'before the last semicolon': (sql) => sql.lastIndexOf(';'),
  }
  const load = async (contents: string | Uint8Array) => {
    const folder = newFolder()
    const input = join(folder, 'input')
    writeFileSync(input, contents)
    try {
      const database = await loadBackup(input, join(folder, 'backup.sqlite'))
      database.close()
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it.each(Object.keys(cuts))('a dump that is cut %s', async (name) => {
    const cut = cuts[name]?.(text()) ?? -1
    expect(cut).toBeGreaterThanOrEqual(0)
    await expect(load(text().slice(0, cut))).rejects.toThrow(/^input can't be restored: .+\.$/s)
  })

  it('a dump that is whole is taken, also within a transaction and however it arrives', async () => {
    await load(text())
    await load(`BEGIN TRANSACTION;\n${text()}\nCOMMIT;\nANALYZE sqlite_schema;\n`)
    async function* characters() {
      yield* text().slice(0, 200_000)
      yield text().slice(200_000)
    }
    const database = new DatabaseSync(':memory:')
    await loadDump(database, characters())
    verifyBackup(database)
    database.close()
  })

  it.each([
    ['nothing', '', 'it is not a backup of this service'],
    ['garbage', 'garbage', 'its last statement is cut off'],
    ['other SQL', 'CREATE TABLE "x" ("y");', 'it is not a backup of this service'],
    ['SQL that reaches out', `ATTACH '/etc/x' AS "x";`, 'it has the statement "ATTACH'],
    [
      'SQL that hides a statement in an identifier',
      `CREATE TABLE "t" ("a"); INSERT INTO "t" SELECT 1 AS [']; ATTACH '/etc/x' AS y; --';`,
      'hides another',
    ],
    [
      'SQL that hides a statement in a comment',
      `CREATE TABLE "t" ("a"); INSERT INTO "t" SELECT 1 /**/* 1; ATTACH '/etc/x' AS y; --*/;`,
      'it has the statement "ATTACH',
    ],
    ['SQL that selects', 'SELECT 1;', 'it has the statement "SELECT'],
    ['broken SQL', 'CREATE TABLE;', 'syntax error'],
  ])('%s', async (_, contents, problem) => {
    await expect(load(contents)).rejects.toThrow(problem)
  })

  it.each([
    ['a table of its own', 'CREATE TABLE "x" ("y");', 'it has the table x'],
    ['an index that is missing', 'DROP INDEX "sessionFilesById"', 'the index sessionFilesById is missing'],
    [
      'a trigger that does something else',
      'DROP TRIGGER "fileAdded"; CREATE TRIGGER "fileAdded" AFTER INSERT ON "sessionFiles" BEGIN SELECT 1; END',
      'the trigger fileAdded differs from that of this service',
    ],
    [
      'the migrations of another version',
      `INSERT INTO "d1_migrations" ("name") VALUES ('9999_later.sql')`,
      'its schema is that of another version of the service: it has the migration 9999_later.sql.',
    ],
    [
      'a table of an earlier schema',
      'ALTER TABLE "users" DROP COLUMN "revision"',
      'the table users differs from that of this service.',
    ],
    [
      'a row that D1 does not take',
      `UPDATE "skillContents" SET "content" = replace(hex(zeroblob(1000001)), '00', '..')`,
      'D1 allows 2000000',
    ],
    ['a value that is binary', `UPDATE "organizations" SET "name" = x'00ff'`, 'binary values'],
  ])('a backup with %s', async (_, sql, problem) => {
    const copy = join(files, 'changed.sqlite')
    copyFileSync(backup, copy)
    const database = new DatabaseSync(copy)
    database.exec(sql)
    database.close()
    await expect(load(readFileSync(copy))).rejects.toThrow(problem)
  })

  it('a backup file that is cut or damaged', async () => {
    const bytes = readFileSync(backup)
    for (const length of [20, 4096, bytes.length >> 1, bytes.length - 4096]) {
      await expect(load(bytes.subarray(0, length))).rejects.toThrow(/can't be restored/)
    }
    const damaged = Buffer.from(bytes)
    damaged.fill(0xff, 8192, 12_288)
    await expect(load(damaged)).rejects.toThrow(/can't be restored/)
  })

  it('changes nothing', async () => {
    const before = await fingerprint()
    for (const contents of ['', 'garbage', text().slice(0, 100_000)]) {
      const input = join(files, 'wrong.sql')
      writeFileSync(input, contents)
      await expect(restore('--input', input)).rejects.toThrow(/wrong\.sql can't be restored: .* Nothing was changed\./)
    }
    await expect(restore('--input', join(files, 'missing.sql'))).rejects.toThrow(/--input/)
    await expect(restore('--input', files)).rejects.toThrow(/--input/)
    await expect(restore('--time-travel', '2026-01-01T00:00:00Z')).rejects.toThrow(/needs --remote/)
    await expect(restore()).rejects.toThrow(/Pass either --input/)
    expect(await fingerprint()).toBe(before)
  })
})

/** Runs a script without holding up this process. @returns what it printed. @throws if it failed, with what it said. */
async function run(script: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await runScript(script, args)
  if (status !== 0) throw new Error(stderr)
  return stdout
}

async function killed(child: ChildProcess, afterMs: number): Promise<void> {
  const ended = new Promise((resolve) => child.on('close', resolve))
  const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), afterMs)
  await ended
  clearTimeout(timer)
}
