/** An operation as code: its contract and its handler. */
import * as z from 'zod/mini'
import type { RequestContext } from '../access/request-context.ts'
import type { Contract, JsonSuccess, Success } from './contract.ts'

type Parsed<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : Record<never, never>

export interface Input<C extends Contract> {
  readonly params: Parsed<C['params']>
  readonly query: Parsed<C['query']>
  readonly headers: Parsed<C['headers']>
  readonly body: Parsed<C['body']>
  /** The request, whose body an upload reads. */
  readonly request: Request
  /** The path of the request, with the prefix if the client used it, and with ids in the form that responses have. */
  readonly path: string
}

type AnswerHeaders = Readonly<Record<string, string>>

export type Answer<C extends Contract> =
  | AnswerWith<C['success']>
  | { readonly notModified: true; readonly headers: AnswerHeaders }

type AnswerWith<S extends Success> = S extends JsonSuccess
  ? {
      readonly body: z.input<S['schema']>
      /** The path of what the request created; undefined if it created nothing. */
      readonly location?: string | undefined
      readonly headers?: AnswerHeaders
    }
  : { readonly content: ReadableStream; readonly isPartial?: boolean; readonly headers: AnswerHeaders }

export interface Endpoint<C extends Contract = Contract> {
  readonly contract: C
  /** The query parameters of the contract, and no other. */
  readonly query: z.ZodMiniObject
  handle(input: Input<C>, context: RequestContext): Promise<Answer<C>>
}

const NO_QUERY: z.ZodMiniObject = z.object({})

/**
 * Statements are bound to fields of the request by name, so no field may have the name of a value that the service binds: `now`,
 * or a name with a dot, such as `caller.scope`.
 * @throws if a field of the contract has one.
 */
function requireFreeNames({ operationId, ...contract }: Contract): void {
  for (const part of ['params', 'query', 'headers', 'body'] as const) {
    const taken = Object.keys(contract[part]?.shape ?? {}).find(
      (name) => name === 'now' || name.includes('.'),
    )
    if (taken !== undefined) throw new Error(`${operationId} has a field with a reserved name: ${taken}`)
  }
}

/**
 * Checks a handler against its contract.
 * @throws if a field of the contract has a name that is reserved for the service.
 */
export function endpoint<const C extends Contract>(contract: C, handle: Endpoint<C>['handle']): Endpoint<C> {
  requireFreeNames(contract)
  return { contract, query: z.catchall(contract.query ?? NO_QUERY, z.never()), handle }
}
