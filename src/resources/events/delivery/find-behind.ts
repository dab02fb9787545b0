/** The tick's part in deliveries of events: it finds endpoints whose hint was lost, or whose next attempt is due. */
import type { DatabaseEnvironment } from '../../../db/database.ts'
import { runBatch } from '../../../db/statement.ts'
import { DAY_MS } from '../../../durations.ts'
import { sendAll } from '../../../queues.ts'
import { sequenceOf } from '../sequence.ts'
import { foundEndpoints, markQueued, selectBehind } from './statements.ts'

/** How long the queue has to hand an endpoint over before the tick queues it again. */
const QUEUE_MS = 5 * 60_000

export async function findBehind(
  { database, databaseNumber, DELIVERIES }: DatabaseEnvironment,
  instant: Date,
): Promise<void> {
  const ms = Math.max(instant.getTime(), Date.now())
  const now = new Date(ms).toISOString()
  const dayAgo = sequenceOf(new Date(ms - DAY_MS).toISOString())
  const { behind } = await runBatch(database, { behind: selectBehind }, { now, dayAgo })
  if (behind.length === 0) return
  const messages = behind.map((endpoint) => ({ database: databaseNumber, endpoint }))
  await sendAll(DELIVERIES, messages)
  const queuedUntil = new Date(ms + QUEUE_MS).toISOString()
  await runBatch(database, { markQueued }, { now, queuedUntil, found: foundEndpoints.value(behind) })
}
