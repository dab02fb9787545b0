/** Issuers of OpenID Connect that misbehave as a test wants: one server, on which each path is an issuer. */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Claims = Readonly<Record<string, unknown>>

export interface Keys {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

type HeadersOf = Readonly<Record<string, string>>

/** What an issuer does at the moment. A test changes it. */
export interface Behaviour {
  /** What the metadata has besides the endpoints; undefined leaves a field out. */
  metadata: Claims
  /** Added to the claims of the ID token, or in their place; undefined leaves a claim out. */
  token: Claims
  userinfo: Claims
  /** How the ID token is signed. */
  algorithm: 'ES256' | 'none' | 'HS256 with the public key' | 'HS256 with the client secret'
  /** The keys that sign, and those that are published. */
  signing: Keys
  published: Keys
  /** What an endpoint responds instead: a status and a body. */
  readonly responses: Map<
    'metadata' | 'token' | 'userinfo' | 'keys' | 'picture',
    readonly [number, unknown, HeadersOf?]
  >
  /** The endpoints that were asked, in order. */
  readonly asked: string[]
}

/** What the console has asked at the start of a sign-in. */
export interface Asked {
  readonly state: string
  readonly nonce: string
  readonly challenge: string
  readonly redirectUri: string
}

export interface Issuers {
  readonly url: string
  /** The issuer of this name, which behaves well if nothing else was said. */
  at(name: string): Behaviour
  issuerOf(name: string): string
  /** A code for what was asked, as after a person has signed in. */
  code(name: string, asked: Asked): string
  stop(): Promise<void>
}

export const CLIENT_ID = 'console'
/** The same secret at all issuers, so that only the checks of the console tell them apart. */
export const CLIENT_SECRET = 'the secret of the console, 32 bytes'

export function newKeys(id: string = randomUUID()): Keys {
  return { id, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
}

export const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

export async function startIssuers(): Promise<Issuers> {
  const behaviours = new Map<string, Behaviour>()
  const codes = new Map<string, Asked & { readonly name: string }>()
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuerOf = (name: string) => `${url}/${name}`

  function at(name: string): Behaviour {
    const found = behaviours.get(name)
    if (found) return found
    const keys = newKeys()
    const behaviour: Behaviour = {
      metadata: {},
      token: {},
      userinfo: {},
      algorithm: 'ES256',
      signing: keys,
      published: keys,
      responses: new Map(),
      asked: [],
    }
    behaviours.set(name, behaviour)
    return behaviour
  }

  function code(name: string, asked: Asked): string {
    const made = randomUUID()
    codes.set(made, { ...asked, name })
    return made
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = '', ...rest] = (request.url ?? '').split('/')
    const path = rest.join('/')
    const behaviour = at(name)
    const endpoint = path.startsWith('.well-known') ? 'metadata' : (path as 'token' | 'userinfo' | 'keys' | 'picture')
    behaviour.asked.push(endpoint)
    let body = ''
    for await (const chunk of request) body += chunk
    const [status, sent, headers] = behaviour.responses.get(endpoint) ?? respond(endpoint, name, request, body)
    if (Buffer.isBuffer(sent)) response.writeHead(status, { 'Content-Type': 'image/png' }).end(sent)
    else response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(sent))
  }

  function respond(
    endpoint: string,
    name: string,
    request: IncomingMessage,
    body: string,
  ): readonly [number, unknown, HeadersOf?] {
    const behaviour = at(name)
    const issuer = issuerOf(name)
    if (endpoint === 'metadata') {
      const endpoints = {
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/keys`,
      }
      const supported = { id_token_signing_alg_values_supported: ['ES256'] }
      return [200, { issuer, ...endpoints, ...supported, ...behaviour.metadata }]
    }
    if (endpoint === 'keys') {
      const { publicKey, id } = behaviour.published
      return [200, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: id, alg: 'ES256', use: 'sig' }] }]
    }
    if (endpoint === 'picture') return [200, PICTURE]
    if (endpoint === 'userinfo') {
      if (request.headers.authorization !== 'Bearer an access token') return [401, {}]
      return [200, { sub: 'ada', ...behaviour.userinfo }]
    }
    if (endpoint === 'token') return redeem(name, request, new URLSearchParams(body))
    return [404, {}]
  }

  function redeem(name: string, { headers }: IncomingMessage, form: URLSearchParams): [number, unknown] {
    const asked = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const credentials = [CLIENT_ID, CLIENT_SECRET].map((each) => encodeURIComponent(each).replaceAll('%20', '+'))
    const inForm = form.get('client_id') === CLIENT_ID && form.get('client_secret') === CLIENT_SECRET
    const inHeader = headers.authorization === `Basic ${btoa(credentials.join(':'))}`
    const takesForm = Array.isArray(at(name).metadata.token_endpoint_auth_methods_supported)
    if (takesForm ? !inForm || inHeader : !inHeader || inForm) return [401, { error: 'invalid_client' }]
    const isRight =
      asked?.name === name && asked.challenge === challenge && asked.redirectUri === form.get('redirect_uri')
    if (!isRight) return [400, { error: 'invalid_grant', error_description: 'The code was used before.' }]
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuerOf(name),
      sub: 'ada',
      aud: CLIENT_ID,
      iat: now,
      exp: now + 300,
      nonce: asked.nonce,
      ...at(name).token,
    }
    return [200, { access_token: 'an access token', token_type: 'Bearer', id_token: idToken(at(name), claims) }]
  }

  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { url, at, issuerOf, code, stop }
}

function idToken({ algorithm, signing, published }: Behaviour, claims: Claims): string {
  const header = { alg: algorithm.split(' ')[0], kid: signing.id }
  const data = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const hmac = (key: string) => createHmac('sha256', key).update(data).digest()
  const signatures = new Map<Behaviour['algorithm'], () => Buffer>([
    ['ES256', () => sign('sha256', Buffer.from(data), { key: signing.privateKey, dsaEncoding: 'ieee-p1363' })],
    ['none', () => Buffer.of()],
    ['HS256 with the public key', () => hmac(String(published.publicKey.export({ format: 'pem', type: 'spki' })))],
    ['HS256 with the client secret', () => hmac(CLIENT_SECRET)],
  ])
  return `${data}.${signatures.get(algorithm)?.().toString('base64url')}`
}
