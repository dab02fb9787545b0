import { request } from '../support/api.ts'
import type { Row, Rows } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const PATH = '/v1/run-endpoint'

async function prepareEndpoint(workspace: Workspace) {
  await workspace.addRunEndpoint()
  return { path: PATH, ids: [] }
}

const thereIsNone: Row['variations'] = {
  'there is none': {
    status: 404,
    async apply(workspace, example) {
      await workspace.removeRunEndpoint()
      return example
    },
  },
}

/** It is of all projects. */
const ofAll = { outOfReach: 403, reachesAll: true } as const

export const runEndpointRows: Rows = {
  putRunEndpoint: {
    prepare: async () => ({ path: PATH, json: { url: 'https://hooks.example.com/runs' }, ids: [] }),
    ...ofAll,
    namesNothing: true,
    looksUpFirst: true,
    variations: {
      'there is one': {
        async apply(workspace, example) {
          await workspace.addRunEndpoint('https://hooks.example.com/before')
          return example
        },
      },
      'the URL is not public': {
        status: 400,
        apply: async (_, example) => ({ ...example, json: { url: 'https://localhost/runs' } }),
      },
    },
  },

  retrieveRunEndpoint: { prepare: prepareEndpoint, ...ofAll, variations: thereIsNone },

  deleteRunEndpoint: { prepare: prepareEndpoint, ...ofAll, variations: thereIsNone },

  rotateRunEndpoint: {
    async prepare(workspace) {
      const { path, ...rest } = await prepareEndpoint(workspace)
      return { path: `${path}/rotate`, json: { overlapSeconds: 60 }, ...rest }
    },
    ...ofAll,
    looksUpFirst: true,
    variations: {
      ...thereIsNone,
      'the secret overlaps with the one before': {
        status: 409,
        async apply(workspace, example) {
          await request('POST', example.path, { key: await workspace.addKey(), json: {} })
          return example
        },
      },
    },
  },
}
