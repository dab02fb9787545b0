/** The claims of a person as rules compare them. */

/** A JSON object, such as the payload of an ID token. */
export type RawClaims = Readonly<Record<string, unknown>>

/** What ID tokens say of themselves, which differs with each sign-in. */
const OF_THE_TOKEN = new Set([
  'aud',
  'azp',
  'exp',
  'iat',
  'nbf',
  'auth_time',
  'nonce',
  'jti',
  'sid',
  'at_hash',
  'c_hash',
  's_hash',
])

/** A provider may list thousands of groups. */
const MAX_CLAIMS = 2000
/** The most characters of all claims together, with their names. */
const MAX_CHARACTERS = 256 * 1024
const MAX_DEPTH = 8
/** The longest claim and the longest value that a rule can have (resources/sign-in-rules/contract.ts). */
const MAX_LENGTH = 1000

/**
 * Every claim with each of its values as text: lists are taken apart, and an inner field has the path `outer.inner`.
 * `email` is left out unless the provider verified it, and is in lower case. What is longer than a rule can have is left
 * out, and so is what is beyond the limits on the number and the size of all claims.
 */
export function flattenClaims(raw: RawClaims): [claim: string, value: string][] {
  const claims = new Map<string, [string, string]>()
  let left = MAX_CHARACTERS
  const add = (claim: string, value: unknown, depth: number): void => {
    if (claims.size >= MAX_CLAIMS || depth > MAX_DEPTH || value == null || claim.length > MAX_LENGTH) return
    if (Array.isArray(value)) for (const each of value) add(claim, each, depth + 1)
    else if (typeof value === 'object') {
      for (const [inner, each] of Object.entries(value)) add(`${claim}.${inner}`, each, depth + 1)
    } else {
      const text = String(value)
      const key = JSON.stringify([claim, text])
      if (text === '' || text.length > MAX_LENGTH || key.length > left || claims.has(key)) return
      left -= key.length
      claims.set(key, [claim, text])
    }
  }
  const { email: _, ...others } = raw
  const email = verifiedEmail(raw)
  for (const [claim, value] of Object.entries({ ...others, ...(email !== null && { email }) })) {
    if (!OF_THE_TOKEN.has(claim)) add(claim, value, 0)
  }
  return [...claims.values()]
}

/**
 * With ASCII letters in lower case. Other letters stay: the Kelvin sign in lower case would be a `k`, and its mailbox
 * another person's. Some providers write the boolean as text.
 */
export function verifiedEmail({ email, email_verified: isVerified }: RawClaims): string | null {
  if (typeof email !== 'string' || email === '' || email.length > MAX_LENGTH) return null
  if (isVerified !== true && isVerified !== 'true') return null
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}
