/** The state that Hono's middleware shares for a request. */
import type { Caller } from '../access/caller.ts'
import type { Environment } from '../environment.ts'
import type { Contract } from './contract.ts'

interface Variables {
  requestId: string
  /** Unset if the request reached no operation. */
  contract?: Contract
  /** Unset if the request has no API key, or needs none. */
  caller?: Caller
  /** Headers of pages and their files, instead of those of data. */
  contentPolicy?: string
  cacheControl?: string
}

export interface HonoEnvironment {
  Bindings: Environment
  Variables: Variables
}

/** What a request for an operation has. */
export interface OperationEnvironment extends HonoEnvironment {
  Variables: Variables & { contract: Contract; caller: Caller }
}
