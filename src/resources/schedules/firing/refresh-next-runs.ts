/**
 * Computes the stored next runs again, once a day and for a restored database: they were computed under the time zone rules
 * of that time. Workers have no version of their time zone data, and a comparison of the rules of all time zones takes
 * several times the CPU of a tick, so each schedule is compared instead.
 */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { nextRun } from '../../../cron/next-run.ts'
import type { TickEnvironment } from '../../../db/database.ts'
import { describeFailure } from '../../../db/failures.ts'
import { jsonRows } from '../../../db/rows.ts'
import { nextRunRefresh, schedules } from '../../../db/schema.ts'
import { query, runBatch, unguarded, type Value } from '../../../db/statement.ts'
import { storingNextRun } from './fire.ts'

const PASS_INTERVAL_MS = 86_400_000

/** So few that a page is done within the 10 ms of CPU that the free plan gives a tick. */
const PAGE_SIZE = 100
/** Three statements a page, of the 50 that D1 allows a tick on the free plan. */
const PAGES_A_TICK = 10

const ONLY_ROW = 1

const dueAt = sql`${sql.placeholder('dueAt')}`

export const selectPass = unguarded(() =>
  query
    .select({ dueAt: nextRunRefresh.dueAt, cursor: nextRunRefresh.cursor })
    .from(nextRunRefresh)
    .where(eq(nextRunRefresh.id, ONLY_ROW)),
)

export const insertPass = unguarded(() =>
  query.insert(nextRunRefresh).values({ id: ONLY_ROW, dueAt, cursor: 0 }).onConflictDoNothing(),
)

const rowid = sql<number>`${schedules}.rowid`

/** Paused schedules too: without them, a page could read any number of rows. */
export const selectPage = unguarded(() =>
  query
    .select({
      rowid: rowid.as('rowid'),
      organizationId: schedules.organizationId,
      parentType: schedules.parentType,
      parentId: schedules.parentId,
      id: schedules.id,
      cron: schedules.cron,
      timezone: schedules.timezone,
      enabledAt: schedules.enabledAt,
      lastRunAt: schedules.lastRunAt,
      nextRunAt: schedules.nextRunAt,
      updatedAt: schedules.updatedAt,
    })
    .from(schedules)
    .where(gt(rowid, sql.placeholder('after')))
    .orderBy(asc(rowid))
    .limit(PAGE_SIZE),
)

type Schedule = NonNullable<(typeof selectPage)['row']>

const refreshed = jsonRows(
  'refreshed',
  'organizationId',
  'parentType',
  'parentId',
  'id',
  'cron',
  'timezone',
  'enabledAt',
  'nextRunAt',
  'newNextRunAt',
)

/** Unless a tick or a request changed what the next run was computed from, or the next run itself. */
export const storeNextRuns = unguarded(() =>
  query
    .update(schedules)
    .set(storingNextRun(refreshed.column('newNextRunAt')))
    .from(refreshed.table)
    .where(
      and(
        refreshed.matches(schedules, 'organizationId', 'parentType', 'parentId', 'id'),
        refreshed.matches(schedules, 'cron', 'timezone', 'enabledAt'),
        sql`${schedules.nextRunAt} is ${refreshed.column('nextRunAt')}`,
      ),
    ),
)

/** Unless another tick did, or another pass began. */
export const movePass = unguarded(() =>
  query
    .update(nextRunRefresh)
    .set({ dueAt: sql`${sql.placeholder('nextDueAt')}`, cursor: sql`${sql.placeholder('nextCursor')}` })
    .where(
      and(
        eq(nextRunRefresh.id, ONLY_ROW),
        eq(nextRunRefresh.dueAt, dueAt),
        eq(nextRunRefresh.cursor, sql.placeholder('cursor')),
      ),
    ),
)

/** Goes through some pages of the pass that is due. A tick leaves the rest to the next. */
export async function refreshNextRuns({ DB }: TickEnvironment, instant: Date): Promise<void> {
  const now = instant.toISOString()
  const [[pass = { dueAt: now, cursor: 0 }]] = await runBatch(DB, [selectPass], {})
  const { dueAt } = pass
  if (dueAt > now) return

  let { cursor } = pass
  let [, page] = await runBatch(DB, [insertPass, selectPage], { dueAt, after: cursor })
  for (let count = 0; count < PAGES_A_TICK; count++) {
    // Only a full page is followed by another.
    const last = page[PAGE_SIZE - 1]?.rowid
    ;[, , page] = await runBatch(DB, [storeNextRuns, movePass, selectPage], {
      ...refreshed.values(page.flatMap((schedule) => refresh(schedule, now))),
      dueAt,
      cursor,
      nextDueAt: last === undefined ? new Date(instant.getTime() + PASS_INTERVAL_MS).toISOString() : dueAt,
      nextCursor: last ?? 0,
      after: last ?? null,
    })
    if (last === undefined) return
    cursor = last
  }
}

/** The schedule with its new next run, if it has to change. */
function refresh(schedule: Schedule, now: string): (Schedule & { newNextRunAt: Value })[] {
  const { id, cron, timezone, enabledAt, lastRunAt, nextRunAt, updatedAt } = schedule
  // What is due is left to fireSchedules. After a change or a run later than a late tick, the next run is newer than this one.
  const isDue = nextRunAt !== null && nextRunAt <= now
  const isNewer = nextRunAt !== null && (updatedAt > now || (lastRunAt !== null && lastRunAt > now))
  if (enabledAt === null || isDue || isNewer) return []
  try {
    const newNextRunAt = nextRun(cron, timezone, new Date(now)).toISOString()
    return newNextRunAt === nextRunAt ? [] : [{ ...schedule, newNextRunAt }]
  } catch (error) {
    // The runtime may no longer know the time zone.
    console.error(JSON.stringify({ scheduleId: id, failure: describeFailure(error) }))
    return [{ ...schedule, newNextRunAt: null }]
  }
}
