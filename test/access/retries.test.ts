import { describe, expect, it } from 'vitest'
import { request } from '../support/api.ts'
import { databaseWith } from '../support/bindings.ts'
import { env } from '../support/env.ts'
import { skillOf } from '../support/skills.ts'
import { Workspace } from '../support/workspace.ts'

const AWAY = 'D1_ERROR: Network connection lost.'
const LOCKED = 'D1_ERROR: database is locked: SQLITE_BUSY'
const OVERLOADED = 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.'

/** A database whose first calls fail before or after their commit. */
function failingFor(times: number, message: string, when: 'before' | 'after' = 'before') {
  const use = { calls: 0 }
  const DB = databaseWith(async (statements) => {
    const fails = ++use.calls <= times
    if (fails && when === 'before') throw new Error(message)
    const results = await env.DB.batch(statements)
    if (fails) throw new Error(message)
    return results
  })
  return { DB, use }
}

async function place() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  await request('GET', '/v1/me', { key })
  return { workspace, key, agentId: await workspace.addAgent(), projectId: await workspace.addProject() }
}

type Place = Awaited<ReturnType<typeof place>>
const idempotent = { headers: { 'Idempotency-Key': 'one' } }

const REPEATABLE: [string, (place: Place, DB: D1Database) => ReturnType<typeof request>, number][] = [
  ['GET', ({ key }, DB) => request('GET', '/v1/projects', { key, environment: { DB } }), 200],
  [
    'PUT',
    ({ key }, DB) => request('PUT', '/v1/projects/website', { key, json: { name: 'Website' }, environment: { DB } }),
    201,
  ],
  [
    'POST with an Idempotency-Key',
    ({ key, agentId }, DB) =>
      request('POST', `/v1/agents/${agentId}/schedules`, {
        key,
        json: { cron: '@daily' },
        ...idempotent,
        environment: { DB },
      }),
    201,
  ],
]

const NOT_REPEATABLE: [string, (place: Place, DB: D1Database) => ReturnType<typeof request>, number][] = [
  [
    'POST without an Idempotency-Key',
    ({ key, agentId }, DB) =>
      request('POST', `/v1/agents/${agentId}/schedules`, {
        key,
        json: { cron: '@daily' },
        environment: { DB },
      }),
    500,
  ],
  [
    'POST whose answer has a token',
    ({ key }, DB) =>
      request('POST', '/v1/api-keys', {
        key,
        json: { name: 'a', scopes: [] },
        ...idempotent,
        environment: { DB },
      }),
    503,
  ],
  ...['If-Match', 'If-None-Match'].map((header): (typeof REPEATABLE)[number] => [
    `PUT with ${header}`,
    ({ key, projectId }, DB) =>
      request('PUT', `/v1/projects/${header === 'If-Match' ? projectId : 'website'}`, {
        key,
        json: { name: 'Website' },
        headers: { [header]: '*' },
        environment: { DB },
      }),
    503,
  ]),
  [
    'PATCH',
    ({ key, projectId }, DB) =>
      request('PATCH', `/v1/projects/${projectId}`, { key, json: { archived: true }, environment: { DB } }),
    503,
  ],
  [
    'DELETE',
    ({ key, projectId }, DB) => request('DELETE', `/v1/projects/${projectId}`, { key, environment: { DB } }),
    503,
  ],
]

describe('if the database is unavailable for a moment', () => {
  it.each(REPEATABLE)('a %s is retried and succeeds', async (method, send, status) => {
    for (const when of ['before', 'after'] as const) {
      for (const times of [1, 2]) {
        const { DB, use } = failingFor(times, AWAY, when)
        // A repeated PUT finds what the first attempt created.
        const expected = method === 'PUT' && when === 'after' ? 200 : status
        expect([(await send(await place(), DB)).status, use.calls]).toEqual([expected, times + 1])
      }
    }
  })

  it.each(REPEATABLE)('a %s is retried while another process writes to the database', async (_, send, status) => {
    const { DB, use } = failingFor(1, LOCKED)
    expect([(await send(await place(), DB)).status, use.calls]).toEqual([status, 2])
  })

  it.each(REPEATABLE)('a %s is tried at most three times', async (_, send) => {
    const { DB, use } = failingFor(99, AWAY)
    expect((await send(await place(), DB)).status).toBeGreaterThanOrEqual(500)
    expect(use.calls).toBe(3)
  })

  it.each(NOT_REPEATABLE)('a %s is tried once', async (_, send, status) => {
    const { DB, use } = failingFor(1, AWAY)
    expect([(await send(await place(), DB)).status, use.calls]).toEqual([status, 1])
  })
})

describe('if the database is overloaded', () => {
  it.each([...REPEATABLE, ...NOT_REPEATABLE])('a %s is tried once', async (_, send) => {
    const { DB, use } = failingFor(99, OVERLOADED)
    expect((await send(await place(), DB)).status).toBeGreaterThanOrEqual(500)
    expect(use.calls).toBe(1)
  })
})

it('the look-up of an API key before a large body is retried too', async () => {
  const workspace = await Workspace.create()
  const { DB, use } = failingFor(2, AWAY)
  const json = skillOf({ files: [{ filename: 'long.md', content: '#'.repeat(64 * 1024) }] })
  const { status } = await request('POST', '/v1/skills', {
    key: await workspace.addKey(),
    json,
    ...idempotent,
    environment: { DB },
  })
  // Two that fail, the look-up, two for the work, and the note of the key's first use.
  expect([status, use.calls]).toEqual([201, 6])
})

it('a change whose commit was not confirmed is made once', async () => {
  const { workspace, key, agentId } = await place()
  const { DB } = failingFor(2, AWAY, 'after')
  const { status } = await request('POST', `/v1/agents/${agentId}/schedules`, {
    key,
    json: { cron: '@daily' },
    ...idempotent,
    environment: { DB },
  })
  expect(status).toBe(201)
  expect(await workspace.dump('schedules')).toHaveLength(1)
  expect(await workspace.dump('auditEvents')).toHaveLength(1)
})
