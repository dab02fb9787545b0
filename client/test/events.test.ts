/** `follow` of the client, on the service. */

import { describe, expect, expectTypeOf, it } from 'vitest'
import { ORIGIN, request } from '../../test/support/api.ts'
import { databaseWith } from '../../test/support/bindings.ts'
import { env } from '../../test/support/env.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { Workspace as Client, type FollowOptions, type WorkspaceEvent } from '../src/index.ts'
import { serve } from './support/serve.ts'

type Failure = 'before' | 'unreachable' | 429

/** An organization whose feed a client follows. Each wait adds what `onWait` does. */
async function withFeed(onWait: (count: number) => unknown = () => {}) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const requests: URL[] = []
  const pauses: number[] = []
  const failures: Failure[] = []
  const fetch = async (sent: Request): Promise<Response> => {
    requests.push(new URL(sent.url))
    const failure = failures.shift()
    if (failure === 'unreachable') throw new TypeError('fetch failed')
    if (failure === 429) return new Response('{"error":"Too many."}', { status: 429, headers: { 'Retry-After': '77' } })
    const DB = databaseWith(async (statements) => {
      if (failure === 'before') throw new Error('D1_ERROR: D1 DB is overloaded. Too many requests queued.')
      return env.DB.batch(statements)
    })
    return serve(sent, { DB })
  }
  const client = new Client({ url: ORIGIN, apiKey: key, fetch })
  const put = (name: string) => request('PUT', '/v1/projects/website', { key, json: { name } })
  const finish = new AbortController()
  const wait = async (ms: number) => {
    pauses.push(ms)
    await onWait(pauses.length)
  }
  const follow = (options: FollowOptions = {}) => client.events.follow({ signal: finish.signal, wait, ...options })
  return { workspace, client, put, requests, pauses, failures, finish, follow }
}

const namesOf = (found: readonly WorkspaceEvent[]) => found.map(({ resource }) => resource.name)

/** The next events of an iteration. */
async function take(iterator: AsyncIterator<WorkspaceEvent>, count: number): Promise<WorkspaceEvent[]> {
  const found: WorkspaceEvent[] = []
  while (found.length < count) {
    const { value, done } = await iterator.next()
    if (done) break
    found.push(value)
  }
  return found
}

describe('events.follow', () => {
  it('yields those that are there, in order, and each later one, with a pause at the end of the feed', async () => {
    const { put, pauses, requests, follow } = await withFeed((count) => put(`later ${count}`))
    for (const name of ['a', 'b', 'c']) await put(name)
    const feed = follow()
    expect(requests).toEqual([])
    const found = await take(feed[Symbol.asyncIterator](), 5)
    expectTypeOf(found).toEqualTypeOf<WorkspaceEvent[]>()
    expect(namesOf(found)).toEqual(['a', 'b', 'c', 'later 1', 'later 2'])
    expect(pauses).toEqual([5000, 5000])
  })

  it('begins after a cursor, or at the end, and has the filters in each request', async () => {
    const { put, requests, follow } = await withFeed((count) => put(`later ${count}`))
    await put('a')
    const now = follow({ after: 'now', types: 'project.*', projectId: 'website' })
    expect(now.cursor).toBe('now')
    expect(namesOf(await take(now[Symbol.asyncIterator](), 2))).toEqual(['later 1', 'later 2'])
    const [first, second] = requests.map(({ searchParams }) => Object.fromEntries(searchParams))
    expect(first).toEqual({ types: 'project.*', projectId: 'website', limit: '1000', after: 'now' })
    expect(second).toEqual({ ...first, after: expect.stringMatching(/^[0-9a-z]{11}$/) })
    await put('last')
    const next = follow({ after: now.cursor })
    expect(namesOf(await take(next[Symbol.asyncIterator](), 1))).toEqual(['last'])
  })

  it('tells a cursor that never skips an event that was not handled, and repeats none after a page', async () => {
    const { put, follow, finish } = await withFeed((count) => (count > 1 ? finish.abort() : undefined))
    for (const name of ['a', 'b', 'c']) await put(name)
    const feed = follow()
    const cursors: (string | undefined)[] = []
    for await (const _ of feed) cursors.push(feed.cursor)
    const [first, second, last] = cursors
    expect([first, second]).toEqual([undefined, undefined])
    expect(last).toMatch(/^[0-9a-z]{11}$/)
    expect(feed.cursor).toBe(last)
  })

  it('moves its cursor past events that the filters leave out', async () => {
    const { put, follow, finish } = await withFeed(() => finish.abort())
    await put('a')
    const feed = follow({ types: 'skill.*' })
    for await (const _ of feed) expect.unreachable()
    expect(feed.cursor).toMatch(/^[0-9a-z]{11}$/)
  })

  it('continues after failures where it was, waiting longer each time, or as long as Retry-After says', async () => {
    const { put, pauses, failures, follow } = await withFeed()
    const errors: string[] = []
    const iterator = follow({ onFailure: ({ message }) => errors.push(message) })[Symbol.asyncIterator]()
    for (const name of ['a', 'b']) await put(name)
    expect(namesOf(await take(iterator, 2))).toEqual(['a', 'b'])
    failures.push('before', 'unreachable', 'before', 429)
    await put('c')
    expect(namesOf(await take(iterator, 1))).toEqual(['c'])
    const [end = 0, ...backoffs] = pauses
    expect(end).toBe(5000)
    expect(backoffs).toHaveLength(4)
    for (const [index, pauseMs] of backoffs.slice(0, 3).entries()) {
      expect(pauseMs).toBeGreaterThanOrEqual(5000 * 2 ** index)
      expect(pauseMs).toBeLessThanOrEqual(7500 * 2 ** index)
    }
    expect(backoffs[3]).toBe(77_000)
    expect(errors).toEqual([
      expect.stringContaining('temporarily unavailable'),
      'fetch failed',
      expect.stringContaining('temporarily unavailable'),
      'Too many.',
    ])
  })

  it('never waits longer than some minutes without Retry-After', async () => {
    const { put, pauses, failures, follow } = await withFeed()
    await put('a')
    failures.push(...Array<Failure>(20).fill('unreachable'))
    await take(follow()[Symbol.asyncIterator](), 1)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(450_000)
  })

  it.each([
    [{ after: 'x' }, 400, 'invalid_input'],
    [{ after: '00000000000' }, 410, 'cursor_expired'],
  ] as const)('throws what does not pass: %j', async (options, status, code) => {
    const { workspace, follow, pauses } = await withFeed()
    await workspace.addEvents(['2020-01-01T00:00:00.000Z'])
    const error = await take(follow(options)[Symbol.asyncIterator](), 1).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'WorkspaceError', status, code })
    expect(pauses).toEqual([])
  })

  it('ends without an error when its signal is aborted: before, in a request, and while it waits', async () => {
    const { put, follow, client } = await withFeed()
    await put('a')
    expect(await take(follow({ signal: AbortSignal.abort() })[Symbol.asyncIterator](), 1)).toEqual([])
    const inRequest = new AbortController()
    const slow = new Client({
      url: ORIGIN,
      apiKey: 'x',
      fetch: async ({ signal }) => {
        inRequest.abort()
        throw signal.reason
      },
    })
    expect(await take(slow.events.follow({ signal: inRequest.signal })[Symbol.asyncIterator](), 1)).toEqual([])
    const waiting = new AbortController()
    const found: WorkspaceEvent[] = []
    setTimeout(() => waiting.abort(), 100)
    for await (const event of client.events.follow({ signal: waiting.signal, pollMs: 3_600_000 })) found.push(event)
    expect(namesOf(found)).toEqual(['a'])
  })
})
