/** What needs somebody, a day back and a day ahead, and the person's pins. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { listQuery, type Run, type ScheduleSummary, useCan, useMe, workspace } from '../api.ts'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Outcomes, Status } from '../components/status.tsx'
import { Time, useNow } from '../components/time.tsx'
import { pathOf, pinsQuery } from '../pins/data.ts'
import { RUNS_REFRESH_MS } from '../runs/data.ts'
import { nameOf as nameOfRun } from '../runs/state.ts'
import { placeOf, schedulesQuery } from '../schedules/data.ts'
import { needsSomebody, stateOf } from '../schedules/state.ts'
import { nameOf } from '../schedules/words.ts'
import { MINUTE_MS } from '../time.ts'
import { Axis } from './axis.tsx'
import styles from './today.module.css'

export const Route = createLazyRoute('/app/')({ component: Today })

/** A run that nobody has taken for so long waits for a worker. */
const WAITING_MS = 10 * MINUTE_MS
const WAITING_SHOWN = 10
const PINS_SHOWN = 10

function Today() {
  const can = useCan()
  return (
    <Page title="Today">
      {can('schedules:read') ? <Schedules /> : <p className="quiet">This session may not read schedules.</p>}
      {useMe().user && can('pins:read') && <Pins />}
    </Page>
  )
}

function Schedules() {
  const list = useInfiniteQuery(schedulesQuery({}))
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  if (list.isPending) return <Skeleton rows={12} />
  if (list.isLoadingError) return <ErrorNote error={list.error} retry={() => void list.refetch()} />
  const schedules = list.data.pages.flatMap(({ items }) => items)
  if (schedules.length === 0) {
    return (
      <Empty title="No schedules yet">
        A schedule starts the work of an agent at the times of a cron expression.{' '}
        <Link to="/schedules">Create the first one</Link>
      </Empty>
    )
  }
  return (
    <>
      <Attention schedules={schedules} />
      <Axis schedules={schedules} />
    </>
  )
}

function Attention({ schedules }: { readonly schedules: readonly ScheduleSummary[] }) {
  const now = useNow()
  const can = useCan()
  const { data: pending } = useQuery({
    ...listQuery(['runs', 'pending'], () => workspace.runs.list({ status: 'pending', limit: WAITING_SHOWN }).page()),
    enabled: can('runs:read'),
    refetchInterval: RUNS_REFRESH_MS,
  })
  const waiting = pending?.items.filter(({ scheduledAt }) => now.getTime() - Date.parse(scheduledAt) > WAITING_MS) ?? []
  const found = schedules.filter((schedule) => needsSomebody(schedule, now))
  return (
    <section className={styles.section} aria-labelledby="attention">
      <h2 id="attention">Needs somebody</h2>
      {found.length === 0 && waiting.length === 0 ? (
        <p className="quiet">Nothing: all schedules fire, and their last runs succeeded.</p>
      ) : (
        <ul className={styles.attention}>
          {found.map((schedule) => (
            <ScheduleLine key={schedule.id} schedule={schedule} now={now} />
          ))}
          {waiting.map((run) => (
            <RunLine key={run.id} run={run} />
          ))}
        </ul>
      )}
    </section>
  )
}

function ScheduleLine({ schedule, now }: { readonly schedule: ScheduleSummary; readonly now: Date }) {
  const { tone, word } = stateOf(schedule, now)
  return (
    <li>
      <Status tone={tone}>{word}</Status>
      <Link className="row-link" to="/$parents/$parentId/schedules/$scheduleId" params={placeOf(schedule)}>
        {nameOf(schedule)}
      </Link>
      <Outcomes outcomes={schedule.lastOutcomes} />
      {schedule.pausedReason && <span className="quiet small">{schedule.pausedReason}</span>}
    </li>
  )
}

function RunLine({ run }: { readonly run: Run }) {
  return (
    <li>
      <Status tone="idle">Waiting</Status>
      <Link className="row-link" to="/runs/$runId" params={{ runId: run.id }}>
        {nameOfRun(run)}
      </Link>
      <span className="quiet small">
        {run.lastError ?? 'for a worker'}, since <Time at={run.scheduledAt} />
      </span>
    </li>
  )
}

function Pins() {
  const { data } = useQuery(pinsQuery)
  if (!data || data.items.length === 0) return null
  return (
    <section className={styles.section}>
      <h2>My pins</h2>
      <ul className={styles.pins}>
        {data.items.slice(0, PINS_SHOWN).map((pin) => {
          const path = pathOf(pin)
          return (
            <li key={`${pin.resourceType}/${pin.resourceId}`}>
              {path ? <Link to={path}>{pin.name}</Link> : pin.name}
              <span className="quiet small"> {pin.resourceType.replace('_', ' ')}</span>
            </li>
          )
        })}
      </ul>
      <Link to="/pins">All pins</Link>
    </section>
  )
}
