/** The authorization code flow with PKCE, of which oauth4webapi checks every response. */
import * as oauth from 'oauth4webapi'
import type { Attempt } from './attempt.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { Identified } from './identified.ts'
import { type CodeProvider, isLoopback } from './providers.ts'

export const TIMEOUT_MS = 10_000

/** How a type of providers uses the flow. */
export interface CodeFlow {
  /** The address at the provider at which the person signs in. */
  authorizationUrl(provider: CodeProvider, attempt: Attempt, redirectUri: string): Promise<URL>
  /** Redeems the code of the callback. @throws if anything that the provider sent is not right. */
  identify(provider: CodeProvider, attempt: Attempt, callback: URL, redirectUri: string): Promise<Identified>
}

/** @param more parameters of the request. */
export async function authorizationRequest(
  server: oauth.AuthorizationServer,
  provider: CodeProvider,
  { state, verifier }: Attempt,
  redirectUri: string,
  more: Readonly<Record<string, string>> = {},
): Promise<URL> {
  const url = new URL(server.authorization_endpoint ?? '')
  oauth.checkProtocol(url, !isLoopback(provider.issuer))
  const parameters = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    scope: provider.scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

/** @returns the response of the token endpoint, which is not checked yet. */
export async function redeem(
  server: oauth.AuthorizationServer,
  provider: CodeProvider,
  { state, verifier }: Attempt,
  callback: URL,
  redirectUri: string,
): Promise<Response> {
  const client = clientOf(provider)
  const parameters = oauth.validateAuthResponse(server, client, callback, state)
  const authentication = clientAuthentication(server, provider)
  const options = optionsOf(provider)
  return oauth.authorizationCodeGrantRequest(server, client, authentication, parameters, redirectUri, verifier, options)
}

export const clientOf = ({ clientId }: CodeProvider): oauth.Client => ({ client_id: clientId })

export type Options = ReturnType<typeof optionsOf>

export function optionsOf({ issuer }: CodeProvider) {
  return {
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
    [oauth.customFetch]: boundedFetch,
    [oauth.allowInsecureRequests]: isLoopback(issuer),
  }
}

/**
 * In the form, if the provider takes it there. In the Authorization header, some providers do not decode the characters
 * that RFC 6749 encodes, which many secrets have.
 */
function clientAuthentication(server: oauth.AuthorizationServer, { clientSecret }: CodeProvider): oauth.ClientAuth {
  const takesForm = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
  return takesForm ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret)
}
