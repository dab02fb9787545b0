import { v4 as newUuid } from 'uuid'
import { expect } from 'vitest'
import * as tables from '../../src/db/schema.ts'
import { request } from '../support/api.ts'
import { type EventsOf, type ExampleEvent, noEvents, type Row, type Rows } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const CLAIM_ID = newUuid()
const claimed = {
  status: 'delivered',
  claimId: CLAIM_ID,
  claimedBy: JSON.stringify({ apiKeyId: newUuid(), apiKeyName: 'worker' }),
  startedAt: '2026-01-01T00:00:00.000Z',
  checkAt: '2999-01-01T00:00:00.000Z',
}

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

/** A schedule of a project with two pending runs. */
async function prepareRun(workspace: Workspace) {
  const projectId = await workspace.addProject()
  const scheduleId = await workspace.addSchedule('project', projectId)
  await workspace.addRun(scheduleId, { scheduledAt: minutesAgo(2) })
  const runId = await workspace.addRun(scheduleId, { scheduledAt: minutesAgo(1) })
  return { path: `/v1/runs/${runId}`, ids: [runId], projectIds: [projectId] }
}

/** The events of the run that the example names. */
const recorded =
  (...types: readonly ExampleEvent['type'][]): EventsOf =>
  ({ ids: [id], projectIds: [projectId = ''] = [] }) =>
    types.map((type) => ({ type, path: `/v1/runs/${id}`, projectId }))

/** The events of claims of runs that the example does not name. */
const claims =
  (count: number): EventsOf =>
  () =>
    Array.from({ length: count }, () => ({
      type: 'run.claimed',
      path: expect.stringMatching(/^\/v1\/runs\/[0-9a-f-]{36}$/),
      projectId: expect.any(String),
    }))

export const runRows: Rows = {
  ...scheduleRunRows('project'),
  ...scheduleRunRows('agent'),

  listRuns: {
    async prepare(workspace) {
      await prepareRun(workspace)
      return { path: '/v1/runs', ids: [] }
    },
    outOfReach: 403,
    reachesAll: true,
    namesNothing: true,
    idle: true,
    variations: {
      'it lists the pending runs': {
        apply: async (_, example) => ({ ...example, path: '/v1/runs?status=pending&limit=1' }),
      },
      'it lists the runs of a schedule between two times': {
        async apply(workspace, example) {
          const scheduleId = await workspace.addSchedule('agent', await workspace.addAgent())
          await workspace.addRun(scheduleId)
          const times = 'from=2001-01-01T00:00:00Z&to=2999-01-01T00:00:00Z'
          return { ...example, path: `/v1/runs?scheduleId=${scheduleId}&${times}` }
        },
      },
      'it lists the running runs': {
        idle: true,
        async apply(workspace, example) {
          const scheduleId = await workspace.addSchedule('agent', await workspace.addAgent())
          await workspace.addRun(scheduleId, claimed)
          return { ...example, path: '/v1/runs?status=running' }
        },
      },
      'it lists the failed runs': {
        idle: true,
        async apply(workspace, example) {
          const scheduleId = await workspace.addSchedule('agent', await workspace.addAgent())
          await workspace.addRun(scheduleId, { status: 'failed' })
          return { ...example, path: '/v1/runs?status=failed' }
        },
      },
      'it lists the pending runs of a schedule': {
        async apply(workspace, example) {
          const scheduleId = await workspace.addSchedule('agent', await workspace.addAgent())
          await workspace.addRun(scheduleId)
          return { ...example, path: `/v1/runs?status=pending&scheduleId=${scheduleId}` }
        },
      },
      'it lists the failed runs of a schedule': {
        async apply(workspace, example) {
          const scheduleId = await workspace.addSchedule('agent', await workspace.addAgent())
          await workspace.addRun(scheduleId, { status: 'failed' })
          return { ...example, path: `/v1/runs?status=failed&scheduleId=${scheduleId}` }
        },
      },
      'it names an unknown project': {
        status: 404,
        apply: async (_, example) => ({ ...example, path: '/v1/runs?projectId=nobodys' }),
      },
    },
  },

  claimRuns: {
    async prepare(workspace) {
      await prepareRun(workspace)
      return { path: '/v1/runs/claim', json: { leaseSeconds: 60 }, ids: [] }
    },
    outOfReach: 403,
    reachesAll: true,
    namesNothing: true,
    idle: true,
    events: claims(1),
    variations: {
      'it takes several': {
        events: claims(2),
        apply: async (_, example) => ({ ...example, json: { leaseSeconds: 60, limit: 20 } }),
      },
      'it names a project': {
        async apply(workspace, example) {
          const projectId = await workspace.addProject()
          await workspace.addRun(await workspace.addSchedule('project', projectId))
          return { ...example, json: { leaseSeconds: 60, projectId } }
        },
      },
      'it names an unknown project': {
        status: 404,
        apply: async (_, example) => ({ ...example, json: { leaseSeconds: 60, projectId: 'nobodys' } }),
      },
    },
  },

  retrieveRun: { prepare: prepareRun, outOfReach: 403, variations: {} },

  redeliverRun: {
    async prepare(workspace) {
      const { path, ...rest } = await prepareRun(workspace)
      await workspace.addRunEndpoint()
      return { path: `${path}/redeliver`, ...rest }
    },
    outOfReach: 403,
    events: recorded('run.redelivered'),
    variations: {
      'all attempts have failed': {
        async apply(workspace, example) {
          const failed = { status: 'failed', failure: 'delivery', attempts: 6, finishedAt: minutesAgo(0) }
          await workspace.changeRun(example.ids[0] ?? '', failed)
          return example
        },
      },
      'the run was delivered': {
        async apply(workspace, example) {
          const delivered = { status: 'delivered', failure: null, finishedAt: null, startedAt: minutesAgo(0) }
          await workspace.changeRun(example.ids[0] ?? '', delivered)
          return example
        },
      },
      'the run is claimed': {
        status: 409,
        async apply(workspace, example) {
          await workspace.changeRun(example.ids[0] ?? '', claimed)
          return example
        },
      },
      'the run was skipped': {
        status: 409,
        async apply(workspace, example) {
          await workspace.changeRun(example.ids[0] ?? '', { status: 'skipped', failure: null })
          return example
        },
      },
      'there is no run endpoint': {
        status: 404,
        async apply(workspace, example) {
          await workspace.removeRunEndpoint()
          return example
        },
      },
    },
  },

  renewRun: {
    async prepare(workspace) {
      const { path, ids, projectIds } = await prepareRun(workspace)
      await workspace.changeRun(ids[0] ?? '', claimed)
      return { path: `${path}/renew`, json: { claimId: CLAIM_ID, leaseSeconds: 120 }, ids, projectIds }
    },
    outOfReach: 403,
    variations: {
      'the run has another claim': {
        status: 409,
        apply: async (_, example) => ({ ...example, json: { claimId: newUuid(), leaseSeconds: 120 } }),
      },
    },
  },

  completeRun: {
    async prepare(workspace) {
      const { path, ids, projectIds } = await prepareRun(workspace)
      return {
        path: `${path}/complete`,
        json: { outcome: 'failed', message: 'Tests failed.' },
        ids,
        projectIds,
      }
    },
    outOfReach: 403,
    events: recorded('run.failed'),
    variations: {
      'the run is claimed': {
        events: recorded('run.succeeded'),
        async apply(workspace, example) {
          await workspace.changeRun(example.ids[0] ?? '', claimed)
          return { ...example, json: { outcome: 'succeeded', claimId: CLAIM_ID } }
        },
      },
      'it pauses the schedule': {
        events: (example, made) => {
          const projectId = example.projectIds?.[0] ?? ''
          const path: string = expect.stringMatching(`^/v1/projects/${projectId}/schedules/[0-9a-f-]{36}$`)
          const paused = { type: 'schedule.paused', path, projectId, isByService: true } as const
          return [...recorded('run.failed')(example, made), paused]
        },
        async apply(workspace, example) {
          const [run] = (await workspace.dump('runs')).filter(({ id }) => id === example.ids[0])
          await workspace.change(tables.schedules, String(run?.scheduleId), {
            pauseAfterFailures: 1,
            enabledAt: minutesAgo(60),
          })
          return example
        },
      },
      'it names a session': {
        events: recorded('run.succeeded'),
        async apply(workspace, example) {
          const sessionId = await workspace.addSession(example.projectIds?.[0] ?? '')
          return { ...example, json: { outcome: 'succeeded', sessionId } }
        },
      },
      'it names no session': {
        status: 404,
        apply: async (_, example) => ({ ...example, json: { outcome: 'succeeded', sessionId: newUuid() } }),
      },
      'the run has this outcome': {
        idle: true,
        events: noEvents,
        async apply(workspace, example) {
          await request('POST', example.path, { key: await workspace.addKey(), json: example.json })
          return example
        },
      },
      'the run was skipped': {
        status: 409,
        async apply(workspace, example) {
          await workspace.changeRun(example.ids[0] ?? '', { status: 'skipped' })
          return example
        },
      },
    },
  },

  acknowledgeRun: {
    async prepare(workspace) {
      const { path, ...rest } = await prepareRun(workspace)
      return { path: `${path}/acknowledge`, ...rest }
    },
    outOfReach: 403,
    events: recorded('run.acknowledged'),
    variations: {
      'the run was acknowledged before': {
        events: noEvents,
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
      events: ({ projectIds: [projectId] = [] }, { created }) => [
        { type: 'run.created', path: `/v1/runs/${created}`, ...(projectId !== undefined && { projectId }) },
      ],
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
          events: noEvents,
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
