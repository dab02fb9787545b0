/** The app: middleware in order, every operation, and the responses for unknown paths, other methods and failures. */

import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { cors } from 'hono/cors'
import { HonoBase as Hono } from 'hono/hono-base'
import { TrieRouter } from 'hono/router/trie-router'
import { issuesAccessTokens, mcpResource, withApiKey } from './access/access-token.ts'
import { Caller, type CallerScope } from './access/caller.ts'
import { isLimiting, REQUEST_POLICY } from './access/rate-limit.ts'
import { BOOKMARK } from './access/replica.ts'
import { isFull, isUnavailable } from './db/failures.ts'
import type { Environment } from './environment.ts'
import { ApiError, errorResponse, failure, internalError, RETRY_LATER, unavailable } from './errors.ts'
import { health } from './health.ts'
import { needsLookUp, readBytes, requireLengthWithin, requireUncompressed } from './http/body.ts'
import { closestPath } from './http/closest.ts'
import { matchesEntityTag } from './http/conditional.ts'
import type { HonoEnvironment } from './http/context.ts'
import { documents503, noRoom } from './http/full-database.ts'
import { mount, startOfPath } from './http/mount.ts'
import { describeProblem, describeSent, describeSize } from './http/problems.ts'
import { logRequest } from './http/request-log.ts'
import { operations } from './operations.ts'

/** A deployment serves the same paths at its origin and under this prefix. */
const PREFIX = '/api/public-api'

/** Well above what clients of this service send. */
const HEADERS_LIMIT_BYTES = 16 * 1024

/** The most bytes of a request for `/mcp`: a tool stores a session file. */
const MCP_BODY_LIMIT_BYTES = 4 * 2 ** 20

/** Each forwarded request for `/mcp` makes at least one request to the API, which looks up and counts its key. */
const MCP_CALLER: CallerScope = { scope: null, isCountedByItsCalls: true }

/** Who may send `/mcp` a large body: the look-up of its key and the reading of the body are counted too. */
const MCP_LARGE_CALLER: CallerScope = { scope: null }

/** Where clients look for the metadata of a resource (RFC 9728), with its path behind it. */
const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'

/** Responses are data: a browser never runs, frames or sniffs them. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
const SECURITY_HEADERS = Object.entries({
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
})

/** The home page and the guides have styles of their own and load nothing. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The reference page loads from its own origin only. Its viewer adds inline styles, but no inline script. */
const VIEWER_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page of claim links runs its own script, which sends the link's token to its own origin. */
const CLAIM_POLICY = `${PAGE_POLICY}; script-src 'self'; connect-src 'self'`

/** Static files, written by scripts/generate/pages.ts. */
const ASSETS = ['/openapi.json', '/llms.txt', '/llms-full.txt', '/docs', '/docs/:file']

/** A script whose name has a hash of its content. */
const HASHED = /-[0-9a-f]{16}\.js$/

/** True for an origin in the setting, which may have spaces around each. */
function isAllowedOrigin(origin: string, { CORS_ORIGINS = '' }: Pick<Environment, 'CORS_ORIGINS'>): boolean {
  return CORS_ORIGINS.split(',').some((allowed) => allowed.trim() === origin)
}

/**
 * True for pages of the service itself. With http, only names of this machine count: a website can make a name of its own
 * mean this machine (DNS rebinding), and its pages then have the origin that the request names.
 */
function isOwnOrigin(origin: string, { url }: Request): boolean {
  const { origin: own, protocol, hostname } = new URL(url)
  return origin === own && (protocol === 'https:' || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
}

/**
 * Pages of every origin may find out how to connect to `/mcp`, and read why it refuses them. It refuses pages of origins that
 * are not in the setting.
 */
const isOpenToPages = (path: string) => path === '/mcp' || path.startsWith(RESOURCE_METADATA)

/** Lets pages on the configured origins call the service and read the headers of its responses. */
const allowOrigins = cors({
  origin: (origin, c) => (isOpenToPages(c.req.path) || isAllowedOrigin(origin, c.env) ? origin : null),
  allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowHeaders: [
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'If-Match',
    'If-None-Match',
    'If-Range',
    'MCP-Protocol-Version',
    'Mcp-Method',
    'Mcp-Name',
    'Range',
    BOOKMARK,
  ],
  exposeHeaders: [
    'Content-Range',
    'Error-Code',
    'ETag',
    'Location',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'WWW-Authenticate',
    BOOKMARK,
    'X-Request-Id',
  ],
  maxAge: 86_400,
})

export function createApp(): Hono<HonoEnvironment> {
  // RegExpRouter refuses `/v1/runs/claim` beside `/v1/runs/:runId/renew`.
  const app = new Hono<HonoEnvironment>({ getPath: pathOf, router: new TrieRouter() })

  app.use(async (c, next) => {
    c.set('requestId', crypto.randomUUID())
    await next()
    const { headers } = c.res
    headers.set('X-Request-Id', c.get('requestId'))
    const cacheControl = c.get('cacheControl') ?? (headers.has('ETag') ? 'private, no-cache' : 'no-store')
    headers.set('Cache-Control', cacheControl)
    headers.set('Content-Security-Policy', c.get('contentPolicy') ?? DATA_POLICY)
    for (const [name, value] of SECURITY_HEADERS) headers.set(name, value)
    const caller = c.get('caller')
    if (caller && isLimiting(c.env) && !headers.has('RateLimit-Policy')) {
      headers.set('RateLimit-Policy', REQUEST_POLICY)
    }
    const bookmark = caller?.bookmark
    if (bookmark) headers.set(BOOKMARK, bookmark)
    logRequest(c)
  })
  app.use((c, next) => {
    const isOfPage = c.env.CORS_ORIGINS || (isOpenToPages(c.req.path) && c.req.header('Origin') !== undefined)
    return isOfPage ? allowOrigins(c, next) : next()
  })
  app.use((c, next) => {
    const bytes = sizeOf(c.req.raw.headers)
    if (bytes > HEADERS_LIMIT_BYTES) {
      const sent = `${bytes} bytes`
      const problem = { wrong: 'are too large', sent, allowed: `up to ${describeSize(HEADERS_LIMIT_BYTES)}` }
      throw new ApiError(failure('headers_too_large', describeProblem('headers', problem)))
    }
    return next()
  })

  for (const operation of operations) mount(app, operation)
  app.get('/health', health)
  app.use('/mcp', announceAuthorizationServer)
  app.post('/mcp', forwardToMcp)
  for (const path of ['', '/mcp']) app.get(`${RESOURCE_METADATA}${path}`, describeMcpResource)
  app.get('/feeds/:token/.well-known/agent-skills/:file', serveFeed)
  app.get('/claim', serveClaimPage)
  app.post('/claim', claim)
  app.get('/', serveHome)
  for (const path of ASSETS) app.get(path, (c) => serveAsset(c, c.req.path))
  // The links of a page are relative, so a page has one address.
  app.get(PREFIX, (c) => c.redirect('public-api/', 308))
  app.get('/docs/', (c) => c.redirect('../docs', 308))
  app.get('/console', (c) => (c.env.CONSOLE_URL ? c.redirect(new URL(c.env.CONSOLE_URL), 302) : c.notFound()))

  let patterns: readonly RoutePattern[] | undefined
  app.notFound((c) => {
    const { method, path } = c.req
    patterns ??= patternsOf(app)
    const methods = patterns.flatMap((route) => (route.pattern.test(path) ? route.methods : []))
    if (methods.length === 0 || methods.includes(method)) {
      const others = patterns.filter(({ pattern }) => !pattern.test(path)).map(({ template }) => template)
      const base = new URL(c.req.url).pathname.startsWith(`${PREFIX}/`) ? PREFIX : ''
      const meant = closestPath(path, others)
      const advice = meant === undefined ? '' : ` Did you mean ${base}${meant}?`
      return errorResponse(
        c,
        new ApiError(failure('path_not_found', `No such path.${advice} See ${base}/openapi.json.`)),
      )
    }
    const allowed = methods.join(', ')
    const problem = { wrong: 'is not allowed for this path', sent: describeSent(method), allowed }
    return errorResponse(
      c,
      new ApiError(failure('method_not_allowed', describeProblem('method', problem)), { Allow: allowed }),
    )
  })
  app.onError((error, c) => {
    if (error instanceof ApiError) return errorResponse(c, error)
    if (isFull(error)) return errorResponse(c, noRoom(c.get('contract')))
    if (!isUnavailable(error)) return errorResponse(c, internalError())
    return errorResponse(c, documents503(c.get('contract')) ? unavailable() : internalError(RETRY_LATER))
  })
  return app
}

/**
 * Forwards a request with a well-formed API key to the MCP Worker, which answers it once the API has accepted the key.
 * The protocol requires that the origin of a page is checked, against websites that reach a local server under a name
 * of their own.
 */
async function forwardToMcp(c: Context<HonoEnvironment>): Promise<Response> {
  const { MCP } = c.env
  if (!MCP) return c.notFound()
  const origin = c.req.header('Origin')
  if (origin !== undefined && !isOwnOrigin(origin, c.req.raw) && !isAllowedOrigin(origin, c.env)) {
    const problem = {
      wrong: 'is not allowed',
      sent: describeSent(origin),
      allowed: 'the origin of the service and those in CORS_ORIGINS',
    }
    throw new ApiError(failure('origin_forbidden', describeProblem('Origin', problem)))
  }
  requireLengthWithin(MCP_BODY_LIMIT_BYTES, c.req.raw)
  const callerScope = needsLookUp(c.req.raw) ? MCP_LARGE_CALLER : MCP_CALLER
  const request = await withApiKey(c.req.raw, c.env)
  const caller = await Caller.open(request, c.env, c.executionCtx, callerScope)
  c.set('caller', caller)
  await requireUncompressed(request, caller)
  const body = await readBytes(request, MCP_BODY_LIMIT_BYTES, caller)
  const response = await MCP.fetch(new Request(request, { body }))
  return new Response(response.body, response)
}

/** Tells a client that is refused where it finds the authorization server (RFC 9728, section 5.1). */
async function announceAuthorizationServer(c: Context<HonoEnvironment>, next: () => Promise<void>): Promise<void> {
  await next()
  const challenge = c.res.headers.get('WWW-Authenticate')
  if (challenge === null || !issuesAccessTokens(c.env)) return
  const metadata = `resource_metadata="${new URL(`${RESOURCE_METADATA}/mcp`, c.req.url)}"`
  c.res.headers.set('WWW-Authenticate', challenge === 'Bearer' ? `Bearer ${metadata}` : `${challenge}, ${metadata}`)
}

/** Serves the metadata of `/mcp` as an OAuth resource (RFC 9728). */
function describeMcpResource(c: Context<HonoEnvironment>): Response | Promise<Response> {
  if (!issuesAccessTokens(c.env)) return c.notFound()
  return c.json({
    resource: mcpResource(c.req.raw),
    authorization_servers: [new URL(c.env.CONSOLE_URL).origin],
    bearer_methods_supported: ['header'],
    resource_name: 'Workspace API',
  })
}

/** Serves a feed of skills. Like the resources, it is loaded on first use. */
async function serveFeed(c: Context<HonoEnvironment>): Promise<Response> {
  const { serveSkillFeed } = await import('./resources/skill-feeds/serve.ts')
  return serveSkillFeed(c)
}

/** Serves the page of claim links. It says nothing about a link: only a person who presses its button uses one. */
async function serveClaimPage(c: Context<HonoEnvironment>): Promise<Response> {
  const response = await serveAsset(c, '/claim')
  c.set('contentPolicy', CLAIM_POLICY)
  c.set('cacheControl', 'no-store')
  return response
}

/** Uses a claim link. Like the resources, it is loaded on first use. */
async function claim(c: Context<HonoEnvironment>): Promise<Response> {
  const { useClaimLink } = await import('./resources/claim-links/claim.ts')
  return useClaimLink(c)
}

/** Serves the home page to browsers, and its links as JSON to other clients. */
async function serveHome(c: Context<HonoEnvironment>): Promise<Response> {
  const supports = ['application/json', 'text/html']
  const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
  const response = await serveAsset(c, type === 'text/html' ? '/' : '/index.json')
  response.headers.append('Vary', 'Accept')
  return response
}

/** Serves a file of `public/`. */
async function serveAsset(c: Context<HonoEnvironment>, path: string): Promise<Response> {
  const request = new Request(new URL(path, c.req.url), c.req.raw)
  // The assets compare it with one entity tag.
  request.headers.delete('If-None-Match')
  const asset = await c.env.ASSETS.fetch(request)
  // The file is missing, or the assets redirect to another spelling of its path.
  if (!asset.ok) return c.notFound()
  // For 304 too, because its headers replace the headers in the browser's cache.
  if (path === '/docs') c.set('contentPolicy', VIEWER_POLICY)
  else if (!path.includes('.')) c.set('contentPolicy', PAGE_POLICY)
  if (HASHED.test(path)) c.set('cacheControl', 'public, max-age=31536000, immutable')
  const entityTag = asset.headers.get('ETag')?.replace(/^W\//, '')
  const isCurrent = entityTag !== undefined && matchesEntityTag(c.req.header('If-None-Match'), entityTag)
  return isCurrent ? new Response(null, { status: 304, headers: asset.headers }) : new Response(asset.body, asset)
}

/** The bytes of ASCII names and values. */
function sizeOf(headers: Headers): number {
  let size = 0
  for (const [name, value] of headers) size += name.length + value.length
  return size
}

/**
 * The path as it was sent, without the prefix. It is decoded after routing, so that an encoded slash stays inside its
 * segment.
 */
function pathOf(request: Request): string {
  // Each access to `request.url` copies it.
  const { url } = request
  const start = startOfPath(url)
  const end = url.slice(start).search(/[?#]/)
  const path = end < 0 ? url.slice(start) : url.slice(start, start + end)
  return path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path
}

interface RoutePattern {
  readonly pattern: RegExp
  /** What the OpenAPI document calls it: `/v1/projects/{projectId}`. */
  readonly template: string
  readonly methods: readonly string[]
}

/** The paths of every route but the middleware, for requests that no route answers. */
function patternsOf(app: Hono<HonoEnvironment>): RoutePattern[] {
  return app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ path, method }) => ({
      pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
      template: path.replaceAll(/:(\w+)/g, '{$1}'),
      methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
    }))
}
