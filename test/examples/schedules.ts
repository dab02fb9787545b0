import { request } from '../support/api.ts'
import { type Example, ifMatchVariations, type Row, type Rows } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

export const scheduleRows: Rows = {
  createProjectSchedule: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      return {
        path: `/v1/projects/${projectId}/schedules`,
        json: { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
        ids: [projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    variations: creationVariations({ cron: '0 1 * * *', timezone: 'UTC' }, (workspace, projectId) =>
      workspace.archiveProject(projectId),
    ),
  },

  createAgentSchedule: {
    async prepare(workspace) {
      const agentId = await workspace.addAgent()
      return { path: `/v1/agents/${agentId}/schedules`, json: { cron: '0 6 * * *' }, ids: [agentId] }
    },
    variations: creationVariations({ cron: '0 1 * * *' }, (workspace, agentId) =>
      workspace.archiveAgent(agentId),
    ),
  },

  ...scheduleOperationRows('project', { cron: '0 1 * * *', timezone: 'Asia/Tokyo' }),
  ...scheduleOperationRows('agent', { cron: '0 1 * * *' }),

  previewSchedule: {
    prepare: async () => ({
      path: '/v1/schedule-preview?cron=0+9+*+*+mon&timezone=Europe/Paris&count=3',
      ids: [],
    }),
    namesNothing: true,
    idle: true,
    variations: {
      'the cron expression is invalid': {
        status: 400,
        apply: async () => ({ path: '/v1/schedule-preview?cron=now', ids: [] }),
      },
    },
  },
}

/** The operations on the schedules of a type of parent, except their creation. */
function scheduleOperationRows(parentType: 'project' | 'agent', change: object): Rows {
  const isProject = parentType === 'project'
  const name = isProject ? 'ProjectSchedule' : 'AgentSchedule'
  const reach = isProject ? ({ outOfReach: 403 } as const) : {}
  const prepareList = async (workspace: Workspace): Promise<Example> => {
    const parentId = await (isProject ? workspace.addProject() : workspace.addAgent())
    await workspace.addSchedule(parentType, parentId)
    await workspace.addSchedule(parentType, parentId)
    return {
      path: `/v1/${parentType}s/${parentId}/schedules`,
      ids: [parentId],
      ...(isProject && { projectIds: [parentId] }),
    }
  }
  const prepareOne = async (workspace: Workspace): Promise<Example> => {
    const { path, ids, ...rest } = await prepareList(workspace)
    const id = await workspace.addSchedule(parentType, ids[0] ?? '')
    return { ...rest, path: `${path}/${id}`, ids: [...ids, id] }
  }
  const isArchived: Row['variations'] = {
    'the parent is archived': {
      status: 409,
      async apply(workspace, example) {
        const [parentId = ''] = example.ids
        await (isProject ? workspace.archiveProject(parentId) : workspace.archiveAgent(parentId))
        return example
      },
    },
  }
  return {
    [`list${name}s`]: {
      prepare: prepareList,
      ...reach,
      variations: {
        'the page is not the last': {
          apply: async (_, example) => ({ ...example, path: `${example.path}?limit=1` }),
        },
      },
    },
    [`retrieve${name}`]: { prepare: prepareOne, ...reach, variations: {} },
    [`update${name}`]: {
      prepare: async (workspace) => ({ ...(await prepareOne(workspace)), json: change }),
      ...reach,
      variations: {
        'the schedule is paused': {
          apply: async (_, example) => ({ ...example, json: { enabled: false } }),
        },
        'the schedule is resumed': {
          calls: 2,
          apply: async (_, example) => ({ ...example, json: { enabled: true } }),
        },
        ...ifMatchVariations,
        ...isArchived,
      },
    },
    [`delete${name}`]: { prepare: prepareOne, ...reach, variations: { ...ifMatchVariations, ...isArchived } },
  }
}

/** The variations of the creation of a schedule. @param otherBody a valid body that differs from the example's. */
function creationVariations(
  otherBody: object,
  archive: (workspace: Workspace, parentId: string) => Promise<void>,
): Row['variations'] {
  const create = async (workspace: Workspace, { path }: Example, json: unknown, headers = {}) => {
    const { status } = await request('POST', path, { key: await workspace.addKey(), json, headers })
    if (status !== 201) throw new Error(`The first schedule was not created: ${status}`)
  }
  return {
    'it has an Idempotency-Key': {
      apply: async (_, example) => ({ ...example, headers: { 'Idempotency-Key': 'new' } }),
    },
    'the Idempotency-Key was used with another body': {
      status: 409,
      async apply(workspace, example) {
        const headers = { 'Idempotency-Key': 'other' }
        await create(workspace, example, otherBody, headers)
        return { ...example, headers }
      },
    },
    'the request is repeated': {
      lifts: 409,
      async apply(workspace, example) {
        const headers = { 'Idempotency-Key': 'same' }
        await create(workspace, example, example.json, headers)
        return { ...example, headers }
      },
    },
    'the parent has reached its limit of schedules': {
      status: 409,
      async apply(workspace, example) {
        await create(workspace, example, otherBody)
        return { ...example, environment: { SCHEDULE_LIMIT: '1' } }
      },
    },
    'the organization has reached its quota of schedules': {
      status: 409,
      apply: async (_, example) => ({
        ...example,
        environment: { ...example.environment, ORGANIZATION_SCHEDULE_LIMIT: '0' },
      }),
    },
    'the parent is archived': {
      status: 409,
      async apply(workspace, example) {
        await archive(workspace, example.ids[0] ?? '')
        return example
      },
    },
  }
}
