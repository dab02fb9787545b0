import { v7 as newUuid } from 'uuid'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Values } from '../../../../src/db/parameters.ts'
import type { Environment, RunMessage, RunReference } from '../../../../src/environment.ts'
import { FIRST_LEASE_MS } from '../../../../src/resources/work/run-queue.ts'
import { PREFIX, type RequestOptions, request } from '../../../support/api.ts'
import { failingDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { deliverBatch } from '../../../support/queue.ts'
import { Receiver } from '../../../support/receiver.ts'
import { tick } from '../../../support/tick.ts'
import { now, Workspace } from '../../../support/workspace.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const UUID_V8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const STATUSES = ['pending', 'delivered', 'succeeded', 'failed', 'skipped'] as const
/** What a run has before it is taken. */
const NEW = { failure: null, startedAt: null, finishedAt: null, message: null, sessionId: null }
/** The properties of a run that are not columns or have another form there, of a run that was not sent or claimed. */
const UNTRIED = { scheduleName: null, lastAttempts: [], nextAttemptAt: null, claim: null }

const ago = (ms: number) => new Date(Date.now() - ms).toISOString()

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** What differs between the two types of parent. */
const PROJECT = {
  parent: 'project' as 'project' | 'agent',
  add: (workspace: Workspace) => workspace.addProject(),
  archive: (workspace: Workspace, id: string) => workspace.archiveProject(id),
}
const AGENT: typeof PROJECT = {
  parent: 'agent',
  add: (workspace) => workspace.addAgent(),
  archive: (workspace, id) => workspace.archiveAgent(id),
}
const KINDS = [PROJECT, AGENT]

type Setup = Awaited<ReturnType<typeof withSchedule>>

async function withSchedule(kind: typeof PROJECT = PROJECT, workspace?: Workspace) {
  const own = workspace ?? (await Workspace.create())
  const key = await own.addKey()
  const parentId = await kind.add(own)
  // It is not due in any tick of these tests.
  const scheduleId = await own.addSchedule(kind.parent, parentId, { cron: '0 0 29 2 *' })
  const parentPath = `/v1/${kind.parent}s/${parentId}`
  const schedulePath = `${parentPath}/schedules/${scheduleId}`
  const path = `${schedulePath}/runs`
  const read = async () => {
    const { statistics: _, ...schedule } = (await request('GET', schedulePath, { key })).body
    return schedule
  }
  const run = (options: RequestOptions = {}) => request('POST', path, { key, ...options })
  const ids = {
    projectId: null as string | null,
    agentId: null as string | null,
    [`${kind.parent}Id`]: parentId,
  }
  return { workspace: own, key, parentId, scheduleId, schedulePath, path, read, run, ids }
}

/** Adds runs a minute apart. @returns their ids, oldest first. */
async function addRuns({ workspace, scheduleId }: Setup, count: number, values: Values = {}): Promise<string[]> {
  const ids: string[] = []
  const start = Date.now() - count * MINUTE_MS
  for (let index = 0; index < count; index++) {
    const scheduledAt = new Date(start + index * MINUTE_MS).toISOString()
    ids.push(await workspace.addRun(scheduleId, { scheduledAt, ...values }))
  }
  return ids
}

const idsOf = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id)

/** Requests all pages of a list. @returns the ids of each page. */
async function walk(path: string, key: string, limit: number): Promise<string[][]> {
  const pages: string[][] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const more: string = cursor && `&cursor=${cursor}`
    const { status, body } = await request('GET', `${path}limit=${limit}${more}`, { key })
    expect(status).toBe(200)
    pages.push(idsOf(body))
    expect(pages.length, 'the walk does not end').toBeLessThan(100)
    cursor = body.nextCursor
  }
  return pages
}

/** A queue that only records its messages. */
function recordingQueue() {
  const sent: RunReference[] = []
  const sendBatch = async (messages: Iterable<{ body: RunMessage }>) => {
    for (const { body } of messages) sent.push(...body.runs)
  }
  return { sent, DELIVERIES: { sendBatch } as unknown as Environment['DELIVERIES'] }
}

const deliver = (runs: RunReference[]) => deliverBatch([{ runs }])

const idempotent = (key: string) => ({ headers: { 'Idempotency-Key': key } })

describe.each(KINDS)('the runs of a schedule of a $parent', (kind) => {
  it('are listed latest first', async () => {
    const setup = await withSchedule(kind)
    const { workspace, key, path, scheduleId, ids } = setup
    const failed = {
      status: 'failed',
      failure: 'delivery',
      attempts: 6,
      lastError: 'HTTP 500',
      finishedAt: now(),
    }
    const [first] = await addRuns(setup, 1, { ...failed, idempotencyKey: 'a', checkAt: null })
    const scheduledAt = now()
    const second = await workspace.addRun(scheduleId, { scheduledAt, checkAt: now() })
    const { status, body } = await request('GET', path, { key })
    expect(status).toBe(200)
    expect(body).toEqual({
      items: [
        {
          id: second,
          scheduleId,
          ...ids,
          scheduledAt,
          status: 'pending',
          attempts: 0,
          lastError: null,
          ...NEW,
          ...UNTRIED,
          createdAt: expect.stringMatching(INSTANT),
          updatedAt: expect.stringMatching(INSTANT),
        },
        {
          id: first,
          scheduleId,
          ...ids,
          scheduledAt: expect.stringMatching(INSTANT),
          ...NEW,
          ...UNTRIED,
          ...failed,
          createdAt: expect.stringMatching(INSTANT),
          updatedAt: expect.stringMatching(INSTANT),
        },
      ],
      nextCursor: null,
    })
  })

  it('are listed page by page, each once, while runs are added and deleted', async () => {
    const setup = await withSchedule(kind)
    const all = (await addRuns(setup, 53)).reverse()
    for (const limit of [1, 7, 52, 53, 54, 1000]) {
      const pages = await walk(`${setup.path}?`, setup.key, limit)
      expect(pages.flat()).toEqual(all)
      expect(pages).toHaveLength(Math.ceil(53 / limit))
    }
    const { body } = await request('GET', setup.path, { key: setup.key })
    expect(idsOf(body)).toEqual(all.slice(0, 50))
    expect(body.nextCursor).toBe(all[49])

    await env.DB.prepare('DELETE FROM "runs" WHERE "organizationId" = ? AND "id" = ?')
      .bind(setup.workspace.organizationId, body.nextCursor)
      .run()
    await setup.workspace.addRun(setup.scheduleId)
    const next = await request('GET', `${setup.path}?cursor=${body.nextCursor}`, { key: setup.key })
    expect(idsOf(next.body)).toEqual(all.slice(50))
  })

  it('continue after any UUID as cursor, as a position in time', async () => {
    const setup = await withSchedule(kind)
    const all = (await addRuns(setup, 5)).reverse()
    const idsAfter = async (cursor: string) => {
      const { status, body } = await request('GET', `${setup.path}?cursor=${cursor}`, { key: setup.key })
      expect(status).toBe(200)
      return idsOf(body)
    }
    expect(await idsAfter(newUuid())).toEqual(all)
    expect(await idsAfter('ffffffff-ffff-ffff-ffff-ffffffffffff')).toEqual(all)
    expect(await idsAfter('00000000-0000-0000-0000-000000000000')).toEqual([])
    expect(await idsAfter(newUuid({ msecs: Date.now() - 2.5 * MINUTE_MS }))).toEqual(all.slice(2))
    expect(await idsAfter(String(all[1]).toUpperCase())).toEqual(all.slice(2))
    const beside = await withSchedule(kind, setup.workspace)
    const [other] = await addRuns(beside, 1, { scheduledAt: ago(2.5 * MINUTE_MS) })
    expect(await idsAfter(String(other))).toEqual(all.slice(2))
  })

  it.each(['', 'x', '1', '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7'])(
    'are not listed after the cursor %j: 400',
    async (cursor) => {
      const { path, key } = await withSchedule(kind)
      expect((await request('GET', `${path}?cursor=${cursor}`, { key })).status).toBe(400)
    },
  )

  it('are separate for each schedule and organization, even if ids are the same', async () => {
    const setup = await withSchedule(kind)
    const beside = await withSchedule(kind, setup.workspace)
    const other = await withSchedule(kind === PROJECT ? AGENT : PROJECT, setup.workspace)
    const elsewhere = await Workspace.create()
    const parentId = await kind.add(elsewhere)
    await elsewhere.addSchedule(kind.parent, parentId, { id: setup.scheduleId })
    await elsewhere.addRun(setup.scheduleId)
    for (const each of [beside, other]) await addRuns(each, 3)
    expect((await request('GET', setup.path, { key: setup.key })).body.items).toEqual([])
    const [own] = await addRuns(setup, 1)
    expect(idsOf((await request('GET', setup.path, { key: setup.key })).body)).toEqual([own])
  })

  it('can be read while the parent is archived', async () => {
    const setup = await withSchedule(kind)
    const ids = await addRuns(setup, 1)
    await kind.archive(setup.workspace, setup.parentId)
    expect(idsOf((await request('GET', setup.path, { key: setup.key })).body)).toEqual(ids)
  })

  it('are not found under another parent, in another organization, or after the schedule was deleted', async () => {
    const setup = await withSchedule(kind)
    await addRuns(setup, 1)
    const { workspace, key, path, parentId, scheduleId } = setup
    const stranger = await (await Workspace.create()).addKey()
    const beside = await withSchedule(kind, workspace)
    for (const method of ['GET', 'POST']) {
      const refused = [
        await request(method, path, { key: stranger }),
        await request(method, path.replace(parentId, beside.parentId), { key }),
        await request(method, path.replace(scheduleId, newUuid()), { key }),
        await request(method, path.replace(parentId, newUuid()), { key }),
      ]
      expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    }
    expect(await workspace.dump('runs')).toHaveLength(1)
    await request('DELETE', setup.schedulePath, { key })
    for (const method of ['GET', 'POST']) expect((await request(method, path, { key })).status).toBe(404)
  })
})

describe.each(KINDS)('creating a run of a $parent schedule', (kind) => {
  it('creates a run of this instant and updates lastRunAt', async () => {
    const { workspace, run, read, scheduleId, ids, key } = await withSchedule(kind)
    const schedule = await read()
    const before = now()
    const { status, headers, body } = await run()
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(UUID_V8),
      scheduleId,
      ...ids,
      scheduledAt: expect.stringMatching(INSTANT),
      status: 'pending',
      attempts: 0,
      lastError: null,
      ...NEW,
      ...UNTRIED,
      createdAt: body.scheduledAt,
      updatedAt: body.scheduledAt,
    })
    expect(body.scheduledAt >= before && body.scheduledAt <= now()).toBe(true)
    expect(headers.get('Location')).toBe(`/v1/runs/${body.id}`)
    expect((await request('GET', `/v1/runs/${body.id}`, { key })).body).toEqual(body)
    expect(await workspace.dump('runs')).toHaveLength(1)
    expect(await read()).toEqual({ ...schedule, lastRunAt: body.scheduledAt })
  })

  it('returns a Location under the base path of the request', async () => {
    const { key, path } = await withSchedule(kind)
    const { headers, body } = await request('POST', PREFIX + path, { key })
    expect(headers.get('Location')).toBe(`${PREFIX}/v1/runs/${body.id}`)
    expect((await request('GET', String(headers.get('Location')), { key })).body).toEqual(body)
  })

  it('works while the schedule is paused, and does not resume it', async () => {
    const { run, read, key, schedulePath } = await withSchedule(kind)
    await request('PATCH', schedulePath, { key, json: { enabled: false } })
    const paused = await read()
    const { status, body } = await run()
    expect([status, body.status]).toEqual([201, 'pending'])
    expect(await read()).toEqual({ ...paused, lastRunAt: body.scheduledAt })
  })

  it('returns 409 while the parent is archived', async () => {
    const { workspace, parentId, run, read } = await withSchedule(kind)
    await kind.archive(workspace, parentId)
    const before = await read()
    const { sent, DELIVERIES } = recordingQueue()
    expect((await run({ environment: { DELIVERIES } })).status).toBe(409)
    expect((await run({ environment: { DELIVERIES }, ...idempotent('a') })).status).toBe(409)
    expect([await workspace.dump('runs'), await read(), sent]).toEqual([[], before, []])
  })

  it('keeps a later lastRunAt', async () => {
    const { workspace, run, read, scheduleId } = await withSchedule(kind)
    const later = new Date(Date.now() + HOUR_MS).toISOString()
    await env.DB.prepare('UPDATE "schedules" SET "lastRunAt" = ? WHERE "organizationId" = ? AND "id" = ?')
      .bind(later, workspace.organizationId, scheduleId)
      .run()
    expect((await run()).status).toBe(201)
    expect((await read()).lastRunAt).toBe(later)
  })

  it('changes no other schedule', async () => {
    const setup = await withSchedule(kind)
    const beside = await withSchedule(kind, setup.workspace)
    const elsewhere = await Workspace.create()
    const parentId = await kind.add(elsewhere)
    await elsewhere.addSchedule(kind.parent, parentId, { id: setup.scheduleId })
    const others = async () => [await beside.read(), await elsewhere.dump('schedules')]
    const before = await others()
    await setup.run()
    expect(await others()).toEqual(before)
  })

  it('does not change nextRunAt or pausedReason', async () => {
    const { workspace, run, read } = await withSchedule(kind)
    await env.DB.prepare(
      'UPDATE "schedules" SET "enabledAt" = NULL, "nextRunAt" = NULL, "pausedReason" = ? WHERE "organizationId" = ?',
    )
      .bind('20 runs in a row failed. The last failure (delivery): HTTP 500', workspace.organizationId)
      .run()
    const before = await read()
    const { body } = await run()
    expect(await read()).toEqual({ ...before, lastRunAt: body.scheduledAt })
  })
})

describe('an Idempotency-Key', () => {
  it.each(KINDS)('creates one run of a $parent schedule for repeated requests', async (kind) => {
    const { workspace, run, read, parentId, path, key } = await withSchedule(kind)
    const first = await run(idempotent('nightly'))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    const schedule = await read()
    const second = await run(idempotent('nightly'))
    expect([second.status, second.body]).toEqual([201, first.body])
    expect(second.headers.get('Location')).toBe(first.headers.get('Location'))
    const prefixed = await request('POST', PREFIX + path, { key, ...idempotent('nightly') })
    expect(prefixed.headers.get('Location')).toBe(`${PREFIX}/v1/runs/${first.body.id}`)
    await kind.archive(workspace, parentId)
    const archived = await run(idempotent('nightly'))
    expect([archived.status, archived.body]).toEqual([201, first.body])
    expect((await run(idempotent('other'))).status).toBe(409)
    expect(await workspace.dump('runs')).toHaveLength(1)
    expect((await read()).lastRunAt).toBe(schedule.lastRunAt)
  })

  it('returns the run as it is now, and does not put it into the queue again', async () => {
    const { workspace, run, key } = await withSchedule()
    await workspace.addRunEndpoint()
    const { sent, DELIVERIES } = recordingQueue()
    const environment = { DELIVERIES }
    const { body } = await run({ environment, ...idempotent('a') })
    await request('POST', `/v1/runs/${body.id}/acknowledge`, { key })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    const again = await run({ environment, ...idempotent('a') })
    expect(again.body).toMatchObject({ id: body.id, status: 'delivered' })
    expect(sent).toHaveLength(1)
  })

  it('creates one run for concurrent requests', async () => {
    const { workspace, run } = await withSchedule()
    const answers = await Promise.all(Array.from({ length: 8 }, () => run(idempotent('at once'))))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await workspace.dump('runs')).toHaveLength(1)
  })

  it('is separate for each schedule', async () => {
    const setup = await withSchedule()
    const scheduleId = await setup.workspace.addSchedule('project', setup.parentId)
    const first = await setup.run(idempotent('a'))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    const path = setup.path.replace(setup.scheduleId, scheduleId)
    const beside = await request('POST', path, { key: setup.key, ...idempotent('a') })
    const next = await setup.run(idempotent('b'))
    vi.setSystemTime(Date.now() + 5000)
    const none = await setup.run()
    const elsewhere = await (await withSchedule()).run(idempotent('a'))
    expect(beside.body.scheduleId).toBe(scheduleId)
    const ids = [first, beside, next, none, elsewhere].map(({ status, body }) => [status, body.id].join())
    expect(new Set(ids).size).toBe(5)
  })

  it('works if another run has the same instant', async () => {
    const { workspace, run } = await withSchedule()
    const instant = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: instant })
    const first = await run(idempotent('a'))
    const second = await run(idempotent('b'))
    vi.setSystemTime(instant + 5000)
    const repeated = [await run(idempotent('a')), await run(idempotent('b'))]
    expect(repeated.map(({ body }) => body.id)).toEqual([first.body.id, second.body.id])
    expect((await workspace.dump('runs')).length).toBe(new Set([first.body.id, second.body.id]).size)
  })

  it.each(['', 'x'.repeat(256)])('is refused: %j', async (value) => {
    const { workspace, run } = await withSchedule()
    expect((await run(idempotent(value))).status).toBe(400)
    expect(await workspace.dump('runs')).toEqual([])
  })
})

describe('creating a run at an instant that has one', () => {
  it.each(['pending', 'delivered', 'succeeded', 'failed'])(
    'returns the existing run and does not change it: %s',
    async (status) => {
      const { workspace, run, read, scheduleId } = await withSchedule()
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
      const id = await workspace.addRun(scheduleId, {
        status,
        attempts: 2,
        lastError: 'x',
        scheduledAt: now(),
      })
      const { DELIVERIES } = recordingQueue()
      const { status: answered, body } = await run({ environment: { DELIVERIES } })
      expect([answered, body]).toMatchObject([201, { id, status, attempts: 2, lastError: 'x' }])
      expect(await workspace.dump('runs')).toHaveLength(1)
      expect((await read()).lastRunAt).toBe(now())
    },
  )

  it('creates one run for concurrent requests', async () => {
    const { workspace, run } = await withSchedule()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const answers = await Promise.all([run(), run(), run()])
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await workspace.dump('runs')).toHaveLength(1)
  })
})

describe('a run that a request created', () => {
  it('is put into the queue at once, and again by a tick if it is still pending after its first lease', async () => {
    const { workspace, run } = await withSchedule()
    await workspace.addRunEndpoint()
    const { sent, DELIVERIES } = recordingQueue()
    const { body } = await run({ environment: { DELIVERIES } })
    const { organizationId } = workspace
    const reference = { organizationId, id: body.id, attempts: 0 }
    expect(sent).toEqual([reference])
    const mine = () => sent.filter((each) => each.organizationId === organizationId)
    const due = Date.parse(body.scheduledAt) + FIRST_LEASE_MS
    await tick({ ...env, DELIVERIES }, new Date(due - 1))
    expect(mine()).toHaveLength(1)
    await tick({ ...env, DELIVERIES }, new Date(due))
    expect(mine()).toHaveLength(2)
    expect(mine()[1]).toMatchObject(reference)
  })

  it('is delivered by the queue', async () => {
    const { workspace, run, key } = await withSchedule()
    const receiver = new Receiver()
    await workspace.addRunEndpoint(receiver.url)
    const { body } = await run()
    const path = `/v1/runs/${body.id}`
    const isDelivered = async () =>
      expect((await request('GET', path, { key })).body).toMatchObject({ status: 'delivered', attempts: 1 })
    await vi.waitFor(isDelivered, { timeout: 120_000, interval: 50 })
    const [received, ...others] = await receiver.received()
    expect(others).toEqual([])
    expect(JSON.parse(String(received?.body)).data).toMatchObject({
      id: body.id,
      scheduledAt: body.scheduledAt,
    })
  })

  it('waits to be pulled without a run endpoint, even if one is set later', async () => {
    const { workspace, run, key } = await withSchedule()
    const { body } = await run()
    await workspace.addRunEndpoint()
    const { sent, DELIVERIES } = recordingQueue()
    await tick({ ...env, DELIVERIES }, new Date(Date.now() + HOUR_MS))
    expect(sent.filter(({ organizationId }) => organizationId === workspace.organizationId)).toEqual([])
    expect(idsOf((await request('GET', '/v1/runs', { key })).body)).toEqual([body.id])
  })

  it('is created even if the queue fails, and the tick sends it', async () => {
    const { workspace, run } = await withSchedule()
    await workspace.addRunEndpoint()
    const failing = { sendBatch: () => Promise.reject(new Error('Queue sendBatch failed')) }
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status, body } = await run({ environment: { DELIVERIES: failing as unknown as Environment['DELIVERIES'] } })
    expect([status, body.status]).toEqual([201, 'pending'])
    expect(logged).toHaveBeenCalledOnce()
    const { sent, DELIVERIES } = recordingQueue()
    await tick({ ...env, DELIVERIES }, new Date(Date.parse(body.scheduledAt) + FIRST_LEASE_MS))
    expect(sent.map(({ id }) => id)).toContain(body.id)
  })

  it('is not created or put into the queue while D1 is unavailable', async () => {
    const { workspace, run } = await withSchedule()
    const { sent, DELIVERIES } = recordingQueue()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = failingDatabase(new Error('D1_ERROR: D1 DB is overloaded.'))
    expect((await run({ environment: { DB, DELIVERIES }, ...idempotent('a') })).status).toBe(503)
    expect([await workspace.dump('runs'), sent]).toEqual([[], []])
    expect((await run(idempotent('a'))).status).toBe(201)
  })
})

describe('listRuns', () => {
  it('lists the runs of all schedules and statuses, latest first; the pending ones oldest first', async () => {
    const setup = await withSchedule()
    const { workspace, key } = setup
    const ofAgent = await withSchedule(AGENT, workspace)
    const ids = [
      await workspace.addRun(setup.scheduleId, { scheduledAt: ago(30_000) }),
      await workspace.addRun(ofAgent.scheduleId, { scheduledAt: ago(20_000) }),
      await workspace.addRun(setup.scheduleId, { scheduledAt: ago(10_000) }),
    ]
    const others = []
    for (const [index, status] of STATUSES.slice(1).entries())
      others.push(await workspace.addRun(setup.scheduleId, { status, scheduledAt: ago(25_000 - index) }))
    await addRuns(await withSchedule(), 2)
    const all = [ids[2], ids[1], ...others.toReversed(), ids[0]]
    expect(idsOf((await request('GET', '/v1/runs', { key })).body)).toEqual(all)
    for (const limit of [1, 3, 6, 7, 8]) {
      const pages = await walk('/v1/runs?', key, limit)
      expect([limit, pages.flat(), pages.length]).toEqual([limit, all, Math.ceil(7 / limit)])
    }
    const { body } = await request('GET', '/v1/runs?status=pending', { key })
    expect(idsOf(body)).toEqual(ids)
    expect(body.items[1]).toEqual({
      id: ids[1],
      scheduleId: ofAgent.scheduleId,
      projectId: null,
      agentId: ofAgent.parentId,
      scheduledAt: expect.stringMatching(INSTANT),
      status: 'pending',
      attempts: 0,
      lastError: null,
      ...NEW,
      ...UNTRIED,
      createdAt: expect.stringMatching(INSTANT),
      updatedAt: expect.stringMatching(INSTANT),
    })
  })

  it.each(STATUSES)('lists the %s runs page by page', async (status) => {
    const setup = await withSchedule()
    const beside = await withSchedule(AGENT, setup.workspace)
    const others = STATUSES.filter((other) => other !== status)
    const ids: string[] = []
    for (let index = 0; index < 12; index++) {
      const { scheduleId } = index % 2 ? setup : beside
      const scheduledAt = ago((20 - index) * 1000)
      ids.push(await setup.workspace.addRun(scheduleId, { status, scheduledAt }))
    }
    for (const [index, other] of others.entries()) {
      await setup.workspace.addRun(setup.scheduleId, { status: other, scheduledAt: ago(15_500 - index) })
    }
    if (status !== 'pending') ids.reverse()
    for (const limit of [1, 5, 11, 12, 13]) {
      const pages = await walk(`/v1/runs?status=${status}&`, setup.key, limit)
      expect(pages.flat()).toEqual(ids)
      expect(pages).toHaveLength(Math.ceil(12 / limit))
    }
  })

  it('continues after any UUID as cursor, also that of a run that was acknowledged since', async () => {
    const setup = await withSchedule()
    const ids = await addRuns(setup, 4)
    const idsAfter = async (cursor: string, filter = '') =>
      idsOf((await request('GET', `/v1/runs?${filter}cursor=${cursor}`, { key: setup.key })).body)
    await request('POST', `/v1/runs/${ids[1]}/acknowledge`, { key: setup.key })
    const [first, last] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
    expect(await idsAfter(String(ids[1]).toUpperCase(), 'status=pending&')).toEqual(ids.slice(2))
    expect(await idsAfter(first, 'status=pending&')).toEqual([ids[0], ...ids.slice(2)])
    expect(await idsAfter(last, 'status=pending&')).toEqual([])
    for (const filter of [
      '',
      `scheduleId=${setup.scheduleId}&`,
      `from=2001-01-01T00:00:00Z&to=2999-01-01T00:00:00Z&`,
    ]) {
      expect(await idsAfter(String(ids[2]).toUpperCase(), filter)).toEqual([ids[1], ids[0]])
      expect(await idsAfter(first, filter)).toEqual([])
      expect(await idsAfter(last, filter)).toEqual(ids.toReversed())
    }
  })

  it('lists what all filters hold for, page by page, each once', async () => {
    const start = Date.now() - 2 * HOUR_MS
    const first = await withSchedule()
    const { workspace, key } = first
    const beside = await workspace.addSchedule('project', first.parentId)
    const ofAgent = await withSchedule(AGENT, workspace)
    const other = await withSchedule(PROJECT, workspace)
    const parents = [
      { scheduleId: first.scheduleId, projectId: first.parentId },
      { scheduleId: beside, projectId: first.parentId },
      { scheduleId: ofAgent.scheduleId, projectId: null },
      { scheduleId: other.scheduleId, projectId: other.parentId },
    ]
    const all = []
    for (let index = 0; index < 60; index++) {
      const parent = parents[(index * 7) % 4] ?? { scheduleId: '', projectId: null }
      const status = STATUSES[(index * 3) % 5] ?? ''
      const scheduledAt = new Date(start + index * MINUTE_MS).toISOString()
      const id = await workspace.addRun(parent.scheduleId, { status, scheduledAt })
      all.push({ id, status, scheduledAt, ...parent })
    }
    const filters = [undefined, ...STATUSES, 'running'].flatMap((status) =>
      [undefined, first.scheduleId, ofAgent.scheduleId, newUuid()].flatMap((scheduleId) =>
        [undefined, first.parentId].flatMap((projectId) =>
          [undefined, 30 * MINUTE_MS, 30 * MINUTE_MS + 1, HOUR_MS].flatMap((from) =>
            [undefined, 20 * MINUTE_MS, 40 * MINUTE_MS, 40 * MINUTE_MS + 1].map((to) => ({
              status,
              scheduleId,
              projectId,
              from: from && new Date(start + from).toISOString(),
              to: to && new Date(start + to).toISOString(),
            })),
          ),
        ),
      ),
    )
    let found = 0
    for (const filter of filters) {
      const { status, scheduleId, projectId, from = '', to = '9999' } = filter
      const stored = status === 'running' ? 'delivered' : status
      const expected = all
        .filter((run) => stored === undefined || run.status === stored)
        .filter((run) => scheduleId === undefined || run.scheduleId === scheduleId)
        .filter((run) => projectId === undefined || run.projectId === projectId)
        .filter((run) => run.scheduledAt >= from && run.scheduledAt < to)
        .map(({ id }) => id)
      if (status !== 'pending') expected.reverse()
      const query = Object.entries(filter).map(([name, value]) => (value ? `${name}=${value}&` : ''))
      const pages = await walk(`/v1/runs?${query.join('')}`, key, 7)
      expect([filter, pages.flat()]).toEqual([filter, expected])
      found += expected.length
    }
    expect(found).toBeGreaterThan(500)
  })

  describe('with more than 2,500 runs', () => {
    const start = '2026-01-01T00:00:00.000Z'

    /** Adds runs a second apart; each tenth is of another schedule. @returns also their ids, oldest first. */
    async function withCrowd(count: number) {
      const setup = await withSchedule()
      const beside = await setup.workspace.addSchedule('project', setup.parentId)
      await env.DB.prepare(
        `INSERT INTO "runs" ("organizationId", "scheduleId", "scheduledAt", "id", "parentType", "parentId", "status", "attempts", "createdAt", "updatedAt")
         WITH RECURSIVE "each"(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM "each" WHERE i + 1 < ?5),
           "timed"(i, "time") AS (SELECT i, printf('%012x', (unixepoch(?6) + i) * 1000) FROM "each")
         SELECT ?1, iif(i % 10, ?2, ?3), strftime('%Y-%m-%dT%H:%M:%fZ', ?6, i || ' seconds'),
           substr("time", 1, 8) || '-' || substr("time", 9) || printf('-8000-8000-%012x', i),
           'project', ?4, 'delivered', 1, ?6, ?6 FROM "timed"`,
      )
        .bind(setup.workspace.organizationId, setup.scheduleId, beside, setup.parentId, count, start)
        .run()
      const ids = (await setup.workspace.dump('runs')).map(({ id }) => String(id)).sort()
      return { ...setup, beside, ids }
    }

    it('a page examines 2,500, and the next continues after them', async () => {
      const { workspace, key, scheduleId, ids } = await withCrowd(5100)
      for (const index of [0, 5099]) await workspace.changeRun(ids[index] ?? '', { status: 'failed' })
      const pages: [string[], string | null][] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const more: string = cursor && `&cursor=${cursor}`
        const use = watchedDatabase()
        const environment = { DB: use.DB }
        const { body } = await request('GET', `/v1/runs?status=failed${more}`, { key, environment })
        expect(use.rowsRead).toBeLessThan(2.5 * 2500)
        pages.push([idsOf(body), body.nextCursor])
        cursor = body.nextCursor
      }
      expect(pages).toEqual([
        [[ids[5099]], ids[2600]],
        [[], ids[100]],
        [[ids[0]], null],
      ])
      // The runs of a schedule are found by an index, so no others are examined.
      const skipped = await request('GET', `/v1/runs?scheduleId=${scheduleId}&status=skipped`, { key })
      const ofSchedule = ids.filter((_, index) => index % 10 !== 0)
      expect(skipped.body).toEqual({ items: [], nextCursor: ofSchedule.at(-2500) })
      const from = new Date(Date.parse(start) + 5000 * 1000).toISOString()
      const recent = await request('GET', `/v1/runs?status=skipped&from=${from}`, { key })
      expect(recent.body).toEqual({ items: [], nextCursor: null })
      // Runs outside of the times are not examined.
      const to = new Date(Date.parse(start) + 100 * 1000).toISOString()
      const early = await request('GET', `/v1/runs?status=failed&to=${to}`, { key })
      expect([idsOf(early.body), early.body.nextCursor]).toEqual([[ids[0]], null])
    })

    it('a page that examines exactly all of them is followed by an empty one', async () => {
      const { key, ids } = await withCrowd(2500)
      const pages = []
      for (const cursor of ['', `&cursor=${ids[0]}`])
        pages.push((await request('GET', `/v1/runs?status=failed${cursor}`, { key })).body)
      expect(pages).toEqual([
        { items: [], nextCursor: ids[0] },
        { items: [], nextCursor: null },
      ])
    })

    it('each is listed once', async () => {
      const { key, ids, beside, parentId } = await withCrowd(5100)
      const ofBeside = ids.filter((_, index) => index % 10 === 0).toReversed()
      for (const filter of ['', '&status=delivered', `&projectId=${parentId}`])
        expect((await walk(`/v1/runs?scheduleId=${beside}${filter}&`, key, 300)).flat()).toEqual(ofBeside)
      for (const filter of ['', 'status=delivered&', `projectId=${parentId}&`])
        expect((await walk(`/v1/runs?${filter}`, key, 999)).flat()).toEqual(ids.toReversed())
    })
  })

  it.each([
    'status=',
    'status=open',
    'status=PENDING',
    'status=pending&status=failed',
    'status=succeeded,failed',
    'cursor=x',
    'limit=0',
    'scheduleId=x',
    'scheduleId=',
    'projectId=',
    'from=yesterday',
    'from=2026-03-30',
    'from=',
    'to=2026-03-30',
    'since=2026-03-30T00:00:00Z',
    'agentId=0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71',
  ])('refuses %s', async (query) => {
    const { key } = await withSchedule()
    expect((await request('GET', `/v1/runs?${query}`, { key })).status).toBe(400)
  })

  it('returns 403 for API keys that are restricted to projects, unless they name one of theirs', async () => {
    const setup = await withSchedule()
    const { workspace, parentId } = setup
    const ids = await addRuns(setup, 2)
    await addRuns(await withSchedule(PROJECT, workspace), 2)
    await addRuns(await withSchedule(AGENT, workspace), 2)
    for (const projectIds of [[], [parentId]]) {
      const key = await workspace.addKey({ projectIds })
      for (const filter of ['', `?scheduleId=${setup.scheduleId}`, '?status=pending']) {
        const { status, body, headers } = await request('GET', `/v1/runs${filter}`, { key })
        expect([status, body.error]).toEqual([403, expect.stringContaining('restricted to projects')])
        expect(headers.get('Error-Code')).toBe('unrestricted_key_required')
      }
    }
    const named = async (key: string, filter = '', projectId = parentId) => {
      const answer = await request('GET', `/v1/runs?projectId=${projectId}${filter}`, { key })
      return [answer.status, answer.body.items ? idsOf(answer.body) : answer.headers.get('Error-Code')]
    }
    const [own, others, none] = [
      await workspace.addKey({ projectIds: [await workspace.addProject(), parentId] }),
      await workspace.addKey({ projectIds: [await workspace.addProject()] }),
      await workspace.addKey({ projectIds: [] }),
    ]
    for (const key of [own, setup.key]) {
      expect(await named(key)).toEqual([200, ids.toReversed()])
      expect(await named(key, '&status=pending')).toEqual([200, ids])
      expect(await named(key, `&scheduleId=${setup.scheduleId}`)).toEqual([200, ids.toReversed()])
    }
    for (const key of [others, none]) expect(await named(key)).toEqual([403, 'project_forbidden'])
    for (const key of [own, none, setup.key])
      expect(await named(key, '', newUuid())).toEqual([404, 'project_not_found'])
  })

  it.each<[string, (setup: Setup) => Promise<unknown>]>([
    ['the schedule', ({ workspace, scheduleId }) => workspace.deleteSchedule(scheduleId)],
    ['the project', ({ workspace, parentId }) => workspace.delete('project', parentId)],
  ])('excludes the runs of deleted resources: %s', async (_, remove) => {
    const setup = await withSchedule()
    const { workspace, key } = setup
    const [gone] = await addRuns(setup, 3)
    const [kept] = await addRuns(await withSchedule(AGENT, workspace), 1)
    await remove(setup)
    expect(await workspace.dump('runs')).toHaveLength(4)
    expect((await walk('/v1/runs?', key, 1)).flat()).toEqual([kept])
    const restrictedKey = await workspace.addKey({ projectIds: [setup.parentId] })
    for (const each of [key, restrictedKey]) {
      expect((await request('GET', `/v1/runs/${gone}`, { key: each })).status).toBe(404)
      expect((await request('POST', `/v1/runs/${gone}/acknowledge`, { key: each })).status).toBe(404)
    }
    expect((await workspace.dump('runs')).every(({ status }) => status === 'pending')).toBe(true)
  })

  it('excludes the runs of a deleted agent', async () => {
    const setup = await withSchedule(AGENT)
    const [gone] = await addRuns(setup, 1)
    await setup.workspace.delete('agent', setup.parentId)
    expect((await request('GET', '/v1/runs', { key: setup.key })).body.items).toEqual([])
    expect((await request('GET', `/v1/runs/${gone}`, { key: setup.key })).status).toBe(404)
  })
})

describe('retrieveRun', () => {
  it.each(KINDS)('returns a run of a $parent schedule in any status', async (kind) => {
    const { workspace, key, scheduleId, ids } = await withSchedule(kind)
    for (const status of STATUSES) {
      const scheduledAt = ago(STATUSES.indexOf(status) * 1000)
      const values = {
        ...NEW,
        status,
        attempts: 3,
        lastError: 'HTTP 500',
        scheduledAt,
        ...(status === 'failed' && { failure: 'task', message: 'Tests failed.' }),
        ...(status === 'succeeded' && { startedAt: ago(5000), finishedAt: ago(1000), sessionId: newUuid() }),
      }
      const id = await workspace.addRun(scheduleId, values)
      const { body } = await request('GET', `/v1/runs/${id.toUpperCase()}`, { key })
      const times = { createdAt: expect.stringMatching(INSTANT), updatedAt: expect.stringMatching(INSTANT) }
      expect(body).toEqual({ id, scheduleId, ...ids, ...UNTRIED, ...values, ...times })
    }
  })

  it('separates runs of two organizations that have the same id', async () => {
    const setup = await withSchedule()
    const elsewhere = await Workspace.create()
    await elsewhere.addSchedule('project', await elsewhere.addProject(), { id: setup.scheduleId })
    const scheduledAt = now()
    const id = await setup.workspace.addRun(setup.scheduleId, { scheduledAt, status: 'failed' })
    expect(await elsewhere.addRun(setup.scheduleId, { scheduledAt })).toBe(id)
    const theirs = await elsewhere.addKey()
    const path = `/v1/runs/${id}`
    expect((await request('GET', path, { key: setup.key })).body.status).toBe('failed')
    expect((await request('GET', path, { key: theirs })).body.status).toBe('pending')
    await request('POST', `${path}/acknowledge`, { key: theirs })
    expect((await request('GET', path, { key: theirs })).body.status).toBe('delivered')
    expect((await request('GET', path, { key: setup.key })).body.status).toBe('failed')
  })

  it('returns the same 404 for a run that does not exist and for one of another organization', async () => {
    const [theirs] = await addRuns(await withSchedule(), 1)
    const { key } = await withSchedule()
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/acknowledge'],
    ] as const) {
      const answers = [theirs, newUuid()].map((id) => request(method, `/v1/runs/${id}${suffix}`, { key }))
      const [first, second] = await Promise.all(answers)
      expect([first?.status, first?.body]).toEqual([404, second?.body])
      expect((await request(method, `/v1/runs/x${suffix}`, { key })).status).toBe(400)
    }
  })

  it('allows a restricted API key the runs of its projects and of agents', async () => {
    const setup = await withSchedule()
    const { workspace } = setup
    const [ofProject] = await addRuns(setup, 1)
    const [ofAgent] = await addRuns(await withSchedule(AGENT, workspace), 1)
    const keys = [
      await workspace.addKey({ projectIds: [setup.parentId] }),
      await workspace.addKey({ projectIds: [await workspace.addProject()] }),
      await workspace.addKey({ projectIds: [] }),
    ]
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/acknowledge'],
    ] as const) {
      const statusesOf = (id?: string) =>
        Promise.all(keys.map(async (key) => (await request(method, `/v1/runs/${id}${suffix}`, { key })).status))
      expect(await statusesOf(ofProject)).toEqual([200, 403, 403])
      expect(await statusesOf(ofAgent)).toEqual([200, 200, 200])
    }
  })
})

describe('acknowledgeRun', () => {
  const acknowledge = (id: string, key: string) => request('POST', `/v1/runs/${id}/acknowledge`, { key })

  it('marks a pending run as delivered, and is safe to repeat', async () => {
    const { workspace, key, scheduleId } = await withSchedule()
    const values = { attempts: 2, lastError: 'HTTP 500', checkAt: ago(-HOUR_MS) }
    const id = await workspace.addRun(scheduleId, values)
    const [other] = await addRuns(await withSchedule(PROJECT, workspace), 1)
    const before = (await request('GET', `/v1/runs/${id}`, { key })).body
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    const { status, body } = await acknowledge(id, key)
    const taken = { status: 'delivered', startedAt: now(), updatedAt: now() }
    expect([status, body]).toEqual([200, { ...before, ...taken }])
    vi.setSystemTime(Date.now() + 5000)
    const again = await acknowledge(id, key)
    expect([again.status, again.body]).toEqual([200, body])
    expect(idsOf((await request('GET', '/v1/runs?status=pending', { key })).body)).toEqual([other])
    expect((await workspace.dump('runs')).find((run) => run.id === id)?.checkAt).toBeNull()
  })

  it.each(['succeeded', 'failed', 'skipped'])(
    'returns 409 for a run that is %s, and does not change it',
    async (status) => {
      const { workspace, key, scheduleId } = await withSchedule()
      const id = await workspace.addRun(scheduleId, { status })
      const before = await workspace.dump('runs')
      const answer = await acknowledge(id, key)
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining(status)])
      expect(await workspace.dump('runs')).toEqual(before)
    },
  )

  it('succeeds for all concurrent requests', async () => {
    const setup = await withSchedule()
    const [id = ''] = await addRuns(setup, 1)
    const answers = await Promise.all(Array.from({ length: 6 }, () => acknowledge(id, setup.key)))
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual(answers.map(() => [200, 'delivered']))
    expect(new Set(answers.map(({ body }) => body.updatedAt)).size).toBe(1)
  })

  it('prevents a queued run from being sent', async () => {
    const { workspace, run, key } = await withSchedule()
    const receiver = new Receiver()
    await workspace.addRunEndpoint(receiver.url)
    const { sent, DELIVERIES } = recordingQueue()
    const { body } = await run({ environment: { DELIVERIES } })
    await acknowledge(body.id, key)
    await deliver(sent)
    expect(await receiver.received()).toEqual([])
    // Who acknowledges a run that is on its way has received it, whether or not the attempt was recorded.
    expect((await request('GET', `/v1/runs/${body.id}`, { key })).body).toMatchObject({
      status: 'delivered',
      attempts: 1,
    })
  })

  it('is kept if a delivery in progress fails', async () => {
    const { workspace, run, key } = await withSchedule()
    await workspace.addRunEndpoint((await new Receiver().answers(500)).url)
    const { sent, DELIVERIES } = recordingQueue()
    const { body } = await run({ environment: { DELIVERIES } })
    const original = globalThis.fetch
    const network = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
      expect((await acknowledge(body.id, key)).body.status).toBe('delivered')
      return original(...request)
    })
    await deliver(sent)
    expect(network).toHaveBeenCalledOnce()
    expect((await request('GET', `/v1/runs/${body.id}`, { key })).body.status).toBe('delivered')
    expect((await workspace.dump('runs'))[0]?.checkAt).toBeNull()
  })
})

describe('the runs of a restricted API key', () => {
  it('are those of its projects', async () => {
    const { workspace, parentId, path } = await withSchedule()
    const reaching = await workspace.addKey({ projectIds: [parentId] })
    const other = await workspace.addKey({ projectIds: [await workspace.addProject()] })
    expect((await request('POST', path, { key: other })).status).toBe(403)
    expect((await request('GET', path, { key: other })).status).toBe(403)
    expect(await workspace.dump('runs')).toEqual([])
    expect((await request('POST', path, { key: reaching })).status).toBe(201)
    expect((await request('GET', path, { key: reaching })).body.items).toHaveLength(1)
    const repeated = await request('POST', path, { key: reaching, ...idempotent('a') })
    expect(repeated.status).toBe(201)
    expect((await request('POST', path, { key: other, ...idempotent('a') })).status).toBe(403)
  })
})
