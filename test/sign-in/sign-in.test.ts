/** What a sign-in gives a person: by the rules, by a role of their own, and what it writes. */
import { describe, expect, it } from 'vitest'
import { ROLES } from '../../src/access/roles.ts'
import { requireDatabase } from '../../src/db/database.ts'
import { apiKeys, type identities } from '../../src/db/schema.ts'
import { request } from '../support/api.ts'
import { failingDatabase, watchedDatabase } from '../support/bindings.ts'
import { databaseNumber, env } from '../support/env.ts'
import { eventsOf } from '../support/events.ts'
import { admitted, ISSUER, newPerson, personIn, signIn } from '../support/sign-in.ts'
import { dumpStores } from '../support/stores.ts'
import { threeDatabases, threeForRequests, useThreeDatabases } from '../support/three-databases.ts'
import { type KeyOptions, Workspace } from '../support/workspace.ts'

useThreeDatabases()

const RULES = '/v1/sign-in-rules'
const IDENTITIES = '/v1/identities'

async function newWorkspace() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey({ userId: null })
  const addRule = async (rule: object) => {
    const json = { issuer: ISSUER, claim: 'groups', value: 'engineers', role: 'member', ...rule }
    const { status, body } = await request('POST', RULES, { key, json })
    expect([status, body]).toEqual([201, expect.anything()])
    return body as { id: string }
  }
  return { workspace, key, addRule }
}

describe('a sign-in', () => {
  it('gives a session of the role, and creates the user once', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    const rule = await addRule({})
    const person = newPerson({ name: 'Grace Hopper', email: 'grace@example.com', claims: [['groups', 'engineers']] })
    const first = await admitted(workspace, person)
    expect(first).toMatchObject({ scopes: ROLES.member, isFirst: true })
    const me = await request('GET', '/v1/me', { key: first.token })
    expect(me.body).toMatchObject({
      user: { id: first.userId, name: 'Grace Hopper' },
      apiKey: { kind: 'session', scopes: ROLES.member, projectIds: null, expiresAt: first.expiresAt },
    })
    const second = await admitted(workspace, person)
    expect(second).toMatchObject({ userId: first.userId, isFirst: false })
    expect(second.token).not.toBe(first.token)
    const { body } = await request('GET', IDENTITIES, { key })
    expect(body).toMatchObject({
      items: [
        {
          issuer: ISSUER,
          subject: person.subject,
          userId: first.userId,
          userName: 'Grace Hopper',
          email: 'grace@example.com',
          role: 'member',
          projectIds: null,
          ruleIds: [rule.id],
          blockedAt: null,
        },
      ],
      nextCursor: null,
    })
    // Both are live.
    expect((await request('GET', '/v1/me', { key: first.token })).status).toBe(200)
  })

  it('refuses whom no rule admits, and writes nothing', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    expect(await signIn(workspace, personIn('engineers'))).toEqual({ refusal: 'not_admitted' })
    await addRule({})
    expect(await signIn(workspace, personIn('Engineers', 'sales'))).toEqual({ refusal: 'not_admitted' })
    expect(await signIn(workspace, { ...personIn('engineers'), issuer: 'https://other.example' })).toEqual({
      refusal: 'not_admitted',
    })
    expect((await request('GET', IDENTITIES, { key })).body).toMatchObject({ items: [] })
  })
})

describe('simultaneous first sign-ins of one person', () => {
  it('make one identity and one user', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    await addRule({})
    const person = personIn('engineers')
    const results = await Promise.all(Array.from({ length: 5 }, () => admitted(workspace, person)))
    expect(new Set(results.map(({ userId }) => userId)).size).toBe(1)
    expect(results.filter(({ isFirst }) => isFirst)).toHaveLength(1)
    expect((await request('GET', IDENTITIES, { key })).body.items).toHaveLength(1)
    const { body } = await request('GET', '/v1/users', { key })
    expect(body.items.map(({ id }: { id: string }) => id).sort()).toEqual([workspace.userId, results[0]?.userId].sort())
  })
})

describe('another person', () => {
  it('with the same e-mail address or subject at another issuer is another user', async () => {
    const { workspace, addRule } = await newWorkspace()
    const other = 'https://other.example'
    await addRule({ claim: 'iss', value: ISSUER })
    await addRule({ issuer: other, claim: 'iss', value: other, role: 'admin' })
    const ada = newPerson({ email: 'ada@example.com', claims: [['email', 'ada@example.com']] })
    const first = await admitted(workspace, ada)
    const impostor = await admitted(workspace, { ...ada, issuer: other })
    expect([impostor.isFirst, impostor.userId]).toEqual([true, expect.not.stringMatching(first.userId)])
    expect(first.scopes).toEqual(ROLES.member)
    expect((await request('GET', '/v1/me', { key: first.token })).body.user.id).toBe(first.userId)
  })

  it('with the name or the address of an existing user is another user', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    await addRule({})
    await request('PUT', '/v1/users/ada@example.com', { key, json: { name: 'Ada' } })
    const { userId } = await admitted(
      workspace,
      newPerson({ name: 'Ada', email: 'ada@example.com', claims: [['groups', 'engineers']] }),
    )
    expect(['ada@example.com', workspace.userId]).not.toContain(userId)
  })

  it('of another organization is not known here', async () => {
    const [here, there] = [await newWorkspace(), await newWorkspace()]
    await here.addRule({})
    const person = personIn('engineers')
    await admitted(here.workspace, person)
    expect(await signIn(there.workspace, person)).toEqual({ refusal: 'not_admitted' })
    await there.addRule({ role: 'viewer' })
    const second = await admitted(there.workspace, person)
    expect([second.isFirst, second.scopes]).toEqual([true, ROLES.viewer])
  })
})

describe('a refusal', () => {
  it('says that there is no such organization', async () => {
    for (const organizationId of [crypto.randomUUID(), 'nonsense', ''])
      expect(await signIn({ organizationId }, personIn('engineers'))).toEqual({ refusal: 'organization_unavailable' })
  })

  it('says that the organization is suspended, and writes nothing', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    await addRule({})
    const person = personIn('engineers')
    await admitted(workspace, person)
    await env.DB.prepare(`INSERT INTO "halts" ("organizationId", "kind") VALUES (?, 'suspended')`)
      .bind(workspace.organizationId)
      .run()
    const before = await dumpStores()
    expect(await signIn(workspace, person)).toEqual({ refusal: 'organization_unavailable' })
    expect(await signIn(workspace, personIn('engineers'))).toEqual({ refusal: 'organization_unavailable' })
    expect(await signIn(workspace, personIn('others'))).toEqual({ refusal: 'organization_unavailable' })
    expect(await dumpStores()).toEqual(before)
    await env.DB.prepare(`DELETE FROM "halts" WHERE "organizationId" = ?`).bind(workspace.organizationId).run()
    await admitted(workspace, person)
    expect((await request('GET', IDENTITIES, { key })).body.items).toHaveLength(1)
  })

  it('says that the organization has the maximum number of users', async () => {
    const { workspace, addRule } = await newWorkspace()
    await addRule({})
    const known = personIn('engineers')
    await admitted(workspace, known, { USER_LIMIT: '2' })
    expect(await signIn(workspace, personIn('engineers'), { USER_LIMIT: '2' })).toEqual({ refusal: 'user_quota' })
    expect(await signIn(workspace, personIn('sales'), { USER_LIMIT: '2' })).toEqual({ refusal: 'not_admitted' })
    await admitted(workspace, known, { USER_LIMIT: '2' })
  })

  it('says that the person is blocked, until they are unblocked', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    await addRule({})
    const person = personIn('engineers')
    const { token } = await admitted(workspace, person)
    const identityId = (await request('GET', '/v1/me', { key: token })).body.apiKey.identityId
    const path = `${IDENTITIES}/${identityId}`
    await request('PATCH', path, { key, json: { blocked: true } })
    expect((await request('GET', '/v1/me', { key: token })).headers.get('Error-Code')).toBe('api_key_revoked')
    expect(await signIn(workspace, person)).toEqual({ refusal: 'blocked' })
    const { body } = await request('PATCH', path, { key, json: { blocked: false } })
    expect(body.blockedAt).toBeNull()
    await admitted(workspace, person)
  })
})

describe('a blocked person', () => {
  async function newBlocked() {
    const { workspace, key, addRule } = await newWorkspace()
    await addRule({})
    const person = personIn('engineers')
    const { token, userId } = await admitted(workspace, person)
    const path = `${IDENTITIES}/${(await request('GET', '/v1/me', { key: token })).body.apiKey.identityId}`
    await request('PATCH', path, { key, json: { blocked: true } })
    return { workspace, key, person, userId, path }
  }

  it('stays so when the user is deleted, and can sign in once both are back', async () => {
    const { workspace, key, person, userId, path } = await newBlocked()
    await request('DELETE', `/v1/users/${userId}`, { key })
    expect(await signIn(workspace, person)).toEqual({ refusal: 'blocked' })
    const { body } = await request('GET', path, { key })
    expect([body.userName, body.blockedAt]).toEqual([person.subject, expect.any(String)])
    const refused = await request('PATCH', path, { key, json: { blocked: false } })
    expect([refused.status, refused.headers.get('Error-Code')]).toEqual([404, 'user_not_found'])
    const { items } = (await request('GET', '/v1/deletions', { key })).body
    await request('POST', `/v1/deletions/${items[0].id}/restore`, { key })
    expect((await request('PATCH', path, { key, json: { blocked: false } })).status).toBe(200)
    expect((await admitted(workspace, person)).userId).toBe(userId)
  })

  it('is deleted only by a key that may unblock them', async () => {
    const { workspace, key, person, userId, path } = await newBlocked()
    const weak = await workspace.addKey({ userId: null, scopes: ['sign-in:write'] })
    const refused = await request('DELETE', path, { key: weak })
    expect([refused.status, refused.headers.get('Error-Code')]).toEqual([403, 'exceeds_own_key'])
    expect(await signIn(workspace, person)).toEqual({ refusal: 'blocked' })
    expect((await request('DELETE', path, { key })).status).toBe(200)
    expect((await admitted(workspace, person)).userId).not.toBe(userId)
  })
})

describe('the maker of a rule or a role', () => {
  it('gives no role to themselves', async () => {
    const { workspace, addRule } = await newWorkspace()
    await addRule({ role: 'admin' })
    const { token: key } = await admitted(workspace, personIn('engineers'))
    const { identityId } = (await request('GET', '/v1/me', { key })).body.apiKey
    const path = `${IDENTITIES}/${identityId}`
    const refused = await request('PATCH', path, { key, json: { role: 'viewer' } })
    expect([refused.status, refused.headers.get('Error-Code')]).toEqual([403, 'api_key_forbidden'])
    const other = `${IDENTITIES}/${await workspace.addIdentity()}`
    expect((await request('PATCH', other, { key, json: { role: 'viewer' } })).status).toBe(200)
    expect((await request('PATCH', path, { key, json: { role: null } })).status).toBe(200)
  })

  it('gives away no scope that its key lacks', async () => {
    const { workspace, addRule } = await newWorkspace()
    const { id } = await addRule({ role: 'admin' })
    const identityId = await workspace.addIdentity({ role: 'admin', ruleIds: null })
    const key = await workspace.addKey({ userId: null, scopes: [...ROLES.member, 'sign-in:write'] })
    const rule = { issuer: ISSUER, claim: 'groups', value: 'x' }
    const attempts = [
      ['POST', RULES, { ...rule, role: 'admin' }, 403],
      ['PATCH', `${RULES}/${id}`, { value: 'everyone' }, 403],
      ['PATCH', `${RULES}/${id}`, { projectIds: null }, 403],
      ['PATCH', `${IDENTITIES}/${identityId}`, { role: 'admin' }, 403],
      ['PATCH', `${IDENTITIES}/${identityId}`, { blocked: false }, 403],
      ['POST', RULES, { ...rule, role: 'member' }, 201],
      ['PATCH', `${IDENTITIES}/${identityId}`, { blocked: true }, 200],
      ['PATCH', `${IDENTITIES}/${identityId}`, { role: 'member' }, 200],
      ['PATCH', `${RULES}/${id}`, { role: 'viewer' }, 200],
      ['PATCH', `${RULES}/${id}`, { role: 'admin' }, 403],
      ['DELETE', `${RULES}/${id}`, undefined, 200],
    ] as const
    for (const [method, path, json, expected] of attempts) {
      const { status, headers } = await request(method, path, { key, ...(json && { json }) })
      expect([method, path, status, headers.get('Error-Code')]).toEqual([
        method,
        path,
        expected,
        expected === 403 ? 'exceeds_own_key' : null,
      ])
    }
  })

  it('has to use a key that was not rotated', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    const { id } = await addRule({})
    const rotated = await workspace.addKeyWithId({ userId: null })
    await request('POST', `/v1/api-keys/${rotated.id}/rotate`, { key, json: {} })
    for (const [method, path, json] of [
      ['POST', RULES, { issuer: ISSUER, claim: 'groups', value: 'x', role: 'viewer' }],
      ['PATCH', `${RULES}/${id}`, { role: 'viewer' }],
      ['DELETE', `${RULES}/${id}`, undefined],
      ['PATCH', `${IDENTITIES}/${await workspace.addIdentity()}`, { blocked: true }],
      ['DELETE', `${IDENTITIES}/${await workspace.addIdentity()}`, undefined],
    ] as const) {
      const { headers } = await request(method, path, { key: rotated.token, ...(json && { json }) })
      expect(headers.get('Error-Code')).toBe('api_key_rotated')
    }
  })

  it('ends with its descendants: the rules, the roles, and the keys of everyone whom they admitted', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    const kept = await addRule({ value: 'kept' })
    const leaked = await workspace.addKeyWithId({ userId: null })
    const asLeaked = (json: object) =>
      request('POST', RULES, { key: leaked.token, json: { issuer: ISSUER, claim: 'groups', role: 'member', ...json } })
    await asLeaked({ value: 'both' })
    await asLeaked({ value: 'leaked', role: 'admin' })
    // Admitted by two rules, of which the older one stays.
    const [both, admin, other] = [personIn('kept', 'both'), personIn('leaked'), personIn('kept')]
    const [ofBoth, ofAdmin, ofOther] = [
      await admitted(workspace, both),
      await admitted(workspace, admin),
      await admitted(workspace, other),
    ]
    // The person makes a key, and with it a rule that admits somebody else, who is given a role.
    const { body: made } = await request('POST', '/v1/api-keys', {
      key: ofAdmin.token,
      json: { name: 'made', scopes: ROLES.admin, expiresAt: ofAdmin.expiresAt },
    })
    await request('POST', RULES, {
      key: made.token,
      json: { issuer: ISSUER, claim: 'groups', value: 'friends', role: 'admin' },
    })
    const ofFriend = await admitted(workspace, personIn('friends'))
    const given = personIn('kept')
    const { token } = await admitted(workspace, given)
    const { identityId } = (await request('GET', '/v1/me', { key: token })).body.apiKey
    await request('PATCH', `${IDENTITIES}/${identityId}`, { key: ofFriend.token, json: { role: 'admin' } })
    const ofGiven = await admitted(workspace, given)
    expect(ofGiven.scopes).toEqual(ROLES.admin)

    const path = `/v1/api-keys/${leaked.id}?descendants=true`
    const { body } = await request('DELETE', path, { key })
    expect(body.descendants).toBe(5)
    const states = [ofBoth, ofAdmin, made, ofFriend, ofGiven, ofOther].map(async ({ token }) => {
      const { status } = await request('GET', '/v1/me', { key: token })
      return status
    })
    expect(await Promise.all(states)).toEqual([401, 401, 401, 401, 401, 200])
    const { body: rules } = await request('GET', RULES, { key })
    expect(rules.items.map(({ id }: { id: string }) => id)).toEqual([kept.id])
    // The role that was given, and its end.
    expect((await eventsOf(workspace, { types: 'identity.updated' })).map(({ resource }) => resource.id)).toEqual([
      identityId,
      identityId,
    ])
    expect(await signIn(workspace, admin)).toEqual({ refusal: 'not_admitted' })
    expect(await signIn(workspace, personIn('friends'))).toEqual({ refusal: 'not_admitted' })
    // The rules decide again.
    expect((await admitted(workspace, given)).scopes).toEqual(ROLES.member)
    await admitted(workspace, both)
  })

  it.each(['suspendedAt', 'movedTo'] as const)('keeps the rules and the roles if the caller has %s', async (column) => {
    const { workspace, key } = await newWorkspace()
    const [caller, maker] = [await workspace.addKeyWithId({ userId: null }), await workspace.addKeyWithId()]
    const rule = await workspace.addSignInRule({ createdByKeyId: maker.id })
    const identity = await workspace.addIdentity({ roleByKeyId: maker.id, ruleIds: null })
    await workspace.revokeKey(maker.id)
    await workspace.change(apiKeys, caller.id, column === 'movedTo' ? { movedTo: 7 } : { suspendedAt: '2026-01-01' })
    const { status } = await request('DELETE', `/v1/api-keys/${maker.id}?descendants=true`, { key: caller.token })
    expect(status).toBeGreaterThanOrEqual(400)
    expect((await request('GET', `${RULES}/${rule}`, { key })).status).toBe(200)
    expect((await request('GET', `${IDENTITIES}/${identity}`, { key })).body.ruleIds).toBeNull()
  })

  it('leaves the people signed in when its key is deleted alone, or rotated', async () => {
    const { workspace, key } = await newWorkspace()
    const maker = await workspace.addKeyWithId({ userId: null })
    await request('POST', RULES, {
      key: maker.token,
      json: { issuer: ISSUER, claim: 'groups', value: 'engineers', role: 'member' },
    })
    const { token } = await admitted(workspace, personIn('engineers'))
    await request('POST', `/v1/api-keys/${maker.id}/rotate`, { key, json: { overlapSeconds: 0 } })
    expect((await request('GET', '/v1/me', { key: token })).status).toBe(200)
    const { body } = await request('DELETE', `/v1/api-keys/${maker.id}`, { key })
    expect(body.descendants).toBe(0)
    expect((await request('GET', '/v1/me', { key: token })).status).toBe(200)
  })
})

describe('what a person made', () => {
  it('ends with their access: keys, their successors and their sessions, and nothing of anybody else', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    const rule = await addRule({ role: 'admin' })
    const [ada, grace] = [await admitted(workspace, personIn('engineers')), await addRule({ value: 'others' })]
    expect(grace.id).not.toBe(rule.id)
    const ofOther = await admitted(workspace, personIn('others'))
    const create = (token: string, json: object) => request('POST', '/v1/api-keys', { key: token, json })
    const { body: made } = await create(ada.token, { name: 'made', scopes: ROLES.admin })
    const { body: child } = await create(made.token, { name: 'child', scopes: ['skills:read'] })
    const { body: session } = await request('POST', '/v1/me/sessions', { key: made.token, json: {} })
    const { body: successor } = await request('POST', `/v1/api-keys/${made.id}/rotate`, { key: ada.token, json: {} })
    // A key of the user that an operator made: not theirs, until they rotate it.
    const { body: service } = await create(key, {
      name: 'service',
      scopes: ['skills:read'],
      userId: ada.userId,
      expiresAt: ada.expiresAt,
    })
    const { body: taken } = await create(key, {
      name: 'taken',
      scopes: ['skills:read'],
      userId: ada.userId,
      expiresAt: ada.expiresAt,
    })
    const { body: own } = await request('POST', `/v1/api-keys/${taken.id}/rotate`, { key: ada.token, json: {} })
    const theirs = [ada, made, child, session, successor, own]
    expect(new Set(theirs.slice(1).map(({ identityId }) => identityId)).size).toBe(1)
    expect(service.identityId).toBeNull()

    await request('PATCH', `${RULES}/${rule.id}`, { key, json: { role: 'viewer' } })
    for (const { token } of theirs)
      expect((await request('GET', '/v1/me', { key: token })).headers.get('Error-Code')).toBe('api_key_revoked')
    for (const { token } of [service, ofOther])
      expect((await request('GET', '/v1/me', { key: token })).status).toBe(200)
    expect((await eventsOf(workspace, { types: 'api-key.revoked,api-key.session-ended' })).length).toBe(theirs.length)
  })

  it('ends with the user, who is another one after the next sign-in', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    await addRule({})
    const person = personIn('engineers')
    const first = await admitted(workspace, person)
    expect((await request('DELETE', `/v1/users/${first.userId}`, { key })).status).toBe(200)
    expect((await request('GET', '/v1/me', { key: first.token })).status).toBe(401)
    expect((await request('GET', IDENTITIES, { key })).body.items).toEqual([])
    const second = await admitted(workspace, person)
    expect([second.isFirst, second.userId === first.userId]).toEqual([true, false])
  })

  it('has at most 20 sessions, of which a further sign-in ends the oldest', async () => {
    const { workspace, addRule } = await newWorkspace()
    await addRule({ role: 'admin' })
    const [person, other] = [personIn('engineers'), await admitted(workspace, personIn('engineers'))]
    const first = await admitted(workspace, person)
    const json = { name: 'laptop', scopes: ['skills:read'] }
    const { body: made } = await request('POST', '/v1/api-keys', { key: first.token, json })
    const all = [first]
    while (all.length < 22) all.push(await admitted(workspace, person))
    const live = await Promise.all(
      [...all, made, other].map(async ({ token }) => (await request('GET', '/v1/me', { key: token })).status),
    )
    expect(live).toEqual([401, 401, ...Array.from({ length: 22 }, () => 200)])
    expect(await eventsOf(workspace, { types: 'api-key.session-ended' })).toHaveLength(2)
  })

  it('is signed out everywhere by one request', async () => {
    const { workspace, addRule } = await newWorkspace()
    await addRule({})
    const person = personIn('engineers')
    const [first, second] = [await admitted(workspace, person), await admitted(workspace, person)]
    const other = await admitted(workspace, personIn('engineers'))
    const weak = await workspace.addKey({ userId: first.userId, scopes: ['skills:read'] })
    const refused = await request('DELETE', '/v1/me/sessions', { key: weak })
    expect([refused.status, refused.headers.get('Error-Code')]).toEqual([400, 'missing_scope'])
    const { body } = await request('DELETE', '/v1/me/sessions', { key: first.token })
    expect(body).toEqual({ deleted: true, sessions: 2 })
    for (const { token } of [first, second]) expect((await request('GET', '/v1/me', { key: token })).status).toBe(401)
    expect((await request('GET', '/v1/me', { key: other.token })).status).toBe(200)
  })
})

describe('an administrator', () => {
  it('may end their own access, and the change is made', async () => {
    const { workspace, key, addRule } = await newWorkspace()
    const rule = await addRule({ role: 'admin' })
    const person = personIn('engineers')
    const first = await admitted(workspace, person)
    const updated = await request('PATCH', `${RULES}/${rule.id}`, { key: first.token, json: { role: 'viewer' } })
    expect([updated.status, updated.body.role]).toEqual([200, 'viewer'])
    expect((await request('GET', '/v1/me', { key: first.token })).status).toBe(401)
    await request('PATCH', `${RULES}/${rule.id}`, { key, json: { role: 'admin' } })
    const second = await admitted(workspace, person)
    expect((await request('DELETE', `${RULES}/${rule.id}`, { key: second.token })).status).toBe(200)
    expect((await request('GET', RULES, { key })).body.items).toEqual([])
    await addRule({ role: 'admin' })
    const third = await admitted(workspace, person)
    const { identityId } = (await request('GET', '/v1/me', { key: third.token })).body.apiKey
    expect((await request('DELETE', `${IDENTITIES}/${identityId}`, { key: third.token })).status).toBe(200)
    expect((await request('GET', '/v1/me', { key: third.token })).status).toBe(401)
  })
})

// Each condition of time and state in the statements.

const DAY_MS = 86_400_000
const days = (count: number) => new Date(Date.now() + count * DAY_MS).toISOString()
const PAST = '2020-01-01T00:00:00.000Z'

type Effect = 'stays' | 'ends' | 'moves on'
interface Key extends KeyOptions {
  /** If it is not that of the person. */
  readonly of?: 'another person' | 'nobody'
  readonly revokedAt?: string
  readonly grantEndsAt?: string
}

describe('the keys of a person', () => {
  const endless = { scopes: ['skills:read'], projectIds: ['own'] } as const
  const within = { ...endless, expiresAt: days(1) } as const
  const beyond = { ...within, scopes: ['api-keys:write'] } as const
  const app = { ...within, kind: 'grant', grantEndsAt: days(90) } as const

  it.each<readonly [string, Effect, Key]>([
    ['a session', 'stays', { ...within, kind: 'session' }],
    ['a key', 'stays', within],
    ['a key without an end', 'stays', endless],
    ['a key with a scope beyond the role', 'ends', beyond],
    ['a session with a scope beyond the role', 'ends', { ...beyond, kind: 'session' }],
    ['a key beyond the role, without an end', 'ends', { ...endless, scopes: beyond.scopes }],
    ['a key beyond the role that has expired', 'stays', { ...beyond, expiresAt: PAST }],
    ['a key beyond the role that was revoked', 'stays', { ...beyond, revokedAt: PAST }],
    ['a key of all projects', 'ends', { scopes: within.scopes, expiresAt: within.expiresAt }],
    ['a key of another project', 'ends', { ...within, projectIds: ['other'] }],
    ['a key of one project more', 'ends', { ...within, projectIds: ['own', 'other'] }],
    ['an app', 'moves on', app],
    ['an app that has expired', 'stays', { ...app, expiresAt: PAST }],
    ['an app that was disconnected', 'stays', { ...app, revokedAt: PAST }],
    ['an app beyond the role', 'ends', { ...app, scopes: beyond.scopes }],
    ['an app of another person', 'stays', { ...app, of: 'another person' }],
    ['an app of nobody', 'stays', { ...app, of: 'nobody' }],
    ['a session of another person, beyond the role', 'stays', { ...beyond, kind: 'session', of: 'another person' }],
    ['a key of nobody, beyond the role', 'stays', { ...beyond, of: 'nobody' }],
  ])('%s %s when they sign in', async (_, effect, { of, revokedAt, grantEndsAt, ...options }) => {
    const workspace = await Workspace.create()
    await workspace.addSignInRule({ projectIds: '["own"]' })
    const person = personIn('engineers')
    const identityId = await workspace.addIdentity({ subject: person.subject })
    const owner = of === undefined ? identityId : await workspace.addIdentity()
    const { id } = await workspace.addKeyWithId({ ...options, ...(of !== 'nobody' && { identityId: owner }) })
    const given = { ...(revokedAt && { revokedAt }), ...(grantEndsAt && { grantEndsAt }) }
    if (Object.keys(given).length > 0) await workspace.change(apiKeys, id, given)
    const rowOf = async () => (await workspace.dump('apiKeys')).find((row) => row.id === id)
    const before = await rowOf()
    expect(await signIn(workspace, person)).toMatchObject({ scopes: ROLES.member })
    const after = await rowOf()
    const changed = {
      stays: {},
      ends: { revokedAt: expect.any(String) },
      'moves on': { expiresAt: expect.not.stringMatching(String(before?.expiresAt)) },
    }[effect]
    expect(after).toEqual({ ...before, ...changed })
    const ends = (await workspace.dump('auditEvents')).filter(({ resourceId }) => resourceId === id)
    expect(ends).toHaveLength(effect === 'ends' ? 1 : 0)
  })

  it.each<KeyOptions>([{}, { kind: 'session' }, { kind: 'grant' }])(
    'end when no rule admits them: %o',
    async (kind) => {
      const workspace = await Workspace.create()
      const person = personIn('sales')
      const identityId = await workspace.addIdentity({ subject: person.subject })
      const { id } = await workspace.addKeyWithId({ ...within, ...kind, identityId })
      expect(await signIn(workspace, person)).toEqual({ refusal: 'not_admitted' })
      expect(await workspace.dump('apiKeys')).toMatchObject([{ id, revokedAt: expect.any(String) }])
      expect(await workspace.dump('auditEvents')).toMatchObject([{ resourceId: id }])
    },
  )

  it('are sessions too many only if 20 of their own are live', async () => {
    const workspace = await Workspace.create()
    await workspace.addSignInRule()
    const person = personIn('engineers')
    const identityId = await workspace.addIdentity({ subject: person.subject })
    const other = await workspace.addIdentity()
    const session = { scopes: ['skills:read'], kind: 'session', expiresAt: days(1), identityId } as const
    const oldest = await workspace.addKeyWithId(session)
    for (let count = 1; count < 19; count++) await workspace.addKeyWithId(session)
    await workspace.addKeyWithId({ ...session, expiresAt: PAST })
    const { kind: _, ...key } = session
    await workspace.addKeyWithId(key)
    await workspace.addKeyWithId({ ...session, kind: 'grant' })
    await workspace.addKeyWithId({ ...session, identityId: other })
    await workspace.revokeKey((await workspace.addKeyWithId(session)).id)
    const isEnded = async () => (await workspace.dump('apiKeys')).find(({ id }) => id === oldest.id)?.revokedAt !== null
    await signIn(workspace, person)
    expect(await isEnded()).toBe(false)
    await signIn(workspace, person)
    expect(await isEnded()).toBe(true)
  })
})

describe('the identity of a person', () => {
  const known = { role: 'viewer', projectIds: '["own"]', email: 'old@example.com', lastSignInAt: PAST } as const
  const own = { ...known, ruleIds: null, roleByKeyId: 'giver' } as const
  const NOW = expect.stringMatching(/^(?!2020)\d{4}-/)

  it.each<readonly [string, Partial<typeof identities.$inferSelect>, string, object]>([
    ['whose role is their own', own, 'engineers', { lastSignInAt: NOW, email: 'new@example.com' }],
    ['whose role is their own, and whom no rule admits', own, 'sales', { lastSignInAt: NOW, email: 'new@example.com' }],
    [
      'whom a rule admits',
      { ...known, ruleIds: '["old"]' },
      'engineers',
      { role: 'member', projectIds: '["rule"]', ruleIds: '["the rule"]', lastSignInAt: NOW, email: 'new@example.com' },
    ],
    [
      'whom a rule admits again',
      { ...known, ruleIds: '[]' },
      'engineers',
      { role: 'member', projectIds: '["rule"]', ruleIds: '["the rule"]', lastSignInAt: NOW, email: 'new@example.com' },
    ],
    [
      'whom no rule admits any more',
      { ...known, ruleIds: '["old"]' },
      'sales',
      { ruleIds: '[]', email: 'new@example.com' },
    ],
    ['who is blocked', { ...known, ruleIds: '["old"]', blockedAt: PAST }, 'engineers', {}],
    ['who is blocked, with a role of their own', { ...own, blockedAt: PAST }, 'engineers', {}],
  ])('%s changes as the sign-in says', async (_, before, group, changed) => {
    const workspace = await Workspace.create()
    const rule = await workspace.addSignInRule({ projectIds: '["rule"]' })
    const person = { ...personIn(group), email: 'new@example.com' }
    const id = await workspace.addIdentity({ ...before, subject: person.subject })
    const rowOf = async () => (await workspace.dump('identities')).find((row) => row.id === id)
    const row = await rowOf()
    await signIn(workspace, person)
    const after = JSON.parse(JSON.stringify(await rowOf()).replaceAll(rule, 'the rule'))
    expect(after).toEqual({ ...row, ...changed })
    const events = (await workspace.dump('auditEvents')).map(({ type }) => type)
    expect(events).toEqual('lastSignInAt' in changed ? ['api-key.session-created'] : [])
  })

  it('who accepts a second invitation has what that one gives', async () => {
    const workspace = await Workspace.create()
    const person = { ...personIn(), email: 'ada@example.com' }
    const id = await workspace.addIdentity({ ...known, ruleIds: '[]', subject: person.subject })
    const invitation = { issuer: ISSUER, email: 'ada@example.com' }
    await workspace.addInvitation({ ...invitation, role: 'viewer', acceptedAt: PAST, identityId: id })
    await workspace.addInvitation({ ...invitation, role: 'admin', projectIds: '["two"]', createdByKeyId: 'maker' })
    expect(await signIn(workspace, person)).toMatchObject({ scopes: ROLES.admin })
    expect(await workspace.dump('identities')).toMatchObject([
      { id, role: 'admin', projectIds: '["two"]', ruleIds: null, roleByKeyId: 'maker', linkedByKeyId: null },
    ])
  })
})

describe('the batch of a sign-in', () => {
  it('is one call, and its events name the session as their actor', async () => {
    const { workspace, addRule } = await newWorkspace()
    await addRule({})
    const person = newPerson({ name: 'Grace', email: 'grace@example.com', claims: [['groups', 'engineers']] })
    const use = watchedDatabase()
    const { token, userId } = await admitted(workspace, person, { DB: use.DB })
    // One more with several databases: the directory, which is in database 0.
    expect(use.calls).toBe(databaseNumber() === 0 && env.DATABASES > 1 ? 2 : 1)
    // Identity and user with indexes, usage, session, three events.
    expect([use.rowsWritten, use.rowsRead]).toEqual([expect.any(Number), expect.any(Number)])
    expect(use.rowsWritten).toBeLessThanOrEqual(20)
    expect(use.rowsRead).toBeLessThanOrEqual(60)
    const { apiKey } = (await request('GET', '/v1/me', { key: token })).body
    const actor = { apiKeyId: apiKey.id, apiKeyName: 'Grace', userId }
    const events = await eventsOf(workspace, { types: 'identity.*,user.created,api-key.session-created' })
    expect(events.map(({ type, resource, actor }) => [type, resource.name, actor])).toEqual([
      ['identity.created', 'grace@example.com', actor],
      ['user.created', 'Grace', actor],
      ['api-key.session-created', ISSUER, actor],
    ])
    const again = watchedDatabase()
    await admitted(workspace, person, { DB: again.DB })
    expect(again.rowsWritten).toBeLessThanOrEqual(12)
  })

  it('writes nothing if the database fails', async () => {
    const { workspace, addRule } = await newWorkspace()
    await addRule({})
    const before = await dumpStores()
    const DB = failingDatabase(new Error('D1_ERROR: storage caused object to be reset'))
    await expect(signIn(workspace, personIn('engineers'), { DB })).rejects.toThrow('D1_ERROR')
    expect(await dumpStores()).toEqual(before)
  })

  it('finds the organization in any of three databases, but not while it moves', async () => {
    const { workspace, addRule } = await newWorkspace()
    await addRule({})
    const environment = threeForRequests()
    const place = requireDatabase(threeDatabases(), 0)
    const { organizationId } = workspace
    await place
      .prepare(`INSERT INTO "directory" VALUES (?1, ?2, NULL) ON CONFLICT DO UPDATE SET "database" = ?2`)
      .bind(organizationId, databaseNumber())
      .run()
    const result = await admitted(workspace, personIn('engineers'), environment)
    expect((await request('GET', '/v1/me', { key: result.token, environment })).status).toBe(200)
    await place.prepare(`DELETE FROM "directory" WHERE "organizationId" = ?`).bind(organizationId).run()
    expect(await signIn(workspace, personIn('engineers'), environment)).toEqual({ refusal: 'organization_unavailable' })
    await place.prepare(`INSERT INTO "directory" VALUES (?1, ?2, NULL)`).bind(organizationId, databaseNumber()).run()
    await env.DB.prepare(`INSERT INTO "halts" ("organizationId", "kind", "until") VALUES (?, 'leaving', '2999-01-01')`)
      .bind(organizationId)
      .run()
    // The console answers 503, so that the person tries again.
    await expect(signIn(workspace, personIn('engineers'), environment)).rejects.toThrow('moves to another database')
  })
})
