import type { Environment } from '../session.ts'
import { canConnect, type GrantProps, resourceOf, serverOf } from './server.ts'

/** One read of KV. @returns the API key of the grant; null if the token is not valid for the resource. */
export async function apiKeyOf(environment: Environment, resource: string, token: string): Promise<string | null> {
  if (!canConnect(environment) || resource !== resourceOf(environment)) return null
  const valid = await serverOf(environment).validateToken(resource, token, environment)
  return valid ? (valid.props as GrantProps).apiKey : null
}
