/** Invitations: who accepts one, what they get, and who does not. */
import { describe, expect, it } from 'vitest'
import { ROLES } from '../../src/access/roles.ts'
import { invitations } from '../../src/db/schema.ts'
import { request } from '../support/api.ts'
import { watchedDatabase } from '../support/bindings.ts'
import { databaseNumber, env } from '../support/env.ts'
import { eventsOf } from '../support/events.ts'
import { admitted, ISSUER, newPerson, signIn } from '../support/sign-in.ts'
import { dumpStores } from '../support/stores.ts'
import { Workspace } from '../support/workspace.ts'

const INVITATIONS = '/v1/invitations'
const IDENTITIES = '/v1/identities'
const EMAIL = 'grace@example.com'
const REFUSED = { refusal: 'not_admitted' }

async function newWorkspace() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey({ userId: null })
  const invite = async (settings: object = {}, by = key) => {
    const json = { email: EMAIL, issuer: ISSUER, role: 'member', ...settings }
    const { status, body } = await request('POST', INVITATIONS, { key: by, json })
    expect([status, body]).toEqual([201, expect.anything()])
    return body as { id: string; expiresAt: string; createdAt: string }
  }
  const addRule = async (rule: object = {}, by = key) => {
    const json = { issuer: ISSUER, claim: 'iss', value: ISSUER, role: 'viewer', ...rule }
    const { status, body } = await request('POST', '/v1/sign-in-rules', { key: by, json })
    expect([status, body]).toEqual([201, expect.anything()])
  }
  const open = async () => {
    const { body } = await request('GET', INVITATIONS, { key })
    const items = body.items as { id: string; acceptedAt: string | null }[]
    return items.filter(({ acceptedAt }) => acceptedAt === null).map(({ id }) => id)
  }
  const identities = async () => (await request('GET', IDENTITIES, { key })).body.items
  const expire = (id: string) => workspace.change(invitations, id, { expiresAt: '2020-01-01T00:00:00.000Z' })
  return { workspace, key, invite, addRule, open, identities, expire }
}

const grace = (options: Parameters<typeof newPerson>[0] = {}) => newPerson({ email: EMAIL, ...options })
const isLive = async ({ token }: { token: string }) => (await request('GET', '/v1/me', { key: token })).status === 200

describe('an invitation', () => {
  it('gives the role to the first person with the address at the issuer, as their own', async () => {
    const { workspace, key, invite, identities } = await newWorkspace()
    const projectId = await workspace.addProject()
    const { id, createdAt, expiresAt } = await invite({ email: 'Grace@Example.COM', projectIds: [projectId] })
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 24 * 3600 * 1000)
    const { body } = await request('GET', INVITATIONS, { key })
    expect(body).toMatchObject({ items: [{ id, email: EMAIL, issuer: ISSUER, userId: null }], nextCursor: null })
    const person = grace({ name: 'Grace Hopper' })
    const first = await admitted(workspace, person)
    expect(first).toMatchObject({ scopes: ROLES.member, isFirst: true })
    const accepted = await request('GET', INVITATIONS, { key })
    const [identity] = await identities()
    expect(accepted.body.items).toMatchObject([{ id, acceptedAt: identity.createdAt, identityId: identity.id }])
    expect([identity]).toMatchObject([
      {
        subject: person.subject,
        userId: first.userId,
        userName: 'Grace Hopper',
        email: EMAIL,
        role: 'member',
        projectIds: [projectId],
        ruleIds: null,
      },
    ])
    const me = await request('GET', '/v1/me', { key: first.token })
    expect(me.body).toMatchObject({ apiKey: { projectIds: [projectId] }, user: { name: 'Grace Hopper' } })
    // From then on by issuer and subject, whatever the address is.
    const again = await admitted(workspace, { ...person, email: 'other@example.com' })
    expect(again).toMatchObject({ userId: first.userId, scopes: ROLES.member, isFirst: false })
    expect(await isLive(first)).toBe(true)
  })

  it('counts more than rules, for a person without a role of their own', async () => {
    const { workspace, key, invite, addRule, open, identities } = await newWorkspace()
    await addRule({ role: 'admin' })
    const [known, given] = [grace(), grace({ email: 'given@example.com' })]
    const before = await admitted(workspace, known)
    const ofGiven = await admitted(workspace, given)
    const [, identity] = await identities()
    await request('PATCH', `${IDENTITIES}/${identity.id}`, { key, json: { role: 'viewer' } })
    await invite()
    const kept = await invite({ email: 'given@example.com', role: 'admin' })
    const after = await admitted(workspace, known)
    // The session of an admin can do more than a member.
    expect([after.scopes, after.userId, after.isFirst]).toEqual([ROLES.member, before.userId, false])
    expect([await isLive(before), await isLive(after)]).toEqual([false, true])
    // Who was given a role keeps it.
    expect(await admitted(workspace, given)).toMatchObject({ scopes: ROLES.viewer, userId: ofGiven.userId })
    expect(await open()).toEqual([kept.id])
  })

  it('lets somebody in again whom no rule admits any more, but not who is blocked', async () => {
    const { workspace, key, invite, addRule, open, identities } = await newWorkspace()
    await addRule({ claim: 'groups', value: 'staff' })
    const person = grace({ claims: [['groups', 'staff']] })
    const { userId } = await admitted(workspace, person)
    const gone = { ...person, claims: [] }
    expect(await signIn(workspace, gone)).toEqual(REFUSED)
    const [{ id }] = await identities()
    const invitation = await invite()
    await request('PATCH', `${IDENTITIES}/${id}`, { key, json: { blocked: true } })
    expect(await signIn(workspace, gone)).toEqual({ refusal: 'blocked' })
    expect(await open()).toEqual([invitation.id])
    await request('PATCH', `${IDENTITIES}/${id}`, { key, json: { blocked: false } })
    expect(await admitted(workspace, gone)).toMatchObject({ userId, scopes: ROLES.member })
    expect(await open()).toEqual([])
  })

  it('is accepted once, also by two people with the address at the same time', async () => {
    const { workspace, invite, open, identities } = await newWorkspace()
    await invite()
    const people = Array.from({ length: 5 }, () => grace())
    const results = await Promise.all(people.map((person) => signIn(workspace, person)))
    expect(results.filter((result) => 'token' in result)).toHaveLength(1)
    expect(results.filter((result) => 'refusal' in result)).toEqual(Array.from({ length: 4 }, () => REFUSED))
    expect([await open(), (await identities()).length]).toEqual([[], 1])
    expect(await eventsOf(workspace, { types: 'invitation.accepted' })).toHaveLength(1)
    const winner = people[results.findIndex((result) => 'token' in result)]
    expect((await identities())[0].subject).toBe(winner?.subject)
    for (const person of people) expect('token' in (await signIn(workspace, person))).toBe(person === winner)
  })

  it('of which the person signs in several times at once is accepted once', async () => {
    const { workspace, invite, identities } = await newWorkspace()
    await invite()
    const person = grace()
    const results = await Promise.all(Array.from({ length: 5 }, () => admitted(workspace, person)))
    expect(new Set(results.map(({ userId }) => userId)).size).toBe(1)
    expect(results.filter(({ isFirst }) => isFirst)).toHaveLength(1)
    expect(await identities()).toHaveLength(1)
    expect(await eventsOf(workspace, { types: 'invitation.accepted' })).toHaveLength(1)
  })

  it('is not for anybody else', async () => {
    const { workspace, invite, open, identities } = await newWorkspace()
    const { id } = await invite({ email: 'kate@example.com' })
    const others = [
      // An address that is not verified is null.
      newPerson({ claims: [['email', 'kate@example.com']] }),
      newPerson({ email: 'kate@example.com', issuer: 'https://other.example' }),
      newPerson({ email: 'kate@example.com', issuer: `${ISSUER}/` }),
      newPerson({ email: 'kate@example.com.' }),
      newPerson({ email: ' kate@example.com' }),
      // The Kelvin sign, whose lower case is a k.
      newPerson({ email: '\u212aate@example.com' }),
      newPerson({ subject: 'kate@example.com', name: 'kate@example.com' }),
    ]
    for (const person of others) expect([person, await signIn(workspace, person)]).toEqual([person, REFUSED])
    const there = await newWorkspace()
    expect(await signIn(there.workspace, newPerson({ email: 'kate@example.com' }))).toEqual(REFUSED)
    expect([await open(), await identities()]).toEqual([[id], []])
    expect(await admitted(workspace, newPerson({ email: 'KATE@example.com' }))).toMatchObject({ isFirst: true })
  })

  it('admits nobody once it was accepted, whatever became of the person, deleted, or has expired', async () => {
    const { workspace, key, invite, open, identities, expire } = await newWorkspace()
    await invite()
    const person = grace()
    const { userId } = await admitted(workspace, person)
    expect(await signIn(workspace, grace())).toEqual(REFUSED)
    const [{ id }] = await identities()
    expect((await request('DELETE', `${IDENTITIES}/${id}`, { key })).status).toBe(200)
    expect(await signIn(workspace, person)).toEqual(REFUSED)

    const deleted = await invite()
    expect((await request('DELETE', `${INVITATIONS}/${deleted.id}`, { key })).status).toBe(200)
    expect(await signIn(workspace, person)).toEqual(REFUSED)

    const expired = await invite()
    await expire(expired.id)
    expect(await signIn(workspace, person)).toEqual(REFUSED)
    expect(await open()).toEqual([expired.id])
    // Another one takes its place.
    const next = await invite()
    expect(await open()).toEqual([next.id])
    expect((await admitted(workspace, person)).userId).not.toBe(userId)
  })

  it('that was accepted cannot be deleted: its identity can', async () => {
    const { workspace, key, invite, identities } = await newWorkspace()
    const { id } = await invite()
    await admitted(workspace, grace())
    const { status, headers, body } = await request('DELETE', `${INVITATIONS}/${id}`, { key })
    const [identity] = await identities()
    expect([status, headers.get('Error-Code')]).toEqual([409, 'invitation_accepted'])
    expect(body.error).toContain(identity.id)
  })

  it('is one for each address and issuer, and there are up to 100 open ones', async () => {
    const { workspace, key, invite, expire } = await newWorkspace()
    const attempt = async (settings: object) => {
      const json = { email: EMAIL, issuer: ISSUER, role: 'viewer', ...settings }
      const { headers } = await request('POST', INVITATIONS, { key, json })
      return headers.get('Error-Code')
    }
    const { id } = await invite()
    expect(await attempt({ email: EMAIL.toUpperCase(), role: 'admin' })).toBe('invitation_exists')
    await invite({ issuer: 'https://other.example' })
    await admitted(workspace, grace())
    await invite()
    for (let count = 2; count < 100; count++) await invite({ email: `${count}@example.com` })
    expect(await attempt({ email: 'one-more@example.com' })).toBe('invitation_limit')
    const { body } = await request('GET', INVITATIONS, { key })
    expect(body.items).toHaveLength(100)
    expect(body.items.map((each: { id: string }) => each.id)).not.toContain(id)
    await expire(body.items[50].id)
    await invite({ email: 'one-more@example.com' })
    expect((await request('GET', INVITATIONS, { key })).body.items).toHaveLength(100)
  })

  it('lasts as many days as its maker says, up to 30', async () => {
    const { key, invite } = await newWorkspace()
    const { createdAt, expiresAt } = await invite({ expiresInDays: 30 })
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * 24 * 3600 * 1000)
    for (const wrong of [{ expiresInDays: 31 }, { expiresInDays: 0 }, { email: 'grace' }, { email: 'a b@c.d' }]) {
      const json = { email: 'other@example.com', issuer: ISSUER, role: 'viewer', ...wrong }
      expect((await request('POST', INVITATIONS, { key, json })).status).toBe(400)
    }
  })

  it('says that the organization has the maximum number of users, and stays open', async () => {
    const { workspace, invite, open } = await newWorkspace()
    const invitation = await invite()
    const limits = { USER_LIMIT: '1' }
    expect(await signIn(workspace, grace(), limits)).toEqual({ refusal: 'user_quota' })
    expect(await signIn(workspace, newPerson(), limits)).toEqual(REFUSED)
    expect(await open()).toEqual([invitation.id])
    await admitted(workspace, grace())
  })

  it('is not accepted while the organization is suspended', async () => {
    const { workspace, invite } = await newWorkspace()
    await invite()
    await env.DB.prepare(`INSERT INTO "halts" ("organizationId", "kind") VALUES (?, 'suspended')`)
      .bind(workspace.organizationId)
      .run()
    const before = await dumpStores()
    expect(await signIn(workspace, grace())).toEqual({ refusal: 'organization_unavailable' })
    expect(await dumpStores()).toEqual(before)
  })
})

describe('an invitation that names a user', () => {
  it('makes the person that user, who keeps their name', async () => {
    const { workspace, invite, identities } = await newWorkspace()
    await invite({ userId: workspace.userId })
    const person = grace({ name: 'Somebody' })
    // Nobody is created, so no quota matters.
    const result = await admitted(workspace, person, { USER_LIMIT: '1' })
    expect(result).toMatchObject({ userId: workspace.userId, isFirst: false })
    expect((await request('GET', '/v1/me', { key: result.token })).body.user).toMatchObject({
      id: workspace.userId,
      name: 'Ada',
    })
    expect(await workspace.dump('users')).toHaveLength(1)
    expect(await identities()).toMatchObject([{ userId: workspace.userId, subject: person.subject }])
    const events = await eventsOf(workspace, { types: 'invitation.accepted,identity.created,user.created' })
    expect(events.map(({ type, actor }) => [type, actor?.userId])).toEqual([
      ['invitation.accepted', workspace.userId],
      ['identity.created', workspace.userId],
    ])
    expect((await admitted(workspace, person)).userId).toBe(workspace.userId)
  })

  it('is not accepted by who is another user already', async () => {
    const { workspace, invite, addRule, open } = await newWorkspace()
    await addRule()
    const person = grace()
    const { userId } = await admitted(workspace, person)
    const { id } = await invite({ userId: workspace.userId, role: 'admin' })
    expect(await admitted(workspace, person)).toMatchObject({ userId, scopes: ROLES.viewer })
    expect(await open()).toEqual([id])
  })

  it('needs a key that acts as no user, or as that user', async () => {
    const { workspace, key, invite } = await newWorkspace()
    const other = await workspace.addUser()
    const own = await workspace.addKey({})
    const attempt = async (userId: string, by: string) => {
      const json = { email: `${crypto.randomUUID()}@example.com`, issuer: ISSUER, role: 'viewer', userId }
      const { headers } = await request('POST', INVITATIONS, { key: by, json })
      return headers.get('Error-Code')
    }
    expect(await attempt(other, own)).toBe('exceeds_own_key')
    expect(await attempt('nobody', key)).toBe('user_not_found')
    expect([await attempt(other, key), await attempt(workspace.userId, own)]).toEqual([null, null])
    await invite({}, own)
  })

  it('ends with the user', async () => {
    const { workspace, key, invite, open } = await newWorkspace()
    const userId = await workspace.addUser()
    const { id } = await invite({ userId })
    const kept = await invite({ email: 'other@example.com' })
    await invite({ email: 'accepted@example.com', userId })
    await admitted(workspace, grace({ email: 'accepted@example.com' }))
    expect((await request('DELETE', `/v1/users/${userId}`, { key })).status).toBe(200)
    expect([await open(), (await workspace.dump('invitations')).length]).toEqual([[kept.id], 1])
    for (const email of [EMAIL, 'accepted@example.com'])
      expect(await signIn(workspace, grace({ email }))).toEqual(REFUSED)
    const events = await eventsOf(workspace, { types: 'invitation.deleted,identity.deleted' })
    expect(events.map(({ type, resource }) => [type, resource.id === id])).toEqual([
      ['invitation.deleted', true],
      ['identity.deleted', false],
    ])
  })
})

describe('the maker of an invitation', () => {
  it('gives away no scope that its key lacks, and uses a key that was not rotated', async () => {
    const { workspace, key } = await newWorkspace()
    const member = await workspace.addKey({ userId: null, scopes: [...ROLES.member, 'sign-in:write'] })
    const rotated = await workspace.addKeyWithId({ userId: null })
    await request('POST', `/v1/api-keys/${rotated.id}/rotate`, { key, json: {} })
    const restricted = await workspace.addKey({ userId: null, projectIds: [await workspace.addProject()] })
    const id = await workspace.addInvitation()
    const json = { email: EMAIL, issuer: ISSUER, role: 'admin' }
    for (const [by, code] of [
      [member, 'exceeds_own_key'],
      [rotated.token, 'api_key_rotated'],
      [restricted, 'unrestricted_key_required'],
    ] as const) {
      expect((await request('POST', INVITATIONS, { key: by, json })).headers.get('Error-Code')).toBe(code)
      const deletion = await request('DELETE', `${INVITATIONS}/${id}`, { key: by })
      expect([deletion.status, deletion.headers.get('Error-Code')]).toEqual(by === member ? [200, null] : [403, code])
      if (by === member) await workspace.addInvitation({ id })
    }
    const { status } = await request('POST', INVITATIONS, { key: member, json: { ...json, role: 'member' } })
    expect(status).toBe(201)
  })

  it('ends with its descendants: the invitations, the roles that they gave, and the links to users', async () => {
    const { workspace, key, invite, addRule, open, identities } = await newWorkspace()
    const leaked = await workspace.addKeyWithId({ userId: null })
    const kept = await invite({ email: 'kept@example.com' })
    await invite({ email: 'open@example.com' }, leaked.token)
    const people = ['invited', 'linked', 'relinked', 'ruled'].map((name) => grace({ email: `${name}@example.com` }))
    const [invited, linked, relinked, ruled] = people as [
      (typeof people)[0],
      (typeof people)[0],
      (typeof people)[0],
      (typeof people)[0],
    ]
    await invite({ email: invited.email, role: 'admin' }, leaked.token)
    const asInvited = await admitted(workspace, invited)
    // By a session of a person whom the key let in.
    const other = await workspace.addUser()
    const child = await workspace.addKeyWithId({ userId: null, createdByKeyId: leaked.id })
    await invite({ email: linked.email, userId: workspace.userId }, child.token)
    await invite({ email: relinked.email, userId: other }, child.token)
    await invite({ email: 'by-invited@example.com' }, asInvited.token)
    const [asLinked, asRelinked] = [await admitted(workspace, linked), await admitted(workspace, relinked)]
    // Another admin gives the role of one of them again, which leaves the link.
    const ofRelinked = (await identities()).find(({ userId }: { userId: string }) => userId === other)
    await request('PATCH', `${IDENTITIES}/${ofRelinked.id}`, { key, json: { role: 'viewer' } })
    const relinkedAgain = await admitted(workspace, relinked)
    expect(relinkedAgain.userId).toBe(other)
    await addRule({ role: 'viewer' })
    const asRuled = await admitted(workspace, ruled)

    const path = `/v1/api-keys/${leaked.id}?descendants=true`
    const { body } = await request('DELETE', path, { key })
    expect(body.descendants).toBe(4)
    const all = [asInvited, asLinked, asRelinked, relinkedAgain, asRuled]
    expect(await Promise.all(all.map(isLive))).toEqual([false, false, false, false, true])
    expect(await open()).toEqual([kept.id])
    expect((await workspace.dump('invitations')).length).toBe(1)
    const events = await eventsOf(workspace, { types: 'invitation.deleted,identity.deleted' })
    expect(events.map(({ type, resource }) => `${type} ${resource.name}`).sort()).toEqual([
      'identity.deleted linked@example.com',
      'identity.deleted relinked@example.com',
      'invitation.deleted by-invited@example.com',
      'invitation.deleted open@example.com',
    ])
    // A rule admits everyone as viewer: who was linked is a new user now.
    expect(await admitted(workspace, invited)).toMatchObject({ userId: asInvited.userId, scopes: ROLES.viewer })
    for (const person of [linked, relinked]) {
      const again = await admitted(workspace, person)
      expect([again.isFirst, again.scopes]).toEqual([true, ROLES.viewer])
      expect([workspace.userId, other]).not.toContain(again.userId)
    }
  })

  it('leaves them when its key is deleted alone', async () => {
    const { workspace, key, invite } = await newWorkspace()
    const maker = await workspace.addKeyWithId({ userId: null })
    await invite({}, maker.token)
    await invite({ email: 'linked@example.com', userId: workspace.userId }, maker.token)
    const linked = await admitted(workspace, grace({ email: 'linked@example.com' }))
    await request('DELETE', `/v1/api-keys/${maker.id}`, { key })
    await admitted(workspace, grace())
    expect(await isLive(linked)).toBe(true)
  })
})

describe('the batch of an acceptance', () => {
  it('is one call, and its events name the session as their actor', async () => {
    const { workspace, invite } = await newWorkspace()
    const { id } = await invite()
    const use = watchedDatabase()
    const { token, userId } = await admitted(workspace, grace({ name: 'Grace' }), { DB: use.DB })
    expect(use.calls).toBe(databaseNumber() === 0 && env.DATABASES > 1 ? 2 : 1)
    expect(use.rowsWritten).toBeLessThanOrEqual(26)
    const { apiKey } = (await request('GET', '/v1/me', { key: token })).body
    const actor = { apiKeyId: apiKey.id, apiKeyName: 'Grace', userId }
    const events = await eventsOf(workspace, { types: 'invitation.*,identity.*,user.*,api-key.session-created' })
    expect(events.map(({ type, resource, actor }) => [type, resource.name, actor]).slice(1)).toEqual([
      ['invitation.accepted', EMAIL, actor],
      ['identity.created', EMAIL, actor],
      ['user.created', 'Grace', actor],
      ['api-key.session-created', ISSUER, actor],
    ])
    expect(events[1]?.resource).toMatchObject({ id, path: `${INVITATIONS}/${id}` })
  })
})
