/** Repeats what may be repeated, and nothing else (docs/clients.md, Which requests to repeat). */

const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [1000, 30_000]
/** A timer that is set to a longer time fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1
const SAFE_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']
/** The last segment of each POST that is safe without an `Idempotency-Key`. `claim` is not: it claims further runs. */
const SAFE_POST = /\/(acknowledge|complete|renew|lease)$/

export interface RetryOptions {
  readonly fetch?: (request: Request) => Promise<Response>
  /** How many attempts a request has at most; default: 5. */
  readonly attempts?: number
  /** How to wait, in milliseconds. Rejects if the signal is aborted, which is that of the request. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * @returns a `fetch` for `createWorkspaceClient`: by default up to five attempts over some seconds, or as long as
 * `Retry-After` says.
 */
export function retrying({
  fetch = globalThis.fetch,
  attempts = 5,
  wait = pause,
}: RetryOptions = {}): (request: Request) => Promise<Response> {
  return async (request: Request): Promise<Response> => {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= attempts
      const backoffMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random() / 2)
      let pauseMs = Math.min(backoffMs, MAX_PAUSE_MS)
      try {
        const response = await fetch(request.clone())
        if (isLast || !isWorthRepeating(request, response)) return response
        await response.body?.cancel()
        pauseMs = Math.min(Math.max(retryAfterMs(response), pauseMs), MAX_TIMER_MS)
      } catch (error) {
        // No answer: it may have been done, or not.
        if (isLast || request.signal.aborted || !isSafe(request)) throw error
      }
      await wait(pauseMs, request.signal)
    }
  }
}

function isWorthRepeating(request: Request, { status }: Response): boolean {
  // Of 429 it is known that nothing was done. A proxy has further statuses above 500.
  return status === 429 || (status >= 500 && isSafe(request))
}

function isSafe({ method, headers, url }: Request): boolean {
  const isSafePost = SAFE_POST.test(new URL(url).pathname)
  return SAFE_METHODS.includes(method) || headers.has('Idempotency-Key') || isSafePost
}

/** `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3). @returns 0 if it is neither. */
export function retryAfterMs({ headers }: Response): number {
  const value = headers.get('Retry-After') ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  // The clocks of both sides may differ.
  const now = Date.parse(headers.get('Date') ?? '') || Date.now()
  return Date.parse(value) - now || 0
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      // A request that is repeated many times has one signal.
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal.addEventListener('abort', abort, { once: true })
  })
}
