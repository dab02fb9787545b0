/** The consumer of the queues: runs to run endpoints, and events to event endpoints. */
import type { DeliveryMessage, Environment } from './environment.ts'
import { deliverEvents } from './resources/events/delivery/deliver.ts'
import { deliverRuns } from './resources/schedules/delivery/consumer.ts'

/** @throws if D1 or a queue fails. Then the queue hands the batch over again. */
export async function deliver(
  { messages }: Pick<MessageBatch<DeliveryMessage>, 'messages'>,
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  for (const { body } of messages) {
    if ('runs' in body) await deliverRuns(body, environment, context)
    else await deliverEvents(body, environment, context)
  }
}
