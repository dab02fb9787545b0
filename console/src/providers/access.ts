/**
 * Cloudflare Access, which signs people in before a request reaches the Worker, and sends along an assertion of who
 * they are: a JWT for one application of one team.
 */
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose'
import { boundedFetch } from './bounded-fetch.ts'
import { type Identified, identifiedBy, isText } from './identified.ts'
import { ProviderError, readObject } from './provider-error.ts'
import type { AccessProvider } from './providers.ts'

const HEADER = 'Cf-Access-Jwt-Assertion'
const TIMEOUT_MS = 10_000
/** The tolerance of oauth4webapi. */
const CLOCK_TOLERANCE_S = 30

/** The public keys of teams, which jose reads again when it meets an unknown key. */
const keysOfTeams = new Map<string, ReturnType<typeof createRemoteJWKSet>>()

/**
 * Who the assertion of the request names. Only Access makes assertions, but anyone can send the header.
 * @throws ProviderError if there is no valid assertion of a person.
 */
export async function identifyByAssertion(provider: AccessProvider, headers: Headers): Promise<Identified> {
  const assertion = headers.get(HEADER)
  if (assertion === null) {
    throw new ProviderError('provider_invalid', `The request has no ${HEADER}: Access does not protect this address.`)
  }
  const { sub, email, custom } = await verified(provider, assertion)
  if (!isText(sub) || !isText(email)) {
    throw new ProviderError('provider_refused', 'The assertion names no person. Service tokens cannot sign in.')
  }
  const { name, groups } = await readIdentity(provider, assertion, email)
  // Access has the address verified before it lets anyone through.
  return identifiedBy({ iss: provider.issuer, sub, email, email_verified: true, name, groups, custom })
}

async function verified({ issuer, audience }: AccessProvider, assertion: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(assertion, keysOf(issuer), {
      issuer,
      audience,
      algorithms: ['RS256'],
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
    })
    return payload
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
    // Two errors are of the keys. The general one is another status than 200, or no JSON.
    const hasNoKeys = error.code === errors.JWKSTimeout.code || error.code === errors.JOSEError.code
    throw new ProviderError(hasNoKeys ? 'provider_unavailable' : 'provider_invalid', error.message)
  }
}

function keysOf(issuer: string) {
  const found = keysOfTeams.get(issuer)
  if (found) return found
  const url = new URL(`${issuer}/cdn-cgi/access/certs`)
  const keys = createRemoteJWKSet(url, { timeoutDuration: TIMEOUT_MS, [customFetch]: boundedFetch })
  keysOfTeams.set(issuer, keys)
  return keys
}

/** The name and the groups of the person, which are too long for an assertion. */
async function readIdentity({ issuer }: AccessProvider, assertion: string, email: string) {
  const response = await boundedFetch(`${issuer}/cdn-cgi/access/get-identity`, {
    headers: { Cookie: `CF_Authorization=${assertion}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const identity = await readObject(response, 'The identity endpoint of Access')
  if (!isText(identity.email) || identity.email.toLowerCase() !== email.toLowerCase()) {
    throw new ProviderError('provider_invalid', 'The identity endpoint of Access named another person.')
  }
  return identity
}
