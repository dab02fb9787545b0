/** One line of JSON for each request: what an operator asks of the logs. No id of a resource, no value, no address. */
import type { Context } from 'hono'
import type { Caller } from '../access/caller.ts'
import { describeFailure } from '../db/failures.ts'
import { ApiError } from '../errors.ts'
import type { HonoEnvironment } from './context.ts'

/** A request that failed is logged in any case, as an error, with what may be said of the failure. */
export function logRequest(c: Context<HonoEnvironment>): void {
  const hasFailed = c.error !== undefined && !(c.error instanceof ApiError)
  if (!hasFailed && c.env.REQUEST_LOG === 'off') return
  // Not every request comes as far as an operation.
  const caller = c.get('caller') as Caller | undefined
  const entry = {
    requestId: c.get('requestId'),
    organizationId: caller?.organizationId,
    operation: c.get('contract')?.operationId,
    method: c.req.method,
    status: c.res.status,
    d1: caller?.databaseUse,
    ...(hasFailed && { failure: describeFailure(c.error) }),
  }
  const log = hasFailed ? console.error : console.log
  log(JSON.stringify(entry))
}
