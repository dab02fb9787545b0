import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { POLICIES } from '../../src/access/rate-limit.ts'
import { apiKeys } from '../../src/db/schema.ts'
import worker from '../../src/index.ts'
import wranglerToml from '../../wrangler.toml?raw'
import { type ApiResponse, ORIGIN, PREFIX, request } from '../support/api.ts'
import { databaseWith, watchedDatabase } from '../support/bindings.ts'
import { env } from '../support/env.ts'
import { newToken } from '../support/tokens.ts'
import { now, Workspace } from '../support/workspace.ts'

const ID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'
const HOUR_MS = 3_600_000

async function withSkill() {
  const workspace = await Workspace.create()
  const { token, id } = await workspace.addKeyWithId()
  const path = `/v1/skills/${await workspace.addSkill({ 'SKILL.md': 'x' })}`
  return { workspace, key: token, keyId: id, path }
}

function withAuthorization(path: string, Authorization: string, environment = {}) {
  return request('GET', path, { headers: { Authorization }, environment })
}

async function keyRow(workspace: Workspace, id: string) {
  return (await workspace.dump('apiKeys')).find((row) => row.id === id)
}

const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString()

/** The number of responses with each status. */
function tally(responses: readonly ApiResponse[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const refusalOf = ({ status, headers, body }: ApiResponse) => ({
  status,
  challenge: headers.get('WWW-Authenticate'),
  body,
})

/** The token with one character replaced by another of base62. */
function flipped(token: string, place: number): string {
  return token.slice(0, place) + (token[place] === 'x' ? 'y' : 'x') + token.slice(place + 1)
}

describe('the Authorization header', () => {
  it.each(['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer   '])('accepts a token after "%s"', async (scheme) => {
    const { key, path } = await withSkill()
    expect((await withAuthorization(path, scheme + key)).status).toBe(200)
  })

  it('asks for a token if there is none', async () => {
    const { key, path } = await withSkill()
    const responses = [
      await request('GET', path),
      await withAuthorization(path, ''),
      await withAuthorization(path, `Basic ${btoa(`key:${key}`)}`),
      await withAuthorization(path, `Token ${key}`),
      await withAuthorization(path, key),
      await withAuthorization(path, `Bearer${key}`),
      await request('GET', `${path}?access_token=${key}`),
      await request('GET', path, { headers: { 'X-Api-Key': key } }),
    ]
    for (const response of responses) {
      expect(refusalOf(response)).toEqual({
        status: 401,
        challenge: 'Bearer',
        body: { error: 'The API key is missing. Send it in the header "Authorization: Bearer <API key>".' },
      })
    }
  })

  it('refuses an empty token', async () => {
    const { path } = await withSkill()
    for (const value of ['Bearer', 'Bearer ', 'Bearer   ']) {
      const { status, headers } = await withAuthorization(path, value)
      expect([status, headers.get('WWW-Authenticate')]).toEqual([401, expect.stringMatching(/^Bearer\b/)])
    }
  })

  it.each<[string, (token: string) => string]>([
    ['another prefix', (token) => token.replace('wsk', 'wsx')],
    ['no prefix', (token) => token.slice(4)],
    ['a prefix in upper case', (token) => token.replace('wsk', 'WSK')],
    ['a flipped character of the prefix', (token) => flipped(token, 0)],
    ['a flipped character of the secret', (token) => flipped(token, 20)],
    ['a flipped character of the checksum', (token) => flipped(token, 52)],
    ['another case', (token) => token.toLowerCase()],
    ['a character too few', (token) => token.slice(0, -1)],
    ['a character too many', (token) => `${token}0`],
    ['a character outside base62', (token) => `${token.slice(0, 10)}-${token.slice(11)}`],
    ['a thousand characters', (token) => token.padEnd(1000, '0')],
    ['a second token', (token) => `${token} ${token}`],
    ['a list of tokens', (token) => `${token}, Bearer ${token}`],
    ['a parameter', (token) => `token="${token}"`],
    ['a tab before it', (token) => `\t${token}`],
  ])('refuses %s without a query', async (_name, spoil) => {
    const { key, path } = await withSkill()
    const use = watchedDatabase()
    const response = await withAuthorization(path, `Bearer ${spoil(key)}`, { DB: use.DB })
    expect([response.status, response.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
    expect(use.calls).toBe(0)
  })

  it('tells the holder of a revoked or expired key why, and others only that the key is not valid', async () => {
    const { workspace, key, path } = await withSkill()
    const revoked = await workspace.addKeyWithId()
    await workspace.revokeKey(revoked.id)
    const both = await workspace.addKeyWithId({ expiresAt: fromNow(-1) })
    await workspace.revokeKey(both.id)
    const invalid = ['api_key_invalid', 'The API key is not valid: it is incomplete or unknown.'] as const
    for (const [token, code, sentence] of [
      ['nonsense', ...invalid],
      [flipped(key, 20), ...invalid],
      [newToken(), ...invalid],
      [revoked.token, 'api_key_revoked', 'The API key was revoked.'],
      [both.token, 'api_key_revoked', 'The API key was revoked.'],
      [await workspace.addKey({ expiresAt: fromNow(-1) }), 'api_key_expired', 'The API key has expired.'],
    ] as const) {
      const response = await request('GET', path, { key: token })
      expect(response.headers.get('Error-Code')).toBe(code)
      expect(refusalOf(response)).toEqual({
        status: 401,
        challenge: 'Bearer error="invalid_token"',
        body: { error: `${sentence} Use another API key.` },
      })
    }
  })
})

describe('a revoked or expired key', () => {
  const everywhere = [
    ['PATCH', `/v1/pins/session/${ID}`, { placement: { target: { type: 'session', id: ID }, position: 'after' } }],
    ['POST', '/v1/projects/website/schedules', { cron: '0 6 * * *', timezone: 'UTC' }],
    ['POST', `/v1/agents/${ID}/schedules`, { cron: '0 6 * * *' }],
    ['GET', `/v1/sessions/${ID}/files`, undefined],
    ['GET', `/v1/skills/${ID}`, undefined],
    ['DELETE', '/v1/users/ada/profile-picture', undefined],
    ['DELETE', '/v1/projects/website/environment-variables/KEY', undefined],
  ] as const

  it.each(everywhere)('is refused by %s %s from its revocation', async (method, path, json) => {
    const { workspace, key, keyId } = await withSkill()
    for (const basePath of ['', PREFIX]) {
      expect((await request(method, basePath + path, { key, json })).status).toBe(404)
    }
    await workspace.revokeKey(keyId)
    for (const basePath of ['', PREFIX]) {
      expect((await request(method, basePath + path, { key, json })).status).toBe(401)
    }
  })

  it.each(everywhere)('is refused by %s %s from its expiry', async (method, path, json) => {
    const { workspace, key, keyId } = await withSkill()
    await workspace.change(apiKeys, keyId, { expiresAt: fromNow(HOUR_MS) })
    expect((await request(method, path, { key, json })).status).toBe(404)
    await workspace.change(apiKeys, keyId, { expiresAt: fromNow(-1) })
    expect((await request(method, path, { key, json })).status).toBe(401)
  })

  it('changes nothing', async () => {
    const { workspace, key, keyId } = await withSkill()
    const projectId = await workspace.addProject()
    const agentId = await workspace.addAgent()
    const sessionId = await workspace.addSession(projectId)
    await workspace.pin('project', projectId)
    await workspace.pin('session', sessionId)
    await workspace.addVariable(projectId, 'KEY')
    await workspace.addPicture()
    await workspace.revokeKey(keyId)
    const tables = ['pins', 'schedules', 'environmentVariables', 'profilePictures', 'apiKeys']
    const dump = () => Promise.all(tables.map((table) => workspace.dump(table)))
    const before = await dump()

    const placement = { target: { type: 'project', id: projectId }, position: 'before' }
    for (const [method, path, json] of [
      ['PATCH', `/v1/pins/session/${sessionId}`, { placement }],
      ['POST', `/v1/projects/${projectId}/schedules`, { cron: '0 6 * * *', timezone: 'UTC' }],
      ['POST', `/v1/agents/${agentId}/schedules`, { cron: '0 6 * * *' }],
      ['DELETE', `/v1/users/${workspace.userId}/profile-picture`, undefined],
      ['DELETE', `/v1/projects/${projectId}/environment-variables/KEY`, undefined],
    ] as const) {
      expect([path, (await request(method, path, { key, json })).status]).toEqual([path, 401])
    }
    expect(await dump()).toEqual(before)
  })

  it('leaves other keys valid', async () => {
    const { workspace, key, keyId, path } = await withSkill()
    const other = await workspace.addKey()
    await workspace.revokeKey(keyId)
    expect((await request('GET', path, { key: other })).status).toBe(200)
    expect((await request('GET', path, { key })).status).toBe(401)
  })

  it('is stored as the SHA-256 of its token, and nothing else of it', async () => {
    const { workspace, key, keyId } = await withSkill()
    const row = await keyRow(workspace, keyId)
    // Without the number of its database and its checksum.
    const secret = key.slice(key.indexOf('_') + 1, -6)
    expect(row?.hash).toBe(createHash('sha256').update(`wsk_${secret}`).digest('hex'))
    const stored = JSON.stringify(row)
    expect(stored).not.toContain(secret.slice(0, 10))
    expect(stored).not.toContain(key.slice(-10))
  })
})

describe('lastUsedAt', () => {
  it('is set by the first use, after the response', async () => {
    const { workspace, key, keyId, path } = await withSkill()
    expect((await keyRow(workspace, keyId))?.lastUsedAt).toBeNull()
    const before = now()
    expect((await request('GET', path, { key })).status).toBe(200)
    const lastUsedAt = String((await keyRow(workspace, keyId))?.lastUsedAt)
    expect([before <= lastUsedAt, lastUsedAt <= now()]).toEqual([true, true])
  })

  it('is not written again within the hour: one trip', async () => {
    const { workspace, key, keyId, path } = await withSkill()
    for (const age of [0, HOUR_MS / 2, HOUR_MS - 30_000]) {
      const lastUsedAt = fromNow(-age)
      await workspace.change(apiKeys, keyId, { lastUsedAt })
      const use = watchedDatabase()
      expect((await request('GET', path, { key, environment: { DB: use.DB } })).status).toBe(200)
      expect((await keyRow(workspace, keyId))?.lastUsedAt).toBe(lastUsedAt)
      expect([use.calls, use.rowsWritten]).toEqual([1, 0])
    }
  })

  it('is updated once it is an hour old, for this key only', async () => {
    const { workspace, key, keyId, path } = await withSkill()
    const other = await workspace.addKeyWithId()
    const old = fromNow(-HOUR_MS)
    await workspace.change(apiKeys, keyId, { lastUsedAt: old })
    await workspace.change(apiKeys, other.id, { lastUsedAt: old })
    const use = watchedDatabase()
    await request('GET', path, { key, environment: { DB: use.DB } })
    expect(use.calls).toBe(2)
    expect(String((await keyRow(workspace, keyId))?.lastUsedAt) > old).toBe(true)
    expect((await keyRow(workspace, other.id))?.lastUsedAt).toBe(old)
  })

  it('is not set by a refused request', async () => {
    const { workspace, key, keyId, path } = await withSkill()
    await workspace.revokeKey(keyId)
    await request('GET', path, { key })
    await request('GET', '/v1/skills/7', { key })
    expect((await keyRow(workspace, keyId))?.lastUsedAt).toBeNull()
  })

  it('neither delays nor fails the response', async () => {
    const { key, path } = await withSkill()
    const pending: Promise<unknown>[] = []
    const context = { waitUntil: (promise: Promise<unknown>) => pending.push(promise) }
    let batches = 0
    const DB = databaseWith((statements) =>
      batches++ === 0 ? env.DB.batch(statements) : Promise.reject(new Error('D1_ERROR: overloaded')),
    )
    const response = await worker.fetch(
      new Request(ORIGIN + path, { headers: { Authorization: `Bearer ${key}` } }),
      { ...env, DB },
      context as unknown as ExecutionContext,
    )
    expect([response.status, pending.length]).toEqual([200, 1])
    await Promise.allSettled(pending)
  })
})

describe('rate limits', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  const limiting = { RATE_LIMIT: 'on' }
  const limitHeadersOf = (response: ApiResponse | undefined) =>
    ['Retry-After', 'RateLimit-Policy', 'RateLimit'].map((name) => response?.headers.get(name))

  it('are those of wrangler.toml, in every environment', () => {
    const limits = wranglerToml.matchAll(/name = "(\w+_RATE_LIMIT)"\n.*\nsimple = \{ limit = (\d+), period = 60 \}/g)
    const quotas = Array.from(limits, ([, name = '', limit]) => [name, Number(limit)])
    const expected = Object.entries(POLICIES).map(([name, { quota }]) => [name, quota])
    expect(quotas).toEqual([...expected, ...expected])
  })

  it('are named in responses to requests with an API key, unless they are off', async () => {
    const { key, path } = await withSkill()
    const policyOf = async (environment: object, method = 'GET', at = path) =>
      (await request(method, at, { key, environment })).headers.get('RateLimit-Policy')
    expect(await policyOf(limiting)).toBe('"key";q=600;w=60, "organization";q=6000;w=60')
    expect(await policyOf(limiting, 'PUT', '/v1/projects/website')).toBe('"key";q=600;w=60, "organization";q=6000;w=60')
    expect(await policyOf({})).toBeNull()
  })

  /**
   * Repeats a request until the status is 429. The limiter counts in windows of a minute, so among twice the
   * limit and one more, some window has more than the limit.
   */
  async function untilLimited(limit: number, send: () => Promise<ApiResponse>) {
    const responses: ApiResponse[] = []
    while (responses.length <= 2 * limit && !responses.some(({ status }) => status === 429)) {
      responses.push(...(await Promise.all(Array.from({ length: 20 }, send))))
    }
    return {
      passed: responses.filter(({ status }) => status !== 429),
      refused: responses.find(({ status }) => status === 429),
    }
  }

  /** Sends a request with the key from an address. */
  const from = (address: string, key: string, environment = {}) =>
    request('GET', '/v1/me', {
      key,
      headers: { 'CF-Connecting-IP': address },
      environment: { ...limiting, ...environment },
    })

  /** Sends unknown keys from the addresses in turn until one is refused with 429. @returns that response. */
  async function block(...addresses: string[]): Promise<ApiResponse | undefined> {
    let sent = 0
    const { refused } = await untilLimited(60, () => from(addresses[sent++ % addresses.length] ?? '', newToken()))
    return refused
  }

  it('block an address after 60 refused keys a minute, then without a query', async () => {
    const { workspace, key, keyId } = await withSkill()
    await workspace.revokeKey(keyId)
    const use = watchedDatabase()
    const send = (token: string) => from('192.0.2.1', token, { DB: use.DB })
    const responses: ApiResponse[] = []
    const callsAt: number[] = []
    for (let sent = 0; sent < 1000; sent++) {
      responses.push(await send(sent % 2 === 0 ? key : newToken()))
      callsAt.push(use.calls)
    }
    const first = responses.findIndex(({ status }) => status === 429)
    expect(limitHeadersOf(responses[first])).toEqual(['60', '"address";q=60;w=60', '"address";r=0;t=60'])
    expect(first).toBeGreaterThanOrEqual(60)
    expect(tally(responses)).toEqual({ 401: first, 429: 1000 - first })
    expect([callsAt[first], use.calls]).toEqual([first + 1, first + 1])
    expect((await from('192.0.2.2', key)).status).toBe(401)
    expect((await send('nonsense')).status).toBe(401)
  })

  it('accept a key from a blocked address if it was accepted within the last minute', async () => {
    const { workspace, key, keyId } = await withSkill()
    const unused = await workspace.addKey()
    const start = Date.now()
    const at = (seconds: number) => vi.setSystemTime(start + seconds * 1000)
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    expect((await from('192.0.2.3', key)).status).toBe(200)
    expect((await block('192.0.2.3'))?.status).toBe(429)
    const statuses = async () => [(await from('192.0.2.3', key)).status, (await from('192.0.2.3', unused)).status]
    expect(await statuses()).toEqual([200, 429])
    expect((await from('192.0.2.4', unused)).status).toBe(200)
    expect(await statuses()).toEqual([200, 200])
    at(59.999)
    expect((await from('192.0.2.3', key)).status).toBe(200)
    at(60)
    const another = await workspace.addKey()
    expect((await from('192.0.2.3', another)).status).toBe(200)

    await workspace.revokeKey(keyId)
    expect((await block('192.0.2.3'))?.status).toBe(429)
    const use = watchedDatabase()
    for (const _ of [1, 2]) expect([401, 429]).toContain((await from('192.0.2.3', key, { DB: use.DB })).status)
    expect(use.calls).toBe(1)
    at(120)
    expect((await block('192.0.2.3'))?.status).toBe(429)
    at(120.001)
    expect((await from('192.0.2.3', unused)).status).toBe(429)
  })

  it('count the addresses of an IPv6 /64 as one', async () => {
    const { key } = await withSkill()
    const same = ['2001:db8:0:7::1', '2001:DB8::7:ffff:0:0:9', '2001:0db8:0000:0007:1:2:3:4']
    expect((await block(...same))?.status).toBe(429)
    for (const address of [...same, '2001:db8:0:7::']) expect((await from(address, key)).status).toBe(429)
    for (const address of ['2001:db8:0:8::1', '2001:db8::7', '::1', '192.0.2.5']) {
      expect((await from(address, newToken())).status).toBe(401)
    }
  })

  describe('of an organization', () => {
    /** A limit of so many requests for each organization, and the keys that it counted. */
    function organizationLimit(most: number) {
      const asked: string[] = []
      const ORGANIZATION_RATE_LIMIT = {
        async limit({ key }: RateLimitOptions) {
          asked.push(key)
          return { success: asked.filter((other) => other === key).length <= most }
        },
      } as RateLimit
      return { asked, environment: { ...limiting, ORGANIZATION_RATE_LIMIT } }
    }

    it('count its keys together, and refuse without a query', async () => {
      const workspace = await Workspace.create()
      const keys = [await workspace.addKey(), await workspace.addKey()]
      const [first = '', second = ''] = keys
      const { asked, environment } = organizationLimit(4)
      const use = watchedDatabase()
      const send = (key: string) => request('GET', '/v1/me', { key, environment: { ...environment, DB: use.DB } })
      for (const key of [...keys, ...keys]) expect((await send(key)).status).toBe(200)
      const { calls } = use
      for (const key of keys) {
        const response = await send(key)
        expect(response.status).toBe(429)
        expect(limitHeadersOf(response)).toEqual(['60', '"organization";q=6000;w=60', '"organization";r=0;t=60'])
      }
      expect(use.calls).toBe(calls)
      expect(asked).toEqual(Array(6).fill(workspace.organizationId))
      const other = await (await Workspace.create()).addKey()
      expect((await send(other)).status).toBe(200)

      const KEY_RATE_LIMIT = { limit: async () => ({ success: false }) } as RateLimit
      const refused = { ...environment, KEY_RATE_LIMIT }
      expect((await request('GET', '/v1/me', { key: first, environment: refused })).status).toBe(429)
      expect((await request('GET', '/v1/me', { key: second, environment: refused })).status).toBe(429)
      expect(asked).toHaveLength(7)
    })

    it('count the first request of a key, and carry it out', async () => {
      const workspace = await Workspace.create()
      const { asked, environment } = organizationLimit(0)
      const send = async (key: string, method: string, json?: object) =>
        (await request(method, '/v1/projects/website', { key, environment, ...(json && { json }) })).status
      const [first, second] = [await workspace.addKey(), await workspace.addKey()]
      expect(await send(first, 'PUT', { name: 'Website' })).toBe(201)
      expect(await send(first, 'GET')).toBe(429)
      expect(await send(second, 'PUT', { wrong: 'input' })).toBe(400)
      const third = await workspace.addKey()
      const json = { url: 'https://hooks.example.com/runs' }
      // This looks the key up, then does its work.
      expect((await request('PUT', '/v1/run-endpoint', { key: third, environment, json })).status).toBe(201)
      expect(asked).toEqual(Array(4).fill(workspace.organizationId))
      expect(await workspace.has('project', 'website')).toBe(true)
    })
  })

  it('refuse a key after 600 requests a minute, before any query, and no other key', async () => {
    const { workspace, key, keyId } = await withSkill()
    const use = watchedDatabase()
    const send = (token: string) =>
      request('GET', `/v1/skills/${ID}`, { key: token, environment: { ...limiting, DB: use.DB } })
    const { passed, refused } = await untilLimited(600, () => send(key))
    expect(passed.length).toBeGreaterThanOrEqual(600)
    expect(passed.every(({ status }) => status === 404)).toBe(true)
    expect(limitHeadersOf(refused)).toEqual(['60', '"key";q=600;w=60', '"key";r=0;t=60'])
    expect((await send(await workspace.addKey())).status).toBe(404)
    expect((await request('GET', `/v1/skills/${ID}`, { key })).status).toBe(404)

    const environment = { ...limiting, KEY_RATE_LIMIT: { limit: async () => ({ success: false }) } }
    await workspace.revokeKey(keyId)
    const unasked = watchedDatabase()
    const response = await request('GET', `/v1/skills/${ID}`, {
      key,
      environment: { ...environment, DB: unasked.DB },
    })
    expect([response.status, unasked.calls]).toEqual([429, 0])
  })

  it('count refused tokens without a known address', async () => {
    const response = await request('GET', `/v1/skills/${ID}`, { key: newToken(), environment: limiting })
    expect(response.status).toBe(401)
  })

  it('count nothing if they are off', async () => {
    const { workspace, key, keyId, path } = await withSkill()
    const counting = { limit: () => Promise.reject(new Error('counted')) }
    const environment = {
      RATE_LIMIT: 'off',
      KEY_RATE_LIMIT: counting,
      ORGANIZATION_RATE_LIMIT: counting,
      REFUSAL_RATE_LIMIT: counting,
    }
    expect((await block('192.0.2.6'))?.status).toBe(429)
    const headers = { 'CF-Connecting-IP': '192.0.2.6' }
    expect((await request('GET', path, { key, headers, environment })).status).toBe(200)
    expect((await request('GET', path, { key, headers, environment })).status).toBe(200)
    await workspace.revokeKey(keyId)
    expect((await request('GET', path, { key, headers, environment })).status).toBe(401)
  })
})
