/** Checks the runs whose `checkAt` is over: `afterCheck` in run-transitions.ts has their transitions. */
import { and, asc, isNotNull, lte, sql } from 'drizzle-orm'
import { eventValues } from '../../../access/events.ts'
import { ON_RESUMPTION } from '../../../brakes.ts'
import type { DatabaseEnvironment } from '../../../db/database.ts'
import { isActive, isNotStopped, isSettled } from '../../../db/halts.ts'
import { now } from '../../../db/parameters.ts'
import { agents, projects, runEndpoints, runs, schedules } from '../../../db/schema.ts'
import { query, type RowOf, runBatch, unguarded } from '../../../db/statement.ts'
import { HOUR_MS } from '../../../durations.ts'
import { failuresOf, pauseFailing, recordPauses } from '../firing/pause-failing.ts'
import { hasParent, isAgentOf, isProjectOf, isRunEndpointOf, isScheduleOf } from '../joins.ts'
import { enqueueByEndpoint } from '../run-queue.ts'
import {
  afterCheck,
  checked,
  deadlineOf,
  isAsRead,
  isSuperseded,
  postponed,
  writeChecks,
  writePostponement,
} from '../run-transitions.ts'
import { failedRuns, recordFailures } from './run-failures.ts'

const PAGE_SIZE = 1000
const MAX_PAGES_PER_TICK = 30

/** When a run is checked again whose delivery the operator has stopped, unless it goes on before (operate/brakes.ts). */
const STOPPED_MS = HOUR_MS
/** How long the queue has to deliver a run before the run is put into it again. */
const LEASE_MS = 15 * 60_000

export const selectToCheck = unguarded({ now }, () =>
  query
    .select({
      organizationId: sql<string>`${runs.organizationId}`.as('organizationId'),
      id: runs.id,
      scheduleId: runs.scheduleId,
      status: runs.status,
      attempts: runs.attempts,
      checkAt: runs.checkAt,
      claimId: runs.claimId,
      maxRunSeconds: schedules.maxRunSeconds,
      deadline: deadlineOf(runs.startedAt).as('deadline'),
      isSuperseded: isSuperseded.as('isSuperseded'),
      hasEndpoint: sql<0 | 1>`${isNotNull(runEndpoints.organizationId)}`.as('hasEndpoint'),
      isSlow: sql<0 | 1>`coalesce(${runEndpoints.slowUntil} > ${now}, false)`.as('isSlow'),
      isDeleted: sql<0 | 1>`(${schedules.id} is null or not ${hasParent})`.as('isDeleted'),
      isStopped: sql<0 | 1>`not (${isNotStopped('deliveries', runs.organizationId)})`.as('isStopped'),
      isSuspended: sql<0 | 1>`not (${isActive(runs.organizationId)})`.as('isSuspended'),
    })
    .from(runs)
    .leftJoin(schedules, isScheduleOf(runs))
    .leftJoin(projects, isProjectOf(runs))
    .leftJoin(agents, isAgentOf(runs))
    .leftJoin(runEndpoints, isRunEndpointOf(runs))
    .where(and(lte(runs.checkAt, now), isSettled(runs.organizationId)))
    .orderBy(asc(runs.checkAt))
    .limit(PAGE_SIZE),
)

type ToCheck = RowOf<typeof selectToCheck>

export const recordTimeouts = recordFailures(isAsRead(failedRuns))

export const postpone = unguarded({ parameter: postponed.parameter, now }, writePostponement)

export const storeChecked = unguarded({ parameter: checked.parameter, now }, writeChecks)

/**
 * Checks some pages, or one if the queue fails. If a lease is not stored after the queue took the runs, they are sent
 * twice and not lost.
 */
export async function checkRuns({ database, ...queues }: DatabaseEnvironment, instant: Date): Promise<void> {
  // At the time of a late tick, a claim had ended before the deadline of its run. Now the deadline may have come.
  const now = Math.max(instant.getTime(), Date.now())
  const values = { now: new Date(now).toISOString() }
  const leaseExpiresAt = new Date(now + LEASE_MS).toISOString()
  let { toCheck } = await runBatch(database, { toCheck: selectToCheck }, values)
  for (let page = 0; toCheck.length > 0 && page < MAX_PAGES_PER_TICK; page++) {
    const dated = toCheck.map((run) => ({ ...run, newCheckAt: leftUntil(run, now) }))
    const present = dated.filter(({ newCheckAt }) => newCheckAt === null)
    const left = dated.filter(({ newCheckAt }) => newCheckAt !== null)
    const sendable = present.filter(isSendable)
    const failure = await enqueueByEndpoint(queues, sendable, ({ isSlow }) => isSlow === 1).catch((error: unknown) => ({
      error,
    }))
    // If the queue fails, the other runs of the page are checked nevertheless.
    const checkable = failure ? present.filter((run) => !sendable.includes(run)) : present
    const found = checkable.map((run) => ({ ...run, ...afterCheck(run, values.now, leaseExpiresAt) }))
    const failed = found.filter(({ failure }) => failure !== null)
    ;({ toCheck } = await runBatch(
      database,
      {
        postpone: left.length > 0 ? [postpone] : [],
        recordTimeouts,
        storeChecked,
        recordPauses,
        pauseFailing,
        toCheck: selectToCheck,
      },
      {
        ...values,
        ...eventValues(values.now, null),
        failedRuns: failedRuns.value(failed.map((run) => ({ ...run, redeliveredAt: null }))),
        checked: checked.value(found),
        postponed: postponed.value(left),
        ...failuresOf(failed.map((run) => ({ ...run, error: run.lastError }))),
      },
    ))
    if (failure) throw failure.error
  }
}

/** Waits to be sent to a run endpoint. */
const isSendable = ({ status, hasEndpoint }: ToCheck) => status === 'pending' && hasEndpoint === 1

/** When a run that is left as it is for now is checked again; null for the others. */
function leftUntil(run: ToCheck, now: number): string | null {
  if (run.isSuspended === 1) return ON_RESUMPTION
  if (run.isDeleted === 1) return new Date(now + LEASE_MS).toISOString()
  return run.isStopped === 1 && isSendable(run) ? new Date(now + STOPPED_MS).toISOString() : null
}
