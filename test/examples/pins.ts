import { eventOf, firstAndSecond, noEvents, projectOf, type Rows } from '../support/example.ts'
import type { ResourceType } from '../support/workspace.ts'

export const pinRows: Rows = {
  updatePin: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      const projectOfTarget = await workspace.addProject()
      const target = await workspace.addPullRequest(projectOfTarget)
      const id = await workspace.addSession(projectId)
      await workspace.pin('pull_request', target)
      await workspace.pin('project', projectId)
      await workspace.pin('session', id)
      return { projectIds: [projectId, projectOfTarget], ...placement(id, 'pull_request', target) }
    },
    outOfReach: 404,
    events: eventOf('pin.placed'),
    variations: {
      'the resource is not pinned yet': {
        async apply(workspace, example) {
          const id = await workspace.addSession(projectOf(example))
          return { ...example, ...placement(id, 'pull_request', firstAndSecond(example)[1]) }
        },
      },
      'the user has the most pins allowed': {
        status: 409,
        needs: 'the resource is not pinned yet',
        apply: async (_, example) => ({ ...example, environment: { PIN_LIMIT: '3' } }),
      },
      'the gap is full': {
        async apply(workspace, example) {
          const next = await workspace.addSession(projectOf(example))
          await workspace.pinAt(2 ** 30 + 2, 'session', next)
          return example
        },
      },
      'the pin is there already': {
        idle: true,
        events: noEvents,
        apply: async (_, example) => ({
          ...example,
          ...placement(firstAndSecond(example)[0], 'project', projectOf(example)),
        }),
      },
      'the target is not pinned': {
        status: 404,
        async apply(workspace, example) {
          const target = await workspace.addSession(projectOf(example))
          return { ...example, ...placement(firstAndSecond(example)[0], 'session', target) }
        },
      },
      'the target is a deleted session': {
        status: 404,
        async apply(workspace, example) {
          const target = await workspace.addSession(projectOf(example))
          await workspace.pin('session', target)
          await workspace.deleteSession(target)
          return { ...example, ...placement(firstAndSecond(example)[0], 'session', target) }
        },
      },
      'the resource is a deleted session': {
        status: 404,
        async apply(workspace, example) {
          await workspace.deleteSession(firstAndSecond(example)[0])
          return example
        },
      },
    },
  },

  listPins: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      await workspace.pin('project', projectId)
      await workspace.pin('session', await workspace.addSession(projectId))
      return { path: '/v1/pins', ids: [] }
    },
    namesNothing: true,
    idle: true,
    variations: {
      'each pin has its resource': {
        apply: async (_, example) => ({ ...example, path: `${example.path}?expand=resource` }),
      },
    },
  },

  putPin: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      await workspace.pin('project', projectId)
      const id = await workspace.addSession(projectId)
      return { path: `/v1/pins/session/${id}`, ids: [id], projectIds: [projectId] }
    },
    outOfReach: 404,
    isForAnyUser: true,
    events: eventOf('pin.created'),
    variations: {
      'the user has the most pins allowed': {
        status: 409,
        apply: async (_, example) => ({ ...example, environment: { PIN_LIMIT: '1' } }),
      },
      'it is pinned already': {
        idle: true,
        lifts: 409,
        exists: true,
        events: noEvents,
        async apply(workspace, example) {
          await workspace.pin('session', example.ids[0] ?? '')
          return example
        },
      },
      'it is a deleted session': {
        status: 404,
        async apply(workspace, example) {
          await workspace.delete('session', example.ids[0] ?? '')
          return example
        },
      },
    },
  },

  deletePin: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      const id = await workspace.addPullRequest(projectId)
      await workspace.pin('pull_request', id)
      return { path: `/v1/pins/pull_request/${id}`, ids: [id], projectIds: [projectId] }
    },
    outOfReach: 404,
    events: eventOf('pin.deleted'),
    variations: {
      'it is not pinned': {
        status: 404,
        async apply(workspace, example) {
          const id = await workspace.addPullRequest(projectOf(example))
          return { ...example, path: `/v1/pins/pull_request/${id}`, ids: [id] }
        },
      },
      'it is a deleted pull request': {
        status: 404,
        async apply(workspace, example) {
          await workspace.delete('pull_request', example.ids[0] ?? '')
          return example
        },
      },
    },
  },
}

function placement(id: string, targetType: ResourceType, target: string) {
  return {
    path: `/v1/pins/session/${id}`,
    json: { placement: { target: { type: targetType, id: target }, position: 'after' } },
    ids: [id, target],
  }
}
