/** The tick: what the Cron Trigger runs each minute. */
import { alertOfDatabase, alertOfLateTicks } from './alerts/ticks.ts'
import {
  type DatabaseEnvironment,
  databaseNumbers,
  instrumented,
  noUse,
  requireDatabase,
  unknownHealth,
} from './db/database.ts'
import { describeFailure } from './db/failures.ts'
import type { EventExcess } from './db/usage.ts'
import type { Environment } from './environment.ts'
import { removeEndedKeys } from './maintenance/ended-keys.ts'
import { purgeDeletions } from './maintenance/purge.ts'
import { resealValues } from './maintenance/reseal.ts'
import { deleteExpired } from './maintenance/retention.ts'
import { findOrphans } from './objects/find-orphans.ts'
import { deleteOrphanedObjects } from './objects/sweep.ts'
import { sendAll } from './queues.ts'
import { findBehind } from './resources/events/delivery/find-behind.ts'
import { checkRuns } from './resources/work/delivery/check-runs.ts'
import { fireSchedules } from './resources/work/firing/fire.ts'
import { recordMissedRuns } from './resources/work/firing/record-missed.ts'
import { refreshNextRuns } from './resources/work/firing/refresh-next-runs.ts'

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

/** The tick of database 0, and a message for that of each other one, so that none waits for another. */
export async function tickAll(environment: Environment, now: Date): Promise<void> {
  const others = databaseNumbers(environment).slice(1)
  const messages = others.map((database) => ({ database, tickAt: now.toISOString() }))
  const [result] = await Promise.allSettled([sendAll(environment.TICKS, messages), tick(environment, now)])
  if (result.status === 'rejected') {
    console.error(JSON.stringify({ task: 'queueTicks', failure: describeFailure(result.reason) }))
  }
}

/** Runs each task, even if one before it fails. The next tick repeats a failed task. */
export async function tick(environment: Environment, now: Date, databaseNumber = 0): Promise<void> {
  const lateMs = Date.now() - now.getTime()
  const d1 = noUse()
  const health = unknownHealth()
  const schedules = { due: 0, late: 0 }
  const found: { events?: EventExcess } = {}
  const database = instrumented(requireDatabase(environment, databaseNumber), d1, health)
  // Not at the end, to which a tick does not come that hangs. No task waits for it.
  const looking = databaseNumber === 0 ? alertOfLateTicks(environment, now) : undefined
  const tickEnvironment: DatabaseEnvironment = { ...environment, database, databaseNumber }
  for (const [task, run] of Object.entries(TASKS)) {
    try {
      await run(tickEnvironment, now, schedules, found)
    } catch (error) {
      console.error(JSON.stringify({ task, database: databaseNumber || undefined, failure: describeFailure(error) }))
    }
  }
  await alertOfDatabase(environment, databaseNumber, now, health, (await looking) === false, found.events)
  if (environment.REQUEST_LOG !== 'off') {
    const database = databaseNumber === 0 ? undefined : databaseNumber
    console.log(JSON.stringify({ tick: now.toISOString(), database, lateMs, schedules, d1 }))
  }
}
