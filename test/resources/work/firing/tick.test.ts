import { createScheduledController } from 'cloudflare:test'
import { v7 as newUuid } from 'uuid'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { nextRun } from '../../../../src/cron/next-run.ts'
import { schedules } from '../../../../src/db/schema.ts'
import type { Environment, RunMessage, RunReference } from '../../../../src/environment.ts'
import worker from '../../../../src/index.ts'
import { fireSchedules } from '../../../../src/resources/work/firing/fire.ts'
import { computeRunId } from '../../../../src/resources/work/run-id.ts'
import { FIRST_LEASE_MS } from '../../../../src/resources/work/run-queue.ts'
import { request } from '../../../support/api.ts'
import { databaseWith, interruptedDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { START, stopClock } from '../../../support/clock.ts'
import { deployed, env, ofDatabase } from '../../../support/env.ts'
import { sized } from '../../../support/long-form.ts'
import { deliverBatch } from '../../../support/queue.ts'
import { Receiver } from '../../../support/receiver.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const MINUTE_MS = 60_000
const FIRST_LEASE_MINUTES = FIRST_LEASE_MS / MINUTE_MS
/** Longer than the lease of a run that is queued again. */
const LEASE_MINUTES = 16
/** The number of D1 statements that the platform allows one invocation. */
const MAX_STATEMENTS = 1000
/** The number of schedules that a tick fires at most. */
const CLAIMS_PER_TICK = 30_000

/** A page of due schedules. */
const RUNS_PER_CALL = 250

const at = (minutes: number) => new Date(START + minutes * MINUTE_MS)
const iso = (minutes: number) => at(minutes).toISOString()

const HOURLY = '0 * * * *'
/** Half a year from now, so that a due schedule fires just once. */
const YEARLY = '0 0 1 12 *'

stopClock()

afterEach(async () => {
  vi.useRealTimers()
  const all = ['schedules', 'runs', 'missedSpans', 'runEndpoints', 'deletions', 'passes']
  await env.DB.batch(all.map((table) => env.DB.prepare(`DELETE FROM "${table}"`)))
})

/** A queue that keeps its messages until the test delivers them. */
class Outbox {
  messages: RunMessage[] = []
  calls = 0
  readonly fails: { number: number; when: 'before' | 'after' } | null

  /** @param fails the call that fails, and whether it does before or after it takes the messages. */
  constructor(fails: Outbox['fails'] = null) {
    this.fails = fails
  }

  readonly #queue = {
    sendBatch: async (batch: Iterable<{ body: RunMessage }>) => {
      const isFailing = ++this.calls === this.fails?.number
      if (isFailing && this.fails?.when === 'before') throw new Error('Queue is overloaded')
      const messages = [...batch]
      expect(messages.length).toBeLessThanOrEqual(100)
      this.messages.push(...messages.map(({ body }) => structuredClone(body)))
      if (isFailing) throw new Error('Queue is overloaded')
    },
  } as unknown as Environment['DELIVERIES']
  /** Both queues: on a busy machine, a receiver may be slow. */
  readonly queues = { DELIVERIES: this.#queue, SLOW_DELIVERIES: this.#queue }

  get references(): RunReference[] {
    return this.messages.flatMap(({ runs }) => runs)
  }

  /** The IDs of an organization's runs. */
  of({ organizationId }: Workspace): string[] {
    return this.references.filter((run) => run.organizationId === organizationId).map(({ id }) => id)
  }

  /** Delivers all messages to the consumer, as the queue does. A message is dropped if all tries fail. */
  async deliver(environment: Cloudflare.Env = env, tries = 3): Promise<void> {
    for (let count = 0; count < tries; count++) {
      const messages = this.messages
      this.messages = []
      for (const message of messages) {
        try {
          await deliverBatch([message], { ...environment, ...this.queues })
        } catch {
          this.messages.push(message)
        }
      }
    }
    this.messages = []
  }
}

/** The database; the call of this number fails before or after its commit. */
function databaseFailingAt(number: number, when: 'before' | 'after') {
  const use = { calls: 0 }
  const DB = databaseWith(async (statements) => {
    const fails = ++use.calls === number
    if (fails && when === 'before') throw new Error('D1_ERROR: Network connection lost.')
    const results = await env.DB.batch(statements)
    if (fails) throw new Error('D1_ERROR: Network connection lost.')
    return results
  })
  return { DB, use }
}

/** Adds a schedule that has been due since an instant. @returns its id. */
async function addDue(
  workspace: Workspace,
  projectId: string,
  minutes: number,
  { cron = HOURLY, parentType = 'project' as 'project' | 'agent' } = {},
): Promise<string> {
  const id = await workspace.addSchedule(parentType, projectId, { cron })
  await workspace.change(schedules, id, { enabledAt: iso(-10_000), nextRunAt: iso(minutes) })
  return id
}

/** Adds schedules of one project, the first due at an instant, each next one some milliseconds later. */
async function addManyDue(
  { organizationId }: Workspace,
  projectId: string,
  count: number,
  { minutes = 0, stepMs = 0, cron = YEARLY } = {},
): Promise<void> {
  await env.DB.prepare(
    `WITH RECURSIVE "each"(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM "each" WHERE i + 1 < ?3)
     INSERT INTO schedules (organizationId, parentType, parentId, id, cron, timezone, enabledAt, nextRunAt, createdAt, updatedAt)
     SELECT ?1, 'project', ?2, printf('%s%012x', ?7, i), ?4, 'UTC', ?5,
       strftime('%Y-%m-%dT%H:%M:%fZ', ?5, (i * ?6 / 1000.0) || ' seconds'), ?5, ?5 FROM "each"`,
  )
    .bind(organizationId, projectId, count, cron, iso(minutes), stepMs, newUuid().slice(0, 24))
    .run()
}

/** An organization with a project and a receiver of its runs. */
async function withReceiver() {
  const workspace = await Workspace.create()
  const projectId = await workspace.addProject()
  const receiver = new Receiver()
  await workspace.addRunEndpoint(receiver.url)
  return { workspace, projectId, receiver, key: await workspace.addKey() }
}

/** The runs of the organization as `schedule instant status`, in order. */
async function statusesOf(workspace: Workspace): Promise<string[]> {
  const runs = await workspace.dump('runs')
  return runs.map(({ scheduleId, scheduledAt, status }) => `${scheduleId} ${scheduledAt} ${status}`).sort()
}

/** The final runs of hourly schedules: the last instant is delivered, and those before it are skipped. */
function hourlyRuns(ids: readonly string[], since: number, until = 0): string[] {
  const hours = Array.from({ length: (until - since) / 60 + 1 }, (_, hour) => since + hour * 60)
  return ids
    .flatMap((id) => hours.map((hour) => `${id} ${iso(hour)} ${hour === until ? 'delivered' : 'skipped'}`))
    .sort()
}

/** The ids of the deliveries, which each body repeats. */
async function deliveredIds(receiver: Receiver): Promise<string[]> {
  return (await receiver.received()).map(({ headers, body }) => {
    const id = headers['webhook-id'] ?? ''
    const { data } = JSON.parse(body)
    expect([data.id, computeRunId(data.scheduleId, data.scheduledAt)]).toEqual([id, id])
    return id
  })
}

async function stateOf(workspace: Workspace, id: string) {
  const [row] = (await workspace.dump('schedules')).filter((schedule) => schedule.id === id)
  return { nextRunAt: row?.nextRunAt, lastRunAt: row?.lastRunAt }
}

describe('a schedule that is due', () => {
  it('fires with the Cron Trigger, and its run is delivered through the queue', async () => {
    const { workspace, projectId, receiver, key } = await withReceiver()
    const path = `/v1/projects/${projectId}/schedules`
    const { body: schedule } = await request('POST', path, {
      key,
      json: { cron: '* * * * *', timezone: 'Europe/Berlin' },
    })
    expect(schedule.lastRunAt).toBeNull()
    const instant: string = schedule.nextRunAt
    const trigger = async (scheduledTime: number) => {
      const controller = createScheduledController({
        scheduledTime: new Date(scheduledTime),
        cron: '* * * * *',
      })
      await worker.scheduled(controller, deployed(env))
    }
    await trigger(Date.parse(instant) - 1)
    expect(await workspace.dump('runs')).toEqual([])
    await trigger(Date.parse(instant))

    const runsOf = async () => (await request('GET', `${path}/${schedule.id}/runs`, { key })).body.items
    await expect.poll(runsOf).toMatchObject([{ status: 'delivered' }])
    const id = computeRunId(schedule.id, instant)
    expect(await runsOf()).toEqual([
      expect.objectContaining({
        id,
        scheduledAt: instant,
        status: 'delivered',
        attempts: 1,
        createdAt: instant,
      }),
    ])
    expect(await deliveredIds(receiver)).toEqual([id])
    // `wrangler dev` takes any time from the URL.
    await trigger(Date.parse(instant) + 400 * 24 * 60 * MINUTE_MS)
    const { body } = await request('GET', `${path}/${schedule.id}`, { key })
    expect(body).toMatchObject({
      ...schedule,
      lastRunAt: instant,
      nextRunAt: new Date(Date.parse(instant) + MINUTE_MS).toISOString(),
      pausedReason: null,
      statistics: { runs: 1, succeeded: 0, failed: 0, medianSeconds: null },
    })
  })

  it.each(['project', 'agent'] as const)(
    'of a %s fires at its instants, and has its last and next run',
    async (parentType) => {
      const { workspace, projectId, receiver } = await withReceiver()
      const parentId = parentType === 'project' ? projectId : await workspace.addAgent()
      const id = await addDue(workspace, parentId, 0, { parentType })
      const outbox = new Outbox()
      await tick({ ...env, ...outbox.queues }, new Date(START - 1))
      expect(await stateOf(workspace, id)).toEqual({ nextRunAt: iso(0), lastRunAt: null })
      for (const [minutes, last] of [
        [0, 0],
        [7, 0],
        [59, 0],
        [60, 60],
        [125, 120],
      ] as const) {
        await tick({ ...env, ...outbox.queues }, at(minutes))
        await outbox.deliver()
        expect(await stateOf(workspace, id)).toEqual({ nextRunAt: iso(last + 60), lastRunAt: iso(last) })
      }
      const instants = [0, 60, 120].map((minutes) => iso(minutes))
      expect(await statusesOf(workspace)).toEqual(instants.map((instant) => `${id} ${instant} delivered`))
      const ids = instants.map((instant) => computeRunId(id, instant))
      expect((await deliveredIds(receiver)).sort()).toEqual(ids)
      expect((await workspace.dump('runs')).map((run) => run.id).sort()).toEqual(ids)
    },
  )

  it('fires once if ticks are repeated or late', async () => {
    const { workspace, projectId, receiver } = await withReceiver()
    const id = await addDue(workspace, projectId, 0)
    const outbox = new Outbox()
    for (const minutes of [0, 0, 1, 0]) await tick({ ...env, ...outbox.queues }, at(minutes))
    expect(outbox.references).toHaveLength(1)
    await outbox.deliver()
    await tick({ ...env, ...outbox.queues }, at(59))
    expect(outbox.references).toEqual([])
    expect(await statusesOf(workspace)).toEqual(hourlyRuns([id], 0))
    expect(await deliveredIds(receiver)).toEqual([computeRunId(id, iso(0))])
  })

  it('has the whole first lease if the tick is late', async () => {
    const { workspace, projectId } = await withReceiver()
    const id = await addDue(workspace, projectId, -10, { cron: YEARLY })
    const outbox = new Outbox()
    const reference = {
      organizationId: workspace.organizationId,
      id: computeRunId(id, iso(-10)),
      attempts: 0,
    }
    for (const minutes of [-5, FIRST_LEASE_MINUTES - 1]) {
      await tick({ ...env, ...outbox.queues }, at(minutes))
      expect(outbox.references).toEqual([reference])
    }
    await tick({ ...env, ...outbox.queues }, at(FIRST_LEASE_MINUTES))
    expect(outbox.references).toEqual([reference, reference])
  })

  it('shares messages with up to four runs of its own organization, and with none of another', async () => {
    const workspaces = []
    for (let count = 0; count < 3; count++) {
      const { workspace, projectId } = await withReceiver()
      await addManyDue(workspace, projectId, 7, { stepMs: 1 })
      workspaces.push(workspace)
    }
    const outbox = new Outbox()
    await tick({ ...env, ...outbox.queues }, at(1))
    for (const workspace of workspaces) expect(outbox.of(workspace)).toHaveLength(7)
    const messages = outbox.messages.map(({ runs }) => runs.map(({ organizationId }) => organizationId))
    expect(messages.map((organizationIds) => new Set(organizationIds).size)).toEqual(messages.map(() => 1))
    expect(messages.map(({ length }) => length).sort()).toEqual([2, 2, 2, 5, 5, 5])
  })

  it('keeps the outcome of a consumer that is faster than the tick', async () => {
    const { workspace, projectId, receiver } = await withReceiver()
    await addDue(workspace, projectId, 0)
    const DELIVERIES = {
      sendBatch: (messages: { body: RunMessage }[]) => deliverBatch(messages.map(({ body }) => body)),
    } as unknown as Environment['DELIVERIES']
    await tick({ ...env, DELIVERIES }, at(0))
    expect(await workspace.dump('runs')).toEqual([
      expect.objectContaining({ status: 'delivered', attempts: 1, checkAt: null }),
    ])
    expect(await deliveredIds(receiver)).toHaveLength(1)
  })

  it.each([
    { what: 'waits to be tried again', acknowledges: false, received: 1 },
    { what: 'was acknowledged', acknowledges: true, received: 0 },
  ])('is not sent by a late message if it $what', async ({ acknowledges, received }) => {
    const { workspace, projectId, receiver, key } = await withReceiver()
    const runId = computeRunId(await addDue(workspace, projectId, 0), iso(0))
    await receiver.answers(500)
    const outbox = new Outbox()
    await tick({ ...env, ...outbox.queues }, at(0))
    if (acknowledges) await request('POST', `/v1/runs/${runId}/acknowledge`, { key })
    for (let count = 0; count < 3; count++) await deliverBatch(outbox.messages)
    expect(await receiver.received()).toHaveLength(received)
  })

  it('fires each instant once if a clock is ahead and is set back', async () => {
    const { workspace, projectId, receiver, key } = await withReceiver()
    const id = await addDue(workspace, projectId, 0)
    const outbox = new Outbox()
    const tickAt = async (minutes: number) => {
      await tick({ ...env, ...outbox.queues }, at(minutes))
      await outbox.deliver()
    }
    await tickAt(180)
    await tickAt(0)
    expect(await stateOf(workspace, id)).toEqual({ nextRunAt: iso(240), lastRunAt: iso(180) })
    // A request with the correct clock computes instants again that have fired.
    for (const enabled of [false, true]) {
      const path = `/v1/projects/${projectId}/schedules/${id}`
      expect((await request('PATCH', path, { key, json: { enabled } })).body.lastRunAt).toBe(iso(180))
    }
    const { nextRunAt } = await stateOf(workspace, id)
    expect(Date.parse(String(nextRunAt))).toBeLessThanOrEqual(at(60).getTime())
    for (const minutes of [60, 120, 150, 240]) await tickAt(minutes)
    const before = hourlyRuns([id], 0, 180)
    expect(await statusesOf(workspace)).toEqual([...before, `${id} ${iso(240)} delivered`].sort())
    expect(await deliveredIds(receiver)).toEqual([180, 240].map((minutes) => computeRunId(id, iso(minutes))))
    expect(await stateOf(workspace, id)).toEqual({ nextRunAt: iso(300), lastRunAt: iso(240) })
  })

  it('still fires after an update that changes nothing', async () => {
    const { workspace, projectId, key } = await withReceiver()
    const changes = [
      { enabled: true },
      { cron: HOURLY },
      { timezone: 'UTC' },
      { cron: HOURLY, timezone: 'UTC' },
      { cron: HOURLY, timezone: 'UTC', enabled: true },
    ]
    for (const json of changes) {
      const id = await addDue(workspace, projectId, -120)
      const { body } = await request('PATCH', `/v1/projects/${projectId}/schedules/${id}`, { key, json })
      expect(body).toMatchObject({ nextRunAt: iso(-120), enabledAt: iso(-10_000) })
      await tick({ ...env, ...new Outbox().queues }, at(0))
      const expected = hourlyRuns([id], -120).map((row) => row.replace('delivered', 'pending'))
      expect((await statusesOf(workspace)).filter((row) => row.startsWith(id))).toEqual(expected)
    }
  })

  it.each([{ cron: '0 0 * * *' }, { timezone: 'Asia/Kolkata' }, { cron: '5 4 * * *', timezone: 'Asia/Tokyo' }])(
    'does not fire for the past after an update to %j',
    async (json) => {
      const { workspace, projectId, key } = await withReceiver()
      const id = await addDue(workspace, projectId, -120, { cron: '30 * * * *' })
      const before = new Date()
      const { body } = await request('PATCH', `/v1/projects/${projectId}/schedules/${id}`, { key, json })
      const next = (after: Date) => nextRun(json.cron ?? '30 * * * *', json.timezone ?? 'UTC', after).toISOString()
      expect([next(before), next(new Date())]).toContain(body.nextRunAt)
      await tick({ ...env, ...new Outbox().queues }, before)
      expect(await workspace.dump('runs')).toEqual([])
      await tick({ ...env, ...new Outbox().queues }, new Date(body.nextRunAt))
      expect(await statusesOf(workspace)).toEqual([`${id} ${body.nextRunAt} pending`])
    },
  )

  it('does not fire for the time when it was paused, and fires again when it is resumed', async () => {
    const { workspace, projectId, key } = await withReceiver()
    const path = `/v1/projects/${projectId}/schedules`
    const id = await addDue(workspace, projectId, -600)
    const paused = await request('PATCH', `${path}/${id}`, { key, json: { enabled: false } })
    expect(paused.body).toMatchObject({ enabledAt: null, nextRunAt: null })
    await tick({ ...env, ...new Outbox().queues }, at(1440))
    const resumed = await request('PATCH', `${path}/${id}`, { key, json: { enabled: true } })
    expect(Date.parse(resumed.body.nextRunAt)).toBeGreaterThan(START)
    await tick({ ...env, ...new Outbox().queues }, at(0))
    expect([await workspace.dump('runs'), await workspace.dump('missedSpans')]).toEqual([[], []])
    await tick({ ...env, ...new Outbox().queues }, new Date(resumed.body.nextRunAt))
    expect(await statusesOf(workspace)).toEqual([`${id} ${resumed.body.nextRunAt} pending`])
  })
})

describe('concurrent ticks', () => {
  const [tickCount, dueCount] = sized([10, 200], [50, 1000])
  it(`fire each instant of ${dueCount} schedules once, ${tickCount} at once`, async () => {
    const { workspace, projectId, receiver } = await withReceiver()
    await addManyDue(workspace, projectId, dueCount, { minutes: -120, cron: HOURLY })
    const outbox = new Outbox()
    const uses = Array.from({ length: tickCount }, () => watchedDatabase())
    await Promise.all(uses.map(({ DB }) => tick({ ...env, DB, ...outbox.queues }, at(0))))
    for (const { statements } of uses) expect(statements.length).toBeLessThan(MAX_STATEMENTS)
    await outbox.deliver(env, 1)
    const ids = (await workspace.dump('schedules')).map(({ id }) => String(id))
    expect(await statusesOf(workspace)).toEqual(hourlyRuns(ids, -120))
    expect((await deliveredIds(receiver)).sort()).toEqual(ids.map((id) => computeRunId(id, iso(0))).sort())
    expect(await workspace.dump('missedSpans')).toEqual([])
    for (const { lastRunAt, nextRunAt } of await workspace.dump('schedules'))
      expect([lastRunAt, nextRunAt]).toEqual([iso(0), iso(60)])
  })

  it('of different times, with updates of the schedules, insert one run for an instant', async () => {
    const { workspace, projectId, key } = await withReceiver()
    for (let count = 0; count < 10; count++) await addDue(workspace, projectId, 0, { cron: '* * * * *' })
    const ids = (await workspace.dump('schedules')).map(({ id }) => String(id))
    const ticks = Array.from({ length: 20 }, (_, minutes) => tick({ ...env, ...new Outbox().queues }, at(minutes)))
    const changes = ids.map((id) =>
      request('PATCH', `/v1/projects/${projectId}/schedules/${id}`, {
        key,
        json: { cron: '* * * * *', enabled: true },
      }),
    )
    await Promise.all([...ticks, ...changes])
    await tick({ ...env, ...new Outbox().queues }, at(19))
    const minutes = Array.from({ length: 20 }, (_, minute) => iso(minute))
    const instants = (await statusesOf(workspace)).map((row) => row.split(' ').slice(0, 2).join(' '))
    expect(instants).toEqual(ids.flatMap((id) => minutes.map((minute) => `${id} ${minute}`)).sort())
  })

  const changes = [
    { what: 'is paused', json: { enabled: false }, nextRunAt: null },
    {
      what: 'gets another expression',
      json: { cron: YEARLY, timezone: 'UTC' },
      nextRunAt: nextRun(YEARLY, 'UTC', at(0)).toISOString(),
    },
  ]
  it.each(changes)('do not fire a schedule that $what before it is claimed', async ({ json, nextRunAt }) => {
    const { workspace, projectId, key } = await withReceiver()
    const id = await addDue(workspace, projectId, -60)
    const DB = interruptedDatabase(() => request('PATCH', `/v1/projects/${projectId}/schedules/${id}`, { key, json }))
    await tick({ ...env, DB, ...new Outbox().queues }, at(0))
    expect([await workspace.dump('runs'), await workspace.dump('missedSpans')]).toEqual([[], []])
    expect(await stateOf(workspace, id)).toEqual({ nextRunAt, lastRunAt: null })
  })

  const due = at(30)
  const [minute, hour] = [due.getUTCMinutes(), due.getUTCHours()]
  it.each([
    {
      what: 'expression',
      before: `${minute} ${hour} ${due.getUTCDate()} ${due.getUTCMonth() + 1} *`,
      change: { cron: `${minute} * * * *` },
      nextRunAt: iso(30 + 60),
    },
    {
      what: 'time zone',
      before: `${minute} ${hour},${(hour + 9) % 24} * * *`,
      change: { timezone: 'Asia/Tokyo' },
      nextRunAt: iso(30 + 15 * 60),
    },
  ])(
    'keep an update of the $what before the claim, even if the instant stays the same',
    async ({ before, change, nextRunAt }) => {
      const { workspace, projectId, key } = await withReceiver()
      const id = await addDue(workspace, projectId, 30, { cron: before })
      const path = `/v1/projects/${projectId}/schedules/${id}`
      const DB = interruptedDatabase(async () => {
        const { status, body } = await request('PATCH', path, { key, json: change })
        expect([status, body.nextRunAt]).toEqual([200, iso(30)])
      })
      await tick({ ...env, DB, ...new Outbox().queues }, due)
      expect(await stateOf(workspace, id)).toEqual({ nextRunAt, lastRunAt: iso(30) })
      expect(await statusesOf(workspace)).toEqual([`${id} ${iso(30)} pending`])
    },
  )

  it('leave the schedule, its runs and its missed instants as a later tick left them', async () => {
    const { workspace, projectId } = await withReceiver()
    const id = await addDue(workspace, projectId, -60)
    const stored = async () => ({
      state: await stateOf(workspace, id),
      runs: await workspace.dump('runs'),
      missed: await workspace.dump('missedSpans'),
    })
    let left: Awaited<ReturnType<typeof stored>> | undefined
    const DB = interruptedDatabase(async () => {
      await tick({ ...env, ...new Outbox().queues }, at(120))
      left = await stored()
    })
    await tick({ ...env, DB, ...new Outbox().queues }, at(0))
    expect(left?.state).toEqual({ nextRunAt: iso(180), lastRunAt: iso(120) })
    expect(await stored()).toEqual(left)
  })

  it('change nothing if a later tick was faster', async () => {
    const { workspace, projectId } = await withReceiver()
    const id = await addDue(workspace, projectId, -60)
    const DB = interruptedDatabase(() => tick({ ...env, ...new Outbox().queues }, at(120)))
    await tick({ ...env, DB, ...new Outbox().queues }, at(0))
    await tick({ ...env, ...new Outbox().queues }, at(120))
    expect(await stateOf(workspace, id)).toEqual({ nextRunAt: iso(180), lastRunAt: iso(120) })
    const pending = hourlyRuns([id], -60, 120).map((row) => row.replace('delivered', 'pending'))
    expect(await statusesOf(workspace)).toEqual(pending)
  })
})

describe('after a failure', () => {
  /**
   * Due schedules, on two pages of a tick: of a project and of an agent, one that has missed five hours and
   * one that became due last. And work for each other task of a tick.
   */
  async function withDue() {
    const { workspace, projectId, receiver } = await withReceiver()
    const agentId = await workspace.addAgent()
    const ids = [
      await addDue(workspace, projectId, -300),
      await addDue(workspace, agentId, -300, { parentType: 'agent' }),
      await addDue(workspace, projectId, 0),
      await addDue(workspace, agentId, 0, { parentType: 'agent' }),
    ]
    const deleted = await addDue(workspace, projectId, -300)
    for (let count = 0; count < 3; count++) await workspace.addRun(deleted, { scheduledAt: iso(-300 + count) })
    await workspace.deleteSchedule(deleted)
    const [first = ''] = ids
    await workspace.addRun(first, { scheduledAt: iso(-91 * 1440), status: 'delivered' })

    const filler = await Workspace.create()
    await addManyDue(filler, await filler.addProject(), 247, { minutes: -60 })
    const expected = [...hourlyRuns(ids.slice(0, 2), -300), ...hourlyRuns(ids.slice(2), 0)].sort()
    return { workspace, receiver, filler, ids, expected }
  }
  type Due = Awaited<ReturnType<typeof withDue>>

  /** Ticks and delivers some more times. The leases of each tick have expired at the next. */
  async function tickAndDeliver(outbox: Outbox): Promise<void> {
    for (let count = 1; count <= 3; count++) {
      await tick({ ...env, ...outbox.queues }, at(count * LEASE_MINUTES))
      await outbox.deliver()
    }
  }

  async function expectAllDone({ workspace, receiver, filler, ids, expected }: Due, what: string): Promise<string[]> {
    expect(await statusesOf(workspace), what).toEqual(expected)
    const delivered = await deliveredIds(receiver)
    const due = ids.map((id) => computeRunId(id, iso(0)))
    expect([...new Set(delivered)].sort(), what).toEqual(due.sort())
    const runs = await workspace.dump('runs')
    expect(
      runs.every(({ scheduleId, scheduledAt, id }) => id === computeRunId(String(scheduleId), String(scheduledAt))),
    ).toBe(true)
    expect(await workspace.dump('missedSpans'), what).toEqual([])
    expect(
      (await workspace.dump('deletions')).every(({ purgedAt }) => purgedAt !== null),
      what,
    ).toBe(true)
    for (const id of ids) expect(await stateOf(workspace, id), what).toEqual({ nextRunAt: iso(60), lastRunAt: iso(0) })
    expect(
      (await filler.dump('runs')).map(({ status, scheduledAt }) => `${status} ${scheduledAt}`),
      what,
    ).toEqual(Array.from({ length: 247 }, () => `pending ${iso(-60)}`))
    return delivered
  }

  async function removeAll({ workspace, filler }: Due): Promise<void> {
    for (const { organizationId } of [workspace, filler])
      for (const table of ['schedules', 'runs', 'runEndpoints', 'deletions'])
        await env.DB.prepare(`DELETE FROM "${table}" WHERE "organizationId" = ?`).bind(organizationId).run()
    await env.DB.prepare('DELETE FROM "passes"').run()
  }

  it.each(['before', 'after'] as const)(
    'of D1 %s the commit of any call of a tick, no run is lost or duplicated',
    async (when) => {
      let number = 1
      for (; ; number++) {
        const due = await withDue()
        const outbox = new Outbox()
        const { DB, use } = databaseFailingAt(number, when)
        await tick({ ...env, DB, ...outbox.queues }, at(0))
        if (use.calls < number) break
        await outbox.deliver()
        await tickAndDeliver(outbox)
        await expectAllDone(due, `call ${number}`)
        await removeAll(due)
      }
      // Each task reads first, and five have something to do, on one page or two.
      expect(number - 1).toBeGreaterThanOrEqual(12)
    },
  )

  it.each(['before', 'after'] as const)(
    'of the queue %s it has taken the messages, a later tick sends the runs that may be missing',
    async (when) => {
      const due = await withDue()
      const outbox = new Outbox({ number: 1, when })
      await tick({ ...env, ...outbox.queues }, at(0))
      // The first call has the runs of the first page.
      expect(outbox.of(due.workspace)).toHaveLength(when === 'before' ? 1 : 4)
      expect((await due.workspace.dump('runs')).filter(({ status }) => status === 'pending')).toHaveLength(4)
      await tick({ ...env, ...outbox.queues }, at(FIRST_LEASE_MINUTES))
      expect(outbox.of(due.workspace)).toHaveLength(when === 'before' ? 5 : 8)
      await outbox.deliver()
      await tickAndDeliver(outbox)
      await expectAllDone(due, when)
    },
  )

  it('of a queue that loses its messages, a later tick sends the runs again, after their lease', async () => {
    const due = await withDue()
    const outbox = new Outbox()
    await tick({ ...env, ...outbox.queues }, at(0))
    outbox.messages = []
    await tick({ ...env, ...outbox.queues }, at(FIRST_LEASE_MINUTES - 1))
    expect(outbox.messages).toEqual([])
    await tick({ ...env, ...outbox.queues }, at(FIRST_LEASE_MINUTES))
    expect(outbox.of(due.workspace)).toHaveLength(4)
    outbox.messages = []
    for (const minutes of [3, 9, 16]) await tick({ ...env, ...outbox.queues }, at(minutes))
    expect(outbox.messages).toEqual([])
    await tickAndDeliver(outbox)
    expect(await expectAllDone(due, 'lost')).toHaveLength(4)
  })

  it.each(
    [2, 3].flatMap((number) => [
      { number, when: 'before' as const },
      { number, when: 'after' as const },
    ]),
  )('of the queue $when its call $number, every run is sent eventually', async ({ number, when }) => {
    const { workspace, projectId } = await withReceiver()
    await addManyDue(workspace, projectId, 2100)
    const outbox = new Outbox({ number, when })
    await tick({ ...env, ...outbox.queues }, at(0))
    const sent = 2100 - (when === 'before' ? RUNS_PER_CALL : 0)
    expect(outbox.of(workspace)).toHaveLength(sent)
    await tick({ ...env, ...outbox.queues }, at(FIRST_LEASE_MINUTES))
    expect(new Set(outbox.of(workspace)).size).toBe(2100)
    expect(outbox.of(workspace)).toHaveLength(sent + 2100)
    await tick({ ...env, ...outbox.queues }, at(FIRST_LEASE_MINUTES + 1))
    expect(outbox.of(workspace)).toHaveLength(sent + 2100)
  })

  const consumerFaults = ([1, 2] as const).flatMap((number) =>
    (['before', 'after'] as const).flatMap((when) =>
      (['again', 'never again'] as const).map((comes) => ({ number, when, comes })),
    ),
  )
  it.each(consumerFaults)(
    'of the consumer $when the commit of its call $number, all runs are delivered if the batch comes $comes',
    async ({ number, when, comes }) => {
      const due = await withDue()
      const outbox = new Outbox()
      await tick({ ...env, ...outbox.queues }, at(0))
      const { DB, use } = databaseFailingAt(number, when)
      await outbox.deliver({ ...env, DB }, comes === 'again' ? 2 : 1)
      expect(use.calls).toBeGreaterThanOrEqual(number)
      await tickAndDeliver(outbox)
      const delivered = await expectAllDone(due, comes)
      // The runs of the first message, which were sent and could not be recorded, are sent twice.
      expect(delivered).toHaveLength(number === 2 && when === 'before' ? 7 : 4)
    },
  )

  it('of a receiver, it gets the run again with the same id', async () => {
    const due = await withDue()
    await due.receiver.answers(500, 503, 'break', 302, 200)
    const outbox = new Outbox()
    await tick({ ...env, ...outbox.queues }, at(0))
    await outbox.deliver()
    await tickAndDeliver(outbox)
    expect(await expectAllDone(due, 'receiver')).toHaveLength(8)
    expect((await due.workspace.dump('runs')).filter(({ attempts }) => attempts === 2)).toHaveLength(4)
  })
})

describe('many due schedules', () => {
  it('fire in one tick, 10,000 of them within the limits of D1', async () => {
    const workspace = await Workspace.create()
    await addManyDue(workspace, await workspace.addProject(), 10_000, { minutes: -10, stepMs: 50 })
    const { DB, statements } = watchedDatabase()
    await tick({ ...env, DB, ...new Outbox().queues }, at(0))
    expect(statements.length).toBeLessThan(MAX_STATEMENTS)
    const due = new Set((await workspace.dump('schedules')).map(({ id, lastRunAt }) => `${id} ${lastRunAt} pending`))
    expect(due.size).toBe(10_000)
    expect(new Set(await statusesOf(workspace))).toEqual(due)
    const next = nextRun(YEARLY, 'UTC', at(0)).toISOString()
    expect((await workspace.dump('schedules')).every(({ nextRunAt }) => nextRunAt === next)).toBe(true)
  })

  it('fire longest due first, and the next tick continues in that order', { tags: 'slow' }, async () => {
    const [late, crowd] = [await Workspace.create(), await Workspace.create()]
    // Neither their ids nor their rows are in the order in which they are due.
    await addManyDue(late, await late.addProject(), 200, { minutes: -5, stepMs: -1000 })
    await addManyDue(crowd, await crowd.addProject(), CLAIMS_PER_TICK - 100, { minutes: -10 })
    const order = (await late.dump('schedules'))
      .sort((a, b) => (String(a.nextRunAt) < String(b.nextRunAt) ? -1 : 1))
      .map(({ id }) => String(id))
    const fired = async () => (await late.dump('runs')).map(({ scheduleId }) => String(scheduleId)).sort()

    const { DB, statements } = watchedDatabase()
    await tick({ ...env, DB, ...new Outbox().queues }, at(0))
    expect(statements.length).toBeLessThan(MAX_STATEMENTS)
    expect(await crowd.dump('runs')).toHaveLength(CLAIMS_PER_TICK - 100)
    expect(await fired()).toEqual(order.slice(0, 100).sort())

    await env.DB.prepare('UPDATE schedules SET "nextRunAt" = ? WHERE "organizationId" = ?')
      .bind(iso(1), crowd.organizationId)
      .run()
    await tick({ ...env, ...new Outbox().queues }, at(1))
    expect(await fired()).toEqual(order.toSorted())
    for (const { scheduledAt, createdAt } of await late.dump('runs')) {
      expect(String(scheduledAt) < iso(-1)).toBe(true)
      expect([iso(0), iso(1)]).toContain(createdAt)
    }
  })
})

describe('without a run endpoint', () => {
  it('runs wait to be pulled, even if an endpoint is set later', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const projectId = await workspace.addProject()
    const id = await addDue(workspace, projectId, 0)
    await withReceiver()
    const outbox = new Outbox()
    await fireSchedules(ofDatabase(env), at(0))
    const receiver = new Receiver()
    expect((await request('PUT', '/v1/run-endpoint', { key, json: { url: receiver.url } })).status).toBe(201)
    for (const minutes of [1, LEASE_MINUTES, 59]) await tick({ ...env, ...outbox.queues }, at(minutes))
    expect(outbox.messages).toEqual([])
    const { body } = await request('GET', '/v1/runs?status=pending', { key })
    expect(body.items.map((run: { id: string }) => run.id)).toEqual([computeRunId(id, iso(0))])

    await tick({ ...env, ...outbox.queues }, at(60))
    await outbox.deliver()
    expect(await deliveredIds(receiver)).toEqual([computeRunId(id, iso(60))])
    expect(await statusesOf(workspace)).toEqual([`${id} ${iso(0)} pending`, `${id} ${iso(60)} delivered`])
  })

  it.each(['before it is sent', 'on its way'])('a run whose endpoint is deleted %s waits too', async (when) => {
    const { workspace, projectId, receiver, key } = await withReceiver()
    const elsewhere = await withReceiver()
    const id = await addDue(workspace, projectId, 0)
    const outbox = new Outbox()
    const first = when === 'on its way' ? outbox : new Outbox({ number: 1, when: 'before' })
    await tick({ ...env, ...first.queues }, at(0))
    expect((await request('DELETE', '/v1/run-endpoint', { key })).status).toBe(200)
    await outbox.deliver()
    await tick({ ...env, ...outbox.queues }, at(1))
    vi.setSystemTime(at(1))
    await request('PUT', '/v1/run-endpoint', { key, json: { url: receiver.url } })
    for (const minutes of [2, LEASE_MINUTES, 2 * LEASE_MINUTES]) await tick({ ...env, ...outbox.queues }, at(minutes))
    expect(outbox.messages).toEqual([])
    expect(await deliveredIds(receiver)).toEqual([])
    expect(await deliveredIds(elsewhere.receiver)).toEqual([])
    expect(await workspace.dump('runs')).toEqual([
      expect.objectContaining({ scheduleId: id, status: 'pending', attempts: 0, checkAt: null }),
    ])
  })

  it('nothing is sent to the endpoint of another organization, even if all ids are the same', async () => {
    const [mine, other] = [await Workspace.create(), await Workspace.create()]
    const receiver = new Receiver()
    await other.addRunEndpoint(receiver.url)
    const [id, projectId] = [newUuid(), newUuid()]
    for (const workspace of [mine, other]) {
      await workspace.addProject(projectId)
      await workspace.addSchedule('project', projectId, { id, cron: HOURLY })
      await workspace.change(schedules, id, { nextRunAt: iso(workspace === mine ? -120 : 0) })
    }
    const outbox = new Outbox()
    await tick({ ...env, ...outbox.queues }, at(0))
    expect([outbox.of(mine), outbox.of(other)]).toEqual([[], [computeRunId(id, iso(0))]])
    await outbox.deliver()
    await tick({ ...env, ...outbox.queues }, at(LEASE_MINUTES))
    expect(outbox.messages).toEqual([])
    expect(await deliveredIds(receiver)).toHaveLength(1)
    expect(await statusesOf(other)).toEqual([`${id} ${iso(0)} delivered`])
    expect(await statusesOf(mine)).toEqual([
      `${id} ${iso(-120)} skipped`,
      `${id} ${iso(-60)} skipped`,
      `${id} ${iso(0)} pending`,
    ])
  })
})
