/**
 * Adds operations to the app: each is a route of Hono, whose middleware validates a request, calls the handler and
 * writes its response.
 */
import { zValidator } from '@hono/zod-validator'
import type { Context, MiddlewareHandler } from 'hono'
import type { HonoBase as Hono } from 'hono/hono-base'
import * as z from 'zod/mini'
import { Caller } from '../access/caller.ts'
import { RequestContext } from '../access/request-context.ts'
import { BODY_LIMIT_BYTES, jsonBody, requireBytes, requireDeclaredLength, requireLengthWithin } from './body.ts'
import type { HonoEnvironment, OperationEnvironment } from './context.ts'
import type { Contract } from './contract.ts'
import type { Endpoint, OperationContext } from './endpoint.ts'
import { requireRoom } from './full-database.ts'
import { describeProblem, describeProblems, describeSent } from './problems.ts'

/** The route of an operation, and its code, which is loaded on the first request to keep the start-up short. */
export interface Operation {
  readonly method: Contract['method']
  readonly path: Contract['path']
  load(): Promise<Endpoint>
}

/** Adds an operation to the app. */
export function mount(app: Hono<HonoEnvironment>, { method, path, load }: Operation): void {
  let middleware: Promise<MiddlewareHandler> | undefined
  app.on(method, [honoPath(path)], async (c, next) => {
    middleware ??= load().then(middlewareOf)
    return (await middleware)(c, next)
  })
}

/**
 * The middleware of an operation, in the order of docs/contract.md, "The order of the checks". The checks run one after
 * another and not inside each other, which takes a tenth of the CPU of a small request.
 */
function middlewareOf(endpoint: Endpoint): MiddlewareHandler {
  const { contract } = endpoint
  const { params, query, headers, body, bodyLimitBytes = BODY_LIMIT_BYTES, takesSecret, upload } = contract
  const checks = [
    openCaller(contract),
    validate('param', params),
    validate('query', onlyNamed(query), takesSecret),
    ...(headers ? [validate('header', headers)] : []),
    ...(body ? [jsonBody(body, bodyLimitBytes, contract)] : []),
    ...(upload ? [requireBytes] : []),
  ]
  const answer = respond(endpoint)
  return async (c) => {
    for (const check of checks) await check(c, nothing)
    return answer(c)
  }
}

/** After a check: it throws what is wrong, so the next one follows if it returns. */
const nothing = async () => {}

/** The query parameters of a contract, and no other. */
const onlyNamed = (query: z.ZodMiniObject = z.object({})) => z.catchall(query, z.never())

function openCaller(contract: Contract): MiddlewareHandler<OperationEnvironment> {
  const { bodyLimitBytes = BODY_LIMIT_BYTES, upload, takesSecret } = contract
  return async (c, next) => {
    requireLengthWithin(bodyLimitBytes, c.req.raw)
    if (upload?.needsLength) requireDeclaredLength(c.req.raw)
    c.set('contract', contract)
    c.set('caller', await Caller.open(c.req.raw, c.env, c.executionCtx, contract))
    await requireDecodable(c, takesSecret)
    await next()
  }
}

function respond({ contract, handle }: Endpoint) {
  return async (c: OperationContext<Contract>): Promise<Response> => {
    const caller = c.get('caller')
    if (caller.isDatabaseNearlyFull) await requireRoom(contract, caller)
    const context = new RequestContext(caller, c.env, {
      // Few operations need it.
      get path() {
        return basePathOf(c.req.url) + fillPath(contract.path, c.req.valid('param'))
      },
      requestId: c.get('requestId'),
      isRepeatable: isRepeatable(contract, c.req.raw.headers),
    })
    const answer = await handle(c, context)
    // A proxy that compresses or rewrites a file breaks its ranges and its digest.
    if ('mediaTypes' in contract.success) c.set('cacheControl', 'private, no-cache, no-transform')
    if ('notModified' in answer) return c.body(null, 304, answer.headers)
    if ('content' in answer) return c.body(answer.content, answer.isPartial ? 206 : 200, answer.headers)
    if (answer.location === undefined) return c.json(answer.body, contract.success.status, answer.headers)
    return c.json(answer.body, 201, { ...answer.headers, Location: answer.location })
  }
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

/** Where the path of an absolute URL begins. */
export function startOfPath(url: string): number {
  return url.indexOf('/', url.indexOf('://') + 3)
}

/** The part of the URL's path before `/v1/`: the prefix, if the client used it. */
function basePathOf(url: string): string {
  const start = startOfPath(url)
  return url.slice(start, url.indexOf('/v1/', start))
}

function fillPath(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params[name])))
}

/** An invalid key is told that first, so the problem is thrown after the key was looked up. */
function validate(
  target: 'param' | 'query' | 'header',
  schema: z.ZodMiniObject,
  isSecret = false,
): MiddlewareHandler<OperationEnvironment> {
  return zValidator(target, schema, async (result, c) => {
    if (result.success) return
    const { data, error } = result
    const noun = target === 'query' ? 'query parameter' : undefined
    throw await c.get('caller').inputError(describeProblems(error.issues, { schema, data, isSecret, noun }))
  })
}

/** @throws {ApiError} 400 if the path or the query is not percent-encoded UTF-8. */
async function requireDecodable(c: Context<OperationEnvironment>, isSecret = false): Promise<void> {
  if (!c.req.url.includes('%')) return
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
