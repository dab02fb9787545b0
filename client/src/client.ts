/** A typed client. Its types are generated from the OpenAPI document: `npm run openapi` renews them. */
import createClient, { type Client, type ClientOptions } from 'openapi-fetch'
import type { paths } from './api.ts'

export type WorkspaceClient = Client<paths>

/**
 * @param baseUrl the origin of a deployment, with `/api/public-api` if it is reached under the prefix.
 * @param options `fetch`, where requests go another way: through the service binding of a Worker, or `retrying()`.
 */
export function createWorkspaceClient(
  baseUrl: string,
  apiKey: string,
  options: Pick<ClientOptions, 'fetch'> = {},
): WorkspaceClient {
  return createClient<paths>({
    ...options,
    baseUrl,
    headers: { Authorization: `Bearer ${apiKey}` },
    bodySerializer: (body) => (isContent(body) ? body : JSON.stringify(body)),
  })
}

/** True for the content of an upload, which is sent as it is. */
function isContent(body: unknown): boolean {
  return body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body)
}
