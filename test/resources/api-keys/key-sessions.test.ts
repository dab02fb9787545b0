import { afterEach, describe, expect, it, vi } from 'vitest'
import { SCOPES } from '../../../src/access/scopes.ts'
import { PREFIX, request } from '../../support/api.ts'
import { watchedDatabase } from '../../support/bindings.ts'
import { eventsOf, summariesOf } from '../../support/events.ts'
import { type KeyOptions, Workspace } from '../../support/workspace.ts'

const NOW = '2040-01-01T00:00:00.000Z'
const HOUR_SECONDS = 3600
const secondsLater = (seconds: number) => new Date(Date.parse(NOW) + seconds * 1000).toISOString()

const start = (key: string, json?: object) => request('POST', '/v1/me/sessions', { key, json })
const end = (key: string) => request('DELETE', '/v1/me/api-key', { key })
const me = (key: string) => request('GET', '/v1/me', { key })
const isLive = async (key: string) => (await me(key)).status === 200
const areLive = (keys: { token: string }[]) => Promise.all(keys.map(({ token }) => isLive(token)))
const codeOf = ({ headers }: { headers: Headers }) => headers.get('Error-Code')

/** Starts so many sessions, one after the other. */
async function sessionsOf(key: string, count: number): Promise<{ id: string; token: string }[]> {
  const sessions: { id: string; token: string }[] = []
  for (let index = 0; index < count; index++) sessions.push((await start(key)).body)
  return sessions
}

/** The IDs of the sessions that were ended, or of the keys that were revoked, in order. */
async function endedIn(workspace: Workspace, types = 'api-key.session-ended'): Promise<string[]> {
  return (await eventsOf(workspace, { types })).map(({ resource }) => resource.id)
}

function stopClock(instant = NOW): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(instant) })
}

afterEach(() => {
  vi.useRealTimers()
})

describe('createApiKeySession', () => {
  it.each(['', PREFIX])('creates a session with the permissions of the key, under "%s"', async (basePath) => {
    const workspace = await Workspace.create()
    const projectIds = [await workspace.addProject()]
    const scopes = ['pins:read', 'api-keys:read'] as const
    const maker = await workspace.addKeyWithId({ scopes, projectIds })
    stopClock()
    const json = { name: 'console', expiresInSeconds: 60 }
    const path = `${basePath}/v1/me/sessions`
    const { status, headers, body } = await request('POST', path, { key: maker.token, json })
    const { token, ...session } = body
    expect([status, session]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'console',
        kind: 'session',
        scopes,
        userId: workspace.userId,
        projectIds,
        expiresAt: secondsLater(60),
        rotatedAt: null,
        lastUsedAt: null,
        createdAt: NOW,
        createdByKeyId: maker.id,
        identityId: null,
        app: null,
      },
    ])
    expect(headers.get('Location')).toBe(`${basePath}/v1/api-keys/${session.id}`)
    expect((await me(token)).body).toMatchObject({
      user: { id: workspace.userId },
      apiKey: { id: session.id, name: 'console', kind: 'session', scopes, projectIds },
    })
    const listed = async (query: string) => (await request('GET', `/v1/api-keys${query}`, { key: token })).body.items
    expect(await listed('?kind=session')).toEqual([{ ...session, lastUsedAt: NOW }])
    expect(await listed('')).toMatchObject([{ id: maker.id, kind: 'key' }])
    stopClock(secondsLater(60))
    expect(codeOf(await me(token))).toBe('api_key_expired')
  })

  it('needs no scope and no body: the name is that of the key, and the time 12 hours', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ scopes: [], userId: null })
    stopClock()
    const { status, body } = await start(key)
    expect([status, body]).toMatchObject([201, { name: 'test', expiresAt: secondsLater(12 * HOUR_SECONDS) }])
  })

  it.each([
    [undefined, 201],
    [{ expiresInSeconds: HOUR_SECONDS }, 201],
    [{ expiresInSeconds: HOUR_SECONDS + 1 }, 403],
  ])('never lasts longer than its key: %j', async (json, status) => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ expiresAt: secondsLater(HOUR_SECONDS) })
    stopClock()
    const answer = await start(key, json)
    expect(answer.status).toBe(status)
    if (status === 201) expect(answer.body.expiresAt).toBe(secondsLater(HOUR_SECONDS))
    else expect(codeOf(answer)).toBe('exceeds_own_key')
  })

  it.each([
    { expiresInSeconds: 0 },
    { expiresInSeconds: 12 * HOUR_SECONDS + 1 },
    { expiresInSeconds: 1.5 },
    { name: '' },
    { scopes: [] },
  ])('refuses %j', async (json) => {
    const { status, body } = await start(await (await Workspace.create()).addKey(), json)
    expect([status, body.error]).toEqual([400, expect.stringMatching(`^${Object.keys(json)[0]} `)])
  })

  it('is refused to a session and to a rotated key', async () => {
    const workspace = await Workspace.create()
    const { id, token } = await workspace.addKeyWithId()
    const session = (await start(token)).body
    const bySession = await start(session.token)
    expect([bySession.status, codeOf(bySession)]).toEqual([403, 'api_key_is_session'])
    await request('POST', `/v1/api-keys/${id}/rotate`, { key: token, json: {} })
    const byRotated = await start(token)
    expect([byRotated.status, codeOf(byRotated)]).toEqual([403, 'api_key_rotated'])
  })

  it('does not count for API_KEY_LIMIT', async () => {
    const key = await (await Workspace.create()).addKey()
    const options = { key, environment: { API_KEY_LIMIT: '0' } }
    expect((await request('POST', '/v1/me/sessions', options)).status).toBe(201)
  })
})

describe('a session', () => {
  it('cannot be rotated', async () => {
    const key = await (await Workspace.create()).addKey()
    const { id, token } = (await start(key)).body
    for (const caller of [key, token]) {
      const answer = await request('POST', `/v1/api-keys/${id}/rotate`, { key: caller, json: {} })
      expect([answer.status, codeOf(answer)]).toEqual([403, 'api_key_is_session'])
    }
  })

  it('leaves the keys that it created as descendants of its key', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKey()
    const maker = await workspace.addKeyWithId()
    const [session] = await sessionsOf(maker.token, 1)
    const json = { name: 'x', scopes: [] }
    const child = (await request('POST', '/v1/api-keys', { key: session?.token ?? '', json })).body
    await request('DELETE', `/v1/api-keys/${maker.id}`, { key: admin })
    expect(await isLive(child.token)).toBe(true)
    await request('DELETE', `/v1/api-keys/${maker.id}?descendants=true`, { key: admin })
    expect(await isLive(child.token)).toBe(false)
  })

  it('creates no key that outlives it', async () => {
    const key = await (await Workspace.create()).addKey()
    const session = (await start(key)).body
    const create = (json: object) =>
      request('POST', '/v1/api-keys', { key: session.token, json: { name: 'x', scopes: [], ...json } })
    expect((await create({})).body).toMatchObject({ kind: 'key', expiresAt: session.expiresAt })
    expect(codeOf(await create({ expiresAt: null }))).toBe('exceeds_own_key')
  })

  it.each<[string, (key: { id: string; token: string }, admin: string, userId: string) => unknown]>([
    ['is deleted', ({ id }, key) => request('DELETE', `/v1/api-keys/${id}`, { key })],
    ['deletes itself', ({ token }) => end(token)],
    [
      'is deleted with its descendants',
      ({ id }, key) => request('DELETE', `/v1/api-keys/${id}?descendants=true`, { key }),
    ],
    [
      'is rotated without an overlap',
      ({ id }, key) => request('POST', `/v1/api-keys/${id}/rotate`, { key, json: { overlapSeconds: 0 } }),
    ],
    ['loses its user', (_, key, userId) => request('DELETE', `/v1/users/${userId}`, { key })],
  ])('ends when its key %s', async (_, act) => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKey({ userId: null })
    const userId = await workspace.addUser()
    const maker = await workspace.addKeyWithId({ userId })
    const sessions = await sessionsOf(maker.token, 2)
    const others = [
      (await start(admin)).body,
      (await start(await workspace.addKey({ userId: await workspace.addUser() }))).body,
    ]
    expect(await areLive([...sessions, ...others])).toEqual([true, true, true, true])
    await act(maker, admin, userId)
    expect(await areLive([...sessions, ...others])).toEqual([false, false, true, true])
  })

  it('ends with the overlap when its key is rotated', async () => {
    const workspace = await Workspace.create()
    const maker = await workspace.addKeyWithId()
    stopClock()
    const [long, short] = [(await start(maker.token)).body, (await start(maker.token, { expiresInSeconds: 30 })).body]
    await request('POST', `/v1/api-keys/${maker.id}/rotate`, {
      key: maker.token,
      json: { overlapSeconds: 60 },
    })
    expect((await me(long.token)).body.apiKey.expiresAt).toBe(secondsLater(60))
    expect((await me(short.token)).body.apiKey.expiresAt).toBe(secondsLater(30))
  })

  it.each([0, 60])(
    'has an audit event of its own if a rotation ends it at once, with an overlap of %j s',
    async (overlapSeconds) => {
      const workspace = await Workspace.create()
      const { id, token } = await workspace.addKeyWithId()
      const sessions = await sessionsOf(token, 2)
      await request('POST', `/v1/api-keys/${id}/rotate`, { key: token, json: { overlapSeconds } })
      expect(await summariesOf(workspace, { types: 'api-key.rotated' })).toEqual([`api-key.rotated /v1/api-keys/${id}`])
      const ended = overlapSeconds === 0 ? sessions.map((session) => session.id) : []
      expect((await endedIn(workspace)).sort()).toEqual(ended.sort())
    },
  )

  it('has an audit event of its own when its key is deleted, and counts in the response', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKey()
    for (const [operation, path] of [
      ['deleteApiKey', ''],
      ['deleteOwnApiKey', '/v1/me/api-key'],
    ] as const) {
      const { id, token } = await workspace.addKeyWithId()
      const sessions = await sessionsOf(token, 2)
      const key = operation === 'deleteApiKey' ? admin : token
      const { body } = await request('DELETE', path || `/v1/api-keys/${id}`, { key })
      expect(body).toEqual({ deleted: true, id, descendants: 2 })
      const ended = (await endedIn(workspace)).slice(-2)
      expect(ended.sort()).toEqual(sessions.map((session) => session.id).sort())
      expect((await endedIn(workspace, 'api-key.revoked')).at(-1)).toBe(id)
    }
  })
})

describe('the twenty sessions', () => {
  it('are those of one key; one more ends the oldest, with an audit event', async () => {
    const workspace = await Workspace.create()
    const sessions = await sessionsOf(await workspace.addKey(), 22)
    expect(await areLive(sessions)).toEqual([false, false, ...Array(20).fill(true)])
    expect(await endedIn(workspace)).toEqual(sessions.slice(0, 2).map(({ id }) => id))
  })

  it.each<[string, KeyOptions]>([
    ['the same permissions', {}],
    ['no scope', { scopes: [] }],
    ['no project', { projectIds: [] }],
    ['no user', { userId: null }],
  ])('of a key with %s end none of another', async (_, options) => {
    const workspace = await Workspace.create()
    const sessions = await sessionsOf(await workspace.addKey(), 20)
    const others = await sessionsOf(await workspace.addKey(options), 20)
    expect(await areLive([...sessions, ...others])).toEqual(Array(40).fill(true))
  })

  it('do not include expired ones', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    stopClock()
    const [oldest] = await sessionsOf(key, 1)
    for (let count = 0; count < 19; count++) await start(key, { expiresInSeconds: 1 })
    stopClock(secondsLater(1))
    await sessionsOf(key, 19)
    expect(await isLive(oldest?.token ?? '')).toBe(true)
  })

  it('are never more, however many are started at once', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const answers = await Promise.all(Array.from({ length: 30 }, () => start(key)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    const live = await areLive(answers.map(({ body }) => body))
    expect(live.filter(Boolean)).toHaveLength(20)
  })

  it('are found without reading those that ended', async () => {
    const workspace = await Workspace.create()
    const { id, token: key } = await workspace.addKeyWithId()
    await sessionsOf(key, 20)
    const rowsRead = async () => {
      const use = watchedDatabase()
      expect((await request('POST', '/v1/me/sessions', { key, environment: { DB: use.DB } })).status).toBe(201)
      return use.rowsRead
    }
    const before = await rowsRead()
    for (let count = 0; count < 100; count++) {
      await workspace.addKey({
        kind: 'session',
        createdByKeyId: id,
        expiresAt: '2020-01-01T00:00:00.000Z',
      })
    }
    expect(await rowsRead()).toBe(before)
  })
})

describe('deleteOwnApiKey', () => {
  it.each<[string, KeyOptions]>([
    ['a key without scopes', { scopes: [] }],
    ['a key of every scope', { scopes: SCOPES, userId: null }],
    ['a session', { kind: 'session', expiresAt: '2999-01-01T00:00:00.000Z' }],
  ])('ends %s, and no key that it created', async (_, options) => {
    const workspace = await Workspace.create()
    const { id, token } = await workspace.addKeyWithId(options)
    const child = await workspace.addKeyWithId({ createdByKeyId: id })
    const { status, body } = await end(token)
    expect([status, body]).toEqual([200, { deleted: true, id, descendants: 0 }])
    expect(codeOf(await end(token))).toBe('api_key_revoked')
    expect(await isLive(child.token)).toBe(true)
    const admin = await workspace.addKey({ userId: null })
    const whole = await request('DELETE', `/v1/api-keys/${id}?descendants=true`, { key: admin })
    expect([whole.body.descendants, await isLive(child.token)]).toEqual([1, false])
  })

  it('ends a rotated key, and not its successor', async () => {
    const workspace = await Workspace.create()
    const { id, token } = await workspace.addKeyWithId()
    const successor = (await request('POST', `/v1/api-keys/${id}/rotate`, { key: token, json: {} })).body
    expect((await end(token)).status).toBe(200)
    expect(await areLive([{ token }, successor])).toEqual([false, true])
  })
})
