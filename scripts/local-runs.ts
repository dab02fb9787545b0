/** What `npm run dev` does for schedules: it ticks each minute, and receives the demo's runs and prints them. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import type { Demo } from './demo.ts'
import { Service } from './service.ts'

const MINUTE_MS = 60_000

/** Tells the receiver of `npm run dev` from one that somebody set instead. */
const RECEIVER_PATH = '/npm-run-dev'

/** Fires the Cron Trigger each minute, which wrangler leaves to others. It never ends. */
export async function tickEachMinute(baseUrl: string): Promise<never> {
  for (;;) {
    await setTimeout(MINUTE_MS - (Date.now() % MINUTE_MS))
    // A tick that fails is made good by the next; the server prints what was wrong.
    await fetch(`${baseUrl}/cdn-cgi/handler/scheduled`).catch(() => undefined)
  }
}

interface RunEndpoint {
  readonly url: string
  readonly secret: string | null
}

/**
 * Has the demo's runs sent to this process, which verifies each and prints it.
 * @returns the demo with the secret of its run endpoint; as it was, if somebody set another endpoint.
 */
export async function receiveRuns(baseUrl: string, demo: Demo): Promise<Demo> {
  const service = new Service(baseUrl, demo.apiKey)
  const current = await service
    .send<RunEndpoint>('GET', '/v1/run-endpoint')
    .then(({ body }) => body.url)
    .catch(() => undefined)
  if (current !== undefined && new URL(current).pathname !== RECEIVER_PATH) return demo

  const secret = { value: demo.runEndpointSecret ?? '' }
  const server = createServer(async (request, response) => {
    const { status, line } = await receive(request, secret.value)
    console.log(line)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${RECEIVER_PATH}`
  const { body } = await service.send<RunEndpoint>('PUT', '/v1/run-endpoint', { url })
  secret.value = body.secret ?? demo.runEndpointSecret ?? (await newSecret(service))
  return { ...demo, runEndpointSecret: secret.value }
}

async function newSecret(service: Service): Promise<string> {
  const { body } = await service.send<{ secret: string }>('POST', '/v1/run-endpoint/rotate', {
    overlapSeconds: 0,
  })
  return body.secret
}

/** What to answer, and what to print. */
async function receive(request: IncomingMessage, secret: string): Promise<{ status: number; line: string }> {
  const body = await text(request)
  try {
    new Webhook(secret).verify(body, request.headers as Record<string, string>)
  } catch (error) {
    return { status: 401, line: `A delivery was refused: ${(error as Error).message}` }
  }
  const { data } = JSON.parse(body)
  const owner = data.projectId === null ? `agent ${data.agentId}` : `project ${data.projectId}`
  return {
    status: 204,
    line: `Run ${data.id}: "${data.cron}" of ${owner} came due at ${data.scheduledAt}. The signature is right.`,
  }
}
