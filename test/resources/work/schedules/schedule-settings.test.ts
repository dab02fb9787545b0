import * as fc from 'fast-check'
import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { schedules } from '../../../../src/db/schema.ts'
import { PREFIX, type RequestOptions, request } from '../../../support/api.ts'
import { databaseWith, interruptedDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { sized } from '../../../support/long-form.ts'
import { MINUTE_MS } from '../../../support/runs.ts'
import {
  AGENT,
  ALLOWED_ID,
  DAY_MS,
  DEFAULTS,
  FAR,
  INSTANT,
  idempotent,
  nextDaily,
  nextOf,
  PAST,
  PAUSED,
  PROJECT,
  running,
  SETTINGS,
  withoutRuns,
  withParent,
} from '../../../support/schedules.ts'
import { tick } from '../../../support/tick.ts'
import { now } from '../../../support/workspace.ts'

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
    [{ ...kind.json, overlap: 'skip', maxRunSeconds: null }, /^body has overlap "skip" and no maxRunSeconds;/],
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
    for (const value of ['\u{1f550}'.repeat(max), 'é'.repeat(max), 'e\u0301'.repeat(Math.floor(max / 2)), '\t']) {
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
      { numRuns: sized(10, 300) },
    )
  })

  it('allows payloads of up to 16 KiB of JSON without white space', async () => {
    const { put, patch, row } = await withId(kind)
    const most = 16 * 1024
    const ofBytes = (unit: string, bytes: number) => unit.repeat(Math.floor((bytes - 2) / Buffer.byteLength(unit)))
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
      for (const answer of [await put({ ...kind.json, payload: tooLarge }), await patch({ payload: tooLarge })]) {
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
        'Another project or agent of the organization has or had a schedule with this ID. Use another ID.',
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
          'The schedule was deleted, and its ID is never used again. GET /v1/deletions lists what can be restored.',
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
    for (const scheduleId of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
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
      [{ runAt: PAST }, /^runAt is in the past; allowed: a later time, or the runAt that the schedule has\.$/],
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
      await env.DB.batch(['schedules', 'runs', 'missedSpans'].map((table) => env.DB.prepare(`DELETE FROM "${table}"`)))
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

    it.each([0, 1, 90, 3000])('fires once, also with a tick %i minutes late, and is finished then', async (late) => {
      const { runAt, created, put, patch, send, row, events, tickAt, runs } = await withOnce({
        name: 'Once',
      })
      await tickAt(new Date(Date.parse(runAt) - 1).toISOString())
      expect(await runs()).toEqual([])
      const time = new Date(Date.parse(runAt) + late * MINUTE_MS).toISOString()
      for (const tickTime of [time, time, new Date(Date.parse(time) + DAY_MS).toISOString()]) await tickAt(tickTime)
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
    })

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
      for (const json of [{ runAt: PAST }, { runAt: '2020-01-01T01:00:00+01:00', name: 'x' }, { enabled: true }]) {
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
