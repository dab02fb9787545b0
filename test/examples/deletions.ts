import type { DeletedType } from '../../src/access/deletions.ts'
import {
  type EventsOf,
  type Example,
  pathOf,
  projectEventOf,
  projectOf,
  type Row,
  type Rows,
  withQuery,
} from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const PATH = '/v1/deletions'

/** Deletes a session of a project. */
async function prepareDeletion(workspace: Workspace): Promise<Example> {
  const projectId = await workspace.addProject()
  const id = await workspace.deleteForNow('session', await workspace.addSession(projectId))
  return { path: `${PATH}/${id}`, ids: [id], projectIds: [projectId] }
}

interface Deleted {
  readonly type: DeletedType
  /** @param projectId of the session that the example deletes. @returns its ID. */
  add(workspace: Workspace, projectId: string): Promise<string>
  /** Its name, if it has one. */
  readonly name?: string
}

const SKILL = { 'SKILL.md': '---\nname: notes\ndescription: Notes.\n---\n' }

const OTHERS: Readonly<Record<string, Deleted>> = {
  'it was a project whose schedule is due': {
    type: 'project',
    name: 'Website',
    async add(workspace) {
      const projectId = await workspace.addProject()
      await workspace.addSchedule('project', projectId, { nextRunAt: '2020-01-01T00:00:00.000Z' })
      return projectId
    },
  },
  'it was a pull request': {
    type: 'pull_request',
    name: 'Fix the login',
    add: (workspace, projectId) => workspace.addPullRequest(projectId),
  },
  'it was a schedule of a project': {
    type: 'schedule',
    add: (workspace, projectId) => workspace.addSchedule('project', projectId),
  },
  'it was a schedule of an agent': {
    type: 'schedule',
    add: async (workspace) => workspace.addSchedule('agent', await workspace.addAgent()),
  },
  'it was an agent': { type: 'agent', name: 'Reviewer', add: (workspace) => workspace.addAgent() },
  'it was a user': { type: 'user', name: 'Ada', add: (workspace) => workspace.addUser() },
  'it was a skill': { type: 'skill', name: 'notes', add: (workspace) => workspace.addSkill(SKILL, undefined, 'notes') },
}

/** The path of what each example deleted, by that of its request. */
const restoredPaths = new Map<string, string>()

/** Deletes something. @returns the request that restores it. */
async function prepareRestoration(
  workspace: Workspace,
  { type, add }: Pick<Deleted, 'type' | 'add'>,
  projectId: string,
): Promise<Example> {
  const resourceId = await add(workspace, projectId)
  const id = await workspace.deleteForNow(type, resourceId)
  const row = (await workspace.dump('deletions')).find((deletion) => deletion.id === id)
  const parent = row?.agentId ? `agents/${row.agentId}/` : `projects/${row?.projectId}/`
  const path = `${PATH}/${id}/restore`
  restoredPaths.set(path, `/v1/${type === 'schedule' ? parent : ''}${type.replace('_', '-')}s/${resourceId}`)
  return { path, ids: [id], ...(typeof row?.projectId === 'string' && { projectIds: [row.projectId] }) }
}

const SESSION: Deleted = {
  type: 'session',
  name: 'Fix the login',
  add: (workspace, projectId) => workspace.addSession(projectId),
}

/** The event of a restoration. */
function restored({ type, name }: Deleted): EventsOf {
  return (example) => [
    {
      type: `${type.replace('_', '-')}.restored` as ReturnType<EventsOf>[number]['type'],
      path: restoredPaths.get(pathOf(example)) ?? '',
      ...(name !== undefined && { name }),
      ...(example.projectIds && { projectId: projectOf(example) }),
    },
  ]
}

/** The variations in which something else was deleted. */
const others = Object.entries(OTHERS).map(([what, deleted]): [string, Row['variations'][string]] => [
  what,
  {
    replaces: true,
    ...(['agent', 'user'].includes(deleted.type) && { reachesAll: true }),
    ...(/skill|an agent$/.test(what) && deleted.type !== 'agent' && { isOfNoProject: true }),
    events: restored(deleted),
    apply: async (workspace) => prepareRestoration(workspace, deleted, await workspace.addProject()),
  },
])

export const deletionRows: Rows = {
  listDeletions: {
    async prepare(workspace) {
      const { projectIds = [] } = await prepareDeletion(workspace)
      return { path: `${PATH}?limit=1&projectId=${projectIds[0]}`, ids: [], projectIds }
    },
    outOfReach: 403,
    namesNothing: true,
    variations: {
      'it is of one type': { apply: async (_, example) => withQuery(example, { resourceType: 'session' }) },
      'it is of one type, in all projects': {
        reachesAll: true,
        apply: async (_, example) => withQuery(example, { projectId: null, resourceType: 'session' }),
      },
      'it lists all projects': {
        reachesAll: true,
        apply: async (_, example) => withQuery(example, { projectId: null }),
      },
    },
  },

  retrieveDeletion: { prepare: prepareDeletion, outOfReach: 403, variations: {} },

  restoreDeletion: {
    prepare: async (workspace) => prepareRestoration(workspace, SESSION, await workspace.addProject()),
    outOfReach: 403,
    calls: 2,
    events: restored(SESSION),
    variations: {
      ...Object.fromEntries(others),
      'its project was deleted too': {
        replaces: true,
        status: 409,
        async apply(workspace) {
          const projectId = await workspace.addProject()
          const example = await prepareRestoration(workspace, SESSION, projectId)
          await workspace.deleteForNow('project', projectId)
          return example
        },
      },
    },
  },

  purgeDeletion: {
    prepare: prepareDeletion,
    outOfReach: 403,
    events: projectEventOf('deletion.purged', { name: 'Fix the login' }),
    variations: {},
  },
}
