/** What a person who has signed in may do with API keys: the table of cases (docs/contract.md). */
import { describe, expect, it } from 'vitest'
import { SCOPES } from '../../src/access/scopes.ts'
import { apiKeys } from '../../src/db/schema.ts'
import { request } from '../support/api.ts'
import { admitted, ISSUER, personIn } from '../support/sign-in.ts'
import { useThreeDatabases } from '../support/three-databases.ts'
import { Workspace } from '../support/workspace.ts'

useThreeDatabases()

const KEYS = '/v1/api-keys'
const LEASE = 'environment-variables:lease'
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

async function signedInAs(role: 'viewer' | 'member' | 'admin', projectIds: string[] | null = null) {
  const workspace = await Workspace.create()
  const service = await workspace.addKey({ userId: null })
  const rule = { issuer: ISSUER, claim: 'groups', value: 'us', role, projectIds }
  expect((await request('POST', '/v1/sign-in-rules', { key: service, json: rule })).status).toBe(201)
  const person = personIn('us')
  const session = await admitted(workspace, person)
  const me = await request('GET', '/v1/me', { key: session.token })
  const { id } = me.body.apiKey as { id: string }
  const age = (minutes: number) => workspace.change(apiKeys, id, { createdAt: minutesAgo(minutes) })
  const create = (json: object, key = session.token) =>
    request('POST', KEYS, { key, json: { name: 'ci', scopes: ['projects:read'], ...json } })
  return { workspace, service, person, session, id, age, create }
}

const isLive = async (key: string) => (await request('GET', '/v1/me', { key })).status === 200

describe('a key that outlives the session', () => {
  it.each([
    // minutes since the sign-in, days of the key, and the error.
    [0, 90, undefined],
    [9, 90, undefined],
    [11, 90, 'fresh_sign_in_required'],
    [0, 91, 'exceeds_own_key'],
    [11, 91, 'exceeds_own_key'],
    [0, null, 'exceeds_own_key'],
    [11, null, 'exceeds_own_key'],
    [11, 0.1, undefined],
  ])('%i minutes after the sign-in, of %d days: %s', async (minutes, days, code) => {
    const { age, create } = await signedInAs('admin')
    await age(minutes)
    const { status, headers } = await create({ expiresAt: days === null ? null : inDays(days) })
    expect([status, headers.get('Error-Code')]).toEqual(code ? [403, code] : [201, null])
  })

  it('is rotated within ten minutes of a sign-in, too', async () => {
    const { age, create, session } = await signedInAs('admin')
    const { body } = await create({ expiresAt: inDays(30) })
    const rotate = () => request('POST', `${KEYS}/${body.id}/rotate`, { key: session.token, json: {} })
    await age(11)
    expect((await rotate()).headers.get('Error-Code')).toBe('fresh_sign_in_required')
    await age(9)
    const { status, body: successor } = await rotate()
    expect([status, await isLive(successor.token)]).toEqual([201, true])
  })

  it('is not made by a session of an API key, also of the same person, which would outlive that key', async () => {
    const { create } = await signedInAs('admin')
    const { body: key } = await create({ expiresAt: inDays(1), scopes: ['projects:read', 'api-keys:write'] })
    const { body: session } = await request('POST', '/v1/me/sessions', { key: key.token, json: {} })
    expect((await create({ expiresAt: inDays(2) }, session.token)).headers.get('Error-Code')).toBe('exceeds_own_key')
    expect((await create({ expiresAt: inDays(2) }, key.token)).headers.get('Error-Code')).toBe('exceeds_own_key')
  })

  it('is made by a person who changed the rule that admits them', async () => {
    const { workspace, person, session, create, service } = await signedInAs('admin')
    const { body: rules } = await request('GET', '/v1/sign-in-rules', { key: service })
    const path = `/v1/sign-in-rules/${rules.items[0].id}`
    const access = { role: 'admin', projectIds: [await workspace.addProject()] }
    expect((await request('PATCH', path, { key: session.token, json: access })).status).toBe(200)
    const { token } = await admitted(workspace, person)
    expect((await create({ expiresAt: inDays(90) }, token)).status).toBe(201)
  })

  it('has no more than the person, in scopes and projects', async () => {
    const workspace = await signedInAs('admin')
    const [own, other] = [crypto.randomUUID(), crypto.randomUUID()]
    for (const id of [own, other])
      await request('PUT', `/v1/projects/${id}`, { key: workspace.service, json: { name: 'P' } })
    const { body: identities } = await request('GET', '/v1/identities', { key: workspace.service })
    const access = { role: 'admin', projectIds: [own] }
    const path = `/v1/identities/${identities.items[0].id}`
    expect((await request('PATCH', path, { key: workspace.service, json: access })).status).toBe(200)
    const { token } = await admitted(workspace.workspace, workspace.person)
    const expiresAt = inDays(90)
    const codes = []
    for (const json of [{ projectIds: [own] }, { projectIds: [other] }, { projectIds: null }, { scopes: [LEASE] }])
      codes.push((await workspace.create({ expiresAt, ...json }, token)).headers.get('Error-Code'))
    // The lease has the projects of the session.
    expect(codes).toEqual([null, 'exceeds_own_key', 'exceeds_own_key', null])
  })
})

type Ending = readonly [
  what: string,
  method: string,
  pathOf: (identity: string, rule: string, session: string) => { readonly path: string; readonly json?: object },
]

describe('a key that a person made after a sign-in', () => {
  it('survives the end of the session', async () => {
    const { create, session, id, service } = await signedInAs('admin')
    const { body } = await create({ expiresAt: inDays(90) })
    await request('DELETE', `${KEYS}/${id}`, { key: service })
    expect([await isLive(session.token), await isLive(body.token)]).toEqual([false, true])
  })

  it.each<Ending>([
    ['the person is blocked', 'PATCH', (identity) => ({ path: `/v1/identities/${identity}`, json: { blocked: true } })],
    ['the access is removed', 'DELETE', (identity) => ({ path: `/v1/identities/${identity}` })],
    [
      'the role is changed',
      'PATCH',
      (identity) => ({ path: `/v1/identities/${identity}`, json: { role: 'viewer', projectIds: null } }),
    ],
    ['the rule is deleted', 'DELETE', (_, rule) => ({ path: `/v1/sign-in-rules/${rule}` })],
    [
      'the session is deleted with its descendants',
      'DELETE',
      (_, __, session) => ({ path: `${KEYS}/${session}?descendants=true` }),
    ],
  ])('ends when %s', async (_what, method, pathOf) => {
    const { create, service, id } = await signedInAs('admin')
    const { body } = await create({ expiresAt: inDays(90), userId: null })
    const { body: identities } = await request('GET', '/v1/identities', { key: service })
    const { body: rules } = await request('GET', '/v1/sign-in-rules', { key: service })
    const { path, json } = pathOf(identities.items[0].id, rules.items[0].id, id)
    const { status } = await request(method, path, { key: service, ...(json && { json }) })
    expect([status, await isLive(body.token)]).toEqual([200, false])
  })
})

describe('an admin', () => {
  it.each([
    ['admin', 0, { scopes: [LEASE], projectIds: 'named' }, undefined],
    ['admin', 0, { scopes: [LEASE], projectIds: null }, 'exceeds_own_key'],
    ['admin', 11, { scopes: [LEASE], projectIds: 'named' }, 'fresh_sign_in_required'],
    ['admin', 0, { userId: null }, undefined],
    ['admin', 11, { userId: null }, 'fresh_sign_in_required'],
    ['admin', 0, { userId: 'other' }, 'exceeds_own_key'],
  ] as const)('as %s, %i minutes after the sign-in, makes %o: %s', async (role, minutes, given, code) => {
    const { workspace, age, create, service } = await signedInAs(role)
    const projectId = crypto.randomUUID()
    await request('PUT', `/v1/projects/${projectId}`, { key: service, json: { name: 'P' } })
    await age(minutes)
    const { status, headers } = await create({
      ...given,
      expiresAt: inDays(1),
      ...('projectIds' in given && given.projectIds && { projectIds: [projectId] }),
      ...('userId' in given && given.userId && { userId: workspace.userId }),
    })
    expect([status, headers.get('Error-Code')]).toEqual(code ? [403, code] : [201, null])
  })

  it('keeps a key that leases when they sign in again', async () => {
    const { workspace, person, create, service } = await signedInAs('admin')
    const projectId = crypto.randomUUID()
    await request('PUT', `/v1/projects/${projectId}`, { key: service, json: { name: 'P' } })
    const { body } = await create({ scopes: [LEASE], projectIds: [projectId], expiresAt: inDays(90) })
    await admitted(workspace, person)
    expect(await isLive(body.token)).toBe(true)
  })

  it('sees and revokes the keys of everybody; another person only their own', async () => {
    const { workspace, session, age } = await signedInAs('admin')
    await age(60)
    const { id } = await workspace.addKeyWithId({ scopes: ['projects:read'] })
    const listed = await request('GET', KEYS, { key: session.token })
    expect(listed.body.items.map((key: { id: string }) => key.id)).toContain(id)
    expect((await request('DELETE', `${KEYS}/${id}`, { key: session.token })).status).toBe(200)
    // Whoever rotates a key gets its token.
    const { id: other } = await workspace.addKeyWithId({ scopes: ['projects:read'], expiresAt: inDays(1) })
    const rotated = await request('POST', `${KEYS}/${other}/rotate`, { key: session.token, json: {} })
    expect(rotated.headers.get('Error-Code')).toBe('api_key_forbidden')
    const viewer = await signedInAs('viewer')
    const { id: theirs } = await viewer.workspace.addKeyWithId({ scopes: SCOPES })
    const own = await request('GET', KEYS, { key: viewer.session.token })
    expect(own.body.items.map((key: { id: string }) => key.id)).not.toContain(theirs)
  })
})
