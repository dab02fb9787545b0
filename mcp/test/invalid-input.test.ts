/**
 * Hostile messages for `/mcp`: 20,000 requests in the whole form, a seeded sample in `npm test` and in its long form.
 * FOUND has requests that were answered wrongly once.
 */
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { TOOLS } from '../../mcp/src/tools.ts'
import type { ApiResponse } from '../../test/support/api.ts'
import { HOSTILE_BODIES, hostileHeader, hostileText, hostileValue, replaced } from '../../test/support/hostile.ts'
import { sized } from '../../test/support/long-form.ts'
import { newToken } from '../../test/support/tokens.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { message, newMessage, postMcp } from './support/mcp.ts'

const SEED = 20261122
const REQUESTS = sized(300, 20_000)
/** A request without an answer fails its test with the input. */
const ANSWER_MS = 10_000
const ANSWER_LIMIT_BYTES = 200_000
const GOOD_EVERY = 50

interface Sent {
  /** Text is sent as it is, everything else as JSON. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

const SKILL = '---\nname: notes\ndescription: Takes notes.\n---\n# Notes\n'
let workspace: Workspace
let keys: { live: string; limited: string; revoked: string }
let valid: readonly Sent[]

async function prepare(): Promise<void> {
  workspace = await Workspace.create()
  const [projectId, agentId] = [await workspace.addProject(), await workspace.addAgent()]
  const sessionId = await workspace.addSession(projectId)
  const fileId = await workspace.addSessionFile(sessionId, 'notes/day.md')
  const skillId = await workspace.addSkill({ 'SKILL.md': SKILL }, undefined, 'notes')
  const scheduleId = await workspace.addSchedule('project', projectId)
  const runId = await workspace.addRun(scheduleId)
  await workspace.pin('session', sessionId)
  const revoked = await workspace.addKeyWithId()
  await workspace.revokeKey(revoked.id)
  keys = {
    live: await workspace.addKey(),
    limited: await workspace.addKey({ scopes: [], userId: null }),
    revoked: revoked.token,
  }
  const inputs: Record<string, object> = {
    who_am_i: {},
    find: { type: 'session', query: 'a', projectId, limit: 1 },
    list_skills: { limit: 1 },
    load_skill: { skillId, filename: 'SKILL.md', offset: 0 },
    list_session_files: { sessionId, limit: 1 },
    read_session_file: { sessionId, fileId, offset: 0, length: 10 },
    write_session_file: {
      sessionId,
      path: 'a.md',
      content: '# A\n',
      encoding: 'utf-8',
      contentType: 'text/plain',
    },
    list_schedules: { projectId },
    create_schedule: { agentId, scheduleId: crypto.randomUUID(), cron: '@daily', payload: { a: [1] } },
    update_schedule: { projectId, scheduleId, enabled: true, name: 'Daily' },
    preview_schedule: { cron: '@daily', timezone: 'Europe/Paris', count: 2 },
    list_runs: { limit: 1 },
    claim_run: { projectId, leaseSeconds: 60 },
    renew_run: { runId, claimId: crypto.randomUUID() },
    complete_run: { runId, outcome: 'succeeded', message: 'Built.' },
    list_pins: {},
    place_pin: { resourceType: 'session', resourceId: sessionId },
    remove_pin: { resourceType: 'project', resourceId: projectId },
  }
  expect(Object.keys(inputs)).toEqual(TOOLS.map(({ name }) => name))
  const uri = `skill://${skillId}/notes/SKILL.md`
  const requests: [method: string, params?: object][] = [
    ...Object.entries(inputs).map(([name, input]): [string, object] => ['tools/call', { name, arguments: input }]),
    ['tools/list', { cursor: 'a' }],
    ['resources/list'],
    ['resources/read', { uri }],
    ['resources/templates/list'],
    ['resources/subscribe', { uri }],
    ['skills/list', { cursor: skillId }],
    ['skills/get', { uri }],
    ['prompts/list'],
    ['prompts/get', { name: 'test', arguments: {} }],
    ['completion/complete', { ref: { type: 'ref/resource', uri }, argument: { name: 'path', value: 'a' } }],
    ['logging/setLevel', { level: 'info' }],
    ['ping', { _meta: { progressToken: 1 } }],
    ['server/discover'],
    ['subscriptions/listen', { notifications: { toolsListChanged: true, resourceSubscriptions: [uri] } }],
    ['tasks/get', { taskId: 'a' }],
    ['notifications/cancelled', { requestId: 1, reason: 'test' }],
    [
      'initialize',
      {
        protocolVersion: '2025-11-25',
        capabilities: { roots: {} },
        clientInfo: { name: 'test', version: '1' },
      },
    ],
  ]
  valid = requests.flatMap(([method, params]) => {
    const { body, headers } = newMessage(method, params)
    const name = (params as { name?: string; uri?: string } | undefined)?.name ?? (params as { uri?: string })?.uri
    return [
      { body: message(method, params), headers: {} },
      { body, headers: { ...headers, ...(name !== undefined && { 'Mcp-Name': name }) } },
    ]
  })
}

type Mutation = (sent: Sent) => Sent

const HEADERS = [
  'Accept',
  'Content-Type',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Param-Name',
  'Mcp-Session-Id',
]

/** Within the limit of a message, or not. */
const longText = fc
  .tuple(
    fc.constantFrom('x', '"', 'é', '😀', '\\', '/', '%', '{', '[', '\u0000'),
    fc.oneof(
      { weight: 19, arbitrary: fc.constantFrom(300, 1500, 7000, 70_000) },
      { weight: 1, arbitrary: fc.constant(1_200_000) },
    ),
  )
  .map(([unit, count]) => unit.repeat(count))

/** Within the limit of a message, or not. */
const manyValues = fc
  .tuple(fc.constantFrom(1, null, 'x', {}, [], '__proto__'), fc.constantFrom(100, 400, 1400, 60_000), fc.boolean())
  .map(([value, count, isList]) => {
    const values = Array(count).fill(value)
    return isList ? values : Object.fromEntries(values.map((each, index) => [`k${index}`, each]))
  })

const nested = fc.constantFrom(1, 60, 63, 64, 65, 1000).map((depth) => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
})

const anyValue = fc.oneof({ weight: 4, arbitrary: hostileValue }, longText, manyValues, nested)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Adds a property to an object at some depth of a message. */
function withProperty(json: unknown, depth: number, name: string, value: unknown): unknown {
  if (!isObject(json) || Array.isArray(json)) return json
  const inner = Object.entries(json).filter(([, each]) => isObject(each))
  const [key, next] = inner[depth % Math.max(inner.length, 1)] ?? []
  if (depth === 0 || key === undefined) return { ...json, [name]: value }
  return { ...json, [key]: withProperty(next, depth - 1, name, value) }
}

const NAMES = [
  'id',
  'method',
  'params',
  '_meta',
  'arguments',
  'cursor',
  'task',
  'uri',
  'error',
  'result',
  '__proto__',
  'toJSON',
]

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(fc.nat(), fc.option(anyValue, { nil: undefined })).map(
    ([at, value]): Mutation =>
      ({ body, ...rest }) => ({ ...rest, body: replaced(body, at, value) }),
  ),
  fc.tuple(fc.nat(4), fc.oneof(fc.constantFrom(...NAMES), hostileText, longText), anyValue).map(
    ([depth, name, value]): Mutation =>
      ({ body, ...rest }) => ({ ...rest, body: withProperty(body, depth, name, value) }),
  ),
  fc
    .tuple(
      fc.constantFrom(...HEADERS),
      fc.oneof(hostileHeader, fc.constantFrom('2026-07-28', '2024-10-07', 'tools/call')),
    )
    .map(
      ([name, value]): Mutation =>
        ({ headers, ...rest }) => ({ ...rest, headers: { ...headers, [name]: value } }),
    ),
  fc.tuple(fc.constantFrom(...HEADERS), fc.constant('')).map(
    ([name]): Mutation =>
      ({ headers: { [name]: _, ...headers }, ...rest }) => ({ ...rest, headers }),
  ),
  fc.constantFrom(...HOSTILE_BODIES.filter((body) => typeof body === 'string')).map(
    (body): Mutation =>
      (sent) => ({ ...sent, body }),
  ),
  // Text that is cut, or has a character too many.
  fc.tuple(fc.nat(), fc.constantFrom('', ',', '}', ']', '"', '\\', '\u0000', '\ud800')).map(
    ([at, text]): Mutation =>
      (sent) => {
        const json = typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body)
        const end = at % (json.length + 1)
        return {
          ...sent,
          body: text === '' ? json.slice(0, end) : json.slice(0, end) + text + json.slice(end),
        }
      },
  ),
  fc.tuple(fc.integer({ min: 1, max: 7 }), fc.boolean(), fc.option(anyValue)).map(
    ([count, hasOneId, other]): Mutation =>
      ({ body, ...rest }) => {
        const batch: unknown[] = Array.from({ length: count }, (_, id) =>
          hasOneId || !isObject(body) ? body : { ...body, id },
        )
        return { ...rest, body: other === null ? batch : [...batch, other] }
      },
  ),
)

const KEYS = ['live', 'live', 'live', 'live', 'limited', 'revoked', 'unknown', 'malformed', 'missing'] as const
type KeyKind = (typeof KEYS)[number]

function send(kind: KeyKind, { body, headers }: Sent): Promise<ApiResponse> {
  const key = { ...keys, unknown: newToken(), malformed: 'nonsense', missing: undefined }[kind]
  return postMcp(body, { headers, ...(key !== undefined && { key }) })
}

/** Statuses of the protocol, and of the checks before it. */
const STATUSES = [200, 202, 400, 403, 404, 406, 413, 415]

function expectBounded(kind: KeyKind, { status, headers, body }: ApiResponse): void {
  if (kind !== 'live' && kind !== 'limited') {
    expect(status === 413 || status === 401, `${kind}: ${status}`).toBe(true)
    expect(Object.keys(body)).toEqual(['error'])
    return
  }
  expect(STATUSES).toContain(status)
  const isStream = headers.get('Content-Type') === 'text/event-stream'
  expect(isStream || status === 202 || isObject(body)).toBe(true)
  expect(JSON.stringify(body).length).toBeLessThan(ANSWER_LIMIT_BYTES)
}

async function expectServed(): Promise<void> {
  const { status, body } = await send('live', { body: message('tools/list'), headers: {} })
  expect([status, body.result.tools.length]).toEqual([200, TOOLS.length])
}

const FOUND: Readonly<Record<string, () => Sent>> = {
  'many wrong values, of which each made an error of 250 bytes': () => {
    const clientInfo = { name: 'test', version: '1.0.0', icons: Array(8000).fill(1) }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    return { body: message('initialize', params), headers: {} }
  },
}

beforeAll(prepare)

describe('/mcp', () => {
  it(`answers ${REQUESTS} hostile requests with bounded refusals and results, from the seed ${SEED}`, async () => {
    const errors = vi.spyOn(console, 'error')
    let count = 0
    const property = fc.asyncProperty(
      fc.nat(),
      fc.constantFrom(...KEYS),
      fc.array(mutation, { maxLength: 3 }),
      async (at, kind, mutations) => {
        const sent = mutations.reduce((changed, mutate) => mutate(changed), valid[at % valid.length] as Sent)
        expectBounded(kind, await send(kind, sent))
        if (++count % GOOD_EVERY === 0) await expectServed()
      },
    )
    await fc.assert(property, { numRuns: REQUESTS, seed: SEED, endOnFailure: true, timeout: ANSWER_MS })
    expect(errors.mock.calls).toEqual([])
    errors.mockRestore()
  }, 3_600_000)

  it.each(Object.entries(FOUND))('answers %s', async (_, sent) => {
    for (const kind of new Set(KEYS)) expectBounded(kind, await send(kind, sent()))
    await expectServed()
  })
})
