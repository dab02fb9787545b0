/** A table of runs, the latest first. */
import { Link } from '@tanstack/react-router'
import { memo, type ReactNode } from 'react'
import type { Run } from '../api.ts'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Status } from '../components/status.tsx'
import { Cell, Row, ShowMore, Table } from '../components/table.tsx'
import { Time, useNow } from '../components/time.tsx'
import { useGrowing } from '../lists.ts'
import { placeOf } from '../schedule-data.ts'
import { toDuration } from '../time.ts'
import { type RunFilters, runsQuery, useRefusal } from './data.ts'
import styles from './run-table.module.css'
import { durationOf, nameOf, stateOf } from './state.ts'

interface RunTableProps {
  readonly filters: RunFilters
  readonly limit: number
  readonly isOfOneSchedule?: boolean
  /** What to say without runs. */
  readonly empty?: ReactNode
}

export function RunTable(props: RunTableProps) {
  const refusal = useRefusal(props.filters)
  return refusal === undefined ? <List {...props} /> : <p className="quiet">{refusal}</p>
}

function List({ filters, limit, isOfOneSchedule = false, empty }: RunTableProps) {
  const list = useGrowing(runsQuery(filters, limit))
  if (list.isPending) return <Skeleton />
  if (list.error) return <ErrorNote error={list.error} retry={list.retry} />
  if (list.items.length === 0 && !list.hasMore) return empty ?? <Empty title="No runs yet" />
  return (
    <>
      {list.items.length === 0 && (
        <p className="quiet">None of the latest runs matches. “Show more” looks further back.</p>
      )}
      <Table
        columns={[
          { name: 'State', width: '144px', narrowWidth: '116px' },
          !isOfOneSchedule && { name: 'Schedule', width: 'minmax(0, 1fr)' },
          { name: 'Due', width: isOfOneSchedule ? 'minmax(112px, 1fr)' : '112px' },
          { name: 'Duration', width: '112px', isWideOnly: true },
          { name: 'Message', width: 'minmax(0, 1fr)', isWideOnly: true },
        ]}
      >
        {list.items.map((run) => (
          <RunRow key={run.id} run={run} isOfOneSchedule={isOfOneSchedule} />
        ))}
      </Table>
      <ShowMore list={list} />
    </>
  )
}

interface RunRowProps {
  readonly run: Run
  readonly isOfOneSchedule: boolean
}

const RunRow = memo(({ run, isOfOneSchedule }: RunRowProps) => {
  const { tone, word } = stateOf(run)
  const message = run.message ?? run.lastError
  return (
    <Row>
      <Cell>
        <Link className={styles.state} to="/runs/$runId" params={{ runId: run.id }}>
          <Status tone={tone}>{word}</Status>
        </Link>
      </Cell>
      {!isOfOneSchedule && (
        <Cell className="anywhere">
          <Link
            className={styles.state}
            to="/$parents/$parentId/schedules/$scheduleId"
            params={placeOf({ ...run, id: run.scheduleId })}
          >
            {nameOf(run)}
          </Link>
        </Cell>
      )}
      <Cell className={styles.short}>
        <Time at={run.scheduledAt} />
      </Cell>
      <Cell className={`wide-only ${styles.short}`}>
        <Duration run={run} />
      </Cell>
      <Cell className={`wide-only ${styles.message}`}>
        {message && (
          // By keyboard, the state leads there.
          <Link to="/runs/$runId" params={{ runId: run.id }} tabIndex={-1}>
            {message}
          </Link>
        )}
      </Cell>
    </Row>
  )
})

function Duration({ run }: { readonly run: Run }) {
  const duration = durationOf(run, useNow())
  return duration === undefined ? '' : toDuration(duration)
}
