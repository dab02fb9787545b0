/**
 * Schedules whose runs a worker pulls, through the operations. The clock stands still, and moves when the test says so.
 */

import { v4 as newUuid } from 'uuid'
import { afterEach, expect, vi } from 'vitest'
import { request } from './api.ts'
import { stopClock } from './clock.ts'
import { env } from './env.ts'
import { newOutbox } from './queue.ts'
import { tick } from './tick.ts'
import { type KeyOptions, Workspace } from './workspace.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/** Fires in none of these tests. */
export const NEVER = '0 0 29 2 *'

/** Stops the clock before each test. After it, no schedule and no run is left for the ticks of the next. */
export function stopClocks(): void {
  stopClock()
  afterEach(async () => {
    vi.restoreAllMocks()
    const all = ['schedules', 'runs', 'missedSpans', 'runEndpoints', 'eventEndpoints', 'deletions']
    await env.DB.batch(all.map((table) => env.DB.prepare(`DELETE FROM "${table}"`)))
  })
}

export function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
}

/** The time after so many seconds. */
export const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

/** What happens in a minute of the clock. Its messages are lost. */
export const tickNow = () => tick(newOutbox().environment, new Date())

export type Worker = Awaited<ReturnType<typeof newWorker>>

/** A schedule that a PUT with these settings makes, and a worker of its organization. */
export async function newWorker(
  settings: object = {},
  { workspace, parentType = 'project' }: { workspace?: Workspace; parentType?: 'project' | 'agent' } = {},
) {
  const own = workspace ?? (await Workspace.create())
  const key = await own.addKey()
  const parentId = await (parentType === 'project' ? own.addProject() : own.addAgent())
  const scheduleId = newUuid()
  const path = `/v1/${parentType}s/${parentId}/schedules/${scheduleId}`
  const timing = { cron: NEVER, ...(parentType === 'project' && { timezone: 'UTC' }) }
  const put = (changed: object) => request('PUT', path, { key, json: { ...timing, ...changed } })
  expect((await put(settings)).status).toBe(201)
  const post = (operation: string, json: object, by = key) =>
    request('POST', `/v1/runs/${operation}`, { key: by, json })

  return {
    workspace: own,
    key,
    parentId,
    scheduleId,
    path,
    put,
    patch: (json: object) => request('PATCH', path, { key, json }),
    /** The schedule without its statistics. */
    schedule: async () => {
      const { statistics: _, ...schedule } = (await request('GET', path, { key })).body
      return schedule
    },
    /** Creates a run a second later. @returns the run. */
    run: async () => {
      advance(1000)
      const { status, body } = await request('POST', `${path}/runs`, { key })
      expect(status).toBe(201)
      return body
    },
    read: async (runId: string) => (await request('GET', `/v1/runs/${runId}`, { key })).body,
    acknowledge: (runId: string) => request('POST', `/v1/runs/${runId}/acknowledge`, { key }),
    claim: (json: object = {}, by = key) => post('claim', { leaseSeconds: 60, ...json }, by),
    /** Claims one run. @returns the run with its work. */
    claimOne: async (json: object = {}) => {
      const { status, body } = await post('claim', { leaseSeconds: 60, ...json })
      expect([status, body.items?.length]).toEqual([200, 1])
      return body.items[0]
    },
    renew: (runId: string, json: object, by = key) => post(`${runId}/renew`, { leaseSeconds: 60, ...json }, by),
    complete: (runId: string, json: object = {}, by = key) =>
      post(`${runId}/complete`, { outcome: 'succeeded', ...json }, by),
    addKey: (options: KeyOptions) => own.addKey(options),
    /** The row of a run. */
    row: async (runId: string) => (await own.dump('runs')).find(({ id }) => id === runId),
  }
}

/** The status of a response, with its error code if it has one. */
export const refusalOf = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  headers.get('Error-Code'),
]

export const idsOf = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id)
