import { Caller } from '../access/caller.ts'
import { RequestContext } from '../access/request-context.ts'
import type { Environment } from '../environment.ts'
import { ApiError } from '../errors.ts'
import type { Refused } from './types.ts'

/** Who the console acts for. */
interface Key {
  readonly token: string
  /** The address of the caller, by which refused keys are counted. */
  readonly address: string
  /** The path of the console, for events. */
  readonly path: string
}

/**
 * Does the work as a request of the API key, with the checks of any other request.
 * @returns what is wrong instead, as an error of the API.
 */
export async function asKey<Result>(
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
  { token, address, path }: Key,
  work: (request: RequestContext) => Promise<Result>,
): Promise<Result | Refused> {
  try {
    const headers = { Authorization: `Bearer ${token}`, 'CF-Connecting-IP': address }
    const caller = await Caller.open(new Request('https://api', { headers }), environment, context, { scope: null })
    const details = { path, requestId: crypto.randomUUID(), isRepeatable: false }
    return await work(new RequestContext(caller, environment, details))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { message, status, code } = error
    return { error: message, status, code }
  }
}
