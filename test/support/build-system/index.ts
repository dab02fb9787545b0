/** A build system, as small as can be: a second Worker, which answers with the variables that it reads. */
import type { ProjectEnvironments } from '../../../src/resources/environment-variables/project-environments.ts'

interface Environment {
  readonly ENVIRONMENTS: Service<typeof ProjectEnvironments>
}

export default {
  async fetch(request, { ENVIRONMENTS }) {
    const { organizationId, projectId } = await request.json<{ organizationId: string; projectId: string }>()
    try {
      return Response.json({ variables: await ENVIRONMENTS.read(organizationId, projectId) })
    } catch (error) {
      return Response.json({ failure: (error as Error).message }, { status: 500 })
    }
  },
} satisfies ExportedHandler<Environment>
