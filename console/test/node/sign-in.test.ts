/** Sign-in with OpenID Connect, with issuers that misbehave. test/browser/sign-in.test.ts has a real one. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { localDatabaseFile, openLocalFile } from '../../../operate/database.ts'
import { EXAMPLE_IDS } from '../../../src/http/example-ids.ts'
import type { SignInProblem } from '../../src/providers/problem.ts'
import type { SignInWays } from '../../web/src/sign-in-ways.ts'
import { senderOf } from '../browser/people.ts'
import { type Console, startConsole } from '../console.ts'
import {
  type Asked,
  CLIENT_ID,
  CLIENT_SECRET,
  type Claims,
  type Issuers,
  newKeys,
  PICTURE,
  startIssuers,
} from '../issuer.ts'
import { type Answer, openPage } from '../sign-in-page.ts'

/** The organization of the demo. */
const ORGANIZATION = EXAMPLE_IDS.organizationId
/** Names of issuers, which have providers of the same IDs. */
const NAMES = [
  'main',
  'other',
  'algorithms',
  'without-userinfo',
  'down',
  'slash',
  'script',
  'rotating',
  'iss',
  'form',
  'large',
]

let issuers: Issuers
let running: Console

beforeAll(async () => {
  issuers = await startIssuers()
  const settings = NAMES.map((id) => ({
    id,
    name: `The ${id} provider`,
    issuer: issuers.issuerOf(id),
    client_id: CLIENT_ID,
    ...(id !== 'other' && { organization: ORGANIZATION }),
  }))
  issuers.at('algorithms').metadata = { id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'] }
  issuers.at('without-userinfo').metadata = { userinfo_endpoint: undefined }
  issuers.at('slash').metadata = { issuer: `${issuers.issuerOf('slash')}/` }
  issuers.at('script').metadata = { authorization_endpoint: 'javascript:alert(1)' }
  issuers.at('form').metadata = {
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  }
  issuers.at('iss').metadata = { authorization_response_iss_parameter_supported: true }
  const wrong = { id: 'wrong', name: 'Wrong', issuer: 'http://issuer.example', client_id: 'x' }
  const variables = [
    `SIGN_IN_PROVIDERS:${JSON.stringify([...settings, wrong])}`,
    ...NAMES.map((id) => `SIGN_IN_SECRET_${id.toUpperCase().replaceAll('-', '_')}:${CLIENT_SECRET}`),
  ]
  running = await startConsole(...variables.flatMap((variable) => ['--var', variable]))
})
afterAll(async () => {
  await running.stop()
  await issuers.stop()
})
beforeEach(() => {
  for (const name of NAMES) {
    const behaviour = issuers.at(name)
    behaviour.responses.clear()
    behaviour.asked.length = 0
    Object.assign(behaviour, { token: {}, userinfo: {}, algorithm: 'ES256', signing: behaviour.published })
  }
})

const open = (path: string, cookie?: string) => openPage(`${running.url}${path}`, cookie ? { Cookie: cookie } : {})

interface Started extends Asked {
  readonly cookie: string
  readonly url: URL
}

async function start(id = 'main', query = ''): Promise<Started> {
  const { location, cookies, html } = await open(`/sign-in/start/${id}${query}`)
  if (location === null) throw new Error(html)
  const url = new URL(location)
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  return {
    url,
    cookie: cookies[0]?.split(';')[0] ?? '',
    state: parameter('state'),
    nonce: parameter('nonce'),
    challenge: parameter('code_challenge'),
    redirectUri: parameter('redirect_uri'),
  }
}

/** The callback, as the browser opens it. @param parameters in place of the right ones; undefined: without it. */
async function callBack(
  id: string,
  started: Started,
  parameters: Readonly<Record<string, string | undefined>> = {},
  cookie = started.cookie,
): Promise<Answer> {
  const given = { code: issuers.code(id, started), state: started.state, ...parameters }
  const query = new URLSearchParams(Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return open(`/sign-in/callback/${id}?${query}`, cookie)
}

/** A whole sign-in, in which the issuer says this of the person. */
async function signIn(id = 'main', token: Claims = {}, query = ''): Promise<Answer> {
  issuers.at(id).token = token
  return callBack(id, await start(id, query))
}

/** Nobody was signed in, and the attempt cannot be used again. */
function expectRefused(answer: Answer, reason: SignInProblem['reason'], status: number): void {
  expect([answer.problem?.reason, answer.status]).toEqual([reason, status])
  expect(answer.cookies).toEqual([expect.stringMatching(/^__Host-sign-in=; Max-Age=0; Path=\/; HttpOnly; Secure/)])
  expect(answer.location).toBeNull()
}

describe('the start', () => {
  it('goes to the provider with state, nonce and PKCE, and keeps what the callback needs in a sealed cookie', async () => {
    const { cookies } = await open('/sign-in/start/main')
    expect(cookies).toEqual([
      expect.stringMatching(/^__Host-sign-in=[\w-]{100,}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    const { url, cookie, state, nonce, challenge } = await start('main', '?to=/schedules')
    expect(url.origin + url.pathname).toBe(`${issuers.issuerOf('main')}/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: `${running.url}/sign-in/callback/main`,
      scope: 'openid profile email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const sealed = Buffer.from(cookie.replace('__Host-sign-in=', ''), 'base64url').toString('latin1')
    for (const secret of [state, nonce, challenge, '/schedules', ORGANIZATION]) expect(sealed).not.toContain(secret)
    const other = await start()
    expect([other.state, other.nonce, other.challenge]).not.toContain(state)
  })

  it.each([
    ['/sign-in/start/unknown', 'unknown_provider', 404],
    ['/sign-in/start/wrong', 'unknown_provider', 404],
    ['/sign-in/start/other', 'no_organization', 400],
    ['/sign-in/start/other?organization=a%2Fb', 'organization_unavailable', 403],
    ['/sign-in/start/main?organization=another', 'organization_unavailable', 403],
    ['/sign-in/start/script', 'provider_invalid', 502],
    ['/sign-in/start/slash', 'provider_invalid', 502],
  ])('refuses %s', async (path, reason, status) => {
    const answer = await open(path)
    expect([answer.problem?.reason, answer.status]).toEqual([reason, status])
    expect([answer.cookies, answer.location]).toEqual([[], null])
  })

  it('says that the issuer has another name than the settings', async () => {
    const { problem } = await open('/sign-in/start/slash')
    const issuer = issuers.issuerOf('slash')
    expect(problem?.detail).toBe(`Its issuer is "${issuer}/", but the settings have "${issuer}".`)
  })

  it('says that the provider does not answer, and goes on when it does', async () => {
    issuers.at('down').responses.set('metadata', [503, {}])
    const down = await open('/sign-in/start/down')
    expect([down.problem?.reason, down.status, down.cookies]).toEqual(['provider_unavailable', 502, []])
    issuers.at('down').responses.clear()
    expect((await open('/sign-in/start/down')).status).toBe(302)
  })
})

describe('what the page offers', () => {
  const ask = async (query = '', site = 'same-origin') => {
    const response = await fetch(`${running.url}/session/providers${query}`, { headers: { 'Sec-Fetch-Site': site } })
    const body = (await response.json()) as Partial<SignInWays>
    return { status: response.status, ...body }
  }

  it('is the providers of an organization, and what is wrong with the settings', async () => {
    const main = { id: 'main', name: 'The main provider', issuer: issuers.issuerOf('main') }
    const other = { id: 'other', name: 'The other provider', issuer: issuers.issuerOf('other') }
    const none = await ask()
    expect(none).toMatchObject({ status: 200, hasApiKeys: true, needsOrganization: true })
    expect(none.providers).toContainEqual(main)
    expect(none.providers).not.toContainEqual(other)
    expect(none.problems).toEqual([
      'SIGN_IN_PROVIDERS[11].issuer is "http://issuer.example"; allowed: an https URL without query and fragment, or http on localhost.',
    ])
    const own = await ask(`?organization=${ORGANIZATION}`)
    expect(own.needsOrganization).toBe(false)
    for (const provider of [main, other]) expect(own.providers).toContainEqual(provider)
    expect((await ask('?organization=another')).providers).toEqual([other])
    expect(JSON.stringify([none, own])).not.toContain(CLIENT_SECRET)
  })

  it('is not for other sites', async () => {
    expect((await ask('', 'cross-site')).status).toBe(403)
  })
})

describe('a callback', () => {
  it('of a person whom no rule admits shows their claims', async () => {
    issuers.at('main').userinfo = { groups: ['engineers', '</script><script>alert(1)</script>'] }
    const answer = await signIn('main', { name: 'Ada', email: 'Ada@Example.com', email_verified: true, acr: 2 })
    expectRefused(answer, 'not_admitted', 403)
    const issuer = issuers.issuerOf('main')
    expect(new Map(answer.problem?.claims.map(([claim, value]) => [`${claim}=${value}`, 1]))).toEqual(
      new Map(
        [
          `iss=${issuer}`,
          'sub=ada',
          'name=Ada',
          'email=ada@example.com',
          'email_verified=true',
          'acr=2',
          'groups=engineers',
          'groups=</script><script>alert(1)</script>',
        ].map((claim) => [claim, 1]),
      ),
    )
    expect(answer.html).not.toContain('<script>alert')
    expect(answer.problem).toMatchObject({ provider: 'The main provider', organization: ORGANIZATION, to: '/' })
    expect(issuers.at('main').asked).toEqual(expect.arrayContaining(['token', 'userinfo']))
  })

  it('needs the cookie of this attempt, of this browser and of this provider', async () => {
    const started = await start()
    expectRefused(await callBack('main', started, {}, '__Host-x=1'), 'expired', 400)
    expectRefused(await callBack('main', started, {}, (await start()).cookie), 'expired', 400)
    // Both providers have the same client secret.
    const other = await start('other', `?organization=${ORGANIZATION}`)
    expectRefused(await callBack('main', started, {}, other.cookie), 'expired', 400)
    expectRefused(await callBack('other', started), 'expired', 400)
    expectRefused(await callBack('main', { ...started, cookie: `${started.cookie}A` }), 'expired', 400)
    const sealed = started.cookie
    const flipped = `${sealed.slice(0, 60)}${sealed[60] === 'A' ? 'B' : 'A'}${sealed.slice(61)}`
    expectRefused(await callBack('main', started, {}, flipped), 'expired', 400)
    expectRefused(await callBack('main', started, {}, '__Host-sign-in=e30'), 'expired', 400)
    expect(issuers.at('main').asked).not.toContain('token')
    expectRefused(await callBack('main', started), 'not_admitted', 403)
  })

  it.each([
    ['another state', { state: 'x'.repeat(43) }, 'expired', 400],
    ['no state', { state: undefined }, 'expired', 400],
    ['no code', { code: undefined }, 'provider_invalid', 502],
    ['an unknown code', { code: 'unknown' }, 'provider_refused', 403],
    ['the issuer of another provider', { iss: 'http://127.0.0.1/other' }, 'provider_invalid', 502],
    ['an ID token', { id_token: 'a.b.c' }, 'provider_invalid', 502],
    ['an error', { code: undefined, error: 'access_denied', error_description: 'Not now.' }, 'provider_refused', 403],
  ] as const)('with %s signs nobody in', async (_, parameters, reason, status) => {
    expectRefused(await callBack('main', await start(), parameters), reason, status)
  })

  it('shows what the provider says', async () => {
    const parameters = { code: undefined, error: 'access_denied', error_description: 'Not <b>now</b>, ada@x.com.' }
    const { problem, html } = await callBack('main', await start(), parameters)
    expect(problem?.detail).toBe('access_denied: Not <b>now</b>, ada@x.com.')
    expect(html).not.toContain('<b>now')
  })

  it('needs the issuer in the response of a provider that says it sends it', async () => {
    expectRefused(await callBack('iss', await start('iss')), 'provider_invalid', 502)
    const iss = issuers.issuerOf('iss')
    expectRefused(await callBack('iss', await start('iss'), { iss }), 'not_admitted', 403)
  })

  it('is for one code, which works once', async () => {
    const started = await start()
    const code = issuers.code('main', started)
    expectRefused(await callBack('main', started, { code }), 'not_admitted', 403)
    // As if the cookie had been copied before.
    expectRefused(await callBack('main', started, { code }), 'provider_refused', 403)
    // A code that somebody else got, as for their own sign-in in another browser.
    const stolen = issuers.code('main', await start())
    expectRefused(await callBack('main', started, { code: stolen }), 'provider_refused', 403)
    const ofOther = issuers.code('other', started)
    expectRefused(await callBack('main', started, { code: ofOther }), 'provider_refused', 403)
  })

  const past = Math.floor(Date.now() / 1000) - 600
  it.each<readonly [string, () => Claims]>([
    ['another nonce', () => ({ nonce: 'another' })],
    ['no nonce', () => ({ nonce: undefined })],
    ['another issuer', () => ({ iss: issuers.issuerOf('other') })],
    ['no issuer', () => ({ iss: undefined })],
    ['another audience', () => ({ aud: 'somebody else' })],
    ['several audiences, and another authorized party', () => ({ aud: [CLIENT_ID, 'else'], azp: 'else' })],
    ['another authorized party', () => ({ azp: 'else' })],
    ['no audience', () => ({ aud: undefined })],
    ['no subject', () => ({ sub: undefined })],
    ['an empty subject', () => ({ sub: '' })],
    ['a blank subject', () => ({ sub: ' ' })],
    ['an end in the past', () => ({ exp: past })],
    ['no end', () => ({ exp: undefined })],
    ['a beginning in the future', () => ({ nbf: past + 3600 })],
  ])('refuses an ID token with %s', async (_, token) => {
    expectRefused(await signIn('main', token()), 'provider_invalid', 502)
    expectRefused(await signIn('without-userinfo', token()), 'provider_invalid', 502)
    expectRefused(await signIn(), 'not_admitted', 403)
  })

  it('accepts an ID token whose authorized party is the console', async () => {
    expectRefused(await signIn('main', { azp: CLIENT_ID }), 'not_admitted', 403)
  })

  it('reads at most 2 MiB of what an issuer sends', async () => {
    const padding = 'x'.repeat(2 * 2 ** 20)
    const { publicKey, id } = issuers.at('large').published
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: id, alg: 'ES256', use: 'sig' }]
    for (const [endpoint, body] of [
      ['keys', { keys }],
      ['userinfo', { sub: 'ada' }],
    ] as const) {
      issuers.at('large').responses.set(endpoint, [200, { ...body, padding }])
      const answer = await signIn('large')
      expectRefused(answer, 'provider_invalid', 502)
      expect(answer.problem?.detail).toBe(`${new URL(issuers.url).host} responded with more than 2 MiB.`)
      issuers.at('large').responses.set(endpoint, [200, body])
    }
    expectRefused(await signIn('large'), 'not_admitted', 403)
  })

  it.each(['none', 'HS256 with the public key', 'HS256 with the client secret'] as const)(
    'refuses an ID token of the algorithm %s',
    async (algorithm) => {
      for (const id of ['main', 'algorithms']) {
        issuers.at(id).algorithm = algorithm
        expectRefused(await signIn(id), 'provider_invalid', 502)
        issuers.at(id).algorithm = 'ES256'
        expectRefused(await signIn(id), 'not_admitted', 403)
      }
    },
  )

  it('refuses an ID token that another key has signed, also under the ID of the right one', async () => {
    const { published } = issuers.at('main')
    for (const signing of [newKeys(), newKeys(published.id)]) {
      issuers.at('main').signing = signing
      expectRefused(await signIn(), 'provider_invalid', 502)
    }
  })

  it('reads new keys of the provider at once, and the old ones count no more', async () => {
    const behaviour = issuers.at('rotating')
    expectRefused(await signIn('rotating'), 'not_admitted', 403)
    const old = behaviour.published
    for (const keys of [newKeys(), newKeys(old.id)]) {
      behaviour.signing = keys
      behaviour.published = keys
      expectRefused(await signIn('rotating'), 'not_admitted', 403)
    }
    behaviour.signing = old
    expectRefused(await signIn('rotating'), 'provider_invalid', 502)
  })

  it('refuses the userinfo of another person', async () => {
    issuers.at('main').userinfo = { sub: 'grace', groups: ['admins'] }
    expectRefused(await signIn(), 'provider_invalid', 502)
  })

  it('takes the claims of the ID token before those of the userinfo endpoint', async () => {
    issuers.at('main').userinfo = { groups: ['admins'], department: 'sales' }
    const { problem } = await signIn('main', { groups: ['visitors'] })
    expect(problem?.claims).toContainEqual(['groups', 'visitors'])
    expect(problem?.claims).toContainEqual(['department', 'sales'])
    expect(problem?.claims).not.toContainEqual(['groups', 'admins'])
  })

  it.each<readonly [string, Claims, Claims, string | undefined]>([
    ['verified', { email: 'Ada@x.com', email_verified: true }, {}, 'ada@x.com'],
    ['verified, as text', {}, { email: 'ada@x.com', email_verified: 'true' }, 'ada@x.com'],
    ['not verified', { email: 'ada@x.com', email_verified: false }, {}, undefined],
    ['of which nothing is said', { email: 'ada@x.com' }, {}, undefined],
    ['for which the other source vouches', { email: 'a@x.com' }, { email: 'a@x.com', email_verified: true }, 'a@x.com'],
    ['when another one is verified', { email: 'a@x.com' }, { email: 'b@x.com', email_verified: true }, undefined],
    ['of userinfo alone', { email_verified: true }, { email: 'b@x.com' }, undefined],
  ])('has the e-mail address only if it is verified: one %s', async (_, token, userinfo, email) => {
    issuers.at('main').userinfo = userinfo
    const { problem } = await signIn('main', token)
    expect(problem?.claims.find(([claim]) => claim === 'email')?.[1]).toBe(email)
  })

  it.each([
    ['token', 500, {}, 'provider_unavailable', 502],
    ['token', 401, { error: 'invalid_client' }, 'provider_refused', 403],
    ['token', 200, 'no object', 'provider_invalid', 502],
    ['token', 200, { access_token: 'x', token_type: 'Bearer' }, 'provider_invalid', 502],
    ['userinfo', 503, {}, 'provider_unavailable', 502],
    ['userinfo', 200, {}, 'provider_invalid', 502],
  ] as const)(
    'signs nobody in if the endpoint %s responds with %d and %j',
    async (endpoint, code, body, reason, status) => {
      issuers.at('main').responses.set(endpoint, [code, body])
      expectRefused(await signIn(), reason, status)
    },
  )

  it('of a provider without a userinfo endpoint has the claims of the ID token', async () => {
    const answer = await signIn('without-userinfo', { groups: ['engineers'] })
    expectRefused(answer, 'not_admitted', 403)
    expect(answer.problem?.claims).toContainEqual(['groups', 'engineers'])
    expect(issuers.at('without-userinfo').asked).not.toContain('userinfo')
  })

  it('sends the client secret in the form if the provider takes it there', async () => {
    expectRefused(await signIn('form'), 'not_admitted', 403)
  })

  it('says that the client secret is wrong', async () => {
    issuers.at('main').responses.set('token', [401, {}, { 'WWW-Authenticate': 'Basic realm="x"' }])
    const answer = await signIn()
    expectRefused(answer, 'provider_refused', 403)
    expect(answer.problem?.detail).toBe('The provider does not accept the client ID or the client secret.')
  })

  it('of an organization that does not exist says so', async () => {
    const other = await start('other', '?organization=0198c0de-0000-7000-8000-00000000ffff')
    const refused = await callBack('other', other)
    expectRefused(refused, 'organization_unavailable', 403)
  })
})

describe('a person whom a rule admits', () => {
  /** A request to the API with a key of the demo, which may do everything. */
  async function ask<Body>(method: string, path: string, body?: object, key = running.demo.apiKey): Promise<Body> {
    return await senderOf(running.demo.baseUrl, key)(method, path, body)
  }
  const ruleOf = (id: string, value: string, role: string) =>
    ask('POST', '/v1/sign-in-rules', { issuer: issuers.issuerOf(id), claim: 'groups', value, role })

  beforeAll(async () => {
    await ruleOf('main', 'engineers', 'member')
    await ruleOf('main', 'readers', 'viewer')
  })

  interface Me {
    readonly user: { readonly id: string; readonly name: string }
    readonly apiKey: { readonly kind: string; readonly identityId: string; readonly scopes: readonly string[] }
    readonly organization: { readonly id: string }
  }

  /** @returns who the answer signed in. */
  async function meOf(answer: Answer): Promise<Me> {
    const [, token = answer.html] = /^__Host-session=([^;]+)/.exec(answer.cookies.at(-1) ?? '') ?? []
    return ask('GET', '/v1/me', undefined, token)
  }

  const engineer = (sub: string, more: Claims = {}): Claims => ({
    sub,
    groups: ['engineers'],
    name: `Name of ${sub}`,
    ...more,
  })
  const engineerIn = (sub: string, more: Claims = {}, query = '') => {
    issuers.at('main').userinfo = { sub }
    return signIn('main', engineer(sub, more), query)
  }

  it('gets the cookie of a session, and the page that they wanted', async () => {
    const answer = await engineerIn('rosa', {}, `?to=${encodeURIComponent('/schedules?state=paused#top')}`)
    expect([answer.status, answer.location]).toEqual([302, `${running.url}/schedules?state=paused#top`])
    expect(answer.cookies).toEqual([
      expect.stringMatching(/^__Host-sign-in=; Max-Age=0; Path=\/; HttpOnly; Secure/),
      expect.stringMatching(/^__Host-session=wsk_[\w-]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/),
    ])
    const me = await meOf(answer)
    expect(me).toMatchObject({
      user: { name: 'Name of rosa' },
      organization: { id: ORGANIZATION },
      apiKey: { kind: 'session', identityId: expect.any(String) },
    })
    expect(me.apiKey.scopes).toContain('schedules:write')
    expect(me.apiKey.scopes).not.toContain('users:write')
    const again = await meOf(await engineerIn('rosa'))
    expect([again.user, again.apiKey.identityId]).toEqual([me.user, me.apiKey.identityId])
  })

  it.each([
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'evil.example',
    '@evil.example',
    '/api/v1/me',
    '/session/providers',
    '/sign-in/start/main',
    `/${'x'.repeat(2500)}`,
    '',
  ])('goes to no other place: %j', async (to) => {
    const answer = await engineerIn('ida', {}, `?to=${encodeURIComponent(to)}`)
    expect([answer.status, answer.location]).toEqual([302, `${running.url}/`])
  })

  it('is another one at another issuer, also with the same subject and e-mail address', async () => {
    await ruleOf('other', 'engineers', 'member')
    const same = { email: 'eve@example.com', email_verified: true }
    const main = await meOf(await engineerIn('eve', same))
    issuers.at('other').token = engineer('eve', same)
    issuers.at('other').userinfo = { sub: 'eve' }
    const other = await meOf(await callBack('other', await start('other', `?organization=${ORGANIZATION}`)))
    expect(other.user.id).not.toBe(main.user.id)
  })

  it('who is blocked is told so', async () => {
    const me = await meOf(await engineerIn('bea'))
    await ask('PATCH', `/v1/identities/${me.apiKey.identityId}`, { blocked: true })
    expectRefused(await engineerIn('bea'), 'blocked', 403)
  })

  it('waits for no database that fails', async () => {
    const database = openLocalFile(localDatabaseFile({ remote: false, persistTo: running.state }))
    database.exec(`CREATE TRIGGER "refuses" BEFORE INSERT ON "identities" BEGIN SELECT raise(abort, 'no'); END`)
    try {
      expectRefused(await engineerIn('una'), 'unavailable', 503)
    } finally {
      database.exec('DROP TRIGGER "refuses"')
      database.close()
    }
    expect((await engineerIn('una')).status).toBe(302)
  })

  describe('with a picture', () => {
    const pictureOf = async ({ user }: Me) => {
      const headers = { Authorization: `Bearer ${running.demo.apiKey}` }
      return await fetch(`${running.demo.baseUrl}/v1/users/${user.id}/profile-picture`, { headers })
    }
    const picture = () => `${issuers.issuerOf('main')}/picture`
    const unstored = () => running.printed().split('The picture of a person was not stored').length - 1

    it('has it after the first sign-in, and keeps their own afterwards', async () => {
      const me = await meOf(await engineerIn('pia', { picture: picture() }))
      await expect.poll(async () => (await pictureOf(me)).status).toBe(200)
      expect(Buffer.from(await (await pictureOf(me)).arrayBuffer())).toEqual(PICTURE)
      issuers.at('main').asked.length = 0
      await engineerIn('pia', { picture: picture() })
      expect(issuers.at('main').asked).not.toContain('picture')
    })

    it.each<readonly [string, () => string, readonly [number, unknown] | undefined, RegExp]>([
      ['of another protocol', () => 'data:image/png;base64,AAAA', undefined, /its address does not begin with https/],
      ['without TLS', () => 'http://192.0.2.1/secret-path', undefined, /its address does not begin with https/],
      [
        'of a host that is not public',
        () => 'https://10.0.0.1/secret-path',
        undefined,
        /its address has an IP address/,
      ],
      ['that is no URL', () => 'secret-path', undefined, /its address is not a URL/],
      ['that is elsewhere', picture, [302, {}], /its server responded with 302/],
      ['that is missing', picture, [404, {}], /its server responded with 404/],
      ['that is too large', picture, [200, Buffer.alloc(5 * 2 ** 20 + 1)], /it has more than 5242880 bytes/],
      ['that is not a picture', picture, [200, { html: '<script>' }], /the API responded with 400/],
    ])('%s has none, which the log says without its address', async (what, url, response, reason) => {
      if (response) issuers.at('main').responses.set('picture', response)
      const before = unstored()
      const me = await meOf(await engineerIn(`pat ${what}`, { picture: url() }))
      await expect.poll(unstored).toBe(before + 1)
      const line =
        running
          .printed()
          .trimEnd()
          .split('\n')
          .findLast((each) => each.includes('was not stored')) ?? ''
      expect(line).toMatch(reason)
      expect(line).not.toMatch(/secret-path|127\.0\.0\.1|base64/)
      expect((await pictureOf(me)).status).toBe(404)
    })

    it('has none if their role may not set it', async () => {
      issuers.at('main').userinfo = { sub: 'vic' }
      const answer = await signIn('main', { sub: 'vic', groups: ['readers'], picture: picture() })
      expect(answer.status).toBe(302)
      expect((await meOf(answer)).apiKey.scopes).not.toContain('profile-picture:write')
      expect(issuers.at('main').asked).not.toContain('picture')
    })
  })
})

it('takes no API keys if the settings say so', async () => {
  const own = await startConsole('--var', 'SIGN_IN_WITH_API_KEY:off')
  try {
    const headers = { 'Sec-Fetch-Site': 'same-origin' }
    const ways = await fetch(`${own.url}/session/providers`, { headers })
    expect(await ways.json()).toEqual({ providers: [], hasApiKeys: false, needsOrganization: false, problems: [] })
    const body = JSON.stringify({ apiKey: own.demo.apiKey })
    const response = await fetch(`${own.url}/session`, { method: 'POST', headers, body })
    expect([response.status, response.headers.getSetCookie()]).toEqual([403, []])
    expect(await response.json()).toEqual({ error: 'This console does not sign in with API keys.' })
  } finally {
    await own.stop()
  }
})

it('logs the error code of the provider, but no description, token, code or secret', () => {
  const lines = running
    .printed()
    .split('\n')
    .filter((line) => line.includes('{"signIn"'))
  for (const code of ['access_denied', 'invalid_grant', 'invalid_client']) {
    expect(lines.join('\n')).toContain(`"failure":"Error: ${code}"`)
  }
  const descriptions = ['ada@', 'Not <b>now', 'The code was used before']
  for (const secret of ['eyJ', 'an access token', CLIENT_SECRET, ...descriptions]) {
    expect(lines.join('\n')).not.toContain(secret)
  }
})
