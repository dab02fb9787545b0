/** Events of what the service does by itself: each once, without an actor, whatever is repeated. */

import { describe, expect, it, vi } from 'vitest'
import { schedules } from '../../../src/db/schema.ts'
import { request } from '../../support/api.ts'
import { databaseWith } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { eventsOf, summaryOf } from '../../support/events.ts'
import { deliverBatch, newOutbox, ownMessage } from '../../support/queue.ts'
import { type Answer, Receiver } from '../../support/receiver.ts'
import { advance, HOUR_MS, MINUTE_MS, newWorker, stopClocks, tickNow, type Worker } from '../../support/runs.ts'
import { tick } from '../../support/tick.ts'
import { Workspace } from '../../support/workspace.ts'

stopClocks()

const SERVICE_TYPES = 'run.failed,schedule.paused,run-endpoint.deleted'

/** A worker, and the events of the service in its organization. */
async function withWorker(settings: object = {}) {
  const worker = await newWorker({ name: 'Nightly', ...settings })
  const events = () => eventsOf(worker.workspace, { types: SERVICE_TYPES })
  return { ...worker, events, summaries: async () => (await events()).map(summaryOf) }
}

/** The same with a run endpoint, and a run that was put into the queue. */
async function withReceiver(answers: readonly Answer[], settings: object = {}) {
  const worker = await withWorker(settings)
  const receiver = await new Receiver().answers(...answers)
  await worker.workspace.addRunEndpoint(receiver.url)
  const addRun = async () => {
    advance(1000)
    const runId = await worker.workspace.addRun(worker.scheduleId, {
      checkAt: new Date(Date.now() + HOUR_MS).toISOString(),
    })
    const reference = { organizationId: worker.workspace.organizationId, id: runId, attempts: 0 }
    return { runId, reference }
  }
  return { ...worker, receiver, addRun }
}

/** What follows the sixth attempt. */
async function sixth({ workspace }: Pick<Worker, 'workspace'>, id: string) {
  await workspace.changeRun(id, { attempts: 5 })
}

describe('a run that fails', () => {
  it('by its time limit has one event, without an actor and a request, however often the tick repeats', async () => {
    const worker = await withWorker({ maxRunSeconds: 60 })
    const { id } = await worker.run()
    await worker.claimOne()
    advance(2 * MINUTE_MS)
    await tickNow()
    await tickNow()
    advance(MINUTE_MS)
    await tickNow()
    expect(await worker.events()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        type: 'run.failed',
        resource: { type: 'run', id, path: `/v1/runs/${id}`, name: 'Nightly' },
        projectId: worker.parentId,
        actor: null,
        requestId: null,
        createdAt: new Date(Date.now() - MINUTE_MS).toISOString(),
      },
    ])
  })

  it('by its delivery has one event, and none for the attempts before or for a repeated message', async () => {
    const worker = await withReceiver([500])
    const { runId, reference } = await worker.addRun()
    await deliverBatch([{ runs: [reference] }])
    expect(await worker.summaries()).toEqual([])
    await sixth(worker, runId)
    const last = { ...reference, attempts: 5 }
    await deliverBatch([{ runs: [last] }])
    await deliverBatch([{ runs: [last] }, { runs: [last] }])
    expect(await worker.summaries()).toEqual([`run.failed /v1/runs/${runId}`])
    expect((await worker.events())[0]).toMatchObject({ actor: null, requestId: null, projectId: worker.parentId })
  })

  it('by the outcome in a response has one event', async () => {
    const worker = await withReceiver([{ body: '{"outcome":"failed","message":"Tests failed."}' }])
    const { runId, reference } = await worker.addRun()
    await deliverBatch([{ runs: [reference] }])
    await deliverBatch([{ runs: [reference] }])
    expect(await worker.read(runId)).toMatchObject({ status: 'failed', failure: 'task' })
    expect(await worker.summaries()).toEqual([`run.failed /v1/runs/${runId}`])
  })

  it.each([
    ['succeeded', 1000],
    ['failed', 1000],
    ['failed', 0],
  ])('in a response has none if a worker completed it first: %s, %s ms later', async (outcome, ms) => {
    const worker = await withReceiver([{ body: '{"outcome":"failed"}' }])
    const { runId, reference } = await worker.addRun()
    const DB = databaseWith(async (statements) => {
      if (statements.length > 1) {
        advance(ms)
        await worker.complete(runId, { outcome })
      }
      return env.DB.batch(statements)
    })
    await deliverBatch([{ runs: [reference] }], { DB })
    expect(await worker.read(runId)).toMatchObject({ status: outcome })
    const events = await eventsOf(worker.workspace, { types: 'run.succeeded,run.failed' })
    expect(events.map(({ type, actor }) => [type, actor?.userId])).toEqual([
      [`run.${outcome}`, worker.workspace.userId],
    ])
  })

  it('and its run endpoint that is gone, are told to event endpoints without a tick', async () => {
    for (const [answer, type] of [
      [{ body: '{"outcome":"failed"}' }, 'run.failed'],
      [410, 'run-endpoint.deleted'],
    ] as const) {
      const worker = await withReceiver([answer])
      const wanting = await worker.workspace.addEventEndpoint({ types: JSON.stringify([type]) })
      await worker.workspace.addEventEndpoint({ types: '["skill.*"]' })
      const elsewhere = await Workspace.create()
      await elsewhere.addEventEndpoint()
      const { messages, environment } = newOutbox()
      await deliverBatch([{ runs: [(await worker.addRun()).reference] }], environment)
      const { organizationId } = worker.workspace
      expect(messages).toEqual([ownMessage({ endpoint: { organizationId, id: wanting.id } })])
    }
  })

  it('by its time limit is told to event endpoints by the same tick', async () => {
    const worker = await withWorker({ maxRunSeconds: 60 })
    await worker.run()
    await worker.claimOne()
    advance(2 * MINUTE_MS)
    const wanting = await worker.workspace.addEventEndpoint({ types: '["run.failed"]' })
    const { messages, environment } = newOutbox()
    await tick(environment, new Date())
    const { organizationId } = worker.workspace
    expect(messages).toContainEqual(ownMessage({ endpoint: { organizationId, id: wanting.id } }))
  })

  it('is stored although the queue takes no hint', async () => {
    const worker = await withReceiver([{ body: '{"outcome":"failed"}' }])
    await worker.workspace.addEventEndpoint()
    const { runId, reference } = await worker.addRun()
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const sendBatch = vi.fn(() => Promise.reject(new Error('no queue')))
    await deliverBatch([{ runs: [reference] }], { DELIVERIES: { sendBatch } as never })
    expect([sendBatch.mock.calls.length, log.mock.calls.length]).toEqual([1, 1])
    expect(await worker.read(runId)).toMatchObject({ status: 'failed' })
  })

  it('has one event if D1 fails before, in or after the transaction that records it', async () => {
    for (const when of ['before', 'in', 'after'] as const) {
      const worker = await withWorker({ maxRunSeconds: 60 })
      const { id } = await worker.run()
      await worker.claimOne()
      advance(2 * MINUTE_MS)
      let failures = 0
      const DB = databaseWith(async (statements) => {
        const isRecording = statements.length === 5 && failures++ === 0
        if (isRecording && when === 'before') throw new Error('D1_ERROR: Network connection lost.')
        const failing = env.DB.prepare('SELECT json(?)').bind('{')
        const results = await env.DB.batch(isRecording && when === 'in' ? [...statements, failing] : statements)
        if (isRecording) throw new Error('D1_ERROR: Network connection lost.')
        return results
      })
      vi.spyOn(console, 'error').mockImplementation(() => {})
      await tick({ ...newOutbox().environment, DB }, new Date())
      expect(failures).toBeGreaterThan(0)
      const isCommitted = when === 'after'
      expect([when, await worker.summaries()]).toEqual([when, isCommitted ? [`run.failed /v1/runs/${id}`] : []])
      await tickNow()
      expect([when, await worker.summaries()]).toEqual([when, [`run.failed /v1/runs/${id}`]])
    }
  })

  it('are many of many organizations at once: each feed has its own, in one order', async () => {
    const workers = [await withWorker({ maxRunSeconds: 60 }), await withWorker({ maxRunSeconds: 60 })]
    const runs = new Map<(typeof workers)[number], string[]>()
    for (const worker of workers) {
      const ids: string[] = []
      for (let count = 0; count < 5; count++) ids.push((await worker.run()).id)
      await worker.claim({ limit: 20 })
      runs.set(worker, ids)
    }
    advance(5 * MINUTE_MS)
    await tickNow()
    for (const worker of workers) {
      expect((await worker.summaries()).sort()).toEqual(
        runs
          .get(worker)
          ?.map((id) => `run.failed /v1/runs/${id}`)
          .sort(),
      )
      const rows = await worker.workspace.dump('auditEvents')
      expect(new Set(rows.map(({ sequence }) => sequence)).size).toBe(rows.length)
    }
  })
})

describe('a schedule that is paused after failures', () => {
  const paused = ({ path }: { path: string }) => `schedule.paused ${path}`

  it('by a tick has one event, also if many of its runs failed in it', async () => {
    const worker = await withWorker({ maxRunSeconds: 60, pauseAfterFailures: 1 })
    for (let count = 0; count < 3; count++) await worker.run()
    await worker.claim({ limit: 20 })
    advance(5 * MINUTE_MS)
    await tickNow()
    await tickNow()
    const found = await worker.summaries()
    expect(found.filter((summary) => summary.startsWith('schedule.'))).toEqual([paused(worker)])
    expect(found).toHaveLength(4)
    expect((await worker.schedule()).enabledAt).toBeNull()
    expect((await worker.events()).at(-1)).toMatchObject({
      actor: null,
      requestId: null,
      resource: { id: worker.scheduleId, name: 'Nightly' },
      projectId: worker.parentId,
    })
  })

  it('by a delivery has one event, and none if its other runs fail later', async () => {
    const worker = await withReceiver([500], { pauseAfterFailures: 1 })
    for (let count = 0; count < 3; count++) {
      const { runId, reference } = await worker.addRun()
      await sixth(worker, runId)
      await deliverBatch([{ runs: [{ ...reference, attempts: 5 }] }])
    }
    const found = await worker.summaries()
    expect(found.filter((summary) => summary.startsWith('schedule.'))).toEqual([paused(worker)])
    expect(found).toHaveLength(4)
  })

  it('by the completion of a run has one event without an actor, with the request', async () => {
    const worker = await withWorker({ pauseAfterFailures: 1 })
    const { id } = await worker.run()
    const other = await worker.run()
    const { headers } = await worker.complete(id, { outcome: 'failed' })
    await worker.complete(id, { outcome: 'failed' })
    await worker.complete(other.id, { outcome: 'failed' })
    const [failed, pause, ...rest] = await worker.events()
    expect([failed, pause].map((event) => event && summaryOf(event))).toEqual([
      `run.failed /v1/runs/${id}`,
      paused(worker),
    ])
    expect(rest.map(summaryOf)).toEqual([`run.failed /v1/runs/${other.id}`])
    const requestId = headers.get('X-Request-Id')
    expect([failed?.actor?.userId, failed?.requestId]).toEqual([worker.workspace.userId, requestId])
    expect([pause?.actor, pause?.requestId]).toEqual([null, requestId])
  })

  it('of an agent has the path of the agent, and no project', async () => {
    const worker = await newWorker({ pauseAfterFailures: 1 }, { parentType: 'agent' })
    const { id } = await worker.run()
    await worker.complete(id, { outcome: 'failed' })
    const [failed, pause] = await eventsOf(worker.workspace, { types: SERVICE_TYPES })
    expect([failed?.projectId, pause?.projectId, pause?.resource.path]).toEqual([null, null, worker.path])
  })

  it('has another event after it was resumed and fails again', async () => {
    const worker = await withWorker({ pauseAfterFailures: 1 })
    for (let count = 0; count < 2; count++) {
      await worker.patch({ enabled: true })
      advance(1000)
      const { id } = await worker.run()
      await worker.complete(id, { outcome: 'failed' })
    }
    const types = (await eventsOf(worker.workspace, { types: 'schedule.*' })).map(({ type }) => type)
    expect(types.filter((type) => type === 'schedule.paused')).toHaveLength(2)
    expect(types.slice(-3)).toEqual(['schedule.paused', 'schedule.resumed', 'schedule.paused'])
  })

  it('has none if a request paused it before', async () => {
    const worker = await withWorker({ pauseAfterFailures: 1 })
    const { id } = await worker.run()
    await worker.workspace.change(schedules, worker.scheduleId, { enabledAt: null })
    await worker.complete(id, { outcome: 'failed' })
    expect(await worker.summaries()).toEqual([`run.failed /v1/runs/${id}`])
  })
})

describe('a run endpoint that answers 410', () => {
  it('has one event, also if several runs get the answer at once', async () => {
    const worker = await withReceiver([410])
    const runs = [await worker.addRun(), await worker.addRun()]
    const message = { runs: runs.map(({ reference }) => reference) }
    await deliverBatch([message])
    await deliverBatch([message])
    expect(await worker.events()).toMatchObject([
      {
        type: 'run-endpoint.deleted',
        resource: { id: worker.workspace.organizationId, path: '/v1/run-endpoint', name: null },
        projectId: null,
        actor: null,
        requestId: null,
      },
    ])
  })

  it('has none if it was replaced meanwhile', async () => {
    const worker = await withReceiver([410])
    const { reference } = await worker.addRun()
    const DB = databaseWith(async (statements) => {
      const json = { url: 'https://hooks.example.com/other' }
      if (statements.length > 1) await request('PUT', '/v1/run-endpoint', { key: worker.key, json })
      return env.DB.batch(statements)
    })
    await deliverBatch([{ runs: [reference] }], { DB })
    expect(await worker.summaries()).toEqual([])
  })
})
