/**
 * The Worker's entries: requests, the tick and the queues. Their code is loaded on first use, so that no entry waits
 * for the start-up of another.
 */
import { createApp } from './app.ts'
import type { Environment, Message } from './environment.ts'

export { ProjectEnvironments } from './resources/environment-variables/project-environments.ts'
export { SignIn } from './sign-in/entrypoint.ts'

const app = createApp()

/** A clock may be behind that of the Cron Trigger. */
const MAX_AHEAD_MS = 60_000

export default {
  fetch: app.fetch,
  async scheduled(controller, environment) {
    const { tickAll } = await import('./scheduled.ts')
    // `wrangler dev` takes the time from the URL, and pages of every site can send such a request. Later times delete data.
    const latest = Date.now() + MAX_AHEAD_MS
    await tickAll(environment, new Date(Math.min(controller.scheduledTime, latest)))
  },
  async queue(batch, environment, context) {
    const { deliver } = await import('./deliveries.ts')
    await deliver(batch, environment, context)
  },
} satisfies ExportedHandler<Environment, Message>
