/** The service, as the commands call it. */
import { setTimeout } from 'node:timers/promises'
import { createWorkspaceClient, retrying, type WorkspaceClient } from '../../client/src/index.ts'
import { currentLogin, type Login } from './configuration.ts'

export const NOT_MODIFIED = 304
export const PRECONDITION_FAILED = 412
/** A page of a list that is read as a whole. */
export const LARGEST_PAGE = '1000'

/** No server was reached, so the address or the network is wrong. */
const NOT_REACHED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']

export function connect({ url, apiKey }: Login = currentLogin()): WorkspaceClient {
  return createWorkspaceClient(url, apiKey, { fetch: (request) => send(request, url) })
}

/** Repeats failed requests that are safe to repeat. @throws if there is no response, a sentence. */
function send(request: Request, url: string): Promise<Response> {
  let failure: Error | undefined
  const repeating = retrying({
    fetch: (each) =>
      fetch(each).catch((error: Error) => {
        failure = noResponse(error, url)
        throw failure
      }),
    wait: async (ms) => {
      if (NOT_REACHED.includes(failure?.cause as string)) throw failure
      await setTimeout(ms)
    },
  })
  return repeating(request)
}

/** `fetch` puts the reason of a failure into the cause of its error. */
function noResponse({ message, cause }: Error, url: string): Error {
  const { code } = (cause ?? {}) as { code?: string }
  return new Error(`No answer from ${url}: ${code ?? message}`, { cause: code })
}
