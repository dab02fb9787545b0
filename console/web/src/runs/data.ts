/** What the pages ask the API about runs. */
import { queryOptions } from '@tanstack/react-query'
import { type Query, useCan, useMe, workspace } from '../api.ts'
import { growingQuery } from '../lists.ts'

type Filters = Omit<Query<'listRuns'>, 'limit' | 'cursor'>
export type RunFilters = { readonly [Name in keyof Filters]?: Filters[Name] | undefined }

/** Why the session may not read these runs; undefined: it may. */
export function useRefusal({ projectId }: RunFilters): string | undefined {
  const canRead = useCan()('runs:read')
  const isRestricted = useMe().apiKey.projectIds !== null
  if (!canRead) return 'This session may not read runs.'
  return isRestricted && projectId === undefined ? 'This session may read the runs of its projects only.' : undefined
}

/** The service records no event when a schedule starts a run. */
export const RUNS_REFRESH_MS = 30_000

export const runsQuery = (filters: RunFilters, limit: number) =>
  growingQuery({
    queryKey: ['runs', 'list', filters, limit],
    limit,
    read: (limit, cursor) => workspace.runs.list({ ...filters, limit, cursor }).page(),
    refetchInterval: RUNS_REFRESH_MS,
  })

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['runs', 'one', runId],
    queryFn: () => workspace.runs.retrieve(runId),
    refetchInterval: RUNS_REFRESH_MS,
  })
