import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import worker from '../../src/index.ts'
import { ORIGIN, request } from '../support/api.ts'
import { failingDatabase, watchedDatabase } from '../support/bindings.ts'
import { databaseNumber, deployed, env } from '../support/env.ts'
import { exampleList, keyFor, send } from '../support/examples.ts'
import { tick } from '../support/tick.ts'
import { newToken } from '../support/tokens.ts'
import { Workspace } from '../support/workspace.ts'

const ID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'
const NO_USE = { calls: 0, ms: expect.any(Number), rowsRead: 0, rowsWritten: 0 }
const on: Partial<Cloudflare.Env> = { REQUEST_LOG: 'on' }

function watchConsole() {
  const silent = () => {}
  return {
    log: vi.spyOn(console, 'log').mockImplementation(silent),
    error: vi.spyOn(console, 'error').mockImplementation(silent),
  }
}

let watched: ReturnType<typeof watchConsole>

beforeEach(() => {
  watched = watchConsole()
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** The lines that were logged, and how; without the number of the database, which those that used one have. */
function lines() {
  const parsed = ({ mock }: { mock: { calls: unknown[][] } }) =>
    mock.calls.map(([text]) => {
      const { database, ...line } = JSON.parse(String(text))
      if (line.d1) expect(database ?? 0).toBe(databaseNumber())
      return line
    })
  return { log: parsed(watched.log), error: parsed(watched.error) }
}

/** A key that has been used within the hour. */
async function withKey() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  await request('GET', '/v1/me', { key })
  return { workspace, key, organizationId: workspace.organizationId }
}

describe.each(exampleList)('$operationId', ({ operationId, contract: { method, scope }, row }) => {
  it('is logged in one line that holds what an operator asks, and no more', async () => {
    const workspace = await Workspace.create()
    const example = await row.prepare(workspace)
    const key = await keyFor(workspace, example)
    await request('GET', '/v1/me', { key })
    const use = watchedDatabase()
    const environment = { ...example.environment, ...on, DB: use.DB }
    const { status, headers } = await send(operationId, { ...example, environment }, key)
    expect(status).toBeLessThan(300)

    const { log, error } = lines()
    const { calls, rowsRead, rowsWritten } = use
    expect(error).toEqual([])
    expect(log).toEqual([
      {
        requestId: headers.get('X-Request-Id'),
        organizationId: workspace.organizationId,
        operation: operationId,
        method,
        status,
        d1: { calls, ms: expect.any(Number), rowsRead, rowsWritten },
      },
    ])
    expect(calls).toBe(row.calls ?? 1)
    expect(rowsRead).toBeGreaterThan(0)
    expect(rowsWritten > 0).toBe(method !== 'GET' && !scope?.endsWith(':read'))
  })
})

describe('a refusal', () => {
  const skill = `/v1/skills/${ID}`
  const refused = { RATE_LIMIT: 'on', KEY_RATE_LIMIT: { limit: async () => ({ success: false }) } }

  it.each<[string, number, string, Parameters<typeof request>[2]]>([
    ['without a key', 401, 'api_key_missing', {}],
    ['of a malformed key', 401, 'api_key_invalid', { key: 'wsk_short' }],
    ['of too many requests', 429, 'rate_limited', { key: newToken(), environment: refused }],
  ])('%s is logged with the operation, and no use', async (_, status, errorCode, options) => {
    const environment = { ...options?.environment, ...on }
    const { headers } = await request('GET', skill, { ...options, environment })
    const requestId = headers.get('X-Request-Id')
    const line = { requestId, operation: 'retrieveSkill', method: 'GET', status, errorCode }
    expect(lines()).toEqual({ log: [line], error: [] })
  })

  it.each<[string, number, string, string, Record<string, string>]>([
    ['of a path that there is not', 404, 'GET', `/v1/nothing/${ID}`, {}],
    ['of a method', 405, 'PUT', skill, {}],
    ['of a length', 413, 'PATCH', `/v1/pins/session/${ID}`, { 'Content-Length': '1000000' }],
    ['of headers', 431, 'GET', skill, { 'X-More': 'x'.repeat(17_000) }],
  ])('%s is logged without an operation', async (_, status, method, path, headers) => {
    const answer = await request(method, path, { headers, environment: on })
    const requestId = answer.headers.get('X-Request-Id')
    const errorCode = answer.headers.get('Error-Code')
    expect(errorCode).toMatch(/^[a-z_]+$/)
    expect(lines()).toEqual({ log: [{ requestId, method, status, errorCode }], error: [] })
  })

  it.each(['unknown', 'revoked'])('of an %s key is logged without an organization', async (kind) => {
    const workspace = await Workspace.create()
    const { id, token } = await workspace.addKeyWithId()
    await workspace.revokeKey(id)
    const key = kind === 'unknown' ? newToken() : token
    for (const path of [skill, '/v1/skills/7']) await request('GET', path, { key, environment: on })
    const d1 = { ...NO_USE, calls: 1, rowsRead: expect.any(Number) }
    const errorCode = kind === 'unknown' ? 'api_key_invalid' : 'api_key_revoked'
    const requestId = expect.any(String)
    const line = { requestId, operation: 'retrieveSkill', method: 'GET', status: 401, errorCode, d1 }
    expect(lines()).toEqual({ log: [line, line], error: [] })
  })

  it.each([
    ['input', 400, '/v1/skills/7'],
    ['an id that nobody has', 404, skill],
  ])('of %s is logged with the organization', async (_, status, path) => {
    const { key, organizationId } = await withKey()
    const { headers } = await request('GET', path, { key, environment: on })
    const d1 = { ...NO_USE, calls: 1, rowsRead: expect.any(Number) }
    const requestId = headers.get('X-Request-Id')
    const errorCode = headers.get('Error-Code')
    expect(errorCode).not.toBeNull()
    const of = { requestId, organizationId, operation: 'retrieveSkill' }
    const line = { ...of, method: 'GET', status, errorCode, d1 }
    expect(lines()).toEqual({ log: [line], error: [] })
    expect(lines().log[0].d1.rowsRead).toBeGreaterThan(0)
  })
})

describe('a request of no operation', () => {
  it.each(['/health', '/openapi.json'])('is logged: %s', async (path) => {
    const { headers } = await request('GET', path, { environment: on })
    const requestId = headers.get('X-Request-Id')
    expect(lines()).toEqual({ log: [{ requestId, method: 'GET', status: 200 }], error: [] })
  })

  it('is logged as HEAD, if it is that', async () => {
    const context = createExecutionContext()
    const head = new Request(`${ORIGIN}/v1/skills/${ID}`, { method: 'HEAD' })
    await worker.fetch(head, deployed({ ...env, ...on }), context)
    await waitOnExecutionContext(context)
    expect(lines().log).toEqual([expect.objectContaining({ method: 'HEAD', status: 401 })])
  })
})

describe('what failed', () => {
  it.each(['on', 'off'])('is logged as an error with REQUEST_LOG %s, without its message', async (setting) => {
    const { key } = await withKey()
    const DB = failingDatabase(new Error(`There is no ${ID} for ${key}`))
    const environment = { REQUEST_LOG: setting, DB }
    const { status, headers } = await request('GET', `/v1/skills/${ID}`, { key, environment })
    expect(status).toBe(500)
    expect(lines()).toEqual({
      log: [],
      error: [
        {
          requestId: headers.get('X-Request-Id'),
          operation: 'retrieveSkill',
          method: 'GET',
          status,
          errorCode: 'internal_error',
          d1: { ...NO_USE, calls: 1 },
          failure: { name: 'Error', stack: expect.any(Array) },
        },
      ],
    })
    const { stack } = lines().error[0].failure
    expect(stack.length).toBeGreaterThan(0)
    expect(stack.filter((frame: string) => frame.includes(ID) || frame.includes(key))).toEqual([])
  })

  it('is logged with the words of the store, and with each attempt', async () => {
    const { key } = await withKey()
    const DB = failingDatabase(new Error('D1_ERROR: Network connection lost.'))
    expect((await request('GET', '/v1/projects', { key, environment: { DB } })).status).toBe(503)
    const [line] = lines().error
    expect(line).toMatchObject({
      operation: 'listProjects',
      status: 503,
      d1: { ...NO_USE, calls: 3 },
      failure: { message: 'D1_ERROR: Network connection lost.' },
    })
  })
})

describe('with REQUEST_LOG off', () => {
  it('nothing else is logged', async () => {
    const { key } = await withKey()
    const environment = { REQUEST_LOG: 'off' }
    await request('GET', '/v1/me', { key, environment })
    await request('GET', '/v1/nothing', { key, environment })
    await request('GET', '/v1/me', { environment })
    await tick({ ...env, ...environment }, new Date())
    expect(lines()).toEqual({ log: [], error: [] })
  })
})

describe('the tick', () => {
  const instant = new Date('2026-03-29T01:00:00.000Z')

  it('is logged in one line, with how late it was, what was due and what it asked', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: instant.getTime() + 1234 })
    const workspace = await Workspace.create()
    const [onTime, late] = [
      await workspace.addSchedule('agent', await workspace.addAgent(), { cron: '* * * * *' }),
      await workspace.addSchedule('agent', await workspace.addAgent(), { cron: '* * * * *' }),
    ]
    const dueAt = (id: string, minutes: number) =>
      env.DB.prepare('UPDATE "schedules" SET "nextRunAt" = ? WHERE "id" = ?')
        .bind(new Date(instant.getTime() - minutes * 60_000).toISOString(), id)
        .run()
    await dueAt(onTime, 1)
    await dueAt(late, 2)
    watched.log.mockClear()
    const use = watchedDatabase()
    await tick({ ...env, ...on, DB: use.DB }, instant)
    const { calls, rowsRead, rowsWritten } = use
    const d1 = { calls, ms: 0, rowsRead, rowsWritten }
    const schedules = { due: 2, late: 1 }
    expect(lines()).toEqual({
      log: [{ tick: instant.toISOString(), lateMs: 1234, schedules, d1 }],
      error: [],
    })
    expect(calls).toBeGreaterThan(1)
  })

  it('writes one row if nothing is due: when it ran', async () => {
    await env.DB.prepare('DELETE FROM "schedules"').run()
    // After the ticks of other tests.
    const later = new Date(Date.now() + 3_600_000)
    await tick(env, later)
    const { DB, ...use } = watchedDatabase()
    await tick({ ...env, DB }, later)
    const written = use.statements.filter(({ rowsWritten }) => rowsWritten > 0)
    expect(written).toEqual([expect.objectContaining({ rowsWritten: 1 })])
    await tick(env, instant)
    const { results } = await env.DB.prepare('SELECT * FROM "lastTick"').all()
    expect(results).toEqual([{ id: 1, scheduledAt: later.toISOString() }])
  })

  it('is logged after the tasks that failed', async () => {
    const DB = failingDatabase(new Error('There is no schedule'))
    await tick({ ...env, ...on, DB }, instant)
    const { log, error } = lines()
    expect(log).toEqual([
      {
        tick: instant.toISOString(),
        lateMs: expect.any(Number),
        schedules: { due: 0, late: 0 },
        d1: { ...NO_USE, calls: error.length },
      },
    ])
    expect(error.length).toBeGreaterThan(1)
    for (const line of error) expect(Object.keys(line)).toEqual(['task', 'failure'])
  })
})
