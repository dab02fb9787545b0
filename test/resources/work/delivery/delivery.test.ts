import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Values } from '../../../../src/db/parameters.ts'
import { schedules } from '../../../../src/db/schema.ts'
import { timeOfId } from '../../../../src/db/time-ids.ts'
import { deliver as deliverMessages } from '../../../../src/deliveries.ts'
import type { Environment, RunMessage, RunReference } from '../../../../src/environment.ts'
import { computeRunId } from '../../../../src/resources/work/run-id.ts'
import { RUNS_PER_MESSAGE } from '../../../../src/resources/work/run-queue.ts'
import { mintSecret } from '../../../../src/webhooks/signature.ts'
import { request } from '../../../support/api.ts'
import { databaseWith, failingDatabase, interruptedDatabase } from '../../../support/bindings.ts'
import { deployed, env } from '../../../support/env.ts'
import { eventsOf } from '../../../support/events.ts'
import { deliverBatch, ownMessage } from '../../../support/queue.ts'
import { type Answer, type Received, Receiver } from '../../../support/receiver.ts'
import { inOneBatch } from '../../../support/set-up.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const D1_ERROR = new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')
const ENCRYPTION_KEYS = String(env.ENCRYPTION_KEYS)
const OTHER_KEYS = 'other:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='

const ago = (ms: number) => new Date(Date.now() - ms).toISOString()

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Setup = Awaited<ReturnType<typeof withSchedule>>

/** An organization with a run endpoint that gives these answers, and a schedule that has been enabled for an hour. */
async function withSchedule(...answers: Answer[]) {
  const receiver = await new Receiver().answers(...answers)
  return inOneBatch(async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const secret = await workspace.addRunEndpoint(receiver.url)
    const projectId = await workspace.addProject()
    const scheduleId = await addSchedule(workspace, projectId)
    return { workspace, key, receiver, secret, projectId, scheduleId }
  })
}

async function addSchedule(workspace: Workspace, projectId: string, id?: string): Promise<string> {
  const scheduleId = await workspace.addSchedule('project', projectId, id === undefined ? {} : { id })
  // It is not due in any tick of these tests.
  await workspace.change(schedules, scheduleId, { enabledAt: ago(HOUR_MS), nextRunAt: ago(-9000 * HOUR_MS) })
  return scheduleId
}

/** The same with a queued run. */
async function withRun(...answers: Answer[]) {
  const setup = await withSchedule(...answers)
  return { ...setup, ...(await addRun(setup)) }
}

async function addRun({ workspace, scheduleId }: Pick<Setup, 'workspace' | 'scheduleId'>, values: Values = {}) {
  const leased = { checkAt: new Date(Date.now() + 15 * MINUTE_MS).toISOString() }
  const runId = await workspace.addRun(scheduleId, { ...leased, ...values })
  return { runId, reference: referenceTo(await runOf(workspace, runId)) }
}

/** The same with this many queued runs, of which each next one is a second older. */
async function addRuns(setup: Pick<Setup, 'workspace' | 'scheduleId'>, count: number, values: Values = {}) {
  const { workspace, scheduleId } = setup
  const ids = await inOneBatch(async () => {
    const checkAt = new Date(Date.now() + 15 * MINUTE_MS).toISOString()
    const all: string[] = []
    for (let index = 0; index < count; index++) {
      all.push(await workspace.addRun(scheduleId, { checkAt, scheduledAt: ago(index * 1000), ...values }))
    }
    return all
  })
  const runs = await workspace.dump('runs')
  return ids.map((id) => referenceTo(runs.find((run) => run.id === id) ?? {}))
}

/** The reference to the run as the queue would deliver it now. */
function referenceTo({ organizationId, id, attempts }: Record<string, unknown>) {
  return { organizationId, id, attempts } as RunReference
}

async function runOf(workspace: Workspace, runId: string): Promise<Record<string, unknown>> {
  const row = (await workspace.dump('runs')).find(({ id }) => id === runId)
  if (!row) throw new Error('There is no such run')
  return row
}

const deliver = (runs: RunReference[], environment?: Partial<Cloudflare.Env>) => deliverBatch([{ runs }], environment)

/** Delivers a run as it is in the runs table now. */
async function deliverNow(workspace: Workspace, runId: string, environment?: Partial<Cloudflare.Env>) {
  await deliver([referenceTo(await runOf(workspace, runId))], environment)
}

/** Delivers a message, and does not wait for the work that continues after it. */
function handOver(message: Omit<RunMessage, 'database'>, environment: Partial<Cloudflare.Env> = {}) {
  const context = createExecutionContext()
  const body = { id: '1', timestamp: new Date(), attempts: 1, body: ownMessage(message) }
  const batch = createMessageBatch('workspace-api-deliveries', [body])
  const handled = deliverMessages(batch, deployed({ ...env, ...environment }), context)
  return { handled, rest: () => waitOnExecutionContext(context) }
}

const slowUntil = async (workspace: Workspace) => (await workspace.dump('runEndpoints'))[0]?.slowUntil

async function poll(isDone: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => expect(await isDone()).toBe(true), { timeout: 120_000, interval: 50 })
}

/** Replaces the network, for answers that the receiver of the tests cannot give. @returns the requests. */
function networkThat(answer: (signal: AbortSignal) => Promise<Response>) {
  return vi.spyOn(globalThis, 'fetch').mockImplementation((_, init) => answer(init?.signal as AbortSignal))
}

/** A received message, as the library expects it. */
function messageOf({ body, headers }: Received) {
  return { body, headers: { ...headers } as Record<string, string> }
}

async function only(receiver: Receiver): Promise<Received> {
  const [received, ...others] = await receiver.received()
  expect(others).toEqual([])
  if (!received) throw new Error('Nothing was received')
  return received
}

describe('a delivery', () => {
  it('is a POST of the run only', async () => {
    const { workspace, receiver, projectId, scheduleId, runId, reference } = await withRun(200)
    const before = Math.floor(Date.now() / 1000)
    await deliver([reference])
    const { method, headers, body } = await only(receiver)
    expect(method).toBe('POST')
    expect(JSON.parse(body)).toEqual({
      type: 'schedule.run',
      timestamp: timeOfId(reference.id),
      data: {
        id: runId,
        scheduleId,
        name: null,
        projectId,
        agentId: null,
        cron: '0 6 * * *',
        runAt: null,
        timezone: 'UTC',
        scheduledAt: timeOfId(reference.id),
        payload: null,
        attempt: 1,
        previous: null,
      },
    })
    const { 'webhook-timestamp': timestamp, 'webhook-signature': signature, ...others } = headers
    expect(others).toEqual({
      'content-type': 'application/json',
      'content-length': String(new TextEncoder().encode(body).byteLength),
      'user-agent': 'Workspace-API',
      'webhook-id': runId,
      host: 'hooks.example.com',
      'cf-worker': expect.anything(),
    })
    expect(Number(timestamp)).toBeGreaterThanOrEqual(before)
    expect(Number(timestamp)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000))
    expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
    expect(await runOf(workspace, runId)).toMatchObject({
      status: 'delivered',
      attempts: 1,
      lastError: null,
      checkAt: null,
      startedAt: expect.any(String),
      finishedAt: null,
      failure: null,
    })
  })

  it('has the agent of an agent schedule', async () => {
    const { workspace, receiver } = await withSchedule(200)
    const agentId = await workspace.addAgent()
    const scheduleId = await workspace.addSchedule('agent', agentId, { cron: '5 4 * * *' })
    const { reference } = await addRun({ workspace, scheduleId })
    await deliver([reference])
    const { data } = JSON.parse((await only(receiver)).body)
    expect(data).toMatchObject({ projectId: null, agentId, scheduleId, cron: '5 4 * * *', timezone: 'UTC' })
  })

  it('comes through the queue', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    await env.DELIVERIES.send(ownMessage({ runs: [reference] }))
    await poll(async () => (await runOf(workspace, runId)).status === 'delivered')
    expect((await only(receiver)).headers['webhook-id']).toBe(runId)
  })

  it('is sent after a tick for a schedule that is due', async () => {
    const { workspace, receiver, scheduleId } = await withSchedule(200)
    const scheduledAt = ago(MINUTE_MS / 2)
    await workspace.change(schedules, scheduleId, { nextRunAt: scheduledAt })
    await tick(env, new Date())
    await poll(async () => (await workspace.dump('runs'))[0]?.status === 'delivered')
    expect(JSON.parse((await only(receiver)).body)).toMatchObject({ timestamp: scheduledAt })
  })
})

describe('a receiver with the public library', () => {
  async function received() {
    const setup = await withRun(200)
    await deliver([setup.reference])
    return { ...setup, ...messageOf(await only(setup.receiver)), library: new Webhook(setup.secret) }
  }

  it('accepts a delivery', async () => {
    const { library, body, headers, runId } = await received()
    expect(library.verify(body, headers)).toEqual(JSON.parse(body))
    expect(headers['webhook-id']).toBe(runId)
  })

  it.each<[string, (message: { body: string; headers: Record<string, string> }) => unknown]>([
    ['a body', (message) => Object.assign(message, { body: message.body.replace('UTC', 'GMT') })],
    ['a space in the body', (message) => Object.assign(message, { body: `${message.body} ` })],
    ['an id', ({ headers }) => Object.assign(headers, { 'webhook-id': crypto.randomUUID() })],
    [
      'a timestamp',
      ({ headers }) =>
        Object.assign(headers, { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }),
    ],
    [
      'a signature',
      ({ headers }) =>
        Object.assign(headers, {
          'webhook-signature': headers['webhook-signature']?.replace(/,./, (text) => (text === ',A' ? ',B' : ',A')),
        }),
    ],
  ])('rejects it with %s changed', async (_, change) => {
    const { library, body, headers } = await received()
    const message = { body, headers }
    change(message)
    expect(() => library.verify(message.body, message.headers)).toThrow('No matching signature found')
  })

  it('rejects it with another secret', async () => {
    const { body, headers } = await received()
    expect(() => new Webhook(mintSecret()).verify(body, headers)).toThrow('No matching signature found')
  })

  it('rejects it when it is more than five minutes old', async () => {
    const { library, body, headers } = await received()
    const sentAt = Number(headers['webhook-timestamp']) * 1000
    vi.useFakeTimers({ toFake: ['Date'], now: sentAt + 5 * MINUTE_MS })
    expect(library.verify(body, headers)).toEqual(JSON.parse(body))
    vi.setSystemTime(sentAt + 5 * MINUTE_MS + 1000)
    expect(() => library.verify(body, headers)).toThrow('Message timestamp too old')
    const timestamp = String(Date.now() / 1000)
    expect(() => library.verify(body, { ...headers, 'webhook-timestamp': timestamp })).toThrow('No matching')
  })

  it('accepts a retry hours later, because each attempt has its number and a new signature', async () => {
    const { workspace, receiver, secret, runId } = await withRun(500, 200)
    await deliverNow(workspace, runId)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4 * HOUR_MS })
    await deliverNow(workspace, runId)
    const [first, second] = (await receiver.received()).map(messageOf)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.body).toBe(first?.body.replace('"attempt":1', '"attempt":2'))
    expect(new Webhook(secret).verify(String(second?.body), second?.headers ?? {})).toBeTruthy()
    expect(() => new Webhook(secret).verify(String(first?.body), first?.headers ?? {})).toThrow('too old')
  })

  it('accepts it with either secret during a rotation, and with the new one afterwards', async () => {
    const { workspace, key, receiver, secret, scheduleId } = await withSchedule(200)
    const rotated = await request('POST', '/v1/run-endpoint/rotate', { key, json: { overlapSeconds: 3600 } })
    const expiry = Date.parse(rotated.body.previousSecretExpiresAt)
    const verifiedWith = async (): Promise<boolean[]> => {
      const { reference, runId } = await addRun({ workspace, scheduleId })
      await deliver([reference])
      const message = (await receiver.received()).find(({ headers }) => headers['webhook-id'] === runId)
      return [secret, rotated.body.secret].map((each) => {
        try {
          return new Webhook(each).verify(String(message?.body), message?.headers ?? {}) !== undefined
        } catch {
          return false
        }
      })
    }
    expect(await verifiedWith()).toEqual([true, true])
    vi.useFakeTimers({ toFake: ['Date'], now: expiry - 1 })
    expect(await verifiedWith()).toEqual([true, true])
    vi.setSystemTime(expiry)
    expect(await verifiedWith()).toEqual([false, true])
  })
})

describe('a response', () => {
  it.each([200, 201, 202, 206, 226, 299])('of %i accepts the run', async (status) => {
    const { workspace, runId, reference } = await withRun(status)
    await deliver([reference])
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', attempts: 1, lastError: null })
  })

  it.each([204, 205])('of %i, which has no body, accepts the run', async (status) => {
    const { workspace, runId, reference } = await withRun(200)
    networkThat(async () => new Response(null, { status }))
    await deliver([reference])
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', attempts: 1, lastError: null })
  })

  it.each([300, 301, 302, 303, 307, 308, 400, 401, 404, 408, 409, 411, 413, 422, 429, 500, 502, 503, 504, 599])(
    'of %i does not accept the run, which is retried',
    async (status) => {
      const { workspace, receiver, runId, reference } = await withRun(status)
      await deliver([reference])
      await only(receiver)
      const run = await runOf(workspace, runId)
      expect(run).toMatchObject({ status: 'pending', attempts: 1 })
      expect(run.checkAt).toEqual(expect.any(String))
      const isRedirect = status >= 300 && status < 400
      expect(run.lastError).toBe(isRedirect ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`)
    },
  )

  it('that redirects is not followed', async () => {
    const target = new Receiver()
    const { workspace, receiver, runId, reference } = await withRun(target.box)
    await deliver([reference])
    await only(receiver)
    expect(await target.received()).toEqual([])
    expect(await runOf(workspace, runId)).toMatchObject({
      status: 'pending',
      attempts: 1,
      lastError: 'HTTP 307: redirects are not followed',
    })
  })

  it.each([
    new TypeError('connect ECONNREFUSED 10.0.0.3:443 whsec_inner'),
    new Error('Network connection lost. whsec_inner'),
    new DOMException('The operation was aborted. whsec_inner', 'AbortError'),
    'whsec_inner',
  ])('that breaks off is recorded with a constant message: %s', async (error) => {
    const { workspace, runId, reference } = await withRun(200)
    networkThat(() => Promise.reject(error))
    await deliver([reference])
    const run = await runOf(workspace, runId)
    expect(run).toMatchObject({ status: 'pending', attempts: 1, lastError: 'The connection failed.' })
    expect(run.checkAt).toEqual(expect.any(String))
  })

  it('is not read, and its text is not stored', async () => {
    const { workspace, reference } = await withRun(500)
    await deliver([reference])
    expect(JSON.stringify(await workspace.dump('runs'))).not.toContain('nobody reads')
  })
})

describe('a failed delivery', () => {
  const PAUSES = [1, 5, 15, 60, 180].map((minutes) => minutes * MINUTE_MS)

  it('is retried after growing pauses, with the same id, and the run fails after the sixth attempt', async () => {
    const { workspace, receiver, runId } = await withRun(500, 501, 502, 503, 504, 505)
    for (const [index, pause] of PAUSES.entries()) {
      const before = Date.now()
      await deliverNow(workspace, runId)
      const { checkAt, ...run } = await runOf(workspace, runId)
      expect(run).toMatchObject({ status: 'pending', attempts: index + 1, lastError: `HTTP ${500 + index}` })
      expect(Date.parse(String(checkAt))).toBeGreaterThanOrEqual(before + pause)
      expect(Date.parse(String(checkAt))).toBeLessThanOrEqual(Date.now() + 1.2 * pause)
    }
    await deliverNow(workspace, runId)
    expect(await runOf(workspace, runId)).toMatchObject({
      status: 'failed',
      failure: 'delivery',
      attempts: 6,
      lastError: 'HTTP 505',
      checkAt: null,
      startedAt: null,
      finishedAt: expect.any(String),
    })
    await deliverNow(workspace, runId)
    const received = await receiver.received()
    expect(received).toHaveLength(6)
    const [{ body: first } = { body: '' }] = received
    const bodies = [1, 2, 3, 4, 5, 6].map((attempt) => first.replace('"attempt":1', `"attempt":${attempt}`))
    expect(received.map(({ body }) => body)).toEqual(bodies)
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([runId]))
  })

  it('is retried at a random time', async () => {
    const setup = await withSchedule(500)
    const runs = await addRuns(setup, 20, { attempts: 4 })
    const before = Date.now()
    await deliver(runs)
    const after = Date.now()
    const instants = (await setup.workspace.dump('runs')).map(({ checkAt }) => Date.parse(String(checkAt)))
    expect(new Set(instants).size).toBeGreaterThan(10)
    expect(Math.max(...instants) - Math.min(...instants)).toBeGreaterThan(after - before + MINUTE_MS)
  })

  it('is put into the queue by a tick when the retry is due, not before', async () => {
    const { workspace, runId } = await withRun(500)
    await deliverNow(workspace, runId)
    const due = Date.parse(String((await runOf(workspace, runId)).checkAt))
    const sent: RunReference[] = []
    const DELIVERIES = {
      sendBatch: async (messages: { body: { runs: RunReference[] } }[]) => {
        sent.push(...messages.flatMap(({ body }) => body.runs))
      },
    } as unknown as Environment['DELIVERIES']
    const mine = () => sent.filter(({ organizationId }) => organizationId === workspace.organizationId)
    await tick({ ...env, DELIVERIES }, new Date(due - 1))
    expect(mine()).toEqual([])
    await tick({ ...env, DELIVERIES }, new Date(due))
    expect(mine()).toMatchObject([{ ...referenceTo(await runOf(workspace, runId)), attempts: 1 }])
  })

  it('is delivered by a later attempt, and its error is cleared', async () => {
    const { workspace, runId } = await withRun(500, 'break', 200)
    for (const status of ['pending', 'pending', 'delivered']) {
      await deliverNow(workspace, runId)
      expect((await runOf(workspace, runId)).status).toBe(status)
    }
    expect(await runOf(workspace, runId)).toMatchObject({ attempts: 3, lastError: null, checkAt: null })
  })
})

describe('a receiver that answers 410', () => {
  const GONE = 'HTTP 410: the run endpoint was deleted'

  it('gets no more runs: the run endpoint is deleted, and the run waits to be pulled', async () => {
    const { workspace, key, receiver, runId, reference } = await withRun(410)
    await deliver([reference])
    await tick(env, new Date())
    expect(await runOf(workspace, runId)).toMatchObject({
      status: 'pending',
      attempts: 1,
      lastError: GONE,
      checkAt: null,
    })
    expect((await request('GET', '/v1/run-endpoint', { key })).status).toBe(404)
    const { body } = await request('GET', '/v1/runs?status=pending', { key })
    expect(body.items).toMatchObject([{ id: runId, lastError: GONE }])
    await deliverNow(workspace, runId)
    await only(receiver)
    expect((await request('POST', `/v1/runs/${runId}/acknowledge`, { key })).body.status).toBe('delivered')
  })

  it('does not prevent other runs from being delivered', async () => {
    const setup = await withSchedule(410, 200)
    const runs = [await addRun(setup, { scheduledAt: ago(1000) }), await addRun(setup)]
    await deliver(runs.map(({ reference }) => reference))
    const statuses = (await setup.workspace.dump('runs')).map(({ status }) => String(status))
    expect(statuses.sort()).toEqual(['delivered', 'pending'])
    expect(await setup.workspace.dump('runEndpoints')).toEqual([])
  })

  it('does not delete a run endpoint that was set to another URL since, which gets the run', async () => {
    const { workspace, key, runId, reference } = await withRun(410)
    const { url } = new Receiver()
    const json = { url }
    await deliver([reference], {
      DB: interruptedDatabase(() => request('PUT', '/v1/run-endpoint', { key, json })),
    })
    const { checkAt, ...run } = await runOf(workspace, runId)
    expect(run).toMatchObject({ status: 'pending', attempts: 1 })
    expect(String(checkAt) <= new Date().toISOString()).toBe(true)
    expect((await request('GET', '/v1/run-endpoint', { key })).body.url).toBe(url)
  })

  it('does not delete a run endpoint that was deleted and set again since, with its new secret', async () => {
    const { key, receiver, reference } = await withRun(410)
    await deliver([reference], {
      DB: interruptedDatabase(async () => {
        expect((await request('DELETE', '/v1/run-endpoint', { key })).status).toBe(200)
        await request('PUT', '/v1/run-endpoint', { key, json: { url: receiver.url } })
      }),
    })
    expect((await request('GET', '/v1/run-endpoint', { key })).body.url).toBe(receiver.url)
  })

  it('loses the run endpoint of one organization only, even if another has the same URL', async () => {
    const { receiver, reference } = await withRun(410, 200)
    const elsewhere = await Workspace.create()
    await elsewhere.addRunEndpoint(receiver.url)
    await deliver([reference])
    expect(await elsewhere.dump('runEndpoints')).toHaveLength(1)
  })
})

describe('without a run endpoint', () => {
  it('a queued run waits to be pulled', async () => {
    const { workspace, key, receiver, runId, reference } = await withRun(200)
    expect((await request('DELETE', '/v1/run-endpoint', { key })).status).toBe(200)
    await deliver([reference])
    expect(await receiver.received()).toEqual([])
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'pending', attempts: 0, checkAt: null })
    expect((await request('GET', '/v1/runs', { key })).body.items).toMatchObject([{ id: runId }])
  })

  it('a message leaves the run as it is', async () => {
    const { workspace, runId, reference } = await withRun(200)
    await workspace.removeRunEndpoint()
    await workspace.changeRun(runId, { checkAt: null, updatedAt: ago(HOUR_MS) })
    const before = await runOf(workspace, runId)
    await deliver([reference])
    expect(await runOf(workspace, runId)).toEqual(before)
  })

  it('a run keeps the error of its last attempt', async () => {
    const { workspace, runId, reference } = await withRun(503)
    await deliver([reference])
    await workspace.removeRunEndpoint()
    await deliverNow(workspace, runId)
    expect(await runOf(workspace, runId)).toMatchObject({
      attempts: 1,
      lastError: 'HTTP 503',
      checkAt: null,
    })
  })
})

describe('a run endpoint that is set after a run was created', () => {
  /** Deletes the run endpoint and sets another one. */
  async function replaceEndpoint({ key }: Pick<Setup, 'key'>) {
    const receiver = new Receiver()
    expect((await request('DELETE', '/v1/run-endpoint', { key })).status).toBe(200)
    const json = { url: receiver.url }
    expect((await request('PUT', '/v1/run-endpoint', { key, json })).status).toBe(201)
    return receiver
  }

  it('does not get the run if it waits for its retry', async () => {
    const { workspace, key, runId, reference } = await withRun(503)
    await deliver([reference])
    const receiver = await replaceEndpoint({ key })
    await tick(env, new Date(Date.now() + HOUR_MS))
    expect(await receiver.received()).toEqual([])
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'pending', attempts: 1, checkAt: null })
    const { body } = await request('GET', '/v1/runs?status=pending', { key })
    expect(body.items).toMatchObject([{ id: runId, lastError: 'HTTP 503' }])
  })

  it('does not get the run if it is queued', async () => {
    const { workspace, key, runId, reference } = await withRun(200)
    const receiver = await replaceEndpoint({ key })
    await deliver([reference])
    expect(await receiver.received()).toEqual([])
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'pending', attempts: 0, checkAt: null })
  })

  it('does not get the run if the previous run endpoint returned 410', async () => {
    const { key, runId, reference, ...setup } = await withRun(503, 410)
    await deliver([reference])
    await deliver([(await addRun(setup, { scheduledAt: ago(HOUR_MS) })).reference])
    const receiver = new Receiver()
    await request('PUT', '/v1/run-endpoint', { key, json: { url: receiver.url } })
    await tick(env, new Date(Date.now() + HOUR_MS))
    expect(await receiver.received()).toEqual([])
    expect(await runOf(setup.workspace, runId)).toMatchObject({ status: 'pending', checkAt: null })
  })

  it('gets runs that are created later', async () => {
    const { key, ...setup } = await withSchedule(200)
    const receiver = await replaceEndpoint({ key })
    const { reference } = await addRun(setup)
    await deliver([reference])
    await only(receiver)
  })

  it('differs from a change of the URL, after which pending runs are sent to the new URL', async () => {
    const { workspace, key, runId } = await withRun(503)
    await deliverNow(workspace, runId)
    const receiver = new Receiver()
    await request('PUT', '/v1/run-endpoint', { key, json: { url: receiver.url } })
    await deliverNow(workspace, runId)
    expect((await only(receiver)).headers['webhook-id']).toBe(runId)
    expect((await runOf(workspace, runId)).status).toBe('delivered')
  })
})

describe('a slow run endpoint', () => {
  /** A queue that only records its messages. */
  function recordingQueue() {
    const messages: RunMessage[] = []
    const sendBatch = async (batch: Iterable<{ body: RunMessage }>) => {
      for (const { body } of batch) messages.push(body)
    }
    return { messages, queue: { sendBatch } as unknown as Environment['DELIVERIES'] }
  }

  async function markSlow(workspace: Workspace, until = new Date(Date.now() + MINUTE_MS).toISOString()) {
    await env.DB.prepare('UPDATE "runEndpoints" SET "slowUntil" = ? WHERE "organizationId" = ?')
      .bind(until, workspace.organizationId)
      .run()
  }

  it.each<[string, Answer]>([
    ['accepts runs', 200],
    ['rejects them', 500],
    ['breaks off', 'break'],
  ])('is not one that %s in time', async (_, answer) => {
    const { workspace, reference } = await withRun(answer)
    await deliver([reference])
    expect(await slowUntil(workspace)).toBeNull()
  })

  it('gets nothing from the first queue, whose messages are moved', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    await markSlow(workspace)
    const { messages, queue } = recordingQueue()
    const before = await runOf(workspace, runId)
    await deliver([reference], { SLOW_DELIVERIES: queue })
    expect(messages).toEqual([ownMessage({ runs: [reference], isSlow: true })])
    expect(await receiver.received()).toEqual([])
    expect(await runOf(workspace, runId)).toEqual(before)
  })

  it('gets its runs through the queue of slow run endpoints', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    await markSlow(workspace)
    await env.DELIVERIES.send(ownMessage({ runs: [reference] }))
    await poll(async () => (await runOf(workspace, runId)).status === 'delivered')
    await only(receiver)
  })

  it('gets its runs from the tick through the queue of slow run endpoints', async () => {
    const slow = await withSchedule()
    const fast = await withSchedule()
    await markSlow(slow.workspace)
    const due = { checkAt: ago(1000) }
    const runs = { slow: await addRun(slow, due), fast: await addRun(fast, due) }
    const [first, own] = [recordingQueue(), recordingQueue()]
    await tick({ ...env, DELIVERIES: first.queue, SLOW_DELIVERIES: own.queue }, new Date())
    const sentTo = ({ organizationId }: Workspace) =>
      [first, own].map(({ messages }) => messages.filter(({ runs: [run] }) => run?.organizationId === organizationId))
    expect(sentTo(fast.workspace)).toEqual([[ownMessage({ runs: [runs.fast.reference], isSlow: false })], []])
    expect(sentTo(slow.workspace)).toEqual([[], [ownMessage({ runs: [runs.slow.reference], isSlow: true })]])
  })

  it('gets runs through the first queue again some time after it was slow', async () => {
    const { workspace, receiver, reference } = await withRun(200)
    await markSlow(workspace, ago(1000))
    await deliver([reference])
    await only(receiver)
  })

  it('is no longer slow at another URL', async () => {
    const { workspace, key } = await withSchedule()
    await markSlow(workspace)
    await request('PUT', '/v1/run-endpoint', { key, json: { url: new Receiver().url } })
    expect(await slowUntil(workspace)).toBeNull()
  })

  it('gets its run again from the tick if D1 fails after the message', async () => {
    const { workspace, receiver, runId, reference } = await withRun('wait')
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = interruptedDatabase(() => Promise.reject(D1_ERROR), 3)
    const { handled, rest } = handOver({ runs: [reference] }, { DB })
    await handled
    const before = await runOf(workspace, runId)
    await receiver.release()
    await rest()
    expect(errors.mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([
      { organizationId: workspace.organizationId, failure: { message: D1_ERROR.message } },
    ])
    expect(await runOf(workspace, runId)).toEqual(before)
    vi.restoreAllMocks()
    const { messages, queue } = recordingQueue()
    const tickAfter = (minutes: number) =>
      tick({ ...env, DELIVERIES: queue, SLOW_DELIVERIES: queue }, new Date(Date.now() + minutes * MINUTE_MS))
    await tickAfter(14)
    expect(messages.flatMap(({ runs }) => runs)).not.toContainEqual(reference)
    await tickAfter(16)
    expect(messages).toContainEqual(ownMessage({ runs: [reference], isSlow: false }))
  })
})

describe('a message', () => {
  it('that is repeated sends nothing', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    await deliver([reference])
    const run = await runOf(workspace, runId)
    await deliver([reference])
    await only(receiver)
    expect(await runOf(workspace, runId)).toEqual(run)
  })

  it('that is twice in a batch sends once', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    await deliverBatch([{ runs: [reference, reference] }, { runs: [reference] }])
    await only(receiver)
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', attempts: 1 })
  })

  it.each([-1, 1])('of another attempt sends nothing: %i', async (difference) => {
    const { workspace, receiver, runId } = await withRun(500)
    await deliverNow(workspace, runId)
    await deliverNow(workspace, runId)
    const run = await runOf(workspace, runId)
    await deliver([{ ...referenceTo(run), attempts: Number(run.attempts) + difference }])
    expect(await receiver.received()).toHaveLength(2)
    expect(await runOf(workspace, runId)).toEqual(run)
  })

  it.each(['delivered', 'succeeded', 'failed', 'skipped'])('of a run that is %s sends nothing', async (status) => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    await workspace.changeRun(runId, { status })
    const run = await runOf(workspace, runId)
    await deliver([reference])
    expect(await receiver.received()).toEqual([])
    expect(await runOf(workspace, runId)).toEqual(run)
  })

  it.each<[string, (setup: Setup) => Promise<unknown>]>([
    ['schedule', ({ workspace, scheduleId }) => workspace.deleteSchedule(scheduleId)],
    ['project', ({ workspace, projectId }) => workspace.delete('project', projectId)],
  ])('of a run whose %s is deleted sends nothing', async (_, remove) => {
    const { reference, ...setup } = await withRun(200)
    await remove(setup)
    await deliver([reference])
    expect(await setup.receiver.received()).toEqual([])
  })

  it('of a run whose schedule is deleted meanwhile stores the outcome, without an event', async () => {
    const { workspace, key, projectId, scheduleId, runId, reference } = await withRun({ body: '{"outcome":"failed"}' })
    const path = `/v1/projects/${projectId}/schedules/${scheduleId}`
    await deliver([reference], { DB: interruptedDatabase(() => request('DELETE', path, { key })) })
    const { body } = await request('GET', '/v1/deletions', { key })
    expect((await request('POST', `/v1/deletions/${body.items[0].id}/restore`, { key })).status).toBe(200)
    expect((await request('GET', `/v1/runs/${runId}`, { key })).body).toMatchObject({
      status: 'failed',
      failure: 'task',
    })
    const types = (await eventsOf(workspace)).map(({ type }) => type)
    expect(types).toEqual(['schedule.deleted', 'schedule.restored'])
  })

  it('of a run that is not in the runs table sends nothing', async () => {
    const { receiver, reference } = await withRun(200)
    const elsewhere = await withRun(200)
    const runs = [
      { ...reference, organizationId: elsewhere.workspace.organizationId },
      { ...reference, id: computeRunId(reference.id, ago(HOUR_MS)) },
    ]
    await deliverBatch([{ runs: [] }, { runs }])
    await deliverBatch([])
    expect([await receiver.received(), await elsewhere.receiver.received()]).toEqual([[], []])
  })
})

describe('a batch', () => {
  it('of many organizations sends each its own runs, signed with its own secret', async () => {
    const answers: Answer[] = [200, 500, 410, 'break', 202, 404, 200]
    const setups = []
    for (const answer of answers) setups.push(await withRun(answer))
    await deliverBatch(setups.map(({ reference }) => ({ runs: [reference] })))
    for (const { receiver, secret, runId } of setups) {
      const { body, headers } = messageOf(await only(receiver))
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ data: { id: runId } })
    }
    const statuses = setups.map(async ({ workspace, runId }) => (await runOf(workspace, runId)).status)
    const expected = ['delivered', 'pending', 'pending', 'pending', 'delivered', 'pending', 'delivered']
    expect(await Promise.all(statuses)).toEqual(expected)
    const endpoints = setups.map(async ({ workspace }) => (await workspace.dump('runEndpoints')).length)
    expect(await Promise.all(endpoints)).toEqual([1, 1, 0, 1, 1, 1, 1])
  })

  it('of the largest size makes two calls to the database', async () => {
    const setup = await withSchedule(200)
    const references = await addRuns(setup, RUNS_PER_MESSAGE)
    let calls = 0
    const DB = databaseWith((statements) => {
      calls++
      return env.DB.batch(statements)
    })
    await deliver(references, { DB })
    expect(calls).toBe(2)
    const ids = (await setup.receiver.received()).map(({ headers }) => String(headers['webhook-id']))
    expect(ids.sort()).toEqual((await setup.workspace.dump('runs')).map(({ id }) => String(id)).sort())
  })

  it('sends the runs of a message at the same time, each with the full timeout', async () => {
    const setup = await withSchedule(200)
    const references = await addRuns(setup, RUNS_PER_MESSAGE)
    const limits: AbortController[] = []
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const controller = new AbortController()
      limits.push(controller)
      return controller.signal
    })
    let sent = 0
    networkThat((signal) => {
      sent++
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    })
    const delivery = deliver(references)
    await poll(async () => sent === RUNS_PER_MESSAGE)
    for (const limit of limits) limit.abort(new DOMException('The operation timed out', 'TimeoutError'))
    await delivery
    expect(timeout.mock.calls).toEqual(references.map(() => [15_000]))
    const errors = (await setup.workspace.dump('runs')).map(({ lastError }) => lastError)
    expect(errors).toEqual(references.map(() => 'No response within 15 seconds.'))
  })
})

describe('failures in a row', () => {
  /** Adds runs of these statuses, oldest first, all before the one that is sent. */
  async function addHistory(setup: Pick<Setup, 'workspace' | 'scheduleId'>, ...history: [string, number][]) {
    const statuses = history.flatMap(([status, count]) => Array.from({ length: count }, () => status))
    await inOneBatch(async () => {
      for (const [index, status] of statuses.entries()) {
        const scheduledAt = ago(HOUR_MS / 2 - index * 1000)
        await setup.workspace.addRun(setup.scheduleId, { scheduledAt, status, attempts: 6 })
      }
    })
  }

  /** Makes the last attempt to send a run. */
  async function failOnce(setup: Pick<Setup, 'workspace' | 'scheduleId'>, values: Values = {}) {
    await deliver([(await addRun(setup, { attempts: 5, ...values })).reference])
  }

  async function stateOf({ key, projectId, scheduleId }: Setup) {
    const { body } = await request('GET', `/v1/projects/${projectId}/schedules/${scheduleId}`, { key })
    const { statistics: _, ...schedule } = body
    return schedule
  }

  const PAUSED = { enabledAt: null, nextRunAt: null, pausedReason: expect.any(String) }
  const GOES_ON = { enabledAt: expect.any(String), nextRunAt: expect.any(String), pausedReason: null }

  it('pause the schedule after twenty, with a reason', async () => {
    const setup = await withSchedule(503)
    await addHistory(setup, ['failed', 19])
    const before = await stateOf(setup)
    await failOnce(setup)
    const after = await stateOf(setup)
    expect(after).toEqual({
      ...before,
      enabledAt: null,
      nextRunAt: null,
      pausedReason: '20 runs in a row failed. The last failure (delivery): HTTP 503',
      updatedAt: expect.any(String),
    })
    expect(after.updatedAt > before.updatedAt).toBe(true)
  })

  it('pause an agent schedule too', async () => {
    const { workspace, key } = await withSchedule(500)
    const agentId = await workspace.addAgent()
    const scheduleId = await workspace.addSchedule('agent', agentId)
    await workspace.change(schedules, scheduleId, { enabledAt: ago(HOUR_MS) })
    await addHistory({ workspace, scheduleId }, ['failed', 19])
    await failOnce({ workspace, scheduleId })
    const { body } = await request('GET', `/v1/agents/${agentId}/schedules/${scheduleId}`, { key })
    expect(body).toMatchObject(PAUSED)
  })

  it.each<[string, [string, number][], boolean]>([
    ['nineteen', [['failed', 18]], false],
    ['more than twenty', [['failed', 25]], true],
    [
      'a success long ago, then twenty',
      [
        ['delivered', 1],
        ['failed', 19],
      ],
      true,
    ],
    [
      'a success, then nineteen',
      [
        ['failed', 20],
        ['delivered', 1],
        ['failed', 18],
      ],
      false,
    ],
    [
      'a success just before',
      [
        ['failed', 19],
        ['delivered', 1],
      ],
      false,
    ],
    [
      'twenty with skipped ones between',
      [
        ['failed', 10],
        ['skipped', 30],
        ['failed', 9],
      ],
      true,
    ],
    [
      'twenty with pending ones between',
      [
        ['failed', 10],
        ['pending', 5],
        ['failed', 9],
      ],
      true,
    ],
    ['skipped ones', [['skipped', 30]], false],
  ])('are counted: %s', async (_, history, isPaused) => {
    const setup = await withSchedule(500)
    await addHistory(setup, ...history)
    await failOnce(setup)
    expect(await stateOf(setup)).toMatchObject(isPaused ? PAUSED : GOES_ON)
  })

  it('are in the order of the instants, not of the responses', async () => {
    const hidden = await withSchedule(500)
    await addHistory(hidden, ['failed', 19], ['delivered', 1])
    await failOnce(hidden, { scheduledAt: ago(HOUR_MS * 0.75) })
    expect(await stateOf(hidden)).toMatchObject(GOES_ON)
    const late = await withSchedule(500)
    await addHistory(late, ['failed', 19])
    await addRun(late, { scheduledAt: ago(HOUR_MS * 0.75), status: 'delivered' })
    await failOnce(late)
    expect(await stateOf(late)).toMatchObject(PAUSED)
  })

  it('are counted within one batch', async () => {
    const setup = await withSchedule(500)
    await deliver(await addRuns(setup, 20, { attempts: 5 }))
    expect(await stateOf(setup)).toMatchObject(PAUSED)
  })

  it.each<[string, Answer, number]>([
    ['a run that will be retried', 500, 4],
    ['a run that is accepted', 200, 5],
    ['a run of an endpoint that returns 410', 410, 5],
  ])('do not include %s', async (_, answer, attempts) => {
    const setup = await withSchedule(answer)
    await addHistory(setup, ['failed', 20])
    await failOnce(setup, { attempts })
    expect(await stateOf(setup)).toMatchObject(GOES_ON)
  })

  it('are counted for each schedule', async () => {
    const setup = await withSchedule(500)
    const { workspace, projectId } = setup
    const beside = { ...setup, scheduleId: await addSchedule(workspace, projectId) }
    await addHistory(setup, ['failed', 19])
    await addHistory(beside, ['failed', 18])
    await failOnce(beside)
    expect([await stateOf(setup), await stateOf(beside)]).toMatchObject([GOES_ON, GOES_ON])
    await failOnce(setup)
    expect([await stateOf(setup), await stateOf(beside)]).toMatchObject([PAUSED, GOES_ON])
  })

  it('pause every schedule of a batch, each with its own reason, even if ids are the same', async () => {
    const setup = await withSchedule(500)
    const beside = { ...setup, scheduleId: await addSchedule(setup.workspace, setup.projectId) }
    const elsewhere = await withSchedule(503)
    const scheduleId = await addSchedule(elsewhere.workspace, elsewhere.projectId, setup.scheduleId)
    const all = [setup, beside, { ...elsewhere, scheduleId }]
    const references = []
    for (const each of all) {
      await addHistory(each, ['failed', 19])
      references.push((await addRun(each, { attempts: 5 })).reference)
    }
    await deliver(references)
    const states = []
    for (const each of all) states.push(await stateOf(each))
    expect(states.map(({ pausedReason }) => pausedReason?.replace(/.*: /, ''))).toEqual([
      'HTTP 500',
      'HTTP 500',
      'HTTP 503',
    ])
  })

  it('do not change a schedule that a request paused', async () => {
    const setup = await withSchedule(500)
    await addHistory(setup, ['failed', 19])
    const path = `/v1/projects/${setup.projectId}/schedules/${setup.scheduleId}`
    await request('PATCH', path, { key: setup.key, json: { enabled: false } })
    const before = await stateOf(setup)
    await failOnce(setup)
    expect(await stateOf(setup)).toEqual(before)
    expect(before.pausedReason).toBeNull()
  })

  it('are counted from zero when the schedule is resumed', async () => {
    const setup = await withSchedule(500)
    await addHistory(setup, ['failed', 19])
    await failOnce(setup)
    const path = `/v1/projects/${setup.projectId}/schedules/${setup.scheduleId}`
    const resumed = await request('PATCH', path, { key: setup.key, json: { enabled: true } })
    expect(resumed.body).toMatchObject(GOES_ON)
    await failOnce(setup, { scheduledAt: ago(10 * MINUTE_MS) })
    const from = Date.parse(resumed.body.enabledAt)
    for (let count = 1; count <= 20; count++) {
      expect([count, await stateOf(setup)]).toMatchObject([count, GOES_ON])
      await failOnce(setup, { scheduledAt: new Date(from + (count - 1) * MINUTE_MS).toISOString() })
    }
    expect(await stateOf(setup)).toMatchObject(PAUSED)
  })

  it('do not prevent runs that requests create while the schedule is paused', async () => {
    const setup = await withSchedule(500)
    await addHistory(setup, ['failed', 19])
    await failOnce(setup)
    await setup.receiver.answers(200)
    const { runId, reference } = await addRun(setup, { scheduledAt: ago(-1000) })
    await deliver([reference])
    expect((await runOf(setup.workspace, runId)).status).toBe('delivered')
    expect(await stateOf(setup)).toMatchObject(PAUSED)
  })
})

describe('a secret that cannot be decrypted', () => {
  const LOST = 'The secret of the run endpoint cannot be decrypted. Rotate it.'

  it('is recorded as the error of the run, and does not affect other organizations', async () => {
    const setup = await withSchedule(200)
    const json = { url: setup.receiver.url }
    await setup.workspace.removeRunEndpoint()
    const environment = { ENCRYPTION_KEYS: OTHER_KEYS }
    expect((await request('PUT', '/v1/run-endpoint', { key: setup.key, json, environment })).status).toBe(201)
    const lost = { ...setup, ...(await addRun(setup)) }
    const healthy = await withRun(200)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await deliver([lost.reference, healthy.reference])
    expect(await lost.receiver.received()).toEqual([])
    expect(await runOf(lost.workspace, lost.runId)).toMatchObject({
      status: 'pending',
      attempts: 1,
      lastError: LOST,
      checkAt: expect.any(String),
    })
    expect((await runOf(healthy.workspace, healthy.runId)).status).toBe('delivered')

    const rotated = await request('POST', '/v1/run-endpoint/rotate', {
      key: lost.key,
      json: { overlapSeconds: 0 },
    })
    await deliverNow(lost.workspace, lost.runId)
    const { body, headers } = messageOf(await only(lost.receiver))
    expect(new Webhook(rotated.body.secret).verify(body, headers)).toBeTruthy()
  })

  it('is not one that an older key of the key ring encrypted', async () => {
    const { receiver, secret, reference } = await withRun(200)
    await deliver([reference], { ENCRYPTION_KEYS: `${OTHER_KEYS},${ENCRYPTION_KEYS}` })
    const { body, headers } = messageOf(await only(receiver))
    expect(new Webhook(secret).verify(body, headers)).toBeTruthy()
  })

  it('is one that was copied from another organization', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    const elsewhere = await withSchedule(200)
    const [row] = await elsewhere.workspace.dump('runEndpoints')
    await env.DB.prepare('UPDATE "runEndpoints" SET "sealedSecret" = ? WHERE "organizationId" = ?')
      .bind(row?.sealedSecret, workspace.organizationId)
      .run()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await deliver([reference])
    expect(await receiver.received()).toEqual([])
    expect((await runOf(workspace, runId)).lastError).toBe(LOST)
  })
})

describe('a URL that is no longer allowed', () => {
  const url = 'http://localhost:8788/runs'
  const local = { LOCAL_RECEIVERS: 'on' }

  it.each([
    ['', {}],
    [' in a deployment', { LOCAL_RECEIVERS: 'off' }],
  ])('gets nothing%s', async (_, environment) => {
    const { workspace, runId, reference } = await withRun(200)
    await workspace.addRunEndpoint(url)
    const network = networkThat(async () => new Response('', { status: 200 }))
    await deliver([reference], environment)
    expect(network).not.toHaveBeenCalled()
    const { lastError, status } = await runOf(workspace, runId)
    expect([status, lastError]).toEqual([
      'pending',
      'The URL of the run endpoint does not begin with https://; allowed: an https URL of a public host, such as "https://hooks.example.com/path".',
    ])
  })

  it('gets the run where URLs of this machine are allowed', async () => {
    const { workspace, runId, reference } = await withRun(200)
    await workspace.addRunEndpoint(url)
    const network = networkThat(async () => new Response('', { status: 200 }))
    await deliver([reference], local)
    expect(network.mock.calls.map(([target]) => target)).toEqual([url])
    expect((await runOf(workspace, runId)).status).toBe('delivered')
  })
})

describe('while a run is being delivered', () => {
  it.each<[string, Answer]>([
    ['accepted', 200],
    ['rejected', 500],
    ['rejected with 410', 410],
  ])('it may be acknowledged, and stays delivered if it is %s', async (_, answer) => {
    const { workspace, key, runId, reference } = await withRun(answer)
    const acknowledge = () => request('POST', `/v1/runs/${runId}/acknowledge`, { key })
    await deliver([reference], { DB: interruptedDatabase(acknowledge) })
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', checkAt: null })
  })

  it('it stays delivered if another consumer sends it too and gets no response', async () => {
    const { workspace, receiver, runId, reference } = await withRun(500, 200)
    await deliver([reference], { DB: interruptedDatabase(() => deliver([reference])) })
    expect(await receiver.received()).toHaveLength(2)
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', attempts: 1, checkAt: null })
  })
})

describe('when D1 fails', () => {
  it('at the first call, nothing is sent, and the repeated batch delivers', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    const before = await runOf(workspace, runId)
    await expect(deliver([reference], { DB: failingDatabase(D1_ERROR) })).rejects.toThrow(D1_ERROR)
    expect([await receiver.received(), await runOf(workspace, runId)]).toEqual([[], before])
    await deliver([reference])
    expect((await only(receiver)).headers['webhook-id']).toBe(runId)
    expect((await runOf(workspace, runId)).status).toBe('delivered')
  })

  it('at the second call, the repeated batch delivers again, with the same id and body', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    const before = await runOf(workspace, runId)
    const DB = interruptedDatabase(() => Promise.reject(D1_ERROR))
    await expect(deliver([reference], { DB })).rejects.toThrow(D1_ERROR)
    expect(await runOf(workspace, runId)).toEqual(before)
    await deliver([reference])
    const [first, second, ...others] = await receiver.received()
    expect(others).toEqual([])
    expect([second?.headers['webhook-id'], second?.body]).toEqual([runId, first?.body])
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', attempts: 1 })
  })

  it('after the outcome is recorded, the repeated batch sends nothing', async () => {
    const { workspace, receiver, runId, reference } = await withRun(200)
    let calls = 0
    const DB = databaseWith(async (statements) => {
      const results = await env.DB.batch(statements)
      if (calls++ === 1) throw D1_ERROR
      return results
    })
    await expect(deliver([reference], { DB })).rejects.toThrow(D1_ERROR)
    await deliver([reference])
    await only(receiver)
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', attempts: 1 })
  })
})

describe('no secret', () => {
  it('is in a log or in the runs table after any outcome', async () => {
    const logged: unknown[][] = []
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
      vi.spyOn(console, method).mockImplementation((...values) => logged.push(values))
    }
    const secrets: string[] = []
    const dumps: unknown[] = []
    for (const answer of [200, 500, 410, 'break'] as const) {
      const { workspace, key, secret, runId } = await withRun(answer)
      const rotated = await request('POST', '/v1/run-endpoint/rotate', { key, json: {} })
      const [row] = await workspace.dump('runEndpoints')
      secrets.push(secret, rotated.body.secret, String(row?.sealedSecret), String(row?.previousSealedSecret))
      await deliverNow(workspace, runId, { ENCRYPTION_KEYS: OTHER_KEYS })
      await deliverNow(workspace, runId)
      dumps.push(await workspace.dump('runs'), await workspace.dump('schedules'))
    }
    expect(logged.length).toBeGreaterThan(0)
    const text = JSON.stringify([logged, dumps])
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(40)
      expect(text).not.toContain(secret)
      expect(text).not.toContain(secret.replace('whsec_', ''))
    }
  })
})

// In real time, so side by side.
describe.concurrent('a run endpoint that responds late', () => {
  it('has 15 seconds; after that, the attempt has failed', async () => {
    const { workspace, receiver, runId, reference } = await withRun('wait')
    await deliver([reference])
    await only(receiver)
    expect(await runOf(workspace, runId)).toMatchObject({
      status: 'pending',
      attempts: 1,
      lastError: 'No response within 15 seconds.',
    })
    await receiver.release()
  })

  it('does not delay other organizations', async () => {
    const slow = await withSchedule('wait')
    const references = await addRuns(slow, 100)
    const messages = Array.from({ length: 20 }, (_, index) => references.slice(index * 5, index * 5 + 5))
    const other = await withRun(200)
    await env.DELIVERIES.sendBatch(messages.map((runs) => ({ body: ownMessage({ runs }) })))
    await env.DELIVERIES.send(ownMessage({ runs: [other.reference] }))
    const isOver = async () => (await slow.workspace.dump('runs')).filter(({ attempts }) => attempts !== 0).length

    await poll(async () => (await runOf(other.workspace, other.runId)).status === 'delivered')
    expect(await isOver()).toBe(0)
    // The requests of the first message continue after it; all others go through the queue of slow run endpoints.
    await poll(async () => (await isOver()) >= 5)
    const [run] = (await slow.workspace.dump('runs')).filter(({ attempts }) => attempts === 1)
    expect(run).toMatchObject({ status: 'pending', lastError: 'No response within 15 seconds.' })
    expect((await slow.receiver.received()).length).toBeLessThanOrEqual(10)
    await slow.workspace.removeRunEndpoint()
    await slow.receiver.release()
  })

  it('is marked as slow, and its response is still recorded', async () => {
    const { workspace, receiver, runId, reference } = await withRun('wait')
    const { handled, rest } = handOver({ runs: [reference] })
    await handled
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'pending', attempts: 0 })
    expect(Date.parse(String(await slowUntil(workspace)))).toBeGreaterThan(Date.now())
    await receiver.release()
    await rest()
    expect(await runOf(workspace, runId)).toMatchObject({ status: 'delivered', attempts: 1, checkAt: null })
  })

  it('does not delay the recording of other responses', async () => {
    const setup = await withSchedule(200, 'wait')
    const runs = await addRuns(setup, 2)
    const { handled, rest } = handOver({ runs })
    await handled
    const statuses = async () => (await setup.workspace.dump('runs')).map(({ status }) => String(status)).sort()
    expect(await statuses()).toEqual(['delivered', 'pending'])
    await setup.receiver.release()
    await rest()
    expect(await statuses()).toEqual(['delivered', 'delivered'])
  })

  it('holds a message of the slow queue until all of its runs have a response', async () => {
    const { workspace, receiver, runId, reference } = await withRun('wait')
    let isHandled = false
    const { handled } = handOver({ runs: [reference], isSlow: true })
    const done = handled.then(() => {
      isHandled = true
    })
    await poll(async () => (await slowUntil(workspace)) !== null)
    expect(isHandled).toBe(false)
    await receiver.release()
    await done
    expect((await runOf(workspace, runId)).status).toBe('delivered')
  })

  it('is not marked as slow if it was set to another URL since', async () => {
    const { workspace, key, receiver, reference } = await withRun('wait')
    const { handled, rest } = handOver({ runs: [reference] })
    await poll(async () => (await receiver.received()).length === 1)
    await request('PUT', '/v1/run-endpoint', { key, json: { url: new Receiver().url } })
    await handled
    expect(await slowUntil(workspace)).toBeNull()
    await receiver.release()
    await rest()
  })
})
