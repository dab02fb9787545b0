/** One event endpoint: what it gets, how its deliveries go, and what can be done. */
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan } from '../api.ts'
import { Facts } from '../components/facts.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { EndpointDialog, editedOf, useActions } from './actions.tsx'
import { Attempts } from './attempts.tsx'
import { describeAttempt, type EventEndpoint, stateOf, useEventEndpoints, waitingIn } from './data.ts'
import styles from './endpoints.module.css'
import { Receives } from './endpoints.tsx'

export const Route = createLazyRoute('/app/endpoints/$endpointId')({ component: Endpoint })

function Endpoint() {
  const { endpointId } = Route.useParams()
  const { data, error, refetch } = useEventEndpoints()
  const endpoint = data?.items.find(({ id }) => id === endpointId)
  if (endpoint) return <Loaded endpoint={endpoint} />
  return (
    <Page title="Event endpoint">
      {data ? (
        <Empty title="There is no such event endpoint">
          It may be deleted. <Link to="/endpoints">Show all endpoints</Link>
        </Empty>
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

/** The menu leaves them out. */
const BUTTONS = ['Test', 'Edit', 'Enable', 'Disable']

function Loaded({ endpoint }: { readonly endpoint: EventEndpoint }) {
  const canWrite = useCan()('event-endpoints:write')
  const [shown, setShown] = useState(() => editedOf([endpoint]))
  const navigate = Route.useNavigate()
  const { test, enable, itemsOf } = useActions(endpoint)
  const { tone, word } = stateOf(endpoint)
  const isDisabled = endpoint.disabledAt !== null
  return (
    <Page
      title={endpoint.url}
      details={
        <p>
          <Status tone={tone}>{word}</Status>
          {endpoint.note && <span className="quiet anywhere"> · {endpoint.note}</span>}
        </p>
      }
      actions={
        canWrite && (
          <>
            <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
              {test.isPending ? 'Testing …' : 'Test'}
            </button>
            <button type="button" disabled={enable.isPending} onClick={() => enable.mutate()}>
              {isDisabled ? 'Enable' : 'Disable'}
            </button>
            <button type="button" onClick={() => setShown({ endpoint, dialog: 'edit' })}>
              Edit
            </button>
            <Menu label="More actions" items={itemsOf(setShown).filter(({ label }) => !BUTTONS.includes(label))} />
          </>
        )
      }
    >
      {tone === 'warning' && <p className={`anywhere ${styles.reason}`}>{endpoint.disabledReason}</p>}
      <div className={styles.columns}>
        <section>
          <h2>About it</h2>
          <Facts
            facts={[
              ['Receives', <Receives key="receives" endpoint={endpoint} />],
              ['Format', endpoint.format === 'text' ? 'sentences, for chats' : 'events, signed'],
              ['Messages', endpoint.batch ? false : 'one event in each'],
              ['Waiting', waitingIn(endpoint)],
              ['Since', endpoint.behindSince && <Time at={endpoint.behindSince} />],
              ['Failing since', endpoint.failingSince && <Time at={endpoint.failingSince} />],
              ['Next attempt', endpoint.nextAttemptAt && <Time at={endpoint.nextAttemptAt} />],
              ['Disabled', endpoint.disabledAt && <Time at={endpoint.disabledAt} />],
              ['Old secret ends', endpoint.previousSecretExpiresAt && <Time at={endpoint.previousSecretExpiresAt} />],
              ['Created', <Time key="created" at={endpoint.createdAt} />],
              ['ID', <code key="id">{endpoint.id}</code>],
            ]}
          />
        </section>
        <section>
          <h2>Last deliveries</h2>
          {test.data && (
            <p role="status">
              <Status tone={test.data.error === null ? 'good' : 'bad'}>{`Test: ${describeAttempt(test.data)}`}</Status>
            </p>
          )}
          <Attempts attempts={endpoint.lastAttempts} />
        </section>
      </div>
      {shown && (
        <EndpointDialog
          shown={shown}
          onDeleted={() => navigate({ to: '/endpoints' })}
          onClose={() => setShown(undefined)}
        />
      )}
    </Page>
  )
}
