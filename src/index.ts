/** The Worker's entry. */
import { createApp } from './app.ts'
import { deliverRuns } from './delivery/consumer.ts'
import type { Environment } from './environment.ts'
import type { RunMessage } from './queue.ts'
import { tick } from './scheduled.ts'

export { ProjectEnvironments } from './resources/environment-variables/project-environments.ts'

const app = createApp()

export default {
  fetch: app.fetch,
  scheduled: (controller, environment) => tick(environment, new Date(controller.scheduledTime)),
  queue: deliverRuns,
} satisfies ExportedHandler<Environment, RunMessage>
