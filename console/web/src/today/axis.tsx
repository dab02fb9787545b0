/** A day back and a day ahead: past runs by outcome and duration, the next ones hollow. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { runsAfter } from '../../../../src/contracts.ts'
import { type Run, type ScheduleSummary, useCan, workspace } from '../api.ts'
import { ErrorNote } from '../components/note.tsx'
import type { Tone } from '../components/status.tsx'
import { useNow } from '../components/time.tsx'
import { listQuery } from '../lists.ts'
import { RUNS_REFRESH_MS } from '../runs/data.ts'
import { durationOf, stateOf as stateOfRun } from '../runs/state.ts'
import { placeOf } from '../schedule-data.ts'
import { nameOf, needsAttention } from '../schedules/state.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, toClock, toDuration, toZoned } from '../time.ts'
import styles from './axis.module.css'

const MAX_SCHEDULES = 50
const MAX_RUNS = 1000
/** Runs that are closer are shown as one. */
const SLOT_MS = 30 * MINUTE_MS
const SLOTS_AHEAD = DAY_MS / SLOT_MS
const LABEL_HOURS = 6
/** Labels that are closer to an end would pass it. */
const EDGE_MS = 4 * HOUR_MS

export function Axis({ schedules }: { readonly schedules: readonly ScheduleSummary[] }) {
  const now = useNow()
  const start = now.getTime() - DAY_MS
  const hour = Math.floor(now.getTime() / HOUR_MS)
  const runs = useQuery({
    ...listQuery(['runs', 'axis', hour], () => {
      const from = new Date(hour * HOUR_MS - DAY_MS).toISOString()
      return workspace.runs.list({ from, limit: MAX_RUNS }).page()
    }),
    enabled: useCan()('runs:read'),
    refetchInterval: RUNS_REFRESH_MS,
  })
  // The latest come first.
  const earliest = runs.data?.nextCursor ? runs.data.items.at(-1)?.scheduledAt : undefined
  const known = Math.max(start, earliest === undefined ? start : Date.parse(earliest))
  const bySchedule = useMemo(() => Map.groupBy(runs.data?.items ?? [], ({ scheduleId }) => scheduleId), [runs.data])
  const isShown = (schedule: ScheduleSummary) =>
    schedule.enabledAt !== null || bySchedule.has(schedule.id) || needsAttention(schedule, now)
  const rank = (schedule: ScheduleSummary) => Number(!needsAttention(schedule, now))
  const shown = schedules
    .filter(isShown)
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MAX_SCHEDULES)
  const hours = Array.from(
    { length: 48 / LABEL_HOURS + 1 },
    (_, index) => firstLabel(start) + index * LABEL_HOURS * HOUR_MS,
  )
  return (
    <section className={styles.axis}>
      <h2>A day back, a day ahead</h2>
      <div className={styles.head} aria-hidden="true">
        {hours
          .filter((at) => at >= start + EDGE_MS && at <= start + 2 * DAY_MS - EDGE_MS)
          .map((at) => (
            <span key={at} style={{ left: percent(at, start) }}>
              {toClock(new Date(at))}
            </span>
          ))}
      </div>
      <ul>
        {shown.map((schedule) => (
          <Row key={schedule.id} schedule={schedule} runs={bySchedule.get(schedule.id) ?? []} known={known} now={now} />
        ))}
      </ul>
      {runs.error && <ErrorNote error={runs.error} retry={() => void runs.refetch()} />}
      {known > start && (
        <p className="quiet small">
          Runs before {toZoned(new Date(known))} are not shown: these are the latest {MAX_RUNS.toLocaleString('en')} of
          all schedules. <Link to="/runs">All runs</Link>
        </p>
      )}
      {schedules.length > shown.length && <Link to="/schedules">All {schedules.length} schedules</Link>}
    </section>
  )
}

/** The first whole hour of the axis that has a label, in local time. */
function firstLabel(start: number): number {
  const at = new Date(start)
  at.setMinutes(0, 0, 0)
  while (at.getTime() < start || at.getHours() % LABEL_HOURS !== 0) at.setTime(at.getTime() + HOUR_MS)
  return at.getTime()
}

const percent = (at: number, start: number) => `${((at - start) / (2 * DAY_MS)) * 100}%`

interface RowProps {
  readonly schedule: ScheduleSummary
  readonly runs: readonly Run[]
  /** Since when the runs are known. */
  readonly known: number
  readonly now: Date
}

function Row({ schedule, runs, known, now }: RowProps) {
  const start = now.getTime() - DAY_MS
  const slots = useMemo(() => slotsOf(runs, now), [runs, now])
  const next = useMemo(() => nextOf(schedule, now), [schedule, now])
  return (
    <li className={styles.row}>
      <Link className={styles.name} to="/$parents/$parentId/schedules/$scheduleId" params={placeOf(schedule)}>
        {nameOf(schedule)}
      </Link>
      <div className={styles.track} role="img" aria-label={describe(runs, known > start ? known : undefined, schedule)}>
        {known > start && <span className={styles.unknown} style={{ width: percent(known, start) }} />}
        <span className={styles.now} />
        {slots.map(({ from, to, tone, title }) => (
          <span
            key={from}
            className={styles.run}
            data-tone={tone}
            title={title}
            style={{ left: percent(from, start), width: `max(5px, ${((to - from) / (2 * DAY_MS)) * 100}%)` }}
          />
        ))}
        {next.map((at) => (
          <span key={at} className={styles.next} title={toZoned(new Date(at))} style={{ left: percent(at, start) }} />
        ))}
      </div>
    </li>
  )
}

interface Slot {
  readonly from: number
  readonly to: number
  readonly tone: Tone
  readonly title: string
}

/** The worst first. */
const TONES: readonly Tone[] = ['bad', 'warning', 'active', 'good', 'idle']

/** One bar for the runs of each half hour: from the first beginning to the last end, with the worst outcome. */
function slotsOf(runs: readonly Run[], now: Date): Slot[] {
  const start = now.getTime() - DAY_MS
  const shown = runs.filter(({ scheduledAt }) => Date.parse(scheduledAt) >= start)
  return Array.from(
    Map.groupBy(shown, ({ scheduledAt }) => Math.floor(Date.parse(scheduledAt) / SLOT_MS)).values(),
    (group) => {
      const states = group.map((run) => ({ ...stateOfRun(run), run }))
      const worst = states.toSorted((one, other) => TONES.indexOf(one.tone) - TONES.indexOf(other.tone))[0]
      const begins = group.map(({ scheduledAt }) => Date.parse(scheduledAt))
      const ends = group.map((run) => Date.parse(run.startedAt ?? run.scheduledAt) + (durationOf(run, now) ?? 0))
      const duration = worst && durationOf(worst.run, now)
      const details = [worst?.word, duration !== undefined && toDuration(duration)].filter(Boolean).join(', ')
      return {
        from: Math.min(...begins),
        to: Math.min(now.getTime(), Math.max(...ends)),
        tone: worst?.tone ?? 'idle',
        title: `${toZoned(new Date(Math.min(...begins)))}: ${group.length > 1 ? `${group.length} runs; ` : ''}${details}`,
      }
    },
  )
}

/** The next times within a day, one for each half hour. */
function nextOf({ cron, timezone, nextRunAt, enabledAt }: ScheduleSummary, now: Date): number[] {
  if (enabledAt === null || nextRunAt === null) return []
  const end = now.getTime() + DAY_MS
  const first = Date.parse(nextRunAt)
  if (cron === null) return first < end ? [first] : []
  const times: number[] = []
  let slot = 0
  // Each time begins the search behind the last slot, so that one each minute costs no more than one each half hour.
  for (let at = new Date(now.getTime()); times.length < SLOTS_AHEAD; at = new Date((slot + 1) * SLOT_MS - 1)) {
    const next = runsAfter(cron, timezone, at).next().value.getTime()
    if (next >= end) break
    times.push(next)
    slot = Math.floor(next / SLOT_MS)
  }
  return times
}

/** @param since if the runs of the whole day are not known. */
function describe(runs: readonly Run[], since: number | undefined, { nextRunAt }: ScheduleSummary): string {
  const span = since === undefined ? 'in the last day' : `since ${toZoned(new Date(since))}`
  const failed = runs.filter(({ status }) => status === 'failed').length
  const past =
    runs.length === 0
      ? `no runs ${span}`
      : `${runs.length} ${runs.length === 1 ? 'run' : 'runs'} ${span}, ${failed} failed`
  return `${past}; ${nextRunAt ? `next ${toZoned(new Date(nextRunAt))}` : 'no next run'}`
}
