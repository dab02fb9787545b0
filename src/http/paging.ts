/** Lists in pages: `limit` and `cursor` in the query, `{ items, nextCursor }` in the response. */
import * as z from 'zod/mini'
import type { Examined } from '../db/examined.ts'
import { digits, docs, text, wholeNumber } from './fields.ts'

const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 1000

const LIMIT = `The maximum number of items on the page, at least 1. A number above ${MAX_PAGE_SIZE} counts as ${MAX_PAGE_SIZE}.`

/** The query parameters of a list. @param cursor the schema of the property that the list is sorted by. */
export function pageQuery(cursor: z.ZodMiniType<string, string>) {
  return {
    limit: z._default(wholeNumber(1), String(DEFAULT_PAGE_SIZE)).register(docs, {
      description: LIMIT,
      default: DEFAULT_PAGE_SIZE,
      component: 'pageLimit',
    }),
    cursor: z.optional(cursor).register(docs, {
      description: 'The `nextCursor` of the previous page.',
      minLength: 1,
      maxLength: 1000,
    }),
  }
}

/** The `limit` of a list whose specification has text of digits. */
export const limitInDigits = z
  ._default(digits(1), String(DEFAULT_PAGE_SIZE))
  .register(docs, { description: LIMIT, component: 'limit' })

/** The query parameter that searches a list. @param what is searched, such as "name". */
export function searchQuery(what: string) {
  const description = `Text that the ${what} contains. ASCII letters match in any case; no character is a wildcard.`
  return { query: z.optional(text(1, 255, { description })) }
}

/** What a list with filters says of its pages. @param filters when it examines: "With `query`". */
export function pagesExamine(filters: string, nouns: string) {
  return `${filters}, a page examines up to 2,500 ${nouns}: it may have few items or none, and still a \`nextCursor\`.`
}

/** The response of a list. @param id the name of its schema in the OpenAPI document. */
export function pageSchema<Item extends z.ZodMiniType>(id: string, item: Item, cursor: z.ZodMiniType<string, string>) {
  return z
    .strictObject({
      items: z.array(item),
      nextCursor: z.nullable(cursor).register(docs, {
        description:
          'The `cursor` of the next page; null on the last page. A page before that may have few items or none.',
      }),
    })
    .register(docs, { id })
}

/** Sorts after every ID and every instant: the first cursor of lists that begin with the latest item. */
export const END = '~'

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
export function toPage<Item extends Position, Position = Item>(
  rows: readonly Item[],
  { limit }: Pick<PageRequest, 'limit'>,
  cursorOf: (last: Position) => string,
  lastExamined?: Position,
) {
  const items = rows.slice(0, pageSizeOf(limit))
  const last = items.at(-1)
  const hasMore = last !== undefined && rows.length > items.length
  const position = hasMore ? last : lastExamined
  return { items, nextCursor: position === undefined ? null : cursorOf(position) }
}

/** The page of a list that may leave out rows (db/examined.ts). @param cursorOf the cursor of the page after a row. */
export function toExaminedPage<Row extends Examined<object>>(
  rows: readonly Row[],
  request: Pick<PageRequest, 'limit'>,
  cursorOf: (last: Row) => string,
) {
  const { items, nextCursor } = toPage(
    rows.filter(({ isLastExamined }) => isLastExamined === 0),
    request,
    cursorOf,
    rows.find(({ isLastExamined }) => isLastExamined === 1),
  )
  return { items: items.map(({ isLastExamined, ...item }) => item), nextCursor }
}

function pageSizeOf(limit: string): number {
  return Math.min(Number(limit), MAX_PAGE_SIZE)
}
