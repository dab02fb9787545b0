/**
 * A model of the feed: writers whose transactions are delayed and fail at random while the clock runs forth and back, and
 * readers of the primary and of replicas that lag. Each reader gets each committed event once, in the order of commits.
 */

import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { request } from '../../support/api.ts'
import { databaseWith } from '../../support/bindings.ts'
import { START } from '../../support/clock.ts'
import { env } from '../../support/env.ts'
import type { ApiEvent } from '../../support/events.ts'
import { sized } from '../../support/long-form.ts'
import { Workspace } from '../../support/workspace.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const AWAY = 'D1_ERROR: Network connection lost.'

const write = fc.record({
  operation: fc.constantFrom('put', 'archive', 'set', 'sessions'),
  organization: fc.nat(1),
  /** How many events it records, if it records several. */
  size: fc.integer({ min: 1, max: 5 }),
  startMs: fc.nat(12),
  delayMs: fc.nat(12),
  /** The clock when it starts. */
  clockMs: fc.integer({ min: -3000, max: 3000 }),
  failures: fc.array(fc.constantFrom('none', 'before', 'in', 'after'), { maxLength: 3 }),
})
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never

const read = fc.record({
  organization: fc.nat(1),
  limit: fc.integer({ min: 1, max: 4 }),
  pauseMs: fc.nat(6),
  /** How many commits its replica is behind at most; 0: it reads the primary. */
  lag: fc.constantFrom(0, 0, 1, 3, 8),
  types: fc.constantFrom(undefined, 'environment-variable.*', 'project.*'),
})
type Read = typeof read extends fc.Arbitrary<infer Value> ? Value : never

/** An organization with what is known of its commits. */
async function newWorld() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  await request('GET', '/v1/me', { key })
  const projectId = await workspace.addProject()
  /** The numbers of all events after each commit, in the order of commits. */
  const states: number[][] = [[]]
  const events = env.DB.prepare(`SELECT "sequence" FROM "auditEvents" WHERE "organizationId" = ? ORDER BY "sequence"`)
  /** Runs a batch, and notes the events after it within its transaction. */
  const commit = async (statements: readonly D1PreparedStatement[]) => {
    const results = await env.DB.batch<{ sequence: number }>([...statements, events.bind(workspace.organizationId)])
    states.push((results.pop()?.results ?? []).map(({ sequence }) => sequence))
    return results
  }
  return { workspace, key, projectId, states, commit }
}
type World = Awaited<ReturnType<typeof newWorld>>

/** Sends the request. @returns how many events it has to have recorded, by its ID. */
async function run(world: World, { operation, size, delayMs, startMs, clockMs, failures }: Write, index: number) {
  const { workspace, key, projectId } = world
  const archived = operation === 'archive' ? await workspace.addProject(`a${index}`) : ''
  const maker = operation === 'sessions' ? await workspace.addKeyWithId({ sessions: size - 1 }) : undefined
  await scheduler.wait(startMs)
  vi.setSystemTime(START + clockMs)
  let attempts = 0
  let commits = 0
  const DB = databaseWith(async (statements) => {
    const failure = failures[attempts++] ?? 'none'
    await scheduler.wait(delayMs)
    if (failure === 'before') throw new Error(AWAY)
    if (failure === 'in') {
      const failing = env.DB.prepare('SELECT json(?)').bind('{')
      await expect(env.DB.batch([...statements, failing])).rejects.toThrow()
      throw new Error(AWAY)
    }
    const results = await world.commit(statements)
    commits++
    await scheduler.wait(delayMs)
    if (failure === 'after') throw new Error(AWAY)
    return results
  })
  const environment = { DB }
  const path = `/v1/projects/${projectId}`
  const variables = Array.from({ length: size }, (_, each) => ({ key: `KEY_${index}_${each}`, value: 'x' }))
  const headers = { 'Idempotency-Key': `request ${index}` }
  const sent = {
    put: () => request('PUT', `/v1/projects/p${index}`, { key, json: { name: `${index}` }, environment }),
    archive: () => request('PATCH', `/v1/projects/${archived}`, { key, json: { archived: true }, environment }),
    set: () => request('POST', `${path}/environment-variables`, { key, json: { variables }, headers, environment }),
    sessions: () => request('DELETE', `/v1/api-keys/${maker?.id}`, { key, environment }),
  }
  const { status, headers: answered } = await sent[operation]()
  if (failures.every((failure) => failure === 'none'))
    expect([operation, status]).toEqual([operation, expect.toSatisfy((is) => is < 300)])
  const recorded = operation === 'sessions' ? size : 1
  return { requestId: answered.get('X-Request-Id') ?? '', recorded: commits > 0 ? recorded : 0, commits }
}

/** Polls until the writers are done and nothing is left. @returns what it read. */
async function follow(world: World, { limit, pauseMs, lag, types }: Read, isDone: () => boolean) {
  const { workspace, states, key } = world
  const { organizationId } = workspace
  let seen = 0
  const found: ApiEvent[] = []
  let after: string | undefined
  for (;;) {
    const wasDone = isDone()
    // A replica is at the state after some commit, and never goes back.
    seen = Math.max(seen, wasDone ? states.length - 1 : states.length - 1 - Math.floor(Math.random() * (lag + 1)))
    const last = states[seen]?.at(-1) ?? 0
    const move = (from: string, to: string) =>
      env.DB.prepare(
        `UPDATE "auditEvents" SET "organizationId" = ?2 WHERE "organizationId" = ?1 AND "sequence" > ?3`,
      ).bind(from, to, last)
    const DB = databaseWith(async (statements) => {
      if (lag === 0) return env.DB.batch(statements)
      // The later events are out of the way for the time of the transaction.
      const later = `${organizationId} later`
      const results = await env.DB.batch([move(organizationId, later), ...statements, move(later, organizationId)])
      return results.slice(1, -1)
    })
    const query = new URLSearchParams({ limit: String(limit), ...(types && { types }), ...(after && { after }) })
    const { status, body } = await request('GET', `/v1/events?${query}`, { key, environment: { DB } })
    expect(status).toBe(200)
    found.push(...body.items)
    after = body.nextCursor
    if (wasDone && !body.hasMore) return found
    await scheduler.wait(pauseMs)
  }
}

describe('readers of the feed', () => {
  it('get every committed event once, in order, and none that did not commit', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const property = fc.asyncProperty(
      fc.array(write, { minLength: 4, maxLength: 14 }),
      fc.array(read, { minLength: 1, maxLength: 4 }),
      async (writes, reads) => {
        vi.useFakeTimers({ toFake: ['Date'], now: START })
        const worlds = [await newWorld(), await newWorld()] as const
        const worldOf = ({ organization }: { organization: number }) => worlds[organization] as World
        let isDone = false
        const readers = reads.map((each) => follow(worldOf(each), each, () => isDone))
        const written = await Promise.all(writes.map((each, index) => run(worldOf(each), each, index)))
        isDone = true
        vi.setSystemTime(START + 10_000)
        const read = await Promise.all(readers)

        for (const [organization, world] of worlds.entries()) {
          // No commit puts an event before one of an earlier commit.
          const states = world.states.toSorted((a, b) => a.length - b.length)
          for (const [index, state] of states.entries())
            expect(state.slice(0, states[index - 1]?.length)).toEqual(states[index - 1] ?? state.slice(0, 0))
          const expected = await follow(
            world,
            { organization, limit: 1000, pauseMs: 0, lag: 0, types: undefined },
            () => true,
          )
          expect(expected).toHaveLength(states.at(-1)?.length ?? 0)
          const counts = new Map<string | null, number>()
          for (const { requestId } of expected) counts.set(requestId, (counts.get(requestId) ?? 0) + 1)
          const own = written.filter((_, index) => writes[index]?.organization === organization)
          expect(counts).toEqual(
            new Map(
              own
                .filter(({ recorded }) => recorded > 0)
                .map(({ requestId, recorded }): [string, number] => [requestId, recorded])
                .sort(([a], [b]) => [...counts.keys()].indexOf(a) - [...counts.keys()].indexOf(b)),
            ),
          )
          expect(new Set(expected.map(({ id }) => id)).size).toBe(expected.length)
          for (const [index, found] of read.entries()) {
            const { types, organization: ofReader } = reads[index] as Read
            if (ofReader !== organization) continue
            const wanted = expected.filter(({ type }) => types === undefined || type.startsWith(types.slice(0, -1)))
            expect(found.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
          }
        }
      },
    )
    await fc.assert(property, { numRuns: sized(15, 400), seed: env.SEED })
  })

  it('miss nothing if the transaction of an earlier request commits after that of a later one', async () => {
    const { workspace, key } = await newWorld()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const environment = {
      DB: databaseWith(async (statements) => {
        await released
        return env.DB.batch(statements)
      }),
    }
    const slow = request('PUT', '/v1/projects/slow', { key, json: { name: 'slow' }, environment })
    await scheduler.wait(5)
    await request('PUT', '/v1/projects/fast', { key, json: { name: 'fast' } })
    const first = (await request('GET', '/v1/events', { key })).body
    release()
    await slow
    const second = (await request('GET', `/v1/events?after=${first.nextCursor}`, { key })).body
    const idsIn = ({ items }: { items: ApiEvent[] }) => items.map(({ resource }) => resource.id)
    expect([idsIn(first), idsIn(second)]).toEqual([['fast'], ['slow']])
    expect(await workspace.dump('auditEvents')).toHaveLength(2)
  })
})
