/** What is deleted and not purged yet costs a request a limited number of rows, however much it is. */
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { resume, suspend } from '../operate/suspension.ts'
import { MAX_EXAMINED } from '../src/db/examined.ts'
import * as tables from '../src/db/schema.ts'
import { request } from './support/api.ts'
import { watchedDatabase } from './support/bindings.ts'
import { env } from './support/env.ts'
import { newOutbox } from './support/queue.ts'
import { stopClocks } from './support/runs.ts'
import { writeWaiting } from './support/set-up.ts'
import { tick } from './support/tick.ts'
import { Workspace } from './support/workspace.ts'

stopClocks()

/** Copies a row under IDs that begin with the text, in order. @param others the SQL of columns, by `i` from 1. */
async function copyRow(
  { organizationId }: Workspace,
  table: SQLiteTable,
  id: string,
  prefix: string,
  count: number,
  others: Readonly<Record<string, string>> = {},
): Promise<void> {
  await writeWaiting()
  const values: Record<string, string> = { ...others, id: `printf('%s%012d', ?3, i)` }
  const names = Object.keys(getTableColumns(table))
  const columns = names.map((name) => `"${name}"`).join()
  const selected = names.map((name) => values[name] ?? `"${name}"`).join()
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?4)
      INSERT INTO "${getTableName(table)}" (${columns}) SELECT ${selected} FROM n
      CROSS JOIN "${getTableName(table)}" ON "organizationId" = ?1 AND "id" = ?2`,
  )
    .bind(organizationId, id, prefix, count)
    .run()
}

/** The first IDs in order; the one that is live is behind all of them. */
const FIRST = '00000000-0000-7000-8000-'
const scheduledAt = `strftime('%Y-%m-%dT%H:%M:%fZ', '2020-01-01', i || ' minutes')`

/** Sessions, files, pull requests and pending runs of a deleted project, each before and after a live one. */
async function withDeleted(count: number) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const [live, deleted] = [await workspace.addProject('live'), await workspace.addProject('deleted')]
  const ofProject = async (project: string) => {
    const session = await workspace.addSession(project)
    const file = await workspace.addSessionFile(session, 'a.txt')
    const pullRequest = await workspace.addPullRequest(project)
    const schedule = await workspace.addSchedule('project', project)
    return { session, file, pullRequest, schedule, run: await workspace.addRun(schedule) }
  }
  const shown = await ofProject(live)
  const hidden = await ofProject(deleted)
  const last = 'ffffffff-ffff-7fff-bfff-'
  for (const prefix of [FIRST, last]) {
    await copyRow(workspace, tables.sessions, hidden.session, prefix, count)
    await copyRow(workspace, tables.pullRequests, hidden.pullRequest, prefix, count)
    await copyRow(workspace, tables.sessionFiles, hidden.file, prefix, count, {
      path: `?3 || i`,
      objectKey: `?1 || ?3 || i`,
    })
    const time = prefix === FIRST ? scheduledAt : scheduledAt.replace('2020', '2030')
    await copyRow(workspace, tables.runs, hidden.run, prefix, count, { scheduledAt: time })
  }
  const { status } = await request('DELETE', `/v1/projects/${deleted}`, { key })
  expect(status).toBe(200)
  return { workspace, key, shown }
}

/** The IDs of all pages, and the most rows that one of them read. */
async function readAll(path: string, key: string) {
  const ids: string[] = []
  let [cursor, mostRows, pages] = [undefined as string | undefined, 0, 0]
  do {
    const use = watchedDatabase()
    const page = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await request('GET', `${path}${page}`, { key, environment: { DB: use.DB } })
    expect(status).toBe(200)
    ids.push(...body.items.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor ?? undefined
    mostRows = Math.max(mostRows, use.rowsRead)
    pages++
  } while (cursor !== undefined)
  return { ids, mostRows, pages }
}

describe('a list', () => {
  const PATHS = {
    session: '/v1/sessions?limit=1',
    'latest session': '/v1/sessions?limit=1&order=-createdAt',
    pullRequest: '/v1/pull-requests?limit=1',
    file: '/v1/session-files?limit=1',
    run: '/v1/runs?limit=1',
    'pending run': '/v1/runs?limit=1&status=pending',
  }
  it('passes over what is deleted, in pages of which each reads a limited number of rows', async () => {
    const few = await withDeleted(MAX_EXAMINED)
    const many = await withDeleted(4 * MAX_EXAMINED)
    for (const [name, path] of Object.entries(PATHS)) {
      const kind = name.split(' ').at(-1) as keyof typeof few.shown
      const [less, more] = [await readAll(path, few.key), await readAll(path, many.key)]
      expect([name, less.ids, more.ids]).toEqual([name, [few.shown[kind]], [many.shown[kind]]])
      // A row, its schedule or session and their parent, and once more to find the last of them.
      expect(more.mostRows).toBeLessThan(4 * MAX_EXAMINED)
      expect([name, more.mostRows]).toEqual([name, less.mostRows])
      expect(more.pages).toBeLessThan(12)
    }
  })

  it('reads no row more where nothing can be left out', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const session = await workspace.addSession(await workspace.addProject())
    await copyRow(workspace, tables.sessions, session, FIRST, 9)
    const { ids, mostRows } = await readAll('/v1/sessions?limit=50', key)
    expect(ids).toHaveLength(10)
    expect(mostRows).toBeLessThan(18)
  })
})

/** A claim, with the rows that it read. */
async function claim(key: string, json: object = {}) {
  const use = watchedDatabase()
  const options = { key, json: { leaseSeconds: 600, ...json }, environment: { DB: use.DB } }
  const { status, body } = await request('POST', '/v1/runs/claim', options)
  expect(status).toBe(200)
  return { ids: body.items.map(({ id }: { id: string }) => id) as string[], rowsRead: use.rowsRead }
}

describe('a claim', () => {
  const LAST = 'ffffffff-ffff-7fff-bfff-'

  /** Pending runs of a deleted schedule and of a deleted project, before and behind those of two live schedules. */
  async function withBacklog(count: number) {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const [live, deleted] = [await workspace.addProject('live'), await workspace.addProject('deleted')]
    const schedule = await workspace.addSchedule('project', live)
    const hidden = [schedule, await workspace.addSchedule('project', deleted)]
    for (const [index, each] of hidden.entries()) {
      const run = await workspace.addRun(each)
      await copyRow(workspace, tables.runs, run, `0000000${index}${FIRST.slice(8)}`, count, { scheduledAt })
    }
    const shown = [
      await workspace.addSchedule('project', live),
      await workspace.addSchedule('agent', await workspace.addAgent()),
    ]
    const runs: string[] = []
    for (const minute of ['00', '01', '02']) {
      for (const each of shown)
        runs.push(await workspace.addRun(each, { scheduledAt: `2025-01-01T00:${minute}:0${runs.length}.000Z` }))
    }
    await copyRow(workspace, tables.runs, runs.at(-1) ?? '', LAST, count, {
      scheduledAt: scheduledAt.replace('2020', '2030'),
    })
    const of = (project: string, id: string) => `/v1/projects/${project}/schedules/${id}`
    expect((await request('DELETE', of(live, schedule), { key })).status).toBe(200)
    expect((await request('DELETE', `/v1/projects/${deleted}`, { key })).status).toBe(200)
    return { workspace, key, runs, schedule }
  }

  it('takes the oldest runs behind many of deleted schedules, and reads a limited number of rows', async () => {
    const few = await withBacklog(200)
    const many = await withBacklog(2000)
    const read: number[][] = []
    for (const { key, runs } of [few, many]) {
      const first = await claim(key, { projectId: 'live' })
      expect(first.ids).toEqual([runs[0]])
      const second = await claim(key)
      expect(second.ids).toEqual([runs[1]])
      const rest = await claim(key, { limit: 4 })
      expect(rest.ids).toEqual(runs.slice(2))
      const none = await claim(key, { projectId: 'live' })
      expect(none.ids).toEqual([])
      read.push([first, second, rest, none].map(({ rowsRead }) => rowsRead))
    }
    expect(read[1]).toEqual(read[0])
    expect(Math.max(...(read[1] ?? []))).toBeLessThan(2500)
  })

  it('takes the runs of a schedule that is restored', async () => {
    const { key, schedule } = await withBacklog(200)
    const { body } = await request('GET', '/v1/deletions?resourceType=schedule', { key })
    const [{ id, resourceId }] = body.items
    expect(resourceId).toBe(schedule)
    expect((await request('POST', `/v1/deletions/${id}/restore`, { key })).status).toBe(200)
    const { ids } = await claim(key, { limit: 3 })
    expect(ids).toEqual([1, 2, 3].map((index) => `${FIRST}${String(index).padStart(12, '0')}`))
  })
})

/** What a tick reads and writes. */
async function ticked() {
  const use = watchedDatabase()
  await tick({ ...newOutbox().environment, DB: use.DB }, new Date())
  return { rowsRead: use.rowsRead, rowsWritten: use.rowsWritten }
}

describe('a tick', () => {
  const database = {
    batch: async (queries: readonly { sql: string; parameters: readonly (string | number | null)[] }[]) =>
      (await env.DB.batch(queries.map(({ sql, parameters }) => env.DB.prepare(sql).bind(...parameters)))).map(
        ({ results }) => results as Record<string, never>[],
      ),
  }

  it('meets the overdue runs of a suspended organization once, and checks them after the suspension', async () => {
    const workspace = await Workspace.create()
    const schedule = await workspace.addSchedule('agent', await workspace.addAgent())
    const past = '2025-01-01T00:00:00.000Z'
    const claimed = { status: 'delivered', claimId: workspace.newId(), claimedBy: '{}', startedAt: past, checkAt: past }
    const run = await workspace.addRun(schedule, claimed)
    await copyRow(workspace, tables.runs, run, FIRST, 500, { scheduledAt })
    await suspend(database, workspace.organizationId, 'Sends spam')
    const statuses = async () => new Set((await workspace.dump('runs')).map(({ status }) => status))
    const first = await ticked()
    const second = await ticked()
    expect(first.rowsRead).toBeGreaterThan(500)
    expect(second.rowsRead).toBeLessThan(100)
    expect(await statuses()).toEqual(new Set(['delivered']))
    await resume(database, workspace.organizationId)
    await ticked()
    expect(await statuses()).toEqual(new Set(['pending']))
  })

  it('purges the deletions of an organization beside many of another one', async () => {
    const big = await Workspace.create()
    const bigKey = await big.addKey()
    const project = await big.addProject()
    const session = await big.addSession(project)
    const file = await big.addSessionFile(session, 'a.txt')
    await copyRow(big, tables.sessions, session, FIRST, 3000)
    await copyRow(big, tables.sessionFiles, file, FIRST, 3000, {
      sessionId: `printf('%s%012d', ?3, i)`,
      objectKey: `?1 || ?3 || i`,
    })
    const deleteAtOnce = async (key: string, path: string) => {
      const environment = { UNDO_DAYS: '0' }
      expect((await request('DELETE', path, { key, environment })).status).toBe(200)
    }
    await deleteAtOnce(bigKey, `/v1/projects/${project}`)
    // The sessions have deletions of their own by then.
    await ticked()
    const small = await Workspace.create()
    const smallKey = await small.addKey()
    const own = await small.addSession(await small.addProject())
    await small.addSessionFile(own, 'a.txt')
    await deleteAtOnce(smallKey, `/v1/sessions/${own}`)
    const most = 50_000
    expect((await ticked()).rowsRead).toBeLessThan(most)
    expect(await small.dump('sessionFiles')).toEqual([])
    let ticks = 0
    while ((await big.dump('sessionFiles')).length > 0) {
      expect((await ticked()).rowsRead).toBeLessThan(most)
      expect(++ticks).toBeLessThan(30)
    }
  })
})
