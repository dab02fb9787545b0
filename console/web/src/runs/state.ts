/** The state of a run as people name it. */
import type { Run } from '../api.ts'
import type { Tone } from '../components/status.tsx'
import { shortId } from '../short-id.ts'

const FAILURES = { delivery: 'Not delivered', task: 'Failed', timeout: 'Timed out' } as const

export function stateOf({ status, failure, claim, nextAttemptAt }: Run): {
  readonly tone: Tone
  readonly word: string
} {
  switch (status) {
    case 'succeeded':
      return { tone: 'good', word: 'Succeeded' }
    case 'failed':
      return { tone: 'bad', word: failure === null ? 'Failed' : FAILURES[failure] }
    case 'skipped':
      return { tone: 'idle', word: 'Skipped' }
    case 'delivered':
      return { tone: 'active', word: claim ? 'Claimed' : 'Running' }
    case 'pending':
      return nextAttemptAt === null ? { tone: 'idle', word: 'Waiting' } : { tone: 'warning', word: 'Will be retried' }
  }
}

/** How long it took, or has taken until now, in milliseconds; undefined if it has not begun. */
export function durationOf({ startedAt, finishedAt, status }: Run, now: Date): number | undefined {
  if (startedAt === null || (finishedAt === null && status !== 'delivered')) return undefined
  const end = finishedAt === null ? now.getTime() : Date.parse(finishedAt)
  return Math.max(0, end - Date.parse(startedAt))
}

export function nameOf({ scheduleName, scheduleId }: Run): string {
  return scheduleName ?? `Schedule ${shortId(scheduleId)}`
}
