/** What the pages ask the API about runs. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { filledPage, type Query, workspace } from '../api.ts'

type Filters = Omit<Query<'listRuns'>, 'limit' | 'cursor'>
export type RunFilters = { readonly [Name in keyof Filters]?: Filters[Name] | undefined }

/** The service records no event when a schedule starts a run. */
export const RUNS_REFRESH_MS = 30_000

export const runsQuery = (filters: RunFilters, limit: number) =>
  infiniteQueryOptions({
    queryKey: ['runs', 'list', filters, limit],
    queryFn: ({ pageParam }) =>
      filledPage((cursor) => workspace.runs.list({ ...filters, limit, cursor }).page(), pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: RUNS_REFRESH_MS,
    placeholderData: (previous) => previous,
  })

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['runs', 'one', runId],
    queryFn: () => workspace.runs.retrieve(runId),
    refetchInterval: RUNS_REFRESH_MS,
  })
