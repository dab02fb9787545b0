/** Values that only the holder of a secret can read or make. */
import { decodeBase64Url, encodeBase64Url } from 'hono/utils/encode'

const IV_BYTES = 12

/** @param purpose so that what is sealed for one purpose is not accepted for another. */
export async function seal(value: object, secret: string, purpose: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const data = new TextEncoder().encode(JSON.stringify(value))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await keyOf(secret, purpose), data)
  return base64Url(new Uint8Array([...iv, ...new Uint8Array(sealed)]))
}

/** @returns undefined if it was not sealed with the secret for the purpose. */
export async function unseal<Value>(sealed: string, secret: string, purpose: string): Promise<Value | undefined> {
  try {
    const bytes = decodeBase64Url(sealed)
    const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES) }
    const data = await crypto.subtle.decrypt(algorithm, await keyOf(secret, purpose), bytes.subarray(IV_BYTES))
    return JSON.parse(new TextDecoder().decode(data))
  } catch {
    return undefined
  }
}

/** Without padding. */
export function base64Url(bytes: Uint8Array<ArrayBuffer>): string {
  return encodeBase64Url(bytes.buffer).replaceAll('=', '')
}

async function keyOf(secret: string, purpose: string): Promise<CryptoKey> {
  const encoder = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey'])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encoder.encode(purpose) }
  return crypto.subtle.deriveKey(derivation, key, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}
