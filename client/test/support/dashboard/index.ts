/** A dashboard, as small as can be: a second Worker, which calls the service with the client, by a service binding. */
import { Workspace, WorkspaceError } from '../../../src/index.ts'

interface Environment {
  readonly WORKSPACE: Fetcher
}

export default {
  async fetch(request, { WORKSPACE }) {
    const { baseUrl, apiKey, agentId } = await request.json<Record<'baseUrl' | 'apiKey' | 'agentId', string>>()
    const workspace = new Workspace({ url: baseUrl, apiKey, fetch: (call) => WORKSPACE.fetch(call) })
    try {
      const created = await workspace.agents.schedules.create(agentId, { cron: '0 6 * * *' })
      const { data, response } = await workspace.agents.schedules.list(agentId).page().withResponse()
      return Response.json({
        created,
        listed: data.items,
        status: response.status,
        requestId: response.headers.get('X-Request-Id'),
      })
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error
      const { message, status, requestId } = error
      return Response.json({ error: message, status, requestId })
    }
  },
} satisfies ExportedHandler<Environment>
