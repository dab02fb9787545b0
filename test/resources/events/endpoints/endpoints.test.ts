import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { users } from '../../../../src/db/schema.ts'
import { request } from '../../../support/api.ts'
import { addEndpoint, cursorOf, withEndpoint } from '../../../support/event-endpoints.ts'
import { dumpStores } from '../../../support/examples.ts'
import { deliverBatch } from '../../../support/queue.ts'
import { Receiver } from '../../../support/receiver.ts'
import { advance, inSeconds, refusalOf, stopClocks } from '../../../support/runs.ts'
import { Workspace } from '../../../support/workspace.ts'

stopClocks()

const PATH = '/v1/event-endpoints'
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/

async function withKey() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const send = (method: string, path: string, json?: unknown) =>
    request(method, path, { key, ...(json !== undefined && { json }) })
  return {
    workspace,
    key,
    send,
    create: (json: object = {}) => send('POST', PATH, { url: new Receiver().url, ...json }),
  }
}

/** The secrets that verify what the endpoint sends now. */
async function signing(
  { path, send, receiver }: { path: string; send: Awaited<ReturnType<typeof withKey>>['send']; receiver: Receiver },
  secrets: readonly string[],
) {
  await send('POST', `${path}/test`)
  const { headers = {}, body = '' } = (await receiver.received()).at(-1) ?? {}
  return secrets.filter((secret) => {
    try {
      return new Webhook(secret).verify(body, { ...headers })
    } catch {
      return false
    }
  })
}

describe('createEventEndpoint', () => {
  it('begins after the last event, and shows the secret once and never the URL', async () => {
    const { workspace, key, send } = await withKey()
    await workspace.addEvents(['2026-06-01T11:00:00.000Z', '2026-06-01T11:00:01.000Z'])
    const { status, headers, body } = await send('POST', PATH, { url: 'https://hooks.example.com/T000/secret-part' })
    expect([status, headers.get('Location')]).toEqual([201, `${PATH}/${body.id}`])
    const { secret, ...rest } = body
    expect(secret).toMatch(SECRET)
    expect(rest).toEqual({
      id: expect.any(String),
      url: 'hooks.example.com…part',
      format: 'standard',
      types: null,
      projectId: null,
      note: null,
      batch: true,
      cursor: cursorOf(Date.parse('2026-06-01T11:00:01.000Z') * 1024),
      behind: 1,
      behindSince: inSeconds(0),
      lastAttempts: [],
      failingSince: null,
      nextAttemptAt: null,
      disabledAt: null,
      disabledReason: null,
      previousSecretExpiresAt: null,
      createdAt: inSeconds(0),
      updatedAt: inSeconds(0),
    })
    const read = await request('GET', `${PATH}/${body.id}`, { key })
    expect({ ...read.body, behind: 1, behindSince: inSeconds(0) }).toMatchObject({ id: body.id, url: rest.url })
    for (const answer of [read, await send('GET', PATH), await send('GET', '/v1/events')]) {
      expect(JSON.stringify(answer.body)).not.toMatch(/secret-part|T000|whsec_/)
    }
  })

  it('has every setting', async () => {
    const { create } = await withKey()
    const settings = {
      format: 'text',
      types: ['skill.*', 'run.failed'],
      projectId: 'website',
      note: 'For #ops',
      batch: false,
    }
    expect((await create(settings)).body).toMatchObject({ ...settings, secret: null })
  })

  it.each<[string, unknown]>([
    ['url', { url: 'http://hooks.example.com/' }],
    ['url', { url: undefined }],
    ['url', { url: 7 }],
    ['format', { format: 'html' }],
    ['types', { types: [] }],
    ['types', { types: Array(51).fill('skill.*') }],
    ['types', { types: 'skill.*' }],
    ['types.0', { types: ['skill.create'] }],
    ['types.0', { types: ['*'] }],
    ['types.0', { types: ['sk*'] }],
    ['types.0', { types: ['skill.created"'] }],
    ['projectId', { projectId: '' }],
    ['note', { note: '' }],
    ['note', { note: 'ä'.repeat(1001) }],
    ['batch', { batch: 1 }],
    ['enabled', { enabled: true }],
    ['secret', { secret: 'whsec_x' }],
  ])('refuses a wrong %s', async (name, json) => {
    const { workspace, create } = await withKey()
    const { status, body } = await create(json as object)
    expect([status, body.error]).toEqual([400, expect.stringMatching(`^(?:${name}|…) `)])
    expect(await workspace.dump('eventEndpoints')).toEqual([])
  })

  it.each([
    'https://localhost/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://2130706433/',
    'https://metadata.google.internal/',
    'https://printer.local/',
    'https://ada:hunter2@hooks.example.com/',
    'https://hooks.example.com/#hunter2',
    'http://hooks.example.com/hunter2',
    'file:///etc/passwd',
    'hunter2',
  ])('sends nothing to %s, at creation and at a change, and does not repeat what may be secret', async (url) => {
    const { create, send, workspace } = await withKey()
    const { body } = await create()
    const before = await workspace.dump('eventEndpoints')
    for (const refused of [await send('POST', PATH, { url }), await send('PATCH', `${PATH}/${body.id}`, { url })]) {
      expect(refusalOf(refused)).toEqual([400, 'invalid_input'])
      expect(refused.body.error).toMatch(/^url .*; allowed: an https URL of a public host, such as /)
      expect(refused.body.error).not.toMatch(/hunter2|passwd|meta-data/)
    }
    expect(await workspace.dump('eventEndpoints')).toEqual(before)
  })

  it('is refused for the eleventh, also of several at once', async () => {
    const { workspace, create, send } = await withKey()
    const answers = await Promise.all(Array.from({ length: 14 }, () => create()))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(refusalOf(await create())).toEqual([409, 'event_endpoint_limit'])
    const { body } = await send('GET', PATH)
    expect([body.items.length, body.nextCursor]).toEqual([10, null])
    await send('DELETE', `${PATH}/${body.items[0].id}`)
    expect((await create()).status).toBe(201)
    expect((await (await withKey()).create()).status).toBe(201)
    expect(await workspace.dump('eventEndpoints')).toHaveLength(10)
  })

  it('stores nothing without a valid ENCRYPTION_KEYS', async () => {
    const { workspace, key } = await withKey()
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    for (const ENCRYPTION_KEYS of ['', 'wrong']) {
      const json = { url: 'https://hooks.example.com/events' }
      expect((await request('POST', PATH, { key, json, environment: { ENCRYPTION_KEYS } })).status).toBe(500)
    }
    expect(await workspace.dump('eventEndpoints')).toEqual([])
  })

  it('keeps the URL and the secret encrypted, and out of the log', async () => {
    const { send } = await withKey()
    const logged = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')].map((spy) =>
      spy.mockImplementation(() => undefined),
    )
    const environment = { REQUEST_LOG: 'on' }
    const { key } = await withKey()
    const json = { url: 'https://hooks.example.com/hunter2/x' }
    const { body } = await request('POST', PATH, { key, json, environment })
    await request('PATCH', `${PATH}/${body.id}`, {
      key,
      json: { url: 'https://hooks.example.com/hunter2/y' },
      environment,
    })
    const { body: rotated } = await request('POST', `${PATH}/${body.id}/rotate`, { key, json: {}, environment })
    await request('POST', PATH, { key, json: { url: 'http://hooks.example.com/hunter2' }, environment })
    await send('GET', PATH)
    const stored = JSON.stringify(await dumpStores())
    for (const secret of ['hunter2', body.secret, rotated.secret]) {
      expect(stored).not.toContain(secret)
      expect(JSON.stringify(logged.map(({ mock }) => mock.calls))).not.toContain(secret)
    }
    expect(logged[0]?.mock.calls.length).toBeGreaterThan(0)
  })
})

describe('updateEventEndpoint', () => {
  it.each<[string, object, object]>([
    ['types', { types: ['run.*'] }, { types: ['run.*'] }],
    ['no types', { types: null }, { types: null }],
    ['projectId', { projectId: 'shop' }, { projectId: 'shop' }],
    ['no projectId', { projectId: null }, { projectId: null }],
    ['note', { note: 'Ask Ada' }, { note: 'Ask Ada' }],
    ['no note', { note: null }, { note: null }],
    ['batch', { batch: false }, { batch: false }],
    ['url', { url: 'https://hooks.example.com/others' }, { url: 'hooks.example.com…hers' }],
  ])('changes %s and nothing else', async (_, json, changed) => {
    const { create, send } = await withKey()
    const settings = { types: ['skill.*'], projectId: 'website', note: 'For the cache' }
    const { secret: _secret, ...created } = (await create(settings)).body
    advance(1000)
    const { status, body } = await send('PATCH', `${PATH}/${created.id}`, json)
    const { behind: _behind, behindSince: _since, ...rest } = { ...created, ...changed, updatedAt: inSeconds(0) }
    expect([status, body]).toEqual([200, expect.objectContaining(rest)])
  })

  it.each([{}, { format: 'text' }, { enabled: null }, { cursor: '00000000000' }, { url: null }])(
    'refuses %j',
    async (json) => {
      const { create, send } = await withKey()
      const { id } = (await create()).body
      expect(refusalOf(await send('PATCH', `${PATH}/${id}`, json))).toEqual([400, 'invalid_input'])
    },
  )

  it('sends to the new URL', async () => {
    const { send, path, addEvents, message, queues, received } = await withEndpoint()
    const other = new Receiver()
    await send('PATCH', path, { url: other.url })
    await addEvents(1)
    await deliverBatch([message], queues)
    expect([(await received()).length, (await other.received()).length]).toEqual([0, 1])
  })

  it('disables and enables, without losing the place', async () => {
    const { send, path, addEvents, messages, drain, tick, received, read } = await withEndpoint({
      types: '["skill.*"]',
    })
    const disabled = await send('PATCH', path, { enabled: false })
    expect(disabled.body).toMatchObject({ disabledAt: inSeconds(0), disabledReason: 'A request disabled it.' })
    advance(1000)
    await addEvents(2, () => ({ type: 'skill.created' }))
    expect((await send('PATCH', path, { enabled: false })).body.disabledAt).toBe(disabled.body.disabledAt)
    await tick()
    expect(messages).toEqual([])
    expect(await read()).toMatchObject({ behind: 2 })
    expect((await send('PATCH', path, { enabled: true })).body).toMatchObject({
      disabledAt: null,
      disabledReason: null,
    })
    await drain()
    expect((await received()).map(({ data }) => data.items.length)).toEqual([2])
  })
})

describe('an endpoint whose next event is too old', () => {
  it('is not enabled until it is rewound, so that it leaves out nothing without saying so', async () => {
    const { workspace, send, path, row, read, drain, received } = await withEndpoint({ disabledAt: inSeconds(0) })
    await workspace.addEvents(['2020-01-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'])
    const before = await row()
    const refused = await send('PATCH', path, { enabled: true, note: 'Ask Ada.' })
    expect(refusalOf(refused)).toEqual([410, 'cursor_expired'])
    expect(refused.body.error).toBe(
      'The next event after the cursor of this event endpoint is no longer kept, so events may be missing. Rewind it to a later cursor or to "now", and then enable it.',
    )
    expect(await row()).toEqual(before)
    expect(await workspace.dump('auditEvents')).toHaveLength(2)
    expect((await send('PATCH', path, { enabled: false, note: 'Ask Ada.' })).status).toBe(200)
    expect((await send('POST', `${path}/rewind`, { after: 'now' })).status).toBe(200)
    expect((await send('PATCH', path, { enabled: true })).status).toBe(200)
    await drain()
    expect((await received()).flatMap(({ data }) => data.items.map(({ type }) => type))).toEqual([
      'event-endpoint.updated',
    ])
    expect(await read()).toMatchObject({ disabledAt: null, behind: 0 })
  })
})

describe('deleteEventEndpoint', () => {
  it('removes it and its secret, and only it', async () => {
    const { workspace, create, send } = await withKey()
    const [first, second] = [(await create()).body, (await create()).body]
    expect((await send('DELETE', `${PATH}/${first.id}`)).body).toEqual({ deleted: true, id: first.id })
    for (const [method, below, json] of [
      ['GET', ''],
      ['PATCH', '', { note: 'x' }],
      ['DELETE', ''],
      ['POST', '/rotate', {}],
      ['POST', '/test'],
      ['POST', '/rewind', { after: 'now' }],
    ] as const) {
      const answer = await send(method, `${PATH}/${first.id}${below}`, json)
      expect(refusalOf(answer)).toEqual([404, 'event_endpoint_not_found'])
    }
    expect((await workspace.dump('eventEndpoints')).map(({ id }) => id)).toEqual([second.id])
  })
})

describe('rotateEventEndpoint', () => {
  it('signs with both secrets until the previous one expires', async () => {
    const { send, path, secret, receiver } = await withEndpoint()
    const endpoint = { path, send, receiver }
    const { body } = await send('POST', `${path}/rotate`, { overlapSeconds: 60 })
    expect(body).toMatchObject({ secret: expect.stringMatching(SECRET), previousSecretExpiresAt: inSeconds(60) })
    const both = [secret, body.secret]
    expect(await signing(endpoint, both)).toEqual(both)
    expect(refusalOf(await send('POST', `${path}/rotate`, { overlapSeconds: 60 }))).toEqual([
      409,
      'rotation_in_progress',
    ])
    advance(60_001)
    expect(await signing(endpoint, both)).toEqual([body.secret])
    expect((await send('GET', path)).body.previousSecretExpiresAt).toBeNull()
    const { body: again } = await send('POST', `${path}/rotate`, { overlapSeconds: 60 })
    const { body: leaked } = await send('POST', `${path}/rotate`, { overlapSeconds: 0 })
    expect(leaked.previousSecretExpiresAt).toBeNull()
    expect(await signing(endpoint, [...both, again.secret, leaked.secret])).toEqual([leaked.secret])
  })

  it('signs deliveries with both secrets too', async () => {
    const { send, path, secret, addEvents, message, queues, received } = await withEndpoint()
    const { body } = await send('POST', `${path}/rotate`, { overlapSeconds: 60 })
    await addEvents(1)
    await deliverBatch([message], queues)
    const [{ headers, body: sent } = { headers: {}, body: '' }] = await received()
    for (const each of [secret, body.secret]) new Webhook(each).verify(sent, { ...headers })
  })

  it('has nothing to rotate for a text', async () => {
    const { create, send } = await withKey()
    const { id } = (await create({ format: 'text' })).body
    expect(refusalOf(await send('POST', `${PATH}/${id}/rotate`, {}))).toEqual([409, 'event_endpoint_unsigned'])
  })
})

describe('testEventEndpoint', () => {
  it('sends one event and says what became of it, without moving the endpoint', async () => {
    const { send, path, id, secret, received, row, workspace, feed } = await withEndpoint(
      { disabledAt: inSeconds(0) },
      200,
      500,
    )
    const before = await row()
    const { status, body, headers } = await send('POST', `${path}/test`)
    expect([status, body]).toEqual([
      200,
      { startedAt: inSeconds(0), status: 200, milliseconds: expect.any(Number), error: null },
    ])
    const [message] = await received()
    new Webhook(secret).verify(message?.body ?? '', { ...message?.headers })
    const { items } = await feed('')
    expect(items).toMatchObject([
      {
        type: 'event-endpoint.tested',
        resource: { type: 'event-endpoint', id, path },
        requestId: headers.get('X-Request-Id'),
      },
    ])
    expect(message?.data).toEqual({ items, nextCursor: cursorOf(0), hasMore: false })
    expect((await send('POST', `/api/public-api${path}/test`)).body).toMatchObject({ status: 500, error: 'HTTP 500' })
    expect((await received())[1]?.data.items[0]?.resource.path).toBe(path)
    expect(await row()).toEqual(before)
    expect((await workspace.dump('auditEvents')).map(({ type }) => type)).toEqual(
      Array(2).fill('event-endpoint.tested'),
    )
  })

  it('sends a sentence for the format text', async () => {
    const { workspace, send, path, receiver } = await withEndpoint({ format: 'text' })
    await workspace.change(users, workspace.userId, { name: 'Ada' })
    const { body } = await send('GET', path)
    await send('POST', `${path}/test`)
    expect((await receiver.received()).map(({ body }) => JSON.parse(body).text)).toEqual([
      `Ada tested the event endpoint ${body.url}`,
    ])
  })
})

describe('rewindEventEndpoint', () => {
  it('sends the events after an earlier place again, in a new message', async () => {
    const { send, path, addEvents, message, queues, received, drain, feed } = await withEndpoint({
      types: '["skill.*"]',
    })
    await addEvents(3, () => ({ type: 'skill.created' }))
    await deliverBatch([message], queues)
    const { nextCursor: first } = await feed('limit=1')
    expect((await send('POST', `${path}/rewind`, { after: first })).body).toMatchObject({ cursor: first, behind: 2 })
    await drain()
    const [before, after] = await received()
    expect(after?.data.items).toEqual(before?.data.items.slice(1))
    expect(after?.id).not.toBe(before?.id)
  })

  it('leaves out what was not delivered, with now and with a place beyond the end', async () => {
    const { send, path, addEvents, read, received, drain, lastSequence } = await withEndpoint({
      types: '["project.*"]',
    })
    for (const after of ['now', cursorOf(Number.MAX_SAFE_INTEGER)]) {
      await addEvents(2, () => ({ type: 'project.created' }))
      const { body } = await send('POST', `${path}/rewind`, { after })
      expect(body.behind).toBe(0)
      expect(Number.parseInt(body.cursor, 36)).toBeGreaterThanOrEqual(lastSequence())
      await drain()
    }
    expect(await received()).toEqual([])
    // The next event is not left out.
    expect((await send('PUT', '/v1/projects/website', { name: 'Website' })).status).toBe(201)
    await drain()
    expect((await received()).map(({ data }) => data.items.length)).toEqual([1])
    expect((await read()).behind).toBe(0)
  })

  it('is refused if the next event after the place is too old', async () => {
    const { workspace, send, path, row } = await withEndpoint()
    await workspace.addEvents(['2020-01-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'])
    expect(refusalOf(await send('POST', `${path}/rewind`, { after: cursorOf(0) }))).toEqual([410, 'cursor_expired'])
    expect((await row()).deliveredSequence).toBe(0)
    const after = cursorOf(Date.parse('2020-01-01T00:00:00.000Z') * 1024)
    expect((await send('POST', `${path}/rewind`, { after })).status).toBe(200)
  })

  it.each([{}, { after: '' }, { after: 'later' }, { after: 7 }, { after: '0'.repeat(12) }, { after: 'zzzzzzzzzzz' }])(
    'refuses %j',
    async (json) => {
      const { send, path } = await withEndpoint()
      expect(refusalOf(await send('POST', `${path}/rewind`, json))).toEqual([400, 'invalid_input'])
    },
  )

  it('has a failing endpoint give up its message', async () => {
    const { send, path, addEvents, message, queues, row } = await withEndpoint({}, 500)
    await addEvents(1)
    await deliverBatch([message], queues)
    expect(await row()).toMatchObject({ messageId: expect.any(String) })
    await send('POST', `${path}/rewind`, { after: 'now' })
    expect(await row()).toMatchObject({ messageId: null, messageEnd: null })
  })
})

describe('behind', () => {
  it('counts the events that the endpoint wants of the next 1,000, and since when', async () => {
    const { workspace, key, addEvents, read, feed } = await withEndpoint({ types: '["skill.created"]' })
    await addEvents(1200, (index) => ({ type: index % 2 ? 'skill.created' : 'project.created' }))
    const { items } = await feed('types=skill.created&limit=1')
    expect(await read()).toMatchObject({ behind: 500, behindSince: items[0].createdAt })
    const idle = await addEndpoint(workspace, key, { types: '["user.deleted"]' }, [])
    expect(await idle.read()).toMatchObject({ behind: 0, behindSince: null })
  })
})

it('belongs to its organization', async () => {
  const { id } = (await (await withKey()).create()).body
  const { send } = await withKey()
  expect((await send('GET', PATH)).body.items).toEqual([])
  for (const [method, below, json] of [
    ['GET', ''],
    ['PATCH', '', { note: 'x' }],
    ['DELETE', ''],
    ['POST', '/rotate', {}],
    ['POST', '/test'],
    ['POST', '/rewind', { after: 'now' }],
  ] as const) {
    expect(refusalOf(await send(method, `${PATH}/${id}${below}`, json))).toEqual([404, 'event_endpoint_not_found'])
  }
})
