/** What an operation is to the outside (its contract), and how it becomes a route (mount). */
import { zValidator } from '@hono/zod-validator'
import type { MiddlewareHandler } from 'hono'
import type { HonoBase as Hono } from 'hono/hono-base'
import type * as z from 'zod/mini'
import { Call, type CallerScope } from '../access/call.ts'
import { BODY_LIMIT_BYTES, readJson, refuseDeclaredLength, requireDeclaredLength } from './body.ts'
import type { HonoEnvironment } from './context.ts'
import { describeProblems, describeSent } from './problems.ts'

/** What an operation is about. */
export type Tag =
  | 'Pins'
  | 'Projects'
  | 'Agents'
  | 'Sessions'
  | 'Schedules'
  | 'Runs'
  | 'Skills'
  | 'Users'
  | 'Pull requests'
  | 'API keys'
  | 'Audit events'

/** The one source for an operation: from it come the route, the validation, the types, the document and the access tests. */
export interface Contract extends CallerScope {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path template, as SPEC.txt writes it. */
  readonly path: `/v1/${string}`
  readonly tag: Tag
  readonly summary: string
  readonly description: string
  readonly params: z.ZodMiniObject
  readonly query?: z.ZodMiniObject
  readonly headers?: z.ZodMiniObject
  readonly body?: z.ZodMiniObject
  /** What the body may have, in bytes; 64 KiB without it. */
  readonly bodyLimitBytes?: number
  /** Stands in for `body` where the body is not JSON: the handler gets it as it comes. */
  readonly upload?: Upload
  readonly success: Success
  /** True if its answer has a secret that is shown once, so that a repetition is refused. */
  readonly answersOnce?: true
  /** True if its body has a secret: no error repeats a value of it. */
  readonly takesSecret?: true
  /** The documented errors (docs/contract.md, Answers): status and what it means here. */
  readonly errors: Readonly<Record<number, string>>
}

export interface Upload {
  readonly description: string
  readonly mediaTypes: readonly string[]
  /** True if it has to have a `Content-Length`; else 411. */
  readonly needsLength?: true
}

export type Success = JsonSuccess | ContentSuccess

interface JsonSuccess extends SuccessBase {
  readonly status: 200 | 201
  readonly schema: z.ZodMiniObject
  readonly example: unknown
}

/** An answer that is not JSON. */
interface ContentSuccess extends SuccessBase {
  readonly status: 200
  readonly mediaTypes: readonly string[]
  /** True if a `Range` is answered with 206. */
  readonly partial?: true
}

interface SuccessBase {
  readonly description: string
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
  /** The request, for an upload. */
  readonly request: Request
  /** The path of the request under the base path that the caller used, its ids as they are answered. */
  readonly path: string
}

type AnswerHeaders = Readonly<Record<string, string>>

export type Answer<C extends Contract> =
  | AnswerWith<C['success']>
  | { readonly notModified: true; readonly headers: AnswerHeaders }

type AnswerWith<S extends Success> = S extends JsonSuccess
  ? { readonly body: z.input<S['schema']>; readonly headers?: AnswerHeaders }
  : { readonly content: ReadableStream; readonly isPartial?: boolean; readonly headers: AnswerHeaders }

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
  const { params, query, headers, body, upload, bodyLimitBytes = BODY_LIMIT_BYTES } = contract
  const steps: MiddlewareHandler<HonoEnvironment>[] = [
    refuseDeclaredLength(bodyLimitBytes),
    ...(upload?.needsLength ? [requireDeclaredLength] : []),
    async (c, next) => {
      c.set('contract', contract)
      c.set('call', await Call.open(c.req.raw, c.env, c.executionCtx, contract))
      await next()
    },
    refuseUndecodable(Object.keys(query?.shape ?? {})),
    validate('param', params),
  ]
  if (query) steps.push(validate('query', query))
  if (headers) steps.push(validate('header', headers))
  if (body) steps.push(readJson(bodyLimitBytes), validate('json', body, contract.takesSecret))

  app.on(contract.method, [honoPath(contract.path)], ...steps, async (c) => {
    const valid = (target: 'param' | 'query' | 'header' | 'json') => c.req.valid(target as never)
    const input = {
      params: valid('param'),
      query: valid('query'),
      headers: valid('header'),
      body: valid('json'),
      request: c.req.raw,
      // Few operations answer with it.
      get path() {
        return basePathOf(c.req.path) + fillPath(contract.path, this.params)
      },
    }
    c.get('call').begin({
      operation: contract.operationId,
      // Only changes are recorded with it.
      get path() {
        return fillPath(contract.path, input.params)
      },
      isCreation: contract.success.status === 201,
      requestId: c.get('requestId'),
      isRepeatable: isRepeatable(contract, c.req.raw.headers),
    })
    const answer = await handle(input, c.get('call'))
    if ('notModified' in answer) return c.body(null, 304, answer.headers)
    if ('content' in answer) return c.body(answer.content, answer.isPartial ? 206 : 200, answer.headers)
    return c.json(answer.body, contract.success.status, answer.headers)
  })
}

/** True if the request may run twice: with the same effect and the same answer as if it ran once. */
function isRepeatable({ method, upload, answersOnce }: Contract, headers: Headers): boolean {
  if (method === 'POST') return !answersOnce && headers.has('Idempotency-Key')
  return method === 'GET' || (method === 'PUT' && !upload)
}

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

function validate(
  target: 'param' | 'query' | 'header' | 'json',
  schema: z.ZodMiniObject,
  isSecret = false,
): MiddlewareHandler {
  return zValidator(target, schema, async (result, c) => {
    if (result.success) return
    const { data, error } = result
    throw await c.get('call').inputError(describeProblems(error.issues, { schema, data, isSecret }))
  }) as MiddlewareHandler
}

/** Refuses a path that does not decode, and such a query parameter, if the operation knows it. */
function refuseUndecodable(parameters: readonly string[]): MiddlewareHandler<HonoEnvironment> {
  return async (c, next) => {
    const pairs = /\?([^#]*)/.exec(c.req.url)?.[1]?.split('&') ?? []
    const known = pairs.filter((pair) => parameters.includes(decode(pair.replace(/=.*/s, '')) ?? ''))
    const wrong = [...c.req.path.split('/'), ...known].find((text) => decode(text) === undefined)
    if (wrong !== undefined) {
      const sent = describeSent(wrong)
      throw await c
        .get('call')
        .inputError(
          `${known.includes(wrong) ? 'query' : 'path'}: expected UTF-8, percent-encoded, got ${sent}`,
        )
    }
    await next()
  }
}

/** The text without percent-encoding, or undefined if that is not UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
