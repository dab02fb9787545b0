/** Event endpoints whose receivers and queues the test controls. */

import { SEQUENCES_PER_MS } from '../../src/access/event-types.ts'
import type { Values } from '../../src/db/parameters.ts'
import type { DeliveryMessage, Environment } from '../../src/environment.ts'
import type { Event } from '../../src/resources/events/event.ts'
import { request } from './api.ts'
import { START } from './clock.ts'
import { env } from './env.ts'
import { deliverBatch, ownMessage } from './queue.ts'
import { type Answer, Receiver } from './receiver.ts'
import { tick } from './tick.ts'
import { Workspace } from './workspace.ts'

/** A message of the format `standard`, as its receiver got it. */
export interface Message {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly data: { readonly items: Event[]; readonly nextCursor: string; readonly hasMore: boolean }
}

/** Both queues. What is put into them waits until the test hands it over. */
export function newQueues() {
  const messages: DeliveryMessage[] = []
  const slow: DeliveryMessage[] = []
  const queueOf = (list: DeliveryMessage[]) =>
    ({
      send: async (message: DeliveryMessage) => void list.push(message),
      sendBatch: async (batch: Iterable<{ body: DeliveryMessage }>) =>
        void list.push(...[...batch].map(({ body }) => body)),
    }) as unknown as Environment['DELIVERIES']
  const queues = { DELIVERIES: queueOf(messages), SLOW_DELIVERIES: queueOf(slow) }
  return {
    messages,
    slow,
    queues,
    /** Hands over what is in the queues, and what that puts into them. */
    async drain(environment: Partial<Cloudflare.Env> = {}) {
      while (messages.length + slow.length > 0)
        await deliverBatch([...messages.splice(0, 1), ...slow.splice(0, 1)], { ...queues, ...environment })
    },
    tick: () => tick({ ...env, ...queues }, new Date()),
  }
}

/** @param values of the row. */
export async function withEndpoint(values: Values = {}, ...answers: readonly Answer[]) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const queues = newQueues()
  const added = await addEndpoint(workspace, key, values, answers)
  const message = ownMessage({ endpoint: { organizationId: workspace.organizationId, id: added.id } })
  let events = 0
  return {
    workspace,
    key,
    ...queues,
    ...added,
    message,
    /** Delivers all events. On a busy machine, a delivery leaves some to the next. */
    async deliverAll() {
      queues.messages.push(message)
      await queues.drain()
    },
    send: (method: string, path: string, json?: unknown) =>
      request(method, path, { key, environment: queues.queues, ...(json !== undefined && { json }) }),
    /** Adds events without a hint, each a millisecond after the one before. */
    async addEvents(count: number, valuesOf: (index: number) => Values = () => ({})) {
      const times = Array.from({ length: count }, (_, index) =>
        new Date(START - 3_600_000 + events + index).toISOString(),
      )
      events += count
      await workspace.addEvents(times, valuesOf)
    },
    /** The number of the last of these events. */
    lastSequence: () => (START - 3_600_000 + events - 1) * SEQUENCES_PER_MS,
    /** The feed after a cursor. */
    feed: async (query: string) => (await request('GET', `/v1/events?${query}`, { key })).body,
  }
}

export async function addEndpoint(workspace: Workspace, key: string, values: Values = {}, answers: readonly Answer[]) {
  const receiver = new Receiver()
  if (answers.length > 0) await receiver.answers(...answers)
  const { id, secret } = await workspace.addEventEndpoint({ ...values, url: receiver.url })
  const path = `/v1/event-endpoints/${id}`
  return {
    id,
    secret,
    path,
    receiver,
    read: async () => (await request('GET', path, { key })).body,
    row: async () => (await workspace.dump('eventEndpoints')).find((row) => row.id === id) ?? {},
    received: async (): Promise<Message[]> =>
      (await receiver.received()).map(({ headers, body }) => ({
        id: String(headers['webhook-id']),
        headers,
        body,
        data: JSON.parse(body).data,
      })),
  }
}

export const cursorOf = (sequence: number) => sequence.toString(36).padStart(11, '0')
