/** Tokens of API keys, feeds and claim links, as a client has them. */
import { mintToken, parseToken, type TokenKind } from '../../src/access/api-key.ts'
import { databaseNumber } from './env.ts'

/** A token that no database knows. */
export const newToken = (kind?: TokenKind) => mintToken(kind).tokenIn(databaseNumber())

/** What the database stores of a token. */
export function hashOf(token: string): string {
  return parseToken(token, token.slice(0, 3) as TokenKind)?.hash ?? ''
}
