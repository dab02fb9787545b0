/** Sign-in with an identity provider: the start, the callback, and what the page offers. */
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import * as oauth from 'oauth4webapi'
import type { SignInResult } from '../../../src/sign-in/types.ts'
import { showPage } from '../page.ts'
import { exceedsLimit } from '../rate-limit.ts'
import { apiUrl, type ConsoleContext, type Environment, setSession } from '../session.ts'
import { identifyByAssertion } from './access.ts'
import { ATTEMPT_SECONDS, type Attempt, seal, unseal } from './attempt.ts'
import type { CodeFlow } from './code-flow.ts'
import { github } from './github.ts'
import type { Identified } from './identified.ts'
import { openid } from './openid.ts'
import { fetchPicture } from './picture.ts'
import { PROBLEM_ELEMENT, PROBLEM_STATUS, type SignInProblem } from './problem.ts'
import { ProviderError } from './provider-error.ts'
import { type CodeProvider, isLoopback, isOrganizationId, type Provider, readProviders } from './providers.ts'

const FLOWS: Readonly<Record<CodeProvider['type'], CodeFlow>> = { oidc: openid, github }

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

// The cookie of an attempt stays: its callback can be opened again after a minute.
for (const path of ['/sign-in/start/:provider', '/sign-in/callback/:provider']) {
  signInRoutes.use(path, async (c, next) => {
    if (!(await exceedsLimit(c, path))) return next()
    const { organization, to } = c.req.query()
    return showProblem(c, 'too_many_requests', { provider: providerOf(c), organization, to })
  })
}

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
  const path = ownPath(c, to)
  if (provider.type === 'access') {
    // Each one would be a sign-in: a picture or a frame of another site, too, for a person who is signed in at Access.
    if (c.req.header('Sec-Fetch-Dest') !== 'document') return c.json({ error: 'Open this address in a browser.' }, 403)
    const identified = await identifyByAssertion(provider, c.req.raw.headers).catch(asError)
    return finish(c, provider, organization, path, identified)
  }
  const attempt: Attempt = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    organization,
    to: path,
    expiresAt: Date.now() + ATTEMPT_SECONDS * 1000,
  }
  const redirectUri = callbackUrl(c, provider)
  const url = await FLOWS[provider.type].authorizationUrl(provider, attempt, redirectUri).catch(asError)
  if (url instanceof Error) return showFailure(c, url, seen)
  setCookie(c, COOKIE, await seal(attempt, provider), { ...COOKIE_OPTIONS, maxAge: ATTEMPT_SECONDS })
  return c.redirect(url.href)
})

signInRoutes.get('/sign-in/callback/:provider', async (c) => {
  const provider = providerOf(c)
  if (!provider || provider.type === 'access') return showProblem(c, 'unknown_provider', {})
  const attempt = await unseal(getCookie(c, COOKIE) ?? '', provider, Date.now())
  // An attempt is for one callback.
  deleteCookie(c, COOKIE, COOKIE_OPTIONS)
  const seen = { provider, organization: attempt?.organization ?? provider.organization, to: attempt?.to }
  const callback = new URL(c.req.url)
  // Another tab may have begun after this one.
  if (!attempt || callback.searchParams.get('state') !== attempt.state) return showProblem(c, 'expired', seen)
  const flow = FLOWS[provider.type]
  const identified = await flow.identify(provider, attempt, callback, callbackUrl(c, provider)).catch(asError)
  return finish(c, provider, attempt.organization, attempt.to, identified)
})

/** @param to a path of the console. */
async function finish(
  c: ConsoleContext,
  provider: Provider,
  organization: string,
  to: string,
  identified: Identified | Error,
): Promise<Response> {
  const seen = { provider, organization, to }
  if (identified instanceof Error) return showFailure(c, identified, seen)
  const result = await c.env.SIGN_IN.signIn(organization, identified.person).catch(asError)
  if (result instanceof Error) {
    log(provider, result)
    return showProblem(c, 'unavailable', seen)
  }
  if ('refusal' in result) return showProblem(c, result.refusal, { ...seen, claims: identified.person.claims })
  setSession(c, result)
  c.executionCtx.waitUntil(putPicture(c, provider, identified, result))
  return c.redirect(new URL(to, c.req.url).href)
}

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
    providerType: provider?.type ?? null,
    organization: organization ?? null,
    to: to === undefined ? null : ownPath(c, to),
    detail: detail?.slice(0, MAX_DETAIL_LENGTH) ?? null,
    claims: claims.slice(0, MAX_SHOWN_CLAIMS),
  }
  return showPage(c, PROBLEM_STATUS[reason], { element: PROBLEM_ELEMENT, json })
}

/** @param error of the provider. */
function showFailure(c: ConsoleContext, error: Error, seen: Seen & { readonly provider: Provider }): Promise<Response> {
  const said = refusalOf(error)
  if (said) {
    // The rest may contain the person's address.
    log(seen.provider, new Error(said[0]))
    return showProblem(c, 'provider_refused', { ...seen, detail: said.join(': ') })
  }
  log(seen.provider, error)
  if (error instanceof ProviderError) return showProblem(c, error.reason, { ...seen, detail: error.message })
  const isInvalid = 'code' in error && error.code !== oauth.RESPONSE_IS_NOT_CONFORM
  // A timeout is a DOMException, which has a code, too.
  if (!isInvalid || error instanceof DOMException) return showProblem(c, 'provider_unavailable', seen)
  return showProblem(c, 'provider_invalid', { ...seen, detail: error.message })
}

/** @returns the error of the provider and its description, if it refused. */
function refusalOf(error: Error): readonly [string, ...string[]] | undefined {
  // Most providers answer a wrong secret like this.
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    return ['The provider does not accept the client ID or the client secret.']
  }
  if (!(error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError)) return undefined
  return error.error_description ? [error.error, error.error_description] : [error.error]
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
