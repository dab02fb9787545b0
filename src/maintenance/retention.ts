/**
 * Retention: a daily pass over the organizations, which deletes runs and audit events that are older than their retention
 * period. Both are found by their IDs, which are in order of time, so no index over times has to be written.
 */
import { asc, gt, lt, type SQL, sql } from 'drizzle-orm'
import type { TickEnvironment } from '../db/database.ts'
import { duePass, insertPass, movedOn, movePass } from '../db/pass.ts'
import { auditEvents, organizations, runs } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { startOfIds } from '../db/time-ids.ts'
import { DAY_MS } from '../durations.ts'
import { oldestRunKept } from '../resources/schedules/firing/record-missed.ts'

const AUDIT_EVENTS_KEPT_MS = 365 * DAY_MS

const ORGANIZATIONS_A_PAGE = 500
const ROWS_A_PAGE = 5000
/** Deletes as many runs as ticks can insert at most, so that the table does not grow without limit. */
const PAGES_A_TICK = 6

/** Sorts after the ID of every organization. */
const LAST = '~'

const after = sql.placeholder('after')

export const selectOrganizations = unguarded(() =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(gt(organizations.id, after))
    .orderBy(asc(organizations.id))
    .limit(ORGANIZATIONS_A_PAGE),
)

/** @param oldestKept the placeholder of the first ID that is kept. */
function retentionOf(table: typeof runs | typeof auditEvents, oldestKept: string, isOld: SQL = sql`true`) {
  const old = (limit: number) =>
    sql`select ${table.organizationId}, ${table.id} from ${organizations} cross join ${table}
        on ${table.organizationId} = ${organizations.id} and ${lt(table.id, sql.placeholder(oldestKept))} and ${isOld}
        where ${organizations.id} > ${after} and ${organizations.id} <= ${sql.placeholder('last')}
        limit ${sql.raw(String(limit))}`
  return {
    find: unguarded(() => query.select({ one: sql`1` }).from(sql`(${old(1)})`)),
    remove: unguarded(() =>
      query.delete(table).where(sql`(${table.organizationId}, ${table.id}) in (${old(ROWS_A_PAGE)})`),
    ),
  }
}

/** A run may be fired or recorded long after its instant, so its row has to be old too. */
export const oldRuns = retentionOf(runs, 'oldestRunId', lt(runs.createdAt, sql.placeholder('oldestRun')))
export const oldAuditEvents = retentionOf(auditEvents, 'oldestEventId')

/** Works on some pages of the pass that is due. The next tick continues. */
export async function deleteExpired({ DB }: TickEnvironment, instant: Date): Promise<void> {
  const pass = 'retention'
  const oldestRun = oldestRunKept(instant)
  const oldestEvent = new Date(instant.getTime() - AUDIT_EVENTS_KEPT_MS).toISOString()
  const oldest = { oldestRun, oldestRunId: startOfIds(oldestRun), oldestEventId: startOfIds(oldestEvent) }

  let current = await duePass(DB, pass, instant.toISOString())
  if (!current) return

  const { dueAt } = current
  let [, page] = await runBatch(DB, [insertPass, selectOrganizations], { pass, dueAt, after: current.cursor })
  for (let count = 0; count < PAGES_A_TICK; count++) {
    // A page that is not full is the last.
    const next = page[ORGANIZATIONS_A_PAGE - 1]?.id
    const [, , [run], [event]] = await runBatch(
      DB,
      [oldRuns.remove, oldAuditEvents.remove, oldRuns.find, oldAuditEvents.find],
      { ...oldest, after: current.cursor, last: next ?? LAST },
    )
    if (run || event) continue
    ;[, page] = await runBatch(DB, [movePass, selectOrganizations], {
      pass,
      ...movedOn(current, next, instant),
      after: next ?? LAST,
    })
    if (next === undefined) return
    current = { dueAt, cursor: next }
  }
}
