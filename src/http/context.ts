/** What a request carries through the middleware. */
import type { Call } from '../access/call.ts'
import type { Environment } from '../environment.ts'
import type { Contract } from './endpoint.ts'

export interface HonoEnvironment {
  Bindings: Environment
  Variables: { requestId: string; contract?: Contract; call: Call; isPage?: boolean }
}
