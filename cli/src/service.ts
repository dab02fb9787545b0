/** The service, as the commands call it. */
import { setTimeout } from 'node:timers/promises'
import { createWorkspaceClient, retrying, type WorkspaceClient } from '../../client/src/index.ts'
import { currentLogin, type Login } from './configuration.ts'

export const NOT_MODIFIED = 304
export const PRECONDITION_FAILED = 412
const LARGEST_PAGE = 1000

/** No server was reached, so the address or the network is wrong. */
const NOT_REACHED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']

/** The size of the pages of a list. @param limit how many items are read; default: all. */
export function pageSize(limit = LARGEST_PAGE): string {
  return String(Math.min(limit, LARGEST_PAGE))
}

interface ConnectionOptions {
  /** Requests that are safe to repeat are repeated until they are aborted, also while no server is reached. */
  readonly isPersistent?: boolean
}

export function connect({ url, apiKey }: Login = currentLogin(), options: ConnectionOptions = {}): WorkspaceClient {
  return createWorkspaceClient(url, apiKey, { fetch: (request) => send(request, url, options) })
}

/** Repeats failed requests that are safe to repeat. @throws if there is no response, a sentence. */
async function send(request: Request, url: string, { isPersistent = false }: ConnectionOptions): Promise<Response> {
  let failure: Error | undefined
  const repeating = retrying({
    ...(isPersistent && { attempts: Number.POSITIVE_INFINITY }),
    fetch: (each) => {
      failure = undefined
      return fetch(each).catch((error: Error) => {
        failure = noResponse(error, url)
        throw failure
      })
    },
    wait: async (ms, signal) => {
      if (!isPersistent && NOT_REACHED.includes(failure?.cause as string)) throw failure
      if (isPersistent && failure) console.error(failure.message)
      await setTimeout(ms, undefined, { signal })
    },
  })
  const response = await repeating(request)
  const { headers } = response
  const isWebPage = headers.get('Content-Type')?.startsWith('text/html') && !headers.has('X-Request-Id')
  if (response.ok && isWebPage) throw new Error(`${url} answers with a web page: it is not a Workspace API.`)
  return response
}

/** `fetch` puts the reason of a failure into the cause of its error. */
function noResponse({ message, cause }: Error, url: string): Error {
  const { code } = (cause ?? {}) as { code?: string }
  return new Error(`No answer from ${url}: ${code ?? message}`, { cause: code })
}
