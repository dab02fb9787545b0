/**
 * The sweep: deletes orphaned objects when they are due. It never deletes an object that a row refers to: after a
 * restore, an orphaned object may be in use again. Only the sweep and completed uploads remove objects from the
 * orphans.
 */
import { and, asc, inArray, lte, sql } from 'drizzle-orm'
import { type DatabaseEnvironment, requireDatabase } from '../db/database.ts'
import { placesOf } from '../db/directory.ts'
import { isSettled } from '../db/halts.ts'
import { now, text } from '../db/parameters.ts'
import { orphanedObjects } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { isReferenced } from './references.ts'
import { organizationOf } from './store.ts'

/** The most objects that R2 deletes in one call. */
const PAGE_SIZE = 1000
const MAX_PAGES_PER_TICK = 10

const objectKeys = text('objectKeys')

/** See `organizationOf`. */
const organizationOfKey = sql`substr(${orphanedObjects.objectKey}, instr(${orphanedObjects.objectKey}, '/') + 1, 36)`

export const selectDue = unguarded({ now }, () =>
  query
    .select({
      objectKey: orphanedObjects.objectKey,
      isReferenced: isReferenced(orphanedObjects.objectKey).as('isReferenced'),
    })
    .from(orphanedObjects)
    .where(and(lte(orphanedObjects.deleteAfter, now), isSettled(organizationOfKey)))
    .orderBy(asc(orphanedObjects.deleteAfter))
    .limit(PAGE_SIZE),
)

export const removeFromOrphans = unguarded({ objectKeys }, () =>
  query
    .delete(orphanedObjects)
    .where(inArray(orphanedObjects.objectKey, sql`(select value from json_each(${objectKeys}))`)),
)

/** Selects the objects that are due and that a row of this database refers to. */
export const selectReferenced = unguarded({ objectKeys }, () =>
  query
    .select({ objectKey: sql<string>`"due".value`.as('objectKey') })
    .from(sql`json_each(${objectKeys}) as "due"`)
    .where(isReferenced(sql`"due".value`)),
)

/**
 * Deletes some pages of the objects that are due. If R2 or another database fails, they stay in the table for the next
 * tick.
 */
export async function deleteOrphanedObjects(environment: DatabaseEnvironment, instant: Date): Promise<void> {
  const { database, OBJECTS } = environment
  const now = instant.toISOString()
  for (let page = 0; page < MAX_PAGES_PER_TICK; page++) {
    const { due } = await runBatch(database, { due: selectDue }, { now })
    const objectKeys = due.map(({ objectKey }) => objectKey)
    if (objectKeys.length === 0) return
    const unreferenced = due.flatMap((object) => (object.isReferenced ? [] : [object.objectKey]))
    const deletable = await unreferencedElsewhere(environment, unreferenced)
    // R2 refuses an empty list.
    if (deletable.length > 0) await OBJECTS.delete(deletable)
    await runBatch(database, { removeFromOrphans }, { objectKeys: JSON.stringify(objectKeys) })
    if (objectKeys.length < PAGE_SIZE) return
  }
}

/**
 * Leaves out objects of organizations that are unknown, and those that another database refers to: one that the
 * organization is in or moves to, if this one was restored to a time before the organization left it.
 */
async function unreferencedElsewhere(environment: DatabaseEnvironment, keys: readonly string[]): Promise<string[]> {
  const placeOf = await placesOf(environment, keys.map(organizationOf))
  const known = keys.filter((key) => placeOf(organizationOf(key)))
  const elsewhere = known.flatMap((key) => {
    const { database, movingTo = null } = placeOf(organizationOf(key)) ?? {}
    return [database, movingTo].flatMap((number) =>
      number == null || number === environment.databaseNumber ? [] : [{ number, key }],
    )
  })
  const referenced = new Set<string>()
  for (const [number, own] of Map.groupBy(elsewhere, ({ number }) => number)) {
    const values = { objectKeys: JSON.stringify(own.map(({ key }) => key)) }
    const { rows } = await runBatch(requireDatabase(environment, number), { rows: selectReferenced }, values)
    for (const { objectKey } of rows) referenced.add(objectKey)
  }
  return known.filter((key) => !referenced.has(key))
}
