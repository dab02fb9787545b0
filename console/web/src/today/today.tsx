/** What needs attention, a day back and a day ahead, and the person's pins. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Run, type ScheduleSummary, useCan, useMe, workspace } from '../api.ts'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Outcomes, Status } from '../components/status.tsx'
import { ShowMore } from '../components/table.tsx'
import { Time, useNow } from '../components/time.tsx'
import {
  type Attempt,
  describeAttempt,
  type EventEndpoint,
  needsAttention as endpointNeedsAttention,
  failedDelivery,
  stateOf as stateOfEndpoint,
  stateOfRunEndpoint,
  useEventEndpoints,
  useRunEndpoint,
} from '../endpoints/data.ts'
import { filledPage, listQuery, useGrowing } from '../lists.ts'
import { useName } from '../names.ts'
import { type Pin, pathOf, pinsQuery } from '../pins/data.ts'
import { wordOf } from '../pins/kinds.tsx'
import { RUNS_REFRESH_MS, runsQuery } from '../runs/data.ts'
import { nameOf as nameOfRun, stateOf as stateOfRun } from '../runs/state.ts'
import { placeOf, schedulesQuery } from '../schedule-data.ts'
import { OfProjects } from '../schedules/of-projects.tsx'
import { nameOf, needsAttention, stateOf } from '../schedules/state.ts'
import { MINUTE_MS } from '../time.ts'
import { Axis } from './axis.tsx'
import styles from './today.module.css'

/** A run that nobody has taken for so long waits for a worker. */
const WAITING_MS = 10 * MINUTE_MS
const WAITING_SHOWN = 10
const PINS_SHOWN = 10
const REASONS_SHOWN = 10
/** How many runs are looked at for the latest delivery, as on the page of endpoints. */
const DELIVERED_RUNS = 20
/** The latest run may be under way. */
const LATEST_RUNS = 3

export function Today() {
  const can = useCan()
  const { user, apiKey } = useMe()
  return (
    <Page title="Today">
      {!can('schedules:read') ? (
        <p className="quiet">This session may not read schedules.</p>
      ) : apiKey.projectIds === null ? (
        <Schedules />
      ) : (
        <OfProjects />
      )}
      {user && can('pins:read') && <Pins />}
    </Page>
  )
}

function Schedules() {
  const list = useGrowing(schedulesQuery({}, true), true)
  if (list.isPending) return <Skeleton rows={12} />
  if (list.error) return <ErrorNote error={list.error} retry={list.retry} />
  const schedules = list.items
  if (schedules.length === 0) {
    return (
      <>
        <Attention schedules={schedules} />
        <Empty title="No schedules yet">
          A schedule starts the work of an agent at the times of a cron expression.{' '}
          <Link to="/schedules">Create the first one</Link>
        </Empty>
      </>
    )
  }
  return (
    <>
      <Attention schedules={schedules} />
      <Axis schedules={schedules} />
      <ShowMore list={list} />
    </>
  )
}

function Attention({ schedules }: { readonly schedules: readonly ScheduleSummary[] }) {
  const now = useNow()
  const can = useCan()
  const pending = useQuery({
    ...listQuery(['runs', 'pending'], () =>
      filledPage(
        (cursor) => workspace.runs.list({ status: 'pending', limit: WAITING_SHOWN, cursor }).page(),
        undefined,
      ),
    ),
    enabled: can('runs:read'),
    refetchInterval: RUNS_REFRESH_MS,
  })
  const runEndpoint = useRunEndpoint()
  const latest = useQuery({
    ...runsQuery({}, DELIVERED_RUNS).options,
    enabled: can('runs:read') && !!runEndpoint.data,
  })
  const eventEndpoints = useEventEndpoints()
  const unread = [pending, runEndpoint, latest, eventEndpoints].filter(({ error }) => error !== null)
  const runs = pending.data?.items ?? []
  const waiting = runs.filter(({ scheduledAt }) => now.getTime() - Date.parse(scheduledAt) > WAITING_MS)
  const failed = runEndpoint.data && failedDelivery([...(latest.data?.items ?? []), ...runs], runEndpoint.data)
  const endpoints = eventEndpoints.data?.items.filter(endpointNeedsAttention) ?? []
  const found = schedules.filter((schedule) => needsAttention(schedule, now))
  const isNothing = found.length === 0 && waiting.length === 0 && endpoints.length === 0 && !failed
  if (isNothing && unread.length === 0 && schedules.length === 0) return null
  return (
    <section className={styles.section} aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {unread[0] && (
        <ErrorNote error={unread[0].error} retry={() => void Promise.all(unread.map(({ refetch }) => refetch()))} />
      )}
      {isNothing ? (
        <p className="quiet">Nothing: all schedules fire, and their last runs succeeded.</p>
      ) : (
        <ul className={styles.attention}>
          {failed && <RunEndpointLine failed={failed} />}
          {endpoints.map((endpoint) => (
            <EndpointLine key={endpoint.id} endpoint={endpoint} />
          ))}
          {found.map((schedule, index) => (
            <ScheduleLine key={schedule.id} schedule={schedule} now={now} showsReason={index < REASONS_SHOWN} />
          ))}
          {waiting.map((run) => (
            <RunLine key={run.id} run={run} awaits={runEndpoint.data} />
          ))}
        </ul>
      )}
    </section>
  )
}

interface ScheduleLineProps {
  readonly schedule: ScheduleSummary
  readonly now: Date
  /** Each reason is a request. */
  readonly showsReason: boolean
}

function ScheduleLine({ schedule, now, showsReason }: ScheduleLineProps) {
  const { tone, word } = stateOf(schedule, now)
  return (
    <li>
      <Status tone={tone}>{word}</Status>
      <Link className="row-link" to="/$parents/$parentId/schedules/$scheduleId" params={placeOf(schedule)}>
        {nameOf(schedule)}
      </Link>
      <Outcomes outcomes={schedule.lastOutcomes} />
      {schedule.pausedReason && <span className="quiet small">{schedule.pausedReason}</span>}
      {tone === 'bad' && showsReason && <LastFailure scheduleId={schedule.id} />}
    </li>
  )
}

/** Why the last run failed, as far as somebody said it. */
function LastFailure({ scheduleId }: { readonly scheduleId: string }) {
  const { data } = useQuery({
    ...listQuery(['runs', 'latest', scheduleId], () => workspace.runs.list({ scheduleId, limit: LATEST_RUNS }).page()),
    enabled: useCan()('runs:read'),
  })
  const run = data?.items.find(({ status }) => status === 'failed')
  if (!run) return null
  return (
    <Link className={`quiet small ${styles.failure}`} to="/runs/$runId" params={{ runId: run.id }}>
      {run.message ?? run.lastError ?? stateOfRun(run).word}
    </Link>
  )
}

function RunEndpointLine({ failed }: { readonly failed: Attempt }) {
  const { tone, word } = stateOfRunEndpoint(failed)
  return (
    <li>
      <Status tone={tone}>{word}</Status>
      <Link className="row-link" to="/endpoints">
        Run endpoint
      </Link>
      <span className={`quiet small ${styles.failure}`}>
        {describeAttempt(failed)} · <Time at={failed.startedAt} />
      </span>
    </li>
  )
}

function EndpointLine({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const { id, url, note, disabledReason, lastAttempts } = endpoint
  const { tone, word } = stateOfEndpoint(endpoint)
  const [last] = lastAttempts
  const reason = disabledReason ?? (last && describeAttempt(last))
  return (
    <li>
      <Status tone={tone}>{word}</Status>
      <Link className="row-link" to="/endpoints/$endpointId" params={{ endpointId: id }}>
        Event endpoint: <bdi>{note ?? url}</bdi>
      </Link>
      {reason && <span className={`quiet small ${styles.failure}`}>{reason}</span>}
    </li>
  )
}

interface RunLineProps {
  readonly run: Run
  /** The run endpoint. Null: a worker has to take the run; undefined: the session may not know. */
  readonly awaits: object | null | undefined
}

function RunLine({ run, awaits }: RunLineProps) {
  const awaited = awaits === undefined ? '' : awaits === null ? 'for a worker, ' : 'for the run endpoint, '
  return (
    <li>
      <Status tone="idle">Waiting</Status>
      <Link className="row-link" to="/runs/$runId" params={{ runId: run.id }}>
        {nameOfRun(run)}
      </Link>
      <span className="quiet small">
        {run.lastError ? `${run.lastError}, ` : awaited}due <Time at={run.scheduledAt} />
      </span>
    </li>
  )
}

function Pins() {
  const { data, error, refetch } = useQuery(pinsQuery)
  const pins = data?.items ?? []
  if (pins.length === 0 && !error) return null
  return (
    <section className={styles.section}>
      <h2>My pins</h2>
      {error && <ErrorNote error={error} retry={() => void refetch()} />}
      <ul className={styles.pins}>
        {pins.slice(0, PINS_SHOWN).map((pin) => (
          <PinLine key={`${pin.resourceType}/${pin.resourceId}`} pin={pin} />
        ))}
      </ul>
      <Link to="/pins">All pins</Link>
    </section>
  )
}

function PinLine({ pin }: { readonly pin: Pin }) {
  const { projectId } = pin.resource
  const project = useName('projects', projectId)
  const path = pathOf(pin)
  return (
    <li>
      {path ? <Link to={path}>{pin.name}</Link> : pin.name}
      <span className="quiet small">
        {' '}
        {wordOf(pin.resourceType)}
        {projectId !== null && ` · ${project ?? projectId}`}
      </span>
    </li>
  )
}
