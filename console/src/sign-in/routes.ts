/** Sign-in with an identity provider: the start, the callback, and what the page offers. */
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import * as oauth from 'oauth4webapi'
import type { SignInResult } from '../../../src/sign-in/types.ts'
import { showPage } from '../page.ts'
import { apiUrl, type ConsoleContext, type Environment, setSession } from '../session.ts'
import { ATTEMPT_SECONDS, type Attempt, seal, unseal } from './attempt.ts'
import { authorizationUrl, type Identified, identify, WrongIssuer } from './openid.ts'
import { fetchPicture } from './picture.ts'
import { PROBLEM_ELEMENT, PROBLEM_STATUS, type SignInProblem } from './problem.ts'
import { isLoopback, isOrganizationId, type Provider, readProviders } from './providers.ts'

/** Lax, because the callback comes from another site. */
const COOKIE = '__Host-sign-in'
const COOKIE_OPTIONS = { httpOnly: true, secure: true, sameSite: 'Lax', path: '/' } as const

/** A cookie has at most 4 KB, a third more than what it seals. */
const MAX_PATH_LENGTH = 2400
const MAX_DETAIL_LENGTH = 500
const MAX_SHOWN_CLAIMS = 200

export const signInRoutes = new Hono<{ Bindings: Environment }>()

// What the sign-in page offers for an organization.
signInRoutes.get('/session/providers', (c) => {
  const { providers, problems } = readProviders({ ...c.env })
  const given = c.req.query('organization')
  const organization = given !== undefined && isOrganizationId(given) ? given : undefined
  const usable = providers.filter((each) =>
    organization === undefined ? each.organization : (each.organization ?? organization) === organization,
  )
  return c.json({
    providers: usable.map(({ id, name, issuer }) => ({ id, name, issuer })),
    hasApiKeys: c.env.SIGN_IN_WITH_API_KEY !== 'off',
    // The address of the sign-in page can have an organization, for which there are others.
    needsOrganization: organization === undefined && providers.some((each) => each.organization === undefined),
    problems,
  })
})

signInRoutes.get('/sign-in/start/:provider', async (c) => {
  const provider = providerOf(c)
  const { organization: given, to } = c.req.query()
  if (!provider) return showProblem(c, 'unknown_provider', { organization: given, to })
  const seen = { provider, organization: given, to }
  const organization = provider.organization ?? given
  if (organization === undefined) return showProblem(c, 'no_organization', seen)
  if (!isOrganizationId(organization) || (given !== undefined && given !== organization)) {
    return showProblem(c, 'organization_unavailable', seen)
  }
  const attempt: Attempt = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    organization,
    to: ownPath(c, to),
    expiresAt: Date.now() + ATTEMPT_SECONDS * 1000,
  }
  const url = await authorizationUrl(provider, attempt, callbackUrl(c, provider)).catch(asError)
  if (url instanceof Error) return showFailure(c, url, seen)
  setCookie(c, COOKIE, await seal(attempt, provider), { ...COOKIE_OPTIONS, maxAge: ATTEMPT_SECONDS })
  return c.redirect(url.href)
})

signInRoutes.get('/sign-in/callback/:provider', async (c) => {
  const provider = providerOf(c)
  if (!provider) return showProblem(c, 'unknown_provider', {})
  const attempt = await unseal(getCookie(c, COOKIE) ?? '', provider, Date.now())
  // An attempt is for one callback.
  deleteCookie(c, COOKIE, COOKIE_OPTIONS)
  const seen = { provider, organization: attempt?.organization ?? provider.organization, to: attempt?.to }
  const callback = new URL(c.req.url)
  // Another tab may have begun after this one.
  if (!attempt || callback.searchParams.get('state') !== attempt.state) return showProblem(c, 'expired', seen)
  const identified = await identify(provider, attempt, callback, callbackUrl(c, provider)).catch(asError)
  if (identified instanceof Error) return showFailure(c, identified, seen)
  const result = await c.env.SIGN_IN.signIn(attempt.organization, identified.person).catch(asError)
  if (result instanceof Error) {
    log(provider, result)
    return showProblem(c, 'unavailable', seen)
  }
  if ('refusal' in result) return showProblem(c, result.refusal, { ...seen, ...identified.person })
  setSession(c, result)
  c.executionCtx.waitUntil(putPicture(c, provider, identified, result))
  return c.redirect(new URL(attempt.to, c.req.url).href)
})

function providerOf(c: ConsoleContext): Provider | undefined {
  return readProviders({ ...c.env }).providers.find(({ id }) => id === c.req.param('provider'))
}

const callbackUrl = (c: ConsoleContext, { id }: Provider) => new URL(`/sign-in/callback/${id}`, c.req.url).href

/** @returns a path of the console, "/" for everything else. The host is left out, and a path may not begin as one does. */
function ownPath(c: ConsoleContext, to: string | undefined): string {
  if (to === undefined || !to.startsWith('/') || !URL.canParse(to, c.req.url)) return '/'
  const { pathname, search, hash } = new URL(to, c.req.url)
  const isPage = !/^\/(?:\/|(?:api|session|sign-in)(?:\/|$))/.test(pathname)
  const path = pathname + search + hash
  return isPage && path.length <= MAX_PATH_LENGTH ? path : '/'
}

/** What is known of a sign-in that fails. */
interface Seen {
  readonly provider?: Provider | undefined
  readonly organization?: string | undefined
  readonly to?: string | undefined
  readonly detail?: string
  readonly claims?: SignInProblem['claims']
}

function showProblem(c: ConsoleContext, reason: SignInProblem['reason'], seen: Seen): Promise<Response> {
  const { provider, organization, to, detail, claims = [] } = seen
  const json: SignInProblem = {
    reason,
    provider: provider?.name ?? null,
    organization: organization ?? null,
    to: to === undefined ? null : ownPath(c, to),
    detail: detail?.slice(0, MAX_DETAIL_LENGTH) ?? null,
    claims: claims.slice(0, MAX_SHOWN_CLAIMS),
  }
  return showPage(c, PROBLEM_STATUS[reason], { element: PROBLEM_ELEMENT, json })
}

/** @param error of the OpenID Connect flow. */
function showFailure(c: ConsoleContext, error: Error, seen: Seen & { readonly provider: Provider }): Promise<Response> {
  const detail = detailOf(error)
  if (detail !== undefined) {
    log(seen.provider, new Error(detail))
    return showProblem(c, 'provider_refused', { ...seen, detail })
  }
  log(seen.provider, error)
  const isInvalid = error instanceof WrongIssuer || ('code' in error && error.code !== oauth.RESPONSE_IS_NOT_CONFORM)
  // A timeout is a DOMException, which has a code, too.
  if (!isInvalid || error instanceof DOMException) return showProblem(c, 'provider_unavailable', seen)
  return showProblem(c, 'provider_invalid', { ...seen, detail: error.message })
}

/** @returns what the provider says, if it refused. */
function detailOf(error: Error): string | undefined {
  // Most providers answer a wrong secret like this.
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    return 'The provider does not accept the client ID or the client secret.'
  }
  if (!(error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError)) return undefined
  return [error.error, error.error_description].filter(Boolean).join(': ')
}

/** Without the cause of an error of oauth4webapi, which has tokens. */
function log({ id }: Provider, { name, message }: Error): void {
  console.error(JSON.stringify({ signIn: id, failure: `${name}: ${message}` }))
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

type SignedIn = Exclude<SignInResult, { refusal: unknown }>

/** The picture comes with the first sign-in, which does not wait for it. */
async function putPicture(
  c: ConsoleContext,
  provider: Provider,
  { picture }: Identified,
  { token, userId, scopes, isFirst }: SignedIn,
): Promise<void> {
  if (picture === null || !isFirst || !scopes.includes('profile-picture:write')) return
  try {
    const body = await fetchPicture(picture, isLoopback(provider.issuer))
    const path = `/v1/users/${encodeURIComponent(userId)}/profile-picture`
    const headers = { Authorization: `Bearer ${token}`, 'If-None-Match': '*' }
    const response = await c.env.API.fetch(apiUrl(path), { method: 'PUT', headers, body })
    if (!response.ok) throw new Error(`the API responded with ${response.status}`)
  } catch (error) {
    log(provider, new Error(`The picture of a person was not stored: ${asError(error).message}`))
  }
}
