/** What travels through the queues: references to runs. The ledger has the rest, and the last word. */

/** A run, and how often it had been sent when it was put into the queue: what comes twice is told by it. */
export interface RunReference {
  readonly organizationId: string
  readonly scheduleId: string
  readonly scheduledAt: string
  readonly attempts: number
}

/** Runs of one organization. */
export interface RunMessage {
  readonly runs: readonly RunReference[]
  /** True on the queue of slow run endpoints. */
  readonly isSlow?: boolean
}

/** Sent at the same time. A Worker has six connections at once, and the database needs one of them meanwhile. */
export const RUNS_A_MESSAGE = 5
/** The most messages that a queue takes at once. */
const MESSAGES_AT_ONCE = 100

/** Puts runs into a queue, in order. */
export async function enqueueRuns(
  queue: Queue<RunMessage>,
  runs: readonly RunReference[],
  isSlow = false,
): Promise<void> {
  const messages = messagesOf(runs).map((runs) => ({ body: { runs, isSlow } }))
  for (let start = 0; start < messages.length; start += MESSAGES_AT_ONCE) {
    await queue.sendBatch(messages.slice(start, start + MESSAGES_AT_ONCE))
  }
}

/** The runs of each message: no organization waits for another one's run endpoint. */
function messagesOf(runs: readonly RunReference[]): RunReference[][] {
  const messages: RunReference[][] = []
  const latest = new Map<string, RunReference[]>()
  for (const run of runs) {
    const message = latest.get(run.organizationId)
    if (message && message.length < RUNS_A_MESSAGE) {
      message.push(run)
      continue
    }
    const next = [run]
    latest.set(run.organizationId, next)
    messages.push(next)
  }
  return messages
}
