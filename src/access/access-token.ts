/**
 * The access tokens of connected apps, which `/mcp` takes beside API keys. The console Worker issues them, and keeps
 * the API key of the app in what it stores for a token, encrypted with that token.
 */
import { sha256 } from '../crypto/digest.ts'
import { StoreUnavailable } from '../db/failures.ts'
import type { Environment } from '../environment.ts'
import { unauthorized } from '../errors.ts'
import { getAddress } from './address.ts'
import { countRefusedKey, refuseBlocked } from './rate-limit.ts'
import { RecentMap } from './recent-map.ts'

/** The ID of an API key, and what the library adds: the ID of the grant and a secret. Nothing else is looked up. */
const ACCESS_TOKEN = /^Bearer +([\da-f-]{36}:[\w-]{16}:[\w-]{32})$/i

/** When this isolate last found a token valid, in milliseconds, by the hash of the token. */
const acceptedAt = new RecentMap<string, number>()

type Issuing = Environment & Required<Pick<Environment, 'AUTH' | 'CONSOLE_URL'>>

/** True if there is an authorization server. */
export function issuesAccessTokens(environment: Environment): environment is Issuing {
  return environment.AUTH !== undefined && environment.CONSOLE_URL !== undefined
}

/** What an access token is issued for (RFC 8707). */
export function mcpResource({ url }: Request): string {
  return `${new URL(url).origin}/mcp`
}

/**
 * @returns the request with the API key of the app instead of the access token.
 * @throws {ApiError} 401 if the token is not valid here, 429 if the address sent too many refused tokens or keys.
 */
export async function withApiKey(request: Request, environment: Environment): Promise<Request> {
  if (!issuesAccessTokens(environment)) return request
  const [, token] = ACCESS_TOKEN.exec(request.headers.get('Authorization') ?? '') ?? []
  if (token === undefined) return request
  const address = getAddress(request)
  const hash = await sha256(token)
  refuseBlocked(address, acceptedAt.get(hash), environment)
  const apiKey = await environment.AUTH.apiKeyOf(mcpResource(request), token).catch(() => {
    throw new StoreUnavailable('The access token could not be looked up')
  })
  if (apiKey === null) {
    acceptedAt.delete(hash)
    await countRefusedKey(address, environment)
    throw unauthorized.token()
  }
  acceptedAt.set(hash, Date.now())
  const headers = new Headers(request.headers)
  headers.set('Authorization', `Bearer ${apiKey}`)
  return new Request(request, { headers })
}
