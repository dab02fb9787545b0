/** The sessions, the latest first. */
import { createLazyRoute, Link } from '@tanstack/react-router'
import { memo, useCallback } from 'react'
import { useCan, useMe } from '../api.ts'
import { Choice, Filters, SearchField } from '../components/filters.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { ProjectName } from '../components/project-name.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time } from '../components/time.tsx'
import { useGrowing } from '../lists.ts'
import { useNames } from '../names.ts'
import { type Session, sessionsQuery } from './data.ts'

export const Route = createLazyRoute('/app/sessions')({ component: Sessions })

function Sessions() {
  const can = useCan()
  const { projectIds } = useMe().apiKey
  const isAllowed = can('sessions:read') && projectIds?.length !== 0
  return (
    <Page title="Sessions">{isAllowed ? <List /> : <p className="quiet">This session may not read sessions.</p>}</Page>
  )
}

function List() {
  const { q, project } = Route.useSearch()
  const navigate = Route.useNavigate()
  const names = useNames('projects')
  const { projectIds } = useMe().apiKey
  // A key that is restricted to projects has to name one of them.
  const projectId = project ?? projectIds?.[0]
  const projects = projectIds ? projectIds.map((id) => [id, names.get(id) ?? id] as const) : Array.from(names)
  const list = useGrowing(sessionsQuery({ query: q, projectId }))
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const isFiltered = q !== undefined || project !== undefined
  return (
    <>
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
      ) : list.error ? (
        <ErrorNote error={list.error} retry={list.retry} />
      ) : list.items.length > 0 ? (
        <Table
          columns={[
            { name: 'Name', width: 'minmax(0, 2fr)' },
            { name: 'Project', width: 'minmax(0, 1fr)' },
            { name: 'Created', width: '112px' },
          ]}
        >
          {list.items.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </Table>
      ) : isFiltered ? (
        <Empty title="No session matches">
          <Link to="/sessions">Show all sessions</Link>
        </Empty>
      ) : (
        <Empty title="No sessions yet">
          A session is one run of an agent in a project. Sessions that agents create appear here.
        </Empty>
      )}
      <ShowMore list={list} />
    </>
  )
}

const SessionRow = memo(({ session: { id, name, projectId, createdAt } }: { readonly session: Session }) => (
  <Row>
    <Cell>
      <Link className="row-link" to="/sessions/$sessionId" params={{ sessionId: id }}>
        <bdi>{name}</bdi>
      </Link>
    </Cell>
    <Cell className="anywhere">
      <ProjectName id={projectId} />
    </Cell>
    <Cell>
      <Time at={createdAt} />
    </Cell>
  </Row>
))
