/** A response that is an error, as an exception. */
import { printable } from './printable.ts'
import { retryAfterMs } from './retrying.ts'

/** What each call of the typed client returns. */
export interface Result<Data> {
  readonly data?: Data
  readonly error?: { readonly error: string }
  readonly response: Response
}

export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly status: number
  /** The header `Error-Code`, such as `project_archived`. A code keeps its meaning; the message may change. */
  readonly code: string | null
  /** The operator finds the request in the log by this ID. */
  readonly requestId: string | null
  /** After how many seconds to try again, from the header `Retry-After`. */
  readonly retryAfter: number | null

  constructor({ error, response }: Result<unknown>) {
    // A proxy in front of the service may respond without JSON.
    super(printable(error?.error || `The response has the status ${response.status} and no error message.`))
    const waitMs = retryAfterMs(response)
    this.status = response.status
    this.code = response.headers.get('Error-Code')
    this.requestId = response.headers.get('X-Request-Id')
    this.retryAfter = waitMs === undefined ? null : Math.ceil(waitMs / 1000)
  }
}
