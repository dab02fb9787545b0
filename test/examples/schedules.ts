import { v7 as newUuid } from 'uuid'
import { schedules } from '../../src/db/schema.ts'
import { request } from '../support/api.ts'
import {
  type EventsOf,
  type Example,
  type ExampleEvent,
  ifMatchVariations,
  noEvents,
  type Row,
  type Rows,
  withHeader,
  withQuery,
} from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

/** An event of the schedule that the path names or the request creates. */
const recorded =
  (type: ExampleEvent['type'], fields: { readonly name?: string; readonly isNew?: true } = {}): EventsOf =>
  ({ path, projectIds: [projectId] = [] }, { created }) => [
    {
      type,
      path: fields.isNew ? `${path}/${created}` : path,
      ...(fields.name !== undefined && { name: fields.name }),
      ...(projectId !== undefined && { projectId }),
    },
  ]

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
    events: recorded('schedule.created', { isNew: true }),
    variations: creationVariations({ cron: '0 1 * * *', timezone: 'UTC' }, (workspace, projectId) =>
      workspace.archiveProject(projectId),
    ),
  },

  createAgentSchedule: {
    async prepare(workspace) {
      const agentId = await workspace.addAgent()
      return { path: `/v1/agents/${agentId}/schedules`, json: { cron: '0 6 * * *' }, ids: [agentId] }
    },
    events: recorded('schedule.created', { isNew: true }),
    variations: creationVariations({ cron: '0 1 * * *' }, (workspace, agentId) => workspace.archiveAgent(agentId)),
  },

  ...scheduleOperationRows('project', { cron: '0 1 * * *', timezone: 'Asia/Tokyo' }),
  ...scheduleOperationRows('agent', { cron: '0 1 * * *' }),

  listSchedules: {
    async prepare(workspace) {
      await workspace.addSchedule('agent', await workspace.addAgent())
      await workspace.addSchedule('project', await workspace.addProject())
      return { path: '/v1/schedules', ids: [] }
    },
    outOfReach: 403,
    reachesAll: true,
    namesNothing: true,
    idle: true,
    variations: {
      'the page is not the last': {
        apply: async (_, example) => ({ ...example, path: '/v1/schedules?limit=1' }),
      },
      'it has filters': {
        idle: true,
        apply: async (_, example) => ({
          ...example,
          path: `/v1/schedules?enabled=true&parentType=agent&nextRunBefore=2999-01-01T00:00:00Z`,
        }),
      },
      'it searches': {
        async apply(workspace, example) {
          await workspace.addSchedule('agent', await workspace.addAgent(), { name: 'Nightly build' })
          return withQuery(example, { query: 'BUILD' })
        },
      },
    },
  },

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
    [`put${name}`]: {
      async prepare(workspace) {
        const { path, ids, ...rest } = await prepareList(workspace)
        const id = newUuid()
        const json = {
          ...change,
          name: 'Nightly',
          payload: { branch: 'main' },
          overlap: 'skip',
          maxRunSeconds: 60,
        }
        return { ...rest, path: `${path}/${id}`, ids, json }
      },
      ...reach,
      newNames: ['scheduleId'],
      events: recorded('schedule.created', { name: 'Nightly' }),
      variations: {
        'it exists already': {
          exists: true,
          events: recorded('schedule.updated', { name: 'Nightly' }),
          async apply(workspace, example) {
            await giveId(workspace, example, parentType, example.ids[0])
            return example
          },
        },
        'the request is repeated': {
          exists: true,
          idle: true,
          events: noEvents,
          async apply(workspace, example) {
            await request('PUT', example.path, { key: await workspace.addKey(), json: example.json })
            return example
          },
        },
        'If-None-Match is any, and it exists': {
          status: 412,
          async apply(workspace, example) {
            await giveId(workspace, example, parentType, example.ids[0])
            return withHeader(example, 'If-None-Match', '*')
          },
        },
        'another parent has a schedule with this ID': {
          status: 409,
          async apply(workspace, example) {
            await giveId(workspace, example, 'agent', await workspace.addAgent())
            return example
          },
        },
        'the schedule was deleted': {
          status: 410,
          async apply(workspace, example) {
            await giveId(workspace, example, parentType, example.ids[0])
            await workspace.deleteSchedule(lastOf(example))
            return example
          },
        },
        'the organization has reached its quota of schedules': {
          status: 409,
          async apply(workspace, example) {
            await workspace.remove(schedules, lastOf(example))
            return { ...example, environment: { ...example.environment, ORGANIZATION_SCHEDULE_LIMIT: '0' } }
          },
        },
        'the parent has reached its limit of schedules': {
          status: 409,
          async apply(workspace, example) {
            await workspace.remove(schedules, lastOf(example))
            return { ...example, environment: { ...example.environment, SCHEDULE_LIMIT: '2' } }
          },
        },
        'the time has passed': {
          status: 400,
          apply: async (_, example) => ({ ...example, json: { runAt: '2001-01-01T00:00:00Z' } }),
        },
        ...isArchived,
      },
    },
    [`update${name}`]: {
      prepare: async (workspace) => ({ ...(await prepareOne(workspace)), json: change }),
      ...reach,
      events: recorded('schedule.updated'),
      variations: {
        'the schedule is paused': {
          events: recorded('schedule.paused'),
          apply: async (_, example) => ({ ...example, json: { enabled: false } }),
        },
        'it is enabled, and it was': {
          calls: 2,
          events: noEvents,
          apply: async (_, example) => ({ ...example, json: { enabled: true } }),
        },
        'the schedule is resumed': {
          calls: 2,
          events: recorded('schedule.resumed'),
          async apply(workspace, example) {
            await workspace.change(schedules, lastOf(example), { enabledAt: null, nextRunAt: null })
            return { ...example, json: { enabled: true } }
          },
        },
        'it would skip without a time limit': {
          status: 409,
          apply: async (_, example) => ({ ...example, json: { overlap: 'skip' } }),
        },
        ...ifMatchVariations,
        ...isArchived,
      },
    },
    [`delete${name}`]: {
      prepare: prepareOne,
      ...reach,
      events: recorded('schedule.deleted'),
      variations: { ...ifMatchVariations, ...isArchived },
    },
  }
}

/** Adds a schedule of the parent with the ID of the path, also if another parent has one. */
async function giveId(
  workspace: Workspace,
  example: Example,
  parentType: 'project' | 'agent',
  parentId = '',
): Promise<void> {
  await workspace.remove(schedules, lastOf(example))
  await workspace.addSchedule(parentType, parentId, { id: lastOf(example) })
}

/** The ID at the end of the path. */
const lastOf = ({ path }: Example) => path.slice(path.lastIndexOf('/') + 1)

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
      events: noEvents,
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
