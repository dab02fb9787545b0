/** What an operation is to the outside (its contract), and how it becomes a route (mount). */
import { zValidator } from '@hono/zod-validator'
import type { Hono, MiddlewareHandler } from 'hono'
import type * as z from 'zod/mini'
import { Call, type CallerScope } from '../access/call.ts'
import { readJson, refuseDeclaredLength } from './body.ts'
import { type HonoEnvironment, refuseInput } from './context.ts'
import { describeProblems } from './problems.ts'

/** What the operations are about, for the reader of the document. */
export const TAGS = {
  Pins: 'Sessions, pull requests and projects that a user keeps at hand, in an order of their own.',
  Projects: 'Build schedules and encrypted environment variables of a project.',
  Agents: 'Recurring work of an agent.',
  Sessions: 'The files that a session of an agent left behind.',
  Skills: 'Instructions and files that agents load when a task calls for them.',
  Users: 'The people of an organization.',
} as const

export type Tag = keyof typeof TAGS

/** The one source for an operation: from it come the route, the validation, the types, the document and the access tests. */
export interface Contract extends CallerScope {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** The path template, as SPEC.txt writes it. */
  readonly path: `/v1/${string}`
  readonly tag: Tag
  readonly summary: string
  readonly description: string
  readonly params: z.ZodMiniObject
  readonly query?: z.ZodMiniObject
  readonly headers?: z.ZodMiniObject
  readonly body?: z.ZodMiniObject
  readonly success: Success
  /** The documented errors (docs/contract.md, Answers): status and what it means here. */
  readonly errors: Readonly<Record<number, string>>
}

export interface Success {
  readonly status: 200 | 201
  readonly description: string
  readonly schema: z.ZodMiniObject
  readonly example: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** True if a matching `If-None-Match` is answered with 304. */
  readonly conditional?: true
}

type Parsed<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : Record<never, never>

export interface Input<C extends Contract> {
  readonly params: Parsed<C['params']>
  readonly query: Parsed<C['query']>
  readonly headers: Parsed<C['headers']>
  readonly body: Parsed<C['body']>
  /** The path of the request under the base path that the caller used, its ids as they are answered. */
  readonly path: string
}

export type Answer<C extends Contract> =
  | { readonly body: z.input<C['success']['schema']>; readonly headers?: Readonly<Record<string, string>> }
  | { readonly notModified: true; readonly headers: Readonly<Record<string, string>> }

export interface Endpoint<C extends Contract = Contract> {
  readonly contract: C
  handle(input: Input<C>, call: Call): Promise<Answer<C>>
}

/** Ties a contract to the function that keeps it. */
export function endpoint<const C extends Contract>(contract: C, handle: Endpoint<C>['handle']): Endpoint<C> {
  return { contract, handle }
}

/** Adds the operation to the app. The middleware stand in the order of the checks (docs/contract.md, The order of the checks). */
export function mount(app: Hono<HonoEnvironment>, { contract, handle }: Endpoint): void {
  const { params, query, headers, body } = contract
  const steps: MiddlewareHandler<HonoEnvironment>[] = [
    refuseDeclaredLength(BODY_LIMIT_BYTES),
    async (c, next) => {
      c.set('contract', contract)
      c.set('call', await Call.open(c.req.raw, c.env, c.executionCtx, contract))
      await next()
    },
    refuseUndecodablePath,
    validate('param', params),
  ]
  if (query) steps.push(validate('query', query))
  if (headers) steps.push(validate('header', headers))
  if (body) steps.push(readJson(BODY_LIMIT_BYTES), validate('json', body))

  app.on(contract.method, [honoPath(contract.path)], ...steps, async (c) => {
    const valid = (target: 'param' | 'query' | 'header' | 'json') => c.req.valid(target as never)
    const input = {
      params: valid('param'),
      query: valid('query'),
      headers: valid('header'),
      body: valid('json'),
      // Few operations answer with it.
      get path() {
        return basePathOf(c.req.path) + fillPath(contract.path, this.params)
      },
    }
    const answer = await handle(input, c.get('call'))
    if ('notModified' in answer) return c.body(null, 304, answer.headers)
    return c.json(answer.body, contract.success.status, answer.headers)
  })
}

/** The most that a body may have, in bytes. */
export const BODY_LIMIT_BYTES = 64 * 1024

/** `/v1/pins/{resourceType}` as Hono writes it: `/v1/pins/:resourceType`. */
export function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** The base path that the caller used: all that comes before `/v1/`. */
function basePathOf(path: string): string {
  return path.slice(0, path.indexOf('/v1/'))
}

function fillPath(template: string, params: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
}

function validate(target: 'param' | 'query' | 'header' | 'json', schema: z.ZodMiniObject): MiddlewareHandler {
  return zValidator(target, schema, async (result, c) => {
    if (!result.success) throw await refuseInput(c, describeProblems(result.error.issues, result.data))
  }) as MiddlewareHandler
}

const refuseUndecodablePath: MiddlewareHandler<HonoEnvironment> = async (c, next) => {
  if (!isDecodable(c.req.path)) throw await refuseInput(c, 'The path is not valid percent-encoded UTF-8.')
  await next()
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}
