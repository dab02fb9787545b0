/** Refusals, and the one shape in which they leave: `{ "error": string }` (SPEC.txt, Errors). */
import type { Context } from 'hono'

/** An answer that is not a success. The message tells the caller what to change, never what went wrong inside. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** How soon a client may ask again when a store is away, in seconds. */
const RETRY_AFTER_SECONDS = '5'

export const unauthorized = {
  missing: () =>
    new ApiError(401, 'Send your API key in the header "Authorization: Bearer <API_KEY>".', {
      'WWW-Authenticate': 'Bearer',
    }),
  invalid: () =>
    new ApiError(401, 'The API key is not valid. Check that it is whole, or ask for a new one.', {
      'WWW-Authenticate': 'Bearer error="invalid_token"',
    }),
}

/** The key's scope is right, but it is limited to other projects than the one asked for. */
export const outOfReach = () => new ApiError(403, 'This API key is limited to other projects.')

export const tooManyRequests = () =>
  new ApiError(429, 'Too many requests. Wait a minute, then try again.', { 'Retry-After': '60' })

export const unavailable = () =>
  new ApiError(503, 'The service cannot answer right now. Try again in a few seconds.', {
    'Retry-After': RETRY_AFTER_SECONDS,
  })

export const unforeseen = () =>
  new ApiError(
    500,
    'The service failed to answer. Try again, and if it lasts, report the X-Request-Id of this response.',
  )

/** Answers with a refusal in the one error shape. */
export function errorResponse(c: Context, refusal: ApiError): Response {
  return c.json({ error: refusal.message }, refusal.status as 400, refusal.headers)
}
