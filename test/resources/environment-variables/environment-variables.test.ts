import { hash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { parseKeyRing } from '../../../src/crypto/key-ring.ts'
import { open } from '../../../src/crypto/sealed-value.ts'
import { apiKeys } from '../../../src/db/schema.ts'
import { PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { failingDatabase, watchedDatabase } from '../../support/bindings.ts'
import { waitPast } from '../../support/clock.ts'
import { env } from '../../support/env.ts'
import { dumpStores } from '../../support/examples.ts'
import { sized } from '../../support/long-form.ts'
import { tick } from '../../support/tick.ts'
import { now, Workspace } from '../../support/workspace.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const DAY_MS = 86_400_000
const LARGEST = 64 * 1024
const LARGEST_BODY = 8 * 1024 * 1024
const RING = parseKeyRing(env.ENCRYPTION_KEYS ?? '')
const OTHER_KEY = Buffer.alloc(32, 7).toString('base64')

async function withVariable(name = 'DATABASE_URL') {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const projectId = await workspace.addProject()
  await workspace.addVariable(projectId, name)
  return { workspace, key, projectId }
}

async function withProject(...names: string[]) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const projectId = await workspace.addProject()
  for (const name of names) await workspace.addVariable(projectId, name, 'old')
  return { workspace, key, projectId }
}

const listPath = (projectId: string) => `/v1/projects/${encodeURIComponent(projectId)}/environment-variables`

function listVariables(projectId: string, options: RequestOptions, query = '') {
  return request('GET', listPath(projectId) + query, options)
}

function putVariable(projectId: string, name: string, value: unknown, options: RequestOptions) {
  const path = `${listPath(projectId)}/${encodeURIComponent(name)}`
  return request('PUT', path, { json: { value }, ...options })
}

function setVariables(projectId: string, values: Record<string, string>, options: RequestOptions) {
  const variables = Object.entries(values).map(([key, value]) => ({ key, value }))
  return request('POST', listPath(projectId), { json: { variables }, ...options })
}

const numbered = (count: number, value = 'new') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`KEY_${index}`, value]))

const idempotent = (key: string) => ({ headers: { 'Idempotency-Key': key } })
const atMost = (limit: number) => ({ environment: { VARIABLE_LIMIT: String(limit) } })

/** The decrypted values of a project. */
async function valuesOf(workspace: Workspace, projectId: string): Promise<Record<string, string>> {
  const rows = (await workspace.dump('environmentVariables')).filter((row) => row.projectId === projectId)
  const opened = rows.map(async ({ key, sealedValue }) => {
    const { organizationId } = workspace
    const context = { purpose: 'environment-variable', organizationId, projectId, name: String(key) } as const
    return [context.name, await open(String(sealedValue), context, RING)]
  })
  return Object.fromEntries(await Promise.all(opened))
}

/** Waits for the next millisecond. */
const nextInstant = () => waitPast(now())

function deleteVariable(projectId: string, name: string, options: RequestOptions) {
  const [project, variable] = [projectId, name].map(encodeURIComponent)
  return request('DELETE', `/v1/projects/${project}/environment-variables/${variable}`, options)
}

/** The stored variables, as `project/key`. */
async function variables(workspace: Workspace): Promise<string[]> {
  const rows = await workspace.dump('environmentVariables')
  return rows.map((row) => `${row.projectId}/${row.key}`).sort()
}

describe('deleteEnvironmentVariable', () => {
  it('deletes the variable, and no other', async () => {
    const { workspace, key, projectId } = await withVariable()
    const otherProject = await workspace.addProject()
    await workspace.addVariable(projectId, 'DATABASE_URL_2')
    await workspace.addVariable(otherProject, 'DATABASE_URL')
    const elsewhere = await Workspace.create()
    await elsewhere.addProject(projectId)
    await elsewhere.addVariable(projectId, 'DATABASE_URL')

    const response = await deleteVariable(projectId, 'DATABASE_URL', { key })
    expect([response.status, response.body]).toEqual([200, { deleted: true, key: 'DATABASE_URL' }])
    expect(await variables(workspace)).toEqual([`${projectId}/DATABASE_URL_2`, `${otherProject}/DATABASE_URL`].sort())
    expect(await variables(elsewhere)).toEqual([`${projectId}/DATABASE_URL`])
  })

  it('accepts the base path', async () => {
    const { key, projectId } = await withVariable()
    const path = `${PREFIX}/v1/projects/${projectId}/environment-variables/DATABASE_URL`
    const response = await request('DELETE', path, { key })
    expect([response.status, response.body]).toEqual([200, { deleted: true, key: 'DATABASE_URL' }])
  })

  it('deletes once, then returns 404, also to concurrent requests', async () => {
    const { workspace, key, projectId } = await withVariable()
    const both = await Promise.all([1, 2].map(() => deleteVariable(projectId, 'DATABASE_URL', { key })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(404)
    await workspace.addVariable(projectId, 'DATABASE_URL')
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(200)
  })

  it('makes one trip, which neither selects nor returns the value', async () => {
    const { workspace, key, projectId } = await withVariable()
    await deleteVariable(projectId, 'MISSING', { key })
    await workspace.addVariable(projectId, 'TOKEN', 'plain-text-value')
    const rows = await workspace.dump('environmentVariables')
    const sealed = String(rows.find((row) => row.key === 'TOKEN')?.sealedValue)
    const use = watchedDatabase()
    const response = await deleteVariable(projectId, 'TOKEN', { key, environment: { DB: use.DB } })
    expect([response.status, use.calls]).toEqual([200, 1])
    const text = JSON.stringify([response.body, ...response.headers])
    for (const secret of ['plain-text-value', sealed, sealed.slice(-20)]) expect(text).not.toContain(secret)
    for (const { sql } of use.statements) {
      expect(sql).not.toContain('sealedValue')
      expect(sql).not.toMatch(/select \*|\.\*/)
    }
  })

  it('does not decrypt the value: it works without the encryption keys', async () => {
    const { key, projectId } = await withVariable()
    const environment = { ENCRYPTION_KEYS: '' }
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key, environment })).status).toBe(200)
  })

  it('returns 400 if the API key lacks the scope, and needs no user', async () => {
    const { workspace, projectId } = await withVariable()
    const withoutScope = await workspace.addKey({ scopes: ['pins:write'] })
    const response = await deleteVariable(projectId, 'DATABASE_URL', { key: withoutScope })
    expect([response.status, response.body.error]).toEqual([
      400,
      'This API key lacks the scope "environment-variables:write". Use a key that has it; GET /v1/me shows the scopes of a key.',
    ])
    expect(await variables(workspace)).toHaveLength(1)
    const withoutUser = await workspace.addKey({ userId: null })
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key: withoutUser })).status).toBe(200)
  })

  it('returns 403 if the API key is restricted to other projects', async () => {
    const { workspace, projectId } = await withVariable()
    const other = await workspace.addProject()
    for (const projectIds of [[], [other], [other, projectId.slice(0, -1)]]) {
      const key = await workspace.addKey({ projectIds })
      expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(403)
    }
    expect(await variables(workspace)).toHaveLength(1)
    const key = await workspace.addKey({ projectIds: [other, projectId] })
    expect((await deleteVariable(projectId.toUpperCase(), 'DATABASE_URL', { key })).status).toBe(200)
  })

  it('returns 404 for a project that the organization does not have', async () => {
    const { key } = await withVariable()
    const elsewhere = await withVariable()
    const nobodys = await deleteVariable(crypto.randomUUID(), 'DATABASE_URL', { key })
    const others = await deleteVariable(elsewhere.projectId, 'DATABASE_URL', { key })
    expect([nobodys.status, others.status]).toEqual([404, 404])
    expect(others.body).toEqual(nobodys.body)
    expect(await variables(elsewhere.workspace)).toHaveLength(1)
  })

  it('returns 404 for a variable that the project does not have', async () => {
    const { workspace, key, projectId } = await withVariable()
    const other = await workspace.addProject()
    const missing = await deleteVariable(projectId, 'MISSING', { key })
    expect([missing.status, missing.body.error]).toEqual([
      404,
      expect.stringMatching(/variable with this key\. Keys are case-sensitive\.$/),
    ])
    expect((await deleteVariable(other, 'DATABASE_URL', { key })).status).toBe(404)
    expect(await variables(workspace)).toHaveLength(1)
  })

  it('returns 404 for an unknown variable also if the API key is restricted to other projects', async () => {
    const { workspace, projectId } = await withVariable()
    const key = await workspace.addKey({ projectIds: [await workspace.addProject()] })
    const { status, body } = await deleteVariable(projectId, 'MISSING', { key })
    expect([status, body.error]).toEqual([
      404,
      'The project has no environment variable with this key. Keys are case-sensitive.',
    ])
  })

  it('returns 409 if the project is archived, and keeps the variable', async () => {
    const { workspace, key, projectId } = await withVariable()
    await workspace.archiveProject(projectId)
    expect((await deleteVariable(projectId, 'DATABASE_URL', { key })).status).toBe(409)
    expect(await variables(workspace)).toEqual([`${projectId}/DATABASE_URL`])
    expect((await deleteVariable(projectId, 'MISSING', { key })).status).toBe(404)
  })

  it.each(['D1_ERROR: no such table: environmentVariables: SQLITE_ERROR', 'D1_ERROR: D1 DB is overloaded.'])(
    'returns 500 with a constant message for "%s"',
    async (message) => {
      const { workspace, key, projectId } = await withVariable()
      const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
      const DB = failingDatabase(new Error(message))
      const response = await deleteVariable(projectId, 'DATABASE_URL', { key, environment: { DB } })
      logged.mockRestore()
      expect([response.status, response.body.error]).toEqual([500, expect.not.stringContaining('D1')])
      expect(await variables(workspace)).toHaveLength(1)
    },
  )
})

describe('key', () => {
  it.each(['A', '_', '__', 'a1', 'PATH_2', '__proto__', 'constructor'])('accepts %s', async (name) => {
    const { key, projectId } = await withVariable(name)
    const response = await deleteVariable(projectId, name, { key })
    expect([response.status, response.body]).toEqual([200, { deleted: true, key: name }])
  })

  it.each([
    '1A',
    '0',
    'A-B',
    '-',
    'A.B',
    'A B',
    ' A',
    'A ',
    'A\n',
    'A\0',
    'A/B',
    '%',
    '\u00c4',
    '\uff21',
    '\u0661',
    '\u{1f511}',
  ])('refuses %j', async (name) => {
    const { workspace, key, projectId } = await withVariable()
    const answer = await deleteVariable(projectId, name, { key })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^key /)])
    expect(await variables(workspace)).toHaveLength(1)
  })

  it('is required in the path', async () => {
    const { key, projectId } = await withVariable()
    expect((await deleteVariable(projectId, '', { key })).status).toBe(404)
  })

  it('has at most 255 characters', async () => {
    const longest = 'x'.repeat(255)
    const { key, projectId } = await withVariable(longest)
    const tooLong = await deleteVariable(projectId, `${longest}x`, { key })
    expect([tooLong.status, tooLong.body.error]).toEqual([400, expect.stringMatching(/^key /)])
    expect((await deleteVariable(projectId, longest, { key })).body).toEqual({ deleted: true, key: longest })
  })

  it('is case-sensitive', async () => {
    const { workspace, key, projectId } = await withVariable('Token')
    for (const name of ['token', 'TOKEN']) {
      expect((await deleteVariable(projectId, name, { key })).status).toBe(404)
    }
    await workspace.addVariable(projectId, 'TOKEN')
    expect((await deleteVariable(projectId, 'TOKEN', { key })).body.key).toBe('TOKEN')
    expect(await variables(workspace)).toEqual([`${projectId}/Token`])
  })
})

describe('projectId', () => {
  it('ignores the case of a UUID, and of no other id', async () => {
    const { workspace, key, projectId } = await withVariable()
    expect((await deleteVariable(projectId.toUpperCase(), 'DATABASE_URL', { key })).status).toBe(200)
    await workspace.addProject('Website')
    await workspace.addVariable('Website', 'KEY')
    expect((await deleteVariable('website', 'KEY', { key })).status).toBe(404)
    expect((await deleteVariable('Website', 'KEY', { key })).status).toBe(200)
  })

  it('has 1 to 255 code points', async () => {
    const { workspace, key } = await withVariable()
    for (const character of ['x', '\u{1f600}']) {
      const longest = character.repeat(255)
      await workspace.addProject(longest)
      await workspace.addVariable(longest, 'KEY')
      expect((await deleteVariable(longest, 'KEY', { key })).status).toBe(200)
      const answer = await deleteVariable(character.repeat(256), 'KEY', { key })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^projectId /)])
    }
    expect((await deleteVariable('', 'KEY', { key })).status).toBe(404)
    expect((await deleteVariable('a\0b', 'KEY', { key })).status).toBe(400)
  })

  it('is any text that the contract allows, also in the projects of a restricted API key', async () => {
    const awkward = ['%', '/', '\\', '"', "'", ' ', '.', '?', '#', '+', '\t', '\n', '\r', '\u2028', '\ufeff']
    const character = fc.oneof(
      fc.constantFrom(...awkward, '\u{1f600}', '\u0301', '\u0130', 'A', 'a', '0', '\uffff', '\u{10ffff}'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((text) => text !== '\0'),
    )
    const projectId = fc
      .oneof(
        fc.string({ unit: character, minLength: 1, maxLength: 6 }),
        fc.string({ unit: character, minLength: 1, maxLength: 255, size: 'max' }),
      )
      .filter((id) => id !== '.' && id !== '..')
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/)

    await fc.assert(
      fc.asyncProperty(projectId, name, async (id, variable) => {
        const workspace = await Workspace.create()
        await workspace.addProject(id)
        await workspace.addVariable(id, variable)
        const restrictedToOther = await workspace.addKey({ projectIds: [`${id} `] })
        expect((await deleteVariable(id, variable, { key: restrictedToOther })).status).toBe(403)
        const restricted = await workspace.addKey({ projectIds: [id] })
        const response = await deleteVariable(id, variable, { key: restricted })
        expect([response.status, response.body]).toEqual([200, { deleted: true, key: variable }])
        expect(await variables(workspace)).toEqual([])
      }),
      { numRuns: sized(60, 200), endOnFailure: true },
    )
  })
})

describe('listEnvironmentVariables', () => {
  it('returns only names and times, sorted by name', async () => {
    const { workspace, key, projectId } = await withProject('b', 'A1', '_', 'a', 'B', 'A', 'AA')
    await workspace.addVariable(await workspace.addProject(), 'OTHER')
    const elsewhere = await Workspace.create()
    await elsewhere.addProject(projectId)
    await elsewhere.addVariable(projectId, 'THEIRS')
    const use = watchedDatabase()
    const { status, body } = await listVariables(projectId, { key, environment: { DB: use.DB } })
    const times = { createdAt: expect.stringMatching(INSTANT), updatedAt: expect.stringMatching(INSTANT) }
    const items = ['A', 'A1', 'AA', 'B', '_', 'a', 'b'].map((name) => ({ key: name, ...times }))
    expect([status, body]).toEqual([200, { items, nextCursor: null }])
    for (const { sql } of use.statements) expect(sql).not.toMatch(/sealedValue|\*/)
  })

  it('lists each variable once over pages, also while variables are deleted', async () => {
    const { key, projectId } = await withProject('E', 'A', 'C', 'B', 'D')
    const pages: string[][] = []
    for (let query = '?limit=2'; query; ) {
      const { body } = await listVariables(projectId, { key }, query)
      pages.push(body.items.map((item: { key: string }) => item.key))
      query = body.nextCursor && `?limit=2&cursor=${body.nextCursor}`
      if (body.nextCursor) await deleteVariable(projectId, body.nextCursor, { key })
    }
    expect(pages).toEqual([['A', 'B'], ['C', 'D'], ['E']])
  })

  it('has 50 variables on a page by default, and up to all of a project', async () => {
    const { key, projectId } = await withProject()
    await setVariables(projectId, numbered(51), { key })
    const { body } = await listVariables(projectId, { key })
    expect([body.items.length, body.nextCursor]).toEqual([50, body.items[49].key])
    for (const limit of [51, 1000, 99_999]) {
      const { body } = await listVariables(projectId, { key }, `?limit=${limit}`)
      expect([body.items.length, body.nextCursor]).toEqual([51, null])
    }
  })

  it('works for a project without variables, and for an archived one', async () => {
    const { workspace, key, projectId } = await withProject()
    expect((await listVariables(projectId, { key })).body).toEqual({ items: [], nextCursor: null })
    await workspace.addVariable(projectId, 'A')
    await workspace.archiveProject(projectId)
    expect((await listVariables(projectId, { key })).body.items).toHaveLength(1)
  })

  it.each(['limit=0', 'limit=', 'limit=-1', 'limit=2&limit=2', 'cursor=', 'cursor=1A', 'cursor=A-B'])(
    'refuses %s',
    async (query) => {
      const { key, projectId } = await withProject('A')
      const { status, body } = await listVariables(projectId, { key }, `?${query}`)
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^(limit|cursor) /)])
    },
  )
})

describe('putEnvironmentVariable', () => {
  it('stores a variable, and replaces its value, which changes only updatedAt', async () => {
    const { workspace, key, projectId } = await withProject('OTHER')
    const created = await putVariable(projectId, 'A', 'first', { key })
    const { createdAt } = created.body
    const path = `/v1/projects/${projectId}/environment-variables/A`
    expect(created.headers.get('Location')).toBe(path)
    expect([created.status, created.body]).toEqual([201, { key: 'A', createdAt, updatedAt: createdAt }])
    await nextInstant()
    const before = now()
    const replaced = await putVariable(projectId.toUpperCase(), 'A', 'second', { key })
    const { updatedAt } = replaced.body
    expect([replaced.status, replaced.body]).toEqual([200, { key: 'A', createdAt, updatedAt }])
    expect(updatedAt >= before && updatedAt <= now()).toBe(true)
    expect((await listVariables(projectId, { key })).body.items[0]).toEqual(replaced.body)
    expect(await valuesOf(workspace, projectId)).toEqual({ A: 'second', OTHER: 'old' })
  })

  it.each([
    ['nothing', ''],
    ['spaces and lines', ' a\r\nb\tc\n '],
    ['Unicode', '\ufeffe\u0301 \u00e9 \u65e5\u672c \u{1f469}\u200d\u{1f680} \u{10ffff} \u0001\u2028'],
    ['JSON and SQL', '{"a":"\\u0000"}\'; DROP TABLE projects; -- ?1 $B'],
    ['64 KiB of ASCII', 'x'.repeat(LARGEST)],
    ['64 KiB of two bytes each', '\u00e9'.repeat(LARGEST / 2)],
    ['64 KiB of four bytes each', '\u{1f511}'.repeat(LARGEST / 4)],
  ])('stores a value exactly: %s', async (_, value) => {
    const { workspace, key, projectId } = await withProject()
    expect((await putVariable(projectId, 'A', value, { key })).status).toBe(201)
    expect((await valuesOf(workspace, projectId)).A === value).toBe(true)
  })

  it.each([
    ['of ASCII', 'x'.repeat(LARGEST + 1)],
    ['of two bytes each', `${'\u00e9'.repeat(LARGEST / 2)}x`],
    ['of four bytes each', `${'\u{1f511}'.repeat(LARGEST / 4)}x`],
  ])('refuses 64 KiB and one byte %s', async (_, value) => {
    const { workspace, key, projectId } = await withProject('A')
    const { status, body } = await putVariable(projectId, 'A', value, { key })
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/^value is too large; got 65537 bytes; allowed: .* 64 KiB\.$/),
    ])
    expect(await valuesOf(workspace, projectId)).toEqual({ A: 'old' })
  })

  it('accepts 64 KiB however JSON escapes them', async () => {
    const { workspace, key, projectId } = await withProject()
    const put = (escaped: string) =>
      request('PUT', `${listPath(projectId)}/A`, {
        key,
        headers: { 'Content-Type': 'application/json' },
        body: `{"value":"${escaped}"}`,
      })
    expect((await put('\\u0041'.repeat(LARGEST))).status).toBe(201)
    expect((await valuesOf(workspace, projectId)).A === 'A'.repeat(LARGEST)).toBe(true)
    expect((await put('\\u00e9'.repeat(LARGEST / 2))).status).toBe(200)
    expect((await put('\\u0041'.repeat(LARGEST + 1))).status).toBe(400)
    expect((await valuesOf(workspace, projectId)).A === '\u00e9'.repeat(LARGEST / 2)).toBe(true)
  })

  it.each([
    ['no value', {}],
    ['null', { value: null }],
    ['a number', { value: 1 }],
    ['a NUL', { value: 'secret\0' }],
    ['a lone surrogate', { value: 'secret\ud800' }],
    ['an unknown property', { value: 'secret', key: 'A' }],
  ])('refuses %s, and does not repeat it', async (_, json) => {
    const { workspace, key, projectId } = await withProject('A')
    const { status, body } = await putVariable(projectId, 'A', '', { key, json })
    expect([status, body.error]).toEqual([400, expect.not.stringContaining('secret')])
    expect(await valuesOf(workspace, projectId)).toEqual({ A: 'old' })
  })

  it.each(['__proto__', 'constructor', '_', 'x'.repeat(255)])('accepts the name %s', async (name) => {
    const { workspace, key, projectId } = await withProject()
    expect((await putVariable(projectId, name, 'v', { key })).body.key).toBe(name)
    const set = await request('POST', listPath(projectId), {
      key,
      json: { variables: [{ key: name, value: 'w' }] },
    })
    expect(set.body.items.map((item: { key: string }) => item.key)).toEqual([name])
    expect((await listVariables(projectId, { key })).body.items).toEqual(set.body.items)
    expect(Object.entries(await valuesOf(workspace, projectId))).toEqual([[name, 'w']])
  })
})

describe('setEnvironmentVariables', () => {
  it('stores up to 100 at once, new and existing ones', async () => {
    const { workspace, key, projectId } = await withProject('KEY_0', 'KEY_99', 'OTHER')
    const { status, headers, body } = await setVariables(projectId, numbered(100), { key })
    expect([status, headers.get('Location')]).toEqual([201, listPath(projectId)])
    const names = Object.keys(numbered(100))
    expect(body.items.map((item: { key: string }) => item.key).sort()).toEqual(names.sort())
    const { items } = (await listVariables(projectId, { key }, '?limit=1000')).body
    expect(items.filter((item: { key: string }) => item.key !== 'OTHER')).toEqual(
      body.items.toSorted((a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1)),
    )
    expect(await valuesOf(workspace, projectId)).toEqual({ ...numbered(100), OTHER: 'old' })

    const tooMany = await setVariables(projectId, numbered(101, 'newer'), { key })
    expect([tooMany.status, tooMany.body.error]).toEqual([
      400,
      'variables has too many items; got an array of length 101; allowed: an array of 1 to 100 variables.',
    ])
    expect(await valuesOf(workspace, projectId)).toEqual({ ...numbered(100), OTHER: 'old' })
  })

  it('keeps createdAt of existing variables', async () => {
    const { key, projectId } = await withProject()
    const { createdAt } = (await putVariable(projectId, 'A', '', { key })).body
    await nextInstant()
    const { items } = (await setVariables(projectId, { A: '', B: '' }, { key })).body
    const updatedAt = items[0].updatedAt
    expect(items).toEqual([
      { key: 'A', createdAt, updatedAt },
      { key: 'B', createdAt: updatedAt, updatedAt },
    ])
    expect(updatedAt > createdAt).toBe(true)
  })

  it('returns the Location of the list, under the base path of the request', async () => {
    const { workspace, key } = await withProject()
    await workspace.addProject('a b/\u00e9')
    const options = { key, json: { variables: [{ key: 'A', value: '' }] } }
    const { status, headers } = await request('POST', PREFIX + listPath('a b/\u00e9'), options)
    expect([status, headers.get('Location')]).toEqual([201, PREFIX + listPath('a b/\u00e9')])
  })

  const good = { key: 'B', value: 'secret' }
  it.each<[string, unknown]>([
    ['no variables', []],
    ['a key twice', [good, { key: 'A', value: 'secret' }, good]],
    ['an invalid key', [good, { key: 'A-B', value: 'secret' }]],
    ['a key of 256 characters', [good, { key: 'x'.repeat(256), value: 'secret' }]],
    ['no value', [good, { key: 'A' }]],
    ['a value with NUL', [good, { key: 'A', value: 'secret\0' }]],
    ['a value of 64 KiB and one byte', [good, { key: 'A', value: 'secret'.padEnd(LARGEST + 1) }]],
    ['an unknown property', [good, { key: 'A', value: 'secret', secure: true }]],
    ['an object of names and values', { A: 'secret' }],
  ])('refuses %s with 400, and stores nothing', async (_, variables) => {
    const { workspace, key, projectId } = await withProject('A')
    const response = await request('POST', listPath(projectId), { key, json: { variables } })
    expect([response.status, response.body.error]).toEqual([400, expect.not.stringContaining('secret')])
    expect(await valuesOf(workspace, projectId)).toEqual({ A: 'old' })
  })

  it.each(['declared', 'streamed'])('accepts a %s body of 8 MiB, and none larger', async (kind) => {
    const { workspace, key, projectId } = await withProject()
    const value = 'x'.repeat(LARGEST)
    const send = (bytes: number) => {
      const variables = Object.keys(numbered(100)).map((name) => ({ key: name, value }))
      const body = JSON.stringify({ variables }).padEnd(bytes)
      const length = { 'Content-Length': String(bytes) }
      const headers = { 'Content-Type': 'application/json', ...(kind === 'declared' && length) }
      return request('POST', listPath(projectId), { key, headers, body })
    }
    expect((await send(LARGEST_BODY + 1)).status).toBe(413)
    expect(await variables(workspace)).toEqual([])
    expect((await send(LARGEST_BODY)).status).toBe(201)
    const stored = Object.values(await valuesOf(workspace, projectId))
    expect([stored.length, stored.every((each) => each === value)]).toEqual([100, true])
  })
})

describe('the most variables of a project', () => {
  it('are 500: one more returns 409, an existing one does not', async () => {
    const { workspace, key, projectId } = await withProject()
    const withoutSetting = { VARIABLE_LIMIT: undefined as unknown as string }
    const most = Object.entries(numbered(499))
    for (let start = 0; start < 499; start += 100) {
      await setVariables(projectId, Object.fromEntries(most.slice(start, start + 100)), { key })
    }
    expect(await variables(workspace)).toHaveLength(499)
    expect((await setVariables(projectId, { Y: '', Z: '' }, { key })).status).toBe(409)
    expect((await putVariable(projectId, 'Y', '', { key })).status).toBe(201)
    for (const response of [
      await putVariable(projectId, 'Z', '', { key }),
      await putVariable(projectId, 'Z', '', { key, environment: withoutSetting }),
      await setVariables(projectId, { Z: '' }, { key }),
    ]) {
      expect([response.status, response.body.error]).toEqual([409, expect.stringContaining('500')])
    }
    expect((await putVariable(projectId, 'Y', 'new', { key })).status).toBe(200)
    expect((await setVariables(projectId, numbered(100), { key })).status).toBe(201)
    expect(await variables(workspace)).toHaveLength(500)
  })

  it('are counted after the change, and only in this project', async () => {
    const { workspace, key, projectId } = await withProject('A', 'B')
    const other = await workspace.addProject()
    for (const name of ['C', 'D', 'E']) await workspace.addVariable(other, name)
    const options = { key, ...atMost(3) }
    const tooMany = await setVariables(projectId, { A: 'new', C: 'new', D: 'new' }, options)
    expect([tooMany.status, tooMany.body.error]).toEqual([409, expect.stringContaining('3 variables')])
    expect(await valuesOf(workspace, projectId)).toEqual({ A: 'old', B: 'old' })
    expect((await setVariables(projectId, { A: 'new', C: 'new' }, options)).status).toBe(201)
    expect(await valuesOf(workspace, projectId)).toEqual({ A: 'new', B: 'old', C: 'new' })
    expect((await putVariable(projectId, 'D', '', options)).status).toBe(409)
    await deleteVariable(projectId, 'B', { key })
    expect((await putVariable(projectId, 'D', '', options)).status).toBe(201)
  })

  it('are kept under concurrent requests', async () => {
    const { workspace, key, projectId } = await withProject('A')
    const options = { key, ...atMost(3) }
    const responses = await Promise.all([
      setVariables(projectId, { B: '', C: '' }, options),
      setVariables(projectId, { D: '', E: '' }, options),
      putVariable(projectId, 'A', 'new', options),
    ])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 201, 409])
    expect(await variables(workspace)).toHaveLength(3)
  })
})

describe('all or nothing', () => {
  /** The test's database, whose batches fail at their last statement. */
  const failingAtTheEnd = (message: string) =>
    ({
      prepare: (sql: string) => env.DB.prepare(sql),
      batch: (statements: D1PreparedStatement[]) =>
        env.DB.batch([...statements, env.DB.prepare('SELECT 1 FROM "missing"')]).catch(() => {
          throw new Error(message)
        }),
    }) as unknown as D1Database

  it.each([
    ['D1_ERROR: D1 DB is overloaded.', 503],
    ['D1_ERROR: no such table: missing: SQLITE_ERROR', 500],
  ])('stores nothing if the database fails with "%s"', async (message, status) => {
    const { workspace, key, projectId } = await withProject('KEY_0')
    await listVariables(projectId, { key })
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const DB of [failingDatabase(new Error(message)), failingAtTheEnd(message)]) {
      const options = { key, environment: { DB } }
      const responses = [
        await putVariable(projectId, 'KEY_0', 'secret', options),
        await setVariables(projectId, numbered(100, 'secret'), { ...options, ...idempotent('again') }),
      ]
      expect(responses.map((response) => response.status)).toEqual([status, status])
      expect(JSON.stringify(responses.map(({ body }) => body))).not.toMatch(/D1|secret/)
    }
    expect(JSON.stringify(logged.mock.calls)).not.toContain('secret')
    logged.mockRestore()
    expect(await valuesOf(workspace, projectId)).toEqual({ KEY_0: 'old' })
    expect(await workspace.dump('variableRequests')).toEqual([])
    const again = await setVariables(projectId, numbered(100), { key, ...idempotent('again') })
    expect([again.status, await valuesOf(workspace, projectId)]).toEqual([201, numbered(100)])
  })

  it.each(['', 'test:short'])('stores nothing if the encryption keys are "%s"', async (ENCRYPTION_KEYS) => {
    const { workspace, key, projectId } = await withProject('A')
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status } = await putVariable(projectId, 'A', 'new', { key, environment: { ENCRYPTION_KEYS } })
    logged.mockRestore()
    expect([status, await valuesOf(workspace, projectId)]).toEqual([500, { A: 'old' }])
  })
})

describe('the Idempotency-Key of variables', () => {
  const first = { A: '1', B: '2' }

  it('makes a repeated request return the variables as they are now, and change nothing', async () => {
    const { workspace, key, projectId } = await withProject()
    const set = (values: Record<string, string>, more: RequestOptions = {}) =>
      setVariables(projectId, values, { key, ...idempotent('deploy'), ...more })
    const created = await set(first)
    const repeated = await set(first)
    expect([repeated.status, repeated.body]).toEqual([201, created.body])
    expect(repeated.headers.get('Location')).toBe(created.headers.get('Location'))

    await nextInstant()
    const changed = await putVariable(projectId, 'B', 'changed', { key })
    await deleteVariable(projectId, 'A', { key })
    const later = await set(first)
    expect([later.status, later.body]).toEqual([201, { items: [changed.body] }])
    expect(await valuesOf(workspace, projectId)).toEqual({ B: 'changed' })
    await deleteVariable(projectId, 'B', { key })
    expect((await set(first, atMost(0))).body).toEqual({ items: [] })
    expect(await variables(workspace)).toEqual([])
  })

  it('treats a body with the same content in another form as equal', async () => {
    const { workspace, key, projectId } = await withProject()
    await setVariables(projectId, { A: '\u00e9' }, { key, ...idempotent('deploy') })
    await putVariable(projectId, 'A', 'changed', { key })
    const headers = { 'Idempotency-Key': 'deploy', 'Content-Type': 'application/json' }
    const body = ' { "variables" : [ {"value": "\\u00e9", "key": "\\u0041"} ] }'
    expect((await request('POST', PREFIX + listPath(projectId), { key, headers, body })).status).toBe(201)
    expect(await valuesOf(workspace, projectId)).toEqual({ A: 'changed' })
  })

  it.each<[string, Record<string, string>]>([
    ['another value', { A: '1', B: '3' }],
    ['another name', { A: '1', C: '2' }],
    ['one less', { A: '1' }],
    ['one more', { A: '1', B: '2', C: '3' }],
    ['the values exchanged', { A: '2', B: '1' }],
  ])('refuses another body with 409: %s', async (_, values) => {
    const { workspace, key, projectId } = await withProject()
    await setVariables(projectId, first, { key, ...idempotent('deploy') })
    const { status, body } = await setVariables(projectId, values, { key, ...idempotent('deploy') })
    expect([status, body.error]).toEqual([
      409,
      expect.stringMatching(/^This Idempotency-Key was used with another body\./),
    ])
    expect(await valuesOf(workspace, projectId)).toEqual(first)
  })

  it('is separate for each project and organization', async () => {
    const { workspace, key, projectId } = await withProject()
    const other = await workspace.addProject()
    const elsewhere = await Workspace.create()
    await elsewhere.addProject(projectId)
    const theirKey = await elsewhere.addKey()
    await setVariables(projectId, first, { key, ...idempotent('deploy') })
    for (const [place, id, token] of [
      [workspace, other, key],
      [elsewhere, projectId, theirKey],
    ] as const) {
      const { status } = await setVariables(id, { A: 'theirs' }, { key: token, ...idempotent('deploy') })
      expect([status, await valuesOf(place, id)]).toEqual([201, { A: 'theirs' }])
    }
    expect(await valuesOf(workspace, projectId)).toEqual(first)
    const archived = await workspace.addProject()
    await workspace.archiveProject(archived)
    expect((await setVariables(archived, first, { key, ...idempotent('deploy') })).status).toBe(409)
    const otherKey = await setVariables(projectId, { A: 'newer' }, { key, ...idempotent('Deploy') })
    expect([otherKey.status, (await valuesOf(workspace, projectId)).A]).toEqual([201, 'newer'])
  })

  it('is not used up by a request that is refused', async () => {
    const { workspace, key, projectId } = await withProject('C')
    const options = { key, ...idempotent('deploy') }
    expect((await setVariables(projectId, first, { ...options, ...atMost(2) })).status).toBe(409)
    expect((await setVariables(projectId, { A: '4' }, { ...options, ...atMost(2) })).status).toBe(201)
    expect(await valuesOf(workspace, projectId)).toEqual({ A: '4', C: 'old' })
  })

  it('accepts one of two concurrent bodies that differ, and returns the same for equal ones', async () => {
    const { workspace, key, projectId } = await withProject()
    const send = (name: string, value: string) => setVariables(projectId, { A: value }, { key, ...idempotent(name) })
    const responses = await Promise.all([send('a', '1'), send('a', '2')])
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409])
    const winner = responses[0]?.status === 201 ? '1' : '2'
    expect(await valuesOf(workspace, projectId)).toEqual({ A: winner })
    const equal = await Promise.all([send('b', '3'), send('b', '3')])
    expect(equal.map(({ status }) => status)).toEqual([201, 201])
    expect(equal[0]?.body).toEqual(equal[1]?.body)
  })

  it('is deleted after a day', async () => {
    const { workspace, key, projectId } = await withProject()
    const set = () => setVariables(projectId, { A: 'first' }, { key, ...idempotent('deploy') })
    await set()
    await putVariable(projectId, 'A', 'changed', { key })
    const [remembered] = await workspace.dump('variableRequests')
    const day = Date.parse(String(remembered?.createdAt)) + DAY_MS
    await tick(env, new Date(day - 1))
    expect([(await set()).status, await valuesOf(workspace, projectId)]).toEqual([201, { A: 'changed' }])
    await tick(env, new Date(day + 1))
    expect(await workspace.dump('variableRequests')).toEqual([])
    expect([(await set()).status, await valuesOf(workspace, projectId)]).toEqual([201, { A: 'first' }])
  })

  it('is stored with a fingerprint that cannot be computed without the encryption key', async () => {
    const { workspace, key, projectId } = await withProject()
    const other = await workspace.addProject()
    const options = { key, ...idempotent('deploy') }
    await setVariables(projectId, { A: '1234' }, options)
    const environment = { ENCRYPTION_KEYS: `test:${OTHER_KEY}` }
    await setVariables(other, { A: '1234' }, { ...options, environment })
    const rows = await workspace.dump('variableRequests')
    const [fingerprint = '', underOtherKey] = [projectId, other].map((id) =>
      String(rows.find((row) => row.projectId === id)?.idempotencyFingerprint),
    )
    expect(fingerprint).toMatch(/^test\.[0-9a-f]{64}$/)
    expect(underOtherKey).toMatch(/^test\.[0-9a-f]{64}$/)
    expect(underOtherKey).not.toBe(fingerprint)
    const list = [{ key: 'A', value: '1234' }]
    for (const guess of ['1234', JSON.stringify(list), JSON.stringify({ variables: list })]) {
      expect(fingerprint).not.toContain(hash('sha256', guess))
    }
  })

  it('is recognized after a rotation of the encryption key', async () => {
    const { workspace, key, projectId } = await withProject()
    const options = { key, ...idempotent('deploy') }
    await setVariables(projectId, first, options)
    await deleteVariable(projectId, 'A', { key })
    const environment = { ENCRYPTION_KEYS: `newer:${OTHER_KEY},${env.ENCRYPTION_KEYS}` }
    expect((await setVariables(projectId, first, { ...options, environment })).status).toBe(201)
    expect((await setVariables(projectId, { A: '5' }, { ...options, environment })).status).toBe(409)
    expect(await valuesOf(workspace, projectId)).toEqual({ B: '2' })
  })

  it('has 1 to 255 characters', async () => {
    const { workspace, key, projectId } = await withProject()
    for (const wrong of ['', 'x'.repeat(256)]) {
      const { status, body } = await setVariables(projectId, first, { key, ...idempotent(wrong) })
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^Idempotency-Key is too (short|long); /)])
    }
    expect(await variables(workspace)).toEqual([])
    const longest = idempotent('x'.repeat(255))
    expect((await setVariables(projectId, first, { key, ...longest })).status).toBe(201)
  })
})

type Send = (projectId: string, options: RequestOptions) => ReturnType<typeof request>

const writing: [string, Send][] = [
  ['putEnvironmentVariable', (projectId, options) => putVariable(projectId, 'A', 'new', options)],
  [
    'setEnvironmentVariables',
    (projectId, options) => setVariables(projectId, { B: 'new', A: 'new' }, { ...options, ...idempotent('deploy') }),
  ],
]

it.each(writing)('%s returns 409 if the project is archived', async (_, send) => {
  const { workspace, key, projectId } = await withProject('A')
  await workspace.archiveProject(projectId)
  const { status, body } = await send(projectId, { key })
  expect([status, body.error]).toEqual([409, expect.stringContaining('archived')])
  expect(await valuesOf(workspace, projectId)).toEqual({ A: 'old' })
  expect(await workspace.dump('variableRequests')).toEqual([])
})

describe.each<[string, Send]>([['listEnvironmentVariables', listVariables], ...writing])('%s', (operationId, send) => {
  const isList = operationId === 'listEnvironmentVariables'

  it('returns 404 for a project that the organization does not have', async () => {
    const { key } = await withProject()
    const elsewhere = await withProject('A')
    const nobodys = await send(crypto.randomUUID(), { key })
    const others = await send(elsewhere.projectId, { key })
    expect([nobodys.status, others.status]).toEqual([404, 404])
    expect(others.body).toEqual(nobodys.body)
    expect(await valuesOf(elsewhere.workspace, elsewhere.projectId)).toEqual({ A: 'old' })
  })

  it('returns 403 if the API key is restricted to other projects, also for a repeated request', async () => {
    const { workspace, key, projectId } = await withProject('A')
    if (!isList) await send(projectId, { key })
    const before = await workspace.dump('environmentVariables')
    for (const projectIds of [[], [await workspace.addProject()]]) {
      expect((await send(projectId, { key: await workspace.addKey({ projectIds }) })).status).toBe(403)
    }
    expect(await workspace.dump('environmentVariables')).toEqual(before)
    const restricted = await workspace.addKey({ projectIds: [projectId] })
    expect((await send(projectId.toUpperCase(), { key: restricted })).status).toBeLessThan(300)
  })

  it('makes one trip, and a look-up before it if the organization of the key is not known yet', async () => {
    const { workspace, projectId } = await withProject('A')
    const { id, token: key } = await workspace.addKeyWithId()
    await workspace.change(apiKeys, id, { lastUsedAt: now() })
    const calls: number[] = []
    for (let count = 0; count < 2; count++) {
      const use = watchedDatabase()
      await send(projectId, { key, environment: { DB: use.DB } })
      calls.push(use.calls)
    }
    expect(calls).toEqual(isList ? [1, 1] : [2, 1])

    const before = await workspace.dump('environmentVariables')
    await workspace.revokeKey(id)
    const use = watchedDatabase()
    expect((await send(projectId, { key, environment: { DB: use.DB } })).status).toBe(401)
    expect([use.calls, use.rowsWritten]).toEqual([1, 0])
    expect(await workspace.dump('environmentVariables')).toEqual(before)
  })
})

describe('a stored value', () => {
  it('decrypts for its own organization, project and name, and for no other', async () => {
    const { workspace, key, projectId } = await withProject()
    await putVariable(projectId, 'A', 'plain-text-value', { key })
    const { organizationId } = workspace
    const right = { purpose: 'environment-variable', organizationId, projectId, name: 'A' } as const
    const sealedA = async () => String((await workspace.dump('environmentVariables'))[0]?.sealedValue)
    const sealed = await sealedA()
    expect(await open(sealed, right, RING)).toBe('plain-text-value')
    for (const wrong of [{ name: 'B' }, { projectId: 'other' }, { organizationId: crypto.randomUUID() }]) {
      await expect(open(sealed, { ...right, ...wrong }, RING)).rejects.toThrow()
    }
    await expect(open(sealed, right, parseKeyRing(`test:${OTHER_KEY}`))).rejects.toThrow()
    await putVariable(projectId, 'A', 'plain-text-value', { key })
    expect(await sealedA()).not.toBe(sealed)
  })

  it('is in no table in plain text', async () => {
    const { key, projectId } = await withProject()
    const value = 'plain-text-value'
    await putVariable(projectId, 'A', value, { key })
    await setVariables(projectId, { B: value, C: 'x' }, { key, ...idempotent('deploy') })
    const stored = JSON.stringify(await dumpStores())
    expect(stored).toContain(projectId)
    for (const encoding of ['utf8', 'base64url', 'hex'] as const) {
      expect(stored).not.toContain(Buffer.from(value).toString(encoding))
    }
  })

  it('is encrypted under the newest encryption key', async () => {
    const { workspace, key, projectId } = await withProject()
    const environment = { ENCRYPTION_KEYS: `newer:${OTHER_KEY},${env.ENCRYPTION_KEYS}` }
    await putVariable(projectId, 'A', 'v', { key, environment })
    const [row] = await workspace.dump('environmentVariables')
    expect(row?.sealedValue).toMatch(/^v1\.newer\.[\w-]{16}\.[\w-]+$/)
  })
})

describe('the error of an invalid body', () => {
  const SECRET = 'hunter2-sw0rdfish'
  const PIECE = /hunter2|sw0rdfish/i
  const tooLong = SECRET.repeat(LARGEST)

  const WRONG_VALUES: [string, unknown][] = [
    ['a list', [SECRET]],
    ['an object', { secret: SECRET }],
    ['a value in a value', { value: SECRET }],
    ['a text with NUL', `${SECRET}\0`],
    ['a text with a lone surrogate', `${SECRET}\ud800`],
    ['a text that is too long', SECRET.repeat(LARGEST / 16)],
  ]
  const WRONG_BODIES: [string, unknown][] = [
    ['a text', SECRET],
    ['a list', [SECRET]],
    ['a list of variables', [{ key: 'A', value: SECRET }]],
    ['an object of names and values', { A: SECRET }],
    ['a name in the wrong case', { Value: SECRET, Variables: SECRET }],
    ['both names', { value: SECRET, variables: SECRET }],
    ['another wrapping', { variable: { value: SECRET }, variables: { value: SECRET } }],
    ['an object in a list in a list', { value: [[{ value: SECRET }]], variables: [[{ value: SECRET }]] }],
    ...WRONG_VALUES.flatMap(([name, value]): [string, unknown][] => [
      [`${name} as value`, { value }],
      [`${name} as value of a variable`, { variables: [{ key: 'A', value }] }],
      [`${name} as key of a variable`, { variables: [{ key: value, value: SECRET }] }],
      [`${name} as variable`, { variables: [value] }],
      [`${name} as variables`, { variables: value }],
      [`${name} beside a good value`, { value: SECRET, more: value }],
      [`${name} beside good variables`, { variables: [{ key: 'A', value: SECRET, more: value }] }],
    ]),
  ]
  const WRONG_TEXTS: [string, string][] = [
    ['no JSON', SECRET],
    ['half an object', `{"value":"${SECRET}"`],
    ['single quotes', `{'value':'${SECRET}'}`],
    ['a line of a file', `A=${SECRET}`],
    ['too many bytes', `{"value":"${tooLong}","variables":"${tooLong}"}`],
  ]

  const sending = (key: string, projectId: string) =>
    [
      ['PUT', `${listPath(projectId)}/A`],
      ['POST', listPath(projectId)],
    ].map(
      ([method = '', path = '']) =>
        (options: RequestOptions) =>
          request(method, path, { key, ...options }),
    )

  it.each(WRONG_BODIES)('repeats nothing of a secret: %s', async (_, json) => {
    const { key, projectId } = await withProject()
    for (const send of sending(key, projectId)) {
      const { status, body } = await send({ json })
      expect([status, body.error]).toEqual([400, expect.not.stringMatching(PIECE)])
    }
  })

  it.each(WRONG_TEXTS)('repeats nothing of a secret that is %s', async (_, text) => {
    const { key, projectId } = await withProject()
    for (const type of ['application/json', 'text/plain']) {
      for (const send of sending(key, projectId)) {
        const { status, body } = await send({ body: text, headers: { 'Content-Type': type } })
        expect([400, 413]).toContain(status)
        expect(body.error).not.toMatch(PIECE)
      }
    }
  })
})
