/**
 * The Worker's entries: requests, the tick and the queues. Their code is loaded on first use, so that no entry waits
 * for the start-up of another.
 */
import { createApp } from './app.ts'
import type { Environment, Message } from './environment.ts'

export { ProjectEnvironments } from './resources/environment-variables/project-environments.ts'
export { SignIn } from './sign-in/entrypoint.ts'

const app = createApp()

export default {
  fetch: app.fetch,
  async scheduled(controller, environment) {
    const { tickAll } = await import('./scheduled.ts')
    await tickAll(environment, new Date(controller.scheduledTime))
  },
  async queue(batch, environment, context) {
    const { deliver } = await import('./deliveries.ts')
    await deliver(batch, environment, context)
  },
} satisfies ExportedHandler<Environment, Message>
