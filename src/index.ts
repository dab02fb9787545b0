/** The Worker's entry. */
import { createApp } from './app.ts'
import { sweepDoomedObjects } from './doomed-objects/sweep.ts'
import type { Environment } from './environment.ts'

const app = createApp()

export default {
  fetch: app.fetch,
  scheduled: (controller, environment) => sweepDoomedObjects(environment, new Date(controller.scheduledTime)),
} satisfies ExportedHandler<Environment>
