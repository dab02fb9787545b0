/** What the pages ask the API about schedules, and what they tell it to do. */
import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../client/src/api.ts'
import { type Run, refresh, type ScheduleSummary, workspace } from './api.ts'
import { growingQuery } from './lists.ts'

export type AgentDetails = components['schemas']['AgentScheduleDetails']
export type ProjectDetails = components['schemas']['ProjectScheduleDetails']
export type Details = ProjectDetails | AgentDetails
export type Settings = components['schemas']['ProjectScheduleUpdate']

/** The project or the agent of a schedule, and its ID. */
export interface Place {
  readonly parents: 'projects' | 'agents'
  readonly parentId: string
  readonly scheduleId: string
}

/** The IDs of the project or the agent, one of which a schedule has. */
export type ParentIds = Partial<
  Pick<ScheduleSummary | Run | ProjectDetails, 'projectId'> & Pick<ScheduleSummary | Run | AgentDetails, 'agentId'>
>

export function placeOf({ id, projectId, agentId }: ParentIds & { readonly id: string }): Place {
  return typeof projectId === 'string'
    ? { parents: 'projects', parentId: projectId, scheduleId: id }
    : { parents: 'agents', parentId: agentId ?? '', scheduleId: id }
}

const PAGE = 100
/** The most schedules of a page behind the first, if all are read. */
const MAX_PAGE = 1000

export interface ScheduleFilters {
  readonly query?: string | undefined
  readonly enabled?: boolean | undefined
  readonly parentType?: 'project' | 'agent' | undefined
}

/** @param areAllRead whether the page reads on to the end of the list. */
export const schedulesQuery = (filters: ScheduleFilters, areAllRead = false) =>
  growingQuery({
    queryKey: ['schedules', 'list', filters, areAllRead],
    limit: PAGE,
    furtherLimit: areAllRead ? MAX_PAGE : PAGE,
    read: (limit, cursor) => workspace.schedules.list({ ...filters, limit, cursor }).page(),
  })

export const scheduleQuery = ({ parents, parentId, scheduleId }: Place) =>
  queryOptions({
    queryKey: ['schedules', 'one', parents, parentId, scheduleId],
    queryFn: async (): Promise<{ schedule: Details; etag: string | null }> => {
      const { data, response } = await workspace[parents].schedules.retrieve(parentId, scheduleId).withResponse()
      return { schedule: data, etag: response.headers.get('ETag') }
    },
  })

export function change(
  { parents, parentId, scheduleId }: Place,
  settings: Settings,
  ifMatch?: string | null,
): Promise<unknown> {
  const options = ifMatch ? { ifMatch } : {}
  return workspace[parents].schedules.update(parentId, scheduleId, settings, options)
}

/** Creates it under a new ID; a repetition of the request cannot create a second one. */
export function create(
  { parents, parentId, scheduleId }: Place,
  { cron, runAt, timezone, ...settings }: Settings,
): Promise<unknown> {
  const when = runAt ? { runAt } : { cron: cron ?? '' }
  const options = { ifNoneMatch: '*' }
  if (parents === 'agents')
    return workspace.agents.schedules.put(parentId, scheduleId, { ...settings, ...when }, options)
  const body = { ...settings, ...when, timezone: timezone ?? 'UTC' }
  return workspace.projects.schedules.put(parentId, scheduleId, body, options)
}

export function remove({ parents, parentId, scheduleId }: Place) {
  return workspace[parents].schedules.delete(parentId, scheduleId)
}

export function runNow({ parents, parentId, scheduleId }: Place) {
  return workspace[parents].schedules.runs.create(parentId, scheduleId)
}

/** A change of one often shows at the other. */
export const refreshSchedulesAndRuns = () => refresh('schedules', 'runs')
