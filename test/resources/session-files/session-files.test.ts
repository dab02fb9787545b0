import { createHash, hash } from 'node:crypto'
import * as fc from 'fast-check'
import { v7 as newUuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as tables from '../../../src/db/schema.ts'
import { type ApiResponse, PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { failingDatabase, failingObjects, objectsWith, watchedDatabase, whileStoring } from '../../support/bindings.ts'
import { waitPast } from '../../support/clock.ts'
import { env } from '../../support/env.ts'
import { sized } from '../../support/long-form.ts'
import { tick as tickAt } from '../../support/tick.ts'
import { now, Workspace } from '../../support/workspace.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

interface Page {
  readonly items: { id: string }[]
  readonly nextCursor: string | null
}

/** A session with `count` files. */
async function withFiles(count: number) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const projectId = await workspace.addProject()
  const sessionId = await workspace.addSession(projectId)
  const files = await workspace.addSessionFiles(sessionId, count)
  /** @param query such as `?limit=2`. */
  const list = (query = '', more: RequestOptions = {}) =>
    request('GET', `/v1/sessions/${sessionId}/files${query}`, { key, ...more })
  /** @param body text or bytes; its length is declared. */
  const put = (path: string, body: string | Uint8Array<ArrayBuffer> = '', more: RequestOptions = {}) =>
    request('PUT', `/v1/sessions/${sessionId}/files?path=${encodeURIComponent(path)}`, {
      key,
      ...more,
      body,
      headers: { 'Content-Length': String(new Blob([body]).size), ...more.headers },
    })
  const read = (id: string, headers: Record<string, string> = {}, environment: Partial<Cloudflare.Env> = {}) =>
    request('GET', `/v1/sessions/${sessionId}/files/${id}/content`, { key, headers, environment })
  const retrieve = (id: string, more: RequestOptions = {}) =>
    request('GET', `/v1/sessions/${sessionId}/files/${id}`, { key, ...more })
  const textOf = async (id: string) => textIn(await read(id))
  const remove = (id: string, more: RequestOptions = {}) =>
    request('DELETE', `/v1/sessions/${sessionId}/files/${id}`, { key, ...more })
  return { workspace, key, projectId, sessionId, files, list, put, retrieve, read, textOf, remove }
}

const textIn = ({ body }: ApiResponse) => new TextDecoder().decode(body)

/** A file as the list has it. */
const listed = ({ sizeBytes, contentType, sha256, ...item }: ApiResponse['body']) => item

const ids = ({ items }: Page) => items.map(({ id }) => id)

/** The first and the last of all ids. */
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

describe('listSessionFiles', () => {
  it('returns the files of the session, without contents', async () => {
    const { workspace, sessionId, list } = await withFiles(0)
    const before = now()
    const first = await workspace.addSessionFile(sessionId, 'src/app.ts')
    const second = await workspace.addSessionFile(sessionId, 'docs/ü \u{1f550}/"a".md')
    const { status, body } = await list()
    expect(status).toBe(200)
    const times = { createdAt: expect.stringMatching(INSTANT), updatedAt: expect.stringMatching(INSTANT) }
    expect(body).toEqual({
      items: [
        { id: first, sessionId, path: 'src/app.ts', ...times },
        { id: second, sessionId, path: 'docs/ü \u{1f550}/"a".md', ...times },
      ],
      nextCursor: null,
    })
    for (const { createdAt } of body.items) expect(createdAt >= before && createdAt <= now()).toBe(true)
  })

  it('returns an empty page for a session without files', async () => {
    const { list } = await withFiles(0)
    const { status, body } = await list()
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }])
  })

  it('returns no file of another session', async () => {
    const { workspace, projectId, files, list } = await withFiles(3)
    const other = await workspace.addSession(projectId)
    await workspace.addSessionFiles(other, 3)
    expect(ids((await list()).body)).toEqual(files)
  })

  it('takes the id in either case, returns it in lower case, and works under the prefix', async () => {
    const { key, sessionId, files } = await withFiles(2)
    const path = `${PREFIX}/v1/sessions/${sessionId.toUpperCase()}/files`
    const { status, body } = await request('GET', path, { key })
    expect(status).toBe(200)
    expect(ids(body)).toEqual(files)
    expect(body.items[0].sessionId).toBe(sessionId)
  })

  it('lists by id, which is the order of creation and not of paths', async () => {
    const { workspace, sessionId, list } = await withFiles(0)
    const created = []
    for (const path of ['z.ts', 'a.ts', 'M.ts', 'a.ts/b', '0'])
      created.push(await workspace.addSessionFile(sessionId, path))
    const { body } = await list()
    expect(ids(body)).toEqual(created)
    expect(ids(body)).toEqual(created.toSorted())
  })
})

describe('paging', () => {
  it('returns every page in order, and a null cursor on the last', async () => {
    const { files, list } = await withFiles(7)
    const first = (await list('?limit=3')).body
    expect([ids(first), first.nextCursor]).toEqual([files.slice(0, 3), files[2]])
    const second = (await list(`?limit=3&cursor=${first.nextCursor}`)).body
    expect([ids(second), second.nextCursor]).toEqual([files.slice(3, 6), files[5]])
    const third = (await list(`?cursor=${second.nextCursor}&limit=3`)).body
    expect([ids(third), third.nextCursor]).toEqual([files.slice(6), null])
  })

  it('has no next page if the last file fills the page', async () => {
    const { files, list } = await withFiles(4)
    const whole = (await list('?limit=4')).body
    expect([ids(whole), whole.nextCursor]).toEqual([files, null])
    const half = (await list('?limit=2')).body
    const rest = (await list(`?limit=2&cursor=${half.nextCursor}`)).body
    expect([ids(rest), rest.nextCursor]).toEqual([files.slice(2), null])
  })

  it('returns an empty page after the last file', async () => {
    const { files, list } = await withFiles(2)
    const { status, body } = await list(`?cursor=${files[1]}`)
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }])
  })
})

describe('limit', () => {
  it('is 50 by default', async () => {
    const { files, list } = await withFiles(51)
    const { body } = await list()
    expect([ids(body), body.nextCursor]).toEqual([files.slice(0, 50), files[49]])
  })

  it('means 1,000 if it is larger', async () => {
    const { files, list } = await withFiles(1001)
    for (const limit of ['1000', '1001', '2000', '9'.repeat(20), '9'.repeat(400), `1${'0'.repeat(4000)}`]) {
      const { status, body } = await list(`?limit=${limit}`)
      expect([status, body.items.length, body.nextCursor]).toEqual([200, 1000, files[999]])
    }
    const { body } = await list('?limit=999')
    expect([body.items.length, body.nextCursor]).toEqual([999, files[998]])
  })

  it.each([
    ['1', 1],
    ['2', 2],
    ['003', 3],
    [`${'0'.repeat(400)}2`, 2],
    ['%32', 2],
  ])('may be %s', async (limit, size) => {
    const { files, list } = await withFiles(4)
    const { status, body } = await list(`?limit=${limit}`)
    expect([status, ids(body)]).toEqual([200, files.slice(0, size)])
  })

  it.each([
    '0',
    '00',
    '0'.repeat(400),
    '',
    '%20',
    '-1',
    '+1',
    '%2B1',
    '1.0',
    '1e3',
    '0x10',
    '1_000',
    '1,000',
    '%205',
    '5%20',
    '5%0A',
    '5%00',
    'ten',
    'Infinity',
    'NaN',
    'null',
    '%D9%A5',
    '%EF%BC%95',
    '%C2%B2',
  ])('may not be %j', async (limit) => {
    const { list } = await withFiles(1)
    const { status, body } = await list(`?limit=${limit}`)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^limit (is|has) /) }])
  })

  it('may not be without a value', async () => {
    const { list } = await withFiles(1)
    expect((await list('?limit')).status).toBe(400)
  })
})

describe('cursor', () => {
  it.each([
    '',
    '7',
    'null',
    '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7',
    '0198c2a47d1e7c3a9b523f6d8e1a4c70',
    '%7B0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70%7D',
    '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70%0A',
    '%200198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
    '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70,0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
    '%00',
    'c'.repeat(1000),
    'c'.repeat(1001),
    '%F0%9F%95%90'.repeat(1001),
  ])('may not be %j', async (cursor) => {
    const { list } = await withFiles(1)
    const { status, body } = await list(`?cursor=${cursor}`)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^cursor (is|has) /) }])
  })

  it('may not be without a value', async () => {
    const { list } = await withFiles(1)
    expect((await list('?cursor')).status).toBe(400)
  })

  it('may be in upper case', async () => {
    const { files, list } = await withFiles(3)
    const { body } = await list(`?cursor=${files[0]?.toUpperCase()}`)
    expect(ids(body)).toEqual(files.slice(1))
  })

  it('is a position in the order if no file of the organization has this UUID', async () => {
    const { files, list } = await withFiles(3)
    expect(ids((await list(`?cursor=${FIRST_UUID}`)).body)).toEqual(files)
    expect(ids((await list(`?cursor=${LAST_UUID}`)).body)).toEqual([])
    const beforeSecond = `${files[1]?.slice(0, -12)}000000000000`
    const expected = files.filter((id) => id > beforeSecond)
    expect(ids((await list(`?cursor=${beforeSecond}`)).body)).toEqual(expected)
  })

  it('stays a position in the order after its file is deleted', async () => {
    const { workspace, files, list } = await withFiles(4)
    const [first, second, third, fourth] = files as [string, string, string, string]
    await workspace.deleteSessionFile(second)
    await workspace.deleteSessionFile(third)
    const { status, body } = await list(`?cursor=${second}`)
    expect([status, ids(body)]).toEqual([200, [fourth]])
    expect(ids((await list(`?cursor=${first}`)).body)).toEqual([fourth])
  })

  it('is 409 if it is a file of another session of the organization', async () => {
    const { workspace, projectId, list } = await withFiles(2)
    const elsewhere = [projectId, await workspace.addProject()]
    for (const project of elsewhere) {
      const other = await workspace.addSession(project)
      const file = await workspace.addSessionFile(other, 'a.ts')
      for (const cursor of [file, file.toUpperCase()]) {
        const { status, body } = await list(`?cursor=${cursor}`)
        expect([status, body]).toEqual([409, { error: expect.stringContaining('file of another session') }])
      }
    }
  })

  it('is only a position in the order if it is a file of another organization', async () => {
    const { files, list } = await withFiles(2)
    const stranger = await withFiles(1)
    const [theirs] = stranger.files as [string]
    const { status, body } = await list(`?cursor=${theirs}`)
    expect([status, ids(body)]).toEqual([200, files.filter((id) => id > theirs)])
  })
})

describe('the query', () => {
  it.each([
    ['limit=2&limit=2', 'limit'],
    ['limit=2&limit=3', 'limit'],
    ['limit=2&cursor=FILE&limit=', 'limit'],
    ['limit=2&%6Cimit=2', 'limit'],
    ['%6Cimit=2&limit=2', 'limit'],
    ['cursor=FILE&cursor=FILE', 'cursor'],
    ['cursor=FILE&limit=1&c%75rsor=FILE', 'cursor'],
  ])('may not repeat a parameter: %s', async (query, name) => {
    const { files, list } = await withFiles(3)
    const { status, body } = await list(`?${query.replaceAll('FILE', files[0] as string)}`)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(new RegExp(`^${name} has several values;`)) }])
  })

  it('has an error for each invalid parameter', async () => {
    const { list } = await withFiles(1)
    const { status, body } = await list('?limit=0&cursor=x')
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^limit .* cursor /)])
  })
})

describe('the errors of listSessionFiles', () => {
  it('are 400 for an id that is not a UUID', async () => {
    const { key } = await withFiles(0)
    for (const id of ['7', 'session', '%00', '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70%0A', '%', '%FF']) {
      expect((await request('GET', `/v1/sessions/${id}/files`, { key })).status).toBe(400)
    }
  })

  it('are 404 with one message for a session that does not exist or belongs to another organization', async () => {
    const { key } = await withFiles(1)
    const stranger = await withFiles(1)
    const get = (id: string) => request('GET', `/v1/sessions/${id}/files`, { key })
    const missing = await get(crypto.randomUUID())
    expect(missing.status).toBe(404)
    const theirs = await get(stranger.sessionId)
    expect([theirs.status, theirs.body]).toEqual([404, missing.body])
    await stranger.workspace.deleteSession(stranger.sessionId)
    const deleted = await get(stranger.sessionId)
    expect([deleted.status, deleted.body]).toEqual([404, missing.body])
  })

  it('are 404 before 409', async () => {
    const { key, files } = await withFiles(1)
    const path = `/v1/sessions/${crypto.randomUUID()}/files?cursor=${files[0]}`
    expect((await request('GET', path, { key })).status).toBe(404)
  })

  it('are 403 for an API key that is restricted to other projects', async () => {
    const { workspace, projectId, list } = await withFiles(1)
    const other = await workspace.addProject()
    for (const projectIds of [[], [other]]) {
      const { status, body } = await list('', { key: await workspace.addKey({ projectIds }) })
      expect([status, Object.keys(body)]).toEqual([403, ['error']])
    }
    const restricted = await workspace.addKey({ projectIds: [other, projectId] })
    expect((await list('', { key: restricted })).status).toBe(200)
  })

  it('are 410 for a deleted session', async () => {
    const { workspace, sessionId, list } = await withFiles(2)
    await workspace.deleteSession(sessionId)
    const { status, body } = await list()
    expect([status, Object.keys(body)]).toEqual([410, ['error']])
  })

  it('are 403 before 410, and 410 before 409', async () => {
    const { workspace, projectId, sessionId, list } = await withFiles(1)
    const other = await workspace.addSession(projectId)
    const foreign = `?cursor=${await workspace.addSessionFile(other, 'a.ts')}`
    const restricted = await workspace.addKey({ projectIds: [] })
    expect((await list(foreign)).status).toBe(409)
    expect((await list(foreign, { key: restricted })).status).toBe(403)
    await workspace.deleteSession(sessionId)
    expect((await list(foreign)).status).toBe(410)
    expect((await list(foreign, { key: restricted })).status).toBe(403)
  })

  it('are 400 if the API key lacks the scope, whether or not the session exists', async () => {
    const { workspace, sessionId, list } = await withFiles(1)
    const key = await workspace.addKey({ scopes: ['skills:read', 'pins:write'] })
    const refused = await list('', { key })
    expect([refused.status, refused.body]).toEqual([400, { error: expect.stringContaining('session-files:read') }])
    await workspace.deleteSession(sessionId)
    const deleted = await list('', { key })
    const missing = await request('GET', `/v1/sessions/${crypto.randomUUID()}/files`, { key })
    expect([deleted.body, missing.body]).toEqual([refused.body, refused.body])
    expect([deleted.status, missing.status]).toEqual([400, 400])
  })

  it('do not occur for an API key that acts as no user', async () => {
    const { workspace, list } = await withFiles(1)
    expect((await list('', { key: await workspace.addKey({ userId: null }) })).status).toBe(200)
  })

  it('are 401 without a live API key, whatever the input', async () => {
    const { workspace, sessionId, list } = await withFiles(1)
    const missing = await request('GET', `/v1/sessions/${sessionId}/files`)
    expect([missing.status, missing.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer'])
    const { token, id } = await workspace.addKeyWithId()
    expect((await list('', { key: token })).status).toBe(200)
    await workspace.revokeKey(id)
    const expired = await workspace.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' })
    for (const key of [token, expired]) {
      expect((await list('', { key })).status).toBe(401)
      expect((await list('?limit=0', { key })).status).toBe(401)
    }
  })

  it.each([
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: Network connection lost.',
  ])('are 503 with Retry-After while the database is unavailable: %s', async (message) => {
    const { list } = await withFiles(1)
    for (const query of ['', '?limit=0']) {
      const answer = await list(query, { environment: { DB: failingDatabase(new Error(message)) } })
      expect(answer.status).toBe(503)
      expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
      expect(answer.body.error).not.toMatch(/D1|overload|queue|network/i)
    }
  })

  it('are 500 with a constant message if the database fails otherwise', async () => {
    const { list } = await withFiles(1)
    const errors = [new Error('D1_ERROR: no such table: sessionFiles: SQLITE_ERROR'), new TypeError('secret')]
    const answers = []
    for (const error of errors) answers.push(await list('', { environment: { DB: failingDatabase(error) } }))
    expect(answers.map(({ status }) => status)).toEqual([500, 500])
    expect(answers[0]?.headers.has('Retry-After')).toBe(false)
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    expect(answers[0]?.body.error).not.toMatch(/sessionFiles|D1|secret/)
  })
})

describe('reading all pages', () => {
  const change = fc.oneof(
    fc.record({ kind: fc.constantFrom('append' as const, 'insert' as const) }),
    fc.record({ kind: fc.constantFrom('delete' as const), place: fc.nat(60) }),
    fc.record({ kind: fc.constantFrom('deleteCursor' as const) }),
  )
  const walks = fc.record({
    files: fc.nat(40),
    pages: fc.array(
      fc.record({ limit: fc.integer({ min: 1, max: 12 }), changes: fc.array(change, { maxLength: 4 }) }),
      {
        minLength: 1,
        maxLength: 6,
      },
    ),
  })

  it('returns every file that stays exactly once and in order, whatever is added or deleted', async () => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ files, pages }) => {
        const { workspace, sessionId, files: initial, list } = await withFiles(files)
        const staying = new Set(initial)
        let present = [...initial]
        const seen: string[] = []
        let cursor: string | null = null

        const remove = async (id: string | null | undefined) => {
          if (!id || !present.includes(id)) return
          await workspace.deleteSessionFile(id)
          present = present.filter((candidate) => candidate !== id)
          staying.delete(id)
        }
        const add = async (id: string) => {
          await workspace.addSessionFile(sessionId, `added/${id}.ts`, id)
          present = [...present, id].sort()
          if (cursor === null || id > cursor) staying.add(id)
        }

        for (let turn = 0; ; turn++) {
          const { limit, changes } = pages[turn % pages.length] as (typeof pages)[number]
          const page: Page = (await list(`?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)).body
          const rest = present.filter((id) => cursor === null || id > cursor)
          expect(ids(page)).toEqual(rest.slice(0, limit))
          expect(page.nextCursor).toBe(rest.length > limit ? rest[limit - 1] : null)
          seen.push(...ids(page))
          cursor = page.nextCursor
          if (cursor === null) break
          // Later turns only delete, so that every list ends.
          for (const step of changes) {
            if (step.kind === 'delete') await remove(present[step.place % Math.max(present.length, 1)])
            else if (step.kind === 'deleteCursor') await remove(cursor)
            else if (turn < 20) await add(step.kind === 'append' ? newUuid() : crypto.randomUUID())
          }
        }
        expect(seen).toEqual([...new Set(seen)].sort())
        expect([...staying].filter((id) => !seen.includes(id))).toEqual([])
      }),
      { numRuns: sized(30, 120) },
    )
  })
})

/** How many objects the files of the workspace have. */
interface Objects {
  /** Objects in R2 that a file refers to. */
  readonly referred: number
  /** Objects in R2 that are orphaned. */
  readonly orphaned: number
  /** Must be empty: objects in R2 that are neither, and objects of files that are orphaned or not in R2. */
  readonly lost: string[]
}

async function orphanedObjects(workspace: Workspace): Promise<Map<string, string>> {
  const { results } = await env.DB.prepare(
    'SELECT "objectKey", "deleteAfter" FROM "orphanedObjects" WHERE instr("objectKey", ?) > 0',
  )
    .bind(workspace.organizationId)
    .all<{ objectKey: string; deleteAfter: string }>()
  return new Map(results.map(({ objectKey, deleteAfter }) => [objectKey, deleteAfter]))
}

async function objectsOf(workspace: Workspace): Promise<Objects> {
  const { objects } = await env.OBJECTS.list({ prefix: `session-files/${workspace.organizationId}/` })
  const stored = objects.map(({ key }) => key)
  const referred = (await workspace.dump('sessionFiles')).map(({ objectKey }) => String(objectKey))
  const orphaned = await orphanedObjects(workspace)
  return {
    referred: stored.filter((key) => referred.includes(key)).length,
    orphaned: stored.filter((key) => orphaned.has(key)).length,
    lost: [
      ...stored.filter((key) => !referred.includes(key) && !orphaned.has(key)),
      ...referred.filter((key) => !stored.includes(key) || orphaned.has(key)),
    ],
  }
}

/** Ticks at an instant, by default long after every test. */
const tick = (at = '2999-01-01T00:00:00.000Z') => tickAt(env, new Date(at))

/** Sweeps, and counts what is left. */
async function swept(workspace: Workspace): Promise<Objects & { rows: number }> {
  await tick()
  return { ...(await objectsOf(workspace)), rows: (await orphanedObjects(workspace)).size }
}

const leaving = (referred: number) => ({ referred, orphaned: 0, lost: [], rows: 0 })

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, index) => index)
const LIMIT_BYTES = 95_000_000
const MEGABYTE = 1_000_000

/** A stream of this many megabytes. Each byte of a megabyte is the index of that megabyte. */
function megabytes(count: number): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      if (next < count) controller.enqueue(new Uint8Array(MEGABYTE).fill(next++))
      else controller.close()
    },
  })
}

describe('putSessionFile', () => {
  it('stores a file and lists it, and returns its content unchanged', async () => {
    const { sessionId, put, list, read } = await withFiles(0)
    const before = now()
    const { status, headers, body } = await put('src/app.ts', EVERY_BYTE)
    expect(headers.get('Location')).toBe(`/v1/sessions/${sessionId}/files/${body.id}`)
    const file = {
      id: expect.any(String),
      sessionId,
      path: 'src/app.ts',
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: body.createdAt,
    }
    const sha256 = '40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880'
    const content = { sizeBytes: 256, contentType: 'application/octet-stream', sha256 }
    expect([status, body]).toEqual([201, { ...file, ...content }])
    expect(body.createdAt >= before && body.createdAt <= now()).toBe(true)
    expect((await list()).body.items).toEqual([{ ...file, id: body.id }])
    expect((await read(body.id)).body).toEqual(EVERY_BYTE)
  })

  it('takes the id in either case, returns it in lower case, and works under the prefix', async () => {
    const { key, sessionId, textOf } = await withFiles(0)
    const path = `${PREFIX}/v1/sessions/${sessionId.toUpperCase()}/files?path=a%2Fb.md`
    const headers = { 'Content-Length': '2' }
    const { body } = await request('PUT', path, { key, body: 'ab', headers })
    expect(body).toMatchObject({ sessionId, path: 'a/b.md' })
    expect(await textOf(body.id)).toBe('ab')
  })

  it('replaces the content of a file at the same path, and keeps its id', async () => {
    const { put, list, read } = await withFiles(0)
    const first = (await put('a.md', 'one')).body
    const before = await read(first.id)
    await waitPast(first.updatedAt)
    const second = (await put('a.md', 'two, and longer', { headers: { 'Content-Type': 'text/markdown' } })).body
    const content = { sizeBytes: 15, contentType: 'text/markdown', sha256: hash('sha256', 'two, and longer') }
    expect(second).toEqual({ ...first, updatedAt: second.updatedAt, ...content })
    expect(second.updatedAt > first.updatedAt).toBe(true)
    expect((await list()).body.items).toMatchObject([{ id: first.id, updatedAt: second.updatedAt }])
    const after = await read(first.id)
    expect([textIn(before), textIn(after)]).toEqual(['one', 'two, and longer'])
    expect(after.headers.get('ETag')).not.toBe(before.headers.get('ETag'))
    const end = await read(first.id, { Range: 'bytes=-6' })
    expect([textIn(end), end.headers.get('Content-Range')]).toEqual(['longer', 'bytes 9-14/15'])
  })

  it('does not change files at other paths or of other sessions', async () => {
    const { workspace, projectId, sessionId, put, textOf } = await withFiles(0)
    const other = await workspace.addSession(projectId)
    const beside = await workspace.addSessionFile(sessionId, 'A.md', newUuid(), 'beside')
    const elsewhere = await workspace.addSessionFile(other, 'a.md', newUuid(), 'elsewhere')
    const { body } = await put('a.md', 'new')
    expect([beside, elsewhere]).not.toContain(body.id)
    expect([await textOf(body.id), await textOf(beside)]).toEqual(['new', 'beside'])
    expect(await objectsOf(workspace)).toEqual({ referred: 3, orphaned: 0, lost: [] })
  })

  it('treats canonically equivalent Unicode paths as one, and returns them in NFC', async () => {
    const { put, list } = await withFiles(0)
    const composed = 'caf\u00e9/\ud55c.md'
    const decomposed = composed.normalize('NFD')
    expect(decomposed).not.toBe(composed)
    const first = (await put(decomposed, 'one')).body
    const second = (await put(composed, 'two')).body
    expect([first.path, second.path, second.id]).toEqual([composed, composed, first.id])
    expect((await list()).body.items).toHaveLength(1)
  })

  it('stores an empty file', async () => {
    const { key, sessionId, workspace, put, read } = await withFiles(0)
    const path = `/v1/sessions/${sessionId}/files?path=nothing`
    const headers = { 'Content-Length': '0' }
    const bodies = [{}, { body: new Uint8Array() }, { body: megabytes(0) }]
    for (const body of bodies) {
      const { body: file } = await request('PUT', path, { key, headers, ...body })
      expect(file).toMatchObject({ sizeBytes: 0, sha256: hash('sha256', '') })
      const { status, body: content } = await read(file.id)
      expect([status, content]).toEqual([200, new Uint8Array()])
      const part = await read(file.id, { Range: 'bytes=0-' })
      expect([part.status, part.headers.get('Content-Range')]).toEqual([416, 'bytes */0'])
      await put('nothing', 'something')
    }
    expect(await swept(workspace)).toEqual(leaving(1))
  })

  it('streams: R2 gets the first bytes before the client sends the last', async () => {
    const { key, sessionId, textOf } = await withFiles(0)
    const storing = Promise.withResolvers<void>()
    const body = new ReadableStream({
      type: 'bytes',
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode('begin'))
        await storing.promise
        controller.enqueue(new TextEncoder().encode(' end'))
        controller.close()
      },
    })
    const path = `/v1/sessions/${sessionId}/files?path=a`
    const environment = whileStoring(storing.resolve)
    const headers = { 'Content-Length': '9' }
    const answer = await request('PUT', path, { key, headers, body, environment })
    expect(await textOf(answer.body.id)).toBe('begin end')
  })

  it('accepts 95,000,000 bytes, and is 413 for one more before it reads any', async () => {
    const { workspace, key, sessionId, read } = await withFiles(0)
    const path = `/v1/sessions/${sessionId}/files?path=large`
    const send = (sizeBytes: number, body: ReadableStream) =>
      request('PUT', path, { key, headers: { 'Content-Length': String(sizeBytes) }, body })
    const { status, body: file } = await send(LIMIT_BYTES, megabytes(95))
    const hash = createHash('sha256')
    for await (const bytes of megabytes(95)) hash.update(bytes)
    expect([status, file.sizeBytes, file.sha256]).toEqual([201, LIMIT_BYTES, hash.digest('hex')])
    const end = await read(file.id, { Range: `bytes=${LIMIT_BYTES - MEGABYTE - 1}-` })
    expect([end.body.length, end.body[0], end.body[1], end.body.at(-1)]).toEqual([MEGABYTE + 1, 93, 94, 94])
    expect(end.headers.get('Content-Range')).toMatch(/\/95000000$/)

    const unread = megabytes(96)
    expect((await send(LIMIT_BYTES + 1, unread)).status).toBe(413)
    expect((await unread.getReader().read()).value?.[0]).toBe(0)
    expect(await swept(workspace)).toEqual(leaving(1))
  })

  it.each([undefined, '', '-1', '1e3', 'ten'])('is 411 with the Content-Length %s', async (length) => {
    const { workspace, key, sessionId } = await withFiles(0)
    const headers: Record<string, string> = length === undefined ? {} : { 'Content-Length': length }
    const path = `/v1/sessions/${sessionId}/files?path=a`
    expect((await request('PUT', path, { key, headers, body: megabytes(1) })).status).toBe(411)
    expect(await objectsOf(workspace)).toEqual({ referred: 0, orphaned: 0, lost: [] })
  })

  it.each([
    ['shorter', MEGABYTE + 1],
    ['longer', MEGABYTE - 1],
  ])('stores nothing if the body is %s than its Content-Length', async (_, sizeBytes) => {
    const { workspace, key, sessionId, put, textOf } = await withFiles(0)
    const { id } = (await put('a', 'kept')).body
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const headers = { 'Content-Length': String(sizeBytes) }
    const path = `/v1/sessions/${sessionId}/files?path=a`
    expect((await request('PUT', path, { key, headers, body: megabytes(1) })).status).not.toBe(200)
    logged.mockRestore()
    expect(await textOf(id)).toBe('kept')
    expect(await swept(workspace)).toEqual(leaving(1))
  })
})

describe('the Content-Type of an upload', () => {
  it.each([
    'text/plain',
    'Text/Plain;charset=UTF-8',
    'text/html; charset="utf-8" ; boundary=a;',
    'application/vnd.acme+json;profile="a \\"b\\" [c]"',
    'x/y;;; a=b',
    `text/plain; a=${'x'.repeat(241)}`,
    'text/plain; charset=ISO-8859-1',
    'text/plain; charset="windows\\-1252"',
    'text/plain; charset=shift_jis; CHARSET=utf-16',
    'text/plain; a=";charset=none"',
  ])('is kept as it was sent: %s', async (contentType) => {
    const { put, read, retrieve } = await withFiles(0)
    const { status, body } = await put('a', 'x', { headers: { 'Content-Type': contentType } })
    expect([status, body.contentType]).toEqual([201, contentType])
    expect((await retrieve(body.id)).body).toEqual(body)
    expect((await read(body.id)).headers.get('Content-Type')).toBe('application/octet-stream')
  })

  it.each([
    'text/plain; charset=none',
    'text/plain; Charset="utf-7"',
    'text/html; charset=utf-8; charset=none',
    'text/plain; charset=""',
    'text/plain; a=";"; charset="no such"',
  ])('may not name an unknown charset: %s', async (contentType) => {
    const { workspace, put } = await withFiles(0)
    const { status, body } = await put('a', 'x', { headers: { 'Content-Type': contentType } })
    const allowed = 'allowed: a charset of the Encoding Standard, such as "utf-8".'
    const error = `Content-Type has an unknown charset; got ${JSON.stringify(contentType)}; ${allowed}`
    expect([status, body]).toEqual([400, { error }])
    expect(await objectsOf(workspace)).toEqual({ referred: 0, orphaned: 0, lost: [] })
  })

  it.each([
    '',
    'text',
    'text/',
    '/plain',
    'text/plain/x',
    'text plain',
    'text/plain, text/html',
    'text/plain; charset',
    'text/plain; charset=',
    'text/plain; charset ="utf-8"',
    'text/plain; a="b',
    'text/plain; a=\u00fc',
    'text/plain; a="\u00fc"',
    `text/plain; a=${'x'.repeat(242)}`,
    `a/b${'; '.repeat(4000)}x`,
    `a/b;a="${'\\'.repeat(4001)}`,
  ])('may not be %j', async (contentType) => {
    const { workspace, put } = await withFiles(0)
    const { status, body } = await put('a', 'x', { headers: { 'Content-Type': contentType } })
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^Content-Type is not a media type; got /) }])
    expect(await objectsOf(workspace)).toEqual({ referred: 0, orphaned: 0, lost: [] })
  })
})

describe('retrieveSessionFile', () => {
  it('returns the file with what is known of its content', async () => {
    const { workspace, put, retrieve, list } = await withFiles(0)
    const stored = (await put('a.md', 'abc', { headers: { 'Content-Type': 'text/markdown' } })).body
    const { status, body } = await retrieve(stored.id.toUpperCase())
    const content = {
      sizeBytes: 3,
      contentType: 'text/markdown',
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    }
    const [item] = (await list()).body.items
    expect([status, body]).toEqual([200, { ...item, ...content }])
    expect(Object.keys(item)).toEqual(['id', 'sessionId', 'path', 'createdAt', 'updatedAt'])
    await workspace.change(tables.sessionFiles, stored.id, { contentType: null })
    const untyped = { ...content, contentType: 'application/octet-stream' }
    expect((await retrieve(stored.id)).body).toEqual({ ...item, ...untyped })
  })

  it('returns the file of an archived project, to an API key that is restricted to the project', async () => {
    const { workspace, projectId, put, retrieve } = await withFiles(0)
    const { body } = await put('a.md', 'abc')
    await workspace.archiveProject(projectId)
    const restricted = await workspace.addKey({ projectIds: [projectId] })
    expect((await retrieve(body.id, { key: restricted })).body).toEqual(body)
    const other = await workspace.addKey({ projectIds: [] })
    expect((await retrieve(body.id, { key: other })).status).toBe(403)
  })

  it('is 404 for a file of another session, and 410 for a deleted session', async () => {
    const { workspace, projectId, sessionId, put, retrieve } = await withFiles(0)
    const { body } = await put('a.md', 'abc')
    const elsewhere = await workspace.addSessionFile(await workspace.addSession(projectId), 'a.md')
    for (const id of [elsewhere, newUuid()]) expect((await retrieve(id)).status).toBe(404)
    expect((await retrieve('notes')).status).toBe(400)
    await workspace.deleteSession(sessionId)
    expect((await retrieve(body.id)).status).toBe(410)
  })
})

describe('a path', () => {
  it.each([
    'a',
    'a b.md',
    ' ',
    '...',
    '.env',
    '..a/b..',
    'a/.b/c..d',
    '-rf',
    '~/a',
    '100%',
    '%2e%2e',
    'a?b#c&path=d',
    'a+b',
    '"\'; DROP TABLE sessionFiles; --',
    '__proto__',
    '\u202e\u{1f550}/\u4e2d\u6587',
  ])('may be %j', async (path) => {
    const { put, textOf } = await withFiles(0)
    const { status, body } = await put(path, path)
    expect([status, body.path, status === 201 && (await textOf(body.id))]).toEqual([201, path, path])
  })

  it.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    './a',
    'a/.',
    'a/./b',
    '../a',
    'a/..',
    'a/../b',
    'a/b/../../..',
    '\\',
    'a\\b',
    '..\\a',
    'a\\..\\b',
    'C:\\a',
    '\0',
    'a\0.md',
    'a\tb',
    'a\nb',
    'a\r',
    '\u001f',
    '\u007fa',
  ])('may not be %j', async (path) => {
    const { workspace, put } = await withFiles(0)
    const { status, body } = await put(path, 'x')
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^path /) }])
    expect(await objectsOf(workspace)).toEqual({ referred: 0, orphaned: 0, lost: [] })
  })

  it.each(['x', '\u{1f550}', 'a/'])('may have 1,000 characters such as %s', async (part) => {
    const { workspace, put } = await withFiles(0)
    const longest = part.repeat(1000 / [...part].length).replace(/\/$/, 'b')
    const { status, body } = await put(longest, 'x')
    expect([status, body.path]).toEqual([201, longest])
    const tooLong = await put(`${longest}c`, 'x')
    expect([tooLong.status, tooLong.body.error]).toEqual([400, expect.stringMatching(/^path /)])
    expect(await objectsOf(workspace)).toEqual({ referred: 1, orphaned: 0, lost: [] })
  })

  it.each([
    '',
    '?path',
    '?Path=a',
    '?path=a&path=a',
    '?path=a&p%61th=b',
    '?path=%2e%2e%2fa',
    '?path=a%5cb',
    '?path=%00',
    '?path=%FF',
    '?path=%ED%A0%80',
    '?path=a%',
    '?path=a%zz',
  ])('may not be sent as "%s"', async (query) => {
    const { workspace, key, sessionId } = await withFiles(0)
    const options = { key, body: 'x', headers: { 'Content-Length': '1' } }
    const { status } = await request('PUT', `/v1/sessions/${sessionId}/files${query}`, options)
    expect(status).toBe(400)
    expect(await objectsOf(workspace)).toEqual({ referred: 0, orphaned: 0, lost: [] })
  })
})

describe('retrieveSessionFileContent', () => {
  const TEXT = '0123456789'

  async function withText() {
    const session = await withFiles(0)
    const { id } = (await session.put('a.html', TEXT, { headers: { 'Content-Type': 'text/html' } })).body
    return { ...session, id, etag: String((await session.read(id)).headers.get('ETag')) }
  }

  it('returns the bytes as an attachment that no browser runs, whatever the Content-Type of the upload', async () => {
    const { id, etag, read } = await withText()
    const answer = await read(id)
    expect([answer.status, textIn(answer)]).toEqual([200, TEXT])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      etag: expect.stringMatching(/^"[^"]+"$/),
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    })
    expect(answer.headers.has('Content-Range')).toBe(false)
    expect((await read(id)).headers.get('ETag')).toBe(etag)
  })

  it('is application/octet-stream for a range too, and the file has this type if the upload had none', async () => {
    const { id, put, read } = await withText()
    const part = await read(id, { Range: 'bytes=0-1' })
    expect([part.status, part.headers.get('Content-Type')]).toEqual([206, 'application/octet-stream'])
    const { body } = await put('a.html', EVERY_BYTE)
    expect([body.id, body.contentType]).toEqual([id, 'application/octet-stream'])
    expect((await read(id)).headers.get('Content-Type')).toBe('application/octet-stream')
    // The default of `curl --data-binary`.
    const fromCurl = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const uploaded = await put('a.html', TEXT, { headers: fromCurl })
    expect(uploaded.body.contentType).toBe('application/octet-stream')
  })

  it('is 304 without a body if If-None-Match has the ETag, even with a Range', async () => {
    const { id, etag, put, read } = await withText()
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      for (const range of [{}, { Range: 'bytes=2-3' }, { Range: 'bytes=99-' }]) {
        const answer = await read(id, { 'If-None-Match': tags, ...range })
        expect([answer.status, answer.body, answer.headers.get('ETag')]).toEqual([304, null, etag])
      }
    }
    expect((await read(id, { 'If-None-Match': '"x"' })).status).toBe(200)
    await put('a.html', TEXT)
    expect((await read(id, { 'If-None-Match': etag })).status).toBe(200)
  })

  it.each([
    ['bytes=0-0', '0', '0-0'],
    ['bytes=2-4', '234', '2-4'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=0-9', TEXT, '0-9'],
    ['bytes=5-99', '56789', '5-9'],
    ['bytes=-99', TEXT, '0-9'],
  ])('is 206 for %s', async (range, text, place) => {
    const { id, etag, read } = await withText()
    for (const ifRange of [{}, { 'If-Range': etag }]) {
      const answer = await read(id, { Range: range, ...ifRange })
      expect([answer.status, textIn(answer)]).toEqual([206, text])
      expect(answer.headers.get('Content-Range')).toBe(`bytes ${place}/10`)
      expect(answer.headers.get('ETag')).toBe(etag)
    }
  })

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0'])('is 416 for %s', async (range) => {
    const { id, read } = await withText()
    const { status, headers } = await read(id, { Range: range })
    expect([status, headers.get('Content-Range')]).toEqual([416, 'bytes */10'])
  })

  it.each(['bytes=0-1,3-4', 'items=0-1', 'bytes', 'bytes=x'])('returns the whole content for %s', async (range) => {
    const { id, read } = await withText()
    const answer = await read(id, { Range: range })
    expect([answer.status, textIn(answer), answer.headers.has('Content-Range')]).toEqual([200, TEXT, false])
  })

  it('returns the whole content if If-Range is not its ETag', async () => {
    const { id, etag, put, read } = await withText()
    const date = 'Sat, 01 Jan 2999 00:00:00 GMT'
    for (const ifRange of [`W/${etag}`, '"x"', date, '']) {
      const answer = await read(id, { Range: 'bytes=2-3', 'If-Range': ifRange })
      expect([answer.status, textIn(answer)]).toEqual([200, TEXT])
    }
    await put('a.html', 'abcdefghij')
    const answer = await read(id, { Range: 'bytes=2-3', 'If-Range': etag })
    expect([answer.status, textIn(answer)]).toEqual([200, 'abcdefghij'])
  })

  it('takes the ids in either case, and under the prefix', async () => {
    const { key, sessionId, id } = await withText()
    const path = `${PREFIX}/v1/sessions/${sessionId.toUpperCase()}/files/${id.toUpperCase()}/content`
    expect(textIn(await request('GET', path, { key }))).toBe(TEXT)
  })
})

describe('deleteSessionFile', () => {
  it('deletes a file and its object, and frees its path', async () => {
    const { workspace, put, read, remove, list, textOf } = await withFiles(0)
    const kept = (await put('kept', 'kept')).body
    const { id } = (await put('a', 'one')).body
    const answer = await remove(id.toUpperCase())
    expect([answer.status, answer.body]).toEqual([200, { deleted: true, id }])
    expect([(await remove(id)).status, (await read(id)).status]).toEqual([404, 404])
    expect((await list()).body.items).toEqual([listed(kept)])
    expect(await objectsOf(workspace)).toEqual({ referred: 1, orphaned: 0, lost: [] })
    const again = (await put('a', 'two')).body
    expect([again.id === id, await textOf(again.id), await textOf(kept.id)]).toEqual([false, 'two', 'kept'])
    expect(await swept(workspace)).toEqual(leaving(2))
  })
})

describe('the other operations on session files', () => {
  /** A session with a file, and the status of each operation on it. */
  async function withOperations() {
    const session = await withFiles(0)
    const { workspace, projectId, sessionId } = session
    const id = await workspace.addSessionFile(sessionId, 'a', newUuid(), 'kept')
    const statuses = async (key = session.key) => {
      const put = await session.put('a', 'new', { key })
      const putNew = await session.put('b', 'new', { key })
      const read = await request('GET', `/v1/sessions/${sessionId}/files/${id}/content`, { key })
      const remove = await session.remove(id, { key })
      return [put, putNew, read, remove].map(({ status }) => status)
    }
    return { ...session, workspace, projectId, id, statuses }
  }

  const untouched = { referred: 1, orphaned: 0, lost: [] }

  it('are 409 while the project is archived if they change something, and succeed if they read', async () => {
    const { workspace, projectId, id, textOf, statuses } = await withOperations()
    await workspace.archiveProject(projectId)
    expect(await statuses()).toEqual([409, 409, 200, 409])
    expect(await textOf(id)).toBe('kept')
    expect(await objectsOf(workspace)).toEqual(untouched)
  })

  it.each(['session', 'project'] as const)('are 410 if the %s was deleted', async (type) => {
    const { workspace, projectId, sessionId, statuses } = await withOperations()
    await workspace.delete(type, type === 'session' ? sessionId : projectId)
    expect(await statuses()).toEqual([410, 410, 410, 410])
    expect(await objectsOf(workspace)).toEqual(untouched)
    expect(await swept(workspace)).toEqual(leaving(0))
    expect(await statuses()).toEqual([410, 410, 410, 410])
  })

  it('are 403 for an API key restricted to other projects, even if the project is archived or the session deleted', async () => {
    const { workspace, projectId, sessionId, statuses } = await withOperations()
    const restricted = await workspace.addKey({ projectIds: [await workspace.addProject()] })
    expect(await statuses(restricted)).toEqual([403, 403, 403, 403])
    await workspace.archiveProject(projectId)
    expect(await statuses(restricted)).toEqual([403, 403, 403, 403])
    await workspace.deleteSession(sessionId)
    expect(await statuses(restricted)).toEqual([403, 403, 403, 403])
    expect(await objectsOf(workspace)).toEqual(untouched)
  })

  it('are 404 with one message for a file of another session or one that does not exist', async () => {
    const { workspace, projectId, remove, read } = await withOperations()
    const other = await workspace.addSession(projectId)
    const elsewhere = await workspace.addSessionFile(other, 'b')
    for (const ask of [remove, (id: string) => read(id)]) {
      const nobodys = await ask(newUuid())
      const others = await ask(elsewhere)
      expect([nobodys.status, others.status, others.body]).toEqual([404, 404, nobodys.body])
    }
    expect(await objectsOf(workspace)).toEqual({ ...untouched, referred: 2 })
  })
})

describe('concurrent uploads', () => {
  it('to one path store one file, with the complete content of one of them', async () => {
    const { workspace, put, list, textOf } = await withFiles(0)
    const texts = Array.from({ length: 12 }, (_, index) => `${index} `.repeat(1000 + index))
    const answers = await Promise.all(texts.map((text) => put('a', text)))
    expect(new Set(answers.map(({ body }) => body.id))).toHaveProperty('size', 1)
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201])
    const { items } = (await list()).body
    expect(items).toHaveLength(1)
    const text = await textOf(items[0].id)
    expect(texts).toContain(text)
    expect(await objectsOf(workspace)).toEqual({ referred: 1, orphaned: 11, lost: [] })
    expect(await swept(workspace)).toEqual(leaving(1))
    expect(await textOf(items[0].id)).toBe(text)
  })

  it('and deletions of the file leave it complete or deleted', async () => {
    const { workspace, put, remove, list, textOf } = await withFiles(0)
    const { id } = (await put('a', 'first')).body
    const uploads = Array.from({ length: 8 }, (_, index) => put('a', `text ${index}`))
    const deletions = Array.from({ length: 4 }, () => remove(id))
    for (const { status } of await Promise.all(uploads)) expect([200, 201]).toContain(status)
    expect((await Promise.all(deletions)).map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
    const { items } = (await list()).body
    for (const file of items) expect(await textOf(file.id)).toMatch(/^text \d$/)
    expect((await objectsOf(workspace)).lost).toEqual([])
    expect(await swept(workspace)).toEqual(leaving(items.length))
  })

  it('and the deletion of the session leave no file and no object', async () => {
    const { workspace, key, sessionId, put } = await withFiles(0)
    let stored = 0
    let deletion: Promise<ApiResponse> | undefined
    const environment = whileStoring(() => {
      if (++stored === 5) deletion = request('DELETE', `/v1/sessions/${sessionId}`, { key })
    })
    const paths = Array.from({ length: 16 }, (_, index) => `${index}`)
    const answers = await Promise.all(paths.map((path) => put(path, 'text', { environment })))
    expect((await deletion)?.status).toBe(200)
    const recorded = answers.filter(({ status }) => status === 201).length
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(16 - recorded)
    expect(await objectsOf(workspace)).toMatchObject({ referred: recorded, lost: [] })
    expect(await swept(workspace)).toEqual(leaving(0))
    expect(await workspace.dump('sessionFiles')).toEqual([])
  })
})

describe('an upload in progress', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  const happenings: [string, number, (session: Awaited<ReturnType<typeof withFiles>>) => Promise<void>][] = [
    ['the session is deleted', 410, ({ workspace, sessionId }) => workspace.deleteSession(sessionId)],
    ['the project is deleted', 410, ({ workspace, projectId }) => workspace.delete('project', projectId)],
    ['the project is archived', 409, ({ workspace, projectId }) => workspace.archiveProject(projectId)],
  ]

  it.each(happenings)('is not stored if meanwhile %s', async (_, status, happen) => {
    const session = await withFiles(0)
    const { workspace, put } = session
    await put('a', 'kept')
    const environment = whileStoring(() => happen(session))
    for (const path of ['a', 'b']) expect((await put(path, 'new', { environment })).status).toBe(status)
    expect(await workspace.dump('sessionFiles')).toHaveLength(1)
    // The second is rejected before anything is stored.
    expect(await objectsOf(workspace)).toEqual({ referred: 1, orphaned: 1, lost: [] })
    expect(await swept(workspace)).toEqual(leaving(status === 410 ? 0 : 1))
  })

  it('is not stored if its API key is revoked meanwhile', async () => {
    const { workspace, put } = await withFiles(0)
    const { token, id } = await workspace.addKeyWithId()
    const environment = whileStoring(() => workspace.revokeKey(id))
    expect((await put('a', 'new', { key: token, environment })).status).toBe(401)
    expect(await workspace.dump('sessionFiles')).toEqual([])
    expect(await swept(workspace)).toEqual(leaving(0))
  })

  it('is orphaned until it is recorded, and not swept within its hour', async () => {
    const { workspace, put, textOf } = await withFiles(0)
    vi.useFakeTimers({ toFake: ['Date'] })
    const HOUR_MS = 3_600_000
    const counted: number[] = []
    const environment = whileStoring(async () => {
      vi.setSystemTime(Date.now() + HOUR_MS - 1)
      await tick(now())
      counted.push((await orphanedObjects(workspace)).size)
    })
    const { status, body } = await put('a', 'slow', { environment })
    expect([status, counted]).toEqual([201, [1]])
    expect(await swept(workspace)).toEqual(leaving(1))
    expect(await textOf(body.id)).toBe('slow')
  })

  it.each([1, 2, 3])('is 409 after %s hours, and leaves no object', async (hours) => {
    const { workspace, put, textOf } = await withFiles(0)
    const { id } = (await put('a', 'kept')).body
    vi.useFakeTimers({ toFake: ['Date'] })
    const environment = whileStoring(async () => {
      vi.setSystemTime(Date.now() + hours * 3_600_000)
      await tick(now())
    })
    expect((await put('a', 'late', { environment })).status).toBe(409)
    expect(await textOf(id)).toBe('kept')
    expect((await objectsOf(workspace)).lost).toEqual([])
    expect(await swept(workspace)).toEqual(leaving(1))
  })
})

describe('a replaced object', () => {
  it('stays readable for an hour, and is then swept', async () => {
    const { workspace, put, textOf } = await withFiles(0)
    const { id } = (await put('a', 'old')).body
    const before = Date.now()
    await put('a', 'new')
    const [[objectKey, deleteAfter]] = [...(await orphanedObjects(workspace))] as [[string, string]]
    expect(Date.parse(deleteAfter)).toBeGreaterThanOrEqual(before + 3_600_000)
    await tick(new Date(Date.parse(deleteAfter) - 1).toISOString())
    expect(await (await env.OBJECTS.get(objectKey))?.text()).toBe('old')
    await tick(deleteAfter)
    expect(await env.OBJECTS.head(objectKey)).toBeNull()
    expect(await textOf(id)).toBe('new')
    expect(await swept(workspace)).toEqual(leaving(1))
  })

  it('can be read to its end by a request that began before', async () => {
    const { put, read, textOf } = await withFiles(0)
    const { id } = (await put('a', 'old')).body
    const get = async (...[objectKey]: Parameters<R2Bucket['get']>) => {
      await put('a', 'new')
      await tick(now())
      return env.OBJECTS.get(objectKey)
    }
    const answer = await read(id, {}, { OBJECTS: objectsWith({ get: get as R2Bucket['get'] }) })
    expect([answer.status, textIn(answer), await textOf(id)]).toEqual([200, 'old', 'new'])
  })
})

describe('while a store is unavailable', () => {
  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  const R2_ERROR = new Error('put: We encountered an internal error. Please try again. (10001)')
  const D1_ERROR = new Error('D1_ERROR: Network connection lost.')

  function expectUnavailable({ status, headers, body }: ApiResponse) {
    expect([status, headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)])
    expect(body.error).not.toMatch(/R2|D1|10001|internal|network|object/i)
  }

  /** R2 stores the object, and then fails. */
  const storesAndFails = async (...[key, body]: Parameters<R2Bucket['put']>) => {
    await env.OBJECTS.put(key, body)
    throw R2_ERROR
  }

  const failures: [string, () => Partial<Cloudflare.Env>][] = [
    ['R2 fails', () => ({ OBJECTS: failingObjects(R2_ERROR) })],
    [
      'R2 fails after it stored the object',
      () => ({ OBJECTS: objectsWith({ put: storesAndFails as R2Bucket['put'] }) }),
    ],
    ['D1 fails at first', () => ({ DB: failingDatabase(D1_ERROR) })],
    [
      'D1 fails after the object is stored',
      () => {
        const { DB } = watchedDatabase()
        const environment = whileStoring(() => {
          DB.batch = () => Promise.reject(D1_ERROR)
        })
        return { DB, ...environment }
      },
    ],
  ]

  it.each(failures)('an upload changes nothing: %s', async (_, environmentOf) => {
    const { workspace, put, list, retrieve, textOf } = await withFiles(0)
    const kept = (await put('a', 'kept')).body
    for (const path of ['a', 'b']) {
      expectUnavailable(await put(path, 'new', { environment: environmentOf() }))
      expect((await list()).body.items).toEqual([listed(kept)])
      expect((await retrieve(kept.id)).body).toEqual(kept)
      expect(await textOf(kept.id)).toBe('kept')
      expect(await objectsOf(workspace)).toMatchObject({ referred: 1, lost: [] })
    }
    expect(await swept(workspace)).toEqual(leaving(1))
    expect([(await put('a', 'new')).status, (await put('b', 'new')).status]).toEqual([200, 201])
    expect(await swept(workspace)).toEqual(leaving(2))
    expect(await textOf(kept.id)).toBe('new')
  })

  it('an upload that D1 recorded before its connection was lost is kept', async () => {
    const { workspace, put, list, textOf } = await withFiles(0)
    const { DB } = watchedDatabase()
    const batch = DB.batch.bind(DB)
    const environment = whileStoring(() => {
      DB.batch = async (statements) => {
        await batch(statements)
        throw D1_ERROR
      }
    })
    expectUnavailable(await put('a', 'new', { environment: { DB, ...environment } }))
    expect(await swept(workspace)).toEqual(leaving(1))
    const { items } = (await list()).body
    expect(await textOf(items[0].id)).toBe('new')
    expect((await put('a', 'again')).body.id).toBe(items[0].id)
  })

  it('an upload that the client aborts leaves no object', async () => {
    const { workspace, key, sessionId } = await withFiles(0)
    const body = new ReadableStream({
      type: 'bytes',
      pull(controller) {
        controller.enqueue(new Uint8Array(10))
        controller.error(new Error('The client is gone'))
      },
    })
    const path = `/v1/sessions/${sessionId}/files?path=a`
    const answer = await request('PUT', path, { key, body, headers: { 'Content-Length': '20' } })
    expect(answer.status).not.toBe(200)
    expect(await workspace.dump('sessionFiles')).toEqual([])
    expect(await swept(workspace)).toEqual(leaving(0))
  })

  it('content cannot be read, even if only R2 lacks the object; a 304 needs no store', async () => {
    const { put, read, textOf } = await withFiles(0)
    const { id } = (await put('a', 'text')).body
    const etag = String((await read(id)).headers.get('ETag'))
    const broken = [failingObjects(R2_ERROR), objectsWith({ get: (async () => null) as R2Bucket['get'] })]
    for (const OBJECTS of broken) {
      expectUnavailable(await read(id, {}, { OBJECTS }))
      expectUnavailable(await read(id, { Range: 'bytes=0-1' }, { OBJECTS }))
      expect((await read(id, { 'If-None-Match': etag }, { OBJECTS })).status).toBe(304)
    }
    expect(await textOf(id)).toBe('text')
  })

  it('a deletion succeeds while R2 fails, and leaves the object to the sweep', async () => {
    const { workspace, put, read, remove, list } = await withFiles(0)
    const { id } = (await put('a', 'text')).body
    const answer = await remove(id, { environment: { OBJECTS: failingObjects(R2_ERROR) } })
    expect(answer).toMatchObject({ status: 200, body: { deleted: true, id } })
    expect([(await read(id)).status, (await list()).body.items]).toEqual([404, []])
    expect(await objectsOf(workspace)).toEqual({ referred: 0, orphaned: 1, lost: [] })
    expect(await swept(workspace)).toEqual(leaving(0))
  })

  it('a deletion that fails in D1 changes nothing', async () => {
    const { workspace, put, remove, textOf } = await withFiles(0)
    const { id } = (await put('a', 'text')).body
    expectUnavailable(await remove(id, { environment: { DB: failingDatabase(D1_ERROR) } }))
    expect(await textOf(id)).toBe('text')
    expect(await objectsOf(workspace)).toEqual({ referred: 1, orphaned: 0, lost: [] })
  })
})
