/** Logs one line of JSON per request, without IDs of resources, values and addresses. */
import type { Context } from 'hono'
import { describeFailure } from '../db/failures.ts'
import { ApiError } from '../errors.ts'
import type { HonoEnvironment } from './context.ts'

/** A failed request is logged even if `REQUEST_LOG` is off, as an error, with its redacted failure. */
export function logRequest(c: Context<HonoEnvironment>): void {
  const hasFailed = c.error !== undefined && !(c.error instanceof ApiError)
  if (!hasFailed && c.env.REQUEST_LOG === 'off') return
  const caller = c.get('caller')
  const entry = {
    requestId: c.get('requestId'),
    organizationId: caller?.organizationId,
    operation: c.get('contract')?.operationId,
    method: c.req.method,
    status: c.res.status,
    errorCode: c.res.headers.get('Error-Code') ?? undefined,
    database: caller?.databaseNumber || undefined,
    d1: caller?.databaseUse,
    ...(hasFailed && { failure: describeFailure(c.error) }),
  }
  const log = hasFailed ? console.error : console.log
  log(JSON.stringify(entry))
}
