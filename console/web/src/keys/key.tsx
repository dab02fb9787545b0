/** One API key, session or connected app: what it may do, what it has created, and how to end it. */
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useCan, useMe } from '../api.ts'
import { Facts } from '../components/facts.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Status } from '../components/status.tsx'
import { Time, useNow } from '../components/time.tsx'
import {
  type ApiKey,
  type Children,
  childrenOf,
  type Kind,
  nameOf,
  STATES,
  stateOf,
  useIsOwnApp,
  useKeys,
} from './data.ts'
import { canRotate, END_VERBS, EndKey, useEnding } from './end-key.tsx'
import styles from './keys.module.css'
import { Projects, UserName } from './keys.tsx'
import { groupsOf, permissionsOfApp, verbOf } from './purposes.ts'

export const Route = createLazyRoute('/app/keys/$keyId')({ component: Key })

function Key() {
  const { keyId } = Route.useParams()
  const can = useCan()
  if (can('api-keys:read')) return <Loading keyId={keyId} />
  return (
    <Page title="Key">
      <p className="quiet">This session may not read API keys.</p>
    </Page>
  )
}

function Loading({ keyId }: { readonly keyId: string }) {
  const { all, error, refetch } = useKeys()
  if (!all) return <Page title="Key">{error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton />}</Page>
  const apiKey = all.find(({ id }) => id === keyId)
  if (apiKey) return <Loaded apiKey={apiKey} all={all} />
  return (
    <Page title="Key">
      <Empty title="This key is not listed">
        It was revoked or has ended, or this session may not see it.{' '}
        <Link to="/activity" search={{ resource: `api-key/${keyId}` }}>
          What happened to it
        </Link>
      </Empty>
    </Page>
  )
}

function Loaded({ apiKey, all }: { readonly apiKey: ApiKey; readonly all: readonly ApiKey[] }) {
  const { id, kind, app, scopes, createdByKeyId, createdAt, lastUsedAt, expiresAt, rotatedAt } = apiKey
  const canWrite = useCan()('api-keys:write')
  const canReadEvents = useCan()('audit-events:read')
  const { apiKey: own } = useMe()
  const navigate = Route.useNavigate()
  const { ending, begin, end } = useEnding()
  const now = useNow()
  const tree = childrenOf(all)
  const { tone, word } = STATES[stateOf(apiKey, now)]
  const name = nameOf(apiKey)
  const permissions = app === null ? undefined : permissionsOfApp(scopes)
  const canEnd = useIsOwnApp(tree)(apiKey) || canWrite
  const children = tree.get(id) ?? []
  return (
    <Page
      title={name}
      details={
        <p>
          <Status tone={tone}>{word}</Status>
          <span className="quiet">
            {KIND_WORDS[kind]}
            <UserName userId={apiKey.userId} />
            {id === own.id && ' · you, here'}
          </span>
        </p>
      }
      actions={
        canEnd && (
          <>
            {canRotate(apiKey, now) && (
              <button type="button" onClick={() => begin({ apiKey, how: 'rotate' })}>
                Rotate
              </button>
            )}
            <button type="button" data-kind="danger" onClick={() => begin({ apiKey, how: 'revoke' })}>
              {END_VERBS[kind]}
            </button>
          </>
        )
      }
    >
      <div className={styles.columns}>
        <section>
          <h2>About it</h2>
          <Facts
            facts={[
              ['App', app && <code>{app.clientId}</code>],
              ['Sends people back to', app && <bdi>{app.redirectHost}</bdi>],
              ['Projects', <Projects key="projects" projectIds={apiKey.projectIds} />],
              ['Created', <Time key="created" at={createdAt} />],
              ['Created with', createdByKeyId && <Creator id={createdByKeyId} all={all} />],
              ['Last used', lastUsedAt ? <Time key="used" at={lastUsedAt} /> : 'never'],
              ['Rotated', rotatedAt && <Time at={rotatedAt} />],
              ['Ends at the latest', app?.endsAt && <Time at={app.endsAt} />],
              ['Ends', expiresAt ? <Time key="ends" at={expiresAt} /> : 'never'],
              ['ID', <code key="id">{id}</code>],
            ]}
          />
          {canReadEvents && (
            <Link to="/activity" search={{ resource: `api-key/${id}` }}>
              What happened to it
            </Link>
          )}
          {children.length > 0 && (
            <>
              <h2>Created with it</h2>
              <div className={styles.tree}>
                <Tree keys={children} tree={tree} />
              </div>
            </>
          )}
        </section>
        <section>
          <h2>What it may do</h2>
          {permissions ? (
            <ul>
              {permissions.map((permission) => (
                <li key={permission}>{permission}</li>
              ))}
            </ul>
          ) : scopes.length === 0 ? (
            <p className="quiet">Nothing but what needs no permission.</p>
          ) : (
            <Facts
              facts={groupsOf(scopes).map(([resource, ofResource]) => [resource, ofResource.map(verbOf).join(', ')])}
            />
          )}
        </section>
      </div>
      {ending && (
        <EndKey
          ending={ending}
          tree={tree}
          onDone={() => void navigate({ to: '/keys', search: kind === 'key' ? {} : { kind } })}
          onClose={end}
        />
      )}
    </Page>
  )
}

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  key: ' · ',
  session: ' · signed in · ',
  grant: ' · connected app · ',
}

function Creator({ id, all }: { readonly id: string; readonly all: readonly ApiKey[] }) {
  const creator = all.find((each) => each.id === id)
  return creator ? <KeyLink apiKey={creator} /> : <>a key that is gone</>
}

function KeyLink({ apiKey }: { readonly apiKey: ApiKey }) {
  return (
    <Link to="/keys/$keyId" params={{ keyId: apiKey.id }}>
      <bdi>{nameOf(apiKey)}</bdi>
    </Link>
  )
}

function Tree({ keys, tree }: { readonly keys: readonly ApiKey[]; readonly tree: Children }) {
  return (
    <ul>
      {keys.map((key) => {
        const children = tree.get(key.id) ?? []
        return (
          <li key={key.id}>
            <KeyLink apiKey={key} />
            {key.kind === 'session' && (
              <span className="quiet small">
                {' sign-in: '}
                <Time at={key.createdAt} />
              </span>
            )}
            {children.length > 0 && <Tree keys={children} tree={tree} />}
          </li>
        )
      })}
    </ul>
  )
}
