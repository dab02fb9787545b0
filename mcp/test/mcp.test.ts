/** `/mcp` is guarded like every other path. node/mcp.test.ts tests what it offers. */
import { describe, expect, it } from 'vitest'
import { request } from '../../test/support/api.ts'
import { failingDatabase, watchedDatabase } from '../../test/support/bindings.ts'
import { hashOf, newToken } from '../../test/support/tokens.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { message, newMessage, postMcp } from './support/mcp.ts'

const KIBIBYTE = 1024
const LONG = 'x'.repeat(3_900_000)
const HALF = LONG.slice(LONG.length / 2)

const call = (name: string, input: unknown = {}) => message('tools/call', { name, arguments: input })
const listen = newMessage('subscriptions/listen', {
  notifications: {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['skill://x/y/SKILL.md'],
  },
})

/** Requests of every kind: some call the API, others do not. */
const REQUESTS: Readonly<Record<string, { body: unknown; headers?: Record<string, string> }>> = {
  initialize: {
    body: message('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1.0.0' },
    }),
  },
  ping: { body: message('ping') },
  'a list of tools': { body: message('tools/list') },
  'a list of resources': { body: message('resources/list') },
  'a list of resource templates': { body: message('resources/templates/list') },
  'a resource': { body: message('resources/read', { uri: 'skill://x/y/SKILL.md' }) },
  'a tool': { body: call('list_skills') },
  'a tool with wrong input': { body: call('list_skills', { limit: [] }) },
  'an unknown tool': { body: call('unknown') },
  'an unknown method': { body: message('unknown') },
  'a notification': { body: { jsonrpc: '2.0', method: 'notifications/initialized' } },
  'a response': { body: { jsonrpc: '2.0', id: 1, result: {} } },
  'a batch without calls': { body: [message('ping'), { ...message('ping'), id: 2 }] },
  'an empty batch': { body: [] },
  'no message': { body: { name: 'test' } },
  'no JSON': { body: '{' },
  nothing: { body: '' },
  'another type': { body: 'text', headers: { 'Content-Type': 'text/plain' } },
  'server/discover': newMessage('server/discover'),
  'an unknown method of 2026-07-28': newMessage('ping'),
  'an unknown revision': {
    ...newMessage('tools/list'),
    headers: { 'MCP-Protocol-Version': '2030-01-01', 'Mcp-Method': 'tools/list' },
  },
  'a subscription': listen,
}
const requests = Object.entries(REQUESTS)

const codeOf = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  headers.get('Error-Code'),
  headers.get('WWW-Authenticate'),
]

/** A rate limit that counts, and the keys that it counted. */
function counting(limit: 'KEY_RATE_LIMIT' | 'ORGANIZATION_RATE_LIMIT', success = true) {
  const counted: string[] = []
  const binding = {
    limit: async ({ key }: RateLimitOptions) => ({ success: counted.push(key) > 0 && success }),
  }
  return { counted, environment: { RATE_LIMIT: 'on', [limit]: binding } as Partial<Cloudflare.Env> }
}

async function newKey() {
  const workspace = await Workspace.create()
  const { token: key, id } = await workspace.addKeyWithId()
  return { workspace, key, id }
}

/** A body that says whether it was read. */
function streamed(content: string) {
  const use = { isRead: false }
  const body = new ReadableStream(
    {
      pull(controller) {
        use.isRead = true
        controller.enqueue(new TextEncoder().encode(content))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { use, body }
}

describe('without a live key', () => {
  it.each(requests)('%s gets 401', async (_, { body, headers }) => {
    const { workspace, key, id } = await newKey()
    await workspace.revokeKey(id)
    const expired = await workspace.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' })
    const answers = [
      [undefined, 'api_key_missing', 'Bearer'],
      ['nonsense', 'api_key_invalid', 'Bearer error="invalid_token"'],
      [newToken(), 'api_key_invalid', 'Bearer error="invalid_token"'],
      [key, 'api_key_revoked', 'Bearer error="invalid_token"'],
      [expired, 'api_key_expired', 'Bearer error="invalid_token"'],
    ] as const
    for (const [sent, code, challenge] of answers) {
      const response = await postMcp(body, {
        ...(sent !== undefined && { key: sent }),
        ...(headers && { headers }),
      })
      expect([sent, ...codeOf(response)]).toEqual([sent, 401, code, challenge])
      expect(Object.keys(response.body)).toEqual(['error'])
    }
  })

  it('a large body, or one of undeclared length, is not read', async () => {
    const { workspace, key, id } = await newKey()
    await workspace.revokeKey(id)
    const content = JSON.stringify(message('ping')).padEnd(64 * KIBIBYTE + 1)
    for (const token of [newToken(), key]) {
      for (const headers of [{}, { 'Content-Length': String(content.length) }]) {
        const { use, body } = streamed(content)
        expect((await postMcp(body, { key: token, headers })).status).toBe(401)
        expect(use.isRead).toBe(false)
      }
    }
    const { use, body } = streamed(content)
    const { key: live } = await newKey()
    expect((await postMcp(body, { key: live })).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    expect(use.isRead).toBe(true)
  })

  it.each([
    [404, 'path_not_found', '/v1/nothing', 'GET'],
    [405, 'method_not_allowed', '/v1/me', 'POST'],
  ])('a tool whose call gets %i %s gets 401', async (status, code, path, method) => {
    const calls: unknown[] = []
    const { key } = await newKey()
    const send = (token: string) =>
      postMcp(call('list_skills'), {
        key: token,
        async around(called, answer) {
          if (called !== 'GET /v1/skills') return answer()
          const { headers, body } = await request(method, path, { key: token })
          calls.push([headers.get('Error-Code')])
          return Response.json(body, { status, headers: { 'Error-Code': code } })
        },
      })
    expect(codeOf(await send(newToken()))).toEqual([401, 'api_key_invalid', 'Bearer error="invalid_token"'])
    const { status: answered, body } = await send(key)
    expect([answered, body.result.isError]).toEqual([200, true])
    expect(calls).toEqual([[code], [code]])
  })

  it('an address is blocked after 60 requests, and then nothing is forwarded', async () => {
    const headers = { 'CF-Connecting-IP': '192.0.2.77' }
    const use = watchedDatabase()
    const environment = { RATE_LIMIT: 'on', DB: use.DB }
    const statuses: number[] = []
    // The limiter counts in windows of a minute, so one of two windows has more than 60.
    while (statuses.at(-1) !== 429 && statuses.length <= 121)
      statuses.push((await postMcp(message('ping'), { key: newToken(), headers, environment })).status)
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
    const { calls } = use
    const MCP = { fetch: () => Promise.reject(new Error('forwarded')) } as unknown as Fetcher
    const { use: read, body } = streamed('{}')
    const blocked = await postMcp(body, { key: newToken(), headers, environment: { ...environment, MCP } })
    expect(codeOf(blocked)).toEqual([429, 'rate_limited', null])
    expect([use.calls, read.isRead]).toEqual([calls, false])
  })
})

describe('with a live key', () => {
  it.each(requests)('%s makes one round trip, and is counted once', async (_, { body, headers }) => {
    const { workspace, key } = await newKey()
    // The first request of a key also stores the time of its use.
    await postMcp(message('ping'), { key })
    for (const limit of ['KEY_RATE_LIMIT', 'ORGANIZATION_RATE_LIMIT'] as const) {
      const { counted, environment } = counting(limit)
      const use = watchedDatabase()
      const sent = { key, ...(headers && { headers }), environment: { ...environment, DB: use.DB } }
      const { status } = await postMcp(body, sent)
      expect(status).not.toBe(401)
      expect(status).toBeLessThan(500)
      const expected = limit === 'KEY_RATE_LIMIT' ? hashOf(key) : workspace.organizationId
      expect([counted, use.calls]).toEqual([[expected], 1])
    }
  })

  it('a large body costs a round trip more, and is counted twice', async () => {
    const { key } = await newKey()
    await postMcp(message('ping'), { key })
    const { counted, environment } = counting('KEY_RATE_LIMIT')
    const use = watchedDatabase()
    const body = JSON.stringify(call('list_skills')).padEnd(64 * KIBIBYTE + 1)
    const { status } = await postMcp(body, { key, environment: { ...environment, DB: use.DB } })
    expect([status, counted.length, use.calls]).toEqual([200, 2, 2])
  })

  it('a body of undeclared length that is too large is counted', async () => {
    const { workspace, key } = await newKey()
    for (const limit of ['KEY_RATE_LIMIT', 'ORGANIZATION_RATE_LIMIT'] as const) {
      const { counted, environment } = counting(limit)
      const { body } = streamed('x'.repeat(4 * KIBIBYTE ** 2 + 1))
      expect((await postMcp(body, { key, environment })).status).toBe(413)
      expect(counted).toEqual([limit === 'KEY_RATE_LIMIT' ? hashOf(key) : workspace.organizationId])
    }
  })

  it('a large body, or one of undeclared length, gets 429 without a look-up and is not read', async () => {
    const { key } = await newKey()
    const { environment } = counting('KEY_RATE_LIMIT', false)
    const content = JSON.stringify(message('ping')).padEnd(64 * KIBIBYTE + 1)
    for (const headers of [{}, { 'Content-Length': String(content.length) }]) {
      const database = watchedDatabase()
      const { use, body } = streamed(content)
      const sent = { key, headers, environment: { ...environment, DB: database.DB } }
      expect(codeOf(await postMcp(body, sent))).toEqual([429, 'rate_limited', null])
      expect([database.calls, use.isRead]).toEqual([0, false])
    }
  })

  it.each(requests)('%s gets 429 if it is one too many', async (_, { body, headers }) => {
    const { key } = await newKey()
    const { environment } = counting('KEY_RATE_LIMIT', false)
    const response = await postMcp(body, { key, environment, ...(headers && { headers }) })
    expect(codeOf(response)).toEqual([429, 'rate_limited', null])
    expect(response.headers.get('Retry-After')).toBe('60')
  })

  it.each(requests)('%s gets 503 while the key cannot be looked up', async (_, { body, headers }) => {
    const { key } = await newKey()
    const environment = { DB: failingDatabase(new Error('D1_ERROR: D1 DB is overloaded.')) }
    const response = await postMcp(body, { key, environment, ...(headers && { headers }) })
    expect(codeOf(response)).toEqual([503, 'unavailable', null])
  })

  it('a large body gets 503 while the key cannot be looked up', async () => {
    const { key } = await newKey()
    const environment = { DB: failingDatabase(new Error('D1_ERROR: D1 DB is overloaded.')) }
    const response = await postMcp(call('who_am_i', { text: LONG }), { key, environment })
    expect(codeOf(response)).toEqual([503, 'unavailable', null])
  })
})

describe('a message', () => {
  const tooLarge = /^message is too large; got \d+ bytes; allowed: up to 16 KiB beside the arguments of a tool\.$/
  const largeMessages: [string, object][] = [
    ['name', call(LONG)],
    ['method', message(LONG)],
    ['id', { ...message('ping'), id: LONG }],
    ['uri', message('resources/read', { uri: LONG })],
    ['URI of a skill', message('resources/read', { uri: `skill://${LONG}/notes/SKILL.md` })],
    ['path of a URI', message('resources/read', { uri: `skill://${crypto.randomUUID()}/${LONG}/SKILL.md` })],
    ['cursor', message('skills/list', { cursor: LONG })],
    ['revision', newMessage('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': LONG } }).body],
    ['argument of another method', message('prompts/get', { name: 'test', arguments: { text: LONG } })],
    ['list', message('initialize', { capabilities: { list: Array(20_000).fill(1) } })],
  ]

  it.each(largeMessages)('with a long %s is refused with a sentence', async (_, body) => {
    const { key } = await newKey()
    for (const sent of [body, [message('ping'), body]]) {
      const response = await postMcp(sent, { key })
      expect([response.status, response.body]).toEqual([
        400,
        { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.stringMatching(tooLarge) } },
      ])
    }
  })

  it('with many values is refused with a sentence, unless they are arguments', async () => {
    const { key } = await newKey()
    const icons = Array(499).fill(1)
    const clientInfo = { name: 'test', version: '1.0.0', icons }
    const initialize = message('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo,
    })
    const refused = await postMcp(initialize, { key })
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      'message has too many values; got 511 values; allowed: up to 500 values beside the arguments of a tool.',
    ])
    const { status, body } = await postMcp(call('list_skills', { icons }), { key })
    expect([status, body.result.isError]).toEqual([200, true])
  })

  it('may have long arguments, and an error repeats little of them', async () => {
    const { key } = await newKey()
    const { status, body } = await postMcp(call('list_skills', { cursor: HALF, [HALF]: 1 }), { key })
    expect([status, body.result.isError]).toEqual([200, true])
    expect(JSON.stringify(body).length).toBeLessThan(KIBIBYTE)
  })

  it('that names no tool gets the names of the tools', async () => {
    const { key } = await newKey()
    const { body } = await postMcp(call('x'.repeat(1000)), { key })
    expect(body.error.message).toMatch(/^name is not a tool; got "x{40}…"; allowed: who_am_i, find, list_skills, /)
  })

  it.each([
    ['', 'body is empty; allowed: JSON in UTF-8.'],
    ['{"a":1', 'body is not valid JSON at line 1, column 7, where it ends; allowed: "," or "}".'],
    [`${'['.repeat(65)}${']'.repeat(65)}`, 'body is nested too deeply; got 65 levels; allowed: up to 64 levels.'],
    [`[${'1,'.repeat(100_000)}1]`, 'body has too many values; got 100002 values; allowed: up to 100000 values.'],
  ])('that is not JSON within its limits is refused with a sentence: %#', async (body, sentence) => {
    const { key } = await newKey()
    const response = await postMcp(body, { key })
    expect([response.status, response.body]).toEqual([
      400,
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: sentence } },
    ])
  })

  it('of more than 4 MiB is refused', async () => {
    const { key } = await newKey()
    const content = 'x'.repeat(4 * KIBIBYTE ** 2 + 1)
    for (const body of [content, streamed(content).body])
      expect(codeOf(await postMcp(body, { key }))).toEqual([413, 'body_too_large', null])
  })
})

describe('a batch', () => {
  const batch = ['list_skills', 'list_pins', 'who_am_i'].map((name, id) => ({ ...call(name), id }))

  it('is answered one message after another', async () => {
    const { key } = await newKey()
    let [open, most] = [0, 0]
    const { body } = await postMcp([...batch, { jsonrpc: '2.0', method: 'notifications/initialized' }], {
      key,
      async around(_, answer) {
        most = Math.max(most, ++open)
        const response = await answer()
        open--
        return response
      },
    })
    expect(body.map(({ id }: { id: number }) => id)).toEqual([0, 1, 2])
    expect(most).toBe(1)
  })

  it('ends where the key is refused', async () => {
    const { workspace, key, id } = await newKey()
    const calls: string[] = []
    const response = await postMcp(batch, {
      key,
      async around(call, answer) {
        if (calls.push(call) === 2) await workspace.revokeKey(id)
        return answer()
      },
    })
    expect([response.status, calls.length]).toEqual([401, 2])
  })

  const invalid: [string, unknown, string][] = [
    [
      'no message',
      42,
      'Message 2 of the batch is not valid; got 42; allowed: requests, notifications and responses of JSON-RPC 2.0.',
    ],
    [
      '"initialize"',
      REQUESTS.initialize?.body,
      'The batch has "initialize" and other messages; got 2 messages; allowed: "initialize" alone.',
    ],
  ]

  it.each(invalid)('that has %s is refused before the first message acts', async (_, second, sentence) => {
    const { key } = await newKey()
    const calls: string[] = []
    const { status, body } = await postMcp([call('list_skills'), second], {
      key,
      around(called, answer) {
        calls.push(called)
        return answer()
      },
    })
    expect([status, body]).toEqual([400, { jsonrpc: '2.0', id: null, error: { code: -32600, message: sentence } }])
    // Only the look-up of the key.
    expect(calls).toEqual(['GET /v1/me'])
  })

  it.each([429, 503])('keeps the other answers where a call gets %i', async (status) => {
    const { key } = await newKey()
    let calls = 0
    const response = await postMcp(batch, {
      key,
      around: async (_, answer) => (++calls === 2 ? Response.json({ error: 'Retry.' }, { status }) : answer()),
    })
    const answers = response.body.map(({ id, result }: { id: number; result: { isError?: boolean } }) => [
      id,
      result.isError ?? false,
    ])
    expect([response.status, calls]).toEqual([200, 3])
    expect(answers).toEqual([
      [0, false],
      [1, true],
      [2, false],
    ])
  })

  it('of notifications has no answer', async () => {
    const { key } = await newKey()
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const { status, body } = await postMcp([notification, notification], { key })
    expect([status, body]).toEqual([202, ''])
  })
})

it('a subscription ends at once, without notifications', async () => {
  const { key } = await newKey()
  const { status, headers, body } = await postMcp(listen.body, { key, headers: listen.headers })
  const events: string[][] = body.matchAll(/^data: (.*)$/gm)
  const [acknowledged, result] = Array.from(events, ([, data = '']) => JSON.parse(data))
  expect([status, headers.get('Content-Type')]).toEqual([200, 'text/event-stream'])
  expect(acknowledged.params.notifications).toEqual({})
  expect(result).toMatchObject({ id: 1, result: { resultType: 'complete' } })
})
