import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { schedules } from '../../../../src/db/schema.ts'
import { type RequestOptions, request } from '../../../support/api.ts'
import { watchedDatabase } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { MINUTE_MS } from '../../../support/runs.ts'
import { AGENT, ALLOWED_ID, DAY_MS, FAR, PAST, PAUSED, SETTINGS, withSchedule } from '../../../support/schedules.ts'
import { Workspace } from '../../../support/workspace.ts'

describe('the statistics of a schedule', () => {
  async function withRuns() {
    const its = await withSchedule(AGENT)
    const { workspace, schedule, send, path, key } = its
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 60 * MINUTE_MS).toISOString()
    let added = 0
    /** Adds a run an hour before those that were added. @param seconds from its start to its end. */
    const add = (status: string, seconds: number | null = null, values: object = {}) => {
      const startedAt = hoursAgo(++added)
      const finishedAt = seconds === null ? null : new Date(Date.parse(startedAt) + seconds * 1000).toISOString()
      return workspace.addRun(schedule.id, {
        scheduledAt: startedAt,
        status,
        startedAt,
        finishedAt,
        ...values,
      })
    }
    const statistics = async () => (await send('GET')).body.statistics
    return { ...its, add, statistics, hoursAgo, path, key }
  }

  it('count real runs, and have the median of their times', async () => {
    const { key, path, schedule, statistics } = await withRuns()
    const outcomes = ['succeeded', 'failed', 'succeeded', 'succeeded'] as const
    const milliseconds: number[] = []
    for (const [index, outcome] of outcomes.entries()) {
      const run = (await request('POST', `${path}/runs`, { key })).body
      expect((await request('POST', `/v1/runs/${run.id}/acknowledge`, { key })).status).toBe(200)
      await scheduler.wait(20 * (index + 1))
      const json = { outcome, message: 'Done.' }
      const { status, body } = await request('POST', `/v1/runs/${run.id}/complete`, { key, json })
      expect([status, body.status]).toEqual([200, outcome])
      milliseconds.push(Date.parse(body.finishedAt) - Date.parse(body.startedAt))
      await request('POST', `/v1/runs/${run.id}/complete`, { key, json })
    }
    await request('POST', `${path}/runs`, { key })
    const [, low = 0, high = 0] = milliseconds.toSorted((a, b) => a - b)
    expect(await statistics()).toEqual({
      since: schedule.createdAt,
      runs: 5,
      succeeded: 3,
      failed: 1,
      medianSeconds: Math.round((low + high) / 2) / 1000,
    })
  })

  it('have no median without an outcome', async () => {
    const { add, statistics } = await withRuns()
    await add('pending')
    await add('delivered')
    await add('skipped')
    await add('failed', 900, { failure: 'delivery', startedAt: null })
    await add('failed', 900, { failure: 'timeout' })
    expect(await statistics()).toMatchObject({ runs: 4, succeeded: 0, failed: 2, medianSeconds: null })
  })

  it.each<[number[], number]>([
    [[84.2], 84.2],
    [[1, 2], 1.5],
    [[3, 1, 2], 2],
    [[10, 1, 100, 1000], 55],
    [[0, 0.001], 0.001],
    [[0], 0],
    [[604_800, 1, 2, 3, 604_799.999], 3],
    [[5, 5, 5, 1], 5],
  ])('have of %j the median %d', async (seconds, median) => {
    const { add, statistics } = await withRuns()
    for (const [index, each] of seconds.entries()) {
      await (index % 2 === 0 ? add('succeeded', each) : add('failed', each, { failure: 'task' }))
      await add('failed', 7, { failure: 'timeout' })
      await add('skipped')
    }
    const count = seconds.length
    const succeeded = Math.ceil(count / 2)
    expect(await statistics()).toMatchObject({
      runs: 2 * count,
      succeeded,
      failed: 2 * count - succeeded,
      medianSeconds: median,
    })
  })

  it('have only the runs of the last 30 days, and of this schedule', async () => {
    const { workspace, id, schedule, add, statistics, hoursAgo } = await withRuns()
    const before = Date.now() - 30 * DAY_MS
    await env.DB.prepare('UPDATE "schedules" SET "createdAt" = ? WHERE "id" = ?')
      .bind(hoursAgo(100 * 24), schedule.id)
      .run()
    await add('succeeded', 10, { scheduledAt: hoursAgo(30 * 24 - 0.1) })
    await add('succeeded', 20, { scheduledAt: hoursAgo(30 * 24 + 0.1) })
    await add('failed', 30, { scheduledAt: hoursAgo(80 * 24), failure: 'task' })
    const other = await workspace.addSchedule('agent', id)
    await workspace.addRun(other, { status: 'succeeded', startedAt: hoursAgo(2), finishedAt: hoursAgo(1) })
    const found = await statistics()
    expect(found).toMatchObject({ runs: 1, succeeded: 1, failed: 0, medianSeconds: 10 })
    expect(Date.parse(found.since) >= before && Date.parse(found.since) <= Date.now() - 30 * DAY_MS).toBe(true)
  })

  it('have at most the latest 2,500 runs, and say since when', async () => {
    const { workspace, id, schedule, statistics, send } = await withRuns()
    const start = Date.now() - 20 * DAY_MS
    const insert = (from: number, to: number) =>
      env.DB.prepare(
        `INSERT INTO "runs" ("organizationId", "scheduleId", "scheduledAt", "id", "parentType", "parentId", "status", "failure",
           "attempts", "startedAt", "finishedAt", "createdAt", "updatedAt")
         WITH RECURSIVE n(i) AS (SELECT ?4 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?5),
           t AS (SELECT i, strftime('%Y-%m-%dT%H:%M:%fZ', ?6 + i * 60, 'unixepoch') AS "at" FROM n)
         SELECT ?1, ?2, "at", printf('%08x-0000-8000-8000-000000000000', i), 'agent', ?3,
           CASE i % 5 WHEN 0 THEN 'failed' WHEN 1 THEN 'skipped' ELSE 'succeeded' END, CASE i % 5 WHEN 0 THEN 'task' END, 1, "at",
           strftime('%Y-%m-%dT%H:%M:%fZ', ?6 + i * 60 + i % 10, 'unixepoch'), "at", "at" FROM t`,
      )
        .bind(workspace.organizationId, schedule.id, id, from, to, Math.floor(start / 1000))
        .run()
    const timeOf = (index: number) => new Date((Math.floor(start / 1000) + index * 60) * 1000).toISOString()
    await insert(0, 2500)
    expect(await statistics()).toMatchObject({ since: timeOf(0), runs: 2000, succeeded: 1500, failed: 500 })
    await insert(2500, 2510)
    const use = watchedDatabase()
    const { status } = await send('GET', { environment: { DB: use.DB } })
    // Each run is read once, and not for each number.
    expect([status, use.calls, use.rowsRead < 2600]).toEqual([200, 1, true])
    expect(await statistics()).toMatchObject({ since: timeOf(10), runs: 2000, succeeded: 1500, failed: 500 })
    expect((await statistics()).medianSeconds).toBe(4.5)
  })
})

describe('listing the schedules of the organization', () => {
  async function withMany() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const [projectId, agentId] = [await workspace.addProject(), await workspace.addAgent()]
    const list = (query = '', more: RequestOptions = {}) => request('GET', `/v1/schedules${query}`, { key, ...more })
    /** Requests all pages. @param between runs after each page. @returns the IDs of each page. */
    const walk = async (query: Record<string, string>, between: () => Promise<unknown> = async () => {}) => {
      const pages: string[][] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { status, body } = await list(`?${new URLSearchParams({ ...query, ...(cursor && { cursor }) })}`)
        expect(status).toBe(200)
        pages.push(body.items.map(({ id }: { id: string }) => id))
        cursor = body.nextCursor
        await between()
      }
      return pages
    }
    /** Adds schedules with IDs in order: paused ones of the project, but `values` for some. @returns the IDs. */
    const insert = async (count: number, isEnabled: (index: number) => boolean = () => false) => {
      const ids = Array.from(
        { length: count },
        (_, index) => `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
      )
      const rows = ids.map((id, index) => ({ id, enabledAt: isEnabled(index) ? PAST : null }))
      await env.DB.prepare(
        `INSERT INTO "schedules" ("organizationId", "parentType", "parentId", "id", "cron", "timezone", "overlap", "enabledAt",
           "nextRunAt", "createdAt", "updatedAt")
         SELECT ?1, 'project', ?2, value ->> 'id', '@daily', 'UTC', 'allow', value ->> 'enabledAt',
           CASE WHEN value ->> 'enabledAt' IS NOT NULL THEN ?4 END, ?3, ?3 FROM json_each(?5)`,
      )
        .bind(workspace.organizationId, projectId, PAST, FAR, JSON.stringify(rows))
        .run()
      return ids
    }
    return { workspace, key, projectId, agentId, list, walk, insert }
  }

  it('returns those of projects and agents in order of ID, without payload and note', async () => {
    const { workspace, key, projectId, agentId, list } = await withMany()
    const [first, second, third] = [newUuid(), newUuid(), newUuid()]
    const send = (path: string, json: object) => request('PUT', path, { key, json })
    const agents = await send(`/v1/agents/${agentId}/schedules/${second}`, { cron: '@daily', ...SETTINGS })
    const once = await send(`/v1/projects/${projectId}/schedules/${third}`, { runAt: FAR })
    const projects = await send(`/v1/projects/${projectId}/schedules/${first}`, {
      cron: '@hourly',
      timezone: 'Asia/Tokyo',
      name: 'Hourly',
    })
    await workspace.change(schedules, second, PAUSED)
    const stranger = await withMany()
    await stranger.workspace.addSchedule('agent', stranger.agentId)
    const { status, body } = await list()
    const common = { lastRunAt: null, lastOutcomes: [], pausedReason: null }
    expect(status).toBe(200)
    expect(body).toEqual({
      items: [
        {
          ...common,
          id: first,
          projectId,
          agentId: null,
          name: 'Hourly',
          cron: '@hourly',
          runAt: null,
          timezone: 'Asia/Tokyo',
          enabledAt: projects.body.enabledAt,
          nextRunAt: projects.body.nextRunAt,
        },
        {
          ...common,
          id: second,
          projectId: null,
          agentId,
          name: 'Nightly build',
          cron: '@daily',
          runAt: null,
          timezone: 'UTC',
          ...PAUSED,
        },
        {
          ...common,
          id: third,
          projectId,
          agentId: null,
          name: null,
          cron: null,
          runAt: FAR,
          timezone: 'UTC',
          enabledAt: once.body.enabledAt,
          nextRunAt: FAR,
        },
      ],
      nextCursor: null,
    })
    expect(agents.status).toBe(201)
  })

  it('hides schedules of deleted parents, and has those of archived ones', async () => {
    const { workspace, key, projectId, agentId, list } = await withMany()
    const kept = [await workspace.addSchedule('project', projectId), await workspace.addSchedule('agent', agentId)]
    const gone = { project: await workspace.addProject(), agent: await workspace.addAgent() }
    for (const type of ['project', 'agent'] as const) await workspace.addSchedule(type, gone[type])
    // An agent with the ID of the project does not stand in for it.
    await workspace.addAgent(gone.project)
    await workspace.archiveProject(projectId)
    await workspace.archiveAgent(agentId)
    const removed = await workspace.addSchedule('agent', agentId)
    await workspace.deleteSchedule(removed)
    expect((await list()).body.items).toHaveLength(4)
    for (const type of ['project', 'agent'] as const) await request('DELETE', `/v1/${type}s/${gone[type]}`, { key })
    const { body } = await list()
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(kept.sort())
    const pages = await list('?limit=2')
    expect([pages.body.items.length, pages.body.nextCursor]).toEqual([2, null])
  })

  it('tells the outcomes of the latest ten runs, also while the next run is active', async () => {
    const { workspace, key, agentId, list } = await withMany()
    const outcomesOf = async (id: string) => {
      const { items } = (await list()).body
      const { lastRunAt, lastOutcomes } = items.find((item: { id: string }) => item.id === id)
      return [lastRunAt, lastOutcomes]
    }
    const id = newUuid()
    const path = `/v1/agents/${agentId}/schedules/${id}`
    await request('PUT', path, { key, json: { cron: '@yearly', overlap: 'skip', maxRunSeconds: 600 } })
    expect(await outcomesOf(id)).toEqual([null, []])
    let latest: string[] = []
    for (const outcome of ['succeeded', 'failed', 'succeeded']) {
      const run = (await request('POST', `${path}/runs`, { key })).body
      expect(await outcomesOf(id)).toEqual([run.scheduledAt, latest])
      await scheduler.wait(2)
      expect((await request('POST', `${path}/runs`, { key })).body.status).toBe('skipped')
      await request('POST', `/v1/runs/${run.id}/acknowledge`, { key })
      expect(await outcomesOf(id)).toEqual([run.scheduledAt, latest])
      await request('POST', `/v1/runs/${run.id}/complete`, { key, json: { outcome } })
      latest = [outcome, ...latest]
      expect(await outcomesOf(id)).toEqual([run.scheduledAt, latest])
      await scheduler.wait(2)
    }
    const add = async (status: string, index: number) =>
      workspace.addRun(id, { status, scheduledAt: new Date(Date.now() + index).toISOString() })
    for (let index = 0; index < 9; index++) await add(index % 2 === 0 ? 'failed' : 'succeeded', index)
    const added = ['failed', 'succeeded', 'failed', 'succeeded', 'failed', 'succeeded', 'failed', 'succeeded', 'failed']
    // The skipped one was before the last of the three.
    expect((await outcomesOf(id))[1]).toEqual([...added])
    for (let index = 10; index < 20; index++) await add('delivered', index)
    expect((await outcomesOf(id))[1]).toEqual([])
    // The retention removed the run.
    const never = await workspace.addSchedule('agent', agentId, { lastRunAt: PAST })
    expect(await outcomesOf(never)).toEqual([PAST, []])
  })

  it('returns each schedule once, page by page, while others come and go', async () => {
    const { workspace, projectId, walk, insert } = await withMany()
    const ids = await insert(60, (index) => index % 2 === 0)
    expect((await walk({ limit: '7' })).flat()).toEqual(ids)
    expect((await walk({ limit: '7', enabled: 'true' })).flat()).toEqual(ids.filter((_, index) => index % 2 === 0))
    for (const query of [{ limit: '7' }, { limit: '7', parentType: 'project' }] as Record<string, string>[]) {
      const stays = (await walk({ limit: '1000' })).flat()
      let round = 0
      const between = async () => {
        // The item that the cursor names may be among those that are deleted.
        const victim = stays[++round * 7 - 1]
        if (victim) await workspace.remove(schedules, victim)
        await workspace.addSchedule('project', projectId, {
          id: `${String(round).padStart(8, '0')}-${query.parentType ? 'fffe' : 'ffff'}-4000-8000-000000000000`,
        })
      }
      const found = (await walk(query, between)).flat()
      expect(new Set(found).size).toBe(found.length)
      expect(found).toEqual(found.toSorted())
      expect(stays.filter((id) => !found.includes(id))).toEqual([])
    }
  })

  it('filters by enabled, parentType and nextRunBefore, all of which hold', async () => {
    const { workspace, projectId, agentId, walk } = await withMany()
    const times = [null, PAST, '2026-01-01T00:00:00.000Z', FAR]
    const all: { id: string; type: string; isEnabled: boolean; nextRunAt: string | null }[] = []
    for (const type of ['project', 'agent'] as const) {
      for (const nextRunAt of times) {
        for (const enabledAt of nextRunAt === null ? [null, PAST] : [PAST]) {
          const id = await workspace.addSchedule(type, type === 'project' ? projectId : agentId, {
            nextRunAt,
            enabledAt,
          })
          all.push({ id, type, isEnabled: enabledAt !== null, nextRunAt })
        }
      }
    }
    all.sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const enabled of [undefined, 'true', 'false'])
      for (const parentType of [undefined, 'project', 'agent'])
        for (const nextRunBefore of [undefined, '2026-01-01T02:00:00+02:00', '2026-01-01T00:00:00.001Z', PAST, FAR]) {
          const query = JSON.parse(JSON.stringify({ enabled, parentType, nextRunBefore, limit: '2' }))
          const before = nextRunBefore && new Date(nextRunBefore).toISOString()
          const expected = all.filter(
            ({ type, isEnabled, nextRunAt }) =>
              (enabled === undefined || String(isEnabled) === enabled) &&
              (parentType === undefined || type === parentType) &&
              (before === undefined || (nextRunAt !== null && nextRunAt < before)),
          )
          const pages = await walk(query)
          expect([query, pages.flat()]).toEqual([query, expected.map(({ id }) => id)])
          expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(2)
        }
  })

  it.each([
    [2500, [2499], [[2499], []]],
    [2501, [2500], [[], [2500]]],
    [2499, [], [[]]],
    [5001, [0, 2499, 2500, 5000], [[0, 2499], [2500], [5000]]],
    [2600, [3, 2599], [[3], [2599]]],
  ])('examines up to 2,500 schedules for a page: of %i, those at %j', async (count, enabled, expected) => {
    const { walk, insert } = await withMany()
    const ids = await insert(count, (index) => enabled.includes(index))
    const pages = await walk({ enabled: 'true', limit: '1000' })
    expect(pages.map((page) => page.map((id) => ids.indexOf(id)))).toEqual(expected)
  })

  it('reads few rows: those of a page, or those that a filter examines', async () => {
    const { key, list, insert } = await withMany()
    const ids = await insert(2600, (index) => index % 100 === 0)
    await list('', { key })
    const rowsRead = async (query: string) => {
      const use = watchedDatabase()
      const { status } = await list(query, { environment: { DB: use.DB } })
      expect([status, use.calls]).toEqual([200, 1])
      return use.rowsRead
    }
    expect(await rowsRead('?limit=1')).toBeLessThan(15)
    expect(await rowsRead(`?limit=10&cursor=${ids[1300]}`)).toBeLessThan(50)
    expect(await rowsRead('?limit=10&enabled=true')).toBeLessThanOrEqual(2 * 2500 + 50)
    expect(await rowsRead('?limit=10&enabled=true&parentType=agent')).toBeLessThanOrEqual(2 * 2500 + 50)
  })

  it('has pages of 50 schedules without a limit', async () => {
    const { list, insert } = await withMany()
    const ids = await insert(51)
    const page = async (query: string) => {
      const { body } = await list(query)
      return [body.items.map(({ id }: { id: string }) => id), body.nextCursor]
    }
    expect(await page('')).toEqual([ids.slice(0, 50), ids[49]])
    expect(await page(`?cursor=${ids[49]}`)).toEqual([ids.slice(50), null])
    expect(await page('?limit=51')).toEqual([ids, null])
    expect(await page(`?limit=2&cursor=${ids[9]?.toUpperCase()}`)).toEqual([ids.slice(10, 12), ids[11]])
  })

  it('is refused for keys that are restricted to projects', async () => {
    const { workspace, projectId, list } = await withMany()
    for (const projectIds of [[], [projectId]]) {
      for (const query of ['', '?enabled=true']) {
        const { status, headers, body } = await list(query, { key: await workspace.addKey({ projectIds }) })
        expect([status, headers.get('Error-Code'), body.error]).toEqual([
          403,
          'unrestricted_key_required',
          'This API key is restricted to projects. List the schedules of one project or agent instead.',
        ])
      }
    }
  })

  it.each([
    ['enabled=yes', 'enabled is not one of the allowed values; got "yes"; allowed: "true" or "false".'],
    ['enabled=', 'enabled is not one of the allowed values; got ""; allowed: "true" or "false".'],
    ['enabled=TRUE', 'enabled is not one of the allowed values; got "TRUE"; allowed: "true" or "false".'],
    ['parentType=user', 'parentType is not one of the allowed values; got "user"; allowed: "project" or "agent".'],
    ['enabled=true&enabled=false', 'enabled has several values; allowed: one value.'],
    [
      'paused=true',
      'paused is not a known query parameter; known: enabled, parentType, nextRunBefore, query, limit, cursor.',
    ],
    [
      'nextRunBefore=2026-03-31',
      'nextRunBefore is not an RFC 3339 time; got "2026-03-31"; allowed: an RFC 3339 time such as "2026-03-29T01:00:00Z" or "2026-03-29T03:00:00+02:00".',
    ],
    ['cursor=7', `cursor has the wrong format; got "7"; ${ALLOWED_ID}`],
    ['limit=0', 'limit is too small; got "0"; allowed: at least 1.'],
  ])('refuses %s', async (query, error) => {
    const { list } = await withMany()
    const { status, body } = await list(`?${query}`)
    expect([status, body]).toEqual([400, { error }])
  })
})
