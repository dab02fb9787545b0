/** The people of the organization, its agents and its projects. */

import { createLazyRoute, Link } from '@tanstack/react-router'
import { type ReactNode, useCallback, useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Filters, SearchField } from '../components/filters.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time } from '../components/time.tsx'
import { hasDraft } from '../drafts.ts'
import type { ApiKey } from '../keys/data.ts'
import { Projects } from '../keys/keys.tsx'
import { useGrowing } from '../lists.ts'
import { type Identity, useIdentities } from '../sign-in-data.ts'
import { ActionDialog, editedOf, itemsOf, useArchive } from './actions.tsx'
import { Avatar } from './avatar.tsx'
import { type Resource, reachOf, resourcesQuery, useKeysOf, useMay, WORDS } from './data.ts'
import type { Kind } from './kinds.ts'
import { draftOfNew, NewResource } from './new-resource.tsx'
import styles from './people.module.css'
import { ROLE_WORDS } from './roles.tsx'
import { Tabs } from './tabs.tsx'

export const Route = createLazyRoute('/app/people')({ component: People })

function People() {
  const { kind = 'users' } = Route.useSearch()
  const can = useCan()
  const may = useMay(kind)
  const [isCreating, setIsCreating] = useState(() => hasDraft(draftOfNew(kind)))
  const { noun, plural } = WORDS[kind]
  return (
    <Page
      title="People"
      actions={
        may.create && (
          <button type="button" data-kind="primary" onClick={() => setIsCreating(true)}>
            New {noun}
          </button>
        )
      }
    >
      <Tabs current={kind} />
      {can(`${kind}:read`) ? (
        <List key={kind} kind={kind} />
      ) : (
        <p className="quiet">This session may not read {kind === 'users' ? 'who is here' : plural.toLowerCase()}.</p>
      )}
      {isCreating && <NewResource kind={kind} onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

const NONE_YET: Readonly<Record<Kind, string>> = {
  users: 'A person has API keys, pins and a picture.',
  agents: 'An agent has schedules.',
  projects: 'A project has sessions, pull requests, schedules and variables.',
}

function List({ kind }: { readonly kind: Kind }) {
  const { q } = Route.useSearch()
  const navigate = Route.useNavigate()
  const list = useGrowing(resourcesQuery(kind, q))
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const words = WORDS[kind].plural.toLowerCase()
  return (
    <>
      <Filters>
        <SearchField label="Search by name" value={q} onChange={search} />
      </Filters>
      {list.isPending ? (
        <Skeleton />
      ) : list.error ? (
        <ErrorNote error={list.error} retry={list.retry} />
      ) : list.items.length === 0 ? (
        <Empty title={q === undefined ? `No ${words} yet` : 'Nothing matches'}>
          {q === undefined ? (
            NONE_YET[kind]
          ) : list.hasMore ? (
            'None of the first ones does. “Show more” looks further.'
          ) : (
            <Link to="/people" search={kind === 'users' ? {} : { kind }}>
              Show all {words}
            </Link>
          )}
        </Empty>
      ) : (
        <Resources kind={kind} resources={list.items} />
      )}
      <ShowMore list={list} />
    </>
  )
}

function Resources({ kind, resources }: { readonly kind: Kind; readonly resources: readonly Resource[] }) {
  const may = useMay(kind)
  const archive = useArchive(kind)
  const keysOf = useKeysOf()
  const [shown, setShown] = useState(() => editedOf(kind, resources))
  const hasReach = kind === 'users' && keysOf !== undefined
  const identities = useIdentities()
  const hasRoles = kind === 'users' && identities !== undefined && identities.length > 0
  const identityOf = new Map(identities?.map((identity) => [identity.userId, identity]))
  return (
    <>
      <Table
        columns={[
          { name: 'Name', width: 'minmax(0, 2fr)' },
          kind !== 'users' && { name: 'State', width: '112px' },
          hasRoles && { name: 'Signs in as', width: 'minmax(0, 1fr)', isWideOnly: true },
          hasReach && { name: 'Projects of the keys', width: 'minmax(0, 1fr)', isWideOnly: true },
          { name: 'Created', width: '112px', isWideOnly: true },
          may.change && { name: 'Actions', width: '48px', isUnlabelled: true },
        ]}
        rowHeight={58}
      >
        {resources.map((resource) => (
          <ResourceRow
            key={resource.id}
            kind={kind}
            resource={resource}
            role={hasRoles && <SignsInAs identity={identityOf.get(resource.id)} />}
            reach={hasReach && <Reach keys={keysOf(resource.id)} />}
          >
            {may.change && (
              <Cell className={styles.menu}>
                <Menu label={`Actions for ${resource.name}`} items={itemsOf(kind, resource, archive, setShown)} />
              </Cell>
            )}
          </ResourceRow>
        ))}
      </Table>
      {shown && <ActionDialog kind={kind} shown={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}

interface ResourceRowProps {
  readonly kind: Kind
  readonly resource: Resource
  /** How a person signs in; false: nobody does, or the session may not know. */
  readonly role: ReactNode
  /** The projects that the keys of a person reach; false: the session sees no keys. */
  readonly reach: ReactNode
  readonly children: ReactNode
}

function ResourceRow({ kind, resource, role, reach, children }: ResourceRowProps) {
  const { user } = useMe()
  const { id, name, archivedAt, createdAt } = resource
  return (
    <Row>
      <Cell>
        <div className={styles.named}>
          {kind === 'users' && <Avatar user={resource} />}
          <div>
            <Link className="row-link" to="/people/$kind/$id" params={{ kind, id }}>
              <bdi>{name}</bdi>
            </Link>
            <div className="quiet small anywhere">
              {kind === 'users' && id === user?.id && 'you · '}
              <bdi>{id}</bdi>
            </div>
            {role && <div className={`quiet small ${styles.narrow}`}>{role}</div>}
            <div className={`quiet small ${styles.narrow}`}>
              created <Time at={createdAt} />
            </div>
          </div>
        </div>
      </Cell>
      {kind !== 'users' && (
        <Cell className={styles.short}>
          <Status tone={archivedAt ? 'idle' : 'good'}>{archivedAt ? 'Archived' : 'Active'}</Status>
        </Cell>
      )}
      {role && <Cell className="wide-only">{role}</Cell>}
      {reach && <Cell className="wide-only">{reach}</Cell>}
      <Cell className={`wide-only ${styles.short}`}>
        <Time at={createdAt} />
      </Cell>
      {children}
    </Row>
  )
}

/** The role of a person, and when they signed in last. */
function SignsInAs({ identity }: { readonly identity: Identity | undefined }) {
  if (!identity) return null
  const { role, blockedAt, lastSignInAt } = identity
  if (blockedAt) return <Status tone="bad">Blocked</Status>
  return (
    <>
      {ROLE_WORDS[role].name}
      {lastSignInAt && (
        <span className="quiet small">
          {' · '}
          <Time at={lastSignInAt} />
        </span>
      )}
    </>
  )
}

/** A person has no projects, but each key of the person may be restricted to some. */
function Reach({ keys }: { readonly keys: readonly ApiKey[] | null | undefined }) {
  if (keys === undefined) return null
  if (keys === null) return <span className="quiet">not known to this session</span>
  if (keys.length === 0) return <span className="quiet">no key</span>
  return <Projects projectIds={reachOf(keys)} />
}
