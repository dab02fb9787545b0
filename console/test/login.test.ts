/** `workspace login`, from consent to the key: what the page and the command send to the console's Worker. */
import { createExecutionContext } from 'cloudflare:test'
import { hash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { exchange as exchangeKey } from '../../src/sign-in/exchange.ts'
import { ORIGIN, request } from '../../test/support/api.ts'
import { deployed, env } from '../../test/support/env.ts'
import { admitted, ISSUER as PROVIDER, personIn } from '../../test/support/sign-in.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { parseLoginRequest } from '../src/command-login/request.ts'
import { Browser, dumpKv, kv, type Setting, send } from './support/oauth.ts'

/** Not that of other tests, which share the store. */
const VERIFIER = 'login'.repeat(9)
const CHALLENGE = Buffer.from(hash('sha256', VERIFIER), 'hex').toString('base64url')
const DAY_MS = 86_400_000

afterEach(() => {
  vi.useRealTimers()
})

/** @param changes undefined leaves a parameter out. */
function queryOf(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = {
    code_challenge: CHALLENGE,
    state: 'state-of-the-command',
    machine: 'laptop',
    port: '49152',
    resource: ORIGIN,
    ...changes,
  }
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return `?${new URLSearchParams(given as [string, string][])}`
}

async function newPerson(options: Parameters<Workspace['addKeyWithId']>[0] = {}) {
  const workspace = await Workspace.create()
  const { token: key, id: keyId } = await workspace.addKeyWithId(options)
  const logins = async () => (await workspace.dump('apiKeys')).filter(({ kind }) => kind === 'grant')
  return { workspace, key, keyId, browser: await Browser.of(key), logins }
}

function allow(browser: Browser, decision: object = {}, setting?: Setting): Promise<Response> {
  const body = JSON.stringify({ query: queryOf(), days: 30, ...decision })
  return browser.fetch('/login/allow', { method: 'POST', body }, setting)
}

async function codeFor(browser: Browser): Promise<string> {
  return (await (await allow(browser)).json<{ code: string }>()).code
}

async function exchange(code: string, verifier: unknown = VERIFIER, setting?: Setting) {
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ code, verifier })
  const response = await send('/login/token', { method: 'POST', headers, body }, setting)
  return { status: response.status, ...(await response.json<{ apiKey?: string; error?: string }>()) }
}

const statusOf = async (key: string | undefined) => (await request('GET', '/v1/me', { key: key ?? '' })).status

const REFUSED = {
  status: 400,
  error: expect.stringMatching(/^The code is not valid: .* Run `workspace login` again\.$/),
}

describe('a login', () => {
  it('gets a key that can do what the person can, once', async () => {
    const workspace = await Workspace.create()
    const project = await workspace.addProject()
    const scopes = ['skills:read', 'api-keys:read', 'runs:write'] as const
    const { token, id: keyId } = await workspace.addKeyWithId({ scopes, projectIds: [project] })
    const code = await codeFor(await Browser.of(token))
    expect(code).toMatch(/^[\w-]{43}@console\.example$/)
    const { status, apiKey: key } = await exchange(code)
    expect(status).toBe(200)
    const { body: me } = await request('GET', '/v1/me', { key: key ?? '' })
    expect(me).toMatchObject({
      organization: { id: workspace.organizationId },
      user: { id: workspace.userId },
      apiKey: { kind: 'grant', name: 'workspace on laptop', scopes, projectIds: [project] },
    })
    expect(Math.round((Date.parse(me.apiKey.expiresAt) - Date.now()) / DAY_MS)).toBe(30)
    const { body: listed } = await request('GET', '/v1/api-keys?kind=grant', { key: key ?? '' })
    const app = { clientId: 'workspace', name: 'workspace on laptop', redirectHost: '127.0.0.1' }
    expect(listed.items).toMatchObject([{ app, createdByKeyId: keyId }])
    expect(await exchange(code)).toEqual(REFUSED)
    expect(await statusOf(key)).toBe(200)
  })

  it('gets its key once, also from exchanges at the same moment', async () => {
    const { browser } = await newPerson()
    const code = await codeFor(browser)
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 200)).toEqual(Array(7).fill(REFUSED))
  })

  it('is a matter of grants: another key has no code', async () => {
    const { workspace, key } = await newPerson()
    expect(await exchangeKey(deployed(env), createExecutionContext(), key, '')).toEqual({ isFirst: false })
    expect((await workspace.dump('apiKeys')).map(({ redeemedAt }) => redeemedAt)).toEqual([null, null])
  })

  it('gets no key that was revoked meanwhile', async () => {
    const { browser, workspace, logins } = await newPerson()
    const code = await codeFor(browser)
    const [login] = await logins()
    await workspace.revokeKey(String(login?.id))
    expect((await exchange(code)).status).toBe(401)
  })

  it('has no key any more after a wrong verifier', async () => {
    for (const wrong of ['w'.repeat(43), CHALLENGE, '']) {
      const { browser, logins } = await newPerson()
      const code = await codeFor(browser)
      expect(await exchange(code, wrong)).toEqual(REFUSED)
      expect(await exchange(code)).toEqual(REFUSED)
      expect(await logins()).toMatchObject([{ revokedAt: expect.any(String) }])
    }
  })

  it('has no key any more after two minutes', async () => {
    const { browser, logins } = await newPerson()
    const [first, second] = [await codeFor(browser), await codeFor(browser)]
    const start = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: start + 100_000 })
    expect((await exchange(first)).status).toBe(200)
    vi.setSystemTime(start + 121_000)
    expect(await exchange(second)).toEqual(REFUSED)
    expect((await logins()).map(({ revokedAt }) => revokedAt === null)).toEqual([true, false])
  })

  it('takes only a code as the console wrote it', async () => {
    const code = await codeFor((await newPerson()).browser)
    const [random = ''] = code.split('@')
    for (const wrong of [random, `${random}@evil.example`, `${code} `, code.toUpperCase(), '', 'nonsense', 5]) {
      expect((await exchange(wrong as string)).status).toBe(400)
    }
    expect((await exchange(code, 5)).status).toBe(400)
    expect((await exchange(code)).status).toBe(200)
  })

  it('ends with the access of its person', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const person = personIn('team')
    const rule = { issuer: PROVIDER, claim: 'groups', value: 'team', role: 'member' }
    await request('POST', '/v1/sign-in-rules', { key, json: rule })
    const { token } = await admitted(workspace, person)
    const { apiKey } = await exchange(await codeFor(Browser.withSession(token)))
    expect(await statusOf(apiKey)).toBe(200)
    const [identity] = await workspace.dump('identities')
    await request('PATCH', `/v1/identities/${identity?.id}`, { key, json: { blocked: true } })
    expect(await statusOf(apiKey)).toBe(401)
  })
})

describe('the store', () => {
  it('reveals nothing between consent and exchange, and is empty afterwards', async () => {
    const { browser } = await newPerson()
    const before = (await kv.list()).keys.length
    const code = await codeFor(browser)
    const [random = ''] = code.split('@')
    const stored = await dumpKv()
    const { apiKey = '' } = await exchange(code)
    for (const secret of [random, apiKey, apiKey.slice(4), browser.session, VERIFIER, CHALLENGE, 'laptop']) {
      expect(secret).not.toBe('')
      expect(stored).not.toContain(secret)
    }
    expect(stored).toContain('login:')
    expect((await kv.list()).keys).toHaveLength(before)
  })

  it('has each login encrypted by its own code', async () => {
    const { browser } = await newPerson()
    const [one, other] = [await codeFor(browser), await codeFor(browser)]
    const nameOf = (code: string) => `login:${Buffer.from(hash('sha256', code), 'hex').toString('base64url')}`
    await kv.put(nameOf(one), (await kv.get(nameOf(other))) ?? '')
    expect(await exchange(one)).toEqual(REFUSED)
    expect((await exchange(other)).status).toBe(200)
  })

  it('that takes nothing leaves no key', async () => {
    const { browser, logins } = await newPerson()
    const broken = { put: () => Promise.reject(new Error('No room')) } as unknown as KVNamespace
    expect((await allow(browser, {}, { kv: broken })).status).toBe(500)
    expect(await logins()).toMatchObject([{ revokedAt: expect.any(String) }])
  })

  it('is needed: without it, the console refuses', async () => {
    const { browser, logins } = await newPerson()
    for (const missing of ['OAUTH_KV', 'API_URL', 'CONSOLE_URL']) {
      const console = { [missing]: undefined } as never
      const allowed = await allow(browser, {}, { console })
      expect([missing, allowed.status]).toEqual([missing, 404])
      expect((await allowed.json<{ error: string }>()).error).toMatch(/^This console makes no keys for the command/)
      expect((await exchange('code', VERIFIER, { console })).status).toBe(404)
    }
    expect(await logins()).toEqual([])
  })
})

describe('consent', () => {
  it('is refused for another service, which would get the key', async () => {
    const { browser, logins } = await newPerson()
    for (const resource of [
      'https://evil.example',
      `${ORIGIN}.evil.example`,
      `${ORIGIN}:8443`,
      'http://workspace.example',
    ]) {
      const refused = await allow(browser, { query: queryOf({ resource }) })
      expect([refused.status, await refused.json()]).toEqual([
        400,
        { error: `This console belongs to another service. Run \`workspace login --url ${ORIGIN}\`.` },
      ])
    }
    expect((await allow(browser, { query: queryOf({ resource: `${ORIGIN}/api/public-api` }) })).status).toBe(200)
    expect(await logins()).toHaveLength(1)
  })

  it.each<[Record<string, string | undefined>, string]>([
    [{ code_challenge: undefined }, 'code_challenge'],
    [{ code_challenge: 'short' }, 'code_challenge'],
    [{ state: undefined }, 'state'],
    [{ state: 'a b' }, 'state'],
    [{ machine: 'laptop <b>' }, 'machine'],
    [{ machine: '\u202eevil' }, 'machine'],
    [{ machine: 'a'.repeat(65) }, 'machine'],
    [{ port: '0' }, 'port'],
    [{ port: '65536' }, 'port'],
    [{ port: '80@evil.example' }, 'port'],
    [{ resource: undefined }, 'resource'],
    [{ resource: 'nonsense' }, 'resource'],
  ])('is refused if the address has %o', async (changes, name) => {
    const { browser, logins } = await newPerson()
    const refused = await allow(browser, { query: queryOf(changes) })
    expect([refused.status, await refused.json()]).toEqual([400, { error: `Its address has no valid ${name}.` }])
    expect(parseLoginRequest(queryOf(changes))).toBe(`Its address has no valid ${name}.`)
    expect(await logins()).toEqual([])
  })

  it('needs the session of a person, and a page of the console that asks', async () => {
    const { browser, key, logins } = await newPerson()
    expect((await allow(await Browser.of(undefined))).status).toBe(401)
    expect((await allow(Browser.withSession('nonsense'))).status).toBe(401)
    expect((await allow(Browser.withSession(key))).status).toBe(403)
    const body = JSON.stringify({ query: queryOf(), days: 30 })
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { 'Sec-Fetch-Site': site }
      expect((await browser.fetch('/login/allow', { method: 'POST', headers, body })).status).toBe(403)
    }
    for (const days of [0, 91, 1.5, '30', undefined]) expect((await allow(browser, { days })).status).toBe(400)
    expect((await allow(browser, { query: undefined })).status).toBe(400)
    const { apiKey = '' } = await exchange(await codeFor(browser))
    // The key of a login is no session, so it makes no further one.
    expect((await allow(Browser.withSession(apiKey))).status).toBe(403)
    expect(await logins()).toHaveLength(1)
  })
})
