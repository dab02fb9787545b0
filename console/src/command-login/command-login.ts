/**
 * `workspace login`: a person who is signed in allows the command on their computer to have a key, and the command gets
 * it for a code. In between, the key lies in KV, encrypted by the code.
 */
import { canConnect, issuerOf, type OAuthEnvironment } from '../oauth/server.ts'
import { base64Url, seal, unseal } from '../sealed.ts'
import { addressOf, type ConsoleContext, endKey, refuse, sessionToken } from '../session.ts'
import { type LoginCode, type LoginDecision, parseLoginRequest } from './request.ts'

/** What lies in KV between consent and exchange. */
interface PendingLogin {
  readonly apiKey: string
  readonly challenge: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

/** The app of the key. */
const CLIENT_ID = 'workspace'
const LOOPBACK = '127.0.0.1'

const CODE_SECONDS = 120
const CODE_BYTES = 32
const PURPOSE = 'login'

const OFF =
  'This console makes no keys for the command: it needs the settings OAUTH_KV, API_URL and CONSOLE_URL. Use `workspace login --api-key`.'
const INVALID_CODE =
  'The code is not valid: it was used, it is older than two minutes, or it belongs to another login. Run `workspace login` again.'

/** The person allows it. */
export async function allowLogin(c: ConsoleContext): Promise<Response> {
  const { env: environment } = c
  if (!canConnect(environment)) return refuse(c, 404, OFF)
  const session = sessionToken(c)
  if (session === undefined) return refuse(c, 401, 'You are signed out. Sign in again.')
  const { query, days } = await bodyOf<LoginDecision>(c)
  if (typeof query !== 'string' || typeof days !== 'number') return refuse(c, 400, 'The body is not a decision.')
  const request = parseLoginRequest(query)
  if (typeof request === 'string') return refuse(c, 400, request)
  const { origin } = new URL(environment.API_URL)
  // The command sends the key there, so another service could send its users to this console to get their keys.
  if (new URL(request.resource).origin !== origin) {
    return refuse(c, 400, `This console belongs to another service. Run \`workspace login --url ${origin}\`.`)
  }
  const connected = await environment.SIGN_IN.connectApp(session, {
    clientId: CLIENT_ID,
    clientName: `${CLIENT_ID} on ${request.machine}`,
    redirectHost: LOOPBACK,
    bundles: null,
    projectIds: null,
    days,
    consent: null,
    address: addressOf(c),
  })
  if ('error' in connected) return refuse(c, connected.status, connected.error)
  const { token: apiKey } = connected
  const code = newCode(environment)
  const expiresAt = Date.now() + CODE_SECONDS * 1000
  const login: PendingLogin = { apiKey, challenge: request.challenge, expiresAt }
  try {
    const sealed = await seal(login, code, PURPOSE)
    await environment.OAUTH_KV.put(await nameOf(code), sealed, { expirationTtl: CODE_SECONDS })
  } catch (error) {
    await endKey(environment.API, apiKey, addressOf(c))
    throw error
  }
  return c.json({ code } satisfies LoginCode)
}

/** The command asks for its key. Whatever comes of it, the code is used up. */
export async function exchangeCode(c: ConsoleContext): Promise<Response> {
  const { env: environment } = c
  if (!canConnect(environment)) return refuse(c, 404, OFF)
  const { code, verifier } = await bodyOf<{ code: string; verifier: string }>(c)
  if (typeof code !== 'string' || typeof verifier !== 'string') return refuse(c, 400, 'The body has no code.')
  const name = await nameOf(code)
  const sealed = await environment.OAUTH_KV.get(name)
  if (sealed === null) return refuse(c, 400, INVALID_CODE)
  await environment.OAUTH_KV.delete(name)
  const login = await unseal<PendingLogin>(sealed, code, PURPOSE)
  if (!login) return refuse(c, 400, INVALID_CODE)
  const { apiKey, challenge, expiresAt } = login
  if (expiresAt <= Date.now() || base64Url(await digest(verifier)) !== challenge) {
    // Nobody can get it any more.
    await endKey(environment.API, apiKey, addressOf(c))
    return refuse(c, 400, INVALID_CODE)
  }
  const exchanged = await environment.SIGN_IN.exchange(apiKey, addressOf(c))
  if ('error' in exchanged) return refuse(c, exchanged.status, exchanged.error)
  // KV may have the code for a minute after its deletion.
  return exchanged.isFirst ? c.json({ apiKey }) : refuse(c, 400, INVALID_CODE)
}

/**
 * It names the console, so that the command takes no code of another one: a console that only forwards people here
 * would get the key by it.
 */
function newCode(environment: OAuthEnvironment): string {
  const random = base64Url(crypto.getRandomValues(new Uint8Array(CODE_BYTES)))
  return `${random}@${new URL(issuerOf(environment)).host}`
}

async function nameOf(code: string): Promise<string> {
  return `login:${base64Url(await digest(code))}`
}

async function digest(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

async function bodyOf<Body>(c: ConsoleContext): Promise<Partial<Record<keyof Body, unknown>>> {
  return Object(await c.req.json().catch(() => undefined))
}
