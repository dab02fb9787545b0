/** What a request carries through the middleware, and the refusal of its input. */
import type { Context } from 'hono'
import type { Call } from '../access/call.ts'
import type { Environment } from '../environment.ts'
import type { Contract } from './endpoint.ts'
import { Refusal } from './errors.ts'

export interface HonoEnvironment {
  Bindings: Environment
  Variables: { requestId: string; contract?: Contract; call: Call }
}

/** The refusal of wrong input. A key that is not live is told that first, so this costs the look-up of the key. */
export async function refuseInput(
  c: Context<HonoEnvironment>,
  message: string,
  status = 400,
): Promise<Refusal> {
  await c.get('call').requireLiveKey()
  return new Refusal(status, message)
}
