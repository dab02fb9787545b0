/** Forgets runs that are over 90 days old. */
import { and, asc, lt, sql } from 'drizzle-orm'
import { runs } from '../db/schema.ts'
import { compileUnguarded, query, runBatch } from '../db/statement.ts'
import type { Environment } from '../environment.ts'

const KEPT_MS = 90 * 86_400_000
const PAGE_SIZE = 5000
/** As many as a tick fires, so that the ledger does not grow for ever. */
const PAGES_A_TICK = 6

const oldest = sql.placeholder('oldestKept')
/** By its instant, which has an index, and by when it was made: an instant may be made good long after. */
const isOld = and(lt(runs.scheduledAt, oldest), lt(runs.createdAt, oldest))

const forgetOldest = compileUnguarded(
  query.delete(runs).where(
    sql`${runs}.rowid in ${query
      .select({ rowid: sql`${runs}.rowid` })
      .from(runs)
      .where(isOld)
      .orderBy(asc(runs.scheduledAt))
      .limit(PAGE_SIZE)}`,
  ),
)

const selectOld = compileUnguarded(query.select({ id: runs.id }).from(runs).where(isOld).limit(1))

/** The instant before which runs are forgotten. */
export function oldestKept(now: Date): string {
  return new Date(now.getTime() - KEPT_MS).toISOString()
}

export async function forgetRuns({ DB }: Environment, instant: Date): Promise<void> {
  const values = { oldestKept: oldestKept(instant) }
  let [old] = await runBatch(DB, [selectOld], values)
  for (let page = 0; old.length > 0 && page < PAGES_A_TICK; page++) {
    ;[, old] = await runBatch(DB, [forgetOldest, selectOld], values)
  }
}
