import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { nextRun } from '../src/cron/next-run.ts'
import { schedules } from '../src/db/schema.ts'
import { tick } from '../src/scheduled.ts'
import { type ApiResponse, ORIGIN, PREFIX, type RequestOptions, request } from './support/api.ts'
import { databaseWith, failingDatabase, watchedDatabase } from './support/bindings.ts'
import { sized } from './support/long-form.ts'
import { now, Workspace } from './support/workspace.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const ALLOWED_ID = 'allowed: a UUID such as "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70".'
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** What differs between the two types of parent. */
const PROJECT = {
  parent: 'project' as 'project' | 'agent',
  idName: 'projectId',
  json: { cron: '30 9 * * *', timezone: 'UTC' },
  pathOf: (id: string) => `/v1/projects/${encodeURIComponent(id)}/schedules`,
  add: (workspace: Workspace, id?: string) => workspace.addProject(id),
  archive: (workspace: Workspace, id: string) => workspace.archiveProject(id),
}
const AGENT: typeof PROJECT = {
  parent: 'agent',
  idName: 'agentId',
  json: { cron: '30 9 * * *' } as typeof PROJECT.json,
  pathOf: (id) => `/v1/agents/${encodeURIComponent(id)}/schedules`,
  add: (workspace, id) => workspace.addAgent(id),
  archive: (workspace, id) => workspace.archiveAgent(id),
}

async function withParent(kind: typeof PROJECT, parentId?: string) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const id = await kind.add(workspace, parentId)
  const create = (json: unknown = kind.json, more: RequestOptions = {}) =>
    request('POST', kind.pathOf(id), { key, json, ...more })
  const count = async () => (await workspace.dump('schedules')).length
  return { workspace, key, id, create, count }
}

const idempotent = (key: string) => ({ headers: { 'Idempotency-Key': key } })

/** A cron expression of this length that fires every minute. */
const cronOfLength = (length: number) => `*${' '.repeat(length - 8)}* * * *`

/** The next instant at this many milliseconds after midnight UTC. */
function nextDaily(after: string, timeOfDayMs: number): string {
  const midnight = Math.floor(Date.parse(after) / DAY_MS) * DAY_MS
  const today = midnight + timeOfDayMs
  return new Date(today > Date.parse(after) ? today : today + DAY_MS).toISOString()
}

describe('createProjectSchedule', () => {
  it('creates a schedule and returns it', async () => {
    const { workspace, id, create } = await withParent(PROJECT)
    const before = now()
    const json = { cron: '30 9 * * *', timezone: 'Asia/Kolkata' }
    const { status, headers, body } = await create(json)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(UUID_V7),
      projectId: id,
      ...json,
      enabledAt: body.createdAt,
      lastRunAt: null,
      nextRunAt: nextDaily(body.createdAt, 4 * 60 * MINUTE_MS),
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: body.createdAt,
    })
    expect(body.createdAt >= before && body.createdAt <= now()).toBe(true)
    expect(headers.get('Location')).toBe(`/v1/projects/${id}/schedules/${body.id}`)
    const stored = { parentType: 'project', parentId: id, id: body.id, ...json, nextRunAt: body.nextRunAt }
    expect(await workspace.dump('schedules')).toMatchObject([stored])
  })

  it('returns the cron expression and the time zone as they were sent', async () => {
    const { create } = await withParent(PROJECT)
    for (const json of [
      { cron: '0   9 *  JAN-mar sun,7', timezone: 'Asia/Calcutta' },
      { cron: '@daily', timezone: 'US/Eastern' },
      { cron: '7/20 * * * *', timezone: 'Etc/GMT+5' },
      { cron: '0 0 29 2 *', timezone: 'America/Argentina/Buenos_Aires' },
      { cron: '* * * * *', timezone: 'GMT' },
      { cron: '* * * * *', timezone: 'EST5EDT' },
    ]) {
      const { status, body } = await create(json)
      expect([status, { cron: body.cron, timezone: body.timezone }]).toEqual([201, json])
    }
  })

  it.each([
    ['+02:00'],
    ['-05'],
    ['+0200'],
    ['UTC+2'],
    ['GMT+2'],
    ['Z'],
    [''],
    [' '],
    [' UTC'],
    ['UTC '],
    ['UTC\n'],
    ['UTC\0'],
    ['\ud800'],
    ['local'],
    ['Europe/Atlantis'],
    ['Europe'],
    ['Europe/'],
    ['../UTC'],
    ['Europe\\Paris'],
    ['\uff35\uff34\uff23'],
    [null],
    [120],
    [['UTC']],
  ])('refuses the time zone %j', async (timezone) => {
    const { create, count } = await withParent(PROJECT)
    const { status, body } = await create({ cron: '@daily', timezone })
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^timezone /) }])
    expect(await count()).toBe(0)
  })

  it.each(['PST', 'pst', 'CST', 'IST', 'BST', 'JST', 'ACT', 'SystemV/AST4'])(
    'refuses the time zone %j, which IANA does not have',
    async (timezone) => {
      const { create } = await withParent(PROJECT)
      const { status, body } = await create({ cron: '@daily', timezone })
      expect([status, body]).toEqual([400, { error: expect.stringMatching(/^timezone /) }])
    },
  )

  it('allows up to 255 characters in cron and in timezone', async () => {
    const { create } = await withParent(PROJECT)
    expect((await create({ cron: cronOfLength(255), timezone: 'UTC' })).status).toBe(201)
    const long = await create({ cron: cronOfLength(256), timezone: 'UTC' })
    expect([long.status, long.body]).toEqual([
      400,
      { error: expect.stringMatching(/^cron is too long; got 256 characters; allowed: 1 to 255 /) },
    ])

    const inLimit = await create({ cron: '@daily', timezone: '\u{1f550}'.repeat(255) })
    expect([inLimit.status, inLimit.body]).toEqual([
      400,
      { error: expect.stringMatching(/^timezone is not an IANA time zone;/) },
    ])
    const tooLong = await create({ cron: '@daily', timezone: '\u{1f550}'.repeat(256) })
    expect([tooLong.status, tooLong.body]).toEqual([
      400,
      { error: expect.stringMatching(/^timezone is too long; got 256 characters; allowed: 1 to 255 /) },
    ])
  })

  it('allows up to 255 characters in projectId', async () => {
    const longest = '\u{1f550}'.repeat(255)
    const { key, create } = await withParent(PROJECT, longest)
    const { status, body } = await create()
    expect([status, body.projectId]).toEqual([201, longest])
    const tooLong = await request('POST', PROJECT.pathOf(`${longest}x`), { key, json: PROJECT.json })
    expect([tooLong.status, tooLong.body]).toEqual([
      400,
      { error: expect.stringMatching(/^projectId is too long; got 256 characters; allowed: 1 to 255 /) },
    ])
  })

  it.each([
    ['%00', /^projectId .*NUL/],
    ['a%00b', /^projectId .*NUL/],
    ['%', /percent/],
    ['%zz', /percent/],
    ['%C3', /percent/],
    ['%ED%A0%80', /percent/],
    ['ok%FF', /percent/],
  ])('refuses the path segment %s', async (segment, sentence) => {
    const { key } = await withParent(PROJECT)
    const { status, body } = await request('POST', `/v1/projects/${segment}/schedules`, {
      key,
      json: PROJECT.json,
    })
    expect([status, body]).toEqual([400, { error: expect.stringMatching(sentence) }])
  })

  const expectProjectId = async (id: string) => {
    const { key, create } = await withParent(PROJECT, id)
    const { status, headers, body } = await create()
    expect([status, body.projectId]).toEqual([201, id])
    expect(headers.get('Location')).toBe(`${PROJECT.pathOf(id)}/${body.id}`)
    const neighbour = await request('POST', PROJECT.pathOf(`${id}_`), { key, json: PROJECT.json })
    expect(neighbour.status).toBe(404)
  }

  it.each([
    ...['website', '7', '%', '%%', '%25', '%2F', '%2f%', 'a/b', '/', '//', '../secret', '?', 'a?b=c#d', '#'],
    ...[
      ' ',
      ' a ',
      '+',
      'a+b',
      '&',
      '=',
      ':',
      ':projectId',
      '*',
      '{projectId}',
      'schedules',
      '...',
      '.a',
      '%2e',
    ],
    ...['\\', '"', "' OR 1=1 --", '`', '_', '\u0001', '\t', '\r\n', '\u007f', '\ufeff', '\u2028', '\uffff'],
    ...[
      'é',
      'e\u0301',
      'ß',
      '\u65e5\u672c',
      '\u202eabc',
      '\u{1f469}\u200d\u{1f680}',
      '__proto__',
      'constructor',
    ],
  ])('takes the projectId %j', expectProjectId)

  it('accepts any string as projectId', async () => {
    const ids = fc
      .oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
        fc.string({
          unit: fc.constantFrom('%', '/', '2', 'F', '.', 'é', '\u{1f550}', ' ', '+'),
          minLength: 1,
        }),
      )
      .filter((id) => !id.includes('\0') && id !== '.' && id !== '..')
    await fc.assert(fc.asyncProperty(ids, expectProjectId), { numRuns: sized(80, 250), seed: 20260329 })
  })

  it('distinguishes ids by case and by normal form', async () => {
    const { workspace, key } = await withParent(PROJECT, 'Caf\u00e9')
    for (const id of ['caf\u00e9', 'CAF\u00c9', 'Cafe\u0301', 'Cafe']) {
      expect((await request('POST', PROJECT.pathOf(id), { key, json: PROJECT.json })).status).toBe(404)
    }
    expect(await workspace.dump('schedules')).toEqual([])
  })

  it('returns 403 for an API key that is restricted to other projects', async () => {
    const { workspace, id, create, count } = await withParent(PROJECT)
    const other = await workspace.addProject()
    for (const projectIds of [[], [other], [id.toUpperCase().slice(1)]]) {
      const { status } = await create(PROJECT.json, { key: await workspace.addKey({ projectIds }) })
      expect(status).toBe(403)
    }
    expect(await count()).toBe(0)
    const restricted = await workspace.addKey({ projectIds: [other, id] })
    expect((await create(PROJECT.json, { key: restricted })).status).toBe(201)
    const missing = await request('POST', PROJECT.pathOf('nowhere'), { key: restricted, json: PROJECT.json })
    expect(missing.status).toBe(404)
  })

  it('returns 403 rather than 409', async () => {
    const { workspace, id, create } = await withParent(PROJECT)
    await create(PROJECT.json, idempotent('a'))
    const restricted = await workspace.addKey({ projectIds: [] })
    const environment = { SCHEDULE_LIMIT: '1' }
    expect((await create(PROJECT.json, { key: restricted, environment })).status).toBe(403)
    expect((await create(PROJECT.json, { key: restricted, ...idempotent('a') })).status).toBe(403)
    const otherBody = { ...PROJECT.json, cron: '@daily' }
    expect((await create(otherBody, { key: restricted, ...idempotent('a') })).status).toBe(403)
    await workspace.archiveProject(id)
    expect((await create(PROJECT.json, { key: restricted })).status).toBe(403)
  })

  it('separates projects of two organizations that have the same id', async () => {
    const here = await withParent(PROJECT, 'website')
    const there = await withParent(PROJECT, 'website')
    const environment = { SCHEDULE_LIMIT: '1' }
    expect((await here.create(PROJECT.json, { environment, ...idempotent('a') })).status).toBe(201)
    const answer = await there.create(
      { ...PROJECT.json, cron: '@daily' },
      { environment, ...idempotent('a') },
    )
    expect(answer.status).toBe(201)
    expect([await here.count(), await there.count()]).toEqual([1, 1])
  })

  it('regards a different time zone as a different body', async () => {
    const { create } = await withParent(PROJECT)
    await create({ cron: '@daily', timezone: 'UTC' }, idempotent('a'))
    const other = await create({ cron: '@daily', timezone: 'Europe/Paris' }, idempotent('a'))
    expect(other.status).toBe(409)
  })

  it('regards the same values in another order and spacing as an equal body', async () => {
    const { create, count } = await withParent(PROJECT)
    const options = { headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'a' } }
    const first = await create(undefined, {
      ...options,
      json: undefined,
      body: '{"cron":"@daily","timezone":"UTC"}',
    })
    const again = await create(undefined, {
      ...options,
      json: undefined,
      body: '{ "timezone" : "\\u0055TC",\n "cron" : "@daily" }',
    })
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(await count()).toBe(1)
  })

  it.each([
    [{}, /^cron is missing;.* timezone is missing;/],
    [{ cron: '@daily' }, /^timezone is missing;/],
    [{ timezone: 'UTC' }, /^cron is missing;/],
    [{ cron: '', timezone: 'UTC' }, /^cron /],
    [{ cron: 5, timezone: 'UTC' }, /^cron is not a string;/],
    [{ cron: null, timezone: 'UTC' }, /^cron is not a string;/],
    [{ cron: ['@daily'], timezone: 'UTC' }, /^cron /],
    [{ cron: '0 0 30 2 *', timezone: 'UTC' }, /^cron never fires;/],
    [{ cron: '0 0 0 * * *', timezone: 'UTC' }, /^cron does not have five fields;/],
    [{ cron: '@reboot', timezone: 'UTC' }, /^cron /],
    [{ cron: '@daily\0', timezone: 'UTC' }, /^cron /],
    [{ cron: '\udc00', timezone: 'UTC' }, /^cron /],
    [
      { cron: '@daily', timezone: 'UTC', extra: 1 },
      /^extra is not a known property; known: cron, timezone\.$/,
    ],
    [
      { cron: '@daily', timezone: 'UTC', id: crypto.randomUUID() },
      /^id is not a known property; known: cron, timezone\.$/,
    ],
    [
      { cron: '@daily', timezone: 'UTC', Cron: '@daily' },
      /^Cron is not a known property; known: cron, timezone\. Did you mean cron\?$/,
    ],
    [
      { cron: '@daily', timezone: 'UTC', enabledAt: null },
      /^enabledAt is not a known property; known: cron, timezone\.$/,
    ],
  ])('refuses the body %j', async (json, sentence) => {
    const { create, count } = await withParent(PROJECT)
    const { status, body } = await create(json)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(sentence) }])
    expect(await count()).toBe(0)
  })
})

describe('createAgentSchedule', () => {
  it('creates a schedule in UTC and returns it', async () => {
    const { workspace, id, create } = await withParent(AGENT)
    const { status, headers, body } = await create({ cron: '15 6 * * *' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(UUID_V7),
      agentId: id,
      cron: '15 6 * * *',
      enabledAt: body.createdAt,
      lastRunAt: null,
      nextRunAt: nextDaily(body.createdAt, 6.25 * 60 * MINUTE_MS),
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: body.createdAt,
    })
    expect(headers.get('Location')).toBe(`/v1/agents/${id}/schedules/${body.id}`)
    expect(await workspace.dump('schedules')).toMatchObject([
      { parentType: 'agent', parentId: id, id: body.id, timezone: 'UTC', nextRunAt: body.nextRunAt },
    ])
  })

  it('allows up to 500 characters in cron', async () => {
    const { create } = await withParent(AGENT)
    expect((await create({ cron: cronOfLength(500) })).status).toBe(201)
    const long = await create({ cron: cronOfLength(501) })
    expect([long.status, long.body]).toEqual([
      400,
      { error: expect.stringMatching(/^cron is too long; got 501 characters; allowed: 1 to 500 /) },
    ])
    const inLimit = await create({ cron: '\u{1f550}'.repeat(500) })
    expect([inLimit.status, inLimit.body]).toEqual([400, { error: expect.not.stringContaining('500') }])
    const tooLong = await create({ cron: '\u{1f550}'.repeat(501) })
    expect([tooLong.status, tooLong.body]).toEqual([
      400,
      { error: expect.stringMatching(/^cron is too long; got 501 characters; allowed: 1 to 500 /) },
    ])
  })

  it.each([
    ['reviewer', '"reviewer"'],
    ['7', '"7"'],
    ['0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7', '"0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7"'],
    ['0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7g', '"0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7g"'],
    ['0198c2a47d1e7c3a9b523f6d8e1a4c70', '"0198c2a47d1e7c3a9b523f6d8e1a4c70"'],
    ['{0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70}', '"{0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70}"'],
    ['urn:uuid:0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70', '"urn:uuid:0198c2a4-7d1e-7c3a-9b52-3f6d8e1…"'],
    ['0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70\n', '"0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70\\n"'],
    [' 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70', '" 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70"'],
    ['\0', '"\\u0000"'],
  ])('refuses the agentId %j', async (agentId, sent) => {
    const { key } = await withParent(AGENT)
    const { status, body } = await request('POST', AGENT.pathOf(agentId), { key, json: AGENT.json })
    expect([status, body]).toEqual([
      400,
      { error: `agentId has the wrong format; got ${sent}; ${ALLOWED_ID}` },
    ])
  })

  it.each([
    '00000000-0000-0000-0000-000000000000',
    '12345678-1234-0234-0234-123456789abc',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('accepts the agentId %s with any version bits', async (agentId) => {
    const { create } = await withParent(AGENT, agentId)
    const { status, body } = await create()
    expect([status, body.agentId]).toEqual([201, agentId])
  })

  it('allows API keys that are restricted to projects, even to none', async () => {
    const { workspace, create } = await withParent(AGENT)
    expect((await create(AGENT.json, { key: await workspace.addKey({ projectIds: [] }) })).status).toBe(201)
  })

  it.each([
    [{}, /^cron is missing;/],
    [{ cron: '' }, /^cron /],
    [{ cron: 5 }, /^cron is not a string;/],
    [{ cron: '* * * *' }, /^cron does not have five fields;/],
    [{ cron: 'TZ=UTC 0 9 * * *' }, /^cron does not have five fields;/],
    [{ cron: '@daily', timezone: 'UTC' }, /^timezone is not a known property; known: cron\.$/],
    [{ cron: '@daily', agentId: crypto.randomUUID() }, /^agentId is not a known property; known: cron\.$/],
  ])('refuses the body %j', async (json, sentence) => {
    const { create, count } = await withParent(AGENT)
    const { status, body } = await create(json)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(sentence) }])
    expect(await count()).toBe(0)
  })
})

describe('schedules of projects and of agents', () => {
  it('have separate limits and Idempotency-Keys, even if the parents have the same id', async () => {
    const { workspace, key, id, create } = await withParent(PROJECT)
    await workspace.addAgent(id)
    const environment = { SCHEDULE_LIMIT: '1' }
    const createForAgent = (json: unknown, more: RequestOptions) =>
      request('POST', AGENT.pathOf(id), { key, json, environment, ...more })
    const ofProject = await create(PROJECT.json, { environment, ...idempotent('a') })
    const ofAgent = await createForAgent({ cron: '@daily' }, idempotent('a'))
    expect([ofProject.status, ofAgent.status]).toEqual([201, 201])
    expect(ofAgent.body.id).not.toBe(ofProject.body.id)
    expect((await create(PROJECT.json, idempotent('a'))).body).toEqual(ofProject.body)
    expect((await createForAgent({ cron: '@daily' }, idempotent('a'))).body).toEqual(ofAgent.body)
    expect((await create(PROJECT.json, { environment })).status).toBe(409)
    expect((await createForAgent({ cron: '@daily' }, {})).status).toBe(409)
  })

  it('are independent of archived parents of the other type with the same id', async () => {
    const { workspace, key, id, create } = await withParent(PROJECT)
    await workspace.addAgent(id)
    await workspace.archiveAgent(id)
    expect((await create()).status).toBe(201)
    expect((await request('POST', AGENT.pathOf(id), { key, json: AGENT.json })).status).toBe(409)
  })

  it('are not found under a parent of the other type', async () => {
    const { workspace, key, id } = await withParent(PROJECT)
    const agentId = await workspace.addAgent()
    expect((await request('POST', AGENT.pathOf(id), { key, json: AGENT.json })).status).toBe(404)
    expect((await request('POST', PROJECT.pathOf(agentId), { key, json: PROJECT.json })).status).toBe(404)
  })
})

describe.each([PROJECT, AGENT])('creating a $parent schedule', (kind) => {
  it('returns a Location under the base path of the request', async () => {
    const { key, id } = await withParent(kind)
    const { status, headers, body } = await request('POST', PREFIX + kind.pathOf(id), {
      key,
      json: kind.json,
    })
    expect(status).toBe(201)
    expect(headers.get('Location')).toBe(`${PREFIX}${kind.pathOf(id)}/${body.id}`)
  })

  it('computes nextRunAt from createdAt, strictly later', async () => {
    const { create } = await withParent(kind)
    for (const minutes of [1, 2, 5, 30]) {
      const { body } = await create({ ...kind.json, cron: `*/${minutes} * * * *` })
      const interval = minutes * MINUTE_MS
      const next = (Math.floor(Date.parse(body.createdAt) / interval) + 1) * interval
      expect(body.nextRunAt).toBe(new Date(next).toISOString())
    }
  })

  it('accepts the id in either case and returns it in lower case', async () => {
    const id = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4cab'
    const { key, count } = await withParent(kind, id)
    const path = kind.pathOf(id.toUpperCase())
    const { status, body } = await request('POST', path, { key, json: kind.json, ...idempotent('a') })
    expect([status, body[kind.idName]]).toEqual([201, id])
    const again = await request('POST', kind.pathOf(id), { key, json: kind.json, ...idempotent('a') })
    expect(again.body).toEqual(body)
    expect(await count()).toBe(1)
  })

  it('returns the id in lower case in Location too', async () => {
    const { key, id } = await withParent(kind)
    const path = kind.pathOf(id.toUpperCase())
    const { headers, body } = await request('POST', path, { key, json: kind.json })
    expect(headers.get('Location')).toBe(`${kind.pathOf(id)}/${body.id}`)
  })

  it('creates a schedule for each request without an Idempotency-Key', async () => {
    const { create, count } = await withParent(kind)
    const [first, second] = [await create(), await create()]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body.id).not.toBe(second.body.id)
    expect(await count()).toBe(2)
  })

  it.each([
    ['[]', /^body is not an object;/],
    ['null', /^body is not an object;/],
    ['"@daily"', /^body is not an object;/],
    ['', /JSON/],
    ['{', /JSON/],
    ['{"cron":"@daily",}', /JSON/],
    ["{'cron':'@daily'}", /JSON/],
  ])('refuses the raw body %j', async (body, sentence) => {
    const { create, count } = await withParent(kind)
    const headers = { 'Content-Type': 'application/json' }
    const answer = await create(undefined, { json: undefined, body, headers })
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringMatching(sentence) }])
    expect(await count()).toBe(0)
  })

  it.each(['__proto__', 'constructor', 'toString'])('refuses the property %s', async (name) => {
    const { create } = await withParent(kind)
    const body = `${JSON.stringify(kind.json).slice(0, -1)},"${name}":{"cron":"@daily"}}`
    const headers = { 'Content-Type': 'application/json' }
    const answer = await create(undefined, { json: undefined, body, headers })
    const error = `${name} is not a known property; known: ${Object.keys(kind.json).join(', ')}.`
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  it('refuses another content type, and bytes that are not UTF-8', async () => {
    const { create } = await withParent(kind)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
    ]) {
      expect((await create(kind.json, { headers: { 'Content-Type': type } })).status).toBe(400)
    }
    const body = new TextEncoder().encode(JSON.stringify(kind.json))
    body[body.length - 3] = 0xff
    const headers = { 'Content-Type': 'application/json' }
    expect((await create(undefined, { json: undefined, body, headers })).status).toBe(400)
    const named = { 'Content-Type': 'Application/JSON; charset="UTF-8"' }
    expect((await create(kind.json, { headers: named })).status).toBe(201)
  })

  it('returns the same 404 for a parent that does not exist and for one of another organization', async () => {
    const { workspace, key } = await withParent(kind)
    const other = await withParent(kind)
    const post = (id: string) => request('POST', kind.pathOf(id), { key, json: kind.json })
    const missing = await post(crypto.randomUUID())
    const theirs = await post(other.id)
    expect(missing.status).toBe(404)
    expect([theirs.status, theirs.body]).toEqual([missing.status, missing.body])
    expect([...(await workspace.dump('schedules')), ...(await other.workspace.dump('schedules'))]).toEqual([])
  })

  it("does not disclose whether another organization's parent is archived or at its limit", async () => {
    const { key } = await withParent(kind)
    const other = await withParent(kind)
    await other.create(kind.json, idempotent('a'))
    await kind.archive(other.workspace, other.id)
    const environment = { SCHEDULE_LIMIT: '1' }
    const path = kind.pathOf(other.id)
    const json = { ...kind.json, cron: '@hourly' }
    expect((await request('POST', path, { key, json, environment, ...idempotent('a') })).status).toBe(404)
  })

  it('returns 409 if the parent is archived', async () => {
    const { workspace, id, create, count } = await withParent(kind)
    await kind.archive(workspace, id)
    const { status, body } = await create()
    expect([status, body]).toEqual([409, { error: expect.stringContaining('archived') }])
    expect(await count()).toBe(0)
  })

  it('returns 409 at the limit of the setting', async () => {
    const { workspace, key, create, count } = await withParent(kind)
    const environment = { SCHEDULE_LIMIT: '3' }
    for (let index = 0; index < 3; index++)
      expect((await create(kind.json, { environment })).status).toBe(201)
    const { status, body } = await create(kind.json, { environment })
    expect([status, body]).toEqual([409, { error: expect.stringContaining('3') }])
    expect(await count()).toBe(3)
    const other = await kind.add(workspace)
    const elsewhere = await request('POST', kind.pathOf(other), { key, json: kind.json, environment })
    expect(elsewhere.status).toBe(201)
  })

  it('allows 100 schedules without a setting', async () => {
    const { create, count } = await withParent(kind)
    for (let index = 0; index < 100; index++) expect((await create()).status).toBe(201)
    expect((await create()).status).toBe(409)
    expect(await count()).toBe(100)
  })

  it('stays within the limit for concurrent requests', async () => {
    const { create, count } = await withParent(kind)
    const environment = { SCHEDULE_LIMIT: '4' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(kind.json, { environment })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(6)
    expect(await count()).toBe(4)
  })

  it('returns 400 if the API key lacks the scope, whatever the state of the parent', async () => {
    const { workspace, id, create, count } = await withParent(kind)
    const key = await workspace.addKey({ scopes: ['pins:write', 'skills:read'] })
    const refused = await create(kind.json, { key })
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: expect.stringContaining('schedules:write') },
    ])
    const missing = await request('POST', kind.pathOf(crypto.randomUUID()), { key, json: kind.json })
    await kind.archive(workspace, id)
    const archived = await create(kind.json, { key })
    expect([missing, archived].map(({ status, body }) => [status, body])).toEqual([
      [400, refused.body],
      [400, refused.body],
    ])
    expect(await count()).toBe(0)
  })

  it('allows API keys that act as no user', async () => {
    const { workspace, create } = await withParent(kind)
    expect((await create(kind.json, { key: await workspace.addKey({ userId: null }) })).status).toBe(201)
  })

  it('reports invalid input before the scope and the parent', async () => {
    const { workspace } = await withParent(kind)
    const key = await workspace.addKey({ scopes: [] })
    const path = kind.pathOf(crypto.randomUUID())
    const { status, body } = await request('POST', path, { key, json: { ...kind.json, cron: 'x' } })
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/^cron /) }])
  })

  it('returns 401 without a valid API key, whatever the input', async () => {
    const { workspace, id, create, count } = await withParent(kind)
    const path = kind.pathOf(id)
    const missing = await request('POST', path, { json: kind.json })
    expect([missing.status, missing.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer'])

    const revoked = await workspace.addKeyWithId()
    await workspace.revokeKey(revoked.id)
    const expired = await workspace.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' })
    for (const key of [revoked.token, expired, 'wsk_x']) {
      for (const json of [kind.json, { ...kind.json, cron: 'x' }, []]) {
        const answer = await create(json, { key })
        expect(answer.status).toBe(401)
        expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer error="invalid_token"')
      }
    }
    expect(await count()).toBe(0)
  })

  it('returns 500 with a constant message if the database fails', async () => {
    const { create } = await withParent(kind)
    const answers = []
    for (const message of [
      'D1_ERROR: no such table: schedules: SQLITE_ERROR',
      'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    ]) {
      answers.push(await create(kind.json, { environment: { DB: failingDatabase(new Error(message)) } }))
    }
    expect(answers.map(({ status }) => status)).toEqual([500, 500])
    expect(answers[0]?.body).toEqual(answers[1]?.body)
    expect(answers[0]?.body.error).not.toMatch(/schedule|D1|table/)
  })
})

describe.each([PROJECT, AGENT])('the Idempotency-Key of a $parent schedule', (kind) => {
  const otherBody = { ...kind.json, cron: '0 12 * * *' }

  it('returns the first schedule again and creates none', async () => {
    const { create, count } = await withParent(kind)
    const first = await create(kind.json, idempotent('nightly'))
    const again = await create(kind.json, idempotent('nightly'))
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'))
    expect(await count()).toBe(1)
  })

  it('returns the schedule as it is now', async () => {
    const { workspace, create } = await withParent(kind)
    const first = await create(kind.json, idempotent('a'))
    const changed = {
      enabledAt: null,
      lastRunAt: '2026-03-28T09:30:00.000Z',
      nextRunAt: null,
      updatedAt: '2026-03-28T09:30:01.000Z',
    }
    await workspace.change(schedules, first.body.id, changed)
    const again = await create(kind.json, idempotent('a'))
    expect([again.status, again.body]).toEqual([201, { ...first.body, ...changed }])
  })

  it('can be used again after the schedule is deleted', async () => {
    const { workspace, create, count } = await withParent(kind)
    const first = await create(kind.json, idempotent('a'))
    await workspace.remove(schedules, first.body.id)
    const second = await create(otherBody, idempotent('a'))
    expect(second.status).toBe(201)
    expect(await count()).toBe(1)
  })

  it('returns 409 with another body, and does not change the first schedule', async () => {
    const { workspace, create } = await withParent(kind)
    const first = await create(kind.json, idempotent('a'))
    const rows = await workspace.dump('schedules')
    const { status, body } = await create(otherBody, idempotent('a'))
    expect([status, body]).toEqual([409, { error: expect.stringContaining('Idempotency-Key') }])
    expect(await workspace.dump('schedules')).toEqual(rows)
    expect((await create(kind.json, idempotent('a'))).body).toEqual(first.body)
  })

  it('regards another cron expression for the same times as a different body', async () => {
    const { create } = await withParent(kind)
    await create({ ...kind.json, cron: '@daily' }, idempotent('a'))
    expect((await create({ ...kind.json, cron: '0 0 * * *' }, idempotent('a'))).status).toBe(409)
  })

  it('returns the first schedule at the limit', async () => {
    const { create, count } = await withParent(kind)
    const environment = { SCHEDULE_LIMIT: '2' }
    const first = await create(kind.json, { environment, ...idempotent('a') })
    await create(kind.json, { environment })
    const again = await create(kind.json, { environment, ...idempotent('a') })
    expect([again.status, again.body]).toEqual([201, first.body])
    expect((await create(kind.json, { environment, ...idempotent('b') })).status).toBe(409)
    expect(await count()).toBe(2)
  })

  it('returns the first schedule after the parent is archived', async () => {
    const { workspace, id, create } = await withParent(kind)
    const first = await create(kind.json, idempotent('a'))
    await kind.archive(workspace, id)
    const again = await create(kind.json, idempotent('a'))
    expect([again.status, again.body]).toEqual([201, first.body])
    expect((await create(otherBody, idempotent('a'))).status).toBe(409)
    expect((await create(kind.json, idempotent('b'))).status).toBe(409)
  })

  it('can be used again if the first request was refused', async () => {
    const { create } = await withParent(kind)
    expect(
      (await create(otherBody, { environment: { SCHEDULE_LIMIT: '0' }, ...idempotent('a') })).status,
    ).toBe(409)
    expect((await create({ ...kind.json, cron: 'x' }, idempotent('a'))).status).toBe(400)
    expect((await create(kind.json, idempotent('a'))).status).toBe(201)
  })

  it('is shared by the API keys of the organization', async () => {
    const { workspace, create } = await withParent(kind)
    const first = await create(kind.json, idempotent('a'))
    const key = await workspace.addKey({ userId: null })
    expect((await create(kind.json, { key, ...idempotent('a') })).body).toEqual(first.body)
    const unscoped = await workspace.addKey({ scopes: [] })
    expect((await create(kind.json, { key: unscoped, ...idempotent('a') })).status).toBe(400)
  })

  it('is separate for each parent and each organization', async () => {
    const { workspace, key, create } = await withParent(kind)
    const stranger = await withParent(kind)
    const other = await kind.add(workspace)
    const first = await create(kind.json, idempotent('a'))
    const second = await request('POST', kind.pathOf(other), { key, json: otherBody, ...idempotent('a') })
    const third = await stranger.create(otherBody, idempotent('a'))
    expect([first.status, second.status, third.status]).toEqual([201, 201, 201])
    expect(new Set([first.body.id, second.body.id, third.body.id]).size).toBe(3)
  })

  it('is case-sensitive', async () => {
    const { create, count } = await withParent(kind)
    await create(kind.json, idempotent('a'))
    expect((await create(otherBody, idempotent('A'))).status).toBe(201)
    expect(await count()).toBe(2)
  })

  it('has 1 to 255 characters', async () => {
    const { create, count } = await withParent(kind)
    for (const key of ['k', 'k'.repeat(255), '%00', '"', ':']) {
      const first = await create(kind.json, idempotent(key))
      const again = await create(kind.json, idempotent(key))
      expect([first.status, again.body]).toEqual([201, first.body])
    }
    expect(await count()).toBe(5)
    for (const key of ['', 'k'.repeat(256), 'k'.repeat(5000)]) {
      const { status, body } = await create(kind.json, idempotent(key))
      expect([status, body]).toEqual([
        400,
        { error: expect.stringMatching(/^Idempotency-Key is too (short|long); .* 1 to 255 /) },
      ])
    }
    expect(await count()).toBe(5)
  })

  it('creates one schedule for concurrent requests', async () => {
    const { create, count } = await withParent(kind)
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(kind.json, idempotent('a'))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(await count()).toBe(1)
  })
})

/** A parent with one schedule, and requests for it. */
async function withSchedule(kind: typeof PROJECT, json: object = kind.json) {
  const parent = await withParent(kind)
  const { workspace, key, id, create } = parent
  const schedule = running((await create(json)).body)
  const path = `${kind.pathOf(id)}/${schedule.id}`
  const send = (method: string, more: RequestOptions = {}) =>
    request(method, path, { key, ...(method === 'PATCH' && { json: { enabled: false } }), ...more })
  const patch = (change: unknown, more: RequestOptions = {}) =>
    request('PATCH', path, { key, json: change, ...more })
  const list = (query = '', more: RequestOptions = {}) =>
    request('GET', kind.pathOf(id) + query, { key, ...more })
  const rows = () => workspace.dump('schedules')
  return { ...parent, schedule, path, send, patch, list, rows }
}

const METHODS = ['GET', 'PATCH', 'DELETE']

/** The settings that a request leaves out. */
const DEFAULTS = {
  name: null,
  runAt: null,
  payload: null,
  overlap: 'allow',
  maxRunSeconds: null,
  pauseAfterFailures: null,
  note: null,
}

/** A schedule as all operations but its creation by a POST return it. */
const running = (created: ApiResponse['body']) => ({ ...DEFAULTS, ...created, pausedReason: null })

/** The same, as a GET of one returns it if it has had no runs. */
const withoutRuns = (schedule: ApiResponse['body']) => ({
  ...schedule,
  statistics: {
    since: expect.stringMatching(INSTANT),
    runs: 0,
    succeeded: 0,
    failed: 0,
    medianSeconds: null,
  },
})

/** The next instant of the expression in the time zone, as the API returns it. */
const nextOf = (cron: string, timezone: string, after: string) =>
  nextRun(cron, timezone, new Date(after)).toISOString()

describe.each([PROJECT, AGENT])('listing $parent schedules', (kind) => {
  it('returns all schedules, oldest first', async () => {
    const { schedule, create, list } = await withSchedule(kind)
    const second = await create({ ...kind.json, cron: '@daily' })
    const third = await create()
    const { status, body } = await list()
    expect([status, body]).toEqual([
      200,
      { items: [schedule, running(second.body), running(third.body)], nextCursor: null },
    ])
  })

  it('returns an empty list, and the schedules of an archived parent', async () => {
    const { workspace, key, schedule, id, list } = await withSchedule(kind)
    await kind.archive(workspace, id)
    expect((await list()).body).toEqual({ items: [schedule], nextCursor: null })
    const empty = await request('GET', kind.pathOf(await kind.add(workspace)), { key })
    expect([empty.status, empty.body]).toEqual([200, { items: [], nextCursor: null }])
  })

  it('returns pages, of 50 schedules without a limit', async () => {
    const { workspace, key } = await withParent(kind)
    const id = await kind.add(workspace)
    const ids: string[] = []
    for (let index = 0; index < 51; index++) ids.push(await workspace.addSchedule(kind.parent, id))
    ids.sort()
    const page = async (query: string) => {
      const { body } = await request('GET', kind.pathOf(id) + query, { key })
      return [body.items.map((item: { id: string }) => item.id), body.nextCursor]
    }
    expect(await page('')).toEqual([ids.slice(0, 50), ids[49]])
    expect(await page(`?cursor=${ids[49]}`)).toEqual([ids.slice(50), null])
    expect(await page(`?limit=20&cursor=${ids[9]?.toUpperCase()}`)).toEqual([ids.slice(10, 30), ids[29]])
    expect(await page('?limit=50')).toEqual([ids.slice(0, 50), ids[49]])
    expect(await page('?limit=51')).toEqual([ids, null])
    expect(await page('?limit=5000')).toEqual([ids, null])
    await workspace.remove(schedules, ids[9] ?? '')
    expect(await page(`?limit=3&cursor=${ids[9]}`)).toEqual([ids.slice(10, 13), ids[12]])
  })

  it.each([
    ['limit=0', /^limit /],
    ['limit=-1', /^limit /],
    ['limit=1.5', /^limit /],
    ['limit=', /^limit /],
    ['cursor=', /^cursor /],
    ['cursor=7', /^cursor /],
  ])('refuses %s', async (query, sentence) => {
    const { list } = await withSchedule(kind)
    const { status, body } = await list(`?${query}`)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(sentence) }])
  })

  it('returns no schedules of another parent, of the other type or of another organization', async () => {
    const { workspace, key, id, schedule, list } = await withSchedule(kind)
    const other = kind === PROJECT ? AGENT : PROJECT
    await other.add(workspace, id)
    await request('POST', other.pathOf(id), { key, json: other.json })
    await request('POST', kind.pathOf(await kind.add(workspace)), { key, json: kind.json })
    const stranger = await withParent(kind, id)
    await stranger.create()
    expect((await list()).body.items).toEqual([schedule])
  })
})

describe.each([PROJECT, AGENT])('one $parent schedule', (kind) => {
  it('is returned for its id in either case and under the prefix', async () => {
    const { key, id, schedule, path, send } = await withSchedule(kind)
    const { status, body } = await send('GET')
    expect([status, body]).toEqual([200, withoutRuns(schedule)])
    expect((await request('GET', PREFIX + path, { key })).body).toEqual(withoutRuns(schedule))
    const upper = `${kind.pathOf(id.toUpperCase())}/${schedule.id.toUpperCase()}`
    expect((await request('GET', upper, { key })).body).toEqual(withoutRuns(schedule))
  })

  it.each(METHODS)(
    'is not found by %s under another parent, the other type or another organization',
    async (method) => {
      const { workspace, key, id, schedule, rows } = await withSchedule(kind)
      const otherKind = kind === PROJECT ? AGENT : PROJECT
      await otherKind.add(workspace, id)
      const other = await kind.add(workspace)
      const stranger = await withParent(kind, id)
      const before = await rows()
      const json = method === 'PATCH' ? { enabled: false } : undefined
      for (const [path, caller] of [
        [`${kind.pathOf(other)}/${schedule.id}`, key],
        [`${otherKind.pathOf(id)}/${schedule.id}`, key],
        [`${kind.pathOf(id)}/${schedule.id}`, stranger.key],
        [`${kind.pathOf(id)}/${crypto.randomUUID()}`, key],
        [`${kind.pathOf(crypto.randomUUID())}/${schedule.id}`, key],
      ] as const) {
        expect([path, (await request(method, path, { key: caller, json })).status]).toEqual([path, 404])
      }
      const noId = await request(method, `${kind.pathOf(id)}/7`, { key, json })
      expect([noId.status, noId.body]).toEqual([
        400,
        { error: `scheduleId has the wrong format; got "7"; ${ALLOWED_ID}` },
      ])
      expect(await rows()).toEqual(before)
    },
  )

  it('is not found after its parent was deleted, by repeated requests either', async () => {
    const { workspace, id, create, send, patch, list, rows } = await withSchedule(kind)
    await create(kind.json, idempotent('a'))
    const before = await rows()
    await workspace.delete(kind.parent, id)
    const answers = [
      await list(),
      ...(await Promise.all(METHODS.map((method) => send(method)))),
      await patch({ enabled: true }),
      await create(kind.json, idempotent('a')),
      await create(kind.json, idempotent('b')),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404])
    expect(await rows()).toEqual(before)
  })

  it('can be read, but not changed or deleted, while its parent is archived', async () => {
    const { workspace, id, schedule, send, patch, rows } = await withSchedule(kind)
    await kind.archive(workspace, id)
    const before = await rows()
    expect((await send('GET')).body).toEqual(withoutRuns(schedule))
    for (const answer of [
      await patch({ enabled: false }),
      await patch({ enabled: true }),
      await patch({ ...kind.json, cron: '@daily' }),
      await send('DELETE'),
    ]) {
      expect([answer.status, answer.body]).toEqual([409, { error: expect.stringContaining('archived') }])
    }
    expect(await rows()).toEqual(before)
  })
})

describe('an API key that is restricted to projects', () => {
  it('gets 403 for the schedules of other projects', async () => {
    const { workspace, id, list, send, patch, rows } = await withSchedule(PROJECT)
    const other = await workspace.addProject()
    const before = await rows()
    for (const projectIds of [[], [other]]) {
      const key = await workspace.addKey({ projectIds })
      for (const answer of [
        await list('', { key }),
        ...(await Promise.all(METHODS.map((method) => send(method, { key })))),
        await patch({ enabled: true }, { key }),
      ]) {
        expect(answer.status).toBe(403)
      }
      const missing = `${PROJECT.pathOf('nowhere')}/${crypto.randomUUID()}`
      expect((await request('GET', missing, { key })).status).toBe(404)
    }
    const archived = await workspace.addKey({ projectIds: [other] })
    await workspace.archiveProject(id)
    expect((await send('DELETE', { key: archived })).status).toBe(403)
    expect(await rows()).toEqual(before)
  })

  it('has access to the schedules of its projects and of all agents', async () => {
    for (const kind of [PROJECT, AGENT]) {
      const { workspace, id, list, patch, send } = await withSchedule(kind)
      const key = await workspace.addKey({ projectIds: kind === PROJECT ? [id] : [] })
      const statuses = []
      for (const answer of [list('', { key }), send('GET', { key }), patch({ enabled: true }, { key })]) {
        statuses.push((await answer).status)
      }
      expect([...statuses, (await send('DELETE', { key })).status]).toEqual([200, 200, 200, 200])
    }
  })
})

describe.each([PROJECT, AGENT])('updating $parent schedules', (kind) => {
  /** All combinations of cron, time zone and enabled, except the empty one. */
  const changes = [undefined, '15 6 * * *']
    .flatMap((cron) =>
      (kind === PROJECT ? [undefined, 'Asia/Kolkata'] : [undefined]).map((timezone) => ({ cron, timezone })),
    )
    .flatMap((change) => [undefined, true, false].map((enabled) => ({ ...change, enabled })))
    .map((change) => JSON.parse(JSON.stringify(change)))
    .filter((change) => Object.keys(change).length > 0)

  it.each(changes)('changes only the fields of %j', async (change) => {
    for (const isPaused of [false, true]) {
      const { workspace, schedule, create, patch, send, rows } = await withSchedule(kind)
      await create()
      const ran = { lastRunAt: '2026-03-28T09:30:00.000Z', updatedAt: '2026-03-28T09:30:01.000Z' }
      const since = { enabledAt: '2026-03-27T00:00:00.000Z', nextRunAt: '2026-03-29T09:30:00.000Z' }
      const paused = { enabledAt: null, nextRunAt: null }
      const stored = { ...ran, ...(isPaused ? paused : since) }
      await workspace.change(schedules, schedule.id, stored)
      const before = await rows()

      const from = now()
      const database = watchedDatabase()
      const { status, headers, body } = await patch(change, { environment: { DB: database.DB } })
      const revision = headers.get('ETag')?.slice(1, -1)
      expect(body.updatedAt >= from && body.updatedAt <= now()).toBe(true)
      const cron = change.cron ?? schedule.cron
      const timezone = change.timezone ?? 'UTC'
      const isEnabled = change.enabled ?? !isPaused
      const goesOn = !isPaused && change.cron === undefined && change.timezone === undefined
      const minuteOfDay = (change.cron ? 6 * 60 + 15 : 9 * 60 + 30) - (change.timezone ? 5 * 60 + 30 : 0)
      const times = {
        ...ran,
        enabledAt: isEnabled ? (isPaused ? body.updatedAt : since.enabledAt) : null,
        nextRunAt: isEnabled
          ? goesOn
            ? since.nextRunAt
            : nextDaily(body.updatedAt, minuteOfDay * MINUTE_MS)
          : null,
        updatedAt: body.updatedAt,
      }
      const zone = kind === PROJECT ? { timezone } : {}
      expect([status, body]).toEqual([200, { ...schedule, cron, ...zone, ...times }])
      expect((await send('GET')).body).toEqual(withoutRuns(body))
      expect(await rows()).toEqual(
        before.map((row) => (row.id === schedule.id ? { ...row, cron, timezone, ...times, revision } : row)),
      )
      const isAllSaid = change.cron !== undefined && (kind === AGENT || change.timezone !== undefined)
      expect(database.calls).toBe(change.enabled === false || isAllSaid ? 1 : 2)
    }
  })

  const zoneRefusals: [unknown, RegExp][] =
    kind === PROJECT
      ? [
          [{ timezone: 'PST' }, /^timezone is not an IANA time zone;/],
          [{ timezone: '+02:00', enabled: false }, /^timezone is not an IANA time zone;/],
          [{ timezone: '' }, /^timezone /],
          [{ timezone: null }, /^timezone /],
        ]
      : [
          [{ timezone: 'UTC' }, /^timezone is not a known property;/],
          [{ cron: '@daily', timezone: 'Asia/Kolkata' }, /^timezone is not a known property;/],
        ]

  it.each<[unknown, RegExp]>([
    [{}, /^body has no properties; allowed: at least one of cron, .*name, .*enabled\.$/],
    [[], /^body is not an object;/],
    [null, /^body is not an object;/],
    [{ enabled: null }, /^enabled /],
    [{ enabled: 'false' }, /^enabled /],
    [{ enabled: 0 }, /^enabled /],
    [{ cron: null }, /^cron /],
    [{ cron: '' }, /^cron /],
    [{ cron: '* * * *', enabled: false }, /^cron does not have five fields;/],
    [{ cron: '0 0 30 2 *' }, /^cron never fires;/],
    [{ extra: 1 }, /^extra is not a known property;/],
    [{ enabled: false, enabledAt: null }, /^enabledAt is not a known property;/],
    [{ enabled: true, nextRunAt: '2026-03-29T01:00:00.000Z' }, /^nextRunAt is not a known property;/],
    [{ id: crypto.randomUUID() }, /^id is not a known property;/],
    ...zoneRefusals,
  ])('refuses %j', async (json, sentence) => {
    const { patch, rows } = await withSchedule(kind)
    const before = await rows()
    const { status, body } = await patch(json)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(sentence) }])
    expect(await rows()).toEqual(before)
  })

  it('allows cron expressions of the same length as for a new schedule', async () => {
    const { patch } = await withSchedule(kind)
    const max = kind === PROJECT ? 255 : 500
    expect((await patch({ cron: cronOfLength(max) })).body.cron).toHaveLength(max)
    expect((await patch({ cron: cronOfLength(max + 1) })).status).toBe(400)
  })

  const zoneRaces: [object, object][] =
    kind === PROJECT
      ? [
          [{ cron: '15 6 * * *' }, { timezone: 'Asia/Tokyo' }],
          [{ cron: '15 6 * * *' }, { cron: '45 20 * * *', timezone: 'Asia/Tokyo' }],
          [{ timezone: 'Asia/Kolkata' }, { cron: '45 20 * * *' }],
          [{ timezone: 'Asia/Kolkata' }, { timezone: 'Asia/Tokyo' }],
          [{ timezone: 'Asia/Kolkata' }, { enabled: false }],
          [{ enabled: true }, { timezone: 'Asia/Tokyo' }],
          [{ enabled: true, timezone: 'Asia/Kolkata' }, { cron: '45 20 * * *' }],
        ]
      : []

  it.each<[object, object]>([
    [{ cron: '15 6 * * *' }, { cron: '45 20 * * *' }],
    [{ cron: '15 6 * * *' }, { enabled: false }],
    [{ enabled: true }, { cron: '45 20 * * *' }],
    [{ enabled: true }, { enabled: false }],
    ...zoneRaces,
  ])('with %j is complete or refused if a concurrent request updates with %j', async (change, meanwhile) => {
    const { patch, send, rows } = await withSchedule(kind)
    let other: unknown
    const DB = interruptedDatabase(async () => {
      other = (await patch(meanwhile)).body
    })
    const answer = await patch(change, { environment: { DB } })
    expect([200, 409]).toContain(answer.status)
    const kept = (await send('GET')).body
    expect(kept).toEqual(withoutRuns(answer.status === 200 ? answer.body : (other ?? kept)))
    const [row] = await rows()
    const { cron, timezone, enabledAt, nextRunAt, updatedAt } = row as Record<string, string>
    expect(nextRunAt).toBe(enabledAt && nextOf(cron ?? '', timezone ?? '', updatedAt ?? ''))
  })

  it.each<[string, number, (its: Awaited<ReturnType<typeof withSchedule>>) => Promise<unknown>]>([
    ['deletes it', 404, ({ send }) => send('DELETE')],
    ['deletes the parent', 404, ({ workspace, id }) => workspace.delete(kind.parent, id)],
    ['archives the parent', 409, ({ workspace, id }) => kind.archive(workspace, id)],
  ])('returns an error if a concurrent request %s', async (_, status, act) => {
    const its = await withSchedule(kind)
    let after: unknown
    const DB = interruptedDatabase(async () => {
      await act(its)
      after = await its.rows()
    })
    expect((await its.patch({ enabled: true }, { environment: { DB } })).status).toBe(status)
    expect(await its.rows()).toEqual(after)
  })

  it('is refused if the API key is revoked at the same time', async () => {
    const { workspace, send, patch, rows } = await withSchedule(kind)
    const { id, token } = await workspace.addKeyWithId()
    await send('GET', { key: token })
    const before = await rows()
    const DB = interruptedDatabase(() => workspace.revokeKey(id))
    expect((await patch({ enabled: true }, { key: token, environment: { DB } })).status).toBe(401)
    expect(await rows()).toEqual(before)
  })

  it('keeps expression and next run consistent for concurrent requests', async () => {
    const { patch, rows } = await withSchedule(kind)
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => {
        const cron = `${index} ${index} * * *`
        return patch([{ cron }, { enabled: index % 2 === 0 }, { enabled: true, cron }][index % 3])
      }),
    )
    for (const { status } of answers) expect([200, 409]).toContain(status)
    const [row] = await rows()
    const { cron, timezone, enabledAt, nextRunAt, updatedAt } = row as Record<string, string>
    expect(nextRunAt).toBe(enabledAt && nextOf(cron ?? '', timezone ?? '', updatedAt ?? ''))
  })
})

/** The test database; `happen` runs between the first trip and the second. */
function interruptedDatabase(happen: () => Promise<unknown>): D1Database {
  let trips = 0
  return databaseWith(async (statements) => {
    if (++trips === 2) await happen()
    return env.DB.batch(statements)
  })
}

describe.each([PROJECT, AGENT])('deleting $parent schedules', (kind) => {
  it('deletes only this schedule, paused or not, and returns 404 afterwards', async () => {
    const { key, id, schedule, create, patch, send, list } = await withSchedule(kind)
    const other = running((await create()).body)
    await patch({ enabled: false })
    const { status, body } = await send('DELETE')
    expect([status, body]).toEqual([200, { deleted: true, id: schedule.id }])
    expect((await list()).body.items).toEqual([other])
    for (const method of METHODS) expect((await send(method)).status).toBe(404)
    const upper = `${kind.pathOf(id)}/${other.id.toUpperCase()}`
    expect((await request('DELETE', upper, { key })).body).toEqual({ deleted: true, id: other.id })
  })

  it('allows another schedule at the limit, and its Idempotency-Key to be used again', async () => {
    const { create, list, key, id } = await withSchedule(kind)
    const environment = { SCHEDULE_LIMIT: '2' }
    const first = await create(kind.json, idempotent('a'))
    expect((await create(kind.json, { environment })).status).toBe(409)
    await request('DELETE', `${kind.pathOf(id)}/${first.body.id}`, { key })
    const second = await create({ ...kind.json, cron: '@daily' }, { environment, ...idempotent('a') })
    expect([second.status, second.body.id !== first.body.id]).toEqual([201, true])
    expect((await list()).body.items).toHaveLength(2)
  })

  it('succeeds once for concurrent requests', async () => {
    const { send } = await withSchedule(kind)
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('DELETE')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)])
  })
})

/** A far time, and one that has passed. */
const FAR = '2999-01-01T00:00:00.000Z'
const PAST = '2020-01-01T00:00:00.000Z'

/** Settings that all differ from the defaults. */
const SETTINGS = {
  name: 'Nightly build',
  payload: { branch: 'main', steps: [1, null] },
  overlap: 'skip',
  maxRunSeconds: 3600,
  pauseAfterFailures: 3,
  note: 'Ask Ada.',
}

/** A parent, and requests for a schedule of it that does not exist yet. */
async function withId(kind: typeof PROJECT, scheduleId = newUuid()) {
  const parent = await withParent(kind)
  const { workspace, key, id } = parent
  const path = `${kind.pathOf(id)}/${scheduleId}`
  const send = (method: string, more: RequestOptions = {}) => request(method, path, { key, ...more })
  const put = (json: unknown = kind.json, more: RequestOptions = {}) => send('PUT', { json, ...more })
  const patch = (json: unknown, more: RequestOptions = {}) => send('PATCH', { json, ...more })
  const row = async () => (await workspace.dump('schedules')).find((each) => each.id === scheduleId)
  const events = async () => (await workspace.dump('auditEvents')).length
  return { ...parent, scheduleId, path, send, put, patch, row, events }
}

/** As if the service had paused it. */
const PAUSED = {
  enabledAt: null,
  nextRunAt: null,
  pausedReason: '3 runs in a row failed. The last failure (task): Tests failed.',
}

describe.each([PROJECT, AGENT])('putting $parent schedules', (kind) => {
  const zone = kind === PROJECT ? { timezone: 'Asia/Kolkata' } : {}
  const timezone = kind === PROJECT ? { timezone: 'UTC' } : {}

  it('creates it under the ID of the request, with defaults for what is left out', async () => {
    const { id, scheduleId, path, put, send, row } = await withId(kind)
    const before = now()
    const { status, headers, body } = await put()
    expect([status, headers.get('Location')]).toEqual([201, path])
    expect(body).toEqual({
      id: scheduleId,
      [kind.idName]: id,
      ...kind.json,
      ...DEFAULTS,
      enabledAt: body.createdAt,
      lastRunAt: null,
      nextRunAt: nextDaily(body.createdAt, (9 * 60 + 30) * MINUTE_MS),
      pausedReason: null,
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: body.createdAt,
    })
    expect(body.createdAt >= before && body.createdAt <= now()).toBe(true)
    const read = await send('GET')
    expect([read.status, read.body]).toEqual([200, withoutRuns(body)])
    expect(read.headers.get('ETag')).toBe(headers.get('ETag'))
    expect(await row()).toMatchObject({ parentType: kind.parent, parentId: id, timezone: 'UTC' })
  })

  it('creates it with all settings, which every response has', async () => {
    const { id, key, put, send } = await withId(kind)
    const json = { cron: '@daily', ...zone, ...SETTINGS }
    const { status, body } = await put(json)
    expect([status, body]).toEqual([201, expect.objectContaining({ ...json, runAt: null })])
    expect((await send('GET')).body).toEqual(withoutRuns(body))
    expect((await request('GET', kind.pathOf(id), { key })).body.items).toEqual([body])
  })

  it('returns ID and Location in lower case and under the base path', async () => {
    const { key, path, scheduleId } = await withId(kind)
    const upper = PREFIX + path.replace(scheduleId, scheduleId.toUpperCase())
    const { status, headers, body } = await request('PUT', upper, { key, json: kind.json })
    expect([status, body.id, headers.get('Location')]).toEqual([201, scheduleId, PREFIX + path])
    expect((await request('PUT', path, { key, json: kind.json })).status).toBe(200)
  })

  it.each<[string, object, object]>([
    ['defaults', kind.json, kind.json],
    [
      'defaults that are sent',
      kind.json,
      {
        ...kind.json,
        name: null,
        payload: null,
        overlap: 'allow',
        maxRunSeconds: null,
        pauseAfterFailures: null,
        note: null,
        enabled: true,
      },
    ],
    ['all settings', { ...kind.json, ...SETTINGS }, { ...SETTINGS, ...kind.json }],
    ['a paused schedule', { ...kind.json, enabled: false }, { ...kind.json, enabled: false }],
    ['one time, in another form', { runAt: FAR }, { runAt: '2999-01-01t01:00:00.0009+01:00' }],
    ['a payload of false', { ...kind.json, payload: false }, { ...kind.json, payload: false }],
    ['a payload of 1', { ...kind.json, payload: 1 }, { ...kind.json, payload: 1.0 }],
  ])('changes nothing if it is repeated: %s', async (_, first, again) => {
    const { put, row, events } = await withId(kind)
    const created = await put(first)
    const [before, count] = [await row(), await events()]
    for (let time = 0; time < 2; time++) {
      const { status, headers, body } = await put(again)
      expect([status, headers.get('Location'), body]).toEqual([200, null, created.body])
      expect(headers.get('ETag')).toBe(created.headers.get('ETag'))
    }
    expect([await row(), await events(), count]).toEqual([before, count, 1])
  })

  it('sets what is left out to its default, and keeps when it was enabled and ran', async () => {
    const { workspace, scheduleId, put, row, events } = await withId(kind)
    const created = await put({ ...kind.json, ...SETTINGS })
    const lastRunAt = '2026-03-28T09:30:00.000Z'
    const enabledAt = '2026-03-27T00:00:00.000Z'
    await workspace.change(schedules, scheduleId, { lastRunAt, enabledAt })
    const { status, headers, body } = await put()
    expect([status, headers.get('Location')]).toEqual([200, null])
    expect(headers.get('ETag')).not.toBe(created.headers.get('ETag'))
    const { updatedAt } = body
    expect(body).toEqual({ ...created.body, ...DEFAULTS, enabledAt, lastRunAt, updatedAt })
    expect(updatedAt >= created.body.updatedAt).toBe(true)
    expect([(await row())?.revision, await events()]).toEqual([headers.get('ETag')?.slice(1, -1), 2])
  })

  it.each<[string, unknown]>([
    ['name', 'Other'],
    ['payload', { branch: 'next', steps: [1, null] }],
    ['payload', null],
    ['overlap', 'allow'],
    ['maxRunSeconds', 60],
    ['pauseAfterFailures', 100],
    ['note', 'Ask Grace.'],
  ])('changes %s alone to %j, and still fires what is due', async (name, value) => {
    const { workspace, scheduleId, put, row, events } = await withId(kind)
    const json = { ...kind.json, ...SETTINGS }
    await put(json)
    // It is due, and the tick has not fired it yet.
    await workspace.change(schedules, scheduleId, { nextRunAt: PAST })
    const before = await row()
    const { status, body } = await put({ ...json, [name]: value })
    expect([status, body[name], body.nextRunAt]).toEqual([200, value, PAST])
    const { revision, updatedAt } = (await row()) ?? {}
    const stored = name === 'payload' ? value && JSON.stringify(value) : value
    expect(await row()).toEqual({ ...before, [name]: stored, revision, updatedAt })
    expect([revision === before?.revision, await events()]).toEqual([false, 2])
  })

  it('computes the next run from now if the times change', async () => {
    const { workspace, scheduleId, put } = await withId(kind)
    await put()
    const changes = [{ cron: '15 6 * * *' }, ...(kind === PROJECT ? [{ timezone: 'Asia/Kolkata' }] : [])]
    for (const change of changes) {
      await workspace.change(schedules, scheduleId, { nextRunAt: PAST })
      const json = { ...kind.json, ...change }
      const { body } = await put(json)
      expect(body.nextRunAt).toBe(nextOf(json.cron, json.timezone ?? 'UTC', body.updatedAt))
    }
  })

  it('pauses it, and resumes what a request paused', async () => {
    for (const pause of [{ enabled: false }, undefined]) {
      const { workspace, scheduleId, put, patch, row } = await withId(kind)
      await put()
      const paused = await (pause ? put({ ...kind.json, ...pause }) : patch({ enabled: false }))
      expect(paused.body).toMatchObject({ enabledAt: null, nextRunAt: null, pausedReason: null })
      await workspace.change(schedules, scheduleId, { updatedAt: PAST })
      const { status, body } = await put()
      expect([status, body.enabledAt, body.updatedAt > PAST]).toEqual([200, body.updatedAt, true])
      expect(body.nextRunAt).toBe(nextOf(kind.json.cron, 'UTC', body.updatedAt))
      expect(await row()).toMatchObject({ pausedReason: null })
    }
  })

  it('creates it paused', async () => {
    const { put } = await withId(kind)
    const { status, body } = await put({ ...kind.json, enabled: false })
    expect([status, body.enabledAt, body.nextRunAt, body.pausedReason]).toEqual([201, null, null, null])
  })

  it('does not resume what the service paused; a PATCH does', async () => {
    const { workspace, scheduleId, put, patch, row, events } = await withId(kind)
    const { headers } = await put()
    await workspace.change(schedules, scheduleId, PAUSED)
    const [before, count] = [await row(), await events()]
    for (const json of [kind.json, { ...kind.json, enabled: true }, { ...kind.json, enabled: false }]) {
      const answer = await put(json)
      expect([answer.status, answer.body]).toEqual([200, expect.objectContaining(PAUSED)])
      expect(answer.headers.get('ETag')).toBe(headers.get('ETag'))
    }
    expect([await row(), await events()]).toEqual([before, count])
    for (const json of [
      { ...kind.json, name: 'New' },
      { ...kind.json, cron: '* * * * *', enabled: true },
      { runAt: FAR },
      kind.json,
    ]) {
      expect((await put(json)).body).toMatchObject(PAUSED)
    }
    expect((await patch({ enabled: false })).body).toMatchObject(PAUSED)
    expect((await put()).body).toMatchObject(PAUSED)
    const { body } = await patch({ enabled: true })
    expect(body).toMatchObject({ enabledAt: body.updatedAt, pausedReason: null })
    expect(body.nextRunAt).toBe(nextOf(kind.json.cron, 'UTC', body.updatedAt))
    expect((await put()).body).toEqual(body)
  })

  it('replaces a schedule that a POST created, whose Idempotency-Key still returns it', async () => {
    const { key, id, create } = await withParent(kind)
    const created = await create(kind.json, idempotent('a'))
    const path = `${kind.pathOf(id)}/${created.body.id}`
    const same = await request('PUT', path, { key, json: kind.json })
    expect([same.status, same.body]).toEqual([200, running(created.body)])
    expect(same.headers.get('ETag')).toBe(created.headers.get('ETag'))
    const { body } = await request('PUT', path, { key, json: { ...kind.json, ...SETTINGS } })
    const again = await create(kind.json, idempotent('a'))
    expect([again.status, again.body]).toEqual([201, { ...created.body, updatedAt: body.updatedAt }])
  })

  const own = kind === PROJECT ? { timezone: 'UTC' } : {}
  const timezoneRefusals: [object, RegExp][] =
    kind === PROJECT
      ? [
          [{ cron: '@daily' }, /^body has a cron expression and no timezone;/],
          [{ cron: '@daily', timezone: null }, /^timezone is not a string;/],
          [{ runAt: FAR, timezone: 'PST' }, /^timezone is not an IANA time zone;/],
        ]
      : [[{ cron: '@daily', timezone: 'UTC' }, /^timezone is not a known property;/]]

  it.each<[unknown, RegExp]>([
    [{}, /^body has neither cron nor runAt;/],
    [{ ...own, cron: '@daily', runAt: FAR }, /^body has both cron and runAt;/],
    [{ ...own, cron: null }, /^cron is not a string;/],
    [{ runAt: null }, /^runAt is not a string;/],
    [{ runAt: '2999-01-01' }, /^runAt is not an RFC 3339 time;/],
    [{ runAt: '2999-01-01T00:00:00' }, /^runAt has no UTC offset;/],
    [{ runAt: 32503680000 }, /^runAt is not a string;/],
    [{ runAt: PAST }, /^runAt is in the past; allowed: a later time, or the runAt that the schedule has\.$/],
    [{ ...kind.json, cron: 'x' }, /^cron does not have five fields;/],
    [{ ...kind.json, overlap: 'skip' }, /^body has overlap "skip" and no maxRunSeconds;/],
    [
      { ...kind.json, overlap: 'skip', maxRunSeconds: null },
      /^body has overlap "skip" and no maxRunSeconds;/,
    ],
    [{ ...kind.json, overlap: 'queue' }, /^overlap is not one of the allowed values; got "queue";/],
    [{ ...kind.json, overlap: null }, /^overlap /],
    [{ ...kind.json, maxRunSeconds: 59 }, /^maxRunSeconds is too small; got 59;.* 60 to 604800 \(7 days\)/],
    [{ ...kind.json, maxRunSeconds: 604_801 }, /^maxRunSeconds is too large; got 604801;/],
    [{ ...kind.json, maxRunSeconds: 60.5 }, /^maxRunSeconds is not a whole number; got 60.5;/],
    [{ ...kind.json, maxRunSeconds: '60' }, /^maxRunSeconds is not a number; got "60";/],
    [{ ...kind.json, pauseAfterFailures: 0 }, /^pauseAfterFailures is too small; got 0;.* 1 to 100\.$/],
    [{ ...kind.json, pauseAfterFailures: 101 }, /^pauseAfterFailures is too large; got 101;/],
    [{ ...kind.json, enabled: null }, /^enabled is not a boolean; got null;/],
    [{ ...kind.json, enabled: 1 }, /^enabled is not a boolean; got 1;/],
    [{ ...kind.json, name: '' }, /^name is too short; got 0 characters; allowed: 1 to 255 characters/],
    [{ ...kind.json, name: 5 }, /^name is not a string;/],
    [{ ...kind.json, note: '' }, /^note is too short; got 0 characters; allowed: 1 to 1000 characters/],
    [{ ...kind.json, id: crypto.randomUUID() }, /^id is not a known property;/],
    [{ ...kind.json, enabledAt: null }, /^enabledAt is not a known property;/],
    [{ ...kind.json, pausedReason: null }, /^pausedReason is not a known property;/],
    [[], /^body is not an object;/],
    [null, /^body is not an object;/],
    ...timezoneRefusals,
  ])('refuses %j', async (json, sentence) => {
    const { put, count, events } = await withId(kind)
    const { status, headers, body } = await put(json)
    expect([status, headers.get('Error-Code'), body]).toEqual([
      400,
      'invalid_input',
      { error: expect.stringMatching(sentence) },
    ])
    expect([await count(), await events()]).toEqual([0, 0])
  })

  it.each(['__proto__', 'constructor', 'toString'])('refuses the property %s', async (name) => {
    const { put, count } = await withId(kind)
    const body = `${JSON.stringify(kind.json).slice(0, -1)},"${name}":{"name":"x"}}`
    const headers = { 'Content-Type': 'application/json' }
    const answer = await put(undefined, { json: undefined, body, headers })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.stringMatching(`^${name} is not a known property; known: `),
    ])
    expect(await count()).toBe(0)
  })

  it('accepts the largest and the smallest numbers', async () => {
    const { put } = await withId(kind)
    for (const json of [
      { maxRunSeconds: 60, pauseAfterFailures: 1 },
      { maxRunSeconds: 604_800, pauseAfterFailures: 100 },
    ]) {
      expect((await put({ ...kind.json, ...json })).body).toMatchObject(json)
    }
  })

  it.each([
    ['name', 255],
    ['note', 1000],
  ])('allows %s up to %i characters, as code points', async (name, max) => {
    const { put, patch, row } = await withId(kind)
    for (const value of [
      '\u{1f550}'.repeat(max),
      'é'.repeat(max),
      'e\u0301'.repeat(Math.floor(max / 2)),
      '\t',
    ]) {
      expect((await put({ ...kind.json, [name]: value })).body[name]).toBe(value)
      expect((await patch({ [name]: value })).body[name]).toBe(value)
    }
    const before = await row()
    for (const [value, sentence] of [
      ['\u{1f550}'.repeat(max + 1), `^${name} is too long; got ${max + 1} characters; allowed: 1 to ${max} `],
      ['x'.repeat(5 * max), `^${name} is too long; got more than ${max} characters; allowed: 1 to ${max} `],
      ['a\0', `^${name} has a NUL character;`],
      ['a\ud800', `^${name} has a lone surrogate;`],
    ] as const) {
      for (const answer of [await put({ ...kind.json, [name]: value }), await patch({ [name]: value })]) {
        expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(sentence)])
      }
    }
    expect(await row()).toEqual(before)
  })

  it('gives back the payload as it was, in every response', async () => {
    const { id, key, put, patch, send } = await withId(kind)
    await put()
    const headers = { 'Content-Type': 'application/json' }
    for (const text of [
      ...['true', 'false', '0', '1.5', '-1e-7', '5e-324', '1.7976931348623157e308', '9007199254740991'],
      ...['""', '"null"', '"{}"', '[]', '{}', '[null]', '[[],{}]', '{"":{"":[]}}'],
      ...['"\\u0000"', '{"a\\u0000b":"c\\u0000"}', '"\\ud800"', '{"\\udfff":"\\ud83d"}', '"\\u2028\\ufeff"'],
      ...['"\u{1f469}\u200d\u{1f680}"', '"e\u0301é"', '"\\"\\\\/\\n"', '"\' OR 1=1 --"', '"$.name"'],
      ...['{"__proto__":{"a":1}}', '{"constructor":1,"toString":2,"toJSON":"x","valueOf":null}'],
      ...['[{"__proto__":null,"hasOwnProperty":true}]', '{"b":1,"a":2,"10":3,"9":4}'],
      `${'['.repeat(60)}${']'.repeat(60)}`,
      `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`,
    ]) {
      const expected = JSON.stringify(JSON.parse(text))
      const body = `${JSON.stringify(kind.json).slice(0, -1)}, "payload" : ${text} }`
      const made = await put(undefined, { json: undefined, body, headers })
      expect([text, made.status, JSON.stringify(made.body.payload)]).toEqual([text, 200, expected])
      await patch({ payload: null })
      const changed = await patch(undefined, { json: undefined, body: `{"payload":${text}}`, headers })
      expect([text, changed.status, JSON.stringify(changed.body.payload)]).toEqual([text, 200, expected])
      expect(JSON.stringify((await send('GET')).body.payload)).toBe(expected)
      const { items } = (await request('GET', kind.pathOf(id), { key })).body
      expect(JSON.stringify(items[0].payload)).toBe(expected)
      // It is what the PATCH stored, so the PUT changes nothing.
      const again = await put(undefined, { json: undefined, body, headers })
      expect(again.headers.get('ETag')).toBe(changed.headers.get('ETag'))
    }
  })

  it('accepts any JSON as payload', async () => {
    const { put, send } = await withId(kind)
    const json = fc.json({ maxDepth: 6, stringUnit: 'binary' }).filter((text) => !text.includes('e+'))
    await fc.assert(
      fc.asyncProperty(json, async (text) => {
        const payload: unknown = JSON.parse(text)
        await put({ ...kind.json, payload })
        expect(JSON.stringify((await send('GET')).body.payload)).toBe(JSON.stringify(payload))
      }),
      { numRuns: sized(30, 300), seed: 20261122 },
    )
  })

  it('allows payloads of up to 16 KiB of JSON without white space', async () => {
    const { put, patch, row } = await withId(kind)
    const most = 16 * 1024
    const ofBytes = (unit: string, bytes: number) =>
      unit.repeat(Math.floor((bytes - 2) / Buffer.byteLength(unit)))
    for (const payload of [
      'x'.repeat(most - 2),
      ofBytes('é', most),
      // Escaped, each has six bytes: 16,380 and 4 more.
      `${'\0'.repeat(2730)}xx`,
      `${'\ud800'.repeat(2730)}xx`,
      Array.from({ length: most / 2 - 2 }, () => 0).concat(10),
    ]) {
      expect(Buffer.byteLength(JSON.stringify(payload))).toBe(most)
      expect((await put({ ...kind.json, payload })).body.payload).toEqual(payload)
      expect((await patch({ payload })).body.payload).toEqual(payload)
      const before = await row()
      const tooLarge = typeof payload === 'string' ? `${payload}x` : [...payload.slice(0, -1), 100]
      for (const answer of [
        await put({ ...kind.json, payload: tooLarge }),
        await patch({ payload: tooLarge }),
      ]) {
        expect([answer.status, answer.body]).toEqual([
          400,
          { error: 'payload is too large; got 16385 bytes; allowed: JSON of up to 16 KiB.' },
        ])
      }
      expect(await row()).toEqual(before)
    }
    const headers = { 'Content-Type': 'application/json' }
    const spaced = `{"payload":[${' '.repeat(20_000)}1]}`
    expect((await patch(undefined, { json: undefined, body: spaced, headers })).body.payload).toEqual([1])
  })

  it('refuses payloads that are too deep, and numbers that are too large', async () => {
    const { put, patch, row } = await withId(kind)
    await put()
    const before = await row()
    const headers = { 'Content-Type': 'application/json' }
    const sent = (payload: string) => `${JSON.stringify(kind.json).slice(0, -1)},"payload":${payload}}`
    for (const [payload, sentence] of [
      ['1e309', /^payload has a number that is too large;.* allowed: numbers up to 1\.79e308\.$/],
      ['{"a":[-1e999]}', /^payload has a number that is too large;/],
      [`${'['.repeat(64)}${']'.repeat(64)}`, /^body .*64/],
      [`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`, /^body .*64/],
    ] as const) {
      for (const answer of [
        await put(undefined, { json: undefined, body: sent(payload), headers }),
        await patch(undefined, { json: undefined, body: `{"payload":${payload}}`, headers }),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(sentence)])
      }
    }
    expect(await row()).toEqual(before)
    const deepest = `${'['.repeat(63)}${']'.repeat(63)}`
    const { body } = await put(undefined, { json: undefined, body: sent(deepest), headers })
    expect(JSON.stringify(body.payload)).toBe(deepest)
  })

  it('is refused for the ID of another parent, of either type, and allowed in another organization', async () => {
    const { workspace, key, id, scheduleId, path, put } = await withId(kind)
    const otherKind = kind === PROJECT ? AGENT : PROJECT
    await otherKind.add(workspace, id)
    await put()
    const before = await workspace.dump('schedules')
    for (const [other, parentId] of [
      [kind, await kind.add(workspace)],
      [otherKind, await otherKind.add(workspace)],
      [otherKind, id],
    ] as const) {
      const json = { ...other.json, name: 'Theirs' }
      const answer = await request('PUT', `${other.pathOf(parentId)}/${scheduleId}`, { key, json })
      expect([answer.status, answer.headers.get('Error-Code'), answer.body.error]).toEqual([
        409,
        'schedule_id_taken',
        'Another project or agent of the organization has a schedule with this ID. Use another ID.',
      ])
    }
    expect(await workspace.dump('schedules')).toEqual(before)
    const stranger = await withParent(kind, id)
    expect((await request('PUT', path, { key: stranger.key, json: kind.json })).status).toBe(201)
    expect(await workspace.dump('schedules')).toEqual(before)
  })

  it('creates one of simultaneous requests for one ID under two parents', async () => {
    const { workspace, key, scheduleId, put, count } = await withId(kind)
    const other = `${AGENT.pathOf(await workspace.addAgent())}/${scheduleId}`
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => [
        put({ ...kind.json, name: `${index}` }),
        request('PUT', other, { key, json: { ...AGENT.json, name: `${index}` } }),
      ]).flat(),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(6)
    expect(await count()).toBe(1)
  })

  it('stores one of simultaneous bodies as a whole', async () => {
    const { put, send, events } = await withId(kind)
    const bodies = Array.from({ length: 12 }, (_, index) => ({
      ...(index % 3 === 0
        ? { runAt: `2999-01-01T00:00:${10 + index}.000Z` }
        : { ...kind.json, cron: `${index} 1 * * *` }),
      name: `Name ${index}`,
      payload: { index },
      note: `Note ${index}`,
    }))
    const answers = await Promise.all(bodies.map((json) => put(json)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201])
    for (const [index, { body }] of answers.entries()) expect(body).toMatchObject(bodies[index] as object)
    const { statistics: _, ...kept } = (await send('GET')).body
    expect(answers.map(({ body }) => body)).toContainEqual(kept)
    const next = kept.runAt ?? nextOf(kept.cron, 'UTC', kept.updatedAt)
    expect([kept.nextRunAt, await events()]).toEqual([next, 12])
  })

  it('is 410 after the deletion, before and after the purge, under every parent', async () => {
    const { workspace, key, scheduleId, put, send, count } = await withId(kind)
    const other = `${kind.pathOf(await kind.add(workspace))}/${scheduleId}`
    await put()
    expect((await send('DELETE')).status).toBe(200)
    for (const isPurged of [false, true]) {
      if (isPurged) await tick(env, new Date())
      for (const answer of [
        await put(),
        await put({ ...kind.json, name: 'New' }),
        await request('PUT', other, { key, json: kind.json }),
      ]) {
        expect([answer.status, answer.headers.get('Error-Code'), answer.body.error]).toEqual([
          410,
          'schedule_deleted',
          'The schedule was deleted. Its ID is never used again.',
        ])
      }
    }
    expect(await count()).toBe(0)
    const stranger = await withId(kind, scheduleId)
    expect((await stranger.put()).status).toBe(201)
  })

  it('does not take the ID of a schedule whose parent was deleted', async () => {
    const { workspace, key, id, scheduleId, put, count } = await withId(kind)
    await put()
    await workspace.delete(kind.parent, id)
    expect((await put()).status).toBe(404)
    const other = `${kind.pathOf(await kind.add(workspace))}/${scheduleId}`
    expect((await request('PUT', other, { key, json: kind.json })).status).toBe(409)
    for (let time = 0; time < 2; time++) await tick(env, new Date())
    expect(await count()).toBe(0)
    expect((await request('PUT', other, { key, json: kind.json })).status).toBe(410)
  })

  it('leaves no schedule after a deletion at the same time, and no half of one', async () => {
    for (let round = 0; round < 5; round++) {
      const { put, patch, send, row } = await withId(kind)
      await put()
      const name = (index: number) => ({ ...kind.json, name: `Name ${index}`, note: `Note ${index}` })
      const answers = await Promise.all([
        ...[1, 2, 3].map((index) => put(name(index))),
        patch({ name: 'Name 4', note: 'Note 4' }),
        patch({ enabled: true, note: 'Note 4', name: 'Name 4' }),
        send('DELETE'),
        ...[5, 6].map((index) => put(name(index))),
        patch({ name: 'Name 7', note: 'Note 7' }),
      ])
      for (const { status, body } of answers) {
        expect([200, 404, 409, 410]).toContain(status)
        if (status === 200 && 'name' in body && body.name !== null)
          expect(body.note).toBe(body.name.replace('Name', 'Note'))
      }
      expect(await row()).toBeUndefined()
      expect([(await put()).status, (await send('GET')).status]).toEqual([410, 404])
    }
  })

  it.each<[string, object, object]>([
    ['changes the times', { enabled: true }, { ...kind.json, cron: '45 20 * * *' }],
    ['changes to one time', { enabled: true }, { runAt: FAR }],
    ['pauses it', { enabled: true, name: 'Mine' }, { ...kind.json, enabled: false }],
    ['changes nothing', { enabled: true }, kind.json],
  ])('that %s leaves a PATCH consistent that read the schedule before', async (_, change, json) => {
    const { put, patch, send } = await withId(kind)
    await put()
    const DB = interruptedDatabase(() => put(json))
    const { status } = await patch(change, { environment: { DB } })
    expect(status).toBe(json === kind.json ? 200 : 409)
    const { cron, runAt, enabledAt, nextRunAt, updatedAt } = (await send('GET')).body
    const next = runAt ?? nextOf(cron, 'UTC', updatedAt)
    expect(nextRunAt).toBe(enabledAt && next)
  })

  it('is refused while the parent is archived, even with the same body', async () => {
    const { workspace, id, key, put, row } = await withId(kind)
    await put()
    await kind.archive(workspace, id)
    const before = await row()
    for (const json of [kind.json, { ...kind.json, name: 'New' }]) {
      const { status, headers } = await put(json)
      expect([status, headers.get('Error-Code')]).toEqual([409, `${kind.parent}_archived`])
    }
    const another = await request('PUT', `${kind.pathOf(id)}/${newUuid()}`, { key, json: kind.json })
    expect(another.status).toBe(409)
    expect(await row()).toEqual(before)
  })

  it('creates none beyond the limit, and still changes those that exist', async () => {
    const { key, id, put, create, count } = await withId(kind)
    const environment = { SCHEDULE_LIMIT: '2' }
    expect([(await put()).status, (await create()).status]).toEqual([201, 201])
    const another = (limit = environment) =>
      request('PUT', `${kind.pathOf(id)}/${newUuid()}`, { key, json: kind.json, environment: limit })
    const refused = await another()
    expect([refused.status, refused.headers.get('Error-Code'), refused.body.error]).toEqual([
      409,
      'schedule_limit',
      `The ${kind.parent} has reached the limit of schedules: 2. Delete one first.`,
    ])
    for (const limit of ['2', '0']) {
      const { status } = await put(
        { ...kind.json, name: limit },
        { environment: { SCHEDULE_LIMIT: limit, ORGANIZATION_SCHEDULE_LIMIT: '0' } },
      )
      expect(status).toBe(200)
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => another({ SCHEDULE_LIMIT: '5' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    expect(await count()).toBe(5)
  })

  it('is 404 for a parent that does not exist or is of another organization', async () => {
    const { key, scheduleId } = await withId(kind)
    const other = await withParent(kind)
    for (const parentId of [newUuid(), other.id]) {
      const path = `${kind.pathOf(parentId)}/${scheduleId}`
      const { status, headers } = await request('PUT', path, { key, json: kind.json })
      expect([status, headers.get('Error-Code')]).toEqual([404, `${kind.parent}_not_found`])
    }
    expect(await other.count()).toBe(0)
  })

  it('refuses IDs that are not UUIDs', async () => {
    const { key, id } = await withId(kind)
    for (const scheduleId of ['7', 'nightly', `${newUuid()}0`]) {
      const path = `${kind.pathOf(id)}/${scheduleId}`
      const { status, body } = await request('PUT', path, { key, json: kind.json })
      expect([status, body]).toEqual([
        400,
        { error: `scheduleId has the wrong format; got "${scheduleId}"; ${ALLOWED_ID}` },
      ])
    }
    for (const scheduleId of [
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ]) {
      const path = `${kind.pathOf(id)}/${scheduleId}`
      expect((await request('PUT', path, { key, json: kind.json })).status).toBe(201)
    }
  })

  it('is repeated by the service after a failure that may have been committed', async () => {
    const { put, send, count } = await withId(kind)
    // The first use of a key is recorded by a call of its own.
    await send('GET')
    let calls = 0
    const DB = databaseWith(async (statements) => {
      const results = await env.DB.batch(statements)
      if (++calls === 1) throw new Error('D1_ERROR: Network connection lost.')
      return results
    })
    const { status, body } = await put({ ...kind.json, name: 'Once' }, { environment: { DB } })
    expect([status, body.name, calls, await count()]).toEqual([200, 'Once', 2, 1])
  })

  describe('by a PATCH', () => {
    it.each<[string, unknown]>([
      ['name', 'Other'],
      ['name', null],
      ['payload', { a: [1, 2, 3] }],
      ['payload', 'text'],
      ['payload', false],
      ['payload', 0],
      ['payload', null],
      ['overlap', 'allow'],
      ['maxRunSeconds', 60],
      ['pauseAfterFailures', 1],
      ['pauseAfterFailures', null],
      ['note', 'Ask Grace.'],
      ['note', null],
    ])('changes only %s to %j, in one trip', async (name, value) => {
      const { workspace, scheduleId, put, patch, send, row } = await withId(kind)
      await put({ ...kind.json, ...SETTINGS })
      await workspace.change(schedules, scheduleId, { nextRunAt: PAST, lastRunAt: PAST })
      const before = await row()
      const { calls } = await (async () => {
        const use = watchedDatabase()
        const { status, body } = await patch({ [name]: value }, { environment: { DB: use.DB } })
        expect([status, body[name]]).toEqual([200, value])
        return use
      })()
      expect(calls).toBe(1)
      const { revision, updatedAt } = (await row()) ?? {}
      const stored = name === 'payload' && value !== null ? JSON.stringify(value) : value
      expect(await row()).toEqual({ ...before, [name]: stored, revision, updatedAt })
      expect((await send('GET')).body[name]).toEqual(value)
    })

    it('clears maxRunSeconds and overlap together, and neither leaves "skip" without a limit', async () => {
      const { put, patch, row } = await withId(kind)
      await put({ ...kind.json, ...SETTINGS })
      const refusal = [
        409,
        'max_run_seconds_required',
        'The overlap "skip" requires maxRunSeconds, and the schedule would have none. Send maxRunSeconds, or the overlap "allow".',
      ]
      const refuse = async (json: object) => {
        const before = await row()
        const { status, headers, body } = await patch(json)
        expect([status, headers.get('Error-Code'), body.error]).toEqual(refusal)
        expect(await row()).toEqual(before)
      }
      await refuse({ maxRunSeconds: null })
      await refuse({ overlap: 'skip', maxRunSeconds: null })
      expect((await patch({ overlap: 'allow', maxRunSeconds: null })).body).toMatchObject({
        overlap: 'allow',
        maxRunSeconds: null,
      })
      await refuse({ overlap: 'skip' })
      await refuse({ overlap: 'skip', name: 'New' })
      expect((await patch({ overlap: 'skip', maxRunSeconds: 60 })).status).toBe(200)
      expect((await patch({ overlap: 'skip' })).status).toBe(200)
    })

    it('changes between a cron expression and one time', async () => {
      const { put, patch, send } = await withId(kind)
      await put({ ...kind.json, ...zone })
      const once = await patch({ runAt: '2999-06-01T02:00:00+02:00' })
      const at = '2999-06-01T00:00:00.000Z'
      expect([once.status, once.body]).toEqual([
        200,
        expect.objectContaining({ cron: null, runAt: at, nextRunAt: at, ...zone }),
      ])
      expect((await patch({ name: 'Once' })).body).toMatchObject({ cron: null, runAt: at, nextRunAt: at })
      const often = await patch({ cron: '15 6 * * *' })
      expect(often.body).toMatchObject({ cron: '15 6 * * *', runAt: null, ...zone })
      const timezoneNow = kind === PROJECT ? 'Asia/Kolkata' : 'UTC'
      expect(often.body.nextRunAt).toBe(nextOf('15 6 * * *', timezoneNow, often.body.updatedAt))
      expect((await send('GET')).body).toEqual(withoutRuns(often.body))
    })

    it('pauses and resumes a schedule that fires once', async () => {
      const { put, patch } = await withId(kind)
      await put({ runAt: FAR })
      expect((await patch({ enabled: false })).body).toMatchObject({
        runAt: FAR,
        nextRunAt: null,
        enabledAt: null,
      })
      const other = '2999-02-01T00:00:00.000Z'
      expect((await patch({ runAt: other })).body).toMatchObject({ runAt: other, nextRunAt: null })
      expect((await patch({ enabled: true })).body).toMatchObject({ runAt: other, nextRunAt: other })
      expect((await patch({ runAt: FAR, enabled: false })).body).toMatchObject({
        runAt: FAR,
        nextRunAt: null,
      })
      expect((await patch({ ...kind.json, enabled: true })).body).toMatchObject({ ...kind.json, runAt: null })
    })

    it.each<[unknown, RegExp]>([
      [{ cron: '@daily', runAt: FAR }, /^body has both cron and runAt;/],
      [
        { runAt: PAST },
        /^runAt is in the past; allowed: a later time, or the runAt that the schedule has\.$/,
      ],
      [{ runAt: PAST, enabled: false }, /^runAt is in the past;/],
      [{ runAt: null }, /^runAt is not a string;/],
      [{ overlap: null }, /^overlap /],
      [{ overlap: 'Skip' }, /^overlap is not one of the allowed values; got "Skip";/],
      [{ maxRunSeconds: 59 }, /^maxRunSeconds is too small;/],
      [{ maxRunSeconds: 1e9 }, /^maxRunSeconds is too large;/],
      [{ pauseAfterFailures: 0 }, /^pauseAfterFailures is too small;/],
      [{ pauseAfterFailures: 1.5 }, /^pauseAfterFailures is not a whole number;/],
      [{ name: '' }, /^name is too short;/],
      [{ note: 7 }, /^note is not a string;/],
      [{ pausedReason: null }, /^pausedReason is not a known property;/],
      [{ name: 'x', nmae: 'y' }, /^nmae is not a known property;.* Did you mean name\?$/],
    ])('refuses %j', async (json, sentence) => {
      const { put, patch, row } = await withId(kind)
      await put({ ...kind.json, ...SETTINGS })
      const before = await row()
      const { status, body } = await patch(json)
      expect([status, body.error]).toEqual([400, expect.stringMatching(sentence)])
      expect(await row()).toEqual(before)
    })
  })

  describe('that fire once', () => {
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString()

    /** A schedule that fires in an hour. Those of other tests are gone, so that a tick fires it alone. */
    async function withOnce(more: object = {}) {
      await env.DB.batch(
        ['schedules', 'runs', 'missedSpans'].map((table) => env.DB.prepare(`DELETE FROM "${table}"`)),
      )
      const its = await withId(kind)
      const runAt = inMinutes(60)
      const created = await its.put({ runAt, ...more })
      const tickAt = (time: string) => tick(env, new Date(time))
      const runs = async () =>
        (await its.workspace.dump('runs')).map(({ scheduledAt, status }) => `${scheduledAt} ${status}`)
      return { ...its, runAt, created, tickAt, runs }
    }

    it('has no cron expression, and its next run is its time', async () => {
      const { created, runAt, row } = await withOnce()
      expect([created.status, created.body]).toEqual([
        201,
        expect.objectContaining({
          cron: null,
          runAt,
          nextRunAt: runAt,
          enabledAt: created.body.createdAt,
          ...timezone,
        }),
      ])
      expect(await row()).toMatchObject({ cron: null, runAt, timezone: 'UTC' })
    })

    it.each([0, 1, 90, 3000])(
      'fires once, also with a tick %i minutes late, and is finished then',
      async (late) => {
        const { runAt, created, put, patch, send, row, events, tickAt, runs } = await withOnce({
          name: 'Once',
        })
        await tickAt(new Date(Date.parse(runAt) - 1).toISOString())
        expect(await runs()).toEqual([])
        const time = new Date(Date.parse(runAt) + late * MINUTE_MS).toISOString()
        for (const tickTime of [time, time, new Date(Date.parse(time) + DAY_MS).toISOString()])
          await tickAt(tickTime)
        expect(await runs()).toEqual([`${runAt} pending`])
        const finished = { ...created.body, lastRunAt: runAt, nextRunAt: null }
        const { statistics, ...read } = (await send('GET')).body
        expect([read, statistics]).toEqual([finished, expect.objectContaining({ runs: 1 })])
        // The stored time may be repeated, although it has passed.
        const [before, count] = [await row(), await events()]
        const again = await put({ runAt, name: 'Once' })
        expect([again.status, again.body]).toEqual([200, finished])
        expect([await row(), await events()]).toEqual([before, count])
        for (const change of [await put({ runAt, name: 'New' }), await patch({ runAt, name: 'Newer' })])
          expect([change.status, change.body.nextRunAt]).toEqual([200, expect.toBeOneOf([null, runAt])])
      },
    )

    it('fires again at a later time, or by a cron expression', async () => {
      const { runAt, put, tickAt, runs } = await withOnce()
      await tickAt(runAt)
      const later = inMinutes(120)
      expect((await put({ runAt: later })).body).toMatchObject({
        lastRunAt: runAt,
        nextRunAt: later,
        runAt: later,
      })
      await tickAt(later)
      expect(await runs()).toEqual([`${runAt} pending`, `${later} pending`])
      const { body } = await put()
      expect(body).toMatchObject({ ...kind.json, runAt: null, lastRunAt: later })
      expect(body.nextRunAt).toBe(nextOf(kind.json.cron, 'UTC', body.updatedAt))
    })

    it('may repeat its own time that has passed, and no other', async () => {
      const { workspace, scheduleId, put, patch, row } = await withOnce()
      await workspace.change(schedules, scheduleId, { runAt: PAST, nextRunAt: null, lastRunAt: PAST })
      const before = await row()
      expect((await put({ runAt: PAST })).status).toBe(200)
      expect(await row()).toEqual(before)
      const finished = { runAt: PAST, nextRunAt: null, enabledAt: before?.enabledAt }
      for (const json of [
        { runAt: PAST },
        { runAt: '2020-01-01T01:00:00+01:00', name: 'x' },
        { enabled: true },
      ]) {
        const { status, body } = await patch(json)
        expect([status, body]).toEqual([200, expect.objectContaining(finished)])
      }
      for (const runAt of ['2020-01-01T00:00:00.001Z', '2019-01-01T00:00:00Z', now()]) {
        for (const { status, body } of [await put({ runAt }), await patch({ runAt })]) {
          expect([status, body.error]).toEqual([400, expect.stringMatching(/^runAt is in the past;/)])
        }
      }
      await put()
      // It is not the stored one any more.
      expect((await put({ runAt: PAST })).status).toBe(400)
    })

    it('does not fire while it is paused, nor for a time that passed meanwhile', async () => {
      const { workspace, scheduleId, runAt, patch, put, tickAt, runs } = await withOnce()
      await patch({ enabled: false })
      await tickAt(runAt)
      expect(await runs()).toEqual([])
      await workspace.change(schedules, scheduleId, { runAt: PAST })
      expect((await patch({ enabled: true })).body).toMatchObject({ runAt: PAST, nextRunAt: null })
      expect((await put({ runAt: PAST })).body).toMatchObject({ nextRunAt: null })
      await tickAt(inMinutes(180))
      expect(await runs()).toEqual([])
    })

    it('is recorded as skipped while its parent is archived, and is finished then', async () => {
      const { workspace, id, runAt, send, tickAt, runs } = await withOnce()
      await kind.archive(workspace, id)
      await tickAt(runAt)
      expect(await runs()).toEqual([`${runAt} skipped`])
      expect((await send('GET')).body).toMatchObject({ lastRunAt: null, nextRunAt: null, pausedReason: null })
    })

    if (kind === PROJECT)
      it('keeps a time zone for a later cron expression', async () => {
        const { put, patch } = await withOnce()
        const { body } = await put({ runAt: FAR, timezone: 'Asia/Kolkata' })
        expect(body).toMatchObject({ runAt: FAR, nextRunAt: FAR, timezone: 'Asia/Kolkata' })
        expect((await patch({ timezone: 'Asia/Tokyo' })).body).toMatchObject({ runAt: FAR, nextRunAt: FAR })
        expect((await patch({ cron: '@daily' })).body).toMatchObject({
          cron: '@daily',
          timezone: 'Asia/Tokyo',
        })
        expect((await put({ runAt: FAR })).body.timezone).toBe('UTC')
      })
  })

  describe('that a POST created', () => {
    it('does not change the response to the repeated POST, except its times', async () => {
      const { key, id, create } = await withParent(kind)
      const created = await create(kind.json, idempotent('a'))
      const path = `${kind.pathOf(id)}/${created.body.id}`
      await request('PATCH', path, { key, json: SETTINGS })
      const { body } = await request('PATCH', path, { key, json: { enabled: false } })
      const again = await create(kind.json, idempotent('a'))
      const { updatedAt } = body
      expect([again.status, again.body]).toEqual([
        201,
        { ...created.body, enabledAt: null, nextRunAt: null, updatedAt },
      ])
      expect(again.headers.get('Location')).toBe(path)
    })

    it('is 409 for the repeated POST while it fires once', async () => {
      const { key, id, create, count } = await withParent(kind)
      const created = await create(kind.json, idempotent('a'))
      const path = `${kind.pathOf(id)}/${created.body.id}`
      for (const method of ['PATCH', 'PUT']) {
        await request(method, path, { key, json: { runAt: FAR } })
        const { status, headers, body } = await create(kind.json, idempotent('a'))
        expect([status, headers.get('Error-Code'), body.error]).toEqual([
          409,
          'idempotency_key_reused',
          expect.stringContaining('Idempotency-Key'),
        ])
        await request('PUT', path, { key, json: { ...kind.json, cron: '@weekly' } })
        const again = await create(kind.json, idempotent('a'))
        expect([again.status, again.body.id, again.body.cron]).toEqual([201, created.body.id, '@weekly'])
      }
      expect(await count()).toBe(1)
    })
  })
})

describe('an API key that is restricted to projects, and PUT', () => {
  it('creates and changes schedules of its projects and of all agents only', async () => {
    for (const kind of [PROJECT, AGENT]) {
      const { workspace, id, put, count } = await withId(kind)
      const other = await workspace.addProject()
      for (const projectIds of [[], [other]]) {
        const { status } = await put(kind.json, { key: await workspace.addKey({ projectIds }) })
        expect(status).toBe(kind === PROJECT ? 403 : projectIds.length === 0 ? 201 : 200)
      }
      expect(await count()).toBe(kind === PROJECT ? 0 : 1)
      const reaching = await workspace.addKey({ projectIds: [other, ...(kind === PROJECT ? [id] : [])] })
      expect((await put(kind.json, { key: reaching })).status).toBe(kind === PROJECT ? 201 : 200)
    }
  })

  it('gets 403 rather than 409 or 410', async () => {
    const { workspace, scheduleId, put, send } = await withId(PROJECT)
    const key = await workspace.addKey({ projectIds: [] })
    await workspace.addSchedule('agent', await workspace.addAgent(), { id: scheduleId })
    expect((await put(PROJECT.json, { key })).status).toBe(403)
    await workspace.deleteSchedule(scheduleId)
    expect((await put(PROJECT.json, { key })).status).toBe(403)
    expect((await send('GET', { key })).status).toBe(404)
  })
})

describe('the statistics of a schedule', () => {
  async function withRuns() {
    const its = await withSchedule(AGENT)
    const { workspace, schedule, send, path, key } = its
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 60 * MINUTE_MS).toISOString()
    let added = 0
    /** Adds a run an hour before those that were added. @param seconds from its start to its end. */
    const add = (status: string, seconds: number | null = null, values: object = {}) => {
      const startedAt = hoursAgo(++added)
      const finishedAt =
        seconds === null ? null : new Date(Date.parse(startedAt) + seconds * 1000).toISOString()
      return workspace.addRun(schedule.id, {
        scheduledAt: startedAt,
        status,
        startedAt,
        finishedAt,
        ...values,
      })
    }
    const statistics = async () => (await send('GET')).body.statistics
    return { ...its, add, statistics, hoursAgo, path, key }
  }

  it('count real runs, and have the median of their times', async () => {
    const { key, path, statistics } = await withRuns()
    const before = Date.now() - 30 * DAY_MS
    const outcomes = ['succeeded', 'failed', 'succeeded', 'succeeded'] as const
    const milliseconds: number[] = []
    for (const [index, outcome] of outcomes.entries()) {
      const run = (await request('POST', `${path}/runs`, { key })).body
      expect((await request('POST', `/v1/runs/${run.id}/acknowledge`, { key })).status).toBe(200)
      await scheduler.wait(20 * (index + 1))
      const json = { outcome, message: 'Done.' }
      const { status, body } = await request('POST', `/v1/runs/${run.id}/complete`, { key, json })
      expect([status, body.status]).toEqual([200, outcome])
      milliseconds.push(Date.parse(body.finishedAt) - Date.parse(body.startedAt))
      await request('POST', `/v1/runs/${run.id}/complete`, { key, json })
    }
    await request('POST', `${path}/runs`, { key })
    const [, low = 0, high = 0] = milliseconds.toSorted((a, b) => a - b)
    const found = await statistics()
    expect(found).toEqual({
      since: expect.stringMatching(INSTANT),
      runs: 5,
      succeeded: 3,
      failed: 1,
      medianSeconds: Math.round((low + high) / 2) / 1000,
    })
    expect(Date.parse(found.since) >= before && Date.parse(found.since) <= Date.now() - 30 * DAY_MS).toBe(
      true,
    )
  })

  it('have no median without an outcome', async () => {
    const { add, statistics } = await withRuns()
    await add('pending')
    await add('delivered')
    await add('skipped')
    await add('failed', 900, { failure: 'delivery', startedAt: null })
    await add('failed', 900, { failure: 'timeout' })
    expect(await statistics()).toMatchObject({ runs: 4, succeeded: 0, failed: 2, medianSeconds: null })
  })

  it.each<[number[], number]>([
    [[84.2], 84.2],
    [[1, 2], 1.5],
    [[3, 1, 2], 2],
    [[10, 1, 100, 1000], 55],
    [[0, 0.001], 0.001],
    [[0], 0],
    [[604_800, 1, 2, 3, 604_799.999], 3],
    [[5, 5, 5, 1], 5],
  ])('have of %j the median %d', async (seconds, median) => {
    const { add, statistics } = await withRuns()
    for (const [index, each] of seconds.entries()) {
      await (index % 2 === 0 ? add('succeeded', each) : add('failed', each, { failure: 'task' }))
      await add('failed', 7, { failure: 'timeout' })
      await add('skipped')
    }
    const count = seconds.length
    const succeeded = Math.ceil(count / 2)
    expect(await statistics()).toMatchObject({
      runs: 2 * count,
      succeeded,
      failed: 2 * count - succeeded,
      medianSeconds: median,
    })
  })

  it('have only the runs of the last 30 days, and of this schedule', async () => {
    const { workspace, id, add, statistics, hoursAgo } = await withRuns()
    await add('succeeded', 10, { scheduledAt: hoursAgo(30 * 24 - 0.1) })
    await add('succeeded', 20, { scheduledAt: hoursAgo(30 * 24 + 0.1) })
    await add('failed', 30, { scheduledAt: hoursAgo(80 * 24), failure: 'task' })
    const other = await workspace.addSchedule('agent', id)
    await workspace.addRun(other, { status: 'succeeded', startedAt: hoursAgo(2), finishedAt: hoursAgo(1) })
    expect(await statistics()).toMatchObject({ runs: 1, succeeded: 1, failed: 0, medianSeconds: 10 })
  })

  it('have at most the latest 2,500 runs, and say since when', async () => {
    const { workspace, id, schedule, statistics, send } = await withRuns()
    const start = Date.now() - 20 * DAY_MS
    const insert = (from: number, to: number) =>
      env.DB.prepare(
        `INSERT INTO "runs" ("organizationId", "scheduleId", "scheduledAt", "id", "parentType", "parentId", "status", "failure",
           "attempts", "startedAt", "finishedAt", "createdAt", "updatedAt")
         WITH RECURSIVE n(i) AS (SELECT ?4 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?5),
           t AS (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', ?6 + i * 60, 'unixepoch') AS "at" FROM n)
         SELECT ?1, ?2, "at", printf('%08x-0000-8000-8000-000000000000', i), 'agent', ?3,
           CASE i % 5 WHEN 0 THEN 'failed' WHEN 1 THEN 'skipped' ELSE 'succeeded' END, CASE i % 5 WHEN 0 THEN 'task' END, 1, "at",
           strftime('%Y-%m-%dT%H:%M:%fZ', ?6 + i * 60 + i % 10, 'unixepoch'), "at", "at" FROM t`,
      )
        .bind(workspace.organizationId, schedule.id, id, from, to, Math.floor(start / 1000))
        .run()
    const timeOf = (index: number) => new Date((Math.floor(start / 1000) + index * 60) * 1000).toISOString()
    await insert(0, 2500)
    expect(await statistics()).toMatchObject({ since: timeOf(0), runs: 2000, succeeded: 1500, failed: 500 })
    await insert(2500, 2510)
    const use = watchedDatabase()
    const { status } = await send('GET', { environment: { DB: use.DB } })
    // Each run is read once, and not for each number.
    expect([status, use.calls, use.rowsRead < 2600]).toEqual([200, 1, true])
    expect(await statistics()).toMatchObject({ since: timeOf(10), runs: 2000, succeeded: 1500, failed: 500 })
    expect((await statistics()).medianSeconds).toBe(4.5)
  })
})

describe('listing the schedules of the organization', () => {
  async function withMany() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const [projectId, agentId] = [await workspace.addProject(), await workspace.addAgent()]
    const list = (query = '', more: RequestOptions = {}) =>
      request('GET', `/v1/schedules${query}`, { key, ...more })
    /** Requests all pages. @param between runs after each page. @returns the IDs of each page. */
    const walk = async (query: Record<string, string>, between: () => Promise<unknown> = async () => {}) => {
      const pages: string[][] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { status, body } = await list(
          `?${new URLSearchParams({ ...query, ...(cursor && { cursor }) })}`,
        )
        expect(status).toBe(200)
        pages.push(body.items.map(({ id }: { id: string }) => id))
        cursor = body.nextCursor
        await between()
      }
      return pages
    }
    /** Adds schedules with IDs in order: paused ones of the project, but `values` for some. @returns the IDs. */
    const insert = async (count: number, isEnabled: (index: number) => boolean = () => false) => {
      const ids = Array.from(
        { length: count },
        (_, index) => `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
      )
      const rows = ids.map((id, index) => ({ id, enabledAt: isEnabled(index) ? PAST : null }))
      await env.DB.prepare(
        `INSERT INTO "schedules" ("organizationId", "parentType", "parentId", "id", "cron", "timezone", "overlap", "enabledAt",
           "nextRunAt", "createdAt", "updatedAt")
         SELECT ?1, 'project', ?2, value ->> 'id', '@daily', 'UTC', 'allow', value ->> 'enabledAt',
           CASE WHEN value ->> 'enabledAt' IS NOT NULL THEN ?4 END, ?3, ?3 FROM json_each(?5)`,
      )
        .bind(workspace.organizationId, projectId, PAST, FAR, JSON.stringify(rows))
        .run()
      return ids
    }
    return { workspace, key, projectId, agentId, list, walk, insert }
  }

  it('returns those of projects and agents in order of ID, without payload and note', async () => {
    const { workspace, key, projectId, agentId, list } = await withMany()
    const [first, second, third] = [newUuid(), newUuid(), newUuid()]
    const send = (path: string, json: object) => request('PUT', path, { key, json })
    const agents = await send(`/v1/agents/${agentId}/schedules/${second}`, { cron: '@daily', ...SETTINGS })
    const once = await send(`/v1/projects/${projectId}/schedules/${third}`, { runAt: FAR })
    const projects = await send(`/v1/projects/${projectId}/schedules/${first}`, {
      cron: '@hourly',
      timezone: 'Asia/Tokyo',
      name: 'Hourly',
    })
    await workspace.change(schedules, second, PAUSED)
    const stranger = await withMany()
    await stranger.workspace.addSchedule('agent', stranger.agentId)
    const { status, body } = await list()
    const common = { lastRunAt: null, lastRunStatus: null, pausedReason: null }
    expect(status).toBe(200)
    expect(body).toEqual({
      items: [
        {
          ...common,
          id: first,
          projectId,
          agentId: null,
          name: 'Hourly',
          cron: '@hourly',
          runAt: null,
          timezone: 'Asia/Tokyo',
          enabledAt: projects.body.enabledAt,
          nextRunAt: projects.body.nextRunAt,
        },
        {
          ...common,
          id: second,
          projectId: null,
          agentId,
          name: 'Nightly build',
          cron: '@daily',
          runAt: null,
          timezone: 'UTC',
          ...PAUSED,
        },
        {
          ...common,
          id: third,
          projectId,
          agentId: null,
          name: null,
          cron: null,
          runAt: FAR,
          timezone: 'UTC',
          enabledAt: once.body.enabledAt,
          nextRunAt: FAR,
        },
      ],
      nextCursor: null,
    })
    expect(agents.status).toBe(201)
  })

  it('hides schedules of deleted parents, and has those of archived ones', async () => {
    const { workspace, key, projectId, agentId, list } = await withMany()
    const kept = [
      await workspace.addSchedule('project', projectId),
      await workspace.addSchedule('agent', agentId),
    ]
    const gone = { project: await workspace.addProject(), agent: await workspace.addAgent() }
    for (const type of ['project', 'agent'] as const) await workspace.addSchedule(type, gone[type])
    // An agent with the ID of the project does not stand in for it.
    await workspace.addAgent(gone.project)
    await workspace.archiveProject(projectId)
    await workspace.archiveAgent(agentId)
    const removed = await workspace.addSchedule('agent', agentId)
    await workspace.deleteSchedule(removed)
    expect((await list()).body.items).toHaveLength(4)
    for (const type of ['project', 'agent'] as const)
      await request('DELETE', `/v1/${type}s/${gone[type]}`, { key })
    const { body } = await list()
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(kept.sort())
    const pages = await list('?limit=2')
    expect([pages.body.items.length, pages.body.nextCursor]).toEqual([2, null])
  })

  it('tells the status of the run of lastRunAt', async () => {
    const { workspace, key, agentId, list } = await withMany()
    const statusOf = async (id: string) => {
      const { items } = (await list()).body
      const { lastRunAt, lastRunStatus } = items.find((item: { id: string }) => item.id === id)
      return [lastRunAt, lastRunStatus]
    }
    const id = newUuid()
    const path = `/v1/agents/${agentId}/schedules/${id}`
    await request('PUT', path, { key, json: { cron: '@yearly', overlap: 'skip', maxRunSeconds: 600 } })
    expect(await statusOf(id)).toEqual([null, null])
    const first = (await request('POST', `${path}/runs`, { key })).body
    expect(await statusOf(id)).toEqual([first.scheduledAt, 'pending'])
    await scheduler.wait(2)
    const skipped = (await request('POST', `${path}/runs`, { key })).body
    expect(skipped.status).toBe('skipped')
    expect(await statusOf(id)).toEqual([first.scheduledAt, 'pending'])
    await request('POST', `/v1/runs/${first.id}/acknowledge`, { key })
    expect(await statusOf(id)).toEqual([first.scheduledAt, 'delivered'])
    for (const outcome of ['succeeded', 'failed']) {
      const run = (await request('POST', `${path}/runs`, { key })).body
      const target = run.status === 'skipped' ? first : run
      await request('POST', `/v1/runs/${target.id}/complete`, { key, json: { outcome } })
      expect(await statusOf(id)).toEqual([target.scheduledAt, outcome])
      await scheduler.wait(2)
    }
    // The retention removed the run.
    const never = await workspace.addSchedule('agent', agentId, { lastRunAt: PAST })
    expect(await statusOf(never)).toEqual([PAST, null])
  })

  it('returns each schedule once, page by page, while others come and go', async () => {
    const { workspace, projectId, walk, insert } = await withMany()
    const ids = await insert(60, (index) => index % 2 === 0)
    expect((await walk({ limit: '7' })).flat()).toEqual(ids)
    expect((await walk({ limit: '7', enabled: 'true' })).flat()).toEqual(
      ids.filter((_, index) => index % 2 === 0),
    )
    for (const query of [{ limit: '7' }, { limit: '7', parentType: 'project' }] as Record<string, string>[]) {
      const stays = (await walk({ limit: '1000' })).flat()
      let round = 0
      const between = async () => {
        // The item that the cursor names may be among those that are deleted.
        const victim = stays[++round * 7 - 1]
        if (victim) await workspace.remove(schedules, victim)
        await workspace.addSchedule('project', projectId, {
          id: `${String(round).padStart(8, '0')}-${query.parentType ? 'fffe' : 'ffff'}-4000-8000-000000000000`,
        })
      }
      const found = (await walk(query, between)).flat()
      expect(new Set(found).size).toBe(found.length)
      expect(found).toEqual(found.toSorted())
      expect(stays.filter((id) => !found.includes(id))).toEqual([])
    }
  })

  it('filters by enabled, parentType and nextRunBefore, all of which hold', async () => {
    const { workspace, projectId, agentId, walk } = await withMany()
    const times = [null, PAST, '2026-01-01T00:00:00.000Z', FAR]
    const all: { id: string; type: string; isEnabled: boolean; nextRunAt: string | null }[] = []
    for (const type of ['project', 'agent'] as const) {
      for (const nextRunAt of times) {
        for (const enabledAt of nextRunAt === null ? [null, PAST] : [PAST]) {
          const id = await workspace.addSchedule(type, type === 'project' ? projectId : agentId, {
            nextRunAt,
            enabledAt,
          })
          all.push({ id, type, isEnabled: enabledAt !== null, nextRunAt })
        }
      }
    }
    all.sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const enabled of [undefined, 'true', 'false'])
      for (const parentType of [undefined, 'project', 'agent'])
        for (const nextRunBefore of [
          undefined,
          '2026-01-01T02:00:00+02:00',
          '2026-01-01T00:00:00.001Z',
          PAST,
          FAR,
        ]) {
          const query = JSON.parse(JSON.stringify({ enabled, parentType, nextRunBefore, limit: '2' }))
          const before = nextRunBefore && new Date(nextRunBefore).toISOString()
          const expected = all.filter(
            ({ type, isEnabled, nextRunAt }) =>
              (enabled === undefined || String(isEnabled) === enabled) &&
              (parentType === undefined || type === parentType) &&
              (before === undefined || (nextRunAt !== null && nextRunAt < before)),
          )
          const pages = await walk(query)
          expect([query, pages.flat()]).toEqual([query, expected.map(({ id }) => id)])
          expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(2)
        }
  })

  it.each([
    [2500, [2499], [[2499], []]],
    [2501, [2500], [[], [2500]]],
    [2499, [], [[]]],
    [5001, [0, 2499, 2500, 5000], [[0, 2499], [2500], [5000]]],
    [2600, [3, 2599], [[3], [2599]]],
  ])('examines up to 2,500 schedules for a page: of %i, those at %j', async (count, enabled, expected) => {
    const { walk, insert } = await withMany()
    const ids = await insert(count, (index) => enabled.includes(index))
    const pages = await walk({ enabled: 'true', limit: '1000' })
    expect(pages.map((page) => page.map((id) => ids.indexOf(id)))).toEqual(expected)
  })

  it('reads few rows: those of a page, or those that a filter examines', async () => {
    const { key, list, insert } = await withMany()
    const ids = await insert(2600, (index) => index % 100 === 0)
    await list('', { key })
    const rowsRead = async (query: string) => {
      const use = watchedDatabase()
      const { status } = await list(query, { environment: { DB: use.DB } })
      expect([status, use.calls]).toEqual([200, 1])
      return use.rowsRead
    }
    expect(await rowsRead('?limit=1')).toBeLessThan(15)
    expect(await rowsRead(`?limit=10&cursor=${ids[1300]}`)).toBeLessThan(50)
    expect(await rowsRead('?limit=10&enabled=true')).toBeLessThanOrEqual(2 * 2500 + 50)
    expect(await rowsRead('?limit=10&enabled=true&parentType=agent')).toBeLessThanOrEqual(2 * 2500 + 50)
  })

  it('has pages of 50 schedules without a limit', async () => {
    const { list, insert } = await withMany()
    const ids = await insert(51)
    const page = async (query: string) => {
      const { body } = await list(query)
      return [body.items.map(({ id }: { id: string }) => id), body.nextCursor]
    }
    expect(await page('')).toEqual([ids.slice(0, 50), ids[49]])
    expect(await page(`?cursor=${ids[49]}`)).toEqual([ids.slice(50), null])
    expect(await page('?limit=51')).toEqual([ids, null])
    expect(await page(`?limit=2&cursor=${ids[9]?.toUpperCase()}`)).toEqual([ids.slice(10, 12), ids[11]])
  })

  it('is refused for keys that are restricted to projects', async () => {
    const { workspace, projectId, list } = await withMany()
    for (const projectIds of [[], [projectId]]) {
      for (const query of ['', '?enabled=true']) {
        const { status, headers, body } = await list(query, { key: await workspace.addKey({ projectIds }) })
        expect([status, headers.get('Error-Code'), body.error]).toEqual([
          403,
          'unrestricted_key_required',
          'Lists of all schedules need an API key that is not restricted to projects. List the schedules of one project or agent instead.',
        ])
      }
    }
  })

  it.each([
    ['enabled=yes', 'enabled is not one of the allowed values; got "yes"; allowed: "true" or "false".'],
    ['enabled=', 'enabled is not one of the allowed values; got ""; allowed: "true" or "false".'],
    ['enabled=TRUE', 'enabled is not one of the allowed values; got "TRUE"; allowed: "true" or "false".'],
    [
      'parentType=user',
      'parentType is not one of the allowed values; got "user"; allowed: "project" or "agent".',
    ],
    ['enabled=true&enabled=false', 'enabled has several values; allowed: one value.'],
    [
      'paused=true',
      'paused is not a known query parameter; known: enabled, parentType, nextRunBefore, limit, cursor.',
    ],
    [
      'nextRunBefore=2026-03-31',
      'nextRunBefore is not an RFC 3339 time; got "2026-03-31"; allowed: an RFC 3339 time such as "2026-03-29T01:00:00Z" or "2026-03-29T03:00:00+02:00".',
    ],
    ['cursor=7', `cursor has the wrong format; got "7"; ${ALLOWED_ID}`],
    ['limit=0', 'limit is too small; got "0"; allowed: at least 1.'],
  ])('refuses %s', async (query, error) => {
    const { list } = await withMany()
    const { status, body } = await list(`?${query}`)
    expect([status, body]).toEqual([400, { error }])
  })
})

describe('previewSchedule', () => {
  async function withPreview() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    /** @param query a record that is percent-encoded here, or text that is sent as it is. */
    const preview = (query: Record<string, string> | string, more: RequestOptions = {}) =>
      request(
        'GET',
        `/v1/schedule-preview?${typeof query === 'string' ? query : new URLSearchParams(query)}`,
        {
          key,
          ...more,
        },
      )
    return { workspace, key, preview }
  }

  it('returns the next five instants in UTC from now by default', async () => {
    const { preview } = await withPreview()
    const before = Date.parse(now())
    const { status, body } = await preview('cron=*+*+*+*+*')
    expect(status).toBe(200)
    const first = Date.parse(body.items[0].at)
    expect(first > before && first <= Date.parse(now()) + MINUTE_MS).toBe(true)
    const instants = [0, 1, 2, 3, 4].map((minutes) => new Date(first + minutes * MINUTE_MS).toISOString())
    expect(body).toEqual({
      items: instants.map((at) => ({ at, localTime: at.replace(/\.000Z$/, '+00:00') })),
    })
  })

  it.each([
    ['1', 1],
    ['100', 100],
  ])('returns %s instants', async (count, length) => {
    const { preview } = await withPreview()
    const { body } = await preview({ cron: '0 0 29 2 *', count, from: '2026-01-01T00:00:00.000Z' })
    expect(body.items).toHaveLength(length)
    expect(new Set(body.items.map(({ at }: { at: string }) => at)).size).toBe(length)
  })

  it.each([
    [{ count: '0' }, /^count is too small;.* 1 to 100\.$/],
    [{ count: '101' }, /^count is too large;.* 1 to 100\.$/],
    [{ count: '-1' }, /^count is not a whole number;/],
    [{ count: '1.5' }, /^count is not a whole number;/],
    [{ count: '' }, /^count is not a whole number;/],
    [{ from: '1969-12-31T23:59:59.999Z' }, /^from is out of range;.*1970/],
    [{ from: '3000-01-01T00:00:00.000Z' }, /^from is out of range;.*2999/],
    [{ from: '' }, /^from is not an RFC 3339 time;/],
    [{ timezone: '+02:00' }, /^timezone is not an IANA time zone;/],
    [{ timezone: 'PST' }, /^timezone is not an IANA time zone;/],
    [{ timezone: '' }, /^timezone /],
    [{ cron: '' }, /^cron /],
    [{ cron: '* * * * * *' }, /^cron does not have five fields;/],
    [{ cron: '0 0 30 2 *' }, /^cron never fires;/],
  ])('refuses %j', async (query: Record<string, string>, sentence) => {
    const { preview } = await withPreview()
    const { status, body } = await preview({ cron: '@daily', ...query })
    expect([status, body]).toEqual([400, { error: expect.stringMatching(sentence) }])
  })

  it('requires a cron expression of up to 500 characters', async () => {
    const { preview } = await withPreview()
    const without = await preview('timezone=UTC')
    expect([without.status, without.body]).toEqual([
      400,
      { error: expect.stringMatching(/^cron is missing;/) },
    ])
    expect((await preview({ cron: cronOfLength(500) })).status).toBe(200)
    expect((await preview({ cron: cronOfLength(501) })).status).toBe(400)
  })

  it.each([
    ['1970-01-01T00:00:00.000Z', '1970-01-01T00:01:00.000Z'],
    ['2026-03-10T11:59:59.999Z', '2026-03-10T12:00:00.000Z'],
    ['2026-03-10T12:00:00.000Z', '2026-03-10T12:01:00.000Z'],
    ['2999-12-31T23:59:59.999Z', '3000-01-01T00:00:00.000Z'],
    ['2026-03-10T12:00:00Z', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10t12:00:00z', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10T14:00:00+02:00', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10t06:30:00.0-05:30', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10T12:00:00-00:00', '2026-03-10T12:01:00.000Z'],
    ['2026-03-11T11:59:00+23:59', '2026-03-10T12:01:00.000Z'],
    ['2028-02-29T23:59:59.99999Z', '2028-03-01T00:00:00.000Z'],
    [`2026-03-10T11:59:59.${'9'.repeat(200)}Z`, '2026-03-10T12:00:00.000Z'],
    ['1969-12-31T23:30:00-01:00', '1970-01-01T00:31:00.000Z'],
  ])('begins strictly after %s', async (from, at) => {
    const { preview } = await withPreview()
    expect((await preview({ cron: '* * * * *', from, count: '1' })).body.items[0].at).toBe(at)
  })

  it.each([
    [
      'Australia/Lord_Howe',
      '30 1 * * *',
      '2026-04-04T00:00:00.000Z',
      [
        '2026-04-04T14:30:00.000Z 2026-04-05T01:30:00+11:00',
        '2026-04-05T15:00:00.000Z 2026-04-06T01:30:00+10:30',
      ],
    ],
    [
      'Australia/Lord_Howe',
      '15 2 * * *',
      '2026-10-03T00:00:00.000Z',
      [
        '2026-10-03T15:30:00.000Z 2026-10-04T02:30:00+11:00',
        '2026-10-04T15:15:00.000Z 2026-10-05T02:15:00+11:00',
      ],
    ],
    [
      'America/New_York',
      '*/30 1 * * *',
      '2026-11-01T05:00:00.000Z',
      [
        '2026-11-01T05:30:00.000Z 2026-11-01T01:30:00-04:00',
        '2026-11-01T06:00:00.000Z 2026-11-01T01:00:00-05:00',
        '2026-11-01T06:30:00.000Z 2026-11-01T01:30:00-05:00',
        '2026-11-02T06:00:00.000Z 2026-11-02T01:00:00-05:00',
      ],
    ],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-11-01T00:00:00.000Z',
      [
        '2026-11-01T05:30:00.000Z 2026-11-01T01:30:00-04:00',
        '2026-11-02T06:30:00.000Z 2026-11-02T01:30:00-05:00',
      ],
    ],
    [
      'Asia/Kathmandu',
      '0 0 * * *',
      '2026-03-10T12:00:00.000Z',
      ['2026-03-10T18:15:00.000Z 2026-03-11T00:00:00+05:45'],
    ],
    [
      'Pacific/Marquesas',
      '0 20 * * *',
      '2026-03-10T12:00:00.000Z',
      ['2026-03-11T05:30:00.000Z 2026-03-10T20:00:00-09:30'],
    ],
    [
      'America/St_Johns',
      '59 23 * * *',
      '2026-07-10T12:00:00.000Z',
      ['2026-07-11T02:29:00.000Z 2026-07-10T23:59:00-02:30'],
    ],
    [
      'Pacific/Kiritimati',
      '0 0 1 1 *',
      '2026-07-10T12:00:00.000Z',
      ['2026-12-31T10:00:00.000Z 2027-01-01T00:00:00+14:00'],
    ],
    [
      'Etc/GMT+12',
      '0 0 1 1 *',
      '2026-07-10T12:00:00.000Z',
      ['2027-01-01T12:00:00.000Z 2027-01-01T00:00:00-12:00'],
    ],
    [
      'Africa/Monrovia',
      '0 9 * * *',
      '1971-05-01T00:00:00.000Z',
      ['1971-05-01T09:44:30.000Z 1971-05-01T09:00:00-00:44:30'],
    ],
  ])('returns the local time in %s with its offset: %s', async (timezone, cron, from, expected) => {
    const { preview } = await withPreview()
    const { body } = await preview({ cron, timezone, from, count: String(expected.length) })
    expect(body.items.map(({ at, localTime }: Record<string, string>) => `${at} ${localTime}`)).toEqual(
      expected,
    )
  })

  it('reads a plus in the query as a space', async () => {
    const { preview } = await withPreview()
    const from = '2026-03-10T12:00:00.000Z'
    const answers = []
    for (const cron of ['0+9+*+*+1-5', '0%209%20*%20*%201-5', '0 9 * * 1-5']) {
      answers.push((await preview(`cron=${cron}&timezone=Etc/GMT%2B5&from=${from}&count=1`)).body)
    }
    const items = [{ at: '2026-03-10T14:00:00.000Z', localTime: '2026-03-10T09:00:00-05:00' }]
    expect(answers).toEqual([{ items }, { items }, { items }])
    expect((await preview('cron=@daily&timezone=Etc/GMT+5')).status).toBe(400)
    expect((await preview('cron=0%2B9%2B*%2B*%2B*')).status).toBe(400)
  })

  it('begins with the next run that a new schedule would have', async () => {
    const { create } = await withParent(PROJECT)
    const json = { cron: '*/7 3,15 * * mon-fri', timezone: 'America/Havana' }
    const { body } = await create(json)
    const { preview } = await withPreview()
    expect((await preview({ ...json, from: body.createdAt, count: '1' })).body.items[0].at).toBe(
      body.nextRunAt,
    )
  })

  it('allows every valid API key, and no other', async () => {
    const { workspace, preview } = await withPreview()
    const least = await workspace.addKey({ scopes: [], userId: null, projectIds: [] })
    expect((await preview({ cron: '@daily' }, { key: least })).status).toBe(200)
    const expired = await workspace.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' })
    expect((await preview({ cron: '@daily' }, { key: expired })).status).toBe(401)
    expect((await preview({ cron: 'x' }, { key: expired })).status).toBe(401)
  })
})

it('keeps Location within the origin', async () => {
  const { create } = await withParent(PROJECT, '//elsewhere.example')
  const { headers } = await create()
  expect(new URL(headers.get('Location') ?? '', ORIGIN).origin).toBe(ORIGIN)
})
