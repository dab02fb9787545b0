import { expect } from 'vitest'
import { request } from '../support/api.ts'
import { type EventsOf, noEvents, type Row, type Rows } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const PATH = '/v1/run-endpoint'
const RUNS_URL = 'https://hooks.example.com/runs'

const recorded =
  (type: 'run-endpoint.set' | 'run-endpoint.rotated' | 'run-endpoint.deleted'): EventsOf =>
  () => [{ type, path: PATH, id: expect.stringMatching(/^[0-9a-f-]{36}$/) }]

async function prepareEndpoint(workspace: Workspace) {
  await workspace.addRunEndpoint()
  return { path: PATH, ids: [] }
}

const hasNoRunEndpoint: Row['variations'] = {
  'there is no run endpoint': {
    status: 404,
    async apply(workspace, example) {
      await workspace.removeRunEndpoint()
      return example
    },
  },
}

/** The run endpoint is organization-wide. */
const organizationWide = { outOfReach: 403, reachesAll: true } as const

export const runEndpointRows: Rows = {
  putRunEndpoint: {
    prepare: async () => ({ path: PATH, json: { url: RUNS_URL }, ids: [] }),
    ...organizationWide,
    namesNothing: true,
    looksUpFirst: true,
    events: recorded('run-endpoint.set'),
    variations: {
      'there is a run endpoint': {
        exists: true,
        async apply(workspace, example) {
          await workspace.addRunEndpoint('https://hooks.example.com/before')
          return example
        },
      },
      'it has the URL already': {
        exists: true,
        events: noEvents,
        async apply(workspace, example) {
          await workspace.addRunEndpoint(RUNS_URL)
          return { ...example, json: { url: RUNS_URL } }
        },
      },
      'the URL is not public': {
        status: 400,
        apply: async (_, example) => ({ ...example, json: { url: 'https://localhost/runs' } }),
      },
    },
  },

  retrieveRunEndpoint: { prepare: prepareEndpoint, ...organizationWide, variations: hasNoRunEndpoint },

  deleteRunEndpoint: {
    prepare: prepareEndpoint,
    ...organizationWide,
    events: recorded('run-endpoint.deleted'),
    variations: hasNoRunEndpoint,
  },

  rotateRunEndpoint: {
    async prepare(workspace) {
      const { path, ...rest } = await prepareEndpoint(workspace)
      return { path: `${path}/rotate`, json: { overlapSeconds: 60 }, ...rest }
    },
    ...organizationWide,
    looksUpFirst: true,
    events: recorded('run-endpoint.rotated'),
    variations: {
      ...hasNoRunEndpoint,
      'the previous secret is still valid': {
        status: 409,
        async apply(workspace, example) {
          await request('POST', example.path, { key: await workspace.addKey(), json: {} })
          return example
        },
      },
    },
  },
}
