/** Forgets what was kept long enough, a page at a time. */

import { and, asc, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database, TickEnvironment } from '../db/database.ts'
import { auditEvents, runs } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { oldestRunKept } from '../resources/schedules/firing/kept-runs.ts'

const DAY_MS = 86_400_000
const AUDIT_EVENTS_KEPT_MS = 365 * DAY_MS

const PAGE_SIZE = 5000
/** So many rows that a ledger in which every tick fires as much as it can does not grow for ever. */
const PAGES_A_TICK = 6

const oldest = sql.placeholder('oldestKept')

/** Where the table is forgotten: in order of a time that has an index. */
function forgetting(table: SQLiteTable, time: SQLiteColumn, isOld: SQL | undefined) {
  return {
    find: unguarded(() => query.select({ time }).from(table).where(isOld).limit(1)),
    forget: unguarded(() =>
      query.delete(table).where(
        sql`${table}.rowid in ${query
          .select({ rowid: sql`${table}.rowid` })
          .from(table)
          .where(isOld)
          .orderBy(asc(time))
          .limit(PAGE_SIZE)}`,
      ),
    ),
  }
}

/** An instant may be made good long after, so a run is also as old as its row. */
export const oldRuns = forgetting(
  runs,
  runs.scheduledAt,
  and(lt(runs.scheduledAt, oldest), lt(runs.createdAt, oldest)),
)
export const oldAuditEvents = forgetting(
  auditEvents,
  auditEvents.createdAt,
  lt(auditEvents.createdAt, oldest),
)

export async function deleteExpired({ DB }: TickEnvironment, now: Date): Promise<void> {
  await forget(DB, oldRuns, oldestRunKept(now))
  await forget(DB, oldAuditEvents, new Date(now.getTime() - AUDIT_EVENTS_KEPT_MS).toISOString())
}

async function forget(
  database: Database,
  { find, forget }: ReturnType<typeof forgetting>,
  oldestKept: string,
): Promise<void> {
  let [old] = await runBatch(database, [find], { oldestKept })
  for (let page = 0; old.length > 0 && page < PAGES_A_TICK; page++) {
    ;[, old] = await runBatch(database, [forget, find], { oldestKept })
  }
}
