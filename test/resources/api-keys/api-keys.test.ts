import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SCOPES } from '../../../src/access/scopes.ts'
import { PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { databaseWith } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { type KeyOptions, now, Workspace } from '../../support/workspace.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const DAY_SECONDS = 86_400
const SOON = '2998-01-01T00:00:00.000Z'
const LATER = '2998-01-01T00:00:00.001Z'
const PAST = '2020-01-01T00:00:00.000Z'

type Json = Record<string, unknown>

const create = (key: string, json: Json = {}, more: RequestOptions = {}) =>
  request('POST', '/v1/api-keys', { key, json: { name: 'laptop', scopes: [], ...json }, ...more })
const rotate = (key: string, id: string, json?: Json, more: RequestOptions = {}) =>
  request('POST', `/v1/api-keys/${id}/rotate`, { key, json, ...more })
const remove = (key: string, id: string, query = '') => request('DELETE', `/v1/api-keys/${id}${query}`, { key })
const me = (key: string) => request('GET', '/v1/me', { key })
const list = (key: string, query = '') => request('GET', `/v1/api-keys${query}`, { key })
const once = (idempotencyKey: string) => ({ headers: { 'Idempotency-Key': idempotencyKey } })

const isLive = async (key: string) => (await me(key)).status === 200
const idOf = async (key: string): Promise<string> => (await me(key)).body.apiKey.id
const idsOf = ({ body }: { body: { items: { id: string }[] } }) => body.items.map(({ id }) => id)
const secondsAfter = (instant: string, seconds: number) => new Date(Date.parse(instant) + seconds * 1000).toISOString()
const tally = (responses: { status: number }[]) => responses.map(({ status }) => status).sort()
const atOnce = <T>(times: number, act: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, index) => act(index)))

/** The keys of the organization as stored, without `lastUsedAt`. */
async function stored(workspace: Workspace) {
  return (await workspace.dump('apiKeys')).map(({ lastUsedAt: _, ...row }) => row)
}

/** A workspace with an unrestricted key, and the ids that restrict other keys. */
async function withAdmin() {
  const workspace = await Workspace.create()
  const admin = await workspace.addKey({ userId: null })
  const names: Names = {
    mine: workspace.userId,
    other: await workspace.addUser(),
    here: await workspace.addProject(),
    there: await workspace.addProject(),
  }
  return { workspace, admin, names }
}

type Names = Record<'mine' | 'other' | 'here' | 'there', string>
type Restrictions = (names: Names) => KeyOptions

afterEach(() => {
  vi.useRealTimers()
})

/** Stops the clock of the service at an instant. */
function stopClock(instant: string): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(instant) })
}

describe('createApiKey', () => {
  it.each(['', PREFIX])('returns the key and a working token, under "%s"', async (basePath) => {
    const { workspace, admin, names } = await withAdmin()
    const before = now()
    const json = {
      name: 'laptop',
      scopes: ['pins:read', 'api-keys:read'],
      userId: names.mine,
      projectIds: [names.there, names.here],
      expiresAt: SOON,
    }
    const { status, headers, body } = await request('POST', `${basePath}/v1/api-keys`, { key: admin, json })
    expect([status, body]).toEqual([
      201,
      {
        ...json,
        id: expect.stringMatching(UUID),
        kind: 'key',
        rotatedAt: null,
        lastUsedAt: null,
        createdAt: expect.stringMatching(INSTANT),
        createdByKeyId: (await request('GET', '/v1/me', { key: admin })).body.apiKey.id,
        identityId: null,
        app: null,
        token: expect.stringMatching(/^wsk[12]?_[0-9A-Za-z]{49}$/),
      },
    ])
    expect(body.createdAt >= before && body.createdAt <= now()).toBe(true)
    expect(headers.get('Location')).toBe(`${basePath}/v1/api-keys/${body.id}`)
    expect((await me(body.token)).body).toEqual({
      organization: { id: workspace.organizationId, name: 'Acme' },
      user: { id: names.mine, name: 'Ada' },
      apiKey: {
        id: body.id,
        name: 'laptop',
        kind: 'key',
        scopes: json.scopes,
        projectIds: json.projectIds,
        expiresAt: SOON,
        identityId: null,
      },
      stopped: [],
    })
    expect((await list(body.token)).status).toBe(200)
    expect((await create(body.token)).status).toBe(400)
  })

  it('stores only the SHA-256 of the token, and returns neither again', async () => {
    const { workspace, admin } = await withAdmin()
    const { body: first } = await create(admin)
    const { body: successor } = await rotate(admin, first.id)
    const rows = await stored(workspace)
    const shown = JSON.stringify([(await list(admin)).body, (await me(first.token)).body])
    for (const { id, token } of [first, successor]) {
      const secret = token.slice(token.indexOf('_') + 1, -6)
      const hash = createHash('sha256').update(`wsk_${secret}`).digest('hex')
      expect(rows.find((row) => row.id === id)?.hash).toBe(hash)
      expect(JSON.stringify(rows)).not.toContain(secret.slice(0, 36))
      expect(shown).not.toContain(secret.slice(0, 36))
      expect(shown).not.toContain(hash)
    }
    expect(first.token).not.toBe(successor.token)
  })

  it.each<[string, Restrictions]>([
    ['no restrictions', () => ({ userId: null })],
    ['every restriction', ({ mine, here }) => ({ userId: mine, projectIds: [here], expiresAt: SOON })],
    ['no project', ({ mine }) => ({ userId: mine, projectIds: [] })],
  ])('defaults to the restrictions of a key with %s', async (_, restrictions) => {
    const { workspace, names } = await withAdmin()
    const own = restrictions(names)
    const { status, body } = await create(await workspace.addKey(own))
    const { userId, projectIds = null, expiresAt = null } = own
    expect([status, body]).toMatchObject([201, { userId, projectIds, expiresAt, scopes: [] }])
  })

  it('defaults to the projects of a key that is restricted to a deleted project', async () => {
    const { workspace, admin, names } = await withAdmin()
    const projectIds = [names.here, names.there]
    const key = await workspace.addKey({ projectIds })
    expect((await request('DELETE', `/v1/projects/${names.there}`, { key: admin })).status).toBe(200)
    expect(await create(key)).toMatchObject({ status: 201, body: { projectIds } })
  })

  it.each<[string, Restrictions, (names: Names) => Json]>([
    ['all of its own rights', ({ here }) => ({ projectIds: [here], expiresAt: SOON }), () => ({ scopes: SCOPES })],
    [
      'its user and projects in upper case',
      ({ here, there }) => ({ projectIds: [here, there] }),
      ({ mine, here }) => ({ userId: mine.toUpperCase(), projectIds: [here.toUpperCase()] }),
    ],
    ['no project', ({ here }) => ({ projectIds: [here] }), () => ({ projectIds: [] })],
    ['no project, having none', () => ({ projectIds: [] }), () => ({ projectIds: [] })],
    ['its own expiry', () => ({ expiresAt: LATER }), () => ({ expiresAt: LATER })],
    ['an earlier expiry', () => ({ expiresAt: LATER }), () => ({ expiresAt: SOON })],
    ['an expiry, having none', () => ({}), () => ({ expiresAt: SOON })],
    ['any user, acting for none', () => ({ userId: null }), ({ other }) => ({ userId: other })],
    [
      'null for each, being unrestricted',
      () => ({ userId: null }),
      () => ({ userId: null, projectIds: null, expiresAt: null }),
    ],
  ])('lets a key grant %s', async (_, restrictions, json) => {
    const { workspace, names } = await withAdmin()
    const key = await workspace.addKey(restrictions(names))
    const wanted = json(names)
    const { status, body } = await create(key, wanted)
    const lowerCase = JSON.parse(
      JSON.stringify(wanted, (_, value) =>
        typeof value === 'string' && UUID.test(value.toLowerCase()) ? value.toLowerCase() : value,
      ),
    )
    expect([status, body]).toMatchObject([201, lowerCase])
    expect((await stored(workspace)).find(({ id }) => id === body.id)).toMatchObject({
      scopes: JSON.stringify(body.scopes),
      userId: body.userId,
      projectIds: body.projectIds && JSON.stringify(body.projectIds),
      expiresAt: body.expiresAt,
    })
  })

  it.each<[string, keyof KeyOptions, Restrictions, (names: Names) => Json]>([
    [
      'a scope that it lacks',
      'scopes',
      () => ({ scopes: ['api-keys:write', 'pins:write'] }),
      () => ({ scopes: ['pins:write', 'pins:read'] }),
    ],
    ['another user', 'userId', () => ({}), ({ other }) => ({ userId: other })],
    ['no user', 'userId', () => ({}), () => ({ userId: null })],
    ['another project', 'projectIds', ({ here }) => ({ projectIds: [here] }), ({ there }) => ({ projectIds: [there] })],
    [
      'another project beside its own',
      'projectIds',
      ({ here }) => ({ projectIds: [here] }),
      ({ here, there }) => ({ projectIds: [here, there] }),
    ],
    ['all projects', 'projectIds', ({ here }) => ({ projectIds: [here] }), () => ({ projectIds: null })],
    ['all projects, having none', 'projectIds', () => ({ projectIds: [] }), () => ({ projectIds: null })],
    ['a project, having none', 'projectIds', () => ({ projectIds: [] }), ({ here }) => ({ projectIds: [here] })],
    ['a later expiry', 'expiresAt', () => ({ expiresAt: SOON }), () => ({ expiresAt: LATER })],
    ['no expiry', 'expiresAt', () => ({ expiresAt: SOON }), () => ({ expiresAt: null })],
  ])('refuses to let a key grant %s', async (_, field, restrictions, json) => {
    const { workspace, names } = await withAdmin()
    const key = await workspace.addKey(restrictions(names))
    const before = await stored(workspace)
    const { status, body } = await create(key, json(names))
    expect([status, body.error]).toEqual([403, expect.stringMatching(`^${field} `)])
    expect(await stored(workspace)).toEqual(before)
  })

  it('restricts the keys that a restricted key creates, and the keys that those create', async () => {
    const { admin, names } = await withAdmin()
    const restrictions = {
      scopes: ['api-keys:write', 'pins:read'],
      userId: names.mine,
      projectIds: [names.here],
    }
    let { token } = (await create(admin, { ...restrictions, expiresAt: SOON })).body
    token = (await create(token, { scopes: ['api-keys:write'] })).body.token
    for (const more of [
      { scopes: ['pins:read'] },
      { userId: null },
      { projectIds: null },
      { projectIds: [names.there] },
      { expiresAt: null },
    ]) {
      expect((await create(token, more)).status).toBe(403)
    }
    expect(await create(token)).toMatchObject({
      status: 201,
      body: { userId: names.mine, projectIds: [names.here], expiresAt: SOON },
    })
  })

  it('distinguishes similar ids', async () => {
    const { workspace, admin } = await withAdmin()
    const ids = ['x', 'y', 'X', '1', '01', '1.0', 'x","y', '["x"]', '\u00e9', 'e\u0301', '%', 'x ']
    for (const id of ids) await workspace.addProject(id)
    for (const id of ids) {
      const { token } = (await create(admin, { scopes: ['api-keys:write', 'projects:read'], projectIds: [id] })).body
      const granted = await Promise.all(ids.map((other) => create(token, { projectIds: [other] })))
      expect(granted.map(({ status }) => status)).toEqual(ids.map((other) => (other === id ? 201 : 403)))
      const { body } = await request('GET', '/v1/projects', { key: token })
      expect(idsOf({ body })).toEqual([id])
    }
    await workspace.addUser('ada')
    await workspace.addUser('Ada')
    const ada = (await create(admin, { scopes: ['api-keys:write'], userId: 'ada' })).body.token
    expect((await create(ada, { userId: 'Ada' })).status).toBe(403)
  })

  it('returns 404 for users and projects that the organization does not have', async () => {
    const { workspace, admin, names } = await withAdmin()
    const stranger = await withAdmin()
    await workspace.addUser('ada')
    await workspace.addProject('website')
    for (const path of [`users/${names.other}`, `projects/${names.there}`]) {
      expect((await request('DELETE', `/v1/${path}`, { key: admin })).status).toBe(200)
    }
    const before = await stored(workspace)
    for (const userId of ['nobody', 'Ada', names.here, names.other, stranger.names.mine]) {
      const { status, body } = await create(admin, { userId })
      expect([status, body.error]).toEqual([404, 'userId names a user that the organization does not have.'])
    }
    for (const id of ['nothing', 'Website', names.mine, names.there, stranger.names.here]) {
      const { status, body } = await create(admin, { projectIds: [names.here, id] })
      expect([status, body.error]).toEqual([404, 'projectIds names a project that the organization does not have.'])
    }
    const restricted = await workspace.addKey({ scopes: ['api-keys:write'], projectIds: [] })
    expect((await create(restricted, { scopes: ['pins:read'], projectIds: ['nothing'] })).status).toBe(404)
    expect((await stored(workspace)).length).toBe(before.length + 1)
  })

  it.each<Json>([
    { name: '' },
    { name: null },
    { scopes: ['pins:write', 'pins:write'] },
    { scopes: ['pins:delete'] },
    { scopes: ['PINS:WRITE'] },
    { scopes: null },
    { scopes: 'pins:write' },
    { scopes: undefined },
    { userId: '' },
    { userId: ['ada'] },
    { projectIds: ['..'] },
    { projectIds: 'website' },
    { projectIds: { 0: 'website' } },
    { projectIds: [null] },
    { projectIds: ['a', 'a'] },
    { expiresAt: PAST },
    { expiresAt: '2998-01-01' },
    { expiresAt: '2998-01-01T00:00:00' },
    { expiresAt: '2998-01-01T00:00Z' },
    { expiresAt: '2998-01-01T00:00:00+24:00' },
    { expiresAt: '2998-12-31T23:59:60Z' },
    { expiresAt: '0000-01-01T00:00:00+00:01' },
    { expiresAt: `2998-01-01T00:00:00.${'0'.repeat(250)}Z` },
    { expiresAt: '+002998-01-01T00:00:00.000Z' },
    { expiresAt: 32_440_608_000_000 },
    { id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70' },
    { organizationId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70' },
    { token: 'wsk_' },
    { hash: '' },
  ])('refuses %j', async (json) => {
    const { workspace, admin } = await withAdmin()
    const before = await stored(workspace)
    const { status, body } = await create(admin, json)
    expect([status, body.error]).toEqual([400, expect.stringContaining(Object.keys(json)[0] ?? '')])
    expect(await stored(workspace)).toEqual(before)
  })

  it('accepts a name of 255 characters', async () => {
    const { admin } = await withAdmin()
    const name = '\u{1f511}'.repeat(255)
    expect(await create(admin, { name })).toMatchObject({ status: 201, body: { name } })
    expect((await create(admin, { name: `${name}!` })).status).toBe(400)
  })

  it('accepts 100 projects, each once', async () => {
    const { workspace, admin } = await withAdmin()
    const projectIds = await atOnce(101, () => workspace.addProject())
    const hundred = projectIds.slice(1)
    expect(await create(admin, { projectIds: hundred })).toMatchObject({
      status: 201,
      body: { projectIds: hundred },
    })
    const [first = ''] = projectIds
    for (const refused of [projectIds, [first, first.toUpperCase()]]) {
      const { status, body } = await create(admin, { projectIds: refused })
      expect([status, body.error]).toEqual([400, expect.stringMatching('^projectIds')])
    }
  })

  it.each([
    ['2998-01-01T00:00:00Z', '2998-01-01T00:00:00.000Z'],
    ['2998-01-01t02:00:00.1+02:00', '2998-01-01T00:00:00.100Z'],
    ['2997-12-31T20:00:00.123456789-04:00', '2998-01-01T00:00:00.123Z'],
    ['9999-12-31T23:59:59.9999z', '9999-12-31T23:59:59.999Z'],
  ])('returns the expiry %s as %s, and compares it in this form', async (expiresAt, returned) => {
    const { workspace, admin } = await withAdmin()
    const { status, body } = await create(admin, { expiresAt })
    expect([status, body.expiresAt, await isLive(body.token)]).toEqual([201, returned, true])
    const ending = await workspace.addKey({ scopes: ['api-keys:write'], expiresAt: returned })
    expect((await create(ending, { scopes: [], expiresAt })).status).toBe(201)
    const earlier = new Date(Date.parse(returned) - 1).toISOString()
    const ended = await workspace.addKey({ scopes: ['api-keys:write'], expiresAt: earlier })
    expect((await create(ended, { scopes: [], expiresAt })).status).toBe(403)
  })

  it('accepts an expiry in the future, to the millisecond', async () => {
    const { admin } = await withAdmin()
    stopClock('2040-01-01T00:00:00.000Z')
    expect((await create(admin, { expiresAt: '2040-01-01T00:00:00.000Z' })).status).toBe(400)
    const { status, body } = await create(admin, { expiresAt: '2040-01-01T00:00:00.001Z' })
    expect([status, await isLive(body.token)]).toEqual([201, true])
    stopClock('2040-01-01T00:00:00.001Z')
    expect(await isLive(body.token)).toBe(false)
  })

  it('returns 400 for an expiry in the past before 404 for an unknown user', async () => {
    const { admin } = await withAdmin()
    const { status, body } = await create(admin, { expiresAt: PAST, userId: 'nobody' })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^expiresAt is not in the future/)])
  })

  it('leaves no live key to a user that is deleted at the same time', async () => {
    const { workspace, admin, names } = await withAdmin()
    const { id } = await workspace.addKeyWithId({ userId: names.other })
    const responses = await atOnce(10, (index) => {
      if (index === 5) return request('DELETE', `/v1/users/${names.other}`, { key: admin })
      return index % 2 === 0 ? create(admin, { userId: names.other }) : rotate(admin, id)
    })
    const rows = (await stored(workspace)).filter(({ userId }) => userId === names.other)
    expect(rows).toContainEqual(expect.objectContaining({ id }))
    expect(rows.filter(({ revokedAt }) => revokedAt === null)).toEqual([])
    for (const { body } of responses) if (body.token) expect(await isLive(body.token)).toBe(false)
  })
})

describe('the Idempotency-Key of a key', () => {
  it('creates one key, however often and with whatever body it is sent', async () => {
    const { workspace, admin, names } = await withAdmin()
    const responses = await atOnce(10, (index) => create(admin, { name: `${index}` }, once('laptop')))
    expect(tally(responses)).toEqual([201, ...Array(9).fill(409)])
    const { id, token } = responses.find(({ status }) => status === 201)?.body ?? {}
    responses.push(await create(admin, { userId: names.mine, scopes: SCOPES }, once('laptop')))
    const refusals = responses.filter(({ status }) => status !== 201)
    expect(refusals).toHaveLength(10)
    for (const { body } of refusals) {
      expect(body.error).toEqual(expect.stringMatching(`^This Idempotency-Key .*${id}`))
    }
    expect(await stored(workspace)).toHaveLength(2)
    expect(await isLive(token)).toBe(true)

    await remove(admin, id)
    expect(await create(admin, {}, once('laptop'))).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining(id) },
    })
  })

  it('is case-sensitive, and separate for each organization', async () => {
    const { admin } = await withAdmin()
    const stranger = await withAdmin()
    expect((await create(admin, {}, once('laptop'))).status).toBe(201)
    expect((await create(admin, {}, once('Laptop'))).status).toBe(201)
    expect((await create(stranger.admin, {}, once('laptop'))).status).toBe(201)
  })

  it('has 1 to 255 characters', async () => {
    const { admin } = await withAdmin()
    for (const [length, status] of [
      [0, 400],
      [255, 201],
      [256, 400],
    ] as const) {
      expect((await create(admin, {}, once('k'.repeat(length)))).status).toBe(status)
    }
  })

  it('is not used up by a request that is refused', async () => {
    const { admin } = await withAdmin()
    expect((await create(admin, { userId: 'nobody' }, once('laptop'))).status).toBe(404)
    expect((await create(admin, {}, once('laptop'))).status).toBe(201)
  })

  it('lets the client rotate the key whose token was lost with the response', async () => {
    const { admin } = await withAdmin()
    const DB = databaseWith(async (statements) => {
      await env.DB.batch(statements)
      throw new Error('D1_ERROR: Network connection lost.')
    })
    expect((await create(admin, {}, { ...once('laptop'), environment: { DB } })).status).toBe(503)
    const replay = await create(admin, {}, once('laptop'))
    expect(replay.status).toBe(409)
    const [id = ''] = /[0-9a-f-]{36}/.exec(replay.body.error) ?? []
    const { status, body } = await rotate(admin, id, { overlapSeconds: 0 })
    expect([status, await isLive(body.token)]).toEqual([201, true])
  })

  it('creates one successor', async () => {
    const { workspace, admin } = await withAdmin()
    const { id } = await workspace.addKeyWithId()
    const first = await rotate(admin, id, {}, once('rotation'))
    expect(first.status).toBe(201)
    const replay = await rotate(admin, id, { overlapSeconds: 0 }, once('rotation'))
    expect([replay.status, replay.body.error]).toEqual([409, expect.stringContaining(first.body.id)])
    expect(await stored(workspace)).toHaveLength(3)
  })

  it('is separate for each operation and key', async () => {
    const { workspace, admin } = await withAdmin()
    const { id } = await workspace.addKeyWithId()
    const { id: other } = await workspace.addKeyWithId()
    expect((await create(admin, {}, once('same'))).status).toBe(201)
    for (const each of [id, other]) expect((await rotate(admin, each, {}, once('same'))).status).toBe(201)
  })
})

describe('listApiKeys', () => {
  it('lists the keys in order of creation, without revoked ones', async () => {
    const { workspace, admin, names } = await withAdmin()
    await (await Workspace.create()).addKey()
    const json = {
      name: 'b',
      scopes: ['pins:read'],
      userId: names.other,
      projectIds: [names.here],
      expiresAt: SOON,
    }
    const { token, ...first } = (await create(admin, json)).body
    const revoked = (await create(admin)).body
    await remove(admin, revoked.id)
    const { token: _, ...last } = (await create(admin, { name: 'a' })).body
    const { status, body } = await list(admin)
    expect(status).toBe(200)
    expect(body).toEqual({
      items: [
        expect.objectContaining({ id: await idOf(admin), lastUsedAt: expect.stringMatching(INSTANT) }),
        first,
        last,
      ],
      nextCursor: null,
    })
    expect(await stored(workspace)).toHaveLength(4)
  })

  it('lists for a restricted key only keys of its user with no further projects', async () => {
    const { workspace, admin, names } = await withAdmin()
    const { mine, other, here, there } = names
    const keys: Record<string, string> = {}
    for (const userId of [null, mine, other]) {
      for (const projectIds of [undefined, [], [here], [there], [there, here]]) {
        const { id } = await workspace.addKeyWithId({ userId, ...(projectIds && { projectIds }) })
        keys[id] = `${userId} ${projectIds}`
      }
    }
    const shownTo = async (userId: string | null, projectIds?: string[]) => {
      const viewer = { scopes: ['api-keys:read'], userId, projectIds: projectIds ?? null }
      const { token } = (await create(admin, viewer)).body
      return idsOf(await list(token)).flatMap((id) => keys[id] ?? [])
    }
    const ofUser = (userId: string | null, ...lists: (string[] | undefined)[]) =>
      lists.map((projectIds) => `${userId} ${projectIds}`)
    const all = [undefined, [], [here], [there], [there, here]]

    expect(await shownTo(mine)).toEqual(ofUser(mine, ...all))
    expect(await shownTo(mine, [])).toEqual(ofUser(mine, []))
    expect(await shownTo(mine, [here])).toEqual(ofUser(mine, [], [here]))
    expect(await shownTo(mine, [here, there])).toEqual(ofUser(mine, ...all.slice(1)))
    expect(await shownTo(null, [there])).toEqual([null, mine, other].flatMap((userId) => ofUser(userId, [], [there])))
    expect(await shownTo(null)).toEqual([null, mine, other].flatMap((userId) => ofUser(userId, ...all)))
  })

  it.each(['its own', 'all'])('pages through %s keys', async (whose) => {
    const { workspace, names } = await withAdmin()
    const viewer = await workspace.addKey({ userId: whose === 'all' ? null : names.mine })
    for (let index = 0; index < 6; index++) {
      const { id } = await workspace.addKeyWithId({ userId: index % 2 === 0 ? names.mine : names.other })
      if (index === 2) await workspace.revokeKey(id)
    }
    const all = idsOf(await list(viewer))
    expect(all).toHaveLength(whose === 'all' ? 7 : 3)
    const walked: string[] = []
    const sizes: number[] = []
    let cursor: string | null = null
    do {
      const { body } = await list(viewer, `?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
      sizes.push(body.items.length)
      walked.push(...idsOf({ body }))
      cursor = body.nextCursor?.toUpperCase() ?? null
    } while (cursor)
    expect(walked).toEqual(all)
    expect(sizes).toEqual(whose === 'all' ? [2, 2, 2, 1] : [2, 1])
  })
})

describe('deleteApiKey', () => {
  it('revokes the key from the next request on, and returns 404 the second time', async () => {
    const { workspace, admin } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId()
    expect(await isLive(token)).toBe(true)
    const { status, body } = await remove(admin, id.toUpperCase())
    expect([status, body]).toEqual([200, { deleted: true, id, descendants: 0 }])
    expect((await me(token)).status).toBe(401)
    const before = await stored(workspace)
    expect((await remove(admin, id)).status).toBe(404)
    expect(await stored(workspace)).toEqual(before)
    expect(await isLive(admin)).toBe(true)
  })

  it('lets a key delete itself', async () => {
    const { workspace, admin } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId({ projectIds: [], expiresAt: SOON })
    expect((await remove(token, id)).status).toBe(200)
    expect((await remove(token, id)).status).toBe(401)
    expect((await remove(admin, id)).status).toBe(404)
  })

  it('leaves the successor of the key, and the keys that it created', async () => {
    const { workspace, admin } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId()
    const made = (await create(token)).body
    const successor = (await rotate(admin, id)).body
    expect((await remove(admin, id)).status).toBe(200)
    expect(await Promise.all([token, made.token, successor.token].map(isLive))).toEqual([false, true, true])
  })

  it('returns the same 404 for a key of another organization as for one that does not exist', async () => {
    const { admin } = await withAdmin()
    const stranger = await withAdmin()
    const theirs = await remove(admin, await idOf(stranger.admin))
    const nobodys = await remove(admin, crypto.randomUUID())
    expect([theirs.status, theirs.body]).toEqual([404, nobodys.body])
    expect([nobodys.status, await isLive(stranger.admin)]).toEqual([404, true])
  })
})

describe('deleteApiKey with descendants', () => {
  const WITH_DESCENDANTS = '?descendants=true'
  const tokensOf = (keys: { token: string }[]) => keys.map(({ token }) => token)
  const areLive = (keys: { token: string }[]) => Promise.all(tokensOf(keys).map(isLive))

  /** A key, and keys that were created with it, directly and indirectly; the second of them is revoked. */
  async function withFamily() {
    const { workspace, admin, names } = await withAdmin()
    const root = await workspace.addKeyWithId()
    const restrictions = { scopes: ['api-keys:write'] }
    const child = (await create(root.token, restrictions)).body
    const revoked = (await create(root.token, restrictions)).body
    const grandchild = (await create(revoked.token, restrictions)).body
    const successor = (await rotate(grandchild.token, grandchild.id)).body
    const last = (await create(successor.token, restrictions)).body
    await remove(admin, revoked.id)
    return { workspace, admin, names, root, descendants: [child, grandchild, successor, last] }
  }

  it('revokes the keys that it created, and the keys that those created, also after one was revoked', async () => {
    const { workspace, admin, root, descendants } = await withFamily()
    const elsewhere = await Workspace.create()
    const others = [
      (await create(admin)).body,
      await workspace.addKeyWithId(),
      await elsewhere.addKeyWithId({ createdByKeyId: root.id }),
    ]
    const { status, body } = await remove(admin, root.id.toUpperCase(), WITH_DESCENDANTS)
    expect([status, body]).toEqual([200, { deleted: true, id: root.id, descendants: descendants.length }])
    expect(await areLive([root, ...descendants])).toEqual(Array(5).fill(false))
    expect([await isLive(admin), ...(await areLive(others))]).toEqual(Array(4).fill(true))
  })

  it.each(['', '?descendants=false'])('leaves the descendants with "%s"', async (query) => {
    const { admin, root, descendants } = await withFamily()
    expect((await remove(admin, root.id, query)).body.descendants).toBe(0)
    expect(await areLive([root, ...descendants])).toEqual([false, true, true, true, true])
    expect((await remove(admin, root.id, query)).status).toBe(404)
  })

  it('accepts a key that is already revoked, however often', async () => {
    const { workspace, admin, root, descendants } = await withFamily()
    await remove(admin, root.id)
    const revokedAt = (await stored(workspace)).find(({ id }) => id === root.id)?.revokedAt
    expect(await remove(admin, root.id, WITH_DESCENDANTS)).toMatchObject({
      status: 200,
      body: { deleted: true, id: root.id, descendants: 4 },
    })
    expect(await areLive(descendants)).toEqual(Array(4).fill(false))
    const before = await stored(workspace)
    expect(before.find(({ id }) => id === root.id)?.revokedAt).toBe(revokedAt)
    expect(await remove(admin, root.id, WITH_DESCENDANTS)).toMatchObject({
      status: 200,
      body: { descendants: 0 },
    })
    expect(await stored(workspace)).toEqual(before)
  })

  it('leaves the successor that another key created', async () => {
    const { workspace, admin } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId()
    const child = (await create(token)).body
    const successor = (await rotate(admin, id)).body
    expect((await remove(admin, id, WITH_DESCENDANTS)).body.descendants).toBe(1)
    expect(await areLive([child, successor])).toEqual([false, true])
  })

  it('revokes the key of the caller if it is a descendant', async () => {
    const { root, descendants } = await withFamily()
    const { token } = descendants.at(-1) ?? { token: '' }
    expect((await remove(token, root.id, WITH_DESCENDANTS)).body.descendants).toBe(4)
    expect(await areLive([root, ...descendants])).toEqual(Array(5).fill(false))
  })

  it.each<[string, Restrictions]>([
    ["another user's key", ({ other }) => ({ userId: other })],
    ['a key of fewer projects', ({ here }) => ({ projectIds: [here] })],
  ])('is refused to %s, whether the key is revoked or not', async (_, caller) => {
    const { workspace, admin, names, root } = await withFamily()
    const key = await workspace.addKey(caller(names))
    for (const attempt of ['live', 'revoked']) {
      if (attempt === 'revoked') await remove(admin, root.id)
      const before = await stored(workspace)
      expect((await remove(key, root.id, WITH_DESCENDANTS)).status).toBe(403)
      expect(await stored(workspace)).toEqual(before)
    }
  })

  it.each(['', '1', 'TRUE', 'yes'])('refuses "%s"', async (value) => {
    const { workspace, admin } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId()
    const { status, body } = await remove(admin, id, `?descendants=${value}`)
    expect([status, body.error]).toEqual([
      400,
      `descendants is not one of the allowed values; got ${JSON.stringify(value)}; allowed: "true" or "false".`,
    ])
    expect(await isLive(token)).toBe(true)
  })
})

describe('a rotated key', () => {
  it.each(['itself', 'another key'])('rotated by %s, manages only itself', async (rotatedBy) => {
    const { workspace, admin } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId()
    const child = (await create(token)).body
    const unrelated = await workspace.addKeyWithId()
    const successor = (await rotate(rotatedBy === 'itself' ? token : admin, id)).body
    const second = (await rotate(successor.token, successor.id)).body
    const before = await stored(workspace)
    const refused = [await create(token), await remove(token, id, '?descendants=true')]
    for (const other of [successor, second, child, unrelated]) {
      refused.push(await remove(token, other.id), await remove(token, other.id, '?descendants=true'))
      refused.push(await rotate(token, other.id, { overlapSeconds: 0 }))
    }
    for (const { status, body } of refused) {
      expect([status, body.error]).toEqual([403, expect.stringContaining('Your API key was rotated')])
    }
    expect((await rotate(token, id)).status).toBe(409)
    expect(await stored(workspace)).toEqual(before)
    expect((await list(token)).status).toBe(200)
    expect((await remove(token, id)).status).toBe(200)
    const live = [token, successor.token, second.token, child.token, unrelated.token]
    expect(await Promise.all(live.map(isLive))).toEqual([false, true, true, true, true])
  })
})

describe.each(['delete', 'rotate'])('a key cannot %s', (operation) => {
  it.each<[string, Restrictions, Restrictions]>([
    ["another user's key", () => ({}), ({ other }) => ({ userId: other })],
    ['a key without a user', () => ({}), () => ({ userId: null })],
    ['a key of all projects', ({ here }) => ({ projectIds: [here] }), () => ({})],
    ['a key of another project', ({ here }) => ({ projectIds: [here] }), ({ there }) => ({ projectIds: [there] })],
    [
      'a key of a further project',
      ({ here }) => ({ projectIds: [here] }),
      ({ here, there }) => ({ projectIds: [here, there] }),
    ],
    ['a key of some project, having none', () => ({ projectIds: [] }), ({ here }) => ({ projectIds: [here] })],
    ['a key of all projects, having none', () => ({ userId: null, projectIds: [] }), () => ({ userId: null })],
  ])('%s', async (_, caller, target) => {
    const { workspace, names } = await withAdmin()
    const key = await workspace.addKey(caller(names))
    const { id, token } = await workspace.addKeyWithId(target(names))
    const before = await stored(workspace)
    const act = operation === 'delete' ? remove : rotate
    expect((await act(key, id)).status).toBe(403)
    expect(await stored(workspace)).toEqual(before)
    expect(await isLive(token)).toBe(true)
  })

  it.each<[string, Restrictions, Restrictions]>([
    ["its user's key", ({ here }) => ({ projectIds: [here] }), ({ here }) => ({ projectIds: [here] })],
    [
      "its user's key of fewer projects",
      ({ here, there }) => ({ projectIds: [here, there] }),
      ({ there }) => ({ projectIds: [there] }),
    ],
    ["any user's key, acting for none", () => ({ userId: null }), ({ other }) => ({ userId: other })],
  ])('but can %s', async (_, caller, target) => {
    const { workspace, names } = await withAdmin()
    const key = await workspace.addKey(caller(names))
    const { id, token } = await workspace.addKeyWithId(target(names))
    const { status } = operation === 'delete' ? await remove(key, id) : await rotate(key, id)
    expect([status, await isLive(token)]).toEqual(operation === 'delete' ? [200, false] : [201, true])
  })

  it('a revoked key, or one whose user was deleted', async () => {
    const { workspace, admin, names } = await withAdmin()
    const revoked = await workspace.addKeyWithId()
    await workspace.revokeKey(revoked.id)
    const orphan = await workspace.addKeyWithId({ userId: names.other })
    expect((await request('DELETE', `/v1/users/${names.other}`, { key: admin })).status).toBe(200)
    const before = await stored(workspace)
    const act = operation === 'delete' ? remove : rotate
    for (const { id, token } of [revoked, orphan]) {
      expect((await act(admin, id)).status).toBe(404)
      expect(await isLive(token)).toBe(false)
      expect(idsOf(await list(admin))).not.toContain(id)
    }
    expect(await stored(workspace)).toEqual(before)
  })
})

describe('rotateApiKey', () => {
  it.each(['', PREFIX])('creates a successor that can do the same, under "%s"', async (basePath) => {
    const { workspace, admin, names } = await withAdmin()
    const restrictions = {
      name: 'ci',
      scopes: ['pins:read', 'api-keys:write'],
      userId: names.mine,
      projectIds: [names.there, names.here],
      expiresAt: SOON,
    }
    const { token, ...old } = (await create(admin, restrictions, once('ci'))).body
    await me(token)
    const path = `${basePath}/v1/api-keys/${old.id.toUpperCase()}/rotate`
    const { status, headers, body } = await request('POST', path, { key: admin, json: {} })
    expect([status, body]).toEqual([
      201,
      {
        ...old,
        id: expect.not.stringMatching(old.id),
        createdAt: expect.stringMatching(INSTANT),
        token: expect.stringMatching(/^wsk[12]?_[0-9A-Za-z]{49}$/),
      },
    ])
    expect(headers.get('Location')).toBe(`${basePath}/v1/api-keys/${body.id}`)
    expect((await me(body.token)).body.apiKey.id).toBe(body.id)
    expect(await isLive(token)).toBe(true)
    expect(await stored(workspace)).toHaveLength(3)
  })

  it.each([
    [undefined, DAY_SECONDS],
    [{}, DAY_SECONDS],
    [{ overlapSeconds: 1 }, 1],
    [{ overlapSeconds: 30 * DAY_SECONDS }, 30 * DAY_SECONDS],
  ])('with %j keeps the key valid for %i seconds, and its successor forever', async (json, seconds) => {
    const { admin } = await withAdmin()
    const rotatedAt = '2040-03-01T00:00:00.000Z'
    stopClock(rotatedAt)
    const { id, token } = (await create(admin)).body
    const successor = (await rotate(admin, id, json)).body
    expect(successor.expiresAt).toBeNull()
    const expiresAt = secondsAfter(rotatedAt, seconds)
    expect((await list(admin)).body.items.find((key: { id: string }) => key.id === id)).toMatchObject({
      rotatedAt,
      expiresAt,
    })
    stopClock(secondsAfter(rotatedAt, seconds - 0.001))
    expect(await isLive(token)).toBe(true)
    stopClock(expiresAt)
    expect([await isLive(token), await isLive(successor.token)]).toEqual([false, true])
  })

  it('never extends the validity of a key', async () => {
    const { admin } = await withAdmin()
    stopClock('2040-01-01T00:00:00.000Z')
    const expiresAt = '2040-01-01T01:00:00.000Z'
    const { id, token } = (await create(admin, { scopes: ['api-keys:write'], expiresAt })).body
    expect((await rotate(token, id, { overlapSeconds: 30 * DAY_SECONDS })).body).toMatchObject({ expiresAt })
    stopClock(expiresAt)
    expect(await isLive(token)).toBe(false)
  })

  it.each<KeyOptions>([{}, { expiresAt: SOON }])(
    'ends a key with %j at once without an overlap, also the key of the caller',
    async (options) => {
      const { workspace } = await withAdmin()
      const { id, token } = await workspace.addKeyWithId(options)
      stopClock('2040-01-01T00:00:00.000Z')
      const { status, body } = await rotate(token, id, { overlapSeconds: 0 })
      expect([status, await isLive(token), await isLive(body.token)]).toEqual([201, false, true])
      expect((await rotate(body.token, id)).status).toBe(409)
    },
  )

  it.each<Json>([
    { overlapSeconds: -1 },
    { overlapSeconds: 30 * DAY_SECONDS + 1 },
    { overlapSeconds: 0.5 },
    { overlapSeconds: '60' },
    { overlapSeconds: null },
    { expiresAt: null },
    { scopes: ['pins:read'] },
    { projectIds: null },
    { userId: null },
    { token: 'wsk_' },
  ])('refuses %j', async (json) => {
    const { workspace, admin } = await withAdmin()
    const { id } = await workspace.addKeyWithId()
    const before = await stored(workspace)
    const { status, body } = await rotate(admin, id, json)
    expect([status, body.error]).toEqual([400, expect.stringMatching(`^${Object.keys(json)[0]} `)])
    expect(await stored(workspace)).toEqual(before)
  })

  it.each<[string, KeyOptions, KeyOptions]>([
    [
      'with a scope that the caller lacks',
      { scopes: ['api-keys:write'], userId: null },
      { scopes: ['api-keys:write', 'users:write'] },
    ],
    ['that ends after that of the caller', { expiresAt: SOON }, { expiresAt: LATER }],
    ['that never ends', { expiresAt: SOON }, {}],
  ])('refuses to rotate a key %s', async (_, caller, target) => {
    const { workspace } = await withAdmin()
    const key = await workspace.addKey(caller)
    const { id, token } = await workspace.addKeyWithId(target)
    const before = await stored(workspace)
    expect((await rotate(key, id)).status).toBe(403)
    expect(await stored(workspace)).toEqual(before)
    expect(await isLive(token)).toBe(true)
  })

  it('gives a rotated key no access to its successor, and no further time', async () => {
    const { workspace, admin } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId()
    const successor = (await rotate(admin, id)).body
    expect((await rotate(token, successor.id)).status).toBe(403)
    expect((await rotate(token, id)).status).toBe(409)
    expect((await create(token)).status).toBe(403)
    expect(await isLive(successor.token)).toBe(true)
  })

  it('returns 409 for a rotated or expired key', async () => {
    const { workspace, admin, names } = await withAdmin()
    const rotated = await workspace.addKeyWithId()
    await rotate(admin, rotated.id)
    const expired = await workspace.addKeyWithId({ userId: names.mine, expiresAt: PAST })
    const before = await stored(workspace)
    for (const { id } of [rotated, expired]) expect((await rotate(admin, id)).status).toBe(409)
    expect(await stored(workspace)).toEqual(before)
    expect(await isLive(expired.token)).toBe(false)
  })

  it('creates one successor from concurrent requests', async () => {
    const { workspace, admin } = await withAdmin()
    const { id } = await workspace.addKeyWithId()
    const responses = await atOnce(10, () => rotate(admin, id))
    expect(tally(responses)).toEqual([201, ...Array(9).fill(409)])
    expect(await stored(workspace)).toHaveLength(3)
  })

  it('returns the same 404 for a key of another organization as for one that does not exist', async () => {
    const { admin } = await withAdmin()
    const stranger = await withAdmin()
    const theirs = await rotate(admin, await idOf(stranger.admin), { overlapSeconds: 0 })
    const nobodys = await rotate(admin, crypto.randomUUID())
    expect([theirs.status, theirs.body]).toEqual([404, nobodys.body])
    expect([nobodys.status, await isLive(stranger.admin)]).toEqual([404, true])
  })
})

describe('retrieveMe', () => {
  it.each<[string, Restrictions]>([
    ['every scope', () => ({})],
    ['no scope', () => ({ scopes: [] })],
    ['no user', () => ({ userId: null })],
    ['a project', ({ here }) => ({ projectIds: [here] })],
    ['no project', () => ({ projectIds: [] })],
    ['an expiry', () => ({ expiresAt: SOON })],
    ['no user, no scope and an expiry', () => ({ userId: null, scopes: [], projectIds: [], expiresAt: SOON })],
  ])('returns the organization, user and key of a key with %s', async (_, restrictions) => {
    const { workspace, names } = await withAdmin()
    const { scopes = SCOPES, userId = names.mine, projectIds = null, expiresAt = null } = restrictions(names)
    const { id, token } = await workspace.addKeyWithId(restrictions(names))
    const { status, body } = await me(token)
    expect([status, body]).toEqual([
      200,
      {
        organization: { id: workspace.organizationId, name: 'Acme' },
        user: userId === null ? null : { id: userId, name: 'Ada' },
        apiKey: { id, name: 'test', kind: 'key', scopes, projectIds, expiresAt, identityId: null },
        stopped: [],
      },
    ])
  })

  it('returns the current name of the user and expiry of the key', async () => {
    const { workspace, admin, names } = await withAdmin()
    const { id, token } = await workspace.addKeyWithId()
    const path = `/v1/users/${names.mine}`
    expect((await request('PUT', path, { key: admin, json: { name: 'Grace' } })).status).toBe(200)
    await rotate(admin, id)
    const { body } = await me(token)
    expect(body.user).toEqual({ id: names.mine, name: 'Grace' })
    expect(body.apiKey.expiresAt).toMatch(INSTANT)
  })

  it('names the user of its own organization', async () => {
    const workspaces = [await Workspace.create(), await Workspace.create()]
    for (const [index, workspace] of workspaces.entries()) {
      const json = { name: `${index}` }
      await request('PUT', '/v1/users/ada', { key: await workspace.addKey(), json })
    }
    for (const [index, workspace] of workspaces.entries()) {
      const { body } = await me(await workspace.addKey({ userId: 'ada' }))
      expect(body.user).toEqual({ id: 'ada', name: `${index}` })
    }
  })

  it('returns 401 for a key whose user was deleted, also by that key', async () => {
    const { workspace, names } = await withAdmin()
    const key = await workspace.addKey()
    expect((await request('DELETE', `/v1/users/${names.mine}`, { key })).status).toBe(200)
    expect((await me(key)).status).toBe(401)
  })
})
