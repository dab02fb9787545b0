/** Adds operations to the app: validates a request, calls the handler and writes its response. */
import { zValidator } from '@hono/zod-validator'
import type { Context, MiddlewareHandler } from 'hono'
import type { HonoBase as Hono } from 'hono/hono-base'
import type * as z from 'zod/mini'
import { Caller } from '../access/caller.ts'
import { RequestContext } from '../access/request-context.ts'
import {
  BODY_LIMIT_BYTES,
  isBodyOptional,
  readJson,
  requireBytes,
  requireDeclaredLength,
  requireLengthWithin,
} from './body.ts'
import type { HonoEnvironment } from './context.ts'
import type { Contract } from './contract.ts'
import type { Endpoint } from './endpoint.ts'
import { describeProblem, describeProblems, describeSent } from './problems.ts'

/** The route of an operation, and its code, which is loaded on the first request to keep the start-up short. */
export interface Operation {
  readonly method: Contract['method']
  readonly path: Contract['path']
  load(): Promise<Endpoint>
}

/** An operation with what does not depend on the request. */
interface LoadedOperation extends Endpoint {
  readonly validators: readonly MiddlewareHandler[]
}

function prepare(endpoint: Endpoint): LoadedOperation {
  return { ...endpoint, validators: validatorsOf(endpoint) }
}

type Target = 'param' | 'query' | 'header' | 'json'

/** Adds an operation to the app. The checks run in the order of docs/contract.md, "The order of the checks". */
export function mount(app: Hono<HonoEnvironment>, { method, path, load }: Operation): void {
  let loaded: Promise<LoadedOperation> | undefined
  app.on(method, [honoPath(path)], async (c) => {
    loaded ??= load().then(prepare)
    const { contract, handle, validators } = await loaded
    requireLengthWithin(contract.bodyLimitBytes ?? BODY_LIMIT_BYTES, c.req.raw)
    if (contract.upload?.needsLength) requireDeclaredLength(c.req.raw)
    c.set('contract', contract)
    const caller = await Caller.open(c.req.raw, c.env, c.executionCtx, contract)
    c.set('caller', caller)
    await requireDecodable(c, contract.takesSecret)
    for (const validator of validators) await validator(c, async () => {})

    const valid = (target: Target) => c.req.valid(target as never)
    const params: Record<string, string> = valid('param')
    const input = {
      params,
      query: valid('query'),
      headers: valid('header'),
      body: valid('json'),
      request: c.req.raw,
      // Few operations need it.
      get path() {
        return basePathOf(c.req.url) + fillPath(contract.path, params)
      },
    }
    const context = new RequestContext(caller, c.env, {
      operation: contract.operationId,
      // Only changes are recorded with it.
      get path() {
        return fillPath(contract.path, params)
      },
      isCreation: contract.success.status === 201,
      requestId: c.get('requestId'),
      isRepeatable: isRepeatable(contract, c.req.raw.headers),
    })
    const answer = await handle(input as never, context)
    // A proxy that compresses or rewrites a file breaks its ranges and its digest.
    if ('mediaTypes' in contract.success) c.set('cacheControl', 'private, no-cache, no-transform')
    if ('notModified' in answer) return c.body(null, 304, answer.headers)
    if ('content' in answer) return c.body(answer.content, answer.isPartial ? 206 : 200, answer.headers)
    if (answer.location === undefined) return c.json(answer.body, contract.success.status, answer.headers)
    return c.json(answer.body, 201, { ...answer.headers, Location: answer.location })
  })
}

/**
 * True if the request may run twice with the same effect. A conditional PUT is not repeated: if the first attempt was
 * committed, the second would be refused because of it.
 */
function isRepeatable({ method, upload, showsSecretOnce }: Contract, headers: Headers): boolean {
  if (method === 'POST') return !showsSecretOnce && headers.has('Idempotency-Key')
  if (method === 'PUT') return !upload && !headers.has('If-Match') && !headers.has('If-None-Match')
  return method === 'GET'
}

/** Hono's form of a path template: `/v1/pins/:resourceType` for `/v1/pins/{resourceType}`. */
export function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** The part of the URL's path before `/v1/`: the prefix, if the client used it. */
function basePathOf(url: string): string {
  const { pathname } = new URL(url)
  return pathname.slice(0, pathname.indexOf('/v1/'))
}

function fillPath(template: string, params: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
}

function validatorsOf({ contract, query }: Endpoint) {
  const { params, headers, body, bodyLimitBytes, takesSecret, upload } = contract
  return [
    validate('param', params),
    validate('query', query, takesSecret),
    ...(headers ? [validate('header', headers)] : []),
    ...(body
      ? [
          readJson(bodyLimitBytes ?? BODY_LIMIT_BYTES, isBodyOptional(body)),
          validate('json', body, takesSecret),
        ]
      : []),
    ...(upload ? [requireBytes] : []),
  ] as MiddlewareHandler[]
}

function validate(target: Target, schema: z.ZodMiniObject, isSecret = false): MiddlewareHandler {
  return zValidator(target, schema, async (result, c) => {
    if (result.success) return
    const { data, error } = result
    const noun = target === 'query' ? 'query parameter' : undefined
    throw await c.get('caller').inputError(describeProblems(error.issues, { schema, data, isSecret, noun }))
  }) as MiddlewareHandler
}

/** @throws {ApiError} 400 if the path or the query is not percent-encoded UTF-8. */
async function requireDecodable(c: Context<HonoEnvironment>, isSecret = false): Promise<void> {
  const pairs = /\?([^#]*)/.exec(c.req.url)?.[1]?.split('&') ?? []
  const wrong = [...c.req.path.split('/'), ...pairs].find((text) => !isDecodable(text))
  if (wrong === undefined) return
  const sent = describeSent(wrong, isSecret)
  const advice = 'Encode text as UTF-8, and a percent sign as "%25".'
  const problem = { wrong: 'cannot be decoded', sent, allowed: 'percent-encoded UTF-8', advice }
  throw await c.get('caller').inputError(describeProblem(pairs.includes(wrong) ? 'query' : 'path', problem))
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
