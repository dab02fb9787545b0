import { WorkerEntrypoint } from 'cloudflare:workers'
import type { TokenService } from '../../../src/environment.ts'
import type { Environment } from '../session.ts'

/** What the API Worker asks about an access token. Only a service binding reaches it. */
export class Tokens extends WorkerEntrypoint<Environment> implements TokenService {
  async apiKeyOf(resource: string, token: string): Promise<string | null> {
    const { apiKeyOf } = await import('./validate.ts')
    return apiKeyOf(this.env, resource, token)
  }
}
