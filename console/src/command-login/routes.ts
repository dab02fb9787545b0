/** The paths of `workspace login`. The page is at /login. Their code is loaded on first use. */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { limitAddress, TOO_MANY } from '../rate-limit.ts'
import type { Environment } from '../session.ts'

const BODY_LIMIT_BYTES = 8 * 1024

export const loginRoutes = new Hono<{ Bindings: Environment }>()

for (const path of ['/login/allow', '/login/token']) {
  loginRoutes.use(path, limitAddress(path, { error: TOO_MANY }))
}
loginRoutes.post('/login/allow', bodyLimit({ maxSize: BODY_LIMIT_BYTES }), async (c) =>
  (await import('./command-login.ts')).allowLogin(c),
)
// Without a cookie: the command calls it.
loginRoutes.post('/login/token', bodyLimit({ maxSize: BODY_LIMIT_BYTES }), async (c) =>
  (await import('./command-login.ts')).exchangeCode(c),
)
