/**
 * What the organizations of one database notice while another database works, fails, or hangs: the latency of their
 * requests and of their deliveries, beside clients of the other database and its ticks.
 */
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { mintToken } from '../src/access/api-key.ts'
import { schema } from './data.ts'
import { load, percentile } from './load.ts'
import { json, Place } from './place.ts'
import { bundle, QUIET, startWorker, type WorkerServer } from './servers.ts'

const MODES = ['works', 'fails', 'hangs'] as const
const REQUESTS = 400
const DELIVERIES = 50
/** Clients of the organization in the other database. */
const CLIENTS = 20
/** After this, D1 gives up by itself. */
const HANG_MS = 10_000
const MAX_WAIT_MS = 30_000

const WORKER = `import worker from './src/index.ts'
// Each failure would be a line.
console.error = () => {}
let mode = 'works'
const batch = (database, statements) => {
  if (mode === 'works') return database.batch(statements)
  const error = new Error('D1_ERROR: Network connection lost.')
  if (mode === 'fails') return Promise.reject(error)
  return new Promise((_, reject) => setTimeout(reject, ${HANG_MS}, error))
}
const other = (environment) => ({
  ...environment,
  DB_1: { prepare: (sql) => environment.DB_1.prepare(sql), batch: (statements) => batch(environment.DB_1, statements) },
})
export default {
  fetch(request, environment, context) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/mode') return worker.fetch(request, other(environment), context)
    mode = searchParams.get('is')
    return new Response()
  },
  scheduled: (controller, environment, context) => worker.scheduled(controller, other(environment), context),
  queue: (batch, environment, context) => worker.queue(batch, other(environment), context),
}`

export interface Beside {
  readonly mode: (typeof MODES)[number]
  readonly requestMs: { readonly p50: number; readonly p99: number }
  readonly deliveryMs: { readonly p50: number; readonly p99: number }
  readonly missing: number
}

type ReceivedAt = ReadonlyMap<string, number>

export async function besideDatabase(): Promise<Beside[]> {
  const receivedAt = new Map<string, number>()
  const receiver = async ({ headers }: Request) => {
    receivedAt.set(String(headers.get('webhook-id')), performance.now())
    return new Response(null, { status: 204 })
  }
  const server = await startWorker(await bundle(WORKER, true), QUIET, { receiver, databases: 2 })
  try {
    for (const number of [0, 1]) {
      const database = server.databaseAt(number)
      await database.batch(schema().map((sql) => database.prepare(sql)))
    }
    const place = await Place.open(server)
    await place.send('PUT', '/v1/run-endpoint', json({ url: 'https://hooks.example.com/' }))
    const schedule = await place.addSchedule(`/v1/projects/${await place.put('projects')}`)
    const results: Beside[] = []
    for (const mode of MODES) results.push(await measure(server, mode, place, schedule, receivedAt))
    return results
  } finally {
    await server.stop()
  }
}

async function measure(
  server: WorkerServer,
  mode: Beside['mode'],
  place: Place,
  schedule: string,
  receivedAt: ReceivedAt,
): Promise<Beside> {
  await fetch(new URL(`/mode?is=${mode}`, server.origin))
  const others = await disturb(server)
  const { latenciesMs } = await load(server.origin, place.token, () => ({ method: 'GET', path: '/v1/projects' }), {
    amount: REQUESTS,
    connections: 1,
  })
  const sentAt = new Map<string, number>()
  for (let count = 0; count < DELIVERIES; count++) {
    const start = performance.now()
    sentAt.set(await place.addRun(schedule), start)
    await sleep(40)
  }
  const end = performance.now() + MAX_WAIT_MS
  while ([...sentAt.keys()].some((id) => !receivedAt.has(id)) && performance.now() < end) await sleep(50)
  await others.stop()
  const delays = [...sentAt].map(([id, start]) => (receivedAt.get(id) ?? Number.NaN) - start)
  const arrived = delays.filter((delay) => !Number.isNaN(delay)).sort((one, other) => one - other)
  const sharesOf = (ascending: readonly number[]) => ({
    p50: percentile(ascending, 0.5),
    p99: percentile(ascending, 0.99),
  })
  const missing = delays.length - arrived.length
  return { mode, requestMs: sharesOf(latenciesMs), deliveryMs: sharesOf(arrived), missing }
}

/** Clients of the other database, and a tick each second. */
async function disturb(server: WorkerServer): Promise<{ stop(): Promise<void> }> {
  let isOver = false
  const Authorization = `Bearer ${(await mintToken()).tokenIn(1)}`
  const client = async () => {
    while (!isOver) await (await fetch(new URL('/v1/me', server.origin), { headers: { Authorization } })).text()
  }
  const tick = async () => {
    while (!isOver) {
      await server.tick(new Date())
      await sleep(1000)
    }
  }
  const all = Promise.all([tick(), ...Array.from({ length: CLIENTS }, client)])
  return {
    async stop() {
      isOver = true
      await all
    },
  }
}
