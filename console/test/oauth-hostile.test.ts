/** Apps that lie, steal and flood. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { message, postMcp } from '../../mcp/test/support/mcp.ts'
import { apiKeys } from '../../src/db/schema.ts'
import { request } from '../../test/support/api.ts'
import { newToken } from '../../test/support/tokens.ts'
import { Workspace } from '../../test/support/workspace.ts'
import type { ConsentRequest } from '../src/oauth/consent.ts'
import {
  askForTokens,
  authorizeQuery,
  Browser,
  call,
  connected,
  ISSUER,
  keyOf,
  kv,
  newClient,
  newPublishedClient,
  redeem,
  refresh,
  register,
  send,
  type Tokens,
} from './support/oauth.ts'

async function newBrowser() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  return { workspace, key, browser: await Browser.of(key) }
}

const grantsOf = async (workspace: Workspace) =>
  (await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'grant')

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a request to connect', () => {
  it.each([
    ['another host', 'https://evil.example.com/callback'],
    ['another path', 'https://app.example.com/callback/more'],
    ['a query', 'https://app.example.com/callback?to=evil'],
    ['another port', 'https://app.example.com:444/callback'],
    ['another scheme', 'http://app.example.com/callback'],
    ['a user name', 'https://app.example.com@evil.example.com/callback'],
    ['a script', 'javascript:alert(1)'],
    ['none', undefined],
  ])('that is sent back to %s is refused here, and goes nowhere', async (_, redirect_uri) => {
    const { browser } = await newBrowser()
    const answer = await browser.ask(authorizeQuery(await newClient(), { redirect_uri }))
    expect([answer.status, Object.keys(await answer.json<object>())]).toEqual([400, ['error']])
  })

  it('of a program on the computer of the person may name another port, and the page can warn', async () => {
    const { browser } = await newBrowser()
    const client = await newClient({ redirect_uris: ['http://127.0.0.1:4000/callback'] })
    const asked = await browser.ask(authorizeQuery(client, { redirect_uri: 'http://127.0.0.1:5123/callback' }))
    expect(await asked.json()).toMatchObject({ isLocal: true, redirectHost: '127.0.0.1' })
  })

  it.each([
    ['without a code challenge', { code_challenge: undefined }, 'invalid_request'],
    ['with a short code challenge', { code_challenge: 'abc' }, 'invalid_request'],
    ['with a code challenge that is not base64url', { code_challenge: '+'.repeat(43) }, 'invalid_request'],
    ['with a plain code challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for a token at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['for another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['for the API itself', { resource: 'https://workspace.example' }, 'invalid_target'],
  ])('%s gets an error', async (_, changes, error) => {
    const { browser, workspace } = await newBrowser()
    const client = await newClient()
    const answer = await browser.ask(authorizeQuery(client, changes))
    const { redirectTo = '' } = await answer.json<{ redirectTo?: string }>()
    expect(redirectTo.startsWith(client.redirectUri)).toBe(true)
    expect(new URL(redirectTo).searchParams.get('error')).toBe(error)
    expect(await grantsOf(workspace)).toEqual([])
  })

  it('of an app with a secret needs a code challenge too', async () => {
    const { browser } = await newBrowser()
    const made = await register({ token_endpoint_auth_method: 'client_secret_basic' })
    const { client_id: clientId } = await made.json<{ client_id: string }>()
    const client = { clientId, redirectUri: 'https://app.example.com/callback' }
    const bare = { code_challenge: undefined, code_challenge_method: undefined }
    const { redirectTo } = await (await browser.ask(authorizeQuery(client, bare))).json<{ redirectTo: string }>()
    expect(new URL(redirectTo).searchParams.get('error')).toBe('invalid_request')
  })

  it.each([
    'https://127.0.0.1/app.json',
    'https://10.0.0.1/app.json',
    'https://[::1]/app.json',
    'https://[fd00::1]/app.json',
    'https://localhost/app.json',
    'https://printer.local/app.json',
    'https://vault.internal/app.json',
    'https://intranet/app.json',
    'http://hooks.example.com/app.json',
    ' https://127.0.0.1/app.json',
    '\u001Fhttps://127.0.0.1/app.json',
    'ht\ttps://127.0.0.1/app.json',
    'https:127.0.0.1/app.json',
    'https://hooks.example.com/app.json\nINFO: signed in \u001B[2J',
    'https://hooks.example.com/ä.json',
  ])('of an app that publishes its metadata at %s is not looked at', async (clientId) => {
    const { browser } = await newBrowser()
    const fetched = vi.spyOn(globalThis, 'fetch')
    const warned = vi.spyOn(console, 'warn')
    const client = { clientId, redirectUri: 'https://app.example.com/callback' }
    const answer = await browser.ask(authorizeQuery(client))
    const sentence = /^client_id .*(such as "https:\/\/app\.example\.com\/client\.json"|visible ASCII characters)\.$/
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringMatching(sentence) }])
    expect((await redeem(client, 'user:grant:code')).status).toBe(401)
    expect([fetched.mock.calls, warned.mock.calls]).toEqual([[], []])
  })

  it('of an app with a long ID is not looked at', async () => {
    const { browser } = await newBrowser()
    for (const clientId of ['x'.repeat(501), `https://hooks.example.com/${'x'.repeat(500)}`]) {
      const client = { clientId, redirectUri: 'https://app.example.com/callback' }
      const answer = await browser.ask(authorizeQuery(client))
      expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringMatching(/^client_id is too/) }])
      expect((await redeem(client, 'user:grant:code')).status).toBe(401)
    }
  })

  it('with a parameter twice is refused, and goes back to the app only if its address is certain', async () => {
    const { browser } = await newBrowser()
    const client = await newClient()
    const query = authorizeQuery(client)
    for (const name of ['client_id', 'redirect_uri']) {
      for (const value of [new URLSearchParams(query).get(name) ?? '', 'https://evil.example.com/callback']) {
        const answer = await browser.ask(`${query}&${new URLSearchParams({ [name]: value })}`)
        expect([answer.status, await answer.json()]).toEqual([400, { error: `${name} is repeated.` }])
      }
    }
    for (const name of ['state', 'code_challenge', 'scope', 'response_type']) {
      const answer = await browser.ask(`${query}&${name}=code&${name}=code`)
      const { redirectTo } = await answer.json<{ redirectTo: string }>()
      expect(redirectTo.startsWith(client.redirectUri)).toBe(true)
      expect(Object.fromEntries(new URL(redirectTo).searchParams)).toMatchObject({
        error: 'invalid_request',
        error_description: `${name} is repeated`,
      })
    }
    expect((await browser.ask(`${query}&resource=https://workspace.example/mcp`)).status).toBe(200)
  })

  it('of an app that publishes control characters writes none into the log', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    // The module is read again, so that it writes to the log of this test.
    vi.resetModules()
    await import('../src/oauth/server.ts')
    const { browser } = await newBrowser()
    const { receiver, ...client } = await newPublishedClient({ client_id: 'x\nsigned in: ada\u001B[2J' })
    expect((await browser.ask(authorizeQuery(client))).status).toBe(400)
    expect(warned.mock.calls.flat().join(' ')).toMatch(/^CIMD fetch failed for https:[^\p{Cc}]+signed in: ada/u)
  })

  it('with a client ID that is not in the form is checked, too', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch')
    const url = 'https://localhost/app.json'
    const form = new URLSearchParams({ grant_type: 'authorization_code', code: 'user:grant:code' })
    const post = async (more: Record<string, string>, headers = {}) => {
      const body = `${form}&${new URLSearchParams(more)}`
      const answer = await send('/oauth/token', {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      })
      return [answer.status, (await answer.json<{ error_description: string }>()).error_description]
    }
    const refused = [401, expect.stringMatching(/^client_id has a host that is not public/)]
    expect(await post({}, { Authorization: `Basic ${btoa(`${encodeURIComponent(url)}:secret`)}` })).toEqual(refused)
    form.append('client_id', '')
    expect(await post({ client_id: url })).toEqual(refused)
    form.delete('client_id')
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const sign = (claims: string) => ({ client_assertion_type: type, client_assertion: `e30.${btoa(claims)}.x` })
    expect(await post(sign(JSON.stringify({ iss: url })))).toEqual(refused)
    expect(await post(sign('{'))).toEqual([401, 'The client ID cannot be read.'])
    expect(fetched).not.toHaveBeenCalled()
  })

  it.each([
    [
      'is for another app',
      {
        body: '{"client_id":"https://app.example.com/","client_name":"A","redirect_uris":["https://app.example.com/callback"]}',
      },
    ],
    ['is no JSON', { body: 'hello' }],
    ['is large', { body: `{"client_name":"${'x'.repeat(6000)}"}` }],
    ['is elsewhere', { body: '', status: 302, headers: { Location: 'https://hooks.example.com/other' } }],
    ['is missing', { body: '', status: 404 }],
  ])('of an app whose metadata %s is refused', async (_, answer) => {
    const { browser } = await newBrowser()
    const { receiver, ...client } = await newPublishedClient()
    await receiver.answers(answer)
    const asked = await browser.ask(authorizeQuery(client))
    expect([asked.status, await asked.json()]).toEqual([400, { error: expect.stringContaining('hooks.example.com') }])
  })
})

describe('consent', () => {
  async function asked() {
    const person = await newBrowser()
    const client = await newClient()
    const { handle } = await (await person.browser.ask(authorizeQuery(client))).json<ConsentRequest>()
    return { ...person, client, handle }
  }

  it('is given by the page only', async () => {
    const { browser, handle, workspace } = await asked()
    const body = JSON.stringify({ handle, isAllowed: true, bundles: ['skills'], projectIds: null, days: 1 })
    for (const site of ['cross-site', 'same-site', 'none']) {
      const init = { method: 'POST', body, headers: { 'Sec-Fetch-Site': site } }
      expect((await browser.fetch('/oauth/consent', init)).status).toBe(403)
      const headers = { 'Sec-Fetch-Site': site }
      expect((await browser.fetch(`/oauth/consent${authorizeQuery(await newClient())}`, { headers })).status).toBe(403)
    }
    expect(await grantsOf(workspace)).toEqual([])
  })

  it('needs somebody who is signed in', async () => {
    const { browser, handle, workspace } = await asked()
    const [session] = (await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'session')
    await workspace.revokeKey(String(session?.id))
    expect((await browser.decide({ handle })).status).toBe(401)
    expect((await browser.ask(authorizeQuery(await newClient()))).status).toBe(401)
    expect((await (await Browser.of(undefined)).ask(authorizeQuery(await newClient()))).status).toBe(401)
    expect(await grantsOf(workspace)).toEqual([])
  })

  it('is given once, in the browser that was asked', async () => {
    const { browser, key, handle, workspace } = await asked()
    const other = await Browser.of(key)
    expect((await other.decide({ handle })).status).toBe(400)
    expect((await browser.decide({ handle })).status).toBe(200)
    expect((await browser.decide({ handle })).status).toBe(400)
    expect(await grantsOf(workspace)).toHaveLength(1)
  })

  it.each([
    ['an unknown permission', { bundles: ['everything'] }],
    ['a scope of API keys', { bundles: ['api-keys:write'] }],
    ['more than 90 days', { days: 91 }],
    ['no whole days', { days: 0.5 }],
    ['no days', { days: 0 }],
    ['projects that are not a list', { projectIds: 'website' as never }],
    ['no handle', { handle: undefined as never }],
  ])('with %s is refused', async (_, decision) => {
    const { browser, handle, workspace } = await asked()
    expect((await browser.decide({ handle, ...decision })).status).toBe(400)
    expect(await grantsOf(workspace)).toEqual([])
  })

  it('is not given by an API key or by another app', async () => {
    const { workspace, browser, key } = await newBrowser()
    const grant = await workspace.addKeyWithId()
    await workspace.change(apiKeys, grant.id, { kind: 'grant' })
    for (const token of [key, grant.token]) await expect(connected(Browser.withSession(token))).rejects.toThrow(/^403 /)
    await expect(connected(Browser.withSession(newToken()))).rejects.toThrow()
    expect(await grantsOf(workspace)).toHaveLength(1)
    expect(browser.session).not.toBe('')
  })

  it('is limited to 50 apps of a person', async () => {
    const { workspace, browser, key } = await newBrowser()
    const { body } = await request('GET', '/v1/me', { key })
    const app = { kind: 'grant', expiresAt: '2999-01-01T00:00:00.000Z', createdByKeyId: body.apiKey.id } as const
    for (let count = 0; count < 49; count++) await workspace.addKeyWithId(app)
    // These are not counted: an app that has ended, that was disconnected, or of somebody else, and another key.
    await workspace.addKeyWithId({ ...app, expiresAt: '2020-01-01T00:00:00.000Z' })
    await workspace.revokeKey((await workspace.addKeyWithId(app)).id)
    await workspace.addKeyWithId({ ...app, createdByKeyId: crypto.randomUUID() })
    await workspace.addKeyWithId({ ...app, kind: 'session' })
    await connected(browser)
    await expect(connected(browser)).rejects.toThrow('409 You have connected 50 apps, which is the limit.')
  })
})

describe('a request for tokens', () => {
  const grant = { grant_type: 'authorization_code', code: 'user:grant:code' }
  it.each([
    ['without a grant type', { code: 'x' }, 'invalid_request'],
    ['with an empty grant type', { ...grant, grant_type: '' }, 'invalid_request'],
    ['with an unknown grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['without a code', { grant_type: 'authorization_code' }, 'invalid_request'],
    ['without a refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['with a long code', { ...grant, code: `${'u'.repeat(600)}:grant:code` }, 'invalid_grant'],
    [
      'with a long refresh token',
      { grant_type: 'refresh_token', refresh_token: `u:${'g'.repeat(600)}:s` },
      'invalid_grant',
    ],
    ['that revokes a long token', { token: `u:${'g'.repeat(600)}:s` }, 'invalid_grant'],
    ['with a short verifier', { ...grant, code_verifier: 'abc' }, 'invalid_request'],
    ['with a verifier of other characters', { ...grant, code_verifier: '+'.repeat(43) }, 'invalid_request'],
  ])('%s gets the error of the standard', async (_, form, error) => {
    const { clientId: client_id } = await newClient()
    const answer = await askForTokens({ client_id, ...form })
    expect([answer.status, await answer.json()]).toEqual([400, { error, error_description: expect.any(String) }])
  })

  it.each(['client_id', 'code', 'grant_type', 'redirect_uri', 'code_verifier', 'scope'])(
    'with %s twice is refused',
    async (name) => {
      const { clientId: client_id, redirectUri: redirect_uri } = await newClient()
      const form = new URLSearchParams({ ...grant, client_id, redirect_uri, code_verifier: 'v'.repeat(43), scope: 'x' })
      form.append(name, form.get(name) ?? '')
      const answer = await send('/oauth/token', { method: 'POST', body: form })
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }])
    },
  )
})

describe('a code', () => {
  it('that is stolen is worth nothing', async () => {
    const { browser, workspace } = await newBrowser()
    const client = await newClient()
    const thief = await newClient()
    const code = (await browser.connect(client)).get('code')
    const attempts = [
      { code_verifier: 'w'.repeat(43) },
      { code_verifier: undefined },
      { client_id: thief.clientId },
      { client_id: undefined },
      { redirect_uri: 'https://app.example.com/other' },
      { resource: 'https://other.example/mcp' },
    ]
    for (const changes of attempts) {
      const { ok, status } = await redeem(client, code, changes)
      expect([changes, ok, status < 500]).toEqual([changes, false, true])
    }
    expect(await grantsOf(workspace)).toHaveLength(1)
  })

  it('is redeemed once: the second time ends the tokens of the first', async () => {
    const { browser } = await newBrowser()
    const client = await newClient()
    const code = (await browser.connect(client)).get('code')
    const tokens = await (await redeem(client, code)).json<Tokens>()
    expect(await (await redeem(client, code)).json()).toMatchObject({ error: 'invalid_grant' })
    expect((await call(tokens.access_token)).status).toBe(401)
    expect((await refresh(client, tokens.refresh_token)).status).toBe(400)
  })
})

describe('decisions about one request', () => {
  it('at the same moment connect the app once', async () => {
    const { browser, workspace } = await newBrowser()
    const asked = await browser.ask(authorizeQuery(await newClient()))
    const { handle } = await asked.json<ConsentRequest>()
    const decided = await Promise.all(Array.from({ length: 8 }, () => browser.decide({ handle })))
    expect(decided.filter(({ ok }) => ok)).toHaveLength(1)
    expect(new Set(decided.map(({ status }) => status))).not.toContain(500)
    expect(await grantsOf(workspace)).toHaveLength(1)
  })
})

describe('exchanges of one code', () => {
  it('at the same moment give tokens once, and end the app, as one of them may be a thief', async () => {
    const { browser, workspace } = await newBrowser()
    const client = await newClient()
    const code = (await browser.connect(client)).get('code')
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(client, code)))
    const bodies = await Promise.all(answers.map((answer) => answer.json<Tokens>()))
    const issued = bodies.filter(({ access_token }) => access_token !== undefined)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    expect(bodies.filter(({ error }) => error === 'invalid_grant')).toHaveLength(7)
    expect((await call(issued[0]?.access_token)).status).toBe(401)
    expect(await grantsOf(workspace)).toMatchObject([{ revokedAt: expect.any(String) }])
    const ends = (await workspace.dump('auditEvents')).filter(({ type }) => type === 'api-key.app-disconnected')
    expect(ends).toHaveLength(1)
  })

  it.each([
    ['refuses the write', new Error('KV PUT failed: 429 Too Many Requests'), 429],
    ['fails', new Error('KV PUT failed: 500'), 500],
  ])('can be repeated if the store %s', async (_, error, status) => {
    const { browser } = await newBrowser()
    const client = await newClient()
    const code = (await browser.connect(client)).get('code')
    const broken = new Proxy(kv, {
      get: (target, method: keyof KVNamespace) =>
        method === 'put'
          ? () => Promise.reject(error)
          : (target[method] as (...args: unknown[]) => unknown).bind(target),
    })
    expect((await redeem(client, code, {}, { kv: broken })).status).toBe(status)
    const tokens = await (await redeem(client, code)).json<Tokens>()
    expect((await call(tokens.access_token)).status).toBe(200)
  })
})

describe('tokens', () => {
  it('that were refreshed twice are not refreshed again', async () => {
    const { browser } = await newBrowser()
    const { client, tokens } = await connected(browser)
    const second = await (await refresh(client, tokens.refresh_token)).json<Tokens>()
    const third = await (await refresh(client, second.refresh_token)).json<Tokens>()
    expect(new Set([tokens, second, third].map(({ refresh_token }) => refresh_token)).size).toBe(3)
    for (let times = 0; times < 2; times++) {
      const old = await refresh(client, tokens.refresh_token)
      expect([old.status, await old.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    }
    // The answer to a refresh may have been lost, so the token before the latest one works.
    expect((await refresh(client, second.refresh_token)).status).toBe(200)
  })

  it('belong to their app and their resource', async () => {
    const { browser } = await newBrowser()
    const { client, tokens } = await connected(browser)
    const other = await newClient()
    expect((await refresh(other, tokens.refresh_token)).ok).toBe(false)
    expect((await refresh(client, tokens.refresh_token, { resource: 'https://other.example/mcp' })).ok).toBe(false)
    expect((await askForTokens({ grant_type: 'password', username: 'ada', password: 'x' })).ok).toBe(false)
    expect((await askForTokens({ grant_type: 'client_credentials', client_id: client.clientId })).ok).toBe(false)
    expect(await keyOf(tokens.access_token)).toMatch(/^wsk/)
    for (const resource of [
      'https://other.example/mcp',
      'https://workspace.example/',
      'https://workspace.example/mcp/',
    ]) {
      expect(await keyOf(tokens.access_token, resource)).toBeNull()
    }
  })

  it('are looked up only if they have their exact form', async () => {
    const asked: string[] = []
    const AUTH = {
      async apiKeyOf(_: string, token: string) {
        asked.push(token)
        return null
      },
    }
    const post = (key: string) =>
      postMcp(message('ping'), { key, environment: { AUTH, CONSOLE_URL: ISSUER } }).then(({ status }) => status)
    const wellFormed = `${crypto.randomUUID()}:${'g'.repeat(16)}:${'s'.repeat(32)}`
    for (const token of ['x', 'x:y:z', `${wellFormed}x`, `${'u'.repeat(400)}:${'g'.repeat(16)}:${'s'.repeat(32)}`]) {
      expect([token, await post(token)]).toEqual([token, 401])
    }
    expect(asked).toEqual([])
    expect([await post(wellFormed), asked]).toEqual([401, [wellFormed]])
  })

  it('that are refused block their address before the next look-up, except for tokens that are in use', async () => {
    const { browser } = await newBrowser()
    const { tokens } = await connected(browser)
    const asked: string[] = []
    const counted: string[] = []
    const AUTH = {
      apiKeyOf(_: string, token: string) {
        asked.push(token)
        return keyOf(token)
      },
    }
    const REFUSAL_RATE_LIMIT = {
      limit: async ({ key }: RateLimitOptions) => ({ success: counted.push(key) < 3 }),
    } as RateLimit
    const environment = { AUTH, CONSOLE_URL: ISSUER, RATE_LIMIT: 'on', REFUSAL_RATE_LIMIT }
    const headers = { 'CF-Connecting-IP': '198.51.100.77' }
    const post = (key: string) => postMcp(message('ping'), { key, headers, environment }).then(({ status }) => status)
    const guess = () => post(`${crypto.randomUUID()}:${'g'.repeat(16)}:${'s'.repeat(32)}`)
    expect(await post(tokens.access_token)).toBe(200)
    expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429])
    const askedBefore = asked.length
    expect([await guess(), await post(tokens.refresh_token)]).toEqual([429, 429])
    expect([asked.length, counted]).toEqual([askedBefore, Array(3).fill('198.51.100.77')])
    expect(await post(tokens.access_token)).toBe(200)
  })

  it('of other kinds are no access tokens', async () => {
    const { browser } = await newBrowser()
    const { tokens } = await connected(browser)
    const [user = '', grant = '', secret = ''] = tokens.access_token.split(':')
    const others = [
      tokens.refresh_token,
      `${user}:${grant}:${'x'.repeat(32)}`,
      `${user}:other:${secret}`,
      `${user}:${grant}`,
      `${tokens.access_token}x`,
      'x',
      'x'.repeat(501),
    ]
    for (const token of others) {
      const { status, headers } = await call(token)
      expect([token, status]).toEqual([token, 401])
      expect(headers.get('WWW-Authenticate')).toMatch(/^Bearer error="invalid_token", resource_metadata="/)
    }
    // The API takes API keys only.
    expect((await request('GET', '/v1/me', { key: tokens.access_token })).status).toBe(401)
  })
})

describe('the rate limit of an address', () => {
  const full = {
    console: { ADDRESS_RATE_LIMIT: { limit: async () => ({ success: false }) } as RateLimit },
  }
  const error = 'Too many requests. Retry after a minute.'

  it('counts each kind by itself', async () => {
    const counted: string[] = []
    const ADDRESS_RATE_LIMIT = {
      limit: async ({ key }: RateLimitOptions) => ({ success: counted.push(key) > 0 }),
    } as RateLimit
    const headers = { 'CF-Connecting-IP': '2001:db8:1:2:3::4', 'Sec-Fetch-Site': 'same-origin' }
    const paths = ['/oauth/token', '/oauth/register', '/oauth/consent', '/login/allow', '/login/token']
    paths.push('/sign-in/start/x', '/sign-in/callback/x')
    for (const path of paths) await send(path, { headers }, { console: { ADDRESS_RATE_LIMIT } })
    await send('/oauth/token', { headers }, { console: { ADDRESS_RATE_LIMIT, RATE_LIMIT: 'off' } })
    const address = '2001:db8:1:2::/64'
    expect(counted).toEqual([
      `/oauth/token ${address}`,
      `/oauth/register ${address}`,
      `/oauth/consent ${address}`,
      `/login/allow ${address}`,
      `/login/token ${address}`,
      `/sign-in/start/:provider ${address}`,
      `/sign-in/callback/:provider ${address}`,
    ])
  })

  it('refuses apps', async () => {
    const client = await newClient()
    for (const refused of [await register({}, full), await redeem(client, 'x:y:z', {}, full)]) {
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '60'])
      expect(await refused.json()).toEqual({ error: 'temporarily_unavailable', error_description: error })
    }
  })

  it('refuses pages, logins of the command and sign-ins', async () => {
    const { browser } = await newBrowser()
    const asked = await browser.ask(authorizeQuery(await newClient()), full)
    const decided = await browser.decide({ handle: 'x' }, full)
    const login = (path: string) =>
      send(path, { method: 'POST', headers: { 'Sec-Fetch-Site': 'same-origin' }, body: '{}' }, full)
    for (const refused of [asked, decided, await login('/login/allow'), await login('/login/token')]) {
      expect([refused.status, refused.headers.get('Retry-After'), await refused.json()]).toEqual([429, '60', { error }])
    }
    for (const path of ['/sign-in/start/x', '/sign-in/callback/x']) {
      const refused = await send(path, { headers: { Cookie: '__Host-sign-in=x' } }, full)
      expect([refused.status, refused.headers.getSetCookie()]).toEqual([429, []])
    }
  })
})

describe('registration', () => {
  it('ends by itself', async () => {
    const made = await register()
    expect(made.status).toBe(201)
    const { client_id } = await made.json<{ client_id: string }>()
    const { keys } = await kv.list({ prefix: `client:${client_id}` })
    const days = ((keys[0]?.expiration ?? 0) - Date.now() / 1000) / 86_400
    expect(Math.round(days)).toBe(30)
  })

  it.each([
    ['a script', { redirect_uris: ['javascript:alert(1)'] }],
    ['a page without TLS', { redirect_uris: ['http://app.example.com/callback'] }],
    ['no address', { redirect_uris: [] }],
    ['another grant', { grant_types: ['password'] }],
    ['a token at once', { response_types: ['token'] }],
  ])('with %s is refused', async (_, metadata) => {
    expect((await register(metadata)).status).toBe(400)
  })

  it('may name the address of a private scheme, which no code is sent to', async () => {
    const redirect_uris = ['cursor://anysphere.cursor-mcp/oauth/callback', 'https://app.example.com/callback']
    const { client_id: clientId } = await (await register({ redirect_uris })).json<{ client_id: string }>()
    const { browser } = await newBrowser()
    const statuses: number[] = []
    for (const redirectUri of redirect_uris) {
      statuses.push((await browser.ask(authorizeQuery({ clientId, redirectUri }))).status)
    }
    expect(statuses).toEqual([400, 200])
  })

  it('of more than 4 KiB is refused, and a request for tokens of more than 64 KiB', async () => {
    expect((await register({ client_name: 'x'.repeat(3800) })).status).toBe(201)
    const refused = await register({ client_name: 'x'.repeat(4096) })
    expect([refused.status, await refused.json()]).toMatchObject([413, { error: 'invalid_client_metadata' }])
    expect((await send('/oauth/token', { method: 'POST', body: 'x'.repeat(70_000) })).status).toBe(413)
  })

  it('may name ten addresses', async () => {
    const redirect_uris = Array.from({ length: 10 }, (_, index) => `https://app.example.com/${index}`)
    expect((await register({ redirect_uris })).status).toBe(201)
    const before = (await kv.list({ prefix: 'client:' })).keys.length
    const refused = await register({ redirect_uris: [...redirect_uris, 'https://app.example.com/10'] })
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_redirect_uri' }])
    expect((await kv.list({ prefix: 'client:' })).keys).toHaveLength(before)
  })
})

it.each(['x%0d%0ay', 'x%00', '%E2%82%AC'])('a session whose cookie no header can have, %s, is none', async (cookie) => {
  const headers = { 'Sec-Fetch-Site': 'same-origin', Cookie: `__Host-session=${cookie}` }
  const statusOf = async (path: string, method = 'GET') => (await send(path, { method, headers })).status
  expect([await statusOf('/api/v1/me'), await statusOf('/session', 'DELETE')]).toEqual([401, 204])
  const consent = await send(`/oauth/consent${authorizeQuery(await newClient())}`, { headers })
  expect(consent.status).toBeLessThan(500)
})
