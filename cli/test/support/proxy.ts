/** A server in front of the service, which tests use to do something at a certain request. */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

interface Passing {
  readonly method: string
  /** The path and the query. */
  readonly url: string
}

/**
 * @param intercept runs first. Its result is the response's body; the request is passed on to the service if it is
 *   undefined.
 */
export async function startProxy(serviceUrl: string, intercept: (request: Passing) => Promise<object | undefined>) {
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request
    const body = await buffer(request)
    const { host, connection, ...headers } = request.headers
    const replacement = await intercept({ method, url })
    if (replacement) return void response.end(JSON.stringify(replacement))
    const answer = await fetch(serviceUrl + url, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    })
    const {
      'content-encoding': _,
      'content-length': __,
      'transfer-encoding': ___,
      ...kept
    } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, kept).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
