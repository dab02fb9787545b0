import { expect } from 'vitest'
import { nextRun } from '../../src/cron/next-run.ts'
import { type ApiResponse, type RequestOptions, request } from './api.ts'
import { MINUTE_MS } from './runs.ts'
import { Workspace } from './workspace.ts'

export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const ALLOWED_ID = 'allowed: a UUID such as "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70".'

export const DAY_MS = 24 * 60 * MINUTE_MS

/** What differs between the two types of parent. */
export const PROJECT = {
  parent: 'project' as 'project' | 'agent',
  idName: 'projectId',
  json: { cron: '30 9 * * *', timezone: 'UTC' },
  pathOf: (id: string) => `/v1/projects/${encodeURIComponent(id)}/schedules`,
  add: (workspace: Workspace, id?: string) => workspace.addProject(id),
  archive: (workspace: Workspace, id: string) => workspace.archiveProject(id),
}
export const AGENT: typeof PROJECT = {
  parent: 'agent',
  idName: 'agentId',
  json: { cron: '30 9 * * *' } as typeof PROJECT.json,
  pathOf: (id) => `/v1/agents/${encodeURIComponent(id)}/schedules`,
  add: (workspace, id) => workspace.addAgent(id),
  archive: (workspace, id) => workspace.archiveAgent(id),
}

export async function withParent(kind: typeof PROJECT, parentId?: string) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const id = await kind.add(workspace, parentId)
  const create = (json: unknown = kind.json, more: RequestOptions = {}) =>
    request('POST', kind.pathOf(id), { key, json, ...more })
  const count = async () => (await workspace.dump('schedules')).length
  return { workspace, key, id, create, count }
}

export const idempotent = (key: string) => ({ headers: { 'Idempotency-Key': key } })

/** A cron expression of this length that fires every minute. */
export const cronOfLength = (length: number) => `*${' '.repeat(length - 8)}* * * *`

/** The next instant at this many milliseconds after midnight UTC. */
export function nextDaily(after: string, timeOfDayMs: number): string {
  const midnight = Math.floor(Date.parse(after) / DAY_MS) * DAY_MS
  const today = midnight + timeOfDayMs
  return new Date(today > Date.parse(after) ? today : today + DAY_MS).toISOString()
}

/** A parent with one schedule, and requests for it. */
export async function withSchedule(kind: typeof PROJECT, json: object = kind.json) {
  const parent = await withParent(kind)
  const { workspace, key, id, create } = parent
  const schedule = running((await create(json)).body)
  const path = `${kind.pathOf(id)}/${schedule.id}`
  const send = (method: string, more: RequestOptions = {}) =>
    request(method, path, { key, ...(method === 'PATCH' && { json: { enabled: false } }), ...more })
  const patch = (change: unknown, more: RequestOptions = {}) => request('PATCH', path, { key, json: change, ...more })
  const list = (query = '', more: RequestOptions = {}) => request('GET', kind.pathOf(id) + query, { key, ...more })
  const rows = () => workspace.dump('schedules')
  return { ...parent, schedule, path, send, patch, list, rows }
}

/** The settings that a request leaves out. */
export const DEFAULTS = {
  name: null,
  runAt: null,
  payload: null,
  overlap: 'allow',
  maxRunSeconds: null,
  pauseAfterFailures: null,
  note: null,
}

/** A schedule as all operations but its creation by a POST return it. */
export const running = (created: ApiResponse['body']) => ({ ...DEFAULTS, ...created, pausedReason: null })

/** The same, as a GET of one returns it if it has had no runs. */
export const withoutRuns = (schedule: ApiResponse['body']) => ({
  ...schedule,
  statistics: {
    since: expect.stringMatching(INSTANT),
    runs: 0,
    succeeded: 0,
    failed: 0,
    medianSeconds: null,
  },
})

/** The next instant of the expression in the time zone, as the API returns it. */
export const nextOf = (cron: string, timezone: string, after: string) =>
  nextRun(cron, timezone, new Date(after)).toISOString()

/** A far time, and one that has passed. */
export const FAR = '2999-01-01T00:00:00.000Z'
export const PAST = '2020-01-01T00:00:00.000Z'

/** Settings that all differ from the defaults. */
export const SETTINGS = {
  name: 'Nightly build',
  payload: { branch: 'main', steps: [1, null] },
  overlap: 'skip',
  maxRunSeconds: 3600,
  pauseAfterFailures: 3,
  note: 'Ask Ada.',
}

/** Pauses it as the service does. */
export const PAUSED = {
  enabledAt: null,
  nextRunAt: null,
  pausedReason: '3 runs in a row failed. The last failure (task): Tests failed.',
}
