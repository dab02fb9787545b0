/** The URLs that the service sends runs and events to. */

import { createLazyRoute, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { ProjectName } from '../components/project-name.tsx'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { hasDraft } from '../drafts.ts'
import { EndpointDialog, editedOf, type Shown, useActions } from './actions.tsx'
import { type EventEndpoint, stateOf, useEventEndpoints, waitingIn } from './data.ts'
import { NEW_ENDPOINT, NewEndpoint } from './editor.tsx'
import styles from './endpoints.module.css'
import { RunEndpointSection } from './run-endpoint.tsx'

export const Route = createLazyRoute('/app/endpoints')({ component: Endpoints })

function Endpoints() {
  const can = useCan()
  const isRestricted = useMe().apiKey.projectIds !== null
  return (
    <Page title="Endpoints">
      {isRestricted ? (
        <Empty title="Endpoints belong to the organization">
          This session is restricted to projects. Sign in with an API key that is not, to see and change endpoints.
        </Empty>
      ) : (
        <>
          {can('event-endpoints:read') ? (
            <EventEndpoints />
          ) : (
            <p className="quiet">This session may not read event endpoints.</p>
          )}
          {can('run-endpoint:read') ? (
            <RunEndpointSection />
          ) : (
            <p className="quiet">This session may not read the run endpoint.</p>
          )}
        </>
      )}
    </Page>
  )
}

function EventEndpoints() {
  const canWrite = useCan()('event-endpoints:write')
  const { data, error, refetch } = useEventEndpoints()
  const [isCreating, setIsCreating] = useState(() => hasDraft(NEW_ENDPOINT))
  return (
    <section className={styles.section} aria-labelledby="events">
      <div className={styles.heading}>
        <h2 id="events">Event endpoints</h2>
        {canWrite && (
          <button type="button" data-kind="primary" onClick={() => setIsCreating(true)}>
            New event endpoint
          </button>
        )}
      </div>
      {!data ? (
        error ? (
          <ErrorNote error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton rows={3} />
        )
      ) : data.items.length === 0 ? (
        <Empty title="No event endpoints">
          An event endpoint is a URL that gets each change of the organization, or some of them: a program of yours, or
          the incoming webhook of a chat.
        </Empty>
      ) : (
        <Table endpoints={data.items} />
      )}
      {isCreating && <NewEndpoint onClose={() => setIsCreating(false)} />}
    </section>
  )
}

function Table({ endpoints }: { readonly endpoints: readonly EventEndpoint[] }) {
  const canWrite = useCan()('event-endpoints:write')
  const [shown, setShown] = useState(() => editedOf(endpoints))
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>URL</th>
            <th>State</th>
            <th className="wide-only">Receives</th>
            <th className="wide-only">Waiting</th>
            <th className="wide-only">Last delivery</th>
            {canWrite && (
              <th>
                <span className="only-read-aloud">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <Row key={endpoint.id} endpoint={endpoint} onShow={canWrite ? setShown : undefined} />
          ))}
        </tbody>
      </table>
      {shown && <EndpointDialog shown={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}

interface RowProps {
  readonly endpoint: EventEndpoint
  /** Undefined: the session may only read. */
  readonly onShow: ((shown: Shown) => void) | undefined
}

function Row({ endpoint, onShow }: RowProps) {
  const { id, url, note, lastAttempts } = endpoint
  const { tone, word } = stateOf(endpoint)
  const actions = useActions(endpoint)
  const [last] = lastAttempts
  return (
    <tr>
      <td>
        <Link className="row-link" to="/endpoints/$endpointId" params={{ endpointId: id }}>
          {url}
        </Link>
        {note && <div className="quiet small anywhere">{note}</div>}
      </td>
      <td>
        <Status tone={tone}>{word}</Status>
      </td>
      <td className="wide-only">
        <Receives endpoint={endpoint} />
      </td>
      <td className={`wide-only ${styles.short}`}>{waitingIn(endpoint)}</td>
      <td className={`wide-only ${styles.short}`}>
        {last ? (
          <Status tone={last.error === null ? 'good' : 'bad'}>
            {`${last.status ?? 'no response'}, ${last.milliseconds} ms`}
          </Status>
        ) : (
          <span className="quiet">none</span>
        )}
        {last && (
          <div className="quiet small">
            <Time at={last.startedAt} />
          </div>
        )}
      </td>
      {onShow && (
        <td className={styles.menu}>
          <Menu label={`Actions for ${url}`} items={actions.itemsOf(onShow)} />
        </td>
      )}
    </tr>
  )
}

/** Which events it gets, in words. */
export function Receives({ endpoint: { types, projectId } }: { readonly endpoint: EventEndpoint }) {
  return (
    <span className="anywhere">
      {types === null ? 'all events' : types.join(', ')}
      {projectId !== null && (
        <>
          {' of '}
          <bdi>
            <ProjectName id={projectId} />
          </bdi>
        </>
      )}
    </span>
  )
}
