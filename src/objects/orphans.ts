/** Orphaned objects: objects in R2 that no row refers to. The table `orphanedObjects` lists them until the sweep has deleted them. */
import { and, eq, gt, sql } from 'drizzle-orm'
import { orphanedObjects } from '../db/schema.ts'

const HOUR_MS = 3_600_000

/** When the sweep may delete an object: an hour after the last lease that could still write it. */
export function deleteAfter(lastLeaseExpiresAt: Date): string {
  return new Date(lastLeaseExpiresAt.getTime() + HOUR_MS).toISOString()
}

/** To be joined: the object that the request has written, unless the sweep may delete it soon. */
export const writtenObject = {
  table: orphanedObjects,
  on: and(
    eq(orphanedObjects.objectKey, sql.placeholder('objectKey')),
    gt(orphanedObjects.deleteAfter, sql.placeholder('notSweptBefore')),
  ),
}
