/**
 * Seals variables to a public key by HPKE (RFC 9180, base mode, one message for each encapsulated key). Loaded on first
 * use.
 */
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, EncapError, HkdfSha256, type SenderContext } from '@hpke/core'
import type { KeyRing } from '../../crypto/key-ring.ts'
import { ApiError, filled } from '../../errors.ts'
import { describeSize } from '../../http/problems.ts'
import { leaseTooLarge } from './failures.ts'
import { type Owner, openVariable, type SealedVariable } from './open-variable.ts'

export const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
})

const INFO = Buffer.from('workspace-api environment-variables lease v1')

/** 12 MiB of values, and a third more for names and escapes. An isolate has 128 MB for all of its requests. */
const MAX_PLAINTEXT_BYTES = 16 * 2 ** 20

/**
 * @param publicKey 32 bytes in base64url.
 * @returns undefined for a low-order point, whose shared secret anyone knows (RFC 9180, section 7.1.4).
 */
export async function senderTo(publicKey: string): Promise<SenderContext | undefined> {
  const recipientPublicKey = await suite.kem.deserializePublicKey(Buffer.from(publicKey, 'base64url'))
  try {
    return await suite.createSenderContext({ recipientPublicKey, info: INFO })
  } catch (error) {
    if (error instanceof EncapError) return undefined
    throw error
  }
}

/** @throws {ApiError} 409 if the values are too large; another error if one cannot be decrypted. */
export async function sealLease(
  sender: SenderContext,
  owner: Owner,
  variables: readonly SealedVariable[],
  ring: KeyRing,
) {
  const keys = variables.map(({ key }) => key)
  const plaintext = await encodeVariables(variables, owner, ring)
  const aad = Buffer.from(JSON.stringify([owner.organizationId, owner.projectId, ...keys]))
  const ciphertext = await sender.seal(plaintext, aad)
  return { ...owner, keys, enc: toBase64Url(sender.enc), ciphertext: toBase64Url(ciphertext) }
}

/** The JSON object of the values by name, in UTF-8. One value at a time is in memory as text. */
async function encodeVariables(variables: readonly SealedVariable[], owner: Owner, ring: KeyRing) {
  const parts: Buffer[] = []
  let size = 0
  const add = (text: string) => {
    const part = Buffer.from(text)
    size += part.byteLength
    if (size > MAX_PLAINTEXT_BYTES)
      throw new ApiError(filled(leaseTooLarge, { limit: describeSize(MAX_PLAINTEXT_BYTES) }))
    parts.push(part)
  }
  add('{')
  for (const variable of variables) {
    const value = await openVariable(variable, owner, ring)
    add(`${parts.length > 1 ? ',' : ''}${JSON.stringify(variable.key)}:${JSON.stringify(value)}`)
  }
  add('}')
  const plaintext = new Uint8Array(size)
  let offset = 0
  for (const part of parts) {
    plaintext.set(part, offset)
    offset += part.byteLength
  }
  return plaintext.buffer
}

function toBase64Url(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('base64url')
}
