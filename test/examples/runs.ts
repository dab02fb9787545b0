import { request } from '../support/api.ts'
import type { Row, Rows } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

/** A schedule of a project with two pending runs. */
async function prepareRun(workspace: Workspace) {
  const projectId = await workspace.addProject()
  const scheduleId = await workspace.addSchedule('project', projectId)
  await workspace.addRun(scheduleId, { scheduledAt: minutesAgo(2) })
  const runId = await workspace.addRun(scheduleId, { scheduledAt: minutesAgo(1) })
  return { path: `/v1/runs/${runId}`, ids: [runId], projectIds: [projectId] }
}

export const runRows: Rows = {
  ...scheduleRunRows('project'),
  ...scheduleRunRows('agent'),

  listRuns: {
    async prepare(workspace) {
      await prepareRun(workspace)
      return { path: '/v1/runs?status=pending&limit=1', ids: [] }
    },
    outOfReach: 403,
    reachesAll: true,
    namesNothing: true,
    idle: true,
    variations: {
      'it lists the failed runs': {
        idle: true,
        async apply(workspace, example) {
          const scheduleId = await workspace.addSchedule('agent', await workspace.addAgent())
          await workspace.addRun(scheduleId, { status: 'failed' })
          return { ...example, path: '/v1/runs?status=failed' }
        },
      },
    },
  },

  retrieveRun: { prepare: prepareRun, outOfReach: 403, variations: {} },

  acknowledgeRun: {
    async prepare(workspace) {
      const { path, ...rest } = await prepareRun(workspace)
      return { path: `${path}/acknowledge`, ...rest }
    },
    outOfReach: 403,
    variations: {
      'the run was acknowledged before': {
        async apply(workspace, example) {
          await request('POST', example.path, { key: await workspace.addKey() })
          return example
        },
      },
      'the run failed': {
        status: 409,
        async apply(workspace, example) {
          const [runId = ''] = example.ids
          await workspace.changeRun(runId, { status: 'failed', attempts: 6 })
          return example
        },
      },
    },
  },
}

/** The operations on the runs of the schedules of a type of parent. */
function scheduleRunRows(parentType: 'project' | 'agent'): Rows {
  const isProject = parentType === 'project'
  const name = isProject ? 'ProjectScheduleRun' : 'AgentScheduleRun'
  const reach: Pick<Row, 'outOfReach'> = isProject ? { outOfReach: 403 } : {}
  const prepare = async (workspace: Workspace) => {
    const parentId = await (isProject ? workspace.addProject() : workspace.addAgent())
    const scheduleId = await workspace.addSchedule(parentType, parentId)
    await workspace.addRun(scheduleId, { scheduledAt: minutesAgo(2) })
    await workspace.addRun(scheduleId, { scheduledAt: minutesAgo(1), status: 'skipped' })
    return {
      path: `/v1/${parentType}s/${parentId}/schedules/${scheduleId}/runs`,
      ids: [parentId, scheduleId],
      ...(isProject && { projectIds: [parentId] }),
    }
  }
  return {
    [`list${name}s`]: {
      prepare,
      ...reach,
      variations: {
        'the page is not the last': {
          apply: async (_, example) => ({ ...example, path: `${example.path}?limit=1` }),
        },
      },
    },
    [`create${name}`]: {
      prepare,
      ...reach,
      variations: {
        'there is a run endpoint': {
          async apply(workspace, example) {
            await workspace.addRunEndpoint()
            return example
          },
        },
        'it has an Idempotency-Key': {
          apply: async (_, example) => ({ ...example, headers: { 'Idempotency-Key': 'new' } }),
        },
        'the request is repeated': {
          lifts: 409,
          async apply(workspace, example) {
            const headers = { 'Idempotency-Key': 'same' }
            await request('POST', example.path, { key: await workspace.addKey(), headers })
            return { ...example, headers }
          },
        },
        'the parent is archived': {
          status: 409,
          async apply(workspace, example) {
            const [parentId = ''] = example.ids
            await (isProject ? workspace.archiveProject(parentId) : workspace.archiveAgent(parentId))
            return example
          },
        },
      },
    },
  }
}
