import { describe, expect, it, vi } from 'vitest'
import { apiKeys, schedules } from '../../../../src/db/schema.ts'
import { request } from '../../../support/api.ts'
import { interruptedDatabase, watchedDatabase } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { deliverBatch, newOutbox } from '../../../support/queue.ts'
import { type Answer, Receiver } from '../../../support/receiver.ts'
import { advance, HOUR_MS, inSeconds, MINUTE_MS, newWorker, refusalOf, stopClocks } from '../../../support/runs.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const SKIPPING = { overlap: 'skip', maxRunSeconds: 600 }
const PENDING = { status: 'pending', failure: null, attempts: 0, startedAt: null, finishedAt: null }

stopClocks()

/** An organization with a run endpoint that gives these answers, a schedule, and a queue of its own. */
async function withReceiver(settings: object, ...answers: Answer[]) {
  const workspace = await Workspace.create()
  const receiver = await new Receiver().answers(...answers)
  await workspace.addRunEndpoint(receiver.url)
  const worker = await newWorker(settings, { workspace })
  const outbox = newOutbox()
  const { DELIVERIES, SLOW_DELIVERIES } = outbox.environment
  const environment = { DELIVERIES, SLOW_DELIVERIES }
  const send = (path: string, more: object = {}) =>
    request('POST', path, { key: worker.key, environment: { ...environment, ...more } })
  /** Creates a run, which the queue has then. */
  const run = async () => {
    advance(1000)
    return (await send(`${worker.path}/runs`)).body
  }
  const redeliver = (runId: string, more: object = {}) => send(`/v1/runs/${runId}/redeliver`, more)
  const tickNow = () => tick({ ...env, ...environment }, new Date())
  /** Lets all six attempts fail. */
  const failDelivery = async (runId: string) => {
    for (let attempt = 1; attempt <= 6; attempt++) {
      await outbox.deliver()
      advance(4 * HOUR_MS)
      if (attempt < 6) await tickNow()
    }
    expect(await worker.read(runId)).toMatchObject({ status: 'failed', failure: 'delivery', attempts: 6 })
  }
  const idsSent = async () => (await receiver.received()).map(({ headers }) => headers['webhook-id'])
  return { ...worker, receiver, outbox, run, redeliver, tickNow, failDelivery, idsSent }
}

/** The status and the error of each attempt, the latest first. */
const attemptsOf = (run: { lastAttempts: { status: number | null; error: string | null }[] }) =>
  run.lastAttempts.map(({ status, error }) => [status, error])

describe('the attempts of a run', () => {
  it('are shown, the latest first, up to six, with the time of the next', async () => {
    const answers: Answer[] = [503, 302, 404, 429, 500, 599]
    const { run, outbox, read, tickNow, receiver } = await withReceiver({ name: 'Nightly build' }, ...answers)
    const created = await run()
    expect(created).toMatchObject({ scheduleName: 'Nightly build', lastAttempts: [], nextAttemptAt: null })
    const expected: unknown[] = []
    for (const [index, [status, error]] of [
      [503, 'HTTP 503'],
      [302, 'HTTP 302: redirects are not followed'],
      [404, 'HTTP 404'],
      [429, 'HTTP 429'],
      [500, 'HTTP 500'],
      [599, 'HTTP 599'],
    ].entries()) {
      const startedAt = inSeconds(0)
      await outbox.deliver()
      expected.unshift({ startedAt, status, milliseconds: expect.any(Number), error })
      const isLast = index === answers.length - 1
      const shown = await read(created.id)
      expect(shown).toMatchObject({ lastAttempts: expected, lastError: error })
      const seconds = [60, 300, 900, 3600, 10_800][index] ?? 0
      if (isLast) expect(shown.nextAttemptAt).toBeNull()
      else
        expect(shown.nextAttemptAt >= inSeconds(seconds) && shown.nextAttemptAt <= inSeconds(seconds * 1.2)).toBe(true)
      advance(seconds * 1200)
      await tickNow()
      // It is in the queue, and not sent "in 15 minutes".
      expect((await read(created.id)).nextAttemptAt).toBeNull()
    }
    expect(await receiver.received()).toHaveLength(6)
    expect(await read(created.id)).toMatchObject({ status: 'failed', failure: 'delivery', attempts: 6 })
  })

  it('of which there are more than six are the last six', async () => {
    const { run, failDelivery, redeliver, outbox, read } = await withReceiver({}, 500, 501, 502, 503, 504, 505, 202)
    const { id } = await run()
    await failDelivery(id)
    const { body } = await redeliver(id)
    expect(attemptsOf(body).map(([status]) => status)).toEqual([505, 504, 503, 502, 501, 500])
    await outbox.deliver()
    expect(attemptsOf(await read(id)).map(([status]) => status)).toEqual([202, 505, 504, 503, 502, 501])
  })

  it('have one that was not sent, with the reason', async () => {
    const { run, outbox, workspace, read } = await withReceiver({}, 200)
    await workspace.addRunEndpoint('http://localhost:8788/runs')
    const { id } = await run()
    await outbox.deliver()
    const error = expect.stringMatching(/^The URL of the run endpoint does not begin with https/)
    expect((await read(id)).lastAttempts).toEqual([{ startedAt: inSeconds(0), status: null, milliseconds: 0, error }])
  })

  it('have that of a run that was finished meanwhile', async () => {
    const { run, complete, read, outbox, receiver } = await withReceiver({}, 503)
    const { id } = await run()
    const [message] = outbox.messages
    const DB = interruptedDatabase(() => complete(id))
    await deliverBatch(message ? [message] : [], { DB })
    expect(await receiver.received()).toHaveLength(1)
    const finished = await read(id)
    expect(finished).toMatchObject({ status: 'succeeded', attempts: 1, lastError: null, nextAttemptAt: null })
    expect(attemptsOf(finished)).toEqual([[503, 'HTTP 503']])
  })

  it('have no next one while the run waits for a worker', async () => {
    const { run, outbox, read, workspace, tickNow, claimOne } = await withReceiver({}, 500)
    const { id } = await run()
    await outbox.deliver()
    await workspace.removeRunEndpoint()
    expect((await read(id)).nextAttemptAt).not.toBeNull()
    advance(2 * MINUTE_MS)
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'pending', nextAttemptAt: null })
    await claimOne()
    expect(await read(id)).toMatchObject({ status: 'delivered', nextAttemptAt: null })
  })

  it.each(['acknowledge', 'complete'] as const)('have no next one after %s', async (operation) => {
    const worker = await withReceiver({}, 500)
    const { id } = await worker.run()
    await worker.outbox.deliver()
    expect((await worker.read(id)).nextAttemptAt).not.toBeNull()
    expect((await worker[operation](id)).body).toMatchObject({ nextAttemptAt: null })
  })
})

describe('the claim of a run', () => {
  it('says who holds it, under the name at that time, and until when', async () => {
    const { workspace, run, claimOne, renew, complete, read, key } = await newWorker()
    const { id } = await run()
    const worker = await workspace.addKeyWithId({})
    const claimed = (await request('POST', '/v1/runs/claim', { key: worker.token, json: { leaseSeconds: 60 } })).body
    expect(claimed.items).toHaveLength(1)
    const [{ claimId }] = claimed.items
    const claim = { apiKeyId: worker.id, apiKeyName: 'test', leaseExpiresAt: inSeconds(60) }
    expect((await read(id)).claim).toEqual(claim)
    expect((await request('GET', '/v1/runs?status=delivered', { key })).body.items[0].claim).toEqual(claim)
    await workspace.change(apiKeys, worker.id, { name: 'renamed' })
    advance(30_000)
    await renew(id, { claimId, leaseSeconds: 300 })
    expect((await read(id)).claim).toEqual({ ...claim, leaseExpiresAt: inSeconds(300) })
    expect((await complete(id, { claimId })).body.claim).toBeNull()
    await run()
    await claimOne()
    expect((await read(id)).claim).toBeNull()
  })

  it('is null again when it has ended', async () => {
    const { run, claimOne, read } = await newWorker()
    const { id } = await run()
    await claimOne()
    advance(MINUTE_MS)
    await tick(newOutbox().environment, new Date())
    expect(await read(id)).toMatchObject({ status: 'pending', claim: null })
  })
})

describe('redelivering a run', () => {
  it('sends it again under its ID after all attempts have failed, with new attempts', async () => {
    const setup = await withReceiver({}, 500, 500, 500, 500, 500, 500, 503, 202)
    const { workspace, run, redeliver, failDelivery, outbox, read, row, idsSent, tickNow, receiver } = setup
    const { id } = await run()
    await failDelivery(id)
    const failed = await read(id)
    const { status, body } = await redeliver(id)
    expect([status, body]).toEqual([200, { ...failed, ...PENDING, updatedAt: inSeconds(0) }])
    expect(await read(id)).toEqual(body)
    await outbox.deliver()
    const retried = await read(id)
    expect(retried).toMatchObject({ status: 'pending', attempts: 1, lastError: 'HTTP 503' })
    expect(retried.nextAttemptAt <= inSeconds(72)).toBe(true)
    advance(2 * MINUTE_MS)
    await tickNow()
    await outbox.deliver()
    expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 2, lastError: null, startedAt: inSeconds(0) })
    expect(await idsSent()).toEqual(Array.from({ length: 8 }, () => id))
    const sent = (await receiver.received()).map((message) => JSON.parse(message.body).data.attempt)
    expect(sent).toEqual([1, 2, 3, 4, 5, 6, 1, 2])
    expect((await row(id))?.checkAt).toBeNull()
    const events = (await workspace.dump('auditEvents')).filter(({ type }) => type === 'run.redelivered')
    expect(events).toMatchObject([{ resourceId: id }])
  })

  it('sends a run again that was delivered and has no outcome', async () => {
    const { run, redeliver, outbox, read, row, idsSent } = await withReceiver({ maxRunSeconds: 600 }, 202)
    const { id } = await run()
    await outbox.deliver()
    advance(MINUTE_MS)
    expect((await redeliver(id)).body).toMatchObject({ ...PENDING, id })
    await outbox.deliver()
    expect(await idsSent()).toEqual([id, id])
    expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1, startedAt: inSeconds(0) })
    // Its time begins with the second delivery.
    expect((await row(id))?.checkAt).toBe(inSeconds(600))
  })

  it('sends a pending run at once that waits for its retry, and one that waited to be pulled', async () => {
    const { workspace, key, receiver, run, redeliver, outbox, read, idsSent, claim } = await withReceiver({}, 500, 202)
    const { id } = await run()
    await outbox.deliver()
    expect((await redeliver(id)).body).toMatchObject({ ...PENDING, nextAttemptAt: null })
    await outbox.deliver()
    expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1 })

    await workspace.removeRunEndpoint()
    const waiting = await run()
    expect(outbox.messages.splice(0)).toHaveLength(1)
    // It is newer than the run, which only a redelivery sends to it.
    advance(1000)
    const json = { url: receiver.url }
    expect((await request('PUT', '/v1/run-endpoint', { key, json })).status).toBe(201)
    expect((await redeliver(waiting.id)).status).toBe(200)
    expect((await claim()).body.items).toEqual([])
    await outbox.deliver()
    expect(await idsSent()).toEqual([id, id, waiting.id])
    expect((await read(waiting.id)).status).toBe('delivered')
  })

  it('is made up for by the tick if the request dies before the queue has it', async () => {
    const { run, redeliver, failDelivery, outbox, tickNow, idsSent, read } = await withReceiver({}, 500)
    const { id } = await run()
    await failDelivery(id)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const sendBatch = () => Promise.reject(new Error('The queue is gone'))
    const { status } = await redeliver(id, { DELIVERIES: { sendBatch } })
    expect([status, outbox.messages]).toEqual([200, []])
    advance(5 * MINUTE_MS - 1)
    await tickNow()
    expect(outbox.messages).toEqual([])
    advance(1)
    await tickNow()
    await outbox.deliver()
    expect(await idsSent()).toHaveLength(7)
    expect(await read(id)).toMatchObject({ status: 'pending', attempts: 1 })
  })

  it('needs a run endpoint', async () => {
    const { run, redeliver, workspace, read } = await withReceiver({}, 500)
    const before = await run()
    await workspace.removeRunEndpoint()
    expect(refusalOf(await redeliver(before.id))).toEqual([404, 'run_endpoint_not_found'])
    expect(await read(before.id)).toEqual(before)
  })

  it('is refused while a worker holds the run, and takes it from a worker whose claim has ended', async () => {
    const { workspace, receiver, run, redeliver, outbox, claimOne, complete, read, tickNow } = await withReceiver(
      {},
      202,
    )
    await workspace.removeRunEndpoint()
    const { id } = await run()
    outbox.messages.splice(0)
    const { claimId } = await claimOne()
    await workspace.addRunEndpoint(receiver.url)
    const claimed = await read(id)
    expect(refusalOf(await redeliver(id))).toEqual([409, 'run_not_pending'])
    expect(await read(id)).toEqual(claimed)
    advance(MINUTE_MS)
    await tickNow()
    expect(await redeliver(id)).toMatchObject({ status: 200, body: { ...PENDING, claim: null } })
    expect(refusalOf(await complete(id, { claimId }))).toEqual([409, 'claim_mismatch'])
    await outbox.deliver()
    expect(await read(id)).toMatchObject({ status: 'delivered', claim: null })
  })

  it.each(['succeeded', 'failed'])('is refused after the outcome "%s"', async (outcome) => {
    const { run, redeliver, complete, read } = await withReceiver({}, 202)
    const { id } = await run()
    await complete(id, { outcome })
    const finished = await read(id)
    expect(refusalOf(await redeliver(id))).toEqual([409, 'run_finished'])
    expect(await read(id)).toEqual(finished)
  })

  it('is refused for a skipped run, and when the time of the run is over, before and after the tick', async () => {
    const { run, redeliver, outbox, tickNow, read } = await withReceiver(SKIPPING, 202)
    const { id } = await run()
    const skipped = await run()
    expect(skipped.status).toBe('skipped')
    expect(refusalOf(await redeliver(skipped.id))).toEqual([409, 'run_finished'])
    await outbox.deliver()
    advance(600_000 - 1)
    expect((await read(id)).status).toBe('delivered')
    advance(1)
    expect(refusalOf(await redeliver(id))).toEqual([409, 'run_finished'])
    await tickNow()
    expect(await read(id)).toMatchObject({ status: 'failed', failure: 'timeout' })
    expect(refusalOf(await redeliver(id))).toEqual([409, 'run_finished'])
  })

  it('is refused if runs may not overlap and a later one exists, whatever became of that', async () => {
    const { run, redeliver, failDelivery, complete, read, put } = await withReceiver(SKIPPING, 500)
    const { id } = await run()
    await failDelivery(id)
    const later = await run()
    expect(later.status).toBe('pending')
    await complete(later.id)
    const before = await read(id)
    expect(refusalOf(await redeliver(id))).toEqual([409, 'run_finished'])
    expect(await read(id)).toEqual(before)
    await put({ overlap: 'allow' })
    expect((await redeliver(id)).status).toBe(200)
  })

  it('keeps the next run of such a schedule waiting, so that one is unfinished at a time', async () => {
    const { run, redeliver, failDelivery } = await withReceiver(SKIPPING, 500)
    const { id } = await run()
    await failDelivery(id)
    expect((await redeliver(id)).status).toBe(200)
    expect((await run()).status).toBe('skipped')
  })

  it('works while the parent is archived, and does not resume a schedule that its failure paused', async () => {
    const setup = await withReceiver({ pauseAfterFailures: 1 }, 500, 500, 500, 500, 500, 500, 202)
    const { workspace, parentId, scheduleId, run, redeliver, failDelivery, outbox, read, schedule } = setup
    await workspace.change(schedules, scheduleId, { enabledAt: inSeconds(0) })
    const { id } = await run()
    await failDelivery(id)
    await workspace.archiveProject(parentId)
    expect((await redeliver(id)).status).toBe(200)
    await outbox.deliver()
    expect((await read(id)).status).toBe('delivered')
    expect((await schedule()).enabledAt).toBeNull()
  })

  it('reads a few rows and writes the run with its index', async () => {
    const { run, key, redeliver } = await withReceiver({}, 202)
    const { id } = await run()
    await request('GET', `/v1/runs/${id}`, { key })
    const use = watchedDatabase()
    await redeliver(id, { DB: use.DB })
    expect(use.calls).toBe(1)
    expect(use.rowsRead).toBeLessThan(40)
  })
})

describe('redelivering at the same time', () => {
  it('as another redelivery leaves one pending run, which arrives', async () => {
    const { run, redeliver, failDelivery, outbox, read, idsSent, workspace } = await withReceiver(
      {},
      ...[500, 500, 500, 500, 500, 500, 202],
    )
    const { id } = await run()
    await failDelivery(id)
    const answers = await Promise.all([redeliver(id), redeliver(id)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await workspace.dump('runs')).toHaveLength(1)
    await outbox.deliver()
    expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1 })
    // The second message finds that the run was delivered.
    expect(await idsSent()).toHaveLength(7)
  })

  it('as a claim leaves the run to one of them', async () => {
    for (let round = 0; round < 5; round++) {
      const { workspace, receiver, run, redeliver, outbox, claim, read, idsSent } = await withReceiver({}, 202)
      await workspace.removeRunEndpoint()
      const { id } = await run()
      outbox.messages.splice(0)
      await workspace.addRunEndpoint(receiver.url)
      const both = round % 2 ? [redeliver(id), claim()] : [claim(), redeliver(id)]
      const answers = await Promise.all(both)
      const [redelivered, claimed] = round % 2 ? answers : answers.toReversed()
      const isClaimed = claimed?.body.items.length === 1
      expect(redelivered && refusalOf(redelivered)).toEqual(isClaimed ? [409, 'run_not_pending'] : [200, null])
      await outbox.deliver()
      expect(await idsSent()).toHaveLength(isClaimed ? 0 : 1)
      expect((await read(id)).claim === null).toBe(!isClaimed)
    }
  })

  it('as an outcome leaves the outcome', async () => {
    const { run, redeliver, complete, outbox, read } = await withReceiver({}, 202)
    const { id } = await run()
    await outbox.deliver()
    await Promise.all([redeliver(id), complete(id)])
    await outbox.deliver()
    expect(await read(id)).toMatchObject({ status: 'succeeded' })
  })

  it('as the last attempt: its failure does not end the run that was sent again', async () => {
    const { run, redeliver, outbox, tickNow, read, idsSent } = await withReceiver(
      {},
      ...[500, 500, 500, 500, 500, 503, 202],
    )
    const { id } = await run()
    for (let attempt = 1; attempt < 6; attempt++) {
      await outbox.deliver()
      advance(4 * HOUR_MS)
      await tickNow()
    }
    const [last] = outbox.messages.splice(0)
    const DB = interruptedDatabase(() => redeliver(id))
    await deliverBatch(last ? [last] : [], { DB })
    const pending = await read(id)
    expect(pending).toMatchObject({ ...PENDING, nextAttemptAt: null })
    expect(attemptsOf(pending)[0]).toEqual([503, 'HTTP 503'])
    expect(outbox.messages).toHaveLength(1)
    await outbox.deliver()
    expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1 })
    expect(await idsSent()).toHaveLength(7)
  })

  it.each<[string, Answer, object, number]>([
    ['an acceptance', 202, PENDING, 2],
    ['an outcome', { body: '{"outcome":"succeeded"}' }, { status: 'succeeded' }, 1],
  ])('as an attempt that ends with %s', async (_, answer, expected, sent) => {
    const { run, redeliver, outbox, read, idsSent } = await withReceiver({}, answer, 202)
    const { id } = await run()
    const [message] = outbox.messages.splice(0)
    advance(1000)
    const DB = interruptedDatabase(() => redeliver(id))
    await deliverBatch(message ? [message] : [], { DB })
    expect(await read(id)).toMatchObject(expected)
    await outbox.deliver()
    expect(await idsSent()).toHaveLength(sent)
  })
})
