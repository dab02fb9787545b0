/** Names of projects, agents and users. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useCan, workspace } from './api.ts'
import { WorkspaceError } from './errors.ts'
import { MINUTE_MS } from './time.ts'

const NAMED = ['projects', 'agents', 'users'] as const
type Named = (typeof NAMED)[number]
const MAX_NAMES = 1000
/** How many names beyond those are read, one by one. */
const MAX_FURTHER_NAMES = 200

const namesQuery = (kind: Named) =>
  queryOptions({
    queryKey: [kind, 'names'],
    queryFn: async () => {
      const { items, nextCursor } = await workspace[kind].list({ limit: MAX_NAMES }).page()
      return { names: new Map(items.map(({ id, name }) => [id, name])), areAll: nextCursor === null }
    },
    staleTime: 5 * MINUTE_MS,
  })

/** The names that were asked for one by one. Those of a kind are refreshed with it. */
const furtherNames = new Set<string>()

const nameQuery = (kind: Named, id: string) =>
  queryOptions({
    queryKey: [kind, 'name', id],
    queryFn: async () => {
      furtherNames.add(id)
      const named = await workspace[kind].retrieve(id).catch((error: unknown) => {
        if (error instanceof WorkspaceError && (error.status === 404 || error.status === 410)) return undefined
        throw error
      })
      return named?.name ?? null
    },
    staleTime: 5 * MINUTE_MS,
  })

const SCOPE_OF_NAMES = { projects: 'projects:read', agents: 'agents:read', users: 'users:read' } as const
const NO_NAMES: ReadonlyMap<string, string> = new Map()

/**
 * The names to choose from, by ID: those of the first page of projects, agents or users. Empty while they load, and of
 * those that the session may not read. `useName` finds each name.
 */
export function useNames(kind: Named): ReadonlyMap<string, string> {
  const can = useCan()
  const { data } = useQuery({ ...namesQuery(kind), enabled: can(SCOPE_OF_NAMES[kind]) })
  return data?.names ?? NO_NAMES
}

/**
 * The name of a project, an agent or a user; undefined while it loads, and if the session may not read it or it was
 * deleted. In an organization with more than the list has, it is read by its ID.
 */
export function useName(kind: Named, id: string | null | undefined): string | undefined {
  const can = useCan()
  const { data } = useQuery({ ...namesQuery(kind), enabled: can(SCOPE_OF_NAMES[kind]) && id != null })
  const listed = id == null ? undefined : data?.names.get(id)
  const isMissing = id != null && listed === undefined && data?.areAll === false
  const mayAsk = isMissing && (furtherNames.has(id) || furtherNames.size < MAX_FURTHER_NAMES)
  const { data: name } = useQuery({ ...nameQuery(kind, id ?? ''), enabled: mayAsk })
  return listed ?? name ?? undefined
}
