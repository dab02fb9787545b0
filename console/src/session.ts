/** The cookie of a session, and requests to the API. */
import { env } from 'cloudflare:workers'
import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Data } from '../../client/src/index.ts'
import type { SignInService } from '../../src/sign-in/types.ts'

export interface Environment {
  /** The API Worker. */
  readonly API: Fetcher
  /** Its entrypoint for what only the console may ask of it. */
  readonly SIGN_IN: SignInService
  /** The files of `dist/`, which Vite writes. */
  readonly ASSETS: Fetcher
  /** The address of the API, which the URLs of feeds begin with. `npm run deploy` and `npm run dev` set it. */
  readonly API_URL?: string
  /** Its own address. `npm run deploy` and `npm run dev` set it. */
  readonly CONSOLE_URL?: string
  /** Clients, grants and tokens of connected apps; without it, no app can be connected. */
  readonly OAUTH_KV?: KVNamespace
  /** Sign-ins, and registrations, tokens and consents of apps, of an address. */
  readonly ADDRESS_RATE_LIMIT?: RateLimit
  /** "off": there is no rate limit. */
  readonly RATE_LIMIT?: string
  /** The identity providers (sign-in/providers.ts). Each has a secret, too. */
  readonly SIGN_IN_PROVIDERS?: unknown
  /** "off": nobody signs in with an API key. */
  readonly SIGN_IN_WITH_API_KEY?: string
}

export type ConsoleContext = Context<{ Bindings: Environment }>

/** Browsers accept a cookie of this prefix only with Secure, for the whole origin and for no other host. */
export const COOKIE = '__Host-session'
export const COOKIE_OPTIONS = { httpOnly: true, secure: true, sameSite: 'Strict', path: '/' } as const

type Session = Pick<Data<'createApiKeySession'>, 'token' | 'expiresAt'>

export function setSession(c: ConsoleContext, { token, expiresAt }: Session): void {
  setCookie(c, COOKIE, token, { ...COOKIE_OPTIONS, ...(expiresAt !== null && { expires: new Date(expiresAt) }) })
}

/** The token of the session. A cookie that cannot be part of a header is none. */
export function sessionToken(c: ConsoleContext): string | undefined {
  const token = getCookie(c, COOKIE)
  return token !== undefined && /^[!-~]+$/.test(token) ? token : undefined
}

/** A service binding needs no host, but the API makes URLs of the one that it sees. */
export function apiUrl(path: string): string {
  const { API_URL = 'https://api' } = env as Partial<Environment>
  return new URL(path, API_URL).href
}

const ADDRESS = 'CF-Connecting-IP'

/** The headers of a request to the API: its API key, and some of the browser's request. */
export function headersTo(c: ConsoleContext, token: string, names: readonly string[] = [ADDRESS]): Headers {
  const headers = new Headers({ Authorization: `Bearer ${token}` })
  for (const name of names) {
    const value = c.req.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  return headers
}

/** By which the API counts refused keys. */
export const addressOf = (c: ConsoleContext): string => c.req.header(ADDRESS) ?? ''

/** Revokes an API key by itself. */
export function endKey(api: Fetcher, token: string, address: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, [ADDRESS]: address }
  return api.fetch(apiUrl('/v1/me/api-key'), { method: 'DELETE', headers })
}

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 429 | 502 | 503

/** Errors have the shape of the API's. @param status one of these, also where the API names it. */
export function refuse(c: ConsoleContext, status: number, error: string): Response {
  return c.json({ error }, status as ErrorStatus)
}
