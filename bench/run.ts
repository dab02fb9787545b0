/** Runs everything side by side on this machine, prints the tables and writes them to bench/RESULTS.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describeScript, parsed, temporaryFolder } from '../tools/command-line.ts'
import { listOf, runNamed, SCRIPT_COMMANDS } from '../tools/commands.ts'
import { backgroundCosts } from './background.ts'
import { WIDE_LIMITS } from './counters.ts'
import { organizationId, schema, seed, userId } from './data.ts'
import { byDatabases } from './databases.ts'
import { deliveries } from './deliveries.ts'
import { besideDatabase } from './failing-database.ts'
import * as measure from './measure.ts'
import { nextRuns } from './next-run.ts'
import { writePictures } from './pictures.ts'
import { FLOOR, machine, PEER, type Results, report, SERVICE } from './report.ts'
import {
  type Bundle,
  bundleWorker,
  type Server,
  startNode,
  startWorker,
  UNLIMITED,
  type WorkerServer,
} from './servers.ts'
import { sizes } from './size.ts'
import { firstRequests, startUps } from './start-up.ts'

if (await runNamed(SCRIPT_COMMANDS.bench)) process.exit()

const { long: isLong = false, pictures: isRedrawn = false } = parsed(
  describeScript(
    'bench',
    `Compares the service with other implementations side by side on this machine, in about ten minutes, prints the tables and writes them to bench/RESULTS.md, with pictures in docs/.\n\n${listOf(SCRIPT_COMMANDS.bench)}`,
    ['', '--long', '--pictures', 'soak --minutes 1'],
  )
    .option('--long', 'more requests and larger databases, in about an hour')
    .option('--pictures', 'only the tables and pictures, from the results of the last run'),
).opts()
const SIZES = isLong
  ? {
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
      background: { rounds: 6, share: 2 },
      organizations: 5_000,
    }
  : {
      amount: 150,
      rounds: 4,
      distances: [0, 30, 100],
      perDistance: 8,
      rows: [1e3, 1e4, 1e5],
      connections: [1, 8, 64],
      gap: 2_000,
      spread: 8,
      batchMs: 0.3,
      due: [1e3, 1e4],
      handled: 5_000,
      typical: { warmUp: 3, cpuMs: 40, requests: 31 },
      worst: { warmUp: 1, cpuMs: 10, requests: 1 },
      idleTicks: 30,
      runProjects: 3,
      background: { rounds: 4, share: 1 },
      organizations: 500,
    }

/** Neither the quotas nor the rate limit are what is measured. */
const VARIABLES = {
  ...UNLIMITED,
  ORGANIZATION_SCHEDULE_LIMIT: '1000000000',
  ORGANIZATION_VARIABLE_LIMIT: '1000000000',
  SKILL_LIMIT: '1000000000',
  API_KEY_LIMIT: '1000000000',
  ORGANIZATION_ID: organizationId,
  USER_ID: userId,
}

const WORKERS = {
  'floor 1: one statement': 'bench/floors/one-statement.ts',
  [FLOOR]: 'bench/floors/one-batch.ts',
  [SERVICE]: 'src/index.ts',
  [PEER]: 'bench/peers/drizzle.ts',
}
const FASTIFY = 'peer b: Fastify, node:sqlite'

const FOLDER = import.meta.dirname
const RESULTS = join(FOLDER, 'results.json')

const folder = temporaryFolder(join(tmpdir(), 'workspace-api-bench-'))
const servers: Server[] = []
const started = performance.now()
try {
  if (isRedrawn && !existsSync(RESULTS)) {
    throw new Error('bench/results.json is missing: --pictures needs the results of a run on this machine.')
  }
  if (!isRedrawn) writeFileSync(RESULTS, `${JSON.stringify(await run(), shorten, 1)}\n`)
  const results: Results = JSON.parse(readFileSync(RESULTS, 'utf8'))
  const text = report(results)
  writeFileSync(join(FOLDER, 'RESULTS.md'), text)
  writePictures(results)
  console.log(text)
} finally {
  await Promise.all(servers.map((server) => server.stop()))
}

/** Five digits are more than any measurement has. */
function shorten(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value
}

async function run(): Promise<Results> {
  const bundles = new Map<string, Bundle>()
  const contenders: measure.Contender[] = []
  for (const [name, entry] of Object.entries(WORKERS)) {
    const bundle = await bundleWorker(entry)
    bundles.set(name, bundle)
    contenders.push(workerContender(name, await startSeeded(bundle)))
  }
  contenders.push(await fastifyContender())
  const serviceBundle = bundles.get(SERVICE) as Bundle
  const named = (...names: string[]) => new Map(names.map((name) => [name, bundles.get(name) as Bundle]))
  const instrumented = await bundleWorker(WORKERS[SERVICE], true)

  say('Checking that all answer alike')
  await measure.checkAnswers(contenders)
  say('Speed')
  const speed = await measure.speed(contenders, SIZES)
  await stopAll()

  say('Distance')
  const distance: measure.Distance[] = []
  for (const [name, entry] of Object.entries(WORKERS)) {
    const server = await startSeeded(await bundleWorker(entry, true))
    distance.push(...(await measure.distance(workerContender(name, server), SIZES)))
    await stopAll()
  }

  say('Load')
  const loads = await measure.loads(workerContender(SERVICE, await startSeeded(serviceBundle)), SIZES)
  await stopAll()

  say('One gap')
  const gap = await measure.sameGap(workerContender(SERVICE, await startSeeded(instrumented)), SIZES)
  await stopAll()

  say('Growth')
  const growth = await measure.growth(workerContender(SERVICE, await startSeeded(instrumented)), SIZES)
  await stopAll()

  say('Beside the seven operations')
  const background = await backgroundCosts(SIZES.background)

  say('Ticks')
  const ticks = await measure.ticks(workerContender(SERVICE, await startSeeded(instrumented)), SIZES)
  await stopAll()

  say('Next runs')
  const computed = await nextRuns(folder, SIZES)

  say('Deliveries')
  const delivered = await deliveries()

  say('A failing database')
  const beside = await besideDatabase()

  say('Several databases')
  const databases = await byDatabases(SIZES.organizations)

  say('Runs')
  const idle = await measure.idleTick(await startEmpty(instrumented), SIZES.idleTicks)
  await stopAll()
  const runs = await measure.runCosts(await startEmpty(instrumented), idle, SIZES.runProjects)
  await stopAll()

  say('Every operation')
  const operations = await measure.operationCosts(await startEmpty(instrumented), SIZES)
  await stopAll()

  say('Start-up')
  const first = await firstRequests(named(SERVICE, FLOOR, PEER))
  // The floors know no API keys, so they have no such first response.
  const start = await startUps(named(SERVICE, PEER))
  say('Bytes of rows')
  const counted = { operations, idle, runs, sizes: sizes() }
  return {
    command: `npm run bench${isLong ? ' -- --long' : ''}`,
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    minutes: (performance.now() - started) / 60_000,
    speed,
    distance,
    loads,
    gap,
    growth,
    background,
    nextRuns: computed,
    ticks,
    deliveries: delivered,
    beside,
    databases,
    counted,
    startUp: { startUps: start, firstRequests: first },
  }
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
  const minutes = ((performance.now() - started) / 60_000).toFixed(1)
  console.error(`${minutes} min ${text}`)
}
