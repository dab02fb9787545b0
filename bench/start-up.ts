/** What a cold start costs: the start of the Worker, and the first request of each operation. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Readable } from 'node:stream'
import { request as httpRequest } from 'undici'
import type { BundleFile } from '../scripts/generate/bundle.ts'
import { describeScript, parsed, temporaryFolder } from '../tools/command-line.ts'
import { readConfiguration } from '../tools/wrangler.ts'
import { operations, organizationId, schema, seed, token, userId } from './data.ts'
import { ask, type BenchRequest, median } from './load.ts'
import { execute } from './measure.ts'
import { type Bundle, bundle, bundleWorker, cpuMsOf, NEIGHBOUR, startWorker, UNLIMITED } from './servers.ts'

/** The path of the program. The package has no types. */
const { default: workerd } = createRequire(import.meta.url)('workerd') as { default: string }

const STARTS = 15
const ROUNDS = 5
/** How far before an operation the other one is listed: another resource, for each of the seven. */
const OTHER = 4
const EMPTY = 'nothing: a Worker of one line'

/** A Worker that is started. */
export interface StartUp {
  readonly contender: string
  readonly gzipBytes: number
  /** From the start of the process to the first response, in milliseconds. */
  readonly ms: number
  /** The CPU time until then, of all threads. */
  readonly cpuMs: number
}

/**
 * Medians of new processes of workerd for each contender, from their start to the first response: 401, because the
 * request for a list of files has no API key. What an empty Worker takes is subtracted. The contenders take turns, so
 * that what else the machine does falls on all of them.
 */
export async function startUps(bundles: ReadonlyMap<string, Bundle>): Promise<StartUp[]> {
  const folder = temporaryFolder(join(tmpdir(), 'workspace-api-bench-'))
  const empty = await bundle('export default { fetch: () => new Response() }')
  const programs = Array.from([[EMPTY, empty] as const, ...bundles], ([contender, { modules, gzipBytes }], index) => ({
    contender,
    gzipBytes,
    configuration: writeConfiguration(join(folder, String(index)), modules),
    times: [] as Times[],
  }))
  // The first start reads workerd and the Worker from disk.
  for (let turn = 0; turn <= STARTS; turn++) {
    // In random order, because the end of a process slows the next one down.
    const places = new Map(programs.map((program) => [program, Math.random()]))
    const placeOf = (program: (typeof programs)[number]) => places.get(program) ?? 0
    for (const { configuration, times } of programs.toSorted((a, b) => placeOf(a) - placeOf(b))) {
      const time = await startOnce(configuration)
      if (turn > 0) times.push(time)
    }
  }
  const medians = programs.map(({ contender, gzipBytes, times }) => ({
    contender,
    gzipBytes,
    ms: median(times.map(({ ms }) => ms)),
    cpuMs: median(times.map(({ cpuMs }) => cpuMs)),
  }))
  const [base = { ms: 0, cpuMs: 0 }, ...others] = medians
  return others.map((each) => ({ ...each, ms: each.ms - base.ms, cpuMs: each.cpuMs - base.cpuMs }))
}

/** @returns the file that workerd reads: compiled, as Miniflare hands it over. */
function writeConfiguration(folder: string, modules: readonly BundleFile[]): string {
  const { compatibility_date, compatibility_flags } = readConfiguration({})
  mkdirSync(folder)
  for (const { path, contents } of modules) writeFileSync(join(folder, path), contents)
  const embedded = modules.map(({ path }) => `(name = "${path}", esModule = embed "${path}")`)
  const text = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${embedded.join(', ')}],
  compatibilityDate = "${compatibility_date}",
  compatibilityFlags = ${JSON.stringify(compatibility_flags)},
  bindings = [(name = "RATE_LIMIT", text = "off"), (name = "REQUEST_LOG", text = "off")],
);`
  const source = join(folder, 'config.capnp')
  writeFileSync(source, text)
  const compiled = join(folder, 'config.bin')
  writeFileSync(compiled, execFileSync(workerd, ['compile', '--config-only', source], { maxBuffer: 2 ** 26 }))
  return compiled
}

interface Times {
  readonly ms: number
  readonly cpuMs: number
}

async function startOnce(configuration: string): Promise<Times> {
  const start = performance.now()
  const worker = spawn(workerd, ['serve', '--binary', '--control-fd=3', configuration], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise((resolve) => worker.on('close', resolve))
  try {
    const origin = `http://127.0.0.1:${await portOf(worker.stdio[3] as Readable)}`
    const { body } = await httpRequest(`${origin}/v1/sessions/${organizationId}/files`)
    await body.dump()
    return { ms: performance.now() - start, cpuMs: cpuMsOf(worker.pid as number) }
  } finally {
    worker.kill('SIGKILL')
    await ended
  }
}

/** Workerd says on its control file when it listens. */
async function portOf(control: Readable): Promise<string> {
  let said = ''
  for await (const chunk of control) {
    said += chunk
    const [, port] = /"event":"listen".*"port":(\d+)/.exec(said) ?? []
    if (port !== undefined) return port
  }
  throw new Error('workerd ended before it listened.')
}

export interface FirstRequest {
  readonly contender: string
  readonly operation: string
  readonly firstMs: number
  readonly secondMs: number
}

/**
 * For each of the seven operations: the first and the second request, each in a fresh process of workerd in which a
 * neighbour has formatted a date, and which has answered one request to another operation, so that its connections are
 * open. The contenders take turns.
 */
export async function firstRequests(bundles: ReadonlyMap<string, Bundle>): Promise<FirstRequest[]> {
  const contenders = []
  for (const [contender, bundle] of bundles) {
    const server = await startWorker(bundle, VARIABLES)
    await execute(server.database, [...schema(), ...seed()])
    contenders.push({ contender, server, times: new Map<string, [first: number, second: number][]>() })
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, operation] of operations.entries()) {
      const other = operations.at(index - OTHER) ?? operation
      for (const { contender, server, times } of contenders) {
        await execute(server.database, [...operation.prepare(2), ...other.prepare(1)])
        await server.restart()
        await ask(await server.originOf(NEIGHBOUR), token, { method: 'GET', path: '/' })
        const timed = async (request: BenchRequest) => {
          const start = performance.now()
          const { status } = await ask(server.origin, token, request)
          if (status >= 300) throw new Error(`${contender}: ${operation.name}: ${status}`)
          return performance.now() - start
        }
        await timed(other.requestAt(0))
        const pair: [number, number] = [await timed(operation.requestAt(0)), await timed(operation.requestAt(1))]
        times.set(operation.name, [...(times.get(operation.name) ?? []), pair])
      }
    }
  }
  await Promise.all(contenders.map(({ server }) => server.stop()))
  return contenders.flatMap(({ contender, times }) =>
    Array.from(times, ([operation, pairs]) => ({
      contender,
      operation,
      firstMs: median(pairs.map(([first]) => first)),
      secondMs: median(pairs.map(([, second]) => second)),
    })),
  )
}

const VARIABLES = {
  ...UNLIMITED,
  ORGANIZATION_ID: organizationId,
  USER_ID: userId,
}

/** The service of another checkout, as that one bundles it. */
async function bundledBy(checkout: string): Promise<Bundle> {
  const servers: typeof import('./servers.ts') = await import(resolve(checkout, 'bench', 'servers.ts'))
  return servers.bundleWorker('src/index.ts')
}

if (import.meta.main) {
  const { against } = parsed(
    describeScript(
      'bench start-up',
      'Measures a cold start: that of the Worker, and the first request of each of the seven core operations.',
      ['', '--against ../before'],
    ).option(
      '--against <folder>',
      'another checkout of this repository whose Worker is a bundle of modules too, to compare with',
    ),
  ).opts()
  const floor = await bundleWorker('bench/floors/one-batch.ts')
  const bundles = new Map([
    ['service', await bundleWorker('src/index.ts')],
    ...(against === undefined ? [] : [['service before', await bundledBy(against)] as const]),
    ['peer a: Hono, Drizzle', await bundleWorker('bench/peers/drizzle.ts')],
  ])
  console.table(await startUps(bundles))
  console.table(
    (await firstRequests(new Map([['floor 2: one batch', floor], ...bundles]))).map((row) => ({
      ...row,
      'first - second': row.firstMs - row.secondMs,
    })),
  )
}
