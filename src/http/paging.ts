/** Lists in pages: `limit` and `cursor` in the query, `{ items, nextCursor }` in the answer (SPEC.txt, Endpoints, 4). */
import * as z from 'zod/mini'
import { docs, parameter } from './fields.ts'

const DEFAULT_PAGE_SIZE = 50
const LARGEST_PAGE_SIZE = 1000

/** The query parameters of a list. @param cursor what the list is in order of. */
export function pageQuery(cursor: z.ZodMiniType<string, string>) {
  return {
    limit: z
      ._default(
        parameter().check(
          z.regex(/^\d+$/, { error: 'expected digits only', abort: true }),
          z.refine((digits) => Number(digits) > 0, 'expected at least 1'),
        ),
        String(DEFAULT_PAGE_SIZE),
      )
      .register(docs, {
        description: `The most items of a page, from 1; above ${LARGEST_PAGE_SIZE} it means ${LARGEST_PAGE_SIZE}.`,
        example: '100',
      }),
    cursor: z
      .optional(cursor)
      .register(docs, { description: 'The `nextCursor` of the page before.', minLength: 1, maxLength: 1000 }),
  }
}

/** The answer of a list. @param id the name of its schema in the document. */
export function pageSchema<Item extends z.ZodMiniType>(
  id: string,
  item: Item,
  cursor: z.ZodMiniType<string, string>,
) {
  return z
    .strictObject({
      items: z.array(item),
      nextCursor: z
        .nullable(cursor)
        .register(docs, { description: 'Where the next page begins; null on the last page.' }),
    })
    .register(docs, { id })
}

/** Comes after every id and every time, for lists that begin with the latest. */
export const END = '~'

export interface PageRequest {
  readonly limit: string
  readonly cursor?: string | undefined
}

/** What the statement of a list is bound to: the empty text comes before every id. */
export function pagingOf({ limit, cursor = '' }: PageRequest) {
  // One row more than the page: it tells whether there is a next page.
  return { cursor, rowLimit: pageSizeOf(limit) + 1 }
}

/** The page that the rows make. @param cursorOf where the next page begins, if this item is the last of its page. */
export function pageOf<Item>(
  rows: readonly Item[],
  { limit }: PageRequest,
  cursorOf: (last: Item) => string,
) {
  const items = rows.slice(0, pageSizeOf(limit))
  const last = items.at(-1)
  return { items, nextCursor: last !== undefined && rows.length > items.length ? cursorOf(last) : null }
}

function pageSizeOf(limit: string): number {
  return Math.min(Number(limit), LARGEST_PAGE_SIZE)
}
