/**
 * Retention: a daily pass over the organizations, which deletes runs and audit events that are older than their
 * retention period. Both are found by their IDs, which are in order of time, so no index over times has to be written.
 */
import { and, asc, gt, lt, type SQL, sql } from 'drizzle-orm'
import type { TickEnvironment } from '../db/database.ts'
import { type Parameter, text } from '../db/parameters.ts'
import { duePass, insertPass, movedOn, movePass } from '../db/pass.ts'
import { auditEvents, organizations, runs } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { startOfIds } from '../db/time-ids.ts'
import { DAY_MS } from '../durations.ts'
import { oldestRunKept } from '../resources/schedules/firing/record-missed.ts'

const AUDIT_EVENTS_KEPT_MS = 365 * DAY_MS

const PAGE_ORGANIZATIONS = 500
const PAGE_ROWS = 5000
/** Deletes as many runs as ticks can insert at most, so that the table does not grow without limit. */
const MAX_PAGES_PER_TICK = 6

/** Sorts after the ID of every organization. */
const LAST = '~'

const after = text('after')
const last = text('last')
const oldestRun = text('oldestRun')

export const selectOrganizations = unguarded([after], () =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(gt(organizations.id, after))
    .orderBy(asc(organizations.id))
    .limit(PAGE_ORGANIZATIONS),
)

/**
 * @param oldestKept the first ID that is kept.
 * @param others the parameters of the condition.
 */
function retentionOf<const Id extends Parameter, const Others extends readonly Parameter[]>(
  table: typeof runs | typeof auditEvents,
  oldestKept: Id,
  isOld: SQL | undefined,
  others: Others,
) {
  const parameters = [after, last, oldestKept, ...others] as const
  const old = (limit: number) =>
    sql`select ${table.organizationId}, ${table.id} from ${organizations} cross join ${table}
        on ${table.organizationId} = ${organizations.id} and ${and(lt(table.id, oldestKept), isOld)}
        where ${organizations.id} > ${after} and ${organizations.id} <= ${last}
        limit ${sql.raw(String(limit))}`
  return {
    find: unguarded(parameters, () => query.select({ one: sql`1` }).from(sql`(${old(1)})`)),
    remove: unguarded(parameters, () =>
      query.delete(table).where(sql`(${table.organizationId}, ${table.id}) in (${old(PAGE_ROWS)})`),
    ),
  }
}

/** A run may be fired or recorded long after its instant, so its row has to be old too. */
export const oldRuns = retentionOf(runs, text('oldestRunId'), lt(runs.createdAt, oldestRun), [oldestRun])
export const oldAuditEvents = retentionOf(auditEvents, text('oldestEventId'), undefined, [])

/** Works on some pages of the pass that is due. The next tick continues. */
export async function deleteExpired({ DB }: TickEnvironment, instant: Date): Promise<void> {
  const pass = 'retention'
  const oldestRun = oldestRunKept(instant)
  const oldestEvent = new Date(instant.getTime() - AUDIT_EVENTS_KEPT_MS).toISOString()
  const oldest = { oldestRun, oldestRunId: startOfIds(oldestRun), oldestEventId: startOfIds(oldestEvent) }

  let current = await duePass(DB, pass, instant.toISOString())
  if (!current) return

  const { dueAt } = current
  const begun = { insertPass, page: selectOrganizations }
  let { page } = await runBatch(DB, begun, { pass, dueAt, after: current.cursor })
  for (let count = 0; count < MAX_PAGES_PER_TICK; count++) {
    // A page that is not full is the last.
    const next = page[PAGE_ORGANIZATIONS - 1]?.id
    const { runs, events } = await runBatch(
      DB,
      {
        removeRuns: oldRuns.remove,
        removeEvents: oldAuditEvents.remove,
        runs: oldRuns.find,
        events: oldAuditEvents.find,
      },
      { ...oldest, after: current.cursor, last: next ?? LAST },
    )
    if (runs.length > 0 || events.length > 0) continue
    const moved = { pass, ...movedOn(current, next, instant), after: next ?? LAST }
    ;({ page } = await runBatch(DB, { movePass, page: selectOrganizations }, moved))
    if (next === undefined) return
    current = { dueAt, cursor: next }
  }
}
