/** The lists that are searched with `query`: each against a model in JavaScript. */

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { request } from './support/api.ts'
import { watchedDatabase } from './support/bindings.ts'
import { env } from './support/env.ts'
import { sized } from './support/long-form.ts'
import { Workspace } from './support/workspace.ts'

interface Searched {
  readonly path: string
  readonly table: string
  /** The column that is searched. */
  readonly column: 'name' | 'path'
  /** The values of the other columns that have no default. */
  readonly values: Readonly<Record<string, string | number>>
  /** Filters for which all of the rows hold. */
  readonly filters: Readonly<Record<string, string>>
}

const TIME = '2026-03-29T01:00:00.000Z'
const TIMES = { createdAt: TIME, updatedAt: TIME }
const PROJECT = 'website'
const SESSION = '0198c2a4-7d1e-7c3a-9b52-000000000001'
const ofProject = { ...TIMES, projectId: PROJECT }

const SEARCHED: readonly Searched[] = [
  { path: 'projects', table: 'projects', column: 'name', values: TIMES, filters: {} },
  { path: 'agents', table: 'agents', column: 'name', values: TIMES, filters: {} },
  { path: 'users', table: 'users', column: 'name', values: TIMES, filters: {} },
  ...(['sessions', 'pull-requests'] as const).map(
    (path): Searched => ({
      path,
      table: path === 'sessions' ? 'sessions' : 'pullRequests',
      column: 'name',
      values: ofProject,
      filters: { projectId: PROJECT, order: '-createdAt' },
    }),
  ),
  {
    path: 'schedules',
    table: 'schedules',
    column: 'name',
    values: { ...TIMES, parentType: 'project', parentId: PROJECT, cron: '@daily', timezone: 'UTC' },
    filters: { parentType: 'project', enabled: 'false' },
  },
  {
    path: 'skills',
    table: 'skills',
    column: 'name',
    values: { ...TIMES, description: 'x', version: 1, latestVersion: 1, revision: 'x' },
    filters: {},
  },
  {
    path: 'session-files',
    table: 'sessionFiles',
    column: 'path',
    values: { ...TIMES, sessionId: SESSION, objectKey: 'x', sizeBytes: 0, sha256: 'x' },
    filters: { sessionId: SESSION },
  },
]

/** A workspace with rows of these names, in order of ID. */
async function withNames({ path, table, column, values, filters }: Searched) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  await workspace.addProject(PROJECT)
  await workspace.addSession(PROJECT, SESSION)
  const used = { ...values, organizationId: workspace.organizationId }

  /** Replaces the rows. @returns the ID of each. */
  async function insert(names: readonly string[]): Promise<string[]> {
    const rows = names.map((name, index) => ({
      id: `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      name,
    }))
    const columns = [...Object.keys(used), 'id', column]
    const selected = [...Object.values(used).map((_, index) => `?${index + 2}`), `value ->> 'id'`, `value ->> 'name'`]
    await env.DB.batch([
      env.DB.prepare(`DELETE FROM "${table}" WHERE "organizationId" = ? AND "id" LIKE '10000000-%'`).bind(
        workspace.organizationId,
      ),
      env.DB.prepare(
        `INSERT INTO "${table}" (${columns.map((name) => `"${name}"`).join()}) SELECT ${selected.join()} FROM json_each(?1)`,
      ).bind(JSON.stringify(rows), ...Object.values(used)),
    ])
    return rows.map(({ id }) => id)
  }

  /** @returns the IDs of all pages. */
  async function search(query: string, more: Readonly<Record<string, string>> = {}): Promise<string[]> {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const parameters = new URLSearchParams({ query, ...more, ...(cursor !== undefined && { cursor }) })
      const { status, body } = await request('GET', `/v1/${path}?${parameters}`, { key })
      expect([query, status, body.error]).toEqual([query, 200, undefined])
      found.push(...body.items.map(({ id }: { id: string }) => id))
      cursor = body.nextCursor ?? undefined
    } while (cursor !== undefined)
    return found.filter((id) => id.startsWith('10000000-'))
  }
  return { key, insert, search, filters }
}

/** ASCII letters in any case, and nothing else. */
const folded = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const isFound = (name: string, query: string) => folded(name).includes(folded(query))

const HOSTILE = [
  '%',
  '_',
  '\\',
  "'",
  '"',
  '*',
  '?',
  '[',
  ']',
  '^',
  'a',
  'A',
  'z',
  'Z',
  'é',
  'É',
  'ß',
  'İ',
  'ı',
  'K',
  'K',
  '\u0301',
  ' ',
  '\n',
  '~',
  '@',
  '`',
  '🙂',
]

const character = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
)
/** Text that a request may have, in the form in which paths are stored. */
const hostileText = (maxLength: number) =>
  fc
    .array(character, { minLength: 1, maxLength })
    .map((characters) => characters.join('').replaceAll('\0', '').toWellFormed().normalize('NFC'))
    .filter((text) => text.length > 0)

describe.each(SEARCHED)('GET /v1/$path', (searched) => {
  it('finds the names that contain the text, as a model does', async () => {
    const { insert, search, filters } = await withNames(searched)
    const property = fc.asyncProperty(
      fc.uniqueArray(hostileText(8), { minLength: 1, maxLength: 12 }),
      hostileText(3),
      fc.nat(),
      async (names, text, seed) => {
        const ids = await insert(names)
        // Also a part of a name, in another case.
        const name = [...(names[seed % names.length] ?? 'a')]
        const part = name.slice(seed % name.length, (seed % name.length) + 2).join('')
        for (const query of [
          text,
          part.toWellFormed().normalize('NFC'),
          part.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()),
        ]) {
          const expected = ids.filter((_, index) => isFound(names[index] ?? '', query))
          expect([query, await search(query, { limit: '3' })]).toEqual([query, expected])
          const latestFirst = 'order' in filters ? expected.toReversed() : expected
          expect([query, await search(query, { limit: '3', ...filters })]).toEqual([query, latestFirst])
        }
      },
    )
    await fc.assert(property, { numRuns: sized(12, 300), seed: env.SEED })
  })

  it.each([
    ['%', ['100%']],
    ['_', ['a_b']],
    ['a_', ['a_b']],
    ['\\', ['a\\b']],
    ["'; DROP TABLE", ["x'; DROP TABLE users; --"]],
    ['"', ['"quoted"']],
    ['STRASSE', ['strasse']],
    ['É', ['CAFÉ']],
    ['é', ['café']],
  ])('takes every character as it is: %s', async (query, expected) => {
    const { insert, search } = await withNames(searched)
    const names = [
      '100%',
      '100',
      'a_b',
      'axb',
      'a\\b',
      "x'; DROP TABLE users; --",
      '"quoted"',
      'straße',
      'strasse',
      'CAFÉ',
      'café',
    ]
    const ids = await insert(names)
    expect((await search(query)).map((id) => names[ids.indexOf(id)])).toEqual(expected)
  })

  it('examines up to 2,500 rows for a page, and each is found once', async () => {
    const { key, insert, search, filters } = await withNames(searched)
    const names = Array.from(
      { length: 5100 },
      (_, index) => `${index === 0 || index === 5099 ? 'Needle' : 'hay'} ${index}`,
    )
    const ids = await insert(names)
    const expected = [ids[0], ids[5099]]
    expect(await search('needle')).toEqual(expected)
    expect(await search('needle', filters)).toEqual('order' in filters ? expected.toReversed() : expected)
    await request('GET', '/v1/me', { key })
    for (const more of [{}, filters]) {
      const parameters = new URLSearchParams({ query: 'none', limit: '1000', ...more })
      const use = watchedDatabase()
      const environment = { DB: use.DB }
      const { status, body } = await request('GET', `/v1/${searched.path}?${parameters}`, { key, environment })
      expect([status, use.calls, body.items, typeof body.nextCursor]).toEqual([200, 1, [], 'string'])
      expect(use.rowsRead).toBeLessThanOrEqual(2 * 2500 + 50)
    }
  })

  it.each(['query=', `query=${'x'.repeat(256)}`, 'query=a%00', 'query=a&query=b', 'query=%ff', 'q=a'])(
    'refuses %s',
    async (query) => {
      const { key } = await withNames(searched)
      expect((await request('GET', `/v1/${searched.path}?${query}`, { key })).status).toBe(400)
    },
  )
})
