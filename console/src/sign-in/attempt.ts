/**
 * A sign-in that has begun: what its callback needs is sealed in a cookie, so nothing is stored. The key comes from
 * the client secret and the provider, so neither the browser nor another provider's callback can read it or make one.
 */
import { decodeBase64Url, encodeBase64Url } from 'hono/utils/encode'
import type { CodeProvider } from './providers.ts'

export interface Attempt {
  readonly state: string
  readonly nonce: string
  /** The verifier of PKCE. */
  readonly verifier: string
  readonly organization: string
  /** The path of the console to open afterwards. */
  readonly to: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

export const ATTEMPT_SECONDS = 600

const IV_BYTES = 12

export async function seal(attempt: Attempt, provider: CodeProvider): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const data = new TextEncoder().encode(JSON.stringify(attempt))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await keyOf(provider), data)
  return encodeBase64Url(new Uint8Array([...iv, ...new Uint8Array(sealed)]).buffer).replaceAll('=', '')
}

/** @returns undefined if it expired, or is not an attempt of this provider. */
export async function unseal(sealed: string, provider: CodeProvider, now: number): Promise<Attempt | undefined> {
  try {
    const bytes = decodeBase64Url(sealed)
    const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES) }
    const data = await crypto.subtle.decrypt(algorithm, await keyOf(provider), bytes.subarray(IV_BYTES))
    const attempt: Attempt = JSON.parse(new TextDecoder().decode(data))
    return attempt.expiresAt > now ? attempt : undefined
  } catch {
    return undefined
  }
}

async function keyOf({ id, clientSecret }: CodeProvider): Promise<CryptoKey> {
  const encoder = new TextEncoder()
  const secret = await crypto.subtle.importKey('raw', encoder.encode(clientSecret), 'HKDF', false, ['deriveKey'])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encoder.encode(`sign-in ${id}`) }
  return crypto.subtle.deriveKey(derivation, secret, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}
