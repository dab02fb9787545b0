/** What the pages ask the API about events. */
import { infiniteQueryOptions } from '@tanstack/react-query'
import type { components } from '../../../../client/src/api.ts'
import { filledPage, type Query, queryClient, workspace } from '../api.ts'

export type Event = components['schemas']['Event']
type Filters = Pick<Query<'listAuditEvents'>, 'types' | 'resource' | 'userId' | 'projectId'>
export type EventFilters = { readonly [Name in keyof Filters]?: Filters[Name] | undefined }

interface Page {
  /** The latest first. */
  readonly items: readonly Event[]
  readonly nextCursor: string | null
  /** Where the feed continues. */
  readonly after?: string | undefined
}

const PAGE = 50

/** @param isRestricted whether the session is restricted to projects: it may read the feed only. */
export function eventsQuery(filters: EventFilters, isRestricted: boolean) {
  const queryKey = ['events', 'list', filters, isRestricted]
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }): Promise<Page> => {
      if (!isRestricted) {
        return filledPage((cursor) => workspace.auditEvents.list({ ...filters, limit: PAGE, cursor }).page(), pageParam)
      }
      return readOn(filters, queryClient.getQueryData<{ pages: readonly Page[] }>(queryKey)?.pages[0])
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: (previous) => previous,
  })
}

const FEED_PAGE = 1000
const MAX_FEED_PAGES = 10

/**
 * The latest of all events, for what other pages say of who did something. A session that is restricted to projects
 * may not read them.
 * @param isEnough is asked after each page, with all events so far.
 */
export async function latestEvents(
  filters: Query<'listAuditEvents'>,
  isEnough: (events: readonly Event[]) => boolean = () => false,
): Promise<readonly Event[]> {
  const events: Event[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_FEED_PAGES; pages++) {
    const page = await workspace.auditEvents.list({ ...filters, limit: FEED_PAGE, cursor }).page()
    events.push(...page.items)
    if (isEnough(events) || page.nextCursor === null) break
    cursor = page.nextCursor
  }
  return events
}

/** How many events of the feed are kept. */
export const MAX_KEPT = 500

/** The feed begins with the earliest event. So it is read to its end once, and then from there. */
async function readOn(filters: EventFilters, known: Page = { items: [], nextCursor: null }): Promise<Page> {
  let { items, after } = known
  for (;;) {
    const page = await workspace.events.list({ ...filters, after, limit: FEED_PAGE }).page()
    items = [...page.items.toReversed(), ...items].slice(0, MAX_KEPT)
    after = page.nextCursor
    if (!page.hasMore) return { items, nextCursor: null, after }
  }
}
