import { v7 as newUuid } from 'uuid'
import { expect } from 'vitest'
import {
  type EventsOf,
  ifMatchVariations,
  ifNoneMatchVariations,
  pathOf,
  projectOf,
  type Row,
  type Rows,
  withHeader,
  withQuery,
} from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

interface Kind {
  readonly type: 'project' | 'agent' | 'session' | 'pull_request' | 'user'
  readonly path: string
  readonly name: string
  /** Adds one; a session or a pull request to the project. */
  add(workspace: Workspace, projectId: string): Promise<string>
}

const wasDeleted = (type: Kind['type'], idOf: (path: string) => string): Row['variations'] => ({
  'it was deleted': {
    status: 410,
    async apply(workspace, example) {
      const id = idOf(example.path)
      if (!(await workspace.has(type, id))) await addWithId(workspace, type, id, example.projectIds?.[0] ?? '')
      await workspace.delete(type, id)
      return example
    },
  },
})

const conditionsOfPut: Row['variations'] = {
  'If-Match has another ETag': {
    status: 412,
    apply: async (_, example) => withHeader(example, 'If-Match', '"another"'),
  },
  'If-None-Match is any': {
    status: 412,
    needs: 'it is there',
    apply: async (_, example) => withHeader(example, 'If-None-Match', '*'),
  },
}

const lastSegment = (path: string) => path.replace(/.*\//, '')

async function addWithId(workspace: Workspace, type: Kind['type'], id: string, projectId: string) {
  if (type === 'project') await workspace.addProject(id)
  if (type === 'agent') await workspace.addAgent(id)
  if (type === 'user') await workspace.addUser(id)
  if (type === 'session') await workspace.addSession(projectId, id)
  if (type === 'pull_request') await workspace.addPullRequest(projectId, id)
}

const NAMES = {
  project: 'Website',
  agent: 'Reviewer',
  session: 'Fix the login',
  pull_request: 'Fix the login',
  user: 'Ada',
}

type Verb = 'created' | 'updated' | 'deleted' | 'archived' | 'unarchived'

/** @param name that of what the tests add, if it isn't in the request. */
function recorded(type: Kind['type'], verb: Verb, name = NAMES[type]): EventsOf {
  const resource = type === 'pull_request' ? 'pull-request' : type
  return (example) => [
    {
      type: `${resource}.${verb}` as ReturnType<EventsOf>[number]['type'],
      path: pathOf(example),
      name,
      ...(example.projectIds && { projectId: projectOf(example) }),
    },
  ]
}

/** Examples of projects, agents and users. */
function organizationResourceRows({ type, path, name, add }: Kind): Rows {
  const isProject = type === 'project'
  const reach = isProject ? ({ outOfReach: 403 } as const) : {}
  // To change agents and users, an API key may not be restricted to projects.
  const change = isProject ? reach : ({ outOfReach: 403, reachesAll: true } as const)
  const prepare = async (workspace: Workspace) => {
    const id = await add(workspace, '')
    return { path: `/v1/${path}/${id}`, ids: [id], ...(isProject && { projectIds: [id] }) }
  }
  return {
    [`put${name}`]: {
      async prepare() {
        const id = newUuid()
        return {
          path: `/v1/${path}/${id}`,
          json: { name: 'New' },
          ids: [],
          ...(isProject && { projectIds: [id] }),
        }
      },
      ...change,
      namesNothing: true,
      newNames: [`${type}Id`],
      events: recorded(type, 'created', 'New'),
      variations: {
        [`the organization has the most ${type}s allowed`]: {
          status: 409,
          apply: async (_, example) => ({
            ...example,
            environment: { [`${type.toUpperCase()}_LIMIT`]: '0' },
          }),
        },
        'it is there': {
          exists: true,
          lifts: 409,
          events: recorded(type, 'updated', 'New'),
          async apply(workspace, example) {
            await addWithId(workspace, type, lastSegment(example.path), '')
            return example
          },
        },
        ...conditionsOfPut,
        ...wasDeleted(type, lastSegment),
      },
    },
    [`retrieve${name}`]: {
      prepare,
      ...reach,
      variations: { ...ifNoneMatchVariations, ...wasDeleted(type, lastSegment) },
    },
    [`list${name}s`]: {
      async prepare(workspace) {
        await add(workspace, '')
        return { path: `/v1/${path}?limit=1`, ids: [] }
      },
      namesNothing: true,
      ...(isProject && { idle: true as const }),
      variations: {
        ...(isProject && {
          'the API key is restricted to projects': {
            async apply(workspace: Workspace, example) {
              return { ...example, keyOptions: { projectIds: [await workspace.addProject()] } }
            },
          } satisfies Row['variations'][string],
        }),
        'it searches': {
          apply: async (_, example) => withQuery(example, { query: NAMES[type].toUpperCase() }),
        },
      },
    },
    [`delete${name}`]: {
      prepare,
      ...change,
      events: recorded(type, 'deleted'),
      variations: {
        ...ifMatchVariations,
        ...wasDeleted(type, lastSegment),
        ...(type === 'user' && {
          'it is a person who signed in': {
            events: (...all) => [
              ...recorded(type, 'deleted')(...all),
              { type: 'identity.deleted', path: expect.stringMatching(/^\/v1\/identities\//), name: 'ada@example.com' },
            ],
            async apply(workspace: Workspace, example) {
              await workspace.addIdentity({ userId: lastSegment(example.path), email: 'ada@example.com' })
              return example
            },
          } satisfies Row['variations'][string],
          'somebody is invited as this user': {
            events: (...all) => [
              ...recorded(type, 'deleted')(...all),
              {
                type: 'invitation.deleted',
                path: expect.stringMatching(/^\/v1\/invitations\//),
                name: 'grace@example.com',
              },
            ],
            async apply(workspace: Workspace, example) {
              await workspace.addInvitation({ userId: lastSegment(example.path), email: 'grace@example.com' })
              return example
            },
          } satisfies Row['variations'][string],
          'it has a key': {
            refusesUsers: true,
            events: (...all) => [
              ...recorded(type, 'deleted')(...all),
              { type: 'api-key.revoked', path: expect.stringMatching(/^\/v1\/api-keys\//), name: 'test' },
            ],
            async apply(workspace: Workspace, example) {
              await workspace.addKey({ userId: lastSegment(example.path) })
              return { ...example, keyOptions: { userId: null } }
            },
          } satisfies Row['variations'][string],
        }),
      },
    },
    ...(type !== 'user' && {
      [`update${name}`]: {
        prepare: async (workspace: Workspace) => ({
          ...(await prepare(workspace)),
          json: { archived: true },
        }),
        ...change,
        events: recorded(type, 'archived'),
        variations: {
          'it is unarchived': {
            events: recorded(type, 'unarchived'),
            async apply(workspace: Workspace, example) {
              const id = lastSegment(example.path)
              await (isProject ? workspace.archiveProject(id) : workspace.archiveAgent(id))
              return { ...example, json: { archived: false } }
            },
          },
          ...ifMatchVariations,
          ...wasDeleted(type, lastSegment),
        },
      } satisfies Row,
    }),
  }
}

/** Examples of sessions and pull requests. */
function projectResourceRows({ type, path, name, add }: Kind): Rows {
  const prepare = async (workspace: Workspace) => {
    const projectId = await workspace.addProject()
    const id = await add(workspace, projectId)
    return { path: `/v1/${path}/${id}`, ids: [id], projectIds: [projectId] }
  }
  const isArchived: Row['variations'] = {
    'the project is archived': {
      status: 409,
      async apply(workspace, example) {
        await workspace.archiveProject(projectOf(example))
        return example
      },
    },
  }
  return {
    [`put${name}`]: {
      async prepare(workspace) {
        const projectId = await workspace.addProject()
        return {
          path: `/v1/${path}/${newUuid()}`,
          json: { projectId, name: 'New' },
          ids: [projectId],
          projectIds: [projectId],
        }
      },
      outOfReach: 403,
      events: recorded(type, 'created', 'New'),
      variations: {
        'it is there': {
          exists: true,
          events: recorded(type, 'updated', 'New'),
          async apply(workspace, example) {
            await addWithId(workspace, type, lastSegment(example.path), projectOf(example))
            return example
          },
        },
        'it belongs to another project': {
          status: 409,
          async apply(workspace, example) {
            const elsewhere = await workspace.addProject()
            const id = await add(workspace, elsewhere)
            const projectIds = [projectOf(example), elsewhere]
            return { ...example, path: `/v1/${path}/${id}`, projectIds }
          },
        },
        ...conditionsOfPut,
        ...wasDeleted(type, lastSegment),
        ...isArchived,
      },
    },
    [`retrieve${name}`]: {
      prepare,
      outOfReach: 403,
      variations: { ...ifNoneMatchVariations, ...wasDeleted(type, lastSegment) },
    },
    [`list${name}s`]: {
      async prepare(workspace) {
        const projectId = await workspace.addProject()
        await add(workspace, projectId)
        return {
          path: `/v1/${path}?limit=1&projectId=${projectId}`,
          ids: [projectId],
          projectIds: [projectId],
        }
      },
      outOfReach: 403,
      variations: {
        'it searches': { apply: async (_, example) => withQuery(example, { query: 'LOGIN' }) },
        'the latest come first': { apply: async (_, example) => withQuery(example, { order: '-createdAt' }) },
        'it lists all projects': {
          reachesAll: true,
          apply: async (_, example) => ({ ...withQuery(example, { projectId: null }), ids: [] }),
        },
        'it searches all projects': {
          reachesAll: true,
          apply: async (_, example) => ({ ...withQuery(example, { projectId: null, query: 'the' }), ids: [] }),
        },
      },
    },
    [`delete${name}`]: {
      prepare,
      outOfReach: 403,
      events: recorded(type, 'deleted'),
      variations: { ...ifMatchVariations, ...wasDeleted(type, lastSegment), ...isArchived },
    },
  }
}

export const platformResourceRows: Rows = {
  ...organizationResourceRows({
    type: 'project',
    path: 'projects',
    name: 'Project',
    add: (workspace) => workspace.addProject(),
  }),
  ...organizationResourceRows({
    type: 'agent',
    path: 'agents',
    name: 'Agent',
    add: (workspace) => workspace.addAgent(),
  }),
  ...organizationResourceRows({
    type: 'user',
    path: 'users',
    name: 'User',
    add: (workspace) => workspace.addUser(),
  }),
  ...projectResourceRows({
    type: 'session',
    path: 'sessions',
    name: 'Session',
    add: (workspace, projectId) => workspace.addSession(projectId),
  }),
  ...projectResourceRows({
    type: 'pull_request',
    path: 'pull-requests',
    name: 'PullRequest',
    add: (workspace, projectId) => workspace.addPullRequest(projectId),
  }),
}
