/**
 * What the operator stops, for one organization or for all: from the next request or tick on, nothing is lost, and what
 * was due is treated as after an outage.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { type Part, release as releaseIn } from '../operate/brakes.ts'
import type { Row } from '../operate/cloudflare.ts'
import type { CommandDatabase } from '../operate/database.ts'
import { request, respond } from './support/api.ts'
import { START } from './support/clock.ts'
import { env } from './support/env.ts'
import { withEndpoint } from './support/event-endpoints.ts'
import { newOutbox } from './support/queue.ts'
import { Receiver } from './support/receiver.ts'
import { advance, HOUR_MS, MINUTE_MS, newWorker, refusalOf, stopClocks } from './support/runs.ts'
import { entryFile } from './support/skills.ts'
import { tick } from './support/tick.ts'

stopClocks()
afterEach(async () => {
  await env.DB.batch(['brakes', 'organizationBrakes'].map((table) => env.DB.prepare(`DELETE FROM "${table}"`)))
})

const commandDatabase: CommandDatabase = {
  async batch(queries) {
    const bound = queries.map(({ sql, parameters = [] }) => env.DB.prepare(sql).bind(...parameters))
    return (await env.DB.batch<Row>(bound)).map(({ results }) => results)
  },
  sizeBytes: async () => 0,
  close: () => undefined,
}

/** Of one organization, of which there is another one beside it, or of all. */
describe.each(['one organization', 'all organizations'])('of %s', (whose) => {
  const isOfAll = whose === 'all organizations'
  const since = new Date(START).toISOString()
  const stop = (kind: Part, organizationId: string) =>
    isOfAll
      ? env.DB.prepare('INSERT INTO "brakes" VALUES (?, ?)').bind(kind, since).run()
      : env.DB.prepare('INSERT INTO "organizationBrakes" VALUES (?, ?, ?)').bind(organizationId, kind, since).run()
  /** As the command does. */
  const release = async (kind: Part, organizationId: string) => {
    expect(await releaseIn(commandDatabase, kind, isOfAll ? null : organizationId)).toBe(true)
  }
  const runsOf = async ({ key, scheduleId }: { key: string; scheduleId: string }) =>
    (await request('GET', `/v1/runs?scheduleId=${scheduleId}`, { key })).body.items.map(
      ({ status, scheduledAt }: { status: string; scheduledAt: string }) => [status, scheduledAt],
    )

  it('schedules do not fire; afterwards the latest instant fires, and earlier ones are skipped', async () => {
    const [stopped, other] = [await newWorker({ cron: '0 * * * *' }), await newWorker({ cron: '0 * * * *' })]
    await stop('firing', stopped.workspace.organizationId)
    const { environment } = newOutbox()
    const hours: string[] = []
    for (let hour = 0; hour < 3; hour++) {
      advance(HOUR_MS)
      hours.unshift(new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS).toISOString())
      await tick(environment, new Date())
    }
    expect(await runsOf(stopped)).toEqual([])
    expect(await runsOf(other)).toHaveLength(isOfAll ? 0 : 3)

    await release('firing', stopped.workspace.organizationId)
    advance(MINUTE_MS)
    await tick(environment, new Date())
    expect(await runsOf(stopped)).toEqual([
      ['pending', hours[0]],
      ['skipped', hours[1]],
      ['skipped', hours[2]],
    ])
  })

  it('runs are not sent; afterwards each is sent once, within two minutes or at the end of its lease', async () => {
    const receiver = await new Receiver().answers(200)
    const other = await new Receiver().answers(200)
    const workers = []
    for (const { url } of [receiver, other]) {
      const worker = await newWorker()
      const { status } = await request('PUT', '/v1/run-endpoint', { key: worker.key, json: { url } })
      expect(status).toBe(201)
      workers.push(worker)
    }
    const [stopped] = workers
    await stop('deliveries', stopped?.workspace.organizationId ?? '')
    const outbox = newOutbox()
    const ids: string[] = []
    for (const { key, path } of workers) {
      const { status, body } = await request('POST', `${path}/runs`, { key, environment: outbox.environment })
      expect(status).toBe(201)
      ids.push(body.id)
    }
    for (let minute = 0; minute < 30; minute++) {
      await outbox.deliver()
      advance(MINUTE_MS)
      await tick(outbox.environment, new Date())
    }
    expect(await receiver.received()).toEqual([])
    expect(await other.received()).toHaveLength(isOfAll ? 0 : 1)
    expect(await stopped?.read(ids[0] ?? '')).toMatchObject({ status: 'pending', attempts: 0 })

    await release('deliveries', stopped?.workspace.organizationId ?? '')
    for (let minute = 0; minute < 2; minute++) {
      advance(MINUTE_MS)
      await tick(outbox.environment, new Date())
      await outbox.deliver()
    }
    expect((await receiver.received()).map(({ headers }) => headers['webhook-id'])).toEqual([ids[0]])
    expect(await other.received()).toHaveLength(1)
    expect(await stopped?.read(ids[0] ?? '')).toMatchObject({ status: 'delivered', attempts: 1 })
  })

  it('the time limits of runs that were sent before go on', async () => {
    const receiver = await new Receiver().answers(200)
    const worker = await newWorker({ maxRunSeconds: 120 })
    await request('PUT', '/v1/run-endpoint', { key: worker.key, json: { url: receiver.url } })
    const outbox = newOutbox()
    const { body } = await request('POST', `${worker.path}/runs`, { key: worker.key, environment: outbox.environment })
    await outbox.deliver()
    await stop('deliveries', worker.workspace.organizationId)
    for (let minute = 0; minute < 4; minute++) {
      advance(MINUTE_MS)
      await tick(outbox.environment, new Date())
    }
    expect(await worker.read(body.id)).toMatchObject({ status: 'failed', failure: 'timeout' })
  })

  it('events are not sent; afterwards all are, in order', async () => {
    const failingSince = new Date(START - 70 * HOUR_MS).toISOString()
    const endpoint = await withEndpoint({ failingSince, failures: 3 }, 200)
    await endpoint.addEvents(3)
    await stop('deliveries', endpoint.workspace.organizationId)
    await endpoint.deliverAll()
    await endpoint.tick()
    await endpoint.drain()
    expect(await endpoint.received()).toEqual([])

    await release('deliveries', endpoint.workspace.organizationId)
    // It failed for almost three days before: it is not disabled by the next failure.
    expect(Date.parse(String((await endpoint.row()).failingSince))).toBeGreaterThanOrEqual(START)
    await endpoint.tick()
    await endpoint.drain()
    const sent = (await endpoint.received()).flatMap(({ data }) => data.items.map(({ createdAt }) => createdAt))
    expect(sent).toEqual([0, 1, 2].map((index) => new Date(START - HOUR_MS + index).toISOString()))
  })

  it('claims are refused with the reason; runs that are claimed go on', async () => {
    const [worker, other] = [await newWorker(), await newWorker()]
    await worker.run()
    const { id, claimId } = await worker.claimOne()
    const waiting = await worker.run()
    await other.run()
    await stop('claims', worker.workspace.organizationId)
    for (const json of [{}, { projectId: worker.parentId }]) {
      const refused = await worker.claim(json)
      expect(refusalOf(refused)).toEqual([503, 'stopped_by_operator'])
      expect(refused.headers.get('Retry-After')).toBe('60')
      expect(refused.body).toEqual({
        error: 'The operator of the service has stopped claims for now. Nothing is lost: retry later.',
      })
    }
    expect((await other.claim()).status).toBe(isOfAll ? 503 : 200)
    expect((await worker.renew(id, { claimId })).status).toBe(200)
    expect((await worker.complete(id, { claimId })).status).toBe(200)
    expect((await request('GET', '/v1/me', { key: worker.key })).body.stopped).toEqual([{ what: 'claims', since }])

    await release('claims', worker.workspace.organizationId)
    expect(await worker.claimOne()).toMatchObject({ id: waiting.id })
    expect((await request('GET', '/v1/me', { key: worker.key })).body.stopped).toEqual([])
  })

  it('feeds are refused, their index and their archives', async () => {
    const { workspace, key } = await newWorker()
    const { body: skill } = await request('POST', '/v1/skills', { key, json: { files: [entryFile('notes')] } })
    const { body: feed } = await request('POST', '/v1/skill-feeds', { key, json: { name: 'all' } })
    const statuses = () =>
      Promise.all(
        ['index.json', `${skill.id}-1.tar.gz`].map(async (file) => {
          const path = `${new URL(feed.url).pathname}/.well-known/agent-skills/${file}`
          return refusalOf(await respond('GET', path))
        }),
      )
    await stop('feeds', workspace.organizationId)
    expect(await statuses()).toEqual(Array(2).fill([503, 'stopped_by_operator']))
    await release('feeds', workspace.organizationId)
    expect(await statuses()).toEqual(Array(2).fill([200, null]))
  })
})
