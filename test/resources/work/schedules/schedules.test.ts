import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { schedules } from '../../../../src/db/schema.ts'
import { ORIGIN, PREFIX, type RequestOptions, request } from '../../../support/api.ts'
import { failingDatabase, interruptedDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { sized } from '../../../support/long-form.ts'
import { MINUTE_MS } from '../../../support/runs.ts'
import {
  AGENT,
  ALLOWED_ID,
  cronOfLength,
  INSTANT,
  idempotent,
  nextDaily,
  nextOf,
  PROJECT,
  running,
  withoutRuns,
  withParent,
  withSchedule,
} from '../../../support/schedules.ts'
import { now } from '../../../support/workspace.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const METHODS = ['GET', 'PATCH', 'DELETE']

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
    ...[' ', ' a ', '+', 'a+b', '&', '=', ':', ':projectId', '*', '{projectId}', 'schedules', '...', '.a', '%2e'],
    ...['\\', '"', "' OR 1=1 --", '`', '_', '\u0001', '\t', '\r\n', '\u007f', '\ufeff', '\u2028', '\uffff'],
    ...['é', 'e\u0301', 'ß', '\u65e5\u672c', '\u202eabc', '\u{1f469}\u200d\u{1f680}', '__proto__', 'constructor'],
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
    await fc.assert(fc.asyncProperty(ids, expectProjectId), { numRuns: sized(25, 250) })
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
    const answer = await there.create({ ...PROJECT.json, cron: '@daily' }, { environment, ...idempotent('a') })
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
    [{ cron: '@daily', timezone: 'UTC', extra: 1 }, /^extra is not a known property; known: cron, timezone\.$/],
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
    expect([status, body]).toEqual([400, { error: `agentId has the wrong format; got ${sent}; ${ALLOWED_ID}` }])
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
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
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
    for (let index = 0; index < 3; index++) expect((await create(kind.json, { environment })).status).toBe(201)
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
    expect([refused.status, refused.body]).toEqual([400, { error: expect.stringContaining('schedules:write') }])
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
    expect((await create(otherBody, { environment: { SCHEDULE_LIMIT: '0' }, ...idempotent('a') })).status).toBe(409)
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
      const hasChanged = Object.keys(change).length > 1 || change.enabled !== !isPaused
      const revision = headers.get('ETag')?.slice(1, -1)
      if (hasChanged) expect(body.updatedAt >= from && body.updatedAt <= now()).toBe(true)
      else expect(body.updatedAt).toBe(ran.updatedAt)
      const cron = change.cron ?? schedule.cron
      const timezone = change.timezone ?? 'UTC'
      const isEnabled = change.enabled ?? !isPaused
      const goesOn = !isPaused && change.cron === undefined && change.timezone === undefined
      const minuteOfDay = (change.cron ? 6 * 60 + 15 : 9 * 60 + 30) - (change.timezone ? 5 * 60 + 30 : 0)
      const times = {
        ...ran,
        enabledAt: isEnabled ? (isPaused ? body.updatedAt : since.enabledAt) : null,
        nextRunAt: isEnabled ? (goesOn ? since.nextRunAt : nextDaily(body.updatedAt, minuteOfDay * MINUTE_MS)) : null,
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

it('keeps Location within the origin', async () => {
  const { create } = await withParent(PROJECT, '//elsewhere.example')
  const { headers } = await create()
  expect(new URL(headers.get('Location') ?? '', ORIGIN).origin).toBe(ORIGIN)
})
