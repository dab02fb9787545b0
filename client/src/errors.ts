/** A response that is an error, as an exception. */
import { printable } from './printable.ts'

/** What each call of the client returns. */
export interface Result<Data> {
  readonly data?: Data
  readonly error?: { readonly error: string }
  readonly response: Response
}

export class WorkspaceApiError extends Error {
  override readonly name = 'WorkspaceApiError'
  readonly status: number
  /** The header `Error-Code`, such as `project_archived`. A code keeps its meaning; the message may change. */
  readonly code: string | null
  /** The operator finds the request in the log by this ID. */
  readonly requestId: string | null

  constructor({ error, response }: Result<unknown>) {
    // A proxy in front of the service may respond without JSON.
    super(printable(error?.error || `The response has the status ${response.status} and no error message.`))
    this.status = response.status
    this.code = response.headers.get('Error-Code')
    this.requestId = response.headers.get('X-Request-Id')
  }
}

/** The data of a call. @throws WorkspaceApiError if the response is an error. */
export function dataOf<Data>(result: Result<Data>): Data {
  if (!result.response.ok) throw new WorkspaceApiError(result)
  return result.data as Data
}
