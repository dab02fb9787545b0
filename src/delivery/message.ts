/** What travels through the queue: references to runs. The ledger has the rest, and the last word. */

/** A run, and how often it had been sent when it was put into the queue: what comes twice is told by it. */
export interface RunReference {
  readonly organizationId: string
  readonly scheduleId: string
  readonly scheduledAt: string
  readonly attempts: number
}

export interface RunMessage {
  readonly runs: readonly RunReference[]
}

/** Four such messages make a batch (wrangler.toml): with two calls to D1, under the 50 subrequests of the free plan. */
export const RUNS_A_MESSAGE = 10
/** The most messages that the queue takes at once. */
const MESSAGES_AT_ONCE = 100

/** How many runs go into the queue with one call. */
export const RUNS_AT_ONCE = RUNS_A_MESSAGE * MESSAGES_AT_ONCE

/** Puts up to `RUNS_AT_ONCE` runs into the queue. */
export async function enqueueRuns(queue: Queue<RunMessage>, runs: readonly RunReference[]): Promise<void> {
  const messages = Array.from({ length: Math.ceil(runs.length / RUNS_A_MESSAGE) }, (_, index) => ({
    body: { runs: runs.slice(index * RUNS_A_MESSAGE, (index + 1) * RUNS_A_MESSAGE) },
  }))
  if (messages.length > 0) await queue.sendBatch(messages)
}
