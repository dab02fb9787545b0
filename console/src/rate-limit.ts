/** The rate limit of an address: what anybody can ask of the console without being signed in. */
import { getAddress } from '../../src/access/address.ts'
import type { ConsoleContext } from './session.ts'

export const RETRY_SECONDS = 60
export const TOO_MANY = 'Too many requests. Retry after a minute.'

/** Counts one request. @param name of what is counted by itself. @returns true if it exceeds the limit. */
export async function exceedsLimit(c: ConsoleContext, name: string): Promise<boolean> {
  const { ADDRESS_RATE_LIMIT: limit, RATE_LIMIT } = c.env
  if (!limit || RATE_LIMIT === 'off') return false
  return !(await limit.limit({ key: `${name} ${getAddress(c.req.raw)}` })).success
}
