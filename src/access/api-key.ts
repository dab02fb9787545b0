/**
 * The form of an API key: `wsk_`, 32 random bytes in base62 (43 characters), and the CRC-32 of all that in base62 (6
 * characters). The checksum detects typing errors without a query. Only the SHA-256 of a token is stored. The token of
 * a feed of skills has the same form and begins with `wsf_`.
 */
import { crc32 } from 'node:zlib'
import { sha256 } from '../crypto/digest.ts'

const PREFIX = 'wsk_'
export const FEED_PREFIX = 'wsf_'
const SECRET_BYTES = 32
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET = new RegExp(`^[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/** Creates a token, which is returned once. */
export function mintToken(prefix = PREFIX): string {
  const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  const number = secret.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const body = prefix + base62(number, SECRET_LENGTH)
  return body + checksum(body)
}

/** True if the text has the form of a token and its checksum is right. */
export function isToken(text: string, prefix = PREFIX): boolean {
  if (!text.startsWith(prefix) || !SECRET.test(text.slice(prefix.length))) return false
  return text.slice(-CHECKSUM_LENGTH) === checksum(text.slice(0, -CHECKSUM_LENGTH))
}

/** The SHA-256 of a token in lower-case hexadecimal, which the database stores. */
export function hashToken(token: string): string {
  return sha256(token)
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function base62(number: bigint, length: number): string {
  let rest = number
  let text = ''
  for (let place = 0; place < length; place++) {
    text = DIGITS[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}
