/** The consumer of the queues, called as they call it. */
import { createExecutionContext, createMessageBatch, waitOnExecutionContext } from 'cloudflare:test'
import { deliver } from '../../src/deliveries.ts'
import type { DeliveryMessage, EndpointMessage, Environment, RunMessage } from '../../src/environment.ts'
import { databaseNumber, deployed, env } from './env.ts'

/** A message of the database that has the organizations of the tests. */
export type OwnMessage = Omit<RunMessage, 'database'> | Omit<EndpointMessage, 'database'>

/** The message as the service puts it into a queue. */
export const ownMessage = <Message extends OwnMessage>(message: Message) => ({ database: databaseNumber(), ...message })

/** Hands over a batch, and waits also for what goes on after it. @throws if the batch has to be handed over again. */
export async function deliverBatch(
  messages: readonly OwnMessage[],
  environment: Partial<Cloudflare.Env> = {},
): Promise<void> {
  const context = createExecutionContext()
  const batch = messages.map((body, index) => ({
    id: String(index),
    timestamp: new Date(),
    attempts: 1,
    body: ownMessage(body),
  }))
  await deliver(createMessageBatch('workspace-api-deliveries', batch), deployed({ ...env, ...environment }), context)
  await waitOnExecutionContext(context)
}

/** A queue that keeps its messages until the test delivers them. */
export function newOutbox() {
  const messages: DeliveryMessage[] = []
  const DELIVERIES = {
    send: async (message: DeliveryMessage) => void messages.push(message),
    sendBatch: async (batch: Iterable<{ body: DeliveryMessage }>) => {
      messages.push(...[...batch].map(({ body }) => body))
    },
  } as unknown as Environment['DELIVERIES']
  /** Delivers the messages to the consumer. */
  const deliver = () => deliverBatch(messages.splice(0), { SLOW_DELIVERIES: DELIVERIES })
  // On a busy machine, a receiver may be slow.
  return { messages, environment: { ...env, DELIVERIES, SLOW_DELIVERIES: DELIVERIES }, deliver }
}
