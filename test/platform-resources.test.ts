import { env } from 'cloudflare:workers'
import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { tick } from '../src/scheduled.ts'
import { type ApiResponse, PREFIX, type RequestOptions, request } from './support/api.ts'
import { failingDatabase } from './support/bindings.ts'
import { Workspace } from './support/workspace.ts'

interface Kind {
  readonly path: string
  readonly table: string
  /** True if the host platform names it, so that any text is an id. */
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

/** The operations of a kind with a key; what belongs to a project is put into this one. */
function lifeOf({ path, isOfProject }: Kind, key: string, projectId: string) {
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
  // Who deletes users goes on without being one.
  const key = await workspace.addKey({ userId: null })
  const rows = () => workspace.dump(kind.table)
  return { workspace, projectId, key, rows, ...lifeOf(kind, key, projectId) }
}

const idsOf = ({ body }: ApiResponse): string[] => body.items.map(({ id }: { id: string }) => id)
const newIds = (count: number) => Array.from({ length: count }, () => newUuid())

/** Reads a list to its end. @returns the ids of each page. */
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
  it('are made by PUT, renamed by the next, and retrieved as they are', async () => {
    const { put, get, projectId, rows } = await withKind(kind)
    const id = newUuid()
    const made = await put(id, 'First')
    const { createdAt, updatedAt } = made.body
    expect([made.status, made.body]).toEqual([
      200,
      {
        id,
        ...(kind.isOfProject && { projectId }),
        name: 'First',
        ...(kind.isArchivable && { archivedAt: null }),
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

  it('have ids of any UUID shape in either case, answered in lower case, under both base paths', async () => {
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

  it('have names of 1 to 255 code points, kept as they are', async () => {
    const { put } = await withKind(kind)
    const id = newUuid()
    for (const name of ['x', '🙂', ' ', 'é'.repeat(255), '🙂'.repeat(255), `'"; DROP TABLE users; --\n<b>`]) {
      expect((await put(id, name)).body.name).toBe(name)
    }
  })

  it('take no other names and no other bodies, and stay as they are', async () => {
    const { put, bodyOf, rows } = await withKind(kind)
    const id = newUuid()
    await put(id)
    const before = await rows()
    const names = ['', 'x'.repeat(256), '🙂'.repeat(256), 'a\0b', '\ud800', 7, null, ['x']]
    for (const name of names) {
      const answer = await put(id, name)
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^name: /)])
      expect((await put(newUuid(), name)).status).toBe(400)
    }
    const missing = await put(id, '', { json: { ...bodyOf(undefined) } })
    expect([missing.status, missing.body.error]).toEqual([400, 'name: required, expected a string'])
    const extra = await put(id, '', { json: { ...bodyOf('x'), archivedAt: null } })
    const known = kind.isOfProject ? 'projectId, name' : 'name'
    expect([extra.status, extra.body.error]).toEqual([400, `archivedAt: unknown property, expected ${known}`])
    if (!kind.isOfProject) {
      const withProject = await put(id, '', { json: { name: 'x', projectId: 'home' } })
      expect([withProject.status, withProject.body.error]).toEqual([
        400,
        'projectId: unknown property, expected name',
      ])
    }
    expect(await rows()).toEqual(before)
  })

  it('are listed in order of id, in pages that end exactly, without those of others', async () => {
    const { put, list, remove, rows } = await withKind(kind)
    const other = await withKind(kind)
    await other.put(newUuid())
    for (const id of newIds(5).reverse()) await put(id)
    const all = (await rows()).map((row) => String(row.id)).sort()
    const last = all.length
    expect((await list()).body.items[0]).toEqual(expect.objectContaining({ id: all[0] }))
    expect(await walk(list, `?limit=${last}`)).toEqual([all])
    expect(await walk(list, `?limit=${last - 1}`)).toEqual([all.slice(0, -1), all.slice(-1)])
    expect(await walk(list, '?limit=2&unknown=1')).toEqual(
      Array.from({ length: Math.ceil(last / 2) }, (_, page) => all.slice(page * 2, page * 2 + 2)),
    )
    const [first = '', second = ''] = all
    await remove(first)
    expect(idsOf(await list(`?limit=1&cursor=${first}`))).toEqual([second])
  })

  it('are listed by 50 without a limit, and by 1,000 at most', async () => {
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

  it('are not listed with a limit or a cursor that is none', async () => {
    const { list } = await withKind(kind)
    const limits = ['limit=0', 'limit=-1', 'limit=x', 'limit=', 'limit=1&limit=2']
    for (const query of [...limits, 'cursor=', 'cursor=a%00', `cursor=${'x'.repeat(1001)}`]) {
      const { status, body } = await list(`?${query}`)
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^(limit|cursor): /)])
    }
  })

  it('answer 404 where none was ever made', async () => {
    const { get, archive, remove, rows } = await withKind(kind)
    const before = await rows()
    const id = newUuid()
    const answers = [await get(id), await remove(id), ...(kind.isArchivable ? [await archive(id)] : [])]
    for (const { status, body } of answers) {
      expect([status, body.error]).toEqual([404, expect.stringMatching(/^\w+Id: there is no /)])
    }
    expect(await rows()).toEqual(before)
  })

  it('answer 410 for every operation once deleted, also after the purge, and leave the list', async () => {
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

  it('live apart from those of other organizations with the same ids', async () => {
    const ours = await withKind(kind)
    const theirs = await withKind(kind)
    const id = newUuid()
    await ours.put(id, 'Ours')
    const unknown = await theirs.get(newUuid())
    const answers = [await theirs.get(id), await theirs.remove(id)]
    if (kind.isArchivable) answers.push(await theirs.archive(id))
    for (const { status, body } of answers) expect([status, body]).toEqual([404, unknown.body])
    expect(idsOf(await theirs.list())).not.toContain(id)

    expect((await theirs.put(id, 'Theirs')).status).toBe(200)
    expect((await ours.get(id)).body.name).toBe('Ours')
    const before = await ours.rows()
    expect((await theirs.remove(id)).status).toBe(200)
    expect((await theirs.get(id)).status).toBe(410)
    expect(await ours.rows()).toEqual(before)
    expect((await ours.put(id, 'Still ours')).status).toBe(200)
  })

  it('put at once are one, deleted at once are deleted once', async () => {
    const { put, remove, get, rows } = await withKind(kind)
    const id = newUuid()
    const atOnce = <T>(act: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 20 }, (_, i) => act(i)))
    expect(new Set((await atOnce((index) => put(id, `${index}`))).map(({ status }) => status))).toEqual(
      new Set([200]),
    )
    expect((await rows()).filter((row) => row.id === id)).toHaveLength(1)
    const mixed = await atOnce((index) => (index % 2 === 0 ? remove(id) : put(id)))
    expect(mixed.filter(({ status, body }) => status === 200 && body.deleted)).toHaveLength(1)
    expect(mixed.every(({ status }) => status === 200 || status === 410)).toBe(true)
    expect((await get(id)).status).toBe(410)
    expect((await rows()).filter((row) => row.id === id)).toEqual([])
  })

  it('are not changed if the database is away, and 503 says so', async () => {
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
    ['what looks encoded', '100%25'],
    ['what looks like a slash encoded', '%2F'],
    ['what queries are made of', 'a+b&c=d?e#f;g'],
    ['quotes', `'"\\ --`],
    ['other scripts', 'ünï·日本🙂'],
    ['a JSON list', '[1,2]'],
    ['null', 'null'],
    ['controls', '\u202e\n\t'],
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

  it('have a case that counts, unless they are UUIDs', async () => {
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
  ])('can not be %s', async (_, id) => {
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
  it('keep the instant until they are unarchived, also when renamed, and can be deleted', async () => {
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

  it('are not made by any other body', async () => {
    const { key, put, rows } = await withKind(kind)
    const id = newUuid()
    await put(id)
    const before = await rows()
    for (const archived of [1, 'true', null, undefined]) {
      const answer = await request('PATCH', `/v1/${kind.path}/${id}`, { key, json: { archived } })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^archived: /)])
    }
    const json = { archived: true, name: 'x' }
    expect((await request('PATCH', `/v1/${kind.path}/${id}`, { key, json })).status).toBe(400)
    expect(await rows()).toEqual(before)
  })
})

describe.each(ofProject)('$path, which belong to a project,', (kind) => {
  it('need one that the organization has', async () => {
    const { put, list, rows } = await withKind(kind)
    const elsewhere = await Workspace.create()
    await elsewhere.addProject('theirs')
    for (const projectId of ['nowhere', newUuid(), 'theirs', 'Home']) {
      const answer = await put(newUuid(), '', { json: { projectId, name: 'x' } })
      expect([answer.status, answer.body.error]).toEqual([404, expect.stringMatching(/^projectId: /)])
      expect((await list(`?projectId=${projectId}`)).body).toEqual(answer.body)
    }
    for (const projectId of ['', 'x'.repeat(256), '.', '..', null, undefined, 7]) {
      expect((await put(newUuid(), '', { json: { projectId, name: 'x' } })).status).toBe(400)
    }
    expect(await rows()).toEqual([])
  })

  it('find it by a UUID in either case', async () => {
    const { workspace, put, list } = await withKind(kind)
    const projectId = await workspace.addProject('abcdef00-0000-7000-8000-000000000001')
    const id = newUuid()
    const json = { projectId: projectId.toUpperCase(), name: 'x' }
    expect((await put(id, '', { json })).body.projectId).toBe(projectId)
    expect(idsOf(await list(`?projectId=${projectId.toUpperCase()}`))).toEqual([id])
  })

  it('stay in theirs: 409 with another, and nothing changes', async () => {
    const { workspace, put, rows } = await withKind(kind)
    await workspace.addProject('other')
    const id = newUuid()
    await put(id)
    const before = await rows()
    const answer = await put(id, '', { json: { projectId: 'other', name: 'Moved' } })
    expect([answer.status, answer.body.error]).toEqual([
      409,
      expect.stringMatching(/^projectId: .*another project/),
    ])
    expect(await rows()).toEqual(before)
  })

  it('are listed for one project, in pages, or for all', async () => {
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

  it('are frozen while it is archived: read, and not made, renamed or deleted', async () => {
    const { key, projectId, put, get, list, remove, rows } = await withKind(kind)
    const projects = lifeOf(KINDS[0] as Kind, key, projectId)
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

  it('are out of reach for a key that is limited to other projects, and as ever for one limited to theirs', async () => {
    const { workspace, projectId, put, rows, remove } = await withKind(kind)
    await workspace.addProject('other')
    const limitedTo = async (projectIds: string[]) =>
      lifeOf(kind, await workspace.addKey({ projectIds }), projectId)
    const [within, without, nowhere] = [
      await limitedTo(['home']),
      await limitedTo(['other']),
      await limitedTo([]),
    ]
    const [id, gone] = newIds(2) as [string, string]
    for (const each of [id, gone]) await put(each)
    await remove(gone)
    const before = await rows()
    for (const limited of [without, nowhere]) {
      const answers = [
        await limited.get(id),
        await limited.put(id),
        await limited.put(newUuid()),
        await limited.remove(id),
        await limited.list(),
        await limited.list('?projectId=home'),
        await limited.get(gone),
        await limited.put(gone),
        await limited.remove(gone),
      ]
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403))
      expect((await limited.get(newUuid())).status).toBe(404)
      expect((await limited.list('?projectId=nowhere')).status).toBe(404)
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

  it('go with it: 410 from the answer on, and after the purge', async () => {
    const { workspace, key, projectId, put, get, list, remove } = await withKind(kind)
    await workspace.addProject('other')
    const limitedTo = async (...projectIds: string[]) =>
      lifeOf(kind, await workspace.addKey({ projectIds }), projectId)
    const [within, without] = [await limitedTo(projectId), await limitedTo('other')]
    const [id, kept] = newIds(2) as [string, string]
    await put(id)
    await put(kept, '', { json: { projectId: 'other', name: 'x' } })
    expect((await lifeOf(KINDS[0] as Kind, key, '').remove(projectId)).status).toBe(200)
    for (const isPurged of [false, true]) {
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

it('a session and a pull request with one id have nothing to do with each other', async () => {
  const [session, pullRequest] = ofProject as [Kind, Kind]
  const { key, projectId, ...sessions } = await withKind(session)
  const pullRequests = lifeOf(pullRequest, key, projectId)
  const id = newUuid()
  await sessions.put(id)
  expect((await pullRequests.get(id)).status).toBe(404)
  await pullRequests.put(id, 'Kept')
  await sessions.remove(id)
  await tick(env, new Date())
  expect((await pullRequests.get(id)).body.name).toBe('Kept')
})

describe('projects, for a key that is limited,', () => {
  const PROJECT = KINDS[0] as Kind

  it('are those that it is limited to', async () => {
    const { workspace, rows, put } = await withKind(PROJECT)
    for (const id of ['a/1', 'b', 'c', 'gone']) await put(id)
    const before = await rows()
    const limited = lifeOf(PROJECT, await workspace.addKey({ projectIds: ['c', 'a/1', 'b', 'nowhere'] }), '')
    expect(await walk(limited.list, '?limit=2')).toEqual([['a/1', 'b'], ['c']])
    const none = lifeOf(PROJECT, await workspace.addKey({ projectIds: [] }), '')
    expect((await none.list()).body).toEqual({ items: [], nextCursor: null })
    const denied = [await limited.get('gone'), await limited.put('gone'), await limited.put('new')]
    denied.push(await limited.archive('gone'), await limited.remove('gone'), await none.remove('c'))
    expect(denied.map(({ status }) => status)).toEqual(denied.map(() => 403))
    expect([(await limited.get('unknown')).status, (await limited.get('nowhere')).status]).toEqual([404, 404])
    expect(await rows()).toEqual(before)
  })

  it('can be renamed, archived and deleted where it reaches them', async () => {
    const { workspace, put, remove } = await withKind(PROJECT)
    for (const id of ['a', 'b']) await put(id)
    const limited = lifeOf(PROJECT, await workspace.addKey({ projectIds: ['a'] }), '')
    expect((await limited.put('a', 'Mine')).body.name).toBe('Mine')
    expect((await limited.archive('a')).status).toBe(200)
    expect((await limited.remove('a')).status).toBe(200)
    expect((await limited.list()).body.items).toEqual([])
    await remove('b')
    expect([(await limited.get('a')).status, (await limited.get('b')).status]).toEqual([410, 403])
  })
})

describe.each(KINDS.filter(({ path }) => path === 'agents' || path === 'users'))(
  '$path, for a key that is limited to projects,',
  (kind) => {
    it('can be read and not changed, however many projects it reaches', async () => {
      const { workspace, put, rows, remove } = await withKind(kind)
      const [id, gone] = newIds(2) as [string, string]
      for (const each of [id, gone]) await put(each)
      await remove(gone)
      const before = await rows()
      for (const projectIds of [[], ['home']]) {
        const limited = lifeOf(kind, await workspace.addKey({ userId: null, projectIds }), '')
        const answers = [await limited.put(id), await limited.put(newUuid()), await limited.put(gone)]
        answers.push(await limited.remove(id), await limited.remove(gone))
        if (kind.isArchivable) answers.push(await limited.archive(id), await limited.archive(gone))
        for (const { status, body } of answers) {
          expect([status, body.error]).toEqual([403, expect.stringContaining('limited to projects')])
        }
        expect((await limited.remove(newUuid())).status).toBe(404)
        expect([(await limited.get(id)).status, (await limited.get(gone)).status]).toEqual([200, 410])
        expect(idsOf(await limited.list())).toContain(id)
      }
      expect(await rows()).toEqual(before)
    })
  },
)

describe('a user with API keys', () => {
  const remove = (key: string, id: string) => request('DELETE', `/v1/users/${id}`, { key })
  const isLive = async (key: string) => (await request('GET', '/v1/me', { key })).status === 200

  it('is deleted by a key that may delete each of them, and only then', async () => {
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

  it('is deleted by itself, and by another user once the keys are not live', async () => {
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

  it('is not deleted by a key that was rotated, while another key is live', async () => {
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

describe('what belongs', () => {
  it('to an archived project can be read, and not changed until it is unarchived', async () => {
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
    const reads = ['schedules', `schedules/${scheduleId}`, 'environment-variables'].map(
      (part) => `${project}/${part}`,
    )
    reads.push(files, `${files}/${fileId}/content`, `/v1/sessions/${sessionId}`)
    expect(await statuses(reads.map((path) => ['GET', path, {}]))).toEqual(reads.map(() => 200))
    await archive(projectId, false)
    expect(await statuses(changes)).toEqual([201, 200, 200, 201, 200, 200, 200, 200])
  })

  it('to an archived agent can be read, and not changed', async () => {
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
