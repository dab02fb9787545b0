/**
 * Fires what is due: for each schedule one row of the ledger, and `nextRunAt` moves on, in one transaction and only if it,
 * the expression and the time zone are still what was read. So ticks that come twice, at once, late or not at all fire no instant twice and lose none.
 */
import { and, asc, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { latestRun, nextRun } from '../../../cron/next-run.ts'
import type { TickEnvironment } from '../../../db/database.ts'
import { describeFailure } from '../../../db/failures.ts'
import { excluded, insertRow, jsonRows } from '../../../db/rows.ts'
import { agents, missedSpans, projects, runs, schedules } from '../../../db/schema.ts'
import { query, runBatch, unguarded, type Value } from '../../../db/statement.ts'
import {
  hasParent,
  hasRunEndpoint,
  isAgentOf,
  isProjectOf,
  parentArchivedAt,
  runCreatedAt,
} from '../joins.ts'
import { runIdOf } from './run-id.ts'

/** So few that a page is done within the 10 ms of CPU that the free plan gives a tick. */
const PAGE_SIZE = 250
/** Four statements a page, of the 1,000 that D1 allows a tick. */
const PAGES_A_TICK = 120

const now = sql.placeholder('now')

/** The oldest that are due. */
export const selectDue = unguarded(() =>
  query
    .select({
      organizationId: schedules.organizationId,
      parentType: schedules.parentType,
      parentId: schedules.parentId,
      id: schedules.id,
      cron: schedules.cron,
      timezone: schedules.timezone,
      dueAt: sql<string>`${schedules.nextRunAt}`.as('dueAt'),
    })
    .from(schedules)
    .where(lte(schedules.nextRunAt, now))
    .orderBy(asc(schedules.nextRunAt))
    .limit(PAGE_SIZE),
)

type DueSchedule = NonNullable<(typeof selectDue)['row']>

const claims = jsonRows(
  'claims',
  'organizationId',
  'parentType',
  'parentId',
  'id',
  'cron',
  'timezone',
  'dueAt',
  'scheduledAt',
  'runId',
  'nextRunAt',
)

/** Of a claim: the schedule, unless another tick claimed it first, or a change made what the claim was computed from outdated. */
const isClaimed = and(
  claims.matches(schedules, 'organizationId', 'parentType', 'parentId', 'id', 'cron', 'timezone'),
  eq(schedules.nextRunAt, claims.column('dueAt')),
)

/** What came due while the parent was archived is skipped; what nobody has an endpoint for waits to be pulled. */
const isOpen = isNull(parentArchivedAt)

export const insertRuns = unguarded(() =>
  query
    .insert(runs)
    .select(
      query
        .select(
          insertRow(runs, {
            organizationId: schedules.organizationId,
            scheduleId: schedules.id,
            scheduledAt: claims.column('scheduledAt'),
            id: claims.column('runId'),
            parentType: schedules.parentType,
            parentId: schedules.parentId,
            status: sql`case when ${isOpen} then 'pending' else 'skipped' end`,
            attempts: sql`0`,
            lastError: sql`case when not ${isOpen} then 'The ' || ${schedules.parentType} || ' was archived' end`,
            sendAfter: sql`case when ${isOpen} and ${hasRunEndpoint} then ${now} end`,
            createdAt: runCreatedAt,
            updatedAt: now,
          }),
        )
        .from(claims.table)
        .crossJoin(schedules)
        .leftJoin(projects, isProjectOf(schedules))
        .leftJoin(agents, isAgentOf(schedules))
        .where(and(isClaimed, hasParent)),
    )
    .onConflictDoNothing(),
)

/** What was missed before the instant that fires: tick/record-missed.ts. */
export const insertMissedSpans = unguarded(() =>
  query
    .insert(missedSpans)
    .select(
      query
        .select(
          insertRow(missedSpans, {
            organizationId: schedules.organizationId,
            scheduleId: schedules.id,
            missedFrom: claims.column('dueAt'),
            missedUntil: claims.column('scheduledAt'),
            parentType: schedules.parentType,
            parentId: schedules.parentId,
            cron: schedules.cron,
            timezone: schedules.timezone,
          }),
        )
        .from(claims.table)
        .crossJoin(schedules)
        .where(and(isClaimed, sql`${claims.column('dueAt')} < ${claims.column('scheduledAt')}`)),
    )
    // After a clock was set back.
    .onConflictDoUpdate({
      target: [missedSpans.organizationId, missedSpans.scheduleId, missedSpans.missedUntil],
      set: { missedFrom: sql`min(${missedSpans.missedFrom}, ${excluded('missedFrom')})` },
    }),
)

/** The instant, if it did fire. */
const firedAt = query
  .select({ scheduledAt: runs.scheduledAt })
  .from(runs)
  .where(
    and(
      eq(runs.organizationId, schedules.organizationId),
      eq(runs.scheduleId, schedules.id),
      eq(runs.scheduledAt, claims.column('scheduledAt')),
      sql`${runs.status} <> 'skipped'`,
    ),
  )

/** What an update stores with a next run. Without one, the schedule is paused. */
export function storingNextRun(nextRunAt: SQL) {
  return {
    nextRunAt: sql`${nextRunAt}`,
    enabledAt: sql`case when ${nextRunAt} is not null then ${schedules.enabledAt} end`,
    pausedReason: sql`case when ${nextRunAt} is null
      then 'Its next run could not be computed: change its cron expression or its time zone' end`,
  }
}

export const moveOn = unguarded(() =>
  query
    .update(schedules)
    .set({
      ...storingNextRun(claims.column('nextRunAt')),
      lastRunAt: sql`nullif(max(coalesce(${firedAt}, ''), coalesce(${schedules.lastRunAt}, '')), '')`,
    })
    .from(claims.table)
    .where(isClaimed),
)

/** Fires a page at a time, the oldest first; a tick leaves the rest to the next. */
export async function fireSchedules({ DB }: TickEnvironment, instant: Date): Promise<void> {
  const values = { now: instant.toISOString() }
  let [due] = await runBatch(DB, [selectDue], values)
  for (let page = 0; due.length > 0 && page < PAGES_A_TICK; page++) {
    const claimed = due.map((schedule) => claimOf(schedule, instant))
    ;[, , , due] = await runBatch(DB, [insertRuns, insertMissedSpans, moveOn, selectDue], {
      ...values,
      ...claims.values(claimed),
    })
  }
}

/** One run for what is due: the latest instant, if more than one was missed. */
function claimOf(
  schedule: DueSchedule,
  now: Date,
): DueSchedule & Record<'scheduledAt' | 'runId', string> & { nextRunAt: Value } {
  const { cron, timezone, dueAt } = schedule
  let [scheduledAt, nextRunAt]: [string, string | null] = [dueAt, null]
  try {
    const due = new Date(dueAt)
    let next = nextRun(cron, timezone, due)
    if (next <= now) {
      scheduledAt = latestRun(cron, timezone, next, now).toISOString()
      next = nextRun(cron, timezone, now)
    }
    nextRunAt = next.toISOString()
  } catch (error) {
    // The runtime may lose a time zone that it knew. The other schedules go on.
    console.error(JSON.stringify({ scheduleId: schedule.id, failure: describeFailure(error) }))
  }
  return { ...schedule, scheduledAt, runId: runIdOf(schedule.id, scheduledAt), nextRunAt }
}
