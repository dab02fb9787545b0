/** The next times of a cron expression, as the service computes them, in the zone of the schedule and in one's own. */
import { describeProblem, isTimezone, problemOfCron, runsAfter } from '../../../../src/contracts.ts'
import { toZoned } from '../time.ts'
import styles from './next-times.module.css'
import { describeCron } from './words.ts'

export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone
export const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]
const SHOWN = 5

interface Recurrence {
  readonly cron: string
  readonly timezone: string
}

/** @returns the sentence that the service would write; undefined if nothing is wrong. */
export function problemOf({ cron, timezone }: Recurrence): string | undefined {
  const problem = problemOfCron(cron)
  if (problem) return describeProblem('cron', problem)
  if (isTimezone(timezone)) return undefined
  const typed = timezone.trim().toLowerCase().replaceAll(' ', '_')
  const example = typed === '' ? undefined : ZONES.find((zone) => zone.toLowerCase().includes(typed))
  return `${timezone} is not a time zone; example: ${example ?? 'Europe/Paris'}.`
}

export function NextTimes(recurrence: Recurrence) {
  const problem = problemOf(recurrence)
  if (problem) {
    return (
      <div className={styles.next}>
        <p className={styles.problem}>{problem}</p>
      </div>
    )
  }
  const { cron, timezone } = recurrence
  const runs = runsAfter(cron, timezone, new Date())
  const times = Array.from({ length: SHOWN }, () => runs.next().value)
  const isOwn = timezone === OWN_ZONE
  return (
    <div className={styles.next}>
      <p>{describeCron(cron)}</p>
      <table className={styles.times}>
        <thead>
          <tr>
            <th>{timezone}</th>
            {!isOwn && <th>Your time ({OWN_ZONE})</th>}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time.getTime()}>
              <td>
                {toZoned(time, timezone)}
                {isAfterClockChange(times[index - 1], time, timezone) && (
                  <span className={styles.change}>after a clock change</span>
                )}
              </td>
              {!isOwn && <td>{toZoned(time)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function isAfterClockChange(before: Date | undefined, time: Date, timezone: string): boolean {
  return before !== undefined && offsetOf(before, timezone) !== offsetOf(time, timezone)
}

const offsets = new Map<string, Intl.DateTimeFormat>()

function offsetOf(time: Date, timeZone: string): string | undefined {
  let format = offsets.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    offsets.set(timeZone, format)
  }
  return format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value
}
