/**
 * Orphaned objects: objects in R2 that no row refers to. The table `orphanedObjects` lists them until the sweep has
 * deleted them.
 */
import { and, eq, gt } from 'drizzle-orm'
import { text } from '../db/parameters.ts'
import { orphanedObjects } from '../db/schema.ts'
import { HOUR_MS } from '../durations.ts'

/** When the sweep may delete an object: an hour after the last lease that could still write it. */
export function deleteAfter(lastLeaseExpiresAt: Date): string {
  return new Date(lastLeaseExpiresAt.getTime() + HOUR_MS).toISOString()
}

const objectKey = text('objectKey')
const notSweptBefore = text('notSweptBefore')

/** To be joined: the object that the request has written, unless the sweep may delete it soon. */
export const writtenObject = {
  table: orphanedObjects,
  on: and(eq(orphanedObjects.objectKey, objectKey), gt(orphanedObjects.deleteAfter, notSweptBefore)),
  takes: { objectKey, notSweptBefore },
}
