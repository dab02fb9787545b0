/** Sends events to an event endpoint: a page of the feed, or sentences. */
import type * as z from 'zod/mini'
import { parseKeyRing } from '../../../crypto/key-ring.ts'
import type { RowOf } from '../../../db/statement.ts'
import { type Environment, isOn } from '../../../environment.ts'
import { notSent, type Posted, post } from '../../../webhooks/post.ts'
import { problemOfReceiver } from '../../../webhooks/receiver-url.ts'
import { openOrLog, openSecrets, type SealedSecrets } from '../../../webhooks/secrets.ts'
import { signedHeaders } from '../../../webhooks/signature.ts'
import type { eventPage } from '../contract.ts'
import { eventEndpointContext } from '../endpoints/sealed-context.ts'
import { toEvent } from '../event.ts'
import { toCursor } from '../sequence.ts'
import { sentenceOf } from './sentences.ts'
import type { selectMessage } from './statements.ts'

interface Receiver extends SealedSecrets {
  readonly organizationId: string
  readonly id: string
  readonly format: 'standard' | 'text'
  readonly sealedUrl: string
}

interface Message {
  /** The same for each attempt to send it. */
  readonly id: string
  readonly rows: readonly RowOf<typeof selectMessage>[]
  /** The number of the event that the next message begins after. */
  readonly end: number
  readonly hasMore: boolean
}

export async function send(
  receiver: Receiver,
  message: Message,
  { ENCRYPTION_KEYS, LOCAL_RECEIVERS }: Environment,
): Promise<Posted> {
  const { organizationId, id, format, sealedUrl } = receiver
  const ring = parseKeyRing(ENCRYPTION_KEYS)
  const url = await openOrLog(sealedUrl, eventEndpointContext(organizationId, id, 'url'), ring)
  if (url === undefined) return { attempt: notSent('The URL cannot be decrypted. Set it again.') }
  const problem = problemOfReceiver(url, isOn(LOCAL_RECEIVERS))
  if (problem) return { attempt: notSent(`The URL ${problem.wrong}; allowed: ${problem.allowed}.`) }
  const items = message.rows.map(toEvent)
  if (format === 'text') {
    const text = items.map((event, index) => sentenceOf(event, message.rows[index])).join('\n')
    return post(url, { 'webhook-id': message.id }, JSON.stringify({ text }))
  }
  const secrets = await openSecrets(receiver, eventEndpointContext(organizationId, id, 'secret'), ring)
  if (!secrets) return { attempt: notSent('The secret cannot be decrypted. Rotate it.') }
  const data: z.output<typeof eventPage> = { items, nextCursor: toCursor(message.end), hasMore: message.hasMore }
  const body = JSON.stringify({ type: 'events', timestamp: items.at(-1)?.createdAt, data })
  return post(url, await signedHeaders(message.id, new Date(), body, secrets), body)
}
