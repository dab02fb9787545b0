/** Orphaned objects: those in R2 that nothing refers to. They are in a table until they are surely gone. */

const HOUR_MS = 3_600_000

/** From when the sweep deletes an object: an hour after the last lease that could still write it. */
export function deleteAfter(lastLeaseExpiresAt: Date): string {
  return new Date(lastLeaseExpiresAt.getTime() + HOUR_MS).toISOString()
}
