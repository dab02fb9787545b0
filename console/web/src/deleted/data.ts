/** What the pages ask the API about deletions, and how they undo them. */
import type { components } from '../../../../client/src/api.ts'
import { type Query, refresh, useCan, useMe, workspace } from '../api.ts'
import { latestEvents } from '../events.ts'
import { growingQuery, listQuery } from '../lists.ts'
import { STALE } from '../live.ts'
import { type MessageAction, showError, showMessage } from '../messages.ts'
import { DELETED_KINDS } from './kinds.ts'

export type Deletion = components['schemas']['Deletion']
type Filters = Pick<Query<'listDeletions'>, 'resourceType' | 'projectId'>

const PAGE = 100

/** The latest first. */
export const deletionsQuery = (filters: { readonly [Name in keyof Filters]?: Filters[Name] | undefined }) =>
  growingQuery({
    queryKey: ['deletions', 'list', filters],
    limit: PAGE,
    read: (limit, cursor) => workspace.deletions.list({ ...filters, limit, cursor }).page(),
  })

/** The name that events give a type. */
const toEventType = (resourceType: Deletion['resourceType']) => resourceType.replace('_', '-')

const TYPES = DELETED_KINDS.map((kind) => `${toEventType(kind)}.deleted`).join(',')

/** Who deleted what, by `keyOf`. @param since the time of the earliest deletion. */
export const actorsQuery = (since: string) =>
  listQuery(['events', 'deletions', since], async () => {
    const events = await latestEvents({ types: TYPES, since })
    // The latest event of a resource comes first, and stays.
    return new Map(events.toReversed().map(({ resource, actor }) => [`${resource.type}/${resource.id}`, actor]))
  })

export const keyOf = ({ resourceType, resourceId }: Deletion) => `${toEventType(resourceType)}/${resourceId}`

export const restore = ({ id }: Deletion) => workspace.deletions.restore(id)
export const purge = ({ id }: Deletion) => workspace.deletions.purge(id)

/** What shows these resources, and what they bring back with them. */
export const staleBy = (deletions: readonly Deletion[]) => [
  'deletions',
  ...new Set(deletions.flatMap((deletion) => STALE[toEventType(deletion.resourceType)] ?? [])),
]

type Deleted = Pick<Deletion, 'resourceType' | 'resourceId'> & { readonly projectId?: string | undefined }

/** Says that something was deleted, and offers to undo that if the session may. */
export function useShowDeleted(): (name: string, deleted: Deleted) => Promise<void> {
  const can = useCan()
  const { projectIds } = useMe().apiKey
  return async (name, deleted) => {
    // A session that is restricted to projects has to name one.
    const mayUndo =
      can('deletions:read') && can('deletions:write') && (projectIds === null || deleted.projectId !== undefined)
    // Without a deletion, it is final.
    const deletion = mayUndo ? await find(deleted).catch(() => undefined) : undefined
    showMessage(`${name} deleted.`, false, deletion && undoOf(name, deletion))
  }
}

async function find({ resourceType, resourceId, projectId }: Deleted): Promise<Deletion | undefined> {
  const { items } = await workspace.deletions.list({ resourceType, projectId, limit: PAGE }).page()
  return items.find((deletion) => deletion.resourceId === resourceId)
}

function undoOf(name: string, deletion: Deletion): MessageAction {
  const undo = async () => {
    await restore(deletion)
    showMessage(`${name} restored.`)
    await refresh(...staleBy([deletion]))
  }
  return { label: 'Undo', onSelect: () => void undo().catch(showError) }
}
