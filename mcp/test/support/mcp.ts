/** `/mcp` in workerd: the API Worker and the MCP Worker, each as the binding of the other. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import worker from '../../../src/index.ts'
import { type ApiResponse, ORIGIN, type RequestOptions } from '../../../test/support/api.ts'
import { deployed, env } from '../../../test/support/env.ts'
import mcp from '../../src/index.ts'

type Sent = Request<unknown, IncomingRequestCfProperties>

interface McpOptions extends Pick<RequestOptions, 'key' | 'headers' | 'environment'> {
  /** Receives each request that the MCP Worker sends to the API, and answers it. */
  readonly around?: (call: string, answer: () => Promise<Response>) => Promise<Response>
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A message of the revisions before 2026-07-28. */
export const message = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params && { params }),
})

/** A message of the revision 2026-07-28, and its headers. */
export const newMessage = (method: string, params: object = {}) => ({
  body: message(method, { _meta: META, ...params }),
  headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method },
})

/** @param body sent as it is if it is text or a stream, otherwise as JSON. */
export async function postMcp(
  body: unknown,
  { key, headers, environment, around = (_, answer) => answer() }: McpOptions = {},
): Promise<ApiResponse> {
  const send = async (request: Sent, bindings: Partial<Cloudflare.Env> = {}) => {
    const context = createExecutionContext()
    const response = await worker.fetch(request, deployed({ ...env, ...environment, ...bindings }), context)
    await waitOnExecutionContext(context)
    return response
  }
  const API = {
    fetch(url: string, { body, ...init }: RequestInit<never>) {
      const headers = new Headers(init.headers)
      // As a service binding does.
      if (body) headers.set('Content-Length', String(Buffer.byteLength(body as string | Uint8Array)))
      const request: Sent = new Request(url, { ...init, ...(body && { body }), headers })
      return around(`${request.method} ${new URL(url).pathname}`, () => send(request))
    },
  } as unknown as Fetcher
  const MCP = { fetch: (request: Sent) => mcp.fetch(request, { API }) } as unknown as Fetcher
  const content = typeof body === 'string' || body instanceof ReadableStream ? body : JSON.stringify(body)
  const request: Sent = new Request(`${ORIGIN}/mcp`, {
    method: 'POST',
    headers: {
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      ...(typeof content === 'string' && { 'Content-Length': String(Buffer.byteLength(content)) }),
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: content,
  })
  const response = await send(request, { MCP, ...environment })
  const text = await response.text()
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
