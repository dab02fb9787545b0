/** What apps call: the metadata of the authorization server, tokens, revocation and registration. */
import { getAddress } from '../../../src/access/address.ts'
import type { ConsoleContext } from '../session.ts'
import { problemOfClient } from './client.ts'
import { canConnect, serverOf } from './server.ts'

const MINUTE_SECONDS = 60

export async function serveProtocol(c: ConsoleContext): Promise<Response> {
  const { env: environment } = c
  if (!canConnect(environment)) return c.json({ error: 'No such path.' }, 404)
  if (c.req.method === 'POST' && c.req.path === '/oauth/register') {
    const { REGISTRATION_RATE_LIMIT: limit } = environment
    if (limit && !(await limit.limit({ key: getAddress(c.req.raw) })).success) {
      const error = 'temporarily_unavailable'
      const headers = { 'Retry-After': String(MINUTE_SECONDS) }
      return c.json({ error, error_description: 'Too many registrations. Retry after a minute.' }, 429, headers)
    }
  }
  if (c.req.method === 'POST' && c.req.path === '/oauth/token') {
    const form = await c.req.raw
      .clone()
      .formData()
      .catch(() => undefined)
    const clientId = form?.get('client_id')
    const problem = typeof clientId === 'string' ? problemOfClient(clientId) : undefined
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
