/**
 * Builds the contenders and starts them: Workers in workerd, each in a process of its own, without a proxy
 * before it.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { bundleModules, type ModuleBundle } from '../scripts/generate/bundle.ts'
import { bindingOf } from '../src/db/database.ts'
import { readConfiguration } from '../tools/wrangler.ts'
import { COLLECT_GARBAGE, TAKE_USE } from './instrument.ts'
import type { DatabaseUse } from './load.ts'

// Miniflare starts workerd with it. `COLLECT_GARBAGE` needs it.
process.env.MINIFLARE_WORKERD_V8_FLAGS = '--expose-gc'

/** The variables of a service whose rate limit is not measured. */
export const UNLIMITED = {
  RATE_LIMIT: 'off',
  ENCRYPTION_KEYS: 'bench:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
}
/** Nor is its log. */
export const QUIET = { ...UNLIMITED, REQUEST_LOG: 'off' }

const ROOT = join(import.meta.dirname, '..')

export interface Bundle extends Pick<ModuleBundle, 'modules'> {
  readonly gzipBytes: number
}

export interface Server {
  readonly origin: URL
  /** CPU time that its processes have used, in milliseconds. */
  cpuMs(): number
  stop(): Promise<void>
}

export interface WorkerServer extends Server {
  /** Database 0. */
  readonly database: D1Database
  readonly databaseAt: (number: number) => D1Database
  readonly objects: R2Bucket
  /** The origin of an interface. */
  readonly originOf: (name: string) => Promise<URL>
  memoryMb(): number
  /** The most memory that its processes have held at once since `watchMemory`, beyond what they held then. */
  peakMemoryMb(): number
  /**
   * Collects the garbage of the Worker, if it is instrumented, and begins to watch how much memory its
   * processes hold.
   */
  watchMemory(): Promise<void>
  /** Starts a new process of workerd with the same databases. */
  restart(): Promise<void>
  /** Fires the Cron Trigger. For a time ahead of the clock, which the service would not use, it sends the tick's message. */
  tick(at: Date): Promise<void>
  /** Hands a message over as the queue does. */
  deliver(message: object): Promise<void>
  /** What was asked of D1 since the last call, if the Worker is instrumented. */
  takeUse(): Promise<DatabaseUse>
}

const SERVICE = 'src/index.ts'

/** Bundles a Worker as it is deployed. @param instrumented wraps its database, see instrument.ts. */
export async function bundleWorker(entry: string, instrumented = false): Promise<Bundle> {
  const contents = instrumented
    ? `import worker from './${entry}'\nimport { instrument } from './bench/instrument.ts'\nexport default instrument(worker)`
    : `export * from './${entry}'\nexport { default } from './${entry}'`
  return bundle(contents, entry === SERVICE)
}

/** Bundles a module of the project's root. @param splitting into modules, as the service is deployed. */
export async function bundle(contents: string, splitting = false): Promise<Bundle> {
  const { modules } = await bundleModules({ stdin: { contents, resolveDir: ROOT, loader: 'ts' }, splitting })
  return { modules, gzipBytes: gzipSync(modules.map((each) => each.contents).join(''), { level: 9 }).byteLength }
}

/**
 * A Worker beside the measured one. Cloudflare runs many in one process, so somebody has formatted a date there before: the
 * first `Intl.DateTimeFormat` of a process reads ICU's tables, which takes 11 ms.
 */
export const NEIGHBOUR = 'neighbour'
const NEIGHBOUR_CODE = `export default {
  fetch: () => new Response(new Intl.DateTimeFormat('en-US', { timeZone: 'Asia/Tokyo' }).format())
}`

/** What answers the requests that a Worker makes. */
export type Outside = (request: Request) => Promise<Response>

export interface WorkerOptions {
  /** Takes the deliveries, through the queues of wrangler.toml. Without it the queues have no consumer: messages are dropped. */
  readonly receiver?: Outside
  /** How many. */
  readonly databases?: number
  /** The MCP Worker and the console Worker, in the same process. */
  readonly interfaces?: Readonly<Record<'mcp' | 'console', Bundle>>
}

/** @param variables text bindings. */
export async function startWorker(
  bundle: Bundle,
  variables: Record<string, string>,
  { receiver, databases = 1, interfaces }: WorkerOptions = {},
): Promise<WorkerServer> {
  const { compatibility_date, compatibility_flags, queues } = readConfiguration({})
  const queueProducers = queues.producers?.map(({ binding, queue = '' }) => [binding, queue]) ?? []
  const queueConsumers = queues.consumers?.map(({ queue, max_batch_size: maxBatchSize = 10 }) => [
    queue,
    { maxBatchSize },
  ])
  const workerOf = (name: string, { modules }: Pick<Bundle, 'modules'>) => ({
    name,
    modules: modules.map((each) => ({ type: 'ESModule' as const, ...each })),
    compatibilityDate: compatibility_date as string,
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  })
  const beside = Object.entries(interfaces ?? {}).map(([name, bundle]) => ({
    ...workerOf(name, bundle),
    serviceBindings: { API: 'contender', ASSETS: () => new Response(null, { status: 404 }) },
  }))
  const options = convertV4MiniflareOptions({
    workers: [
      {
        ...workerOf('contender', bundle),
        compatibilityFlags: compatibility_flags,
        bindings: variables,
        d1Databases: Object.fromEntries(
          Array.from({ length: databases }, (_, number) => [
            bindingOf(number),
            number === 0 ? 'bench' : `bench-${number}`,
          ]),
        ),
        r2Buckets: { OBJECTS: 'bench' },
        queueProducers: Object.fromEntries(queueProducers),
        ...(receiver && { queueConsumers: Object.fromEntries(queueConsumers ?? []) }),
        ratelimits: {
          KEY_RATE_LIMIT: { namespace_id: '1', simple: { limit: 600, period: 60 } },
          ORGANIZATION_RATE_LIMIT: { namespace_id: '3', simple: { limit: 6000, period: 60 } },
          REFUSAL_RATE_LIMIT: { namespace_id: '2', simple: { limit: 60, period: 60 } },
        },
        outboundService: receiver ?? (() => new Response(null, { status: 204 })),
        ...(interfaces && { serviceBindings: { MCP: 'mcp' } }),
      },
      workerOf(NEIGHBOUR, { modules: [{ path: 'index.mjs', contents: NEIGHBOUR_CODE }] }),
      ...beside,
    ],
    // The service logs each request.
    handleStructuredLogs: ({ level, message }) => {
      if (level === 'error') console.error(message)
    },
    cf: false,
  })
  const others = new Set(childrenOf(process.pid))
  const miniflare = new Miniflare(options)
  const originOf = (name: string) => miniflare.unsafeGetDirectURL(name)
  const connect = async () => {
    const origin = await originOf('contender')
    const bindings = await miniflare.getBindings<Record<string, unknown> & { OBJECTS: R2Bucket }>('contender')
    const processes = childrenOf(process.pid).filter((pid) => !others.has(pid))
    return { origin, bindings, processes }
  }
  let { origin, bindings, processes } = await connect()
  const deliver = async (body: object) => {
    const worker = await miniflare.getWorker('contender')
    const { outcome } = await worker.queue('bench', [{ id: '0', timestamp: new Date(), attempts: 1, body }])
    if (outcome !== 'ok') throw new Error(`The delivery ended with ${outcome}`)
  }
  const databaseAt = (number: number) => bindings[bindingOf(number)] as D1Database
  const memoryMb = () => processes.reduce((sum, pid) => sum + memoryMbOf(pid), 0)
  let memoryBeforeMb = 0
  return {
    get origin() {
      return origin
    },
    originOf,
    get database() {
      return databaseAt(0)
    },
    databaseAt,
    get objects() {
      return bindings.OBJECTS
    },
    tick: async (scheduledTime) => {
      if (scheduledTime.getTime() > Date.now()) return deliver({ database: 0, tickAt: scheduledTime.toISOString() })
      const worker = await miniflare.getWorker('contender')
      const { outcome } = await worker.scheduled({ scheduledTime, cron: '* * * * *' })
      if (outcome !== 'ok') throw new Error(`The tick ended with ${outcome}`)
    },
    deliver,
    takeUse: async () => (await (await fetch(new URL(TAKE_USE, origin))).json()) as DatabaseUse,
    cpuMs: () => processes.reduce((sum, pid) => sum + cpuMsOf(pid), 0),
    memoryMb,
    peakMemoryMb: () => processes.reduce((sum, pid) => sum + peakMemoryMbOf(pid), 0) - memoryBeforeMb,
    watchMemory: async () => {
      await fetch(new URL(COLLECT_GARBAGE, origin))
      // "5" resets the peak (proc_pid_clear_refs(5)).
      for (const pid of processes) writeFileSync(`/proc/${pid}/clear_refs`, '5')
      memoryBeforeMb = memoryMb()
    },
    restart: async () => {
      await miniflare.setOptions(options)
      ;({ origin, bindings, processes } = await connect())
    },
    stop: () => miniflare.dispose(),
  }
}

/** Starts a Node program that prints `ready <port>` when it listens. */
export async function startNode(script: string, args: readonly string[]): Promise<Server> {
  const server = spawn(process.execPath, [join(ROOT, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve, reject) => {
    let printed = ''
    server.stdout.on('data', (chunk) => {
      printed += chunk
      const [, ready] = /ready (\d+)/.exec(printed) ?? []
      if (ready) resolve(ready)
    })
    server.on('exit', (code) => reject(new Error(`${script} ended with ${code}`)))
  })
  return {
    origin: new URL(`http://127.0.0.1:${port}`),
    cpuMs: () => cpuMsOf(server.pid as number),
    stop: async () => {
      server.removeAllListeners('exit')
      const ended = new Promise((resolve) => server.on('close', resolve))
      server.kill()
      await ended
    },
  }
}

/** Process ids, from Linux's /proc. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)?.[1] === String(parent))
}

/** The time that the threads of a process have run (first field of /proc/pid/task/tid/schedstat, in nanoseconds). */
export function cpuMsOf(pid: number): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).reduce((sum, thread) => sum + nanosecondsOf(`${tasks}/${thread}/schedstat`), 0) / 1e6
}

/** 0 if the thread has ended meanwhile. */
function nanosecondsOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}

const PAGE_BYTES = 4096

/** Resident memory of a process (proc_pid_stat(5), field 24). */
function memoryMbOf(pid: number): number {
  return (Number(statOf(pid)?.[21] ?? 0) * PAGE_BYTES) / 2 ** 20
}

/** The most resident memory that a process has had (proc_pid_status(5), VmHWM). */
function peakMemoryMbOf(pid: number): number {
  const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

/** The fields after the name of the command: state, parent, … */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
