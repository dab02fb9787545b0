/** The measurements. Each takes contenders that have the seeded data and answers with figures. */
import { isDeepStrictEqual } from 'node:util'
import { RUNS_PER_MESSAGE } from '../src/resources/work/run-queue.ts'
import {
  COUNT_FIRED,
  DUE_TICK_AT,
  growKeys,
  makeDue,
  NO_PASS_DUE,
  type Operation,
  operations,
  sameGapRequestAt,
  seedDue,
  seedParentsOfDue,
  token,
} from './data.ts'
import {
  ask,
  type BenchRequest,
  type DatabaseUse,
  load,
  mean,
  median,
  percentile,
  perItem,
  sumOf,
  UNUSED,
} from './load.ts'
import { everyOperation, openPlaces } from './operations.ts'
import { Place, RUN_ENDPOINT, times } from './place.ts'
import type { Server, WorkerServer } from './servers.ts'

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
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, news.includes(name) ? '…' : value]))
}

export interface Speed {
  readonly operation: string
  readonly contender: string
  /** The figures of each round. */
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
  readonly contender: string
  readonly operation: string
  /** The distances, each with the median latency. */
  readonly p50Ms: readonly (readonly [distanceMs: number, latencyMs: number])[]
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
      database = perItem(result.database, perDistance)
    }
    const { name } = contender
    results.push({ contender: name, operation: operation.name, p50Ms: [...p50Ms], slope: slopeOf(p50Ms), database })
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
    for (const operation of operations) results.push(await measureAt(contender, operation, to, Math.ceil(amount / 4)))
  }
  return results
}

/** How many rows are filled in at once: a statement of D1 has a time limit. */
const FILL_PAGE = 50_000

async function measureAt(contender: Contender, operation: Operation, rows: number, amount: number): Promise<Growth> {
  const requestAt = (index: number) => operation.deepRequestAt?.(index, rows) ?? operation.requestAt(index)
  const medians: number[] = []
  let database: DatabaseUse = UNUSED
  for (let round = 0; round < 4; round++) {
    await contender.execute(operation.prepare(amount))
    const result = await load(contender.server.origin, token, requestAt, { amount, connections: 1 })
    refuseFailures(`${operation.name} at ${rows} rows`, result.failures)
    if (round > 0) medians.push(percentile(result.latenciesMs, 0.5))
    database = perItem(result.database, amount)
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
    await server.takeUse()
    for (let round = 0; round < rounds; round++) cpuMs += await tick(schedules)
    const database = perItem(await server.takeUse(), rounds)
    results.push({ schedules, cpuMs: cpuMs / rounds, database })
  }
  return results
}

export interface OperationCost {
  readonly operation: string
  readonly database: DatabaseUse
  readonly cpuMs: number
  /** The input that took the most CPU of those tried. */
  readonly worst: { readonly what: string; readonly cpuMs: number }
  /** The input that took the most memory of those tried that take much CPU. */
  readonly largest: { readonly what: string; readonly memoryMb: number }
}

export interface Enough {
  /** Sent before, unmeasured. */
  readonly warmUp: number
  /** So much CPU that its clock can tell, and so many requests that it need not. */
  readonly cpuMs: number
  readonly requests: number
}

/** Inputs of a megabyte take more. */
const LARGE_CPU_MS = 5

/** Every operation, with a request that succeeds and with the worst that is known. */
export async function operationCosts(
  server: WorkerServer,
  { typical, worst }: { typical: Enough; worst: Enough },
): Promise<OperationCost[]> {
  const places = await openPlaces(server)
  const operations = await everyOperation()
  const results: OperationCost[] = []
  const usual = new Map<string, Awaited<ReturnType<typeof costOf>>>()
  for (const operation of operations) {
    const requestAt = (index: number) => operation.typical(places, index)
    usual.set(operation.name, await costOf(server, operation.name, requestAt, typical))
  }
  // After all the others, which it would heat and fill the memory for.
  for (const { name, worst: candidates } of operations) {
    let dearest = { what: '', cpuMs: 0 }
    let largest = { what: '', memoryMb: 0 }
    for (const [what, request] of candidates) {
      const requestAt = (index: number) => request(places, index)
      const { cpuMs } = await costOf(server, `${name}, ${what}`, requestAt, worst)
      if (cpuMs > dearest.cpuMs) dearest = { what, cpuMs }
      // Collecting the garbage before takes longer than a cheap request, which does not hold megabytes.
      if (cpuMs < LARGE_CPU_MS) continue
      const memoryMb = await memoryOf(server, `${name}, ${what}`, requestAt)
      if (memoryMb > largest.memoryMb) largest = { what, memoryMb }
    }
    const { database = UNUSED, cpuMs = Number.NaN } = usual.get(name) ?? {}
    results.push({ operation: name, database, cpuMs, worst: dearest, largest })
  }
  return results
}

/** The CPU time of one request. More and more are made ready, then sent one after the other, until it is enough. */
async function costOf(
  server: WorkerServer,
  name: string,
  requestAt: (index: number) => Promise<BenchRequest>,
  enough: Enough,
) {
  const send = async (amount: number) => {
    const requests = await times(amount, requestAt)
    let before = Number.NaN
    const { failures, database } = await load(server.origin, '', (index) => requests[index] as BenchRequest, {
      amount,
      connections: 1,
      opened: () => {
        before = server.cpuMs()
      },
    })
    refuseFailures(name, failures)
    return { cpuMs: server.cpuMs() - before, database }
  }
  await send(enough.warmUp)
  let [cpuMs, sent] = [0, 0]
  let database = UNUSED
  for (let amount = 1; cpuMs < enough.cpuMs && sent < enough.requests; amount *= 2) {
    const batch = await send(amount)
    cpuMs += batch.cpuMs
    sent += amount
    database = sumOf(database, batch.database)
  }
  return { cpuMs: cpuMs / sent, database: perItem(database, sent) }
}

/** The memory that one request takes, in MiB. */
async function memoryOf(
  server: WorkerServer,
  name: string,
  requestAt: (index: number) => Promise<BenchRequest>,
): Promise<number> {
  const request = await requestAt(0)
  await server.watchMemory()
  const { failures } = await load(server.origin, '', () => request, { amount: 1, connections: 1 })
  refuseFailures(name, failures)
  return server.peakMemoryMb()
}

/** What the service does without being called, each minute. */
export async function idleTick(server: WorkerServer, ticks: number): Promise<Tick> {
  const tick = async (count: number) => {
    for (let index = 0; index < count; index++) await server.tick(new Date())
  }
  await tick(ticks)
  await server.takeUse()
  const before = server.cpuMs()
  await tick(ticks)
  const cpuMs = (server.cpuMs() - before) / ticks
  return { schedules: 0, cpuMs, database: perItem(await server.takeUse(), ticks) }
}

/** What one run takes, beyond the ticks that it is done in. */
export interface RunCost {
  readonly stage: 'claimed and sent to the queue' | 'delivered' | 'forgotten after 90 days'
  readonly database: DatabaseUse
  readonly cpuMs: number
}

const SCHEDULES_PER_PROJECT = 100
const DAY_MS = 86_400_000

/** Runs that are due in one tick, each delivered to a run endpoint that takes it. */
export async function runCosts(server: WorkerServer, idle: Tick, projects: number): Promise<RunCost[]> {
  const runs = projects * SCHEDULES_PER_PROJECT
  const place = await Place.open(server)
  await place.send('PUT', '/v1/run-endpoint', RUN_ENDPOINT)
  for (let count = 0; count < projects; count++) {
    const parent = `/v1/projects/${await place.put('projects')}`
    await times(SCHEDULES_PER_PROJECT, () => place.addSchedule(parent))
  }
  await execute(server.database, [NO_PASS_DUE])
  const due = new Date(Date.now() + DAY_MS)
  const results: RunCost[] = []
  const measure = async (stage: RunCost['stage'], work: () => Promise<void>, idle: Tick) => {
    await server.takeUse()
    const before = server.cpuMs()
    await work()
    const cpuMs = (server.cpuMs() - before - idle.cpuMs) / runs
    results.push({ stage, database: perItem(sumOf(await server.takeUse(), idle.database, -1), runs), cpuMs })
  }
  const tickAt = (instant: Date) => () => server.tick(instant)

  await measure('claimed and sent to the queue', tickAt(due), idle)
  const { results: references } = await server.database
    .prepare('SELECT "organizationId", "id", "attempts" FROM "runs"')
    .all()
  if (references.length !== runs) throw new Error(`${references.length} of ${runs} schedules fired`)
  const deliver = async () => {
    for (let start = 0; start < runs; start += RUNS_PER_MESSAGE) {
      await server.deliver({ database: 0, runs: references.slice(start, start + RUNS_PER_MESSAGE) })
    }
  }
  await measure('delivered', deliver, { schedules: 0, cpuMs: 0, database: UNUSED })
  const delivered = await count(server, `SELECT count(*) AS n FROM "runs" WHERE "status" = 'delivered'`)
  if (delivered !== runs) throw new Error(`${delivered} of ${runs} runs were delivered`)

  await execute(server.database, ['DELETE FROM "schedules"', `DELETE FROM "passes" WHERE "name" = 'retention'`])
  await measure('forgotten after 90 days', tickAt(new Date(due.getTime() + 91 * DAY_MS)), idle)
  const left = await count(server, 'SELECT count(*) AS n FROM "runs"')
  if (left > 0) throw new Error(`${left} of ${runs} runs were not forgotten`)
  return results
}

async function count(server: WorkerServer, sql: string): Promise<number> {
  return (await server.database.prepare(sql).first<number>('n')) ?? Number.NaN
}

function refuseFailures(what: string, failures: ReadonlyMap<string, number>): void {
  if (failures.size > 0) throw new Error(`${what}: ${JSON.stringify([...failures])}`)
}
