import { request } from '../support/api.ts'
import type { Row, Rows } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const FILTERS = 'types=project.*,skill.created&resource=project/website&projectId=website'

/** Two events. */
async function addEvents(workspace: Workspace): Promise<void> {
  for (const name of ['Website', 'Shop']) {
    await request('PUT', '/v1/projects/website', { key: await workspace.addKey(), json: { name } })
  }
}

const withQuery = (query: (workspace: Workspace) => string): Row['variations'][string] => ({
  apply: async (workspace, example) => ({ ...example, path: `${example.path}&${query(workspace)}` }),
})

export const eventRows: Rows = {
  listEvents: {
    async prepare(workspace) {
      await addEvents(workspace)
      return { path: '/v1/events?limit=1', ids: [] }
    },
    namesNothing: true,
    idle: true,
    variations: {
      'it has filters': withQuery(({ userId }) => `${FILTERS}&userId=${userId}`),
      'it begins at the end': withQuery(() => 'after=now'),
      'the next event is too old': {
        status: 410,
        async apply(workspace, example) {
          await workspace.addEvents(['2020-01-01T00:00:00.000Z'])
          return { ...example, path: `${example.path.replace('&after=now', '')}&after=00000000000` }
        },
      },
    },
  },

  listAuditEvents: {
    async prepare(workspace) {
      await addEvents(workspace)
      return { path: '/v1/audit-events?limit=1', ids: [] }
    },
    outOfReach: 403,
    reachesAll: true,
    namesNothing: true,
    idle: true,
    variations: {
      'it has a range of times and filters': withQuery(
        ({ userId }) => `since=2020-01-01T00:00:00.000Z&until=2999-01-01T00:00:00.000Z&${FILTERS}&userId=${userId}`,
      ),
    },
  },
}
