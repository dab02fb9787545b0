/** After a restore: lists the objects that no row refers to as orphans, so that the sweep deletes them after a week. */
import { asc, eq, lte, sql } from 'drizzle-orm'
import type { TickEnvironment } from '../db/database.ts'
import { now, text, textOrNull } from '../db/parameters.ts'
import { insertRow } from '../db/rows.ts'
import { objectSearches, orphanedObjects } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { DAY_MS } from '../durations.ts'
import { isReferenced } from './references.ts'

/** The most objects that R2 lists at once. */
const PAGE_SIZE = 1000
const MAX_PAGES_PER_TICK = 5

/** Another restore may undo this one, and its rows may refer to these objects again. */
const GRACE_MS = 7 * DAY_MS

const startedAt = text('startedAt')
const searchCursor = textOrNull('searchCursor')
const objectKeys = text('objectKeys')
const deleteAfter = text('deleteAfter')

export const selectSearch = unguarded([now], () =>
  query
    .select()
    .from(objectSearches)
    .where(lte(objectSearches.startedAt, now))
    .orderBy(asc(objectSearches.startedAt))
    .limit(1),
)

/** Skips objects that are orphans already, such as those of uploads in progress. */
export const addUnreferencedToOrphans = unguarded([objectKeys, deleteAfter], () =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(
          insertRow(orphanedObjects, {
            objectKey: sql`"listed".value`,
            deleteAfter,
          }),
        )
        .from(sql`json_each(${objectKeys}) as "listed"`)
        .where(sql`not ${isReferenced(sql`"listed".value`)}`),
    )
    .onConflictDoNothing(),
)

export const saveCursor = unguarded([startedAt, searchCursor], () =>
  query
    .update(objectSearches)
    .set({ cursor: sql`${searchCursor}` })
    .where(eq(objectSearches.startedAt, startedAt)),
)

export const endSearch = unguarded([startedAt], () =>
  query.delete(objectSearches).where(eq(objectSearches.startedAt, startedAt)),
)

/** Searches some pages of the store, if a search has been started. */
export async function findOrphans({ DB, OBJECTS }: TickEnvironment, instant: Date): Promise<void> {
  const now = instant.toISOString()
  let {
    search: [search],
  } = await runBatch(DB, { search: selectSearch }, { now })
  for (let page = 0; search && page < MAX_PAGES_PER_TICK; page++) {
    const { startedAt, cursor } = search
    const listed = await OBJECTS.list({ limit: PAGE_SIZE, ...(cursor !== null && { cursor }) })
    const old = listed.objects.filter(({ uploaded }) => uploaded < new Date(startedAt))
    const moveOn = listed.truncated ? saveCursor : endSearch
    ;({
      search: [search],
    } = await runBatch(
      DB,
      { addUnreferencedToOrphans, moveOn, search: selectSearch },
      {
        startedAt,
        searchCursor: listed.truncated ? listed.cursor : null,
        objectKeys: JSON.stringify(old.map(({ key }) => key)),
        deleteAfter: new Date(Date.parse(startedAt) + GRACE_MS).toISOString(),
        now,
      },
    ))
  }
}
