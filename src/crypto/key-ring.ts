/** The keys that seal values: the secret ENCRYPTION_KEYS, `id:base64 of 32 bytes`, separated by commas, newest first. */

const ENTRY = /^([A-Za-z0-9_-]{1,64}):([A-Za-z0-9+/]{43}=)$/

export interface KeyRing {
  /** The id of the key that seals. */
  readonly newest: string
  /** The bytes of every key that opens, by its id. */
  readonly keys: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
}

/** @throws if the text is no key ring. The message holds nothing of it. */
export function parseKeyRing(text = ''): KeyRing {
  const keys = new Map<string, Uint8Array<ArrayBuffer>>()
  for (const entry of text.split(',')) {
    const [, id, base64] = ENTRY.exec(entry.trim()) ?? []
    if (!id || !base64)
      throw new Error('ENCRYPTION_KEYS: expected id:base64 of 32 bytes, separated by commas')
    if (keys.has(id)) throw new Error('ENCRYPTION_KEYS: expected every key id once')
    keys.set(
      id,
      Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)),
    )
  }
  const [newest] = keys.keys()
  return { newest: newest as string, keys }
}
