/** Sign-in with Cloudflare Access, whose assertion comes with the request. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EXAMPLE_IDS } from '../../../src/http/example-ids.ts'
import type { SignInProblem } from '../../src/providers/problem.ts'
import { assertion, type Difference, newKey, startTeam, type Team } from '../access-team.ts'
import { senderOf } from '../browser/people.ts'
import { type Console, startConsole } from '../console.ts'
import { type Answer, openPage } from '../sign-in-page.ts'

/** The organization of the demo. */
const ORGANIZATION = EXAMPLE_IDS.organizationId
/** AUD tags of two applications of the team. */
const AUDIENCE = '32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228'
const OTHER_AUDIENCE = 'cf1b53c422832eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3d'

let team: Team
let otherTeam: Team
let slowTeam: Team
let running: Console

beforeAll(async () => {
  ;[team, otherTeam, slowTeam] = await Promise.all([startTeam(), startTeam(), startTeam()])
  const settings = [
    { id: 'access', team_domain: team.domain, audience: AUDIENCE, organization: ORGANIZATION },
    { id: 'other', team_domain: otherTeam.domain, audience: AUDIENCE },
    { id: 'slow', team_domain: slowTeam.domain, audience: AUDIENCE, organization: ORGANIZATION },
  ].map((each) => ({ ...each, name: `Access of ${each.id}`, type: 'access' }))
  running = await startConsole('--var', `SIGN_IN_PROVIDERS:${JSON.stringify(settings)}`)
})
afterAll(async () => {
  await running.stop()
  await Promise.all([team, otherTeam, slowTeam].map((each) => each.stop()))
})
beforeEach(() => {
  for (const each of [team, otherTeam, slowTeam]) {
    each.responses.clear()
    each.asked.length = 0
    each.identity = {}
  }
})

/** Opens the start as Access sends it on. */
const openWith = (sent: string, id = 'access', query = '', headers = {}) =>
  openPage(`${running.url}/sign-in/start/${id}${query}`, { 'Cf-Access-Jwt-Assertion': sent, ...headers })

const signIn = (difference?: Difference) => openWith(assertion(team, AUDIENCE, difference))

function expectRefused(answer: Answer, reason: SignInProblem['reason'], status: number): void {
  expect([answer.problem?.reason, answer.status]).toEqual([reason, status])
  expect(answer.cookies).toEqual([])
  expect(answer.location).toBeNull()
}

describe('an assertion', () => {
  it('of a person whom no rule admits shows who Access says that they are', async () => {
    team.identity = {
      name: 'Ada Lovelace',
      groups: [{ id: '00g1', name: 'engineers', email: 'engineers@example.com' }],
      ip: '192.0.2.1',
      devicePosture: { a: { success: true } },
    }
    const answer = await signIn({ claims: { email: 'Ada@Example.com', custom: { department: 'sales' } } })
    expectRefused(answer, 'not_admitted', 403)
    expect(new Map(answer.problem?.claims.map(([claim, value]) => [claim, value]))).toEqual(
      new Map([
        ['iss', team.domain],
        ['sub', '7335d417-61da-459d-899c-0a01c76a2f94'],
        ['email', 'ada@example.com'],
        ['email_verified', 'true'],
        ['name', 'Ada Lovelace'],
        ['groups.id', '00g1'],
        ['groups.name', 'engineers'],
        ['groups.email', 'engineers@example.com'],
        ['custom.department', 'sales'],
      ]),
    )
    expect(answer.problem).toMatchObject({ provider: 'Access of access', providerType: 'access', to: '/' })
  })

  it.each<readonly [string, () => Difference]>([
    ['expired', () => ({ claims: { exp: Math.floor(Date.now() / 1000) - 60 } })],
    ['without an end', () => ({ claims: { exp: undefined } })],
    ['from the future', () => ({ claims: { nbf: Math.floor(Date.now() / 1000) + 600 } })],
    ['of another team', () => ({ claims: { iss: otherTeam.domain }, key: otherTeam.keys.current })],
    ['of another team, in the name of this one', () => ({ key: otherTeam.keys.current })],
    ['of this team, in the name of another', () => ({ claims: { iss: otherTeam.domain } })],
    ['without an issuer', () => ({ claims: { iss: undefined } })],
    ['of the issuer with a slash', () => ({ claims: { iss: `${team.domain}/` } })],
    ['of another application', () => ({ claims: { aud: [OTHER_AUDIENCE] } })],
    ['without an application', () => ({ claims: { aud: undefined } })],
    ['without a signature', () => ({ header: { alg: 'none' }, key: 'none' })],
    ['without a signature, as if it had one', () => ({ key: 'none', header: { kid: team.keys.current.id } })],
    [
      'signed with HS256 and the published key',
      () => hmac(String(published().export({ format: 'pem', type: 'spki' }))),
    ],
    [
      'signed with HS256 and the modulus',
      () => hmac(Buffer.from(published().export({ format: 'jwk' }).n ?? '', 'base64url')),
    ],
    ['signed with HS256 and nothing', () => hmac('')],
    ['signed with RS512', () => rs512],
    ['signed with RS512, by a key for any', () => ({ ...rs512, key: team.keys.previous })],
    ['without the ID of its key', () => ({ header: { kid: undefined } })],
    ['of an unknown key', () => ({ key: newKey() })],
    ['of another key under the ID of the right one', () => ({ key: newKey(team.keys.current.id) })],
    ['with its own key', () => ({ key: newKey(), header: { jwk: newKey().publicKey.export({ format: 'jwk' }) } })],
    ['with an extension that has to be understood', () => ({ header: { crit: ['x'], x: 1 } })],
  ])('%s signs nobody in', async (_, difference) => {
    expectRefused(await signIn(difference()), 'provider_invalid', 502)
    expect(team.asked).not.toContain('get-identity')
    expectRefused(await signIn(), 'not_admitted', 403)
  })

  const rs512: Difference = { header: { alg: 'RS512' }, hash: 'sha512' }
  const published = () => team.keys.current.publicKey
  const hmac = (secret: string | Buffer): Difference => ({ header: { alg: 'HS256' }, secret })

  it.each(['', 'x', 'a.b.c', 'e30.e30.', '..', `${'a'.repeat(5000)}.b.c`])(
    'that is not a token signs nobody in: %j',
    async (sent) => {
      expectRefused(await openWith(sent), 'provider_invalid', 502)
    },
  )

  it('that was changed signs nobody in', async () => {
    const [header = '', payload = '', signature = ''] = assertion(team, AUDIENCE).split('.')
    const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), email: 'eve@example.com' }
    const sent = [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.')
    expectRefused(await openWith(sent), 'provider_invalid', 502)
  })

  it('of the key before is still one', async () => {
    expectRefused(await signIn({ key: team.keys.previous }), 'not_admitted', 403)
  })

  it('is for one provider', async () => {
    const ofOther = assertion(otherTeam, AUDIENCE)
    expectRefused(await openWith(ofOther), 'provider_invalid', 502)
    expectRefused(await openWith(ofOther, 'other', `?organization=${ORGANIZATION}`), 'not_admitted', 403)
    expectRefused(await openWith(ofOther, 'other'), 'no_organization', 400)
    expectRefused(
      await openWith(assertion(team, AUDIENCE), 'access', '?organization=x'),
      'organization_unavailable',
      403,
    )
  })

  it.each([
    ['a service token', { sub: '', common_name: 'e367826f93b8d71185e03fe518aff3b4.access', email: undefined }],
    ['nobody', { sub: '' }],
    ['a person without an address', { email: undefined }],
    ['a person with another kind of address', { email: ['ada@example.com'] }],
  ])('of %s signs nobody in', async (_, claims) => {
    const answer = await signIn({ claims })
    expectRefused(answer, 'provider_refused', 403)
    expect(answer.problem?.detail).toBe('The assertion names no person. Service tokens cannot sign in.')
  })

  it('has to be there, in the header', async () => {
    const Cookie = `CF_Authorization=${assertion(team, AUDIENCE)}`
    const answer = await openPage(`${running.url}/sign-in/start/access`, { Cookie })
    expectRefused(answer, 'provider_invalid', 502)
    expect(answer.problem?.detail).toBe(
      'The request has no Cf-Access-Jwt-Assertion: Access does not protect this address.',
    )
  })

  it.each(['image', 'iframe', 'empty'])('is not for what a page of another site loads: %s', async (kind) => {
    const answer = await openWith(assertion(team, AUDIENCE), 'access', '', { 'Sec-Fetch-Dest': kind })
    expect([answer.status, answer.cookies]).toEqual([403, []])
    expect(team.asked).toEqual([])
  })

  it('has no callback', async () => {
    expectRefused(await openPage(`${running.url}/sign-in/callback/access?code=x`), 'unknown_provider', 404)
  })
})

describe('the team domain', () => {
  it.each<readonly [number, unknown, SignInProblem['reason'], number]>([
    [500, {}, 'provider_unavailable', 502],
    [302, {}, 'provider_unavailable', 502],
    [400, { err: 'no app token set' }, 'provider_refused', 403],
    [200, 'no JSON', 'provider_invalid', 502],
    [200, [], 'provider_invalid', 502],
    [200, {}, 'provider_invalid', 502],
    [200, { err: 'expired' }, 'provider_invalid', 502],
    [200, { email: 'eve@example.com', groups: ['admins'] }, 'provider_invalid', 502],
  ])('that says %d and %j of the person signs nobody in', async (code, body, reason, status) => {
    team.responses.set('get-identity', [code, body])
    expectRefused(await signIn(), reason, status)
  })

  it('may write the address differently', async () => {
    team.identity = { email: 'ADA@example.com' }
    expectRefused(await signIn(), 'not_admitted', 403)
  })

  it('that does not give its keys signs nobody in, until it does', async () => {
    const sent = assertion(slowTeam, AUDIENCE)
    slowTeam.responses.set('certs', [503, {}])
    expectRefused(await openWith(sent, 'slow'), 'provider_unavailable', 502)
    slowTeam.responses.set('certs', [200, 'no JSON'])
    expectRefused(await openWith(sent, 'slow'), 'provider_unavailable', 502)
    const padding = 'x'.repeat(2 * 2 ** 20)
    for (const [endpoint, body] of [
      ['certs', { keys: [] }],
      ['get-identity', { email: 'ada@example.com' }],
    ] as const) {
      slowTeam.responses.set(endpoint, [200, { ...body, padding }])
      const answer = await openWith(sent, 'slow')
      expectRefused(answer, 'provider_invalid', 502)
      expect(answer.problem?.detail).toBe(`${new URL(slowTeam.domain).host} responded with more than 2 MiB.`)
      slowTeam.responses.clear()
    }
    expectRefused(await openWith(sent, 'slow'), 'not_admitted', 403)
  })
})

describe('a person whom a rule admits', () => {
  const ask = <Body>(method: string, path: string, body?: object, key = running.demo.apiKey): Promise<Body> =>
    senderOf(running.demo.baseUrl, key)(method, path, body)

  interface Me {
    readonly user: { readonly id: string; readonly name: string }
    readonly apiKey: { readonly kind: string; readonly identityId: string }
  }

  async function meOf(answer: Answer): Promise<Me> {
    const [, token = answer.html] = /^__Host-session=([^;]+)/.exec(answer.cookies.at(-1) ?? '') ?? []
    return ask('GET', '/v1/me', undefined, token)
  }

  const engineers = {
    groups: [
      { id: '1', name: 'everybody' },
      { id: '2', name: 'engineers' },
    ],
  }

  beforeAll(async () => {
    for (const [issuer, claim, value] of [
      [team.domain, 'groups.name', 'engineers'],
      [otherTeam.domain, 'groups', 'engineers'],
    ]) {
      await ask('POST', '/v1/sign-in-rules', { issuer, claim, value, role: 'member' })
    }
  })

  it('is signed in at once, and sees the page that they wanted', async () => {
    team.identity = { name: 'Ada Lovelace', ...engineers }
    const answer = await openWith(assertion(team, AUDIENCE), 'access', '?to=/schedules')
    expect([answer.status, answer.location]).toEqual([302, `${running.url}/schedules`])
    expect(answer.cookies).toEqual([
      expect.stringMatching(/^__Host-session=wsk_[\w-]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/),
    ])
    const me = await meOf(answer)
    expect(me).toMatchObject({ user: { name: 'Ada Lovelace' }, apiKey: { kind: 'session' } })
    const again = await openWith(assertion(team, AUDIENCE), 'access', '?to=//evil.example')
    expect(again.location).toBe(`${running.url}/`)
    expect((await meOf(again)).apiKey.identityId).toBe(me.apiKey.identityId)
  })

  it('is known by subject, not by e-mail address', async () => {
    team.identity = engineers
    otherTeam.identity = { groups: ['engineers'] }
    const first = await meOf(await signIn({ claims: { email: 'same@example.com', sub: 'first' } }))
    const second = await meOf(await signIn({ claims: { email: 'same@example.com', sub: 'second' } }))
    const claims = { email: 'same@example.com', sub: 'first' }
    const sent = assertion(otherTeam, AUDIENCE, { claims })
    const third = await meOf(await openWith(sent, 'other', `?organization=${ORGANIZATION}`))
    expect(new Set([first, second, third].map(({ user }) => user.id)).size).toBe(3)
    const moved = await meOf(await signIn({ claims: { email: 'moved@example.com', sub: 'first' } }))
    expect(moved.user.id).toBe(first.user.id)
  })

  it('has no access any more when they have left the group', async () => {
    const claims = { email: 'bea@example.com', sub: 'bea' }
    team.identity = engineers
    const me = await signIn({ claims })
    team.identity = { groups: [] }
    expectRefused(await signIn({ claims }), 'not_admitted', 403)
    await expect(meOf(me)).rejects.toThrow('401')
  })
})

it('logs why nobody was signed in, but no assertion and no address', () => {
  const lines = running
    .printed()
    .split('\n')
    .filter((line) => line.includes('{"signIn"'))
    .join('\n')
  expect(lines).toContain('unexpected \\"aud\\" claim value')
  for (const secret of ['eyJ', '@example.com']) expect(lines).not.toContain(secret)
})
