import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { eventEndpoints } from '../../../../src/db/schema.ts'
import { deliver } from '../../../../src/deliveries.ts'
import type { DeliveryMessage } from '../../../../src/environment.ts'
import { request } from '../../../support/api.ts'
import { databaseWith, interruptedDatabase } from '../../../support/bindings.ts'
import { deployed, env } from '../../../support/env.ts'
import { addEndpoint, cursorOf, withEndpoint } from '../../../support/event-endpoints.ts'
import { eventsOf } from '../../../support/events.ts'
import { deliverBatch } from '../../../support/queue.ts'
import { advance, HOUR_MS, inSeconds, MINUTE_MS, stopClocks } from '../../../support/runs.ts'
import { Workspace } from '../../../support/workspace.ts'

stopClocks()

const DAY_MS = 24 * HOUR_MS
const sizes = (messages: readonly { data: { items: unknown[] } }[]) => messages.map(({ data }) => data.items.length)
const ids = (messages: readonly { data: { items: { id: string }[] } }[]) =>
  messages.flatMap(({ data }) => data.items.map(({ id }) => id))
const batchOf = (body: DeliveryMessage) =>
  createMessageBatch('workspace-api-deliveries', [{ id: '1', timestamp: new Date(), attempts: 1, body }])
const isDisabling = { types: 'event-endpoint.disabled' }

describe('a delivery', () => {
  it('sends the pages of the feed in order, signed, each with an ID of its own', async () => {
    const { addEvents, deliverAll, received, secret, feed, read } = await withEndpoint()
    await addEvents(250)
    await deliverAll()
    const messages = await received()
    expect(sizes(messages)).toEqual([100, 100, 50])
    let after = cursorOf(0)
    for (const { data, body, headers, id } of messages) {
      expect(data).toEqual(await feed(`after=${after}&limit=100`))
      expect(new Webhook(secret).verify(body, { ...headers })).toEqual({
        type: 'events',
        timestamp: data.items.at(-1)?.createdAt,
        data,
      })
      expect([headers['content-type'], id]).toEqual(['application/json', headers['webhook-id']])
      after = data.nextCursor
    }
    expect(new Set(messages.map(({ id }) => id)).size).toBe(3)
    expect(await read()).toMatchObject({ cursor: after, behind: 0, behindSince: null, failingSince: null })
    expect((await read()).lastAttempts).toHaveLength(3)
  })

  it('has one event in each message without batches, and up to 20 sentences in a text', async () => {
    const single = await withEndpoint({ batch: 0 })
    await single.addEvents(3)
    await single.deliverAll()
    expect(sizes(await single.received())).toEqual([1, 1, 1])
    expect((await single.received()).map(({ data }) => data.hasMore)).toEqual([true, true, false])

    const chat = await withEndpoint({ format: 'text' })
    await chat.addEvents(45)
    await chat.deliverAll()
    const texts = (await chat.receiver.received()).map(({ body }) => JSON.parse(body))
    expect(texts.map(({ text }) => text.split('\n').length)).toEqual([20, 20, 5])
    expect(texts.every((body) => Object.keys(body).join() === 'text')).toBe(true)
    const [{ headers } = { headers: {} }] = await chat.receiver.received()
    expect(headers).not.toHaveProperty('webhook-signature')
  })

  it('has only the events that the endpoint wants, and moves past the others between them', async () => {
    const types = JSON.stringify(['skill.*', 'project.updated'])
    const { addEvents, deliverAll, received, feed, read } = await withEndpoint({ types, projectId: 'website' })
    const kinds = ['skill.created', 'project.updated', 'project.created', 'skill-feed.created', 'skill.deleted']
    await addEvents(150, (index) => ({
      type: kinds[index % 5] ?? '',
      projectId: index % 3 === 0 ? 'shop' : index % 7 === 0 ? null : 'website',
    }))
    await deliverAll()
    const wanted = await feed('types=skill.*,project.updated&projectId=website&limit=1000')
    expect(ids(await received())).toEqual(wanted.items.map(({ id }: { id: string }) => id))
    expect(wanted.items.length).toBeGreaterThan(20)
    expect((await read()).behind).toBe(0)
  })

  it('follows a change at once, for the endpoints that want it', async () => {
    const { workspace, key, send, messages, drain, received, id } = await withEndpoint({ types: '["project.created"]' })
    const other = await addEndpoint(workspace, key, { types: '["skill.*"]' }, [])
    const elsewhere = await addEndpoint(workspace, key, { projectId: 'shop' }, [])
    await addEndpoint(workspace, key, { disabledAt: inSeconds(0) }, [])
    const hinted = () => messages.map((message) => 'endpoint' in message && message.endpoint.id)
    await send('PUT', '/v1/projects/website', { name: 'Website' })
    expect(hinted()).toEqual([id])
    await send('GET', '/v1/projects/website')
    expect(messages).toHaveLength(1)
    await send('PUT', '/v1/projects/website', { name: 'Shop' })
    await drain()
    expect((await received()).flatMap(({ data }) => data.items.map(({ type }) => type))).toEqual(['project.created'])
    expect([...(await other.received()), ...(await elsewhere.received())]).toEqual([])
  })

  it('finds events that are committed while a message is sent', async () => {
    const { addEvents, message, queues, received, drain } = await withEndpoint({}, { body: '', waitMs: 500 })
    await addEvents(1)
    const DB = interruptedDatabase(() => addEvents(1), 2)
    await deliverBatch([message], { ...queues, DB })
    // The sender queues the rest itself.
    await drain()
    expect(sizes(await received())).toEqual([1, 1])
  })

  it('does not read the body of the response', async () => {
    const { addEvents, message, queues, read } = await withEndpoint()
    await addEvents(1)
    const [pull, cancel] = [vi.fn(), vi.fn()]
    const body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
    vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(new Response(body))
    await deliverBatch([message], queues)
    expect((await read()).lastAttempts).toMatchObject([{ status: 200, error: null }])
    expect([pull.mock.calls.length, cancel.mock.calls.length]).toEqual([0, 1])
  })

  it('is delivered once it was accepted, even if the rest of the response is lost', async () => {
    const { addEvents, message, queues, read } = await withEndpoint()
    await addEvents(1)
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('Network connection lost')) })
    vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(new Response(body))
    await deliverBatch([message], queues)
    expect(await read()).toMatchObject({ lastAttempts: [{ status: 200, error: null }], failingSince: null, behind: 0 })
  })

  it('sends nothing for an endpoint that is not there, or has nothing to deliver', async () => {
    const { workspace, message, queues, received, row } = await withEndpoint()
    const nobody = { endpoint: { organizationId: workspace.organizationId, id: crypto.randomUUID() } }
    const foreign = { endpoint: { ...message.endpoint, organizationId: crypto.randomUUID() } }
    await deliverBatch([message, nobody, foreign], queues)
    expect(await received()).toEqual([])
    expect(await row()).toMatchObject({ leaseId: null, deliveredSequence: 0, lastAttempts: null })
  })
})

describe('a failed message', () => {
  it('is sent again with the same ID and the same events, and then comes what happened since', async () => {
    const { addEvents, message, queues, received, read, tick, drain } = await withEndpoint({}, 500, 500, 204)
    await addEvents(3)
    await deliverBatch([message], queues)
    for (let failures = 1; failures <= 2; failures++) {
      await addEvents(2)
      await deliverBatch([message], queues)
      expect(sizes(await received())).toEqual(Array(failures).fill(3))
      expect(await read()).toMatchObject({ cursor: cursorOf(0), failingSince: inSeconds(failures === 1 ? 0 : -72) })
      advance(failures === 1 ? 72_000 : 6 * MINUTE_MS)
      await tick()
      await drain()
    }
    const messages = await received()
    expect(sizes(messages)).toEqual([3, 3, 3, 4])
    expect(new Set(messages.slice(0, 3).map(({ id }) => id)).size).toBe(1)
    expect(messages[2]?.data).toEqual({ ...messages[0]?.data, hasMore: true })
    expect(messages[3]?.id).not.toBe(messages[0]?.id)
    expect(await read()).toMatchObject({ failingSince: null, nextAttemptAt: null, behind: 0 })
  })

  it('is sent again after 1, 5, 15, 60 and 180 minutes, then every 6 hours, and after 3 days the endpoint is disabled', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const { workspace, addEvents, queues, message, read, tick, drain, received, id } = await withEndpoint({}, 503)
    await addEvents(1)
    const since = Date.now()
    await deliverBatch([message], queues)
    const pauses: number[] = []
    for (;;) {
      const { nextAttemptAt } = await read()
      if (nextAttemptAt === null) break
      pauses.push((Date.parse(nextAttemptAt) - Date.now()) / MINUTE_MS)
      vi.setSystemTime(Date.parse(nextAttemptAt) - 1)
      await tick()
      await drain()
      expect(await received()).toHaveLength(pauses.length)
      advance(1)
      await tick()
      await drain()
      expect(await received()).toHaveLength(pauses.length + 1)
    }
    expect(pauses.slice(0, 5)).toEqual([1, 5, 15, 60, 180])
    expect(new Set(pauses.slice(5))).toEqual(new Set([360]))
    expect(Date.now() - since).toBeGreaterThanOrEqual(3 * DAY_MS)
    expect(Date.now() - since).toBeLessThan(3 * DAY_MS + 6 * HOUR_MS)
    expect(await read()).toMatchObject({
      disabledAt: inSeconds(0),
      disabledReason: 'Every attempt of three days failed. The last one: HTTP 503',
      cursor: cursorOf(0),
    })
    expect((await read()).lastAttempts).toHaveLength(10)
    advance(DAY_MS)
    await tick()
    await drain()
    expect(await received()).toHaveLength(pauses.length + 1)
    const disabled = await eventsOf(workspace, isDisabling)
    expect(disabled).toHaveLength(1)
    expect(disabled[0]).toMatchObject({ actor: null, requestId: null, resource: { id, type: 'event-endpoint' } })
  })

  it('disables the endpoint at once with 410, with one event, and it continues when it is enabled', async () => {
    const { workspace, addEvents, queues, messages, message, read, received, tick, drain, send, path } =
      await withEndpoint({}, 410, 200)
    const watching = await addEndpoint(workspace, await workspace.addKey(), { types: '["event-endpoint.*"]' }, [])
    await addEvents(2)
    await deliverBatch([message, message], queues)
    expect(await read()).toMatchObject({
      disabledAt: inSeconds(0),
      disabledReason: 'It responded with HTTP 410.',
      nextAttemptAt: null,
      behind: 3,
    })
    // The others hear of it without a tick.
    expect(messages).toEqual([{ ...message, endpoint: { ...message.endpoint, id: watching.id } }])
    await drain()
    expect(await watching.received()).toHaveLength(1)
    advance(10 * MINUTE_MS)
    await tick()
    await drain()
    expect(await received()).toHaveLength(1)
    expect(await eventsOf(workspace, isDisabling)).toHaveLength(1)
    expect((await watching.received()).map(({ data }) => data.items[0]?.type)).toEqual(['event-endpoint.disabled'])
    await send('PATCH', path, { enabled: true })
    await drain()
    expect(await read()).toMatchObject({ disabledAt: null, disabledReason: null, behind: 0 })
    expect(new Set((await received()).slice(0, 2).map(({ id }) => id)).size).toBe(1)
    expect(sizes(await received()).slice(0, 2)).toEqual([2, 2])
  })

  it.each([
    ['30', 30],
    [new Date(Date.parse('2026-06-01T12:00:00Z') + 120_000).toUTCString(), 120],
    ['999999', 21_600],
  ])('waits as long as Retry-After says: %s', async (header, seconds) => {
    const busy = { body: '', status: 429, headers: { 'Retry-After': header } }
    const { addEvents, message, queues, read } = await withEndpoint({}, busy)
    await addEvents(1)
    await deliverBatch([message], queues)
    expect(await read()).toMatchObject({ nextAttemptAt: inSeconds(seconds), failingSince: inSeconds(0) })
  })

  it('waits as after any failure without a valid Retry-After', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const busy = { body: '', status: 429, headers: { 'Retry-After': 'soon' } }
    const { addEvents, message, queues, read } = await withEndpoint({}, busy)
    await addEvents(1)
    await deliverBatch([message], queues)
    expect((await read()).nextAttemptAt).toBe(inSeconds(60))
  })

  it.each([
    [301, 301, 'HTTP 301: redirects are not followed'],
    ['elsewhere', 307, 'HTTP 307: redirects are not followed'],
    [404, 404, 'HTTP 404'],
    [500, 500, 'HTTP 500'],
  ] as const)('says why: %s', async (answer, status, error) => {
    const { addEvents, message, queues, read } = await withEndpoint({}, answer)
    await addEvents(1)
    await deliverBatch([message], queues)
    expect((await read()).lastAttempts).toMatchObject([{ startedAt: inSeconds(0), status, error }])
  })

  it('says that the connection failed, and not what the URL is', async () => {
    const { addEvents, message, queues, read, receiver } = await withEndpoint()
    await addEvents(1)
    vi.spyOn(globalThis, 'fetch').mockRejectedValueOnce(new TypeError(`Nobody listens at ${receiver.url}`))
    await deliverBatch([message], queues)
    expect((await read()).lastAttempts).toMatchObject([{ status: null, error: 'The connection failed.' }])
  })

  it('is given up if the endpoint wants other events, and the next one has a new ID', async () => {
    const { addEvents, message, queues, read, received, send, path, drain } = await withEndpoint({}, 500, 200)
    await addEvents(4, (index) => ({ type: index % 2 ? 'skill.created' : 'project.created' }))
    await deliverBatch([message], queues)
    await send('PATCH', path, { types: ['skill.*'], enabled: true })
    await drain()
    const [first, second] = await received()
    expect(first?.data.items.map(({ type }) => type)).toHaveLength(4)
    expect(second?.data.items.map(({ type }) => type)).toEqual(['skill.created', 'skill.created'])
    expect(second?.id).not.toBe(first?.id)
    expect((await read()).failingSince).toBeNull()
  })

  it('keeps its ID if the note or the URL changes', async () => {
    const { addEvents, message, queues, received, send, path, drain } = await withEndpoint({}, 500, 200)
    await addEvents(1)
    await deliverBatch([message], queues)
    await send('PATCH', path, { note: 'Ask Ada.', enabled: true })
    await drain()
    const messages = await received()
    expect([messages.length, messages[1]?.id]).toEqual([3, messages[0]?.id])
  })

  it.each([
    ['URL', { sealedUrl: 'v1.lost.AAAA.AAAA' }, 'The URL cannot be decrypted. Set it again.'],
    ['secret', { sealedSecret: 'v1.lost.AAAA.AAAA' }, 'The secret cannot be decrypted. Rotate it.'],
  ])('says that the %s cannot be decrypted', async (_, values, error) => {
    const { workspace, addEvents, message, queues, read, received, id } = await withEndpoint()
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await workspace.change(eventEndpoints, id, values)
    await addEvents(1)
    await deliverBatch([message], queues)
    expect((await read()).lastAttempts).toMatchObject([{ status: null, error }])
    expect(await received()).toEqual([])
  })

  it('is not sent to this machine, whatever is stored', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const { id } = await workspace.addEventEndpoint({ url: 'https://127.0.0.1/events' })
    await workspace.addEvents(['2026-06-01T11:00:00.000Z'])
    await deliverBatch([{ endpoint: { organizationId: workspace.organizationId, id } }])
    const { body } = await request('GET', `/v1/event-endpoints/${id}`, { key })
    expect(body.lastAttempts[0].error).toMatch(/^The URL has an IP address instead of a host name; allowed: /)
  })
})

describe('the lease', () => {
  it('lets one of two consumers send', async () => {
    const { addEvents, message, queues, received, row } = await withEndpoint({}, { body: '', waitMs: 500 })
    await addEvents(1)
    await Promise.all([deliverBatch([message], queues), deliverBatch([message], queues)])
    expect(sizes(await received())).toEqual([1])
    expect(await row()).toMatchObject({ leaseId: null, leaseExpiresAt: null })
  })

  it('ends, and then another consumer sends the same message; the first one changes nothing any more', async () => {
    const { addEvents, message, queues, received, read } = await withEndpoint({}, 500, 200)
    await addEvents(1)
    const DB = interruptedDatabase(async () => {
      advance(59_000)
      await deliverBatch([message], queues)
      expect(await received()).toHaveLength(1)
      advance(2000)
      await deliverBatch([message], queues)
    }, 2)
    await deliverBatch([message], { ...queues, DB })
    const messages = await received()
    expect([messages.length, messages[1]?.id]).toEqual([2, messages[0]?.id])
    expect(await read()).toMatchObject({ behind: 0, failingSince: null, nextAttemptAt: null })
    expect((await read()).lastAttempts).toHaveLength(1)
  })

  it('is taken over by the tick if the service ends between the POST and the result', async () => {
    const { addEvents, message, queues, received, read, tick, drain } = await withEndpoint()
    await addEvents(2)
    let batches = 0
    const DB = databaseWith((statements) =>
      ++batches === 2 ? Promise.reject(new Error('D1_ERROR: Network connection lost.')) : env.DB.batch(statements),
    )
    await expect(deliverBatch([message], { ...queues, DB })).rejects.toThrow()
    await tick()
    await drain()
    expect(await received()).toHaveLength(1)
    advance(61_000)
    await tick()
    await drain()
    const messages = await received()
    expect([sizes(messages), messages[1]?.id]).toEqual([[2, 2], messages[0]?.id])
    expect((await read()).behind).toBe(0)
  })
})

describe('a change of the endpoint while a message is sent', () => {
  it('rewinds it: what was sent does not move it', async () => {
    const { addEvents, message, queues, received, send, path, read } = await withEndpoint({}, 200)
    await addEvents(3)
    const DB = interruptedDatabase(() => send('POST', `${path}/rewind`, { after: cursorOf(0) }), 2)
    await deliverBatch([message], { ...queues, DB })
    const messages = await received()
    expect(sizes(messages)).toEqual([3, 4])
    expect(messages[1]?.id).not.toBe(messages[0]?.id)
    expect((await read()).behind).toBe(0)
  })

  it('deletes it, without an error', async () => {
    const { workspace, addEvents, message, queues, send, path, received, messages } = await withEndpoint({}, 410)
    await addEvents(1)
    const DB = interruptedDatabase(() => send('DELETE', path), 2)
    await deliverBatch([message], { ...queues, DB })
    expect(await received()).toHaveLength(1)
    expect(await workspace.dump('eventEndpoints')).toEqual([])
    expect(await eventsOf(workspace, isDisabling)).toEqual([])
    expect(messages).toEqual([])
  })

  it('disables it: it stays disabled, and what was accepted counts', async () => {
    const { addEvents, message, queues, send, path, read, received } = await withEndpoint({}, 200)
    await addEvents(2)
    const DB = interruptedDatabase(() => send('PATCH', path, { enabled: false }), 2)
    await deliverBatch([message], { ...queues, DB })
    expect(await read()).toMatchObject({ disabledReason: 'A request disabled it.', behind: 1 })
    expect(await received()).toHaveLength(1)
  })
})

describe('the tick', () => {
  it('finds an endpoint whose hint was lost, and does not queue it again for five minutes', async () => {
    const { addEvents, message, messages, received, tick, drain } = await withEndpoint()
    await addEvents(2)
    await tick()
    expect(messages.splice(0)).toEqual([message])
    advance(4 * MINUTE_MS)
    await tick()
    expect(messages).toEqual([])
    advance(2 * MINUTE_MS)
    await tick()
    await drain()
    expect(sizes(await received())).toEqual([2])
    advance(10 * MINUTE_MS)
    await tick()
    expect(messages).toEqual([])
  })

  it('moves an endpoint past 1,000 events that it does not want, and not past fewer', async () => {
    const { addEvents, messages, tick, drain, received, read, lastSequence } = await withEndpoint({
      types: '["skill.*"]',
    })
    await addEvents(999)
    await tick()
    expect(messages).toEqual([])
    expect(await read()).toMatchObject({ cursor: cursorOf(0), behind: 0 })
    await addEvents(1)
    await tick()
    await drain()
    expect(await read()).toMatchObject({ cursor: cursorOf(lastSequence()), behind: 0, lastAttempts: [] })
    expect(await received()).toEqual([])
  })

  it('moves an endpoint past events that it does not want after a day, and not before', async () => {
    const { addEvents, messages, tick, drain, read, lastSequence } = await withEndpoint({ types: '["skill.*"]' })
    await addEvents(2)
    advance(DAY_MS - HOUR_MS - 1000)
    await tick()
    expect(messages).toEqual([])
    advance(2000)
    await tick()
    await drain()
    expect((await read()).cursor).toBe(cursorOf(lastSequence()))
  })

  it('does not keep a failing endpoint from its next attempt, or touch a disabled one', async () => {
    const { workspace, key, addEvents, messages, tick } = await withEndpoint({ nextAttemptAt: inSeconds(30) })
    await addEndpoint(workspace, key, { disabledAt: inSeconds(0) }, [])
    await addEvents(1)
    await tick()
    expect(messages).toEqual([])
    advance(31_000)
    await tick()
    expect(messages).toHaveLength(1)
  })
})

describe('an endpoint that hangs', () => {
  it('does not hold the queue, and is the only one that waits', async () => {
    const { workspace, key, addEvents, message, queues, messages, slow, read, received } = await withEndpoint(
      {},
      'wait',
    )
    const quick = await addEndpoint(workspace, key, {}, [])
    await addEvents(1)
    const context = createExecutionContext()
    const rest = vi.fn()
    const watched = { waitUntil: (promise: Promise<unknown>) => context.waitUntil(promise.finally(rest)) }
    const handOver = () => deliver(batchOf(message), deployed({ ...env, ...queues }), watched as never)
    await handOver()
    // The batch has ended, and the request goes on.
    expect(rest).not.toHaveBeenCalled()
    await deliverBatch([{ endpoint: { ...message.endpoint, id: quick.id } }], queues)
    expect(sizes(await quick.received())).toEqual([1])
    await handOver()
    await waitOnExecutionContext(context)
    expect((await read()).lastAttempts).toMatchObject([{ status: null, error: 'No response within 15 seconds.' }])
    expect(await received()).toHaveLength(1)
    expect([...messages, ...slow]).toEqual([])
  })

  it('leaves the rest to another message after five seconds', async () => {
    const { addEvents, message, queues, messages, received, drain } = await withEndpoint({ batch: 0 }, 200)
    await addEvents(3)
    let batches = 0
    const DB = databaseWith((statements) => {
      if (++batches === 4) advance(5000)
      return env.DB.batch(statements)
    })
    await deliverBatch([message], { ...queues, DB })
    expect(sizes(await received())).toEqual([1, 1])
    expect(messages).toEqual([message])
    await drain()
    expect(sizes(await received())).toEqual([1, 1, 1])
  })
})

it('sends with the queues of the service, from a change to the receiver', async () => {
  vi.useRealTimers()
  const { key, received } = await withEndpoint({ types: '["project.*"]' })
  for (const name of ['Website', 'Shop']) await request('PUT', '/v1/projects/website', { key, json: { name } })
  await expect.poll(async () => ids(await received()).length).toBe(2)
  expect((await received()).flatMap(({ data }) => data.items.map(({ type }) => type))).toEqual([
    'project.created',
    'project.updated',
  ])
})
