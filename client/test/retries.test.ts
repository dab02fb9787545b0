/** What the client repeats, on a service whose database fails, and how long it waits. */

import { describe, expect, it } from 'vitest'
import { ORIGIN } from '../../test/support/api.ts'
import { databaseWith } from '../../test/support/bindings.ts'
import { env } from '../../test/support/env.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { Workspace as Client, type WorkspaceOptions } from '../src/index.ts'
import { CALLS } from '../src/resources.ts'
import { retrying } from '../src/retrying.ts'
import { serve } from './support/serve.ts'

/** A service of which each answer of the list is made to fail: before the work, after it, or by a proxy before it. */
async function failing(failures: readonly ('before' | 'after' | 'proxy')[], options: Partial<WorkspaceOptions> = {}) {
  const workspace = await Workspace.create()
  const pauses: number[] = []
  let asked = 0
  const fetch = async (request: Request): Promise<Response> => {
    const failure = failures[asked++]
    if (failure === 'proxy') return new Response('Bad gateway', { status: 502 })
    const DB = databaseWith(async (statements) => {
      if (failure === 'before') throw new Error('D1_ERROR: D1 DB is overloaded. Too many requests queued.')
      const results = await env.DB.batch(statements)
      if (failure === 'after') throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')
      return results
    })
    return serve(request, { DB })
  }
  const wait = async (ms: number) => {
    pauses.push(ms)
  }
  const client = new Client({ url: ORIGIN, apiKey: await workspace.addKey(), fetch, wait, ...options })
  return { workspace, client, pauses, asked: () => asked }
}

const revisionOf = async (workspace: Workspace) => (await workspace.dump('projects'))[0]?.revision

describe('the client repeats', () => {
  it('a read until it is answered, and waits as long as Retry-After says', async () => {
    const { client, pauses, asked } = await failing(['before', 'after'])
    expect(await client.pins.list().page()).toEqual({ items: [], nextCursor: null })
    expect(asked()).toBe(3)
    expect(pauses).toEqual([5000, 5000])
  })

  it('after longer each time where the answer does not say how long', async () => {
    const { workspace, client, pauses } = await failing(['proxy', 'proxy', 'proxy'], { maxRetries: 3 })
    const deletion = client.projects.environmentVariables.delete(await workspace.addProject(), 'A')
    await expect(deletion).rejects.toMatchObject({ status: 404 })
    expect(pauses.map((ms) => Math.floor(Math.log2(ms / 1000)))).toEqual([0, 1, 2])
  })

  it('twice, unless the client or the call says another number, and then throws the last answer', async () => {
    const always = Array.from({ length: 9 }, () => 'before' as const)
    const expected = {
      status: 503,
      code: 'unavailable',
      retryAfter: 5,
      message: expect.stringContaining('Retry after'),
    }
    const { client, asked } = await failing(always)
    await expect(client.pins.list().page()).rejects.toMatchObject(expected)
    expect(asked()).toBe(3)
    await expect(client.me.retrieve({ maxRetries: 0 })).rejects.toMatchObject(expected)
    expect(asked()).toBe(4)
    const other = await failing(always, { maxRetries: 1 })
    await expect(other.client.pins.list().page()).rejects.toMatchObject(expected)
    expect(other.asked()).toBe(2)
    await expect(other.client.pins.list({ maxRetries: 4 }).page()).rejects.toMatchObject(expected)
    expect(other.asked()).toBe(7)
  })

  it('a creation whose answer was lost, and makes one thing', async () => {
    const { workspace, client, asked } = await failing(['after'])
    const { response } = await client.agents.schedules
      .create(await workspace.addAgent(), { cron: '0 6 * * *' })
      .withResponse()
    expect([asked(), response.status]).toEqual([2, 201])
    expect(await workspace.dump('schedules')).toHaveLength(1)
  })

  it('with a new Idempotency-Key for each creation, or with that of the caller', async () => {
    const { workspace, client } = await failing([])
    const agentId = await workspace.addAgent()
    const create = (idempotencyKey?: string) =>
      client.agents.schedules.create(agentId, { cron: '0 6 * * *' }, { idempotencyKey })
    const [first, second] = [await create(), await create()]
    expect(second.id).not.toBe(first.id)
    expect((await create('mine')).id).toBe((await create('mine')).id)
    expect(await workspace.dump('schedules')).toHaveLength(3)
  })

  it('a conditional PUT, which is 412 if the first was done and its answer was lost', async () => {
    const { workspace, client, asked } = await failing(['after'])
    const projectId = await workspace.addProject()
    const ifMatch = `"${await revisionOf(workspace)}"`
    await expect(client.projects.put(projectId, { name: 'Edited' }, { ifMatch })).rejects.toMatchObject({ status: 412 })
    expect(asked()).toBe(2)
    expect(await workspace.dump('projects')).toMatchObject([{ name: 'Edited' }])
  })

  it('no POST of the low level without an Idempotency-Key', async () => {
    const { workspace, client, asked } = await failing(['after', 'after'])
    const create = async (header: object = {}) =>
      client.client.POST('/v1/agents/{agentId}/schedules', {
        params: { path: { agentId: await workspace.addAgent() }, header },
        body: { cron: '0 6 * * *' },
      })
    expect([(await create()).response.status, asked()]).toEqual([500, 1])
    expect([(await create({ 'Idempotency-Key': 'one' })).response.status, asked()]).toEqual([201, 3])
    expect(await workspace.dump('schedules')).toHaveLength(2)
  })

  it('each operation but those that would have another effect', async () => {
    const repeated: string[] = []
    let asked = 0
    const client = new Client({
      url: ORIGIN,
      apiKey: 'wsk_x',
      wait: async () => {},
      fetch: async () => {
        asked++
        throw new TypeError('Network connection lost.')
      },
    })
    for (const name of Object.keys(CALLS)) {
      asked = 0
      // biome-ignore lint/suspicious/noExplicitAny: one of a hundred methods
      const result = name.split('.').reduce((found: any, each) => found[each], client)('x', 'x', {}, {})
      await expect('page' in result ? result.page() : result).rejects.toThrow('Network connection lost.')
      if (asked > 1) repeated.push(name)
    }
    expect(Object.keys(CALLS).filter((name) => !repeated.includes(name))).toEqual([
      'me.sessions.create',
      'apiKeys.create',
      'apiKeys.rotate',
      'signInRules.create',
      'invitations.create',
      'eventEndpoints.create',
      'eventEndpoints.rotate',
      'eventEndpoints.test',
      'eventEndpoints.rewind',
      'runs.claim',
      'runs.redeliver',
      'runEndpoint.rotate',
      'skillFeeds.create',
    ])
  })
})

describe('an attempt', () => {
  /** A service that never answers, or of which the answer never ends. */
  const stuck = (answer: (signal: AbortSignal) => Response | undefined) => {
    let asked = 0
    const fetch = ({ signal }: Request) =>
      new Promise<Response>((resolve, reject) => {
        asked++
        const response = answer(signal)
        if (response) resolve(response)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    const client = new Client({ url: ORIGIN, apiKey: 'wsk_x', timeout: 20, wait: async () => {}, fetch })
    return { client, asked: () => asked }
  }

  it('ends in time, and is repeated if that is safe', async () => {
    const { client, asked } = stuck(() => undefined)
    const late = { name: 'TimeoutError', message: 'No response within 20 ms.' }
    await expect(client.me.retrieve()).rejects.toMatchObject(late)
    expect(asked()).toBe(3)
    await expect(client.runs.claim({ limit: 1, leaseSeconds: 60 })).rejects.toMatchObject(late)
    expect(asked()).toBe(4)
    await expect(client.me.retrieve({ timeout: 10, maxRetries: 0 })).rejects.toMatchObject({
      message: 'No response within 10 ms.',
    })
    expect(asked()).toBe(5)
  })

  it('has the JSON in time, too, and other content when it comes', async () => {
    const endless = (type: string) => (signal: AbortSignal) => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{'))
          // As `fetch` does.
          signal.addEventListener('abort', () => controller.error(signal.reason))
        },
      })
      return new Response(body, { headers: { 'Content-Type': type } })
    }
    const json = stuck(endless('application/json'))
    await expect(json.client.me.retrieve()).rejects.toMatchObject({ name: 'TimeoutError' })
    const file = stuck(endless('application/octet-stream'))
    const response = await file.client.sessions.files.content.retrieve('x', 'y')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await response.body?.getReader().read()).toMatchObject({ done: false })
  })

  it('ends when the caller aborts it, and is not repeated', async () => {
    const { client, asked } = stuck(() => undefined)
    const signal = AbortSignal.abort(new Error('no longer needed'))
    await expect(client.me.retrieve({ signal })).rejects.toThrow('no longer needed')
    expect(asked()).toBe(0)
    const controller = new AbortController()
    const call = client.me.retrieve({ signal: controller.signal, timeout: 1000 })
    setTimeout(() => controller.abort(new Error('too late')), 20)
    await expect(call).rejects.toThrow('too late')
    expect(asked()).toBe(1)
  })
})

describe('retrying', () => {
  it.each([400, 401, 403, 404, 409, 410, 412])('does not repeat %i', async (status) => {
    let asked = 0
    const answer = async () => {
      asked++
      return Response.json({ error: 'no' }, { status })
    }
    const response = await retrying({ fetch: answer })(new Request(ORIGIN))
    expect([asked, response.status]).toEqual([1, status])
  })

  it('repeats 429 whatever the method, and a lost connection where that is safe', async () => {
    const attempt = async (method: string, first: () => Promise<Response>) => {
      let asked = 0
      const fetch = async () => (asked++ === 0 ? first() : new Response('done'))
      await retrying({ fetch, wait: async () => {} })(new Request(ORIGIN, { method })).catch(() => {})
      return asked
    }
    const lost = () => Promise.reject(new TypeError('Network connection lost.'))
    expect(await attempt('POST', async () => new Response('', { status: 429 }))).toBe(2)
    expect(await attempt('PUT', lost)).toBe(2)
    expect(await attempt('POST', lost)).toBe(1)
  })

  it('makes as many attempts as it is told, and waits half a minute at most', async () => {
    const pauses: number[] = []
    let asked = 0
    const response = await retrying({
      maxRetries: Number.POSITIVE_INFINITY,
      fetch: async () => new Response('', { status: asked++ < 9 ? 502 : 200 }),
      wait: async (ms) => void pauses.push(ms),
    })(new Request(ORIGIN))
    expect([response.status, asked, pauses.length]).toEqual([200, 10, 9])
    expect(pauses.slice(5)).toEqual([30_000, 30_000, 30_000, 30_000])
  })

  it.each([
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:27:15 GMT', 45_000],
    ['Wed, 21 Oct 2026 07:27:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['Tue, 01 Jan 2999 00:00:00 GMT', undefined, 2 ** 31 - 1],
    ['999999999999', undefined, 2 ** 31 - 1],
    ['soon', undefined, undefined],
    ['-5', undefined, undefined],
    ['120', 'Wed, 21 Oct 2026 07:27:15 GMT', 120_000],
  ])('waits with Retry-After %j and Date %j for %d ms, or as without', async (after, date, expected) => {
    const pauses: number[] = []
    const headers = { 'Retry-After': after, ...(date && { Date: date }) }
    await retrying({
      maxRetries: Number.POSITIVE_INFINITY,
      fetch: async () => new Response('', { status: pauses.length < 3 ? 429 : 200, headers }),
      wait: async (ms) => void pauses.push(ms),
    })(new Request(ORIGIN))
    if (expected) expect(pauses).toEqual([expected, expected, expected])
    else expect(pauses.map((ms) => Math.floor(Math.log2(ms / 1000)))).toEqual([0, 1, 2])
  })

  it('leaves no listener on the signal of the request', async () => {
    const { signal } = new Request(ORIGIN, { signal: new AbortController().signal })
    const listeners = new Set<unknown>()
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = ((...[type, listener, options]: Parameters<typeof add>) => {
      listeners.add(listener)
      add(type, listener, options)
    }) as typeof add
    signal.removeEventListener = ((...[type, listener]: Parameters<typeof remove>) => {
      listeners.delete(listener)
      remove(type, listener)
    }) as typeof remove
    const request = new Request(ORIGIN)
    Object.defineProperty(request, 'signal', { value: signal })
    let asked = 0
    let most = 0
    const fetch = async () => new Response('', { status: asked++ === 0 ? 502 : 200 })
    const waiting = retrying({ fetch })(request)
    while (asked < 2) {
      most = Math.max(most, listeners.size)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await waiting
    expect([most, listeners.size]).toEqual([1, 0])
  })

  it('stops waiting when the request is aborted', async () => {
    const controller = new AbortController()
    let asked = 0
    const fetch = async () => {
      asked++
      setTimeout(() => controller.abort(), 10)
      return new Response('', { status: 429, headers: { 'Retry-After': '60' } })
    }
    const request = new Request(ORIGIN, { signal: controller.signal })
    await expect(retrying({ fetch })(request)).rejects.toThrow(/abort/)
    expect(asked).toBe(1)
  })

  it('does not wait for longer than an attempt may take, and returns the answer that says how long', async () => {
    let asked = 0
    const headers = { 'Retry-After': '61' }
    const fetch = async () => new Response('', { status: asked++ === 0 ? 429 : 200, headers })
    const request = new Request(ORIGIN)
    expect((await retrying({ fetch, wait: async () => {} })(request)).status).toBe(429)
    asked = 0
    expect((await retrying({ fetch, wait: async () => {}, timeout: 61_000 })(request)).status).toBe(200)
  })
})
