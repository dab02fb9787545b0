import { createHmac, hash, hkdfSync } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'

/** The SHA-256 of bytes, or of a text's UTF-8 bytes, in lower-case hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}

/**
 * The fingerprint of a text with secrets, under each key of the ring, newest first: `keyId.HMAC-SHA-256` in
 * hexadecimal. Without the key, a guess of the text cannot be verified.
 */
export function secretFingerprints(text: string, ring: KeyRing): string[] {
  return Array.from(ring.keys, ([keyId, bytes]) => {
    const key = new Uint8Array(hkdfSync('sha256', bytes, '', 'fingerprint', 32))
    return `${keyId}.${createHmac('sha256', key).update(text).digest('hex')}`
  })
}
