import { describe, expect, it } from 'vitest'
import { request } from '../../support/api.ts'
import { watchedDatabase } from '../../support/bindings.ts'
import { type ApiEvent, walkEvents } from '../../support/events.ts'
import { Workspace } from '../../support/workspace.ts'

const eventsOf = async (workspace: Workspace, query = '') =>
  (await request('GET', `/v1/audit-events${query}`, { key: await workspace.addKey() })).body

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
      found.push(...items.map(({ resource }: ApiEvent) => resource.path))
      query = nextCursor && `?limit=2&cursor=${nextCursor}`
    }
    expect(found).toEqual(['e', 'd', 'c', 'b', 'a'].map((name) => `/v1/projects/${name}`))
  })

  it('are those of the feed, in the other order', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    for (const name of ['a', 'b', 'c']) await request('PUT', `/v1/projects/${name}`, { key, json: { name } })
    const { body } = await request('GET', '/v1/events', { key })
    expect((await eventsOf(workspace)).items).toEqual(body.items.toReversed())
  })

  it('are refused to a key that is restricted to projects', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ projectIds: [await workspace.addProject()] })
    const { status, headers } = await request('GET', '/v1/audit-events', { key })
    expect([status, headers.get('Error-Code')]).toEqual([403, 'unrestricted_key_required'])
  })
})

const KEY_ID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'
const timeAfter = (milliseconds: number) =>
  new Date(Date.parse('2026-03-27T00:00:00.000Z') + milliseconds).toISOString()

/** Requests all pages. @returns the IDs of their events, and the size of each page. */
async function walk(workspace: Workspace, parameters: Record<string, string>) {
  const ids: string[] = []
  const sizes: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ ...parameters, ...(cursor && { cursor }) })
    const page: { items: ApiEvent[]; nextCursor: string | null } = await eventsOf(workspace, `?${query}`)
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
    const ids = await workspace.addEvents(times)
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

  it('cover the events that changes record: createdAt is the time that is compared', async () => {
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
    const [id] = await workspace.addEvents([timeAfter(0)])
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
  it('keep the events of types, a resource, a project, an API key and a user', async () => {
    const workspace = await Workspace.create()
    const other = await workspace.addUser('Ada')
    const agent = crypto.randomUUID()
    const own = await workspace.addKeyWithId()
    const others = await workspace.addKeyWithId({ userId: other })
    const nobodys = await workspace.addKeyWithId({ userId: null })
    // Each changes something.
    for (const [index, { token }] of [own, others, nobodys].entries()) {
      for (const name of ['a', 'b']) await request('PUT', '/v1/projects/a', { key: token, json: { name } })
      await request('PATCH', '/v1/projects/a', { key: token, json: { archived: index % 2 === 0 } })
      const json = { name: `${index}` }
      expect((await request('PUT', `/v1/agents/${agent}`, { key: token, json })).status).toBeLessThan(300)
    }
    const all: ApiEvent[] = (await eventsOf(workspace)).items
    expect(all).toHaveLength(12)
    const cases: readonly [Record<string, string>, (event: ApiEvent) => boolean][] = [
      [{ types: 'project.unarchived' }, ({ type }) => type === 'project.unarchived'],
      [{ types: 'project.*' }, ({ resource }) => resource.type === 'project'],
      [{ types: 'agent.*,project.created' }, ({ type }) => /^agent|project\.created/.test(type)],
      [{ types: 'skill.*' }, () => false],
      [{ resource: 'project/a' }, ({ resource }) => resource.type === 'project'],
      [{ resource: `agent/${agent}` }, ({ resource }) => resource.type === 'agent'],
      [{ resource: 'project/b' }, () => false],
      [{ projectId: 'a' }, ({ projectId }) => projectId === 'a'],
      [{ projectId: 'b' }, () => false],
      [{ apiKeyId: others.id.toUpperCase() }, ({ actor }) => actor?.apiKeyId === others.id],
      [{ apiKeyId: workspace.organizationId }, () => false],
      [{ userId: workspace.userId.toUpperCase() }, ({ actor }) => actor?.apiKeyId === own.id],
      [{ userId: other }, ({ actor }) => actor?.apiKeyId === others.id],
      [{ userId: 'ada' }, () => false],
      [
        { userId: other, types: 'project.updated' },
        ({ actor, type }) => actor?.apiKeyId === others.id && type === 'project.updated',
      ],
      [{ userId: other, apiKeyId: own.id }, () => false],
      [{ projectId: 'a', resource: `agent/${agent}` }, () => false],
    ]
    for (const [parameters, isKept] of cases) {
      const expected = all.filter(isKept).map(({ id }) => id)
      for (const limit of ['1', '50']) {
        expect([parameters, (await walk(workspace, { ...parameters, limit })).ids]).toEqual([parameters, expected])
      }
      const feed = await walkEvents(await workspace.addKey(), { ...parameters, limit: '2' })
      expect([parameters, feed.items.map(({ id }) => id)]).toEqual([parameters, expected.toReversed()])
    }
  })

  it('show no event of another organization', async () => {
    const workspace = await Workspace.create()
    const other = await Workspace.create()
    await other.addEvents([timeAfter(0)], () => ({ apiKeyId: KEY_ID }))
    for (const parameters of [
      {},
      { types: 'project.updated' },
      { apiKeyId: KEY_ID },
      { resource: 'project/website' },
    ]) {
      expect((await walk(workspace, parameters as Record<string, string>)).ids).toEqual([])
    }
  })

  it.each([
    ['types=', 'types has the unknown type ""'],
    ['types=skills.created', 'Did you mean "skill.created"?'],
    ['types=skill.*,skill.create', 'Did you mean "skill.created"?'],
    ['types=*', 'types has the unknown type "*"'],
    [`types=${Array(51).fill('skill.created').join()}`, 'types has too many types'],
    ['resource=website', 'resource names no resource'],
    ['resource=projects/website', 'resource names no resource'],
    ['operation=putProject', 'operation is not a known query parameter'],
    ['apiKeyId=ci', 'apiKeyId has the wrong format'],
    ['userId=..', 'userId'],
    ['projectId=..', 'projectId'],
    ['userId=a&userId=b', 'userId'],
  ])('may not be %s', async (query, message) => {
    const key = await (await Workspace.create()).addKey()
    for (const path of ['/v1/audit-events', '/v1/events']) {
      const { status, body } = await request('GET', `${path}?${query}`, { key })
      expect([status, body.error]).toEqual([400, expect.stringContaining(message)])
    }
  })

  /** True for the oldest, some, and the newest of 7,000 events. */
  const isRare = (index: number) => [0, 1, 2500, 4498, 4499, 4500, 6999].includes(index)
  const RARE = 'environment-variable.deleted'

  async function withManyEvents() {
    const workspace = await Workspace.create()
    const times = Array.from({ length: 7000 }, (_, index) => timeAfter(index >> 1))
    const ids = await workspace.addEvents(times, (index) => (isRare(index) ? { type: RARE } : {}))
    return { workspace, ids, rare: ids.filter((_, index) => isRare(index)).toReversed() }
  }

  it('show each event once in all pages, some of which have few events or none', async () => {
    const { workspace, ids, rare } = await withManyEvents()
    const filtered = await walk(workspace, { types: RARE, limit: '2' })
    expect(filtered).toEqual({ ids: rare, sizes: [2, 2, 1, 2] })
    const none = await walk(workspace, { types: 'skill.*' })
    expect(none).toEqual({ ids: [], sizes: [0, 0, 0] })
    const common = await walk(workspace, { types: 'project.updated', limit: '1000' })
    expect(common.ids).toEqual(ids.filter((_, index) => !isRare(index)).toReversed())
    const until = timeAfter(2250)
    const inRange = await walk(workspace, { types: RARE, until, since: timeAfter(1) })
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
      expect([status, reading.length]).toEqual([200, 2])
      return reading.reduce((sum, statement) => sum + statement.rowsRead, 0)
    }
    // The rows of the caller's key, in each of the statements.
    const few = 10
    for (const query of ['types=skill.*', `types=${RARE}`, 'userId=nobody', `apiKeyId=${crypto.randomUUID()}`]) {
      const rows = await rowsRead(query)
      expect(rows).toBeGreaterThan(5000 - few)
      expect(rows).toBeLessThan(5000 + few)
    }
    expect(await rowsRead(`until=${timeAfter(3000)}&limit=10`)).toBeLessThan(11 + few)
  })
})
