/** Sends a page of events to an event endpoint. */
import { parseKeyRing } from '../../../crypto/key-ring.ts'
import { open } from '../../../crypto/sealed-value.ts'
import { describeFailure } from '../../../db/failures.ts'
import { type Environment, isOn } from '../../../environment.ts'
import { notSent, type Posted, post } from '../../../webhooks/post.ts'
import { problemOfReceiver } from '../../../webhooks/receiver-url.ts'
import { openSecrets } from '../../../webhooks/secrets.ts'
import { signedHeaders } from '../../../webhooks/signature.ts'
import { sealedContext } from '../endpoints/sealing.ts'
import type { Event } from '../event.ts'
import { type Names, sentenceOf } from './sentences.ts'

/** What is sent, in the format `standard`. */
export interface EventPage {
  readonly items: readonly Event[]
  readonly nextCursor: string
  readonly hasMore: boolean
}

interface Receiver {
  readonly organizationId: string
  readonly id: string
  readonly format: 'standard' | 'text'
  readonly sealedUrl: string
  readonly sealedSecret: string | null
  readonly previousSealedSecret: string | null
  /** The same for each attempt to send the page. */
  readonly messageId: string
}

/** @param names of the users and projects, by the ID of the event. */
export async function send(
  receiver: Receiver,
  page: EventPage,
  names: ReadonlyMap<string, Names>,
  { ENCRYPTION_KEYS, LOCAL_RUN_ENDPOINTS }: Environment,
): Promise<Posted> {
  const { organizationId, id, format, messageId } = receiver
  const ring = parseKeyRing(ENCRYPTION_KEYS)
  const url = await open(receiver.sealedUrl, sealedContext(organizationId, id, 'url'), ring).catch((error) => {
    console.error(JSON.stringify({ organizationId, failure: describeFailure(error) }))
    return undefined
  })
  if (url === undefined) return { attempt: notSent('The URL cannot be decrypted. Set it again.') }
  const problem = problemOfReceiver(url, isOn(LOCAL_RUN_ENDPOINTS))
  if (problem) return { attempt: notSent(`The URL ${problem.wrong}; allowed: ${problem.allowed}.`) }
  if (format === 'text') {
    const text = page.items.map((event) => sentenceOf(event, names.get(event.id))).join('\n')
    return post(url, { 'webhook-id': messageId }, JSON.stringify({ text }))
  }
  const secrets = await openSecrets(receiver, sealedContext(organizationId, id, 'secret'), ring)
  if (!secrets) return { attempt: notSent('The secret cannot be decrypted. Rotate it.') }
  const timestamp = page.items.at(-1)?.createdAt
  const body = JSON.stringify({ type: 'events', timestamp, data: page })
  return post(url, signedHeaders(messageId, new Date(), body, secrets), body)
}
