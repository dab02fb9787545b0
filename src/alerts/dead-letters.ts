/**
 * Dead letters: messages that the queues gave up. The tick sends their runs and events again, so they are only logged and
 * acknowledged, and the operator is told.
 */
import type { Environment, Message } from '../environment.ts'
import { REPEATED, send, sendMessages, store } from './alerts.ts'

/** Longer than it takes until a run that the tick sends again is a dead letter again, so that this is one alert. */
const LASTING_MS = 30 * 60_000

export async function takeDeadLetters(
  messages: readonly { readonly body: Message }[],
  environment: Environment,
): Promise<void> {
  for (const { body } of messages) console.error(JSON.stringify({ deadLetter: describe(body) }))
  for (const database of new Set(messages.map(({ body }) => body.database))) {
    await alertOfDeadLetters(environment, database)
  }
}

function describe(message: Message) {
  const { database } = message
  if ('runs' in message) {
    return { database, organizationId: message.runs[0]?.organizationId, runs: message.runs.length }
  }
  return { database, organizationId: 'endpoint' in message ? message.endpoint.organizationId : undefined }
}

/** If the state is unknown, the alert is repeated with each batch. */
async function alertOfDeadLetters(environment: Environment, database: number): Promise<void> {
  const now = new Date()
  const alert = {
    database,
    name: 'dead-letters',
    endsAt: new Date(now.getTime() + LASTING_MS).toISOString(),
  } as const
  const text = deadLettersText(database)
  // Stored first, because each further message prolongs it, and `npm run operate -- status --check` reads it without a receiver.
  const stored = await store(environment, [{ ...alert, begunAt: now.toISOString(), sentAt: null }])
  if (!stored) return void (await send(environment, `${text} ${REPEATED}`))
  if (stored[0]?.sentAt === null) await sendMessages(environment, [{ text, begun: [alert] }], now)
}

export const deadLettersText = (database: number) =>
  `messages of database ${database} became dead letters after six failed attempts. Ticks send their runs and events again.`

export const deadLettersEnded = (database: number) =>
  `no message of database ${database} has become a dead letter for ${LASTING_MS / 60_000} minutes.`
