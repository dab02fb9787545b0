/** Apps connect by OAuth: the authorization server of the console, and `/mcp` as its resource. */
import { describe, expect, it } from 'vitest'
import { message, postMcp } from '../../mcp/test/support/mcp.ts'
import { request } from '../../test/support/api.ts'
import { Workspace } from '../../test/support/workspace.ts'
import {
  authorizeQuery,
  Browser,
  call,
  connected,
  dumpKv,
  ISSUER,
  newClient,
  newPublishedClient,
  REDIRECT,
  RESOURCE,
  redeem,
  refresh,
  send,
  type Tokens,
} from './support/oauth.ts'

async function newPerson(options: Parameters<Workspace['addKeyWithId']>[0] = {}) {
  const workspace = await Workspace.create()
  const { token: key, id: keyId } = await workspace.addKeyWithId(options)
  return { workspace, key, keyId, browser: await Browser.of(key) }
}

const resultOf = ({ body }: { body: { result?: { structuredContent?: unknown } } }) => body.result?.structuredContent

describe('discovery', () => {
  it('leads from a refused call to the authorization server', async () => {
    const refused = await call(undefined)
    expect(refused.status).toBe(401)
    const challenge = refused.headers.get('WWW-Authenticate') ?? ''
    const [, url = ''] = /^Bearer resource_metadata="([^"]+)"$/.exec(challenge) ?? []
    expect(url).toBe('https://workspace.example/.well-known/oauth-protected-resource/mcp')
    const environment = { CONSOLE_URL: ISSUER, AUTH: { apiKeyOf: async () => null } }
    for (const path of [new URL(url).pathname, '/.well-known/oauth-protected-resource']) {
      const origin = 'https://app.example.com'
      const { status, headers, body } = await request('GET', path, { environment, headers: { Origin: origin } })
      expect(headers.get('Access-Control-Allow-Origin')).toBe(origin)
      expect([status, body]).toEqual([
        200,
        {
          resource: RESOURCE,
          authorization_servers: [ISSUER],
          bearer_methods_supported: ['header'],
          resource_name: 'Workspace API',
        },
      ])
    }
    const metadata = await (await send('/.well-known/oauth-authorization-server')).json()
    expect(metadata).toMatchObject({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/oauth/token`,
      registration_endpoint: `${ISSUER}/oauth/register`,
      scopes_supported: ['skills', 'files', 'schedules', 'runs', 'pins'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      protected_resources: [RESOURCE],
    })
  })

  it('is off where no app can be connected', async () => {
    const console = { OAUTH_KV: undefined } as never
    for (const path of ['/.well-known/oauth-authorization-server', '/oauth/token', '/oauth/register']) {
      expect([
        path,
        (await send(path, { method: path.startsWith('/oauth') ? 'POST' : 'GET' }, { console })).status,
      ]).toEqual([path, 404])
    }
    expect((await request('GET', '/.well-known/oauth-protected-resource/mcp')).status).toBe(404)
  })
})

describe('an app', () => {
  it.each([
    ['that registers itself', () => newClient(), null],
    ['that publishes its metadata', () => newPublishedClient(), 'hooks.example.com'],
  ])('%s is connected, and calls tools with what the person ticked', async (_, make, clientDomain) => {
    const { workspace, key, keyId, browser } = await newPerson()
    const client = await make()
    const asked = await browser.ask(authorizeQuery(client, { scope: 'skills unknown' }))
    expect(asked.status).toBe(200)
    const shown = await asked.json<{ handle: string }>()
    expect(shown).toEqual({
      handle: expect.any(String),
      clientName: 'Editor',
      clientDomain,
      redirectHost: 'app.example.com',
      isLocal: false,
      bundles: ['skills'],
    })
    const decided = await browser.decide({ handle: shown.handle, bundles: ['skills', 'pins'], days: 7 })
    const { redirectTo } = await decided.json<{ redirectTo: string }>()
    expect(redirectTo.startsWith(`${REDIRECT}?`)).toBe(true)
    const answer = new URL(redirectTo).searchParams
    expect([answer.get('state'), answer.get('iss')]).toEqual(['state-of-the-app', ISSUER])
    const redeemed = await redeem(client, answer.get('code'))
    expect(redeemed.status).toBe(200)
    const tokens = await redeemed.json<Tokens>()
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'skills pins', resource: RESOURCE })

    expect(resultOf(await call(tokens.access_token))).toMatchObject({
      organization: { id: workspace.organizationId },
      user: { id: workspace.userId },
      apiKey: {
        kind: 'grant',
        scopes: ['skills:read', 'pins:read', 'pins:write', 'projects:read', 'sessions:read', 'pull-requests:read'],
      },
    })
    const { body } = await request('GET', '/v1/api-keys?kind=grant', { key })
    const app = {
      clientId: client.clientId,
      name: 'Editor',
      redirectHost: 'app.example.com',
      endsAt: expect.any(String),
    }
    expect(body.items).toMatchObject([{ name: 'Editor', app, createdByKeyId: keyId }])
    const [{ expiresAt, createdAt }] = body.items
    const { endsAt } = body.items[0].app
    expect(endsAt).toBe(new Date(Date.parse(createdAt) + 7 * 86_400_000).toISOString())
    expect(expiresAt).toBe(endsAt)

    const again = await refresh(client, tokens.refresh_token)
    expect(again.status).toBe(200)
    expect((await call((await again.json<Tokens>()).access_token)).status).toBe(200)
  })

  it('gets no more than the person has, of the projects that the person chose', async () => {
    const workspace = await Workspace.create()
    const [mine, other] = [await workspace.addProject(), await workspace.addProject()]
    const { token } = await workspace.addKeyWithId({ scopes: ['pins:read', 'runs:read'], projectIds: [mine] })
    const browser = await Browser.of(token)
    const { tokens } = await connected(browser, { bundles: ['pins', 'runs', 'skills'] })
    expect(resultOf(await call(tokens.access_token))).toMatchObject({
      apiKey: { scopes: ['pins:read', 'runs:read'], projectIds: [mine] },
    })
    await expect(connected(browser, { bundles: ['pins'], projectIds: [other] })).rejects.toThrow(/^403 /)
    await expect(connected(browser, { bundles: ['pins'], projectIds: ['none'] })).rejects.toThrow(/^404 /)
    await expect(connected(browser, { bundles: ['skills'] })).rejects.toThrow(/^403 /)
    expect((await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'grant')).toHaveLength(1)
  })

  it.each([
    ['the key of its person', 1200, 1200],
    ['the key of its person, in less time than KV can keep', 30, 60],
  ])('gets tokens that end with %s', async (_, seconds, expiresIn) => {
    const { browser } = await newPerson({ expiresAt: new Date(Date.now() + seconds * 1000).toISOString() })
    const { tokens } = await connected(browser)
    expect(tokens.expires_in).toBeGreaterThan(expiresIn - 30)
    expect(tokens.expires_in).toBeLessThanOrEqual(expiresIn)
  })

  it('is told what its tokens can do, also if it asks for less with a code or a refresh token', async () => {
    const { browser } = await newPerson()
    const client = await newClient()
    const code = (await browser.connect(client, { bundles: ['skills', 'pins', 'files'] })).get('code')
    let tokens: Tokens & { readonly scope?: string } = await (await redeem(client, code, { scope: 'skills' })).json()
    for (const scope of ['skills pins', 'pins unknown', undefined]) {
      expect(tokens.scope).toBe('skills pins files')
      expect((await call(tokens.access_token, 'list_pins')).status).toBe(200)
      tokens = await (await refresh(client, tokens.refresh_token, { scope })).json()
    }
    expect(tokens.scope).toBe('skills pins files')
    const refused = await refresh(client, tokens.refresh_token, { scope: 'runs' })
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_scope' }])
  })

  it('gets 403 with the scope that it needs, as an API key does', async () => {
    const { workspace, browser } = await newPerson()
    const { tokens } = await connected(browser)
    const limited = await workspace.addKey({ scopes: ['skills:read'] })
    for (const credential of [tokens.access_token, limited]) {
      const refused = await call(credential, 'list_pins')
      expect([refused.status, refused.headers.get('WWW-Authenticate')]).toEqual([
        403,
        'Bearer error="insufficient_scope", scope="skills pins", resource_metadata="https://workspace.example/.well-known/oauth-protected-resource/mcp"',
      ])
      expect(refused.body).toEqual({ error: expect.stringContaining('"pins:read"') })
    }
  })

  it('keeps the permissions that it has when it asks for one more', async () => {
    const { browser } = await newPerson()
    const { tokens } = await connected(browser, { bundles: ['pins', 'runs'] })
    const refused = await call(tokens.access_token, 'list_skills')
    expect(refused.headers.get('WWW-Authenticate')).toContain('scope="runs pins skills"')
  })

  it('that lacks a permission can still list the resources, which gets an error of the message', async () => {
    const { workspace } = await newPerson()
    const key = await workspace.addKey({ scopes: ['pins:read'] })
    const { status, body } = await postMcp(message('resources/list'), { key })
    expect([status, body.error.data]).toEqual([200, { code: 'missing_scope', status: 400 }])
  })

  it('is told no when the person declines', async () => {
    const { workspace, browser } = await newPerson()
    const answer = await browser.connect(await newClient(), { isAllowed: false })
    expect(Object.fromEntries(answer)).toMatchObject({ error: 'access_denied', state: 'state-of-the-app', iss: ISSUER })
    expect((await workspace.dump('apiKeys')).map(({ kind }) => kind).sort()).toEqual(['key', 'session'])
  })

  it('leaves nothing in the store that opens anything', async () => {
    const { workspace, browser } = await newPerson()
    const client = await newClient()
    const answer = await browser.connect(client)
    const tokens = await (await redeem(client, answer.get('code'))).json<Tokens>()
    const stored = await dumpKv()
    expect(stored).toContain(client.clientId)
    const secrets = [answer.get('code') ?? '', tokens.access_token, tokens.refresh_token]
    for (const secret of secrets) {
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain(secret.split(':').at(-1))
    }
    for (const text of ['wsk_', workspace.organizationId, workspace.userId, browser.session])
      expect(stored).not.toContain(text)
  })
})
