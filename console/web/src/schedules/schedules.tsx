/** All schedules: search, pause, resume, and run many at once. */
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { forEach, type ScheduleSummary, useCan, useName } from '../api.ts'
import { Choice, Filters, SearchField } from '../components/filters.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { SelectAll, SelectCell, Selected, type Selection, useSelection } from '../components/selection.tsx'
import { Outcomes, Status } from '../components/status.tsx'
import { Time, useNow } from '../components/time.tsx'
import { showToast } from '../components/toast.tsx'
import { messageOf } from '../errors.ts'
import { change, type Place, placeOf, runNow, schedulesQuery } from './data.ts'
import { NewSchedule } from './editor.tsx'
import styles from './schedules.module.css'
import { stateOf } from './state.ts'
import { describeWhen, nameOf } from './words.ts'

export const Route = createLazyRoute('/app/schedules')({ component: Schedules })

const STATES = [
  ['enabled', 'Enabled'],
  ['paused', 'Paused'],
  ['failing', 'Failing'],
] as const
const PARENTS = [
  ['project', 'Of projects'],
  ['agent', 'Of agents'],
] as const

function Schedules() {
  const { q, state, of } = Route.useSearch()
  const navigate = Route.useNavigate()
  const can = useCan()
  const [isCreating, setIsCreating] = useState(false)
  const enabled = state === undefined ? undefined : state === 'paused' ? ('false' as const) : ('true' as const)
  const isFailing = state === 'failing'
  const list = useInfiniteQuery(schedulesQuery({ query: q, enabled, parentType: of }, isFailing))
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = list
  useEffect(() => {
    // The service has no filter for it.
    if (isFailing && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [isFailing, hasNextPage, isFetchingNextPage, fetchNextPage])
  const all = list.data?.pages.flatMap(({ items }) => items) ?? []
  const shown = isFailing ? all.filter(({ lastOutcomes }) => lastOutcomes[0] === 'failed') : all
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const isFiltered = q !== undefined || state !== undefined || of !== undefined
  return (
    <Page
      title="Schedules"
      actions={
        can('schedules:write') && (
          <button type="button" data-kind="primary" onClick={() => setIsCreating(true)}>
            New schedule
          </button>
        )
      }
    >
      <Filters>
        <SearchField label="Search by name" value={q} onChange={search} />
        <Choice
          label="State"
          all="Any state"
          value={state}
          options={STATES}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, state: chosen }) })}
        />
        <Choice
          label="Belongs to"
          all="Of projects and agents"
          value={of}
          options={PARENTS}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, of: chosen }) })}
        />
      </Filters>
      {list.isPending ? (
        <Skeleton />
      ) : list.isLoadingError ? (
        <ErrorNote error={list.error} retry={() => void list.refetch()} />
      ) : shown.length === 0 ? (
        <Empty title={isFiltered ? 'No schedule matches' : 'No schedules yet'}>
          {isFiltered ? (
            <Link to="/schedules">Show all schedules</Link>
          ) : (
            'A schedule starts a run at the times of a cron expression. Create one here, or with POST /v1/agents/{agentId}/schedules.'
          )}
        </Empty>
      ) : (
        <Table schedules={shown} />
      )}
      {hasNextPage && !isFailing && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
      {isCreating && <NewSchedule onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

const VERBS = {
  pause: { act: (place: Place) => change(place, { enabled: false }), label: 'Pause', done: 'paused' },
  resume: { act: (place: Place) => change(place, { enabled: true }), label: 'Resume', done: 'resumed' },
  run: { act: runNow, label: 'Run now', done: 'started' },
} as const

type Verb = keyof typeof VERBS

/** Does it, and says how many it was done to and why it was not to the others. */
function useAct() {
  return useMutation({
    mutationFn: ({ verb, schedules }: { verb: Verb; schedules: readonly ScheduleSummary[] }) =>
      forEach(schedules, (schedule) => VERBS[verb].act(placeOf(schedule)), 'schedules', 'runs'),
    onSuccess: (failed, { verb, schedules }) => {
      const done = schedules.length - failed.length
      const [first] = schedules
      const what = schedules.length === 1 && first ? nameOf(first) : `${done} ${done === 1 ? 'schedule' : 'schedules'}`
      if (done > 0) showToast(`${what} ${VERBS[verb].done}.`)
      for (const [schedule, error] of failed) showToast(`${nameOf(schedule)}: ${messageOf(error)}`, true)
    },
  })
}

function Table({ schedules }: { readonly schedules: readonly ScheduleSummary[] }) {
  const canWrite = useCan()('schedules:write')
  const selection = useSelection(schedules)
  const act = useAct()
  return (
    <>
      {canWrite && (
        <Selected label="Selected schedules" selection={selection}>
          {Object.entries(VERBS).map(([verb, { label }]) => (
            <button
              key={verb}
              type="button"
              disabled={act.isPending}
              onClick={() => act.mutate({ verb: verb as Verb, schedules: selection.selected })}
            >
              {label}
            </button>
          ))}
        </Selected>
      )}
      <table>
        <thead>
          <tr>
            {canWrite && <SelectAll selection={selection} />}
            <th>Name</th>
            <th>State</th>
            <th className="wide-only">Next run</th>
            <th className="wide-only">Last runs</th>
            {canWrite && (
              <th>
                <span className="only-read-aloud">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <Row
              key={schedule.id}
              schedule={schedule}
              selection={canWrite ? selection : undefined}
              onAct={(verb) => act.mutate({ verb, schedules: [schedule] })}
            />
          ))}
        </tbody>
      </table>
    </>
  )
}

interface RowProps {
  readonly schedule: ScheduleSummary
  /** Undefined: the session may only read. */
  readonly selection: Selection<ScheduleSummary> | undefined
  readonly onAct: (verb: Verb) => void
}

function Row({ schedule, selection, onAct }: RowProps) {
  const { nextRunAt, enabledAt, lastOutcomes, timezone } = schedule
  const { tone, word } = stateOf(schedule, useNow())
  const name = nameOf(schedule)
  return (
    <tr aria-selected={selection?.has(schedule) ?? false}>
      {selection && <SelectCell selection={selection} item={schedule} name={name} />}
      <td>
        <Link className="row-link" to="/$parents/$parentId/schedules/$scheduleId" params={placeOf(schedule)}>
          {name}
        </Link>
        <div className="quiet small">
          <ParentName schedule={schedule} /> · {describeWhen(schedule)}
          {schedule.cron !== null && ` (${timezone})`}
        </div>
        <div className={styles.narrow}>
          <Outcomes outcomes={lastOutcomes} />
        </div>
      </td>
      <td>
        <Status tone={tone}>{word}</Status>
      </td>
      <td className={`wide-only ${styles.short}`}>
        {nextRunAt ? <Time at={nextRunAt} /> : <span className="quiet">none</span>}
      </td>
      <td className="wide-only">
        <Outcomes outcomes={lastOutcomes} />
      </td>
      {selection && (
        <td className={styles.menu}>
          <Menu
            label={`Actions for ${name}`}
            items={[
              { label: 'Run now', onSelect: () => onAct('run') },
              enabledAt === null
                ? { label: 'Resume', onSelect: () => onAct('resume') }
                : { label: 'Pause', onSelect: () => onAct('pause') },
            ]}
          />
        </td>
      )}
    </tr>
  )
}

export function ParentName({ schedule: { projectId, agentId } }: { readonly schedule: ParentIds }) {
  const project = useName('projects', projectId)
  const agent = useName('agents', agentId)
  return projectId ? (project ?? projectId) : (agent ?? agentId)
}

interface ParentIds {
  readonly projectId?: string | null
  readonly agentId?: string | null
}
