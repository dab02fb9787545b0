/** OpenID Connect: the issuer says where its endpoints are, and who somebody is in an ID token. */
import * as oauth from 'oauth4webapi'
import type { RawClaims } from '../../../src/sign-in/claims.ts'
import { authorizationRequest, type CodeFlow, clientOf, type Options, optionsOf, redeem } from './code-flow.ts'
import { identifiedBy } from './identified.ts'
import { ProviderError } from './provider-error.ts'
import type { CodeProvider } from './providers.ts'

/** How long this isolate uses the metadata of an issuer. */
const METADATA_MS = 600_000

/** What the isolate remembers of an issuer. oauth4webapi keeps the public keys for five minutes, by the object. */
interface Known {
  readonly server: oauth.AuthorizationServer
  readonly readAt: number
}

const knownIssuers = new Map<string, Known>()
/** The servers whose keys were read. */
const serversWithKeys = new WeakSet<oauth.AuthorizationServer>()

const wrongIssuer = (found: string, expected: string) =>
  new ProviderError('provider_invalid', `Its issuer is "${found}", but the settings have "${expected}".`)

export const openid: CodeFlow = {
  async authorizationUrl(provider, attempt, redirectUri) {
    const { nonce } = attempt
    return authorizationRequest(await discover(provider), provider, attempt, redirectUri, { nonce })
  },

  /** The claims of the ID token win over those of the userinfo endpoint. */
  async identify(provider, attempt, callback, redirectUri) {
    const server = await discover(provider)
    const options = optionsOf(provider)
    const client = clientOf(provider)
    const response = await redeem(server, provider, attempt, callback, redirectUri)
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: attempt.nonce,
      requireIdToken: true,
    })
    await validateSignature(server, response, options)
    const token = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken
    // oauth4webapi asks this only of a token with several audiences.
    if (token.azp !== undefined && token.azp !== client.client_id) {
      throw new ProviderError('provider_invalid', 'Its ID token was issued to another client (azp).')
    }
    if (server.userinfo_endpoint === undefined) return identifiedBy(token)
    const userinfo = await oauth.processUserInfoResponse(
      server,
      client,
      token.sub,
      await oauth.userInfoRequest(server, client, tokens.access_token, options),
    )
    return identifiedBy({ ...userinfo, ...token, ...emailOf(token, userinfo) })
  },
}

async function discover(provider: CodeProvider): Promise<oauth.AuthorizationServer> {
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

/** An address is verified by the one that has it: two sources may have different addresses. */
function emailOf(token: RawClaims, userinfo: RawClaims): RawClaims {
  if (token.email === undefined) return { email: userinfo.email, email_verified: userinfo.email_verified }
  const isSame = token.email === userinfo.email
  return { email: token.email, email_verified: token.email_verified ?? (isSame ? userinfo.email_verified : undefined) }
}
