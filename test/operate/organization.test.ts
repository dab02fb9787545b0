import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localDatabaseFile, openLocalFile } from '../../operate/database.ts'
import { Service } from '../../scripts/service.ts'
import { computeRunId } from '../../src/resources/work/run-id.ts'
import { callScript, runScript, startScript } from '../support/commands.ts'
import { type DevServer, freePort, newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { countOf, newState, rowsOf } from '../support/local-state.ts'

const state = newState()
/** The number of the database that has the demo's second organization. */
const GLOBEX = 1
const files = newFolder()
let demo: ReturnType<typeof readDemo>
let organizationId: string

/** Paths that the service stores, and that a file system does not take as they are, or only one of them. */
const LONG = 'x'.repeat(300)
const PATHS = ['a.txt', 'src/b.txt', 'd', 'd/e', LONG, `${'y/'.repeat(200)}z`]
const contentOf = (path: string) => (path === 'd' ? '' : `The content of ${path}`)

/** Refuses every run. */
const receiver = createServer((_, response) => response.writeHead(500).end()).listen(0, '127.0.0.1')
let server: DevServer

beforeAll(async () => {
  server = await startDevServer(state, await freePort())
  demo = readDemo(state)
  const { apiKey, sessionId, projectId } = demo.otherOrganization
  const grace = new Service(demo.baseUrl, apiKey)
  for (const path of PATHS) {
    const query = new URLSearchParams({ path })
    await grace.send('PUT', `/v1/sessions/${sessionId}/files?${query}`, Buffer.from(contentOf(path)))
  }
  await grace.send('PUT', '/v1/users/grace/profile-picture', Buffer.from('GIF89a'))
  await grace.send('PUT', `/v1/projects/${projectId}/environment-variables/TOKEN`, { value: 'a secret' })
  await grace.send('POST', '/v1/skill-feeds', { name: 'Laptops' })
  const { body } = await grace.send<{ organization: { id: string } }>('GET', '/v1/me')
  organizationId = body.organization.id
  // More than a page of an export or of a deletion.
  await rowsOf(
    state,
    `INSERT INTO "auditEvents" ("organizationId", "sequence", "id", "type", "resourceId")
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
     SELECT '${organizationId}', i, printf('f%07d-0000-7000-8000-000000000000', i), 'user.updated', 'ada' FROM n RETURNING 1`,
    GLOBEX,
  )
  await rowsOf(
    state,
    `INSERT INTO "skillContents" WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
     SELECT '${organizationId}', 'skill ' || i % 3, printf('%064x', i), 'text' FROM n RETURNING 1`,
    GLOBEX,
  )
  // The row of what was deleted has secrets, too.
  await rowsOf(
    state,
    `INSERT INTO "deletions" VALUES ('${organizationId}', 'skill', 'a-skill', NULL, NULL, '2026', '2999', NULL, 'a-deletion',
     '{"id":"a-skill","name":"notes","idempotencyKey":"once","idempotencyFingerprint":"a secret"}') RETURNING 1`,
    GLOBEX,
  )
})

afterAll(() => {
  receiver.close()
  rmSync(state, { recursive: true })
  rmSync(files, { recursive: true })
})

const persist = ['--persist-to', state]

describe('npm run operate -- status', () => {
  const readStatus = async () => JSON.parse(await callScript('operate status', '--json', ...persist))
  const tick = () => fetch(`${demo.baseUrl}/cdn-cgi/handler/scheduled`)

  it('shows organizations, and the runs that a failing run endpoint leaves', async () => {
    await rowsOf(
      state,
      `INSERT INTO "organizations" ("id", "name", "createdAt") VALUES ('${crypto.randomUUID()}', 'Initech', '2026') RETURNING 1`,
    )
    const before = await readStatus()
    expect(before).toMatchObject({
      schema: { isCurrent: true },
      schedules: { late: 0 },
      runs: { pending: expect.any(Number), failedLastDay: expect.any(Number) },
      organizations: [{ name: 'Acme' }, { name: 'Globex', id: organizationId }, { name: 'Initech', liveKeys: 0 }],
    })
    const of = (name: string, status: Awaited<ReturnType<typeof readStatus>>) =>
      status.organizations.find((each: { name: string }) => each.name === name)
    expect(of('Globex', before).usage).toMatchObject({
      files: { used: PATHS.length, quota: 1_000_000 },
      bytes: { used: PATHS.reduce((sum, path) => sum + contentOf(path).length, 0), quota: 100_000_000_000 },
    })
    const [size] = await rowsOf(
      state,
      'SELECT page_count * page_size AS "bytes" FROM pragma_page_count, pragma_page_size',
      GLOBEX,
    )
    expect(before.databases).toMatchObject([
      { number: 0, state: 'open', schema: { isCurrent: true } },
      { number: 1, state: 'open', database: { sizeBytes: size?.bytes, limitBytes: 10_000_000_000 } },
    ])

    const { apiKey, agentId } = demo.otherOrganization
    const grace = new Service(demo.baseUrl, apiKey)
    const { port } = receiver.address() as AddressInfo
    await grace.send('PUT', '/v1/run-endpoint', { url: `http://127.0.0.1:${port}` })
    const { body } = await grace.send<{ id: string }>('POST', `/v1/agents/${agentId}/schedules`, {
      cron: '0 0 1 1 *',
    })
    const makeDue = `UPDATE "schedules" SET "nextRunAt" = '2026-01-01T00:00:00.000Z' WHERE "id" = '${body.id}' RETURNING 1`
    // The server's own tick may fire it before the status is read; a schedule fires once for each time.
    await expect
      .poll(() => rowsOf(state, makeDue, GLOBEX).then(async () => (await readStatus()).schedules), { timeout: 120_000 })
      .toEqual({ nextDueAt: '2026-01-01T00:00:00.000Z', late: 1 })
    const minuteBefore = Date.now() - 60_000
    await tick()
    const runs = `"runs" WHERE "scheduleId" = '${body.id}'`
    await expect.poll(() => countOf(state, `${runs} AND "attempts" = 1`, GLOBEX)).toBe(1)
    const pending = of('Globex', before).runsPending
    const afterTick = await readStatus()
    expect(of('Globex', afterTick)).toMatchObject({ runsPending: pending + 1, runsFailedLastDay: 0 })
    expect(Date.parse(afterTick.lastTickAt)).toBeGreaterThan(minuteBefore)
    // The next attempt is the last one.
    const now = new Date().toISOString()
    await rowsOf(
      state,
      `UPDATE "runs" SET "attempts" = 5, "scheduledAt" = '${now}', "id" = '${computeRunId(body.id, now)}', "checkAt" = '${now}' WHERE "scheduleId" = '${body.id}' RETURNING 1`,
      GLOBEX,
    )
    await tick()
    await expect.poll(() => countOf(state, `${runs} AND "status" = 'failed'`, GLOBEX)).toBe(1)
    const afterFailure = await readStatus()
    expect(of('Globex', afterFailure)).toMatchObject({ runsPending: pending, runsFailedLastDay: 1 })
    expect(afterFailure.runs.failedLastDay).toBe(before.runs.failedLastDay + 1)

    const lines = (await callScript('operate status', ...persist)).split('\n')
    expect(lines).toContainEqual(expect.stringMatching(/^Runs +\d+ pending; \d+ failed in the last 24 hours$/))
    expect(lines).toContainEqual(
      expect.stringMatching(/^1 +\S+ +open +\d\.\d MB, < 1 % of 10 GB +1 +\d{4}_\S+\.sql, current +20/),
    )
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^Globex +${organizationId} +${GLOBEX} +\\d+ +${pending} +1 +\\S.* \\(.*%\\)$`)),
    )
  })
})

describe('npm run operate -- organization', () => {
  const tablesOf = async () =>
    (
      await rowsOf(
        state,
        `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND instr("sql", 'organizationId') > 0`,
        GLOBEX,
      )
    ).map(({ name }) => String(name))
  /** The rows of each table: those of the organization, or those of others. */
  const countsOf = async (operator: '=' | '<>', number = GLOBEX) =>
    Object.fromEntries(
      await Promise.all(
        (await tablesOf()).map(async (table) => [
          table,
          await countOf(state, `"${table}" WHERE "organizationId" ${operator} '${organizationId}'`, number),
        ]),
      ),
    )
  const exportTo = (output: string) =>
    callScript('operate organization', 'export', organizationId, '--output', output, '--persist-to', state)

  it('lists and shows organizations, by ID or unique name', async () => {
    expect(await callScript('operate organization', 'list', ...persist)).toMatch(
      new RegExp(`^NAME .*\nAcme .*\nGlobex +${organizationId} .*\nInitech .*\n$`),
    )
    const byName = await callScript('operate organization', 'show', 'Globex', ...persist)
    expect(byName).toMatch(new RegExp(`^ +${PATHS.length} of 1,000,000 files \\(< 1 %\\)$`, 'm'))
    expect(await callScript('operate organization', 'show', organizationId.toUpperCase(), ...persist)).toBe(byName)
    const [other] = await rowsOf(
      state,
      `INSERT INTO "organizations" ("id", "name", "createdAt") VALUES ('${crypto.randomUUID()}', 'Globex', '2026') RETURNING "id"`,
      GLOBEX,
    )
    expect(await runScript('operate organization', ['show', 'Globex', ...persist])).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^2 organizations have the name "Globex"; pass one of their IDs: .*${other?.id}`),
      ),
    })
    await rowsOf(state, `DELETE FROM "organizations" WHERE "id" = '${other?.id}' RETURNING 1`, GLOBEX)
    expect(await runScript('operate organization', ['show', 'Nobody', ...persist])).toMatchObject({
      status: 1,
      stderr:
        'There is no organization with this name; got "Nobody". To list them: npm run operate -- organization list\n',
    })
  })

  it('reads while another process writes to the database', async () => {
    const database = openLocalFile(localDatabaseFile({ remote: false, persistTo: state }))
    try {
      database.exec('BEGIN IMMEDIATE')
      expect(await callScript('operate organization', 'show', organizationId, ...persist)).toContain(organizationId)
    } finally {
      database.close()
    }
  })

  it('exports all of an organization but its secrets, while the service runs', async () => {
    const output = join(files, 'globex')
    const printed = await exportTo(output)
    await stopDevServer(server)
    expect(printed).toMatch(
      new RegExp(`: [\\d,]+ rows of \\d+ tables, ${PATHS.length + 2} files of [\\d,]+ bytes, 0 missing\n$`),
    )
    for (const [table, count] of Object.entries(await countsOf('='))) {
      const file = join(output, `${table}.jsonl`)
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      expect([table, lines.length, new Set(lines).size]).toEqual([table, count, count])
      expect(lines.join('\n')).not.toMatch(/sealed|"hash"|Fingerprint/)
    }
    expect(JSON.parse(readFileSync(join(output, 'deletions.jsonl'), 'utf8')).row).toEqual({
      id: 'a-skill',
      name: 'notes',
      idempotencyKey: 'once',
    })
    const contents = readFileSync(join(output, 'contents.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const exported = contents.filter(({ path }) => path !== undefined)
    expect(exported.map(({ path }) => path).sort()).toEqual([...PATHS].sort())
    for (const { file, path } of exported) {
      expect(readFileSync(join(output, file), 'utf8')).toBe(contentOf(path))
    }
    const { sessionId } = demo.otherOrganization
    expect(exported.find(({ path }) => path === 'src/b.txt').file).toBe(`files/${sessionId}/src/b.txt`)
    expect(exported.find(({ path }) => path === LONG).file).toMatch(/^by-id\//)
    expect(readFileSync(join(output, 'pictures', 'grace'), 'utf8')).toBe('GIF89a')
    const { skillId } = demo.otherOrganization
    const archive = contents.find((each) => each.skillId === skillId)
    expect(archive).toMatchObject({ file: `skills/${skillId}/1.tar.gz`, version: 1 })
    const [{ digest } = {}] = await rowsOf(
      state,
      `SELECT "digest" FROM "skillVersions" WHERE "skillId" = '${skillId}'`,
      GLOBEX,
    )
    expect(hash('sha256', readFileSync(join(output, archive.file)))).toBe(digest)
    for (const file of ['sessionFiles.jsonl', exported[0].file]) {
      expect(statSync(join(output, file)).mode & 0o077).toBe(0)
    }
    await expect(exportTo(output)).rejects.toThrow(/does not exist yet/)
  })

  it('continues an export that was interrupted, and completes what is cut off', async () => {
    const output = join(files, 'globex')
    const read = () =>
      Object.fromEntries(
        readdirSync(output, { recursive: true, withFileTypes: true })
          .filter((each) => each.isFile() && each.name !== 'export.json')
          .map(({ parentPath, name }) => [
            join(parentPath, name),
            readFileSync(join(parentPath, name), 'utf8').split('\n').sort(),
          ]),
      )
    const whole = read()
    const { organizationId, startedAt } = JSON.parse(readFileSync(join(output, 'export.json'), 'utf8'))
    const interrupt = () => writeFileSync(join(output, 'export.json'), JSON.stringify({ organizationId, startedAt }))
    interrupt()
    rmSync(join(output, 'skills.jsonl'))
    const contents = join(output, 'contents.jsonl')
    // The process ended while it wrote the last line.
    writeFileSync(contents, readFileSync(contents, 'utf8').slice(0, -10))
    const [cut = '', gone = ''] = Object.keys(whole).filter(
      (file) => !file.endsWith('.jsonl') && whole[file]?.join('') !== '',
    )
    writeFileSync(cut, 'The c')
    rmSync(gone)
    expect(await exportTo(output)).toContain(`Continuing the export of ${startedAt}\n`)
    expect(read()).toEqual(whole)
    writeFileSync(join(output, 'export.json'), JSON.stringify({ organizationId: crypto.randomUUID(), startedAt }))
    await expect(exportTo(output)).rejects.toThrow(/exists already/)
  })

  it('writes nothing outside of its folder, whatever the rows say', async () => {
    const before = await rowsOf(state, 'SELECT "id", "sessionId", "path" FROM "sessionFiles"', GLOBEX)
    const places = ['../../../escaped', `${files}/escaped`, '..', '.', '', 'a\\..\\b']
    for (const [index, place] of places.entries()) {
      const column = index % 2 ? 'path' : 'sessionId'
      await rowsOf(
        state,
        `UPDATE "sessionFiles" SET "${column}" = '${place}' WHERE "id" =
         (SELECT "id" FROM "sessionFiles" WHERE "organizationId" = '${organizationId}' LIMIT 1 OFFSET ${index % PATHS.length})`,
        GLOBEX,
      )
    }
    const output = join(files, 'folder', 'crafted')
    await exportTo(output)
    expect(readdirSync(files).sort()).toEqual(['folder', 'globex'])
    expect(readdirSync(join(files, 'folder'))).toEqual(['crafted'])
    const written = readdirSync(output, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    expect(written.filter(({ name }) => !/\.jsonl?$/.test(name))).toHaveLength(PATHS.length + 2)
    for (const { id, sessionId, path } of before) {
      await rowsOf(
        state,
        `UPDATE "sessionFiles" SET "sessionId" = '${sessionId}', "path" = '${path}' WHERE "id" = '${id}'`,
        GLOBEX,
      )
    }
  })

  it('deletes all of it, and nothing of another', async () => {
    const others = await countsOf('<>', 0)
    const remove = (name: string) =>
      callScript('operate organization', 'delete', organizationId, '--name', name, '--persist-to', state)
    await expect(remove('Acme')).rejects.toThrow(/--name/)
    const byName = ['delete', 'Globex', '--name', 'Globex', '--persist-to', state]
    expect(await runScript('operate organization', byName)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^The organization to delete is not named by its ID; got "Globex"\. /),
    })
    expect(await remove('Globex')).toMatch(
      /^Deleted [\d,]+ rows\. The tick deletes the objects of the organization\.$/m,
    )
    expect(new Set(Object.values(await countsOf('=')))).toEqual(new Set([0]))
    expect(await countsOf('<>', 0)).toEqual(others)
    // The sweep deletes the objects only of an organization whose place is known.
    expect(
      await rowsOf(state, `SELECT "database" FROM "directory" WHERE "organizationId" = '${organizationId}'`),
    ).toEqual([{ database: GLOBEX }])
    await expect(remove('Globex')).rejects.toThrow(/no organization/)
  })
})

describe('npm run operate -- reseal', () => {
  it('says how far the tick is, and when the older keys can go', async () => {
    const [{ keyId } = {}] = await rowsOf(
      state,
      `SELECT substr(substr("sealedValue", 4), 1, instr(substr("sealedValue", 4), '.') - 1) AS "keyId"
       FROM "environmentVariables" LIMIT 1`,
    )
    const watched = await callScript('operate reseal', '--to', String(keyId), '--persist-to', state)
    expect(watched).toMatch(/^\d+ values are encrypted with \S+, 0 with older keys\nYou can remove the older keys/)
  })

  it('refuses the ID of another key than the first one', async () => {
    await expect(callScript('operate reseal', '--to', 'key-9', '--persist-to', state)).rejects.toThrow(
      /--to is not the ID of the first key of ENCRYPTION_KEYS in \.dev\.vars; got "key-9"; allowed: "/,
    )
  })

  it('says how much is left, and when the next tick is due', async () => {
    const sealed = await rowsOf(state, 'SELECT rowid AS "id", "sealedValue" AS "value" FROM "environmentVariables"')
    const [, , keyId = ''] = /^(v1\.)([^.]+)/.exec(String(sealed[0]?.value)) ?? []
    await rowsOf(
      state,
      `UPDATE "environmentVariables" SET "sealedValue" = replace("sealedValue", '.${keyId}.', '.older.') RETURNING 1`,
    )
    const started = Date.now()
    const child = startScript('operate reseal', ['--to', keyId, '--persist-to', state])
    let printed = ''
    for await (const chunk of child.stdout ?? []) {
      printed += chunk
      if (/due at .*\n/.test(printed)) child.kill('SIGINT')
    }
    expect(printed).toContain(
      `, ${sealed.length} with older keys\n${sealed.length} values left; the next tick is due at `,
    )
    const due = Date.parse(/due at (\S+)/.exec(printed)?.[1] ?? '')
    expect(due % 60_000).toBe(0)
    expect(due).toBeGreaterThan(started - 20_000)
    expect(due).toBeLessThanOrEqual(Date.now() + 60_000)
  })
})
