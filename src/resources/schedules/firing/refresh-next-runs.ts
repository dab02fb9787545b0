/**
 * Computes the stored next runs again, once a day and after a restore, because the rules of time zones change. Workers do
 * not expose a version of their time zone data, and comparing the rules of all time zones takes several times the CPU of a
 * tick, so the next run of each schedule is compared instead.
 */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { nextRun } from '../../../cron/next-run.ts'
import type { TickEnvironment } from '../../../db/database.ts'
import { describeFailure } from '../../../db/failures.ts'
import { jsonRows } from '../../../db/rows.ts'
import { nextRunRefresh, schedules } from '../../../db/schema.ts'
import { query, runBatch, unguarded, type Value } from '../../../db/statement.ts'
import { SCHEDULE_COLUMNS, scheduleFields, storingNextRun } from './fire.ts'

const PASS_INTERVAL_MS = 86_400_000

/** A page fits into the 10 ms of CPU that a tick has on the Workers Free plan. */
const PAGE_SIZE = 100
/** D1 allows 50 statements per tick on the Workers Free plan, and a page takes three. */
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

/** Includes paused schedules, so that the number of rows that a page reads is limited. */
export const selectPage = unguarded(() =>
  query
    .select({
      rowid: rowid.as('rowid'),
      ...scheduleFields,
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

const refreshed = jsonRows('refreshed', ...SCHEDULE_COLUMNS, 'enabledAt', 'nextRunAt', 'newNextRunAt')

/** Skips schedules that a tick or a request changed since they were read. */
export const storeNextRuns = unguarded(() =>
  query
    .update(schedules)
    .set(storingNextRun(refreshed.column('newNextRunAt')))
    .from(refreshed.table)
    .where(
      and(
        refreshed.matches(schedules, ...SCHEDULE_COLUMNS, 'enabledAt'),
        sql`${schedules.nextRunAt} is ${refreshed.column('nextRunAt')}`,
      ),
    ),
)

/** Does nothing if another tick moved the pass on or another pass began. */
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

/** Works on some pages of the pass that is due. The next tick continues. */
export async function refreshNextRuns({ DB }: TickEnvironment, instant: Date): Promise<void> {
  const now = instant.toISOString()
  const [[pass = { dueAt: now, cursor: 0 }]] = await runBatch(DB, [selectPass], {})
  const { dueAt } = pass
  if (dueAt > now) return

  let { cursor } = pass
  let [, page] = await runBatch(DB, [insertPass, selectPage], { dueAt, after: cursor })
  for (let count = 0; count < PAGES_A_TICK; count++) {
    // A page that is not full is the last.
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

/** The schedule with its new next run; empty if the next run stays the same. */
function refresh(schedule: Schedule, now: string): (Schedule & { newNextRunAt: Value })[] {
  const { id, cron, timezone, enabledAt, lastRunAt, nextRunAt, updatedAt } = schedule
  // fireSchedules handles schedules that are due. A change or a run after the time of a late tick computed a newer next run.
  const isDue = nextRunAt !== null && nextRunAt <= now
  const isNewer = nextRunAt !== null && (updatedAt > now || (lastRunAt !== null && lastRunAt > now))
  if (enabledAt === null || isDue || isNewer) return []
  try {
    const newNextRunAt = nextRun(cron, timezone, new Date(now)).toISOString()
    return newNextRunAt === nextRunAt ? [] : [{ ...schedule, newNextRunAt }]
  } catch (error) {
    // The runtime may no longer know the time zone. The schedule is paused.
    console.error(JSON.stringify({ scheduleId: id, failure: describeFailure(error) }))
    return [{ ...schedule, newNextRunAt: null }]
  }
}
