/** An operation as code: its contract and its handler. */
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import type { RequestContext } from '../access/request-context.ts'
import type { OperationEnvironment } from './context.ts'
import type { Contract, JsonSuccess, Success } from './contract.ts'

type Parsed<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : Record<never, never>

/** Hono's context of an operation: `c.req.valid('query')` is what the contract says. */
export type OperationContext<C extends Contract> = Context<
  OperationEnvironment,
  string,
  {
    out: {
      param: Parsed<C['params']>
      query: Parsed<C['query']>
      header: Parsed<C['headers']>
      json: Parsed<C['body']>
    }
  }
>

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

/** The properties of each type of a union. */
type KeyOf<Union> = Union extends unknown ? keyof Union : never
type PropertyOf<Union, Key> = Union extends unknown ? (Key extends keyof Union ? Union[Key] : never) : never
type ItemOf<Union> = Union extends readonly (infer Item)[] ? Item : never

/** `Actual`, where a property that the contract lacks, such as a further column of a statement, is an error. */
type Exact<Documented, Actual> = unknown extends Documented
  ? Actual
  : Actual extends readonly (infer Item)[]
    ? readonly Exact<ItemOf<Documented>, Item>[]
    : Actual extends object
      ? {
          readonly [Key in keyof Actual]: Key extends KeyOf<Documented>
            ? Exact<PropertyOf<Documented, Key>, Actual[Key]>
            : never
        }
      : Actual

export interface Endpoint<C extends Contract = Contract> {
  readonly contract: C
  handle(c: OperationContext<C>, context: RequestContext): Promise<Answer<C>>
}

/**
 * Statements are bound to fields of the request by name, so no field may have the name of a value that the service
 * binds: `now`, or a name with a dot, such as `caller.scope`.
 * @throws if a field of the contract has one.
 */
function requireFreeNames({ operationId, ...contract }: Contract): void {
  for (const part of ['params', 'query', 'headers', 'body'] as const) {
    const taken = Object.keys(contract[part]?.shape ?? {}).find((name) => name === 'now' || name.includes('.'))
    if (taken !== undefined) throw new Error(`${operationId} has a field with a reserved name: ${taken}`)
  }
}

/**
 * Checks a handler against its contract.
 * @throws if a field of the contract has a name that is reserved for the service.
 */
export function endpoint<const C extends Contract, const A extends Answer<C>>(
  contract: C,
  handle: (c: OperationContext<C>, context: RequestContext) => Promise<A & Exact<Answer<C>, A>>,
): Endpoint<C> {
  requireFreeNames(contract)
  return { contract, handle }
}
