/** All skills, by name. */
import { createLazyRoute, Link } from '@tanstack/react-router'
import { memo, useCallback } from 'react'
import { useCan } from '../api.ts'
import { Filters, SearchField } from '../components/filters.tsx'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time } from '../components/time.tsx'
import { useGrowing } from '../lists.ts'
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
            <Link className="button" data-kind="primary" to="/skills/new">
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
  const list = useGrowing(skillsQuery(q))
  const search = useCallback(
    (query: string | undefined) => {
      void navigate({ search: (previous) => ({ ...previous, q: query }), replace: true })
    },
    [navigate],
  )
  return (
    <>
      <Filters>
        <SearchField label="Search by name" value={q} onChange={search} />
      </Filters>
      {list.isPending ? (
        <Skeleton />
      ) : list.error ? (
        <ErrorNote error={list.error} retry={list.retry} />
      ) : list.items.length > 0 ? (
        <Table
          columns={[
            { name: 'Name', width: 'minmax(0, 1fr)' },
            { name: 'What it does', width: 'minmax(0, 2fr)', isWideOnly: true },
            { name: 'Changed', width: '112px' },
          ]}
          rowHeight={58}
        >
          {list.items.map((skill) => (
            <SkillRow key={skill.id} skill={skill} />
          ))}
        </Table>
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
      <ShowMore list={list} />
    </>
  )
}

const SkillRow = memo(({ skill: { id, name, description, updatedAt } }: { readonly skill: SkillSummary }) => (
  <Row>
    <Cell>
      <Link className="row-link" to="/skills/$skillId" params={{ skillId: id }}>
        <bdi>{name}</bdi>
      </Link>
      <p className={`quiet small anywhere ${styles.below}`}>{description}</p>
    </Cell>
    <Cell className="wide-only">
      <p className={`quiet anywhere ${styles.beside}`}>{description}</p>
    </Cell>
    <Cell className={styles.time}>
      <Time at={updatedAt} />
    </Cell>
  </Row>
))
