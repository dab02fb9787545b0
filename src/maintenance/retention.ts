/** Retention: deletes runs and audit events that are older than their retention period, page by page. */

import { and, asc, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database, TickEnvironment } from '../db/database.ts'
import { auditEvents, runs } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { oldestRunKept } from '../resources/schedules/firing/record-missed.ts'

const DAY_MS = 86_400_000
const AUDIT_EVENTS_KEPT_MS = 365 * DAY_MS

const PAGE_SIZE = 5000
/** Deletes as many runs as ticks can insert at most, so that the table does not grow without limit. */
const PAGES_A_TICK = 6

const oldest = sql.placeholder('oldestKept')

/** @param time a column with an index, which the deletion is in order of. */
function retentionOf(table: SQLiteTable, time: SQLiteColumn, isOld: SQL | undefined) {
  return {
    find: unguarded(() => query.select({ time }).from(table).where(isOld).limit(1)),
    remove: unguarded(() =>
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

/** A run may be fired or recorded long after its instant, so its row has to be old too. */
export const oldRuns = retentionOf(
  runs,
  runs.scheduledAt,
  and(lt(runs.scheduledAt, oldest), lt(runs.createdAt, oldest)),
)
export const oldAuditEvents = retentionOf(
  auditEvents,
  auditEvents.createdAt,
  lt(auditEvents.createdAt, oldest),
)

export async function deleteExpired({ DB }: TickEnvironment, now: Date): Promise<void> {
  await deleteExpiredRows(DB, oldRuns, oldestRunKept(now))
  await deleteExpiredRows(DB, oldAuditEvents, new Date(now.getTime() - AUDIT_EVENTS_KEPT_MS).toISOString())
}

async function deleteExpiredRows(
  database: Database,
  { find, remove }: ReturnType<typeof retentionOf>,
  oldestKept: string,
): Promise<void> {
  let [old] = await runBatch(database, [find], { oldestKept })
  for (let page = 0; old.length > 0 && page < PAGES_A_TICK; page++) {
    ;[, old] = await runBatch(database, [remove, find], { oldestKept })
  }
}
