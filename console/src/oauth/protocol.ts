/** What apps call: the metadata of the authorization server, tokens, revocation and registration. */
import { addressOf, type ConsoleContext } from '../session.ts'
import { problemOfClient, readClientIds } from './client.ts'
import { canConnect, serverOf } from './server.ts'

export async function serveProtocol(c: ConsoleContext): Promise<Response> {
  const { env: environment } = c
  if (!canConnect(environment)) return c.json({ error: 'No such path.' }, 404)
  if (c.req.method === 'POST' && c.req.path === '/oauth/token') {
    const problem = await problemOfTokenRequest(c.req.raw.clone())
    if (problem !== undefined) {
      const { error, description: error_description } = problem
      const headers = { 'Access-Control-Allow-Origin': '*' }
      return c.json({ error, error_description }, error === 'invalid_client' ? 401 : 400, headers)
    }
  }
  const context = c.executionCtx as ExecutionContext
  const address = addressOf(c)
  let redeemedKey: string | undefined
  const onRedeemed = (apiKey: string) => {
    redeemedKey = apiKey
  }
  let isIssued = false
  try {
    const response = await serverOf(environment).fetch(c.req.raw, { ...environment, address, onRedeemed }, context)
    isIssued = response.ok
    return new Response(response.body, response)
  } finally {
    // KV takes one write of a grant in a second, so the app may have to exchange its code again.
    if (redeemedKey !== undefined && !isIssued) {
      await environment.SIGN_IN.undoExchange(redeemedKey, address).catch(() => undefined)
    }
  }
}

interface Problem {
  readonly error: 'invalid_client' | 'invalid_grant' | 'invalid_request'
  readonly description: string
}

/** The form of what this server issues: a part of it is in the name of a key of KV, which has at most 512 bytes. */
const ISSUED = /^[\w:-]{0,200}$/
/** RFC 7636, section 4.1. */
const CODE_VERIFIER = /^[\w.~-]{43,128}$/

/** @returns what the library does not check before it uses the request. */
async function problemOfTokenRequest(request: Request): Promise<Problem | undefined> {
  const form = await request.formData().catch(() => undefined)
  // The library refuses it.
  if (!form) return undefined
  const client = problemOfClients(request, form)
  if (client !== undefined) return { error: 'invalid_client', description: client }
  const has = (name: string) => form.getAll(name).some((value) => value !== '')
  if (!has('grant_type') && !has('token')) return { error: 'invalid_request', description: 'grant_type is missing.' }
  for (const name of ['code', 'refresh_token', 'token']) {
    if (form.getAll(name).every((value) => ISSUED.test(String(value)))) continue
    return { error: 'invalid_grant', description: `${name} was not issued by this server.` }
  }
  if (has('code_verifier') && !CODE_VERIFIER.test(String(form.get('code_verifier')))) {
    const allowed = '43 to 128 letters, digits, "-", ".", "_" and "~"'
    return { error: 'invalid_request', description: `code_verifier is not a verifier; allowed: ${allowed}.` }
  }
  return undefined
}

function problemOfClients({ headers }: Request, form: FormData): string | undefined {
  try {
    const ids = readClientIds(headers.get('Authorization') ?? '', form)
    return ids.map(problemOfClient).find((problem) => problem !== undefined)
  } catch {
    return 'The client ID cannot be read.'
  }
}
