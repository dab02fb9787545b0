/** Lists in pages: `limit` and `cursor` in the query, `{ items, nextCursor }` in the response. */
import * as z from 'zod/mini'
import { docs, wholeNumber } from './fields.ts'

const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 1000

/** The query parameters of a list. @param cursor the schema of the property that the list is sorted by. */
export function pageQuery(cursor: z.ZodMiniType<string, string>) {
  return {
    limit: z._default(wholeNumber(1), String(DEFAULT_PAGE_SIZE)).register(docs, {
      description: `The maximum number of items on the page, at least 1. A number above ${MAX_PAGE_SIZE} counts as ${MAX_PAGE_SIZE}.`,
    }),
    cursor: z.optional(cursor).register(docs, {
      description: 'The `nextCursor` of the previous page.',
      minLength: 1,
      maxLength: 1000,
    }),
  }
}

/** The response of a list. @param id the name of its schema in the OpenAPI document. */
export function pageSchema<Item extends z.ZodMiniType>(id: string, item: Item, cursor: z.ZodMiniType<string, string>) {
  return z
    .strictObject({
      items: z.array(item),
      nextCursor: z
        .nullable(cursor)
        .register(docs, { description: 'The `cursor` of the next page; null on the last page.' }),
    })
    .register(docs, { id })
}

/** Sorts after every ID and every instant: the first cursor of lists that begin with the latest item. */
export const END = '~'

/**
 * No index serves the filters of some lists, because it would add a row to every change. So a page examines at most
 * this many rows. Finding the last of them reads as many entries of an index.
 */
export const MAX_EXAMINED = 2500
/** As a limit of SQLite, for a page without filters. */
const UNLIMITED = -1

/** The parameters of a list whose filters no index serves: a filter that is null holds for every row. */
export function toFilters<Filters extends Readonly<Record<string, string | number | null>>>(filters: Filters) {
  const isFiltered = Object.values(filters).some((filter) => filter !== null)
  return { isFiltered, values: { ...filters, maxExamined: isFiltered ? MAX_EXAMINED : UNLIMITED } }
}

export interface PageRequest {
  readonly limit: string
  readonly cursor?: string | undefined
}

/** The parameters of a list's statement. The empty string sorts before every ID. */
export function toPaging({ limit, cursor = '' }: PageRequest) {
  // The row after the page tells whether there is a next page.
  return { cursor, rowLimit: pageSizeOf(limit) + 1 }
}

/**
 * @param cursorOf the cursor of the page after an item.
 * @param lastExamined the last row that was examined, if there may be others after it.
 */
export function toPage<Item>(
  rows: readonly Item[],
  { limit }: PageRequest,
  cursorOf: (last: Item) => string,
  lastExamined?: { readonly id: string },
) {
  const items = rows.slice(0, pageSizeOf(limit))
  const last = items.at(-1)
  const hasMore = last !== undefined && rows.length > items.length
  return { items, nextCursor: hasMore ? cursorOf(last) : (lastExamined?.id ?? null) }
}

function pageSizeOf(limit: string): number {
  return Math.min(Number(limit), MAX_PAGE_SIZE)
}
