/** The sessions, the latest first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useMe, useNames } from '../api.ts'
import { Choice, Filters, SearchField } from '../components/filters.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { ProjectName } from '../components/project-name.tsx'
import { Time } from '../components/time.tsx'
import { visible } from '../visible.ts'
import { type Session, sessionsQuery } from './data.ts'

export const Route = createLazyRoute('/app/sessions')({ component: Sessions })

function Sessions() {
  const { q, project } = Route.useSearch()
  const navigate = Route.useNavigate()
  const names = useNames('projects')
  const { projectIds } = useMe().apiKey
  // A key that is restricted to projects has to name one of them.
  const projectId = project ?? projectIds?.[0]
  const projects = projectIds ? projectIds.map((id) => [id, names.get(id) ?? id] as const) : Array.from(names)
  const list = useInfiniteQuery(sessionsQuery({ query: q, projectId }))
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const sessions = list.data?.pages.flatMap(({ items }) => items) ?? []
  const isFiltered = q !== undefined || project !== undefined
  return (
    <Page title="Sessions">
      <Filters>
        <SearchField label="Search by name" value={q} onChange={search} />
        <Choice
          label="Project"
          all={projectIds ? 'Choose a project' : 'All projects'}
          value={projectId}
          options={projects}
          onChange={(chosen) => void navigate({ search: (previous) => ({ ...previous, project: chosen }) })}
        />
      </Filters>
      {list.isPending ? (
        <Skeleton />
      ) : list.isLoadingError ? (
        <ErrorNote error={list.error} retry={() => void list.refetch()} />
      ) : sessions.length > 0 ? (
        <Table sessions={sessions} />
      ) : isFiltered ? (
        <Empty title="No session matches">
          <Link to="/sessions">Show all sessions</Link>
        </Empty>
      ) : (
        <Empty title="No sessions yet">
          A session is one run of an agent in a project. Agents create it with PUT /v1/sessions/{'{sessionId}'}.
        </Empty>
      )}
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </button>
      )}
    </Page>
  )
}

function Table({ sessions }: { readonly sessions: readonly Session[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>Name</th>
          <th>Project</th>
          <th>Created</th>
        </tr>
      </thead>
      <tbody>
        {sessions.map(({ id, name, projectId, createdAt }) => (
          <tr key={id}>
            <td>
              <Link className="row-link" to="/sessions/$sessionId" params={{ sessionId: id }}>
                <bdi>{visible(name)}</bdi>
              </Link>
            </td>
            <td className="anywhere">
              <ProjectName id={projectId} />
            </td>
            <td>
              <Time at={createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
