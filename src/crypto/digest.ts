import type { KeyRing } from './key-ring.ts'

const encoder = new TextEncoder()

/** The SHA-256 of bytes, or of a text's UTF-8 bytes, in lower-case hexadecimal. */
export async function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

/** The HMAC-SHA-256 of a text's UTF-8 bytes. */
export async function hmacSha256(key: Uint8Array<ArrayBuffer>, text: string): Promise<Buffer> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return Buffer.from(await crypto.subtle.sign('HMAC', imported, encoder.encode(text)))
}

/**
 * The fingerprint of a text with secrets, under each key of the ring, newest first: `keyId.HMAC-SHA-256` in
 * hexadecimal. Without the key, a guess of the text cannot be verified.
 */
export function secretFingerprints(text: string, ring: KeyRing): Promise<string[]> {
  return Promise.all(
    Array.from(ring.keys, async ([keyId, bytes]) => {
      const digest = await hmacSha256(await fingerprintKey(bytes), text)
      return `${keyId}.${digest.toString('hex')}`
    }),
  )
}

async function fingerprintKey(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits'])
  const salt = new Uint8Array()
  const info = encoder.encode('fingerprint')
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, 256))
}
