import * as fc from 'fast-check'
import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { PREFIX, type RequestOptions, request } from './support/api.ts'
import { failingDatabase } from './support/bindings.ts'
import { now, Workspace } from './support/workspace.ts'

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
  return { workspace, key, projectId, sessionId, files, list }
}

const ids = ({ items }: Page) => items.map(({ id }) => id)

/** The least and the greatest of all ids. */
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

describe('listSessionFiles', () => {
  it('answers with the files of the session, without contents', async () => {
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

  it('answers with an empty page for a session without files', async () => {
    const { list } = await withFiles(0)
    const { status, body } = await list()
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }])
  })

  it('answers with no file of another session', async () => {
    const { workspace, projectId, files, list } = await withFiles(3)
    const other = await workspace.addSession(projectId)
    await workspace.addSessionFiles(other, 3)
    expect(ids((await list()).body)).toEqual(files)
  })

  it('takes the id in either case, answers in lower case, and under the prefix', async () => {
    const { key, sessionId, files } = await withFiles(2)
    const path = `${PREFIX}/v1/sessions/${sessionId.toUpperCase()}/files`
    const { status, body } = await request('GET', path, { key })
    expect(status).toBe(200)
    expect(ids(body)).toEqual(files)
    expect(body.items[0].sessionId).toBe(sessionId)
  })

  it('lists by id, which is the order of creation, whatever the order of paths', async () => {
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
  it('walks every page in order, and ends with a null cursor', async () => {
    const { files, list } = await withFiles(7)
    const first = (await list('?limit=3')).body
    expect([ids(first), first.nextCursor]).toEqual([files.slice(0, 3), files[2]])
    const second = (await list(`?limit=3&cursor=${first.nextCursor}`)).body
    expect([ids(second), second.nextCursor]).toEqual([files.slice(3, 6), files[5]])
    const third = (await list(`?cursor=${second.nextCursor}&limit=3`)).body
    expect([ids(third), third.nextCursor]).toEqual([files.slice(6), null])
  })

  it('has no next page if the last file ends the page', async () => {
    const { files, list } = await withFiles(4)
    const whole = (await list('?limit=4')).body
    expect([ids(whole), whole.nextCursor]).toEqual([files, null])
    const half = (await list('?limit=2')).body
    const rest = (await list(`?limit=2&cursor=${half.nextCursor}`)).body
    expect([ids(rest), rest.nextCursor]).toEqual([files.slice(2), null])
  })

  it('begins after the last file with an empty page', async () => {
    const { files, list } = await withFiles(2)
    const { status, body } = await list(`?cursor=${files[1]}`)
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }])
  })
})

describe('limit', () => {
  it('is 50 if absent', async () => {
    const { files, list } = await withFiles(51)
    const { body } = await list()
    expect([ids(body), body.nextCursor]).toEqual([files.slice(0, 50), files[49]])
  })

  it('is at most 1,000, also if it is larger', async () => {
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
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^limit: /) }])
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
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^cursor: /) }])
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

  it('is a place in the order, if it is a uuid that no file of the organization has', async () => {
    const { files, list } = await withFiles(3)
    expect(ids((await list(`?cursor=${FIRST_UUID}`)).body)).toEqual(files)
    expect(ids((await list(`?cursor=${LAST_UUID}`)).body)).toEqual([])
    const beforeSecond = `${files[1]?.slice(0, -12)}000000000000`
    const expected = files.filter((id) => id > beforeSecond)
    expect(ids((await list(`?cursor=${beforeSecond}`)).body)).toEqual(expected)
  })

  it('stays a place in the order after its file is deleted', async () => {
    const { workspace, sessionId, files, list } = await withFiles(4)
    const [first, second, third, fourth] = files as [string, string, string, string]
    await workspace.deleteSessionFile(sessionId, second)
    await workspace.deleteSessionFile(sessionId, third)
    const { status, body } = await list(`?cursor=${second}`)
    expect([status, ids(body)]).toEqual([200, [fourth]])
    expect(ids((await list(`?cursor=${first}`)).body)).toEqual([fourth])
  })

  it('answers 409 if it is a file of another session of the organization', async () => {
    const { workspace, projectId, list } = await withFiles(2)
    const elsewhere = [projectId, await workspace.addProject()]
    for (const project of elsewhere) {
      const other = await workspace.addSession(project)
      const file = await workspace.addSessionFile(other, 'a.ts')
      for (const cursor of [file, file.toUpperCase()]) {
        const { status, body } = await list(`?cursor=${cursor}`)
        expect([status, body]).toEqual([409, { error: expect.stringMatching(/^cursor: /) }])
      }
    }
  })

  it('is only a place in the order if it is a file of another organization', async () => {
    const { files, list } = await withFiles(2)
    const stranger = await withFiles(1)
    const [theirs] = stranger.files as [string]
    const { status, body } = await list(`?cursor=${theirs}`)
    expect([status, ids(body)]).toEqual([200, files.filter((id) => id > theirs)])
  })
})

describe('the query', () => {
  it('may hold what the operation does not know', async () => {
    const { files, list } = await withFiles(3)
    const { status, body } = await list(
      '?page=2&Limit=0&CURSOR=x&limit=2&limits=&__proto__=1&constructor=2&=3&',
    )
    expect([status, ids(body)]).toEqual([200, files.slice(0, 2)])
  })

  it.each([
    ['limit=2&limit=2', 'limit'],
    ['limit=2&limit=3', 'limit'],
    ['limit=2&cursor=FILE&limit=', 'limit'],
    ['limit=2&%6Cimit=2', 'limit'],
    ['%6Cimit=2&limit=2', 'limit'],
    ['cursor=FILE&cursor=FILE', 'cursor'],
    ['cursor=FILE&limit=1&c%75rsor=FILE', 'cursor'],
  ])('may not give a parameter twice: %s', async (query, name) => {
    const { files, list } = await withFiles(3)
    const { status, body } = await list(`?${query.replaceAll('FILE', files[0] as string)}`)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(new RegExp(`^${name}: `)) }])
  })

  it('tells of both parameters if both are wrong', async () => {
    const { list } = await withFiles(1)
    const { status, body } = await list('?limit=0&cursor=x')
    expect([status, body.error]).toEqual([400, expect.stringMatching(/limit: .*cursor: /)])
  })
})

describe('the errors of listSessionFiles', () => {
  it('answers 400 for an id that is no uuid', async () => {
    const { key } = await withFiles(0)
    for (const id of ['7', 'session', '%00', '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70%0A', '%', '%FF']) {
      expect((await request('GET', `/v1/sessions/${id}/files`, { key })).status).toBe(400)
    }
  })

  it('answers 404 for a session that nobody has, or another organization has, in the same words', async () => {
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

  it('answers 404 before 409', async () => {
    const { key, files } = await withFiles(1)
    const path = `/v1/sessions/${crypto.randomUUID()}/files?cursor=${files[0]}`
    expect((await request('GET', path, { key })).status).toBe(404)
  })

  it("answers 403 if the key is limited to projects other than the session's", async () => {
    const { workspace, projectId, list } = await withFiles(1)
    const other = await workspace.addProject()
    for (const projectIds of [[], [other]]) {
      const { status, body } = await list('', { key: await workspace.addKey({ projectIds }) })
      expect([status, Object.keys(body)]).toEqual([403, ['error']])
    }
    const limited = await workspace.addKey({ projectIds: [other, projectId] })
    expect((await list('', { key: limited })).status).toBe(200)
  })

  it('answers 410 for a deleted session', async () => {
    const { workspace, sessionId, list } = await withFiles(2)
    await workspace.deleteSession(sessionId)
    const { status, body } = await list()
    expect([status, Object.keys(body)]).toEqual([410, ['error']])
  })

  it('says 403 before 410, and 410 before 409', async () => {
    const { workspace, projectId, sessionId, list } = await withFiles(1)
    const other = await workspace.addSession(projectId)
    const foreign = `?cursor=${await workspace.addSessionFile(other, 'a.ts')}`
    const limited = await workspace.addKey({ projectIds: [] })
    expect((await list(foreign)).status).toBe(409)
    expect((await list(foreign, { key: limited })).status).toBe(403)
    await workspace.deleteSession(sessionId)
    expect((await list(foreign)).status).toBe(410)
    expect((await list(foreign, { key: limited })).status).toBe(403)
  })

  it('answers 400 if the key lacks the scope, before anything is told of the session', async () => {
    const { workspace, sessionId, list } = await withFiles(1)
    const key = await workspace.addKey({ scopes: ['skills:read', 'pins:write'] })
    const refused = await list('', { key })
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: expect.stringContaining('session-files:read') },
    ])
    await workspace.deleteSession(sessionId)
    const deleted = await list('', { key })
    const missing = await request('GET', `/v1/sessions/${crypto.randomUUID()}/files`, { key })
    expect([deleted.body, missing.body]).toEqual([refused.body, refused.body])
    expect([deleted.status, missing.status]).toEqual([400, 400])
  })

  it('needs no user', async () => {
    const { workspace, list } = await withFiles(1)
    expect((await list('', { key: await workspace.addKey({ userId: null }) })).status).toBe(200)
  })

  it('answers 401 without a live key, whatever the input', async () => {
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
  ])('answers 503 and Retry-After while the database is away: %s', async (message) => {
    const { list } = await withFiles(1)
    for (const query of ['', '?limit=0']) {
      const answer = await list(query, { environment: { DB: failingDatabase(new Error(message)) } })
      expect(answer.status).toBe(503)
      expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
      expect(answer.body.error).not.toMatch(/D1|overload|queue|network/i)
    }
  })

  it('answers 500 in a constant sentence if the database fails otherwise', async () => {
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

describe('a walk', () => {
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

  it('sees every file that stays exactly once and in order, whatever is added or deleted', async () => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ files, pages }) => {
        const { workspace, sessionId, files: initial, list } = await withFiles(files)
        const staying = new Set(initial)
        let present = [...initial]
        const seen: string[] = []
        let cursor: string | null = null

        const remove = async (id: string | null | undefined) => {
          if (!id || !present.includes(id)) return
          await workspace.deleteSessionFile(sessionId, id)
          present = present.filter((candidate) => candidate !== id)
          staying.delete(id)
        }
        const add = async (id: string) => {
          await workspace.addSessionFile(sessionId, 'added.ts', id)
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
          // Later turns only delete, so that every walk ends.
          for (const step of changes) {
            if (step.kind === 'delete') await remove(present[step.place % Math.max(present.length, 1)])
            else if (step.kind === 'deleteCursor') await remove(cursor)
            else if (turn < 20) await add(step.kind === 'append' ? newUuid() : crypto.randomUUID())
          }
        }
        expect(seen).toEqual([...new Set(seen)].sort())
        expect([...staying].filter((id) => !seen.includes(id))).toEqual([])
      }),
      { numRuns: 120, seed: 20260329 },
    )
  })
})
