/**
 * The rate limits (docs/contract.md, Keys). The platform's binding counts, for each of its locations. The isolate
 * remembers which addresses sent too many refused keys, because the binding cannot be asked without counting.
 */
import type { Environment } from '../environment.ts'
import { tooManyRequests } from '../errors.ts'
import { RecentMap } from './recent-map.ts'

/** What is counted each minute: the requests of a key, of an organization, and the refused keys or health checks of an address. */
type Limit = 'KEY_RATE_LIMIT' | 'ORGANIZATION_RATE_LIMIT' | 'REFUSAL_RATE_LIMIT'

const MINUTE_MS = 60_000

/** The addresses that sent too many refused keys, and the time until which they are blocked, in milliseconds. */
const blockedUntil = new RecentMap<string, number>()

/** True unless the operator turned the rate limits off. */
export function isLimiting({ RATE_LIMIT }: Environment): boolean {
  return RATE_LIMIT !== 'off'
}

/** Counts one. @returns true if that is more than the limit. */
export async function count(limit: Limit, key: string, environment: Environment): Promise<boolean> {
  return isLimiting(environment) && !(await environment[limit].limit({ key })).success
}

/** @throws {ApiError} 429 if that is more than the limit. */
export async function countAgainst(limit: Limit, key: string, environment: Environment): Promise<void> {
  if (await count(limit, key, environment)) throw tooManyRequests()
}

/**
 * Counts a refused key, and blocks the address for a minute if it has sent too many.
 * @throws {ApiError} 429 if it has.
 */
export async function countRefusedKey(address: string, environment: Environment): Promise<void> {
  if (!(await count('REFUSAL_RATE_LIMIT', address, environment))) return
  blockedUntil.set(address, Date.now() + MINUTE_MS)
  throw tooManyRequests()
}

/**
 * Refuses an address that is blocked without asking the database. A key that was accepted within the last minute is
 * let through: many callers may share the address.
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
 * The address that a request is counted under: of IPv6 the first 64 bits, because one client has all addresses below
 * them. Empty where the platform does not name the address; those requests are counted together.
 */
export function addressOf(request: Request): string {
  const address = request.headers.get('CF-Connecting-IP') ?? ''
  // IPv4 has no colon, and IPv6 that maps it ends in it.
  if (!address.includes(':') || address.includes('.')) return address
  const [before = [], after] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = after ? Array(Math.max(0, 8 - before.length - after.length)).fill('0') : []
  const network = [...before, ...zeros, ...(after ?? [])].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
