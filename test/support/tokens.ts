/** Tokens of API keys, feeds and claim links, as a client has them. */
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { TokenKind } from '../../src/access/api-key.ts'
import { databaseNumber } from './env.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A token that no database knows. */
export function newToken(kind: TokenKind = 'wsk'): string {
  const secret = Array.from({ length: 43 }, () => DIGITS[randomInt(62)]).join('')
  const body = `${kind}${databaseNumber() || ''}_${secret}`
  return body + checksumOf(body)
}

function checksumOf(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let place = 0; place < 6; place++) {
    text = DIGITS[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** What the database stores of a token: its SHA-256 without the number and the checksum. */
export function hashOf(token: string): string {
  return hash('sha256', token.replace(/^(ws[kfc])\d*(_.{43}).{6}$/, '$1$2'))
}
