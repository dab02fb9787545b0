/** An app exchanges its code or a refresh token, at the authorization server of the console. */
import { authorized } from '../access/preconditions.ts'
import type { Environment } from '../environment.ts'
import { redeemCode, restoreCode } from '../resources/api-keys/grants.ts'
import { asKey } from './as-key.ts'
import type { Exchange, Refused } from './types.ts'

const PATH = '/oauth/token'

/** @returns what is wrong instead, as an error of the API. */
export function exchange(
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
  token: string,
  address: string,
): Promise<Exchange | Refused> {
  return asKey(environment, context, { token, address, path: PATH }, async (request) => {
    const { redeemed } = await request.run(authorized, { redeemed: redeemCode }, {})
    return { isFirst: redeemed.length === 1 }
  })
}

export async function undoExchange(
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
  token: string,
  address: string,
): Promise<void> {
  await asKey(environment, context, { token, address, path: PATH }, (request) =>
    request.run(authorized, { restoreCode }, {}),
  )
}
