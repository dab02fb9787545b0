/** Lists of the API: their first page, and those that grow by "Show more". */
import { keepPreviousData, queryOptions, replaceEqualDeep, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { queryClient } from './connection.ts'
import { showError } from './messages.ts'

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

interface Identified {
  readonly id: string
}

/** What a list has so far, and where it continues. */
export interface Grown<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

type ReadPage<Item> = (limit: number, cursor: string | undefined) => Promise<PageOf<Item>>

/** How many items a page of the API has at most. */
const MAX_LIMIT = 1000

interface GrowingOptions<Item, Data> {
  /** Begins with the name of the resource, as that of every list. */
  readonly queryKey: readonly [resource: string, ...rest: unknown[]]
  readonly limit: number
  /** The limit of the pages behind the first; default: the same. */
  readonly furtherLimit?: number
  readonly read: ReadPage<Item>
  /** Reads the list, again if there is one. Default: all that it has is read again, a thousand items at once. */
  readonly refresh?: (known: () => Data | undefined) => Promise<Data>
  readonly refetchInterval?: number
}

/** A list that grows by "Show more" (`useGrowing`). */
export function growingQuery<Item extends Identified, Data extends Grown<Item> = Grown<Item>>({
  queryKey,
  limit,
  furtherLimit = limit,
  read,
  refresh,
  ...rest
}: GrowingOptions<Item, Data>) {
  const filled: ReadPage<Item> = (each, start) => filledPage((cursor) => read(each, cursor), start)
  const known = () => queryClient.getQueryData<Data>(queryKey)
  const options = queryOptions({
    ...rest,
    queryKey,
    queryFn: (): Promise<Grown<Item>> => refresh?.(known) ?? readAgain(filled, limit, () => known()?.items.length),
    // The list before is of the same kind, if it only was filtered in another way.
    placeholderData: (previous, before) => (before?.queryKey[0] === queryKey[0] ? previous : undefined),
    structuralSharing: (before, after) => shared(before as Grown<Item> | undefined, after as Grown<Item>),
  })
  const readMore = async () => {
    for (let list = known(); list && list.nextCursor !== null; list = known()) {
      const { items, nextCursor } = await filled(furtherLimit, list.nextCursor)
      // Meanwhile the list may have been refreshed, and end elsewhere.
      if (known()?.nextCursor !== list.nextCursor) continue
      queryClient.setQueryData<Grown<Item>>(queryKey, (now = list) => ({ items: [...now.items, ...items], nextCursor }))
      return
    }
  }
  return { options, readMore }
}

/** @param length how many items the list has, which grows if "Show more" is pressed meanwhile. */
async function readAgain<Item>(read: ReadPage<Item>, limit: number, length: () => number | undefined) {
  const items: Item[] = []
  let nextCursor: string | null | undefined
  do {
    const missing = (length() ?? 0) - items.length
    const page = await read(Math.min(Math.max(missing, limit), MAX_LIMIT), nextCursor ?? undefined)
    items.push(...page.items)
    nextCursor = page.nextCursor
    if (page.items.length === 0) break
  } while (nextCursor !== null && items.length < (length() ?? 0))
  return { items, nextCursor }
}

/** What has not changed is the same object, wherever it is in the list, so that its row is not drawn again. */
function shared<Item extends Identified>(before: Grown<Item> | undefined, after: Grown<Item>): Grown<Item> {
  if (before === undefined) return after
  const known = new Map(before.items.map((item) => [item.id, item]))
  const items = after.items.map((item) => replaceEqualDeep(known.get(item.id), item))
  const isSame = items.length === before.items.length && items.every((item, index) => item === before.items[index])
  return isSame ? replaceEqualDeep(before, { ...after, items: before.items }) : { ...after, items }
}

/**
 * Reads what is new of a list whose items never change: the pages until one that has a known item.
 * @param known what the list has, the latest first. It may grow meanwhile.
 */
export async function readNew<Item extends Identified>(
  read: (cursor: string | undefined) => Promise<PageOf<Item>>,
  known: () => Grown<Item> | undefined,
): Promise<Grown<Item>> {
  const items: Item[] = []
  for (let cursor: string | undefined; ; ) {
    const page: PageOf<Item> = await filledPage(read, cursor)
    const { items: old = [], nextCursor = null } = known() ?? {}
    const ids = new Set(old.map(({ id }) => id))
    const overlap = page.items.findIndex(({ id }) => ids.has(id))
    if (overlap >= 0) return { items: [...items, ...page.items.slice(0, overlap), ...old], nextCursor }
    items.push(...page.items)
    // The latest of very many new ones are shown, and "Show more" leads to the others.
    if (page.nextCursor === null || old.length === 0 || items.length >= MAX_LIMIT) {
      return { items, nextCursor: page.nextCursor }
    }
    cursor = page.nextCursor
  }
}

export interface Growing<Item> {
  readonly items: readonly Item[]
  /** The first read has not ended. */
  readonly isPending: boolean
  /** Why there is nothing to show. */
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isGrowing: boolean
  readonly retry: () => void
  readonly showMore: () => void
}

/** @param readsAll whether it grows by itself until its end. */
export function useGrowing<Item extends Identified>(
  { options, readMore }: ReturnType<typeof growingQuery<Item>>,
  readsAll = false,
): Growing<Item> {
  const { data, isPending, isLoadingError, isPlaceholderData, error, refetch } = useQuery(options)
  const { mutate, isPending: isGrowing, isError } = useMutation({ mutationFn: readMore, onError: showError })
  const hasMore = data !== undefined && data.nextCursor !== null && !isPlaceholderData
  const continues = readsAll && hasMore && !isGrowing && !isError
  useEffect(() => {
    if (continues) mutate()
  }, [continues, mutate])
  return {
    items: data?.items ?? [],
    isPending,
    error: isLoadingError ? error : null,
    // What continues by itself does so by hand after an error.
    hasMore: hasMore && (!readsAll || isError),
    isGrowing,
    retry: () => void refetch(),
    showMore: () => mutate(),
  }
}
