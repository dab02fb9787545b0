/**
 * The authorization server: apps connect to `/mcp` of the API by OAuth 2.1. What an app may do is an API key of the
 * kind `grant`, which lies in the grant, encrypted with the tokens of the app. The API decides each call by that key.
 */
import {
  type ClientRegistrationCallbackOptions,
  GrantType,
  OAuthAuthorizationServer,
  OAuthError,
  type TokenExchangeCallbackOptions,
} from '@cloudflare/workers-oauth-provider'
import { BUNDLE_NAMES } from '../../../src/access/bundles.ts'
import { type Environment, endKey } from '../session.ts'

/** What a grant keeps. */
export interface GrantProps {
  readonly apiKey: string
  /** The end that its person chose. */
  readonly endsAt: string
}

/** Where apps can be connected. */
export interface OAuthEnvironment extends Environment {
  readonly API_URL: string
  readonly CONSOLE_URL: string
  readonly OAUTH_KV: KVNamespace
  /** The address that asks for a token: the API counts refused keys by it. */
  readonly address?: string
  /** Called before tokens are issued for a code. */
  readonly onRedeemed?: (apiKey: string) => void
}

export function canConnect(environment: Environment): environment is OAuthEnvironment {
  const { API_URL, CONSOLE_URL, OAUTH_KV } = environment
  return API_URL !== undefined && CONSOLE_URL !== undefined && OAUTH_KV !== undefined
}

const DAY_SECONDS = 86_400
const ACCESS_TOKEN_SECONDS = 3600
/** The least that KV keeps. */
const MIN_SECONDS = 60
/** An app that asks for tokens stays registered. */
const REGISTRATION_SECONDS = 30 * DAY_SECONDS
const MAX_REDIRECT_URIS = 10
const RETRY_SECONDS = 5

export const issuerOf = ({ CONSOLE_URL }: OAuthEnvironment): string => new URL(CONSOLE_URL).origin
export const resourceOf = ({ API_URL }: OAuthEnvironment): string => new URL('/mcp', API_URL).href

// The library logs what an app sent or published, and has no setting for that. Control characters could begin a line of
// their own, or command the terminal that shows the log.
const { warn } = console
console.warn = (...values) =>
  warn(...values.map((value) => (typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '\uFFFD') : value)))

let server: OAuthAuthorizationServer<OAuthEnvironment> | undefined

/** The environment of an isolate stays the same. */
export function serverOf(environment: OAuthEnvironment): OAuthAuthorizationServer<OAuthEnvironment> {
  server ??= new OAuthAuthorizationServer<OAuthEnvironment>({
    issuer: issuerOf(environment),
    resources: [resourceOf(environment)],
    scopesSupported: [...BUNDLE_NAMES],
    clientIdMetadataDocumentEnabled: true,
    clientRegistrationEndpoint: '/oauth/register',
    clientRegistrationTTL: REGISTRATION_SECONDS,
    clientRegistrationCallback: limitRedirectUris,
    accessTokenTTL: ACCESS_TOKEN_SECONDS,
    tokenExchangeCallback: requireLive,
    // The library would log descriptions, which quote what the client sent.
    onError: () => undefined,
  })
  return server
}

function limitRedirectUris({ clientMetadata }: ClientRegistrationCallbackOptions) {
  const { redirect_uris: addresses } = clientMetadata
  if (!Array.isArray(addresses) || addresses.length <= MAX_REDIRECT_URIS) return undefined
  const description = `redirect_uris has ${addresses.length} addresses; allowed: up to ${MAX_REDIRECT_URIS}.`
  return { code: 'invalid_redirect_uri', description }
}

/** Before tokens are issued: the key decides whether there is still a grant, and how long, and whether the code is new. */
async function requireLive({ grantType, props, scope, env }: TokenExchangeCallbackOptions<OAuthEnvironment>) {
  const { apiKey, endsAt } = props as GrantProps
  const { address = '', API, SIGN_IN } = env
  const exchanged = await SIGN_IN.exchange(apiKey, address).catch(() => undefined)
  // A suspension can end.
  if (exchanged && 'error' in exchanged && exchanged.status === 401 && exchanged.code !== 'organization_suspended') {
    throw new OAuthError('invalid_grant', { description: 'The app was disconnected. Connect it again.' })
  }
  if (!exchanged || 'error' in exchanged) {
    throw new OAuthError('temporarily_unavailable', {
      description: 'The service is temporarily unavailable.',
      statusCode: 503,
      headers: { 'Retry-After': String(RETRY_SECONDS) },
    })
  }
  if (grantType === GrantType.AUTHORIZATION_CODE) {
    if (!exchanged.isFirst) {
      // Somebody else may have the tokens of the first exchange (RFC 6749, section 4.1.2).
      await endKey(API, apiKey, address)
      throw new OAuthError('invalid_grant', { description: 'The code was used before. Connect the app again.' })
    }
    env.onRedeemed?.(apiKey)
  }
  const seconds = Math.max(MIN_SECONDS, Math.ceil((Date.parse(endsAt) - Date.now()) / 1000))
  return {
    refreshTokenTTL: seconds,
    accessTokenTTL: Math.min(ACCESS_TOKEN_SECONDS, seconds),
    // An app that asks for less gets the same key, so the response names what the key may do (RFC 6749, section 3.3).
    accessTokenScope: scope,
  }
}
