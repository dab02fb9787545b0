/** The tick: what the Cron Trigger runs each minute. */
import { instrumented, noUse, type TickEnvironment } from './db/database.ts'
import { describeFailure } from './db/failures.ts'
import type { Environment } from './environment.ts'
import { removeEndedKeys } from './maintenance/ended-keys.ts'
import { purgeDeletions } from './maintenance/purge.ts'
import { resealValues } from './maintenance/reseal.ts'
import { deleteExpired } from './maintenance/retention.ts'
import { findOrphans } from './objects/find-orphans.ts'
import { deleteOrphanedObjects } from './objects/sweep.ts'
import { findBehind } from './resources/events/delivery/find-behind.ts'
import { checkRuns } from './resources/schedules/delivery/check-runs.ts'
import { fireSchedules } from './resources/schedules/firing/fire.ts'
import { recordMissedRuns } from './resources/schedules/firing/record-missed.ts'
import { refreshNextRuns } from './resources/schedules/firing/refresh-next-runs.ts'

/** In order of urgency. */
const TASKS = {
  fireSchedules,
  checkRuns,
  findBehind,
  refreshNextRuns,
  recordMissedRuns,
  deleteExpired,
  resealValues,
  purgeDeletions,
  removeEndedKeys,
  findOrphans,
  deleteOrphanedObjects,
}

/** Runs each task, even if one before it fails. The next tick repeats a failed task. */
export async function tick(environment: Environment, now: Date): Promise<void> {
  const lateMs = Date.now() - now.getTime()
  const d1 = noUse()
  const schedules = { due: 0, late: 0 }
  const tickEnvironment: TickEnvironment = { ...environment, DB: instrumented(environment.DB, d1) }
  for (const [task, run] of Object.entries(TASKS)) {
    try {
      await run(tickEnvironment, now, schedules)
    } catch (error) {
      console.error(JSON.stringify({ task, failure: describeFailure(error) }))
    }
  }
  if (environment.REQUEST_LOG !== 'off') {
    console.log(JSON.stringify({ tick: now.toISOString(), lateMs, schedules, d1 }))
  }
}
