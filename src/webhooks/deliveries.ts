/** What the deliveries of runs and of events have in common. */
import { describeFailure } from '../db/failures.ts'

/** Whether the work ends within this time. */
export async function isDoneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => true), scheduler.wait(ms).then(() => false)])
}

/** For failures that must not end a delivery. */
export function logFailure(organizationId: string, error: unknown): void {
  console.error(JSON.stringify({ organizationId, failure: describeFailure(error) }))
}
