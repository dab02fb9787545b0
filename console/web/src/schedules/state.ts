/** The state of a schedule as people name it. */
import type { ScheduleSummary } from '../api.ts'
import type { Tone } from '../components/status.tsx'
import { shortId } from '../short-id.ts'

/** A schedule is late if the tick, once a minute, has missed it. */
const LATE_MS = 3 * 60_000

type State = Pick<ScheduleSummary, 'enabledAt' | 'pausedReason' | 'nextRunAt'> & {
  readonly lastOutcomes?: ScheduleSummary['lastOutcomes']
}

export function stateOf(schedule: State, now: Date): { readonly tone: Tone; readonly word: string } {
  const { enabledAt, pausedReason, nextRunAt, lastOutcomes } = schedule
  if (enabledAt === null) {
    return pausedReason ? { tone: 'warning', word: 'Paused by failures' } : { tone: 'idle', word: 'Paused' }
  }
  if (nextRunAt !== null && now.getTime() - Date.parse(nextRunAt) > LATE_MS) return { tone: 'warning', word: 'Late' }
  if (lastOutcomes?.[0] === 'failed') return { tone: 'bad', word: 'Failing' }
  return nextRunAt === null ? { tone: 'idle', word: 'Over' } : { tone: 'good', word: 'Enabled' }
}

/** Somebody should look at it. */
export function needsAttention(schedule: State, now: Date): boolean {
  const { tone } = stateOf(schedule, now)
  return tone === 'bad' || tone === 'warning'
}

export function nameOf({ name, id }: { readonly name: string | null; readonly id: string }): string {
  return name ?? `Schedule ${shortId(id)}`
}
