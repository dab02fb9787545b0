/** The service, as the commands call it. */
import { setTimeout } from 'node:timers/promises'
import { Workspace } from '../../client/src/index.ts'
import { currentLogin, type Login } from './configuration.ts'

export const PRECONDITION_FAILED = 412
const LARGEST_PAGE = 1000
const MAX_RETRIES = 4

/** No server was reached, so the address or the network is wrong. */
const NOT_REACHED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']
const WEB_PAGE = 'WEB_PAGE'

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
    fetch: (request) => send(request, url),
    wait: async (ms, signal, error) => {
      if (error?.cause === WEB_PAGE) throw error
      if (!isPersistent && NOT_REACHED.includes(error?.cause as string)) throw error
      if (isPersistent && error) console.error(error.message)
      await setTimeout(ms, undefined, { signal })
    },
  })
}

async function send(request: Request, url: string): Promise<Response> {
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
  const { code } = (cause ?? {}) as { code?: string }
  return new Error(`No answer from ${url}: ${code ?? message}`, { cause: code })
}
