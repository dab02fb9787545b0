/** What happened to a run, in order. */
import type { Run } from '../api.ts'
import { Mark, type Tone } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { toDuration } from '../time.ts'
import styles from './timeline.module.css'

interface Step {
  readonly at: string
  readonly tone: Tone
  readonly title: string
  readonly details?: string | null | undefined
}

export function Timeline({ run }: { readonly run: Run }) {
  return (
    <ol className={styles.timeline}>
      {stepsOf(run).map(({ at, tone, title, details }) => (
        <li key={`${at} ${title}`}>
          <Mark tone={tone} />
          <div>
            <div>
              {title}{' '}
              <span className="quiet small">
                · <Time at={at} />
              </span>
            </div>
            {details && <div className="quiet small anywhere">{details}</div>}
          </div>
        </li>
      ))}
    </ol>
  )
}

export function stepsOf(run: Run): Step[] {
  const { scheduledAt, attempts, lastAttempts, claim, startedAt, finishedAt, status, nextAttemptAt } = run
  const shown = lastAttempts.length
  const steps: Step[] = [{ at: scheduledAt, tone: 'idle', title: status === 'skipped' ? 'Due, and skipped' : 'Due' }]
  for (const attempt of lastAttempts) {
    const { error, milliseconds, status: httpStatus, startedAt: at } = attempt
    const response = httpStatus === null ? 'no response' : `HTTP ${httpStatus}`
    steps.push({
      at,
      tone: error === null ? 'good' : 'bad',
      title: error === null ? 'Delivered' : 'Delivery failed',
      details: [`${response} after ${toDuration(milliseconds)}`, error].filter(Boolean).join(': '),
    })
  }
  if (startedAt !== null && shown === 0) {
    const details = claim ? `by ${claim.apiKeyName}` : null
    steps.push({
      at: startedAt,
      tone: 'active',
      title: claim || attempts > 0 ? 'Taken by a worker' : 'Started',
      details,
    })
  }
  if (finishedAt !== null && status === 'succeeded') steps.push({ at: finishedAt, tone: 'good', title: 'Succeeded' })
  if (finishedAt !== null && status === 'failed') {
    steps.push({ at: finishedAt, tone: 'bad', title: 'Failed', details: run.lastError })
  }
  if (nextAttemptAt !== null) steps.push({ at: nextAttemptAt, tone: 'warning', title: 'Next delivery' })
  if (claim && finishedAt === null) {
    steps.push({ at: claim.leaseExpiresAt, tone: 'idle', title: `The claim of ${claim.apiKeyName} ends` })
  }
  return steps.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}
