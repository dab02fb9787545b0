/** API keys and, apart from them, who is signed in and which apps are connected. */

import { createLazyRoute, Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { Choice, Filters, SearchField } from '../components/filters.tsx'
import { Menu } from '../components/menu.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { ProjectName } from '../components/project-name.tsx'
import { Status } from '../components/status.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time, useNow } from '../components/time.tsx'
import { hasDraft } from '../drafts.ts'
import { useName, useNames } from '../names.ts'
import {
  type ApiKey,
  type Children,
  childrenOf,
  type Kind,
  keysMadeWith,
  MAX_KEYS,
  nameOf,
  STATES,
  type State,
  stateOf,
  useIsAdmin,
  useIsOwnApp,
  useKeys,
} from './data.ts'
import { EndKey, endingsOf, useEnding } from './end-key.tsx'
import styles from './keys.module.css'
import { KEY_KINDS } from './kinds.ts'
import { NEW_KEY, NewKey } from './new-key.tsx'
import { permissionsOfApp, summaryOf } from './purposes.ts'
import { SignOutEverywhere } from './sign-out-everywhere.tsx'

export const Route = createLazyRoute('/app/keys')({ component: Keys })

function Keys() {
  const can = useCan()
  const [isCreating, setIsCreating] = useState(() => hasDraft(NEW_KEY))
  return (
    <Page
      title="Keys"
      actions={
        can('api-keys:write') && (
          <button type="button" data-kind="primary" onClick={() => setIsCreating(true)}>
            New key
          </button>
        )
      }
    >
      {can('api-keys:read') ? <Lists /> : <p className="quiet">This session may not read API keys.</p>}
      {isCreating && <NewKey onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

const SHOWN = 100
const STATE_OPTIONS = Object.entries(STATES).map(([state, { word }]) => [state as State, word] as const)

function Lists() {
  const { kind = 'key', q, state } = Route.useSearch()
  const navigate = Route.useNavigate()
  const users = useNames('users')
  const now = useNow()
  const [limit, setLimit] = useState(SHOWN)
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const { user } = useMe()
  const isAdmin = useIsAdmin()
  const { byKind, all, error, refetch } = useKeys()
  if (!byKind) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton />
  const ofKind = byKind[kind]
  const isFiltered = q !== undefined || state !== undefined
  const found = ofKind.filter((key) => {
    const texts = [
      key.name,
      key.id,
      key.app?.name ?? '',
      key.app?.redirectHost ?? '',
      key.userId ?? '',
      users.get(key.userId ?? '') ?? '',
    ]
    const isNamed = texts.some((text) => text.toLowerCase().includes(q?.toLowerCase() ?? ''))
    return isNamed && (state === undefined || stateOf(key, now) === state)
  })
  return (
    <>
      <div className={styles.tabs}>
        {KEY_KINDS.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={kind === each}
            onClick={() => void navigate({ search: each === 'key' ? {} : { kind: each } })}
          >
            {/* A key that acts for a user sees what belongs to that user only, unless an admin has signed in. */}
            {each === 'session' && user && !isAdmin ? 'My sessions' : TABS[each]}{' '}
            <span className="quiet">{byKind[each].length}</span>
          </button>
        ))}
      </div>
      <Filters>
        <SearchField label="Search by name, person or ID" value={q} onChange={search} />
        {kind === 'key' && (
          <Choice
            label="State"
            all="Any state"
            value={state}
            options={STATE_OPTIONS}
            onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, state: chosen }) })}
          />
        )}
        {kind === 'session' && user && <SignOutEverywhere />}
      </Filters>
      {found.length === 0 ? (
        <Empty title={isFiltered ? 'Nothing matches' : NONE[kind]}>
          {isFiltered ? (
            <Link to="/keys" search={kind === 'key' ? {} : { kind }}>
              Show all
            </Link>
          ) : kind === 'grant' ? (
            'An agent or an editor that connects to the MCP server appears here.'
          ) : (
            kind === 'key' && <WithoutKey />
          )}
        </Empty>
      ) : (
        <List shown={found.slice(0, limit)} kind={kind} tree={childrenOf(all)} />
      )}
      <ShowMore list={{ hasMore: found.length > limit, isGrowing: false, showMore: () => setLimit(limit + SHOWN) }} />
      {ofKind.length === MAX_KEYS && <p className="quiet">These are the first {MAX_KEYS}.</p>}
    </>
  )
}

const NONE: Readonly<Record<Kind, string>> = {
  key: 'No API key',
  session: 'Nobody is signed in',
  grant: 'No app is connected',
}

/** How one gets a key. */
function WithoutKey() {
  const { user } = useMe()
  const isAdmin = useIsAdmin()
  const canCreate = useCan()('api-keys:write')
  return (
    <>
      {user && !isAdmin && 'Only keys that act for you are listed here. '}
      {canCreate ? (
        'A program that uses the API needs a key. Create one with “New key”.'
      ) : (
        <>
          This session may not create one: ask an admin for a key. On your computer you need none: run{' '}
          <code>workspace login</code>.
        </>
      )}
    </>
  )
}

const TABS: Readonly<Record<Kind, string>> = { key: 'API keys', session: 'Signed in', grant: 'Connected apps' }

interface ListProps {
  readonly shown: readonly ApiKey[]
  readonly kind: Kind
  readonly tree: Children
}

function List({ shown, kind, tree }: ListProps) {
  const canWrite = useCan()('api-keys:write')
  const isOwnApp = useIsOwnApp(tree)
  const canEnd = (key: ApiKey) => canWrite || isOwnApp(key)
  const { ending, begin, end } = useEnding()
  const isKey = kind === 'key'
  return (
    <>
      <Table
        columns={[
          { name: 'Name', width: 'minmax(0, 3fr)' },
          isKey && { name: 'State', width: '136px', narrowWidth: '116px' },
          kind === 'session'
            ? { name: 'Signed in', width: '112px', isWideOnly: true }
            : { name: 'May do', width: 'minmax(0, 3fr)', isWideOnly: true },
          { name: 'Projects', width: 'minmax(0, 2fr)', isWideOnly: true },
          { name: 'Last used', width: '112px', isWideOnly: true },
          { name: 'Ends', width: '112px', isWideOnly: isKey },
          shown.some(canEnd) && { name: 'Actions', width: '48px', isUnlabelled: true },
        ]}
        rowHeight={58}
      >
        {shown.map((key) => (
          <KeyRow key={key.id} apiKey={key} tree={tree} onEnd={canEnd(key) ? begin : undefined} />
        ))}
      </Table>
      {ending && <EndKey ending={ending} tree={tree} onClose={end} />}
    </>
  )
}

interface KeyRowProps {
  readonly apiKey: ApiKey
  readonly tree: Children
  /** Undefined: the session may not end it. */
  readonly onEnd: ReturnType<typeof useEnding>['begin'] | undefined
}

function KeyRow({ apiKey, tree, onEnd }: KeyRowProps) {
  const { apiKey: own } = useMe()
  const { id, kind, scopes, app, lastUsedAt, expiresAt, createdAt } = apiKey
  const name = nameOf(apiKey)
  const { tone, word } = STATES[stateOf(apiKey, useNow())]
  const made = keysMadeWith(apiKey, tree).length
  const isKey = kind === 'key'
  const summary = (app && permissionsOfApp(scopes)?.join(', ')) ?? summaryOf(scopes, own.scopes)
  return (
    <Row>
      <Cell>
        <Link className="row-link" to="/keys/$keyId" params={{ keyId: id }}>
          <bdi>{name}</bdi>
        </Link>
        <div className="quiet small anywhere">
          {app && <bdi>{app.redirectHost} · </bdi>}
          {id === own.id && 'you, here · '}
          <UserName userId={apiKey.userId} />
          {made > 0 && ` · made ${made} ${made === 1 ? 'key' : 'keys'}`}
        </div>
        {kind !== 'session' && <div className={`quiet small ${styles.narrow}`}>{summary}</div>}
      </Cell>
      {isKey && (
        <Cell>
          <Status tone={tone}>{word}</Status>
        </Cell>
      )}
      <Cell className="wide-only">{kind === 'session' ? <Time at={createdAt} /> : summary}</Cell>
      <Cell className="wide-only">
        <Projects projectIds={apiKey.projectIds} />
      </Cell>
      <Cell className={`wide-only ${styles.short}`}>
        {lastUsedAt ? <Time at={lastUsedAt} /> : <span className="quiet">never</span>}
      </Cell>
      <Cell className={isKey ? `wide-only ${styles.short}` : styles.short}>
        {expiresAt ? <Time at={expiresAt} /> : <span className="quiet">never</span>}
      </Cell>
      {onEnd && (
        <Cell className={styles.menu}>
          <Menu label={`Actions for ${name}`} items={endingsOf(apiKey, onEnd)} />
        </Cell>
      )}
    </Row>
  )
}

export function UserName({ userId }: { readonly userId: string | null }) {
  const name = useName('users', userId)
  return userId === null ? 'acts as nobody' : <bdi>{name ?? userId}</bdi>
}

const NAMED = 2

export function Projects({ projectIds }: { readonly projectIds: readonly string[] | null }) {
  if (projectIds === null) return <span className="quiet">all</span>
  if (projectIds.length === 0) return <span className="quiet">none</span>
  if (projectIds.length > NAMED) return `${projectIds.length} projects`
  return projectIds.map((id, index) => (
    <bdi key={id} className="anywhere">
      {index > 0 && ', '}
      <ProjectName id={id} />
    </bdi>
  ))
}
