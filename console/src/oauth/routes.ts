/** The paths of the authorization server. Their code is loaded on first use. */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { limitAddress, TOO_MANY } from '../rate-limit.ts'
import type { ConsoleContext, Environment } from '../session.ts'

const BODY_LIMIT_BYTES = 64 * 1024
/** Anybody can register an app, which KV keeps for 30 days. */
const REGISTRATION_LIMIT_BYTES = 4096

export const oauthRoutes = new Hono<{ Bindings: Environment }>()

const TOO_MANY_OF_APP = { error: 'temporarily_unavailable', error_description: TOO_MANY }
for (const path of ['/oauth/token', '/oauth/register']) oauthRoutes.use(path, limitAddress(path, TOO_MANY_OF_APP))
oauthRoutes.use('/oauth/consent', limitAddress('/oauth/consent', { error: TOO_MANY }))

const serveProtocol = async (c: ConsoleContext) => (await import('./protocol.ts')).serveProtocol(c)

oauthRoutes.all('/.well-known/oauth-authorization-server', serveProtocol)
oauthRoutes.all('/oauth/token', bodyLimit({ maxSize: BODY_LIMIT_BYTES }), serveProtocol)
const limitRegistration = bodyLimit({
  maxSize: REGISTRATION_LIMIT_BYTES,
  onError: (c) => {
    const error_description = `The metadata of the app is too long; allowed: up to ${REGISTRATION_LIMIT_BYTES} bytes.`
    return c.json({ error: 'invalid_client_metadata', error_description }, 413)
  },
})
oauthRoutes.all('/oauth/register', limitRegistration, serveProtocol)

// The page at /authorize asks for these, because a request from another site does not have the cookie of the session.
oauthRoutes.get('/oauth/consent', async (c) => (await import('./consent.ts')).describe(c))
oauthRoutes.post('/oauth/consent', bodyLimit({ maxSize: BODY_LIMIT_BYTES }), async (c) =>
  (await import('./consent.ts')).decide(c),
)
