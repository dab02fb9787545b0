import { v4 as newUuid } from 'uuid'
import { describe, expect, it, vi } from 'vitest'
import type { RunMessage } from '../../../../src/environment.ts'
import { request } from '../../../support/api.ts'
import { databaseWith, watchedDatabase } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { summariesOf } from '../../../support/events.ts'
import { newOutbox } from '../../../support/queue.ts'
import { Receiver } from '../../../support/receiver.ts'
import {
  advance,
  HOUR_MS,
  idsOf,
  inSeconds,
  MINUTE_MS,
  NEVER,
  newWorker,
  refusalOf,
  stopClocks,
  tickNow,
  type Worker,
} from '../../../support/runs.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

stopClocks()

/** The same with this many pending runs. */
async function withRuns(count: number, settings: object = {}, options: Parameters<typeof newWorker>[1] = {}) {
  const worker = await newWorker(settings, options)
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push((await worker.run()).id)
  return { ...worker, ids, id: ids[0] ?? '' }
}

const pendingIds = async ({ key }: Pick<Worker, 'key'>) =>
  idsOf((await request('GET', '/v1/runs?status=pending&limit=1000', { key })).body)

describe('a claim', () => {
  it.each(['project', 'agent'] as const)('answers with the work of a run of a schedule of a %s', async (parentType) => {
    const settings = { name: 'Nightly build', payload: { branch: 'main', steps: [1, null] } }
    const { workspace, id, claim, read, key, parentId, scheduleId } = await withRuns(1, settings, {
      parentType,
    })
    const before = await read(id)
    advance(5000)
    const { status, body } = await claim({ leaseSeconds: 300 })
    expect([status, body]).toEqual([
      200,
      {
        items: [
          {
            id,
            claimId: expect.stringMatching(UUID),
            leaseExpiresAt: inSeconds(300),
            scheduleId,
            name: 'Nightly build',
            projectId: null,
            agentId: null,
            [`${parentType}Id`]: parentId,
            cron: NEVER,
            runAt: null,
            timezone: 'UTC',
            scheduledAt: before.scheduledAt,
            payload: { branch: 'main', steps: [1, null] },
            attempt: 1,
            previous: null,
          },
        ],
      },
    ])
    expect(await read(id)).toEqual({
      ...before,
      status: 'delivered',
      attempts: 1,
      claim: { apiKeyId: expect.stringMatching(UUID), apiKeyName: 'test', leaseExpiresAt: inSeconds(300) },
      startedAt: inSeconds(0),
      updatedAt: inSeconds(0),
    })
    expect(await pendingIds({ key })).toEqual([])
    expect(await summariesOf(workspace, { types: 'run.claimed' })).toEqual([`run.claimed /v1/runs/${before.id}`])
  })

  it('takes one run by default, up to 20, the oldest of all schedules first', async () => {
    const first = await newWorker()
    const { workspace } = first
    const second = await newWorker({}, { workspace, parentType: 'agent' })
    const ids: string[] = []
    for (let index = 0; index < 24; index++) ids.push((await (index % 3 ? first : second).run()).id)
    expect(idsOf((await first.claim()).body)).toEqual(ids.slice(0, 1))
    const { items } = (await first.claim({ limit: 20 })).body
    expect(idsOf({ items })).toEqual(ids.slice(1, 21))
    expect(new Set(items.map(({ claimId }: { claimId: string }) => claimId)).size).toBe(1)
    expect(await pendingIds(first)).toEqual(ids.slice(21))
    expect(idsOf((await second.claim({ limit: 20 })).body)).toEqual(ids.slice(21))
    const taken = await workspace.dump('runs')
    expect(new Set(taken.map(({ status, attempts }) => `${status} ${attempts}`))).toEqual(new Set(['delivered 1']))
  })

  it('without a run to take is empty and writes nothing', async () => {
    const { workspace, id, key, claim, complete } = await withRuns(1)
    await complete(id)
    await claim()
    const events = await workspace.dump('auditEvents')
    const use = watchedDatabase()
    const environment = { DB: use.DB }
    const { status, body } = await request('POST', '/v1/runs/claim', {
      key,
      json: { leaseSeconds: 60 },
      environment,
    })
    expect([status, body]).toEqual([200, { items: [] }])
    expect([use.calls, use.rowsWritten]).toEqual([1, 0])
    expect(await workspace.dump('auditEvents')).toEqual(events)
  })

  it('is the only one of a run among 40 at once', async () => {
    const { workspace, ids, claim } = await withRuns(50)
    const answers = await Promise.all(Array.from({ length: 40 }, () => claim({ limit: 3 })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const claimed = answers.flatMap(({ body }) => body.items as { id: string; claimId: string }[])
    expect(claimed.map(({ id }) => id).sort()).toEqual(ids.toSorted())
    const rows = new Map((await workspace.dump('runs')).map((row) => [row.id, row]))
    for (const { id, claimId } of claimed)
      expect(rows.get(id)).toMatchObject({ status: 'delivered', claimId, attempts: 1 })
    expect((await summariesOf(workspace, { types: 'run.claimed' })).sort()).toEqual(
      ids.map((id) => `run.claimed /v1/runs/${id}`).sort(),
    )
  })

  it('takes the runs of one project if it names it, which a restricted key has to', async () => {
    const setup = await withRuns(2)
    const { workspace, claim, parentId: projectId, ids } = setup
    await withRuns(1, {}, { workspace, parentType: 'agent' })
    const beside = await withRuns(1, {}, { workspace })
    const own = await workspace.addKey({ projectIds: [projectId] })
    const other = await workspace.addKey({ projectIds: [beside.parentId] })
    const none = await workspace.addKey({ projectIds: [] })
    for (const key of [own, other, none])
      expect(refusalOf(await claim({}, key))).toEqual([403, 'unrestricted_key_required'])
    for (const key of [other, none])
      expect(refusalOf(await claim({ projectId }, key))).toEqual([403, 'project_forbidden'])
    for (const key of [own, setup.key])
      expect(refusalOf(await claim({ projectId: newUuid() }, key))).toEqual([404, 'project_not_found'])
    expect(idsOf((await claim({ projectId, limit: 1 }, own)).body)).toEqual(ids.slice(0, 1))
    expect(idsOf((await claim({ projectId, limit: 10 })).body)).toEqual(ids.slice(1))
    expect(idsOf((await claim({ projectId, limit: 10 })).body)).toEqual([])
    expect((await claim({ limit: 10 })).body.items).toHaveLength(2)
  })

  it('takes no run of a deleted schedule or parent, and those of an archived one', async () => {
    const workspace = await Workspace.create()
    const [bySchedule, byProject, byAgent, archived] = [
      await withRuns(1, {}, { workspace }),
      await withRuns(1, {}, { workspace }),
      await withRuns(1, {}, { workspace, parentType: 'agent' }),
      await withRuns(1, {}, { workspace }),
    ]
    const { key, claim } = bySchedule
    await request('DELETE', bySchedule.path, { key })
    await request('DELETE', `/v1/projects/${byProject.parentId}`, { key })
    await request('DELETE', `/v1/agents/${byAgent.parentId}`, { key })
    await request('PATCH', `/v1/projects/${archived.parentId}`, { key, json: { archived: true } })
    expect(await workspace.dump('runs')).toHaveLength(4)
    expect(idsOf((await claim({ limit: 20 })).body)).toEqual(archived.ids)
    expect((await workspace.dump('runs')).filter(({ status }) => status === 'pending')).toHaveLength(3)
  })

  it('takes no run of another organization', async () => {
    const theirs = await withRuns(1)
    const { claim } = await newWorker()
    expect((await claim({ limit: 20 })).body.items).toEqual([])
    expect((await theirs.claim()).body.items).toHaveLength(1)
  })

  it('takes no run that is on its way to a run endpoint, until that is deleted', async () => {
    const { workspace, key, run, claim, read } = await newWorker()
    const receiver = await new Receiver().answers(500, 410)
    await workspace.addRunEndpoint(receiver.url)
    const { environment, deliver } = newOutbox()
    const due = async () => tick(environment, new Date())
    const ids = [(await run()).id]
    expect((await claim({ limit: 20 })).body.items).toEqual([])
    advance(6 * MINUTE_MS)
    await due()
    await deliver()
    expect(await read(ids[0])).toMatchObject({ status: 'pending', attempts: 1, lastError: 'HTTP 500' })
    expect((await claim({ limit: 20 })).body.items).toEqual([])
    advance(2 * MINUTE_MS)
    await due()
    await deliver()
    expect((await request('GET', '/v1/run-endpoint', { key })).status).toBe(404)
    await due()
    const { items } = (await claim({ limit: 20 })).body
    expect(items).toMatchObject([{ id: ids[0], attempt: 3 }])
    expect(await read(ids[0])).toMatchObject({ status: 'delivered', attempts: 3 })
  })

  it('takes a run that was created before there was a run endpoint', async () => {
    const { workspace, ids, claim, run } = await withRuns(1)
    advance(1000)
    const key = await workspace.addKey()
    const json = { url: new Receiver().url }
    expect((await request('PUT', '/v1/run-endpoint', { key, json })).status).toBe(201)
    await run()
    expect(idsOf((await claim({ limit: 20 })).body)).toEqual(ids)
  })

  it('reads few rows beside many pending runs, of its project or of others', async () => {
    const { workspace, id, scheduleId, parentId, key } = await withRuns(1)
    const project = await workspace.addProject()
    const other = await workspace.addSchedule('project', project)
    await env.DB.prepare(
      `INSERT INTO runs (organizationId, scheduleId, scheduledAt, id, parentType, parentId, status, attempts, createdAt, updatedAt)
       WITH RECURSIVE "each"(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "each" WHERE i < 500)
       SELECT organizationId, ?2, strftime('%Y-%m-%dT%H:%M:%fZ', scheduledAt, (-i) || ' seconds'), printf('00000000-0000-8000-8000-%012x', i),
         parentType, ?3, status, attempts, createdAt, updatedAt FROM runs, "each" WHERE scheduleId = ?1`,
    )
      .bind(scheduleId, other, project)
      .run()
    for (const [json, expected] of [
      [{ projectId: parentId }, id],
      [{}, '00000000-0000-8000-8000-000000000001'],
    ] as const) {
      const use = watchedDatabase()
      const { body } = await request('POST', '/v1/runs/claim', {
        key,
        json: { leaseSeconds: 60, ...json },
        environment: { DB: use.DB },
      })
      expect(idsOf(body)).toEqual([expected])
      expect(use.rowsRead).toBeLessThan(100)
    }
  })

  it('has the schedule as it is now, and the run before that was not skipped, with its outcome', async () => {
    const settings = { name: 'First', payload: 1, overlap: 'skip', maxRunSeconds: 3600 }
    const { run, claimOne, complete, put, workspace, parentId, read } = await newWorker(settings)
    const first = await run()
    await put({ ...settings, name: null, payload: 'second', cron: '0 1 29 2 *' })
    expect(await claimOne()).toMatchObject({
      name: null,
      payload: 'second',
      cron: '0 1 29 2 *',
      previous: null,
    })
    const { claimId } = (await workspace.dump('runs'))[0] as { claimId: string }
    const skipped = await run()
    expect(skipped).toMatchObject({
      status: 'skipped',
      lastError: `The run of ${first.scheduledAt} was not finished.`,
    })
    const sessionId = await workspace.addSession(parentId)
    await complete(first.id, { outcome: 'failed', message: 'Tests failed.', sessionId, claimId })
    const third = await run()
    const { previous } = await claimOne()
    expect(previous).toEqual({
      id: first.id,
      scheduledAt: first.scheduledAt,
      status: 'failed',
      failure: 'task',
      message: 'Tests failed.',
      sessionId,
    })
    expect(await read(third.id)).toMatchObject({ status: 'delivered' })
  })

  it.each([
    {},
    { leaseSeconds: 59 },
    { leaseSeconds: 86_401 },
    { leaseSeconds: 60.5 },
    { leaseSeconds: '60' },
    { leaseSeconds: 60, limit: 0 },
    { leaseSeconds: 60, limit: 101 },
    { leaseSeconds: 60, limit: null },
    { leaseSeconds: 60, projectId: '' },
    { leaseSeconds: 60, agentId: newUuid() },
    { leaseSeconds: 60, claimId: newUuid() },
  ])('with %j is refused', async (json) => {
    const { key, ids } = await withRuns(1)
    expect((await request('POST', '/v1/runs/claim', { key, json })).status).toBe(400)
    expect(await pendingIds({ key })).toEqual(ids)
  })

  it('needs the scope runs:write', async () => {
    const { claim, renew, complete, id, workspace } = await withRuns(1)
    const key = await workspace.addKey({ scopes: ['runs:read'] })
    const claimId = newUuid()
    for (const answer of [await claim({}, key), await renew(id, { claimId }, key), await complete(id, {}, key)])
      expect(refusalOf(answer)).toEqual([400, 'missing_scope'])
    expect((await workspace.dump('runs'))[0]?.status).toBe('pending')
  })

  it('never lasts longer than the run may', async () => {
    const { claimOne, ids, row } = await withRuns(2, { maxRunSeconds: 90 })
    advance(1000)
    expect((await claimOne({ leaseSeconds: 3600 })).leaseExpiresAt).toBe(inSeconds(90))
    expect((await row(ids[0] ?? ''))?.checkAt).toBe(inSeconds(90))
    expect((await claimOne({ leaseSeconds: 89 })).leaseExpiresAt).toBe(inSeconds(89))
  })

  it('that fails takes nothing, and one whose answer was lost ends with its lease', async () => {
    const { key, ids, claim } = await withRuns(1)
    const failing = (when: 'before' | 'after') =>
      databaseWith(async (statements) => {
        if (when === 'after') await env.DB.batch(statements)
        throw new Error('D1_ERROR: Network connection lost.')
      })
    const claimWith = (DB: D1Database) =>
      request('POST', '/v1/runs/claim', { key, json: { leaseSeconds: 60 }, environment: { DB } })
    expect((await claimWith(failing('before'))).status).toBe(503)
    expect(await pendingIds({ key })).toEqual(ids)
    expect((await claimWith(failing('after'))).status).toBe(503)
    expect(await pendingIds({ key })).toEqual([])
    advance(MINUTE_MS)
    await tickNow()
    expect((await claim()).body.items).toMatchObject([{ id: ids[0], attempt: 2 }])
  })
})

describe('a claim that has ended', () => {
  it('makes the run pending again, with the next tick, and another claim takes it', async () => {
    const { id, key, claimOne, renew, complete, read, row } = await withRuns(1)
    const before = await read(id)
    const first = await claimOne()
    advance(MINUTE_MS - 1)
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'delivered' })
    advance(1)
    expect(await pendingIds({ key })).toEqual([])
    await tickNow()
    expect(await read(id)).toEqual({ ...before, attempts: 1, updatedAt: inSeconds(0) })
    expect(await row(id)).toMatchObject({ claimId: first.claimId, checkAt: null })
    expect(await pendingIds({ key })).toEqual([id])
    expect(refusalOf(await renew(id, { claimId: first.claimId }))).toEqual([409, 'claim_mismatch'])

    advance(5000)
    const second = await claimOne()
    expect(second).toMatchObject({ id, attempt: 2, leaseExpiresAt: inSeconds(60) })
    expect(second.claimId).not.toBe(first.claimId)
    expect(await read(id)).toMatchObject({ startedAt: inSeconds(0), attempts: 2 })
    const { claimId } = first
    expect(refusalOf(await renew(id, { claimId }))).toEqual([409, 'claim_mismatch'])
    expect(refusalOf(await complete(id, { claimId }))).toEqual([409, 'claim_mismatch'])
    expect((await renew(id, { claimId: second.claimId })).status).toBe(200)
    expect((await complete(id, { claimId: second.claimId })).body.status).toBe('succeeded')
    advance(HOUR_MS)
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'succeeded', attempts: 2 })
  })

  it('completes its run while that is pending, and no other claim does', async () => {
    const { ids, claimOne, complete, acknowledge, read, row } = await withRuns(4)
    const [never = '', second = '', third = '', acknowledged = ''] = ids
    const refused = [409, 'claim_mismatch']
    expect(refusalOf(await complete(never, { claimId: newUuid() }))).toEqual(refused)
    const first = await claimOne()
    expect(first.id).toBe(never)
    const claims = [await claimOne(), await claimOne(), await claimOne()]
    advance(MINUTE_MS)
    await tickNow()
    expect(refusalOf(await complete(second, { claimId: first.claimId }))).toEqual(refused)
    // Another claim takes the runs, and ends too.
    for (const _ of ids) await claimOne()
    advance(MINUTE_MS)
    await tickNow()
    expect(refusalOf(await complete(second, { claimId: claims[0].claimId }))).toEqual(refused)
    expect((await complete(second, { claimId: (await row(second))?.claimId })).status).toBe(200)
    // Without a claim, as a receiver does, and again.
    expect((await complete(third)).status).toBe(200)
    expect((await complete(third)).body).toEqual(await read(third))
    await acknowledge(acknowledged)
    expect((await complete(acknowledged)).status).toBe(200)
  })

  it('can still be renewed, and its run completed, before the tick', async () => {
    const { ids, claimOne, renew, complete, read } = await withRuns(2)
    const [first, second] = [await claimOne(), await claimOne()]
    advance(MINUTE_MS + 1)
    expect((await renew(first.id, { claimId: first.claimId })).body.leaseExpiresAt).toBe(inSeconds(60))
    expect((await complete(second.id, { claimId: second.claimId })).status).toBe(200)
    await tickNow()
    expect((await read(ids[0] ?? '')).status).toBe('delivered')
    expect((await read(ids[1] ?? '')).status).toBe('succeeded')
  })

  it('ends no claim that is renewed, and no run that is completed, while the tick reads', async () => {
    const { claimOne, renew, complete, read } = await withRuns(3)
    const [renewed, completed, ended] = [await claimOne(), await claimOne(), await claimOne()]
    advance(MINUTE_MS)
    let calls = 0
    const DB = databaseWith(async (statements) => {
      const results = await env.DB.batch(statements)
      // The first call of the tick looks for schedules that are due, the second for runs to check.
      if (++calls !== 2) return results
      await renew(renewed.id, { claimId: renewed.claimId })
      await complete(completed.id, { claimId: completed.claimId })
      return results
    })
    await tick({ ...newOutbox().environment, DB }, new Date())
    const statuses = []
    for (const { id } of [renewed, completed, ended]) statuses.push((await read(id)).status)
    expect(statuses).toEqual(['delivered', 'succeeded', 'pending'])
    expect((await renew(renewed.id, { claimId: renewed.claimId })).status).toBe(200)
  })

  it('is ended once by ticks at once and a late tick, which does not end a later claim', async () => {
    const { id, claimOne, read } = await withRuns(1)
    await claimOne()
    const late = new Date()
    advance(MINUTE_MS)
    await Promise.all([tickNow(), tickNow(), tickNow()])
    expect(await read(id)).toMatchObject({ status: 'pending', attempts: 1 })
    const { claimId } = await claimOne()
    await tick(newOutbox().environment, late)
    await Promise.all([tickNow(), tickNow()])
    expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 2 })
    expect(claimId).toMatch(UUID)
  })

  it('ends for every run of the claim, 1,100 of several claims in one tick', async () => {
    const { workspace, claimOne, ids } = await withRuns(1)
    await claimOne()
    await env.DB.prepare(
      `INSERT INTO runs (organizationId, scheduleId, scheduledAt, id, parentType, parentId, status, attempts, claimId, checkAt, startedAt, createdAt, updatedAt)
       WITH RECURSIVE "each"(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "each" WHERE i < 1099)
       SELECT organizationId, scheduleId, strftime('%Y-%m-%dT%H:%M:%fZ', scheduledAt, (-i) || ' seconds'), printf('00000000-0000-8000-8000-%012x', i),
         parentType, parentId, status, attempts, claimId, checkAt, startedAt, createdAt, updatedAt FROM runs, "each" WHERE id = ?`,
    )
      .bind(ids[0])
      .run()
    advance(MINUTE_MS)
    await tickNow()
    const rows = await workspace.dump('runs')
    expect(rows).toHaveLength(1100)
    expect(
      rows.filter(({ status, startedAt, checkAt }) => status === 'pending' && startedAt === null && checkAt === null),
    ).toHaveLength(1100)
  })
})

describe('renewing a claim', () => {
  it('that has ended is refused with the overlap "skip" once a newer run exists', async () => {
    const { run, claimOne, renew, complete, patch, read } = await newWorker({ maxRunSeconds: 600 })
    const [first, second] = [(await run()).id, (await run()).id]
    const claims = [await claimOne(), await claimOne()]
    await patch({ overlap: 'skip' })
    // Both runs are active, and their claims last.
    for (const { id, claimId } of claims) expect((await renew(id, { claimId })).status).toBe(200)
    advance(MINUTE_MS)
    const [{ claimId }, latest] = claims
    expect(refusalOf(await renew(first, { claimId }))).toEqual([409, 'claim_mismatch'])
    expect(refusalOf(await complete(first, { claimId }))).toEqual([409, 'run_finished'])
    expect((await renew(second, { claimId: latest.claimId })).status).toBe(200)
    await tickNow()
    expect(await read(first)).toMatchObject({ status: 'failed', failure: 'timeout' })
    expect((await read(second)).status).toBe('delivered')
  })

  it('is refused when the time of the run is over, before the tick', async () => {
    const { run, claimOne, renew } = await newWorker({ maxRunSeconds: 60 })
    await run()
    const { id, claimId } = await claimOne({ leaseSeconds: 600 })
    advance(60_000)
    expect(refusalOf(await renew(id, { claimId }))).toEqual([409, 'claim_mismatch'])
  })

  it('extends it from now, and writes no event', async () => {
    const { id, workspace, claimOne, renew, read, row } = await withRuns(1)
    const { claimId } = await claimOne({ leaseSeconds: 120 })
    const startedAt = inSeconds(0)
    for (const leaseSeconds of [600, 60, 86_400]) {
      advance(30_000)
      const { status, body } = await renew(id, { claimId, leaseSeconds })
      expect([status, body]).toEqual([200, { id, claimId, leaseExpiresAt: inSeconds(leaseSeconds) }])
      expect((await row(id))?.checkAt).toBe(inSeconds(leaseSeconds))
    }
    expect(await read(id)).toMatchObject({
      status: 'delivered',
      attempts: 1,
      startedAt,
      updatedAt: inSeconds(0),
    })
    expect(await summariesOf(workspace, { types: 'run.*' })).toEqual([
      `run.created /v1/runs/${id}`,
      `run.claimed /v1/runs/${id}`,
    ])
  })

  it('never makes it last longer than the run may, whose time counts from its start', async () => {
    const { id, claimOne, renew, read } = await withRuns(1, { maxRunSeconds: 150 })
    advance(1000)
    const { claimId } = await claimOne()
    const end = inSeconds(150)
    for (const seconds of [50, 50, 49]) {
      advance(seconds * 1000)
      const { body } = await renew(id, { claimId, leaseSeconds: 60 })
      expect(body.leaseExpiresAt).toBe([inSeconds(60), end].sort()[0])
      await tickNow()
      expect((await read(id)).status).toBe('delivered')
    }
    advance(1000)
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'failed', failure: 'timeout', finishedAt: end })
    expect(refusalOf(await renew(id, { claimId }))).toEqual([409, 'claim_mismatch'])
  })

  it('needs the current claim of an active run', async () => {
    const { ids, claim, renew, complete, acknowledge, row } = await withRuns(5)
    const [claimed = '', completed = '', acknowledged = '', pending = '', skipped = ''] = ids
    const { items } = (await claim({ limit: 2 })).body
    const [{ claimId }] = items
    await complete(completed, { claimId })
    await acknowledge(acknowledged)
    await env.DB.prepare(`UPDATE runs SET status = 'skipped' WHERE id = ?`).bind(skipped).run()
    for (const id of [completed, acknowledged, pending, skipped])
      expect(refusalOf(await renew(id, { claimId }))).toEqual([409, 'claim_mismatch'])
    const before = await row(claimed)
    expect(refusalOf(await renew(claimed, { claimId: newUuid() }))).toEqual([409, 'claim_mismatch'])
    expect(refusalOf(await renew(newUuid(), { claimId }))).toEqual([404, 'run_not_found'])
    expect(await row(claimed)).toEqual(before)
    expect((await renew(claimed, { claimId: claimId.toUpperCase() })).status).toBe(200)
  })

  it('needs a key that reaches the project; any key reaches the runs of agents', async () => {
    const setup = await withRuns(1)
    const { workspace } = setup
    const ofAgent = await withRuns(1, {}, { workspace, parentType: 'agent' })
    const { items } = (await setup.claim({ limit: 2 })).body
    const [{ claimId }] = items
    const other = await workspace.addKey({ projectIds: [await workspace.addProject()] })
    const own = await workspace.addKey({ projectIds: [setup.parentId] })
    const stranger = (await newWorker()).key
    expect(refusalOf(await setup.renew(setup.id, { claimId }, other))).toEqual([403, 'project_forbidden'])
    expect((await setup.renew(setup.id, { claimId }, own)).status).toBe(200)
    expect((await setup.renew(ofAgent.id, { claimId }, other)).status).toBe(200)
    expect(refusalOf(await setup.renew(setup.id, { claimId }, stranger))).toEqual([404, 'run_not_found'])
  })

  it.each([
    { leaseSeconds: 60 },
    { claimId: newUuid() },
    { claimId: newUuid(), leaseSeconds: 59 },
    { claimId: newUuid(), leaseSeconds: 86_401 },
    { claimId: 'x', leaseSeconds: 60 },
    { claimId: newUuid(), leaseSeconds: 60, limit: 1 },
  ])('with %j is refused', async (json) => {
    const { id, key } = await withRuns(1)
    expect((await request('POST', `/v1/runs/${id}/renew`, { key, json })).status).toBe(400)
  })

  it('of a deleted schedule, and of a deleted parent, finds no run', async () => {
    for (const pathOf of [({ path }: Worker) => path, ({ parentId }: Worker) => `/v1/projects/${parentId}`]) {
      const worker = await withRuns(1)
      const { id, key, renew, complete } = worker
      const { claimId } = await worker.claimOne()
      await request('DELETE', pathOf(worker), { key })
      expect(refusalOf(await renew(id, { claimId }))).toEqual([404, 'run_not_found'])
      expect(refusalOf(await complete(id, { claimId }))).toEqual([404, 'run_not_found'])
      advance(HOUR_MS)
      await tickNow()
    }
  })
})

it('ends claims while the queue fails', async () => {
  const { workspace, id, claimOne, run, read, row } = await withRuns(1)
  await claimOne()
  await workspace.addRunEndpoint()
  advance(1000)
  const { id: sent } = await run()
  advance(HOUR_MS)
  const before = await row(sent)
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const DELIVERIES = { sendBatch: () => Promise.reject(new Error('no queue')) } as unknown as Queue<RunMessage>
  await tick({ ...env, DELIVERIES }, new Date())
  expect(errors.mock.calls.map(([line]) => JSON.parse(line).task)).toContain('checkRuns')
  errors.mockRestore()
  expect((await read(id)).status).toBe('pending')
  expect(await row(sent)).toEqual(before)
})

describe('acknowledging a claimed run', () => {
  it('is refused, and the claim stays', async () => {
    const { id, claimOne, acknowledge, renew, row } = await withRuns(1)
    const { claimId } = await claimOne()
    const before = await row(id)
    expect(refusalOf(await acknowledge(id))).toEqual([409, 'run_not_pending'])
    expect(await row(id)).toEqual(before)
    expect((await renew(id, { claimId })).status).toBe(200)
  })
})
