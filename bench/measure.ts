/** The measurements. Each takes contenders that have the seeded data and answers with figures. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  COUNT_FIRED,
  DUE_TICK_AT,
  growKeys,
  makeDue,
  type Operation,
  operations,
  sameGapRequestAt,
  seedDue,
  seedParentsOfDue,
  token,
} from './data.ts'
import { LATEST_TICK } from './instrument.ts'
import { ask, type BenchRequest, type DatabaseUse, load, median, percentile } from './load.ts'
import type { Bundle, Server, WorkerServer } from './servers.ts'

export interface Contender {
  readonly name: string
  readonly server: Server
  execute(statements: readonly string[]): Promise<void>
}

export interface WorkerContender extends Contender {
  readonly server: WorkerServer
}

export async function execute(database: D1Database, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await database.prepare(statement).run()
}

/** @throws if two contenders answer the same request with another status or another body. */
export async function checkAnswers(contenders: readonly Contender[]): Promise<void> {
  for (const operation of operations) {
    const answers: { name: string; status: number; body: unknown }[] = []
    for (const { name, server, execute } of contenders) {
      await execute(operation.prepare(1))
      const { status, body } = await ask(server.origin, token, operation.requestAt(0))
      answers.push({ name, status, body: withoutNews(body) })
    }
    const [first, ...others] = answers
    for (const other of others) {
      const same = first?.status === other.status && isDeepStrictEqual(first.body, other.body)
      if (!same || other.status >= 300) {
        throw new Error(`${operation.name}: ${JSON.stringify(first)} is not ${JSON.stringify(other)}`)
      }
    }
  }
}

/** A new schedule has an id and times of its own. */
function withoutNews(body: object): object {
  if (!('nextRunAt' in body)) return body
  const news = ['id', 'enabledAt', 'nextRunAt', 'createdAt', 'updatedAt']
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, news.includes(name) ? '…' : value]),
  )
}

export interface Speed {
  readonly operation: string
  readonly contender: string
  /** Of each round. */
  readonly perSecond: readonly number[]
  readonly cpuMs: readonly number[]
  readonly p50Ms: readonly number[]
  readonly p99Ms: readonly number[]
}

/** Rounds that alternate: forwards, backwards, forwards, … so that a drift of the machine meets all alike. */
export async function speed(
  contenders: readonly Contender[],
  { amount, rounds }: { amount: number; rounds: number },
): Promise<Speed[]> {
  const results: Speed[] = []
  for (const operation of operations) {
    const rows = contenders.map((contender) => ({
      contender,
      figures: {
        perSecond: [] as number[],
        cpuMs: [] as number[],
        p50Ms: [] as number[],
        p99Ms: [] as number[],
      },
    }))
    for (const { contender } of rows) await loadOperation(contender, operation, Math.ceil(amount / 4))
    for (let round = 0; round < rounds; round++) {
      for (const { contender, figures } of round % 2 === 0 ? rows : [...rows].reverse()) {
        const { result, cpuMs } = await loadOperation(contender, operation, amount)
        figures.perSecond.push(result.requests / result.seconds)
        figures.cpuMs.push(cpuMs / result.requests)
        figures.p50Ms.push(percentile(result.latenciesMs, 0.5))
        figures.p99Ms.push(percentile(result.latenciesMs, 0.99))
      }
    }
    for (const { contender, figures } of rows) {
      results.push({ operation: operation.name, contender: contender.name, ...figures })
    }
  }
  return results
}

const CONNECTIONS = 8

async function loadOperation({ name, server, execute }: Contender, operation: Operation, amount: number) {
  await execute(operation.prepare(amount))
  const before = server.cpuMs()
  const result = await load(server.origin, token, operation.requestAt, { amount, connections: CONNECTIONS })
  const cpuMs = server.cpuMs() - before
  refuseFailures(`${name}, ${operation.name}`, result.failures)
  return { result, cpuMs }
}

export interface Distance {
  readonly operation: string
  /** The median latency at each distance. */
  readonly p50Ms: ReadonlyMap<number, number>
  /** By how much the latency grows with the distance: the number of round trips. */
  readonly slope: number
  /** What one request asks of D1. */
  readonly database: DatabaseUse
}

export async function distance(
  contender: Contender,
  { distances, perDistance }: { distances: readonly number[]; perDistance: number },
): Promise<Distance[]> {
  const results: Distance[] = []
  for (const operation of operations) {
    const p50Ms = new Map<number, number>()
    let database: DatabaseUse = UNUSED
    for (const delayMs of distances) {
      await contender.execute(operation.prepare(perDistance))
      const result = await load(contender.server.origin, token, operation.requestAt, {
        amount: perDistance,
        connections: 1,
        delayMs,
      })
      refuseFailures(`${contender.name}, ${operation.name}`, result.failures)
      p50Ms.set(delayMs, percentile(result.latenciesMs, 0.5))
      database = perRequest(result.database, perDistance)
    }
    results.push({ operation: operation.name, p50Ms, slope: slopeOf(p50Ms), database })
  }
  return results
}

/** The slope of the line through the points that is nearest to them (least squares). */
function slopeOf(points: ReadonlyMap<number, number>): number {
  const xs = [...points.keys()]
  const meanX = mean(xs)
  const meanY = mean([...points.values()])
  let covariance = 0
  let variance = 0
  for (const [x, y] of points) {
    covariance += (x - meanX) * (y - meanY)
    variance += (x - meanX) ** 2
  }
  return covariance / variance
}

export interface Loads {
  readonly connections: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** All operations in turn, over more and more connections. */
export async function loads(
  contender: Contender,
  { amount, connections }: { amount: number; connections: readonly number[] },
): Promise<Loads[]> {
  const mixedRequestAt = (index: number): BenchRequest => {
    const operation = operations[index % operations.length] as Operation
    return operation.requestAt(Math.floor(index / operations.length))
  }
  const results: Loads[] = []
  for (const count of connections) {
    for (const operation of operations) await contender.execute(operation.prepare(amount))
    const result = await load(contender.server.origin, token, mixedRequestAt, {
      amount: amount * 2,
      connections: count,
    })
    refuseFailures(`${count} connections`, result.failures)
    results.push({
      connections: count,
      perSecond: result.requests / result.seconds,
      p50Ms: percentile(result.latenciesMs, 0.5),
      p99Ms: percentile(result.latenciesMs, 0.99),
    })
  }
  return results
}

export interface Gap {
  readonly placements: number
  readonly rowsWritten: number
}

/** Placements into one gap, one after the other. */
export async function sameGap(contender: Contender, { gap }: { gap: number }): Promise<Gap> {
  const result = await load(contender.server.origin, token, sameGapRequestAt, { amount: gap, connections: 1 })
  refuseFailures('one gap', result.failures)
  return { placements: gap, rowsWritten: result.database.rowsWritten }
}

export interface Growth {
  readonly operation: string
  readonly rows: number
  readonly medianMs: number
  readonly database: DatabaseUse
}

export async function growth(
  contender: Contender,
  { rows, amount }: { rows: readonly number[]; amount: number },
): Promise<Growth[]> {
  const results: Growth[] = []
  let from = 0
  for (const to of rows) {
    for (let start = from; start < to; start += FILL_PAGE) {
      const end = Math.min(start + FILL_PAGE, to)
      await contender.execute(growKeys(start, end))
      for (const operation of operations) await contender.execute(operation.grow(start, end))
    }
    from = to
    for (const operation of operations)
      results.push(await measureAt(contender, operation, to, Math.ceil(amount / 4)))
  }
  return results
}

/** How many rows are filled in at once: a statement of D1 has a time limit. */
const FILL_PAGE = 50_000

async function measureAt(
  contender: Contender,
  operation: Operation,
  rows: number,
  amount: number,
): Promise<Growth> {
  const requestAt = (index: number) => operation.deepRequestAt?.(index, rows) ?? operation.requestAt(index)
  const medians: number[] = []
  let database: DatabaseUse = UNUSED
  for (let round = 0; round < 4; round++) {
    await contender.execute(operation.prepare(amount))
    const result = await load(contender.server.origin, token, requestAt, { amount, connections: 1 })
    refuseFailures(`${operation.name} at ${rows} rows`, result.failures)
    if (round > 0) medians.push(percentile(result.latenciesMs, 0.5))
    database = perRequest(result.database, amount)
  }
  return { operation: operation.name, rows, medianMs: median(medians), database }
}

export interface Tick {
  /** How many are due. */
  readonly schedules: number
  readonly cpuMs: number
  readonly database: DatabaseUse
}

/** Ticks over more and more due schedules, each of them over as many as were due at the one before. */
export async function ticks(
  { server, execute }: WorkerContender,
  { due, handled }: { due: readonly number[]; handled: number },
): Promise<Tick[]> {
  const tick = async (schedules: number) => {
    await execute(makeDue())
    const before = server.cpuMs()
    await server.tick(DUE_TICK_AT)
    const cpuMs = server.cpuMs() - before
    const fired = await server.database.prepare(COUNT_FIRED).first('fired')
    if (fired !== schedules) throw new Error(`${fired} of ${schedules} schedules fired`)
    return cpuMs
  }
  await execute(seedParentsOfDue())
  const results: Tick[] = []
  for (const schedules of due) {
    await execute(seedDue(schedules))
    const rounds = Math.max(3, Math.ceil(handled / schedules))
    for (let round = 0; round < rounds / 4; round++) await tick(schedules)
    let cpuMs = 0
    for (let round = 0; round < rounds; round++) cpuMs += await tick(schedules)
    const response = await fetch(new URL(LATEST_TICK, server.origin))
    const database = (await response.json()) as DatabaseUse
    results.push({ schedules, cpuMs: cpuMs / rounds, database })
  }
  return results
}

/** Node has no `cloudflare:workers`. */
const NODE_STAND_IN = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve: (name, context, next) =>
      name === 'cloudflare:workers'
        ? { url: 'data:text/javascript,export class WorkerEntrypoint {}', shortCircuit: true }
        : next(name, context),
  })
`

/** How long each bundle takes to evaluate, in milliseconds: the median of fresh processes of Node, whose V8 is workerd's kin. */
export function startUps(bundles: ReadonlyMap<string, Bundle>, folder: string) {
  return Array.from(bundles, ([contender, { code, gzipBytes }], index) => {
    const file = join(folder, `bundle-${index}.mjs`)
    writeFileSync(file, code)
    const program = `${NODE_STAND_IN}const start = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - start)`
    const times = Array.from({ length: 9 }, () =>
      Number(
        spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }).stdout,
      ),
    )
    return { contender, gzipBytes, evaluationMs: median(times) }
  })
}

const UNUSED: DatabaseUse = { calls: 0, statements: 0, rowsRead: 0, rowsWritten: 0 }

function perRequest(use: DatabaseUse, requests: number): DatabaseUse {
  return {
    calls: use.calls / requests,
    statements: use.statements / requests,
    rowsRead: use.rowsRead / requests,
    rowsWritten: use.rowsWritten / requests,
  }
}

function refuseFailures(what: string, failures: ReadonlyMap<string, number>): void {
  if (failures.size > 0) throw new Error(`${what}: ${JSON.stringify([...failures])}`)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
