/** What a page of another origin does with the client: bundled and served by the test. */
import { createWorkspaceClient } from '../../src/index.ts'

async function listFiles(baseUrl: string, apiKey: string, sessionId: string) {
  const client = createWorkspaceClient(baseUrl, apiKey)
  const { data, response } = await client.GET('/v1/sessions/{sessionId}/files', {
    params: { path: { sessionId }, query: { limit: '10' } },
  })
  return { files: data?.items.length, requestId: response.headers.get('X-Request-Id') }
}

Object.assign(globalThis, { listFiles })
