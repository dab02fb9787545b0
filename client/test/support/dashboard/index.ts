/** A dashboard, as small as can be: a second Worker, which calls the service with the client, by a service binding. */
import { createWorkspaceClient } from '../../../src/index.ts'

interface Environment {
  readonly WORKSPACE: Fetcher
}

export default {
  async fetch(request, { WORKSPACE }) {
    const { baseUrl, apiKey, agentId } = await request.json<Record<'baseUrl' | 'apiKey' | 'agentId', string>>()
    const client = createWorkspaceClient(baseUrl, apiKey, { fetch: (call) => WORKSPACE.fetch(call) })
    const params = { path: { agentId } }
    const created = await client.POST('/v1/agents/{agentId}/schedules', {
      params,
      body: { cron: '0 6 * * *' },
    })
    const listed = await client.GET('/v1/agents/{agentId}/schedules', { params })
    return Response.json({
      created: created.data,
      listed: listed.data?.items,
      error: listed.error,
      status: listed.response.status,
      requestId: listed.response.headers.get('X-Request-Id'),
    })
  },
} satisfies ExportedHandler<Environment>
