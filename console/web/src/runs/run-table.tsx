/** A table of runs, the latest first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Run } from '../api.ts'
import { Empty, ErrorNote, Skeleton } from '../components/note.tsx'
import { Status } from '../components/status.tsx'
import { Time, useNow } from '../components/time.tsx'
import { placeOf } from '../schedules/data.ts'
import { toDuration } from '../time.ts'
import { type RunFilters, runsQuery } from './data.ts'
import styles from './run-table.module.css'
import { durationOf, nameOf, stateOf } from './state.ts'

interface RunTableProps {
  readonly filters: RunFilters
  readonly limit: number
  readonly isOfOneSchedule?: boolean
  /** What to say without runs. */
  readonly empty?: ReactNode
}

export function RunTable({ filters, limit, isOfOneSchedule = false, empty }: RunTableProps) {
  const list = useInfiniteQuery(runsQuery(filters, limit))
  if (list.isPending) return <Skeleton />
  if (list.isLoadingError) return <ErrorNote error={list.error} retry={() => void list.refetch()} />
  const runs = list.data.pages.flatMap(({ items }) => items)
  if (runs.length === 0 && !list.hasNextPage) return empty ?? <Empty title="No runs yet" />
  return (
    <>
      {runs.length === 0 && <p className="quiet">None of the latest runs matches. “Show more” looks further back.</p>}
      <table>
        <thead>
          <tr>
            <th>State</th>
            {!isOfOneSchedule && <th>Schedule</th>}
            <th>Due</th>
            <th className="wide-only">Duration</th>
            <th className="wide-only">Message</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Row key={run.id} run={run} isOfOneSchedule={isOfOneSchedule} />
          ))}
        </tbody>
      </table>
      {list.hasNextPage && (
        <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  )
}

function Row({ run, isOfOneSchedule }: { readonly run: Run; readonly isOfOneSchedule: boolean }) {
  const { tone, word } = stateOf(run)
  const duration = durationOf(run, useNow())
  const message = run.message ?? run.lastError
  return (
    <tr>
      <td>
        <Link className={styles.state} to="/runs/$runId" params={{ runId: run.id }}>
          <Status tone={tone}>{word}</Status>
        </Link>
      </td>
      {!isOfOneSchedule && (
        <td className="anywhere">
          <Link
            className={styles.state}
            to="/$parents/$parentId/schedules/$scheduleId"
            params={placeOf({ ...run, id: run.scheduleId })}
          >
            {nameOf(run)}
          </Link>
        </td>
      )}
      <td className={styles.short}>
        <Time at={run.scheduledAt} />
      </td>
      <td className={`wide-only ${styles.short}`}>{duration === undefined ? '' : toDuration(duration)}</td>
      <td className={`wide-only ${styles.message}`}>{message}</td>
    </tr>
  )
}
