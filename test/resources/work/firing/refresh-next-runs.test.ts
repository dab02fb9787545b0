import { v7 as newUuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextRun } from '../../../../src/cron/next-run.ts'
import type { Values } from '../../../../src/db/parameters.ts'
import { schedules } from '../../../../src/db/schema.ts'
import { refreshNextRuns } from '../../../../src/resources/work/firing/refresh-next-runs.ts'
import { request } from '../../../support/api.ts'
import { databaseWith, watchedDatabase } from '../../../support/bindings.ts'
import { START, stopClock } from '../../../support/clock.ts'
import { env, ofDatabase } from '../../../support/env.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
/** How many schedules a page has, and how many of them a tick processes. */
const PAGE = 100
const SCHEDULES_PER_TICK = 700

const at = (minutes: number) => new Date(START + minutes * MINUTE_MS)
const iso = (minutes: number) => at(minutes).toISOString()

/** When the tests tick, in minutes: after they created their schedules. */
const NOW = 10
const DAILY = '30 9 * * *'
const BERLIN = 'Europe/Berlin'
const HOURLY = '0 * * * *'
/** Half a year away. */
const YEARLY = '0 0 1 12 *'
const UNKNOWN_ZONE = 'Mars/Olympus_Mons'

/** The next run after a tick. */
const nextAfter = (cron: string, timezone: string, minutes = NOW) => nextRun(cron, timezone, at(minutes)).toISOString()

const hourLater = (instant: string) => new Date(Date.parse(instant) + 60 * MINUTE_MS).toISOString()

const removeAll = () =>
  env.DB.batch(['schedules', 'runs', 'missedSpans', 'passes'].map((table) => env.DB.prepare(`DELETE FROM "${table}"`)))

beforeEach(removeAll)
stopClock()

afterEach(removeAll)

/** The next tick begins a pass, as after a restore. */
const removePass = () => env.DB.prepare('DELETE FROM "passes"').run()

const passes = async () =>
  (await env.DB.prepare(`SELECT "dueAt", "cursor" FROM "passes" WHERE "name" = 'next runs'`).all()).results

/** The state after a pass that was due at an instant: the next is due a day later. */
const completed = (minutes: number) => [{ dueAt: iso(minutes + DAY_MINUTES), cursor: '' }]

/** Adds a schedule, by default a daily one in Berlin. @returns its id. */
async function addSchedule(workspace: Workspace, projectId: string, values: Values = {}): Promise<string> {
  const id = await workspace.addSchedule('project', projectId)
  await workspace.change(schedules, id, { cron: DAILY, timezone: BERLIN, ...values })
  return id
}

async function withProject() {
  const workspace = await Workspace.create()
  return { workspace, projectId: await workspace.addProject(), key: await workspace.addKey() }
}

/** Adds enabled hourly schedules without a next run. */
async function addManyWithoutNextRun({ organizationId }: Workspace, projectId: string, count: number) {
  await env.DB.prepare(
    `WITH RECURSIVE "each"(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM "each" WHERE i + 1 < ?3)
     INSERT INTO schedules (organizationId, parentType, parentId, id, cron, timezone, enabledAt, createdAt, updatedAt)
     SELECT ?1, 'project', ?2, printf('%s%012x', ?6, i), ?4, 'UTC', ?5, ?5, ?5 FROM "each"`,
  )
    .bind(organizationId, projectId, count, HOURLY, iso(0), newUuid().slice(0, 24))
    .run()
}

async function scheduleOf(workspace: Workspace, id: string) {
  return (await workspace.dump('schedules')).find((schedule) => schedule.id === id)
}

/** How many schedules have this next run. */
async function countOf(workspace: Workspace, nextRunAt: string | null): Promise<number> {
  return (await workspace.dump('schedules')).filter((schedule) => schedule.nextRunAt === nextRunAt).length
}

/** The database; `happens` runs after a page was read and before its next runs are stored. */
function databaseBeforeStoring(happens: () => Promise<unknown>): D1Database {
  let calls = 0
  return databaseWith(async (statements) => {
    if (++calls === 3) await happens()
    return env.DB.batch(statements)
  })
}

describe('the pass over next runs', () => {
  it('corrects next runs that were computed under other rules, of projects and agents of all organizations', async () => {
    const right = nextAfter(DAILY, BERLIN)
    const changed: [Workspace, string][] = []
    for (const workspace of [await Workspace.create(), await Workspace.create()]) {
      const parents = { project: await workspace.addProject(), agent: await workspace.addAgent() }
      for (const type of ['project', 'agent'] as const) {
        const id = await workspace.addSchedule(type, parents[type], { cron: DAILY, timezone: BERLIN })
        await workspace.change(schedules, id, { nextRunAt: hourLater(right) })
        changed.push([workspace, id])
      }
    }
    const before = await Promise.all(changed.map(([workspace, id]) => scheduleOf(workspace, id)))
    await tick(env, at(NOW))
    for (const [index, [workspace, id]] of changed.entries()) {
      expect(await scheduleOf(workspace, id)).toEqual({ ...before[index], nextRunAt: right })
      expect(await workspace.dump('runs')).toEqual([])
    }
    expect(await passes()).toEqual(completed(NOW))
  })

  it('runs once a day', async () => {
    const { workspace, projectId } = await withProject()
    await tick(env, at(NOW))
    const wrong = iso(10 * DAY_MINUTES)
    const id = await addSchedule(workspace, projectId, { nextRunAt: wrong })
    for (const minutes of [NOW, NOW + 1, NOW + DAY_MINUTES - 1]) {
      await tick(env, at(minutes))
      expect(await scheduleOf(workspace, id)).toMatchObject({ nextRunAt: wrong })
    }
    expect(await passes()).toEqual(completed(NOW))
    const later = NOW + DAY_MINUTES
    await tick(env, at(later))
    expect(await scheduleOf(workspace, id)).toMatchObject({ nextRunAt: nextAfter(DAILY, BERLIN, later) })
    expect(await passes()).toEqual(completed(later))
  })

  it('reads one row in a tick between passes, and writes none', async () => {
    const { workspace, projectId } = await withProject()
    for (let count = 0; count < 3; count++) await addSchedule(workspace, projectId)
    await refreshNextRuns(ofDatabase(env), at(NOW))
    const { DB, ...use } = watchedDatabase()
    await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW + 1))
    expect(use.statements).toEqual([expect.objectContaining({ rowsRead: 1, rowsWritten: 0 })])
  })

  it('does not write schedules whose next run is right', async () => {
    const { workspace, projectId } = await withProject()
    for (const timezone of [BERLIN, 'America/New_York', 'Asia/Kolkata', 'UTC'])
      await addSchedule(workspace, projectId, { timezone, nextRunAt: nextAfter(DAILY, timezone) })
    await addManyWithoutNextRun(workspace, projectId, PAGE)
    await tick(env, at(NOW))
    await removePass()
    const before = await workspace.dump('schedules')
    const { DB, ...use } = watchedDatabase()
    await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW))
    const written = use.statements.filter(({ rowsWritten }) => rowsWritten > 0)
    expect(written.length).toBeGreaterThan(0)
    expect(written.filter(({ sql }) => !sql.includes('passes'))).toEqual([])
    expect(await workspace.dump('schedules')).toEqual(before)
  })

  it('works page by page, and the next tick continues', async () => {
    const { workspace, projectId } = await withProject()
    const count = SCHEDULES_PER_TICK + PAGE + 1
    await addManyWithoutNextRun(workspace, projectId, count)
    const { DB, ...use } = watchedDatabase()
    await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW))
    // With the other tasks of a tick, it stays below the 50 statements of the Workers Free plan.
    expect(use.statements.length).toBeLessThanOrEqual(35)
    expect(await countOf(workspace, nextAfter(HOURLY, 'UTC'))).toBe(SCHEDULES_PER_TICK)
    await tick(env, at(NOW + 1))
    expect(await countOf(workspace, nextAfter(HOURLY, 'UTC'))).toBe(count)
    expect(await passes()).toEqual(completed(NOW))
  })

  it.each([0, 1, PAGE - 1, PAGE, PAGE + 1])('ends with %i schedules', async (count) => {
    const { workspace, projectId } = await withProject()
    if (count > 0) await addManyWithoutNextRun(workspace, projectId, count)
    await tick(env, at(NOW))
    expect(await countOf(workspace, null)).toBe(0)
    expect(await passes()).toEqual(completed(NOW))
  })

  it('ends if the schedules that it has not reached are deleted', async () => {
    const { workspace, projectId } = await withProject()
    await addManyWithoutNextRun(workspace, projectId, SCHEDULES_PER_TICK + 1)
    await refreshNextRuns(ofDatabase(env), at(NOW))
    expect(await passes()).not.toEqual(completed(NOW))
    await env.DB.prepare('DELETE FROM "schedules"').run()
    await refreshNextRuns(ofDatabase(env), at(NOW + 1))
    expect(await passes()).toEqual(completed(NOW))
  })

  it('is followed by the next at once if it ends more than a day after it was due', async () => {
    await refreshNextRuns(ofDatabase(env), at(NOW))
    const late = NOW + 3 * DAY_MINUTES
    await refreshNextRuns(ofDatabase(env), at(late))
    expect(await passes()).toEqual([{ dueAt: iso(late), cursor: '' }])
    await refreshNextRuns(ofDatabase(env), at(late + 1))
    expect(await passes()).toEqual(completed(late))
  })

  it('starts again if its row is deleted, as by a restore', async () => {
    const { workspace, projectId } = await withProject()
    await addManyWithoutNextRun(workspace, projectId, SCHEDULES_PER_TICK + 1)
    await refreshNextRuns(ofDatabase(env), at(NOW))
    await removePass()
    await env.DB.prepare('UPDATE "schedules" SET "nextRunAt" = NULL').run()
    for (const minutes of [NOW + 1, NOW + 2]) await refreshNextRuns(ofDatabase(env), at(minutes))
    expect(await countOf(workspace, null)).toBe(0)
    expect(await passes()).toEqual(completed(NOW + 1))
  })

  it('does not change schedules that are due', async () => {
    const { workspace, projectId } = await withProject()
    const id = await addSchedule(workspace, projectId, { cron: HOURLY, timezone: 'UTC', nextRunAt: iso(NOW) })
    await refreshNextRuns(ofDatabase(env), at(NOW))
    expect(await scheduleOf(workspace, id)).toMatchObject({ nextRunAt: iso(NOW), lastRunAt: null })
  })
})

describe('an enabled schedule without a next run', () => {
  it('gets one from now on and does not fire for the past, and a paused one stays paused', async () => {
    const { workspace, projectId, key } = await withProject()
    const id = await addSchedule(workspace, projectId, { cron: HOURLY, timezone: 'UTC', nextRunAt: null })
    const paused = await addSchedule(workspace, projectId)
    const path = `/v1/projects/${projectId}/schedules`
    await request('PATCH', `${path}/${paused}`, { key, json: { enabled: false } })
    const pausedBefore = await scheduleOf(workspace, paused)
    await tick(env, at(NOW))
    const { body } = await request('GET', `${path}/${id}`, { key })
    expect(body).toMatchObject({ nextRunAt: iso(60), lastRunAt: null, pausedReason: null })
    expect(body.enabledAt).not.toBeNull()
    expect(await scheduleOf(workspace, paused)).toEqual(pausedBefore)
    expect([await workspace.dump('runs'), await workspace.dump('missedSpans')]).toEqual([[], []])
    await tick(env, at(60))
    const runs = await workspace.dump('runs')
    expect(runs.map(({ scheduleId, scheduledAt }) => [scheduleId, scheduledAt])).toEqual([[id, iso(60)]])
  })

  it.each([{ enabled: true }, { cron: DAILY }, { timezone: 'UTC' }, { cron: HOURLY, timezone: 'UTC' }])(
    'gets one from an update to %j too',
    async (json) => {
      const { workspace, projectId, key } = await withProject()
      const id = await addSchedule(workspace, projectId, { cron: HOURLY, timezone: 'UTC', nextRunAt: null })
      const path = `/v1/projects/${projectId}/schedules/${id}`
      const before = new Date()
      const { body } = await request('PATCH', path, { key, json })
      const next = (after: Date) => nextRun(json.cron ?? HOURLY, 'UTC', after).toISOString()
      expect([next(before), next(new Date())]).toContain(body.nextRunAt)
    },
  )
})

describe('a schedule whose next run cannot be computed', () => {
  it.each([
    { what: 'stored', nextRunAt: iso(DAY_MINUTES) },
    { what: 'to be computed', nextRunAt: null },
  ])('is paused with a reason and logged once, if its next run is $what', async ({ nextRunAt }) => {
    const { workspace, projectId, key } = await withProject()
    const lost = await addSchedule(workspace, projectId, { timezone: UNKNOWN_ZONE, nextRunAt })
    const other = await addSchedule(workspace, projectId, { nextRunAt: null })
    await tick(env, at(NOW))
    const path = `/v1/projects/${projectId}/schedules/${lost}`
    const { body } = await request('GET', path, { key })
    expect(body).toMatchObject({ enabledAt: null, nextRunAt: null })
    expect(body.pausedReason).toMatch(/next run could not be computed/)
    expect(await scheduleOf(workspace, other)).toMatchObject({ nextRunAt: nextAfter(DAILY, BERLIN) })
    const failures = vi.spyOn(console, 'error')
    await tick(env, at(NOW + DAY_MINUTES))
    expect(failures.mock.calls).toEqual([])
    failures.mockRestore()
    const resumed = await request('PATCH', path, { key, json: { timezone: 'UTC', enabled: true } })
    expect(resumed.body).toMatchObject({ pausedReason: null, nextRunAt: expect.any(String) })
  })
})

describe('a schedule that fires once', () => {
  const once = (minutes: number, values: Values = {}) => ({ cron: null, runAt: iso(minutes), ...values })

  it('keeps its next run, and a finished or paused one has none, without a write', async () => {
    const { workspace, projectId } = await withProject()
    const waiting = once(600, { nextRunAt: iso(600) })
    const finished = once(-600, { nextRunAt: null, lastRunAt: iso(-600) })
    const paused = once(600, { nextRunAt: null, enabledAt: null })
    for (const values of [waiting, finished, paused]) await addSchedule(workspace, projectId, values)
    const before = await workspace.dump('schedules')
    for (const minutes of [NOW, NOW + DAY_MINUTES / 4]) {
      await removePass()
      const { DB, ...use } = watchedDatabase()
      await refreshNextRuns(ofDatabase({ ...env, DB }), at(minutes))
      const written = use.statements.filter(({ rowsWritten }) => rowsWritten > 0)
      expect(written.filter(({ sql }) => !sql.includes('passes'))).toEqual([])
      expect(await workspace.dump('schedules')).toEqual(before)
    }
    await tick(env, at(600))
    const runs = await workspace.dump('runs')
    expect(runs.map(({ scheduledAt }) => scheduledAt)).toEqual([iso(600)])
    await removePass()
    await tick(env, at(601))
    expect((await workspace.dump('schedules')).map(({ nextRunAt }) => nextRunAt)).toEqual([null, null, null])
    expect(await workspace.dump('runs')).toHaveLength(1)
  })

  it('gets its time back after a restore, unless it has passed', async () => {
    const { workspace, projectId } = await withProject()
    const ahead = await addSchedule(workspace, projectId, once(NOW + 1, { nextRunAt: null }))
    const now = await addSchedule(workspace, projectId, once(NOW, { nextRunAt: null }))
    const passed = await addSchedule(workspace, projectId, once(-1, { nextRunAt: null }))
    const before = await scheduleOf(workspace, ahead)
    await tick(env, at(NOW))
    expect(await scheduleOf(workspace, ahead)).toEqual({ ...before, nextRunAt: iso(NOW + 1) })
    for (const id of [now, passed])
      expect(await scheduleOf(workspace, id)).toMatchObject({
        nextRunAt: null,
        lastRunAt: null,
        pausedReason: null,
        enabledAt: expect.any(String),
      })
    expect([await workspace.dump('runs'), await workspace.dump('missedSpans')]).toEqual([[], []])
  })

  it('is not changed while it is due', async () => {
    const { workspace, projectId } = await withProject()
    const id = await addSchedule(workspace, projectId, once(NOW, { nextRunAt: iso(NOW) }))
    const before = await scheduleOf(workspace, id)
    await refreshNextRuns(ofDatabase(env), at(NOW))
    expect(await scheduleOf(workspace, id)).toEqual(before)
  })

  it('needs no time zone that the runtime knows', async () => {
    const { workspace, projectId } = await withProject()
    const id = await addSchedule(workspace, projectId, once(600, { nextRunAt: iso(600), timezone: UNKNOWN_ZONE }))
    const before = await scheduleOf(workspace, id)
    await refreshNextRuns(ofDatabase(env), at(NOW))
    expect(await scheduleOf(workspace, id)).toEqual(before)
  })
})

describe('during a pass', () => {
  it.each([
    { what: 'gets another expression', json: { cron: YEARLY.replace('0 0', '15 4') } },
    { what: 'gets another time zone', json: { timezone: 'Asia/Tokyo' } },
    { what: 'is paused', json: { enabled: false } },
    { what: 'gets one time', json: { runAt: iso(9 * DAY_MINUTES) } },
  ])('a schedule that $what keeps the update', async ({ json }) => {
    for (const nextRunAt of [iso(10 * DAY_MINUTES), null]) {
      const { workspace, projectId, key } = await withProject()
      const id = await addSchedule(workspace, projectId, { cron: YEARLY, nextRunAt })
      let changed: unknown
      const DB = databaseBeforeStoring(async () => {
        const path = `/v1/projects/${projectId}/schedules/${id}`
        expect((await request('PATCH', path, { key, json })).status).toBe(200)
        changed = await scheduleOf(workspace, id)
      })
      await removePass()
      await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW))
      expect(await scheduleOf(workspace, id)).toEqual(changed)
      await removePass()
      await refreshNextRuns(ofDatabase(env), at(NOW))
      expect(await scheduleOf(workspace, id)).toEqual(changed)
    }
  })

  it.each([
    { what: 'expression', before: { cron: HOURLY, timezone: 'UTC' }, change: { cron: YEARLY } },
    { what: 'time zone', before: { cron: YEARLY, timezone: 'Asia/Kolkata' }, change: { timezone: 'UTC' } },
  ])('an update of the $what is kept, even if the next run stays the same', async ({ before, change }) => {
    const { workspace, projectId, key } = await withProject()
    const nextRunAt = nextAfter(YEARLY, 'UTC')
    const id = await addSchedule(workspace, projectId, { ...before, nextRunAt })
    const DB = databaseBeforeStoring(() =>
      request('PATCH', `/v1/projects/${projectId}/schedules/${id}`, { key, json: change }),
    )
    await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW))
    expect(await scheduleOf(workspace, id)).toMatchObject({ ...change, nextRunAt })
  })

  it.each([
    { what: 'another time', json: { runAt: iso(3 * DAY_MINUTES) } },
    { what: 'an expression', json: { cron: YEARLY } },
  ])('a schedule that fires once and gets $what keeps the update', async ({ json }) => {
    const { workspace, projectId, key } = await withProject()
    const values = { cron: null, runAt: iso(DAY_MINUTES), nextRunAt: null }
    const id = await addSchedule(workspace, projectId, values)
    let changed: unknown
    const DB = databaseBeforeStoring(async () => {
      const path = `/v1/projects/${projectId}/schedules/${id}`
      expect((await request('PATCH', path, { key, json })).status).toBe(200)
      // As if the next run were lost again: then only what it is computed from tells that the schedule changed.
      await workspace.change(schedules, id, { nextRunAt: null })
      changed = await scheduleOf(workspace, id)
    })
    await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW))
    expect(await scheduleOf(workspace, id)).toEqual(changed)
  })

  it('a schedule that another tick fires keeps the next run of that tick', async () => {
    const { workspace, projectId } = await withProject()
    const id = await addSchedule(workspace, projectId, { cron: HOURLY, timezone: 'UTC', nextRunAt: iso(90) })
    const DB = databaseBeforeStoring(() => tick(env, at(120)))
    await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW))
    expect(await scheduleOf(workspace, id)).toMatchObject({ lastRunAt: iso(120), nextRunAt: iso(180) })
  })

  it('a tick does not move the cursor of a pass that began since', async () => {
    const { workspace, projectId } = await withProject()
    await addManyWithoutNextRun(workspace, projectId, 1)
    const DB = databaseBeforeStoring(async () => {
      await removePass()
      await env.DB.prepare(`INSERT INTO "passes" VALUES ('next runs', ?, '')`)
        .bind(iso(NOW + 1))
        .run()
    })
    await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW))
    expect(await passes()).toEqual([{ dueAt: iso(NOW + 1), cursor: '' }])
  })

  it('concurrent ticks store the right next runs', async () => {
    const { workspace, projectId } = await withProject()
    await addManyWithoutNextRun(workspace, projectId, 3 * PAGE + 1)
    await Promise.all(Array.from({ length: 10 }, () => tick(env, at(NOW))))
    expect(await countOf(workspace, nextAfter(HOURLY, 'UTC'))).toBe(3 * PAGE + 1)
    expect(await workspace.dump('runs')).toEqual([])
    expect(await passes()).toEqual(completed(NOW))
  })

  it.each(['before', 'after'] as const)(
    'the next tick continues one that ends %s the commit of any of its calls',
    async (when) => {
      const { workspace, projectId } = await withProject()
      await addManyWithoutNextRun(workspace, projectId, 2 * PAGE + 1)
      let number = 1
      for (; ; number++) {
        await removePass()
        await env.DB.prepare('UPDATE "schedules" SET "nextRunAt" = NULL').run()
        let calls = 0
        const DB = databaseWith(async (statements) => {
          const fails = ++calls >= number
          if (fails && (when === 'before' || calls > number)) throw new Error('D1_ERROR: Network connection lost.')
          const results = await env.DB.batch(statements)
          if (fails) throw new Error('D1_ERROR: Network connection lost.')
          return results
        })
        const isCutOff = await refreshNextRuns(ofDatabase({ ...env, DB }), at(NOW)).then(
          () => false,
          () => true,
        )
        if (!isCutOff) break
        await tick(env, at(NOW + 1))
        expect(await countOf(workspace, nextAfter(HOURLY, 'UTC')), `call ${number}`).toBe(2 * PAGE + 1)
        expect([completed(NOW), completed(NOW + 1)]).toContainEqual(await passes())
      }
      // The calls: the state, the first page, and the next runs of three pages.
      expect(number - 1).toBe(5)
    },
  )
})

describe('a late tick', () => {
  it('does not overwrite the next run of a later update or run', async () => {
    const { workspace, projectId } = await withProject()
    const changed = await addSchedule(workspace, projectId, {
      cron: '* * * * *',
      updatedAt: iso(30),
      nextRunAt: iso(31),
    })
    const ran = await addSchedule(workspace, projectId, {
      cron: '* * * * *',
      lastRunAt: iso(40),
      nextRunAt: iso(41),
    })
    await refreshNextRuns(ofDatabase(env), at(NOW))
    expect(await scheduleOf(workspace, changed)).toMatchObject({ nextRunAt: iso(31) })
    expect(await scheduleOf(workspace, ran)).toMatchObject({ nextRunAt: iso(41) })
  })
})
