/** One run: a timeline from due to outcome, and what can still be done. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Run as RunData, useCan, workspace } from '../api.ts'
import { Facts } from '../components/facts.tsx'
import fieldStyles from '../components/field.module.css'
import { Check, Field, FormDialog } from '../components/field.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Time, useNow } from '../components/time.tsx'
import { hasDraft, useDraft } from '../drafts.ts'
import { showError, showMessage } from '../messages.ts'
import { placeOf, refreshSchedulesAndRuns, runNow, scheduleQuery } from '../schedule-data.ts'
import { sessionQuery } from '../sessions/data.ts'
import { toDuration } from '../time.ts'
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
  const [isCompleting, setIsCompleting] = useState(() => hasDraft(draftOfOutcome(run.id)))
  const navigate = Route.useNavigate()
  const place = placeOf({ ...run, id: run.scheduleId })
  const { tone, word } = stateOf(run)
  const duration = durationOf(run, useNow())
  const isOpen = run.status === 'pending' || run.status === 'delivered'
  const redeliver = useMutation({
    mutationFn: () => workspace.runs.redeliver(run.id),
    onSuccess: async () => {
      showMessage('The run is sent again.')
      await refreshSchedulesAndRuns()
    },
    onError: showError,
  })
  const again = useMutation({
    mutationFn: () => runNow(place),
    onSuccess: () => {
      showMessage('Started another run of the schedule.')
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
      {data?.name ?? sessionId}
    </Link>
  )
}

/** The payload of the schedule now: a run does not keep its own. */
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

const draftOfOutcome = (runId: string) => `run/${runId}`

function Complete({ run, onClose }: { readonly run: RunData; readonly onClose: () => void }) {
  const [{ outcome, message }, setFields, draft] = useDraft<{
    readonly outcome: 'succeeded' | 'failed'
    readonly message: string
  }>(draftOfOutcome(run.id), { outcome: 'succeeded', message: '' })
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => workspace.runs.complete(run.id, { outcome, ...(message.trim() && { message: message.trim() }) }),
    onSuccess: async () => {
      draft.drop()
      onClose()
      await refreshSchedulesAndRuns()
    },
  })
  return (
    <FormDialog
      title="Complete the run"
      verb="Complete"
      draft={draft}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <fieldset>
        <legend>Outcome</legend>
        <div className={fieldStyles.lines}>
          {(['succeeded', 'failed'] as const).map((each) => (
            <Check
              key={each}
              type="radio"
              label={each === 'succeeded' ? 'Succeeded' : 'Failed'}
              isChecked={outcome === each}
              onChange={() => setFields({ outcome: each, message })}
            />
          ))}
        </div>
      </fieldset>
      <Field label="Message">
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            maxLength={1000}
            value={message}
            onChange={({ target }) => setFields({ outcome, message: target.value })}
          />
        )}
      </Field>
    </FormDialog>
  )
}
