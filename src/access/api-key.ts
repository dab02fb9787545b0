/**
 * The form of an API key: `wsk_`, 32 random bytes in base62 (43 characters), and the CRC-32 of all that in base62 (6
 * characters). The checksum detects typing errors without a query. `wsk12_` names the database that has the key: 12;
 * without a number it is 0. The token of a feed of skills has the same form and begins with `wsf`, that of a claim link
 * with `wsc`. Only a SHA-256 is stored, of the token without its number and its checksum, so that it is the same in every
 * database.
 */
import { sha256 } from '../crypto/digest.ts'

export type TokenKind = 'wsk' | 'wsf' | 'wsc'

const SECRET_BYTES = 32
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOKEN = new RegExp(
  `^(ws[kfc])([1-9][0-9]{0,3})?_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
)

export interface MintedToken {
  /** What the database stores. */
  readonly hash: string
  /** The token, which is returned once. @param databaseNumber the database that stores the hash. */
  readonly tokenIn: (databaseNumber: number) => string
}

export async function mintToken(kind: TokenKind = 'wsk'): Promise<MintedToken> {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  const number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const secret = base62(number, SECRET_LENGTH)
  return {
    hash: await sha256(`${kind}_${secret}`),
    tokenIn: (databaseNumber) => {
      const body = `${kind}${databaseNumber || ''}_${secret}`
      return body + checksum(body)
    },
  }
}

export interface ParsedToken {
  readonly hash: string
  readonly databaseNumber: number
}

/** @returns undefined if the text does not have the form of a token, or its checksum is wrong. */
export async function parseToken(text: string, expected: TokenKind = 'wsk'): Promise<ParsedToken | undefined> {
  const [, kind, number = '0', secret, sum = ''] = TOKEN.exec(text) ?? []
  if (kind !== expected || sum !== checksum(text.slice(0, -CHECKSUM_LENGTH))) return undefined
  return { hash: await sha256(`${kind}_${secret}`), databaseNumber: Number(number) }
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

/** The CRC-32 of ASCII text. `node:zlib` has it, but would load Node's streams at each start of the Worker. */
function crc32(text: string): number {
  let rest = -1
  for (const character of text) {
    rest ^= character.charCodeAt(0)
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 && 0xedb88320)
  }
  return ~rest >>> 0
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
