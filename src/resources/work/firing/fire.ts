/** Fires the schedules that are due (docs/design-work.md, Fire what is due). */
import { and, asc, eq, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { eventValues, recordedByService } from '../../../access/events.ts'
import { latestRun } from '../../../cron/next-run.ts'
import { nextTime } from '../../../cron/timing.ts'
import type { DatabaseEnvironment } from '../../../db/database.ts'
import { describeFailure } from '../../../db/failures.ts'
import { isActive, isNotStopped } from '../../../db/halts.ts'
import { now, type Value } from '../../../db/parameters.ts'
import { excluded, insertRow, type JsonRows, jsonRows } from '../../../db/rows.ts'
import { agents, lastTick, missedSpans, projects, runEndpoints, runs, schedules } from '../../../db/schema.ts'
import { query, type RowOf, runBatch, type Statement, unguarded } from '../../../db/statement.ts'
import { hasParent, isAgentOf, isProjectOf, parentArchivedAt, pausedEvent } from '../joins.ts'
import { computeRunId } from '../run-id.ts'
import { enqueueByEndpoint, FIRST_LEASE_MS } from '../run-queue.ts'
import { checkAt, isFired, newRun, writeNewRuns } from '../run-transitions.ts'

/** A page fits into the 10 ms of CPU that a tick has on the Workers Free plan. */
const PAGE_SIZE = 250
/** D1 allows 1,000 statements per tick, and a page takes four. */
const MAX_PAGES_PER_TICK = 120

const TICK_MS = 60_000

/** A schedule with what its next run is computed from. An update requires that this is unchanged. */
export const scheduleFields = {
  organizationId: schedules.organizationId,
  id: schedules.id,
  cron: schedules.cron,
  runAt: schedules.runAt,
  timezone: schedules.timezone,
}
export const SCHEDULE_COLUMNS = Object.keys(scheduleFields) as (keyof typeof scheduleFields)[]

/** Shows the operator when the last tick ran. In the first batch of the tick, so it costs no call of its own. */
export const recordTick = unguarded({ now }, () =>
  query
    .insert(lastTick)
    .values({ id: 1, scheduledAt: sql`${now}` })
    .onConflictDoUpdate({
      target: lastTick.id,
      set: { scheduledAt: sql`max(${lastTick.scheduledAt}, ${excluded('scheduledAt')})` },
    }),
)

const isFiring = and(isActive(schedules.organizationId), isNotStopped('firing', schedules.organizationId))

/** The schedules that have been due longest. */
export const selectDue = unguarded({ now }, () =>
  query
    .select({
      ...scheduleFields,
      dueAt: sql<string>`${schedules.nextRunAt}`.as('dueAt'),
      isSlow: sql<0 | 1>`coalesce(${runEndpoints.slowUntil} > ${now}, false)`.as('isSlow'),
    })
    .from(schedules)
    .leftJoin(runEndpoints, eq(runEndpoints.organizationId, schedules.organizationId))
    .where(and(lte(schedules.nextRunAt, now), isFiring))
    .orderBy(asc(schedules.nextRunAt))
    .limit(PAGE_SIZE),
)

type DueSchedule = RowOf<typeof selectDue>

const firings = jsonRows('firings', ...SCHEDULE_COLUMNS, 'dueAt', 'scheduledAt', 'runId', 'nextRunAt')

/** Joins the schedule of a row, if a request has not changed when it fires since it was read. */
export function isAsRead(rows: JsonRows<'organizationId' | 'id' | 'timezone' | 'cron' | 'runAt'>) {
  return and(
    rows.matches(schedules, 'organizationId', 'id', 'timezone'),
    sql`${schedules.cron} is ${rows.column('cron')} and ${schedules.runAt} is ${rows.column('runAt')}`,
  )
}

/** Joins the schedule of a firing, unless another tick fired it or a request changed it since it was read. */
const isStillDue = and(isAsRead(firings), eq(schedules.nextRunAt, firings.column('dueAt')), isFiring)

export const insertRuns = unguarded({ parameter: firings.parameter, now, checkAt }, () =>
  writeNewRuns(
    query
      .select(
        newRun({
          scheduledAt: firings.column('scheduledAt'),
          id: firings.column('runId'),
          isParentActive: isNull(parentArchivedAt),
        }),
      )
      .from(firings.table)
      .crossJoin(schedules)
      .leftJoin(projects, isProjectOf(schedules))
      .leftJoin(agents, isAgentOf(schedules))
      .where(and(isStillDue, hasParent)),
  ).returning({
    organizationId: runs.organizationId,
    id: runs.id,
    attempts: runs.attempts,
    checkAt: runs.checkAt,
  }),
)

/** The instants that were missed before the one that fires (record-missed.ts). Of a deleted parent, none is recorded. */
export const insertMissedSpans = unguarded({ parameter: firings.parameter, now }, () =>
  query
    .insert(missedSpans)
    .select(
      query
        .select(
          insertRow(missedSpans, {
            organizationId: schedules.organizationId,
            scheduleId: schedules.id,
            missedFrom: firings.column('dueAt'),
            missedUntil: firings.column('scheduledAt'),
            parentType: schedules.parentType,
            parentId: schedules.parentId,
            cron: schedules.cron,
            timezone: schedules.timezone,
          }),
        )
        .from(firings.table)
        .crossJoin(schedules)
        .leftJoin(projects, isProjectOf(schedules))
        .leftJoin(agents, isAgentOf(schedules))
        .where(and(isStillDue, sql`${firings.column('dueAt')} < ${firings.column('scheduledAt')}`, hasParent)),
    )
    // There is such a span only after a clock was set back.
    .onConflictDoUpdate({
      target: [missedSpans.organizationId, missedSpans.scheduleId, missedSpans.missedUntil],
      set: { missedFrom: sql`min(${missedSpans.missedFrom}, ${excluded('missedFrom')})` },
    }),
)

/** The instant of the firing; NULL if it was skipped. */
const firedAt = query
  .select({ scheduledAt: runs.scheduledAt })
  .from(runs)
  .where(
    and(
      eq(runs.organizationId, schedules.organizationId),
      eq(runs.scheduleId, schedules.id),
      eq(runs.scheduledAt, firings.column('scheduledAt')),
      isFired,
    ),
  )

/**
 * The columns that change with the next run. A schedule that fires once has no next run after that; a cron expression
 * without a next run pauses the schedule.
 */
export function storingNextRun(nextRunAt: SQL) {
  const isUncomputable = sql`${nextRunAt} is null and ${schedules.cron} is not null`
  return {
    nextRunAt: sql`${nextRunAt}`,
    enabledAt: sql`case when not (${isUncomputable}) then ${schedules.enabledAt} end`,
    pausedReason: sql`case when ${isUncomputable}
      then 'The next run could not be computed. Change the cron expression or the time zone.' end`,
  }
}

/** True for a schedule that `storingNextRun` pauses. */
export const isPausedBy = (nextRunAt: SQL) =>
  and(isNotNull(schedules.enabledAt), isNotNull(schedules.cron), isNull(nextRunAt))

export const recordUncomputable = recordedByService({ parameter: firings.parameter, now }, pausedEvent, (row) =>
  query
    .select(row)
    .from(firings.table)
    .innerJoin(schedules, and(isStillDue, isPausedBy(firings.column('nextRunAt')))),
)

export const updateNextRuns = unguarded({ parameter: firings.parameter, now }, () =>
  query
    .update(schedules)
    .set({
      ...storingNextRun(firings.column('nextRunAt')),
      lastRunAt: sql`nullif(max(coalesce(${firedAt}, ''), coalesce(${schedules.lastRunAt}, '')), '')`,
    })
    .from(firings.table)
    .where(isStillDue),
)

/** The statement that records pauses, if a schedule with a cron expression has no next run. */
export const ofPaused = <S extends Statement>(
  computed: readonly { readonly cron: string | null; readonly nextRunAt: Value }[],
  statement: S,
): S[] => (computed.some(({ cron, nextRunAt }) => cron !== null && nextRunAt === null) ? [statement] : [])

/** How many schedules were due in a tick, and how many of them more than a minute before it. */
export interface FiredSchedules {
  due: number
  late: number
}

/**
 * Fires schedules page by page, the longest due first. The next tick fires those that remain.
 * @param schedules counts what is fired, for the log.
 */
export async function fireSchedules(
  { database, ...queues }: DatabaseEnvironment,
  instant: Date,
  schedules: FiredSchedules = { due: 0, late: 0 },
): Promise<void> {
  const values = { now: instant.toISOString() }
  const lateBefore = new Date(instant.getTime() - TICK_MS).toISOString()
  let { due } = await runBatch(database, { recordTick, due: selectDue }, values)
  for (let page = 0; due.length > 0 && page < MAX_PAGES_PER_TICK; page++) {
    schedules.due += due.length
    schedules.late += due.filter(({ dueAt }) => dueAt < lateBefore).length
    const firing = due.map((schedule) => firingOf(schedule, instant))
    const { fired, next } = await runBatch(
      database,
      {
        fired: insertRuns,
        insertMissedSpans,
        paused: ofPaused(firing, recordUncomputable),
        updateNextRuns,
        next: selectDue,
      },
      {
        ...values,
        ...eventValues(values.now, null),
        // A late tick, or the last page of a long one, gives the queue as much time.
        checkAt: new Date(Math.max(instant.getTime(), Date.now()) + FIRST_LEASE_MS).toISOString(),
        firings: firings.value(firing),
      },
    )
    const toSend = fired.filter(({ checkAt }) => checkAt !== null)
    const slow = new Set(due.flatMap(({ organizationId, isSlow }) => (isSlow ? [organizationId] : [])))
    try {
      await enqueueByEndpoint(queues, toSend, ({ organizationId }) => slow.has(organizationId))
    } catch (error) {
      console.error(JSON.stringify({ task: 'fireSchedules', failure: describeFailure(error) }))
    }
    due = next
  }
}

/** The run that fires: that of the latest instant that has passed. */
function firingOf(
  schedule: DueSchedule,
  now: Date,
): DueSchedule & Record<'scheduledAt' | 'runId', string> & { nextRunAt: Value } {
  const { cron, timezone, dueAt } = schedule
  let [scheduledAt, nextRunAt]: [string, string | null] = [dueAt, null]
  try {
    const next = nextTime(schedule, new Date(dueAt))
    const isMissed = cron !== null && next !== null && next <= now.toISOString()
    if (isMissed) scheduledAt = latestRun(cron, timezone, new Date(next), now).toISOString()
    nextRunAt = isMissed ? nextTime(schedule, now) : next
  } catch (error) {
    // The runtime may no longer know the time zone. The schedule is paused, and the others still fire.
    console.error(JSON.stringify({ scheduleId: schedule.id, failure: describeFailure(error) }))
  }
  return { ...schedule, scheduledAt, runId: computeRunId(schedule.id, scheduledAt), nextRunAt }
}
