import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { stripCopy, verifyBackup } from '../../operate/backups/backup-file.ts'
import { insertApiKey, insertOrganization, mintApiKey } from '../../operate/provisioning.ts'
import { NEXT_RUNS_PASS } from '../../src/db/pass.ts'
import { boundValues } from '../../src/db/statement.ts'
import { readConfiguration } from '../../tools/wrangler.ts'
import { startScript } from '../support/commands.ts'
import { newFolder } from '../support/dev-server.ts'
import { endProjects, newAccount, newProject, run, TOML } from '../support/project.ts'

const WORKER = 'workspace-api'
const BUCKET = 'workspace-api-objects'
/** How wrangler uploads a Worker that is deployed already. */
const UPLOAD = `POST /workers/scripts/${WORKER}/versions`
const KEYS = 1200
const ORGANIZATION = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'
/** Larger than a statement of D1 may be, with characters that JSON and SQL escape, and none that a piece may part. */
const LARGE_CONTENT = `BEGIN TRANSACTION;\nCOMMIT;\n'"\\\u0001printf("\\n\\r\\\\n");\r\n${'\u{1f680}é\n'.repeat(200_000)}`

const createdAt = new Date().toISOString()
const PASSES = [NEXT_RUNS_PASS, 'retention']
const keys = await Promise.all(
  Array.from({ length: KEYS }, (_, index) =>
    mintApiKey({ organizationId: ORGANIZATION, name: `key ${index}`, scopes: [], createdAt }),
  ),
)
const hashes = keys.map(({ row }) => String(row.hash))

const files = newFolder()
/** The backup of a new deployment. */
const backup = join(files, 'backup.sqlite')

beforeAll(async () => {
  const { command } = await newDeployment()
  expect(await command('operate backup', '--output', backup)).toMatchObject({ code: 0 })
  endProjects()
})
afterEach(endProjects)
afterAll(() => rmSync(files, { recursive: true }))

/** The buckets and queues of wrangler.toml. */
function resources() {
  const { queues, r2_buckets } = readConfiguration({})
  const names = queues.consumers?.flatMap((each) => [each.queue, each.dead_letter_queue ?? '']) ?? []
  return {
    buckets: r2_buckets.map(({ bucket_name = '' }) => String(bucket_name)),
    queues: [...new Set(names)],
  }
}

/** A deployment with data. */
async function newDeployment() {
  const { api, url, deploy, variables } = await newAccount()
  api.deployed(WORKER, resources())
  const project = newProject()
  const flags = ['--remote', '--config', project.config]
  const command = (script: string, ...args: string[]) => run(script, [...flags, ...args], variables)
  const current = () => {
    const found = api.bound(WORKER)
    if (!found) throw new Error('No database is bound')
    return found
  }
  const first = current()
  const { sqlite } = first
  const insert = (statement: typeof insertApiKey, values: Parameters<typeof boundValues>[1]) =>
    sqlite.prepare(statement.sql).run(...boundValues(statement, values))
  insert(insertOrganization, { id: ORGANIZATION, name: 'COMMIT;', createdAt })
  for (const { row } of keys) insert(insertApiKey, row)
  sqlite
    .prepare('INSERT INTO "skills" VALUES (?, ?, ?, ?, 1, 1, ?, ?, ?, NULL, NULL)')
    .run(ORGANIZATION, 'skill', 'large', 'Large.', 'r', createdAt, createdAt)
  sqlite.prepare('INSERT INTO "skillContents" VALUES (?, ?, ?, ?)').run(ORGANIZATION, 'skill', 'sha256', LARGE_CONTENT)
  sqlite
    .prepare(
      `INSERT INTO "schedules" ("organizationId", "parentType", "parentId", "id", "cron", "timezone", "enabledAt", "nextRunAt", "createdAt", "updatedAt", "revision")
       VALUES (?, 'project', 'website', 's', '* * * * *', 'UTC', ?, ?, ?, ?, 'r')`,
    )
    .run(ORGANIZATION, createdAt, createdAt, createdAt, createdAt)
  sqlite.prepare('INSERT INTO "passes" VALUES (?1, ?3, ?4), (?2, ?3, ?4)').run(...PASSES, createdAt, '')
  return {
    api,
    url,
    project,
    current,
    first,
    command,
    deploy: () => deploy(project),
    /** Starts a restore in a process group of its own. */
    start: (...args: string[]) =>
      startScript('operate restore', [...flags, '--url', url, '--yes', ...args], {
        env: { ...process.env, ...variables },
        stdio: 'ignore',
      }),
    restore: (...args: string[]) => command('operate restore', '--url', url, '--yes', ...args),
  }
}

const isLive = (sqlite: DatabaseSync, hash: string) =>
  sqlite.prepare('SELECT 1 FROM "apiKeys" WHERE "hash" = ? AND "revokedAt" IS NULL').all(hash).length > 0

const revoke = (sqlite: DatabaseSync, hash: string) =>
  sqlite.prepare(`UPDATE "apiKeys" SET "revokedAt" = '2026-01-01T00:00:00.000Z' WHERE "hash" = ?`).run(hash)

const addSkill = (sqlite: DatabaseSync, name: string) =>
  sqlite
    .prepare(`INSERT INTO "skills" VALUES (?, ?, ?, '', 1, 1, '', '', '', NULL, NULL)`)
    .run(ORGANIZATION, name, name)

const skills = (sqlite: DatabaseSync) =>
  sqlite
    .prepare('SELECT "name" FROM "skills" ORDER BY 1')
    .all()
    .map(({ name }) => name)

/** @throws if the database is not whole. */
function verify(sqlite: DatabaseSync): void {
  const file = join(newFolder(), 'copy.sqlite')
  sqlite.prepare('VACUUM INTO ?').run(file)
  const copy = new DatabaseSync(file)
  stripCopy(copy)
  verifyBackup(copy)
  copy.close()
}

/** A change by a request is recorded in its transaction. */
const acceptsChanges = (sqlite: DatabaseSync) => {
  try {
    sqlite
      .prepare(
        `INSERT INTO "auditEvents" ("organizationId", "sequence", "id", "type", "resourceId")
         SELECT ?1, coalesce(max("sequence"), 0) + 1, ?2, 'user.updated', 'ada' FROM "auditEvents" WHERE "organizationId" = ?1`,
      )
      .run(ORGANIZATION, crypto.randomUUID())
    return true
  } catch (error) {
    expect((error as Error).message).toBe('A backup or restore is under way')
    return false
  }
}

describe('the objects of a deployment', () => {
  const TABLES = `INSERT INTO "sessionFiles" ("organizationId", "sessionId", "id", "path", "objectKey", "sizeBytes", "sha256", "createdAt", "updatedAt")
    SELECT ?1, 'session', value ->> 0, value ->> 1, value ->> 2, value ->> 3, '', '2026', '2026' FROM json_each(?2)`
  const content = (index: number) => Buffer.from(`The content of ${index}\n`)
  const COUNT = 30

  async function withFiles() {
    const deployment = await newDeployment()
    const { api, first } = deployment
    const rows = Array.from({ length: COUNT }, (_, index) => {
      const key = `session-files/${ORGANIZATION}/${crypto.randomUUID()}`
      api.objects.set(`${BUCKET}/${key}`, content(index))
      return [crypto.randomUUID(), `src/${index}.txt`, key, content(index).length]
    })
    first.sqlite.prepare(TABLES).run(ORGANIZATION, JSON.stringify(rows))
    return deployment
  }

  it('are exported, eight at once and again after a failure, and are in its status', async () => {
    const { api, command, first } = await withFiles()
    api.failing = { call: /^GET workspace-api-objects\//, status: 503 }
    const output = join(files, 'export')
    expect(await command('operate organization', 'export', 'COMMIT;', '--output', output)).toMatchObject({ code: 0 })
    const exportedKeys = readFileSync(join(output, 'apiKeys.jsonl'), 'utf8').trim().split('\n')
    expect(exportedKeys.map((line) => JSON.parse(line).name).sort()).toEqual(keys.map(({ row }) => row.name).sort())
    expect(hashes.filter((hash) => exportedKeys.join().includes(hash))).toEqual([])
    for (let index = 0; index < COUNT; index++) {
      expect(readFileSync(join(output, 'files', 'session', 'src', `${index}.txt`))).toEqual(content(index))
    }
    const { printed } = await command('operate status', '--json')
    const size = first.sqlite
      .prepare('SELECT page_count * page_size AS "bytes" FROM pragma_page_count, pragma_page_size')
      .get()
    expect(JSON.parse(printed)).toMatchObject({
      database: { sizeBytes: size?.bytes },
      liveKeys: KEYS,
      organizations: [{ id: ORGANIZATION, usage: { files: { used: COUNT } } }],
    })
  })

  it('are backed up, and restored to a bucket that lost them', { tags: 'slow' }, async () => {
    const { api, command, restore, first } = await withFiles()
    const folder = join(files, 'with-objects')
    mkdirSync(folder)
    const file = join(folder, 'backup.sqlite')
    const [lost = ''] = api.objects.keys()
    const saved = new Map(api.objects)
    api.objects.delete(lost)
    expect(await command('operate backup', '--output', file, '--with-objects')).toMatchObject({
      code: 1,
      printed: expect.stringContaining('The object store lacks 1 objects that rows refer to'),
    })
    api.objects.set(lost, saved.get(lost) ?? Buffer.from(''))
    rmSync(file)
    const again = await command('operate backup', '--output', file, '--with-objects')
    expect(again.printed).toContain(`${COUNT} objects, 1 copied now, 0 missing`)

    for (const key of [...api.objects.keys()].slice(3)) api.objects.delete(key)
    first.sqlite.exec('DELETE FROM "sessionFiles"')
    // Until the switch, the service may delete objects that no row of the old database refers to.
    api.watch = (call) => {
      if (call === UPLOAD) api.objects.delete(lost)
    }
    const restored = await restore('--input', file, '--with-objects')
    expect(restored.printed).toContain(`${COUNT} in the backup, ${COUNT - 3} uploaded now, 0 missing`)
    expect(restored.printed).toContain(`${COUNT} in the backup, 1 uploaded now, 0 missing`)
    expect(restored.code).toBe(0)
    expect(new Map([...api.objects].sort())).toEqual(new Map([...saved].sort()))
  })
})

/** Each makes an account and deploys to it. */
describe('a restore of a deployment', { tags: 'slow' }, () => {
  it('fills a new database, and switches to it when it is whole; no key that was revoked acts at any time', async () => {
    const { api, project, current, first, restore } = await newDeployment()
    const [revokedHash = ''] = hashes
    revoke(first.sqlite, revokedHash)
    addSkill(first.sqlite, 'after')
    const rotatedAt = '2099-02-01T00:00:00.000Z'
    first.sqlite
      .prepare('UPDATE "apiKeys" SET "rotatedAt" = ?, "expiresAt" = ? WHERE "hash" = ?')
      .run(rotatedAt, rotatedAt, hashes[2] ?? '')

    const seen = { live: 0, uploads: 0, changesDuringUpload: 0, databases: new Set<string>() }
    api.watch = (call) => {
      seen.databases.add(current().uuid)
      if (isLive(current().sqlite, revokedHash)) seen.live++
      if (call === UPLOAD && current() === first) {
        seen.uploads++
        // Somebody revokes a key at the last moment: it is refused, so nobody believes that it is revoked.
        if (acceptsChanges(first.sqlite)) seen.changesDuringUpload++
      }
    }
    const { printed, code } = await restore('--input', backup)
    api.watch = () => undefined
    expect(printed).toContain(`Restored. Valid API keys: ${KEYS - 1}.`)
    expect(code).toBe(0)
    expect(seen).toMatchObject({ live: 0, uploads: 1, changesDuringUpload: 0 })
    expect(seen.databases.size).toBe(2)

    const restored = current()
    expect(restored.name).toMatch(/^workspace-api-\d{8}t\d{6}$/)
    verifyBackup(restored.sqlite)
    expect(skills(restored.sqlite)).toEqual(['large'])
    expect(restored.sqlite.prepare('SELECT "content" FROM "skillContents"').all()).toEqual([{ content: LARGE_CONTENT }])
    expect(isLive(restored.sqlite, revokedHash)).toBe(false)
    expect(hashes.filter((hash) => isLive(restored.sqlite, hash))).toHaveLength(KEYS - 1)
    expect(
      restored.sqlite.prepare('SELECT "expiresAt", "rotatedAt" FROM "apiKeys" WHERE "hash" = ?').all(hashes[2] ?? ''),
    ).toEqual([{ expiresAt: rotatedAt, rotatedAt }])
    expect(restored.sqlite.prepare('SELECT "nextRunAt" FROM "schedules"').all()).toEqual([{ nextRunAt: null }])
    expect(restored.sqlite.prepare('SELECT "name" FROM "passes"').all()).toEqual([{ name: 'retention' }])
    expect(restored.sqlite.prepare('SELECT * FROM "objectSearches"').all()).toHaveLength(1)
    expect(acceptsChanges(restored.sqlite)).toBe(true)
    expect(skills(first.sqlite)).toEqual(['after', 'large'])
    expect(readFileSync(project.config, 'utf8')).toBe(
      TOML.replace('database_name = "workspace-api"', `database_name = "${restored.name}"`),
    )
    expect(readdirSync(project.folder).filter((name) => name.endsWith('.toml'))).toEqual(['wrangler.toml'])
  })

  it.each([
    ['the new database can’t be made', 'POST /d1/database'],
    ['it can’t be filled', /^POST \/d1\/database\/(?!workspace-api\/)[^/]+\/query$/],
    [
      'its last statements fail',
      (call: string, body: unknown) => call.endsWith('/query') && JSON.stringify(body).includes('objectSearches\\" ('),
    ],
    ['the Worker can’t be uploaded', UPLOAD],
    ['the Worker is uploaded, and the rest fails', `PUT /workers/scripts/${WORKER}/schedules`],
  ])('leaves the old database as it was, and serving, where %s', async (_, call) => {
    const { api, project, current, first, restore } = await newDeployment()
    revoke(first.sqlite, hashes[0] ?? '')
    addSkill(first.sqlite, 'after')
    api.failing = { call, status: 400 }
    const { code, printed } = await restore('--input', backup)
    expect(printed).toContain('A failure on purpose')
    expect(code).toBe(1)
    expect(current()).toBe(first)
    expect(skills(first.sqlite)).toEqual(['after', 'large'])
    expect(acceptsChanges(first.sqlite)).toBe(true)
    expect(isLive(first.sqlite, hashes[0] ?? '')).toBe(false)
    verifyBackup(first.sqlite)
    expect(readFileSync(project.config, 'utf8')).toBe(TOML)
  })

  it('does not switch to a copy that lacks something', async () => {
    const { api, current, first, restore } = await newDeployment()
    api.watch = () => {
      for (const { sqlite } of api.databases.filter((each) => each !== first)) {
        const isThere = sqlite.prepare(`SELECT 1 FROM sqlite_master WHERE "name" = 'skills'`).all().length > 0
        if (isThere) sqlite.exec('DELETE FROM "skills"')
      }
    }
    const { code, printed } = await restore('--input', backup)
    expect(printed).toMatch(/The copy of the table skills has 0 rows of 0 bytes instead of 1 rows of \d+ bytes\./)
    expect([code, current()]).toEqual([1, first])
    expect(acceptsChanges(first.sqlite)).toBe(true)
  })

  const moments: [name: string, call: RegExp, count: number][] = [
    ['while the new database is filled', /^POST .*\/query$/, 6],
    ['while changes are refused', /^POST .*\/query$/, 36],
    ['before the Worker is uploaded', /\/versions$/, 1],
    ['after the Worker is uploaded', /^PUT \/workers\/scripts\/[^/]+\/schedules/, 2],
  ]
  it.each(moments)('revives no key when its process is killed %s, and can be run again', async (_, call, count) => {
    const { api, project, current, first, restore, start } = await newDeployment()
    revoke(first.sqlite, hashes[0] ?? '')
    let calls = 0
    const child = start('--input', backup)
    api.watch = (made) => {
      if (call.test(made) && ++calls === count) process.kill(-(child.pid as number), 'SIGKILL')
    }
    const signal = await new Promise((resolve) => child.on('close', (_code, signal) => resolve(signal)))
    expect(signal).toBe('SIGKILL')
    api.watch = () => undefined
    verify(current().sqlite)
    expect(isLive(current().sqlite, hashes[0] ?? '')).toBe(false)
    expect(hashes.filter((hash) => isLive(current().sqlite, hash))).toHaveLength(KEYS - 1)
    // Wrangler.toml still names the first, which the commands refuse to take for the one that serves.
    if (current() !== first) {
      expect((await restore('--input', backup)).printed).toContain(`Set database_name = "${current().name}"`)
      const toml = readFileSync(project.config, 'utf8')
      writeFileSync(project.config, toml.replace('"workspace-api"\nmigrations', `"${current().name}"\nmigrations`))
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    const killed = current()
    expect(await restore('--input', backup)).toMatchObject({ code: 0 })
    expect(current()).not.toBe(killed)
    expect(current().name).toMatch(/^workspace-api-\d{8}t\d{6}$/)
    expect(skills(current().sqlite)).toEqual(['large'])
    expect(hashes.filter((hash) => isLive(current().sqlite, hash))).toHaveLength(KEYS - 1)
  })

  it('goes back in time by the same way', async () => {
    const { api, current, first, restore } = await newDeployment()
    api.remember()
    const instant = new Date().toISOString()
    await new Promise((resolve) => setTimeout(resolve, 10))
    revoke(first.sqlite, hashes[0] ?? '')
    addSkill(first.sqlite, 'after')
    let live = 0
    api.watch = () => {
      if (isLive(current().sqlite, hashes[0] ?? '')) live++
    }
    const { code, printed } = await restore('--time-travel', instant)
    expect(printed).toContain('Restored.')
    expect([code, live]).toEqual([0, 0])
    expect(skills(current().sqlite)).toEqual(['large'])
    expect(isLive(current().sqlite, hashes[0] ?? '')).toBe(false)
    expect(hashes.filter((hash) => isLive(current().sqlite, hash))).toHaveLength(KEYS - 1)
    expect(api.databases).toHaveLength(3)
    // The copy has what was there until now.
    const copy = api.databases.find((database) => ![first, current()].includes(database))
    expect(skills(copy?.sqlite as DatabaseSync)).toEqual(['after', 'large'])
  })

  it('makes the database of an account that has none, with the keys as the backup has them', async () => {
    const { api, variables } = await newAccount()
    const project = newProject()
    const { code, printed } = await run(
      'operate restore',
      ['--remote', '--config', project.config, '--yes', '--input', backup],
      variables,
    )
    expect(printed).toContain('Next: npm run deploy')
    expect(code).toBe(0)
    const [{ name } = { name: '' }] = api.databases
    expect(readFileSync(project.config, 'utf8')).toBe(
      TOML.replace('database_name = "workspace-api"', `database_name = "${name}"`),
    )
    expect(isLive(api.databases[0]?.sqlite as DatabaseSync, hashes[0] ?? '')).toBe(true)
  })

  it('refuses, before it makes anything, what it could not write into wrangler.toml', async () => {
    const { api, project, restore } = await newDeployment()
    const other = TOML.replace('database_name = "workspace-api"', `database_name = 'workspace-api'`)
    writeFileSync(project.config, other)
    const { code, printed } = await restore('--input', backup)
    expect(printed).toContain('expected one line `database_name = "workspace-api"`')
    expect([code, api.databases.length]).toEqual([1, 1])
  })
})

describe('npm run deploy', { tags: 'slow' }, () => {
  it('does not exchange the database of a Worker', async () => {
    const { project, url, deploy, current, first } = await newDeployment()
    await fetch(`${url}/d1/database`, { method: 'POST', body: JSON.stringify({ name: 'another' }) })
    writeFileSync(project.config, TOML.replace('database_name = "workspace-api"', 'database_name = "another"'))
    const { code, printed } = await deploy()
    expect(printed).toContain('Set database_name = "workspace-api"')
    expect([code, current()]).toEqual([1, first])
  })
})
