/** Puts runs into the queues, from which delivery/consumer.ts sends them. */
import type { DatabaseEnvironment } from '../../db/database.ts'
import type { Environment, RunReference } from '../../environment.ts'
import { sendAll } from '../../queues.ts'

/**
 * The runs of a message are sent at the same time. A Worker has six connections, and the database needs one of them.
 */
export const RUNS_PER_MESSAGE = 5
/**
 * How long the queue has to deliver a run that was put into it when it was created. After that, or if the queue did not
 * take it, the tick puts it into the queue again (delivery/check-runs.ts).
 */
export const FIRST_LEASE_MS = 5 * 60_000

/** Puts each run into the queue for its run endpoint, in order. */
export async function enqueueByEndpoint<Run extends RunReference>(
  {
    DELIVERIES,
    SLOW_DELIVERIES,
    databaseNumber,
  }: Pick<DatabaseEnvironment, 'DELIVERIES' | 'SLOW_DELIVERIES' | 'databaseNumber'>,
  runs: readonly Run[],
  isSlow: (run: Run) => boolean,
): Promise<void> {
  await enqueueRuns(
    DELIVERIES,
    databaseNumber,
    runs.filter((run) => !isSlow(run)),
  )
  await enqueueRuns(SLOW_DELIVERIES, databaseNumber, runs.filter(isSlow), true)
}

/** Puts runs into a queue, in order. */
export async function enqueueRuns(
  queue: Environment['DELIVERIES'],
  database: number,
  runs: readonly RunReference[],
  isSlow = false,
): Promise<void> {
  const messages = messagesOf(runs).map((runs) => ({ database, runs, isSlow }))
  await sendAll(queue, messages)
}

/** The runs of each message. No organization waits for the run endpoint of another one. */
function messagesOf(runs: readonly RunReference[]): RunReference[][] {
  const messages: RunReference[][] = []
  const latest = new Map<string, RunReference[]>()
  for (const { organizationId, id, attempts } of runs) {
    const run = { organizationId, id, attempts }
    const message = latest.get(run.organizationId)
    if (message && message.length < RUNS_PER_MESSAGE) {
      message.push(run)
      continue
    }
    const next = [run]
    latest.set(run.organizationId, next)
    messages.push(next)
  }
  return messages
}
