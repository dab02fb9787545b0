/** `workspace projects`, `agents`, `sessions`, `pull-requests` and `users`: the resources of your platform. */
import { v7 as newUuid } from 'uuid'
import type { Call, components, Workspace } from '../../client/src/index.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { describe, group, withJson, withLimit } from './command.ts'
import { type Columns, outcomeLine, print, printList } from './output.ts'
import { KINDS, resolve, resolveOption } from './resolve.ts'
import { CREATED, connect, pageSize } from './service.ts'
import { time } from './times.ts'

const ID = '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900'

type Schemas = components['schemas']

/** What all five have. */
type Common = Pick<Schemas['User'], 'id' | 'name' | 'createdAt' | 'updatedAt'>

interface Facts<Resource extends Common> {
  /** The name of the command. */
  readonly name: string
  readonly kind: (typeof KINDS)['project' | 'agent' | 'session' | 'pullRequest' | 'user']
  readonly list: (
    workspace: Workspace,
    options: { readonly query?: string; readonly projectId?: string; readonly limit: number },
  ) => AsyncIterable<Resource>
  readonly put: (
    workspace: Workspace,
    id: string,
    body: { readonly name: string; readonly projectId: string; readonly description: string | null },
  ) => Call<Resource>
  readonly delete: (workspace: Workspace, id: string) => Promise<{ readonly id: string }>
  /** The project of a resource that belongs to one. */
  readonly projectOf?: (resource: Resource) => string
  /** Only of projects and agents. */
  readonly update?: (workspace: Workspace, id: string, body: Schemas['ProjectUpdate']) => Promise<Resource>
  readonly described?: (resource: Resource) => Pick<Schemas['Project'], 'description' | 'archivedAt'>
  readonly exampleId: string
  readonly exampleName: string
  /** What goes with it, as the rest of a sentence. */
  readonly deletion: string
}

function resourceGroup<Resource extends Common>(facts: Facts<Resource>) {
  const { name, kind, projectOf, update, described, exampleId, exampleName, deletion } = facts
  const { noun } = kind
  const example = 'retrieve' in kind ? exampleId : `"${exampleName}"`
  const ofProject = projectOf ? ' --project website' : ''
  const argument = ['<ids...>', `the ID of the ${noun}, its first characters, or the name`] as const

  const list = withLimit(
    describe('list', `Lists ${noun}s${projectOf ? ', the latest first' : ', sorted by ID'}.`, [
      `${name} list`,
      `${name} list --query ${exampleName.split(' ')[0]?.toLowerCase()} -o wide`,
    ]).option('--query <text>', 'only those whose name contains this text'),
  )
  if (projectOf) list.option('--project <project>', 'only those of this project')
  list.action(async ({ query, ...output }) => {
    const workspace = connect()
    const { project } = output as { project?: string }
    const projectId = await resolveOption(workspace, KINDS.project, project)
    const options = { ...(query && { query }), ...(projectId && { projectId }), limit: pageSize(output.limit) }
    const columns: Columns<Resource> = {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      ...(projectOf && { PROJECT: projectOf }),
      CREATED: ({ createdAt }) => time(createdAt),
      ...(described && { ARCHIVED: (resource: Resource) => time(described(resource).archivedAt) }),
    }
    const wide: Columns<Resource> = {
      UPDATED: ({ updatedAt }) => time(updatedAt),
      ...(described && { DESCRIPTION: (resource: Resource) => described(resource).description ?? '' }),
    }
    await printList(output, facts.list(workspace, options), columns, wide)
  })

  const put = withJson(
    describe('put', `Creates a ${noun}, or replaces the one that has the ID.`.replace('a agent', 'an agent'), [
      `${name} put ${exampleId} --name "${exampleName}"${ofProject}`,
    ])
      .argument('[id]', 'the ID; default: a new UUID')
      .requiredOption('--name <name>', 'the display name'),
  )
  if (projectOf) put.requiredOption('--project <project>', 'the project that it belongs to')
  if (described) put.option('--description <text>', 'what it is for; default: none')
  put.action(async (id = newUuid(), { name, ...output }) => {
    const workspace = connect()
    const { project, description = null } = output as { project?: string; description?: string }
    const projectId = await resolveOption(workspace, KINDS.project, project)
    // Only what belongs to a project sends it, and requires the option.
    const body = { name, projectId: projectId ?? '', description }
    const { data, response } = await facts.put(workspace, id, body).withResponse()
    const outcome = response.status === CREATED ? 'created' : 'updated'
    console.log(outcomeLine(output, outcome, data.id, `, ${data.name}`, data))
  })

  const remove = withJson(
    describe('delete', `Deletes ${noun}s${deletion}.`, [`${name} delete ${example}`]).argument(...argument),
  ).action(async (texts, output) => {
    const workspace = connect()
    for (const id of await resolveAll(workspace, texts)) {
      print(output, await facts.delete(workspace, id), `Deleted ${id}.`)
    }
  })

  // All are found before the first is changed.
  const resolveAll = async (workspace: Workspace, texts: readonly string[]) => {
    const ids: string[] = []
    for (const text of texts) ids.push(await resolve(workspace, kind, text))
    return ids
  }

  const change = (update: NonNullable<Facts<Resource>['update']>) =>
    withJson(
      describe('update', `Changes a ${noun}.`.replace('a agent', 'an agent'), [
        `${name} update ${example} --description "Owned by the web team."`,
      ])
        .argument('<id>', argument[1])
        .option('--name <name>', 'the display name')
        .option('--description <text>', 'what it is for')
        .option('--no-description', 'without a description'),
    ).action(async (text, { name, description, ...output }) => {
      const changes = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description === false ? null : description }),
      }
      if (Object.keys(changes).length === 0) throw new UsageError('Pass --name, --description or --no-description.')
      const workspace = connect()
      const changed = await update(workspace, await resolve(workspace, kind, text), changes)
      console.log(outcomeLine(output, 'updated', changed.id, `, ${changed.name}`, changed))
    })

  const archive = (archived: boolean, update: NonNullable<Facts<Resource>['update']>) =>
    withJson(
      describe(
        archived ? 'archive' : 'unarchive',
        archived ? `Archives ${noun}s: they can be read and not changed.` : `Makes archived ${noun}s active again.`,
        [`${name} ${archived ? 'archive' : 'unarchive'} ${example}`],
      ).argument(...argument),
    ).action(async (texts, output) => {
      const workspace = connect()
      for (const id of await resolveAll(workspace, texts)) {
        print(output, await update(workspace, id, { archived }), `${archived ? 'Archived' : 'Unarchived'} ${id}.`)
      }
    })

  const verbs = update ? 'Lists, creates, changes, archives and deletes' : 'Lists, creates, renames and deletes'
  return group(
    name,
    `${verbs} ${noun}s.`,
    [`${name} list`, `${name} put ${exampleId} --name "${exampleName}"${ofProject}`],
    [list, put, ...(update ? [change(update), archive(true, update), archive(false, update)] : []), remove],
  )
}

export const resources = [
  resourceGroup({
    name: 'projects',
    kind: KINDS.project,
    list: ({ projects }, options) => projects.list(options),
    put: ({ projects }, id, { name, description }) => projects.put(id, { name, description }),
    delete: ({ projects }, id) => projects.delete(id),
    update: ({ projects }, id, body) => projects.update(id, body),
    described: (project) => project,
    exampleId: 'website',
    exampleName: 'Website',
    deletion: ' with all that is in them',
  }),
  resourceGroup({
    name: 'agents',
    kind: KINDS.agent,
    list: ({ agents }, options) => agents.list(options),
    put: ({ agents }, id, { name, description }) => agents.put(id, { name, description }),
    delete: ({ agents }, id) => agents.delete(id),
    update: ({ agents }, id, body) => agents.update(id, body),
    described: (agent) => agent,
    exampleId: ID,
    exampleName: 'Reviewer',
    deletion: ' with their schedules',
  }),
  resourceGroup({
    name: 'sessions',
    kind: KINDS.session,
    list: ({ sessions }, options) => sessions.list({ ...options, order: '-createdAt' }),
    put: ({ sessions }, id, { name, projectId }) => sessions.put(id, { name, projectId }),
    delete: ({ sessions }, id) => sessions.delete(id),
    projectOf: ({ projectId }) => projectId,
    exampleId: ID,
    exampleName: 'Rebuild the checkout',
    deletion: ' with their files',
  }),
  resourceGroup({
    name: 'pull-requests',
    kind: KINDS.pullRequest,
    list: ({ pullRequests }, options) => pullRequests.list({ ...options, order: '-createdAt' }),
    put: ({ pullRequests }, id, { name, projectId }) => pullRequests.put(id, { name, projectId }),
    delete: ({ pullRequests }, id) => pullRequests.delete(id),
    projectOf: ({ projectId }) => projectId,
    exampleId: ID,
    exampleName: 'Accept Apple Pay',
    deletion: '',
  }),
  resourceGroup({
    name: 'users',
    kind: KINDS.user,
    list: ({ users }, options) => users.list(options),
    put: ({ users }, id, { name }) => users.put(id, { name }),
    delete: ({ users }, id) => users.delete(id),
    exampleId: 'ada',
    exampleName: 'Ada Lovelace',
    deletion: ', and revokes the API keys that act as them',
  }),
]
