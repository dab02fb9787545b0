/**
 * Steps with schedules and their runs: ticks (at once, late, failing), claims, outcomes, deliveries, changes of the
 * schedules. After each step, what is stored has to follow from what was stored before. Some worlds take chosen steps,
 * which reach every transition, the others random ones.
 */

import * as fc from 'fast-check'
import { v4 as newUuid } from 'uuid'
import { describe, expect, it, vi } from 'vitest'
import { nextRun } from '../../../../src/cron/next-run.ts'
import { computeRunId } from '../../../../src/resources/work/run-id.ts'
import { request } from '../../../support/api.ts'
import { databaseWith } from '../../../support/bindings.ts'
import { env } from '../../../support/env.ts'
import { sized } from '../../../support/long-form.ts'
import { deliverBatch, newOutbox } from '../../../support/queue.ts'
import { advance, HOUR_MS, MINUTE_MS, refusalOf, stopClocks } from '../../../support/runs.ts'
import { tick } from '../../../support/tick.ts'
import { Workspace } from '../../../support/workspace.ts'

const STEPS_PER_WORLD = 100
/** A multiple of the steps of a world. */
const STEPS = sized(200, 2000)
const DEFAULT_FAILURES = 20

stopClocks()

interface Run {
  id: string
  scheduleId: string
  scheduledAt: string
  status: 'pending' | 'delivered' | 'succeeded' | 'failed' | 'skipped'
  failure: 'delivery' | 'task' | 'timeout' | null
  attempts: number
  lastError: string | null
  lastAttempts: string | null
  nextAttemptAt: string | null
  redeliveredAt: string | null
  claimId: string | null
  claimedBy: string | null
  checkAt: string | null
  startedAt: string | null
  finishedAt: string | null
  createdAt: string
}

interface Schedule {
  id: string
  cron: string | null
  runAt: string | null
  timezone: string
  overlap: 'allow' | 'skip'
  maxRunSeconds: number | null
  pauseAfterFailures: number | null
  enabledAt: string | null
  lastRunAt: string | null
  nextRunAt: string | null
  pausedReason: string | null
}

interface Stored {
  readonly runs: ReadonlyMap<string, Run>
  readonly schedules: readonly Schedule[]
}

/** What a step did. */
interface Step {
  /** When it began. */
  at: string
  /** The times of its ticks. */
  ticks: Date[]
  /** True if it did several things at once, or one of them failed: only what always holds is checked. */
  isMixed: boolean
  /** True if it changed schedules. */
  changesSchedules: boolean
  /** The runs that it sent again, or tried to. */
  redelivered: Set<string>
}

const KINDS = {
  tick: 6,
  ticksAtOnce: 3,
  lateTick: 2,
  failingTick: 2,
  advance: 7,
  claim: 6,
  renew: 2,
  complete: 5,
  acknowledge: 2,
  redeliver: 3,
  deliver: 6,
  create: 3,
  patch: 2,
  put: 2,
  pauseOrResume: 3,
  endpoint: 1,
  atOnce: 5,
  failingRequest: 2,
} as const
type Kind = keyof typeof KINDS
const kinds = Object.entries(KINDS).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind as Kind))
const seed = fc.noBias(fc.nat(1_000_000))
const action = fc.record({ kind: fc.constantFrom(...kinds), a: seed, b: seed, c: seed })
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never

/** Without a receiver, runs wait to be pulled. */
const RECEIVERS = ['none', 'up', 'down'] as const
type Receiver = (typeof RECEIVERS)[number]

const advanceBy = (minutes: 1 | 3 | 6): Action => ({
  kind: 'advance',
  a: { 1: 2, 3: 4, 6: 5 }[minutes],
  b: 0,
  c: 0,
})
const TICK: Action = { kind: 'tick', a: 0, b: 0, c: 0 }
/** Claims up to four runs for a minute, or for 15 minutes. */
const CLAIM: Action = { kind: 'claim', a: 0, b: 3, c: 0 }
const CLAIM_FOR_LONG: Action = { ...CLAIM, c: 2 }
/** Complete the first claimed run by its claim, or the second. */
const FAIL: Action = { kind: 'complete', a: 1, b: 0, c: 2 }
const SUCCEED: Action = { ...FAIL, c: 3 }
const SUCCEED_SECOND: Action = { ...FAIL, b: 1 }
const createRunOf = (schedule: 0 | 1 | 2): Action => ({ kind: 'create', a: schedule, b: 0, c: 0 })
/** Changes of the first schedule: their numbers in the list of changes. */
const SKIP_WITH_SHORT_LIMIT: Action = { kind: 'patch', a: 0, b: 0, c: 0 }
const EXTEND_LIMIT: Action = { ...SKIP_WITH_SHORT_LIMIT, b: 4 }
const PAUSE_AFTER_ONE: Action = { ...SKIP_WITH_SHORT_LIMIT, b: 5 }
/** Pause the schedules, so that only requests create runs. */
const PAUSE_ALL: Action[] = [0, 1, 2].map((a) => ({ kind: 'put', a, b: 0, c: 0 }))
/** Hands over a message of the queue, which is neither lost nor comes again. */
const DELIVER: Action = { kind: 'deliver', a: 1, b: 1, c: 0 }
const HOUR: Action = { kind: 'advance', a: 6, b: 0, c: 0 }
/** Sends a run again that failed or was delivered, or any. */
const REDELIVER: Action = { kind: 'redeliver', a: 1, b: 0, c: 0 }
const REDELIVER_ANY: Action = { ...REDELIVER, a: 0 }

/** Steps that reach every transition: those of claims, and those of deliveries to a run endpoint that is down or up. */
const CHOSEN: [Action[], Receiver][] = [
  [
    [
      [advanceBy(6), TICK, CLAIM, advanceBy(1), TICK, CLAIM, SUCCEED, FAIL, SUCCEED],
      [createRunOf(1), createRunOf(1)],
      [PAUSE_AFTER_ONE, createRunOf(0), CLAIM_FOR_LONG, advanceBy(3), SUCCEED, SUCCEED, TICK],
      [SKIP_WITH_SHORT_LIMIT, createRunOf(0), CLAIM_FOR_LONG, advanceBy(6), createRunOf(0)],
      [EXTEND_LIMIT, SUCCEED, SUCCEED_SECOND, TICK],
    ].flat(),
    'none',
  ],
  [
    [
      [...PAUSE_ALL, createRunOf(0), DELIVER],
      ...Array.from({ length: 9 }, () => [HOUR, TICK, DELIVER]),
      [REDELIVER, REDELIVER_ANY],
    ].flat(),
    'down',
  ],
  [[...PAUSE_ALL, createRunOf(0), DELIVER, REDELIVER], 'up'],
]

function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  if (item === undefined) throw new Error('There is nothing to pick')
  return item
}

const isFinished = ({ status }: Run) => ['succeeded', 'failed', 'skipped'].includes(status)
const iso = (time: number) => new Date(time).toISOString()
const clock = () => iso(Date.now())
const deadlineOf = ({ startedAt }: Run, { maxRunSeconds }: Schedule) =>
  startedAt === null || maxRunSeconds === null ? null : iso(Date.parse(startedAt) + maxRunSeconds * 1000)

/** True if the run is pending, or active until its check or its deadline. */
function isUnfinished(run: Run, schedule: Schedule, now: string): boolean {
  if (run.status === 'pending') return true
  const deadline = deadlineOf(run, schedule)
  if (run.status !== 'delivered' || deadline === null) return false
  return deadline > now || (run.checkAt !== null && run.checkAt > now)
}

/** True if the claim and the time limit of the run have ended. */
function isTimedOut(run: Run, schedule: Schedule, now: string): boolean {
  const deadline = deadlineOf(run, schedule)
  return (
    run.status === 'delivered' && run.checkAt !== null && run.checkAt <= now && deadline !== null && deadline <= now
  )
}

/** True if runs may not overlap, the claim or the time limit of the run has ended, and a newer run exists. */
function isSuperseded(run: Run, schedule: Schedule, now: string): boolean {
  const end = run.checkAt ?? deadlineOf(run, schedule)
  const hasNewer = schedule.lastRunAt !== null && schedule.lastRunAt > run.scheduledAt
  return run.status === 'delivered' && schedule.overlap === 'skip' && hasNewer && end !== null && end <= now
}

function scheduleOf({ scheduleId }: Run, { schedules }: Stored): Schedule {
  return pick(
    schedules.filter(({ id }) => id === scheduleId),
    0,
  )
}

/** The runs of the schedule that were not skipped, latest first. */
const firedRuns = ({ runs }: Stored, { id }: Schedule) =>
  [...runs.values()]
    .filter((run) => run.scheduleId === id && run.status !== 'skipped')
    .sort((a, b) => (a.scheduledAt < b.scheduledAt ? 1 : -1))

/** True if the latest runs since the schedule was enabled, as many as its limit, have failed. */
function hasFailedTooOften(stored: Stored, schedule: Schedule, enabledAt: string): boolean {
  const limit = schedule.pauseAfterFailures ?? DEFAULT_FAILURES
  const counted = firedRuns(stored, schedule)
    .filter(({ scheduledAt }) => scheduledAt >= enabledAt)
    .filter(
      ({ status, checkAt }) =>
        status === 'succeeded' || status === 'failed' || (status === 'delivered' && checkAt === null),
    )
    .slice(0, limit)
  return counted.length === limit && counted.every(({ status }) => status === 'failed')
}

/** The database; the call of this number fails before or after its commit. */
function failingAt(number: number, when: 'before' | 'after'): Partial<Cloudflare.Env> {
  let calls = 0
  const DB = databaseWith(async (statements) => {
    const isFailing = ++calls === number
    if (isFailing && when === 'before') throw new Error('D1_ERROR: Network connection lost.')
    const results = await env.DB.batch(statements)
    if (isFailing) throw new Error('D1_ERROR: Network connection lost.')
    return results
  })
  return { DB }
}

/** Every kind of response of a receiver. */
const RESPONSES: (() => Response)[] = [
  () => new Response(null, { status: 202 }),
  () => new Response(null, { status: 204 }),
  () => new Response('ok'),
  () => Response.json({ outcome: 'succeeded', message: 'Done' }),
  () => Response.json({ outcome: 'failed', message: 'Tests failed.' }),
  () => Response.json({ outcome: 'failed' }),
  () => Response.json({ outcome: 'succeeded', sessionId: newUuid() }),
  () => Response.json({ outcome: 'done' }),
  () => new Response('no'.repeat(10_000)),
  () => new Response(null, { status: 500 }),
  () => new Response(null, { status: 503 }),
  () => new Response(null, { status: 302 }),
  () => new Response(null, { status: 410 }),
  () => {
    throw new DOMException('The operation timed out', 'TimeoutError')
  },
  () => {
    throw new TypeError('Network connection lost.')
  },
]

const DOWN = () => new Response(null, { status: 500 })

class World {
  readonly workspace: Workspace
  readonly key: string
  readonly #outbox = newOutbox()
  readonly #schedules: { id: string; path: string; json: Record<string, unknown>; isAlwaysSkip: boolean }[] = []
  /** The claims whose answers arrived, by run. */
  readonly #held = new Map<string, { claimId: string; leaseExpiresAt: string }>()
  /** All claims of a run. */
  readonly #claims = new Map<string, string[]>()
  /** The instants that have to be recorded, and those that requests created. */
  readonly #due = new Set<string>()
  readonly #created = new Set<string>()
  readonly #seen: Set<string>
  #sessionId = ''
  #response = 0

  private constructor(workspace: Workspace, key: string, seen: Set<string>) {
    this.workspace = workspace
    this.key = key
    this.#seen = seen
  }

  /** @param number keeps the IDs of its schedules, by which runs are in order, apart from those of other worlds. */
  static async create(receiver: Receiver, number: number, seen: Set<string>): Promise<World> {
    const workspace = await Workspace.create()
    const world = new World(workspace, await workspace.addKey(), seen)
    const [projectId, agentId] = [await workspace.addProject(), await workspace.addAgent()]
    world.#sessionId = await workspace.addSession(projectId)
    const timing = { cron: '*/5 * * * *', timezone: 'UTC' }
    const all: [string, Record<string, unknown>][] = [
      [`projects/${projectId}`, { ...timing, maxRunSeconds: 120, pauseAfterFailures: 3, payload: { a: 1 } }],
      [`agents/${agentId}`, { cron: '*/3 * * * *', overlap: 'skip', maxRunSeconds: 240, pauseAfterFailures: 4 }],
      [`projects/${projectId}`, { ...timing, cron: '*/7 * * * *', pauseAfterFailures: 2 }],
    ]
    for (const [index, [parent, json]] of all.entries()) {
      const id = `00000000-0000-4000-8000-${String(number * all.length + index).padStart(12, '0')}`
      const path = `/v1/${parent}/schedules/${id}`
      world.#schedules.push({ id, path, json, isAlwaysSkip: index === 1 })
      expect((await world.send('PUT', path, json)).status).toBe(201)
    }
    if (receiver !== 'none') await world.#setEndpoint()
    // The time of a retry.
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
      // Some receivers complete the run before they respond.
      const runId = String(new Headers(init?.headers).get('webhook-id'))
      if (world.#response % 7 === 0) await world.send('POST', `/v1/runs/${runId}/complete`, { outcome: 'succeeded' })
      return receiver === 'down' ? DOWN() : pick(RESPONSES, world.#response++)()
    })
    return world
  }

  readonly send = (method: string, path: string, json?: object, environment: Partial<Cloudflare.Env> = {}) =>
    request(method, path, {
      key: this.key,
      ...(json && { json }),
      environment: {
        DELIVERIES: this.#outbox.environment.DELIVERIES,
        SLOW_DELIVERIES: this.#outbox.environment.DELIVERIES,
        ...environment,
      },
    })

  async stored(): Promise<Stored> {
    const [runs = [], schedules = []] = await this.workspace.dumpAll(['runs', 'schedules'])
    return {
      runs: new Map((runs as unknown as Run[]).map((run) => [run.id, run])),
      schedules: schedules as unknown as Schedule[],
    }
  }

  async #tick(instant: Date, environment: Partial<Cloudflare.Env> = {}): Promise<void> {
    const { DELIVERIES } = this.#outbox.environment
    await tick({ ...env, DELIVERIES, SLOW_DELIVERIES: DELIVERIES, ...environment }, instant)
  }

  async #setEndpoint(): Promise<void> {
    const json = { url: `https://hooks.example.com/${newUuid()}` }
    expect([200, 201]).toContain((await this.send('PUT', '/v1/run-endpoint', json)).status)
  }

  /** Takes the step. @returns what it did. */
  async take({ kind, a, b, c }: Action, before: Stored): Promise<Step> {
    const now = new Date()
    const step: Step = {
      at: now.toISOString(),
      ticks: [],
      isMixed: false,
      changesSchedules: false,
      redelivered: new Set(),
    }
    const tickAt = (instant: Date, environment?: Partial<Cloudflare.Env>) => {
      step.ticks.push(instant)
      return this.#tick(instant, environment)
    }
    const late = new Date(now.getTime() - (1 + (b % 4)) * MINUTE_MS)
    const failing = failingAt(1 + (a % 12), pick(['before', 'after'], b))
    switch (kind) {
      case 'tick':
        await tickAt(now)
        break
      case 'ticksAtOnce':
        step.isMixed = true
        await Promise.all([tickAt(now), tickAt(now), tickAt(late)])
        break
      case 'lateTick':
        await tickAt(late)
        break
      case 'failingTick':
        step.isMixed = true
        vi.spyOn(console, 'error').mockImplementation(() => {})
        await tickAt(now, failing)
        break
      case 'advance':
        advance(pick([1000, 20_000, MINUTE_MS, MINUTE_MS, 3 * MINUTE_MS, 6 * MINUTE_MS, HOUR_MS], a))
        break
      case 'atOnce':
        step.isMixed = true
        await Promise.all(
          [a, b, c, a + b].slice(0, 2 + (a % 3)).map((seed, index) => {
            if (seed % 6 === 0) return tickAt(index % 2 ? late : now)
            if (seed % 6 === 1) return this.#deliver(seed, step)
            // Several requests for the same run are likely.
            const subs = ['claim', 'complete', 'complete', 'renew', 'acknowledge', 'create', 'redeliver'] as const
            const sub = pick(subs, seed)
            return this.#request({ kind: sub, a: b, b: seed, c: index }, before, step)
          }),
        )
        break
      case 'failingRequest': {
        step.isMixed = true
        vi.spyOn(console, 'error').mockImplementation(() => {})
        const subs = ['claim', 'complete', 'complete', 'renew', 'acknowledge', 'create', 'put', 'redeliver'] as const
        const sub = pick(subs, c)
        await this.#request({ kind: sub, a, b, c }, before, step, failingAt(1, pick(['before', 'after'], b)))
        break
      }
      case 'deliver':
        await this.#deliver(a, step, b % 4 === 0 ? failingAt(1 + (b % 2), pick(['before', 'after'], c)) : {})
        break
      default:
        await this.#request({ kind, a, b, c }, before, step)
    }
    return step
  }

  /** Hands a message over. Some come again, and some are lost. */
  async #deliver(seed: number, step: Step, environment: Partial<Cloudflare.Env> = {}): Promise<void> {
    const { messages } = this.#outbox
    if (messages.length === 0) return
    step.isMixed = true
    const index = seed % messages.length
    const message = pick(messages, index)
    if (seed % 5 !== 0) messages.splice(index, 1)
    if (seed % 11 === 0) return
    this.#response += seed % RESPONSES.length
    await deliverBatch([message], {
      ...this.#outbox.environment,
      SLOW_DELIVERIES: this.#outbox.environment.DELIVERIES,
      ...environment,
    }).catch((error) => {
      if (Object.keys(environment).length === 0) throw error
    })
  }

  async #request({ kind, a, b, c }: Action, before: Stored, step: Step, environment: Partial<Cloudflare.Env> = {}) {
    const send = (method: string, path: string, json?: object) => this.send(method, path, json, environment)
    const isFailing = 'DB' in environment
    const schedule = pick(this.#schedules, a)
    const runs = [...before.runs.values()].filter(({ status }) => status !== 'skipped' || a % 9 === 0)
    // Runs that such a request may change are more interesting.
    const isOpen = (run: Run) =>
      kind === 'acknowledge'
        ? run.status === 'pending'
        : kind === 'redeliver'
          ? run.failure === 'delivery' || (run.status === 'delivered' && run.claimId === null)
          : run.status === 'delivered'
    const open = runs.filter(isOpen)
    const run = runs.length === 0 ? undefined : pick(open.length > 0 && a % 5 > 0 ? open : runs, b)
    switch (kind) {
      case 'claim': {
        const limit = 1 + (b % 4)
        const { status, body } = await send('POST', '/v1/runs/claim', {
          limit,
          leaseSeconds: pick([60, 100, 900], c),
        })
        if (isFailing && status !== 200) return
        expect(status).toBe(200)
        this.#hold(body.items, before, step, limit)
        return
      }
      case 'renew': {
        if (!run) return
        const claimId = this.#claimOf(run, c) ?? newUuid()
        const answer = await send('POST', `/v1/runs/${run.id}/renew`, {
          claimId,
          leaseSeconds: pick([60, 300], b),
        })
        if (!step.isMixed) {
          const its = scheduleOf(run, before)
          const isCurrent =
            run.status === 'delivered' &&
            run.claimId === claimId &&
            (deadlineOf(run, its) ?? '~') > clock() &&
            !isSuperseded(run, its, clock())
          expect(refusalOf(answer)).toEqual(isCurrent ? [200, null] : [409, 'claim_mismatch'])
        }
        const held = this.#held.get(run.id)
        if (held?.claimId !== claimId) return
        // The claim may end earlier than before, if only the answer was lost.
        if (isFailing && answer.status !== 200) this.#held.delete(run.id)
        if (answer.status !== 200) return
        const { leaseExpiresAt } = answer.body
        // If two ran at once, either may be the last.
        held.leaseExpiresAt = [leaseExpiresAt, step.isMixed ? held.leaseExpiresAt : leaseExpiresAt].sort()[0]
        return
      }
      case 'complete': {
        if (!run) return
        const claimId = this.#claimOf(run, c)
        const outcome = pick(['succeeded', 'failed', 'failed'] as const, b + c)
        const sessionId = c % 5 === 0 ? this.#sessionId : undefined
        const answer = await send('POST', `/v1/runs/${run.id}/complete`, {
          outcome,
          claimId,
          sessionId,
          message: `${b}`,
        })
        if (answer.status === 200) expect(answer.body.status).toBe(outcome)
        if (step.isMixed) return
        const its = scheduleOf(run, before)
        const isLate = [isTimedOut(run, its, clock()), isSuperseded(run, its, clock())] as const
        const expected = expectedOf(run, outcome, claimId ?? null, isLate.includes(true))
        expect(refusalOf(answer)).toEqual(expected)
        if (isLate.includes(true) && expected[1] === 'run_finished')
          this.#seen.add(isLate[0] ? 'refused after its time' : 'refused after a newer run')
        return
      }
      case 'acknowledge': {
        if (!run) return
        const answer = await send('POST', `/v1/runs/${run.id}/acknowledge`)
        if (step.isMixed) return
        const isRefused = isFinished(run) || (run.status === 'delivered' && run.claimId !== null)
        expect(refusalOf(answer)).toEqual(isRefused ? [409, 'run_not_pending'] : [200, null])
        return
      }
      case 'redeliver': {
        if (!run) return
        const answer = await send('POST', `/v1/runs/${run.id}/redeliver`)
        if (answer.status === 200 || answer.status >= 500) step.redelivered.add(run.id)
        if (answer.status === 200) {
          expect(answer.body).toMatchObject({ id: run.id, status: 'pending', attempts: 0, failure: null, claim: null })
          this.#seen.add(`redelivered a ${run.status} run`)
        }
        if (step.isMixed) return
        const its = scheduleOf(run, before)
        const isOver =
          (isFinished(run) && run.failure !== 'delivery') ||
          isTimedOut(run, its, clock()) ||
          (its.overlap === 'skip' && its.lastRunAt !== null && its.lastRunAt > run.scheduledAt)
        const isClaimed = run.status === 'delivered' && run.claimId !== null
        const expected = isClaimed ? [409, 'run_not_pending'] : isOver ? [409, 'run_finished'] : [200, null]
        expect([[404, 'run_endpoint_not_found'], expected]).toContainEqual(refusalOf(answer))
        const [endpoint] = await this.workspace.dump('runEndpoints')
        expect(answer.status === 404).toBe(endpoint === undefined)
        return
      }
      case 'create': {
        advance(1)
        this.#created.add(`${schedule.id} ${clock()}`)
        const { status } = await send('POST', `${schedule.path}/runs`)
        expect(isFailing ? [201, 503] : [201]).toContain(status)
        return
      }
      case 'patch': {
        step.changesSchedules = true
        const changes: object[] = schedule.isAlwaysSkip
          ? [{ name: 'Review' }, { pauseAfterFailures: 2 }, { pauseAfterFailures: null }, { cron: '*/4 * * * *' }]
          : [
              { overlap: 'skip', maxRunSeconds: 300 },
              { overlap: 'allow' },
              { overlap: 'allow', maxRunSeconds: null },
              { maxRunSeconds: 60 },
              { maxRunSeconds: 600 },
              { pauseAfterFailures: 1 },
              { pauseAfterFailures: 3 },
              { pauseAfterFailures: null },
              { payload: { b } },
              { cron: '*/2 * * * *', timezone: 'UTC' },
              { runAt: iso(Date.now() + 4 * MINUTE_MS) },
            ]
        expect((await send('PATCH', schedule.path, pick(changes, b))).status).toBe(200)
        return
      }
      case 'put': {
        step.changesSchedules = true
        const json = { ...schedule.json, enabled: b % 5 > 0, note: `${b % 3}` }
        const first = await send('PUT', schedule.path, json)
        if (isFailing && first.status !== 200) return
        const again = await this.send('PUT', schedule.path, json)
        expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
        expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'))
        return
      }
      case 'pauseOrResume': {
        step.changesSchedules = true
        const paused = before.schedules.find(({ enabledAt }) => enabledAt === null)
        const { path } = this.#schedules.find(({ id }) => id === paused?.id) ?? schedule
        const enabled = paused !== undefined || b % 3 > 0
        expect((await send('PATCH', path, { enabled })).status).toBe(200)
        return
      }
      case 'endpoint': {
        if (a % 3 > 0) return this.#setEndpoint()
        expect([200, 404]).toContain((await send('DELETE', '/v1/run-endpoint')).status)
      }
    }
  }

  /** The claim that a worker names: mostly the current one, else an earlier one, none or an unknown one. */
  #claimOf(run: Run, seed: number): string | undefined {
    if (seed % 6 > 1) return run.claimId ?? undefined
    const earlier = this.#claims.get(run.id) ?? []
    if (seed % 6 === 1 && earlier.length > 0) return pick(earlier, seed)
    return seed % 12 === 0 ? newUuid() : undefined
  }

  #hold(
    items: readonly {
      id: string
      claimId: string
      leaseExpiresAt: string
      attempt: number
      previous: unknown
    }[],
    before: Stored,
    step: Step,
    limit: number,
  ): void {
    expect(items.length).toBeLessThanOrEqual(limit)
    const claimable = [...before.runs.values()]
      .filter(({ status, checkAt }) => status === 'pending' && checkAt === null)
      .map(({ id }) => id)
      .sort()
    if (!step.isMixed) expect(items.map(({ id }) => id)).toEqual(claimable.slice(0, limit))
    for (const { id, claimId, leaseExpiresAt, attempt, previous } of items) {
      const held = this.#held.get(id)
      if (held) expect([id, held.leaseExpiresAt <= clock()]).toEqual([id, true])
      this.#held.set(id, { claimId, leaseExpiresAt })
      this.#claims.set(id, [...(this.#claims.get(id) ?? []), claimId])
      const run = before.runs.get(id)
      const schedule = before.schedules.find((each) => each.id === run?.scheduleId)
      if (step.isMixed || !run || !schedule) continue
      expect(attempt).toBe(run.attempts + 1)
      const earlier = firedRuns(before, schedule).find(({ scheduledAt }) => scheduledAt < run.scheduledAt)
      expect(previous).toEqual(
        earlier === undefined
          ? null
          : expect.objectContaining({ id: earlier.id, status: earlier.status, failure: earlier.failure }),
      )
    }
  }

  async check(before: Stored, after: Stored, step: Step): Promise<void> {
    for (const run of before.runs.values()) this.#checkMove(run, after.runs.get(run.id), before, after, step)
    for (const run of after.runs.values()) this.#checkRun(run, before, after, step)
    for (const schedule of after.schedules) this.#checkSchedule(schedule, before, after, step)
    for (const [id, { claimId, leaseExpiresAt }] of this.#held) {
      const run = after.runs.get(id)
      if (!run || isFinished(run) || leaseExpiresAt <= clock()) this.#held.delete(id)
      else expect([run.status, run.claimId]).toEqual(['delivered', claimId])
    }
    const instants = [...after.runs.values()].map((run) => `${run.scheduleId} ${run.scheduledAt}`)
    expect(new Set(instants).size).toBe(instants.length)
    expect(await this.workspace.usage()).toEqual(await this.workspace.countedUsage())
  }

  /** A run moves forward, or its claim has ended. */
  #checkMove(run: Run, next: Run | undefined, before: Stored, after: Stored, step: Step): void {
    if (!next) throw new Error(`The run ${run.id} is gone`)
    if (step.redelivered.has(run.id)) {
      expect(run.status).not.toMatch(/succeeded|skipped/)
      expect(['delivery', null]).toContain(run.failure)
      return
    }
    if (isFinished(run)) expect(next).toEqual(run)
    expect(next.attempts).toBeGreaterThanOrEqual(run.attempts)
    // A late tick checks runs at the time at which it runs.
    const hasTicked = step.ticks.length > 0
    const move = `${run.status} ${next.status}`
    if (move === 'delivered pending' || (move === 'delivered delivered' && run.claimId !== next.claimId)) {
      expect([run.claimId, run.checkAt]).toEqual([expect.any(String), expect.any(String)])
      expect(hasTicked && String(run.checkAt) <= clock()).toBe(true)
    }
    const its = scheduleOf(run, after)
    const isLate = (now: string) => isTimedOut(run, its, now) || isSuperseded(run, its, now)
    if (next.status === 'failed' && run.status !== 'failed' && next.failure === 'timeout')
      expect([run.status, hasTicked, isLate(clock())]).toEqual(['delivered', true, true])
    // A run that was late before the step has no other way out.
    const schedule = scheduleOf(run, before)
    const wasLate = isTimedOut(run, schedule, step.at) || isSuperseded(run, schedule, step.at)
    if (wasLate && !step.changesSchedules && next.failure !== 'timeout')
      expect([next.status, next.claimId, next.checkAt]).toEqual([run.status, run.claimId, run.checkAt])
  }

  #checkRun(run: Run, before: Stored, after: Stored, step: Step): void {
    expect(run.id).toBe(computeRunId(run.scheduleId, run.scheduledAt))
    const { status, failure, claimId, checkAt, startedAt, finishedAt, attempts } = run
    expect([failure !== null, finishedAt !== null, status]).toEqual([
      status === 'failed',
      status === 'failed' || status === 'succeeded',
      status,
    ])
    if (isFinished(run)) expect(checkAt).toBeNull()
    if (status === 'pending') expect(startedAt).toBeNull()
    expect(run.nextAttemptAt === null || (status === 'pending' && run.nextAttemptAt === checkAt)).toBe(true)
    const lastAttempts: { startedAt: string }[] = JSON.parse(run.lastAttempts ?? '[]')
    expect(lastAttempts.length).toBeLessThanOrEqual(6)
    if (status === 'skipped') expect([attempts, claimId, startedAt]).toEqual([0, null, null])
    if (status === 'delivered') {
      expect(startedAt).not.toBeNull()
      if (claimId !== null) expect(checkAt).not.toBeNull()
    }
    if (failure === 'delivery') expect([attempts >= 6, startedAt]).toEqual([true, null])
    // A tick leaves nothing to check.
    const [instant] = step.ticks
    if (instant && !step.isMixed) expect(checkAt === null || checkAt > clock()).toBe(true)

    const schedule = after.schedules.find(({ id }) => id === run.scheduleId)
    if (before.runs.has(run.id) || !schedule || step.isMixed || step.changesSchedules) return
    // The run is new.
    const isMissed = /was missed/.test(run.lastError ?? '')
    const [latest] = firedRuns(before, schedule)
    const now = instant?.toISOString() ?? clock()
    const overlapped = schedule.overlap === 'skip' ? latest : undefined
    const reason =
      overlapped !== undefined && overlapped.scheduledAt > run.scheduledAt
        ? `The run of ${overlapped.scheduledAt} was created before this one fired.`
        : overlapped !== undefined && isUnfinished(overlapped, schedule, now)
          ? `The run of ${overlapped.scheduledAt} was not finished.`
          : null
    const expected = isMissed ? run.lastError : reason
    expect([run.status, run.lastError]).toEqual([expected === null ? 'pending' : 'skipped', expected])
  }

  #checkSchedule(schedule: Schedule, before: Stored, after: Stored, step: Step): void {
    const { id, enabledAt, pausedReason, nextRunAt, lastRunAt } = schedule
    const was = before.schedules.find((each) => each.id === id)
    if (!was) throw new Error('The schedule is new')
    const fired = firedRuns(after, schedule)
    expect(lastRunAt).toBe(fired[0]?.scheduledAt ?? null)
    if (enabledAt === null) expect(nextRunAt).toBeNull()
    if (enabledAt !== null && schedule.cron !== null) expect(nextRunAt).not.toBeNull()
    if (this.#schedules.find((each) => each.id === id)?.isAlwaysSkip)
      expect(fired.filter((run) => isUnfinished(run, schedule, clock())).length).toBeLessThanOrEqual(1)

    // What was due and has moved on is recorded, sooner or later.
    const ticks = step.ticks.map((at) => at.toISOString()).sort()
    const [first] = ticks.filter((at) => was.nextRunAt !== null && at >= was.nextRunAt)
    // A failure at the same time may have paused the schedule before the tick.
    const hasMoved = nextRunAt !== was.nextRunAt && (enabledAt !== null || !step.isMixed)
    if (!step.changesSchedules && was.nextRunAt !== null && hasMoved && first) {
      for (let at = was.nextRunAt; at <= first; ) {
        this.#due.add(`${id} ${at}`)
        if (was.cron === null) break
        at = nextRun(was.cron, was.timezone, new Date(at)).toISOString()
      }
    }

    if (step.changesSchedules) return
    const failed = fired.filter((run) => run.status === 'failed' && before.runs.get(run.id)?.status !== 'failed')
    const isPaused = was.enabledAt !== null && enabledAt === null
    if (enabledAt !== null) {
      expect([enabledAt, pausedReason]).toEqual([was.enabledAt, was.pausedReason])
      if (failed.some(({ scheduledAt }) => scheduledAt >= enabledAt) && !step.isMixed)
        expect(hasFailedTooOften(after, schedule, enabledAt)).toBe(false)
    }
    if (!isPaused) return
    const limit = schedule.pauseAfterFailures ?? DEFAULT_FAILURES
    const counted = limit === 1 ? 'A run failed.' : `${limit} runs in a row failed.`
    expect(pausedReason?.startsWith(`${counted} The last failure (`)).toBe(true)
    expect(failed.map(({ failure }) => failure)).toContain(/\((\w+)\)/.exec(String(pausedReason))?.[1])
    if (!step.isMixed) expect(hasFailedTooOften(after, schedule, String(was.enabledAt))).toBe(true)
  }

  /** Lets every run come to its end. @throws if one does not. */
  async end(receiver: Receiver): Promise<Stored> {
    for (const { path } of this.#schedules) await this.send('PATCH', path, { enabled: false })
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
      receiver === 'down' ? DOWN() : Response.json({ outcome: 'succeeded' }),
    )
    for (let round = 0; round < 40; round++) {
      advance(20 * MINUTE_MS)
      await this.#tick(new Date())
      await this.#outbox.deliver()
      const { body } = await this.send('POST', '/v1/runs/claim', { limit: 20, leaseSeconds: 60 })
      for (const { id, claimId } of body.items)
        expect((await this.send('POST', `/v1/runs/${id}/complete`, { outcome: 'succeeded', claimId })).status).toBe(200)
    }
    const { runs, schedules } = await this.stored()
    for (const run of runs.values())
      if (!isFinished(run)) expect(run).toMatchObject({ status: 'delivered', claimId: null, checkAt: null })
    expect(await this.workspace.dump('missedSpans')).toEqual([])
    const instants = new Set([...runs.values()].map(({ scheduleId, scheduledAt }) => `${scheduleId} ${scheduledAt}`))
    for (const instant of this.#due) expect([...instants]).toContain(instant)
    return { runs, schedules }
  }
}

/** The answer to a completion of the run as it was. */
function expectedOf(
  { status, failure, claimId: current }: Run,
  outcome: string,
  claimId: string | null,
  isLate: boolean,
) {
  const isOfClaim = claimId === null ? current === null || status === 'pending' : current === claimId
  if (!isOfClaim) return [409, 'claim_mismatch']
  const isOpen = status === 'pending' || (status === 'delivered' && !isLate)
  const isSame = status === outcome && (failure === null || failure === 'task')
  return isOpen || isSame ? [200, null] : [409, 'run_finished']
}

describe('schedules and their runs', () => {
  it(`follow their rules in chosen steps and in ${STEPS} random ones`, { timeout: 3_600_000 }, async () => {
    const seen = new Set<string>()
    const actions = fc.array(action, { minLength: STEPS_PER_WORLD, maxLength: STEPS_PER_WORLD })
    let worlds = 0
    const property = fc.asyncProperty(actions, fc.constantFrom(...RECEIVERS), async (steps, receiver) => {
      const world = await World.create(receiver, worlds++, seen)
      let before = await world.stored()
      for (const [index, each] of steps.entries()) {
        try {
          const step = await world.take(each, before)
          const after = await world.stored()
          await world.check(before, after, step)
          for (const run of after.runs.values()) {
            const was = before.runs.get(run.id)
            if (was?.status !== run.status)
              seen.add(`${was?.status ?? 'new'} to ${run.status} ${run.failure ?? ''}`.trim())
          }
          for (const { id, enabledAt, pausedReason } of after.schedules)
            if (enabledAt === null && pausedReason !== null && before.schedules.find((was) => was.id === id)?.enabledAt)
              seen.add('paused')
          before = after
        } catch (error) {
          const last = steps.slice(Math.max(0, index - 5), index + 1)
          throw new Error(`Step ${index}: ${JSON.stringify(last)}\n${(error as Error).message}`, {
            cause: error,
          })
        }
      }
      for (const { failure } of (await world.end(receiver)).runs.values())
        if (failure === 'delivery') seen.add('ended as failed delivery')
      vi.restoreAllMocks()
    })
    const numRuns = CHOSEN.length + STEPS / STEPS_PER_WORLD
    await fc.assert(property, { numRuns, examples: CHOSEN, endOnFailure: true })
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'new to pending',
        'new to skipped',
        'pending to delivered',
        'delivered to pending',
        'delivered to succeeded',
        'delivered to failed task',
        'delivered to failed timeout',
        'ended as failed delivery',
        'paused',
        'redelivered a pending run',
        'redelivered a delivered run',
        'redelivered a failed run',
        'refused after its time',
        'refused after a newer run',
      ]),
    )
  })
})
