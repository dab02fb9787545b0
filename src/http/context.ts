/** The state that Hono's middleware shares for a request. */
import type { Caller } from '../access/caller.ts'
import type { Environment } from '../environment.ts'
import type { Contract } from './contract.ts'

export interface HonoEnvironment {
  Bindings: Environment
  Variables: {
    requestId: string
    contract?: Contract
    caller: Caller
    /** Headers of pages and their files, instead of those of data. */
    contentPolicy?: string
    cacheControl?: string
  }
}
