import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { PREFIX, request } from './support/api.ts'
import { exampleList, send } from './support/examples.ts'
import { Workspace } from './support/workspace.ts'

const PATHS = ['/v1/me', '/health', '/openapi.json', '/nothing', `${PREFIX}/v1/me`]

describe('every answer', () => {
  it.each(PATHS)('of %s tells browsers to run, frame and guess nothing', async (path) => {
    for (const options of [{}, { key: await (await Workspace.create()).addKey() }]) {
      const { headers } = await request('GET', path, options)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000',
        'x-content-type-options': 'nosniff',
      })
    }
  })
})

describe('headers', () => {
  const padded = (bytes: number) => ({ 'X-Padding': 'x'.repeat(bytes - 'X-Padding'.length) })

  it('of up to 16 KiB are taken, and of more refused before anything is read', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const own = 'Authorization'.length + 'Bearer '.length + key.length
    const most = 16 * 1024 - own
    expect((await request('GET', '/v1/me', { key, headers: padded(most) })).status).toBe(200)
    for (const path of PATHS) {
      const { status, body } = await request('GET', path, { key, headers: padded(most + 1) })
      expect([status, body]).toEqual([431, { error: expect.stringContaining('16384 bytes') }])
    }
  })

  it('that are too long are refused by every operation', async () => {
    for (const { operationId, row } of exampleList) {
      const workspace = await Workspace.create()
      const example = await row.prepare(workspace)
      const headers = { ...example.headers, ...padded(20_000) }
      const { status } = await send(operationId, { ...example, headers }, await workspace.addKey())
      expect([operationId, status]).toEqual([operationId, 431])
    }
  })
})

describe('CORS', () => {
  const ORIGIN = 'https://app.example.com'
  const environment = { CORS_ORIGINS: `https://other.example.com, ${ORIGIN}` }
  const preflight = (origin: string) => ({
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization, content-type',
    },
  })
  const corsOf = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control'))

  it('is off unless it is configured', async () => {
    const key = await (await Workspace.create()).addKey()
    const asked = await request('OPTIONS', '/v1/me', preflight(ORIGIN))
    const answer = await request('GET', '/v1/me', { key, headers: { Origin: ORIGIN } })
    expect([asked.status, corsOf(asked.headers), answer.status, corsOf(answer.headers)]).toEqual([
      405,
      [],
      200,
      [],
    ])
  })

  it('lets pages of the origins call, and read what answers say in headers', async () => {
    const key = await (await Workspace.create()).addKey()
    const asked = await request('OPTIONS', '/v1/me', { ...preflight(ORIGIN), environment })
    expect([asked.status, asked.headers.get('Access-Control-Allow-Origin')]).toEqual([204, ORIGIN])
    expect(asked.headers.get('Access-Control-Allow-Methods')).toContain('PATCH')
    expect(asked.headers.get('Access-Control-Allow-Headers')).toContain('Authorization')
    const answer = await request('GET', '/v1/me', { key, headers: { Origin: ORIGIN }, environment })
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
    expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('X-Request-Id')
    expect(answer.headers.get('Access-Control-Allow-Credentials')).toBeNull()
    const refused = await request('GET', '/v1/me', { headers: { Origin: ORIGIN }, environment })
    expect([refused.status, refused.headers.get('Access-Control-Allow-Origin')]).toEqual([401, ORIGIN])
  })

  it.each(['https://evil.example', 'https://app.example.com.evil.example', 'null', 'http://app.example.com'])(
    'lets no page of %s',
    async (origin) => {
      const asked = await request('OPTIONS', '/v1/me', { ...preflight(origin), environment })
      expect(asked.headers.get('Access-Control-Allow-Origin')).toBeNull()
      const answer = await request('GET', '/v1/me', { headers: { Origin: origin }, environment })
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull()
    },
  )
})

describe('GET /health', () => {
  it('is limited for each address', async () => {
    const asked: string[] = []
    const REFUSAL_RATE_LIMIT = {
      async limit({ key }: RateLimitOptions) {
        asked.push(key)
        return { success: asked.filter((other) => other === key).length <= 2 }
      },
    } as RateLimit
    const environment = { RATE_LIMIT: 'on', REFUSAL_RATE_LIMIT }
    const ask = async (address: string) =>
      (await request('GET', '/health', { headers: { 'CF-Connecting-IP': address }, environment })).status
    expect([await ask('a'), await ask('a'), await ask('a'), await ask('b')]).toEqual([200, 200, 429, 200])
  })
})

describe('the quotas of an organization', () => {
  const put = (path: string, key: string, options: object) => request('PUT', path, { key, ...options })
  const file = (sessionId: string, path: string) => `/v1/sessions/${sessionId}/files?path=${path}`
  const content = (text: string) => ({
    body: text,
    headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(text.length) },
  })
  const usageOf = async (workspace: Workspace) => {
    const [usage] = await workspace.dump('organizationUsage')
    return usage && [usage.sessions, usage.files, usage.bytes]
  }

  it('limit its sessions; those that are there can be renamed, and a deletion makes room', async () => {
    const workspace = await Workspace.create()
    const other = await Workspace.create()
    await other.addSession(await other.addProject())
    const key = await workspace.addKey()
    const projectId = await workspace.addProject()
    const environment = { SESSION_LIMIT: '2' }
    const [first, second, third] = [1, 2, 3].map(() => crypto.randomUUID())
    const make = (id = '') => put(`/v1/sessions/${id}`, key, { json: { projectId, name: 'x' }, environment })
    expect([(await make(first)).status, (await make(second)).status]).toEqual([200, 200])
    const refused = await make(third)
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('2 sessions')])
    expect((await make(first)).status).toBe(200)
    expect(await usageOf(workspace)).toEqual([2, 0, 0])
    await request('DELETE', `/v1/sessions/${first}`, { key })
    expect(await usageOf(workspace)).toEqual([1, 0, 0])
    expect((await make(third)).status).toBe(200)
  })

  it('limit its sessions, however many come at once', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const projectId = await workspace.addProject()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        put(`/v1/sessions/${crypto.randomUUID()}`, key, {
          json: { projectId, name: 'x' },
          environment: { SESSION_LIMIT: '5' },
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(await usageOf(workspace)).toEqual([5, 0, 0])
  })

  it.each([
    ['files', { FILE_LIMIT: '2' }, 'x'],
    ['bytes', { BYTE_LIMIT: '20' }, '1234567890'],
  ])(
    'limit the %s of its sessions; what replaces a file counts in its place',
    async (_, environment, text) => {
      const workspace = await Workspace.create()
      const key = await workspace.addKey()
      const projectId = await workspace.addProject()
      const [one, two] = [await workspace.addSession(projectId), await workspace.addSession(projectId)]
      const upload = (sessionId: string, path: string, sent = text) =>
        put(file(sessionId, path), key, { ...content(sent), environment })
      expect([(await upload(one, 'a')).status, (await upload(two, 'a')).status]).toEqual([200, 200])
      const objects = async () =>
        (await env.OBJECTS.list({ prefix: `session-files/${workspace.organizationId}/` })).objects.length
      const refused = await upload(one, 'b')
      expect([refused.status, refused.body.error]).toEqual([409, expect.stringMatching(/files.*bytes/)])
      expect(await objects()).toBe(2)
      expect(await usageOf(workspace)).toEqual([2, 2, 2 * text.length])
      expect((await upload(one, 'a', text.toUpperCase())).status).toBe(200)
      const { body } = await request('GET', `/v1/sessions/${one}/files`, { key })
      await request('DELETE', `/v1/sessions/${one}/files/${body.items[0].id}`, { key })
      expect(await usageOf(workspace)).toEqual([2, 1, text.length])
      expect((await upload(one, 'b')).status).toBe(200)
    },
  )

  it('count bytes exactly, also where content is replaced by longer and shorter content', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const sessionId = await workspace.addSession(await workspace.addProject())
    const environment = { BYTE_LIMIT: '10' }
    for (const [text, status] of [
      ['12345', 200],
      ['1234567890', 200],
      ['12345678901', 409],
      ['1', 200],
    ] as const) {
      expect((await put(file(sessionId, 'a'), key, { ...content(text), environment })).status).toBe(status)
    }
    expect(await usageOf(workspace)).toEqual([1, 1, 1])
  })
})
