/** What the Cron Trigger does each minute. */
import { describeFailure } from '../db/failures.ts'
import type { Environment } from '../environment.ts'
import { findOrphans } from './find-orphans.ts'
import { fireSchedules } from './fire.ts'
import { forgetOld } from './forget.ts'
import { purgeDeletions } from './purge.ts'
import { recordMissedRuns } from './record-missed.ts'
import { resealValues } from './reseal.ts'
import { sendRuns } from './send-runs.ts'
import { sweepDoomedObjects } from './sweep.ts'

/** In this order: what somebody waits for comes first. */
const TASKS = {
  fireSchedules,
  sendRuns,
  recordMissedRuns,
  forgetOld,
  resealValues,
  purgeDeletions,
  findOrphans,
  sweepDoomedObjects,
}

/** Each task is tried, whatever became of the one before; what failed, the next tick takes up. */
export async function tick(environment: Environment, now: Date): Promise<void> {
  for (const [task, run] of Object.entries(TASKS)) {
    try {
      await run(environment, now)
    } catch (error) {
      console.error(JSON.stringify({ task, failure: describeFailure(error) }))
    }
  }
}
