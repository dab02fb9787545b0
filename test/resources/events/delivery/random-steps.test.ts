/**
 * Random steps with event endpoints: changes, lost and repeated hints, ticks, failing receivers, a database that fails
 * after the POST, rewinds. In the end, each endpoint has got every event that it wants, in order apart from repetitions.
 */

import * as fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { request } from '../../../support/api.ts'
import { databaseWith } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { addEndpoint, type Message, newQueues } from '../../../support/event-endpoints.ts'
import { eventsOf } from '../../../support/events.ts'
import { sized } from '../../../support/long-form.ts'
import { deliverBatch } from '../../../support/queue.ts'
import { advance, HOUR_MS, MINUTE_MS, stopClocks } from '../../../support/runs.ts'
import { Workspace } from '../../../support/workspace.ts'

stopClocks()

/** The settings of the endpoints, and the filters of the feed with the same events. */
const ENDPOINTS = [
  { values: {}, query: {} },
  { values: { batch: 0, types: '["project.*"]' }, query: { types: 'project.*' } },
  {
    values: { projectId: 'website', types: '["session.created","project.updated"]' },
    query: { types: 'session.created,project.updated', projectId: 'website' },
  },
]

const endpoint = fc.nat(ENDPOINTS.length - 1)
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      project: fc.constantFrom('website', 'shop'),
      session: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('hand over' as const), isRepeated: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail after the POST' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      endpoint,
      status: fc.constantFrom(200, 200, 500, 410, 302),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('tick' as const), minutes: fc.constantFrom(0, 1, 6, 60, 400) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rewind' as const),
      endpoint,
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('enable' as const), endpoint }) },
)

it('every wanted event arrives, in order, and none is left out', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const seen = { failed: 0, repeated: 0, accepted: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 60, size: 'max' }), async (steps) => {
      const world = await newWorld()
      for (const each of steps) await world.take(each)
      await world.settle()
      const { accepted, failed, repeated } = await world.check()
      seen.accepted += accepted
      seen.failed += failed
      seen.repeated += repeated
      await env.DB.prepare('DELETE FROM "eventEndpoints"').run()
    }),
    { numRuns: sized(6, 100), seed: env.SEED, endOnFailure: true },
  )
  expect(Math.min(seen.failed, seen.repeated, seen.accepted)).toBeGreaterThan(0)
})

async function newWorld() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const { messages, slow, queues, tick } = newQueues()
  const endpoints = await Promise.all(
    ENDPOINTS.map(async ({ values, query }) => ({
      ...(await addEndpoint(workspace, key, values, [200])),
      query,
      status: 200,
      /** The messages with the status that they got. */
      sent: [] as (Message & { status: number })[],
    })),
  )
  const send = (method: string, path: string, json: object) => request(method, path, { key, json, environment: queues })
  let names = 0

  /** Notes what arrived since. */
  async function collect() {
    for (const each of endpoints) {
      const all = await each.received()
      each.sent.push(...all.slice(each.sent.length).map((message) => ({ ...message, status: each.status })))
    }
  }

  async function handOver(isRepeated = false) {
    const [message] = [...messages.splice(0, 1), ...slow.splice(0, 1)]
    if (!message) return
    const twice = isRepeated ? [message, message] : [message]
    await Promise.all(twice.map((each) => deliverBatch([each], queues)))
  }

  async function answer(number: number, status: number) {
    const each = endpoints[number]
    if (!each) return
    each.status = status
    await each.receiver.answers(status === 302 ? 'elsewhere' : status)
  }

  async function take(step: Step) {
    advance(1)
    if (step.kind === 'change') {
      const { project, session } = step
      await send('PUT', `/v1/projects/${project}`, { name: `Name ${++names}` })
      if (session) await send('PUT', `/v1/sessions/${crypto.randomUUID()}`, { projectId: project, name: 'Fix it' })
    } else if (step.kind === 'hand over') await handOver(step.isRepeated)
    else if (step.kind === 'lose') messages.shift()
    else if (step.kind === 'fail after the POST') await failAfterPost()
    else if (step.kind === 'answer') await answer(step.endpoint, step.status)
    else if (step.kind === 'tick') {
      advance(step.minutes * MINUTE_MS)
      await tick()
    } else if (step.kind === 'rewind') {
      const { path, query } = endpoints[step.endpoint] as (typeof endpoints)[number]
      const events = await eventsOf(workspace, query)
      const { body } = await request('GET', `/v1/events?limit=${Math.max(1, Math.floor(step.part * events.length))}`, {
        key,
      })
      const { cursor } = (await request('GET', path, { key })).body
      // Never to a later place: what is between would be left out.
      if (body.nextCursor < cursor) await send('POST', `${path}/rewind`, { after: body.nextCursor })
    } else await send('PATCH', endpoints[step.endpoint]?.path ?? '', { enabled: true })
    await collect()
  }

  /** Acts as if the service ended before it could store the result. */
  async function failAfterPost() {
    const [message] = messages.splice(0, 1)
    if (!message) return
    let batches = 0
    const DB = databaseWith((statements) =>
      ++batches === 2 ? Promise.reject(new Error('D1_ERROR: Network connection lost.')) : env.DB.batch(statements),
    )
    await deliverBatch([message], { ...queues, DB }).catch(() => undefined)
  }

  /** All receivers accept what they get, until no endpoint is behind. */
  async function settle() {
    for (const [number, { path }] of endpoints.entries()) {
      await answer(number, 200)
      await send('PATCH', path, { enabled: true })
    }
    for (let round = 0; round < 5; round++) {
      advance(HOUR_MS)
      await tick()
      while (messages.length + slow.length > 0) await handOver()
      await collect()
    }
  }

  async function check() {
    const counts = { accepted: 0, failed: 0, repeated: 0 }
    for (const { sent, query, read } of endpoints) {
      expect(await read()).toMatchObject({ behind: 0, failingSince: null, disabledAt: null })
      const wanted = (await eventsOf(workspace, query)).map(({ id }) => id)
      const byId = new Map<string, string>()
      let reached = 0
      for (const { id, data, status } of sent) {
        const items = data.items.map((event) => event.id)
        // The same message always has the same events.
        expect(byId.get(id) ?? items.join()).toBe(items.join())
        if (byId.has(id)) counts.repeated++
        byId.set(id, items.join())
        const start = wanted.indexOf(items[0] ?? '')
        expect(wanted.slice(start, start + items.length)).toEqual(items)
        expect(start).toBeLessThanOrEqual(reached)
        const { body } = await request(
          'GET',
          `/v1/events?${new URLSearchParams({ ...query, after: data.nextCursor })}`,
          { key },
        )
        expect(body.items[0]?.id).toBe(wanted[start + items.length])
        if (status !== 200) counts.failed++
        else {
          counts.accepted++
          reached = Math.max(reached, start + items.length)
        }
      }
      expect(reached).toBe(wanted.length)
    }
    return counts
  }

  return { take, settle, check }
}

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
