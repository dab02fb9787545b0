/** Repeats what may be repeated, and nothing else (docs/clients.md, Which requests to repeat). */

const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [1000, 30_000]
/** A timer that is set to a longer time fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1
const SAFE_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']

/**
 * Waits before a repetition. Rejects if the signal, which is that of the request, is aborted.
 * @param error why there was no response; undefined if there was one.
 */
export type Wait = (ms: number, signal: AbortSignal, error?: Error) => Promise<void>

export interface RetryOptions {
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined
  readonly wait?: Wait | undefined
  readonly maxRetries?: number | undefined
  /** How long an attempt may take, in milliseconds. */
  readonly timeout?: number | undefined
  /** Whether a request without a response may be repeated; default: as its method and `Idempotency-Key` say. */
  readonly isRepeatable?: boolean | undefined
}

/**
 * @returns a `fetch` that repeats, and whose attempts end in time. It does not wait for longer than an attempt may take,
 * unless it repeats without end.
 */
export function retrying(options: RetryOptions): (request: Request) => Promise<Response> {
  const { fetch = globalThis.fetch, wait = pause, maxRetries = 2, timeout = 60_000 } = options
  const maxWaitMs = maxRetries === Number.POSITIVE_INFINITY ? maxRetries : timeout
  return async (request: Request): Promise<Response> => {
    const { isRepeatable = isSafe(request) } = options
    for (let retries = 0; ; retries++) {
      const isLast = retries >= maxRetries
      const backoffMs = FIRST_PAUSE_MS * 2 ** retries * (1 + Math.random() / 2)
      let pauseMs = Math.min(backoffMs, MAX_PAUSE_MS)
      let failure: Error | undefined
      try {
        const response = await attempt(request, fetch, timeout)
        const waitMs = retryAfterMs(response) ?? 0
        // Nothing was done at a 429. A proxy has further statuses above 500.
        const isWorthRepeating = response.status === 429 || (response.status >= 500 && isRepeatable)
        if (isLast || !isWorthRepeating || waitMs > maxWaitMs) return response
        await response.body?.cancel()
        pauseMs = Math.max(waitMs, pauseMs)
      } catch (error) {
        // No response: it may have been done, or not.
        if (isLast || request.signal.aborted || !isRepeatable) throw error
        failure = error as Error
      }
      await wait(Math.min(pauseMs, MAX_TIMER_MS), request.signal, failure)
    }
  }
}

/** JSON has to arrive in time, too. Other content may take as long as it takes once its response has begun. */
async function attempt(
  request: Request,
  fetch: (request: Request) => Promise<Response>,
  timeout: number,
): Promise<Response> {
  const late = new AbortController()
  const expire = () => late.abort(new DOMException(`No response within ${timeout} ms.`, 'TimeoutError'))
  const timer = timeout <= MAX_TIMER_MS ? setTimeout(expire, timeout) : undefined
  try {
    const signal = AbortSignal.any([request.signal, late.signal])
    signal.throwIfAborted()
    const copy = request.clone() as Request
    const response = await fetch(new Request(copy, { signal }))
    if (!response.headers.get('Content-Type')?.startsWith('application/json')) return response
    const { status, statusText, headers } = response
    return new Response(await response.arrayBuffer(), { status, statusText, headers })
  } finally {
    clearTimeout(timer)
  }
}

function isSafe({ method, headers }: Request): boolean {
  return SAFE_METHODS.includes(method) || headers.has('Idempotency-Key')
}

/**
 * `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3).
 * @returns undefined if it is neither.
 */
export function retryAfterMs({ headers }: Response): number | undefined {
  const value = headers.get('Retry-After') ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  // The clocks of both sides may differ.
  const now = Date.parse(headers.get('Date') ?? '') || Date.now()
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : Math.max(time - now, 0)
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
