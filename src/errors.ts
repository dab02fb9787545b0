/** Errors of the API, and their one shape in responses: `{ "error": string }`. */
import type { Context } from 'hono'

/** A response that is not a success. The message tells the client what to change, never what failed inside. */
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

/** What is wrong with one value of the input: the parts of a sentence that http/problems.ts writes. */
export interface Problem {
  /** Follows the name of the value: `is too long`. */
  readonly wrong: string
  readonly allowed: string
  /** What was sent, where the value itself does not show it: `300 characters`. Never text of the client. */
  readonly sent?: string
}

const RATE_LIMIT_SECONDS = 60
const RETRY_AFTER_SECONDS = 5

export const unauthorized = {
  missing: () =>
    new ApiError(401, 'The API key is missing. Send it in the header "Authorization: Bearer <API key>".', {
      'WWW-Authenticate': 'Bearer',
    }),
  invalid: () =>
    new ApiError(
      401,
      'The API key is not valid: it is incomplete, expired or revoked. Use another API key.',
      {
        'WWW-Authenticate': 'Bearer error="invalid_token"',
      },
    ),
}

/** @param what the request creates: "a new schedule". */
export const idempotencyKeyReused = (what: string) =>
  new ApiError(409, `This Idempotency-Key was used with another body. Use a new one for ${what}.`)

export const tooManyRequests = () =>
  new ApiError(429, `Too many requests. Retry after ${RATE_LIMIT_SECONDS} seconds.`, {
    'Retry-After': String(RATE_LIMIT_SECONDS),
  })

export const unavailable = (message = 'The service is temporarily unavailable.') =>
  new ApiError(503, `${message} Retry after ${RETRY_AFTER_SECONDS} seconds.`, {
    'Retry-After': String(RETRY_AFTER_SECONDS),
  })

export const internalError = () =>
  new ApiError(
    500,
    'The request failed because of an internal error. Retry it; if it fails again, report the X-Request-Id of this response.',
  )

export function errorResponse(c: Context, { message, status, headers }: ApiError): Response {
  return c.json({ error: message }, status as 400, headers)
}
