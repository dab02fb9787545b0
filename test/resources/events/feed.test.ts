import { afterEach, describe, expect, it, vi } from 'vitest'
import { SEQUENCES_PER_MS } from '../../../src/access/event-types.ts'
import { request } from '../../support/api.ts'
import { watchedDatabase } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { type ApiEvent, eventsOf, summariesOf, summaryOf, walkEvents } from '../../support/events.ts'
import { newOutbox } from '../../support/queue.ts'
import { inOneBatch } from '../../support/set-up.ts'
import { tick } from '../../support/tick.ts'
import { Workspace } from '../../support/workspace.ts'

afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 86_400_000
const KEPT_MS = 365 * DAY_MS
const NOW = Date.parse('2026-03-27T00:00:00.000Z')
const timeAfter = (ms: number) => new Date(NOW + ms).toISOString()

function setClock(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: ms })
}

/** An organization, and a request to its feed. */
async function withFeed() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const get = (query: Record<string, string> = {}, by = key) =>
    request('GET', `/v1/events?${new URLSearchParams(query)}`, { key: by })
  const page = async (query: Record<string, string> = {}, by = key) => {
    const { status, body } = await get(query, by)
    expect(status).toBe(200)
    return body as { items: ApiEvent[]; nextCursor: string; hasMore: boolean }
  }
  const put = async (id: string, name = id) =>
    expect((await request('PUT', `/v1/projects/${id}`, { key, json: { name } })).status).toBeLessThan(300)
  return { workspace, key, get, page, put }
}

const namesOf = (items: readonly ApiEvent[]) => items.map(({ resource }) => resource.name)

describe('the feed', () => {
  it('has the changes in order, the earliest first, with what a reader needs', async () => {
    const { workspace, page, put } = await withFeed()
    for (const name of ['a', 'b', 'c']) await put('website', name)
    const { items, nextCursor, hasMore } = await page()
    expect(namesOf(items)).toEqual(['a', 'b', 'c'])
    expect(items.map(({ type }) => type)).toEqual(['project.created', 'project.updated', 'project.updated'])
    expect([hasMore, nextCursor]).toEqual([false, expect.stringMatching(/^[0-9a-z]{11}$/)])
    expect(items[0]).toMatchObject({
      resource: { type: 'project', id: 'website', path: '/v1/projects/website' },
      projectId: 'website',
      actor: { apiKeyName: 'test', userId: workspace.userId },
    })
  })

  it('encodes the IDs in paths', async () => {
    const { page } = await withFeed()
    const { workspace, key } = await withFeed()
    const project = await workspace.addProject('web site/é')
    await workspace.addVariable(project, 'TOKEN')
    const path = `/v1/projects/${encodeURIComponent(project)}/environment-variables/TOKEN`
    expect((await request('DELETE', path, { key })).status).toBe(200)
    expect(await summariesOf(workspace)).toEqual([`environment-variable.deleted ${path}`])
    expect((await page()).items).toEqual([])
  })

  it('is told page by page, each event once, and each later one', async () => {
    const { page, put } = await withFeed()
    for (let index = 0; index < 7; index++) await put('website', `${index}`)
    const found: (string | null)[] = []
    let after = ''
    const sizes: [number, boolean][] = []
    const read = async () => {
      const { items, nextCursor, hasMore } = await page({ limit: '3', ...(after && { after }) })
      found.push(...namesOf(items))
      sizes.push([items.length, hasMore])
      after = nextCursor
      return nextCursor
    }
    for (let count = 0; count < 3; count++) await read()
    const last = after
    expect([await read(), await read()]).toEqual([last, last])
    await put('website', 'later')
    await read()
    expect(found).toEqual(['0', '1', '2', '3', '4', '5', '6', 'later'])
    expect(sizes).toEqual([
      [3, true],
      [3, true],
      [1, false],
      [0, false],
      [0, false],
      [1, false],
    ])
  })

  it('begins at the end with after=now, also if there is nothing yet', async () => {
    const { page, put } = await withFeed()
    const empty = await page({ after: 'now' })
    expect(empty).toEqual({ items: [], nextCursor: '00000000000', hasMore: false })
    await put('website', 'a')
    const end = await page({ after: 'now' })
    expect([end.items, end.hasMore]).toEqual([[], false])
    await put('website', 'b')
    expect(namesOf((await page({ after: end.nextCursor })).items)).toEqual(['b'])
    expect(namesOf((await page({ after: empty.nextCursor })).items)).toEqual(['a', 'b'])
  })

  it('has a cursor that moves past events which the filters leave out', async () => {
    const { page, put } = await withFeed()
    await put('website')
    const { items, nextCursor, hasMore } = await page({ types: 'skill.*' })
    expect([items, hasMore]).toEqual([[], false])
    expect((await page()).nextCursor).toBe(nextCursor)
    await put('shop')
    expect(namesOf((await page({ after: nextCursor })).items)).toEqual(['shop'])
  })

  it('examines up to 2,500 events for a page, and has more after them', async () => {
    const { workspace, key, page } = await withFeed()
    const isRare = (index: number) => [0, 1, 2499, 2500, 6999].includes(index)
    const times = Array.from({ length: 7000 }, (_, index) => timeAfter(index >> 1))
    const ids = await workspace.addEvents(times, (index) => (isRare(index) ? { type: 'skill.deleted' } : {}))
    const rare = ids.filter((_, index) => isRare(index))
    const idsIn = (items: readonly ApiEvent[]) => items.map(({ id }) => id)
    const none = await walkEvents(key, { types: 'user.*' })
    expect(none.sizes).toEqual([0, 0, 0])
    expect(none.nextCursor).toBe((await page({ after: 'now' })).nextCursor)
    const some = await walkEvents(key, { types: 'skill.*', limit: '2' })
    expect([idsIn(some.items), some.sizes]).toEqual([rare, [2, 2, 0, 1]])
    const first = await page({ types: 'skill.*', limit: '1' })
    expect([idsIn(first.items), first.hasMore]).toEqual([rare.slice(0, 1), true])
    const others = await walkEvents(key, { types: 'project.updated', limit: '1000' })
    expect(idsIn(others.items)).toEqual(ids.filter((_, index) => !isRare(index)))
    expect(idsIn((await walkEvents(key)).items)).toEqual(ids)
    const use = watchedDatabase()
    await request('GET', '/v1/events?types=skill.*,user.*,agent.*', { key, environment: { DB: use.DB } })
    expect([use.calls, use.rowsWritten]).toEqual([1, 0])
    expect(use.rowsRead).toBeGreaterThan(4990)
    expect(use.rowsRead).toBeLessThan(5020)
  })

  it('reads few rows at its end, however many events there are', async () => {
    const { workspace, key, page } = await withFeed()
    await workspace.addEvents(Array.from({ length: 3000 }, (_, index) => timeAfter(index)))
    const { nextCursor } = await page({ after: 'now' })
    for (const query of [`after=${nextCursor}`, 'after=now', `after=${nextCursor}&types=skill.*`]) {
      const use = watchedDatabase()
      await request('GET', `/v1/events?${query}`, { key, environment: { DB: use.DB } })
      expect(use.rowsRead).toBeLessThan(15)
    }
  })

  it.each(['0', 'NOW', '00000000000Z', '________000', 'zzzzzzzzzzz', '', '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'])(
    'has no cursor "%s"',
    async (after) => {
      const { get } = await withFeed()
      const { status, body } = await get({ after })
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^after is not a cursor/)])
    },
  )
})

describe('the order of events', () => {
  it('is that of the commits if the clock runs back, and createdAt never runs back', async () => {
    const { page, put } = await withFeed()
    const all = [0, 5000, -60_000, -60_000, 4999, 5001, 5000]
    const names = all.map((ms, index) => `${index}: ${ms}`)
    for (const [index, ms] of all.entries()) {
      setClock(NOW + ms)
      await put('website', names[index])
    }
    setClock(NOW + 10_000)
    const { items } = await page()
    expect(namesOf(items)).toEqual(names)
    const times = items.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted())
  })

  it('has a number for each of more than 1,024 events of a millisecond', async () => {
    setClock(NOW)
    const { workspace, key } = await withFeed()
    const { id } = await inOneBatch(() => workspace.addKeyWithId({ sessions: 1199 }))
    expect((await request('DELETE', `/v1/api-keys/${id}`, { key })).status).toBe(200)
    const { items } = await walkEvents(key)
    expect(new Set(items.map(({ id }) => id)).size).toBe(1200)
    expect(new Set(items.map(({ resource }) => resource.id)).size).toBe(1200)
    const sequences = (await workspace.dump('auditEvents')).map(({ sequence }) => Number(sequence))
    expect(Math.max(...sequences)).toBe(NOW * SEQUENCES_PER_MS + 1199)
  })
})

describe('retention', () => {
  it('answers 410 to a cursor whose next event is too old, and says what to do', async () => {
    const { workspace, get } = await withFeed()
    setClock(NOW)
    await workspace.addEvents([timeAfter(-KEPT_MS - 2), timeAfter(-KEPT_MS - 1), timeAfter(-KEPT_MS), timeAfter(-1)])
    const cursorOf = (ms: number) => ((NOW + ms) * SEQUENCES_PER_MS).toString(36).padStart(11, '0')
    for (const after of ['00000000000', cursorOf(-KEPT_MS - 2)]) {
      const { status, headers, body } = await get({ after })
      expect([status, headers.get('Error-Code')]).toEqual([410, 'cursor_expired'])
      expect(body.error).toContain('continue with after=now')
    }
    for (const [after, count] of [
      [cursorOf(-KEPT_MS - 1), 2],
      [cursorOf(-KEPT_MS), 1],
    ] as const) {
      const { status, body } = await get({ after })
      expect([status, body.items?.length]).toEqual([200, count])
    }
    // Without a cursor, it begins with the oldest event that is kept.
    expect((await get()).body.items).toHaveLength(2)
  })

  /** Runs the daily pass at this time. */
  async function retain(ms: number, settings: object = {}): Promise<void> {
    setClock(ms)
    await env.DB.prepare(`DELETE FROM "passes" WHERE "name" = 'retention'`).run()
    for (let count = 0; count < 5; count++) {
      await tick({ ...newOutbox().environment, ...settings }, new Date(ms + count * 60_000))
    }
  }

  it('keeps the last event that is too old, so that a reader at the end of a quiet feed never gets 410', async () => {
    const { workspace, page, get } = await withFeed()
    setClock(NOW)
    await workspace.addEvents([timeAfter(-1000), timeAfter(-500), timeAfter(-1)])
    const { nextCursor } = await page()
    const early = (await page({ limit: '1' })).nextCursor
    for (const days of [364, 366, 800, 5000]) {
      const later = NOW + days * DAY_MS
      await retain(later)
      const { status, body } = await get({ after: nextCursor })
      expect([days, status, body.items, body.nextCursor]).toEqual([days, 200, [], nextCursor])
      expect([days, (await workspace.dump('auditEvents')).length]).toEqual([days, days < 365 ? 3 : 1])
      expect([days, (await get({ after: early })).status]).toEqual([days, days < 365 ? 200 : 410])
    }
  })

  /** The bytes of an organization's events as they are counted, and as they are. */
  async function countedBytes({ organizationId }: Workspace): Promise<unknown[]> {
    const [usage, events] = await env.DB.batch<{ bytes: number }>([
      env.DB.prepare('SELECT "bytes" FROM "eventUsage" WHERE "organizationId" = ?').bind(organizationId),
      env.DB.prepare(
        `SELECT coalesce(sum(octet_length(json_array("organizationId", "sequence", "id", "type", "resourceId", "parentId",
           "resourceName", "projectId", "apiKeyId", "apiKeyName", "userId", "requestId"))), 0) AS "bytes"
         FROM "auditEvents" WHERE "organizationId" = ?`,
      ).bind(organizationId),
    ])
    return [usage?.results[0]?.bytes, events?.results[0]?.bytes]
  }

  it('removes the oldest events beyond the byte limit, but none of the last 30 days, and a reader before them gets 410', async () => {
    const { workspace, page, get } = await withFeed()
    const neighbour = await withFeed()
    setClock(NOW)
    const times = [-60, -50, -40, -31, -29, -1].map((days) => timeAfter(days * DAY_MS))
    await workspace.addEvents(times)
    await neighbour.workspace.addEvents(times.slice(0, 1))
    const cursors: string[] = []
    for (let after = ''; cursors.length < 6; cursors.push(after)) {
      after = (await page({ limit: '1', ...(after && { after }) })).nextCursor
    }
    await retain(NOW)
    const [bytes = 0, actual] = (await countedBytes(workspace)) as number[]
    expect([bytes, (await page()).items.length]).toEqual([actual, 6])
    // Room for all but a little more than one.
    await retain(NOW + DAY_MS / 2, { EVENT_BYTE_LIMIT: String(Math.ceil((bytes / 6) * 4.5)) })
    expect((await page()).items).toHaveLength(4)
    expect(await countedBytes(workspace)).toEqual([(bytes / 6) * 4, (bytes / 6) * 4])
    const statuses = []
    for (const after of cursors) statuses.push((await get({ after })).status)
    expect(statuses).toEqual([410, 200, 200, 200, 200, 200])
    await retain(NOW + DAY_MS / 2, { EVENT_BYTE_LIMIT: '0' })
    expect((await page()).items.map(({ createdAt }) => createdAt)).toEqual(times.slice(4))
    expect((await neighbour.page()).items).toHaveLength(0)
    expect(await countedBytes(workspace)).toEqual([(bytes / 6) * 2, (bytes / 6) * 2])
    // What is new is counted once.
    await workspace.addEvents([timeAfter(DAY_MS / 4)])
    await retain(NOW + DAY_MS / 2)
    await retain(NOW + DAY_MS / 2)
    expect(await countedBytes(workspace)).toEqual([(bytes / 6) * 3, (bytes / 6) * 3])
  })

  it('counts no event after the time at which the pass was due, so that the pass ends while others are recorded', async () => {
    const { workspace } = await withFeed()
    setClock(NOW)
    await workspace.addEvents([timeAfter(-DAY_MS), timeAfter(-1)])
    const begin = env.DB.prepare(
      `INSERT OR REPLACE INTO "passes" ("name", "dueAt", "cursor") VALUES ('retention', ?, '')`,
    )
    await begin.bind(timeAfter(-DAY_MS / 2)).run()
    await tick(newOutbox().environment, new Date(NOW))
    const [bytes, actual] = await countedBytes(workspace)
    expect(bytes).toBe(Number(actual) / 2)
  })

  it('never lets numbers begin again, so that no reader misses an event after the clock ran back', async () => {
    const { workspace, page, put } = await withFeed()
    setClock(NOW)
    await workspace.addEvents([timeAfter(-1)])
    const { nextCursor } = await page()
    await retain(NOW + 2 * KEPT_MS)
    setClock(NOW - 1000)
    await put('website', 'after the clock ran back')
    expect(namesOf((await page({ after: nextCursor })).items)).toEqual(['after the clock ran back'])
  })
})

describe('an API key that is restricted to projects', () => {
  it('sees the events of its projects, of skills, feeds and schedules of agents, and nothing else', async () => {
    const { workspace, key } = await withFeed()
    const [own, other] = [await workspace.addProject(), await workspace.addProject()]
    const agent = await workspace.addAgent()
    const changes: readonly [isVisible: boolean, method: string, path: string, json?: unknown][] = [
      [true, 'PUT', `/v1/projects/${own}`, { name: 'Own' }],
      [false, 'PUT', `/v1/projects/${other}`, { name: 'Other' }],
      [true, 'PUT', `/v1/projects/${own}/environment-variables/A`, { value: 'x' }],
      [false, 'PUT', `/v1/projects/${other}/environment-variables/A`, { value: 'x' }],
      [true, 'PUT', `/v1/sessions/${crypto.randomUUID()}`, { projectId: own, name: 'a' }],
      [false, 'PUT', `/v1/sessions/${crypto.randomUUID()}`, { projectId: other, name: 'a' }],
      [true, 'POST', `/v1/projects/${own}/schedules`, { cron: '@daily', timezone: 'UTC' }],
      [false, 'POST', `/v1/projects/${other}/schedules`, { cron: '@daily', timezone: 'UTC' }],
      [true, 'POST', `/v1/agents/${agent}/schedules`, { cron: '@daily' }],
      [true, 'POST', '/v1/skills', { files: [{ filename: 'SKILL.md', content: SKILL }] }],
      [true, 'POST', '/v1/skill-feeds', { name: 'Laptops' }],
      [false, 'PUT', `/v1/agents/${agent}`, { name: 'Renamed' }],
      [false, 'PUT', '/v1/users/grace', { name: 'Grace' }],
      [false, 'PUT', `/v1/pins/project/${own}`],
      [false, 'POST', '/v1/api-keys', { name: 'a', scopes: [] }],
      [false, 'PUT', '/v1/run-endpoint', { url: 'https://hooks.example.com/runs' }],
    ]
    const visible: string[] = []
    for (const [isVisible, method, path, json] of changes) {
      const before = await summariesOf(workspace)
      const { status } = await request(method, path, { key, ...(json !== undefined && { json }) })
      expect([path, status < 300]).toEqual([path, true])
      if (isVisible) visible.push(...(await summariesOf(workspace)).slice(before.length))
    }
    const schedules = (await eventsOf(workspace, { types: 'schedule.created' })).map(({ resource }) => resource.path)
    for (const path of schedules) {
      const { body } = await request('POST', `${path}/runs`, { key })
      if (!path.includes(other)) visible.push(`run.created /v1/runs/${body.id}`)
    }
    const restricted = await workspace.addKey({ projectIds: [own] })
    expect((await walkEvents(restricted)).items.map(summaryOf)).toEqual(visible)
    expect((await walkEvents(restricted, { limit: '1' })).items.map(summaryOf)).toEqual(visible)
    expect((await walkEvents(restricted, { projectId: other })).items).toEqual([])
    expect((await walkEvents(restricted, { types: 'api-key.*,user.*,pin.*' })).items).toEqual([])
    const ofNone = await walkEvents(await workspace.addKey({ projectIds: [] }))
    expect(ofNone.items.every(({ projectId }) => projectId === null)).toBe(true)
    expect(ofNone.items).toHaveLength(4)
    expect((await request('GET', '/v1/audit-events', { key: restricted })).status).toBe(403)
  })

  it('has a cursor that moves past the events of others, 2,500 at a time', async () => {
    const { workspace, page } = await withFeed()
    await workspace.addEvents(Array.from({ length: 2600 }, (_, index) => timeAfter(index)))
    const own = await workspace.addProject()
    const restricted = await workspace.addKey({ projectIds: [own] })
    const { items, sizes, nextCursor } = await walkEvents(restricted)
    expect([items, sizes]).toEqual([[], [0, 0]])
    expect(nextCursor).toBe((await page({ after: 'now' })).nextCursor)
  })
})

describe('another organization', () => {
  it('has a feed of its own: neither its events nor the numbers of others are in it', async () => {
    const [one, two] = [await withFeed(), await withFeed()]
    await one.put('website', 'of one')
    await two.put('website', 'of two')
    await one.put('website', 'of one again')
    expect(namesOf((await one.page()).items)).toEqual(['of one', 'of one again'])
    expect(namesOf((await two.page()).items)).toEqual(['of two'])
    const { nextCursor } = await one.page({ after: 'now' })
    expect((await two.page({ after: nextCursor })).items).toEqual([])
    for (const query of [{ resource: 'project/website' }, { projectId: 'website' }, { types: 'project.*' }]) {
      expect(namesOf((await two.page(query as Record<string, string>)).items)).toEqual(['of two'])
    }
  })
})

const SKILL = '---\nname: notes\ndescription: Writes notes.\n---\n# Notes'
