/** What a cold start costs: evaluating the bundle, and the first request of an operation. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describeScript, parsed } from '../operate/command-line.ts'
import { type Operation, operations, organizationId, schema, seed, token, userId } from './data.ts'
import { ask, type BenchRequest, median } from './load.ts'
import { type Bundle, bundleWorker, startWorker } from './servers.ts'

const STAND_IN = pathToFileURL(join(import.meta.dirname, '..', 'scripts', 'node-stand-in.ts')).href
const EVALUATIONS = 15
const ROUNDS = 5
/** How far before an operation the other one is listed: another resource, for each of the seven. */
const OTHER = 4

export interface Evaluation {
  readonly contender: string
  readonly gzipBytes: number
  /** The median of fresh processes of Node, whose V8 is workerd's kin. */
  readonly ms: number
}

/** The contenders take turns, so that what else the machine does falls on all of them. */
export function evaluations(bundles: ReadonlyMap<string, Bundle>): Evaluation[] {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-api-bench-'))
  const programs = Array.from(bundles, ([contender, { code, gzipBytes }], index) => {
    const file = join(folder, `bundle-${index}.mjs`)
    writeFileSync(file, code)
    const program = `const start = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - start)`
    return { contender, gzipBytes, program, times: [] as number[] }
  })
  for (let turn = 0; turn < EVALUATIONS; turn++) {
    for (const { program, times } of programs) {
      const arguments_ = ['--import', STAND_IN, '--input-type=module', '-e', program]
      times.push(Number(spawnSync(process.execPath, arguments_, { encoding: 'utf8' }).stdout))
    }
  }
  rmSync(folder, { recursive: true })
  return programs.map(({ contender, gzipBytes, times }) => ({ contender, gzipBytes, ms: median(times) }))
}

export interface FirstRequest {
  readonly contender: string
  readonly operation: string
  readonly firstMs: number
  readonly secondMs: number
}

/**
 * Of each of the seven operations: the first and the second request, each in a fresh process of workerd that
 * has answered one request to another operation, so that its connections are open.
 */
export async function firstRequests(contender: string, bundle: Bundle): Promise<FirstRequest[]> {
  const results: FirstRequest[] = []
  for (const [index, operation] of operations.entries()) {
    const other = operations.at(index - OTHER) as Operation
    const times: [first: number, second: number][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startWorker(bundle, VARIABLES)
      for (const statement of [...schema(), ...seed(), ...operation.prepare(2), ...other.prepare(1)]) {
        await server.database.prepare(statement).run()
      }
      const timed = async (request: BenchRequest) => {
        const start = performance.now()
        const { status } = await ask(server.origin, token, request)
        if (status >= 300) throw new Error(`${operation.name}: ${status}`)
        return performance.now() - start
      }
      await timed(other.requestAt(0))
      times.push([await timed(operation.requestAt(0)), await timed(operation.requestAt(1))])
      await server.stop()
    }
    results.push({
      contender,
      operation: operation.name,
      firstMs: median(times.map(([first]) => first)),
      secondMs: median(times.map(([, second]) => second)),
    })
  }
  return results
}

const VARIABLES = {
  RATE_LIMIT: 'off',
  ENCRYPTION_KEYS: 'bench:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  ORGANIZATION_ID: organizationId,
  USER_ID: userId,
}

if (import.meta.main) {
  parsed(
    describeScript(
      'bench:start-up',
      'Measures a cold start: the evaluation of the bundle, and the first request of each of the seven core operations.',
      [''],
    ),
  )
  const bundles = new Map([
    ['service', await bundleWorker('src/index.ts')],
    ['peer a: Hono, Drizzle', await bundleWorker('bench/peers/drizzle.ts')],
  ])
  console.table(evaluations(bundles))
  for (const [contender, bundle] of bundles) console.table(await firstRequests(contender, bundle))
}
