/** All schedules: search, pause, resume, and run many at once. */

import { useMutation } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { memo, useCallback, useState } from 'react'
import { type ScheduleSummary, useCan, useMe } from '../api.ts'
import { forEach } from '../bulk.ts'
import { Choice, Filters, SearchField } from '../components/filters.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { SelectCell, Selected, selectColumn, useSelection } from '../components/selection.tsx'
import { Outcomes, Status } from '../components/status.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time, useNow } from '../components/time.tsx'
import { hasDraft } from '../drafts.ts'
import { messageOf } from '../errors.ts'
import { useGrowing } from '../lists.ts'
import { showMessage } from '../messages.ts'
import { useName } from '../names.ts'
import { change, type ParentIds, type Place, placeOf, runNow, schedulesQuery } from '../schedule-data.ts'
import { NEW_SCHEDULE, NewSchedule } from './editor.tsx'
import { OfProjects } from './of-projects.tsx'
import styles from './schedules.module.css'
import { nameOf, stateOf } from './state.ts'
import { describeWhen } from './words.ts'

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
  const can = useCan()
  const isRestricted = useMe().apiKey.projectIds !== null
  const [isCreating, setIsCreating] = useState(() => hasDraft(NEW_SCHEDULE))
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
      {!can('schedules:read') ? (
        <p className="quiet">This session may not read schedules.</p>
      ) : isRestricted ? (
        <OfProjects />
      ) : (
        <AllSchedules />
      )}
      {isCreating && <NewSchedule onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

function AllSchedules() {
  const { q, state, of } = Route.useSearch()
  const navigate = Route.useNavigate()
  const enabled = state === undefined ? undefined : state !== 'paused'
  const isFailing = state === 'failing'
  // The service has no filter for it.
  const list = useGrowing(schedulesQuery({ query: q, enabled, parentType: of }, isFailing), isFailing)
  const shown = isFailing ? list.items.filter(({ lastOutcomes }) => lastOutcomes[0] === 'failed') : list.items
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const isFiltered = q !== undefined || state !== undefined || of !== undefined
  return (
    <>
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
      ) : list.error ? (
        <ErrorNote error={list.error} retry={list.retry} />
      ) : shown.length === 0 ? (
        <Empty title={isFiltered ? 'No schedule matches' : 'No schedules yet'}>
          {isFiltered ? (
            <Link to="/schedules">Show all schedules</Link>
          ) : (
            'A schedule starts a run at the times of a cron expression, such as every weekday at 9:30.'
          )}
        </Empty>
      ) : (
        <List schedules={shown} />
      )}
      <ShowMore list={list} />
    </>
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
      if (done > 0) showMessage(`${what} ${VERBS[verb].done}.`)
      for (const [schedule, error] of failed) showMessage(`${nameOf(schedule)}: ${messageOf(error)}`, true)
    },
  })
}

function List({ schedules }: { readonly schedules: readonly ScheduleSummary[] }) {
  const canWrite = useCan()('schedules:write')
  const selection = useSelection(schedules)
  const { mutate, isPending } = useAct()
  const onAct = useCallback(
    (verb: Verb, schedule: ScheduleSummary) => mutate({ verb, schedules: [schedule] }),
    [mutate],
  )
  return (
    <>
      {canWrite && (
        <Selected label="Selected schedules" selection={selection}>
          {Object.entries(VERBS).map(([verb, { label }]) => (
            <button
              key={verb}
              type="button"
              disabled={isPending}
              onClick={() => mutate({ verb: verb as Verb, schedules: selection.selected })}
            >
              {label}
            </button>
          ))}
        </Selected>
      )}
      <Table
        columns={[
          canWrite && selectColumn(selection),
          { name: 'Name', width: 'minmax(0, 1fr)' },
          { name: 'State', width: '164px', narrowWidth: '112px' },
          { name: 'Next run', width: '136px', isWideOnly: true },
          { name: 'Last runs', width: '160px', isWideOnly: true },
          canWrite && { name: 'Actions', width: '48px', isUnlabelled: true },
        ]}
        rowHeight={58}
      >
        {schedules.map((schedule) => (
          <ScheduleRow
            key={schedule.id}
            schedule={schedule}
            canWrite={canWrite}
            isSelected={selection.has(schedule)}
            onToggle={selection.toggle}
            onAct={onAct}
          />
        ))}
      </Table>
    </>
  )
}

interface ScheduleRowProps {
  readonly schedule: ScheduleSummary
  readonly canWrite: boolean
  readonly isSelected: boolean
  readonly onToggle: (schedule: ScheduleSummary) => void
  readonly onAct: (verb: Verb, schedule: ScheduleSummary) => void
}

const ScheduleRow = memo(({ schedule, canWrite, isSelected, onToggle, onAct }: ScheduleRowProps) => {
  const { nextRunAt, enabledAt, lastOutcomes, timezone } = schedule
  const name = nameOf(schedule)
  return (
    <Row isSelected={isSelected}>
      {canWrite && <SelectCell isSelected={isSelected} onToggle={() => onToggle(schedule)} name={name} />}
      <Cell>
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
      </Cell>
      <Cell>
        <State schedule={schedule} />
      </Cell>
      <Cell className={`wide-only ${styles.short}`}>
        {nextRunAt ? <Time at={nextRunAt} /> : <span className="quiet">none</span>}
      </Cell>
      <Cell className="wide-only">
        <Outcomes outcomes={lastOutcomes} />
      </Cell>
      {canWrite && (
        <Cell className={styles.menu}>
          <Menu
            label={`Actions for ${name}`}
            items={[
              { label: 'Run now', onSelect: () => onAct('run', schedule) },
              enabledAt === null
                ? { label: 'Resume', onSelect: () => onAct('resume', schedule) }
                : { label: 'Pause', onSelect: () => onAct('pause', schedule) },
            ]}
          />
        </Cell>
      )}
    </Row>
  )
})

/** Apart from the row, which would be drawn again as time passes. */
function State({ schedule }: { readonly schedule: ScheduleSummary }) {
  const { tone, word } = stateOf(schedule, useNow())
  return <Status tone={tone}>{word}</Status>
}

export function ParentName({ schedule: { projectId, agentId } }: { readonly schedule: ParentIds }) {
  const id = projectId ?? agentId
  const name = useName(projectId ? 'projects' : 'agents', id)
  return <>{name ?? id}</>
}
