/** All skills, by name. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useCan } from '../api.ts'
import { Filters, SearchField } from '../components/filters.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Time } from '../components/time.tsx'
import { visible } from '../visible.ts'
import { type SkillSummary, skillsQuery } from './data.ts'
import styles from './skills.module.css'

export const Route = createLazyRoute('/app/skills')({ component: Skills })

function Skills() {
  const can = useCan()
  return (
    <Page
      title="Skills"
      actions={
        <>
          {can('skill-feeds:read') && (
            <Link className="button" to="/skills/feeds">
              Feeds
            </Link>
          )}
          {can('skills:write') && can('skills:read') && (
            <Link className="button" to="/skills/new">
              New skill
            </Link>
          )}
        </>
      }
    >
      {can('skills:read') ? <List /> : <p className="quiet">This session may not read skills.</p>}
    </Page>
  )
}

function List() {
  const { q } = Route.useSearch()
  const navigate = Route.useNavigate()
  const list = useInfiniteQuery(skillsQuery(q))
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  const skills = list.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <Filters>
        <SearchField label="Search by name" value={q} onChange={search} />
      </Filters>
      {list.isPending ? (
        <Skeleton />
      ) : list.isLoadingError ? (
        <ErrorNote error={list.error} retry={() => void list.refetch()} />
      ) : skills.length > 0 ? (
        <Table skills={skills} />
      ) : q !== undefined ? (
        <Empty title="No skill matches">
          <Link to="/skills">Show all skills</Link>
        </Empty>
      ) : (
        <Empty title="No skills yet">
          A skill is a folder of files that tells agents how to do something. Write one here, or publish folders with{' '}
          <code>workspace skills push</code>.
        </Empty>
      )}
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  )
}

function Table({ skills }: { readonly skills: readonly SkillSummary[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>Name</th>
          <th className="wide-only">What it does</th>
          <th>Changed</th>
        </tr>
      </thead>
      <tbody>
        {skills.map(({ id, name, description, updatedAt }) => (
          <tr key={id}>
            <td>
              <Link className="row-link" to="/skills/$skillId" params={{ skillId: id }}>
                <bdi>{visible(name)}</bdi>
              </Link>
              <p className={`quiet small anywhere ${styles.below}`}>{visible(description)}</p>
            </td>
            <td className="wide-only">
              <p className={`quiet anywhere ${styles.beside}`}>{visible(description)}</p>
            </td>
            <td className={styles.time}>
              <Time at={updatedAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
