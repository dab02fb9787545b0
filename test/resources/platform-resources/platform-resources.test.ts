import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { type ApiResponse, PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { failingDatabase } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { summariesOf } from '../../support/events.ts'
import { tick } from '../../support/tick.ts'
import { Workspace } from '../../support/workspace.ts'

interface Kind {
  readonly path: string
  readonly table: string
  /** True if the host platform chooses the id: any text, not only a UUID. */
  readonly hasExternalId?: true
  readonly isArchivable?: true
  readonly isOfProject?: true
}

const KINDS: Kind[] = [
  { path: 'projects', table: 'projects', hasExternalId: true, isArchivable: true },
  { path: 'agents', table: 'agents', isArchivable: true },
  { path: 'sessions', table: 'sessions', isOfProject: true },
  { path: 'pull-requests', table: 'pullRequests', isOfProject: true },
  { path: 'users', table: 'users', hasExternalId: true },
]
const archivable = KINDS.filter(({ isArchivable }) => isArchivable)
const ofProject = KINDS.filter(({ isOfProject }) => isOfProject)
const withExternalId = KINDS.filter(({ hasExternalId }) => hasExternalId)

/** The requests for a kind. Sessions and pull requests are put into the project. */
function requestsFor({ path, isOfProject }: Kind, key: string, projectId: string) {
  const at = (id: string) => `/v1/${path}/${encodeURIComponent(id)}`
  const bodyOf = (name: unknown) => ({ name, ...(isOfProject && { projectId }) })
  return {
    bodyOf,
    put: (id: string, name: unknown = 'First', more: RequestOptions = {}) =>
      request('PUT', at(id), { key, json: bodyOf(name), ...more }),
    get: (id: string) => request('GET', at(id), { key }),
    list: (query = '') => request('GET', `/v1/${path}${query}`, { key }),
    archive: (id: string, archived = true) => request('PATCH', at(id), { key, json: { archived } }),
    remove: (id: string, more: RequestOptions = {}) => request('DELETE', at(id), { key, ...more }),
  }
}

async function withKind(kind: Kind) {
  const workspace = await Workspace.create()
  const projectId = await workspace.addProject('home')
  // A user's own key would be revoked with its user.
  const key = await workspace.addKey({ userId: null })
  const rows = () => workspace.dump(kind.table)
  return { workspace, projectId, key, rows, ...requestsFor(kind, key, projectId) }
}

/** So that a change has another time. */
const nextMillisecond = () => new Promise((resolve) => setTimeout(resolve, 2))

const idsOf = ({ body }: ApiResponse): string[] => body.items.map(({ id }: { id: string }) => id)
const newIds = (count: number) => Array.from({ length: count }, () => newUuid())

/** Reads all pages of a list. @returns the ids of each page. */
async function walk(list: (query: string) => Promise<ApiResponse>, query: string): Promise<string[][]> {
  const pages: string[][] = []
  let cursor: string | null = null
  do {
    const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await list(query + next)
    expect(answer.status).toBe(200)
    pages.push(idsOf(answer))
    cursor = answer.body.nextCursor
  } while (cursor !== null && pages.length < 20)
  return pages
}

describe.each(KINDS)('$path', (kind) => {
  it('are created by the first PUT and renamed by the next', async () => {
    const { put, get, projectId, rows } = await withKind(kind)
    const id = newUuid()
    const made = await put(id, 'First')
    const { createdAt, updatedAt } = made.body
    expect([made.status, made.body]).toEqual([
      201,
      {
        id,
        ...(kind.isOfProject && { projectId }),
        name: 'First',
        ...(kind.isArchivable && { description: null, archivedAt: null }),
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: createdAt,
      },
    ])
    expect((await get(id)).body).toEqual(made.body)
    const renamed = await put(id, 'Second')
    expect([renamed.status, renamed.body]).toEqual([
      200,
      { ...made.body, name: 'Second', updatedAt: expect.any(String) },
    ])
    expect(renamed.body.updatedAt >= updatedAt).toBe(true)
    expect((await get(id)).body).toEqual(renamed.body)
    expect((await rows()).filter((row) => row.id === id)).toHaveLength(1)
  })

  it('are as they were after a PUT of the same name, which has no event', async () => {
    const { workspace, put, get, rows } = await withKind(kind)
    const id = newUuid()
    await put(id, 'First')
    await put(id, 'Second')
    const [before, answer, events] = [await rows(), await get(id), await summariesOf(workspace)]
    await nextMillisecond()
    const same = await put(id, 'Second')
    expect([same.status, same.body, same.headers.get('ETag')]).toEqual([200, answer.body, answer.headers.get('ETag')])
    expect(await rows()).toEqual(before)
    expect(await summariesOf(workspace)).toEqual(events)
    // Another name, also one that differs only in case, is a change.
    await put(id, 'second')
    expect((await summariesOf(workspace)).slice(events.length)).toEqual([expect.stringContaining('.updated /v1/')])
  })

  it('accept UUIDs of any version in either case, and return them in lower case, under both base paths', async () => {
    const { workspace, key, put, get, remove, bodyOf } = await withKind(kind)
    await workspace.addProject('ABCDEF00-0000-0000-0000-00000000000F'.toLowerCase())
    for (const id of ['ABCDEF00-0000-0000-0000-00000000000A', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF']) {
      const lower = id.toLowerCase()
      expect((await put(id)).body.id).toBe(lower)
      const json = bodyOf('Second')
      const renamed = await request('PUT', `${PREFIX}/v1/${kind.path}/${lower}`, { key, json })
      expect((await get(id)).body).toEqual(renamed.body)
      const removed = await remove(id)
      expect([removed.status, removed.body]).toEqual([200, { deleted: true, id: lower }])
      expect((await get(lower)).status).toBe(410)
    }
  })

  it('keep names of 1 to 255 code points unchanged', async () => {
    const { put } = await withKind(kind)
    const id = newUuid()
    for (const name of ['x', '🙂', ' ', 'é'.repeat(255), '🙂'.repeat(255), `'"; DROP TABLE users; --\n<b>`]) {
      expect((await put(id, name)).body.name).toBe(name)
    }
  })

  it('reject other names and bodies with 400, and do not change', async () => {
    const { put, bodyOf, rows } = await withKind(kind)
    const id = newUuid()
    await put(id)
    const before = await rows()
    const names = ['', 'x'.repeat(256), '🙂'.repeat(256), 'a\0b', '\ud800', 7, null, ['x']]
    for (const name of names) {
      const answer = await put(id, name)
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^name /)])
      expect((await put(newUuid(), name)).status).toBe(400)
    }
    const missing = await put(id, '', { json: { ...bodyOf(undefined) } })
    expect([missing.status, missing.body.error]).toEqual([400, 'name is missing; allowed: 1 to 255 characters.'])
    const extra = await put(id, '', { json: { ...bodyOf('x'), archivedAt: null } })
    const known = kind.isOfProject ? 'projectId, name' : kind.isArchivable ? 'name, description' : 'name'
    expect([extra.status, extra.body.error]).toEqual([400, `archivedAt is not a known property; known: ${known}.`])
    if (!kind.isOfProject) {
      const withProject = await put(id, '', { json: { name: 'x', projectId: 'home' } })
      expect([withProject.status, withProject.body.error]).toEqual([
        400,
        `projectId is not a known property; known: ${known}.`,
      ])
    }
    expect(await rows()).toEqual(before)
  })

  it('are listed in order of id, without those of other organizations; the last page may be full', async () => {
    const { put, list, remove, rows } = await withKind(kind)
    const other = await withKind(kind)
    await other.put(newUuid())
    for (const id of newIds(5).reverse()) await put(id)
    const all = (await rows()).map((row) => String(row.id)).sort()
    const last = all.length
    expect((await list()).body.items[0]).toEqual(expect.objectContaining({ id: all[0] }))
    expect(await walk(list, `?limit=${last}`)).toEqual([all])
    expect(await walk(list, `?limit=${last - 1}`)).toEqual([all.slice(0, -1), all.slice(-1)])
    expect(await walk(list, '?limit=2')).toEqual(
      Array.from({ length: Math.ceil(last / 2) }, (_, page) => all.slice(page * 2, page * 2 + 2)),
    )
    const [first = '', second = ''] = all
    await remove(first)
    expect(idsOf(await list(`?limit=1&cursor=${first}`))).toEqual([second])
  })

  it('are listed 50 to a page by default, and 1,000 at most', async () => {
    const { workspace, list, rows } = await withKind(kind)
    const columns = kind.isOfProject ? '"projectId",' : ''
    const values = kind.isOfProject ? "'home'," : ''
    await env.DB.prepare(
      `INSERT INTO "${kind.table}" ("organizationId", "id", ${columns} "name", "createdAt", "updatedAt")
       SELECT ?1, value, ${values} 'x', ?2, ?2 FROM json_each(?3)`,
    )
      .bind(workspace.organizationId, '2026-03-29T01:00:00.000Z', JSON.stringify(newIds(1001)))
      .run()
    const all = (await rows()).map((row) => String(row.id)).sort()
    expect(idsOf(await list())).toEqual(all.slice(0, 50))
    for (const limit of [1000, 1001, 99_999_999_999]) {
      const { body } = await list(`?limit=${limit}`)
      expect([body.items.length, body.nextCursor]).toEqual([1000, all[999]])
    }
  })

  it('are not listed with an invalid limit or cursor', async () => {
    const { list } = await withKind(kind)
    const limits = ['limit=0', 'limit=-1', 'limit=x', 'limit=', 'limit=1&limit=2']
    for (const query of [...limits, 'cursor=', 'cursor=a%00', `cursor=${'x'.repeat(1001)}`]) {
      const { status, body } = await list(`?${query}`)
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^(limit|cursor) /)])
    }
  })

  it('are 404 if the id was never used', async () => {
    const { get, archive, remove, rows } = await withKind(kind)
    const before = await rows()
    const id = newUuid()
    const answers = [await get(id), await remove(id), ...(kind.isArchivable ? [await archive(id)] : [])]
    for (const { status, body } of answers) {
      expect([status, body.error]).toEqual([404, expect.stringMatching(/^There is no [a-z ]+ with this \w+Id\.$/)])
    }
    expect(await rows()).toEqual(before)
  })

  it('are 410 for every operation once deleted, before and after the purge, and are not listed', async () => {
    const { workspace, put, get, list, archive, remove, rows } = await withKind(kind)
    const [id, kept] = newIds(2) as [string, string]
    await put(id)
    await put(kept)
    const before = await rows()
    const removed = await remove(id)
    expect([removed.status, removed.body]).toEqual([200, { deleted: true, id }])
    for (const isPurged of [false, true]) {
      if (isPurged) await tick(env, new Date())
      const answers = [await get(id), await put(id), await put(id.toUpperCase()), await remove(id)]
      if (kind.isArchivable) answers.push(await archive(id), await archive(id, false))
      for (const { status, body } of answers) {
        expect([status, body.error]).toEqual([410, expect.stringContaining('was deleted')])
      }
      expect(idsOf(await list())).not.toContain(id)
      expect((await get(kept)).status).toBe(200)
    }
    expect(await rows()).toEqual(before.filter((row) => row.id !== id))
    expect(await workspace.dump('deletions')).toHaveLength(1)
  })

  it('are independent of those of other organizations with the same ids', async () => {
    const ours = await withKind(kind)
    const theirs = await withKind(kind)
    const id = newUuid()
    await ours.put(id, 'Ours')
    const unknown = await theirs.get(newUuid())
    const answers = [await theirs.get(id), await theirs.remove(id)]
    if (kind.isArchivable) answers.push(await theirs.archive(id))
    for (const { status, body } of answers) expect([status, body]).toEqual([404, unknown.body])
    expect(idsOf(await theirs.list())).not.toContain(id)

    expect((await theirs.put(id, 'Theirs')).status).toBe(201)
    expect((await ours.get(id)).body.name).toBe('Ours')
    const before = await ours.rows()
    expect((await theirs.remove(id)).status).toBe(200)
    expect((await theirs.get(id)).status).toBe(410)
    expect(await ours.rows()).toEqual(before)
    expect((await ours.put(id, 'Still ours')).status).toBe(200)
  })

  it('are created once by concurrent PUTs, and deleted once by concurrent DELETEs', async () => {
    const { put, remove, get, rows } = await withKind(kind)
    const id = newUuid()
    const atOnce = <T>(act: (index: number) => Promise<T>) => Promise.all(Array.from({ length: 20 }, (_, i) => act(i)))
    const made = await atOnce((index) => put(id, `${index}`))
    expect(made.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
    expect((await rows()).filter((row) => row.id === id)).toHaveLength(1)
    const mixed = await atOnce((index) => (index % 2 === 0 ? remove(id) : put(id)))
    expect(mixed.filter(({ status, body }) => status === 200 && body.deleted)).toHaveLength(1)
    expect(mixed.every(({ status }) => status === 200 || status === 410)).toBe(true)
    expect((await get(id)).status).toBe(410)
    expect((await rows()).filter((row) => row.id === id)).toEqual([])
  })

  it('are not changed while the database is unavailable: 503', async () => {
    const { put, remove, rows } = await withKind(kind)
    const id = newUuid()
    await put(id)
    const before = await rows()
    const DB = failingDatabase(new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.'))
    for (const answer of [
      await put(id, 'Second', { environment: { DB } }),
      await remove(id, { environment: { DB } }),
    ]) {
      expect([answer.status, answer.headers.has('Retry-After')]).toEqual([503, true])
    }
    expect(await rows()).toEqual(before)
  })
})

describe.each(withExternalId)('ids of $path', (kind) => {
  it.each([
    ['one character', 'a'],
    ['digits', '7'],
    ['spaces', ' ID with space '],
    ['a slash', 'a/b'],
    ['dots', '../a'],
    ['three dots', '...'],
    ['a percent sign', '%'],
    ['text that looks percent-encoded', '100%25'],
    ['a percent-encoded slash', '%2F'],
    ['the delimiters of a query', 'a+b&c=d?e#f;g'],
    ['quotes', `'"\\ --`],
    ['other scripts', 'ünï·日本🙂'],
    ['a JSON list', '[1,2]'],
    ['null', 'null'],
    ['control characters', '\u202e\n\t'],
    ['255 characters', 'x'.repeat(255)],
    ['255 code points', '🙂'.repeat(255)],
  ])('can be %s', async (_, id) => {
    const { put, get, list, remove } = await withKind(kind)
    expect((await put(id)).body.id).toBe(id)
    expect((await get(id)).body.id).toBe(id)
    const pages = await walk(list, '?limit=1')
    expect(pages.flat()).toContain(id)
    expect(pages.flat()).toHaveLength(new Set(pages.flat()).size)
    expect((await remove(id)).body).toEqual({ deleted: true, id })
    expect((await put(id)).status).toBe(410)
  })

  it('are case-sensitive unless they are UUIDs', async () => {
    const { put, get, remove } = await withKind(kind)
    await put('Shop', 'Upper')
    await put('shop', 'Lower')
    expect((await get('Shop')).body.name).toBe('Upper')
    await remove('Shop')
    expect((await get('shop')).body.name).toBe('Lower')
  })

  it.each([
    ['256 characters', 'x'.repeat(256)],
    ['256 code points', '🙂'.repeat(256)],
    ['NUL', 'a\0'],
  ])('cannot be %s', async (_, id) => {
    const { put, get, remove, rows } = await withKind(kind)
    const before = await rows()
    for (const answer of [await put(id), await get(id), await remove(id)]) expect(answer.status).toBe(400)
    expect(await rows()).toEqual(before)
  })
})

it.each(KINDS.filter(({ hasExternalId }) => !hasExternalId))('ids of $path are UUIDs', async (kind) => {
  const { put, get, list, remove } = await withKind(kind)
  for (const id of ['7', 'website', newUuid().slice(1), `${newUuid()}0`, newUuid().replaceAll('-', '')]) {
    const answers = [await put(id), await get(id), await remove(id), await list(`?cursor=${id}`)]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  }
})

describe.each(archivable)('archived $path', (kind) => {
  it('keep archivedAt until they are unarchived, even if renamed, and can be deleted', async () => {
    const { put, get, archive, remove } = await withKind(kind)
    const id = newUuid()
    await put(id)
    const archived = await archive(id)
    expect([archived.status, archived.body.archivedAt]).toEqual([200, archived.body.updatedAt])
    const { archivedAt } = archived.body
    expect((await archive(id)).body.archivedAt).toBe(archivedAt)
    expect((await put(id, 'Second')).body).toEqual(expect.objectContaining({ name: 'Second', archivedAt }))
    expect((await get(id)).body.archivedAt).toBe(archivedAt)
    expect((await archive(id, false)).body.archivedAt).toBeNull()
    expect((await archive(id, false)).status).toBe(200)
    expect((await get(id)).body).toEqual(expect.objectContaining({ name: 'Second', archivedAt: null }))
    await archive(id)
    expect((await remove(id)).status).toBe(200)
  })

  it('are as they were if they are archived again, which has no event', async () => {
    const { workspace, put, archive, rows } = await withKind(kind)
    const id = newUuid()
    await put(id)
    for (const archived of [true, false]) {
      const first = await archive(id, archived)
      const [before, events] = [await rows(), await summariesOf(workspace)]
      expect(events.at(-1)).toMatch(archived ? /\.archived / : /\.unarchived /)
      await nextMillisecond()
      const again = await archive(id, archived)
      expect([again.body, again.headers.get('ETag')]).toEqual([first.body, first.headers.get('ETag')])
      expect(await rows()).toEqual(before)
      expect(await summariesOf(workspace)).toEqual(events)
    }
  })

  it('reject other bodies with 400', async () => {
    const { key, put, rows } = await withKind(kind)
    const id = newUuid()
    await put(id)
    const before = await rows()
    const wrong: [json: object, error: RegExp][] = [
      ...[1, 'true', null].map((archived): [object, RegExp] => [{ archived }, /^archived /]),
      ...['', 'x'.repeat(256), null].map((name): [object, RegExp] => [{ name }, /^name /]),
      ...['', 'x'.repeat(501), 7].map((description): [object, RegExp] => [{ description }, /^description /]),
      [{}, /^body has no properties; allowed: at least one of name, description, archived\.$/],
      [{ id: newUuid() }, /^id is not a known property/],
    ]
    for (const [json, error] of wrong) {
      const answer = await request('PATCH', `/v1/${kind.path}/${id}`, { key, json })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)])
    }
    expect(await rows()).toEqual(before)
  })
})

describe.each(archivable)('$path with a description', (kind) => {
  const DESCRIPTION = 'x'.repeat(500)

  async function withDescribed() {
    const made = await withKind(kind)
    const id = newUuid()
    const path = `/v1/${kind.path}/${id}`
    const put = (json: object, headers = {}) => request('PUT', path, { key: made.key, json, headers })
    const patch = (json: object, headers = {}) => request('PATCH', path, { key: made.key, json, headers })
    await put({ name: 'First', description: DESCRIPTION })
    const events = async () => (await summariesOf(made.workspace)).map((summary) => summary.split(' ')[0])
    return { ...made, id, path, put, patch, events }
  }

  it('are replaced by a PUT: without a description, they have none', async () => {
    const { get, id, put, list } = await withDescribed()
    expect((await get(id)).body.description).toBe(DESCRIPTION)
    expect((await list()).body.items.find((each: { id: string }) => each.id === id).description).toBe(DESCRIPTION)
    expect((await put({ name: 'First', description: 'Other' })).body.description).toBe('Other')
    expect((await put({ name: 'First' })).body).toMatchObject({ name: 'First', description: null })
    expect((await put({ name: 'First', description: 'x'.repeat(501) })).status).toBe(400)
    expect((await get(id)).body.description).toBeNull()
  })

  it('are changed by a PATCH in what it sends, with one event', async () => {
    const { get, id, patch, events } = await withDescribed()
    const before = (await events()).length
    const described = { name: 'First', description: DESCRIPTION, archivedAt: null }
    expect((await patch({ name: 'Second' })).body).toMatchObject({ ...described, name: 'Second' })
    expect((await patch({ description: null })).body).toMatchObject({ name: 'Second', description: null })
    expect((await patch({ description: 'New', name: 'Third' })).body).toMatchObject({
      name: 'Third',
      description: 'New',
    })
    // Nothing differs.
    const { headers } = await get(id)
    expect((await patch({ name: 'Third', archived: false })).headers.get('ETag')).toBe(headers.get('ETag'))
    const archived = await patch({ archived: true, name: 'Fourth' })
    expect(archived.body).toMatchObject({ name: 'Fourth', archivedAt: archived.body.updatedAt })
    expect((await patch({ description: 'Kept' })).body).toMatchObject({
      description: 'Kept',
      archivedAt: archived.body.archivedAt,
    })
    const type = kind.path.slice(0, -1)
    expect((await events()).slice(before)).toEqual([
      `${type}.updated`,
      `${type}.updated`,
      `${type}.updated`,
      `${type}.archived`,
      `${type}.updated`,
    ])
  })

  it('are changed only at the ETag in If-Match', async () => {
    const { get, id, patch } = await withDescribed()
    const etag = (await get(id)).headers.get('ETag') ?? ''
    expect((await patch({ description: 'A' }, { 'If-Match': etag })).status).toBe(200)
    expect((await patch({ description: 'B' }, { 'If-Match': etag })).status).toBe(412)
    expect((await get(id)).body.description).toBe('A')
  })

  it('have it after a deletion was undone', async () => {
    const { get, id, remove, key } = await withDescribed()
    await remove(id)
    const deletions = await request('GET', '/v1/deletions', { key })
    await request('POST', `/v1/deletions/${deletions.body.items[0].id}/restore`, { key })
    expect((await get(id)).body.description).toBe(DESCRIPTION)
  })
})

describe.each(ofProject)('$path in a project', (kind) => {
  it('are 404 if the organization does not have the project', async () => {
    const { put, list, rows } = await withKind(kind)
    const elsewhere = await Workspace.create()
    await elsewhere.addProject('theirs')
    for (const projectId of ['nowhere', newUuid(), 'theirs', 'Home']) {
      const answer = await put(newUuid(), '', { json: { projectId, name: 'x' } })
      expect([answer.status, answer.body.error]).toEqual([404, 'There is no project with this projectId.'])
      expect((await list(`?projectId=${projectId}`)).body).toEqual(answer.body)
    }
    for (const projectId of ['', 'x'.repeat(256), '.', '..', null, undefined, 7]) {
      expect((await put(newUuid(), '', { json: { projectId, name: 'x' } })).status).toBe(400)
    }
    expect(await rows()).toEqual([])
  })

  it('take the UUID of the project in either case', async () => {
    const { workspace, put, list } = await withKind(kind)
    const projectId = await workspace.addProject('abcdef00-0000-7000-8000-000000000001')
    const id = newUuid()
    const json = { projectId: projectId.toUpperCase(), name: 'x' }
    expect((await put(id, '', { json })).body.projectId).toBe(projectId)
    expect(idsOf(await list(`?projectId=${projectId.toUpperCase()}`))).toEqual([id])
  })

  it('cannot be moved to another project: 409', async () => {
    const { workspace, put, rows } = await withKind(kind)
    await workspace.addProject('other')
    const id = newUuid()
    await put(id)
    const before = await rows()
    const answer = await put(id, '', { json: { projectId: 'other', name: 'Moved' } })
    expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('belongs to another project')])
    expect(await rows()).toEqual(before)
  })

  it('are listed for one project or for all, in pages', async () => {
    const { workspace, put, list } = await withKind(kind)
    await workspace.addProject('other/one')
    const ids = newIds(6).sort()
    for (const [index, id] of ids.entries()) {
      await put(id, '', { json: { projectId: index % 2 === 0 ? 'home' : 'other/one', name: 'x' } })
    }
    const other = ids.filter((_, index) => index % 2 === 1)
    expect(await walk(list, '?limit=2&projectId=other%2Fone')).toEqual([other.slice(0, 2), other.slice(2)])
    expect(await walk(list, '?limit=4')).toEqual([ids.slice(0, 4), ids.slice(4)])
    await workspace.addProject('empty')
    expect((await list('?projectId=empty')).body).toEqual({ items: [], nextCursor: null })
  })

  it('can be read, but not created, renamed or deleted, while the project is archived', async () => {
    const { key, projectId, put, get, list, remove, rows } = await withKind(kind)
    const projects = requestsFor(KINDS[0] as Kind, key, projectId)
    const id = newUuid()
    const gone = newUuid()
    await put(id)
    await put(gone)
    await remove(gone)
    await projects.archive(projectId)
    const before = await rows()
    for (const answer of [await put(id, 'Second'), await put(newUuid()), await remove(id)]) {
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('archived')])
    }
    expect((await put(gone)).status).toBe(410)
    expect((await remove(gone)).status).toBe(410)
    expect(await rows()).toEqual(before)
    expect([(await get(id)).status, idsOf(await list(`?projectId=${projectId}`))]).toEqual([200, [id]])
    await projects.archive(projectId, false)
    expect([(await put(id, 'Second')).body.name, (await remove(id)).status]).toEqual(['Second', 200])
  })

  it('are 403 for an API key restricted to other projects, and available to one restricted to theirs', async () => {
    const { workspace, projectId, put, rows, remove } = await withKind(kind)
    await workspace.addProject('other')
    const restrictedTo = async (projectIds: string[]) =>
      requestsFor(kind, await workspace.addKey({ projectIds }), projectId)
    const [within, without, nowhere] = [
      await restrictedTo(['home']),
      await restrictedTo(['other']),
      await restrictedTo([]),
    ]
    const [id, gone] = newIds(2) as [string, string]
    for (const each of [id, gone]) await put(each)
    await remove(gone)
    const before = await rows()
    for (const restricted of [without, nowhere]) {
      const answers = [
        await restricted.get(id),
        await restricted.put(id),
        await restricted.put(newUuid()),
        await restricted.remove(id),
        await restricted.list(),
        await restricted.list('?projectId=home'),
        await restricted.get(gone),
        await restricted.put(gone),
        await restricted.remove(gone),
      ]
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403))
      expect((await restricted.get(newUuid())).status).toBe(404)
      expect((await restricted.list('?projectId=nowhere')).status).toBe(404)
    }
    const moved = await without.put(id, '', { json: { projectId: 'other', name: 'Mine now' } })
    expect(moved.status).toBe(403)
    expect(await rows()).toEqual(before)

    expect((await within.list()).status).toBe(403)
    expect(idsOf(await within.list('?projectId=home'))).toEqual([id])
    expect((await within.put(id, 'Second')).body).toEqual((await within.get(id)).body)
    expect([(await within.get(gone)).status, (await within.put(gone)).status]).toEqual([410, 410])
    expect((await within.remove(id)).status).toBe(200)
  })

  it('are deleted with the project: 410, before and after the purge', async () => {
    const { workspace, key, projectId, put, get, list, remove } = await withKind(kind)
    await workspace.addProject('other')
    const restrictedTo = async (...projectIds: string[]) =>
      requestsFor(kind, await workspace.addKey({ projectIds }), projectId)
    const [within, without] = [await restrictedTo(projectId), await restrictedTo('other')]
    const [id, kept] = newIds(2) as [string, string]
    await put(id)
    await put(kept, '', { json: { projectId: 'other', name: 'x' } })
    expect((await requestsFor(KINDS[0] as Kind, key, '').remove(projectId)).status).toBe(200)
    for (const isPurged of [false, true]) {
      if (isPurged) await workspace.endUndo()
      if (isPurged) await tick(env, new Date())
      expect((await workspace.dump(kind.table)).map((row) => row.id).includes(id)).toBe(!isPurged)
      const moved = await put(id, '', { json: { projectId: 'other', name: 'x' } })
      const answers = [await get(id), await remove(id), moved, await within.get(id), await within.remove(id)]
      expect(answers.map(({ status }) => status)).toEqual([410, 410, 410, 410, 410])
      expect([(await put(id)).status, (await put(newUuid())).status]).toEqual([404, 404])
      expect([(await without.get(id)).status, (await without.remove(id)).status]).toEqual([403, 403])
      expect(idsOf(await list())).toEqual([kept])
      expect((await list(`?projectId=${projectId}`)).status).toBe(404)
    }
  })
})

it('a session and a pull request with the same id are independent', async () => {
  const [session, pullRequest] = ofProject as [Kind, Kind]
  const { key, projectId, ...sessions } = await withKind(session)
  const pullRequests = requestsFor(pullRequest, key, projectId)
  const id = newUuid()
  await sessions.put(id)
  expect((await pullRequests.get(id)).status).toBe(404)
  await pullRequests.put(id, 'Kept')
  await sessions.remove(id)
  await tick(env, new Date())
  expect((await pullRequests.get(id)).body.name).toBe('Kept')
})

describe('projects, for an API key that is restricted to projects,', () => {
  const PROJECT = KINDS[0] as Kind

  it('are only those that it is restricted to', async () => {
    const { workspace, rows, put } = await withKind(PROJECT)
    for (const id of ['a/1', 'b', 'c', 'gone']) await put(id)
    const before = await rows()
    const restricted = requestsFor(PROJECT, await workspace.addKey({ projectIds: ['c', 'a/1', 'b', 'nowhere'] }), '')
    expect(await walk(restricted.list, '?limit=2')).toEqual([['a/1', 'b'], ['c']])
    const none = requestsFor(PROJECT, await workspace.addKey({ projectIds: [] }), '')
    expect((await none.list()).body).toEqual({ items: [], nextCursor: null })
    const denied = [await restricted.get('gone'), await restricted.put('gone'), await restricted.put('new')]
    denied.push(await restricted.archive('gone'), await restricted.remove('gone'), await none.remove('c'))
    expect(denied.map(({ status }) => status)).toEqual(denied.map(() => 403))
    expect([(await restricted.get('unknown')).status, (await restricted.get('nowhere')).status]).toEqual([404, 404])
    expect(await rows()).toEqual(before)
  })

  it('can be renamed, archived and deleted', async () => {
    const { workspace, put, remove } = await withKind(PROJECT)
    for (const id of ['a', 'b']) await put(id)
    const restricted = requestsFor(PROJECT, await workspace.addKey({ projectIds: ['a'] }), '')
    expect((await restricted.put('a', 'Mine')).body.name).toBe('Mine')
    expect((await restricted.archive('a')).status).toBe(200)
    expect((await restricted.remove('a')).status).toBe(200)
    expect((await restricted.list()).body.items).toEqual([])
    await remove('b')
    expect([(await restricted.get('a')).status, (await restricted.get('b')).status]).toEqual([410, 403])
  })
})

describe.each(KINDS.filter(({ path }) => path === 'agents' || path === 'users'))(
  '$path, for an API key that is restricted to projects,',
  (kind) => {
    it('can be read, but not changed, whichever projects those are', async () => {
      const { workspace, put, rows, remove } = await withKind(kind)
      const [id, gone] = newIds(2) as [string, string]
      for (const each of [id, gone]) await put(each)
      await remove(gone)
      const before = await rows()
      for (const projectIds of [[], ['home']]) {
        const restricted = requestsFor(kind, await workspace.addKey({ userId: null, projectIds }), '')
        const answers = [await restricted.put(id), await restricted.put(newUuid()), await restricted.put(gone)]
        answers.push(await restricted.remove(id), await restricted.remove(gone))
        if (kind.isArchivable) answers.push(await restricted.archive(id), await restricted.archive(gone))
        for (const { status, body } of answers) {
          expect([status, body.error]).toEqual([403, expect.stringContaining('restricted to projects')])
        }
        expect((await restricted.remove(newUuid())).status).toBe(404)
        expect([(await restricted.get(id)).status, (await restricted.get(gone)).status]).toEqual([200, 410])
        expect(idsOf(await restricted.list())).toContain(id)
      }
      expect(await rows()).toEqual(before)
    })
  },
)

describe('a user with API keys', () => {
  const remove = (key: string, id: string) => request('DELETE', `/v1/users/${id}`, { key })
  const isLive = async (key: string) => (await request('GET', '/v1/me', { key })).status === 200

  it('can be deleted only by a key that may delete each of the keys', async () => {
    const workspace = await Workspace.create()
    const userId = await workspace.addUser()
    const keys = [await workspace.addKey({ userId }), await workspace.addKey({ userId, projectIds: [] })]
    const state = async () => [await workspace.dump('users'), await workspace.dump('deletions')]
    const before = await state()
    const refused = await remove(await workspace.addKey(), userId)
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('live API key')])
    expect(await state()).toEqual(before)
    expect(await Promise.all(keys.map(isLive))).toEqual([true, true])
    expect((await remove(await workspace.addKey({ userId: null }), userId)).status).toBe(200)
    expect(await Promise.all(keys.map(isLive))).toEqual([false, false])
  })

  it('can be deleted by its own key, and by the key of another user once its keys are not live', async () => {
    const workspace = await Workspace.create()
    const userId = await workspace.addUser()
    const revoked = await workspace.addKeyWithId({ userId })
    await workspace.revokeKey(revoked.id)
    await workspace.addKey({ userId, expiresAt: '2020-01-01T00:00:00.000Z' })
    expect((await remove(await workspace.addKey(), userId)).status).toBe(200)
    const own = await workspace.addKey()
    expect((await remove(own, workspace.userId)).status).toBe(200)
    expect(await isLive(own)).toBe(false)
  })

  it('cannot be deleted by a rotated key while another key is live', async () => {
    const workspace = await Workspace.create()
    const { id, token } = await workspace.addKeyWithId()
    const admin = await workspace.addKey({ userId: null })
    const rotation = { key: admin, json: {} }
    const successor = (await request('POST', `/v1/api-keys/${id}/rotate`, rotation)).body
    const refused = await remove(token, workspace.userId)
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('not rotated')])
    expect(await Promise.all([token, successor.token].map(isLive))).toEqual([true, true])
    await workspace.revokeKey(successor.id)
    expect((await remove(token, workspace.userId)).status).toBe(200)
    expect(await isLive(token)).toBe(false)
  })
})

describe('dependents', () => {
  it('of an archived project can be read, but not changed until it is unarchived', async () => {
    const { workspace, key, archive, projectId } = await withKind(KINDS[0] as Kind)
    const sessionId = await workspace.addSession(projectId)
    const fileId = await workspace.addSessionFile(sessionId, 'a.txt')
    const scheduleId = await workspace.addSchedule('project', projectId)
    await workspace.addVariable(projectId, 'TOKEN')
    await archive(projectId)
    const TABLES = ['schedules', 'environmentVariables', 'variableRequests', 'sessionFiles', 'sessions']
    const dump = () => Promise.all(TABLES.map((table) => workspace.dump(table)))
    const before = await dump()

    const project = `/v1/projects/${projectId}`
    const files = `/v1/sessions/${sessionId}/files`
    const upload = {
      body: 'x',
      headers: { 'Content-Length': '1', 'Content-Type': 'application/octet-stream' },
    }
    const changes: [string, string, RequestOptions][] = [
      ['POST', `${project}/schedules`, { json: { cron: '0 6 * * *', timezone: 'UTC' } }],
      ['PATCH', `${project}/schedules/${scheduleId}`, { json: { enabled: false } }],
      ['PUT', `${project}/environment-variables/TOKEN`, { json: { value: 'x' } }],
      ['POST', `${project}/environment-variables`, { json: { variables: [{ key: 'NEW', value: 'x' }] } }],
      ['PUT', `${files}?path=b.txt`, upload],
      ['DELETE', `${project}/schedules/${scheduleId}`, {}],
      ['DELETE', `${project}/environment-variables/TOKEN`, {}],
      ['DELETE', `${files}/${fileId}`, {}],
    ]
    const statuses = async (requests: [string, string, RequestOptions][]) => {
      const answers: number[] = []
      for (const [method, path, options] of requests) {
        answers.push((await request(method, path, { key, ...options })).status)
      }
      return answers
    }
    expect(await statuses(changes)).toEqual(changes.map(() => 409))
    expect(await dump()).toEqual(before)
    const reads = ['schedules', `schedules/${scheduleId}`, 'environment-variables'].map((part) => `${project}/${part}`)
    reads.push(files, `${files}/${fileId}/content`, `/v1/sessions/${sessionId}`)
    expect(await statuses(reads.map((path) => ['GET', path, {}]))).toEqual(reads.map(() => 200))
    await archive(projectId, false)
    expect(await statuses(changes)).toEqual([201, 200, 200, 201, 201, 200, 200, 200])
  })

  it('of an archived agent can be read, but not changed', async () => {
    const { workspace, key, put, archive } = await withKind(KINDS[1] as Kind)
    const id = newUuid()
    await put(id)
    const scheduleId = await workspace.addSchedule('agent', id)
    await archive(id)
    const schedules = `/v1/agents/${id}/schedules`
    const answers = [
      await request('POST', schedules, { key, json: { cron: '0 6 * * *' } }),
      await request('PATCH', `${schedules}/${scheduleId}`, { key, json: { enabled: false } }),
      await request('DELETE', `${schedules}/${scheduleId}`, { key }),
      await request('GET', schedules, { key }),
      await request('GET', `${schedules}/${scheduleId}`, { key }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 200, 200])
  })
})
