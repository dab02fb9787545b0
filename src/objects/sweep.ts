/**
 * The sweep: deletes orphaned objects when they are due. It never deletes an object that a row refers to: after a
 * restore, an orphaned object may be in use again. Only the sweep and completed uploads remove objects from the
 * orphans.
 */
import { asc, inArray, lte, sql } from 'drizzle-orm'
import type { TickEnvironment } from '../db/database.ts'
import { now, text } from '../db/parameters.ts'
import { orphanedObjects } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { isReferenced } from './references.ts'

/** The most objects that R2 deletes in one call. */
const PAGE_SIZE = 1000
const MAX_PAGES_PER_TICK = 10

const objectKeys = text('objectKeys')

export const selectDue = unguarded([now], () =>
  query
    .select({
      objectKey: orphanedObjects.objectKey,
      isReferenced: isReferenced(orphanedObjects.objectKey).as('isReferenced'),
    })
    .from(orphanedObjects)
    .where(lte(orphanedObjects.deleteAfter, now))
    .orderBy(asc(orphanedObjects.deleteAfter))
    .limit(PAGE_SIZE),
)

export const removeFromOrphans = unguarded([objectKeys], () =>
  query
    .delete(orphanedObjects)
    .where(inArray(orphanedObjects.objectKey, sql`(select value from json_each(${objectKeys}))`)),
)

/** Deletes some pages of the objects that are due. If R2 fails, they stay in the table for the next tick. */
export async function deleteOrphanedObjects({ DB, OBJECTS }: TickEnvironment, instant: Date): Promise<void> {
  const now = instant.toISOString()
  for (let page = 0; page < MAX_PAGES_PER_TICK; page++) {
    const { due } = await runBatch(DB, { due: selectDue }, { now })
    const objectKeys = due.map(({ objectKey }) => objectKey)
    if (objectKeys.length === 0) return
    const unreferenced = due.flatMap((object) => (object.isReferenced ? [] : [object.objectKey]))
    // R2 refuses an empty list.
    if (unreferenced.length > 0) await OBJECTS.delete(unreferenced)
    await runBatch(DB, { removeFromOrphans }, { objectKeys: JSON.stringify(objectKeys) })
    if (objectKeys.length < PAGE_SIZE) return
  }
}
