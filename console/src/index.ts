/**
 * The console Worker: the pages of the console, and the session of the person who looks at them. A session is an API
 * key of the kind `session`, whose token is in a cookie that no script can read. The Worker holds no data: the API
 * decides each request.
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie } from 'hono/cookie'
import type { Data } from '../../client/src/index.ts'
import { loginRoutes } from './command-login/routes.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { showPage } from './page.ts'
import { RENDER_POLICY, SECURITY_HEADERS } from './policies.ts'
import { signInRoutes } from './providers/routes.ts'
import {
  addressOf,
  apiUrl,
  COOKIE,
  COOKIE_OPTIONS,
  type ConsoleContext,
  type Environment,
  endKey,
  headersTo,
  refuse,
  sessionToken,
  setSession,
} from './session.ts'

export { Tokens } from './oauth/tokens.ts'

/** The API sees the caller's address, but neither the cookie nor what browsers add for other purposes. */
const FORWARDED_HEADERS = [
  'Accept',
  'CF-Connecting-IP',
  'Content-Length',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Range',
  'X-Bookmark',
]

const ENTERED_PATHS = ['/v1/me', '/v1/api-keys', '/v1/api-keys/:apiKeyId/rotate', '/v1/skill-feeds'].map(
  (path) => `/api/entered${path}`,
)

/** The `Cache-Control` of a file whose name has a hash of its content. */
const HASHED = 'public, max-age=31536000, immutable'

const SIGN_IN_LIMIT_BYTES = 4096

const app = new Hono<{ Bindings: Environment }>()

app.use(async (c, next) => {
  await next()
  for (const [name, value] of SECURITY_HEADERS) if (!c.res.headers.has(name)) c.res.headers.set(name, value)
})

// Another site, or another port of this host, can send the cookie along, but cannot pretend to be this origin.
for (const path of ['/api/*', '/session', '/session/*', '/oauth/consent', '/login/allow']) {
  app.use(path, async (c, next) => {
    if (c.req.header('Sec-Fetch-Site') === 'same-origin') return next()
    return refuse(c, 403, 'Only pages of the console can call this path. Other programs call the API with an API key.')
  })
}

app.route('/', loginRoutes)
app.route('/', oauthRoutes)
app.route('/', signInRoutes)

app.post('/session', bodyLimit({ maxSize: SIGN_IN_LIMIT_BYTES }), async (c) => {
  if (c.env.SIGN_IN_WITH_API_KEY === 'off') return refuse(c, 403, 'This console does not sign in with API keys.')
  const { apiKey } = await c.req.json<{ apiKey?: unknown }>().catch(() => ({ apiKey: undefined }))
  if (typeof apiKey !== 'string' || !/^[!-~]{1,200}$/.test(apiKey)) {
    return refuse(c, 400, 'apiKey is not an API key; allowed: wsk_ and 43 letters, digits, "-" and "_".')
  }
  const created = await c.env.API.fetch(apiUrl('/v1/me/sessions'), {
    method: 'POST',
    headers: headersTo(c, apiKey),
  })
  if (!created.ok) return new Response(created.body, created)
  setSession(c, await created.json<Data<'createApiKeySession'>>())
  return c.body(null, 204)
})

app.delete('/session', async (c) => {
  const token = sessionToken(c)
  if (token !== undefined) {
    const deleted = await endKey(c.env.API, token, addressOf(c))
    // A session that has ended already is what the person wants. Otherwise the cookie stays for another attempt.
    if (!deleted.ok && deleted.status !== 401) {
      const { error } = await deleted.json<{ error: string }>()
      return refuse(c, 502, `You are still signed in, because the session could not be revoked: ${error}`)
    }
  }
  deleteCookie(c, COOKIE, COOKIE_OPTIONS)
  return c.body(null, 204)
})

// An HTML file of an agent: without scripts, without requests, and of an origin of its own.
app.get('/api/render/v1/sessions/:sessionId/files/:fileId/content', async (c) => {
  const response = await forward(c, new URL(c.req.url).pathname.replace('/api/render', ''))
  if (!response.ok) return response
  const headers = new Headers(response.headers)
  headers.set('Content-Type', 'text/html; charset=utf-8')
  headers.set('Content-Security-Policy', RENDER_POLICY)
  headers.delete('Content-Disposition')
  // The length changes.
  headers.delete('Content-Length')
  // A byte order mark of UTF-16 would outdo the charset, and the rewriter would see other elements than the browser.
  const text = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new TextEncoderStream())
  return withoutConnections.transform(new Response(text, { status: response.status, headers }))
})

// A user does not say whether there is a picture, and browsers complain about each 404. So no picture is 204, and no
// user, whom a list may still show.
app.get('/api/picture/v1/users/:userId/profile-picture', async (c) => {
  const response = await forward(c, new URL(c.req.url).pathname.replace('/api/picture', ''))
  return response.status === 404 ? c.body(null, 204) : response
})

app.all('/api/v1/*', (c) => {
  const { pathname, search } = new URL(c.req.url)
  return forward(c, `${pathname.slice('/api'.length)}${search}`)
})

// With an API key that the person enters for one request, because a session makes no key or feed that outlives it.
app.on(['GET', 'POST'], ENTERED_PATHS, (c) => {
  const [, apiKey] = /^Bearer ([!-~]{1,200})$/.exec(c.req.header('Authorization') ?? '') ?? []
  if (apiKey === undefined) return refuse(c, 401, 'Enter an API key.')
  return send(c, new URL(c.req.url).pathname.slice('/api/entered'.length), apiKey)
})

app.on(['POST', 'PUT', 'PATCH', 'DELETE'], '*', (c) => refuse(c, 405, 'This path has pages only.'))

app.get('*', async (c) => {
  const { pathname } = new URL(c.req.url)
  if (/^\/(?:api|session|oauth|\.well-known)(?:\/|$)/.test(pathname)) return refuse(c, 404, 'No such path.')
  // An ID, which is the last part of an address, may look like the name of a file: grace@example.com.
  if (/^\/(?:assets\/.*|[^/]+)\.\w+$/.test(pathname)) {
    const file = await c.env.ASSETS.fetch(c.req.raw)
    const response = new Response(file.body, file)
    // Its name changes with its content. A missing one may come with the next deployment.
    if (pathname.startsWith('/assets/')) response.headers.set('Cache-Control', file.status < 400 ? HASHED : 'no-store')
    return response
  }
  return showPage(c)
})

export default app

/**
 * What the policy does not stop: Chromium opens a connection for `<link rel="preconnect">`, and for a frame or a link
 * before it refuses to follow it, so another server would know that somebody looks at the file. The rewriter sees no
 * elements within `<noscript>`, and an animation can set the address of a link.
 */
const withoutConnections = new HTMLRewriter()
  .on('base, link, iframe, frame, object, embed, noscript, set, animate', {
    element: (element) => {
      element.remove()
    },
  })
  .on('a, area', {
    element: (element) => {
      for (const name of ['href', 'xlink:href']) {
        if (element.getAttribute(name)?.startsWith('#') === false) element.removeAttribute(name)
      }
    },
  })

/** Sends the request of a page to the API, with the token of the session. */
async function forward(c: ConsoleContext, path: string): Promise<Response> {
  const token = sessionToken(c)
  if (token === undefined) return refuse(c, 401, 'You are signed out. Sign in again.')
  const response = await send(c, path, token)
  // The session of a suspended organization continues when it is resumed.
  const isOver = response.status === 401 && response.headers.get('Error-Code') !== 'organization_suspended'
  if (isOver) deleteCookie(c, COOKIE, COOKIE_OPTIONS)
  return c.newResponse(response.body, response)
}

async function send(c: ConsoleContext, path: string, token: string): Promise<Response> {
  const { method, body } = c.req.raw
  const headers = headersTo(c, token, FORWARDED_HEADERS)
  const response = await c.env.API.fetch(apiUrl(path), { method, headers, body, redirect: 'manual' })
  return new Response(response.body, response)
}
