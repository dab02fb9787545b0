import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { RECOUNT_USAGE } from '../src/db/usage.ts'
import { type Environment, type Quota, readLimits } from '../src/environment.ts'
import { type ApiResponse, PREFIX, request } from './support/api.ts'
import { env } from './support/env.ts'
import { exampleList, send } from './support/examples.ts'
import { entryFile, filesOf, skillOf } from './support/skills.ts'
import { tick } from './support/tick.ts'
import { now, Workspace } from './support/workspace.ts'

/** What a request is told that would exceed the quota. */
const exceeded = (quota: Quota, noun: string, most: number) =>
  `This would exceed the organization's quota of ${noun}: ${most}. Delete some first.${quota === 'apiKeys' ? '' : ` ${DELETED_COUNTS}`}`
const DELETED_COUNTS =
  'What was deleted counts as long as it can be restored; DELETE /v1/deletions/{id} removes it for good.'

const PATHS = ['/v1/me', '/health', '/openapi.json', '/nothing', `${PREFIX}/v1/me`]

describe('every response', () => {
  it.each(PATHS)('from %s tells browsers not to run, frame or guess content', async (path) => {
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

  it('of up to 16 KiB are accepted, and larger ones refused before the request is read', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const own = 'Authorization'.length + 'Bearer '.length + key.length
    const most = 16 * 1024 - own
    expect((await request('GET', '/v1/me', { key, headers: padded(most) })).status).toBe(200)
    for (const path of PATHS) {
      const { status, body } = await request('GET', path, { key, headers: padded(most + 1) })
      expect([status, body]).toEqual([431, { error: 'headers are too large; got 16385 bytes; allowed: up to 16 KiB.' }])
    }
  })

  it('that are too large are refused by every operation', async () => {
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
  const environment = { CORS_ORIGINS: ` https://other.example.com ,\t${ORIGIN} \n` }
  const preflight = (origin: string) => ({
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization, content-type',
    },
  })
  const corsOf = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control'))
  const namesIn = (headers: Headers, list: string) => headers.get(list)?.split(',').sort()

  it('is off by default', async () => {
    const key = await (await Workspace.create()).addKey()
    const asked = await request('OPTIONS', '/v1/me', preflight(ORIGIN))
    const response = await request('GET', '/v1/me', { key, headers: { Origin: ORIGIN } })
    expect([asked.status, corsOf(asked.headers), response.status, corsOf(response.headers)]).toEqual([405, [], 200, []])
  })

  it('allows requests from the configured origins, their headers, and reading of response headers', async () => {
    const key = await (await Workspace.create()).addKey()
    const asked = await request('OPTIONS', '/v1/me', { ...preflight(ORIGIN), environment })
    expect([asked.status, asked.headers.get('Access-Control-Allow-Origin')]).toEqual([204, ORIGIN])
    expect(asked.headers.get('Access-Control-Allow-Methods')).toContain('PATCH')
    expect(namesIn(asked.headers, 'Access-Control-Allow-Headers')).toEqual([
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'If-Range',
      'MCP-Protocol-Version',
      'Mcp-Method',
      'Mcp-Name',
      'Range',
      'X-Bookmark',
    ])
    const response = await request('GET', '/v1/me', { key, headers: { Origin: ORIGIN }, environment })
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
    expect(namesIn(response.headers, 'Access-Control-Expose-Headers')).toEqual([
      'Content-Range',
      'ETag',
      'Error-Code',
      'Location',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'WWW-Authenticate',
      'X-Bookmark',
      'X-Request-Id',
    ])
    expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull()
    const refused = await request('GET', '/v1/me', { headers: { Origin: ORIGIN }, environment })
    expect([refused.status, refused.headers.get('Access-Control-Allow-Origin')]).toEqual([401, ORIGIN])
  })

  it.each(['https://evil.example', 'https://app.example.com.evil.example', 'null', 'http://app.example.com'])(
    'refuses the origin %s',
    async (origin) => {
      const asked = await request('OPTIONS', '/v1/me', { ...preflight(origin), environment })
      expect(asked.headers.get('Access-Control-Allow-Origin')).toBeNull()
      const response = await request('GET', '/v1/me', { headers: { Origin: origin }, environment })
      expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
    },
  )
})

describe('GET /health', () => {
  it('is rate limited for each address', async () => {
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
    const usage = await workspace.usage()
    return usage && [usage.sessions, usage.files, usage.bytes]
  }

  it('limit its sessions; existing ones can be renamed, and a final deletion makes room', async () => {
    const workspace = await Workspace.create()
    const other = await Workspace.create()
    await other.addSession(await other.addProject())
    const key = await workspace.addKey()
    const projectId = await workspace.addProject()
    const environment = { SESSION_LIMIT: '2' }
    const [first, second, third] = [1, 2, 3].map(() => crypto.randomUUID())
    const make = (id = '') => put(`/v1/sessions/${id}`, key, { json: { projectId, name: 'x' }, environment })
    expect([(await make(first)).status, (await make(second)).status]).toEqual([201, 201])
    const refused = await make(third)
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('sessions: 2')])
    expect((await make(first)).status).toBe(200)
    expect(await usageOf(workspace)).toEqual([2, 0, 0])
    await request('DELETE', `/v1/sessions/${first}`, { key })
    expect(await usageOf(workspace)).toEqual([2, 0, 0])
    expect((await make(third)).status).toBe(409)
    const [deletion] = (await request('GET', '/v1/deletions', { key })).body.items
    await request('DELETE', `/v1/deletions/${deletion.id}`, { key })
    expect(await usageOf(workspace)).toEqual([1, 0, 0])
    expect((await make(third)).status).toBe(201)
  })

  it('limit its sessions under concurrent requests', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const projectId = await workspace.addProject()
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        put(`/v1/sessions/${crypto.randomUUID()}`, key, {
          json: { projectId, name: 'x' },
          environment: { SESSION_LIMIT: '5' },
        }),
      ),
    )
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(5)
    expect(await usageOf(workspace)).toEqual([5, 0, 0])
  })

  it.each([
    ['session files: 2', { FILE_LIMIT: '2' }, 'x'],
    ['bytes of session files: 20', { BYTE_LIMIT: '20' }, '1234567890'],
  ])('limit %s; a replaced file is counted once', async (quota, environment, text) => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const projectId = await workspace.addProject()
    const [one, two] = [await workspace.addSession(projectId), await workspace.addSession(projectId)]
    const upload = (sessionId: string, path: string, sent = text) =>
      put(file(sessionId, path), key, { ...content(sent), environment })
    expect([(await upload(one, 'a')).status, (await upload(two, 'a')).status]).toEqual([201, 201])
    const objects = async () =>
      (await env.OBJECTS.list({ prefix: `session-files/${workspace.organizationId}/` })).objects.length
    const refused = await upload(one, 'b')
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining(`of ${quota}.`)])
    expect(await objects()).toBe(2)
    expect(await usageOf(workspace)).toEqual([2, 2, 2 * text.length])
    expect((await upload(one, 'a', text.toUpperCase())).status).toBe(200)
    const { body } = await request('GET', `/v1/sessions/${one}/files`, { key })
    await request('DELETE', `/v1/sessions/${one}/files/${body.items[0].id}`, { key })
    expect(await usageOf(workspace)).toEqual([2, 1, text.length])
    expect((await upload(one, 'b')).status).toBe(201)
  })

  it('count bytes exactly, also if content is replaced by longer or shorter content', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const sessionId = await workspace.addSession(await workspace.addProject())
    const environment = { BYTE_LIMIT: '10' }
    for (const [text, status] of [
      ['12345', 201],
      ['1234567890', 200],
      ['12345678901', 409],
      ['1', 200],
    ] as const) {
      expect((await put(file(sessionId, 'a'), key, { ...content(text), environment })).status).toBe(status)
    }
    expect(await usageOf(workspace)).toEqual([1, 1, 1])
  })
})

type Setting = Extract<keyof Environment, `${string}_LIMIT`>

/** A request that adds a resource. It is deleted at its `Location`, or at the path of the PUT. */
type Addition = readonly [method: 'PUT' | 'POST', path: string, json: object]

interface Counted {
  readonly quota: Quota
  readonly setting: Setting
  /** The noun in the error. */
  readonly noun: string
  /** @returns the request that adds the n-th resource. */
  prepare(workspace: Workspace): Promise<(n: number) => Addition>
}

const COUNTED: readonly Counted[] = [
  {
    quota: 'projects',
    setting: 'PROJECT_LIMIT',
    noun: 'projects',
    prepare: async () => (n) => ['PUT', `/v1/projects/project-${n}`, { name: 'x' }],
  },
  {
    quota: 'agents',
    setting: 'AGENT_LIMIT',
    noun: 'agents',
    prepare: async () => byUuid((id) => ['PUT', `/v1/agents/${id}`, { name: 'x' }]),
  },
  {
    quota: 'users',
    setting: 'USER_LIMIT',
    noun: 'users',
    prepare: async () => (n) => ['PUT', `/v1/users/user-${n}`, { name: 'x' }],
  },
  {
    quota: 'sessions',
    setting: 'SESSION_LIMIT',
    noun: 'sessions',
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      return byUuid((id) => ['PUT', `/v1/sessions/${id}`, { projectId, name: 'x' }])
    },
  },
  {
    quota: 'pullRequests',
    setting: 'PULL_REQUEST_LIMIT',
    noun: 'pull requests',
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      return byUuid((id) => ['PUT', `/v1/pull-requests/${id}`, { projectId, name: 'x' }])
    },
  },
  {
    quota: 'apiKeys',
    setting: 'API_KEY_LIMIT',
    noun: 'API keys',
    prepare: async () => () => ['POST', '/v1/api-keys', { name: 'x', scopes: [] }],
  },
  {
    quota: 'schedules',
    setting: 'ORGANIZATION_SCHEDULE_LIMIT',
    noun: 'schedules',
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      const agentId = await workspace.addAgent()
      const additions = [
        () => ['POST', `/v1/projects/${projectId}/schedules`, { cron: '@daily', timezone: 'UTC' }],
        (id) => ['PUT', `/v1/agents/${agentId}/schedules/${id}`, { cron: '@daily' }],
        () => ['POST', `/v1/agents/${agentId}/schedules`, { cron: '@daily' }],
        (id) => ['PUT', `/v1/projects/${projectId}/schedules/${id}`, { runAt: '2999-01-01T00:00:00Z' }],
      ] satisfies ((id: string) => Addition)[]
      const byNumber = additions.map(byUuid)
      return (n) => (byNumber[n % byNumber.length] as (n: number) => Addition)(n)
    },
  },
  {
    quota: 'skills',
    setting: 'SKILL_LIMIT',
    noun: 'skills',
    prepare: async () => (n) => ['POST', '/v1/skills', skillOf({ name: `skill-${n}` })],
  },
  {
    quota: 'variables',
    setting: 'ORGANIZATION_VARIABLE_LIMIT',
    noun: 'environment variables',
    async prepare(workspace) {
      const [one, two] = [await workspace.addProject(), await workspace.addProject()]
      return (n) => ['PUT', `/v1/projects/${n % 2 === 0 ? one : two}/environment-variables/V${n}`, { value: 'x' }]
    },
  },
]

/** Requests, each number with its own id. */
function byUuid(addition: (id: string) => Addition): (n: number) => Addition {
  const ids = new Map<number, string>()
  return (n) => {
    const id = ids.get(n) ?? newUuid()
    ids.set(n, id)
    return addition(id)
  }
}

async function usedOf(workspace: Workspace, quota: Quota): Promise<number> {
  const usage = await workspace.usage()
  expect(usage).toEqual(await workspace.countedUsage())
  if (quota === 'apiKeys') return countedKeys(workspace)
  return usage?.[quota] ?? 0
}

/** Which keys count is said here once more, independently of the service. */
async function countedKeys(workspace: Workspace): Promise<number> {
  const keys = await workspace.dump('apiKeys')
  const isExpired = (expiresAt: unknown) => expiresAt !== null && String(expiresAt) <= now()
  return keys.filter(
    ({ kind, revokedAt, rotatedAt, expiresAt }) =>
      kind === 'key' && revokedAt === null && rotatedAt === null && !isExpired(expiresAt),
  ).length
}

const statuses = (responses: readonly ApiResponse[]) => responses.map(({ status }) => status)

describe.each(COUNTED)('the quota of $noun', ({ quota, setting, noun, prepare }) => {
  /** A workspace with a key and a quota of `used + room`, and requests that add and remove resources. */
  async function withRoom(room: number) {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const addition = await prepare(workspace)
    const used = await usedOf(workspace, quota)
    const most = used + room
    const add = (n: number, limit = most) => {
      const [method, path, json] = addition(n)
      return request(method, path, { key, json, environment: { [setting]: String(limit) } })
    }
    const remove = async (n: number, { headers }: ApiResponse) =>
      request('DELETE', headers.get('Location') ?? addition(n)[1], { key, environment: { UNDO_DAYS: '0' } })
    return { workspace, used, most, add, remove, isPut: addition(1)[0] === 'PUT' }
  }

  it('refuses one more with 409, allows changes of existing resources, and has room after a final deletion', async () => {
    const { workspace, most, add, remove, isPut } = await withRoom(2)
    const first = await add(1)
    expect([first.status, (await add(2)).status]).toEqual([201, 201])
    const refused = await add(3)
    expect([refused.status, refused.body]).toEqual([409, { error: exceeded(quota, noun, most) }])
    if (isPut) expect([(await add(1)).status, (await add(1, 0)).status]).toEqual([200, 200])
    expect(await usedOf(workspace, quota)).toBe(most)
    expect((await remove(1, first)).status).toBe(200)
    expect(await usedOf(workspace, quota)).toBe(most - 1)
    expect((await add(3)).status).toBe(201)
    expect((await add(4)).status).toBe(409)
  })

  it('is kept under concurrent requests', async () => {
    const { workspace, used, add } = await withRoom(5)
    const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => add(n)))
    expect(statuses(responses).filter((status) => status < 300)).toHaveLength(5)
    expect(new Set(statuses(responses).filter((status) => status >= 300))).toEqual(new Set([409]))
    expect(await usedOf(workspace, quota)).toBe(used + 5)
  })

  it('is separate for each organization', async () => {
    const { workspace: other } = await withRoom(0)
    const { workspace, add } = await withRoom(1)
    const before = await other.usage()
    expect((await add(1)).status).toBeLessThan(300)
    expect((await add(2)).status).toBe(409)
    expect(await other.usage()).toEqual(before)
    expect(await usedOf(workspace, quota)).toBeGreaterThan(0)
  })
})

describe('the quota of bytes of skill files', () => {
  const ENTRY_BYTES = Buffer.byteLength(entryFile('skill-0').content)
  /** The body of a skill whose SKILL.md has `ENTRY_BYTES`. */
  const skill = (name: string, ...contents: string[]) => skillOf({ name, files: filesOf(...contents) })
  async function withKey() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    /** @param most bytes, beside those of so many SKILL.md. */
    const send = (most: number, entries: number, method: string, path: string, json: object, headers = {}) =>
      request(method, path, {
        key,
        json,
        headers,
        environment: { SKILL_BYTE_LIMIT: String(most + entries * ENTRY_BYTES) },
      })
    const usedBeside = async (entries: number) => (await usedOf(workspace, 'skillBytes')) - entries * ENTRY_BYTES
    return { workspace, key, send, usedBeside }
  }

  it('counts each content of a skill once, in UTF-8, also those of earlier versions', async () => {
    const { workspace, key, send, usedBeside } = await withKey()
    const first = await send(10, 1, 'POST', '/v1/skills', skill('skill-1', 'ééééé', 'ééééé'))
    expect([first.status, await usedBeside(1)]).toEqual([201, 10])
    const refused = await send(10, 1, 'POST', '/v1/skills', skill('skill-2'))
    expect([refused.status, refused.body.error]).toEqual([
      409,
      `This would exceed the organization's quota of bytes of skill files: ${10 + ENTRY_BYTES}. Delete some first. ${DELETED_COUNTS}`,
    ])
    const second = await send(10, 2, 'POST', '/v1/skills', skill('skill-2'))
    expect([second.status, await usedOf(workspace, 'skills')]).toEqual([201, 2])
    const change = async (most: number, of: ApiResponse, name: string, ...contents: string[]) => {
      const { status } = await send(most, 2, 'PATCH', `/v1/skills/${of.body.id}`, skill(name, ...contents))
      return [status, await usedBeside(2)]
    }
    expect(await change(10, first, 'skill-1', 'ééééé', 'x')).toEqual([409, 10])
    expect(await change(11, first, 'skill-1', 'ééééé', 'x')).toEqual([200, 11])
    // Nothing is added, although the quota is exceeded.
    expect(await change(1, first, 'skill-1', 'x', 'ééééé', 'x')).toEqual([200, 11])
    expect(await change(1, first, 'skill-1')).toEqual([200, 11])
    expect(await change(11, second, 'skill-2', 'x')).toEqual([409, 11])
    // Another skill stores its own.
    expect(await change(12, second, 'skill-2', 'x')).toEqual([200, 12])
    await request('DELETE', `/v1/skills/${first.body.id}`, { key })
    expect(await usedBeside(2)).toBe(12)
    await workspace.endUndo()
    await tick(env, new Date())
    expect(await usedBeside(1)).toBe(1)
  })

  it('counts binary contents in base64', async () => {
    const { send, usedBeside } = await withKey()
    const json = {
      files: [entryFile('skill-1'), { filename: 'a', content: '////', encoding: 'base64' }],
    }
    expect((await send(3, 1, 'POST', '/v1/skills', json)).status).toBe(409)
    expect((await send(4, 1, 'POST', '/v1/skills', json)).status).toBe(201)
    expect(await usedBeside(1)).toBe(4)
  })

  it('is kept under concurrent requests', async () => {
    const { send, usedBeside } = await withKey()
    const names = 'abcdefghijklmnopqrst'.split('').map((letter) => `skill-${letter}`)
    const responses = await Promise.all(
      names.map((name) => send(55, 5, 'POST', '/v1/skills', skill(name, '1234567890'))),
    )
    const created = responses.filter(({ status }) => status === 201).map(({ body }) => body)
    expect(created).toHaveLength(5)
    const changes = await Promise.all(
      created.map(({ id, name }) => send(55, 5, 'PATCH', `/v1/skills/${id}`, skill(name, '12345'))),
    )
    expect(statuses(changes).sort()).toEqual([200, 409, 409, 409, 409])
    expect(await usedBeside(5)).toBe(55)
  })
})

describe('the quota of bytes of environment variables', () => {
  async function withProject() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const path = `/v1/projects/${await workspace.addProject()}/environment-variables`
    const set = (values: readonly string[], most: number) =>
      request('POST', path, {
        key,
        json: { variables: values.map((value, index) => ({ key: `V${index}`, value })) },
        environment: { ORGANIZATION_VARIABLE_BYTE_LIMIT: String(most) },
      })
    const put = (name: string, value: string, most: number) =>
      request('PUT', `${path}/${name}`, {
        key,
        json: { value },
        environment: { ORGANIZATION_VARIABLE_BYTE_LIMIT: String(most) },
      })
    return { workspace, key, path, set, put }
  }

  it('counts sealed values, and a replaced value once', async () => {
    const { workspace, key, path, put } = await withProject()
    const bytes = () => usedOf(workspace, 'variableBytes')
    expect((await put('A', 'é'.repeat(50), 1000)).status).toBe(201)
    const [row] = await workspace.dump('environmentVariables')
    const used = String(row?.sealedValue).length
    expect(await bytes()).toBe(used)
    expect((await put('B', 'é'.repeat(50), 2 * used - 1)).body.error).toBe(
      `This would exceed the organization's quota of bytes of encrypted environment variables: ${2 * used - 1}. Delete some first. ${DELETED_COUNTS}`,
    )
    expect((await put('B', 'é'.repeat(50), 2 * used)).status).toBe(201)
    expect([(await put('A', 'x'.repeat(101), 2 * used)).status, await bytes()]).toEqual([409, 2 * used])
    expect([(await put('A', 'x'.repeat(100), 0)).status, await bytes()]).toEqual([200, 2 * used])
    expect([(await put('A', 'x', 0)).status, (await bytes()) < 2 * used]).toEqual([200, true])
    await request('DELETE', `${path}/A`, { key })
    expect(await bytes()).toBe(used)
  })

  it('allows several values if they do not need more space, all of them or none', async () => {
    const { workspace, set } = await withProject()
    const values = (first: number, others: number) =>
      Array.from({ length: 60 }, (_, index) => 'x'.repeat(index < 30 ? first : others))
    expect((await set(values(100, 100), 100_000)).status).toBe(201)
    const before = await usedOf(workspace, 'variableBytes')
    const stored = await workspace.dump('environmentVariables')
    expect((await set(values(10, 300), before)).status).toBe(409)
    expect(await workspace.dump('environmentVariables')).toEqual(stored)
    const response = await set(values(10, 160), 0)
    expect([response.status, response.body.items.length]).toEqual([201, 60])
    const lengths = (await workspace.dump('environmentVariables')).map((row) => String(row.sealedValue).length)
    const one = before / 60
    expect(lengths.filter((length) => length < one)).toHaveLength(30)
    expect(lengths.filter((length) => length > one)).toHaveLength(30)
    expect(await usedOf(workspace, 'variableBytes')).toBeLessThan(before)
  })

  it('is kept under concurrent requests', async () => {
    const { workspace, put } = await withProject()
    await put('A', 'x'.repeat(100), 10_000)
    const one = await usedOf(workspace, 'variableBytes')
    const names = Array.from({ length: 20 }, (_, n) => `V${n}`)
    const responses = await Promise.all(names.map((name) => put(name, 'x'.repeat(100), 6 * one)))
    expect(statuses(responses).filter((status) => status === 201)).toHaveLength(5)
    expect(await usedOf(workspace, 'variableBytes')).toBe(6 * one)
  })
})

describe('the quota of API keys', () => {
  it('counts valid keys that are not rotated, so that a key can always be replaced', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    const environment = { API_KEY_LIMIT: '3' }
    const create = (json = {}) =>
      request('POST', '/v1/api-keys', { key, json: { name: 'x', scopes: [], ...json }, environment })
    const rotate = (id: string, overlapSeconds: number) =>
      request('POST', `/v1/api-keys/${id}/rotate`, { key, json: { overlapSeconds }, environment })
    const keys = () => usedOf(workspace, 'apiKeys')

    const userId = await workspace.addUser()
    await workspace.addKeyWithId({ userId: null, expiresAt: '2020-01-01T00:00:00.000Z' })
    const revoked = await workspace.addKeyWithId({ userId: null, expiresAt: '2999-01-01T00:00:00.000Z' })
    await workspace.addKeyWithId({ userId: null, expiresAt: '2999-01-01T00:00:00.000Z', kind: 'session' })
    const made = await create({ userId })
    expect([made.status, await keys()]).toEqual([201, 3])
    expect((await create()).status).toBe(409)

    const successor = await rotate(made.body.id, 3600)
    expect([successor.status, await keys()]).toEqual([201, 3])
    const last = await rotate(successor.body.id, 0)
    expect([last.status, await keys()]).toEqual([201, 3])
    await request('DELETE', `/v1/api-keys/${made.body.id}`, { key })
    expect([(await create()).status, await keys()]).toEqual([409, 3])

    await request('DELETE', `/v1/api-keys/${revoked.id}`, { key })
    expect(await keys()).toBe(2)
    await request('DELETE', `/v1/users/${userId}`, { key })
    expect(await keys()).toBe(1)
    expect([(await create()).status, (await create()).status, (await create()).status]).toEqual([201, 201, 409])
  })
})

describe('at the quota', () => {
  it.each([
    ['ORGANIZATION_SCHEDULE_LIMIT', 'schedules', { cron: '@daily' }],
    ['SKILL_LIMIT', 'skills', skillOf()],
  ])('a repeated request gets the response of the first: %s', async (setting, what, json) => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const path = what === 'skills' ? '/v1/skills' : `/v1/agents/${await workspace.addAgent()}/schedules`
    const send = (idempotencyKey: string) =>
      request('POST', path, {
        key,
        json,
        headers: { 'Idempotency-Key': idempotencyKey },
        environment: { [setting]: '1' },
      })
    const first = await send('a')
    const again = await send('a')
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect((await send('b')).status).toBe(409)
  })

  it('a repeated creation of a key names the key that was created', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const options = {
      key,
      json: { name: 'x', scopes: [] },
      headers: { 'Idempotency-Key': 'a' },
      environment: { API_KEY_LIMIT: '2' },
    }
    const first = await request('POST', '/v1/api-keys', options)
    const again = await request('POST', '/v1/api-keys', options)
    expect([first.status, again.status]).toEqual([201, 409])
    expect(again.body.error).toContain(first.body.id)
  })
})

it('a wrong usage is corrected by recounting', async () => {
  const workspace = await Workspace.create()
  await workspace.addKey()
  await workspace.addSkill({ 'SKILL.md': 'ééé' })
  const right = await workspace.usage()
  expect(right).toMatchObject({ users: 1, skills: 1, skillBytes: 6 })
  await env.DB.prepare('UPDATE "organizationUsage" SET "skills" = 99, "skillBytes" = 0, "users" = -1').run()
  expect(await workspace.usage()).not.toEqual(right)
  await env.DB.prepare(RECOUNT_USAGE).run()
  expect(await workspace.usage()).toEqual(right)
})

it('the limits without settings are those of wrangler.toml', () => {
  const settings = Object.keys(env).filter((name) => name.endsWith('_LIMIT'))
  expect(settings).toContain('ORGANIZATION_VARIABLE_BYTE_LIMIT')
  expect(readLimits({})).toEqual(readLimits(env))
})

it.each(['ten', '', '-1', '1.5', '1e3', '1234567890123456'])('the limit %j is not a whole number', (text) => {
  expect(() => readLimits({ PIN_LIMIT: text })).toThrow(
    `PIN_LIMIT is not a whole number; got ${JSON.stringify(text)}; allowed: 0 to 999999999999999.`,
  )
})
