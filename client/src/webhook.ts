/** Verifies what the service sends to a run endpoint. */
import { Webhook } from 'standardwebhooks'
import type { components } from './api.ts'

export type ScheduleRunMessage = components['schemas']['ScheduleRunMessage']

/** The headers of a request: `Headers`, or the object that Node has. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** The message does not come from the service, or is too old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'

  constructor(problem: string) {
    super(`The webhook cannot be verified: ${problem}`)
  }
}

/**
 * Verifies the signature, and that it was made less than five minutes ago. A run is delivered at least once: `data.id`
 * is the same for each delivery.
 * @param secret of the run endpoint, `whsec_…`. During a rotation, messages are signed with the old one and the new
 *   one.
 * @param body as it was received, before JSON is parsed.
 * @throws WebhookVerificationError if one of them does not hold.
 */
export function verifyWebhook(secret: string, headers: WebhookHeaders, body: string): ScheduleRunMessage {
  const message = verified(new Webhook(secret), headers, body)
  if (message?.type !== 'schedule.run') {
    throw new WebhookVerificationError(`type is unknown; got "${message?.type}"; allowed: "schedule.run".`)
  }
  return message
}

function verified(webhook: Webhook, headers: WebhookHeaders, body: string): ScheduleRunMessage | undefined {
  const entries = Symbol.iterator in headers ? headers : Object.entries(headers)
  const texts = Array.from(entries as Iterable<[string, unknown]>, ([name, value]) => [name, String(value)])
  try {
    return webhook.verify(body, Object.fromEntries(texts)) as ScheduleRunMessage
  } catch (error) {
    throw new WebhookVerificationError((error as Error).message)
  }
}
