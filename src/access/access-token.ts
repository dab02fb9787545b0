/**
 * The access tokens of connected apps, which `/mcp` takes beside API keys. The console Worker issues them, and keeps
 * the API key of the app in what it stores for a token, encrypted with that token.
 */
import { StoreUnavailable } from '../db/failures.ts'
import type { Environment } from '../environment.ts'
import { unauthorized } from '../errors.ts'

/** An API key begins with `wsk`: whatever its form, it is not looked up elsewhere. */
const ACCESS_TOKEN = /^Bearer +((?!wsk)[!-~]{1,500})$/i

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
 * @throws {ApiError} 401 if the token is not valid here.
 */
export async function withApiKey(request: Request, environment: Environment): Promise<Request> {
  if (!issuesAccessTokens(environment)) return request
  const [, token] = ACCESS_TOKEN.exec(request.headers.get('Authorization') ?? '') ?? []
  if (token === undefined) return request
  const apiKey = await environment.AUTH.apiKeyOf(mcpResource(request), token).catch(() => {
    throw new StoreUnavailable('The access token could not be looked up')
  })
  if (apiKey === null) throw unauthorized.token()
  const headers = new Headers(request.headers)
  headers.set('Authorization', `Bearer ${apiKey}`)
  return new Request(request, { headers })
}
