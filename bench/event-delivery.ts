/**
 * How long the events of one organization take to their event endpoint while another one has ten event endpoints that
 * never answer. The queues are those of wrangler.toml, in workerd, which hands over one batch at a time.
 */
import { setTimeout } from 'node:timers/promises'
import { describeScript, parsed } from '../operate/command-line.ts'
import { schema } from './data.ts'
import { percentile } from './load.ts'
import { execute } from './measure.ts'
import { json, Place, times } from './place.ts'
import { bundleWorker, startWorker } from './servers.ts'

const HANGING_ENDPOINTS = 10
const EVENTS = 100
const EVENT_EVERY_MS = 100
/** What is not delivered by then counts as delivered then. */
const MAX_WAIT_MS = 90_000

const HANGS = 'https://hangs.example.com/'
const ANSWERS = 'https://answers.example.com/'

interface EventsMessage {
  readonly data: { readonly items: readonly { readonly resource: { readonly id: string } }[] }
}

/** Makes events alone, then while the other organization makes as many. */
async function eventDeliveries() {
  const receivedAt = new Map<string, number>()
  const server = await startWorker(
    await bundleWorker('src/index.ts'),
    { RATE_LIMIT: 'off', REQUEST_LOG: 'off', ENCRYPTION_KEYS: 'bench:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' },
    async (request) => {
      if (request.url === HANGS) await setTimeout(MAX_WAIT_MS, undefined, { ref: false })
      else {
        const { data } = (await (request as Request).json()) as EventsMessage
        for (const { resource } of data.items) receivedAt.set(resource.id, performance.now())
      }
      return new Response(null, { status: 204 })
    },
  )
  try {
    await execute(server.database, schema())
    const place = await Place.open(server)
    await place.send('POST', '/v1/event-endpoints', json({ url: ANSWERS, types: ['project.*'] }))
    const hanging = await Place.open(server)
    await times(HANGING_ENDPOINTS, () =>
      hanging.send('POST', '/v1/event-endpoints', json({ url: HANGS, types: ['project.*'] })),
    )
    const alone = await measure('nothing else', place, undefined, receivedAt)
    return [alone, await measure(`${HANGING_ENDPOINTS} endpoints that hang`, place, hanging, receivedAt)]
  } finally {
    await server.stop()
  }
}

/** Makes events one after the other, each a while after the one before. */
async function measure(
  beside: string,
  place: Place,
  other: Place | undefined,
  receivedAt: ReadonlyMap<string, number>,
) {
  const sentAt = new Map<string, number>()
  for (let count = 0; count < EVENTS; count++) {
    await other?.put('projects')
    const now = performance.now()
    sentAt.set(await place.put('projects'), now)
    await setTimeout(EVENT_EVERY_MS)
  }
  const isMissing = () => [...sentAt.keys()].some((id) => !receivedAt.has(id))
  const until = performance.now() + MAX_WAIT_MS
  while (isMissing() && performance.now() < until) await setTimeout(EVENT_EVERY_MS)
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
      'bench:event-delivery',
      'Measures the deliveries of the events of one organization while the event endpoints of another one do not respond.',
      [''],
    ),
  )
  console.table(await eventDeliveries())
}
