import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import mcp from '../../mcp/src/index.ts'
import worker from '../../src/index.ts'
import { type ApiResponse, ORIGIN, type RequestOptions, request } from '../support/api.ts'
import { databaseNumber, deployed, env } from '../support/env.ts'
import { type Example, exampleList, keyFor, send } from '../support/examples.ts'
import { sampled } from '../support/long-form.ts'
import { newToken } from '../support/tokens.ts'
import { Workspace } from '../support/workspace.ts'

type Batch = (run: () => Promise<D1Result[]>) => Promise<D1Result[]>

/**
 * The test's database, which records the constraints and bookmarks of its sessions. @param around runs each
 * batch of a session.
 */
function recordedSessions(around: Batch = (run) => run()) {
  const constraints: (string | undefined)[] = []
  const bookmarks: (string | null)[] = []
  const withSession = (constraint?: string) => {
    constraints.push(constraint)
    const session = env.DB.withSession(constraint)
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: (statements: D1PreparedStatement[]) => around(() => session.batch(statements)),
      getBookmark() {
        const bookmark = session.getBookmark()
        bookmarks.push(bookmark)
        return bookmark
      },
    }
  }
  const DB = {
    prepare: (sql: string) => env.DB.prepare(sql),
    batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements),
    withSession,
  } as unknown as D1Database
  return { constraints, bookmarks, on: { READ_REPLICATION: 'on', DB } satisfies Partial<Cloudflare.Env> }
}

async function withKey() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  await request('GET', '/v1/me', { key })
  return { workspace, key }
}

const GZIP = [0x1f, 0x8b]

/** A bookmark of D1 as a client gets it: with the number of the database, unless it is 0. */
const sentAs = (bookmark: string | null = null) =>
  databaseNumber() === 0 ? bookmark : `${databaseNumber()}.${bookmark}`

/** An archive has the name of its skill, which differs. */
function bytesOf(body: Uint8Array): number[] {
  return GZIP.every((byte, index) => body[index] === byte) ? GZIP : [...body]
}

/** A response without the values that differ between equal responses. */
function comparable({ status, headers, body }: ApiResponse): string {
  const text = JSON.stringify([status, headers.get('Location'), body instanceof Uint8Array ? bytesOf(body) : body])
  return text
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'SHA-256')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}Z)?/g, 'TIME')
    .replaceAll(/"(enc|ciphertext)":"[\w-]+"/g, 'SEALED')
    .replaceAll(/"(nextCursor|cursor)":"[0-9a-z]{11}"/g, 'CURSOR')
    .replaceAll(/"milliseconds":\d+/g, 'MILLISECONDS')
    .replaceAll(/(ws[kf]\d*_|whsec_)[\w+/=]+/g, 'TOKEN')
}

/** The response to the example in a new workspace. */
async function responseTo(
  { operationId, row }: (typeof exampleList)[number],
  environment: Partial<Cloudflare.Env>,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiResponse> {
  const workspace = await Workspace.create()
  const example: Example = await row.prepare(workspace)
  const key = await keyFor(workspace, example)
  await request('GET', '/v1/me', { key })
  return send(
    operationId,
    {
      ...example,
      headers: { ...example.headers, ...headers },
      environment: { ...example.environment, ...environment },
    },
    key,
  )
}

/**
 * In which session an operation runs does not depend on its resource; those that use the object store have two batches.
 */
const tried = [...new Set([...exampleList.filter(({ row }) => row.calls === 2), ...sampled(4, exampleList)])]

describe.each(tried)('$operationId', (example) => {
  const isRead = example.contract.method === 'GET'

  it('returns the same from a session, and a bookmark', async () => {
    const { constraints, bookmarks, on } = recordedSessions()
    const withSession = await responseTo(example, on)
    const without = await responseTo(example, {})
    expect(withSession.status).toBeLessThan(300)
    expect(comparable(withSession)).toBe(comparable(without))
    expect(constraints).toEqual([isRead ? 'first-unconstrained' : 'first-primary'])
    expect(bookmarks.at(-1)).toMatch(/^[0-9a-f]+(-[0-9a-f]+){3}$/)
    expect(withSession.headers.get('X-Bookmark')).toBe(sentAs(bookmarks.at(-1)))
    expect(without.headers.has('X-Bookmark')).toBe(false)
  })

  it('begins at the bookmark of the request, if it reads', async () => {
    const { constraints, on } = recordedSessions()
    const bookmark = (await responseTo(example, on)).headers.get('X-Bookmark') ?? ''
    const { status } = await responseTo(example, on, { 'X-Bookmark': bookmark })
    expect(status).toBeLessThan(300)
    expect(constraints[1]).toBe(isRead ? bookmark.replace(/^\d+\./, '') : 'first-primary')
  })
})

describe('a bookmark', () => {
  const read = (options: RequestOptions) => request('GET', '/v1/projects/website', options)

  it("makes the next read see the caller's own change", async () => {
    const { key } = await withKey()
    const { on: environment } = recordedSessions()
    const json = { name: 'Website' }
    const put = await request('PUT', '/v1/projects/website', { key, json, environment })
    let bookmark = put.headers.get('X-Bookmark') ?? ''
    for (let walk = 0; walk < 3; walk++) {
      const { status, headers, body } = await read({ key, environment, headers: { 'X-Bookmark': bookmark } })
      expect([status, body.name]).toEqual([200, 'Website'])
      bookmark = headers.get('X-Bookmark') ?? ''
    }
  })

  it('is accepted by HEAD', async () => {
    const { key } = await withKey()
    const { constraints, on } = recordedSessions()
    const bookmark = (await request('GET', '/v1/me', { key, environment: on })).headers.get('X-Bookmark') ?? ''
    const context = createExecutionContext()
    const headers = { Authorization: `Bearer ${key}`, 'X-Bookmark': bookmark }
    const head = new Request(`${ORIGIN}/v1/me`, { method: 'HEAD', headers })
    const { status } = await worker.fetch(head, deployed({ ...env, ...on }), context)
    await waitOnExecutionContext(context)
    expect([status, constraints]).toEqual([200, ['first-unconstrained', bookmark.replace(/^\d+\./, '')]])
  })

  it.each(['', 'latest', 'first-unconstrained', 'first-come', '00000001-00000002', 'x'.repeat(300), newToken()])(
    'that is invalid makes a read begin at the primary: %j',
    async (bookmark) => {
      const { workspace, key } = await withKey()
      await workspace.addProject('website')
      const { constraints, on: environment } = recordedSessions()
      const { status } = await read({ key, environment, headers: { 'X-Bookmark': bookmark } })
      expect([status, constraints]).toEqual([200, ['first-primary']])
    },
  )

  it('that the MCP Worker sends makes a tool see what the call before wrote', async () => {
    const { workspace, key } = await withKey()
    const schedule = { agentId: await workspace.addAgent(), scheduleId: crypto.randomUUID(), cron: '@daily' }
    const { constraints, on } = recordedSessions()
    const context = createExecutionContext()
    const API = {
      fetch: (url: string, init: RequestInit) =>
        worker.fetch(new Request(url, init), deployed({ ...env, ...on }), context),
    } as unknown as Fetcher
    const call = async (name: string, input: object) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
      const headers = {
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
      }
      const sent = new Request<unknown, IncomingRequestCfProperties>(`${ORIGIN}/mcp`, {
        method: 'POST',
        headers,
        body: JSON.stringify(message),
      })
      const response = await mcp.fetch(sent, { API })
      const { result } = await response.json<{ result: { structuredContent: unknown } }>()
      return result.structuredContent
    }
    await call('create_schedule', schedule)
    expect(await call('list_schedules', {})).toMatchObject({ items: [{ id: schedule.scheduleId }] })
    await waitOnExecutionContext(context)
    expect(constraints).toEqual(['first-primary', 'first-primary'])
  })

  it('is not returned to a key that is not live', async () => {
    const { on: environment } = recordedSessions()
    const { status, headers } = await read({ key: newToken(), environment })
    expect([status, headers.has('X-Bookmark')]).toEqual([401, false])
  })

  it.each([
    '00000000-00000000-00000000-00000000000000000000000000000000',
    '00000001-00000002-00004e2f-0a1b2c3d4e5f60718293a4b5c6d7e8f9',
    'ffffffff-ffffffff-ffffffff-ffffffffffffffffffffffffffffffff',
  ])('that D1 never returned does not fail: %s', async (bookmark) => {
    const { workspace, key } = await withKey()
    await workspace.addProject('website')
    const { constraints, on: environment } = recordedSessions()
    const { status } = await read({ key, environment, headers: { 'X-Bookmark': sentAs(bookmark) ?? '' } })
    expect([status, constraints]).toEqual([200, [bookmark]])
  })
})

describe('without the setting', () => {
  it('no session begins, and no response has a bookmark', async () => {
    const { key } = await withKey()
    const { constraints, on } = recordedSessions()
    for (const READ_REPLICATION of ['off', '']) {
      const environment = { DB: on.DB, READ_REPLICATION }
      const headers = { 'X-Bookmark': 'latest' }
      const { status, headers: returned } = await request('GET', '/v1/me', { key, environment, headers })
      expect([status, returned.has('X-Bookmark'), constraints]).toEqual([200, false, []])
    }
    const response = await request('GET', '/v1/me', { key, environment: { DB: on.DB } })
    expect([response.headers.has('X-Bookmark'), constraints]).toEqual([false, []])
  })
})

describe('a transient failure of the database', () => {
  const TRANSIENT_FAILURE = 'D1_ERROR: Network connection lost.'

  /** Sessions whose first batches fail after they ran. */
  function failingSessions(times: number) {
    const use = { calls: 0 }
    const sessions = recordedSessions(async (run) => {
      const fails = ++use.calls <= times
      const results = await run()
      if (fails) throw new Error(TRANSIENT_FAILURE)
      return results
    })
    return { ...sessions, use }
  }

  const schedule = (key: string, agentId: string, options: RequestOptions) =>
    request('POST', `/v1/agents/${agentId}/schedules`, { key, json: { cron: '@daily' }, ...options })

  it('is retried for repeatable requests, in the same session, and done once', async () => {
    const { workspace, key } = await withKey()
    const agentId = await workspace.addAgent()
    const idempotent = { headers: { 'Idempotency-Key': 'one' } }
    for (const [ask, constraint] of [
      [
        (environment: Partial<Cloudflare.Env>) => request('GET', '/v1/projects', { key, environment }),
        'first-unconstrained',
      ],
      [
        (environment: Partial<Cloudflare.Env>) => schedule(key, agentId, { ...idempotent, environment }),
        'first-primary',
      ],
    ] as const) {
      const { constraints, on, use } = failingSessions(2)
      const { status, headers } = await ask(on)
      expect([status < 300, use.calls, constraints]).toEqual([true, 3, [constraint]])
      expect(headers.has('X-Bookmark')).toBe(true)
    }
    expect(await workspace.dump('schedules')).toHaveLength(1)
    expect(await workspace.dump('auditEvents')).toHaveLength(1)
  })

  it('is not retried for other requests', async () => {
    const { workspace, key } = await withKey()
    const agentId = await workspace.addAgent()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { on: environment, use } = failingSessions(1)
    const { status } = await schedule(key, agentId, { environment })
    vi.restoreAllMocks()
    expect([status, use.calls]).toEqual([500, 1])
  })
})
