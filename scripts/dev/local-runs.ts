/** What `npm run dev` does for schedules: it runs the tick each minute, and receives and prints the demo's runs. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { Service } from '../service.ts'
import type { Demo } from './demo.ts'

const MINUTE_MS = 60_000

/** Distinguishes this receiver from a run endpoint that the user has set. */
const RECEIVER_PATH = '/npm-run-dev'

/**
 * Fires the Cron Trigger, which wrangler does not: at once, for what came due while the service was stopped,
 * and then at each full minute. It never ends.
 */
export async function tickEachMinute(baseUrl: string, minuteMs: number = MINUTE_MS): Promise<never> {
  for (;;) {
    // The next tick repeats what a failed one left; the server prints the error.
    await fetch(`${baseUrl}/cdn-cgi/handler/scheduled`).catch(() => undefined)
    await setTimeout(minuteMs - (Date.now() % minuteMs))
  }
}

interface RunEndpoint {
  readonly url: string
  readonly secret: string | null
}

/**
 * Sets this process as the demo's run endpoint; it verifies and prints each run.
 * @returns the demo with the secret of its run endpoint; or unchanged, and the URL of the run endpoint that the user
 *   has set.
 */
export async function receiveRuns(baseUrl: string, demo: Demo): Promise<{ demo: Demo; otherReceiver?: string }> {
  const service = new Service(baseUrl, demo.apiKey)
  const current = await service
    .send<RunEndpoint>('GET', '/v1/run-endpoint')
    .then(({ body }) => body.url)
    .catch(() => undefined)
  if (current !== undefined && new URL(current).pathname !== RECEIVER_PATH) return { demo, otherReceiver: current }

  const secret = { value: demo.runEndpointSecret ?? '' }
  const server = createServer(async (request, response) => {
    const { status, body, line } = await receive(request, secret.value)
    console.log(line)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${RECEIVER_PATH}`
  const { body } = await service.send<RunEndpoint>('PUT', '/v1/run-endpoint', { url })
  secret.value = body.secret ?? demo.runEndpointSecret ?? (await newSecret(service))
  return { demo: { ...demo, runEndpointSecret: secret.value } }
}

async function newSecret(service: Service): Promise<string> {
  const { body } = await service.send<{ secret: string }>('POST', '/v1/run-endpoint/rotate', {
    overlapSeconds: 0,
  })
  return body.secret
}

interface Receipt {
  /** The status of the response. */
  readonly status: number
  readonly body: Readonly<Record<string, string>>
  /** To print. */
  readonly line: string
}

/** Checks the signature of a run, and completes it: the demo has nothing that does its work. */
async function receive(request: IncomingMessage, secret: string): Promise<Receipt> {
  const body = await text(request)
  try {
    new Webhook(secret).verify(body, request.headers as Record<string, string>)
  } catch (error) {
    return {
      status: 401,
      body: { error: 'The signature is not valid.' },
      line: `A run was refused, because its signature is not valid: ${(error as Error).message}`,
    }
  }
  const { data } = JSON.parse(body)
  const parent = data.projectId === null ? `agent ${data.agentId}` : `project ${data.projectId}`
  const schedule = data.name ?? data.cron ?? data.scheduleId
  const payload = data.payload === null ? '' : ` Payload: ${JSON.stringify(data.payload)}`
  return {
    status: 200,
    body: { outcome: 'succeeded', message: 'Received by npm run dev.' },
    line: `Run ${data.id}: "${schedule}" of ${parent}, for ${data.scheduledAt}. Its signature is valid.${payload}`,
  }
}
