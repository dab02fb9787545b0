/** One attempt to send a run to a run endpoint. */
import { signedHeaders } from '../resources/run-endpoint/signature.ts'

/** How long a receiver may take to respond. */
const TIMEOUT_SECONDS = 15

/** The run that is sent. */
export interface Delivery {
  readonly id: string
  readonly scheduleId: string
  readonly parentType: 'project' | 'agent'
  readonly parentId: string
  readonly scheduledAt: string
  readonly cron: string
  readonly timezone: string
}

/** The outcome of an attempt: accepted, or the receiver wants no more runs (410), or an error. */
export type Outcome = 'accepted' | 'gone' | { readonly error: string }

/** Sends a run (docs/contract.md, Run endpoint). All attempts to send a run have the same id and the same body. */
export async function attempt(
  delivery: Delivery,
  url: string,
  secrets: readonly string[],
  now: Date,
): Promise<Outcome> {
  const body = JSON.stringify(payloadOf(delivery))
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Workspace-API',
        ...signedHeaders(delivery.id, now, body, secrets),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    })
    await response.body?.cancel()
    return outcomeOf(response.status)
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { error: isLate ? `No response within ${TIMEOUT_SECONDS} seconds.` : 'The connection failed.' }
  }
}

function payloadOf({ id, scheduleId, parentType, parentId, cron, timezone, scheduledAt }: Delivery) {
  return {
    type: 'schedule.run',
    timestamp: scheduledAt,
    data: {
      id,
      scheduleId,
      projectId: parentType === 'project' ? parentId : null,
      agentId: parentType === 'agent' ? parentId : null,
      cron,
      timezone,
      scheduledAt,
    },
  }
}

function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'accepted'
  if (status === 410) return 'gone'
  return { error: `HTTP ${status}${status >= 300 && status < 400 ? ': redirects are not followed' : ''}` }
}
