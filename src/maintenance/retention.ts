/**
 * Retention: a daily pass over the organizations, which deletes runs and audit events that are older than their
 * retention period, and events beyond `EVENT_BYTE_LIMIT`. Both are found by their keys, which are in order of time, so no index over times has to be written.
 */
import { and, asc, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import { alias, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { DatabaseEnvironment } from '../db/database.ts'
import { isSettled } from '../db/halts.ts'
import { type NamedParameters, now, number, text } from '../db/parameters.ts'
import { duePass, insertPass, movedOn, movePass } from '../db/pass.ts'
import { auditEvents, organizations, runs } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { startOfIds } from '../db/time-ids.ts'
import type { EventExcess } from '../db/usage.ts'
import { readLimits } from '../environment.ts'
import { oldestRunKept } from '../resources/work/firing/record-missed.ts'
import {
  countEvents,
  eventByteValues,
  findExcess,
  findUncounted,
  removeExcess,
  selectLargest,
  selectWriter,
} from './event-bytes.ts'

const PAGE_ORGANIZATIONS = 500
const PAGE_ROWS = 5000
/** Deletes as many runs as ticks can insert at most, so that the table does not grow without limit. */
const MAX_PAGES_PER_TICK = 6

/** Sorts after the ID of every organization. */
const LAST = '~'

const after = text('after')
const last = text('last')
const oldestRun = text('oldestRun')
const oldestRunId = text('oldestRunId')
const oldestEvent = number('oldestEvent')

export const selectOrganizations = unguarded({ after }, () =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(gt(organizations.id, after))
    .orderBy(asc(organizations.id))
    .limit(PAGE_ORGANIZATIONS),
)

/**
 * @param key the second column of its primary key, after the organization.
 * @param parameters of the condition.
 */
function retentionOf<Own extends NamedParameters>(
  table: SQLiteTable & Record<'organizationId', SQLiteColumn>,
  key: SQLiteColumn,
  isOld: SQL | undefined,
  own: Own,
) {
  const parameters = { after, last, now, ...own }
  const old = (limit: number) =>
    sql`select ${table.organizationId}, ${key} from ${organizations} cross join ${table}
        on ${table.organizationId} = ${organizations.id} and ${isOld}
        where ${organizations.id} > ${after} and ${organizations.id} <= ${last} and ${isSettled(organizations.id)}
        limit ${sql.raw(String(limit))}`
  return {
    find: unguarded(parameters, () => query.select({ one: sql`1` }).from(sql`(${old(1)})`)),
    remove: unguarded(parameters, () =>
      query.delete(table).where(sql`(${table.organizationId}, ${key}) in (${old(PAGE_ROWS)})`),
    ),
  }
}

/** A run may be fired or recorded long after its instant, so its row has to be old too. */
export const oldRuns = retentionOf(runs, runs.id, and(lt(runs.id, oldestRunId), lt(runs.createdAt, oldestRun)), {
  oldestRunId,
  oldestRun,
})

const later = alias(auditEvents, 'later')
/** The last of the old events stays: a feed finds by it that its cursor is too old (resources/events/statements.ts). */
const lastOldEvent = query
  .select({ sequence: sql`max(${later.sequence})` })
  .from(later)
  .where(and(eq(later.organizationId, organizations.id), lt(later.sequence, oldestEvent)))
export const oldAuditEvents = retentionOf(auditEvents, auditEvents.sequence, lt(auditEvents.sequence, lastOldEvent), {
  oldestEvent,
})

/** Works on some pages of the pass that is due. The next tick continues. @param found gets what the operator is told. */
export async function deleteExpired(
  environment: DatabaseEnvironment,
  instant: Date,
  _: unknown,
  found: { events?: EventExcess },
): Promise<void> {
  const { database } = environment
  const pass = 'retention'
  const oldestRun = oldestRunKept(instant)
  const byteLimit = readLimits(environment).eventBytes
  let current = await duePass(database, pass, instant.toISOString())
  if (!current) return

  const { dueAt } = current
  const oldest = {
    now: instant.toISOString(),
    oldestRun,
    oldestRunId: startOfIds(oldestRun),
    // Later events are left to the next pass, so that this one ends while an organization records many.
    ...eventByteValues(new Date(dueAt), byteLimit),
  }
  const begun = { insertPass, page: selectOrganizations }
  let { page } = await runBatch(database, begun, { pass, dueAt, after: current.cursor })
  for (let count = 0; count < MAX_PAGES_PER_TICK; count++) {
    // A page that is not full is the last.
    const next = page[PAGE_ORGANIZATIONS - 1]?.id
    const { runs, events, uncounted, largest, excess } = await runBatch(
      database,
      {
        removeRuns: oldRuns.remove,
        removeEvents: oldAuditEvents.remove,
        countEvents,
        largest: selectLargest,
        removeExcess,
        runs: oldRuns.find,
        events: oldAuditEvents.find,
        uncounted: findUncounted,
        excess: findExcess,
      },
      { ...oldest, after: current.cursor, last: next ?? LAST },
    )
    const [tooLarge] = largest
    if (tooLarge && tooLarge.bytes > (found.events?.bytes ?? 0)) {
      const { writer } = await runBatch(database, { writer: selectWriter }, tooLarge)
      found.events = { ...tooLarge, byteLimit, apiKeyId: writer[0]?.apiKeyId }
    }
    if ([runs, events, uncounted, excess].some((rows) => rows.length > 0)) continue
    const moved = { pass, ...movedOn(current, next, instant), after: next ?? LAST }
    ;({ page } = await runBatch(database, { movePass, page: selectOrganizations }, moved))
    if (next === undefined) return
    current = { dueAt, cursor: next }
  }
}
