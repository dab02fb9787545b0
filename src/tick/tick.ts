/** What the Cron Trigger does each minute. */
import { describeFailure } from '../db/failures.ts'
import type { Environment } from '../environment.ts'
import { purgeDeletions } from './purge.ts'
import { sweepDoomedObjects } from './sweep.ts'

const TASKS = { purgeDeletions, sweepDoomedObjects }

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
