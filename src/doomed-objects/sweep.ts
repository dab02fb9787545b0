/** The sweep: deletes the objects that nothing refers to any more. It alone clears the table of doomed objects. */
import { asc, inArray, lte, sql } from 'drizzle-orm'
import { doomedObjects } from '../db/schema.ts'
import { compileUnguarded, query, runBatch } from '../db/statement.ts'
import type { Environment } from '../environment.ts'

const HOUR_MS = 3_600_000

/** The most objects that R2 deletes in one call. */
const PAGE_SIZE = 1000

/** From when the sweep deletes an object: an hour after the last lease that could still write it. */
export function sweepAfter(lastLeaseExpiresAt: Date): string {
  return new Date(lastLeaseExpiresAt.getTime() + HOUR_MS).toISOString()
}

const selectDue = compileUnguarded(
  query
    .select({ objectKey: doomedObjects.objectKey })
    .from(doomedObjects)
    .where(lte(doomedObjects.sweepAfter, sql.placeholder('now')))
    .orderBy(asc(doomedObjects.sweepAfter))
    .limit(PAGE_SIZE),
)

const forget = compileUnguarded(
  query
    .delete(doomedObjects)
    .where(
      inArray(doomedObjects.objectKey, sql`(select value from json_each(${sql.placeholder('objectKeys')}))`),
    ),
)

/** Deletes a page of the objects that are due. If R2 fails, the table keeps them for the next tick. */
export async function sweepDoomedObjects({ DB, OBJECTS }: Environment, now: Date): Promise<void> {
  const [due] = await runBatch(DB, [selectDue], { now: now.toISOString() })
  const objectKeys = due.map(({ objectKey }) => objectKey)
  if (objectKeys.length === 0) return
  await OBJECTS.delete(objectKeys)
  await runBatch(DB, [forget], { objectKeys: JSON.stringify(objectKeys) })
}
