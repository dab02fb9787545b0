/** `workspace people` with the service, and people who have signed in. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Service } from '../../scripts/service.ts'
import { runWorkspace, type WorkspaceLogin } from '../../test/support/commands.ts'
import { type NewIdentity, signInOf } from '../../test/support/identities.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'

const ISSUER = 'https://login.example.com'

let running: SharedService

beforeAll(async () => {
  running = await sharedService()
})
afterAll(async () => {})

interface Identity {
  readonly id: string
  readonly role: string
  readonly projectIds: string[] | null
  readonly ruleIds: string[] | null
  readonly blockedAt: string | null
}

/** An organization with the projects website and shop, and the command with a key of it. */
async function newOrganization() {
  const { id: organizationId, apiKey } = await running.addOrganization()
  const login: WorkspaceLogin = { url: running.url, apiKey }
  const service = new Service(running.url, apiKey)
  for (const [id, name] of [
    ['website', 'Website'],
    ['shop', 'Shop'],
  ]) {
    await service.send('PUT', `/v1/projects/${id}`, { name })
  }
  const run = (...args: string[]) => runWorkspace(['people', ...args], login)
  /** Runs a command that succeeds. */
  const done = async (...args: string[]) => {
    const { status, stdout, stderr } = await run(...args)
    expect([args, status, stderr]).toEqual([args, 0, ''])
    return stdout
  }
  const json = async (...args: string[]) => JSON.parse(await done(...args, '--json'))
  /** Somebody who has signed in. */
  const addPerson = async (userId: string, name: string, settings: Partial<NewIdentity> = {}) => {
    await service.send('PUT', `/v1/users/${userId}`, { name })
    const { body: key } = await service.send<{ id: string; token: string }>('POST', '/v1/api-keys', {
      name: 'signed in',
      scopes: ['skills:read'],
      userId,
    })
    const { id, queries } = signInOf({
      organizationId,
      userId,
      apiKeyId: key.id,
      issuer: ISSUER,
      role: 'member',
      ruleIds: [],
      ...settings,
    })
    await running.write(queries)
    return { id, isSignedIn: () => isValid(key.token) }
  }
  const identityOf = async (id: string) => (await service.send<Identity>('GET', `/v1/identities/${id}`)).body
  return { login, service, run, done, json, addPerson, identityOf }
}

const isValid = async (apiKey: string) =>
  (await fetch(`${running.url}/v1/me`, { headers: { Authorization: `Bearer ${apiKey}` } })).ok

const ADD = ['add-rule', '--issuer', ISSUER, '--claim', 'groups']

describe('invitations', () => {
  const INVITE = ['invite', 'Grace@example.com', '--issuer', ISSUER]

  it('are created, listed and deleted', async () => {
    const { login, run, done, json, service } = await newOrganization()
    const { organization } = JSON.parse((await runWorkspace(['whoami', '--json'], login)).stdout)
    expect(await done(...INVITE, '--role', 'member')).toBe(
      'Invited grace@example.com; the invitation ends in 6 days. No e-mail is sent: ' +
        `send them the address of your console, followed by /sign-in/${organization.id}\n`,
    )
    await service.send('PUT', '/v1/users/ada', { name: 'Ada' })
    const other = await json(
      'invite',
      'ada@example.com',
      '--issuer',
      ISSUER,
      '--role',
      'viewer',
      '--project',
      'Shop',
      '--user',
      'Ada',
      '--days',
      '30',
    )
    expect(other).toMatchObject({ email: 'ada@example.com', role: 'viewer', projectIds: ['shop'], userId: 'ada' })
    expect(await done('invitations')).toMatch(
      new RegExp(
        `^ID +E-MAIL .*\n\\S+ +grace@example.com +${ISSUER} +member +all +in 6 days +-\n\\S+ +ada@.* shop .*\n$`,
      ),
    )
    expect(await run(...INVITE, '--role', 'viewer')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is an open invitation for this e-mail address and issuer.'),
    })
    expect(await done('uninvite', 'GRACE@example.com')).toMatch(/^Deleted \S{36}\.\n$/)
    expect(await done('uninvite', other.id)).toBe(`Deleted ${other.id}.\n`)
    expect(await run('uninvite', 'grace@example.com')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no open invitation'),
    })
    expect((await run('invite', 'ada@example.com', '--role', 'viewer')).stderr).toMatch(/^--issuer <url> is missing\./)
  })
})

describe('rules', () => {
  it('are created, listed, tried out and deleted', async () => {
    const { run, done, json } = await newOrganization()
    const admins = await json(...ADD, '--value', 'admins', '--role', 'admin')
    const printed = await done(...ADD, '--value', 'engineers', '--role', 'member', '--project', 'Website', 'shop')
    const [, engineersId = ''] = /^Created (\S{36})\.\n$/.exec(printed) ?? []
    expect(admins).toMatchObject({ issuer: ISSUER, claim: 'groups', value: 'admins', role: 'admin', projectIds: null })
    expect(await done('rules')).toMatch(
      new RegExp(
        `^ID +ISSUER +CLAIM +VALUE +ROLE +PROJECTS\n${admins.id.slice(0, 8)}\\S* +${ISSUER} +groups +admins +admin +all\n\\S+ +${ISSUER} +groups +engineers +member +(website, shop|shop, website)\n$`,
      ),
    )

    const attempt = (...claims: string[]) => done('try', '--issuer', ISSUER, '--claim', ...claims)
    expect(await attempt('groups=engineers', 'groups=admins')).toBe(
      `Admitted as admin, in all projects, by the rule ${admins.id}.\n`,
    )
    expect(await attempt('groups=engineers', 'sub=1')).toBe(
      `Admitted as member, in the projects shop, website, by the rule ${engineersId}.\n`,
    )
    expect(await attempt('groups=Admins', 'teams=admins')).toBe('Not admitted: no rule matches.\n')
    expect(await done('try', '--issuer', 'https://other.example.com', '--claim', 'groups=admins')).toMatch(/^Not /)
    const preview = { admitted: true, role: 'admin', projectIds: null, ruleIds: [admins.id] }
    expect(await json('try', '--issuer', ISSUER, '--claim', 'groups=admins')).toEqual(preview)

    expect(await done('remove-rule', admins.id)).toBe(`Deleted ${admins.id}.\n`)
    expect(await attempt('groups=admins')).toMatch(/^Not admitted/)
    expect(await run('remove-rule', admins.id)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no sign-in rule'),
    })
  })

  it('of everybody at a provider: one claim has the issuer', async () => {
    const { done } = await newOrganization()
    await done('add-rule', '--issuer', ISSUER, '--claim', 'iss', '--value', ISSUER, '--role', 'viewer')
    expect(await done('try', '--issuer', ISSUER)).toMatch(/^Admitted as viewer, /)
  })

  it('need a role and values that exist', async () => {
    const { run } = await newOrganization()
    for (const [args, message] of [
      [[...ADD, '--value', 'x'], '--role <role> is missing.'],
      [[...ADD, '--role', 'viewer'], '--value <value> is missing.'],
      [[...ADD, '--value', 'x', '--role', 'owner'], "Option '--role <role>' argument 'owner' is invalid."],
      [['try', '--claim', 'groups=x'], '--issuer <url> is missing.'],
      [
        ['try', '--issuer', ISSUER, '--claim', 'groups'],
        "Option '--claim <name=value...>' argument 'groups' is invalid.",
      ],
      [['role', 'ada', 'owner'], "Command-argument value 'owner' is invalid for argument 'role'."],
      [['role', 'ada', 'rules', '--project', 'shop'], '--project cannot be used with rules.'],
    ] as const) {
      const { status, stderr } = await run(...args)
      expect([args, status, stderr.slice(0, message.length)]).toEqual([args, 2, message])
    }
    expect(await run(...ADD, '--value', 'x', '--role', 'viewer', '--project', 'nowhere')).toMatchObject({
      status: 1,
      stderr: 'There is no project with the ID or the name "nowhere".\n',
    })
  })

  it('do not give what the API key lacks', async () => {
    const { service, login, run } = await newOrganization()
    const { body } = await service.send<{ token: string }>('POST', '/v1/api-keys', {
      name: 'rules only',
      scopes: ['sign-in:read', 'sign-in:write'],
    })
    const args = ['people', ...ADD, '--value', 'x', '--role', 'viewer']
    const refused = await runWorkspace(args, { ...login, apiKey: body.token })
    expect(refused).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect((await run('rules', '--json')).stdout).toBe('')
  })
})

describe('people', () => {
  it('are listed with their role and why they have it', async () => {
    const { done, json, addPerson } = await newOrganization()
    const rule = await json(...ADD, '--value', 'engineers', '--role', 'member')
    const ada = await addPerson('u1', 'Ada Lovelace', { email: 'ada@example.com', ruleIds: [rule.id] })
    await addPerson('u2', 'Grace Hopper', { role: 'admin', ruleIds: null })
    const [heading, first, second] = (await done('list')).split('\n')
    expect(heading).toMatch(/^ID +NAME +E-MAIL +ISSUER +ROLE +WHY +LAST SIGN-IN +BLOCKED$/)
    expect(first).toMatch(/^\S+ +Ada Lovelace +ada@example\.com +https:\S+ +member +rules +\d+ s ago +-$/)
    expect(second).toMatch(/^\S+ +Grace Hopper +- +https:\S+ +admin +own role +\d+ s ago +-$/)
    expect(await done('list', '-o', 'wide')).toMatch(new RegExp(`${ada.id}.* all +u1 +subject-u1 `))
  })

  it('get a role of their own, and the rules decide again', async () => {
    const { done, json, addPerson, identityOf } = await newOrganization()
    const rule = await json(...ADD, '--value', 'engineers', '--role', 'member')
    const ada = await addPerson('u1', 'Ada', { email: 'ada@example.com', ruleIds: [rule.id] })
    expect(await ada.isSignedIn()).toBe(true)
    expect(await done('role', 'ADA@example.com', 'viewer', '--project', 'shop')).toBe(
      `Ada (ada@example.com of ${ISSUER}) has the role viewer.\n`,
    )
    expect(await identityOf(ada.id)).toMatchObject({ role: 'viewer', projectIds: ['shop'], ruleIds: null })
    expect(await ada.isSignedIn()).toBe(false)
    await done('role', 'ada', 'admin')
    expect(await identityOf(ada.id)).toMatchObject({ role: 'admin', projectIds: null })
    expect(await done('role', 'u1', 'rules')).toBe(
      `The rules decide about Ada (ada@example.com of ${ISSUER}) from the next sign-in on.\n`,
    )
    expect((await identityOf(ada.id)).ruleIds).not.toBe(null)
  })

  it('are blocked, unblocked and removed, and others stay', async () => {
    const { run, done, addPerson, identityOf } = await newOrganization()
    const [ada, grace, mary] = [
      await addPerson('u1', 'Ada'),
      await addPerson('u2', 'Grace'),
      await addPerson('u3', 'Mary'),
    ]
    expect(await done('block', 'Ada', grace.id)).toBe(
      `Blocked Ada (subject-u1 of ${ISSUER}).\nBlocked Grace (subject-u2 of ${ISSUER}).\n`,
    )
    expect((await identityOf(ada.id)).blockedAt).not.toBe(null)
    expect(await Promise.all([ada, grace, mary].map((each) => each.isSignedIn()))).toEqual([false, false, true])
    expect(await done('list')).toMatch(/Ada .* \d+ s ago\n.*Grace .* \d+ s ago\n.*Mary .* -\n$/)
    expect(await done('unblock', 'ada')).toBe(`Unblocked Ada (subject-u1 of ${ISSUER}).\n`)
    expect((await identityOf(ada.id)).blockedAt).toBe(null)

    expect(await done('remove', 'Mary')).toBe(`Removed the access of Mary (subject-u3 of ${ISSUER}).\n`)
    expect(await mary.isSignedIn()).toBe(false)
    // Nothing is changed if one of them cannot be found.
    expect(await run('remove', 'Ada', 'Mary')).toMatchObject({
      status: 1,
      stderr: 'There is no person with the ID or the name "Mary".\n',
    })
    expect(await done('list')).toContain('Ada')
  })

  it('of one name are told apart by their e-mail addresses', async () => {
    const { run, done, addPerson, identityOf } = await newOrganization()
    const one = await addPerson('u1', 'Ada', { email: 'ada@example.com' })
    const other = await addPerson('u2', 'Ada', { email: 'ada@example.org' })
    expect(await run('block', 'Ada')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('2 persons have the name'),
    })
    await done('block', 'ada@example.org')
    expect([await identityOf(one.id), await identityOf(other.id)]).toMatchObject([
      { blockedAt: null },
      { blockedAt: expect.any(String) },
    ])
  })

  it('whose name is the e-mail address of somebody else are not meant by it', async () => {
    const { run, done, addPerson, identityOf } = await newOrganization()
    const liar = await addPerson('u1', 'ada@example.com')
    expect(await run('role', 'ada@example.com', 'admin')).toMatchObject({
      status: 1,
      stderr: 'There is no person with the ID or the name "ada@example.com".\n',
    })
    const ada = await addPerson('u2', 'Ada', { email: 'ada@example.com' })
    await done('block', 'ada@example.com')
    expect([await identityOf(liar.id), await identityOf(ada.id)]).toMatchObject([
      { blockedAt: null },
      { blockedAt: expect.any(String) },
    ])
  })

  it('of one e-mail address at two providers are told apart by the provider', async () => {
    const { run, addPerson } = await newOrganization()
    const other = 'https://other.example.com'
    await addPerson('u1', 'Ada', { email: 'ada@example.com' })
    await addPerson('u2', 'Ada', { email: 'ada@example.com', issuer: other })
    const { status, stderr } = await run('block', 'ada@example.com')
    expect([status, stderr]).toEqual([1, expect.stringContaining(`Ada (ada@example.com of ${other})`)])
  })

  it('a rule that is deleted ends what they signed in with', async () => {
    const { done, json, addPerson } = await newOrganization()
    const rule = await json(...ADD, '--value', 'engineers', '--role', 'member')
    const ada = await addPerson('u1', 'Ada', { ruleIds: [rule.id] })
    const grace = await addPerson('u2', 'Grace', { ruleIds: null })
    await done('remove-rule', rule.id.slice(0, 20))
    expect([await ada.isSignedIn(), await grace.isSignedIn()]).toEqual([false, true])
  })
})
