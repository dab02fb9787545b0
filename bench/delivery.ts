/**
 * How long the runs of one organization take to their run endpoint while a thousand runs of another one go to a run
 * endpoint that never answers. The queues are those of wrangler.toml, in workerd, which hands over one batch at a time.
 */
import { setTimeout } from 'node:timers/promises'
import { describeScript, parsed } from '../operate/command-line.ts'
import { schema } from './data.ts'
import { percentile } from './load.ts'
import { execute } from './measure.ts'
import { json, Place, times } from './place.ts'
import { bundleWorker, startWorker, type WorkerServer } from './servers.ts'

const HANGING_RUNS = 1000
const RUNS = 100
const RUN_EVERY_MS = 100
/** What is not delivered by then counts as delivered then. */
const MAX_WAIT_MS = 180_000

const HANGS = 'https://hangs.example.com/'
const ANSWERS = 'https://answers.example.com/'

export interface Deliveries {
  readonly beside: string
  readonly delivered: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** @returns the deliveries alone, then beside the runs that hang. */
export async function deliveries(): Promise<Deliveries[]> {
  const receivedAt = new Map<string, number>()
  const server = await startWorker(
    await bundleWorker('src/index.ts'),
    {
      RATE_LIMIT: 'off',
      REQUEST_LOG: 'off',
      SCHEDULE_LIMIT: String(HANGING_RUNS),
      ENCRYPTION_KEYS: 'bench:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    },
    async ({ url, headers }) => {
      if (url === HANGS) await setTimeout(MAX_WAIT_MS, undefined, { ref: false })
      receivedAt.set(String(headers.get('webhook-id')), performance.now())
      return new Response(null, { status: 204 })
    },
  )
  try {
    await execute(server.database, schema())
    const hanging = await withRunEndpoint(server, HANGS)
    const project = `/v1/projects/${await hanging.put('projects')}`
    await times(HANGING_RUNS, () => hanging.addSchedule(project))
    const place = await withRunEndpoint(server, ANSWERS)
    const schedule = await place.addSchedule(`/v1/projects/${await place.put('projects')}`)

    const alone = await measure('nothing else', place, schedule, receivedAt)
    const due = new Date().toISOString()
    await execute(server.database, [
      `UPDATE "schedules" SET "nextRunAt" = '${due}' WHERE '${schedule}' NOT LIKE '%' || "id"`,
    ])
    await server.tick(new Date(due))
    return [alone, await measure(`${HANGING_RUNS} runs that hang`, place, schedule, receivedAt)]
  } finally {
    await server.stop()
  }
}

async function withRunEndpoint(server: WorkerServer, url: string): Promise<Place> {
  const place = await Place.open(server)
  await place.send('PUT', '/v1/run-endpoint', json({ url }))
  return place
}

/** Makes runs one after the other, each a while after the one before. */
async function measure(
  beside: string,
  place: Place,
  schedule: string,
  receivedAt: ReadonlyMap<string, number>,
): Promise<Deliveries> {
  const sentAt = new Map<string, number>()
  for (let count = 0; count < RUNS; count++) {
    const now = performance.now()
    sentAt.set(await place.addRun(schedule), now)
    await setTimeout(RUN_EVERY_MS)
  }
  const isMissing = () => [...sentAt.keys()].some((id) => !receivedAt.has(id))
  const until = performance.now() + MAX_WAIT_MS
  while (isMissing() && performance.now() < until) await setTimeout(RUN_EVERY_MS)
  const latenciesMs = [...sentAt].map(([id, at]) => (receivedAt.get(id) ?? performance.now()) - at)
  latenciesMs.sort((a, b) => a - b)
  return {
    beside,
    delivered: [...sentAt.keys()].filter((id) => receivedAt.has(id)).length,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  }
}

if (import.meta.main) {
  parsed(
    describeScript(
      'bench:delivery',
      'Measures the deliveries of one organization while the run endpoint of another one does not respond.',
      [''],
    ),
  )
  console.table(await deliveries())
}
