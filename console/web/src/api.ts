/** The API, as the pages use it: the client of this repository, and what the pages ask it for. */
import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useQuery,
  useSuspenseQuery,
} from '@tanstack/react-query'
import type { components, operations } from '../../../client/src/api.ts'
import { Workspace } from '../../../client/src/index.ts'
import type { Scope } from '../../../src/contracts.ts'
import { showToast } from './components/toast.tsx'
import { messageOf, WorkspaceError } from './errors.ts'

type Schemas = components['schemas']
export type Me = Schemas['Me']
export type Run = Schemas['Run']
export type ScheduleSummary = Schemas['ScheduleSummary']
export type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** The Worker puts the token of the session into each request: no script can read it. */
export const workspace = new Workspace({ url: `${location.origin}/api`, apiKey: '' })

const MINUTE_MS = 60_000

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: onQueryError }),
  mutationCache: new MutationCache({ onError: signInAgain }),
  defaultOptions: {
    queries: {
      // The client repeats by itself what is safe to repeat.
      retry: false,
      staleTime: MINUTE_MS,
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    // Without a network, a change fails at once. It must not be made later, when nobody expects it.
    mutations: { networkMode: 'always' },
  },
})

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => workspace.me.retrieve(),
  staleTime: 5 * MINUTE_MS,
})

/** The caller. The layout has loaded it before it shows a page. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data
}

/** What the session may do. A page does not offer the rest. */
export function useCan(): (scope: Scope) => boolean {
  const { scopes } = useMe().apiKey
  return (scope) => scopes.includes(scope)
}

/**
 * A list, of which the pages show the first page. The key begins with the name of the resource, so that an event
 * finds what it makes stale (live.ts).
 */
export function listQuery<Page>(key: readonly [resource: string, ...rest: unknown[]], page: () => Promise<Page>) {
  return queryOptions({ queryKey: key, queryFn: page, placeholderData: keepPreviousData })
}

/** A page of the API examines a limited number of rows, and may have none of those that are asked for. */
const MAX_EMPTY_PAGES = 10

interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

/** Reads on until a page has items. Only a list of which none is left, or which examines very many rows, has none. */
export async function filledPage<Page extends PageOf<unknown>>(
  read: (cursor: string | undefined) => Promise<Page>,
  cursor: string | undefined,
): Promise<Page> {
  let page = await read(cursor)
  for (let pages = 1; pages < MAX_EMPTY_PAGES && page.items.length === 0 && page.nextCursor !== null; pages++) {
    page = await read(page.nextCursor)
  }
  return page
}

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

export function isSignedOut(error: unknown): boolean {
  return error instanceof WorkspaceError && error.status === 401
}

/** Reads again what the pages show of these resources. */
export async function refresh(...resources: readonly string[]): Promise<void> {
  await Promise.all(resources.map((resource) => queryClient.invalidateQueries({ queryKey: [resource] })))
}

const AT_ONCE = 5

/** Does the same to several items, and reads again what the pages show. @returns the errors, each with its item. */
export async function forEach<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  ...resources: readonly string[]
): Promise<(readonly [Item, Error])[]> {
  const waiting = [...items]
  const failed: (readonly [Item, Error])[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const item = next
      await act(item).catch((error: Error) => failed.push([item, error]))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await refresh(...resources)
  return failed
}

/** A page whose first request failed says so itself. Otherwise it keeps showing what it has. */
function onQueryError(error: unknown, { state }: { readonly state: { readonly data: unknown } }): void {
  signInAgain(error)
  if (state.data !== undefined && !isSignedOut(error)) showToast(`Not up to date: ${messageOf(error)}`, true)
}

/** A token or a secret is shown only once. The page is left when the person has closed it. */
const isShowingSecret = () => document.querySelector('[data-secret]') !== null

/** The session has ended. Nothing of what was shown stays in memory. */
function signInAgain(error: unknown): void {
  const { pathname, search } = location
  if (!isSignedOut(error) || pathname === '/sign-in' || isShowingSecret()) return
  location.assign(`/sign-in?${new URLSearchParams({ next: `${pathname}${search}` })}`)
}
