/** What a page of another origin does with the client: bundled and served by the test. */
import { Workspace } from '../../src/index.ts'

async function listFiles(baseUrl: string, apiKey: string, sessionId: string) {
  const workspace = new Workspace({ url: baseUrl, apiKey })
  const { data, response } = await workspace.sessions.files.list(sessionId, { limit: 10 }).page().withResponse()
  return { files: data.items.length, requestId: response.headers.get('X-Request-Id') }
}

Object.assign(globalThis, { listFiles })
