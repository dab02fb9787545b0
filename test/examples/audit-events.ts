import { request } from '../support/api.ts'
import type { Rows } from '../support/example.ts'

export const auditEventRows: Rows = {
  listAuditEvents: {
    async prepare(workspace) {
      for (const name of ['Website', 'Shop']) {
        await request('PUT', '/v1/projects/website', { key: await workspace.addKey(), json: { name } })
      }
      return { path: '/v1/audit-events?limit=1', ids: [] }
    },
    outOfReach: 403,
    reachesAll: true,
    namesNothing: true,
    idle: true,
    variations: {
      'it has a range of times and filters': {
        apply: async (workspace, example) => ({
          ...example,
          path: `${example.path}&since=2020-01-01T00:00:00.000Z&until=2999-01-01T00:00:00.000Z&operation=putProject&userId=${workspace.userId}`,
        }),
      },
    },
  },
}
