/** `workspace projects`, `agents`, `sessions`, `pull-requests` and `users`: the resources of your platform. */
import { v7 as newUuid } from 'uuid'
import type { Call, Workspace } from '../../client/src/index.ts'
import { describe, group, withJson, withLimit } from './command.ts'
import { type Columns, outcomeLine, print, printList } from './output.ts'
import { KINDS, resolve, resolveOption } from './resolve.ts'
import { CREATED, connect, pageSize } from './service.ts'
import { time } from './times.ts'

const ID = '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900'

interface Resource {
  readonly id: string
  readonly name: string
  readonly projectId?: string
  readonly archivedAt?: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** The methods of the client that all five have. */
interface Methods {
  list(options: object): AsyncIterable<Resource>
  put(id: string, body: { name: string; projectId: string }): Call<Resource>
  delete(id: string): Promise<{ readonly id: string }>
}

interface ArchivableMethods extends Methods {
  update(id: string, body: { archived: boolean }): Promise<Resource>
}

interface Facts {
  /** The name of the command. */
  readonly name: string
  readonly kind: (typeof KINDS)['project' | 'agent' | 'session' | 'pullRequest' | 'user']
  readonly methods: (workspace: Workspace) => Methods
  readonly archivable?: (workspace: Workspace) => ArchivableMethods
  readonly isOfProject?: true
  readonly exampleId: string
  readonly exampleName: string
  /** What goes with it, as the rest of a sentence. */
  readonly deletion: string
}

function resourceGroup(facts: Facts) {
  const { name, kind, methods, archivable, isOfProject, exampleId, exampleName, deletion } = facts
  const { noun } = kind
  const example = 'retrieve' in kind ? exampleId : `"${exampleName}"`
  const ofProject = isOfProject ? ' --project website' : ''
  const argument = ['<ids...>', `the ID of the ${noun}, its first characters, or the name`] as const

  const list = withLimit(
    describe('list', `Lists ${noun}s${isOfProject ? ', the latest first' : ', sorted by ID'}.`, [
      `${name} list`,
      `${name} list --query ${exampleName.split(' ')[0]?.toLowerCase()} -o wide`,
    ]).option('--query <text>', 'only those whose name contains this text'),
  )
  if (isOfProject) list.option('--project <project>', 'only those of this project')
  list.action(async ({ query, ...output }) => {
    const workspace = connect()
    const { project } = output as { project?: string }
    const projectId = await resolveOption(workspace, KINDS.project, project)
    const order = isOfProject && '-createdAt'
    const options = { ...(query && { query }), ...(projectId && { projectId }), ...(order && { order }) }
    const items = methods(workspace).list({ ...options, limit: pageSize(output.limit) })
    const columns: Columns<Resource> = {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      ...(isOfProject && { PROJECT: ({ projectId }: Resource) => projectId }),
      CREATED: ({ createdAt }) => time(createdAt),
      ...(archivable && { ARCHIVED: ({ archivedAt }: Resource) => time(archivedAt) }),
    }
    await printList(output, items, columns, { UPDATED: ({ updatedAt }) => time(updatedAt) })
  })

  const put = withJson(
    describe('put', `Creates a ${noun}, or renames the one that has the ID.`.replace('a agent', 'an agent'), [
      `${name} put ${exampleId} --name "${exampleName}"${ofProject}`,
    ])
      .argument('[id]', 'the ID; default: a new UUID')
      .requiredOption('--name <name>', 'the display name'),
  )
  if (isOfProject) put.requiredOption('--project <project>', 'the project that it belongs to')
  put.action(async (id = newUuid(), { name, ...output }) => {
    const workspace = connect()
    const { project } = output as { project?: string }
    const projectId = await resolveOption(workspace, KINDS.project, project)
    // Those without a project refuse a projectId.
    const body = { name, ...(projectId && { projectId }) } as { name: string; projectId: string }
    const { data, response } = await methods(workspace).put(id, body).withResponse()
    const outcome = response.status === CREATED ? 'created' : 'updated'
    console.log(outcomeLine(output, outcome, data.id, `, ${data.name}`, data))
  })

  const remove = withJson(
    describe('delete', `Deletes ${noun}s${deletion}.`, [`${name} delete ${example}`]).argument(...argument),
  ).action(async (texts, output) => {
    const workspace = connect()
    for (const id of await resolveAll(workspace, texts)) {
      print(output, await methods(workspace).delete(id), `Deleted ${id}.`)
    }
  })

  // All are found before the first is changed.
  const resolveAll = async (workspace: Workspace, texts: readonly string[]) => {
    const ids: string[] = []
    for (const text of texts) ids.push(await resolve(workspace, kind, text))
    return ids
  }

  const archive = (archived: boolean) =>
    withJson(
      describe(
        archived ? 'archive' : 'unarchive',
        archived ? `Archives ${noun}s: they can be read and not changed.` : `Makes archived ${noun}s active again.`,
        [`${name} ${archived ? 'archive' : 'unarchive'} ${example}`],
      ).argument(...argument),
    ).action(async (texts, output) => {
      const workspace = connect()
      for (const id of await resolveAll(workspace, texts)) {
        const updated = await archivable?.(workspace).update(id, { archived })
        print(output, { ...updated }, `${archived ? 'Archived' : 'Unarchived'} ${id}.`)
      }
    })

  const verbs = archivable ? 'Lists, creates, renames, archives and deletes' : 'Lists, creates, renames and deletes'
  return group(
    name,
    `${verbs} ${noun}s.`,
    [`${name} list`, `${name} put ${exampleId} --name "${exampleName}"${ofProject}`],
    [list, put, ...(archivable ? [archive(true), archive(false)] : []), remove],
  )
}

// The methods have narrower types: a session needs a project, and a project has none.
const projectMethods = ({ projects }: Workspace) => projects as unknown as ArchivableMethods
const agentMethods = ({ agents }: Workspace) => agents as unknown as ArchivableMethods

export const resources = [
  resourceGroup({
    name: 'projects',
    kind: KINDS.project,
    methods: projectMethods,
    archivable: projectMethods,
    exampleId: 'website',
    exampleName: 'Website',
    deletion: ' with all that is in them',
  }),
  resourceGroup({
    name: 'agents',
    kind: KINDS.agent,
    methods: agentMethods,
    archivable: agentMethods,
    exampleId: ID,
    exampleName: 'Reviewer',
    deletion: ' with their schedules',
  }),
  resourceGroup({
    name: 'sessions',
    kind: KINDS.session,
    methods: ({ sessions }) => sessions as unknown as Methods,
    isOfProject: true,
    exampleId: ID,
    exampleName: 'Rebuild the checkout',
    deletion: ' with their files',
  }),
  resourceGroup({
    name: 'pull-requests',
    kind: KINDS.pullRequest,
    methods: ({ pullRequests }) => pullRequests as unknown as Methods,
    isOfProject: true,
    exampleId: ID,
    exampleName: 'Accept Apple Pay',
    deletion: '',
  }),
  resourceGroup({
    name: 'users',
    kind: KINDS.user,
    methods: ({ users }) => users as unknown as Methods,
    exampleId: 'ada',
    exampleName: 'Ada Lovelace',
    deletion: ', and revokes the API keys that act as them',
  }),
]
