import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startOfIds } from '../../../src/db/time-ids.ts'
import { request } from '../../support/api.ts'
import { failingDatabase, watchedDatabase } from '../../support/bindings.ts'
import { exampleList, insufficientKeys, keyFor, send, successOf } from '../../support/examples.ts'
import { Workspace } from '../../support/workspace.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

type Event = Record<'id' | 'operation' | 'target' | 'apiKeyId' | 'requestId', string>

const eventsOf = async (workspace: Workspace, query = '') =>
  (await request('GET', `/v1/audit-events${query}`, { key: await workspace.addKey() })).body

/** The events that `act` adds to the workspace. */
async function eventsSince(workspace: Workspace, act: () => Promise<unknown>) {
  const before = (await workspace.dump('auditEvents')).map(({ id }) => id)
  await act()
  return (await workspace.dump('auditEvents')).filter(({ id }) => !before.includes(id))
}

const recorded = exampleList.filter(({ contract, row }) => contract.method !== 'GET' && !row.isUnrecorded)

describe.each(recorded)('the audit events of $operationId', ({ operationId, contract, row }) => {
  it('are one for a change, with the API key, the user, the operation, the target and the request', async () => {
    const workspace = await Workspace.create()
    const example = await row.prepare(workspace)
    const { id: keyId, token } = await workspace.addKeyWithId(example.keyOptions)
    let answer = await send(operationId, { ...example, path: '/v1/me' }, token)
    const events = await eventsSince(workspace, async () => {
      answer = await send(operationId, example, token)
    })
    expect(answer.status).toBe(successOf(contract))
    const [path = ''] = example.path.split('?')
    const made = answer.headers.get('Location')?.split('/').at(-1)
    const isOne = contract.success.status === 201 && operationId !== 'setEnvironmentVariables'
    expect(events).toEqual([
      {
        organizationId: workspace.organizationId,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        operation: operationId,
        target: isOne ? `${path}/${made}` : path + (row.recordsAfterPath ?? ''),
        apiKeyId: keyId,
        apiKeyName: 'test',
        userId: workspace.userId,
        requestId: answer.headers.get('X-Request-Id'),
      },
    ])
  })

  it('are none for a request that is refused or does not reach the database', async () => {
    const workspace = await Workspace.create()
    const example = await row.prepare(workspace)
    const keys = insufficientKeys.filter(({ status }) => status(contract, row))
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const events = await eventsSince(workspace, async () => {
      for (const { mint } of keys) await send(operationId, example, await mint(workspace, contract, example))
      await send(operationId, example)
      const environment = { DB: failingDatabase(new Error('D1_ERROR: Network connection lost.')) }
      await send(operationId, { ...example, environment }, await workspace.addKey())
    })
    expect(events.filter(({ operation }) => operation === operationId)).toEqual([])
  })

  const refusals = Object.entries(row.variations).filter(([, { status = 200 }]) => status >= 400)
  it.each(refusals)('are none for an error: %s', async (_, { apply, needs }) => {
    const workspace = await Workspace.create()
    let example = await row.prepare(workspace)
    if (needs) example = (await row.variations[needs]?.apply(workspace, example)) ?? example
    example = await apply(workspace, example)
    const key = await keyFor(workspace, example)
    expect(await eventsSince(workspace, () => send(operationId, example, key))).toEqual([])
  })
})

describe('audit events', () => {
  it('are listed latest first, page by page, for the own organization only', async () => {
    const workspace = await Workspace.create()
    const other = await Workspace.create()
    const key = await workspace.addKey()
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await request('PUT', `/v1/projects/${name}`, { key, json: { name } })
      await request('PUT', `/v1/projects/${name}`, { key: await other.addKey(), json: { name } })
    }
    const found: string[] = []
    for (let query = '?limit=2'; query; ) {
      const { items, nextCursor } = await eventsOf(workspace, query)
      expect(items.length).toBeLessThanOrEqual(2)
      found.push(...items.map(({ target }: { target: string }) => target))
      query = nextCursor && `?limit=2&cursor=${nextCursor}`
    }
    expect(found).toEqual(['e', 'd', 'c', 'b', 'a'].map((name) => `/v1/projects/${name}`))
  })

  it('contain the user and the API key, and no value of the request', async () => {
    const workspace = await Workspace.create()
    const project = await workspace.addProject()
    const { id, token } = await workspace.addKeyWithId({ userId: null })
    const json = { value: 'a secret value' }
    await request('PUT', `/v1/projects/${project}/environment-variables/TOKEN`, { key: token, json })
    const { items } = await eventsOf(workspace)
    expect(items).toMatchObject([
      { apiKeyId: id, apiKeyName: 'test', userId: null, operation: 'putEnvironmentVariable' },
    ])
    expect(JSON.stringify(items)).not.toContain('secret value')
  })

  it('record changes that revoke the API key that makes them', async () => {
    const workspace = await Workspace.create()
    const own = await workspace.addKeyWithId()
    await request('DELETE', `/v1/api-keys/${own.id}`, { key: own.token })
    const rotated = await workspace.addKeyWithId()
    const json = { overlapSeconds: 0 }
    await request('POST', `/v1/api-keys/${rotated.id}/rotate`, { key: rotated.token, json })
    const last = await workspace.addKeyWithId()
    const { headers } = await request('DELETE', `/v1/users/${workspace.userId}`, { key: last.token })
    const reader = await workspace.addKey({ userId: null })
    const { items } = (await request('GET', '/v1/audit-events', { key: reader })).body
    const changes = items.filter(({ requestId }: Event) => requestId !== headers.get('X-Request-Id'))
    expect(changes.map(({ operation }: Event) => operation)).toEqual(['rotateApiKey', 'deleteApiKey'])
    expect(items.filter(({ target }: Event) => target === `/v1/api-keys/${last.id}`)).toMatchObject([
      { operation: 'deleteUser', apiKeyId: last.id },
    ])
  })

  it('record each API key that the deletion of a user revoked, with the request that revoked it', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKeyWithId({ userId: null })
    const userId = await workspace.addUser()
    const revoked = [
      await workspace.addKeyWithId({ userId }),
      await workspace.addKeyWithId({ userId, projectIds: [] }),
      await workspace.addKeyWithId({ userId, expiresAt: '2020-01-01T00:00:00.000Z' }),
    ]
    await workspace.addKeyWithId()
    const gone = await workspace.addKeyWithId({ userId })
    await workspace.revokeKey(gone.id)
    const { status, headers } = await request('DELETE', `/v1/users/${userId}`, { key: admin.token })
    expect(status).toBe(200)
    const events = (await workspace.dump('auditEvents')) as unknown as Event[]
    expect(events.map(({ target }) => target).sort()).toEqual(
      [`/v1/users/${userId}`, ...revoked.map(({ id }) => `/v1/api-keys/${id}`)].sort(),
    )
    for (const { id, operation, apiKeyId, requestId } of events) {
      expect([operation, apiKeyId, requestId]).toEqual(['deleteUser', admin.id, headers.get('X-Request-Id')])
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
    expect(new Set(events.map(({ id }) => id.slice(0, 24))).size).toBe(1)
  })

  it('record each descendant that the deletion of an API key revoked, with the request that revoked it', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKeyWithId({ userId: null })
    const stolen = await workspace.addKeyWithId()
    const child = await workspace.addKeyWithId({ createdByKeyId: stolen.id })
    const gone = await workspace.addKeyWithId({ createdByKeyId: stolen.id })
    await workspace.revokeKey(gone.id)
    const grandchild = await workspace.addKeyWithId({ createdByKeyId: gone.id })
    await workspace.addKeyWithId({ createdByKeyId: admin.id })
    const path = `/v1/api-keys/${stolen.id}?descendants=true`
    const { headers } = await request('DELETE', path, { key: admin.token })
    const events = (await workspace.dump('auditEvents')) as unknown as Event[]
    expect(events.map(({ target }) => target).sort()).toEqual(
      [stolen, child, grandchild].map(({ id }) => `/v1/api-keys/${id}`).sort(),
    )
    for (const { operation, apiKeyId, requestId } of events) {
      expect([operation, apiKeyId, requestId]).toEqual(['deleteApiKey', admin.id, headers.get('X-Request-Id')])
    }
    expect((await request('DELETE', path, { key: admin.token })).status).toBe(200)
    expect(await workspace.dump('auditEvents')).toHaveLength(3)
  })

  it('are recorded once for a repeated request', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const agent = await workspace.addAgent()
    const headers = { 'Idempotency-Key': 'one' }
    for (let count = 0; count < 3; count++) {
      await request('POST', `/v1/agents/${agent}/schedules`, { key, json: { cron: '@daily' }, headers })
    }
    expect((await eventsOf(workspace)).items).toHaveLength(1)
  })

  it('are recorded for a PUT of a schedule that changes something, and not for its repetition', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const path = `/v1/agents/${await workspace.addAgent()}/schedules/${crypto.randomUUID()}`
    const put = async (json: object) => (await request('PUT', path, { key, json })).headers.get('X-Request-Id')
    const changes: (string | null)[] = []
    for (const json of [{ cron: '@daily' }, { cron: '@daily', payload: 'a secret value' }, { cron: '@daily' }]) {
      changes.push(await put(json))
      await put(json)
      await put({ runAt: '2020-01-01T00:00:00Z' })
    }
    const events = (await workspace.dump('auditEvents')) as unknown as Event[]
    expect(events.map(({ requestId }) => requestId)).toEqual(changes)
    for (const { operation, target } of events) expect([operation, target]).toEqual(['putAgentSchedule', path])
    expect(JSON.stringify(events)).not.toContain('secret value')
  })
})

/** Adds an event for each time, with an ID of that time. @returns the IDs, oldest first. */
async function addEvents(
  { organizationId }: Workspace,
  times: readonly string[],
  valuesOf: (index: number) => Partial<Record<'operation' | 'apiKeyId' | 'userId', string>> = () => ({}),
): Promise<string[]> {
  const events = times.map((createdAt, index) => ({
    id: `${startOfIds(createdAt)}-7000-8000-${String(index).padStart(12, '0')}`,
    operation: 'putProject',
    apiKeyId: KEY_ID,
    ...valuesOf(index),
  }))
  await env.DB.prepare(
    `INSERT INTO "auditEvents" SELECT ?1, value ->> 'id', value ->> 'operation', '/v1/projects/a', value ->> 'apiKeyId', 'ci',
       value ->> 'userId', ?2 FROM json_each(?3)`,
  )
    .bind(organizationId, KEY_ID, JSON.stringify(events))
    .run()
  return events.map(({ id }) => id)
}

const KEY_ID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'
const timeAfter = (milliseconds: number) =>
  new Date(Date.parse('2026-03-27T00:00:00.000Z') + milliseconds).toISOString()

/** Requests all pages. @returns the IDs of their events, and the size of each page. */
async function walk(workspace: Workspace, parameters: Record<string, string>) {
  const ids: string[] = []
  const sizes: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ ...parameters, ...(cursor && { cursor }) })
    const page: { items: Event[]; nextCursor: string | null } = await eventsOf(workspace, `?${query}`)
    ids.push(...page.items.map(({ id }) => id))
    sizes.push(page.items.length)
    cursor = page.nextCursor
  }
  return { ids, sizes }
}

describe('since and until', () => {
  it('bound the events by their times: since inclusive, until exclusive', async () => {
    const workspace = await Workspace.create()
    const times = [0, 0, 1, 2, 1000, 86_400_000].map(timeAfter)
    const ids = await addEvents(workspace, times)
    const list = async (parameters: Record<string, string>) =>
      (await walk(workspace, { limit: '2', ...parameters })).ids.toReversed()
    for (const since of [undefined, ...times, timeAfter(-1), timeAfter(3), timeAfter(1e9)]) {
      for (const until of [undefined, ...times, timeAfter(-1), timeAfter(3), timeAfter(1e9)]) {
        const expected = ids.filter((_, index) => {
          const time = times[index] as string
          return (since === undefined || time >= since) && (until === undefined || time < until)
        })
        const found = await list({ ...(since && { since }), ...(until && { until }) })
        expect([since, until, found]).toEqual([since, until, expected])
      }
    }
  })

  it('cover the events that changes record: the time of an event is the time of its ID', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    for (const name of ['a', 'b', 'c']) {
      await request('PUT', `/v1/projects/${name}`, { key, json: { name } })
      await scheduler.wait(2)
    }
    const { items } = await eventsOf(workspace)
    for (const { createdAt } of items) {
      const since = (await eventsOf(workspace, `?since=${createdAt}`)).items
      const until = (await eventsOf(workspace, `?until=${createdAt}`)).items
      const isEarlier = (event: { createdAt: string }) => event.createdAt < createdAt
      expect(since).toEqual(items.filter((event: { createdAt: string }) => !isEarlier(event)))
      expect(until).toEqual(items.filter(isEarlier))
    }
  })

  it('may lie before 1970, and before what is there', async () => {
    const workspace = await Workspace.create()
    const [id] = await addEvents(workspace, [timeAfter(0)])
    expect((await walk(workspace, { since: '1900-01-01T00:00:00.000Z' })).ids).toEqual([id])
    expect((await walk(workspace, { until: '1900-01-01T00:00:00.000Z' })).ids).toEqual([])
    for (const since of ['2026-03-27T01:00:00+01:00', '2026-03-26t23:59:59.9Z'])
      expect((await walk(workspace, { since })).ids).toEqual([id])
    expect((await walk(workspace, { since: '2026-03-27T00:00:00-01:00' })).ids).toEqual([])
    expect((await walk(workspace, { since: '9999-12-31T23:59:59.999Z' })).ids).toEqual([])
  })

  it.each(['since=today', 'until=', 'since=2026-03-27', `since=${KEY_ID}`])('may not be %s', async (query) => {
    const workspace = await Workspace.create()
    const { status, body } = await request('GET', `/v1/audit-events?${query}`, {
      key: await workspace.addKey(),
    })
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^(since|until) is not an RFC 3339 time/)])
  })
})

describe('the filters of audit events', () => {
  it('keep the events of an operation, an API key and a user', async () => {
    const workspace = await Workspace.create()
    const other = await workspace.addUser('Ada')
    const own = await workspace.addKeyWithId()
    const others = await workspace.addKeyWithId({ userId: other })
    const nobodys = await workspace.addKeyWithId({ userId: null })
    for (const { token } of [own, others, nobodys]) {
      for (const name of ['a', 'b']) await request('PUT', '/v1/projects/a', { key: token, json: { name } })
      await request('PATCH', '/v1/projects/a', { key: token, json: { archived: false } })
    }
    const all: Event[] = (await eventsOf(workspace)).items
    expect(all).toHaveLength(9)
    for (const [parameters, isKept] of [
      [{ operation: 'updateProject' }, ({ operation }) => operation === 'updateProject'],
      [{ operation: 'UpdateProject' }, () => false],
      [{ apiKeyId: others.id.toUpperCase() }, ({ apiKeyId }) => apiKeyId === others.id],
      [{ apiKeyId: workspace.organizationId }, () => false],
      [{ userId: workspace.userId.toUpperCase() }, ({ apiKeyId }) => apiKeyId === own.id],
      [{ userId: other }, ({ apiKeyId }) => apiKeyId === others.id],
      [{ userId: 'ada' }, () => false],
      [
        { userId: other, operation: 'putProject' },
        ({ apiKeyId, operation }) => apiKeyId === others.id && operation === 'putProject',
      ],
      [{ userId: other, apiKeyId: own.id }, () => false],
    ] as [Record<string, string>, (event: Event) => boolean][]) {
      const expected = all.filter(isKept).map(({ id }) => id)
      for (const limit of ['1', '50']) {
        expect([parameters, (await walk(workspace, { ...parameters, limit })).ids]).toEqual([parameters, expected])
      }
    }
  })

  it('show no event of another organization', async () => {
    const workspace = await Workspace.create()
    await addEvents(await Workspace.create(), [timeAfter(0)])
    expect((await walk(workspace, { operation: 'putProject', apiKeyId: KEY_ID })).ids).toEqual([])
  })

  it.each(['operation=', 'apiKeyId=ci', 'userId=..', `operation=${'x'.repeat(256)}`, 'userId=a&userId=b'])(
    'may not be %s',
    async (query) => {
      const workspace = await Workspace.create()
      const { status } = await request('GET', `/v1/audit-events?${query}`, { key: await workspace.addKey() })
      expect(status).toBe(400)
    },
  )

  /** Of 7,000 events, the operation of the oldest, of some and of the newest. */
  const isRare = (index: number) => [0, 1, 2500, 4498, 4499, 4500, 6999].includes(index)
  const RARE = 'deleteEnvironmentVariable'

  async function withManyEvents() {
    const workspace = await Workspace.create()
    const times = Array.from({ length: 7000 }, (_, index) => timeAfter(index >> 1))
    const ids = await addEvents(workspace, times, (index) => (isRare(index) ? { operation: RARE } : {}))
    return { workspace, ids, rare: ids.filter((_, index) => isRare(index)).toReversed() }
  }

  it('show each event once in all pages, some of which have few events or none', async () => {
    const { workspace, ids, rare } = await withManyEvents()
    const filtered = await walk(workspace, { operation: RARE, limit: '2' })
    expect(filtered).toEqual({ ids: rare, sizes: [2, 2, 1, 2] })
    const none = await walk(workspace, { operation: 'nothing' })
    expect(none).toEqual({ ids: [], sizes: [0, 0, 0] })
    const common = await walk(workspace, { operation: 'putProject', limit: '1000' })
    expect(common.ids).toEqual(ids.filter((_, index) => !isRare(index)).toReversed())
    const until = timeAfter(2250)
    const inRange = await walk(workspace, { operation: RARE, until, since: timeAfter(1) })
    expect(inRange.ids).toEqual(rare.slice(2, 5))
  })

  it('read up to 5,000 rows for a page', async () => {
    const { workspace } = await withManyEvents()
    const key = await workspace.addKey()
    const rowsRead = async (query: string) => {
      const use = watchedDatabase()
      const { status } = await request('GET', `/v1/audit-events?${query}`, {
        key,
        environment: { DB: use.DB },
      })
      const reading = use.statements.filter(({ sql }) => sql.includes('"auditEvents"'))
      expect([status, reading.length]).toEqual([200, query.includes('limit') ? 1 : 2])
      return reading.reduce((sum, statement) => sum + statement.rowsRead, 0)
    }
    // The rows of the caller's key, in each of the statements.
    const few = 10
    for (const query of [
      'operation=nothing',
      `operation=${RARE}`,
      'userId=nobody',
      `apiKeyId=${crypto.randomUUID()}`,
    ]) {
      const rows = await rowsRead(query)
      expect(rows).toBeGreaterThan(5000 - few)
      expect(rows).toBeLessThan(5000 + few)
    }
    expect(await rowsRead(`until=${timeAfter(3000)}&limit=10`)).toBeLessThan(11 + few)
  })
})
