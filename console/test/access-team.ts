/** A team of Cloudflare Access: what its domain publishes, and assertions as a test wants them. */
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Claims = Readonly<Record<string, unknown>>

export interface Team {
  readonly domain: string
  /** The keys that are published. */
  readonly keys: Readonly<Record<'current' | 'previous', Key>>
  /** What the identity endpoint says of the person, besides the e-mail address of the assertion. */
  identity: Claims
  /** What an endpoint responds instead: a status and a body. */
  readonly responses: Map<'certs' | 'get-identity', readonly [number, unknown]>
  /** The endpoints that were asked, in order. */
  readonly asked: string[]
  stop(): Promise<void>
}

export interface Key {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export function newKey(id: string = randomUUID()): Key {
  return { id, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) }
}

export async function startTeam(): Promise<Team> {
  const server = createServer((request, response) => {
    const endpoint = (request.url ?? '').replace('/cdn-cgi/access/', '') as 'certs' | 'get-identity'
    team.asked.push(endpoint)
    const [status, body] = team.responses.get(endpoint) ?? respond(endpoint, request.headers.cookie ?? '')
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  function respond(endpoint: string, cookie: string): readonly [number, unknown] {
    if (endpoint === 'certs') {
      const keys = Object.values(team.keys).map(({ id, publicKey }) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid: id,
        // Without it, a key would also be for other algorithms.
        ...(id === team.keys.current.id && { alg: 'RS256' }),
        use: 'sig',
      }))
      return [200, { keys, public_certs: [] }]
    }
    const [, payload] = /^CF_Authorization=[^.]+\.([^.]+)\.[^.]+$/.exec(cookie) ?? []
    if (endpoint !== 'get-identity' || payload === undefined) return [400, { err: 'no app token set' }]
    const { email, sub } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return [200, { email, user_uuid: sub, ...team.identity }]
  }

  const team: Team = {
    domain: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: { current: newKey(), previous: newKey() },
    identity: {},
    responses: new Map(),
    asked: [],
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
  return team
}

/** How an assertion differs from a right one; undefined leaves a part out. */
export interface Difference {
  readonly claims?: Claims
  readonly header?: Claims
  /** Who signs it; "none": nobody. */
  readonly key?: Key | 'none'
  readonly hash?: 'sha256' | 'sha512'
  /** The key of an HMAC. */
  readonly secret?: string | Buffer
}

/** The assertion with which Access lets somebody through to an application. */
export function assertion(
  { domain, keys }: Team,
  audience: string,
  { claims = {}, header = {}, key = keys.current, hash = 'sha256', secret }: Difference = {},
): string {
  const now = Math.floor(Date.now() / 1000)
  const parts = [
    { alg: 'RS256', kid: key === 'none' ? undefined : key.id, typ: 'JWT', ...header },
    {
      aud: [audience],
      email: 'ada@example.com',
      exp: now + 3600,
      iat: now,
      nbf: now,
      iss: domain,
      type: 'app',
      identity_nonce: '6ei69kawdKzMIAPF',
      sub: '7335d417-61da-459d-899c-0a01c76a2f94',
      country: 'US',
      ...claims,
    },
  ]
  const data = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${data}.${signature(data).toString('base64url')}`

  function signature(text: string): Buffer {
    if (secret !== undefined) return createHmac('sha256', secret).update(text).digest()
    return key === 'none' ? Buffer.of() : sign(hash, Buffer.from(text), key.privateKey)
  }
}
