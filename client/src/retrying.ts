/** Repeats what may be repeated, and nothing else (docs/clients.md, Which requests to repeat). */

const MOST_ATTEMPTS = 5
const FIRST_PAUSE_MS = 1000
const SAFE_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']
/** The last segment of each POST that is safe without an `Idempotency-Key`. `claim` is not: it claims further runs. */
const SAFE_POST = /\/(acknowledge|complete|renew|lease)$/

export interface RetryOptions {
  readonly fetch?: (request: Request) => Promise<Response>
  /** How to wait, in milliseconds. */
  readonly wait?: (ms: number) => Promise<void>
}

/**
 * @returns a `fetch` for `createWorkspaceClient`: up to five attempts over some seconds, or as long as
 * `Retry-After` says.
 */
export function retrying({
  fetch = globalThis.fetch,
  wait = pause,
}: RetryOptions = {}): (request: Request) => Promise<Response> {
  return async (request: Request): Promise<Response> => {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === MOST_ATTEMPTS
      const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random() / 2)
      try {
        const response = await fetch(request.clone())
        if (isLast || !isWorthRepeating(request, response)) return response
        await response.body?.cancel()
        const seconds = Number(response.headers.get('Retry-After') ?? 0)
        await wait(Math.max(seconds * 1000, pauseMs))
      } catch (error) {
        // No answer: it may have been done, or not.
        if (isLast || request.signal.aborted || !isSafe(request)) throw error
        await wait(pauseMs)
      }
    }
  }
}

function isWorthRepeating(request: Request, { status }: Response): boolean {
  // Of 429 it is known that nothing was done.
  return status === 429 || ((status === 500 || status === 503) && isSafe(request))
}

function isSafe({ method, headers, url }: Request): boolean {
  const isSafePost = SAFE_POST.test(new URL(url).pathname)
  return SAFE_METHODS.includes(method) || headers.has('Idempotency-Key') || isSafePost
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
