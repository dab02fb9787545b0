import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Service } from '../../scripts/service.ts'
import { callScript, startScript } from '../support/commands.ts'
import { freePort, newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { countOf, newState, rowsOf } from '../support/local-state.ts'

const state = newState()
const files = newFolder()
let demo: ReturnType<typeof readDemo>
let organizationId: string

/** Paths that the service stores, and that a file system does not take as they are, or only one of them. */
const LONG = 'x'.repeat(300)
const PATHS = ['a.txt', 'src/b.txt', 'd', 'd/e', LONG, `${'y/'.repeat(200)}z`]
/** Wrangler needs a second to read a content, unless it is empty. */
const contentOf = (path: string) => (['a.txt', 'd/e'].includes(path) ? `The content of ${path}` : '')

beforeAll(async () => {
  const server = await startDevServer(state, await freePort())
  demo = readDemo(state)
  const { apiKey, sessionId, projectId } = demo.otherOrganization
  const grace = new Service(demo.baseUrl, apiKey)
  for (const path of PATHS) {
    const query = new URLSearchParams({ path })
    await grace.send('PUT', `/v1/sessions/${sessionId}/files?${query}`, Buffer.from(contentOf(path)))
  }
  await grace.send('PUT', '/v1/users/grace/profile-picture', Buffer.from('GIF89a'))
  await grace.send('PUT', `/v1/projects/${projectId}/environment-variables/TOKEN`, { value: 'a secret' })
  const { body } = await grace.send<{ organization: { id: string } }>('GET', '/v1/me')
  organizationId = body.organization.id
  await stopDevServer(server)
})

afterAll(() => {
  rmSync(state, { recursive: true })
  rmSync(files, { recursive: true })
})

describe('npm run organization', () => {
  const tablesOf = async () =>
    (
      await rowsOf(
        state,
        `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND instr("sql", 'organizationId') > 0`,
      )
    ).map(({ name }) => String(name))
  /** The rows of each table: those of the organization, or those of others. */
  const countsOf = async (operator: '=' | '<>') =>
    Object.fromEntries(
      await Promise.all(
        (await tablesOf()).map(async (table) => [
          table,
          await countOf(state, `"${table}" WHERE "organizationId" ${operator} '${organizationId}'`),
        ]),
      ),
    )
  const exportTo = (output: string) =>
    callScript('organization', 'export', organizationId, '--output', output, '--persist-to', state)

  it('exports all of an organization but its secrets', async () => {
    const output = join(files, 'globex')
    exportTo(output)
    for (const [table, count] of Object.entries(await countsOf('='))) {
      const file = join(output, `${table}.jsonl`)
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      expect([table, lines.length]).toEqual([table, count])
      expect(lines.join('\n')).not.toMatch(/sealed|"hash"/)
    }
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
    for (const file of ['sessionFiles.jsonl', exported[0].file]) {
      expect(statSync(join(output, file)).mode & 0o077).toBe(0)
    }
    expect(() => exportTo(output)).toThrow(/does not exist yet/)
  })

  it('writes nothing outside of its folder, whatever the rows say', async () => {
    const before = await rowsOf(state, 'SELECT "id", "sessionId", "path" FROM "sessionFiles"')
    const places = ['../../../escaped', `${files}/escaped`, '..', '.', '', 'a\\..\\b']
    for (const [index, place] of places.entries()) {
      const column = index % 2 ? 'path' : 'sessionId'
      await rowsOf(
        state,
        `UPDATE "sessionFiles" SET "${column}" = '${place}' WHERE "id" =
         (SELECT "id" FROM "sessionFiles" WHERE "organizationId" = '${organizationId}' LIMIT 1 OFFSET ${index % PATHS.length})`,
      )
    }
    const output = join(files, 'folder', 'crafted')
    exportTo(output)
    expect(readdirSync(files).sort()).toEqual(['folder', 'globex'])
    expect(readdirSync(join(files, 'folder'))).toEqual(['crafted'])
    const written = readdirSync(output, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    )
    expect(written.filter(({ name }) => !name.endsWith('.jsonl'))).toHaveLength(PATHS.length + 1)
    for (const { id, sessionId, path } of before) {
      await rowsOf(
        state,
        `UPDATE "sessionFiles" SET "sessionId" = '${sessionId}', "path" = '${path}' WHERE "id" = '${id}'`,
      )
    }
  })

  it('deletes all of it, and nothing of another', async () => {
    const others = await countsOf('<>')
    const remove = (name: string) =>
      callScript('organization', 'delete', organizationId, '--name', name, '--persist-to', state)
    expect(() => remove('Acme')).toThrow(/--name/)
    expect(remove('Globex')).toContain('0 tables have rows of the organization')
    expect(new Set(Object.values(await countsOf('=')))).toEqual(new Set([0]))
    expect(await countsOf('<>')).toEqual(others)
    expect(() => remove('Globex')).toThrow(/no organization/)
  })
})

describe('npm run reseal', () => {
  it('says how far the tick is, and when the older keys can go', async () => {
    const [{ keyId } = {}] = await rowsOf(
      state,
      `SELECT substr(substr("sealedValue", 4), 1, instr(substr("sealedValue", 4), '.') - 1) AS "keyId"
       FROM "environmentVariables" LIMIT 1`,
    )
    const watched = callScript('reseal', '--to', String(keyId), '--persist-to', state)
    expect(watched).toMatch(
      /^\d+ values are encrypted with \S+, 0 with older keys\nYou can remove the older keys/,
    )
  })

  it('refuses the ID of another key than the first one', () => {
    expect(() => callScript('reseal', '--to', 'key-9', '--persist-to', state)).toThrow(
      /--to is not the ID of the first key of ENCRYPTION_KEYS in \.dev\.vars; got "key-9"; allowed: "/,
    )
  })

  it('says how much is left, and when the next tick is due', async () => {
    const sealed = await rowsOf(
      state,
      'SELECT rowid AS "id", "sealedValue" AS "value" FROM "environmentVariables"',
    )
    const [, , keyId = ''] = /^(v1\.)([^.]+)/.exec(String(sealed[0]?.value)) ?? []
    await rowsOf(
      state,
      `UPDATE "environmentVariables" SET "sealedValue" = replace("sealedValue", '.${keyId}.', '.older.') RETURNING 1`,
    )
    const started = Date.now()
    const child = startScript('reseal', ['--to', keyId, '--persist-to', state])
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
    expect(due - started).toBeGreaterThan(-20_000)
    expect(due - started).toBeLessThan(61_000)
  })
})
