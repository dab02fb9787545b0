/** The Worker's entry. */
import { createApp } from './app.ts'
import { deliverRuns } from './delivery/deliver.ts'
import type { RunMessage } from './delivery/message.ts'
import type { Environment } from './environment.ts'
import { tick } from './tick/tick.ts'

export { ProjectEnvironments } from './environment-variables/project-environments.ts'

const app = createApp()

export default {
  fetch: app.fetch,
  scheduled: (controller, environment) => tick(environment, new Date(controller.scheduledTime)),
  queue: deliverRuns,
} satisfies ExportedHandler<Environment, RunMessage>
