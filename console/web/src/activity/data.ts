/** What the pages ask the API about events. */
import { type Query, workspace } from '../api.ts'
import type { Event } from '../events.ts'
import { type Grown, growingQuery, readNew } from '../lists.ts'

type Filters = Pick<Query<'listAuditEvents'>, 'types' | 'resource' | 'userId' | 'projectId' | 'since' | 'until'>
export type EventFilters = { readonly [Name in keyof Filters]?: Filters[Name] | undefined }

/** The times of a day, such as "2026-11-22", in the person's time zone. */
export function timesOf(day: string): Pick<EventFilters, 'since' | 'until'> {
  const start = new Date(`${day}T00:00`)
  // Not 24 hours later: the clock may change.
  const end = new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1)
  return { since: start.toISOString(), until: end.toISOString() }
}

interface List extends Grown<Event> {
  /** Where the feed continues. */
  readonly after?: string | undefined
}

const PAGE = 50

/** The latest first. @param isRestricted whether the session is restricted to projects: it may read the feed only. */
export const eventsQuery = (filters: EventFilters, isRestricted: boolean) => {
  const read = (limit: number, cursor: string | undefined) =>
    workspace.auditEvents.list({ ...filters, limit, cursor }).page()
  return growingQuery<Event, List>({
    queryKey: ['events', 'list', filters, isRestricted],
    limit: PAGE,
    read,
    refresh: (known) => (isRestricted ? readOn(filters, known()) : readNew((cursor) => read(PAGE, cursor), known)),
  })
}

const FEED_PAGE = 1000

/** How many events of the feed are kept. */
export const MAX_KEPT = 500

/** The feed begins with the earliest event. So it is read to its end once, and then from there. */
async function readOn(filters: EventFilters, known: List = { items: [], nextCursor: null }): Promise<List> {
  let { items, after } = known
  for (;;) {
    const page = await workspace.events.list({ ...filters, after, limit: FEED_PAGE }).page()
    items = [...page.items.toReversed(), ...items].slice(0, MAX_KEPT)
    after = page.nextCursor
    if (!page.hasMore) return { items, nextCursor: null, after }
  }
}
