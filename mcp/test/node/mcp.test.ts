import { readFileSync } from 'node:fs'
import { createServer, request as forward, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Demo } from '../../../scripts/dev/demo.ts'
import { Service } from '../../../scripts/service.ts'
import { ROOT } from '../../../test/support/commands.ts'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../../test/support/dev-server.ts'
import { entryFile } from '../../../test/support/skills.ts'
import { TOOLS } from '../../src/tools.ts'
import { conformanceOf, SCENARIOS } from '../support/conformance.ts'

const LIMIT_BYTES = 100_000
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
/** A project without runs. */
const IDLE_PROJECT = 'idle'

/** A tool's result, as every client has it. */
interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: each tool has its own
  readonly structuredContent?: any
  readonly isError?: boolean
}

/** What both generations of the client have. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}

let server: DevServer
let demo: Demo
let url: URL
let service: Service
let proxy: Server
let fileId: string
let scheduleId: string
let runId: string
/** A run that is claimed. */
let claimed: { readonly id: string; readonly claimId: string }

/** Adds the API key to requests: the conformance suite sends none. */
function startProxy(port: number, devPort: number): Server {
  return createServer((request, response) => {
    const { method = '', url: path, headers } = request
    const authorized = { ...headers, host: `localhost:${devPort}`, authorization: `Bearer ${demo.apiKey}` }
    const sent = forward({ host: 'localhost', port: devPort, path, method, headers: authorized }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    request.pipe(sent)
  }).listen(port)
}

let proxyOrigin: string

beforeAll(async () => {
  const [state, port, proxyPort] = [newFolder(), await freePort(), await freePort()]
  proxyOrigin = `http://localhost:${proxyPort}`
  const settings = ['REQUEST_LOG:on', `CORS_ORIGINS:${proxyOrigin}`, 'SKILL_LIMIT:5000']
  server = await startDevServer(state, port, ...settings.flatMap((setting) => ['--var', setting]))
  demo = readDemo(state)
  url = new URL('/mcp', demo.baseUrl)
  service = new Service(demo.baseUrl, demo.apiKey)
  proxy = startProxy(proxyPort, port)
  const { body: files } = await service.send<{ items: { id: string }[] }>(
    'GET',
    `/v1/sessions/${demo.sessionId}/files?limit=1`,
  )
  fileId = files.items[0]?.id ?? ''
  const { body: schedule } = await service.send<{ id: string }>('POST', `/v1/projects/${demo.projectId}/schedules`, {
    cron: '30 9 * * mon-fri',
    timezone: 'Europe/Paris',
  })
  scheduleId = schedule.id
  const runsPath = `/v1/projects/${demo.projectId}/schedules/${scheduleId}/runs`
  // It would get the runs.
  await service.send('DELETE', '/v1/run-endpoint')
  await service.send('POST', runsPath, {})
  const claim = { leaseSeconds: 3600, projectId: demo.projectId }
  const { body: claims } = await service.send<{ items: (typeof claimed)[] }>('POST', '/v1/runs/claim', claim)
  claimed = claims.items[0] as typeof claimed
  runId = (await service.send<{ id: string }>('POST', runsPath, {})).body.id
  await service.send('PUT', `/v1/projects/${IDLE_PROJECT}`, { name: 'Idle' })
})
afterAll(async () => {
  proxy?.close()
  if (server) await stopDevServer(server)
})

const headersOf = (key: string) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } })

async function connectNew(key: string, mode: 'legacy' | 'auto' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(url, headersOf(key)))
  return client
}

async function connectOld(key: string): Promise<AnyClient> {
  const client = new OlderClient({ name: 'test', version: '1.0.0' })
  await client.connect(new OlderTransport(url, headersOf(key)) as Parameters<OlderClient['connect']>[0])
  return client as AnyClient
}

const call = async (client: AnyClient, name: string, input: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: input })) as Result

const namesOf = async (client: AnyClient) => (await client.listTools()).tools.map(({ name }) => name)

/** @param creator whose user the new key acts as. */
async function newKey(scopes: string[], creator = demo.apiKey): Promise<{ id: string; token: string }> {
  const body = { name: 'limited', scopes }
  const made = await new Service(demo.baseUrl, creator).send<{ id: string; token: string }>(
    'POST',
    '/v1/api-keys',
    body,
  )
  return made.body
}

/** A valid input of each tool. */
function inputs(): Record<string, Record<string, unknown>> {
  const { sessionId, projectId, skillId, pins } = demo
  const [pin] = pins
  return {
    who_am_i: {},
    find: { type: 'session', query: 'a', projectId },
    list_skills: { limit: 1 },
    load_skill: { skillId },
    list_session_files: { sessionId, limit: 1 },
    read_session_file: { sessionId, fileId },
    write_session_file: { sessionId, path: 'notes/day.md', content: '# Day\n' },
    list_schedules: { limit: 1 },
    create_schedule: {
      projectId,
      scheduleId: crypto.randomUUID(),
      cron: '30 9 * * mon-fri',
      timezone: 'Europe/Paris',
    },
    update_schedule: { projectId, scheduleId, enabled: false },
    preview_schedule: { cron: '@daily' },
    list_runs: { limit: 1 },
    claim_run: { projectId: IDLE_PROJECT },
    renew_run: { runId: claimed.id, claimId: claimed.claimId },
    complete_run: { runId, outcome: 'succeeded', message: 'Built.' },
    list_pins: {},
    place_pin: { resourceType: pin?.resourceType, resourceId: pin?.resourceId },
    remove_pin: { resourceType: 'session', resourceId: UNKNOWN_ID },
  }
}

/** A request without a client, as a client of the revision 2025-11-25 sends it. */
function post(message: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${demo.apiKey}`,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  })
}

/** The lines that the API Worker has logged for operations. */
const logged = () =>
  server.printed
    .split('\n')
    .filter((line) => line.startsWith('{"requestId"') && line.includes('"operation"'))
    .map((line) => JSON.parse(line) as { operation: string; d1: { calls: number } })

/** The operations of the API, and the trips to D1, that a request makes. */
async function costOf(request: () => Promise<unknown>): Promise<[operations: string[], trips: number]> {
  // The lines of earlier requests may still come.
  await setTimeout(200)
  const before = logged().length
  await request()
  await expect.poll(() => logged().length).toBeGreaterThan(before)
  await setTimeout(100)
  const lines = logged().slice(before)
  return [lines.map(({ operation }) => operation), lines.reduce((sum, { d1 }) => sum + d1.calls, 0)]
}

describe.each([
  ['@modelcontextprotocol/client 2.x, protocol 2026-07-28', (key: string) => connectNew(key)],
  ['@modelcontextprotocol/client 2.x, protocol 2025-11-25', (key: string) => connectNew(key, 'legacy')],
  ['@modelcontextprotocol/sdk 1.x', connectOld],
] as const)('%s', (_, connect) => {
  it('lists all tools, and for a limited key those that it may call', async () => {
    const client = await connect(demo.apiKey)
    expect(await namesOf(client)).toEqual(TOOLS.map(({ name }) => name))
    const reader = await connect((await newKey(['skills:read', 'pins:read'])).token)
    expect(await namesOf(reader)).toEqual(['who_am_i', 'list_skills', 'load_skill', 'preview_schedule', 'list_pins'])
    expect(await namesOf(await connect((await newKey(['agents:read'])).token))).toContain('find')
    const ofNobody = await connect((await newKey(['skills:read', 'pins:read'], demo.serviceKey)).token)
    expect(await namesOf(ofNobody)).not.toContain('list_pins')
  })

  it("does an agent's day", async () => {
    const client = await connect(demo.apiKey)
    const { sessionId } = demo
    const { structuredContent: me } = await call(client, 'who_am_i')
    expect(me.user.id).toBe(demo.userId)

    const { structuredContent: found } = await call(client, 'list_skills', { name: 'release-notes' })
    expect(found.items).toMatchObject([{ id: demo.skillId }])
    const { structuredContent: skill } = await call(client, 'load_skill', { skillId: found.items[0].id })
    expect(skill).toMatchObject({ name: 'release-notes', filename: 'SKILL.md', nextOffset: null })
    expect(skill.content).toMatch(/^---\nname: release-notes\n/)

    const path = `notes/${crypto.randomUUID()} é+1.md`
    const written = await call(client, 'write_session_file', { sessionId, path, content: '# Notes\n\né\n' })
    expect(written.structuredContent).toMatchObject({ path, contentType: 'text/plain; charset=utf-8' })
    const id = written.structuredContent.id
    const read = await call(client, 'read_session_file', { sessionId, fileId: id })
    expect(read.structuredContent).toMatchObject({
      content: '# Notes\n\né\n',
      encoding: 'utf-8',
      nextOffset: null,
    })
    expect(JSON.parse(read.content[0]?.text ?? '')).toEqual(read.structuredContent)

    const preview = await call(client, 'preview_schedule', {
      cron: '0 9 * * mon',
      timezone: 'Europe/Paris',
      count: 2,
    })
    expect(preview.structuredContent.items).toHaveLength(2)
    const { projectId, agentId } = demo
    const planned = { projectId, scheduleId: crypto.randomUUID() }
    const settings = { name: 'Release notes', payload: { prompt: 'Write the release notes.' } }
    const created = await call(client, 'create_schedule', {
      ...planned,
      ...settings,
      cron: '0 9 * * mon',
      timezone: 'Europe/Paris',
    })
    expect(created.structuredContent).toMatchObject({ id: planned.scheduleId, projectId, ...settings })
    const once = { agentId, scheduleId: crypto.randomUUID(), runAt: '2999-01-01T00:00:00Z' }
    expect((await call(client, 'create_schedule', once)).structuredContent).toMatchObject({
      agentId,
      cron: null,
    })
    const { structuredContent: schedules } = await call(client, 'list_schedules', {
      enabled: true,
      parentType: 'agent',
    })
    expect(schedules.items).toContainEqual(expect.objectContaining({ id: once.scheduleId }))
    await call(client, 'update_schedule', { ...planned, cron: '0 8 * * mon' })
    const paused = await call(client, 'update_schedule', { ...planned, enabled: false })
    const changed = {
      id: planned.scheduleId,
      ...settings,
      cron: '0 8 * * mon',
      timezone: 'Europe/Paris',
      enabledAt: null,
      nextRunAt: null,
    }
    expect(paused.structuredContent).toMatchObject(changed)
    const { structuredContent: ofProject } = await call(client, 'list_schedules', { projectId })
    expect(ofProject.items).toContainEqual(expect.objectContaining(changed))

    const runsPath = `/v1/projects/${projectId}/schedules/${planned.scheduleId}/runs`
    const { body: started } = await service.send<{ id: string }>('POST', runsPath, {})
    const { structuredContent: runs } = await call(client, 'list_runs', { scheduleId: planned.scheduleId })
    expect(runs.items).toMatchObject([{ id: started.id }])
    const outcome = { outcome: 'succeeded', message: 'Wrote the release notes.', sessionId }
    const completed = await call(client, 'complete_run', { runId: started.id, ...outcome })
    expect(completed.structuredContent).toMatchObject({
      status: 'succeeded',
      message: outcome.message,
      sessionId,
    })

    const projectName = `Work ${crypto.randomUUID()}`
    const own = { projectId: crypto.randomUUID() }
    await service.send('PUT', `/v1/projects/${own.projectId}`, { name: projectName })
    const { structuredContent: projects } = await call(client, 'find', { type: 'project', query: projectName })
    expect(projects.items).toMatchObject([{ id: own.projectId, name: projectName }])
    const { structuredContent: work } = await call(client, 'create_schedule', {
      ...own,
      cron: '0 9 * * mon',
      timezone: 'UTC',
      payload: { prompt: 'Build.' },
    })
    await service.send('POST', `/v1/projects/${own.projectId}/schedules/${work.id}/runs`, {})
    const before = Date.now()
    const { structuredContent: taken } = await call(client, 'claim_run', own)
    const { run } = taken
    expect(run).toMatchObject({ scheduleId: work.id, payload: { prompt: 'Build.' } })
    expect(Date.parse(run.leaseExpiresAt)).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(taken.note).toContain(`before ${run.leaseExpiresAt}.`)
    expect((await call(client, 'claim_run', own)).structuredContent).toEqual({
      run: null,
      note: 'No run is pending.',
    })
    const claim = { runId: run.id, claimId: run.claimId }
    const renewed = await call(client, 'renew_run', { ...claim, leaseSeconds: 86_400 })
    expect(Date.parse(renewed.structuredContent.leaseExpiresAt)).toBeGreaterThanOrEqual(before + 86_400_000)
    const unclaimed = await call(client, 'complete_run', { runId: run.id, outcome: 'succeeded' })
    expect(unclaimed.structuredContent).toMatchObject({ code: 'claim_mismatch' })
    const built = await call(client, 'complete_run', { ...claim, outcome: 'succeeded' })
    expect(built.structuredContent).toMatchObject({ id: run.id, status: 'succeeded' })

    const [first, last] = [demo.pins[0], demo.pins.at(-1)]
    const target = { type: first?.resourceType, id: first?.resourceId }
    const moved = { resourceType: last?.resourceType, resourceId: last?.resourceId }
    await call(client, 'place_pin', { ...moved, placement: { target, position: 'before' } })
    const pins = () => call(client, 'list_pins').then(({ structuredContent }) => structuredContent.items)
    expect((await pins())[0]).toMatchObject({ ...moved, name: expect.stringMatching(/./) })
    const removed = await call(client, 'remove_pin', moved)
    expect(removed.structuredContent).toEqual({ deleted: true, ...moved })
    await call(client, 'place_pin', moved)
    expect((await pins()).at(-1)).toMatchObject(moved)
    await client.close()
  })
})

describe('every tool', () => {
  const errorOf = ({ isError, structuredContent }: Result) => isError && structuredContent

  it('has a valid input in this file', () => {
    expect(Object.keys(inputs())).toEqual(TOOLS.map(({ name }) => name))
  })

  it('makes one request to the API, which makes one trip to D1; an upload makes two', async () => {
    const client = await connectNew(demo.apiKey)
    for (const [name, input] of Object.entries(inputs())) {
      const [operations, trips] = await costOf(() => call(client, name, input))
      expect([name, operations.length, trips]).toEqual([name, 1, name === 'write_session_file' ? 2 : 1])
    }
    expect(await costOf(() => client.listTools())).toEqual([['retrieveMe'], 1])
  })

  it('finds nothing of another organization', async () => {
    const foreign = await connectNew(demo.otherOrganization.apiKey)
    const ours = [demo.organizationId, demo.sessionId, demo.skillId, scheduleId, fileId]
    for (const [name, input] of Object.entries(inputs())) {
      const result = await call(foreign, name, input)
      const isOfOrganization = /^(who_am_i|preview_schedule|list_(skills|schedules|runs|pins))$/.test(name)
      expect([name, result.isError ?? false]).toEqual([name, !isOfOrganization])
      if (!isOfOrganization) expect(errorOf(result).status).toBe(404)
      for (const id of isOfOrganization ? ours : []) expect(JSON.stringify(result)).not.toContain(id)
    }
  })

  const postCall = (key: string, name: string, input: object) =>
    fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
    })

  it('gets 403 with the scope that a key lacks, and says which user, with the sentence of the API', async () => {
    const limited = await newKey(['audit-events:read'])
    const client = await connectNew(limited.token)
    for (const [name, input] of Object.entries(inputs())) {
      if (['who_am_i', 'preview_schedule'].includes(name)) continue
      const refused = await postCall(limited.token, name, input)
      const challenge = refused.headers.get('WWW-Authenticate') ?? ''
      expect([name, refused.status, refused.headers.get('Error-Code')]).toEqual([name, 403, 'missing_scope'])
      expect(challenge).toMatch(/^Bearer error="insufficient_scope", scope="(skills|files|schedules|runs|pins)"$/)
      await expect(call(client, name, input)).rejects.toThrow()
    }
    const direct = await new Service(demo.baseUrl, limited.token).send('GET', '/v1/skills').catch(String)
    const { error } = (await (await postCall(limited.token, 'list_skills', {})).json()) as { error: string }
    expect(`Error: ${error}`).toBe(direct)

    const ofNobody = await connectNew(demo.serviceKey)
    for (const name of ['list_pins', 'place_pin', 'remove_pin']) {
      expect(errorOf(await call(ofNobody, name, inputs()[name])).code).toBe('user_required')
    }
  })

  it('is refused with 401 for a key that is missing, malformed or revoked', async () => {
    const revoked = await newKey(['skills:read'])
    const connected = await connectNew(revoked.token, 'legacy')
    await service.send('DELETE', `/v1/api-keys/${revoked.id}`)
    const requests = [
      ...Object.entries(inputs()).map(([name, input]) => ({
        method: 'tools/call',
        params: { name, arguments: input },
      })),
      { method: 'tools/list' },
      { method: 'resources/list' },
      { method: 'skills/list' },
      {
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'test', version: '1' },
        },
      },
    ]
    for (const message of requests) {
      const response = await post(message, { Authorization: `Bearer ${revoked.token}` })
      expect([message, response.status, response.headers.get('Error-Code')]).toEqual([message, 401, 'api_key_revoked'])
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer error="invalid_token"')
    }
    await expect(call(connected, 'list_skills')).rejects.toThrow()
    await expect(connectNew(revoked.token)).rejects.toThrow()
    await expect(connectOld(revoked.token)).rejects.toThrow()

    const malformed = await post({ method: 'tools/list' }, { Authorization: 'Bearer nonsense' })
    expect([malformed.status, malformed.headers.get('Error-Code')]).toEqual([401, 'api_key_invalid'])
    for (const message of [{ method: 'tools/list' }, { method: 'ping' }]) {
      const none = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      })
      expect([none.status, none.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer'])
    }
  })

  it('stores no file that is not what was sent', async () => {
    const client = await connectNew(demo.apiKey)
    const input = inputs().write_session_file ?? {}
    for (const [sent, sentence] of [
      [{ content: 'not base64!', encoding: 'base64' }, /^content is not base64; allowed: /],
      [{ content: 'a\ud800b' }, /^content has a lone surrogate; allowed: /],
      [{ contentType: 'text/plain\r\nX-Other: 1' }, /^contentType is not a media type; allowed: /],
    ] as const) {
      const result = await call(client, 'write_session_file', { ...input, ...sent })
      expect(result).toMatchObject({
        isError: true,
        structuredContent: { error: expect.stringMatching(sentence) },
      })
    }
  })

  it('says what is wrong with an input, without a request to the API', async () => {
    const client = await connectNew(demo.apiKey)
    for (const [name, input] of Object.entries(inputs())) {
      const wrong: [Record<string, unknown>, RegExp][] = [
        [{ ...input, surprise: 1 }, /^surprise is not a known property; known: /],
        ...Object.keys(input).map((key): [Record<string, unknown>, RegExp] => [
          { ...input, [key]: [] },
          new RegExp(`^${key} .*allowed: `),
        ]),
      ]
      for (const [sent, sentence] of wrong) {
        const result = await call(client, name, sent)
        expect([name, result.isError]).toEqual([name, true])
        expect(result.content[0]?.text).toMatch(sentence)
        expect(errorOf(result)).toMatchObject({ code: 'invalid_input', status: 400 })
      }
    }
    const unplaced = await call(client, 'update_schedule', { scheduleId, enabled: true })
    expect(unplaced.content[0]?.text).toMatch(/^projectId is missing; /)
    const { sessionId } = demo
    for (const [which, sent] of [
      ['missing', {}],
      ['given', { fileId, path: 'notes/day.md' }],
    ] as const) {
      const { content } = await call(client, 'read_session_file', { sessionId, ...sent })
      expect(content[0]?.text).toBe(`fileId and path are both ${which}; allowed: one of them.`)
    }
    const both = await call(client, 'update_schedule', { ...inputs().update_schedule, agentId: demo.agentId })
    expect(both.content[0]?.text).toMatch(/^agentId is not a known property; /)
    const filtered = await call(client, 'list_schedules', { projectId: demo.projectId, enabled: true })
    expect(filtered.content[0]?.text).toMatch(/^enabled is not a known property; /)
  })

  it('says "the input" where the API says "body"', async () => {
    const client = await connectNew(demo.apiKey)
    const { projectId } = demo
    const unchanged = await call(client, 'update_schedule', { projectId, scheduleId })
    expect(unchanged.content[0]?.text).toMatch(/^The input has no properties; allowed: at least one of cron, /)
  })

  it('creates a schedule once, and replaces none', async () => {
    const client = await connectNew(demo.apiKey)
    const { create_schedule: schedule = {} } = inputs()
    await call(client, 'create_schedule', { ...schedule, payload: 'kept' })
    const again = await call(client, 'create_schedule', schedule)
    expect(errorOf(again)).toEqual({
      error: `The schedule ${schedule.scheduleId} exists already. To change it, call update_schedule; to create another one, pass a new UUID as scheduleId.`,
      code: 'already_exists',
      status: 412,
    })
    const { structuredContent } = await call(client, 'list_schedules', { projectId: demo.projectId })
    expect(structuredContent.items).toContainEqual(
      expect.objectContaining({ id: schedule.scheduleId, payload: 'kept' }),
    )
  })

  it('creates one schedule from repeated calls without an ID', async () => {
    const client = await connectNew(demo.apiKey)
    const { projectId } = demo
    const input = { projectId, cron: '5 4 * * *', timezone: 'UTC', payload: { b: [{ d: 1, c: 2 }], a: null } }
    const results = await Promise.all(Array.from({ length: 5 }, () => call(client, 'create_schedule', input)))
    const created = results.filter(({ isError }) => !isError).map(({ structuredContent }) => structuredContent)
    expect(created).toMatchObject([{ cron: input.cron, payload: input.payload }])
    const { id } = created[0]
    // In another order.
    const same = { timezone: 'UTC', payload: { a: null, b: [{ c: 2, d: 1 }] }, cron: '5 4 * * *', projectId }
    expect(errorOf(await call(client, 'create_schedule', same))).toMatchObject({
      error: expect.stringContaining(`The schedule ${id} exists already.`),
    })
    const other = await call(client, 'create_schedule', { ...input, payload: { b: [{ d: 1, c: 3 }], a: null } })
    expect(other.structuredContent.id).not.toBe(id)

    await service.send('DELETE', `/v1/projects/${projectId}/schedules/${id}`)
    expect(errorOf(await call(client, 'create_schedule', input))).toMatchObject({
      error: `The schedule ${id} was deleted; to create another one, pass a new UUID as scheduleId.`,
      code: 'schedule_deleted',
    })
    const restored = await call(client, 'create_schedule', { ...input, scheduleId: crypto.randomUUID() })
    expect(restored.isError).toBeUndefined()
  })

  it('finds projects, agents and sessions by a part of their name', async () => {
    const client = await connectNew(demo.apiKey)
    const word = crypto.randomUUID()
    const ids = { project: crypto.randomUUID(), agent: crypto.randomUUID(), session: crypto.randomUUID() }
    for (const [type, id] of Object.entries(ids)) {
      const body = { name: `The ${type} ${word}!`, ...(type === 'session' && { projectId: ids.project }) }
      await service.send('PUT', `/v1/${type}s/${id}`, body)
    }
    for (const [type, id] of Object.entries(ids)) {
      const { structuredContent } = await call(client, 'find', { type, query: word.toUpperCase() })
      expect(structuredContent).toMatchObject({ items: [{ id }], nextCursor: null })
    }
    const inProject = { type: 'session', query: word, projectId: demo.projectId }
    expect((await call(client, 'find', inProject)).structuredContent.items).toEqual([])
    const unfiltered = await call(client, 'find', { type: 'agent', query: word, projectId: demo.projectId })
    expect(unfiltered.content[0]?.text).toMatch(/^projectId is not a known property; known: /)
    const unknown = await call(client, 'find', { type: 'user' })
    expect(unknown.content[0]?.text).toMatch(/^type .*allowed: "project", "agent" or "session"\.$/)
  })

  it('loads a skill by its name, after one more request', async () => {
    const client = await connectNew(demo.apiKey)
    const load = () => call(client, 'load_skill', { name: 'release-notes' })
    expect((await load()).structuredContent).toMatchObject({ id: demo.skillId, filename: 'SKILL.md' })
    expect(await costOf(load)).toEqual([['listSkills', 'retrieveSkill'], 2])
    expect(errorOf(await call(client, 'load_skill', { name: 'no-such-skill' }))).toEqual({
      error: 'The organization has no skill with the name "no-such-skill".',
      code: 'skill_not_found',
      status: 404,
    })
    for (const [which, input] of [
      ['missing', {}],
      ['given', { skillId: demo.skillId, name: 'release-notes' }],
    ] as const) {
      const { content } = await call(client, 'load_skill', input)
      expect(content[0]?.text).toBe(`skillId and name are both ${which}; allowed: one of them.`)
    }
  })

  it('lists the schedules of a project for a key that is restricted to it', async () => {
    const { projectId } = demo
    const body = { name: 'restricted', scopes: ['schedules:read'], projectIds: [projectId] }
    const { body: key } = await service.send<{ token: string }>('POST', '/v1/api-keys', body)
    const client = await connectNew(key.token)
    expect(errorOf(await call(client, 'list_schedules')).code).toBe('unrestricted_key_required')
    const { structuredContent } = await call(client, 'list_schedules', { projectId })
    expect(structuredContent.items).toContainEqual(expect.objectContaining({ id: scheduleId }))
  })

  it('takes null for what is left out', async () => {
    const client = await connectNew(demo.apiKey)
    const { agentId } = demo
    const { structuredContent: listed } = await call(client, 'list_skills', {
      name: 'release-notes',
      limit: null,
      cursor: null,
    })
    expect(listed.items).toMatchObject([{ id: demo.skillId }])
    const planned = {
      agentId,
      projectId: null,
      timezone: null,
      cron: '@daily',
      scheduleId: null,
      runAt: null,
      payload: null,
    }
    const { structuredContent: created } = await call(client, 'create_schedule', { ...planned, name: 'Daily' })
    expect(created).toMatchObject({ agentId, cron: '@daily', name: 'Daily' })
    const changes = { agentId, projectId: null, scheduleId: created.id, name: null, enabled: false }
    const { structuredContent: updated } = await call(client, 'update_schedule', changes)
    expect(updated).toMatchObject({ agentId, name: 'Daily', enabledAt: null })
    const [missing, unknown] = [{ cron: null }, { cron: '@daily', nothing: null }]
    expect((await call(client, 'preview_schedule', missing)).content[0]?.text).toMatch(/^cron is missing; /)
    expect((await call(client, 'preview_schedule', unknown)).content[0]?.text).toMatch(/nothing/)
  })

  it('has the sentence and the code of the API in its errors', async () => {
    const client = await connectNew(demo.apiKey)
    const cases: [name: string, input: Record<string, unknown>, path: string][] = [
      ['preview_schedule', { cron: '99 * * * *' }, '/v1/schedule-preview?cron=99%20*%20*%20*%20*'],
      ['list_skills', { limit: 0 }, '/v1/skills?limit=0'],
      ['load_skill', { skillId: UNKNOWN_ID }, `/v1/skills/${UNKNOWN_ID}`],
      ['list_session_files', { sessionId: UNKNOWN_ID }, `/v1/sessions/${UNKNOWN_ID}/files`],
    ]
    for (const [name, input, path] of cases) {
      const { content } = await call(client, name, input)
      expect(`Error: ${content[0]?.text}`).toBe(await service.send('GET', path).catch(String))
    }
  })

  it('answers 10 calls at once', async () => {
    const client = await connectNew(demo.apiKey)
    // Only the first creation and the first removal succeed.
    const codes: Record<string, string> = { create_schedule: 'already_exists', remove_pin: 'pin_not_found' }
    for (const [name, input] of Object.entries({ ...inputs(), remove_pin: { ...inputs().place_pin } })) {
      const results = await Promise.all(Array.from({ length: 10 }, () => call(client, name, input)))
      const failed = results.filter(({ isError }) => isError).map((result) => errorOf(result).code)
      expect([name, failed]).toEqual([name, name in codes ? Array(9).fill(codes[name]) : []])
    }
    await call(client, 'place_pin', inputs().place_pin)
  })
})

describe('the list of tools', () => {
  it('has at most 20 tools and 12 KB, and docs/mcp.md says its size', async () => {
    const response = await post({ method: 'tools/list' })
    const { result } = (await response.json()) as { result: { tools: unknown[] } }
    expect(result.tools.length).toBeLessThanOrEqual(20)
    const bytes = Buffer.byteLength(JSON.stringify(result))
    expect(bytes).toBeLessThanOrEqual(12_000)
    const text = readFileSync(join(ROOT, 'docs', 'mcp.md'), 'utf8')
    expect(text).toContain(`${result.tools.length} tools, ${(bytes / 1000).toFixed(1)} KB`)
  })

  it('says what each tool may do, and has no output schemas and no tool for environment variables', async () => {
    const { tools } = await (await connectNew(demo.apiKey)).listTools()
    const annotated = tools.map(({ name, annotations: { readOnlyHint, destructiveHint, idempotentHint } = {} }) => [
      name,
      readOnlyHint
        ? 'reads'
        : [destructiveHint && 'destructive', idempotentHint && 'idempotent'].filter(Boolean).join(),
    ])
    expect(Object.fromEntries(annotated)).toEqual({
      who_am_i: 'reads',
      find: 'reads',
      list_skills: 'reads',
      load_skill: 'reads',
      list_session_files: 'reads',
      read_session_file: 'reads',
      write_session_file: 'destructive,idempotent',
      list_schedules: 'reads',
      create_schedule: 'idempotent',
      update_schedule: 'destructive',
      preview_schedule: 'reads',
      list_runs: 'reads',
      claim_run: '',
      renew_run: '',
      complete_run: '',
      list_pins: 'reads',
      place_pin: 'destructive',
      remove_pin: 'destructive,idempotent',
    })
    for (const { outputSchema, inputSchema } of tools) {
      expect(outputSchema).toBeUndefined()
      expect(inputSchema.additionalProperties).toBe(false)
    }
    expect(JSON.stringify(tools)).not.toMatch(/variable/i)
  })

  it('has a title for people, and says that the tools reach nothing else', async () => {
    const { tools } = await (await connectNew(demo.apiKey)).listTools()
    for (const { title, annotations } of tools) {
      expect([title, annotations?.openWorldHint]).toEqual([expect.stringMatching(/^[A-Z][a-z]+( [a-zI]+)*$/), false])
    }
    expect(tools.slice(0, 3).map(({ title }) => title)).toEqual(['Who am I', 'Find', 'List skills'])
  })

  it('has the numbers and booleans of queries, which may be sent as text, too', async () => {
    const client = await connectNew(demo.apiKey)
    const { tools } = await client.listTools()
    const schemaOf = (tool: string) => tools.find(({ name }) => name === tool)?.inputSchema
    expect(schemaOf('preview_schedule')?.required).toEqual(['cron'])
    expect(schemaOf('preview_schedule')?.properties?.count).toEqual({
      type: 'integer',
      default: 5,
      description: 'The number of times, up to 100.',
    })
    expect(schemaOf('list_schedules')?.properties?.enabled).toEqual({
      type: 'boolean',
      description: '`false`: the paused schedules.',
    })
    for (const tool of ['list_session_files', 'list_schedules']) {
      expect(schemaOf(tool)?.properties?.limit).toEqual({ type: 'integer', default: 50 })
    }
    const input = { limit: 1, enabled: true }
    const { structuredContent } = await call(client, 'list_schedules', input)
    const sentAsText = await call(client, 'list_schedules', { limit: '1', enabled: 'true' })
    expect(sentAsText.structuredContent).toEqual(structuredContent)
  })
})

describe('results', () => {
  const bytesOf = (result: Result) => Buffer.byteLength(JSON.stringify(result))

  async function put(content: Uint8Array): Promise<string> {
    const path = `/v1/sessions/${demo.sessionId}/files?path=${crypto.randomUUID()}`
    return (await service.send<{ id: string }>('PUT', path, content)).body.id
  }

  it.each([
    ['text', Buffer.from('Ein längerer Text mit "Zitaten".\n'.repeat(9000))],
    ['characters of four bytes', Buffer.from('😀'.repeat(40_000))],
    ['text that is escaped', Buffer.from('\u0001"\\'.repeat(20_000))],
    ['bytes', Buffer.from(Uint8Array.from({ length: 90_000 }, (_, index) => index % 256))],
    ['nothing', Buffer.alloc(0)],
  ])('have up to 100 KB and say how to read on: %s', async (_, content) => {
    const client = await connectNew(demo.apiKey)
    const id = await put(content)
    const parts: Buffer[] = []
    for (let offset: number | null = 0; offset !== null; ) {
      const result = await call(client, 'read_session_file', {
        sessionId: demo.sessionId,
        fileId: id,
        offset,
      })
      expect(bytesOf(result)).toBeLessThanOrEqual(LIMIT_BYTES)
      const part = result.structuredContent
      expect(part).toMatchObject({ offset, totalBytes: content.length })
      parts.push(Buffer.from(part.content, part.encoding))
      expect(part.note).toBe(
        part.nextOffset === null ? undefined : `The file continues: call again with offset ${part.nextOffset}.`,
      )
      offset = part.nextOffset
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true)
  })

  it('have a file that is read by its path, with its ID, after one more request for 1,000 files', async () => {
    const client = await connectNew(demo.apiKey)
    const sessionId = crypto.randomUUID()
    await service.send('PUT', `/v1/sessions/${sessionId}`, { projectId: demo.projectId, name: 'Notes' })
    const write = async (path: string, content = path) => {
      const { structuredContent } = await call(client, 'write_session_file', { sessionId, path, content })
      return structuredContent.id
    }
    const read = (path: string) => call(client, 'read_session_file', { sessionId, path })
    const path = 'notes/plän + 1.md'
    const id = await write(path.normalize('NFD'), 'Plan')
    const found = { fileId: id, content: 'Plan', nextOffset: null }
    expect(await costOf(() => read(path.normalize('NFD')))).toEqual([
      ['listSessionFiles', 'retrieveSessionFileContent'],
      2,
    ])
    expect((await read(path)).structuredContent).toMatchObject(found)
    const none = await read('notes/plan.md')
    expect([none.isError, none.structuredContent]).toEqual([
      true,
      {
        error: 'The session has no file at the path "notes/plan.md".',
        code: 'session_file_not_found',
        status: 404,
      },
    ])
    await write('empty.md', '')
    expect((await read('empty.md')).structuredContent).toMatchObject({ content: '', totalBytes: 0 })
  })

  it('refuse a part behind the end of a file', async () => {
    const client = await connectNew(demo.apiKey)
    const result = await call(client, 'read_session_file', {
      sessionId: demo.sessionId,
      fileId,
      offset: 10 ** 9,
    })
    expect(result.structuredContent).toMatchObject({ code: 'range_not_satisfiable', status: 416 })
  })

  it('write bytes and read them', async () => {
    const client = await connectNew(demo.apiKey)
    const content = Buffer.from([0, 255, 10]).toString('base64')
    const file = {
      sessionId: demo.sessionId,
      path: 'a.bin',
      content,
      encoding: 'base64',
      contentType: 'image/png',
    }
    const { structuredContent: written } = await call(client, 'write_session_file', file)
    const input = { sessionId: demo.sessionId, fileId: written.id }
    const { structuredContent: read } = await call(client, 'read_session_file', input)
    expect(read).toMatchObject({ content, encoding: 'base64', totalBytes: 3 })
  })

  it('have the whole of a large skill, in parts, and all of its filenames or their number', async () => {
    const client = await connectNew(demo.apiKey)
    const text = `${'"😀\\'.repeat(50_000)}\n`
    const files = [
      entryFile('large', 'A large skill.', text),
      ...Array.from({ length: 400 }, (_, index) => ({
        filename: `${'d'.repeat(90)}/${'f'.repeat(90)}-${index}`,
        content: String(index),
      })),
    ]
    const { body } = await service.send<{ id: string }>('POST', '/v1/skills', { files })
    let content = ''
    for (let offset: number | null = 0; offset !== null; ) {
      const result = await call(client, 'load_skill', { skillId: body.id, offset })
      expect(bytesOf(result)).toBeLessThanOrEqual(LIMIT_BYTES)
      expect(result.structuredContent.filenameCount).toBe(401)
      content += result.structuredContent.content
      offset = result.structuredContent.nextOffset
    }
    expect(content).toBe(files[0]?.content)
    const { filename } = files.at(-1) as { filename: string }
    const one = await call(client, 'load_skill', { skillId: body.id, filename })
    expect(one.structuredContent).toMatchObject({ filename, content: '399', nextOffset: null })
  })

  it('say which files a skill has, if it has not the one that is asked for', async () => {
    const client = await connectNew(demo.apiKey)
    const files = [entryFile('two-files', 'Has two files.'), { filename: 'docs/more.md', content: 'More.' }]
    const { body } = await service.send<{ id: string }>('POST', '/v1/skills', { files })
    const none = await call(client, 'load_skill', { skillId: body.id, filename: 'more.md' })
    expect([none.isError, none.content[0]?.text]).toEqual([
      true,
      'filename is not a file of the skill; got "more.md"; allowed: SKILL.md, docs/more.md.',
    ])
  })

  it('have a page of a long list that fits, and the cursor of the next', async () => {
    const client = await connectNew(demo.apiKey)
    const names = Array.from({ length: 120 }, (_, index) => `skill-${index}`)
    for (const name of names)
      await service.send('POST', '/v1/skills', { files: [entryFile(name, `${name} ${'"'.repeat(900)}`)] })
    const found: string[] = []
    let pages = 0
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const result = await call(client, 'list_skills', { limit: 1000, ...(cursor && { cursor }) })
      expect(bytesOf(result)).toBeLessThanOrEqual(LIMIT_BYTES)
      found.push(...result.structuredContent.items.map(({ name }: { name: string }) => name))
      cursor = result.structuredContent.nextCursor
    }
    expect(pages).toBeGreaterThan(1)
    expect(found.filter((name) => names.includes(name))).toEqual(names)
    expect(new Set(found).size).toBe(found.length)
  })
})

describe('skills as resources', () => {
  it('are listed, and each file has the digest of its entry', async () => {
    const client = await connectNew(demo.apiKey)
    const files = [
      entryFile('drawings', 'Draws.'),
      {
        filename: 'assets/lögo 1.bin',
        content: Buffer.from([0, 255]).toString('base64'),
        encoding: 'base64',
      },
    ]
    const { body } = await service.send<{ id: string }>('POST', '/v1/skills', { files })
    const skills = new SkillsClient(client)
    expect(skills.supported).toBe(true)
    const uri = `skill://${body.id}/drawings/SKILL.md`
    const { skills: entries } = await skills.list()
    const entry = entries.find((each) => each.uri === uri)
    expect(entry?.frontmatter).toEqual({ name: 'drawings', description: 'Draws.' })
    expect((await skills.get(uri)).skill).toEqual(entry)
    if (!entry) throw new Error('The skill is not listed')
    expect(await skills.read(entry)).toMatchObject({ verified: true, body: '# Notes\n' })
    expect(await skills.read(entry, 'assets/lögo 1.bin')).toMatchObject({ verified: true })
    expect(await costOf(() => client.readResource({ uri }))).toEqual([['retrieveSkill'], 1])
    const { resources } = await client.listResources()
    expect(resources).toContainEqual(
      expect.objectContaining({
        uri: `skill://${demo.skillId}/release-notes/SKILL.md`,
        name: 'release-notes',
      }),
    )
  })

  it('are found neither under another name nor by another organization', async () => {
    const uri = `skill://${demo.skillId}/release-notes/SKILL.md`
    const foreign = new SkillsClient(await connectNew(demo.otherOrganization.apiKey))
    await expect(foreign.get(uri)).rejects.toThrow(/No skill is served/)
    const skills = new SkillsClient(await connectNew(demo.apiKey))
    for (const wrong of [uri.replace('release-notes', 'other'), 'skill://release-notes/SKILL.md'])
      await expect(skills.get(wrong)).rejects.toThrow(/No skill is served/)
    const limited = await connectNew((await newKey(['pins:read'])).token)
    await expect(limited.readResource({ uri })).rejects.toThrow(/lacks the scope "skills:read"/)
  })
})

describe('/mcp', () => {
  it('answers under the prefix too', async () => {
    url = new URL('/api/public-api/mcp', demo.baseUrl)
    const client = await connectNew(demo.apiKey)
    expect((await call(client, 'who_am_i')).structuredContent.user.id).toBe(demo.userId)
    url = new URL('/mcp', demo.baseUrl)
  })

  it('is refused to pages of other origins, unless CORS_ORIGINS names them', async () => {
    for (const origin of ['http://evil.example.com', 'http://localhost:1', 'null']) {
      const response = await post({ method: 'tools/list' }, { Origin: origin })
      expect([origin, response.status, response.headers.get('Error-Code')]).toEqual([origin, 403, 'origin_forbidden'])
    }
    expect((await post({ method: 'tools/list' }, { Origin: demo.baseUrl })).status).toBe(200)
    const response = await post({ method: 'tools/list' }, { Origin: proxyOrigin })
    expect([response.status, response.headers.get('Access-Control-Allow-Origin')]).toEqual([200, proxyOrigin])
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { Origin: proxyOrigin, 'Access-Control-Request-Method': 'POST' },
    })
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toMatch(/MCP-Protocol-Version.*Mcp-Method.*Mcp-Name/)
  })

  it('answers the messages of a batch, and refuses more than five', async () => {
    const send = (count: number) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          Authorization: `Bearer ${demo.apiKey}`,
        },
        body: JSON.stringify(
          Array.from({ length: count }, (_, id) => ({
            jsonrpc: '2.0',
            id,
            method: 'tools/call',
            params: { name: 'who_am_i' },
          })),
        ),
      })
    const answers = (await (await send(5)).json()) as { id: number; result: Result }[]
    expect(answers.map(({ id, result }) => [id, result.structuredContent.user.id])).toEqual(
      [0, 1, 2, 3, 4].map((id) => [id, demo.userId]),
    )
    const refused = await send(6)
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: 'The batch has too many messages; got 6; allowed: up to 5.' },
      },
    ])
  })

  it('refuses a stream and a session with a sentence, and an unknown tool with an error of the protocol', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(url, { method, headers: { Authorization: `Bearer ${demo.apiKey}` } })
      expect([response.status, response.headers.get('Allow'), await response.json()]).toEqual([
        405,
        'POST',
        { error: `method is not allowed for this path; got "${method}"; allowed: POST.` },
      ])
    }
    const client = await connectNew(demo.apiKey)
    await expect(call(client, 'delete_everything')).rejects.toThrow(
      'name is not a tool; got "delete_everything"; allowed: who_am_i, ',
    )
  })

  it.each(Object.entries(SCENARIOS))(
    'passes the conformance suite of the protocol, revision %s',
    { tags: 'slow' },
    async (revision, scenarios) => {
      const { passed, failed } = await conformanceOf(`${proxyOrigin}/mcp`, revision)
      expect([passed, failed]).toEqual([scenarios.toSorted(), []])
    },
  )
})
