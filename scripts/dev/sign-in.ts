/** The identity provider of `npm run dev -- --sign-in`, in which everybody signs in without a password. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import Provider, { type Context } from 'oidc-provider'
import { Service } from '../service.ts'
import { type Demo, PICTURE } from './demo.ts'

const ID = 'demo'
const CLIENT_ID = 'workspace-console'
const HOUR_S = 3600

interface Account {
  readonly name: string
  readonly email: string
  readonly groups: readonly string[]
  /** What the login page says of the person. */
  readonly note: string
}

const ACCOUNTS: ReadonlyMap<string, Account> = new Map([
  ['ada', { name: 'Ada Lovelace', email: 'ada@example.com', groups: ['admins', 'engineers'], note: 'an admin' }],
  ['grace', { name: 'Grace Hopper', email: 'grace@example.com', groups: ['engineers'], note: 'a member' }],
  ['mallory', { name: 'Mallory', email: 'mallory@example.net', groups: ['visitors'], note: 'whom no rule admits' }],
])

/** Who gets in: the rules of the demo. */
const RULES = [
  { claim: 'groups', value: 'admins', role: 'admin' },
  { claim: 'groups', value: 'engineers', role: 'member' },
]

export interface DemoProvider {
  readonly issuer: string
  /** The settings of the console's Worker. */
  readonly variables: readonly string[]
}

/** Serves the provider on a port of this machine, as long as this process runs. */
export async function startProvider(
  port: number,
  consoleUrl: string,
  organization: string | undefined,
): Promise<DemoProvider> {
  // Another site than localhost, as a real provider is.
  const issuer = `http://127.0.0.1:${port}`
  const clientSecret = randomBytes(32).toString('base64url')
  const provider = new Provider(issuer, {
    ...configurationOf(issuer),
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: clientSecret,
        redirect_uris: [`${consoleUrl}/sign-in/callback/${ID}`],
        id_token_signed_response_alg: 'ES256',
      },
    ],
  })
  provider.use(async (context: Context, next) => {
    // Without its session, it asks each time who signs in, so that one person can be everybody in turn.
    if (context.path === '/auth') {
      delete context.req.headers.cookie
      context.cookies.set('_session')
    }
    await next()
  })
  const answer = provider.callback()
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    if (pathname === '/picture.png') showPicture(response)
    else if (!pathname.startsWith('/login/')) answer(request, response)
    else if (request.method === 'POST') void signIn(provider, request, response)
    else showLogin(response)
  })
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, '127.0.0.1', resolve))
  const settings = [{ id: ID, name: 'Demo provider', issuer, client_id: CLIENT_ID, organization }]
  return {
    issuer,
    variables: [`SIGN_IN_PROVIDERS:${JSON.stringify(settings)}`, `SIGN_IN_SECRET_${ID.toUpperCase()}:${clientSecret}`],
  }
}

/** Creates the rules of the demo, unless there are some for this provider. */
export async function createRules({ issuer }: DemoProvider, { baseUrl, apiKey }: Demo): Promise<void> {
  const service = new Service(baseUrl, apiKey)
  const { body } = await service.send<{ items: { issuer: string }[] }>('GET', '/v1/sign-in-rules')
  if (body.items.some((rule) => rule.issuer === issuer)) return
  for (const rule of RULES) await service.send('POST', '/v1/sign-in-rules', { issuer, ...rule })
}

function configurationOf(issuer: string) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'demo' }
  return {
    adapter: MemoryAdapter,
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/login/${uid}` },
    claims: { openid: ['sub'], profile: ['name', 'picture', 'groups'], email: ['email', 'email_verified'] },
    ttl: { AccessToken: HOUR_S, Grant: HOUR_S, IdToken: HOUR_S, Interaction: HOUR_S, Session: HOUR_S },
    findAccount: (_context: unknown, id: string) => {
      const account = ACCOUNTS.get(id)
      if (!account) return undefined
      const { name, email, groups } = account
      const picture = `${issuer}/picture.png`
      return { accountId: id, claims: () => ({ sub: id, name, email, email_verified: true, groups, picture }) }
    },
    // Nobody is asked for consent.
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  }
}

function showPicture(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'image/png' }).end(Buffer.from(PICTURE, 'base64'))
}

function showLogin(response: ServerResponse): void {
  const buttons = Array.from(
    ACCOUNTS,
    ([id, { name, note }]) => `<p><button name="account" value="${id}">${name}</button> ${note}</p>`,
  )
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<!doctype html>
<html lang="en"><head><title>Demo provider</title><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark; font: 16px system-ui } body { margin: 15vh auto; width: min(360px, 90%) }</style></head>
<body><main><h1>Demo provider</h1><p>Continue to Workspace as</p><form method="post">${buttons.join('')}</form></main></body></html>`)
}

async function signIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request) body += chunk
  const accountId = new URLSearchParams(body).get('account')
  await provider
    .interactionFinished(request, response, { login: { accountId, remember: false } })
    .catch((error: Error) => response.writeHead(400).end(`${error.message}. Start again at the console.`))
}

interface Stored {
  readonly uid?: string
  readonly grantId?: string
  consumed?: number
}

/** What the provider stores, until this process ends. */
class MemoryAdapter {
  static readonly #stored = new Map<string, Stored>()
  readonly #kind: string

  constructor(kind: string) {
    this.#kind = kind
  }

  async upsert(id: string, stored: Stored): Promise<void> {
    MemoryAdapter.#stored.set(`${this.#kind} ${id}`, stored)
  }

  async find(id: string): Promise<Stored | undefined> {
    return MemoryAdapter.#stored.get(`${this.#kind} ${id}`)
  }

  async findByUid(uid: string): Promise<Stored | undefined> {
    return MemoryAdapter.#stored.values().find((stored) => stored.uid === uid)
  }

  async consume(id: string): Promise<void> {
    const stored = await this.find(id)
    if (stored) stored.consumed = Math.floor(Date.now() / 1000)
  }

  async destroy(id: string): Promise<void> {
    MemoryAdapter.#stored.delete(`${this.#kind} ${id}`)
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, stored] of MemoryAdapter.#stored) {
      if (stored.grantId === grantId) MemoryAdapter.#stored.delete(key)
    }
  }
}
