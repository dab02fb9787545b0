/** In the place of the console Worker, where a test needs the service without it: nobody has connected an app. */
import { WorkerEntrypoint } from 'cloudflare:workers'

export class Tokens extends WorkerEntrypoint {
  async apiKeyOf(): Promise<null> {
    return null
  }
}

export default { fetch: () => new Response('No console.', { status: 404 }) }
