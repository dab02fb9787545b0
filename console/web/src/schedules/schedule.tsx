/** One schedule: when it fires, with what, and its runs. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import { Facts } from '../components/facts.tsx'
import { Menu } from '../components/menu.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Time, useNow } from '../components/time.tsx'
import { useShowDeleted } from '../deleted/data.ts'
import { hasDraft } from '../drafts.ts'
import { showError, showMessage } from '../messages.ts'
import { type RunFilters, runsQuery, useRefusal } from '../runs/data.ts'
import { RunTable } from '../runs/run-table.tsx'
import {
  change,
  type Details,
  type Place,
  refreshSchedulesAndRuns,
  remove,
  runNow,
  scheduleQuery,
} from '../schedule-data.ts'
import { toDate, toDuration } from '../time.ts'
import { draftOfSchedule, EditSchedule } from './editor.tsx'
import { NextTimes } from './next-times.tsx'
import styles from './schedule.module.css'
import { ParentName } from './schedules.tsx'
import { nameOf, stateOf } from './state.ts'
import { describeWhen } from './words.ts'

export const Route = createLazyRoute('/app/$parents/$parentId/schedules/$scheduleId')({ component: Schedule })

const RUNS_SHOWN = 20

function Schedule() {
  const place = Route.useParams()
  const { data, error, refetch } = useQuery(scheduleQuery(place))
  const problem = error && <ErrorNote error={error} retry={() => void refetch()} />
  if (data) return <Loaded place={place} schedule={data.schedule} etag={data.etag} problem={problem} />
  return <Page title="Schedule">{problem ?? <Skeleton />}</Page>
}

interface LoadedProps {
  readonly place: Place
  readonly schedule: Details
  readonly etag: string | null
  /** Why what is shown may be old. */
  readonly problem: ReactNode
}

/** The outcomes of the runs that the page shows, the latest first. */
function useOutcomes(filters: RunFilters) {
  const mayRead = useRefusal(filters) === undefined
  const { data } = useQuery({ ...runsQuery(filters, RUNS_SHOWN).options, enabled: mayRead })
  return (data?.items ?? []).flatMap(({ status }) => (status === 'succeeded' || status === 'failed' ? [status] : []))
}

function Loaded({ place, schedule, etag, problem }: LoadedProps) {
  const canWrite = useCan()('schedules:write')
  const [shown, setShown] = useState<'editor' | 'deletion' | undefined>(() =>
    hasDraft(draftOfSchedule(schedule.id)) ? 'editor' : undefined,
  )
  const navigate = Route.useNavigate()
  // A session that is restricted to projects names the project whose runs it reads.
  const isRestricted = useMe().apiKey.projectIds !== null
  const project = isRestricted && place.parents === 'projects' ? place.parentId : undefined
  const runs = { scheduleId: schedule.id, projectId: project }
  const lastOutcomes = useOutcomes(runs)
  const showDeleted = useShowDeleted()
  const { tone, word } = stateOf({ ...schedule, lastOutcomes }, useNow())
  const name = nameOf(schedule)
  const isEnabled = schedule.enabledAt !== null
  const { statistics } = schedule
  const timezone = 'timezone' in schedule ? schedule.timezone : 'UTC'
  const run = async () => {
    const { id } = await runNow(place)
    const open = () => void navigate({ to: '/runs/$runId', params: { runId: id } })
    showMessage(`${name} started.`, false, { label: 'Open the run', onSelect: open })
  }
  const act = useMutation({
    mutationFn: ({ act }: { act: () => Promise<unknown>; done?: string }) => act(),
    onSuccess: async (_result, { done }) => {
      if (done !== undefined) showMessage(done)
      await refreshSchedulesAndRuns()
    },
    onError: showError,
  })
  return (
    <Page
      title={name}
      details={
        <p>
          <Status tone={tone}>{word}</Status>
          <span className="quiet">
            {' · '}
            {place.parents === 'agents' ? 'agent ' : 'project '}
            <ParentName schedule={schedule} />
          </span>
        </p>
      }
      actions={
        canWrite && (
          <>
            <button type="button" disabled={act.isPending} onClick={() => act.mutate({ act: run })}>
              Run now
            </button>
            <button
              type="button"
              disabled={act.isPending}
              onClick={() =>
                act.mutate({
                  act: () => change(place, { enabled: !isEnabled }),
                  done: `${name} ${isEnabled ? 'paused' : 'resumed'}.`,
                })
              }
            >
              {isEnabled ? 'Pause' : 'Resume'}
            </button>
            <button type="button" onClick={() => setShown('editor')}>
              Edit
            </button>
            <Menu
              label="More actions"
              items={[{ label: 'Delete', isDangerous: true, onSelect: () => setShown('deletion') }]}
            />
          </>
        )
      }
    >
      {problem}
      {schedule.pausedReason && <p className={styles.reason}>{schedule.pausedReason}</p>}
      <div className={styles.columns}>
        <section>
          <h2>When</h2>
          {schedule.cron === null ? (
            <p>{describeWhen({ ...schedule, timezone })}</p>
          ) : (
            <>
              <code>{schedule.cron}</code>
              {!isEnabled && <p className="quiet">It is paused. When resumed, it fires:</p>}
              <NextTimes cron={schedule.cron} timezone={timezone} />
            </>
          )}
        </section>
        <section>
          <h2>What</h2>
          <Facts
            facts={[
              ['Last run', schedule.lastRunAt && <Time at={schedule.lastRunAt} />],
              ['Overlap', schedule.overlap === 'skip' ? 'skips while a run is not finished' : 'allowed'],
              ['Longest run', schedule.maxRunSeconds && toDuration(schedule.maxRunSeconds * 1000)],
              ['Pauses after', schedule.pauseAfterFailures && `${schedule.pauseAfterFailures} failed runs in a row`],
              ['Note', schedule.note],
              [
                'Outcomes',
                statistics.runs > 0 && (
                  <>
                    {statistics.succeeded} succeeded, {statistics.failed} failed, since{' '}
                    {toDate(new Date(statistics.since))}
                  </>
                ),
              ],
              ['Median duration', statistics.medianSeconds !== null && toDuration(statistics.medianSeconds * 1000)],
            ]}
          />
          {schedule.payload !== null && (
            <>
              <h3>Payload</h3>
              <pre className="block">{JSON.stringify(schedule.payload, null, 2)}</pre>
            </>
          )}
        </section>
      </div>
      <section>
        <div className={styles.heading}>
          <h2>Runs</h2>
          <Link to="/runs" search={{ schedule: schedule.id, project }}>
            All runs
          </Link>
        </div>
        <RunTable filters={runs} limit={RUNS_SHOWN} isOfOneSchedule />
      </section>
      {shown === 'editor' && (
        <EditSchedule place={place} schedule={schedule} etag={etag} onClose={() => setShown(undefined)} />
      )}
      {shown === 'deletion' && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          act={async () => {
            await remove(place)
            await navigate({ to: '/schedules' })
            const projectId = place.parents === 'projects' ? place.parentId : undefined
            void showDeleted(name, { resourceType: 'schedule', resourceId: place.scheduleId, projectId })
            await refreshSchedulesAndRuns()
          }}
          onClose={() => setShown(undefined)}
        >
          It fires no more. For some days, the page Deleted can restore it with its runs.
        </Confirm>
      )}
    </Page>
  )
}
