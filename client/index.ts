/** A typed client. Its types are generated from the OpenAPI document: `npm run openapi` renews them. */
import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './api.d.ts'

export type { components, operations, paths } from './api.d.ts'

/** @param baseUrl the origin of a deployment, with `/api/public-api` if it is reached under the prefix. */
export function createWorkspaceClient(baseUrl: string, apiKey: string): Client<paths> {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } })
}
