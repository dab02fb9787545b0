/** The paths of the authorization server. Their code is loaded on first use. */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { exceedsLimit, RETRY_SECONDS, TOO_MANY } from '../rate-limit.ts'
import type { ConsoleContext, Environment } from '../session.ts'

const BODY_LIMIT_BYTES = 64 * 1024

export const oauthRoutes = new Hono<{ Bindings: Environment }>()

for (const path of ['/oauth/token', '/oauth/register', '/oauth/consent']) {
  oauthRoutes.use(path, async (c, next) => {
    if (!(await exceedsLimit(c, path))) return next()
    const isPage = path === '/oauth/consent'
    const body = isPage ? { error: TOO_MANY } : { error: 'temporarily_unavailable', error_description: TOO_MANY }
    return c.json(body, 429, { 'Retry-After': String(RETRY_SECONDS) })
  })
}

const serveProtocol = async (c: ConsoleContext) => (await import('./protocol.ts')).serveProtocol(c)

oauthRoutes.all('/.well-known/oauth-authorization-server', serveProtocol)
for (const path of ['/oauth/token', '/oauth/register']) {
  oauthRoutes.all(path, bodyLimit({ maxSize: BODY_LIMIT_BYTES }), serveProtocol)
}

// The page at /authorize asks for these, because a request from another site does not have the cookie of the session.
oauthRoutes.get('/oauth/consent', async (c) => (await import('./consent.ts')).describe(c))
oauthRoutes.post('/oauth/consent', bodyLimit({ maxSize: BODY_LIMIT_BYTES }), async (c) =>
  (await import('./consent.ts')).decide(c),
)
