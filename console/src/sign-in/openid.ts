/** OpenID Connect: the authorization code flow with PKCE, of which oauth4webapi checks every response. */
import * as oauth from 'oauth4webapi'
import { flattenClaims, type RawClaims, verifiedEmail } from '../../../src/sign-in/claims.ts'
import type { Person } from '../../../src/sign-in/types.ts'
import type { Attempt } from './attempt.ts'
import { isLoopback, type Provider } from './providers.ts'

const TIMEOUT_MS = 10_000
/** How long this isolate uses the metadata of an issuer. */
const METADATA_MS = 600_000
const MAX_NAME_LENGTH = 200

/** What the isolate remembers of an issuer. oauth4webapi keeps the public keys for five minutes, by the object. */
interface Known {
  readonly server: oauth.AuthorizationServer
  readonly readAt: number
}

const knownIssuers = new Map<string, Known>()
/** The servers whose keys were read. */
const serversWithKeys = new WeakSet<oauth.AuthorizationServer>()

/** The settings of a provider are not what the provider says of itself. */
export class WrongIssuer extends Error {}

const wrongIssuer = (found: string, expected: string) =>
  new WrongIssuer(`Its issuer is "${found}", but the settings have "${expected}".`)

export interface Identified {
  readonly person: Person
  /** The URL of the person's picture, as the provider has it. */
  readonly picture: string | null
}

/** The address at the provider at which the person signs in. */
export async function authorizationUrl(
  provider: Provider,
  { state, nonce, verifier }: Attempt,
  redirectUri: string,
): Promise<URL> {
  const server = await discover(provider)
  const url = new URL(server.authorization_endpoint ?? '')
  oauth.checkProtocol(url, !isLoopback(provider.issuer))
  const parameters = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    scope: provider.scope,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

/**
 * Redeems the code of the callback. The claims of the ID token win over those of the userinfo endpoint.
 * @throws an error of oauth4webapi if anything that the provider sent is not right.
 */
export async function identify(
  provider: Provider,
  { state, nonce, verifier }: Attempt,
  callback: URL,
  redirectUri: string,
): Promise<Identified> {
  const server = await discover(provider)
  const options = optionsOf(provider)
  const client = { client_id: provider.clientId }
  const parameters = oauth.validateAuthResponse(server, client, callback, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    clientAuthentication(server, provider),
    parameters,
    redirectUri,
    verifier,
    options,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await validateSignature(server, response, options)
  const token = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken
  if (server.userinfo_endpoint === undefined) return identifiedBy(token, {})
  const userinfo = await oauth.processUserInfoResponse(
    server,
    client,
    token.sub,
    await oauth.userInfoRequest(server, client, tokens.access_token, options),
  )
  return identifiedBy(token, userinfo)
}

async function discover(provider: Provider): Promise<oauth.AuthorizationServer> {
  const { issuer } = provider
  const found = knownIssuers.get(issuer)
  if (found && Date.now() - found.readAt < METADATA_MS) return found.server
  const response = await oauth.discoveryRequest(new URL(issuer), optionsOf(provider))
  const server = await oauth.processDiscoveryResponse(new URL(issuer), response).catch((error) => {
    const { attribute, body } = error.cause ?? {}
    throw attribute === 'issuer' ? wrongIssuer(String(body?.issuer), issuer) : error
  })
  // oauth4webapi lets them differ by the slash of an empty path, but identities and rules have the exact text.
  if (server.issuer !== issuer) throw wrongIssuer(server.issuer, issuer)
  knownIssuers.set(issuer, { server, readAt: Date.now() })
  return server
}

/** The provider may have new keys, so a signature is wrong only if it is with the current ones. */
async function validateSignature(server: oauth.AuthorizationServer, response: Response, options: Options) {
  const hadKeys = serversWithKeys.has(server)
  serversWithKeys.add(server)
  try {
    await oauth.validateApplicationLevelSignature(server, response, options)
  } catch (error) {
    knownIssuers.delete(server.issuer)
    if (!hadKeys) throw error
    await oauth.validateApplicationLevelSignature({ ...server }, response, options)
  }
}

type Options = ReturnType<typeof optionsOf>

function optionsOf({ issuer }: Provider) {
  return {
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
    [oauth.allowInsecureRequests]: isLoopback(issuer),
  }
}

/**
 * In the form, if the provider takes it there. In the Authorization header, some providers do not decode the characters
 * that RFC 6749 encodes, which many secrets have.
 */
function clientAuthentication(server: oauth.AuthorizationServer, { clientSecret }: Provider): oauth.ClientAuth {
  const takesForm = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
  return takesForm ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret)
}

function identifiedBy(token: RawClaims & oauth.IDToken, userinfo: RawClaims): Identified {
  const claims: RawClaims = { ...userinfo, ...token, ...emailOf(token, userinfo) }
  const { picture } = claims
  return {
    person: {
      issuer: token.iss,
      subject: token.sub,
      claims: flattenClaims(claims),
      email: verifiedEmail(claims),
      name: nameOf(claims),
    },
    picture: typeof picture === 'string' ? picture : null,
  }
}

/** An address is verified by the one that has it: two sources may have different addresses. */
function emailOf(token: RawClaims, userinfo: RawClaims): RawClaims {
  if (token.email === undefined) return { email: userinfo.email, email_verified: userinfo.email_verified }
  const isSame = token.email === userinfo.email
  return { email: token.email, email_verified: token.email_verified ?? (isSame ? userinfo.email_verified : undefined) }
}

function nameOf({ name, given_name: given, family_name: family, preferred_username: username }: RawClaims) {
  const parts = [given, family].filter(isText).join(' ')
  return [name, parts, username].find(isText)?.slice(0, MAX_NAME_LENGTH) ?? null
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
