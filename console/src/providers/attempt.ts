/**
 * A sign-in that has begun: what its callback needs is sealed in a cookie, so nothing is stored. The key comes from
 * the client secret and the provider, so neither the browser nor another provider's callback can read it or make one.
 */
import * as sealed from '../sealed.ts'
import type { CodeProvider } from './providers.ts'

export interface Attempt {
  readonly state: string
  readonly nonce: string
  /** The verifier of PKCE. */
  readonly verifier: string
  readonly organization: string
  /** The path of the console to open afterwards. */
  readonly to: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
}

export const ATTEMPT_SECONDS = 600

export function seal(attempt: Attempt, provider: CodeProvider): Promise<string> {
  return sealed.seal(attempt, provider.clientSecret, purposeOf(provider))
}

/** @returns undefined if it expired, or is not an attempt of this provider. */
export async function unseal(text: string, provider: CodeProvider, now: number): Promise<Attempt | undefined> {
  const attempt = await sealed.unseal<Attempt>(text, provider.clientSecret, purposeOf(provider))
  return attempt && attempt.expiresAt > now ? attempt : undefined
}

const purposeOf = ({ id }: CodeProvider) => `sign-in ${id}`
