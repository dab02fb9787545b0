/** What the mistakes of the table are made in: one workspace, whose names and IDs the requests contain. */

import * as tables from '../../src/db/schema.ts'
import type { ErrorCode } from '../../src/errors.ts'
import { type RequestOptions, request } from '../support/api.ts'
import { type KeyOptions, now, Workspace } from '../support/workspace.ts'

/** A request that is refused, and the whole answer. */
export interface Mistake extends Omit<RequestOptions, 'key'> {
  readonly mistake: string
  /** Method and path. `{run}` is the ID of a failed run, `{claimed}` of a claimed one, `{key}` of the key that sends the request. */
  readonly request: string
  /** Whose API key is sent; one of Ada with every scope if it is left out. */
  readonly as?: KeyName | 'nobody'
  readonly status: number
  /** The header `Error-Code`. */
  readonly code: ErrorCode
  readonly error: string
}

/** By theme. */
export type Mistakes = Readonly<Record<string, readonly Mistake[]>>

const id = (number: number) => `0198c2a4-7d1e-7c3a-9b52-0000000000${number}`
export const AGENT = id(10)
export const ARCHIVED_AGENT = id(11)
export const DELETED_AGENT = id(12)
/** A session of the project `website`. */
export const SESSION = id(20)
/** A session of the project `shop`. */
export const SHOP_SESSION = id(21)
export const ARCHIVED_SESSION = id(22)
export const DELETED_SESSION = id(23)
export const FILE = id(30)
export const SHOP_FILE = id(31)
export const SKILL = id(40)
export const OTHER_SKILL = id(41)
export const SCHEDULE = id(50)
export const DELETED_SCHEDULE = id(51)
/** A project whose ID is a UUID; Ada pinned it. */
export const PINNED = id(60)
export const UNPINNED = id(61)
/** An ID of nothing. */
export const MISSING = id(99)

const KEYS = {
  Ada: {},
  'a key without a user': { userId: null },
  'a key without scopes': { scopes: [] },
  'a key that may only manage keys': { scopes: ['api-keys:write'] },
  'a key for shop': { projectIds: ['shop'] },
  'an expired key': { expiresAt: '2020-01-01T00:00:00.000Z' },
  'a key until 2999': { expiresAt: '2999-01-01T00:00:00.000Z' },
  'a revoked key': {},
  'a rotated key': {},
  'a session': { kind: 'session', expiresAt: '2999-01-01T00:00:00.000Z' },
} as const satisfies Record<string, KeyOptions>

export type KeyName = keyof typeof KEYS

/** A workspace that the mistakes leave as it is. */
export async function prepareWorkspace() {
  const workspace = await Workspace.create()
  for (const user of ['ada', 'grace']) await workspace.addUser(user)
  for (const project of ['website', 'shop', 'archive', PINNED, UNPINNED]) await workspace.addProject(project)
  for (const agent of [AGENT, ARCHIVED_AGENT, DELETED_AGENT]) await workspace.addAgent(agent)
  await workspace.addSession('website', SESSION)
  await workspace.addSession('shop', SHOP_SESSION)
  await workspace.addSession('archive', ARCHIVED_SESSION)
  await workspace.addSession('website', DELETED_SESSION)
  await workspace.addSessionFile(SESSION, 'src/app.ts', FILE)
  await workspace.addSessionFile(SHOP_SESSION, 'src/shop.ts', SHOP_FILE)
  await workspace.addSkill({ 'SKILL.md': 'x' }, SKILL, 'release-notes')
  await workspace.addSkill({ 'SKILL.md': 'x' }, OTHER_SKILL, 'code-review')
  await workspace.addSchedule('project', 'website', { id: SCHEDULE })
  const run = await workspace.addRun(SCHEDULE, { status: 'failed', attempts: 6 })
  const claimed = await workspace.addRun(SCHEDULE, {
    status: 'delivered',
    scheduledAt: '2026-01-01T00:00:00.000Z',
    claimId: MISSING,
    checkAt: '2999-01-01T00:00:00.000Z',
  })
  await workspace.pin('project', PINNED, 'ada')
  await workspace.addVariable('website', 'TOKEN')
  await workspace.addSchedule('project', 'website', { id: DELETED_SCHEDULE })
  await workspace.deleteSchedule(DELETED_SCHEDULE)
  await workspace.delete('agent', DELETED_AGENT)
  await workspace.delete('session', DELETED_SESSION)
  await workspace.archiveAgent(ARCHIVED_AGENT)
  await workspace.archiveProject('archive')

  const keys = new Map<string, { id: string; token: string }>()
  for (const [name, options] of Object.entries(KEYS))
    keys.set(name, await workspace.addKeyWithId({ userId: 'ada', ...options }))
  const idOf = (name: KeyName) => keys.get(name)?.id ?? ''
  const tokenOf = (name: KeyName) => keys.get(name)?.token ?? ''
  await workspace.revokeKey(idOf('a revoked key'))
  await workspace.change(tables.apiKeys, idOf('a rotated key'), { rotatedAt: now() })

  const key = tokenOf('Ada')
  await workspace.addRunEndpoint()
  await request('POST', '/v1/run-endpoint/rotate', { key, json: { overlapSeconds: 3600 } })
  const schedule = { key, headers: { 'Idempotency-Key': 'used' }, json: { cron: '@daily' } }
  await request('POST', `/v1/agents/${AGENT}/schedules`, schedule)

  /** Makes a mistake. */
  return ({ request: line, as = 'Ada', mistake: _, status: __, error: ___, code: ____, ...options }: Mistake) => {
    const [method = '', path = ''] = line.split(' ')
    const filled = path
      .replace('{run}', run)
      .replace('{claimed}', claimed)
      .replace('{key}', as === 'nobody' ? '' : idOf(as))
      .replace('{rotated}', idOf('a rotated key'))
      .replace('{expired}', idOf('an expired key'))
      .replace('{session}', idOf('a session'))
    return request(method, filled, { ...options, ...(as !== 'nobody' && { key: tokenOf(as) }) })
  }
}
