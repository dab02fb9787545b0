/** A person decides about an app. Every answer is JSON, because `form-action` would stop the way back to the app. */
import {
  AuthorizationError,
  authorizationErrorRedirect,
  CimdFetchError,
  type OAuthHelpers,
} from '@cloudflare/workers-oauth-provider'
import { isBundle, MAX_GRANT_DAYS } from '../../../src/access/bundles.ts'
import { addressOf, apiUrl, type ConsoleContext, endKey, headersTo, refuse, sessionToken } from '../session.ts'
import { problemOfClient } from './client.ts'
import { canConnect, type GrantProps, issuerOf, type OAuthEnvironment, serverOf } from './server.ts'

/** What the page shows of an app that asks. */
export interface ConsentRequest {
  /** By which the page says what the person decided. */
  readonly handle: string
  readonly clientName: string
  /** The domain that publishes the metadata of the app; null if it registered itself, and nothing is verified. */
  readonly clientDomain: string | null
  readonly redirectHost: string
  /** True if the person is sent to a program on their own computer, which can be any. */
  readonly isLocal: boolean
  /** The permissions that it asks for; none: those that the person chooses. */
  readonly bundles: readonly string[]
}

/** The address to go to, by `location.assign`. */
export interface Departure {
  readonly redirectTo: string
}

/** What the person decided. */
export interface Decision {
  readonly handle: string
  readonly isAllowed: boolean
  readonly bundles: readonly string[]
  /** Null: all projects of the person. */
  readonly projectIds: readonly string[] | null
  readonly days: number
}

/** None may be repeated (RFC 6749, section 3.1), while an app may name several resources (RFC 8707). */
const PARAMETERS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
]

/** Checks the request of the app, which is the query, for a person who is signed in. */
export async function describe(c: ConsoleContext): Promise<Response> {
  const { env: environment } = c
  if (!canConnect(environment)) return refuse(c, 404, 'Apps cannot be connected here.')
  const token = sessionToken(c)
  if (token === undefined) return refuse(c, 401, 'You are signed out. Sign in again.')
  const me = await environment.API.fetch(apiUrl('/v1/me'), { headers: headersTo(c, token) })
  if (!me.ok) return new Response(me.body, me)
  await me.body?.cancel()
  return handled(c, async () => {
    const { search, searchParams } = new URL(c.req.url)
    const repeated = PARAMETERS.filter((name) => searchParams.getAll(name).length > 1)
    const problem =
      repeated.find((name) => name === 'client_id' || name === 'redirect_uri')?.concat(' is repeated.') ??
      problemOfClient(searchParams.get('client_id') ?? '')
    if (problem !== undefined) return refuse(c, 400, problem)
    const oauth = serverOf(environment).getOAuthApi(environment)
    const request = await oauth.parseAuthRequest(new Request(`${issuerOf(environment)}/authorize${search}`))
    const wrong = repeated[0]?.concat(' is repeated') ?? problemOfChallenge(request.codeChallenge)
    if (wrong !== undefined) {
      const redirectTo = authorizationErrorRedirect(request, 'invalid_request', wrong)
      return c.json({ redirectTo } satisfies Departure)
    }
    const details = await oauth.describeConsent(request)
    const { handle, headers } = await oauth.beginConsent(request)
    passCookies(c, headers)
    return c.json({
      handle,
      clientName: details.clientName,
      clientDomain: details.clientDomain ?? null,
      redirectHost: details.redirectHost,
      isLocal: details.redirectIsLoopback,
      bundles: details.scope.filter(isBundle),
    } satisfies ConsentRequest)
  })
}

/** RFC 7636, section 4.2, for S256. The library accepts any text, and lets confidential clients do without. */
function problemOfChallenge(challenge: string | undefined): string | undefined {
  if (!challenge) return 'code_challenge is missing'
  return /^[\w-]{43}$/.test(challenge) ? undefined : 'code_challenge is not a SHA-256 in base64url'
}

export async function decide(c: ConsoleContext): Promise<Response> {
  const { env: environment } = c
  if (!canConnect(environment)) return refuse(c, 404, 'Apps cannot be connected here.')
  const token = sessionToken(c)
  if (token === undefined) return refuse(c, 401, 'You are signed out. Sign in again.')
  const decision = parseDecision(await c.req.json().catch(() => undefined))
  if (!decision) return refuse(c, 400, 'The body is not a decision.')
  const oauth = serverOf(environment).getOAuthApi(environment)
  return handled(c, async () => {
    if (decision.isAllowed) return connect(c, environment, oauth, token, decision)
    const { headers, redirectTo } = await oauth.denyConsent(c.req.raw, decision.handle)
    passCookies(c, headers)
    return c.json({ redirectTo } satisfies Departure)
  })
}

async function connect(
  c: ConsoleContext,
  environment: OAuthEnvironment,
  oauth: OAuthHelpers,
  sessionToken: string,
  { handle, bundles, projectIds, days }: Decision,
): Promise<Response> {
  const { request, headers } = await oauth.approveConsent(c.req.raw, handle, { scope: [...bundles] })
  passCookies(c, headers)
  const { clientId, clientName, redirectHost } = await oauth.describeConsent(request)
  const address = addressOf(c)
  // KV may have the consent for a minute after its deletion.
  const app = { clientId, clientName, redirectHost, bundles, projectIds, days, consent: handle, address }
  const connected = await environment.SIGN_IN.connectApp(sessionToken, app)
  if ('error' in connected) return refuse(c, connected.status, connected.error)
  const { id, token: apiKey, endsAt } = connected
  try {
    const { redirectTo } = await oauth.completeAuthorization({
      request,
      // Each grant has its own: the API ends grants, and people connect an app on several computers.
      userId: id,
      revokeExistingGrants: false,
      metadata: {},
      scope: [...bundles],
      props: { apiKey, endsAt } satisfies GrantProps,
    })
    return c.json({ redirectTo } satisfies Departure)
  } catch (error) {
    await endKey(environment.API, apiKey, address)
    throw error
  }
}

/** An error goes back to the app only after the app and its address were checked. */
async function handled(c: ConsoleContext, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CimdFetchError) {
      const { host } = new URL(error.metadataUrl)
      return refuse(c, 400, `The app could not be checked: the metadata that it publishes at ${host} cannot be used.`)
    }
    if (!(error instanceof AuthorizationError)) throw error
    const { redirectTo, description } = error
    if (redirectTo !== undefined) return c.json({ redirectTo } satisfies Departure)
    return refuse(c, 400, `The request of the app is not valid: ${description}`)
  }
}

function passCookies(c: ConsoleContext, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) c.header('Set-Cookie', cookie, { append: true })
}

function parseDecision(body: unknown): Decision | undefined {
  const { handle, isAllowed, bundles, projectIds, days } = Object(body) as Record<keyof Decision, unknown>
  if (typeof handle !== 'string' || typeof isAllowed !== 'boolean') return undefined
  if (!isAllowed) return { handle, isAllowed, bundles: [], projectIds: null, days: 0 }
  if (!isTexts(bundles) || !bundles.every(isBundle) || !(projectIds === null || isTexts(projectIds))) return undefined
  if (typeof days !== 'number' || !Number.isInteger(days) || days < 1 || days > MAX_GRANT_DAYS) return undefined
  return { handle, isAllowed, bundles, projectIds, days }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')
