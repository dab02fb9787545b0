/**
 * The rate limits (docs/contract-keys.md, Rate limits). Cloudflare's binding counts requests in each of its locations. The
 * isolate stores the addresses that sent too many refused keys, because the binding counts every look-up as a request.
 */
import type { Environment } from '../environment.ts'
import { ApiError, failure } from '../errors.ts'
import { RecentMap } from './recent-map.ts'

/**
 * The requests of a key or of an organization, and the refused keys, health checks or uses of claim links of an address,
 * each minute: the name and the quota in the headers `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-11).
 * wrangler.toml sets the limits; test/access/authentication.test.ts holds these numbers to it.
 */
export const POLICIES = {
  KEY_RATE_LIMIT: { name: 'key', quota: 600 },
  ORGANIZATION_RATE_LIMIT: { name: 'organization', quota: 6000 },
  REFUSAL_RATE_LIMIT: { name: 'address', quota: 60 },
} as const

type Limit = keyof typeof POLICIES

const MINUTE_SECONDS = 60
const MINUTE_MS = MINUTE_SECONDS * 1000

/** The value of `RateLimit-Policy` for requests with an API key. */
export const REQUEST_POLICY = `${policyOf('KEY_RATE_LIMIT')}, ${policyOf('ORGANIZATION_RATE_LIMIT')}`

function policyOf(limit: Limit): string {
  const { name, quota } = POLICIES[limit]
  return `"${name}";q=${quota};w=${MINUTE_SECONDS}`
}

/** The binding does not tell what is left, so `RateLimit` is sent only when nothing is. */
function tooManyRequests(limit: Limit): ApiError {
  return new ApiError(failure('rate_limited', `Too many requests. Retry after ${MINUTE_SECONDS} seconds.`), {
    'Retry-After': String(MINUTE_SECONDS),
    'RateLimit-Policy': policyOf(limit),
    RateLimit: `"${POLICIES[limit].name}";r=0;t=${MINUTE_SECONDS}`,
  })
}

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
  if (await count(limit, key, environment)) throw tooManyRequests(limit)
}

/**
 * Counts a refused key, and blocks the address for a minute if it sent too many.
 * @throws {ApiError} 429 if it did.
 */
export async function countRefusedKey(address: string, environment: Environment): Promise<void> {
  if (!(await count('REFUSAL_RATE_LIMIT', address, environment))) return
  blockedUntil.set(address, Date.now() + MINUTE_MS)
  throw tooManyRequests('REFUSAL_RATE_LIMIT')
}

/**
 * Refuses a blocked address without a query. A key that was accepted within the last minute passes, because many
 * callers may share the address.
 * @param acceptedAt when this isolate last found the key live, in milliseconds.
 * @throws {ApiError} 429
 */
export function refuseBlocked(address: string, acceptedAt: number | undefined, environment: Environment): void {
  const now = Date.now()
  if (!isLimiting(environment) || now >= (blockedUntil.get(address) ?? 0)) return
  if (acceptedAt === undefined || now >= acceptedAt + MINUTE_MS) throw tooManyRequests('REFUSAL_RATE_LIMIT')
}
