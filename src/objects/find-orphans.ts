/** After a restore: lists the objects that no row refers to as orphans, so that the sweep deletes them after a week. */
import { asc, eq, lte, sql } from 'drizzle-orm'
import { type DatabaseEnvironment, databaseNumbers, requireDatabase } from '../db/database.ts'
import { placesOf } from '../db/directory.ts'
import { now, text, textOrNull } from '../db/parameters.ts'
import { insertRow } from '../db/rows.ts'
import { objectSearches, orphanedObjects } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { DAY_MS } from '../durations.ts'
import { isReferenced } from './references.ts'
import { organizationOf } from './store.ts'

/** The most objects that R2 lists at once. */
const PAGE_SIZE = 1000
const MAX_PAGES_PER_TICK = 5
/** A page takes a call to each database of its objects, and a Worker may make 1,000 calls. */
const MAX_CALLS_PER_PAGE = 150

/** Another restore may undo this one, and its rows may refer to these objects again. */
const GRACE_MS = 7 * DAY_MS

const startedAt = text('startedAt')
const searchCursor = textOrNull('searchCursor')
const objectKeys = text('objectKeys')
const deleteAfter = text('deleteAfter')

export const selectSearch = unguarded({ now }, () =>
  query
    .select()
    .from(objectSearches)
    .where(lte(objectSearches.startedAt, now))
    .orderBy(asc(objectSearches.startedAt))
    .limit(1),
)

/** Skips objects that are orphans already, such as those of uploads in progress. */
export const addUnreferencedToOrphans = unguarded({ objectKeys, deleteAfter }, () =>
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

export const saveCursor = unguarded({ startedAt, searchCursor }, () =>
  query
    .update(objectSearches)
    .set({ cursor: sql`${searchCursor}` })
    .where(eq(objectSearches.startedAt, startedAt)),
)

export const endSearch = unguarded({ startedAt }, () =>
  query.delete(objectSearches).where(eq(objectSearches.startedAt, startedAt)),
)

/**
 * Searches some pages of the store, if a search has been started: in the tick of database 0, for all databases. It
 * leaves out organizations that are unknown or move. If a database does not answer, the next tick repeats the page.
 */
export async function findOrphans(environment: DatabaseEnvironment, instant: Date): Promise<void> {
  const { database, databaseNumber, OBJECTS } = environment
  if (databaseNumber !== 0) return
  const now = instant.toISOString()
  const limit = databaseNumbers(environment).length > MAX_CALLS_PER_PAGE ? MAX_CALLS_PER_PAGE : PAGE_SIZE
  let {
    search: [search],
  } = await runBatch(database, { search: selectSearch }, { now })
  for (let page = 0; search && page < MAX_PAGES_PER_TICK; page++) {
    const { startedAt, cursor } = search
    const listed = await OBJECTS.list({ limit, ...(cursor !== null && { cursor }) })
    const old = listed.objects.filter(({ uploaded }) => uploaded < new Date(startedAt)).map(({ key }) => key)
    const deleteAfter = new Date(Date.parse(startedAt) + GRACE_MS).toISOString()
    const keys = await keysByDatabase(environment, old)
    for (const [number, own] of keys) {
      if (number === 0) continue
      const values = { objectKeys: JSON.stringify(own), deleteAfter }
      await runBatch(requireDatabase(environment, number), { addUnreferencedToOrphans }, values)
    }
    const moveOn = listed.truncated ? saveCursor : endSearch
    ;({
      search: [search],
    } = await runBatch(
      database,
      { addUnreferencedToOrphans, moveOn, search: selectSearch },
      {
        startedAt,
        searchCursor: listed.truncated ? listed.cursor : null,
        objectKeys: JSON.stringify(keys.get(0) ?? []),
        deleteAfter,
        now,
      },
    ))
  }
}

/** The keys of objects by the database of their organization. */
async function keysByDatabase(environment: DatabaseEnvironment, keys: readonly string[]) {
  const placeOf = await placesOf(environment, keys.map(organizationOf))
  const settled = keys.filter((key) => placeOf(organizationOf(key))?.movingTo === null)
  return Map.groupBy(settled, (key) => placeOf(organizationOf(key))?.database ?? 0)
}
