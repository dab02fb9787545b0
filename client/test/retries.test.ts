/** The client's `retrying`, on a service whose database fails. */
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { ORIGIN } from '../../test/support/api.ts'
import { databaseWith } from '../../test/support/bindings.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { createWorkspaceClient, retrying } from '../src/index.ts'
import { serve } from './support/serve.ts'

/** A service of which each answer of the list is made to fail: before the work, or after it. */
async function failing(...failures: readonly ('before' | 'after' | undefined)[]) {
  const workspace = await Workspace.create()
  const pauses: number[] = []
  let asked = 0
  const fetch = async (request: Request): Promise<Response> => {
    const failure = failures[asked++]
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
  const client = createWorkspaceClient(ORIGIN, await workspace.addKey(), { fetch: retrying({ fetch, wait }) })
  return { workspace, client, pauses, asked: () => asked }
}

const revisionOf = async (workspace: Workspace) => (await workspace.dump('projects'))[0]?.revision

describe('retrying', () => {
  it('repeats a read until it is answered, and waits as long as Retry-After says', async () => {
    const { client, pauses, asked } = await failing('before', 'after')
    const { data } = await client.GET('/v1/pins')
    expect(data).toEqual({ items: [], nextCursor: null })
    expect(asked()).toBe(3)
    expect(pauses).toEqual([5000, 5000])
  })

  it('waits longer each time where the answer does not say how long', async () => {
    const { workspace, client, pauses } = await failing('before', 'before', 'before')
    const path = { projectId: await workspace.addProject(), key: 'A' }
    const { response } = await client.DELETE('/v1/projects/{projectId}/environment-variables/{key}', {
      params: { path },
    })
    expect(response.status).toBe(404)
    expect(pauses.map((ms) => Math.floor(Math.log2(ms / 1000)))).toEqual([0, 1, 2])
  })

  it('gives up after five attempts, with the last answer', async () => {
    const { client, asked } = await failing('before', 'before', 'before', 'before', 'before', 'before')
    const { error, response } = await client.GET('/v1/pins')
    expect([asked(), response.status, error?.error]).toEqual([5, 503, expect.stringContaining('Retry after')])
  })

  it('makes one thing with an Idempotency-Key, also where the answer was lost', async () => {
    const { workspace, client, asked } = await failing('after')
    const { response } = await client.POST('/v1/agents/{agentId}/schedules', {
      params: { path: { agentId: await workspace.addAgent() }, header: { 'Idempotency-Key': 'one' } },
      body: { cron: '0 6 * * *' },
    })
    expect([asked(), response.status]).toEqual([2, 201])
    expect(await workspace.dump('schedules')).toHaveLength(1)
  })

  it('repeats a conditional PUT, which is 412 if the first was done and its answer was lost', async () => {
    const { workspace, client, asked } = await failing('after')
    const projectId = await workspace.addProject()
    const { response } = await client.PUT('/v1/projects/{projectId}', {
      params: { path: { projectId }, header: { 'If-Match': `"${await revisionOf(workspace)}"` } },
      body: { name: 'Edited' },
    })
    expect([asked(), response.status]).toEqual([2, 412])
    expect(await workspace.dump('projects')).toMatchObject([{ name: 'Edited' }])
  })

  it('does not repeat a POST without one', async () => {
    const { workspace, client, asked } = await failing('after')
    const { response } = await client.POST('/v1/agents/{agentId}/schedules', {
      params: { path: { agentId: await workspace.addAgent() } },
      body: { cron: '0 6 * * *' },
    })
    expect([asked(), response.status]).toEqual([1, 500])
    expect(await workspace.dump('schedules')).toHaveLength(1)
  })

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
      attempts: Number.POSITIVE_INFINITY,
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

  it.each([
    ['/v1/runs/0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81/acknowledge', 2],
    ['/v1/runs/0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81/complete', 2],
    ['/v1/runs/0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81/renew', 2],
    ['/v1/projects/website/environment-variables/lease', 2],
    ['/v1/runs/claim', 1],
    ['/v1/api-keys/0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81/rotate', 1],
  ])('after a lost response sends POST %s %i times', async (path, attempts) => {
    let asked = 0
    const fetch = async () => {
      if (asked++ === 0) throw new TypeError('Network connection lost.')
      return new Response('done')
    }
    const request = new Request(ORIGIN + path, { method: 'POST', body: '{}' })
    await retrying({ fetch, wait: async () => {} })(request).catch(() => {})
    expect(asked).toBe(attempts)
  })
})
