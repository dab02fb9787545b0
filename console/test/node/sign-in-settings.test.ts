/** The settings of identity providers, and the cookie of a sign-in that has begun. */
import { describe, expect, it, vi } from 'vitest'
import { ATTEMPT_SECONDS, type Attempt, seal, unseal } from '../../src/providers/attempt.ts'
import { openid } from '../../src/providers/openid.ts'
import { type CodeProvider, readProviders } from '../../src/providers/providers.ts'
import { startIssuers } from '../issuer.ts'

const OKTA = { id: 'okta-eu', name: 'Okta', issuer: 'https://example.okta.com', client_id: 'workspace' }
const SECRET = { SIGN_IN_SECRET_OKTA_EU: 's' }
const read = (fields: object, secret: object = SECRET) =>
  readProviders({ SIGN_IN_PROVIDERS: [{ ...OKTA, ...fields }], ...secret })

describe('the settings', () => {
  it('are tables of wrangler.toml, or JSON', () => {
    const provider = {
      id: 'okta-eu',
      name: 'Okta',
      type: 'oidc',
      issuer: 'https://example.okta.com',
      clientId: 'workspace',
      clientSecret: 's',
      organization: undefined,
      scope: 'openid profile email',
    }
    expect(read({})).toEqual({ providers: [provider], problems: [] })
    expect(read({ type: 'oidc', organization: 'x', scope: 'openid groups' }).providers).toEqual([
      { ...provider, organization: 'x', scope: 'openid groups' },
    ])
    const json = JSON.stringify([OKTA])
    expect(readProviders({ SIGN_IN_PROVIDERS: json, ...SECRET })).toEqual({ providers: [provider], problems: [] })
    for (const none of [undefined, '', []]) {
      expect(readProviders({ SIGN_IN_PROVIDERS: none })).toEqual({ providers: [], problems: [] })
    }
  })

  it.each([
    ['http://localhost:9000', true],
    ['http://127.0.0.1:9000/a', true],
    ['http://[::1]:9000', true],
    ['http://example.com', false],
    ['http://localhost.example.com', false],
    ['http://127.0.0.1.example.com', false],
    ['https://example.com/?tenant=x', false],
    ['https://example.com/#x', false],
    ['https://user@example.com', false],
    ['https://', false],
    ['example.com', false],
    ['javascript:alert(1)', false],
  ])('allow the issuer %s: %s', (issuer, isAllowed) => {
    const { providers, problems } = read({ issuer })
    expect([providers.length, problems.length]).toEqual(isAllowed ? [1, 0] : [0, 1])
  })

  it.each([
    [{ id: 'Okta' }, /^SIGN_IN_PROVIDERS\[0\]\.id is "Okta"; allowed: up to 32 /],
    [{ id: undefined }, /^SIGN_IN_PROVIDERS\[0\]\.id is missing; allowed: /],
    [{ name: '' }, /\.name is ""; allowed: the text of the button/],
    [{ type: 'saml' }, /\.type is "saml"; allowed: "oidc", "github" or "access"\.$/],
    [{ client_id: 5 }, /\.client_id is 5; allowed: the client ID/],
    [
      { clientId: 'x' },
      /\.clientId is not a setting of the type "oidc"; allowed: id, name, type, organization, issuer, client_id, scope\.$/,
    ],
    [{ organization: 'a b' }, /\.organization is "a b"; allowed: an organization ID\.$/],
    [{ scope: 'profile' }, /\.scope is "profile"; allowed: scopes, one of them "openid"\.$/],
    [{ issuer: 'http://x.example' }, /\.issuer is "http:\/\/x\.example"; allowed: an https URL without query/],
  ])('say what is wrong: %j', (fields, problem) => {
    expect(read(fields)).toEqual({ providers: [], problems: [expect.stringMatching(problem)] })
  })

  it('of GitHub are a client ID and a secret', () => {
    const given = { id: 'github', name: 'GitHub', type: 'github', client_id: 'x' }
    const secret = { SIGN_IN_SECRET_GITHUB: 's' }
    const github = {
      id: 'github',
      name: 'GitHub',
      type: 'github',
      issuer: 'https://github.com',
      clientId: 'x',
      clientSecret: 's',
      organization: undefined,
      scope: 'read:user user:email read:org',
    }
    expect(readProviders({ SIGN_IN_PROVIDERS: [given], ...secret })).toEqual({ providers: [github], problems: [] })
    const enterprise = { ...given, issuer: 'https://github.example.com' }
    expect(readProviders({ SIGN_IN_PROVIDERS: [enterprise], ...secret }).providers).toEqual([
      { ...github, issuer: 'https://github.example.com' },
    ])
    expect(readProviders({ SIGN_IN_PROVIDERS: [given] }).problems).toEqual([
      expect.stringMatching(/^SIGN_IN_SECRET_GITHUB is missing\./),
    ])
    expect(readProviders({ SIGN_IN_PROVIDERS: [{ ...given, scope: 'repo' }], ...secret }).problems).toEqual([
      'SIGN_IN_PROVIDERS[0].scope is not a setting of the type "github"; allowed: id, name, type, organization, issuer, client_id.',
    ])
  })

  describe('of Cloudflare Access', () => {
    const given = { id: 'access', name: 'Access', type: 'access', team_domain: 'https://x.example', audience: 'a1b2' }
    const readAccess = (fields: object) => readProviders({ SIGN_IN_PROVIDERS: [{ ...given, ...fields }] })

    it('are the team and the application, without a secret', () => {
      expect(readAccess({})).toEqual({
        providers: [
          {
            id: 'access',
            name: 'Access',
            type: 'access',
            issuer: 'https://x.example',
            audience: 'a1b2',
            organization: undefined,
          },
        ],
        problems: [],
      })
    })

    it.each([
      [{ team_domain: undefined }, /\.team_domain is missing; allowed: an https URL\.$/],
      // The assertion has the issuer without the slash.
      [
        { team_domain: 'https://x.example/' },
        /\.team_domain is "https:\/\/x\.example\/"; allowed: an https URL without/,
      ],
      [{ team_domain: 'https://x.example/cdn-cgi' }, /allowed: an https URL without path/],
      [{ team_domain: 'http://x.example' }, /allowed: an https URL without path/],
      [{ team_domain: 'x.example' }, /allowed: an https URL\.$/],
      [{ audience: undefined }, /\.audience is missing; allowed: the AUD tag of the application\.$/],
      [{ audience: '' }, /\.audience is ""; allowed: the AUD tag/],
      [{ audience: ['a1b2'] }, /\.audience is \["a1b2"\]; allowed: the AUD tag/],
      [
        { issuer: 'https://x.example' },
        /\.issuer is not a setting of the type "access"; allowed: .*team_domain, audience\.$/,
      ],
    ])('say what is wrong: %j', (fields, problem) => {
      expect(readAccess(fields)).toEqual({ providers: [], problems: [expect.stringMatching(problem)] })
    })
  })

  it('say that there is no secret, and how to set it', () => {
    expect(read({}, {}).problems).toEqual([
      'SIGN_IN_SECRET_OKTA_EU is missing. To set it: npm run wrangler -- secret put SIGN_IN_SECRET_OKTA_EU --config console/wrangler.toml',
    ])
  })

  it('leave out what is wrong, and no more', () => {
    const { providers, problems } = readProviders({
      SIGN_IN_PROVIDERS: [5, OKTA, OKTA, { ...OKTA, id: '' }],
      ...SECRET,
    })
    expect(providers).toHaveLength(1)
    expect(problems).toEqual([
      'SIGN_IN_PROVIDERS[0] is not a table.',
      'SIGN_IN_PROVIDERS has the id "okta-eu" twice.',
      expect.stringMatching(/^SIGN_IN_PROVIDERS\[3\]\.id is ""/),
    ])
    for (const wrong of ['{', '{}', 5]) {
      expect(readProviders({ SIGN_IN_PROVIDERS: wrong }).problems).toEqual([
        'SIGN_IN_PROVIDERS is not a list; allowed: [[vars.SIGN_IN_PROVIDERS]] tables.',
      ])
    }
  })
})

describe('the metadata of an issuer', () => {
  it('are read again after ten minutes', async () => {
    const issuers = await startIssuers()
    try {
      const issuer = issuers.issuerOf('main')
      const provider = { ...(read({}).providers[0] as CodeProvider), issuer }
      const attempt = { state: 's', nonce: 'n', verifier: 'v', organization: 'o', to: '/', expiresAt: 0 }
      const timesRead = async (now: number) => {
        vi.setSystemTime(now)
        await openid.authorizationUrl(provider, attempt, 'https://console.example/callback')
        return issuers.at('main').asked.length
      }
      vi.useFakeTimers({ toFake: ['Date'] })
      const start = Date.now()
      expect([await timesRead(start), await timesRead(start + 599_999), await timesRead(start + 600_000)]).toEqual([
        1, 1, 2,
      ])
    } finally {
      vi.useRealTimers()
      await issuers.stop()
    }
  })
})

describe('the cookie', () => {
  const provider = read({}).providers[0] as CodeProvider
  const now = Date.now()
  const attempt: Attempt = {
    state: 'state',
    nonce: 'nonce',
    verifier: 'verifier',
    organization: 'organization',
    to: '/',
    expiresAt: now + ATTEMPT_SECONDS * 1000,
  }

  it('is for ten minutes', async () => {
    const sealed = await seal(attempt, provider)
    expect(await unseal(sealed, provider, now)).toEqual(attempt)
    expect(await unseal(sealed, provider, now + 599_999)).toEqual(attempt)
    expect(await unseal(sealed, provider, now + 600_000)).toBeUndefined()
  })

  it('is for one provider, and one secret', async () => {
    const sealed = await seal(attempt, provider)
    expect(await unseal(sealed, { ...provider, id: 'other' }, now)).toBeUndefined()
    expect(await unseal(sealed, { ...provider, clientSecret: 'new' }, now)).toBeUndefined()
    for (const wrong of ['', 'x', '*', sealed.slice(0, -1), `${sealed}AAAA`, sealed.toLowerCase()]) {
      expect(await unseal(wrong, provider, now)).toBeUndefined()
    }
  })

  it('is small enough for browsers with the longest address', async () => {
    const sealed = await seal({ ...attempt, to: `/${'x'.repeat(1500)}` }, provider)
    expect(sealed.length).toBeLessThan(4000)
    expect(sealed).not.toBe(await seal({ ...attempt, to: `/${'x'.repeat(1500)}` }, provider))
  })
})
