/** Requests to the Worker, in workerd. Every response is checked against the OpenAPI document. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import worker from '../../src/index.ts'
import { type ApiResponse, expectDocumented } from './document.ts'
import { deployed, env } from './env.ts'
import { writeWaiting } from './set-up.ts'

export type { ApiResponse }

export const ORIGIN = 'https://workspace.example'
export const PREFIX = '/api/public-api'

export interface RequestOptions {
  readonly key?: string
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: BodyInit
  readonly headers?: Readonly<Record<string, string>>
  /** Bindings that stand in for those of the test's environment. */
  readonly environment?: Partial<Cloudflare.Env>
}

/** @param path from `/v1/…`, or with the prefix; percent-encoded. */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
  const response = await respond(method, path, options)
  const answer = { status: response.status, headers: response.headers, body: await bodyOf(response) }
  expectDocumented(method, path, answer)
  return answer
}

/** The response, which is not checked. What follows it has been done. */
export async function respond(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  await writeWaiting()
  const headers = new Headers(options.headers)
  if (options.key !== undefined) headers.set('Authorization', `Bearer ${options.key}`)
  if (options.json !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json')
  const body = options.json === undefined ? options.body : JSON.stringify(options.json)
  // As clients do, unless the body is a stream.
  if ((typeof body === 'string' || body instanceof Uint8Array) && !headers.has('Content-Length'))
    headers.set('Content-Length', String(Buffer.byteLength(body)))
  const context = createExecutionContext()
  const response = await worker.fetch(
    new Request(ORIGIN + path, { method, headers, ...(body !== undefined && { body }) }),
    deployed({ ...env, ...options.environment }),
    context,
  )
  await waitOnExecutionContext(context)
  return response
}

async function bodyOf(response: Response): Promise<unknown> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (!response.headers.get('Content-Type')?.startsWith('application/json')) {
    return bytes.length > 0 || response.headers.has('Content-Type') ? bytes : null
  }
  return bytes.length === 0 ? null : JSON.parse(new TextDecoder().decode(bytes))
}
