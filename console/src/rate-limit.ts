/** The rate limit of an address: what anybody can ask of the console without being signed in. */
import type { MiddlewareHandler } from 'hono'
import { getAddress } from '../../src/access/address.ts'
import type { ConsoleContext, Environment } from './session.ts'

const RETRY_SECONDS = 60
export const TOO_MANY = 'Too many requests. Retry after a minute.'

/** Responds with 429 and the body to an address that exceeds the limit of the path. */
export function limitAddress(path: string, body: object): MiddlewareHandler<{ Bindings: Environment }> {
  return async (c, next) => {
    if (!(await exceedsLimit(c, path))) return next()
    return c.json(body, 429, { 'Retry-After': String(RETRY_SECONDS) })
  }
}

/** Counts one request. @param name of what is counted by itself. @returns true if it exceeds the limit. */
export async function exceedsLimit(c: ConsoleContext, name: string): Promise<boolean> {
  const { ADDRESS_RATE_LIMIT: limit, RATE_LIMIT } = c.env
  if (!limit || RATE_LIMIT === 'off') return false
  return !(await limit.limit({ key: `${name} ${getAddress(c.req.raw)}` })).success
}
