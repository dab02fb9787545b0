/** The run endpoint: the one URL that gets the runs of the organization. */

import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan, workspace } from '../api.ts'
import { Confirm } from '../components/confirm.tsx'
import { Facts } from '../components/facts.tsx'
import { FormDialog } from '../components/field.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { SecretOnce } from '../components/secret-once.tsx'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { hasDraft, useDraft } from '../drafts.ts'
import { useGrowing } from '../lists.ts'
import { showMessage } from '../messages.ts'
import { runsQuery } from '../runs/data.ts'
import { nameOf } from '../runs/state.ts'
import { RotateSecret } from './actions.tsx'
import { Attempts } from './attempts.tsx'
import { describeAttempt, failedDelivery, refreshEndpoints, stateOfRunEndpoint, useRunEndpoint } from './data.ts'
import { UrlField } from './editor.tsx'
import styles from './endpoints.module.css'

export function RunEndpointSection() {
  const can = useCan()
  const { data, error, refetch } = useRunEndpoint()
  const [shown, setShown] = useState<'url' | 'rotation' | 'deletion' | undefined>(() =>
    hasDraft(RUN_ENDPOINT) ? 'url' : undefined,
  )
  const canWrite = can('run-endpoint:write')
  const close = () => setShown(undefined)
  return (
    <section className={styles.section} aria-labelledby="runs">
      <div className={styles.heading}>
        <h2 id="runs">Run endpoint</h2>
        {canWrite && data !== undefined && (
          <div className={styles.actions}>
            <button type="button" onClick={() => setShown('url')}>
              {data ? 'Change the URL' : 'Set the run endpoint'}
            </button>
            {data && (
              <>
                <button type="button" onClick={() => setShown('rotation')}>
                  Rotate its secret
                </button>
                <button type="button" data-kind="danger" onClick={() => setShown('deletion')}>
                  Delete the run endpoint
                </button>
              </>
            )}
          </div>
        )}
      </div>
      {data === undefined ? (
        error ? (
          <ErrorNote error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton rows={3} />
        )
      ) : data === null ? (
        <Empty title="No run endpoint">
          The run endpoint is a URL that gets each run when it is due. Without one, workers claim runs.
        </Empty>
      ) : (
        <>
          <Facts
            facts={[
              ['URL', <code key="url">{data.url}</code>],
              ['State', can('runs:read') && <State endpoint={data} />],
              ['Receives', 'each run that is created'],
              ['Waiting', can('runs:read') && <Waiting />],
              ['Changed', <Time key="changed" at={data.updatedAt} />],
              ['Old secret ends', data.previousSecretExpiresAt && <Time at={data.previousSecretExpiresAt} />],
            ]}
          />
          {can('runs:read') && <Deliveries />}
        </>
      )}
      {shown === 'url' && <SetUrl url={data?.url} onClose={close} />}
      {shown === 'rotation' && (
        <RotateSecret
          url={data?.url ?? ''}
          rotate={async (overlapSeconds) => (await workspace.runEndpoint.rotate({ overlapSeconds })).secret}
          onClose={close}
        />
      )}
      {shown === 'deletion' && (
        <Confirm
          title="Delete the run endpoint?"
          verb="Delete"
          act={async () => {
            await workspace.runEndpoint.delete()
            await refreshEndpoints()
          }}
          onClose={close}
        >
          Runs stay pending until a worker claims them. Those that exist are not sent to an endpoint that is set later.
        </Confirm>
      )}
    </section>
  )
}

const COUNTED = 100

function Waiting() {
  const { items, isPending, hasMore } = useGrowing(runsQuery({ status: 'pending' }, COUNTED))
  if (isPending) return null
  return (
    <Link to="/runs" search={{ status: 'pending' }}>
      {hasMore ? `${items.length} or more` : items.length}
    </Link>
  )
}

/** The state that the page Today shows. */
function State({ endpoint }: { readonly endpoint: { readonly updatedAt: string } }) {
  const pending = useGrowing(runsQuery({ status: 'pending' }, COUNTED))
  const latest = useGrowing(runsQuery({}, SHOWN_RUNS))
  if (pending.isPending || latest.isPending) return null
  const failed = failedDelivery([...latest.items, ...pending.items], endpoint)
  const { tone, word } = stateOfRunEndpoint(failed)
  return (
    <>
      <Status tone={tone}>{word}</Status>
      {failed && <div className="quiet small anywhere">{describeAttempt(failed)}</div>}
    </>
  )
}

const SHOWN_RUNS = 20
const SHOWN_ATTEMPTS = 10

/** The deliveries of the latest runs. */
function Deliveries() {
  const { items } = useGrowing(runsQuery({}, SHOWN_RUNS))
  const attempts = items
    .flatMap((run) =>
      run.lastAttempts.map((attempt) => ({
        ...attempt,
        id: `${run.id} ${attempt.startedAt}`,
        about: (
          <Link className="row-link" to="/runs/$runId" params={{ runId: run.id }}>
            {nameOf(run)}
          </Link>
        ),
      })),
    )
    .toSorted((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt))
    .slice(0, SHOWN_ATTEMPTS)
  return (
    <>
      <h3>Last deliveries</h3>
      <Attempts attempts={attempts} heading="Run" />
    </>
  )
}

/** The API tells the URL to everybody who may read the endpoint: it is no secret. */
const RUN_ENDPOINT = 'run-endpoint'

interface SetUrlProps {
  /** That it has now. */
  readonly url: string | undefined
  readonly onClose: () => void
}

function SetUrl({ url, onClose }: SetUrlProps) {
  const [{ value }, setFields, draft] = useDraft(RUN_ENDPOINT, { value: url ?? '' })
  const [secret, setSecret] = useState<string>()
  const { mutate, isPending, error } = useMutation({
    // What it returns would be kept: the secret is in the state of the dialog only.
    gcTime: 0,
    mutationFn: async () => {
      const set = await workspace.runEndpoint.put({ url: value.trim() })
      draft.drop()
      if (set.secret !== null) return setSecret(set.secret)
      showMessage('Saved.')
      close()
    },
  })
  const close = () => {
    setSecret(undefined)
    onClose()
    void refreshEndpoints()
  }
  if (secret !== undefined) {
    return (
      <SecretOnce title="The secret of the run endpoint" word="secret" secret={secret} onClose={close}>
        The receiver verifies runs with it.
      </SecretOnce>
    )
  }
  return (
    <FormDialog
      title={url === undefined ? 'Set the run endpoint' : 'Change the URL'}
      verb="Save"
      draft={draft}
      isPending={isPending}
      error={error}
      onSubmit={() => mutate()}
      onClose={onClose}
    >
      <UrlField value={value} isRequired onChange={(typed) => setFields({ value: typed })} />
      {url !== undefined && (
        <p className="quiet small">Runs that are not delivered yet go to the new URL. The secret stays.</p>
      )}
    </FormDialog>
  )
}
