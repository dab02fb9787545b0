/** Tokens of API keys and feeds, as a client has them. */
import { mintToken, parseToken } from '../../src/access/api-key.ts'
import { databaseNumber } from './env.ts'

/** A token that no database knows. */
export const newToken = (kind?: 'wsk' | 'wsf') => mintToken(kind).tokenIn(databaseNumber())

/** What the database stores of a token. */
export function hashOf(token: string): string {
  const kind = token.startsWith('wsf') ? 'wsf' : 'wsk'
  return parseToken(token, kind)?.hash ?? ''
}
