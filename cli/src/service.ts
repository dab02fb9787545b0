/** The service, as the commands call it. */
import { setTimeout } from 'node:timers/promises'
import { Workspace } from '../../client/src/index.ts'
import { currentLogin, type Login, loginCommand, readLogin } from './configuration.ts'
import { proxyOf } from './proxy.ts'

export const CREATED = 201
export const PRECONDITION_FAILED = 412
const LARGEST_PAGE = 1000
const MAX_RETRIES = 4

const UNKNOWN_ISSUER =
  'the issuer of its certificate is not trusted; NODE_EXTRA_CA_CERTS names a file of further certificates to trust'
const PROXY_REFUSED = 'PROXY_REFUSED'
const WITHOUT_TLS = 'it does not speak HTTPS; http:// may be right'
/** No server was reached, so the address or the network is wrong: what the codes of Node mean. */
const NOT_REACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host is unknown',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ENETUNREACH: 'the network cannot be reached',
  EHOSTUNREACH: 'the host cannot be reached',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed; NODE_EXTRA_CA_CERTS names a file of further certificates to trust',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: WITHOUT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: WITHOUT_TLS,
  [PROXY_REFUSED]: 'the proxy refuses the connection',
}
/** What may be better with the next attempt. */
const INTERRUPTED: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'there was no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'there was no connection in time',
}
const WEB_PAGE = 'WEB_PAGE'
/** The codes of an API key that is of no use any more. */
export const ENDED = ['api_key_revoked', 'api_key_expired', 'api_key_invalid']

/** The size of the pages of a list. @param limit how many items are read; default: all. */
export function pageSize(limit = LARGEST_PAGE): number {
  return Math.min(limit, LARGEST_PAGE)
}

interface ConnectionOptions {
  /** Requests that are safe to repeat are repeated until they are aborted, also while no server is reached. */
  readonly isPersistent?: boolean
}

/** Its calls throw a sentence if there is no response. */
export function connect(
  { url, apiKey }: Login = currentLogin(),
  { isPersistent = false }: ConnectionOptions = {},
): Workspace {
  return new Workspace({
    url,
    apiKey,
    maxRetries: isPersistent ? Number.POSITIVE_INFINITY : MAX_RETRIES,
    fetch: async (request) => withAdvice(await send(request, url), apiKey),
    wait: async (ms, signal, error) => {
      if (error?.cause === WEB_PAGE) throw error
      if (!isPersistent && (error?.cause as string) in NOT_REACHED) throw error
      if (isPersistent && error) console.error(error.message)
      await setTimeout(ms, undefined, { signal })
    },
  })
}

/** Says what to do if the stored login has ended. */
async function withAdvice(response: Response, apiKey: string): Promise<Response> {
  if (response.status !== 401 || !ENDED.includes(response.headers.get('Error-Code') ?? '')) return response
  if (!isStored(apiKey)) return response
  const copy = response.clone()
  const { error } = Object(await copy.json().catch(() => undefined))
  return typeof error === 'string'
    ? Response.json({ error: `${error} Run \`${loginCommand()}\`.` }, response)
    : response
}

function isStored(apiKey: string): boolean {
  try {
    return readLogin()?.apiKey === apiKey
  } catch {
    return false
  }
}

/** @param url that errors name. @throws a sentence if there is no response. */
export async function send(request: Request, url: string): Promise<Response> {
  const response = await fetch(request).catch((error: Error) => {
    throw noResponse(error, url)
  })
  const { headers } = response
  const isWebPage = headers.get('Content-Type')?.startsWith('text/html') && !headers.has('X-Request-Id')
  if (!response.ok || !isWebPage) return response
  throw new Error(`${url} answers with a web page: it is not a Workspace API.`, { cause: WEB_PAGE })
}

/** `fetch` puts the reason of a failure into the cause of its error. */
function noResponse({ message, cause }: Error, url: string): Error {
  const reasons = causesOf(cause)
  // What undici says of a proxy.
  const [status] = reasons.flatMap((each) => /^Proxy .*\((\d{3})\)/.exec(each.message)?.[1] ?? [])
  const code = status ? PROXY_REFUSED : reasons[0]?.code
  const reason = NOT_REACHED[code ?? ''] ?? INTERRUPTED[code ?? '']
  const text = reason ? `${reason} (${status ?? code}).` : (code ?? message)
  const proxy = proxyOf(url)
  return new Error(`No answer from ${url}${proxy ? ` through the proxy ${proxy.origin}` : ''}: ${text}`, {
    cause: code,
  })
}

function causesOf(cause: unknown): NodeJS.ErrnoException[] {
  return cause instanceof Error ? [cause, ...causesOf(cause.cause)] : []
}
