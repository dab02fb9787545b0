/** The console, the API and the MCP Worker in workerd, with an app that connects and the browser of a person. */

import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env as bindings } from 'cloudflare:workers'
import { hash } from 'node:crypto'
import { message, postMcp } from '../../../mcp/test/support/mcp.ts'
import worker from '../../../src/index.ts'
import { connectApp } from '../../../src/sign-in/connect-app.ts'
import { exchange, undoExchange } from '../../../src/sign-in/exchange.ts'
import type { App } from '../../../src/sign-in/types.ts'
import { type ApiResponse, ORIGIN, request } from '../../../test/support/api.ts'
import { deployed, env } from '../../../test/support/env.ts'
import { Receiver } from '../../../test/support/receiver.ts'
import console from '../../src/index.ts'
import type { ConsentRequest, Decision } from '../../src/oauth/consent.ts'
import { apiKeyOf } from '../../src/oauth/validate.ts'
import type { Environment } from '../../src/session.ts'

export const ISSUER = 'https://console.example'
export const RESOURCE = `${ORIGIN}/mcp`
export const REDIRECT = 'https://app.example.com/callback'

export const kv = (bindings as unknown as { OAUTH_KV: KVNamespace }).OAUTH_KV

/** Bindings that stand in for others. */
export interface Setting {
  readonly kv?: KVNamespace
  /** Variables of the API. */
  readonly environment?: Partial<Cloudflare.Env>
  readonly console?: Partial<Environment>
}

function consoleEnvironment({ kv: store = kv, environment, console: own }: Setting): Environment {
  const api = () => deployed({ ...env, ...environment })
  const API = {
    async fetch(url: string, init?: RequestInit) {
      const context = createExecutionContext()
      const response = await worker.fetch(
        new Request(url, init) as Request<unknown, IncomingRequestCfProperties>,
        api(),
        context,
      )
      await waitOnExecutionContext(context)
      return response
    },
  } as unknown as Fetcher
  const SIGN_IN = {
    signIn: () => Promise.reject(new Error('Nobody signs in here')),
    connectApp: (token: string, app: App) => connectApp(api(), createExecutionContext(), token, app),
    exchange: (key: string, address: string) => exchange(api(), createExecutionContext(), key, address),
    undoExchange: (key: string, address: string) => undoExchange(api(), createExecutionContext(), key, address),
  }
  const page = new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } })
  const ASSETS = { fetch: async () => page.clone() } as unknown as Fetcher
  return { API, SIGN_IN, ASSETS, OAUTH_KV: store, API_URL: ORIGIN, CONSOLE_URL: `${ISSUER}/`, ...own }
}

/** Sends a request to the console. */
export async function send(path: string, init: RequestInit = {}, setting: Setting = {}): Promise<Response> {
  const context = createExecutionContext()
  const asked = new Request(new URL(path, ISSUER), init)
  const response = await console.fetch(asked, consoleEnvironment(setting), context)
  await waitOnExecutionContext(context)
  return response
}

/** Calls a tool with an access token or an API key. */
export function call(
  key: string | undefined,
  name = 'who_am_i',
  input: Record<string, unknown> = {},
  { kv: store = kv, environment }: Setting = {},
): Promise<ApiResponse> {
  const AUTH = {
    apiKeyOf: (resource: string, token: string) => apiKeyOf(consoleEnvironment({ kv: store }), resource, token),
  }
  return postMcp(message('tools/call', { name, arguments: input }), {
    ...(key !== undefined && { key }),
    environment: { AUTH, CONSOLE_URL: `${ISSUER}/`, ...environment },
  })
}

/** What the API is told of an access token. */
export const keyOf = (token: string, resource = RESOURCE) => apiKeyOf(consoleEnvironment({}), resource, token)

/** An app. */
export interface Client {
  readonly clientId: string
  readonly redirectUri: string
}

export function register(metadata: object = {}, setting?: Setting): Promise<Response> {
  const body = JSON.stringify({
    client_name: 'Editor',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    ...metadata,
  })
  return send('/oauth/register', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }, setting)
}

export async function newClient(metadata: { readonly redirect_uris?: readonly [string] } = {}): Promise<Client> {
  const { client_id } = await (await register(metadata)).json<{ client_id: string }>()
  return { clientId: client_id, redirectUri: metadata.redirect_uris?.[0] ?? REDIRECT }
}

/** An app that publishes its metadata. */
export async function newPublishedClient(metadata: object = {}): Promise<Client & { readonly receiver: Receiver }> {
  const receiver = new Receiver()
  const document = { client_id: receiver.url, client_name: 'Editor', redirect_uris: [REDIRECT], ...metadata }
  await receiver.answers({ body: JSON.stringify(document), headers: { 'Content-Type': 'application/json' } })
  return { clientId: receiver.url, redirectUri: REDIRECT, receiver }
}

const VERIFIER = 'v'.repeat(43)
const challengeOf = (verifier: string) => Buffer.from(hash('sha256', verifier), 'hex').toString('base64url')

/** What the app asks of the authorization server. @param changes undefined leaves a parameter out. */
export function authorizeQuery(client: Client, changes: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    state: 'state-of-the-app',
    resource: RESOURCE,
    ...changes,
  }
  const given = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return `?${new URLSearchParams(given as [string, string][])}`
}

/** The browser of a person who is signed in. */
export class Browser {
  readonly #cookies = new Map<string, string>()

  private constructor(session: string | undefined) {
    if (session !== undefined) this.#cookies.set('__Host-session', session)
  }

  /** @param key an API key that the person signs in with. */
  static async of(key: string | undefined): Promise<Browser> {
    if (key === undefined) return new Browser(undefined)
    const { body } = await request('POST', '/v1/me/sessions', { key, json: {} })
    return new Browser(body.token)
  }

  static withSession = (token: string) => new Browser(token)

  get session(): string {
    return this.#cookies.get('__Host-session') ?? ''
  }

  async fetch(path: string, init: RequestInit = {}, setting?: Setting): Promise<Response> {
    const cookie = Array.from(this.#cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      'Sec-Fetch-Site': 'same-origin',
      Cookie: cookie,
      'Content-Type': 'application/json',
      ...init.headers,
    }
    const response = await send(path, { ...init, headers }, setting)
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      if (value === '' || /Max-Age=0/i.test(header)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return response
  }

  ask(query: string, setting?: Setting): Promise<Response> {
    return this.fetch(`/oauth/consent${query}`, {}, setting)
  }

  decide(decision: Partial<Decision>, setting?: Setting): Promise<Response> {
    const body = JSON.stringify({ isAllowed: true, bundles: ['skills'], projectIds: null, days: 30, ...decision })
    return this.fetch('/oauth/consent', { method: 'POST', body }, setting)
  }

  /** @returns the query of the address that the app gets the person back at. */
  async connect(client: Client, decision: Partial<Decision> = {}, setting?: Setting): Promise<URLSearchParams> {
    const asked = await this.ask(authorizeQuery(client), setting)
    const { handle } = await asked.json<ConsentRequest>()
    const decided = await this.decide({ handle, ...decision }, setting)
    const { redirectTo, error } = await decided.json<{ redirectTo?: string; error?: string }>()
    if (redirectTo === undefined) throw new Error(`${decided.status} ${error}`)
    return new URL(redirectTo).searchParams
  }
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly error?: string
}

export function askForTokens(form: Readonly<Record<string, string | undefined>>, setting?: Setting): Promise<Response> {
  const given = Object.entries(form).filter(([, value]) => value !== undefined) as [string, string][]
  return send('/oauth/token', { method: 'POST', body: new URLSearchParams(given) }, setting)
}

export function redeem(
  client: Client,
  code: string | null,
  changes: Readonly<Record<string, string | undefined>> = {},
  setting?: Setting,
): Promise<Response> {
  const own = {
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    code_verifier: VERIFIER,
    resource: RESOURCE,
  }
  return askForTokens({ grant_type: 'authorization_code', code: code ?? '', ...own, ...changes }, setting)
}

export function refresh(
  client: Client,
  refreshToken: string,
  changes: Readonly<Record<string, string | undefined>> = {},
  setting?: Setting,
): Promise<Response> {
  const own = { client_id: client.clientId, refresh_token: refreshToken, resource: RESOURCE }
  return askForTokens({ grant_type: 'refresh_token', ...own, ...changes }, setting)
}

/** From nothing to tokens. */
export async function connected(browser: Browser, decision: Partial<Decision> = {}, setting: Setting = {}) {
  const client = await newClient()
  const answer = await browser.connect(client, decision, setting)
  const tokens = await (await redeem(client, answer.get('code'), {}, setting)).json<Tokens>()
  return { client, tokens }
}

/** All that the store has, as text. */
export async function dumpKv(): Promise<string> {
  const texts: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await kv.list(cursor === undefined ? {} : { cursor })
    for (const { name, metadata } of page.keys) texts.push(name, JSON.stringify(metadata), (await kv.get(name)) ?? '')
    if (page.list_complete) return texts.join('\n')
    cursor = page.cursor
  }
}
