/**
 * Records missed instants as skipped, in pages: a schedule of every minute misses 1,440 in a day without ticks. The run
 * that makes them good was fired when the ticks came back (tick/fire.ts), so this is in no hurry.
 */
import { asc, gte, lte, sql } from 'drizzle-orm'
import { nextRun } from '../../../cron/next-run.ts'
import type { TickEnvironment } from '../../../db/database.ts'
import { describeFailure } from '../../../db/failures.ts'
import { insertRow, jsonRows } from '../../../db/rows.ts'
import { missedSpans, runs, schedules } from '../../../db/schema.ts'
import { insertRow, jsonRows, query, runBatch, unguarded } from '../../../db/statement.ts'
import type { TickEnvironment } from '../../../environment.ts'
import { isScheduleOf } from '../joins.ts'
import { oldestRunKept } from './kept-runs.ts'
import { runIdOf } from './run-id.ts'

const SPANS_A_PAGE = 50
const INSTANTS_A_PAGE = 500
/** Four statements a page. */
const PAGES_A_TICK = 20

const now = sql.placeholder('now')

export const selectSpans = unguarded(() =>
  query
    .select()
    .from(missedSpans)
    .where(lte(missedSpans.missedFrom, now))
    .orderBy(asc(missedSpans.missedFrom))
    .limit(SPANS_A_PAGE),
)

type MissedSpan = typeof missedSpans.$inferSelect

const missed = jsonRows('missed', 'organizationId', 'scheduleId', 'missedUntil', 'scheduledAt', 'runId')

/** As long as the schedule is there: the purge removes what hangs on it. */
export const insertSkipped = unguarded(() =>
  query
    .insert(runs)
    .select(
      query
        .select(
          insertRow(runs, {
            organizationId: schedules.organizationId,
            scheduleId: schedules.id,
            scheduledAt: missed.column('scheduledAt'),
            id: missed.column('runId'),
            parentType: schedules.parentType,
            parentId: schedules.parentId,
            status: sql`'skipped'`,
            attempts: sql`0`,
            lastError: sql`'It was missed: the instant ' || ${missedSpans.missedUntil} || ' stands in for it'`,
            createdAt: now,
            updatedAt: now,
          }),
        )
        .from(missed.table)
        .crossJoin(missedSpans)
        .innerJoin(schedules, isScheduleOf(missedSpans))
        .where(missed.matches(missedSpans, 'organizationId', 'scheduleId', 'missedUntil')),
    )
    .onConflictDoNothing(),
)

const recorded = jsonRows('recorded', 'organizationId', 'scheduleId', 'missedUntil', 'missedFrom', 'nextFrom')

/** Unless another tick did meanwhile. */
export const shortenSpans = unguarded(() =>
  query
    .update(missedSpans)
    .set({ missedFrom: sql`${recorded.column('nextFrom')}` })
    .from(recorded.table)
    .where(recorded.matches(missedSpans, 'organizationId', 'scheduleId', 'missedUntil', 'missedFrom')),
)

export const removeSpans = unguarded(() =>
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

/** Records some pages. Instants that the ledger would forget at once are left out. */
export async function recordMissedRuns({ DB }: TickEnvironment, instant: Date): Promise<void> {
  const now = instant.toISOString()
  let [spans] = await runBatch(DB, [selectSpans], { now })
  for (let page = 0; spans.length > 0 && page < PAGES_A_TICK; page++) {
    const instants = instantsOf(spans, oldestRunKept(instant))
    ;[, , , spans] = await runBatch(DB, [insertSkipped, shortenSpans, removeSpans, selectSpans], {
      now,
      ...missed.values(instants.missed),
      ...recorded.values(instants.recorded),
    })
  }
}

/** The first instants of the spans, oldest first, and where each span begins then. */
function instantsOf(spans: readonly MissedSpan[], oldest: string) {
  const missed = []
  const recorded = []
  for (const span of spans) {
    let next = span.missedFrom
    const after = (instant: string) => nextRun(span.cron, span.timezone, new Date(instant)).toISOString()
    try {
      if (next < oldest) next = after(oldest)
      while (next < span.missedUntil && missed.length < INSTANTS_A_PAGE) {
        missed.push({ ...span, scheduledAt: next, runId: runIdOf(span.scheduleId, next) })
        next = after(next)
      }
    } catch (error) {
      // The runtime may lose a time zone that it knew. Its instants can't be told then; the other spans go on.
      console.error(JSON.stringify({ scheduleId: span.scheduleId, failure: describeFailure(error) }))
      next = span.missedUntil
    }
    recorded.push({ ...span, nextFrom: next })
  }
  return { missed, recorded }
}
