/** The keys of connected apps. console/test has the way by which apps get them. */
import { createExecutionContext } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { apiKeys, identities } from '../../../src/db/schema.ts'
import { connectApp } from '../../../src/sign-in/connect-app.ts'
import type { App } from '../../../src/sign-in/types.ts'
import { request } from '../../support/api.ts'
import { deployed, env } from '../../support/env.ts'
import { summariesOf } from '../../support/events.ts'
import { admitted, ISSUER, personIn } from '../../support/sign-in.ts'
import { tick } from '../../support/tick.ts'
import { type KeyOptions, Workspace } from '../../support/workspace.ts'

const DAY_MS = 86_400_000

const app: App = {
  clientId: 'client',
  clientName: 'Editor',
  redirectHost: 'app.example.com',
  bundles: ['skills'],
  projectIds: null,
  days: 90,
  consent: null,
  address: '192.0.2.1',
}

function connect(session: string, changes: Partial<App> = {}, environment: Partial<Cloudflare.Env> = {}) {
  return connectApp(deployed({ ...env, ...environment }), createExecutionContext(), session, { ...app, ...changes })
}

/** A person who is signed in with a key, or by a rule that the key made. */
async function newPerson(way: 'key' | 'rule', options: KeyOptions = {}) {
  const workspace = await Workspace.create()
  const maker = await workspace.addKeyWithId(options)
  const person = personIn('team')
  if (way === 'rule') {
    const rule = { issuer: ISSUER, claim: 'groups', value: 'team', role: 'member' }
    await request('POST', '/v1/sign-in-rules', { key: maker.token, json: rule })
  }
  const signInAgain = () => admitted(workspace, person)
  const session =
    way === 'rule'
      ? (await signInAgain()).token
      : (await request('POST', '/v1/me/sessions', { key: maker.token, json: {} })).body.token
  const grants = async () => (await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'grant')
  return { workspace, maker, session, signInAgain, grants }
}

const daysUntil = (time: unknown) => Math.round((Date.parse(String(time)) - Date.now()) / DAY_MS)

describe('the end of a grant', () => {
  it('is that of the key that the person signed in with, if that is earlier', async () => {
    const soon = new Date(Date.now() + 5 * DAY_MS).toISOString()
    const { session, grants } = await newPerson('key', { expiresAt: soon })
    await connect(session)
    expect(await grants()).toMatchObject([{ expiresAt: soon, grantEndsAt: soon, identityId: null }])
  })

  it.each([
    [30, 90, undefined],
    [10, 10, undefined],
    [7, 90, '7'],
  ])(
    'is %i days after the sign-in of a person who chose %i, with GRANT_IDLE_DAYS %s',
    async (days, chosen, setting) => {
      const { session, grants } = await newPerson('rule')
      await connect(session, { days: chosen }, setting === undefined ? {} : { GRANT_IDLE_DAYS: setting })
      const [grant] = await grants()
      expect(grant).toMatchObject({
        identityId: expect.any(String),
        expiresAt: expect.stringMatching(/^\d{4}-.*T.*\.\d{3}Z$/),
      })
      expect([daysUntil(grant?.expiresAt), daysUntil(grant?.grantEndsAt)]).toEqual([days, chosen])
    },
  )

  it('moves on with each sign-in, to what the person chose at most, and not once it has come', async () => {
    const { workspace, session, signInAgain, grants } = await newPerson('rule')
    for (const days of [90, 40, 90, 90]) await connect(session, { days })
    const ids = (await grants()).map(({ id }) => String(id))
    const soon = new Date(Date.now() + DAY_MS).toISOString()
    for (const id of ids) await workspace.change(apiKeys, id, { expiresAt: soon })
    await workspace.change(apiKeys, ids[1] ?? '', { grantEndsAt: new Date(Date.now() + 10 * DAY_MS).toISOString() })
    await workspace.change(apiKeys, ids[2] ?? '', { expiresAt: '2020-01-01T00:00:00.000Z' })
    await workspace.revokeKey(ids[3] ?? '')
    await signInAgain()
    const ends = new Map((await grants()).map(({ id, expiresAt }) => [id, daysUntil(expiresAt)]))
    expect(ids.map((id) => Math.max(Number(ends.get(id)), -1))).toEqual([30, 10, -1, 1])
  })

  it('follows the last sign-in, and not the time of the session', async () => {
    const { workspace, session, grants } = await newPerson('rule')
    const [identity] = await workspace.dump('identities')
    const lastSignInAt = new Date(Date.now() - 20 * DAY_MS).toISOString()
    await workspace.change(identities, String(identity?.id), { lastSignInAt })
    await connect(session)
    expect(daysUntil((await grants())[0]?.expiresAt)).toBe(10)
  })
})

describe('with the key that made the session', () => {
  it.each([
    ['deleted', 'key', true],
    ['deleted', 'rule', false],
    ['rotated', 'key', true],
    ['rotated', 'rule', false],
  ] as const)('%s, a grant of who signed in by that %s ends: %s', async (what, way, ends) => {
    const { maker, session, grants } = await newPerson(way)
    const connected = await connect(session)
    const token = 'token' in connected ? connected.token : ''
    expect((await request('GET', '/v1/me', { key: token })).status).toBe(200)
    if (what === 'deleted') await request('DELETE', `/v1/api-keys/${maker.id}`, { key: maker.token })
    else {
      const rotation = { key: maker.token, json: { overlapSeconds: 0 } }
      await request('POST', `/v1/api-keys/${maker.id}/rotate`, rotation)
    }
    expect((await request('GET', '/v1/me', { key: token })).status).toBe(ends ? 401 : 200)
    expect(await grants()).toHaveLength(1)
  })

  it('deleted with its descendants, every grant ends', async () => {
    const { maker, session } = await newPerson('rule')
    const connected = await connect(session)
    await request('DELETE', `/v1/api-keys/${maker.id}?descendants=true`, { key: maker.token })
    expect((await request('GET', '/v1/me', { key: 'token' in connected ? connected.token : '' })).status).toBe(401)
  })
})

describe('the apps of a person whom a rule admitted', () => {
  const isLive = async (key: string) => (await request('GET', '/v1/me', { key })).status === 200
  const signOut = (key: string) => request('DELETE', '/v1/me/api-key', { key })

  /** Signed in twice, the second time by a rule that the first session made, and has connected an app then. */
  async function newAdmin() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    const rule = { issuer: ISSUER, claim: 'groups', role: 'admin' }
    await request('POST', '/v1/sign-in-rules', { key, json: { ...rule, value: 'admins' } })
    const person = personIn('admins')
    const first = await admitted(workspace, person)
    await request('POST', '/v1/sign-in-rules', { key: first.token, json: { ...rule, value: 'team' } })
    const second = await admitted(workspace, { ...person, claims: [['groups', 'team']] })
    const rows = await workspace.dump('apiKeys')
    const idOf = async ({ token }: { token: string }) =>
      String((await request('GET', '/v1/me', { key: token })).body.apiKey.id)
    const [firstId, secondId] = [await idOf(first), await idOf(second)]
    expect(rows.find(({ id }) => id === secondId)?.createdByKeyId).toBe(firstId)
    const connected = await connect(second.token)
    const app = 'token' in connected ? connected.token : ''
    return { workspace, key, first, second, firstId, secondId, app }
  }

  it('outlive the sessions that made the rule and the app', async () => {
    const { workspace, first, second, app } = await newAdmin()
    const [grant] = (await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'grant')
    expect(daysUntil(grant?.expiresAt)).toBe(30)
    await signOut(first.token)
    expect([await isLive(second.token), await isLive(app)]).toEqual([true, true])
    await signOut(second.token)
    expect(await isLive(app)).toBe(true)
  })

  it.each(['first', 'second'] as const)('end with the descendants of the %s session', async (which) => {
    const state = await newAdmin()
    await signOut(state[which].token)
    const { body } = await request('DELETE', `/v1/api-keys/${state[`${which}Id`]}?descendants=true`, { key: state.key })
    expect([body.descendants, await isLive(state.app)]).toEqual([which === 'first' ? 2 : 1, false])
  })

  it('are descendants of the key that made the rule once the session is removed', async () => {
    const { workspace, maker, session, grants } = await newPerson('rule')
    await connect(session)
    await signOut(session)
    await tick(env, new Date(Date.now() + 2 * DAY_MS))
    expect(await grants()).toMatchObject([{ createdByKeyId: maker.id, revokedAt: null }])
    await request('POST', `/v1/api-keys/${maker.id}/rotate`, { key: maker.token, json: { overlapSeconds: 0 } })
    expect(await grants()).toMatchObject([{ revokedAt: null, expiresAt: expect.stringMatching(/^\d/) }])
    expect(daysUntil((await grants())[0]?.expiresAt)).toBe(30)
    const key = await workspace.addKey()
    await request('DELETE', `/v1/api-keys/${maker.id}?descendants=true`, { key })
    expect(await grants()).toMatchObject([{ revokedAt: expect.any(String) }])
  })
})

describe('a grant', () => {
  it('makes no session and no grant, is not rotated, and can end itself', async () => {
    const { maker, session } = await newPerson('key')
    const connected = await connect(session)
    const { token: key, id } = 'token' in connected ? connected : { token: '', id: '' }
    const codes = await Promise.all([
      request('POST', '/v1/me/sessions', { key, json: {} }),
      request('POST', `/v1/api-keys/${id}/rotate`, { key: maker.token, json: { overlapSeconds: 0 } }),
    ])
    expect(codes.map(({ headers }) => headers.get('Error-Code'))).toEqual(['api_key_is_session', 'api_key_is_session'])
    expect(await connect(key)).toMatchObject({ status: 403, code: 'api_key_forbidden' })
    expect((await request('DELETE', '/v1/me/api-key', { key })).status).toBe(200)
    expect(await connect(session, { days: 91 })).toMatchObject({ status: 400, code: 'invalid_input' })
    expect(await connect(session, { bundles: ['everything'] })).toMatchObject({ status: 400 })
    const many = Array.from({ length: 101 }, (_, index) => `project-${index}`)
    for (const projectIds of [['a', 'a'], many])
      expect(await connect(session, { projectIds })).toMatchObject({ status: 400 })
  })

  it('of a session that has ended is not made', async () => {
    const { workspace, session, grants } = await newPerson('key')
    const [row] = (await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'session')
    await workspace.revokeKey(String(row?.id))
    expect(await connect(session)).toMatchObject({ status: 401, code: 'api_key_revoked' })
    expect(await connect('nonsense')).toMatchObject({ status: 401, code: 'api_key_invalid' })
    expect(await grants()).toEqual([])
  })
})

describe('deleteOwnApp', () => {
  const disconnect = (key: string, id: string) => request('DELETE', `/v1/me/apps/${id}`, { key })
  const connected = async (session: string, changes: Partial<App> = {}) => {
    const result = await connect(session, changes)
    if (!('token' in result)) throw new Error(result.error)
    return result
  }
  const codeOf = async (response: ReturnType<typeof disconnect>) => {
    const { status, headers } = await response
    return [status, headers.get('Error-Code')]
  }

  it.each(['key', 'rule'] as const)('ends an app of who signed in by a %s, in any sign-in of theirs', async (way) => {
    const { workspace, maker, session, signInAgain } = await newPerson(way)
    const again =
      way === 'rule'
        ? (await signInAgain()).token
        : (await request('POST', '/v1/me/sessions', { key: maker.token, json: {} })).body.token
    const [app, other] = [await connected(session), await connected(session)]
    const { status, body } = await disconnect(again, app.id)
    expect([status, body]).toEqual([200, { deleted: true, id: app.id }])
    expect(await codeOf(request('GET', '/v1/me', { key: app.token }))).toEqual([401, 'api_key_revoked'])
    expect((await request('GET', '/v1/me', { key: other.token })).status).toBe(200)
    expect(await summariesOf(workspace, { types: 'api-key.app-disconnected' })).toEqual([
      `api-key.app-disconnected /v1/api-keys/${app.id}`,
    ])
    expect(await codeOf(disconnect(again, app.id))).toEqual([404, 'api_key_not_found'])
  })

  it('ends an app for the key that the person signed in with, and for the keys that they made', async () => {
    const byKey = await newPerson('key')
    expect((await disconnect(byKey.maker.token, (await connected(byKey.session)).id)).status).toBe(200)
    const byRule = await newPerson('rule')
    const [identity] = await byRule.workspace.dump('identities')
    const { userId, id } = identity as { userId: string; id: string }
    const own = await byRule.workspace.addKey({ scopes: [], userId, identityId: id })
    expect((await disconnect(own, (await connected(byRule.session)).id)).status).toBe(200)
  })

  it('ends no app of another person or of another key, also for the key that made the rule', async () => {
    const { workspace, maker, session, signInAgain, grants } = await newPerson('rule', { userId: null })
    const [identity] = await workspace.dump('identities')
    const { userId } = identity as { userId: string }
    const byKey = await workspace.addKeyWithId({ userId })
    const started = await request('POST', '/v1/me/sessions', { key: byKey.token, json: {} })
    const apps = [(await connected(session)).id, (await connected(started.body.token)).id]
    const colleague = (await admitted(workspace, personIn('team'))).token
    // Each with the app of the person, and with the one that was connected with a key.
    const callers = [
      ['a colleague', colleague, 403, 403],
      ['the key of the rule', maker.token, 403, 403],
      ['a key that acts as no user', await workspace.addKey({ userId: null }), 403, 403],
      ['another key of the user', await workspace.addKey({ userId }), 403, 403],
      ['a key that this key made', await workspace.addKey({ userId, createdByKeyId: byKey.id }), 403, 403],
      ['the person', (await signInAgain()).token, 200, 403],
      ['the session of the key', started.body.token, 404, 200],
    ] as const
    for (const [name, key, ...statuses] of callers) {
      const found = []
      for (const id of apps) found.push((await disconnect(key, id)).status)
      expect([name, found]).toEqual([name, statuses])
    }
    expect((await grants()).every(({ revokedAt }) => revokedAt !== null)).toBe(true)
  })

  it('ends no session and no key', async () => {
    const { workspace, maker, session } = await newPerson('key')
    const sessions = (await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'session')
    for (const id of [maker.id, String(sessions[0]?.id)]) {
      expect(await codeOf(disconnect(session, id))).toEqual([404, 'api_key_not_found'])
    }
    expect((await request('GET', '/v1/me', { key: session })).status).toBe(200)
  })

  it('is nothing that a rotated key can do', async () => {
    const { maker, session } = await newPerson('key')
    const { id } = await connected(session)
    await request('POST', `/v1/api-keys/${maker.id}/rotate`, { key: maker.token, json: { overlapSeconds: 60 } })
    expect(await codeOf(disconnect(maker.token, id))).toEqual([403, 'api_key_rotated'])
    expect((await disconnect(session, id)).status).toBe(200)
  })
})
