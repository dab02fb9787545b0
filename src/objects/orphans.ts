/** Orphaned objects: objects in R2 that no row refers to. The table `orphanedObjects` lists them until the sweep has deleted them. */

const HOUR_MS = 3_600_000

/** When the sweep may delete an object: an hour after the last lease that could still write it. */
export function deleteAfter(lastLeaseExpiresAt: Date): string {
  return new Date(lastLeaseExpiresAt.getTime() + HOUR_MS).toISOString()
}
