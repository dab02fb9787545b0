/** Runs everything side by side on this machine, prints the tables and writes them to bench/RESULTS.md. */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describeScript, parsed, temporaryFolder } from '../operate/command-line.ts'
import { organizationId, schema, seed, userId } from './data.ts'
import { deliveries } from './delivery.ts'
import * as measure from './measure.ts'
import { nextRuns } from './next-run.ts'
import { report } from './report.ts'
import { type Bundle, bundleWorker, type Server, startNode, startWorker, type WorkerServer } from './servers.ts'
import { sizes } from './size.ts'
import { firstRequests, startUps } from './start-up.ts'

const { quick: QUICK = false } = parsed(
  describeScript(
    'bench',
    'Compares the service with other implementations side by side on this machine, prints the tables and writes them to bench/RESULTS.md.',
    ['', '--quick'],
  ).option('--quick', 'a short version, with fewer requests and smaller databases'),
).opts()
const SIZES = QUICK
  ? {
      amount: 150,
      rounds: 2,
      distances: [0, 30],
      perDistance: 6,
      rows: [1e3, 1e4],
      connections: [1, 64],
      gap: 500,
      spread: 8,
      batchMs: 0.3,
      due: [100, 1e3],
      handled: 3_000,
      typical: { warmUp: 2, cpuMs: 20, requests: 15 },
      worst: { warmUp: 1, cpuMs: 10, requests: 3 },
      idleTicks: 20,
      runProjects: 2,
    }
  : {
      amount: 1_500,
      rounds: 4,
      distances: [0, 5, 30, 100],
      perDistance: 40,
      rows: [1e3, 1e4, 1e5, 1e6],
      connections: [1, 8, 64, 256],
      gap: 100_000,
      spread: 40,
      batchMs: 2,
      due: [1e3, 1e4, 3e4],
      handled: 30_000,
      typical: { warmUp: 30, cpuMs: 200, requests: 255 },
      worst: { warmUp: 2, cpuMs: 200, requests: 127 },
      idleTicks: 200,
      runProjects: 20,
    }

/** Neither the quotas nor the rate limit are what is measured. */
const VARIABLES = {
  RATE_LIMIT: 'off',
  ORGANIZATION_SCHEDULE_LIMIT: '1000000000',
  ORGANIZATION_VARIABLE_LIMIT: '1000000000',
  SKILL_LIMIT: '1000000000',
  API_KEY_LIMIT: '1000000000',
  ENCRYPTION_KEYS: 'bench:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  ORGANIZATION_ID: organizationId,
  USER_ID: userId,
}

/** As many as a page of a list may have. */
const WIDE_LIMITS = { SCHEDULE_LIMIT: '1000', VARIABLE_LIMIT: '1000' }

const WORKERS = {
  'floor 1: one statement': 'bench/floors/one-statement.ts',
  'floor 2: one batch': 'bench/floors/one-batch.ts',
  service: 'src/index.ts',
  'peer a: Hono, Drizzle': 'bench/peers/drizzle.ts',
}
const FASTIFY = 'peer b: Fastify, node:sqlite'

const folder = temporaryFolder(join(tmpdir(), 'workspace-api-bench-'))
const servers: Server[] = []
try {
  await run()
} finally {
  await Promise.all(servers.map((server) => server.stop()))
}

async function run(): Promise<void> {
  const bundles = new Map<string, Bundle>()
  const contenders: measure.Contender[] = []
  for (const [name, entry] of Object.entries(WORKERS)) {
    const bundle = await bundleWorker(entry)
    bundles.set(name, bundle)
    contenders.push(workerContender(name, await startSeeded(bundle)))
  }
  contenders.push(await fastifyContender())

  say('Checking that all answer alike')
  await measure.checkAnswers(contenders)
  say('Speed')
  const speed = await measure.speed(contenders, SIZES)
  await stopAll()

  say('Distance')
  const distance = new Map<string, measure.Distance[]>()
  for (const [name, entry] of Object.entries(WORKERS)) {
    const server = await startSeeded(await bundleWorker(entry, true))
    distance.set(name, await measure.distance(workerContender(name, server), SIZES))
    await stopAll()
  }

  say('Load')
  const loads = await measure.loads(
    workerContender('service', await startSeeded(await bundleWorker(WORKERS.service))),
    SIZES,
  )
  await stopAll()

  say('One gap')
  const instrumented = await bundleWorker(WORKERS.service, true)
  const gap = await measure.sameGap(workerContender('service', await startSeeded(instrumented)), SIZES)
  await stopAll()

  say('Growth')
  const growth = await measure.growth(workerContender('service', await startSeeded(instrumented)), SIZES)

  await stopAll()

  say('Schedules')
  const ticks = await measure.ticks(workerContender('service', await startSeeded(instrumented)), SIZES)
  await stopAll()
  const computed = await nextRuns(folder, SIZES)
  say('Deliveries')
  const delivered = await deliveries()

  say('Every operation')
  const idle = await measure.idleTick(await startEmpty(instrumented), SIZES.idleTicks)
  await stopAll()
  const runs = await measure.runCosts(await startEmpty(instrumented), idle, SIZES.runProjects)
  await stopAll()
  const operations = await measure.operationCosts(await startEmpty(instrumented), SIZES)
  await stopAll()

  say('Start-up')
  bundles.delete('floor 1: one statement')
  const first = await firstRequests(bundles)
  // The floors know no API keys, so they have no such first response.
  bundles.delete('floor 2: one batch')
  const started = await startUps(bundles)
  const text = report({
    quick: QUICK,
    speed,
    distance,
    loads,
    gap,
    growth,
    nextRuns: computed,
    ticks,
    deliveries: delivered,
    counted: { operations, idle, runs, sizes: sizes() },
    startUp: { startUps: started, firstRequests: first },
  })
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), text)
  console.log(text)
}

async function startSeeded(bundle: Bundle): Promise<WorkerServer> {
  const server = await startWorker(bundle, VARIABLES)
  servers.push(server)
  await measure.execute(server.database, [...schema(), ...seed()])
  return server
}

async function startEmpty(bundle: Bundle): Promise<WorkerServer> {
  const server = await startWorker(bundle, { ...VARIABLES, ...WIDE_LIMITS })
  servers.push(server)
  await measure.execute(server.database, schema())
  return server
}

function workerContender(name: string, server: WorkerServer): measure.WorkerContender {
  return { name, server, execute: (statements) => measure.execute(server.database, statements) }
}

async function fastifyContender(): Promise<measure.Contender> {
  const file = join(folder, 'fastify.sqlite')
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL')
  const execute = async (statements: readonly string[]) => {
    for (const statement of statements) database.exec(statement)
  }
  await execute([...schema(), ...seed()])
  const server = await startNode('bench/peers/fastify.ts', ['--port', '0', '--database', file])
  servers.push(server)
  return { name: FASTIFY, server, execute }
}

async function stopAll(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
}

function say(text: string): void {
  console.error(`${new Date().toISOString()} ${text}`)
}
