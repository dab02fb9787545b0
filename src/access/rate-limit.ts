/** The rate limits (docs/contract.md, Keys), counted by the platform's binding, for each of its locations. */
import type { Environment } from '../environment.ts'
import { tooManyRequests } from '../http/errors.ts'

/** Of what there may be so many a minute: the requests of a key; what is asked without a key that is live, by address. */
type Limit = 'KEY_RATE_LIMIT' | 'REFUSAL_RATE_LIMIT'

/** @throws {Refusal} 429 if there were too many. */
export async function countAgainst(limit: Limit, key: string, environment: Environment): Promise<void> {
  if (environment.RATE_LIMIT === 'off') return
  const { success } = await environment[limit].limit({ key })
  if (!success) throw tooManyRequests()
}

/** Where the request comes from. Empty where the platform doesn't say: then all count as one. */
export function addressOf(request: Request): string {
  return request.headers.get('CF-Connecting-IP') ?? ''
}
