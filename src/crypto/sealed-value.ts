/**
 * Values that are stored encrypted: AES-256-GCM under a key derived by HKDF-SHA-256 (RFC 5869), as versioned text
 * `v1.keyId.iv.ciphertext` (the last two in base64url).
 */
import type { KeyRing } from './key-ring.ts'

const VERSION = 'v1'
const IV_BYTES = 12

/** What a value belongs to. The ciphertext is bound to it and opens in no other context. */
export interface SealedContext {
  readonly purpose: 'environment-variable' | 'event-endpoint' | 'run-endpoint'
  readonly organizationId: string
  /** Null if it belongs to no project. */
  readonly projectId: string | null
  readonly name: string
}

/** Seals a value under the newest key of the ring. */
export async function seal(value: string, context: SealedContext, ring: KeyRing): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const key = await keyFor(ring, ring.newest, context)
  const ciphertext = await crypto.subtle.encrypt(algorithm(iv, ring.newest, context), key, encode(value))
  return [VERSION, ring.newest, toBase64Url(iv), toBase64Url(new Uint8Array(ciphertext))].join('.')
}

/** @throws if the text was altered or sealed for another context, or if the ring lacks its key. */
export async function open(sealed: string, context: SealedContext, ring: KeyRing): Promise<string> {
  const [version, keyId, iv, ciphertext, ...rest] = sealed.split('.')
  if (version !== VERSION || !keyId || !iv || !ciphertext || rest.length > 0) {
    throw new Error('The sealed value does not have the form v1.keyId.iv.ciphertext.')
  }
  const key = await keyFor(ring, keyId, context)
  const opening = algorithm(fromBase64Url(iv), keyId, context)
  const value = await crypto.subtle.decrypt(opening, key, fromBase64Url(ciphertext))
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
}

/** The derived keys of each ring, cached because many values of a project are sealed or opened at once. */
const derivedKeys = new WeakMap<KeyRing, Map<string, Promise<CryptoKey>>>()

/** The key for one purpose and one project or organization. No two share a key. */
function keyFor(ring: KeyRing, keyId: string, context: SealedContext): Promise<CryptoKey> {
  const keys = derivedKeys.get(ring) ?? new Map<string, Promise<CryptoKey>>()
  derivedKeys.set(ring, keys)
  const name = JSON.stringify([keyId, context.purpose, context.organizationId, context.projectId])
  const key = keys.get(name) ?? deriveKey(ring, keyId, context)
  keys.set(name, key)
  return key
}

async function deriveKey(ring: KeyRing, keyId: string, context: SealedContext): Promise<CryptoKey> {
  const bytes = ring.keys.get(keyId)
  if (!bytes) throw new Error(`The key "${keyId}" is not in ENCRYPTION_KEYS.`)
  const material = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey'])
  const info = lengthPrefixed([context.purpose, context.organizationId, context.projectId])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  return crypto.subtle.deriveKey(derivation, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

function algorithm(iv: Uint8Array<ArrayBuffer>, keyId: string, { organizationId, projectId, name }: SealedContext) {
  return { name: 'AES-GCM', iv, additionalData: lengthPrefixed([organizationId, projectId, name, keyId]) }
}

/**
 * Each part after its length in bytes (32 bits, big-endian), so that no two lists have the same encoding. Null is
 * encoded as empty text, which no ID is.
 */
function lengthPrefixed(parts: readonly (string | null)[]): Uint8Array<ArrayBuffer> {
  const chunks = parts.map((part) => encode(part ?? ''))
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + 4 + chunk.byteLength, 0))
  const view = new DataView(bytes.buffer)
  let offset = 0
  for (const chunk of chunks) {
    view.setUint32(offset, chunk.byteLength)
    bytes.set(chunk, offset + 4)
    offset += 4 + chunk.byteLength
  }
  return bytes
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
}

function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}

/** @throws if the text is not exactly what `toBase64Url` writes, so that no two texts open to the same value. */
function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Buffer.from(text, 'base64url'))
  if (toBase64Url(bytes) !== text) throw new Error('The sealed value does not have the form v1.keyId.iv.ciphertext.')
  return bytes
}
