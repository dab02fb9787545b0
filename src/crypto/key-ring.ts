/**
 * The keys that encrypt values, from the secret ENCRYPTION_KEYS: `id:base64 of 32 bytes`, separated by commas, newest
 * first.
 */

const ENTRY = /^([A-Za-z0-9_-]{1,64}):([A-Za-z0-9+/]{43}=)$/

export interface KeyRing {
  /** The ID of the key that encrypts. */
  readonly newest: string
  /** The bytes of every key, by its ID. All of them decrypt. */
  readonly keys: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
}

/** @throws if the text is not a key ring. The message repeats nothing of the text, which is secret. */
export function parseKeyRing(text = ''): KeyRing {
  const keys = new Map<string, Uint8Array<ArrayBuffer>>()
  for (const entry of text.split(',')) {
    const [, id, base64] = ENTRY.exec(entry.trim()) ?? []
    if (!id || !base64)
      throw new Error('ENCRYPTION_KEYS is not a list of keys; allowed: id:base64 of 32 bytes, separated by commas.')
    if (keys.has(id)) throw new Error('ENCRYPTION_KEYS has a key id twice; allowed: each id once.')
    keys.set(
      id,
      Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)),
    )
  }
  const [newest] = keys.keys()
  return { newest: newest as string, keys }
}
