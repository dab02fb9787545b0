/**
 * The rate limits (docs/contract.md, Rate limits). Cloudflare's binding counts requests in each of its locations. The isolate
 * stores the addresses that sent too many refused keys, because the binding counts every look-up as a request.
 */
import type { Environment } from '../environment.ts'
import { tooManyRequests } from '../errors.ts'
import { RecentMap } from './recent-map.ts'

/** The requests of a key or of an organization, and the refused keys or health checks of an address, each minute. */
type Limit = 'KEY_RATE_LIMIT' | 'ORGANIZATION_RATE_LIMIT' | 'REFUSAL_RATE_LIMIT'

const MINUTE_MS = 60_000

/** The addresses that sent too many refused keys, and the time until which they are blocked, in milliseconds. */
const blockedUntil = new RecentMap<string, number>()

/** True unless the operator turned the rate limits off. */
export function isLimiting({ RATE_LIMIT }: Environment): boolean {
  return RATE_LIMIT !== 'off'
}

/** Counts one request. @returns true if it exceeds the limit. */
export async function count(limit: Limit, key: string, environment: Environment): Promise<boolean> {
  return isLimiting(environment) && !(await environment[limit].limit({ key })).success
}

/** Counts one request. @throws {ApiError} 429 if it exceeds the limit. */
export async function countAgainst(limit: Limit, key: string, environment: Environment): Promise<void> {
  if (await count(limit, key, environment)) throw tooManyRequests()
}

/**
 * Counts a refused key, and blocks the address for a minute if it sent too many.
 * @throws {ApiError} 429 if it did.
 */
export async function countRefusedKey(address: string, environment: Environment): Promise<void> {
  if (!(await count('REFUSAL_RATE_LIMIT', address, environment))) return
  blockedUntil.set(address, Date.now() + MINUTE_MS)
  throw tooManyRequests()
}

/**
 * Refuses a blocked address without a query. A key that was accepted within the last minute passes, because many
 * callers may share the address.
 * @param acceptedAt when this isolate last found the key live, in milliseconds.
 * @throws {ApiError} 429
 */
export function refuseBlocked(
  address: string,
  acceptedAt: number | undefined,
  environment: Environment,
): void {
  const now = Date.now()
  if (!isLimiting(environment) || now >= (blockedUntil.get(address) ?? 0)) return
  if (acceptedAt === undefined || now >= acceptedAt + MINUTE_MS) throw tooManyRequests()
}

/**
 * The address that a request is counted under: the first 64 bits of IPv6, because one client has all addresses of a
 * /64 network. Empty if Cloudflare does not send the address; these requests are counted together.
 */
export function addressOf(request: Request): string {
  const address = request.headers.get('CF-Connecting-IP') ?? ''
  // An IPv4 address has no colon; an IPv6 address that maps it ends with it.
  if (!address.includes(':') || address.includes('.')) return address
  const [before = [], after] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = after ? Array(Math.max(0, 8 - before.length - after.length)).fill('0') : []
  const network = [...before, ...zeros, ...(after ?? [])].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
