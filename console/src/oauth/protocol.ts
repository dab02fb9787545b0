/** What apps call: the metadata of the authorization server, tokens, revocation and registration. */
import type { ConsoleContext } from '../session.ts'
import { problemOfClient, readClientIds } from './client.ts'
import { canConnect, serverOf } from './server.ts'

export async function serveProtocol(c: ConsoleContext): Promise<Response> {
  const { env: environment } = c
  if (!canConnect(environment)) return c.json({ error: 'No such path.' }, 404)
  if (c.req.method === 'POST' && c.req.path === '/oauth/token') {
    const problem = await problemOfClients(c.req.raw.clone())
    if (problem !== undefined) return c.json({ error: 'invalid_client', error_description: problem }, 401)
  }
  const context = c.executionCtx as ExecutionContext
  const response = await serverOf(environment).fetch(
    c.req.raw,
    { ...environment, address: c.req.header('CF-Connecting-IP') ?? '' },
    context,
  )
  return new Response(response.body, response)
}

async function problemOfClients(request: Request): Promise<string | undefined> {
  const form = await request.formData().catch(() => undefined)
  // The library refuses it.
  if (!form) return undefined
  try {
    const ids = readClientIds(request.headers.get('Authorization') ?? '', form)
    return ids.map(problemOfClient).find((problem) => problem !== undefined)
  } catch {
    return 'The client ID cannot be read.'
  }
}
