/** Sign-in with GitHub, with stand-ins that misbehave. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EXAMPLE_IDS } from '../../../src/http/example-ids.ts'
import type { SignInProblem } from '../../src/providers/problem.ts'
import { senderOf } from '../browser/people.ts'
import { type Console, startConsole } from '../console.ts'
import {
  ADA,
  type Asked,
  type Behaviour,
  CLIENT_ID,
  CLIENT_SECRET,
  type GitHubs,
  reset,
  startGitHubs,
  TOKEN,
} from '../github.ts'
import { type Answer, openPage } from '../sign-in-page.ts'

/** The organization of the demo. */
const ORGANIZATION = EXAMPLE_IDS.organizationId
const NAMES = ['main', 'other', 'secret'] as const
type Name = (typeof NAMES)[number]

let githubs: GitHubs
let running: Console
let main: Behaviour

beforeAll(async () => {
  githubs = await startGitHubs()
  main = githubs.at('main')
  const settings = NAMES.map((id) => ({
    id,
    type: 'github',
    name: `GitHub ${id}`,
    issuer: githubs.issuerOf(id),
    client_id: CLIENT_ID,
    organization: ORGANIZATION,
  }))
  const variables = [
    `SIGN_IN_PROVIDERS:${JSON.stringify(settings)}`,
    `SIGN_IN_SECRET_MAIN:${CLIENT_SECRET}`,
    `SIGN_IN_SECRET_OTHER:${CLIENT_SECRET}`,
    'SIGN_IN_SECRET_SECRET:another',
  ]
  running = await startConsole(...variables.flatMap((variable) => ['--var', variable]))
})
afterAll(async () => {
  await running.stop()
  await githubs.stop()
})
beforeEach(() => {
  for (const name of NAMES) reset(githubs.at(name))
})

interface Started extends Asked {
  readonly cookie: string
  readonly url: URL
}

async function start(id: Name = 'main', query = ''): Promise<Started> {
  const { location, cookies, html } = await openPage(`${running.url}/sign-in/start/${id}${query}`)
  if (location === null) throw new Error(html)
  const url = new URL(location)
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  return {
    url,
    cookie: cookies[0]?.split(';')[0] ?? '',
    state: parameter('state'),
    challenge: parameter('code_challenge'),
    redirectUri: parameter('redirect_uri'),
  }
}

/** The callback, as the browser opens it. @param parameters in place of the right ones; undefined: without it. */
async function callBack(
  id: Name,
  started: Started,
  parameters: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const given = { code: githubs.code(id, started), state: started.state, ...parameters }
  const query = new URLSearchParams(Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return openPage(`${running.url}/sign-in/callback/${id}?${query}`, { Cookie: started.cookie })
}

const signIn = async (id: Name = 'main', query = '') => callBack(id, await start(id, query))

/** Nobody was signed in, and the attempt cannot be used again. */
function expectRefused(answer: Answer, reason: SignInProblem['reason'], status: number): void {
  expect([answer.problem?.reason, answer.status]).toEqual([reason, status])
  expect(answer.cookies).toEqual([expect.stringMatching(/^__Host-sign-in=; Max-Age=0; Path=\/; HttpOnly; Secure/)])
  expect(answer.location).toBeNull()
}

const valuesOf = (answer: Answer, name: string) =>
  answer.problem?.claims.flatMap(([claim, value]) => (claim === name ? [value] : []))

it('starts at GitHub with state and PKCE', async () => {
  const { url } = await start()
  expect(url.origin + url.pathname).toBe(`${githubs.issuerOf('main')}/login/oauth/authorize`)
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: `${running.url}/sign-in/callback/main`,
    scope: 'read:user user:email read:org',
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
})

describe('a callback', () => {
  it('of a person whom no rule admits shows who GitHub says that they are', async () => {
    main.user = { ...ADA, avatar_url: 'https://avatars.example/1815', bio: 'Countess', company: 'admins' }
    main.emails = [
      { email: 'old@example.com', primary: false, verified: true, visibility: null },
      { email: 'Ada@Example.com', primary: true, verified: true, visibility: 'private' },
    ]
    main.orgs = [
      [
        { id: 1, login: 'acme', description: 'x' },
        { id: 2, login: 'Engines' },
      ],
    ]
    main.teams = [[{ id: 3, slug: 'admins', name: 'The Admins', organization: { id: 1, login: 'acme' }, parent: null }]]
    const answer = await signIn()
    expectRefused(answer, 'not_admitted', 403)
    expect(new Set(answer.problem?.claims.map((claim) => claim.join('=')))).toEqual(
      new Set([
        `iss=${githubs.issuerOf('main')}`,
        'sub=1815',
        'login=ada',
        'name=Ada Lovelace',
        'email=ada@example.com',
        'email_verified=true',
        'organization=acme',
        'organization=Engines',
        'team=acme/admins',
        'picture=https://avatars.example/1815',
      ]),
    )
    expect(answer.problem).toMatchObject({ provider: 'GitHub main', providerType: 'github' })
  })

  it.each<readonly [string, readonly object[]]>([
    ['no address', []],
    ['a primary address that is not verified', [{ email: 'ada@example.com', primary: true, verified: false }]],
    ['a verified address that is not primary', [{ email: 'ada@example.com', primary: false, verified: true }]],
    [
      'two halves of one',
      [
        { email: 'ada@example.com', primary: true, verified: false },
        { email: 'ada@example.org', primary: false, verified: true },
      ],
    ],
    ['words for it', [{ email: 'ada@example.com', primary: 'true', verified: 'true' }]],
    ['none', [{ email: null, primary: true, verified: true }]],
  ])('of a person with %s has no e-mail address', async (_, emails) => {
    main.emails = emails as Behaviour['emails']
    const answer = await signIn()
    expectRefused(answer, 'not_admitted', 403)
    expect(valuesOf(answer, 'email')).toEqual([])
  })

  it('reads every page, also one with fewer items than it could have', async () => {
    const page = (from: number, count: number) =>
      Array.from({ length: count }, (__, n) => ({ login: `org-${from + n}` }))
    main.orgs = [page(0, 100), page(100, 3), [], page(103, 1)]
    main.teams = [[], [{ slug: 'last', organization: { login: 'org-1' } }]]
    const answer = await signIn()
    expectRefused(answer, 'not_admitted', 403)
    expect(main.asked.filter((each) => each.includes('/user/orgs'))).toEqual(
      [1, 2, 3, 4].map((number) => `GET /api/v3/user/orgs?per_page=100&page=${number}`),
    )
    expect(main.asked.filter((each) => each.includes('/user/teams'))).toHaveLength(2)
  })

  it('reads ten pages at most', async () => {
    main.orgs = Array.from({ length: 12 }, () => [])
    expectRefused(await signIn(), 'not_admitted', 403)
    expect(main.asked.filter((each) => each.includes('/user/orgs'))).toHaveLength(10)
  })

  it.each([
    ['another state', { state: 'x'.repeat(43) }, 'expired', 400],
    ['no state', { state: undefined }, 'expired', 400],
    ['no code', { code: undefined }, 'provider_invalid', 502],
    ['an unknown code', { code: 'unknown' }, 'provider_refused', 403],
    ['another issuer', { iss: 'https://github.com/login/oauth' }, 'provider_invalid', 502],
    ['an error', { code: undefined, error: 'access_denied', error_description: 'Not now.' }, 'provider_refused', 403],
  ] as const)('with %s signs nobody in', async (_, parameters, reason, status) => {
    expectRefused(await callBack('main', await start(), parameters), reason, status)
    expect(main.asked.filter((each) => each.startsWith('GET'))).toEqual([])
  })

  it('may name GitHub as its issuer', async () => {
    const iss = `${githubs.issuerOf('main')}/login/oauth`
    expectRefused(await callBack('main', await start(), { iss }), 'not_admitted', 403)
  })

  it('is for one code, which works once, for the browser that began', async () => {
    const started = await start()
    const code = githubs.code('main', started)
    expectRefused(await callBack('main', started, { code }), 'not_admitted', 403)
    expectRefused(await callBack('main', started, { code }), 'provider_refused', 403)
    const stolen = githubs.code('main', await start())
    const answer = await callBack('main', started, { code: stolen })
    expectRefused(answer, 'provider_refused', 403)
    expect(answer.problem?.detail).toBe('bad_verification_code: The code is incorrect or expired.')
    expectRefused(await callBack('other', started), 'expired', 400)
  })

  it('says that the client secret is wrong', async () => {
    const answer = await signIn('secret')
    expectRefused(answer, 'provider_refused', 403)
    expect(answer.problem?.detail).toBe('incorrect_client_credentials: They are incorrect.')
  })

  it.each<readonly [Parameters<Behaviour['responses']['set']>[0], number, unknown, SignInProblem['reason'], number]>([
    ['token', 500, {}, 'provider_unavailable', 502],
    [
      'token',
      200,
      { error: 'bad_verification_code', access_token: TOKEN, token_type: 'bearer' },
      'provider_refused',
      403,
    ],
    ['token', 200, {}, 'provider_invalid', 502],
    ['token', 200, [], 'provider_invalid', 502],
    ['token', 200, 'access_token=x', 'provider_invalid', 502],
    ['token', 200, { access_token: TOKEN, token_type: 'mac' }, 'provider_invalid', 502],
    ['token', 200, { access_token: 'another', token_type: 'bearer' }, 'provider_refused', 403],
    ['user', 500, {}, 'provider_unavailable', 502],
    ['user', 429, {}, 'provider_unavailable', 502],
    ['user', 200, {}, 'provider_invalid', 502],
    ['user', 200, [ADA], 'provider_invalid', 502],
    ['user', 200, { ...ADA, id: '1815' }, 'provider_invalid', 502],
    ['user', 200, { ...ADA, id: 2 ** 53 }, 'provider_invalid', 502],
    ['user', 200, { ...ADA, id: null }, 'provider_invalid', 502],
    ['user', 200, { ...ADA, login: '' }, 'provider_invalid', 502],
    ['emails', 404, { message: 'Not Found' }, 'provider_refused', 403],
    ['orgs', 403, { message: 'You need at least read:org scope.' }, 'provider_refused', 403],
    ['orgs', 500, {}, 'provider_unavailable', 502],
    ['orgs', 200, {}, 'provider_invalid', 502],
    ['teams', 502, 'Bad gateway', 'provider_unavailable', 502],
    ['teams', 200, 'no JSON', 'provider_invalid', 502],
  ])('signs nobody in if the endpoint %s responds with %d and %j', async (endpoint, code, body, reason, status) => {
    main.responses.set(endpoint, [code, body])
    expectRefused(await signIn(), reason, status)
  })

  it('leaves out organizations and teams without names', async () => {
    main.orgs = [[{ login: 5 }, { login: null }, null as never, 'x' as never, { login: 'acme' }]]
    main.teams = [[{ slug: 'x' }, { slug: 'x', organization: null }, { slug: '', organization: { login: 'acme' } }]]
    const answer = await signIn()
    expectRefused(answer, 'not_admitted', 403)
    expect(valuesOf(answer, 'organization')).toEqual(['5', 'acme'])
    expect(valuesOf(answer, 'team')).toEqual([])
  })
})

describe('a person whom a rule admits', () => {
  const ask = <Body>(method: string, path: string, body?: object, key = running.demo.apiKey): Promise<Body> =>
    senderOf(running.demo.baseUrl, key)(method, path, body)

  interface Me {
    readonly user: { readonly id: string; readonly name: string }
    readonly apiKey: { readonly identityId: string; readonly scopes: readonly string[] }
  }

  async function meOf(answer: Answer): Promise<Me> {
    const [, token = answer.html] = /^__Host-session=([^;]+)/.exec(answer.cookies.at(-1) ?? '') ?? []
    return ask('GET', '/v1/me', undefined, token)
  }

  beforeAll(async () => {
    for (const [id, claim, value, role] of [
      ['main', 'organization', 'acme', 'viewer'],
      ['main', 'team', 'acme/admins', 'member'],
      ['other', 'organization', 'acme', 'viewer'],
    ] as const) {
      await ask('POST', '/v1/sign-in-rules', { issuer: githubs.issuerOf(id), claim, value, role })
    }
  })

  const ACME = { id: 1, login: 'acme' }

  it('gets the role of their organization and their team', async () => {
    main.orgs = [[ACME]]
    const answer = await signIn('main', '?to=/schedules')
    expect([answer.status, answer.location]).toEqual([302, `${running.url}/schedules`])
    const me = await meOf(answer)
    expect(me.user.name).toBe('Ada Lovelace')
    expect(me.apiKey.scopes).not.toContain('schedules:write')
    main.teams = [[{ slug: 'admins', organization: ACME }]]
    const admin = await meOf(await signIn())
    expect(admin.apiKey.scopes).toContain('schedules:write')
    expect(admin.user.id).toBe(me.user.id)
    // A team of the same name in another organization.
    Object.assign(main, { orgs: [[{ login: 'evil' }]], teams: [[{ slug: 'admins', organization: { login: 'evil' } }]] })
    expectRefused(await signIn(), 'not_admitted', 403)
  })

  it('is known by the ID of the account, not by login or e-mail address', async () => {
    const same = { orgs: [[ACME]], emails: [{ email: 'grace@example.com', primary: true, verified: true }] }
    Object.assign(main, { ...same, user: { id: 1906, login: 'grace', name: null } })
    const grace = await meOf(await signIn())
    expect(grace.user.name).toBe('grace')
    main.user = { id: 1906, login: 'renamed', name: 'Grace' }
    expect((await meOf(await signIn())).user.id).toBe(grace.user.id)
    main.user = { id: 1907, login: 'grace', name: null }
    expect((await meOf(await signIn())).user.id).not.toBe(grace.user.id)
    Object.assign(githubs.at('other'), { ...same, user: { id: 1906, login: 'grace', name: null } })
    expect((await meOf(await signIn('other'))).user.id).not.toBe(grace.user.id)
  })
})

it('logs why nobody was signed in, but no token, code or secret', () => {
  const lines = running
    .printed()
    .split('\n')
    .filter((line) => line.includes('{"signIn"'))
    .join('\n')
  expect(lines).toContain('The endpoint /user/orgs responded with the status 403.')
  for (const secret of [TOKEN, CLIENT_SECRET, '@example.com']) expect(lines).not.toContain(secret)
})
