/**
 * Records missed instants as skipped, in pages: a schedule that fires every minute misses 1,440 in a day without ticks.
 * It is not urgent, because the run that replaces them was fired with the first tick after the gap (fire.ts).
 */
import { and, asc, eq, gte, isNotNull, lte, or, sql } from 'drizzle-orm'
import { nextRun } from '../../../cron/next-run.ts'
import type { DatabaseEnvironment } from '../../../db/database.ts'
import { describeFailure } from '../../../db/failures.ts'
import { isSettled } from '../../../db/halts.ts'
import { now } from '../../../db/parameters.ts'
import { jsonRows } from '../../../db/rows.ts'
import { deletions, missedSpans, schedules } from '../../../db/schema.ts'
import { query, runBatch, unguarded } from '../../../db/statement.ts'
import { DAY_MS } from '../../../durations.ts'
import { isScheduleOf } from '../joins.ts'
import { computeRunId } from '../run-id.ts'
import { missedRun, writeNewRuns } from '../run-transitions.ts'

const RUNS_KEPT_MS = 90 * DAY_MS

/** The time before which runs are deleted. */
export function oldestRunKept(now: Date): string {
  return new Date(now.getTime() - RUNS_KEPT_MS).toISOString()
}

const SPANS_PER_PAGE = 50
const INSTANTS_PER_PAGE = 500
/** A page takes four statements. */
const MAX_PAGES_PER_TICK = 20

export const selectSpans = unguarded({ now }, () =>
  query
    .select()
    .from(missedSpans)
    .where(and(lte(missedSpans.missedFrom, now), isSettled(missedSpans.organizationId)))
    .orderBy(asc(missedSpans.missedFrom))
    .limit(SPANS_PER_PAGE),
)

type MissedSpan = typeof missedSpans.$inferSelect

const missed = jsonRows('missed', 'organizationId', 'scheduleId', 'missedUntil', 'scheduledAt', 'runId')

/** Inserts nothing after the deletion of the schedule is final: the purge deletes its runs, and later ones would remain. */
export const insertSkipped = unguarded({ parameter: missed.parameter, now }, () =>
  writeNewRuns(
    query
      .select(missedRun({ scheduledAt: missed.column('scheduledAt'), id: missed.column('runId') }))
      .from(missed.table)
      .crossJoin(missedSpans)
      .leftJoin(schedules, isScheduleOf(missedSpans))
      .leftJoin(
        deletions,
        and(
          eq(deletions.organizationId, missedSpans.organizationId),
          sql`${deletions.resourceType} = 'schedule'`,
          eq(deletions.resourceId, missedSpans.scheduleId),
        ),
      )
      .where(
        and(
          missed.matches(missedSpans, 'organizationId', 'scheduleId', 'missedUntil'),
          or(isNotNull(schedules.id), isNotNull(deletions.row)),
        ),
      ),
  ),
)

const recorded = jsonRows('recorded', 'organizationId', 'scheduleId', 'missedUntil', 'missedFrom', 'nextFrom')

/** Skips spans that another tick shortened at the same time. */
export const shortenSpans = unguarded({ parameter: recorded.parameter }, () =>
  query
    .update(missedSpans)
    .set({ missedFrom: sql`${recorded.column('nextFrom')}` })
    .from(recorded.table)
    .where(recorded.matches(missedSpans, 'organizationId', 'scheduleId', 'missedUntil', 'missedFrom')),
)

export const deleteRecordedSpans = unguarded({ parameter: recorded.parameter }, () =>
  query.delete(missedSpans).where(
    sql`(${missedSpans.organizationId}, ${missedSpans.scheduleId}, ${missedSpans.missedUntil}) in ${query
      .select({
        organizationId: recorded.column('organizationId').as('organizationId'),
        scheduleId: recorded.column('scheduleId').as('scheduleId'),
        missedUntil: recorded.column('missedUntil').as('missedUntil'),
      })
      .from(recorded.table)} and ${gte(missedSpans.missedFrom, missedSpans.missedUntil)}`,
  ),
)

/** Records some pages. Leaves out instants that are older than the retention of runs. */
export async function recordMissedRuns({ database }: DatabaseEnvironment, instant: Date): Promise<void> {
  const now = instant.toISOString()
  let { spans } = await runBatch(database, { spans: selectSpans }, { now })
  for (let page = 0; spans.length > 0 && page < MAX_PAGES_PER_TICK; page++) {
    const instants = instantsOf(spans, oldestRunKept(instant))
    ;({ spans } = await runBatch(
      database,
      { insertSkipped, shortenSpans, deleteRecordedSpans, spans: selectSpans },
      { now, missed: missed.value(instants.missed), recorded: recorded.value(instants.recorded) },
    ))
  }
}

/** The first instants of the spans, oldest first, and the new beginning of each span. */
function instantsOf(spans: readonly MissedSpan[], oldest: string) {
  const missed = []
  const recorded = []
  for (const span of spans) {
    let next = span.missedFrom
    const after = (instant: string) => nextRun(span.cron, span.timezone, new Date(instant)).toISOString()
    try {
      if (next < oldest) next = after(oldest)
      while (next < span.missedUntil && missed.length < INSTANTS_PER_PAGE) {
        missed.push({ ...span, scheduledAt: next, runId: computeRunId(span.scheduleId, next) })
        next = after(next)
      }
    } catch (error) {
      // The runtime may no longer know the time zone. Then the instants of this span are unknown, and it is dropped.
      console.error(JSON.stringify({ scheduleId: span.scheduleId, failure: describeFailure(error) }))
      next = span.missedUntil
    }
    recorded.push({ ...span, nextFrom: next })
  }
  return { missed, recorded }
}
