/** How the console Worker signs people in, and connects apps for them: through a service binding, never through HTTP. */
import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Environment } from '../environment.ts'
import type { App, ConnectedApp, Exchange, Person, Refused, SignInResult, SignInService } from './types.ts'

/**
 * In the wrangler.toml of the console Worker:
 *
 *     [[services]]
 *     binding = "SIGN_IN"
 *     service = "workspace-api"
 *     entrypoint = "SignIn"
 */
export class SignIn extends WorkerEntrypoint<Environment> implements SignInService {
  async signIn(organizationId: string, person: Person): Promise<SignInResult> {
    const { signIn } = await import('./sign-in.ts')
    return signIn(this.env, this.ctx, organizationId, person)
  }

  async connectApp(sessionToken: string, app: App): Promise<ConnectedApp> {
    const { connectApp } = await import('./connect-app.ts')
    return connectApp(this.env, this.ctx, sessionToken, app)
  }

  async exchange(apiKey: string, address: string): Promise<Exchange | Refused> {
    const { exchange } = await import('./exchange.ts')
    return exchange(this.env, this.ctx, apiKey, address)
  }

  async undoExchange(apiKey: string, address: string): Promise<void> {
    const { undoExchange } = await import('./exchange.ts')
    await undoExchange(this.env, this.ctx, apiKey, address)
  }
}
