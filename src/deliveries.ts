/**
 * The consumer of the queues: runs to run endpoints, events to event endpoints, ticks of further databases, and dead
 * letters.
 */
import { requireDatabase } from './db/database.ts'
import type { Environment, Message } from './environment.ts'
import { deliverEvents } from './resources/events/delivery/deliver.ts'
import { deliverRuns } from './resources/work/delivery/consumer.ts'

/** The end of the names of dead letter queues in wrangler.toml, which is all that a batch says of where it comes from. */
const DEAD_LETTERS = /-deliveries-dead(-|$)/

/** @throws if D1 or a queue fails. Then the queue hands the batch over again. */
export async function deliver(
  { queue, messages }: Pick<MessageBatch<Message>, 'queue' | 'messages'>,
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  if (DEAD_LETTERS.test(queue)) {
    const { takeDeadLetters } = await import('./alerts/dead-letters.ts')
    return takeDeadLetters(messages, environment)
  }
  for (const { body } of messages) {
    if ('tickAt' in body) {
      const { tick } = await import('./scheduled.ts')
      await tick(environment, new Date(body.tickAt), body.database)
      continue
    }
    const database = requireDatabase(environment, body.database)
    const ofDatabase = { ...environment, database, databaseNumber: body.database }
    if ('runs' in body) await deliverRuns(body, ofDatabase, context)
    else await deliverEvents(body, ofDatabase, context)
  }
}
