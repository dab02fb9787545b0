/** The runs of all schedules. */
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useMe } from '../api.ts'
import { Choice, Filters } from '../components/filters.tsx'
import { Empty } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { useGrowing } from '../lists.ts'
import { useNames } from '../names.ts'
import { placeOf } from '../schedule-data.ts'
import { type RunFilters, runsQuery, useRefusal } from './data.ts'
import { RunTable } from './run-table.tsx'
import { nameOf } from './state.ts'

export const Route = createLazyRoute('/app/runs')({ component: Runs })

const STATUSES = [
  ['pending', 'Waiting'],
  ['running', 'Running'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['skipped', 'Skipped'],
] as const

const PAGE = 50

function Runs() {
  const { status, schedule, project } = Route.useSearch()
  const navigate = Route.useNavigate()
  const names = useNames('projects')
  const { projectIds } = useMe().apiKey
  // A key that is restricted to projects has to name one of them.
  const projectId = project ?? projectIds?.[0]
  const projects = projectIds ? projectIds.map((id) => [id, names.get(id) ?? id] as const) : Array.from(names)
  const filters = { status, scheduleId: schedule, projectId }
  const refusal = useRefusal(filters)
  const isFiltered = status !== undefined || schedule !== undefined || project !== undefined
  if (refusal !== undefined) {
    return (
      <Page title="Runs">
        <p className="quiet">{refusal}</p>
      </Page>
    )
  }
  return (
    <Page title="Runs" details={schedule && <OfSchedule filters={filters} />}>
      <Filters>
        <Choice
          label="State"
          all="Any state"
          value={status}
          options={STATUSES}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, status: chosen }) })}
        />
        <Choice
          label="Project"
          all={projectIds ? 'Choose a project' : 'All projects and agents'}
          value={projectId}
          options={projects}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, project: chosen }) })}
        />
        {isFiltered && (
          <Link className="button" to="/runs">
            Show all
          </Link>
        )}
      </Filters>
      <RunTable
        filters={filters}
        limit={PAGE}
        empty={
          isFiltered ? (
            <Empty title="No run matches">
              <Link to="/runs">Show all runs</Link>
            </Empty>
          ) : (
            <Empty title="No runs yet">
              A run begins when a schedule fires. <Link to="/schedules">Go to the schedules</Link>
            </Empty>
          )
        }
      />
    </Page>
  )
}

/** A run has the name of its schedule. */
function OfSchedule({ filters }: { readonly filters: RunFilters }) {
  const { items } = useGrowing(runsQuery(filters, PAGE))
  const run = items.find(({ scheduleId }) => scheduleId === filters.scheduleId)
  return (
    <p className="quiet">
      of{' '}
      {run ? (
        <Link to="/$parents/$parentId/schedules/$scheduleId" params={placeOf({ ...run, id: run.scheduleId })}>
          {nameOf(run)}
        </Link>
      ) : (
        'one schedule'
      )}
    </p>
  )
}
