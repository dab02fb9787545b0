/** The service as a `fetch` for the client. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import worker from '../../../src/index.ts'
import { deployed, env } from '../../../test/support/env.ts'

/** @param environment bindings that stand in for those of the test's environment. */
export async function serve(request: Request, environment: Partial<Cloudflare.Env> = {}): Promise<Response> {
  const context = createExecutionContext()
  const response = await worker.fetch((await asSent(request)) as never, deployed({ ...env, ...environment }), context)
  await waitOnExecutionContext(context)
  return response
}

/** The request with the length of its body, which every client sends. */
async function asSent(request: Request): Promise<Request> {
  const body = await request.arrayBuffer()
  if (body.byteLength === 0) return request
  const { method, url } = request
  const headers = new Headers(request.headers)
  headers.set('Content-Length', String(body.byteLength))
  return new Request(url, { method, headers, body })
}
