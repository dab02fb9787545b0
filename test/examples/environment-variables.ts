import { request } from '../support/api.ts'
import { type EventsOf, projectEventOf, projectOf, type Row, type Rows } from '../support/example.ts'

const isArchived: Row['variations'] = {
  'the project is archived': {
    status: 409,
    async apply(workspace, example) {
      await workspace.archiveProject(projectOf(example))
      return example
    },
  },
}

const isFull: Row['variations'] = {
  'the project has the most variables allowed': {
    status: 409,
    async apply(workspace, example) {
      await workspace.addVariable(projectOf(example), 'OTHER')
      return { ...example, environment: { VARIABLE_LIMIT: '1' } }
    },
  },
  'the organization has the most bytes of variables allowed': {
    status: 409,
    apply: async (_, example) => ({
      ...example,
      environment: { ...example.environment, ORGANIZATION_VARIABLE_BYTE_LIMIT: '1' },
    }),
  },
}

const projectEventOfOne: EventsOf = (example) => [
  {
    type: 'environment-variable.set',
    path: `${example.path}/TOKEN`,
    name: 'TOKEN',
    projectId: projectOf(example),
  },
]

export const environmentVariableRows: Rows = {
  deleteEnvironmentVariable: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      await workspace.addVariable(projectId, 'DATABASE_URL')
      return {
        path: `/v1/projects/${projectId}/environment-variables/DATABASE_URL`,
        ids: [projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    events: projectEventOf('environment-variable.deleted', { name: 'DATABASE_URL' }),
    variations: {
      'the project has no such variable': {
        status: 404,
        apply: async (_, example) => ({ ...example, path: `${example.path}_2` }),
      },
      ...isArchived,
    },
  },

  listEnvironmentVariables: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      await workspace.addVariable(projectId, 'DATABASE_URL')
      await workspace.addVariable(projectId, 'TOKEN')
      return {
        path: `/v1/projects/${projectId}/environment-variables`,
        ids: [projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    variations: {
      'the page is not the last': {
        apply: async (_, example) => ({ ...example, path: `${example.path}?limit=1` }),
      },
    },
  },

  putEnvironmentVariable: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      return {
        path: `/v1/projects/${projectId}/environment-variables/DATABASE_URL`,
        json: { value: 'postgres://db.internal/shop' },
        ids: [projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    newNames: ['key'],
    looksUpFirst: true,
    events: projectEventOf('environment-variable.set', { name: 'DATABASE_URL' }),
    variations: {
      'it has a value': {
        exists: true,
        async apply(workspace, example) {
          await workspace.addVariable(projectOf(example), 'DATABASE_URL')
          return example
        },
      },
      ...isFull,
      ...isArchived,
    },
  },

  setEnvironmentVariables: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      return {
        path: `/v1/projects/${projectId}/environment-variables`,
        json: {
          variables: [
            { key: 'DATABASE_URL', value: 'postgres://db.internal/shop' },
            { key: 'TOKEN', value: 'a secret' },
          ],
        },
        ids: [projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    looksUpFirst: true,
    events: (example) => [
      {
        type: 'environment-variables.set',
        path: example.path,
        id: projectOf(example),
        name: 'DATABASE_URL, TOKEN',
        projectId: projectOf(example),
      },
    ],
    variations: {
      'it sets one variable': {
        events: projectEventOfOne,
        apply: async (_, example) => ({
          ...example,
          json: { variables: [{ key: 'TOKEN', value: 'a secret' }] },
        }),
      },
      'it has an Idempotency-Key': {
        apply: async (_, example) => ({ ...example, headers: { 'Idempotency-Key': 'new' } }),
      },
      'the Idempotency-Key was used with another body': {
        status: 409,
        async apply(workspace, example) {
          const headers = { 'Idempotency-Key': 'other' }
          const json = { variables: [{ key: 'DATABASE_URL', value: 'sqlite://' }] }
          await request('POST', example.path, { key: await workspace.addKey(), json, headers })
          return { ...example, headers }
        },
      },
      ...isFull,
      ...isArchived,
    },
  },

  leaseEnvironmentVariables: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      await workspace.addVariable(projectId, 'DATABASE_URL')
      return {
        path: `/v1/projects/${projectId}/environment-variables/lease`,
        json: { publicKey: '85fK1n5XY8EJE2hjyYDgPnuVh7GjLrOFVGPyJ1Cv8BE' },
        ids: [projectId],
        projectIds: [projectId],
        keyOptions: { projectIds: [projectId] },
      }
    },
    outOfReach: 403,
    needsLimit: true,
    events: ({ path, projectIds: [projectId = ''] = [] }) => [
      {
        type: 'environment-variables.leased',
        path: path.slice(0, path.lastIndexOf('/')),
        id: projectId,
        name: 'DATABASE_URL',
        projectId,
      },
    ],
    variations: {
      'it names variables': {
        apply: async (_, example) => ({
          ...example,
          json: { ...Object(example.json), keys: ['DATABASE_URL'] },
        }),
      },
      'the project has no such variable': {
        status: 404,
        apply: async (_, example) => ({
          ...example,
          json: { ...Object(example.json), keys: ['DATABASE_URL', 'TOKEN'] },
        }),
      },
      'the project is archived': {
        async apply(workspace, example) {
          await workspace.archiveProject(projectOf(example))
          return example
        },
      },
    },
  },
}
