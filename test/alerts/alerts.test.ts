import { createExecutionContext, createMessageBatch, createScheduledController, getQueueResult } from 'cloudflare:test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { schedules } from '../../src/db/schema.ts'
import type { Environment, Message } from '../../src/environment.ts'
import worker from '../../src/index.ts'
import { request } from '../support/api.ts'
import { databaseOfSize, databaseWith, failingDatabase, watchedDatabase } from '../support/bindings.ts'
import { START, stopClock } from '../support/clock.ts'
import { env } from '../support/env.ts'
import { addEndpoint } from '../support/event-endpoints.ts'
import { Receiver } from '../support/receiver.ts'
import { Workspace } from '../support/workspace.ts'

const MINUTE_MS = 60_000
const LOST = new Error('D1_ERROR: Network connection lost.')

stopClock()

afterEach(async () => {
  vi.restoreAllMocks()
  const all = ['alerts', 'tickReports', 'schedules', 'runs', 'runEndpoints', 'eventEndpoints']
  await env.DB.batch(all.map((table) => env.DB.prepare(`DELETE FROM "${table}"`)))
})

/** A deployment whose database 0 is the test's, with a receiver of alerts, and queues that keep their messages. */
function newDeployment(others: object = {}) {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const receiver = new Receiver()
  const messages: Message[] = []
  const queue = {
    send: async (message: Message) => void messages.push(message),
    sendBatch: async (batch: Iterable<{ body: Message }>) => void messages.push(...[...batch].map(({ body }) => body)),
  }
  const bound = Object.entries(env).filter(([name]) => !name.startsWith('DB_'))
  const environment = {
    ...Object.fromEntries(bound),
    ...{ DELIVERIES: queue, SLOW_DELIVERIES: queue, TICKS: queue },
    OPERATOR_ALERT_URL: receiver.url,
    ...others,
  } as unknown as Environment
  let told = 0
  const handOver = async (name: string, bodies: readonly Message[], changed: object = {}) => {
    const batch = createMessageBatch<Message>(
      name,
      bodies.map((body, index) => ({ id: String(index), timestamp: new Date(), attempts: 1, body })),
    )
    const context = createExecutionContext()
    await worker.queue(batch, { ...environment, ...changed }, context)
    return getQueueResult(batch, context)
  }
  return {
    log,
    receiver,
    messages,
    environment,
    handOver,
    /** Hands over the ticks of further databases. */
    otherTicks: async (changed: object = {}) => {
      for (const message of messages.splice(0)) await handOver('workspace-api-ticks', [message], changed)
    },
    /** What the Cron Trigger does in a minute. */
    tick: async (minute: number, changed: object = {}) => {
      vi.setSystemTime(START + minute * MINUTE_MS)
      const scheduledTime = new Date(START + minute * MINUTE_MS)
      await worker.scheduled(createScheduledController({ scheduledTime }), { ...environment, ...changed })
    },
    /** The sentences since the last call. */
    news: async () => {
      const received = await receiver.received()
      const texts = received.slice(told).map(({ body }) => {
        const json = JSON.parse(body)
        expect(Object.keys(json)).toEqual(['text'])
        return json.text
      })
      told = received.length
      return texts
    },
  }
}

/** The test's database, where one task fails: that which removes ended keys. */
function databaseFailingOnce() {
  const isOfTask = (sql: string) => sql.includes('as "kept"')
  const failing = new WeakSet<D1PreparedStatement>()
  return {
    prepare: (sql: string) => ({
      bind: (...values: unknown[]) => {
        const statement = env.DB.prepare(sql).bind(...values)
        if (isOfTask(sql)) failing.add(statement)
        return statement
      },
    }),
    batch: async (statements: D1PreparedStatement[]) => {
      if (statements.some((statement) => failing.has(statement))) throw LOST
      return env.DB.batch(statements)
    },
  } as unknown as D1Database
}

describe('a tick', () => {
  it('asks and writes nothing more without OPERATOR_ALERT_URL', async () => {
    const { tick, receiver } = newDeployment()
    const costOf = async (minute: number, OPERATOR_ALERT_URL: string | undefined) => {
      const { DB, ...use } = watchedDatabase()
      const counted = { DB, OPERATOR_ALERT_URL }
      await tick(minute, counted)
      const isOfAlerts = ({ sql }: { sql: string }) => /"(alerts|tickReports)"/.test(sql)
      const sum = (of: typeof use.statements) => of.reduce((rows, each) => rows + each.rowsRead + each.rowsWritten, 0)
      const [own, other] = [use.statements.filter(isOfAlerts), use.statements.filter((each) => !isOfAlerts(each))]
      return { own: own.length, other: other.length, rows: sum(other) }
    }
    await tick(0)
    const without = await costOf(1, undefined)
    expect(without.own).toBe(0)
    const withUrl = await costOf(2, receiver.url)
    expect(withUrl).toEqual({ ...without, own: 4 })
  })

  it('tells nothing if all is well', async () => {
    const { tick, otherTicks, news } = newDeployment({ DB_1: env.DB })
    for (let minute = 0; minute < 20; minute++) {
      await tick(minute)
      await otherTicks()
    }
    expect(await news()).toEqual([])
  })
})

describe('more events than EVENT_BYTE_LIMIT', () => {
  it('are told once, with the organization and the key that wrote most, and once when they are gone', async () => {
    await env.DB.prepare('DELETE FROM "passes"').run()
    const { tick, news } = newDeployment()
    const workspace = await Workspace.create()
    const [few, most] = [await workspace.addKeyWithId(), await workspace.addKeyWithId()]
    for (const { token, names } of [
      { ...few, names: ['a'] },
      { ...most, names: ['b', 'c'] },
    ]) {
      for (const name of names) await request('PUT', '/v1/projects/website', { key: token, json: { name } })
    }
    const DAY = 24 * 60
    const told: string[] = []
    for (const [minute, EVENT_BYTE_LIMIT] of [
      [1, '100'],
      [2, '100'],
      [1 + DAY, '100'],
      [2 + DAY, '100'],
      [1 + 2 * DAY, '1000000'],
      [1 + 3 * DAY, '1000000'],
    ] as const) {
      await tick(minute, { EVENT_BYTE_LIMIT })
      // The ticks between are left out, which is told too.
      told.push(...(await news()).filter((text) => text.includes('EVENT')).map((text) => `${minute} ${text}`))
    }
    expect(told).toEqual([
      `1 Workspace API: organization ${workspace.organizationId} has 0.0 MB of events, more than EVENT_BYTE_LIMIT (0.0 MB). Most were written by the API key ${most.id}.`,
      `${1 + 3 * DAY} Workspace API: no organization of database 0 has more events than EVENT_BYTE_LIMIT any more.`,
    ])
    expect(await workspace.dump('auditEvents')).toHaveLength(3)
  })

  it('are told without a key if no key wrote the latest, and older ones are not searched for one', async () => {
    await env.DB.prepare('DELETE FROM "passes"').run()
    const { tick, news } = newDeployment()
    const workspace = await Workspace.create()
    await request('PUT', '/v1/projects/website', { key: await workspace.addKey(), json: { name: 'a' } })
    await workspace.addEvents(Array(5000).fill(new Date(START + 1000).toISOString()))
    await tick(1, { EVENT_BYTE_LIMIT: '100' })
    const [told] = (await news()).filter((text) => text.includes('EVENT'))
    expect(told).toMatch(/No API key wrote its latest events\.$/)
  })
})

describe('the size of a database', () => {
  it('is told once at each threshold, and once when it is below again', async () => {
    const { tick, news } = newDeployment()
    const told = []
    for (const [minute, gigabytes] of [6.9, 7, 7.1, 8.4, 8.6, 9.9, 9.4, 9.2, 8.4, 7.2, 6.9, 6.7, 6.7].entries()) {
      await tick(minute, { DB: databaseOfSize(gigabytes) })
      told.push(...(await news()).map((text) => [gigabytes, text]))
    }
    expect(told).toEqual([
      [7, 'Workspace API: database 0 is 70 % full (7.0 of 10 GB).'],
      [8.6, 'Workspace API: database 0 is 86 % full (8.6 of 10 GB).'],
      [9.9, 'Workspace API: database 0 is 99 % full (9.9 of 10 GB).'],
      [9.2, 'Workspace API: database 0 is below 95 % again: 92 % full (9.2 of 10 GB).'],
      [7.2, 'Workspace API: database 0 is below 85 % again: 72 % full (7.2 of 10 GB).'],
      [6.7, 'Workspace API: database 0 is below 70 % again: 67 % full (6.7 of 10 GB).'],
    ])
  })

  it('is that of each database', async () => {
    const { tick, otherTicks, news } = newDeployment({ DB_1: databaseOfSize(8), DB_12: databaseOfSize(7.5) })
    for (const minute of [0, 1]) {
      await tick(minute)
      await otherTicks()
    }
    expect(await news()).toEqual([
      'Workspace API: database 1 is 80 % full (8.0 of 10 GB).',
      'Workspace API: database 12 is 75 % full (7.5 of 10 GB).',
    ])
  })

  it('is unknown while the database does not answer', async () => {
    const { tick, otherTicks, news } = newDeployment({ DB_1: databaseOfSize(8) })
    await tick(0)
    await otherTicks()
    await news()
    await tick(1)
    await otherTicks({ DB_1: failingDatabase(LOST) })
    expect(await news()).toEqual([expect.stringMatching(/^Workspace API: \d+ calls of ticks to database 1 failed\.$/)])
  })
})

describe('late ticks', () => {
  it('of database 0 are told by the next that runs', async () => {
    const { tick, news } = newDeployment()
    await tick(0)
    await tick(5)
    expect(await news()).toEqual([])
    await tick(11)
    expect(await news()).toEqual([
      'Workspace API: no completed tick of database 0 is recorded since 2026-06-01 12:05 UTC.',
    ])
    await tick(12)
    expect(await news()).toEqual([
      'Workspace API: ticks of database 0 complete again. They were late at 2026-06-01 12:11 UTC.',
    ])
    await tick(13)
    expect(await news()).toEqual([])
  })

  it('of further databases are told once, in one sentence', async () => {
    const { tick, messages, otherTicks, news } = newDeployment({ DB_1: env.DB, DB_2: env.DB, DB_3: env.DB })
    await tick(0)
    await otherTicks()
    for (let minute = 1; minute <= 10; minute++) {
      await tick(minute)
      // Only those of database 2 run.
      messages.splice(0, messages.length, ...messages.filter(({ database }) => database === 2))
      await otherTicks()
      if (minute === 5) expect(await news()).toEqual([])
    }
    expect(await news()).toEqual([
      'Workspace API: no completed tick of databases 1, 3 is recorded since 2026-06-01 12:00 UTC.',
    ])
    await otherTicks()
    await tick(11)
    await otherTicks()
    await tick(12)
    await otherTicks()
    await tick(13)
    expect(await news()).toEqual([
      'Workspace API: ticks of databases 1, 3 complete again. They were late at 2026-06-01 12:06 UTC.',
    ])
  })

  it('of a database whose ticks never ran are told too', async () => {
    const { tick, news } = newDeployment({ DB_1: env.DB })
    for (let minute = 0; minute <= 7; minute++) await tick(minute)
    expect(await news()).toEqual([
      'Workspace API: no completed tick of database 1 is recorded since 2026-06-01 12:00 UTC.',
    ])
  })

  it('of all databases are told as those of database 0, which starts the others', async () => {
    const { tick, otherTicks, news } = newDeployment({ DB_1: env.DB, DB_2: env.DB })
    for (const minute of [0, 30, 31, 32]) {
      await tick(minute)
      await otherTicks()
    }
    expect(await news()).toEqual([
      'Workspace API: no completed tick of database 0 is recorded since 2026-06-01 12:00 UTC.',
      'Workspace API: ticks of database 0 complete again. They were late at 2026-06-01 12:30 UTC.',
    ])
  })
})

describe('failing calls', () => {
  it('are told once, and once when they succeed again', async () => {
    const { tick, otherTicks, news } = newDeployment({ DB_1: env.DB })
    for (const minute of [0, 1, 2]) {
      await tick(minute)
      await otherTicks({ DB_1: failingDatabase(LOST) })
    }
    expect(await news()).toEqual([expect.stringMatching(/^Workspace API: \d+ calls of ticks to database 1 failed\.$/)])
    for (const minute of [3, 4]) {
      await tick(minute)
      await otherTicks()
    }
    expect(await news()).toEqual([
      'Workspace API: calls to database 1 succeed again. They failed since 2026-06-01 12:00 UTC.',
    ])
  })

  it('are told if one fails in each of three ticks, but not for less', async () => {
    const { tick, news } = newDeployment()
    const DB = databaseFailingOnce()
    for (const [minute, changed] of [{ DB }, { DB }, {}, { DB }, { DB }].entries()) await tick(minute, changed)
    expect(await news()).toEqual([])
    await tick(5, { DB })
    await tick(6, { DB })
    expect(await news()).toEqual(['Workspace API: 3 calls of ticks to database 0 failed.'])
  })

  it('are told with each tick while database 0, which has the state, fails', async () => {
    const { tick, news } = newDeployment()
    await tick(0)
    for (const minute of [1, 2, 3]) {
      await tick(minute, { DB: failingDatabase(LOST) })
      expect(await news()).toEqual([
        'Workspace API: database 0 does not answer. This is repeated until database 0 answers.',
      ])
    }
    await tick(4)
    expect(await news()).toEqual([])
  })

  it('are not told if the second call to database 0 succeeds', async () => {
    const { tick, news } = newDeployment()
    let calls = 0
    const DB = databaseWith((statements) => (++calls === 1 ? Promise.reject(LOST) : env.DB.batch(statements)))
    await tick(0, { DB })
    expect(calls).toBeGreaterThan(1)
    expect(await news()).toEqual([])
  })

  it('of a further database are told with each tick while the state is unknown', async () => {
    const { tick, messages, otherTicks, news } = newDeployment({ DB_1: env.DB })
    for (const minute of [0, 1]) {
      await tick(minute)
      expect(messages).toHaveLength(1)
      await otherTicks({ DB: failingDatabase(LOST), DB_1: failingDatabase(LOST) })
      expect(await news()).toEqual([
        expect.stringMatching(/^Workspace API: \d+ calls of ticks to database 1 failed\. This is repeated until/),
      ])
    }
  })
})

describe('a database 0 that hangs', { tags: 'slow' }, () => {
  it('is told at the beginning of the tick, which does not come to its end', async () => {
    const { tick, receiver, news } = newDeployment()
    let release = () => {}
    const hanging = new Promise<never>((_, reject) => {
      release = () => reject(LOST)
    })
    const ticking = tick(0, { DB: databaseWith(() => hanging) })
    await expect.poll(() => receiver.received(), { timeout: 120_000 }).toHaveLength(1)
    expect(await news()).toEqual([
      'Workspace API: database 0 does not answer. This is repeated until database 0 answers.',
    ])
    release()
    await ticking
  })
})

describe('a receiver that fails', () => {
  it.each([500, 'break' as const, 'elsewhere'])('with %s is tried again, and the tick goes on', async (answer) => {
    const { tick, receiver, news } = newDeployment()
    await receiver.answers(answer)
    await tick(0)
    await tick(7)
    await tick(8)
    const { results } = await env.DB.prepare('SELECT "scheduledAt" FROM "tickReports"').all()
    expect(results).toEqual([{ scheduledAt: '2026-06-01T12:08:00.000Z' }])
    await news()
    await receiver.answers(200)
    await tick(9)
    await tick(10)
    // It has ended, so its beginning is not told any more.
    expect(await news()).toEqual([
      'Workspace API: ticks of database 0 complete again. They were late at 2026-06-01 12:07 UTC.',
    ])
  })

  it('gets what lasts when it is back', async () => {
    const { tick, receiver, news } = newDeployment({ DB: databaseOfSize(8) })
    await receiver.answers(503)
    for (const minute of [0, 1]) await tick(minute)
    expect(await news()).toHaveLength(2)
    await receiver.answers(200)
    for (const minute of [2, 3]) await tick(minute)
    expect(await news()).toEqual(['Workspace API: database 0 is 80 % full (8.0 of 10 GB).'])
  })
})

describe('dead letters', () => {
  const DEAD = 'workspace-api-deliveries-dead'

  /** A run whose delivery fails as often as the queue tries it. @returns the message. */
  async function givenUp({ tick, messages, handOver }: ReturnType<typeof newDeployment>) {
    const workspace = await Workspace.create()
    const hook = new Receiver()
    await workspace.addRunEndpoint(hook.url)
    const id = await workspace.addSchedule('project', await workspace.addProject(), { cron: '0 0 1 12 *' })
    await workspace.change(schedules, id, {
      enabledAt: new Date(START).toISOString(),
      nextRunAt: new Date(START).toISOString(),
    })
    await tick(0)
    const [message] = messages.splice(0)
    if (!message) throw new Error('The tick has sent nothing')
    const failing = () => handOver('workspace-api-deliveries', [message], { DB: failingDatabase(LOST) })
    for (let attempt = 0; attempt < 6; attempt++) await expect(failing()).rejects.toThrow('D1_ERROR')
    return { message, hook, workspace }
  }

  it('are logged, told once and acknowledged, and told again when none has arrived for half an hour', async () => {
    const deployment = newDeployment()
    const { tick, handOver, news, log } = deployment
    const { message, workspace } = await givenUp(deployment)
    log.mockClear()
    const { ackAll, retryMessages, explicitAcks, outcome } = await handOver(DEAD, [message, message])
    expect([outcome, retryMessages, ackAll || explicitAcks]).toEqual(['ok', [], expect.anything()])
    expect(log.mock.calls.map(([line]) => JSON.parse(line))).toEqual(
      Array(2).fill({ deadLetter: { database: 0, organizationId: workspace.organizationId, runs: 1 } }),
    )
    vi.setSystemTime(START + 20 * MINUTE_MS)
    await handOver(`${DEAD}-staging`, [message])
    const [text, ...others] = await news()
    expect([text, others]).toEqual([
      'Workspace API: messages of database 0 became dead letters after six failed attempts. Ticks send their runs and events again.',
      [],
    ])
    expect(text).not.toContain(workspace.organizationId)
    for (let minute = 21; minute <= 49; minute++) await tick(minute)
    expect(await news()).toEqual([
      expect.stringContaining('no completed tick'),
      expect.stringContaining('complete again'),
    ])
    await tick(50)
    await tick(51)
    expect(await news()).toEqual(['Workspace API: no message of database 0 has become a dead letter for 30 minutes.'])
  })

  it('lose nothing: ticks send the runs again', async () => {
    const deployment = newDeployment()
    const { message, hook } = await givenUp(deployment)
    const { tick, messages, handOver } = deployment
    await handOver(DEAD, [message])
    for (let minute = 1; minute <= 6; minute++) await tick(minute)
    expect(messages).toEqual([message])
    expect(await hook.received()).toEqual([])
    await handOver('workspace-api-deliveries', messages.splice(0))
    expect(await hook.received()).toHaveLength(1)
  })

  it('lose nothing: ticks send the events again', async () => {
    const { tick, messages, handOver } = newDeployment()
    const workspace = await Workspace.create()
    const endpoint = await addEndpoint(workspace, await workspace.addKey(), {}, [])
    await workspace.addEvents([new Date(START - MINUTE_MS).toISOString()], () => ({}))
    await tick(0)
    const [message] = messages.splice(0)
    await handOver(DEAD, message ? [message] : [])
    for (let minute = 1; minute <= 6; minute++) await tick(minute)
    expect(messages).toEqual([message])
    await handOver('workspace-api-deliveries', messages.splice(0))
    expect(await endpoint.received()).toHaveLength(1)
  })

  it('are told by the next tick if the receiver failed', async () => {
    const deployment = newDeployment()
    const { tick, handOver, receiver, news } = deployment
    const { message } = await givenUp(deployment)
    await receiver.answers(500, 200)
    expect((await handOver(DEAD, [message])).outcome).toBe('ok')
    await tick(1)
    await tick(2)
    const [first, second, ...others] = await news()
    expect([second, others]).toEqual([first, []])
  })

  it('are told with each batch, and acknowledged, if database 0 fails', async () => {
    const deployment = newDeployment()
    const { handOver, news } = deployment
    const { message } = await givenUp(deployment)
    for (let batch = 0; batch < 2; batch++) {
      const { outcome, retryMessages } = await handOver(DEAD, [message], { DB: failingDatabase(LOST) })
      expect([outcome, retryMessages]).toEqual(['ok', []])
      expect(await news()).toEqual([
        expect.stringMatching(/dead letters .* This is repeated until database 0 answers\.$/),
      ])
    }
  })

  it('are acknowledged without OPERATOR_ALERT_URL, and `npm run operate -- status` knows of them', async () => {
    const deployment = newDeployment()
    const { message } = await givenUp(deployment)
    const { outcome } = await deployment.handOver(DEAD, [message], { OPERATOR_ALERT_URL: undefined })
    expect(outcome).toBe('ok')
    const { results } = await env.DB.prepare('SELECT "name", "sentAt" FROM "alerts"').all()
    expect(results).toEqual([{ name: 'dead-letters', sentAt: null }])
    expect(await deployment.receiver.received()).toEqual([])
  })
})
