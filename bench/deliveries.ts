/**
 * How long runs and events of one organization take to their endpoints while endpoints of another one never respond.
 * The queues are those of wrangler.toml, in workerd, which hands over one batch at a time.
 */
import { setTimeout } from 'node:timers/promises'
import { schema } from './data.ts'
import { percentile } from './load.ts'
import { execute } from './measure.ts'
import { json, Place, times } from './place.ts'
import { bundleWorker, QUIET, startWorker, type WorkerServer } from './servers.ts'

const HANGING_RUNS = 1000
const HANGING_ENDPOINTS = 10
const ITEMS = 100
const ITEM_EVERY_MS = 50
/** What is not delivered by then counts as delivered then. */
const MAX_WAIT_MS = 60_000

const HANGS = 'https://hangs.example.com/'
const ANSWERS = 'https://answers.example.com/'

export interface Deliveries {
  readonly what: 'runs' | 'events'
  readonly beside: string
  readonly delivered: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface EventsMessage {
  readonly data: { readonly items?: readonly { readonly resource: { readonly id: string } }[] }
}

/** When each run and each resource of an event arrived, by ID. */
type Received = ReadonlyMap<string, number>

/** @returns the deliveries alone, then beside those that hang. */
export async function deliveries(): Promise<Deliveries[]> {
  return [...(await ofRuns()), ...(await ofEvents())]
}

async function start(receivedAt: Map<string, number>): Promise<WorkerServer> {
  const receiver = async (request: Request) => {
    if (request.url === HANGS) await setTimeout(MAX_WAIT_MS, undefined, { ref: false })
    else {
      const { data } = (await request.json()) as EventsMessage
      receivedAt.set(String(request.headers.get('webhook-id')), performance.now())
      for (const { resource } of data.items ?? []) receivedAt.set(resource.id, performance.now())
    }
    return new Response(null, { status: 204 })
  }
  const variables = { ...QUIET, SCHEDULE_LIMIT: String(HANGING_RUNS) }
  const server = await startWorker(await bundleWorker('src/index.ts'), variables, { receiver })
  await execute(server.database, schema())
  return server
}

async function ofRuns(): Promise<Deliveries[]> {
  const receivedAt = new Map<string, number>()
  const server = await start(receivedAt)
  const withRunEndpoint = async (url: string) => {
    const place = await Place.open(server)
    await place.send('PUT', '/v1/run-endpoint', json({ url }))
    return place
  }
  try {
    const hanging = await withRunEndpoint(HANGS)
    const project = `/v1/projects/${await hanging.put('projects')}`
    await times(HANGING_RUNS, () => hanging.addSchedule(project))
    const place = await withRunEndpoint(ANSWERS)
    const schedule = await place.addSchedule(`/v1/projects/${await place.put('projects')}`)
    const measureRuns = (beside: string) => measure('runs', beside, () => place.addRun(schedule), receivedAt)

    const alone = await measureRuns('nothing else')
    const due = new Date().toISOString()
    await execute(server.database, [
      `UPDATE "schedules" SET "nextRunAt" = '${due}' WHERE '${schedule}' NOT LIKE '%' || "id"`,
    ])
    await server.tick(new Date(due))
    return [alone, await measureRuns(`${HANGING_RUNS} runs that hang`)]
  } finally {
    await server.stop()
  }
}

async function ofEvents(): Promise<Deliveries[]> {
  const receivedAt = new Map<string, number>()
  const server = await start(receivedAt)
  const types = ['project.*']
  try {
    const place = await Place.open(server)
    await place.send('POST', '/v1/event-endpoints', json({ url: ANSWERS, types }))
    const hanging = await Place.open(server)
    await times(HANGING_ENDPOINTS, () => hanging.send('POST', '/v1/event-endpoints', json({ url: HANGS, types })))
    const addBoth = async () => {
      await hanging.put('projects')
      return place.put('projects')
    }
    const alone = await measure('events', 'nothing else', () => place.put('projects'), receivedAt)
    return [alone, await measure('events', `${HANGING_ENDPOINTS} endpoints that hang`, addBoth, receivedAt)]
  } finally {
    await server.stop()
  }
}

/** Adds one after the other, each a while after the one before. */
async function measure(
  what: Deliveries['what'],
  beside: string,
  add: () => Promise<string>,
  receivedAt: Received,
): Promise<Deliveries> {
  const sentAt = new Map<string, number>()
  for (let count = 0; count < ITEMS; count++) {
    const now = performance.now()
    sentAt.set(await add(), now)
    await setTimeout(ITEM_EVERY_MS)
  }
  const isMissing = () => [...sentAt.keys()].some((id) => !receivedAt.has(id))
  const until = performance.now() + MAX_WAIT_MS
  while (isMissing() && performance.now() < until) await setTimeout(ITEM_EVERY_MS)
  const latenciesMs = [...sentAt].map(([id, at]) => (receivedAt.get(id) ?? performance.now()) - at)
  latenciesMs.sort((a, b) => a - b)
  return {
    what,
    beside,
    delivered: [...sentAt.keys()].filter((id) => receivedAt.has(id)).length,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  }
}
