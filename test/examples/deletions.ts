import { type EventsOf, type Example, pathOf, projectOf, type Row, type Rows, withQuery } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const PATH = '/v1/deletions'

/** Deletes a session of a project. @param below is added to the path of the deletion. */
const prepareDeletion =
  (below = '') =>
  async (workspace: Workspace): Promise<Example> => {
    const projectId = await workspace.addProject()
    const id = await workspace.deleteForNow('session', await workspace.addSession(projectId))
    return { path: `${PATH}/${id}${below}`, ids: [id], projectIds: [projectId] }
  }

interface Deleted {
  readonly type: 'project' | 'agent' | 'pull_request' | 'user' | 'schedule' | 'skill'
  /** @param projectId of the session that the example deletes. @returns its ID. */
  add(workspace: Workspace, projectId: string): Promise<string>
  /** Its name, if it has one. */
  readonly name?: string
  /** Where it is, if that isn't only its type and its ID. */
  path?(workspace: Workspace, id: string, projectId: string): string
}

const SKILL = { 'SKILL.md': '---\nname: notes\ndescription: Notes.\n---\n' }

const OTHERS: Readonly<Record<string, Deleted>> = {
  'it was a project': { type: 'project', name: 'Website', add: (workspace) => workspace.addProject() },
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

/** The variations in which something else was deleted. @param eventsOf what is recorded. */
function ofOtherTypes(
  below: string,
  eventsOf?: (type: string, name: string | undefined) => EventsOf,
): Row['variations'] {
  const variations = Object.entries(OTHERS).map(([what, { type, name, add }]): [string, Row['variations'][string]] => [
    what,
    {
      ...(['agent', 'user'].includes(type) && { reachesAll: true }),
      ...(eventsOf && { events: eventsOf(type, name) }),
      async apply(workspace, example) {
        const [ofSession = ''] = example.projectIds ?? []
        const resourceId = await add(workspace, ofSession)
        const id = await workspace.deleteForNow(type, resourceId)
        const row = (await workspace.dump('deletions')).find((deletion) => deletion.id === id)
        const parent = row?.agentId ? `agents/${row.agentId}/` : `projects/${row?.projectId}/`
        const collection = `${type.replace('_', '-')}s`
        const path = `${PATH}/${id}${below}`
        restoredPaths.set(path, `/v1/${type === 'schedule' ? parent : ''}${collection}/${resourceId}`)
        const projectIds = type === 'project' ? [resourceId] : row?.projectId ? [ofSession] : undefined
        const { projectIds: _, ...rest } = example
        return { ...rest, path, ids: [id], ...(projectIds && { projectIds }) }
      },
    },
  ])
  return Object.fromEntries(variations)
}

const prepareRestoration = async (workspace: Workspace): Promise<Example> => {
  const projectId = await workspace.addProject()
  const sessionId = await workspace.addSession(projectId)
  const id = await workspace.deleteForNow('session', sessionId)
  const path = `${PATH}/${id}/restore`
  restoredPaths.set(path, `/v1/sessions/${sessionId}`)
  return { path, ids: [id], projectIds: [projectId] }
}

const restored =
  (type: string, name: string | undefined): EventsOf =>
  (example) => [
    {
      type: `${type.replace('_', '-')}.restored` as ReturnType<EventsOf>[number]['type'],
      path: restoredPaths.get(pathOf(example)) ?? '',
      ...(name !== undefined && { name }),
      ...(example.projectIds && { projectId: projectOf(example) }),
    },
  ]

const purged =
  (_: string, name: string | undefined): EventsOf =>
  (example) => [
    {
      type: 'deletion.purged',
      path: pathOf(example),
      name: name ?? restoredPaths.get(pathOf(example))?.replace(/.*\//, '') ?? '',
      ...(example.projectIds && { projectId: projectOf(example) }),
    },
  ]

export const deletionRows: Rows = {
  listDeletions: {
    async prepare(workspace) {
      const { projectIds = [] } = await prepareDeletion()(workspace)
      return { path: `${PATH}?limit=1&projectId=${projectIds[0]}`, ids: [], projectIds }
    },
    outOfReach: 403,
    namesNothing: true,
    variations: {
      'it is of one type': { apply: async (_, example) => withQuery(example, { resourceType: 'session' }) },
      'it lists all projects': {
        reachesAll: true,
        apply: async (_, example) => withQuery(example, { projectId: null }),
      },
    },
  },

  retrieveDeletion: { prepare: prepareDeletion(), outOfReach: 403, variations: ofOtherTypes('') },

  restoreDeletion: {
    prepare: prepareRestoration,
    outOfReach: 403,
    calls: 2,
    events: restored('session', 'Fix the login'),
    variations: {
      'its project was deleted': {
        status: 409,
        async apply(workspace, example) {
          await workspace.deleteForNow('project', projectOf(example))
          return example
        },
      },
      'its project is archived': {
        status: 409,
        async apply(workspace, example) {
          await workspace.archiveProject(projectOf(example))
          return example
        },
      },
      ...ofOtherTypes('/restore', restored),
    },
  },

  purgeDeletion: {
    prepare: prepareDeletion(),
    outOfReach: 403,
    events: purged('session', 'Fix the login'),
    variations: ofOtherTypes('', purged),
  },
}
