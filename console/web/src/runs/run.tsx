/** One run: a timeline from due to outcome, and what can still be done. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { type Run as RunData, useCan, workspace } from '../api.ts'
import { Dialog, DialogActions } from '../components/dialog.tsx'
import { Facts } from '../components/facts.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Time, useNow } from '../components/time.tsx'
import { showError, showToast } from '../components/toast.tsx'
import { placeOf, refreshSchedulesAndRuns, runNow, scheduleQuery } from '../schedules/data.ts'
import { sessionQuery } from '../sessions/data.ts'
import { toDuration } from '../time.ts'
import { visible } from '../visible.ts'
import { runQuery } from './data.ts'
import styles from './run.module.css'
import { durationOf, nameOf, stateOf } from './state.ts'
import { Timeline } from './timeline.tsx'

export const Route = createLazyRoute('/app/runs/$runId')({ component: Run })

function Run() {
  const { runId } = Route.useParams()
  const { data, error, refetch } = useQuery(runQuery(runId))
  return data ? (
    <Loaded key={runId} run={data} />
  ) : (
    <Page title="Run">{error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}</Page>
  )
}

/** The service sends again what nobody has finished, and what it could not deliver. */
function canBeSentAgain({ status, failure, claim }: RunData): boolean {
  return status === 'pending' || (status === 'delivered' && claim === null) || failure === 'delivery'
}

function Loaded({ run }: { readonly run: RunData }) {
  const can = useCan()
  const [isCompleting, setIsCompleting] = useState(false)
  const navigate = Route.useNavigate()
  const place = placeOf({ ...run, id: run.scheduleId })
  const { tone, word } = stateOf(run)
  const duration = durationOf(run, useNow())
  const isOpen = run.status === 'pending' || run.status === 'delivered'
  const redeliver = useMutation({
    mutationFn: () => workspace.runs.redeliver(run.id),
    onSuccess: async () => {
      showToast('The run is sent again.')
      await refreshSchedulesAndRuns()
    },
    onError: showError,
  })
  const again = useMutation({
    mutationFn: () => runNow(place),
    onSuccess: () => {
      showToast('Started another run of the schedule.')
      void refreshSchedulesAndRuns()
    },
    onError: showError,
  })
  // Only if the page is still shown: somebody who has gone elsewhere stays there.
  const open = ({ id }: RunData) => void navigate({ to: '/runs/$runId', params: { runId: id } })
  return (
    <Page
      title={nameOf(run)}
      details={
        <p>
          <Status tone={tone}>{word}</Status>
          <span className="quiet">
            {' · due '}
            <Time at={run.scheduledAt} />
            {duration !== undefined && ` · ${toDuration(duration)}`}
          </span>
        </p>
      }
      actions={
        <>
          {can('runs:write') && canBeSentAgain(run) && (
            <button type="button" disabled={redeliver.isPending} onClick={() => redeliver.mutate()}>
              Send again
            </button>
          )}
          {can('schedules:write') && !isOpen && (
            <button
              type="button"
              disabled={again.isPending}
              onClick={() => again.mutate(undefined, { onSuccess: open })}
            >
              Run again
            </button>
          )}
          {can('runs:write') && isOpen && run.claim === null && (
            <button type="button" onClick={() => setIsCompleting(true)}>
              Complete
            </button>
          )}
        </>
      }
    >
      {run.message && (
        <pre className={`block ${styles.message}`} data-failed={run.status === 'failed'}>
          {run.message}
        </pre>
      )}
      <div className={styles.columns}>
        <section>
          <h2>What happened</h2>
          <Timeline run={run} />
        </section>
        <section>
          <h2>About it</h2>
          <Facts
            facts={[
              [
                'Schedule',
                <Link key="schedule" to="/$parents/$parentId/schedules/$scheduleId" params={place}>
                  {nameOf(run)}
                </Link>,
              ],
              ['Session', run.sessionId && <SessionLink key="session" sessionId={run.sessionId} />],
              ['Attempts', run.attempts],
              ['ID', <code key="id">{run.id}</code>],
            ]}
          />
          {can('schedules:read') && <Payload run={run} />}
        </section>
      </div>
      {isCompleting && <Complete run={run} onClose={() => setIsCompleting(false)} />}
    </Page>
  )
}

/** Its name, if the session may know it and it is not deleted. */
function SessionLink({ sessionId }: { readonly sessionId: string }) {
  const { data } = useQuery({ ...sessionQuery(sessionId), enabled: useCan()('sessions:read') })
  return (
    <Link to="/sessions/$sessionId" params={{ sessionId }}>
      {data ? visible(data.name) : sessionId}
    </Link>
  )
}

/** That of the schedule now: a run does not keep its own. */
function Payload({ run }: { readonly run: RunData }) {
  const { data } = useQuery(scheduleQuery(placeOf({ ...run, id: run.scheduleId })))
  if (!data || data.schedule.payload === null) return null
  return (
    <>
      <h3>Payload of the schedule</h3>
      <pre className="block">{JSON.stringify(data.schedule.payload, null, 2)}</pre>
    </>
  )
}

function Complete({ run, onClose }: { readonly run: RunData; readonly onClose: () => void }) {
  const [outcome, setOutcome] = useState<'succeeded' | 'failed'>('succeeded')
  const [message, setMessage] = useState('')
  const id = useId()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => workspace.runs.complete(run.id, { outcome, ...(message.trim() && { message: message.trim() }) }),
    onSuccess: async () => {
      onClose()
      await refreshSchedulesAndRuns()
    },
  })
  return (
    <Dialog title="Complete the run" onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          mutate()
        }}
      >
        <fieldset className={styles.outcomes}>
          <legend>Outcome</legend>
          <label>
            <input type="radio" checked={outcome === 'succeeded'} onChange={() => setOutcome('succeeded')} /> Succeeded
          </label>
          <label>
            <input type="radio" checked={outcome === 'failed'} onChange={() => setOutcome('failed')} /> Failed
          </label>
        </fieldset>
        <label htmlFor={id}>Message</label>
        <textarea
          id={id}
          rows={3}
          maxLength={1000}
          value={message}
          onChange={({ target }) => setMessage(target.value)}
        />
        {error && <ErrorNote error={error} />}
        <DialogActions>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" data-kind="primary" disabled={isPending}>
            Complete
          </button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
