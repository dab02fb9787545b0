/** A person with their picture and keys, or an agent or a project with its schedules. */
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Facts } from '../components/facts.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { Projects } from '../keys/keys.tsx'
import { nameOf } from '../schedules/state.ts'
import { useIdentities } from '../sign-in-data.ts'
import { ActionDialog, editedOf, itemsOf, useArchive } from './actions.tsx'
import { Avatar } from './avatar.tsx'
import {
  type Resource as AnyResource,
  reachOf,
  resourceQuery,
  schedulesOfQuery,
  useKeysOf,
  useMay,
  WORDS,
} from './data.ts'
import { Identities } from './identity.tsx'
import type { Kind } from './kinds.ts'
import { OwnPicture } from './own-picture.tsx'
import styles from './people.module.css'

export const Route = createLazyRoute('/app/people/$kind/$id')({ component: Resource })

function Resource() {
  const { kind, id } = Route.useParams()
  const can = useCan()
  if (can(`${kind}:read`)) return <Loading kind={kind} id={id} />
  return (
    <Page title="People">
      <p className="quiet">This session may not read {kind}.</p>
    </Page>
  )
}

function Loading({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const { data, error, refetch } = useQuery(resourceQuery(kind, id))
  const problem = error && <ErrorNote error={error} retry={() => void refetch()} />
  if (data) return <Loaded key={`${kind}/${id}`} kind={kind} resource={data} problem={problem} />
  return <Page title="People">{problem ?? <Skeleton />}</Page>
}

interface LoadedProps {
  readonly kind: Kind
  readonly resource: AnyResource
  /** Why what is shown may be old. */
  readonly problem: ReactNode
}

function Loaded({ kind, resource, problem }: LoadedProps) {
  const { id, name, description, archivedAt, createdAt, updatedAt } = resource
  const { user } = useMe()
  const may = useMay(kind)
  const can = useCan()
  const archive = useArchive(kind)
  const navigate = Route.useNavigate()
  const [shown, setShown] = useState(() => editedOf(kind, [resource]))
  const isOneself = kind === 'users' && user?.id === id
  return (
    <Page
      title={name}
      details={
        <p>
          {archivedAt && (
            <>
              <Status tone="idle">Archived</Status>
              {' · '}
            </>
          )}
          <span className="quiet">
            {WORDS[kind].noun}
            {isOneself && ' · you'}
          </span>
        </p>
      }
      actions={
        may.change &&
        itemsOf(kind, resource, archive, setShown).map(({ label, isDangerous, onSelect }) => (
          <button key={label} type="button" data-kind={isDangerous ? 'danger' : undefined} onClick={onSelect}>
            {label}
          </button>
        ))
      }
    >
      {problem}
      {archivedAt && (
        <p className={`${styles.warning} ${styles.above}`}>
          It is archived: what belongs to it can be read but not changed, and its schedules start no runs.
        </p>
      )}
      <div className={styles.columns}>
        <section>
          <h2>About {kind === 'users' ? 'this person' : 'it'}</h2>
          {description && <p className={`${styles.description} anywhere`}>{description}</p>}
          {kind === 'users' && <Avatar user={resource} isLarge />}
          {isOneself && can('profile-picture:write') && <OwnPicture userId={id} />}
          <Facts
            facts={[
              ['Created', <Time key="created" at={createdAt} />],
              ['Changed', updatedAt !== createdAt && <Time at={updatedAt} />],
              ['Archived', archivedAt && <Time at={archivedAt} />],
              ['ID', <code key="id">{id}</code>],
            ]}
          />
          <Elsewhere kind={kind} id={id} />
        </section>
        {kind === 'users' ? (
          <>
            <Identities userId={id} />
            <Keys userId={id} />
          </>
        ) : (
          <Schedules kind={kind} id={id} />
        )}
      </div>
      {shown && (
        <ActionDialog
          kind={kind}
          shown={shown}
          onDeleted={() => navigate({ to: '/people', search: kind === 'users' ? {} : { kind } })}
          onClose={() => setShown(undefined)}
        />
      )}
    </Page>
  )
}

/** The pages that show more of it. */
function Elsewhere({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const can = useCan()
  const links: readonly ReactNode[] = [
    kind === 'projects' && can('sessions:read') && (
      <Link key="sessions" to="/sessions" search={{ project: id }}>
        Sessions
      </Link>
    ),
    kind === 'projects' && can('runs:read') && (
      <Link key="runs" to="/runs" search={{ project: id }}>
        Runs
      </Link>
    ),
    kind === 'projects' && can('environment-variables:read') && (
      <Link key="variables" to="/variables" search={{ project: id }}>
        Variables
      </Link>
    ),
    kind === 'projects' && can('audit-events:read') && (
      <Link key="project" to="/activity" search={{ project: id }}>
        What happened in it
      </Link>
    ),
    kind === 'users' && can('audit-events:read') && (
      <Link key="user" to="/activity" search={{ user: id }}>
        What this person did
      </Link>
    ),
    can('audit-events:read') && (
      <Link key="resource" to="/activity" search={{ resource: `${WORDS[kind].type}/${id}` }}>
        What happened to {kind === 'users' ? 'this person' : 'it'}
      </Link>
    ),
  ].filter(Boolean)
  if (links.length === 0) return null
  return <p className={styles.links}>{links}</p>
}

/** A person has no projects: the keys of the person have. */
function Keys({ userId }: { readonly userId: string }) {
  const canWrite = useCan()('api-keys:write')
  const keysOf = useKeysOf()
  const signsIn = useIdentities()?.some((identity) => identity.userId === userId)
  if (!keysOf) return null
  const keys = keysOf(userId)
  const reach = keys && reachOf(keys)
  return (
    <section>
      <h2>Keys</h2>
      {keys === undefined ? (
        <Skeleton rows={3} />
      ) : keys === null ? (
        <p className="quiet">You act as a person, so you see only the keys of that person: your own.</p>
      ) : keys.length === 0 ? (
        <p className="quiet">
          {signsIn ? 'This person has no API key.' : 'Nobody can act as this person without an API key.'}{' '}
          {canWrite && <Link to="/keys">Create one on the page Keys</Link>}
        </p>
      ) : (
        <>
          <p className="quiet">
            A person has no projects, but a key may be restricted to some. With these keys, this person reaches{' '}
            {reach === null ? 'all projects' : <Projects projectIds={reach ?? []} />}.
          </p>
          <ul className={styles.list}>
            {keys.map(({ id, name, projectIds }) => (
              <li key={id}>
                <Link className="row-link" to="/keys/$keyId" params={{ keyId: id }}>
                  <bdi>{name}</bdi>
                </Link>
                <span className="quiet small">
                  <Projects projectIds={projectIds} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

interface SchedulesProps {
  readonly kind: Exclude<Kind, 'users'>
  readonly id: string
}

function Schedules({ kind, id }: SchedulesProps) {
  const isAllowed = useCan()('schedules:read')
  const { data, error, refetch } = useQuery({ ...schedulesOfQuery(kind, id), enabled: isAllowed })
  if (!isAllowed) return null
  return (
    <section>
      <h2>Schedules</h2>
      {error && !data ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={3} />
      ) : data.items.length === 0 ? (
        <p className="quiet">It has none.</p>
      ) : (
        <ul className={styles.list}>
          {data.items.map((schedule) => (
            <li key={schedule.id}>
              <Link
                className="row-link"
                to="/$parents/$parentId/schedules/$scheduleId"
                params={{ parents: kind, parentId: id, scheduleId: schedule.id }}
              >
                <bdi>{nameOf(schedule)}</bdi>
              </Link>
              {schedule.enabledAt === null && <Status tone="idle">Paused</Status>}
            </li>
          ))}
        </ul>
      )}
      {data?.nextCursor && <p className="quiet small">These are the first {data.items.length}.</p>}
    </section>
  )
}
