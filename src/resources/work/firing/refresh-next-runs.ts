/**
 * Computes the stored next runs again, once a day and after a restore, because the rules of time zones change. Workers
 * do not expose a version of their time zone data, and comparing the rules of all time zones takes several times the
 * CPU of a tick, so the next run of each schedule is compared instead.
 */
import { and, asc, sql } from 'drizzle-orm'
import { eventValues, recordedByService } from '../../../access/events.ts'
import { nextTime } from '../../../cron/timing.ts'
import type { DatabaseEnvironment } from '../../../db/database.ts'
import { describeFailure } from '../../../db/failures.ts'
import { isSettled } from '../../../db/halts.ts'
import { now, textOrNull, type Value } from '../../../db/parameters.ts'
import { duePass, insertPass, movedOn, movePass, NEXT_RUNS_PASS } from '../../../db/pass.ts'
import { jsonRows } from '../../../db/rows.ts'
import { schedules } from '../../../db/schema.ts'
import { query, type RowOf, runBatch, unguarded } from '../../../db/statement.ts'
import { pausedEvent } from '../joins.ts'
import { isAsRead, isPausedBy, ofPaused, SCHEDULE_COLUMNS, scheduleFields, storingNextRun } from './fire.ts'

/** A page fits into the 10 ms of CPU that a tick has on the Workers Free plan. */
const PAGE_SIZE = 100
/** D1 allows 50 statements per tick on the Workers Free plan, also with a page of the retention. A page takes three. */
const MAX_PAGES_PER_TICK = 7

/** The primary key: the order of the pass. Its cursor is a JSON array of the values. */
const key = [schedules.organizationId, schedules.id]
const cursorOf = ({ organizationId, id }: Schedule) => JSON.stringify([organizationId, id])
const START = JSON.stringify(key.map(() => ''))

/** The key of a schedule; null: after the last schedule. */
const after = textOrNull('after')
const keyAfter = sql.join(
  key.map((_, index) => sql`${after} ->> ${sql.raw(String(index))}`),
  sql`, `,
)

/** Includes paused schedules, so that the number of rows that a page reads is limited. */
export const selectPage = unguarded({ after }, () =>
  query
    .select({
      ...scheduleFields,
      enabledAt: schedules.enabledAt,
      lastRunAt: schedules.lastRunAt,
      nextRunAt: schedules.nextRunAt,
      updatedAt: schedules.updatedAt,
    })
    .from(schedules)
    .where(sql`(${sql.join(key, sql`, `)}) > (${keyAfter})`)
    .orderBy(...key.map((column) => asc(column)))
    .limit(PAGE_SIZE),
)

type Schedule = RowOf<typeof selectPage>

const refreshed = jsonRows('refreshed', ...SCHEDULE_COLUMNS, 'enabledAt', 'nextRunAt', 'newNextRunAt')

/** False for a schedule that a tick or a request changed since it was read. */
const isUnchanged = and(
  isAsRead(refreshed),
  refreshed.matches(schedules, 'enabledAt'),
  sql`${schedules.nextRunAt} is ${refreshed.column('nextRunAt')}`,
  isSettled(schedules.organizationId),
)

export const recordPaused = recordedByService({ parameter: refreshed.parameter, now }, pausedEvent, (row) =>
  query
    .select(row)
    .from(refreshed.table)
    .innerJoin(schedules, and(isUnchanged, isPausedBy(refreshed.column('newNextRunAt')))),
)

export const storeNextRuns = unguarded({ parameter: refreshed.parameter, now }, () =>
  query
    .update(schedules)
    .set(storingNextRun(refreshed.column('newNextRunAt')))
    .from(refreshed.table)
    .where(isUnchanged),
)

/** Works on some pages of the pass that is due. The next tick continues. */
export async function refreshNextRuns({ database }: DatabaseEnvironment, instant: Date): Promise<void> {
  const pass = NEXT_RUNS_PASS
  const time = instant.toISOString()
  let current = await duePass(database, pass, time)
  if (!current) return

  const { dueAt } = current
  const begun = { insertPass, page: selectPage }
  let { page } = await runBatch(database, begun, { pass, dueAt, after: current.cursor || START })
  for (let count = 0; count < MAX_PAGES_PER_TICK; count++) {
    // A page that is not full is the last.
    const last = page[PAGE_SIZE - 1]
    const next = last && cursorOf(last)
    const moved = { pass, ...movedOn(current, next, instant), after: next ?? null }
    const changed = page.flatMap((schedule) => refresh(schedule, time))
    const computed = changed.map(({ cron, newNextRunAt }) => ({ cron, nextRunAt: newNextRunAt }))
    ;({ page } = await runBatch(
      database,
      { paused: ofPaused(computed, recordPaused), storeNextRuns, movePass, page: selectPage },
      { ...moved, now: time, ...eventValues(time, null), refreshed: refreshed.value(changed) },
    ))
    if (next === undefined) return
    current = { dueAt, cursor: next }
  }
}

/** The schedule with its new next run; empty if the next run stays the same. */
function refresh(schedule: Schedule, now: string): (Schedule & { newNextRunAt: Value })[] {
  const { id, enabledAt, lastRunAt, nextRunAt, updatedAt } = schedule
  // fireSchedules handles schedules that are due. A change or a run after the time of a late tick computed a newer next
  // run.
  const isDue = nextRunAt !== null && nextRunAt <= now
  const isNewer = nextRunAt !== null && (updatedAt > now || (lastRunAt !== null && lastRunAt > now))
  if (enabledAt === null || isDue || isNewer) return []
  try {
    const newNextRunAt = nextTime(schedule, new Date(now))
    return newNextRunAt === nextRunAt ? [] : [{ ...schedule, newNextRunAt }]
  } catch (error) {
    // The runtime may no longer know the time zone. The schedule is paused.
    console.error(JSON.stringify({ scheduleId: id, failure: describeFailure(error) }))
    return [{ ...schedule, newNextRunAt: null }]
  }
}
