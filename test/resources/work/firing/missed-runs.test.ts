import { v7 as newUuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nextRun } from '../../../../src/cron/next-run.ts'
import { schedules } from '../../../../src/db/schema.ts'
import { fireSchedules } from '../../../../src/resources/work/firing/fire.ts'
import { recordMissedRuns } from '../../../../src/resources/work/firing/record-missed.ts'
import { computeRunId } from '../../../../src/resources/work/run-id.ts'
import { request } from '../../../support/api.ts'
import { interruptedDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { START, stopClock } from '../../../support/clock.ts'
import { env, ofDatabase } from '../../../support/env.ts'
import { newOutbox } from '../../../support/queue.ts'
import { Receiver } from '../../../support/receiver.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
/** The number of D1 statements that the platform allows one invocation. */
const MAX_STATEMENTS = 1000
/** How many missed instants a tick records. */
const INSTANTS_PER_TICK = 10_000
/** How many rows of each table a tick purges. */
const PURGED_PER_TICK = 2000
const KEPT_DAYS = 90

const at = (minutes: number) => new Date(START + minutes * MINUTE_MS)
const iso = (minutes: number) => at(minutes).toISOString()

const EVERY_MINUTE = '* * * * *'
const HOURLY = '0 * * * *'

const UNKNOWN_ZONE = 'Mars/Olympus_Mons'

stopClock()

afterEach(async () => {
  const all = ['schedules', 'runs', 'missedSpans', 'runEndpoints', 'deletions']
  await env.DB.batch(all.map((table) => env.DB.prepare(`DELETE FROM "${table}"`)))
})

/** An organization with a project, an agent and a receiver of its runs. */
async function withParents() {
  const workspace = await Workspace.create()
  const receiver = new Receiver()
  await workspace.addRunEndpoint(receiver.url)
  return {
    workspace,
    receiver,
    project: await workspace.addProject(),
    agent: await workspace.addAgent(),
    key: await workspace.addKey(),
    ...newOutbox(),
  }
}

/** Adds a schedule that has been due since an instant. @returns its id. */
async function addDue(
  workspace: Workspace,
  parentId: string,
  since: number | string,
  { cron = HOURLY, timezone = 'UTC', parentType = 'project' as 'project' | 'agent' } = {},
): Promise<string> {
  const id = await workspace.addSchedule(parentType, parentId, { cron, timezone })
  const nextRunAt = typeof since === 'string' ? since : iso(since)
  await workspace.change(schedules, id, { enabledAt: nextRunAt, nextRunAt })
  return id
}

/** Adds delivered runs, one per second, the last of them at `until`. */
async function addOldRuns({ organizationId }: Workspace, scheduleId: string, count: number, until: string) {
  await env.DB.prepare(
    `WITH RECURSIVE "each"(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM "each" WHERE i + 1 < ?3),
       "timed"(i, "time") AS (SELECT i, printf('%012x', (unixepoch(?4) - i) * 1000) FROM "each")
     INSERT INTO runs (organizationId, scheduleId, scheduledAt, id, parentType, parentId, status, attempts, createdAt, updatedAt)
     SELECT ?1, ?2, strftime('%Y-%m-%dT%H:%M:%fZ', ?4, (-i) || ' seconds'), 
       substr("time", 1, 8) || '-' || substr("time", 9) || printf('-8000-8000-%012x', i),
       'project', 'p', 'delivered', 1, ?4, ?4 FROM "timed"`,
  )
    .bind(organizationId, scheduleId, count, until)
    .run()
}

/** All instants from one to another, computed with `nextRun` only. */
function walk(cron: string, timezone: string, from: string, to: string): string[] {
  const instants: string[] = []
  let at = nextRun(cron, timezone, new Date(Date.parse(from) - 1))
  for (; at.toISOString() <= to; at = nextRun(cron, timezone, at)) instants.push(at.toISOString())
  return instants
}

/** The runs of a schedule as `instant status`, in order. */
async function statusesOf(workspace: Workspace, id: string): Promise<string[]> {
  const runs = (await workspace.dump('runs')).filter(({ scheduleId }) => scheduleId === id)
  expect(runs.every((run) => run.id === computeRunId(id, String(run.scheduledAt)))).toBe(true)
  return runs.map(({ scheduledAt, status }) => `${scheduledAt} ${status}`).sort()
}

/** The runs of the instants if the last is pending, or has the status, and the others were skipped. */
const skippedBut = (instants: readonly string[], status = 'pending') =>
  instants.map((instant, index) => `${instant} ${index === instants.length - 1 ? status : 'skipped'}`)

async function scheduleOf(workspace: Workspace, id: string) {
  return (await workspace.dump('schedules')).find((schedule) => schedule.id === id)
}

describe('after time without ticks', () => {
  const absences = [
    { cron: EVERY_MINUTE, timezone: 'UTC', from: '2026-06-01T08:00:00.000Z', to: '2026-06-02T08:00:10.000Z' },
    {
      cron: '*/7 * * * *',
      timezone: 'Asia/Kolkata',
      from: '2026-06-01T00:00:00.000Z',
      to: '2026-06-01T09:59:00.000Z',
    },
    {
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      from: '2026-03-26T01:30:00.000Z',
      to: '2026-03-31T12:00:00.000Z',
    },
    {
      cron: '30 1 * * *',
      timezone: 'America/New_York',
      from: '2026-10-30T05:30:00.000Z',
      to: '2026-11-04T00:00:00.000Z',
    },
    {
      cron: '*/30 * * * *',
      timezone: 'Australia/Lord_Howe',
      from: '2026-04-04T12:00:00.000Z',
      to: '2026-04-05T02:00:00.000Z',
    },
    {
      cron: '0 0 1,15 * fri',
      timezone: 'UTC',
      from: '2026-06-01T00:00:00.000Z',
      to: '2026-08-01T00:00:00.000Z',
    },
    { cron: '0 6 * * *', timezone: 'UTC', from: '2026-06-01T06:00:00.000Z', to: '2026-06-01T23:00:00.000Z' },
    { cron: '0 6 * * *', timezone: 'UTC', from: '2026-06-01T06:00:00.000Z', to: '2026-06-02T06:00:00.000Z' },
  ]
  it.each(absences)(
    'from $from to $to, $cron in $timezone fires for the latest instant, and the others are skipped',
    async ({ cron, timezone, from, to }) => {
      const { workspace, project, receiver, environment, deliver } = await withParents()
      const instants = walk(cron, timezone, from, to)
      const [first = '', latest = ''] = [instants[0], instants.at(-1)]
      const id = await addDue(workspace, project, first, { cron, timezone })
      await tick(environment, new Date(to))
      expect(await statusesOf(workspace, id)).toEqual(skippedBut(instants))
      expect(await workspace.dump('missedSpans')).toEqual([])
      expect(await scheduleOf(workspace, id)).toMatchObject({
        lastRunAt: latest,
        nextRunAt: nextRun(cron, timezone, new Date(to)).toISOString(),
        pausedReason: null,
      })
      await deliver()
      await tick(environment, new Date(to))
      expect(await statusesOf(workspace, id)).toEqual(skippedBut(instants, 'delivered'))
      const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id'])
      expect(ids).toEqual([computeRunId(id, latest)])
      for (const { status, lastError, attempts, checkAt } of await workspace.dump('runs')) {
        if (status !== 'skipped') continue
        expect({ lastError, attempts, checkAt }).toEqual({
          lastError: `The run was missed. The run of ${latest} replaces it.`,
          attempts: 0,
          checkAt: null,
        })
      }
    },
  )

  it('the next ticks record what is too much for one, oldest first, each instant once', async () => {
    const { workspace, project, environment } = await withParents()
    const long = await addDue(workspace, project, -9 * DAY_MINUTES, { cron: EVERY_MINUTE })
    const short = await addDue(workspace, project, -2, { cron: EVERY_MINUTE })
    const { DB, statements } = watchedDatabase()
    await tick({ ...environment, DB }, at(0))
    expect(statements.length).toBeLessThan(MAX_STATEMENTS)
    const recorded = await statusesOf(workspace, long)
    expect(recorded).toHaveLength(INSTANTS_PER_TICK + 1)
    expect(recorded.at(-2)).toBe(`${iso(-9 * DAY_MINUTES + INSTANTS_PER_TICK - 1)} skipped`)
    expect(await statusesOf(workspace, short)).toEqual([`${iso(0)} pending`])
    await Promise.all([tick(environment, at(0)), tick(environment, at(0))])
    for (const [id, since] of [
      [long, -9 * DAY_MINUTES],
      [short, -2],
    ] as const)
      expect(await statusesOf(workspace, id)).toEqual(skippedBut(walk(EVERY_MINUTE, 'UTC', iso(since), iso(0))))
    expect(await workspace.dump('missedSpans')).toEqual([])
  })

  it('each span has the cron expression that the schedule had then', async () => {
    const { workspace, project, key, environment } = await withParents()
    const id = await addDue(workspace, project, -120, { cron: '*/10 * * * *' })
    const start = nextRun('*/10 * * * *', 'UTC', at(-120)).toISOString()
    await workspace.change(schedules, id, { nextRunAt: start })
    await fireSchedules(ofDatabase(environment), at(0))
    const json = { cron: '0 0 1 1 *', timezone: 'Asia/Tokyo' }
    expect((await request('PATCH', `/v1/projects/${project}/schedules/${id}`, { key, json })).status).toBe(200)
    await tick(environment, at(0))
    expect(await statusesOf(workspace, id)).toEqual(skippedBut(walk('*/10 * * * *', 'UTC', start, iso(0))))
  })

  it.each([
    { what: 'is extended', first: -120, second: -300 },
    { what: 'keeps its length', first: -300, second: -120 },
  ])('a span that begins again at another instant, because a clock was set back, $what', async ({ first, second }) => {
    const { workspace, project, environment } = await withParents()
    const id = await addDue(workspace, project, first)
    await fireSchedules(ofDatabase(environment), at(0))
    await workspace.change(schedules, id, { nextRunAt: iso(second) })
    await tick(environment, at(0))
    expect(await statusesOf(workspace, id)).toEqual(skippedBut(walk(HOURLY, 'UTC', iso(-300), iso(0))))
    expect(await workspace.dump('missedSpans')).toEqual([])
  })

  it('a span that is extended while it is recorded is recorded completely', async () => {
    const { workspace, project, environment } = await withParents()
    const id = await addDue(workspace, project, -120)
    await fireSchedules(ofDatabase(environment), at(0))
    await workspace.change(schedules, id, { nextRunAt: iso(-300) })
    const DB = interruptedDatabase(() => fireSchedules(ofDatabase(environment), at(0)))
    await recordMissedRuns(ofDatabase({ ...environment, DB }), at(0))
    await tick(environment, at(0))
    expect(await statusesOf(workspace, id)).toEqual(skippedBut(walk(HOURLY, 'UTC', iso(-300), iso(0))))
    expect(await workspace.dump('missedSpans')).toEqual([])
  })

  it('an existing run does not change', async () => {
    const { workspace, project, environment } = await withParents()
    const id = await addDue(workspace, project, -180)
    await workspace.addRun(id, {
      scheduledAt: iso(-120),
      status: 'failed',
      attempts: 6,
      lastError: 'HTTP 500',
    })
    await workspace.addRun(id, { scheduledAt: iso(0), status: 'delivered', attempts: 1 })
    await tick(environment, at(0))
    expect(await statusesOf(workspace, id)).toEqual(
      ['skipped', 'failed', 'skipped', 'delivered'].map((status, hour) => `${iso(-180 + hour * 60)} ${status}`),
    )
    expect(await scheduleOf(workspace, id)).toMatchObject({ lastRunAt: iso(0), nextRunAt: iso(60) })
  })

  it('of more than 90 days, older instants are not recorded', async () => {
    const { workspace, project, environment } = await withParents()
    const cron = '0 */6 * * *'
    const from = nextRun(cron, 'UTC', at(-200 * DAY_MINUTES)).toISOString()
    const id = await addDue(workspace, project, from, { cron })
    const now = new Date(START + 1)
    await fireSchedules(ofDatabase(environment), now)
    await recordMissedRuns(ofDatabase(environment), now)
    const kept = new Date(now.getTime() - KEPT_DAYS * DAY_MINUTES * MINUTE_MS).toISOString()
    const instants = walk(cron, 'UTC', kept, now.toISOString())
    expect([KEPT_DAYS * 4 - 1, KEPT_DAYS * 4]).toContain(instants.length)
    expect(await statusesOf(workspace, id)).toEqual(skippedBut(instants))
    expect(await workspace.dump('missedSpans')).toEqual([])
  })

  it('of more than 90 days, the latest instant fires even if it is older', async () => {
    const { workspace, project, receiver, environment, deliver } = await withParents()
    const instant = at(-100 * DAY_MINUTES)
    const cron = `${instant.getUTCMinutes()} ${instant.getUTCHours()} ${instant.getUTCDate()} ${instant.getUTCMonth() + 1} *`
    const id = await addDue(workspace, project, instant.toISOString(), { cron })
    await tick(environment, at(0))
    await deliver()
    expect(await scheduleOf(workspace, id)).toMatchObject({ lastRunAt: instant.toISOString() })
    const ids = (await receiver.received()).map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([computeRunId(id, instant.toISOString())])
  })
})

const PARENTS = [
  { type: 'project', path: 'projects' },
  { type: 'agent', path: 'agents' },
] as const

describe.each(PARENTS)('an archived $type', ({ type, path }) => {
  it('has the runs of its schedules skipped until it is unarchived', async () => {
    const { workspace, receiver, key, environment, messages, deliver, ...parents } = await withParents()
    const id = await addDue(workspace, parents[type], 0, { parentType: type })
    const archive = async (archived: boolean) => {
      const { status } = await request('PATCH', `/v1/${path}/${parents[type]}`, { key, json: { archived } })
      expect(status).toBe(200)
    }
    await archive(true)
    await tick(environment, at(0))
    expect(await workspace.dump('runs')).toEqual([
      expect.objectContaining({
        scheduledAt: iso(0),
        status: 'skipped',
        lastError: `The ${type} was archived.`,
        attempts: 0,
        checkAt: null,
      }),
    ])
    expect(await scheduleOf(workspace, id)).toMatchObject({ lastRunAt: null, nextRunAt: iso(60) })
    await archive(false)
    await tick(environment, at(1))
    expect(messages).toEqual([])
    await tick(environment, at(60))
    await deliver()
    await archive(true)
    await tick(environment, at(120))
    expect(messages).toEqual([])
    expect(await receiver.received()).toHaveLength(1)
    const statuses = ['skipped', 'delivered', 'skipped']
    expect(await statusesOf(workspace, id)).toEqual(statuses.map((status, hour) => `${iso(hour * 60)} ${status}`))
    expect(await scheduleOf(workspace, id)).toMatchObject({ lastRunAt: iso(60), nextRunAt: iso(180) })
  })

  it('skips the latest missed instant too', async () => {
    const { workspace, key, environment, messages, ...parents } = await withParents()
    const id = await addDue(workspace, parents[type], -120, { parentType: type })
    await request('PATCH', `/v1/${path}/${parents[type]}`, { key, json: { archived: true } })
    await tick(environment, at(0))
    const instants = [iso(-120), iso(-60), iso(0)]
    expect(await statusesOf(workspace, id)).toEqual(skippedBut(instants, 'skipped'))
    expect(messages).toEqual([])
  })
})

const DELETED = [
  ...PARENTS.map(({ type, path }) => ({
    what: type,
    type,
    pathOf: (parentId: string, _: string) => `/v1/${path}/${parentId}`,
  })),
  ...PARENTS.map(({ type, path }) => ({
    what: `schedule of a ${type}`,
    type,
    pathOf: (parentId: string, id: string) => `/v1/${path}/${parentId}/schedules/${id}`,
  })),
]

describe.each(DELETED)('a deleted $what', ({ type, pathOf }) => {
  /** Ticks until every deletion is purged. @returns the number of ticks. */
  async function tickToTheEnd(workspace: Workspace, environment: Cloudflare.Env): Promise<number> {
    await workspace.endUndo()
    for (let count = 1; count < 20; count++) {
      await tick(environment, at(count))
      const deletions = await workspace.dump('deletions')
      if (deletions.every(({ purgedAt }) => purgedAt !== null)) return count
    }
    throw new Error('The purge did not end within 20 ticks')
  }

  /** The rows of the schedule in each table. */
  async function rowsOf(workspace: Workspace, id: string): Promise<unknown[]> {
    const rows = await Promise.all(['runs', 'missedSpans', 'schedules'].map((table) => workspace.dump(table)))
    return rows.flat().filter((row) => row.id === id || row.scheduleId === id)
  }

  it('does not fire, and leaves no rows', async () => {
    const { workspace, key, environment, messages, ...parents } = await withParents()
    const elsewhere = await Workspace.create()
    const parentId = parents[type]
    const id = await addDue(workspace, parentId, -120, { parentType: type })
    await elsewhere.addProject(parentId)
    await elsewhere.addAgent(parentId)
    await elsewhere.addSchedule(type, parentId, { id, cron: HOURLY })
    await elsewhere.change(schedules, id, { nextRunAt: iso(-60) })
    expect((await request('DELETE', pathOf(parentId, id), { key })).status).toBe(200)
    await fireSchedules(ofDatabase(environment), at(0))
    expect(await workspace.dump('runs')).toEqual([])
    await tickToTheEnd(workspace, environment)
    expect(await rowsOf(workspace, id)).toEqual([])
    expect(messages).toEqual([])
    expect(await statusesOf(elsewhere, id)).toEqual(skippedBut([iso(-60), iso(0)]))
  })

  it.each(['at once', 'after a tick'])('leaves no runs and missed spans, deleted %s', async (when) => {
    const { workspace, receiver, key, environment, deliver, ...parents } = await withParents()
    const parentId = parents[type]
    const id = await addDue(workspace, parentId, -8 * DAY_MINUTES, { parentType: type, cron: EVERY_MINUTE })
    const other = await addDue(workspace, await workspace.addProject(), -120)
    if (when === 'after a tick') await tick(environment, at(0))
    else await fireSchedules(ofDatabase(environment), at(0))
    await addOldRuns(workspace, id, 100, iso(-9 * DAY_MINUTES))
    const before = await rowsOf(workspace, id)
    expect(before).toHaveLength((when === 'after a tick' ? INSTANTS_PER_TICK : 0) + 103)

    expect((await request('DELETE', pathOf(parentId, id), { key })).status).toBe(200)
    await deliver()
    const ticks = await tickToTheEnd(workspace, environment)
    expect(ticks).toBeGreaterThanOrEqual(when === 'after a tick' ? INSTANTS_PER_TICK / PURGED_PER_TICK : 1)
    expect(await rowsOf(workspace, id)).toEqual([])
    await deliver()
    expect(await rowsOf(workspace, id)).toEqual([])
    const ids = new Set((await receiver.received()).map(({ headers }) => headers['webhook-id']))
    expect(ids).toEqual(new Set([computeRunId(other, iso(0))]))
    await tick(environment, at(ticks + 1))
    expect(await statusesOf(workspace, other)).toEqual(skippedBut([iso(-120), iso(-60), iso(0)], 'delivered'))
  })
})

describe('a schedule whose time zone the runtime does not know', () => {
  it('fires for the due instant and is paused with a reason, and fires again with another time zone', async () => {
    const { workspace, project, key, environment } = await withParents()
    const lost = await addDue(workspace, project, -120)
    const others = [await addDue(workspace, project, -180), await addDue(workspace, project, 0)]
    await workspace.change(schedules, lost, { timezone: UNKNOWN_ZONE })
    await tick(environment, at(0))
    const path = `/v1/projects/${project}/schedules/${lost}`
    const { body } = await request('GET', path, { key })
    expect(body).toMatchObject({ enabledAt: null, nextRunAt: null, lastRunAt: iso(-120) })
    expect(body.pausedReason).toMatch(/next run could not be computed/)
    expect(await statusesOf(workspace, lost)).toEqual([`${iso(-120)} pending`])
    for (const [index, id] of others.entries()) {
      const instants = walk(HOURLY, 'UTC', iso(index === 0 ? -180 : 0), iso(0))
      expect(await statusesOf(workspace, id)).toEqual(skippedBut(instants))
      expect(await scheduleOf(workspace, id)).toMatchObject({ nextRunAt: iso(60), pausedReason: null })
      expect((await scheduleOf(workspace, id))?.enabledAt).not.toBeNull()
    }
    await tick(environment, at(60))
    expect(await statusesOf(workspace, lost)).toHaveLength(1)

    const resumed = await request('PATCH', path, { key, json: { timezone: 'UTC', enabled: true } })
    expect(resumed.body.pausedReason).toBeNull()
    await tick(environment, new Date(resumed.body.nextRunAt))
    expect(await statusesOf(workspace, lost)).toEqual([`${iso(-120)} pending`, `${resumed.body.nextRunAt} pending`])
  })

  it('loses its missed span, and other spans are still recorded', async () => {
    const { workspace, project, environment } = await withParents()
    const ids = [-240, -180, -120].map((since) => addDue(workspace, project, since))
    const [before, lost, after] = (await Promise.all(ids)) as [string, string, string]
    await fireSchedules(ofDatabase(environment), at(0))
    await env.DB.prepare('UPDATE "missedSpans" SET "timezone" = ? WHERE "scheduleId" = ?')
      .bind(UNKNOWN_ZONE, lost)
      .run()
    await recordMissedRuns(ofDatabase(environment), at(0))
    expect(await workspace.dump('missedSpans')).toEqual([])
    // Only the first of the missed instants is known.
    expect(await statusesOf(workspace, lost)).toEqual([`${iso(-180)} skipped`, `${iso(0)} pending`])
    for (const [id, since] of [
      [before, -240],
      [after, -120],
    ] as const)
      expect(await statusesOf(workspace, id)).toEqual(skippedBut(walk(HOURLY, 'UTC', iso(since), iso(0))))
  })
})

describe('runs of more than 90 days ago', () => {
  const oldest = new Date(START - KEPT_DAYS * DAY_MINUTES * MINUTE_MS)

  /** The next tick begins a pass. */
  beforeEach(() => env.DB.prepare('DELETE FROM "passes"').run())

  it('are deleted in any status, and newer ones are kept', async () => {
    const { workspace, project, environment } = await withParents()
    const id = await workspace.addSchedule('project', project)
    const statuses = ['pending', 'delivered', 'succeeded', 'failed', 'skipped']
    for (const [index, status] of statuses.entries()) {
      await workspace.addRun(id, {
        scheduledAt: new Date(oldest.getTime() - 1 - index).toISOString(),
        status,
      })
      await workspace.addRun(id, { scheduledAt: new Date(oldest.getTime() + index).toISOString(), status })
    }
    await tick(environment, at(0))
    const kept = statuses.map((status, index) => `${new Date(oldest.getTime() + index).toISOString()} ${status}`)
    expect(await statusesOf(workspace, id)).toEqual(kept)
  })

  it('are deleted page by page, and the next tick continues', async () => {
    const { workspace, project, environment } = await withParents()
    const id = await workspace.addSchedule('project', project)
    await addOldRuns(workspace, id, 35_000, new Date(oldest.getTime() - 1000).toISOString())
    await addOldRuns(workspace, newUuid(), 10, iso(-1))
    const { DB, statements } = watchedDatabase()
    await tick({ ...environment, DB }, at(0))
    expect(statements.length).toBeLessThan(MAX_STATEMENTS)
    const left = (await workspace.dump('runs')).map(({ scheduledAt }) => String(scheduledAt)).sort()
    expect(left).toHaveLength(5010)
    expect(left[4999]).toBe(new Date(oldest.getTime() - 1000).toISOString())
    await tick(environment, at(0))
    expect(await workspace.dump('runs')).toHaveLength(10)
  })
})
