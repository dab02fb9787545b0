import { Webhook } from 'standardwebhooks'
import { v4 as newUuid } from 'uuid'
import { describe, expect, it, vi } from 'vitest'
import { schedules } from '../../../../src/db/schema.ts'
import { request } from '../../../support/api.ts'
import { databaseWith, interruptedDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { START } from '../../../support/clock.ts'
import { env } from '../../../support/env.ts'
import { summariesOf } from '../../../support/events.ts'
import { deliverBatch, newOutbox } from '../../../support/queue.ts'
import { type Answer, Receiver } from '../../../support/receiver.ts'
import {
  advance,
  HOUR_MS,
  inSeconds,
  MINUTE_MS,
  newWorker,
  refusalOf,
  stopClocks,
  tickNow,
  type Worker,
} from '../../../support/runs.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const DAY_MS = 24 * HOUR_MS
const SKIPPING = { overlap: 'skip', maxRunSeconds: 600 }

stopClocks()

/** An organization with a run endpoint that gives these answers, and a schedule. */
async function withReceiver(settings: object, ...answers: Answer[]) {
  const workspace = await Workspace.create()
  const receiver = await new Receiver().answers(...answers)
  const secret = await workspace.addRunEndpoint(receiver.url)
  const worker = await newWorker(settings, { workspace })
  /** Sends a run as it is now, once. */
  const deliver = async (runId: string, environment = {}) => {
    const { organizationId } = workspace
    const attempts = Number((await worker.row(runId))?.attempts)
    await deliverBatch([{ runs: [{ organizationId, id: runId, attempts }] }], environment)
  }
  /** Creates a run that the queue loses. */
  const run = async (environment = {}) => {
    advance(1000)
    const { DELIVERIES } = newOutbox().environment
    const { body } = await request('POST', `${worker.path}/runs`, {
      key: worker.key,
      environment: { DELIVERIES, ...environment },
    })
    return body
  }
  return { ...worker, receiver, secret, deliver, run }
}

/** A finished run, as it was before apart from this. */
const finished = (status: 'succeeded' | 'failed', failure: string | null = null) => ({
  status,
  failure,
  claim: null,
  finishedAt: inSeconds(0),
  updatedAt: inSeconds(0),
})

describe('completing a run', () => {
  it('that is claimed needs the claim, and records outcome, message and session', async () => {
    const { workspace, parentId, run, claimOne, complete, read, row } = await newWorker()
    const { id } = await run()
    const { claimId } = await claimOne()
    const before = await read(id)
    const sessionId = await workspace.addSession(parentId)
    advance(30_000)
    for (const wrong of [{}, { claimId: newUuid() }])
      expect(refusalOf(await complete(id, wrong))).toEqual([409, 'claim_mismatch'])
    expect(await read(id)).toEqual(before)
    const json = { outcome: 'succeeded', message: 'Built 14 pages.', sessionId, claimId }
    const { status, body } = await complete(id, json)
    const completed = { ...before, ...finished('succeeded'), message: 'Built 14 pages.', sessionId }
    expect([status, body]).toEqual([200, completed])
    expect(await read(id)).toEqual(completed)
    expect((await row(id))?.checkAt).toBeNull()
    expect(await summariesOf(workspace, { types: 'run.succeeded,run.failed' })).toEqual([
      `run.succeeded /v1/runs/${id}`,
    ])
  })

  it.each(['project', 'agent'] as const)(
    'of a %s that was acknowledged needs no claim, and allows none',
    async (parentType) => {
      const { run, acknowledge, complete } = await newWorker({}, { parentType })
      const { id } = await run()
      const { body: before } = await acknowledge(id)
      advance(1000)
      expect(refusalOf(await complete(id, { claimId: newUuid() }))).toEqual([409, 'claim_mismatch'])
      const { body } = await complete(id, { outcome: 'failed', message: 'Tests failed.' })
      expect(body).toEqual({ ...before, ...finished('failed', 'task'), message: 'Tests failed.' })
    },
  )

  it('that is pending, for a receiver that is faster than its answer', async () => {
    const { run, complete, receiver, row, deliver, read } = await withReceiver({}, 200)
    const before = await run()
    advance(1000)
    const { body } = await complete(before.id)
    expect(body).toEqual({ ...before, ...finished('succeeded'), startedAt: inSeconds(0), attempts: 1 })
    expect((await row(before.id))?.checkAt).toBeNull()
    await deliver(before.id)
    expect(await receiver.received()).toEqual([])
    expect(await read(before.id)).toEqual(body)
  })

  it.each<[string, Answer]>([
    ['accepts it', 202],
    ['has another outcome for it', { body: '{"outcome":"failed"}' }],
    ['fails', 500],
    ['is gone', 410],
  ])('while it is sent keeps this outcome if the receiver then %s', async (_, answer) => {
    const { run, complete, deliver, read } = await withReceiver({ pauseAfterFailures: 1 }, answer)
    const { id } = await run()
    const DB = interruptedDatabase(() => complete(id, { message: 'Fast' }))
    await deliver(id, { DB })
    expect(await read(id)).toMatchObject({ status: 'succeeded', failure: null, message: 'Fast', attempts: 1 })
  })

  it.each<[string, Answer]>([
    ['accepts it', 202],
    ['fails', 500],
  ])('after it was acknowledged while it was sent counts the attempt if the receiver then %s', async (_, answer) => {
    const { run, acknowledge, complete, deliver, read } = await withReceiver({}, answer, 202)
    const { id } = await run()
    await deliver(id, { DB: interruptedDatabase(() => acknowledge(id)) })
    expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1, lastError: null })
    expect((await complete(id)).body).toMatchObject({ status: 'succeeded', attempts: 1 })
  })

  it('while it is sent again counts each attempt once', async () => {
    const { run, complete, deliver, read } = await withReceiver({}, 500, 202)
    const { id } = await run()
    await deliver(id)
    advance(2 * MINUTE_MS)
    await deliver(id, { DB: interruptedDatabase(() => complete(id)) })
    expect(await read(id)).toMatchObject({ status: 'succeeded', attempts: 2 })
  })

  it('while it is sent keeps the duration from the delivery on', async () => {
    const { run, complete, deliver, read } = await withReceiver({}, 202)
    const { id } = await run()
    const startedAt = inSeconds(0)
    const DB = interruptedDatabase(() => {
      advance(3000)
      return complete(id)
    })
    await deliver(id, { DB })
    expect(await read(id)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      startedAt,
      finishedAt: inSeconds(0),
    })
  })

  it('again changes nothing, and the first outcome stands', async () => {
    const { workspace, run, claimOne, complete, read } = await newWorker()
    for (const [outcome, other] of [
      ['succeeded', 'failed'],
      ['failed', 'succeeded'],
    ]) {
      const { id } = await run()
      const { claimId } = await claimOne()
      const first = await complete(id, { outcome, message: 'First', claimId })
      expect(first.body).toMatchObject({ status: outcome, message: 'First' })
      advance(5000)
      const events = await workspace.dump('auditEvents')
      const again = await complete(id, { outcome, message: 'Second', claimId })
      expect([again.status, again.body]).toEqual([200, first.body])
      expect(refusalOf(await complete(id, { outcome: other, claimId }))).toEqual([409, 'run_finished'])
      expect(refusalOf(await complete(id, { outcome, claimId: newUuid() }))).toEqual([409, 'claim_mismatch'])
      expect(await read(id)).toEqual(first.body)
      expect(await workspace.dump('auditEvents')).toEqual(events)
    }
  })

  it('30 times at once, with both outcomes, has one', async () => {
    const { workspace, run, claimOne, complete, read } = await newWorker()
    const { id } = await run()
    const { claimId } = await claimOne()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        complete(id, { outcome: index % 2 ? 'failed' : 'succeeded', message: `${index}`, claimId }),
      ),
    )
    const stored = await read(id)
    const isFirst = (index: number) => (index % 2 ? 'failed' : 'succeeded') === stored.status
    for (const [index, answer] of answers.entries())
      expect(isFirst(index) ? [answer.status, answer.body] : refusalOf(answer)).toEqual(
        isFirst(index) ? [200, stored] : [409, 'run_finished'],
      )
    expect(await summariesOf(workspace, { types: 'run.succeeded,run.failed' })).toEqual([
      `run.${stored.status} /v1/runs/${id}`,
    ])
  })

  it('with a session needs one that exists and that the key reaches', async () => {
    const { workspace, parentId, run, complete, row } = await newWorker()
    const { id } = await run()
    const beside = await workspace.addProject()
    const gone = await workspace.addProject()
    const [own, besideId, deleted, ofDeletedProject] = [
      await workspace.addSession(parentId),
      await workspace.addSession(beside),
      await workspace.addSession(parentId),
      await workspace.addSession(gone),
    ]
    await workspace.deleteSession(deleted)
    await workspace.delete('project', gone)
    const elsewhere = await Workspace.create()
    const theirs = await elsewhere.addSession(await elsewhere.addProject())
    const before = await row(id)
    for (const sessionId of [newUuid(), deleted, theirs, ofDeletedProject])
      expect(refusalOf(await complete(id, { sessionId }))).toEqual([404, 'session_not_found'])
    const restricted = await workspace.addKey({ projectIds: [parentId] })
    expect(refusalOf(await complete(id, { sessionId: besideId }, restricted))).toEqual([404, 'session_not_found'])
    expect(await row(id)).toEqual(before)
    expect((await complete(id, { sessionId: own.toUpperCase() }, restricted)).body.sessionId).toBe(own)
    const second = await run()
    expect((await complete(second.id, { sessionId: besideId })).body.sessionId).toBe(besideId)
  })

  it('stays with its session after that was deleted', async () => {
    const { workspace, parentId, run, complete, read } = await newWorker()
    const { id } = await run()
    const sessionId = await workspace.addSession(parentId)
    await complete(id, { sessionId })
    await workspace.deleteSession(sessionId)
    expect((await read(id)).sessionId).toBe(sessionId)
    expect((await complete(id, { sessionId })).body).toEqual(await read(id))
  })

  it('needs a key that reaches its project; any key reaches the runs of agents', async () => {
    const { workspace, parentId, run, complete } = await newWorker()
    const ofAgent = await newWorker({}, { workspace, parentType: 'agent' })
    const ids = [(await run()).id, (await ofAgent.run()).id]
    const other = await workspace.addKey({ projectIds: [await workspace.addProject()] })
    const own = await workspace.addKey({ projectIds: [parentId] })
    const stranger = (await newWorker()).key
    expect(refusalOf(await complete(ids[0], {}, other))).toEqual([403, 'project_forbidden'])
    for (const id of ids) expect(refusalOf(await complete(id, {}, stranger))).toEqual([404, 'run_not_found'])
    expect((await complete(ids[0], {}, own)).status).toBe(200)
    expect((await complete(ids[1], {}, other)).status).toBe(200)
    expect(refusalOf(await complete(newUuid()))).toEqual([404, 'run_not_found'])
  })

  it.each([
    {},
    { outcome: 'skipped' },
    { outcome: null },
    { outcome: 'succeeded', message: '' },
    { outcome: 'succeeded', message: 'x'.repeat(1001) },
    { outcome: 'succeeded', message: null },
    { outcome: 'succeeded', sessionId: 'x' },
    { outcome: 'succeeded', claimId: 'x' },
    { outcome: 'succeeded', failure: 'task' },
  ])('with %j is refused', async (json) => {
    const { run, key, read } = await newWorker()
    const before = await run()
    expect((await request('POST', `/v1/runs/${before.id}/complete`, { key, json })).status).toBe(400)
    expect(await read(before.id)).toEqual(before)
  })

  it('accepts a message of 1,000 characters', async () => {
    const { run, complete } = await newWorker()
    const message = '😀'.repeat(1000)
    expect((await complete((await run()).id, { message })).body.message).toBe(message)
  })

  it('that was skipped is refused', async () => {
    const { run, complete, read } = await newWorker(SKIPPING)
    await run()
    const skipped = await run()
    for (const outcome of ['succeeded', 'failed'])
      expect(refusalOf(await complete(skipped.id, { outcome }))).toEqual([409, 'run_finished'])
    expect(await read(skipped.id)).toEqual(skipped)
  })

  it('whose claim has ended works until another claim takes it', async () => {
    const { run, claimOne, complete, read, row } = await newWorker()
    const ids = [(await run()).id, (await run()).id]
    const first = await claimOne()
    const second = await claimOne()
    advance(MINUTE_MS)
    await tickNow()
    const { body } = await complete(ids[0], { claimId: first.claimId, message: 'Late' })
    expect(body).toMatchObject({ status: 'succeeded', message: 'Late', attempts: 1, startedAt: inSeconds(0) })
    expect((await complete(ids[0], { claimId: first.claimId })).body).toEqual(body)
    const third = await claimOne()
    expect(third.id).toBe(ids[1])
    const before = await row(ids[1])
    expect(refusalOf(await complete(ids[1], { claimId: second.claimId }))).toEqual([409, 'claim_mismatch'])
    expect(await row(ids[1])).toEqual(before)
    await complete(ids[1], { outcome: 'failed', claimId: third.claimId })
    expect(refusalOf(await complete(ids[1], { claimId: second.claimId }))).toEqual([409, 'claim_mismatch'])
    expect(await read(ids[1])).toMatchObject({ status: 'failed', attempts: 2 })
  })

  it('of an archived parent works', async () => {
    const { workspace, parentId, run, complete } = await newWorker()
    const { id } = await run()
    await workspace.archiveProject(parentId)
    expect((await complete(id)).body.status).toBe('succeeded')
  })

  it('writes two rows, the run and the event, and two more if it pauses the schedule', async () => {
    const { run, claim, acknowledge, key } = await newWorker({ pauseAfterFailures: 1 })
    const ids = [(await run()).id, (await run()).id, (await run()).id, (await run()).id]
    const [{ claimId }] = (await claim()).body.items
    await acknowledge(ids[1])
    const written = []
    for (const [index, id] of ids.entries()) {
      const use = watchedDatabase()
      const json = { outcome: index === 3 ? 'failed' : 'succeeded', ...(index === 0 && { claimId }) }
      const environment = { DB: use.DB }
      expect((await request('POST', `/v1/runs/${id}/complete`, { key, json, environment })).status).toBe(200)
      written.push(use.rowsWritten)
    }
    expect(written).toEqual([2, 2, 2, 4])
  })
})

describe('a run without an outcome in time', () => {
  it.each(['claimed', 'acknowledged', 'delivered'])('has failed, by the next tick, if it was %s', async (how) => {
    const settings = { maxRunSeconds: 90 }
    const sent = await withReceiver(settings, 202)
    const { run, claimOne, acknowledge, read, row } = how === 'delivered' ? sent : await newWorker(settings)
    const { id } = await run()
    advance(1000)
    if (how === 'claimed') await claimOne({ leaseSeconds: 3600 })
    if (how === 'acknowledged') await acknowledge(id)
    if (how === 'delivered') await sent.deliver(id)
    const before = await read(id)
    expect(before).toMatchObject({ status: 'delivered', startedAt: inSeconds(0) })
    advance(90_000 - 1)
    await tickNow()
    expect(await read(id)).toEqual(before)
    advance(1)
    expect(await read(id)).toEqual(before)
    await Promise.all([tickNow(), tickNow()])
    expect(await read(id)).toEqual({
      ...before,
      ...finished('failed', 'timeout'),
      lastError: 'The run had no outcome within 90 seconds.',
    })
    expect((await row(id))?.checkAt).toBeNull()
    const timedOut = await read(id)
    advance(DAY_MS)
    await tickNow()
    expect(await read(id)).toEqual(timedOut)
  })

  it('keeps this failure when a late worker completes it', async () => {
    const { run, claimOne, complete, read } = await newWorker({ maxRunSeconds: 90 })
    const { id } = await run()
    const { claimId } = await claimOne({ leaseSeconds: 3600 })
    advance(90_000)
    await tickNow()
    const timedOut = await read(id)
    expect(refusalOf(await complete(id, { claimId }))).toEqual([409, 'run_finished'])
    expect(refusalOf(await complete(id))).toEqual([409, 'claim_mismatch'])
    const failed = await complete(id, { outcome: 'failed', message: 'Late', claimId })
    expect(refusalOf(failed)).toEqual([409, 'run_finished'])
    expect(await read(id)).toEqual(timedOut)
  })

  it.each(['claimed', 'acknowledged', 'delivered'])(
    'may be completed until its time is over, and not between then and the tick, if it was %s',
    async (how) => {
      const settings = { maxRunSeconds: 90 }
      const sent = await withReceiver(settings, 202)
      const { run, claimOne, acknowledge, complete, read } = how === 'delivered' ? sent : await newWorker(settings)
      const claim = async (id: string) => {
        if (how === 'claimed') return { claimId: (await claimOne({ leaseSeconds: 3600 })).claimId }
        await (how === 'acknowledged' ? acknowledge(id) : sent.deliver(id))
        return {}
      }
      const inTime = (await run()).id
      const claimOfFirst = await claim(inTime)
      const late = (await run()).id
      const claimOfSecond = await claim(late)
      advance(90_000 - 1001)
      expect((await complete(inTime, claimOfFirst)).body).toMatchObject({ status: 'succeeded' })
      advance(1001)
      const before = await read(late)
      for (const outcome of ['succeeded', 'failed']) {
        const refused = await complete(late, { outcome, ...claimOfSecond })
        expect([...refusalOf(refused), refused.body.error]).toEqual([
          409,
          'run_finished',
          'The time limit of the run is over; allowed: an outcome within the maxRunSeconds of its schedule.',
        ])
      }
      expect(await read(late)).toEqual(before)
      await tickNow()
      expect(await read(late)).toMatchObject({ status: 'failed', failure: 'timeout' })
    },
  )

  it.each(['pending', 'acknowledged'])('is not finished by a response after its time, if it was %s', async (how) => {
    const { run, acknowledge, deliver, read } = await withReceiver({ maxRunSeconds: 60 })
    const { id } = await run()
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
      if (how === 'acknowledged') await acknowledge(id)
      advance(60_000)
      return Response.json({ outcome: 'succeeded' })
    })
    await deliver(id)
    expect(await read(id)).toMatchObject({ status: 'delivered', failure: null, attempts: 1 })
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'failed', failure: 'timeout', attempts: 1 })
  })

  it('is not failed if it is completed while the tick reads', async () => {
    const { run, acknowledge, complete, read, schedule } = await newWorker({
      maxRunSeconds: 90,
      pauseAfterFailures: 1,
    })
    const { id } = await run()
    await acknowledge(id)
    advance(90_000)
    let calls = 0
    const DB = databaseWith(async (statements) => {
      const results = await env.DB.batch(statements)
      if (++calls !== 2) return results
      // The clock of the other machine is slow.
      advance(-1)
      await complete(id)
      advance(1)
      return results
    })
    await tick({ ...newOutbox().environment, DB }, new Date())
    expect(await read(id)).toMatchObject({ status: 'succeeded', failure: null, lastError: null })
    expect((await schedule()).pausedReason).toBeNull()
  })

  it('waits for its time if the claim ends before, and counts from the next claim', async () => {
    const { run, claimOne, read } = await newWorker({ maxRunSeconds: 100 })
    const { id } = await run()
    await claimOne()
    advance(MINUTE_MS)
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'pending', startedAt: null })
    advance(HOUR_MS)
    await tickNow()
    expect((await read(id)).status).toBe('pending')
    const { leaseExpiresAt } = await claimOne({ leaseSeconds: 3600 })
    expect(leaseExpiresAt).toBe(inSeconds(100))
    advance(100_000)
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'failed', failure: 'timeout', attempts: 2 })
  })

  it('has failed and is not pending again if only a late tick finds its claim ended', async () => {
    const { run, claimOne, read } = await newWorker({ maxRunSeconds: 100 })
    const { id } = await run()
    await claimOne()
    advance(MINUTE_MS)
    const due = new Date()
    advance(MINUTE_MS)
    await tick(newOutbox().environment, due)
    expect(await read(id)).toMatchObject({ status: 'failed', failure: 'timeout' })
  })

  it('is active for ever without maxRunSeconds', async () => {
    const { run, acknowledge, read, row } = await newWorker()
    const { id } = await run()
    await acknowledge(id)
    const before = await read(id)
    expect((await row(id))?.checkAt).toBeNull()
    advance(30 * DAY_MS)
    await tickNow()
    expect(await read(id)).toEqual(before)
  })

  it('has the time of the schedule as it is now, if that was changed meanwhile', async () => {
    const { run, acknowledge, patch, read } = await newWorker({ maxRunSeconds: 90 })
    const statusOf = async (id: string) => {
      await tickNow()
      const { status, failure } = await read(id)
      return [status, failure]
    }
    const longer = (await run()).id
    await acknowledge(longer)
    await patch({ maxRunSeconds: 300 })
    advance(90_000)
    expect(await statusOf(longer)).toEqual(['delivered', null])
    advance(210_000 - 1)
    expect(await statusOf(longer)).toEqual(['delivered', null])
    advance(1)
    expect(await statusOf(longer)).toEqual(['failed', 'timeout'])

    const unlimited = (await run()).id
    await acknowledge(unlimited)
    await patch({ maxRunSeconds: null })
    advance(DAY_MS)
    expect(await statusOf(unlimited)).toEqual(['delivered', null])
    await patch({ maxRunSeconds: 60 })
    advance(DAY_MS)
    expect(await statusOf(unlimited)).toEqual(['delivered', null])

    // A shorter time takes effect when the old one is over, at the latest.
    await patch({ maxRunSeconds: 300 })
    const shorter = (await run()).id
    await acknowledge(shorter)
    await patch({ maxRunSeconds: 60 })
    advance(300_000)
    expect(await statusOf(shorter)).toEqual(['failed', 'timeout'])
    expect((await read(shorter)).lastError).toBe('The run had no outcome within 60 seconds.')
  })
})

describe('the overlap "skip"', () => {
  /** Fires the schedule at an instant. @returns the run. */
  async function fire({ workspace, scheduleId, read }: Worker, environment = newOutbox().environment) {
    const nextRunAt = inSeconds(0)
    await workspace.change(schedules, scheduleId, { nextRunAt })
    await tick(environment, new Date())
    const row = (await workspace.dump('runs')).find(({ scheduledAt }) => scheduledAt === nextRunAt)
    return read(String(row?.id))
  }
  const kinds = [
    { how: 'a tick', create: (worker: Worker) => fire(worker) },
    { how: 'a request', create: (worker: Worker) => worker.run() },
  ]

  describe.each(kinds)('of a run by $how', ({ create }) => {
    it.each(['pending', 'acknowledged', 'claimed', 'claimed, and the lease has ended'])(
      'skips it while the run before is %s',
      async (state) => {
        const worker = await newWorker(SKIPPING)
        const before = await worker.run()
        if (state === 'acknowledged') await worker.acknowledge(before.id)
        if (state.startsWith('claimed')) await worker.claimOne()
        advance(state.endsWith('ended') ? 2 * MINUTE_MS : 1000)
        const run = await create(worker)
        expect(run).toMatchObject({
          status: 'skipped',
          lastError: `The run of ${before.scheduledAt} was not finished.`,
          attempts: 0,
          startedAt: null,
          finishedAt: null,
        })
        expect((await worker.row(run.id))?.checkAt).toBeNull()
        expect((await worker.schedule()).lastRunAt).toBe(before.scheduledAt)
        // The run before is still the same.
        advance(1000)
        expect((await create(worker)).lastError).toBe(run.lastError)
      },
    )

    it.each(['succeeded', 'failed', 'timed out', 'past its time, before the tick fails it'])(
      'does not skip it after a run that %s',
      async (state) => {
        const worker = await newWorker({ ...SKIPPING, pauseAfterFailures: 100 })
        const before = await worker.run()
        await worker.acknowledge(before.id)
        if (state === 'succeeded' || state === 'failed') await worker.complete(before.id, { outcome: state })
        else advance(600_000 - 1000)
        if (state === 'timed out') {
          advance(1000)
          await tickNow()
        }
        advance(1000)
        const run = await create(worker)
        expect(run).toMatchObject({ status: 'pending', lastError: null })
        expect((await worker.schedule()).lastRunAt).toBe(run.scheduledAt)
      },
    )

    it('skips it until just before the time of the run before is over', async () => {
      const worker = await newWorker(SKIPPING)
      const before = await worker.run()
      await worker.acknowledge(before.id)
      // A request creates its run a second later.
      advance(600_000 - 1 - (create === kinds[1]?.create ? 1000 : 0))
      expect((await create(worker)).status).toBe('skipped')
    })

    it('skips it while a claim lasts, even if the time limit was shortened since', async () => {
      const worker = await newWorker({ overlap: 'skip', maxRunSeconds: 3600 })
      await worker.run()
      await worker.claimOne({ leaseSeconds: 3600 })
      await worker.patch({ maxRunSeconds: 60 })
      advance(600_000)
      expect((await worker.run()).status).toBe('skipped')
      advance(3_000_000)
      await tickNow()
      expect((await worker.run()).status).toBe('pending')
    })

    it.each(['claimed', 'acknowledged'])(
      'refuses the outcome of the run before, which was %s, after it',
      async (how) => {
        const worker = await newWorker(SKIPPING)
        const { id } = await worker.run()
        const claim = {
          claimId: how === 'claimed' ? (await worker.claimOne({ leaseSeconds: 3600 })).claimId : undefined,
        }
        if (how === 'acknowledged') await worker.acknowledge(id)
        advance(600_000)
        expect((await worker.run()).status).toBe('pending')
        // The longer limit does not bring the run back.
        await worker.patch({ maxRunSeconds: 3600 })
        const before = await worker.read(id)
        const refused = await worker.complete(id, claim)
        expect([...refusalOf(refused), refused.body.error]).toEqual([
          409,
          'run_finished',
          'A newer run of the schedule exists, and its overlap is "skip"; allowed: an outcome before the claim or the time limit of the run ends.',
        ])
        if (how === 'claimed') expect(refusalOf(await worker.renew(id, claim))).toEqual([409, 'claim_mismatch'])
        expect(await worker.read(id)).toEqual(before)
        await tickNow()
        expect(await worker.read(id)).toMatchObject({
          status: 'failed',
          failure: 'timeout',
          lastError: 'A newer run was created before this one had an outcome.',
        })
      },
    )

    it('refuses the outcome of a run from before there was a time limit, once a newer run exists', async () => {
      const worker = await newWorker()
      const { id } = await worker.run()
      const [allowed] = [(await worker.run()).id]
      await worker.acknowledge(id)
      await worker.acknowledge(allowed)
      await worker.patch(SKIPPING)
      // Both were active already, side by side.
      expect((await worker.complete(id)).status).toBe(200)
      advance(600_000)
      const newer = await worker.run()
      expect(newer.status).toBe('pending')
      expect(refusalOf(await worker.complete(allowed))).toEqual([409, 'run_finished'])
      await worker.patch({ overlap: 'allow' })
      expect((await worker.complete(allowed)).status).toBe(200)
    })

    it('looks at the latest run that was not skipped', async () => {
      const worker = await newWorker(SKIPPING)
      const first = await worker.run()
      for (let count = 0; count < 3; count++) {
        advance(1000)
        expect((await create(worker)).status).toBe('skipped')
      }
      await worker.complete(first.id)
      advance(1000)
      expect((await create(worker)).status).toBe('pending')
      advance(1000)
      expect((await create(worker)).status).toBe('skipped')
    })

    it('is off with "allow"', async () => {
      const worker = await newWorker({ overlap: 'allow', maxRunSeconds: 600 })
      await worker.run()
      advance(1000)
      expect((await create(worker)).status).toBe('pending')
    })
  })

  it('skips a time that fires after a later run was created', async () => {
    const worker = await newWorker(SKIPPING)
    const { workspace, scheduleId } = worker
    const due = inSeconds(0)
    await workspace.change(schedules, scheduleId, { nextRunAt: due })
    advance(1000)
    const later = await worker.run()
    await worker.complete(later.id, { outcome: 'succeeded' })
    await tick(newOutbox().environment, new Date())
    const row = (await workspace.dump('runs')).find(({ scheduledAt }) => scheduledAt === due)
    expect(row).toMatchObject({
      status: 'skipped',
      lastError: `The run of ${later.scheduledAt} was created before this one fired.`,
    })
  })

  it('creates one pending run of 20 requests at once', async () => {
    const { workspace, key, path } = await newWorker(SKIPPING)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => {
        advance(1)
        return request('POST', `${path}/runs`, { key })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    const statuses = (await workspace.dump('runs')).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'pending')).toHaveLength(1)
    expect(statuses.filter((status) => status !== 'pending' && status !== 'skipped')).toEqual([])
  })

  it('sends no skipped run, and repeats it for the same Idempotency-Key', async () => {
    const { workspace, key, path, scheduleId } = await newWorker(SKIPPING)
    await workspace.addRunEndpoint()
    const { environment, messages } = newOutbox()
    const post = async (name: string) => {
      advance(1000)
      const headers = { 'Idempotency-Key': name }
      return request('POST', `${path}/runs`, { key, headers, environment: { DELIVERIES: environment.DELIVERIES } })
    }
    const first = await post('a')
    const second = await post('b')
    expect([first.body.status, second.status, second.body.status]).toEqual(['pending', 201, 'skipped'])
    expect((await post('b')).body).toEqual(second.body)
    advance(MINUTE_MS)
    await workspace.change(schedules, scheduleId, { nextRunAt: inSeconds(0) })
    await tick(environment, new Date())
    const sent = messages.flatMap((message) => ('runs' in message ? message.runs.map(({ id }) => id) : []))
    expect(sent).toEqual([first.body.id])
    expect(await workspace.dump('runs')).toHaveLength(3)
  })

  it('counts each schedule and organization for itself', async () => {
    const worker = await newWorker(SKIPPING)
    const beside = await newWorker(SKIPPING, { workspace: worker.workspace })
    await worker.run()
    expect((await beside.run()).status).toBe('pending')
    expect((await beside.run()).status).toBe('skipped')
  })
})

describe('a schedule that fires once', () => {
  const runAt = new Date(START + 10 * MINUTE_MS).toISOString()

  async function once(settings: object = {}) {
    const worker = await newWorker()
    const { status } = await worker.put({ cron: undefined, timezone: undefined, runAt, ...settings })
    expect(status).toBe(200)
    return worker
  }

  it.each([
    { when: 'in time', minutes: 10 },
    { when: 'late', minutes: 17 },
    { when: 'days late', minutes: 5 * 1440 },
  ])('fires once, by ticks at once that are $when', async ({ minutes }) => {
    const { workspace, schedule, scheduleId, claimOne } = await once({ payload: { once: true } })
    const before = await schedule()
    expect(before).toMatchObject({ cron: null, runAt, nextRunAt: runAt, lastRunAt: null })
    advance(10 * MINUTE_MS - 1)
    await tickNow()
    expect(await workspace.dump('runs')).toEqual([])
    advance(minutes * MINUTE_MS - 10 * MINUTE_MS + 1)
    await Promise.all([tickNow(), tickNow(), tickNow()])
    advance(HOUR_MS)
    await Promise.all([tickNow(), tickNow()])
    const rows = await workspace.dump('runs')
    expect(rows).toMatchObject([{ scheduleId, scheduledAt: runAt, status: 'pending' }])
    expect(await workspace.dump('missedSpans')).toEqual([])
    expect(await schedule()).toEqual({ ...before, lastRunAt: runAt, nextRunAt: null })
    expect(await claimOne()).toMatchObject({ cron: null, runAt, scheduledAt: runAt, payload: { once: true } })
  })

  it('is finished when its only run was skipped', async () => {
    const { workspace, parentId, schedule } = await once()
    await workspace.archiveProject(parentId)
    advance(10 * MINUTE_MS)
    await tickNow()
    expect(await workspace.dump('runs')).toMatchObject([{ status: 'skipped', scheduledAt: runAt }])
    expect(await schedule()).toMatchObject({
      nextRunAt: null,
      lastRunAt: null,
      enabledAt: expect.any(String),
    })
  })

  it('fires again at another runAt, and not for the same', async () => {
    const { workspace, put, schedule } = await once()
    advance(10 * MINUTE_MS)
    await tickNow()
    const same = await put({ cron: undefined, timezone: undefined, runAt })
    expect(same.body).toMatchObject({ nextRunAt: null, lastRunAt: runAt })
    await tickNow()
    expect(await workspace.dump('runs')).toHaveLength(1)
    const next = inSeconds(600)
    expect((await put({ cron: undefined, timezone: undefined, runAt: next })).body.nextRunAt).toBe(next)
    advance(600_000)
    await Promise.all([tickNow(), tickNow()])
    expect((await workspace.dump('runs')).map(({ scheduledAt }) => scheduledAt).sort()).toEqual([runAt, next])
    expect(await schedule()).toMatchObject({ nextRunAt: null, lastRunAt: next })
  })

  it('does not fire while it is paused, and neither after its time has passed in the pause', async () => {
    const { workspace, patch, schedule } = await once()
    await patch({ enabled: false })
    advance(20 * MINUTE_MS)
    await tickNow()
    await patch({ enabled: true })
    await tickNow()
    expect(await workspace.dump('runs')).toEqual([])
    expect(await schedule()).toMatchObject({ runAt, nextRunAt: null, enabledAt: inSeconds(0) })
  })

  it('is not changed by the daily pass', async () => {
    const { schedule } = await once()
    const before = await schedule()
    await tickNow()
    expect(await schedule()).toEqual(before)
    advance(DAY_MS)
    await tickNow()
    advance(DAY_MS)
    await tickNow()
    expect(await schedule()).toEqual({ ...before, lastRunAt: runAt, nextRunAt: null })
  })
})

describe('failed runs in a row', () => {
  const GOES_ON = { enabledAt: expect.any(String), pausedReason: null }
  const pausedBecause = (pausedReason: string) => ({ enabledAt: null, nextRunAt: null, pausedReason })

  /** The ways in which a run ends. */
  const endings = {
    async delivery({ workspace, run }: Worker) {
      const { url } = await new Receiver().answers(503)
      const { id } = await run()
      await workspace.addRunEndpoint(url)
      const { organizationId } = workspace
      await workspace.changeRun(id, { attempts: 5 })
      await deliverBatch([{ runs: [{ organizationId, id, attempts: 5 }] }])
      await workspace.removeRunEndpoint()
    },
    async task({ run, complete }: Worker) {
      await complete((await run()).id, { outcome: 'failed', message: 'Tests failed.' })
    },
    async taskWithoutMessage({ run, complete }: Worker) {
      await complete((await run()).id, { outcome: 'failed' })
    },
    async timeout({ run, acknowledge }: Worker) {
      await acknowledge((await run()).id)
      advance(600_000)
      await tickNow()
    },
    async success({ run, complete }: Worker) {
      await complete((await run()).id)
    },
    /** In progress. */
    async active({ run, acknowledge }: Worker) {
      await acknowledge((await run()).id)
    },
    async pending({ run }: Worker) {
      await run()
    },
  }
  type Ending = keyof typeof endings
  const REASONS: Partial<Record<Ending, string>> = {
    delivery: '(delivery): HTTP 503',
    task: '(task): Tests failed.',
    taskWithoutMessage: '(task)',
    timeout: '(timeout): The run had no outcome within 600 seconds.',
  }

  async function end(worker: Worker, ...history: Ending[]) {
    for (const ending of history) await endings[ending](worker)
  }

  it.each<Ending[]>([['delivery'], ['task'], ['taskWithoutMessage'], ['timeout']])(
    'pause the schedule, with its last failure: %s',
    async (ending) => {
      const worker = await newWorker({ maxRunSeconds: 600, pauseAfterFailures: 3 })
      const before = await worker.schedule()
      await end(worker, ending, ending)
      expect(await worker.schedule()).toMatchObject(GOES_ON)
      await end(worker, ending)
      const reason = `3 runs in a row failed. The last failure ${REASONS[ending]}`
      const { lastRunAt, updatedAt, ...after } = await worker.schedule()
      expect(after).toEqual({
        ...before,
        ...pausedBecause(reason),
        lastRunAt: undefined,
        updatedAt: undefined,
      })
      expect([typeof lastRunAt, updatedAt]).toEqual(['string', inSeconds(0)])
    },
  )

  it.each<[Ending[], number, boolean]>([
    [['delivery', 'task', 'timeout'], 3, true],
    [['timeout', 'delivery', 'task'], 3, true],
    [['task', 'timeout', 'delivery'], 3, true],
    [['success', 'task', 'delivery', 'task'], 3, true],
    [['task', 'delivery', 'success', 'timeout', 'task'], 3, false],
    [['task', 'task', 'success'], 3, false],
    [['task', 'active', 'task', 'pending', 'delivery'], 3, true],
    [['task', 'active', 'active', 'task'], 3, false],
    [['task'], 1, true],
    [['success', 'success', 'timeout'], 1, true],
    [['task', 'task'], 2, true],
  ])('%j with the limit %i: %s', async (history, pauseAfterFailures, isPaused) => {
    const worker = await newWorker({ maxRunSeconds: 600, pauseAfterFailures })
    await end(worker, ...history)
    const { pausedReason, enabledAt } = await worker.schedule()
    expect([enabledAt === null, pausedReason !== null]).toEqual([isPaused, isPaused])
    if (!isPaused) return
    const rule = pauseAfterFailures === 1 ? 'A run failed.' : `${pauseAfterFailures} runs in a row failed.`
    expect(pausedReason).toBe(`${rule} The last failure ${REASONS[history.at(-1) ?? 'task']}`)
  })

  it('count a run that was delivered before there were maxRunSeconds as a success', async () => {
    const worker = await newWorker({ pauseAfterFailures: 3 })
    await end(worker, 'task', 'active', 'task', 'active')
    await worker.patch({ maxRunSeconds: 60 })
    await end(worker, 'task')
    expect(await worker.schedule()).toMatchObject(GOES_ON)
  })

  it('are counted with few rows read, however many there are', async () => {
    const { workspace, scheduleId, run, key } = await newWorker({ pauseAfterFailures: 100 })
    const { id } = await run()
    await workspace.changeRun(id, { status: 'failed', failure: 'task', finishedAt: inSeconds(0) })
    await env.DB.prepare(
      `INSERT INTO runs (organizationId, scheduleId, scheduledAt, id, parentType, parentId, status, failure, attempts, createdAt, updatedAt)
       WITH RECURSIVE "each"(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "each" WHERE i < 900)
       SELECT organizationId, scheduleId, strftime('%Y-%m-%dT%H:%M:%fZ', scheduledAt, (-i) || ' seconds'), printf('00000000-0000-8000-8000-%012x', i),
         parentType, parentId, status, failure, attempts, createdAt, updatedAt FROM runs, "each" WHERE id = ?`,
    )
      .bind(id)
      .run()
    await workspace.change(schedules, scheduleId, { enabledAt: inSeconds(-HOUR_MS / 1000) })
    const last = await run()
    const use = watchedDatabase()
    const environment = { DB: use.DB }
    await request('POST', `/v1/runs/${last.id}/complete`, { key, json: { outcome: 'failed' }, environment })
    expect(use.rowsRead).toBeLessThan(500)
    expect(await workspace.dump('schedules')).toMatchObject([{ enabledAt: null }])
  })

  it('without maxRunSeconds, a delivered run counts as a success', async () => {
    const worker = await newWorker({ pauseAfterFailures: 2 })
    await end(worker, 'task', 'active', 'task')
    expect(await worker.schedule()).toMatchObject(GOES_ON)
    await end(worker, 'task')
    expect((await worker.schedule()).pausedReason).toMatch(/^2 runs in a row failed\./)
  })

  it('are 20 by default and 100 at most', async () => {
    for (const [settings, limit] of [
      [{}, 20],
      [{ pauseAfterFailures: 100 }, 100],
    ] as const) {
      const worker = await newWorker(settings)
      for (let count = 1; count < limit; count++) await end(worker, 'task')
      expect(await worker.schedule()).toMatchObject(GOES_ON)
      await end(worker, 'task')
      const reason = `${limit} runs in a row failed. The last failure (task): Tests failed.`
      expect(await worker.schedule()).toMatchObject(pausedBecause(reason))
    }
  })

  it('are in the order of the instants', async () => {
    const worker = await newWorker({ pauseAfterFailures: 2 })
    const ids = []
    for (let count = 0; count < 3; count++) ids.push((await worker.run()).id)
    await worker.complete(ids[2])
    await worker.complete(ids[0], { outcome: 'failed' })
    await worker.complete(ids[1], { outcome: 'failed' })
    expect(await worker.schedule()).toMatchObject(GOES_ON)
  })

  it('count from zero after a resume, by PATCH and not by PUT', async () => {
    const settings = { maxRunSeconds: 600, pauseAfterFailures: 2 }
    const worker = await newWorker(settings)
    await end(worker, 'task', 'timeout')
    const paused = await worker.schedule()
    expect(paused.enabledAt).toBeNull()
    expect((await worker.put(settings)).body).toMatchObject({
      enabledAt: null,
      pausedReason: paused.pausedReason,
    })
    advance(1000)
    expect((await worker.patch({ enabled: true })).body).toMatchObject(GOES_ON)
    await end(worker, 'task')
    expect(await worker.schedule()).toMatchObject(GOES_ON)
    await end(worker, 'task')
    expect((await worker.schedule()).pausedReason).toBe(
      '2 runs in a row failed. The last failure (task): Tests failed.',
    )
  })

  it('that repeat an outcome do not pause a schedule that was resumed since', async () => {
    const worker = await newWorker({ pauseAfterFailures: 1 })
    const { id } = await worker.run()
    await worker.complete(id, { outcome: 'failed' })
    expect((await worker.schedule()).pausedReason).toBe('A run failed. The last failure (task)')
    advance(1000)
    const { body } = await worker.patch({ enabled: true })
    expect((await worker.complete(id, { outcome: 'failed' })).status).toBe(200)
    const { statistics: _, ...after } = (await request('GET', worker.path, { key: worker.key })).body
    expect(after).toEqual(body)
  })

  it('that repeat an outcome do not pause a schedule whose limit was lowered since', async () => {
    const worker = await newWorker({ pauseAfterFailures: 2 })
    const { id } = await worker.run()
    await worker.complete(id, { outcome: 'failed' })
    advance(1000)
    await worker.patch({ pauseAfterFailures: 1 })
    expect((await worker.complete(id, { outcome: 'failed' })).status).toBe(200)
    expect(await worker.schedule()).toMatchObject(GOES_ON)
    await end(worker, 'task')
    expect((await worker.schedule()).enabledAt).toBeNull()
  })

  it('do not pause a schedule that a request paused, and runs go on while it is paused', async () => {
    const worker = await newWorker({ pauseAfterFailures: 1 })
    await worker.patch({ enabled: false })
    await end(worker, 'task')
    expect(await worker.schedule()).toMatchObject({ enabledAt: null, pausedReason: null })
    await end(worker, 'task', 'success')
    expect(await worker.schedule()).toMatchObject({ enabledAt: null, pausedReason: null })
  })

  it('of one schedule pause no other', async () => {
    const worker = await newWorker({ pauseAfterFailures: 1 })
    const beside = await newWorker({ pauseAfterFailures: 1 }, { workspace: worker.workspace, parentType: 'agent' })
    await end(worker, 'task')
    expect(await beside.schedule()).toMatchObject(GOES_ON)
    await end(beside, 'timeout', 'task')
    expect((await beside.schedule()).pausedReason).toBe('A run failed. The last failure (task): Tests failed.')
  })
})

describe('a response with an outcome', () => {
  it.each<[string, string, object]>([
    ['succeeded', '{"outcome":"succeeded"}', {}],
    ['succeeded', '{"outcome":"succeeded","message":"Built 14 pages."}', { message: 'Built 14 pages.' }],
    ['succeeded', '{"outcome":"succeeded","message":null,"sessionId":null}', {}],
    ['failed', ' {"outcome":"failed","message":"Tests failed."}\n', { message: 'Tests failed.', failure: 'task' }],
  ])('finishes the run: %s, %s', async (status, body, expected) => {
    const { run, deliver, read, row } = await withReceiver({ maxRunSeconds: 60 }, { body })
    const before = await run()
    advance(1000)
    await deliver(before.id)
    expect(await read(before.id)).toEqual({
      ...before,
      status,
      attempts: 1,
      lastAttempts: [{ startedAt: inSeconds(0), status: 200, milliseconds: 0, error: null }],
      startedAt: inSeconds(0),
      finishedAt: inSeconds(0),
      updatedAt: inSeconds(0),
      ...expected,
    })
    expect((await row(before.id))?.checkAt).toBeNull()
    advance(HOUR_MS)
    await tickNow()
    expect((await read(before.id)).status).toBe(status)
  })

  it('may name a session of the organization', async () => {
    const workspace = await Workspace.create()
    const sessionId = await workspace.addSession(await workspace.addProject())
    const elsewhere = await Workspace.create()
    const theirs = await elsewhere.addSession(await elsewhere.addProject())
    const gone = await workspace.addProject()
    const ofDeletedProject = await workspace.addSession(gone)
    await workspace.delete('project', gone)
    const IGNORED = 'The sessionId in the response was ignored: there is no such session.'
    for (const [named, stored, lastError] of [
      [sessionId, sessionId, null],
      [sessionId.toUpperCase(), sessionId, null],
      [newUuid(), null, IGNORED],
      [theirs, null, IGNORED],
      [ofDeletedProject, null, IGNORED],
    ]) {
      const body = JSON.stringify({ outcome: 'succeeded', sessionId: named, message: 'Done' })
      const receiver = await new Receiver().answers({ body })
      await workspace.addRunEndpoint(receiver.url)
      const { run, row, read } = await newWorker({}, { workspace })
      const { id } = await run()
      const { organizationId } = workspace
      await deliverBatch([{ runs: [{ organizationId, id, attempts: 0 }] }])
      await expect.poll(async () => (await row(id))?.status).toBe('succeeded')
      expect(await read(id)).toMatchObject({ sessionId: stored, lastError, message: 'Done', attempts: 1 })
    }
  })

  it.each<[string, string]>([
    ['another outcome', '{"outcome":"done"}'],
    ['an outcome that is null', '{"outcome":null}'],
    ['a message that is too long', JSON.stringify({ outcome: 'failed', message: 'x'.repeat(1001) })],
    ['a message that is empty', '{"outcome":"failed","message":""}'],
    ['a session that is no UUID', '{"outcome":"succeeded","sessionId":"x"}'],
    ['an unknown property', '{"outcome":"succeeded","claimId":"7a0c6f1e-4b3d-4c55-9f0e-2d8b1c7e5a90"}'],
  ])('is ignored and described if it has %s', async (_, body) => {
    const { run, deliver, read } = await withReceiver({}, { body })
    const { id } = await run()
    await deliver(id)
    const { status, failure, message, sessionId, finishedAt, lastError } = await read(id)
    expect([status, failure, message, sessionId, finishedAt]).toEqual(['delivered', null, null, null, null])
    expect(lastError).toMatch(/^The outcome in the response was ignored: .+/)
    expect(lastError.length).toBeLessThan(500)
  })

  it.each<[string, Answer]>([
    ['other JSON', { body: '{"ok":true,"status":"succeeded"}' }],
    ['JSON that is no object', { body: '["outcome"]' }],
    ['JSON that is a string', { body: '"outcome"' }],
    ['null', { body: 'null' }],
    ['no JSON', { body: 'outcome: succeeded' }],
    ['half of the JSON', { body: '{"outcome":"succeeded"' }],
    ['no body', { body: '' }],
    ['an outcome in more than 16 KiB', { body: `${' '.repeat(16 * 1024)}{"outcome":"succeeded"}` }],
    ['a body of several MiB', { body: 'x'.repeat(3 * 2 ** 20) }],
    ['a body that never ends', { body: '{"outcome":"succeeded"}', isEndless: true }],
    ['202 and an outcome', { body: '{"outcome":"failed"}', status: 202 }],
    ['201 and an outcome', { body: '{"outcome":"failed"}', status: 201 }],
    ['204', 204],
  ])('is none: %s', async (_, answer) => {
    const { run, deliver, read } = await withReceiver({ maxRunSeconds: 60 }, answer)
    // The time limit, which test/resources/work/delivery/delivery.test.ts waits for, ends a tenth as late.
    const timeout = AbortSignal.timeout
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 10))
    const before = await run()
    await deliver(before.id)
    expect(await read(before.id)).toEqual({
      ...before,
      status: 'delivered',
      attempts: 1,
      lastAttempts: [{ startedAt: inSeconds(0), status: expect.any(Number), milliseconds: 0, error: null }],
      startedAt: inSeconds(0),
      updatedAt: inSeconds(0),
    })
  })

  it.each(['{"outcome":"succeeded"}', '{"outcome":"failed"}'])(
    'finishes a run that was acknowledged while it was sent, but not one that was claimed: %s',
    async (body) => {
      for (const claimId of [null, newUuid()]) {
        const { run, deliver, read, acknowledge, workspace } = await withReceiver({}, { body })
        const { id } = await run()
        const DB = interruptedDatabase(async () => {
          await acknowledge(id)
          if (claimId) await workspace.changeRun(id, { claimId, checkAt: inSeconds(60) })
        })
        await deliver(id, { DB })
        const status = claimId ? 'delivered' : JSON.parse(body).outcome
        expect(await read(id)).toMatchObject({ status, attempts: 1 })
      }
    },
  )

  it('of exactly 16 KiB counts', async () => {
    const outcome = '{"outcome":"succeeded"}'
    const { run, deliver, read } = await withReceiver({}, { body: outcome.padStart(16 * 1024) })
    const { id } = await run()
    await deliver(id)
    expect((await read(id)).status).toBe('succeeded')
  })

  it('of another status is none: the run is sent again', async () => {
    const { run, deliver, read } = await withReceiver({}, { body: '{"outcome":"succeeded"}', status: 500 })
    const { id } = await run()
    await deliver(id)
    expect(await read(id)).toMatchObject({ status: 'pending', lastError: 'HTTP 500', message: null })
  })

  it('pauses the schedule after failures in a row', async () => {
    const body = '{"outcome":"failed","message":"Tests failed."}'
    const { run, deliver, schedule } = await withReceiver({ pauseAfterFailures: 2 }, { body })
    for (const reason of [null, '2 runs in a row failed. The last failure (task): Tests failed.']) {
      await deliver((await run()).id)
      expect((await schedule()).pausedReason).toBe(reason)
    }
  })

  it('clears the error of an earlier attempt', async () => {
    const { run, deliver, read } = await withReceiver({}, 503, { body: '{"outcome":"succeeded"}' })
    const { id } = await run()
    await deliver(id)
    expect((await read(id)).lastError).toBe('HTTP 503')
    await deliver(id)
    expect(await read(id)).toMatchObject({ status: 'succeeded', attempts: 2, lastError: null })
  })

  it('stands: the receiver cannot complete the run with another', async () => {
    const { run, deliver, complete, read } = await withReceiver({}, { body: '{"outcome":"succeeded","message":"A"}' })
    const { id } = await run()
    await deliver(id)
    expect((await complete(id, { message: 'B' })).body.message).toBe('A')
    expect(refusalOf(await complete(id, { outcome: 'failed' }))).toEqual([409, 'run_finished'])
    expect((await read(id)).status).toBe('succeeded')
  })
})

describe('a signed delivery', () => {
  it('has the work of the schedule, the attempt and the previous outcome', async () => {
    const settings = { name: 'Nightly build', payload: { branch: 'main', note: 'ä 😀 \u2028' } }
    const { workspace, run, deliver, complete, receiver, secret, parentId, scheduleId } = await withReceiver(
      settings,
      202,
      500,
      202,
    )
    const first = await run()
    await deliver(first.id)
    const sessionId = await workspace.addSession(parentId)
    await complete(first.id, { outcome: 'failed', message: 'Tests failed.', sessionId })
    const second = await run()
    await deliver(second.id)
    await deliver(second.id)
    const messages = (await receiver.received()).map(({ body, headers }) =>
      new Webhook(secret).verify(body, { ...headers } as Record<string, string>),
    )
    const data = (run: { id: string; scheduledAt: string }, attempt: number, previous: object | null) => ({
      type: 'schedule.run',
      timestamp: run.scheduledAt,
      data: {
        id: run.id,
        scheduleId,
        name: 'Nightly build',
        projectId: parentId,
        agentId: null,
        cron: '0 0 29 2 *',
        runAt: null,
        timezone: 'UTC',
        scheduledAt: run.scheduledAt,
        payload: settings.payload,
        attempt,
        previous,
      },
    })
    const { id, scheduledAt } = first
    const previous = {
      id,
      scheduledAt,
      status: 'failed',
      failure: 'task',
      message: 'Tests failed.',
      sessionId,
    }
    expect(messages).toEqual([data(first, 1, null), data(second, 1, previous), data(second, 2, previous)])
  })

  it.each([null, false, 0, '', [], {}, 'x'.repeat(16 * 1024 - 2), [1.5, { a: [null] }]])(
    'has the payload as it was stored: %j',
    async (payload) => {
      const { run, deliver, receiver } = await withReceiver({ payload }, 200)
      await deliver((await run()).id)
      expect(JSON.parse(String((await receiver.received())[0]?.body)).data.payload).toEqual(payload)
    },
  )

  it('jumps over skipped runs for the previous one', async () => {
    const { run, deliver, receiver, acknowledge } = await withReceiver(SKIPPING, 202)
    const first = await run()
    await acknowledge(first.id)
    for (let count = 0; count < 5; count++) expect((await run()).status).toBe('skipped')
    advance(HOUR_MS)
    await deliver((await run()).id)
    const { data } = JSON.parse(String((await receiver.received())[0]?.body))
    expect(data.previous).toMatchObject({ id: first.id, status: 'delivered', failure: null })
  })
})

describe('from due to delivered, a run writes rows:', () => {
  it.each<[string, object, Answer, number]>([
    ['seven, with a receiver that accepts it', {}, 202, 7],
    ['seven, with an outcome in the response', {}, { body: '{"outcome":"succeeded","message":"Done"}' }, 7],
    // The event of the failure.
    ['eight, with a failure in the response', {}, { body: '{"outcome":"failed"}' }, 8],
    // The entry of its deadline in an index.
    ['eight, with `maxRunSeconds`', { maxRunSeconds: 600 }, 202, 8],
  ])('%s', async (_, settings, answer, rows) => {
    const { workspace, scheduleId, read } = await withReceiver({ payload: { a: 1 }, ...settings }, answer)
    await tickNow()
    advance(MINUTE_MS)
    await workspace.change(schedules, scheduleId, { nextRunAt: inSeconds(0) })
    const { environment, messages } = newOutbox()
    // A tick also records that it ran.
    const written = async (act: (DB: D1Database) => Promise<unknown>) => {
      const use = watchedDatabase()
      await act(use.DB)
      return use.rowsWritten
    }
    const idle = await written((DB) => tick({ ...environment, DB }, new Date(Date.now() - 1)))
    const fired = await written((DB) => tick({ ...environment, DB }, new Date()))
    const delivered = await written((DB) => deliverBatch(messages, { DB }))
    expect(fired - idle + delivered).toBe(rows)
    const [run] = await workspace.dump('runs')
    expect((await read(String(run?.id))).status).not.toBe('pending')
  })
})
