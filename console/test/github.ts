/** Servers of GitHub that misbehave as a test wants: one server, on which each path is a GitHub. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Readonly<Record<string, unknown>>

type Endpoint = 'token' | 'user' | 'emails' | 'orgs' | 'teams'

/** What a GitHub does at the moment. A test changes it. */
export interface Behaviour {
  user: Json
  emails: readonly Json[]
  /** In pages, of which each may have fewer items than it could have. */
  orgs: readonly (readonly Json[])[]
  teams: readonly (readonly Json[])[]
  /** What an endpoint responds instead: a status and a body. */
  readonly responses: Map<Endpoint, readonly [number, unknown]>
  /** The addresses that were asked, in order. */
  readonly asked: string[]
}

export interface Asked {
  readonly state: string
  readonly challenge: string
  readonly redirectUri: string
}

export interface GitHubs {
  at(name: string): Behaviour
  issuerOf(name: string): string
  /** A code for what was asked, as after a person has authorized the app. */
  code(name: string, asked: Asked): string
  stop(): Promise<void>
}

export const CLIENT_ID = 'Ov23li1a2b3c4d5e6f7g'
export const CLIENT_SECRET = 'the-secret_of.the~app'
export const TOKEN = 'gho_16C7e42F292c6912E7710c838347Ae178B4a'

export const ADA: Json = { id: 1815, login: 'ada', name: 'Ada Lovelace', avatar_url: null, type: 'User' }

/** The behaviour of a GitHub of which nothing else was said. */
const good = () => ({ user: ADA, emails: [], orgs: [], teams: [] })

const PATHS = new Map<string, Endpoint>([
  ['POST login/oauth/access_token', 'token'],
  ['GET api/v3/user', 'user'],
  ['GET api/v3/user/emails', 'emails'],
  ['GET api/v3/user/orgs', 'orgs'],
  ['GET api/v3/user/teams', 'teams'],
])

export async function startGitHubs(): Promise<GitHubs> {
  const behaviours = new Map<string, Behaviour>()
  const codes = new Map<string, Asked & { readonly name: string }>()
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const [, name = '', ...rest] = pathname.split('/')
    const behaviour = at(name)
    if (rest.join('/') === 'login/oauth/authorize') {
      response.writeHead(302, { Location: authorized(name, searchParams) }).end()
      return
    }
    behaviour.asked.push(`${request.method} ${request.url?.slice(name.length + 1)}`)
    let body = ''
    for await (const chunk of request) body += chunk
    const endpoint = PATHS.get(`${request.method} ${rest.join('/')}`)
    const page = Number(searchParams.get('page') ?? 1)
    const [status, sent] =
      (endpoint && behaviour.responses.get(endpoint)) ?? respond(name, endpoint, request, body, page)
    // The address of the next page is never opened.
    const pages = endpoint === 'orgs' || endpoint === 'teams' ? behaviour[endpoint].length : 1
    const link = page < pages ? { Link: `<https://evil.example/?page=${page + 1}>; rel="next"` } : {}
    const text = typeof sent === 'string' ? sent : JSON.stringify(sent)
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...link }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function at(name: string): Behaviour {
    const found = behaviours.get(name)
    if (found) return found
    const behaviour = { ...good(), responses: new Map(), asked: [] }
    behaviours.set(name, behaviour)
    return behaviour
  }

  function respond(
    name: string,
    endpoint: Endpoint | undefined,
    { headers }: IncomingMessage,
    body: string,
    page: number,
  ): readonly [number, unknown] {
    if (endpoint === undefined) return [404, { message: 'Not Found' }]
    if (endpoint === 'token') return redeem(name, new URLSearchParams(body), headers.accept ?? '')
    if (headers.authorization !== `Bearer ${TOKEN}`) return [401, { message: 'Bad credentials' }]
    if (!headers['user-agent']) return [403, { message: 'Request forbidden by administrative rules.' }]
    const found = at(name)[endpoint]
    return [200, endpoint === 'orgs' || endpoint === 'teams' ? (at(name)[endpoint][page - 1] ?? []) : found]
  }

  function redeem(name: string, form: URLSearchParams, accept: string): readonly [number, unknown] {
    if (!accept.includes('application/json')) return [200, `access_token=${TOKEN}&token_type=bearer`]
    const asked = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    if (form.get('client_id') !== CLIENT_ID || form.get('client_secret') !== CLIENT_SECRET) {
      return [200, { error: 'incorrect_client_credentials', error_description: 'They are incorrect.' }]
    }
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      asked?.name === name && asked.challenge === challenge && asked.redirectUri === form.get('redirect_uri')
    if (!isRight)
      return [200, { error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' }]
    return [200, { access_token: TOKEN, token_type: 'bearer', scope: 'read:org,read:user,user:email' }]
  }

  /** Where a person who has authorized the app before is sent back to at once. */
  function authorized(name: string, asked: URLSearchParams): string {
    const [state = '', challenge = '', redirectUri = ''] = ['state', 'code_challenge', 'redirect_uri'].map(
      (each) => asked.get(each) ?? '',
    )
    const made = code(name, { state, challenge, redirectUri })
    return `${redirectUri}?${new URLSearchParams({ code: made, iss: `${url}/${name}/login/oauth`, state })}`
  }

  function code(name: string, asked: Asked): string {
    const made = randomUUID().replaceAll('-', '').slice(0, 20)
    codes.set(made, { ...asked, name })
    return made
  }

  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { at, issuerOf: (name) => `${url}/${name}`, code, stop }
}

/** Everything as at the start. */
export function reset(behaviour: Behaviour): void {
  behaviour.responses.clear()
  behaviour.asked.length = 0
  Object.assign(behaviour, good())
}
