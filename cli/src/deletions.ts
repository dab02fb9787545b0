/** `workspace deletions`: what was deleted and can still be restored. */
import { Option } from '@commander-js/extra-typings'
import { type Workspace, WorkspaceError } from '../../client/src/index.ts'
import { countOf } from '../../command-line/src/index.ts'
import { DELETED_TYPES } from '../../src/contracts.ts'
import { describe, given, group, withJson, withLimit } from './command.ts'
import { print, printList } from './output.ts'
import { isConfirmed } from './prompt.ts'
import { find, KINDS, resolveOption } from './resolve.ts'
import { connect, pageSize } from './service.ts'
import { time } from './times.ts'

const PROJECT = [
  '--project <project>',
  'the ID or the name: only the project and what belonged to it; needed with a restricted API key',
] as const
const DELETION = 'the ID or the name of what was deleted, or the ID of the deletion'

const list = withLimit(
  describe('list', 'Lists what was deleted and can still be restored, the latest first.', [
    'deletions list',
    'deletions list --type session --project website',
  ])
    .addOption(new Option('--type <type>', 'only what had this type').choices(DELETED_TYPES))
    .option(...PROJECT),
).action(async ({ type: resourceType, project, ...output }) => {
  const workspace = connect()
  const query = given({ resourceType, projectId: await projectIdOf(workspace, project) })
  await printList(
    output,
    workspace.deletions.list({ ...query, limit: pageSize(output.limit) }),
    {
      ID: ({ id }) => id,
      TYPE: ({ resourceType }) => wordsOf(resourceType),
      NAME: ({ name, resourceId }) => name ?? resourceId,
      DELETED: ({ deletedAt }) => time(deletedAt),
      FINAL: ({ finalAt }) => time(finalAt),
    },
    {
      RESOURCE: ({ resourceId }) => resourceId,
      PROJECT: ({ projectId }) => projectId,
      AGENT: ({ agentId }) => agentId,
    },
  )
})

const restore = withJson(
  describe('restore', 'Restores what was deleted, with everything that was in it.', [
    'deletions restore website',
    'deletions restore "Rebuild the checkout" --project website',
  ])
    .argument('<deletions...>', DELETION)
    .option(...PROJECT),
).action(async (texts, { project, ...output }) => {
  const workspace = connect()
  for (const { id, label } of await deletionsOf(workspace, texts, project)) {
    print(output, await workspace.deletions.restore(id), `Restored ${label}.`)
  }
})

const purge = withJson(
  describe('purge', 'Makes deletions final, after asking: what was deleted cannot be restored any more.', [
    'deletions purge website',
    'deletions purge website --yes',
  ])
    .argument('<deletions...>', DELETION)
    .option(...PROJECT)
    .option('--yes', 'do not ask'),
).action(async (texts, { project, yes, ...output }) => {
  const workspace = connect()
  const deletions = await deletionsOf(workspace, texts, project)
  if (!yes) {
    for (const { label } of deletions) console.error(`Nothing will restore ${label}.`)
    if (!(await isConfirmed(`Purge ${countOf(deletions.length, 'deletion')}?`, '--yes'))) {
      throw new Error('Nothing was purged.')
    }
  }
  for (const { id, label } of deletions) print(output, await workspace.deletions.purge(id), `Purged ${label}.`)
})

/** All are found before the first is changed. */
async function deletionsOf(workspace: Workspace, texts: readonly string[], project: string | undefined) {
  const query = given({ projectId: await projectIdOf(workspace, project) })
  const all: Deletion[] = []
  for await (const deletion of workspace.deletions.list({ ...query, limit: pageSize() })) all.push(deletion)
  const found: (Deletion & { label: string })[] = []
  for (const text of texts) {
    // Who deleted something knows its ID rather than that of the deletion.
    const named = all.map((each) => (each.resourceId === text ? { ...each, name: text } : each))
    const { id } = await find(workspace, { noun: 'deletion', list: async () => named }, text)
    for (const deletion of all.filter((each) => each.id === id)) {
      const { resourceType, name, resourceId } = deletion
      found.push({ ...deletion, label: `the ${wordsOf(resourceType)} ${name ?? resourceId}` })
    }
  }
  return found
}

type Deletion = Awaited<ReturnType<Workspace['deletions']['retrieve']>>

const GONE = 410

/** The ID of a project, deleted or not, or the name of one that is not. A part of a deleted one might be another's. */
function projectIdOf(workspace: Workspace, project: string | undefined): Promise<string | undefined> {
  const kind = { ...KINDS.project, hasPrefixes: false } as const
  return resolveOption(workspace, kind, project).catch((error: unknown) => {
    if (error instanceof WorkspaceError && error.status === GONE) return project
    throw error
  })
}

const wordsOf = (type: string) => type.replace('_', ' ')

export const deletions = group(
  'deletions',
  'Lists what was deleted, restores it, or makes its deletion final.',
  ['deletions list', 'deletions restore website'],
  [list, restore, purge],
)
