/** The POST of a webhook, and what became of it. */
import { readUpTo } from '../http/read-up-to.ts'
import type { DeliveryAttempt } from './contract.ts'

/** How long a receiver may take to respond. */
const TIMEOUT_SECONDS = 15

export interface Posted {
  readonly attempt: DeliveryAttempt
  /** The body of a response with the status 200; undefined if it is not read, is too large, or breaks off. */
  readonly body?: ArrayBuffer | undefined
  /** The `Retry-After` of a 429. */
  readonly retryAfter?: string | null
}

/**
 * Sends a webhook.
 * @param headers the signature (signature.ts).
 * @param maxBytes the largest body of a response that is read.
 */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  maxBytes = 0,
): Promise<Posted> {
  const startedAt = new Date()
  const attempt = (status: number | null, error: string | null): DeliveryAttempt => ({
    startedAt: startedAt.toISOString(),
    status,
    milliseconds: Date.now() - startedAt.getTime(),
    error,
  })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'Workspace-API', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    })
    const { status } = response
    const answered = attempt(status, errorOf(status))
    // The receiver has accepted the webhook, even if the body cannot be read.
    if (status === 200 && maxBytes > 0) {
      const read = await readUpTo(maxBytes, response.body).catch(() => undefined)
      return { attempt: answered, body: read }
    }
    // The status decides, even if the rest of the response is lost.
    await response.body?.cancel().catch(() => undefined)
    return status === 429
      ? { attempt: answered, retryAfter: response.headers.get('Retry-After') }
      : { attempt: answered }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const problem = isLate ? `No response within ${TIMEOUT_SECONDS} seconds.` : 'The connection failed.'
    return { attempt: attempt(null, problem) }
  }
}

/** An attempt that ended before anything was sent. */
export function notSent(error: string): DeliveryAttempt {
  return { startedAt: new Date().toISOString(), status: null, milliseconds: 0, error }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  return `HTTP ${status}${status >= 300 && status < 400 ? ': redirects are not followed' : ''}`
}
