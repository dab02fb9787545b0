/** The app: middleware in order, every operation, and what answers when nothing else does. */

import type { Context } from 'hono'
import { cors } from 'hono/cors'
import { HonoBase as Hono } from 'hono/hono-base'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { BOOKMARK } from './access/replica.ts'
import { isUnavailable } from './db/failures.ts'
import { ApiError, errorResponse, unavailable, unforeseen } from './errors.ts'
import { health } from './health.ts'
import type { HonoEnvironment } from './http/context.ts'
import { mount } from './http/mount.ts'
import { logRequest } from './http/request-log.ts'
import { operations } from './operations.ts'

/** A deployment serves the same paths at its origin and under this prefix (docs/contract.md, Addresses). */
const PREFIX = '/api/public-api'

/** More than any client of this service has to say. */
const HEADERS_LIMIT_BYTES = 16 * 1024

/** Answers are data: nothing in them is ever to run, be framed or be guessed at by a browser. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
const SECURITY_HEADERS = Object.entries({
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
})

/** The reference page reaches its own origin and no other. Its viewer writes styles into it, and no script. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Lets browsers on the origins of the setting call the service, and read what its answers say in headers. */
const allowOrigins = cors({
  origin: (origin, c) => (c.env.CORS_ORIGINS.split(/ *, */).includes(origin) ? origin : null),
  allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowHeaders: [
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'If-None-Match',
    'If-Range',
    'Range',
    BOOKMARK,
  ],
  exposeHeaders: ['Content-Range', 'ETag', 'Location', 'Retry-After', BOOKMARK, 'X-Request-Id'],
  maxAge: 86_400,
})

export function createApp(): Hono<HonoEnvironment> {
  const app = new Hono<HonoEnvironment>({ getPath: pathOf, router: new RegExpRouter() })

  app.use(async (c, next) => {
    c.set('requestId', crypto.randomUUID())
    await next()
    const { headers } = c.res
    headers.set('X-Request-Id', c.get('requestId'))
    headers.set('Cache-Control', headers.has('ETag') ? 'private, no-cache' : 'no-store')
    headers.set('Content-Security-Policy', c.get('isPage') ? PAGE_POLICY : DATA_POLICY)
    for (const [name, value] of SECURITY_HEADERS) headers.set(name, value)
    const bookmark = c.get('caller')?.bookmark
    if (bookmark) headers.set(BOOKMARK, bookmark)
    logRequest(c)
  })
  app.use((c, next) => (c.env.CORS_ORIGINS ? allowOrigins(c, next) : next()))
  app.use(async (c, next) => {
    if (sizeOf(c.req.raw.headers) > HEADERS_LIMIT_BYTES) {
      throw new ApiError(431, `The headers may have at most ${HEADERS_LIMIT_BYTES} bytes.`)
    }
    await next()
  })

  for (const operation of operations) mount(app, operation)
  app.get('/health', health)
  for (const path of ['/openapi.json', '/docs', '/docs/:file']) app.get(path, serveAsset)
  for (const [path, methods] of methodsByPath(app)) {
    app.all(path, () => {
      throw new ApiError(405, `This path answers ${methods.join(', ')} only.`, { Allow: methods.join(', ') })
    })
  }

  app.notFound((c) =>
    errorResponse(c, new ApiError(404, 'There is nothing at this path. /openapi.json lists what there is.')),
  )
  app.onError((error, c) => {
    if (error instanceof ApiError) return errorResponse(c, error)
    const maySay503 = 503 in (c.get('contract')?.errors ?? {})
    return errorResponse(c, maySay503 && isUnavailable(error) ? unavailable() : unforeseen())
  })
  return app
}

/** The file of `public/` that the path names. */
async function serveAsset(c: Context<HonoEnvironment>): Promise<Response> {
  const { path } = c.req
  const asset = await c.env.ASSETS.fetch(new Request(new URL(path, c.req.url), c.req.raw))
  // Else there is none, or it is sent on to another spelling of its path.
  if (!asset.ok && asset.status !== 304) return c.notFound()
  // Also with 304, whose headers take the place of those that a browser has kept.
  c.set('isPage', path === '/docs')
  return new Response(asset.body, asset)
}

/** The bytes of names and values, as far as they are ASCII. */
function sizeOf(headers: Headers): number {
  let size = 0
  for (const [name, value] of headers) size += name.length + value.length
  return size
}

/**
 * The path as it was sent, without the prefix. It is decoded only after the route is known, so that an encoded slash stays
 * inside its segment.
 */
function pathOf(request: Request): string {
  const start = request.url.indexOf('/', request.url.indexOf('://') + 3)
  const end = request.url.slice(start).search(/[?#]/)
  const path = end < 0 ? request.url.slice(start) : request.url.slice(start, start + end)
  return path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path
}

/** The methods of each path. Middleware, which is added to every method, has none. */
function methodsByPath(app: Hono<HonoEnvironment>): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue
    const answered = method === 'GET' ? ['GET', 'HEAD'] : [method]
    methods.set(path, [...(methods.get(path) ?? []), ...answered])
  }
  return methods
}
