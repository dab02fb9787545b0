/** Finds what can be pinned, by its name. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { components } from '../../../../client/src/api.ts'
import { isUuid } from '../../../../src/contracts.ts'
import { useCan, useMe, workspace } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { SearchField } from '../components/filters.tsx'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { filledPage } from '../lists.ts'
import { useName } from '../names.ts'
import { keyOf, type Pin } from './data.ts'
import { type Kind, KindIcon, wordOf } from './kinds.tsx'
import styles from './pins.module.css'

interface PinSomethingProps {
  /** The keys of what is pinned already. */
  readonly pinned: ReadonlySet<string>
  readonly onChoose: (pin: Pin) => void
  readonly onClose: () => void
}

const KINDS = [
  { kind: 'session', scope: 'sessions:read' },
  { kind: 'pull_request', scope: 'pull-requests:read' },
  { kind: 'project', scope: 'projects:read' },
] as const

export function PinSomething({ pinned, onChoose, onClose }: PinSomethingProps) {
  const can = useCan()
  const { projectIds } = useMe().apiKey
  const [query, setQuery] = useState<string>()
  const kinds = KINDS.filter(({ scope }) => can(scope)).map(({ kind }) => kind)
  const { data, error, refetch } = useQuery({
    queryKey: ['pinnable', query, kinds, projectIds],
    queryFn: () => Promise.all(kinds.map(async (kind) => ({ kind, ...(await find(kind, query, projectIds)) }))),
    placeholderData: keepPreviousData,
  })
  const content = useRef<HTMLDivElement>(null)
  useEffect(() => content.current?.querySelector('input')?.focus(), [])
  const groups = data?.filter(({ found }) => found.length > 0) ?? []
  const unpinnable = data?.flatMap((group) => group.unpinnable) ?? []
  return (
    <Dialog title="Pin something" onClose={onClose}>
      <div ref={content} className={styles.choose}>
        <SearchField label="Search by name" value={query} onChange={setQuery} />
        {error ? (
          <ErrorNote error={error} retry={() => void refetch()} />
        ) : !data ? (
          <Skeleton />
        ) : groups.length === 0 && unpinnable.length === 0 ? (
          <p className="quiet">
            {query === undefined ? 'There is nothing to pin yet.' : `Nothing has a name with “${query}”.`}
          </p>
        ) : (
          <>
            {groups.map(({ kind, found }) => (
              <section key={kind}>
                <h3>{wordOf(kind)}s</h3>
                <ul>
                  {found.map((resource) => (
                    <li key={resource.id}>
                      <Result kind={kind} resource={resource} pinned={pinned} onChoose={onChoose} />
                    </li>
                  ))}
                </ul>
              </section>
            ))}
            {unpinnable.length > 0 && <Unpinnable projects={unpinnable} />}
          </>
        )}
      </div>
    </Dialog>
  )
}

/** Only UUIDs can be pinned (docs/contract-resources.md, Pins). */
function Unpinnable({ projects }: { readonly projects: readonly Found[] }) {
  const [first, ...others] = projects.slice(0, SHOWN).map(({ id, name }) => <bdi key={id}>{name}</bdi>)
  return (
    <p className="quiet small anywhere">
      Not listed, because their IDs were chosen by hand: {first}
      {others.map((each) => [', ', each])}. A project that is created without an ID of its own can be pinned.
    </p>
  )
}

type Schemas = components['schemas']

/** A project has no other project, and only a project can be archived. */
type Found = Pick<Schemas['Project' | 'Session' | 'PullRequest'], 'id' | 'name'> &
  Partial<Pick<Schemas['Session' | 'PullRequest'], 'projectId'> & Pick<Schemas['Project'], 'archivedAt'>>

interface ResultProps extends Pick<PinSomethingProps, 'pinned' | 'onChoose'> {
  readonly kind: Kind
  readonly resource: Found
}

function Result({ kind, resource, pinned, onChoose }: ResultProps) {
  const { id, name, archivedAt = null } = resource
  const projectId: string | null = resource.projectId ?? null
  const projectName = useName('projects', projectId)
  const pin = { resourceType: kind, resourceId: id, name, createdAt: new Date().toISOString() }
  const project = projectId !== null && (projectName ?? projectId)
  const isPinned = pinned.has(keyOf(pin))
  const content = (
    <>
      <KindIcon kind={kind} />
      <bdi>{name}</bdi>
      <span className="quiet small">{isPinned ? 'pinned' : project}</span>
    </>
  )
  if (isPinned) return <div className={styles.result}>{content}</div>
  return (
    <button
      type="button"
      data-kind="plain"
      className={styles.result}
      onClick={() => onChoose({ ...pin, resource: { id, name, projectId, archivedAt } })}
    >
      {content}
    </button>
  )
}

const SHOWN = 8
/** How many projects are looked at for those that can be pinned. */
const EXAMINED_PROJECTS = 100

/** The first ones with the text in their name: the latest sessions and pull requests. */
async function find(
  kind: Kind,
  query: string | undefined,
  projectIds: readonly string[] | null,
): Promise<{ readonly found: readonly Found[]; readonly unpinnable: readonly Found[] }> {
  if (kind === 'project') {
    const { items } = await filledPage(
      (cursor) => workspace.projects.list({ query, limit: EXAMINED_PROJECTS, cursor }).page(),
      undefined,
    )
    const { found = [], unpinnable = [] } = Object.groupBy(items, ({ id }) => (isUuid(id) ? 'found' : 'unpinnable'))
    return { found: found.slice(0, SHOWN), unpinnable }
  }
  const page = { query, limit: SHOWN }
  const list = kind === 'session' ? workspace.sessions.list : workspace.pullRequests.list
  const latest = { ...page, order: '-createdAt' } as const
  // A session that is restricted to projects has to name one.
  const lists = projectIds ? projectIds.map((projectId) => list({ ...latest, projectId })) : [list(latest)]
  return { found: await firstOf(lists), unpinnable: [] }
}

async function firstOf<Item>(lists: readonly AsyncIterable<Item>[]): Promise<Item[]> {
  const found: Item[] = []
  for (const list of lists) {
    for await (const item of list) {
      if (found.push(item) === SHOWN) return found
    }
  }
  return found
}
