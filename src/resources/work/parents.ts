/** The parents of schedules: projects and agents. The operations of both differ only in names and the time zone. */
import * as z from 'zod/mini'
import {
  agentArchived,
  agentNotFound,
  projectArchived,
  projectForbidden,
  projectNotFound,
} from '../../access/failures.ts'
import type { Failure } from '../../errors.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { externalId, uuid } from '../../http/fields.ts'

export interface Parent {
  readonly type: 'project' | 'agent'
  /** The article of the type, in summaries. */
  readonly article: 'a' | 'an'
  readonly path: 'projects' | 'agents'
  readonly idName: 'projectId' | 'agentId'
  /** In the names of operations and schemas. */
  readonly name: 'Project' | 'Agent'
  readonly tag: 'Projects' | 'Agents'
  readonly exampleScheduleId: string
  /** What can be wrong with a request that names the parent. */
  readonly failures: readonly Failure[]
  readonly archived: Failure
  id(): z.ZodMiniType<string, string>
}

export const PROJECT = {
  type: 'project',
  article: 'a',
  path: 'projects',
  idName: 'projectId',
  name: 'Project',
  tag: 'Projects',
  exampleScheduleId: EXAMPLE_IDS.projectScheduleId,
  failures: [projectForbidden, projectNotFound],
  archived: projectArchived,
  id: () => externalId({ description: 'The project.', example: EXAMPLE_IDS.projectId }),
} as const satisfies Parent

export const AGENT = {
  type: 'agent',
  article: 'an',
  path: 'agents',
  idName: 'agentId',
  name: 'Agent',
  tag: 'Agents',
  exampleScheduleId: EXAMPLE_IDS.agentScheduleId,
  failures: [agentNotFound],
  archived: agentArchived,
  id: () => uuid('The agent.', EXAMPLE_IDS.agentId),
} as const satisfies Parent

/** The path of the schedules of a parent, the path of one of them, and their parameters. */
export function pathsOf<const P extends Parent>(parent: P) {
  const all = `/v1/${parent.path}/{${parent.idName}}/schedules` as `/v1/${P['path']}/{${P['idName']}}/schedules`
  const parentParams = { [parent.idName]: parent.id() } as Record<P['idName'], z.ZodMiniType<string, string>>
  return {
    all,
    one: `${all}/{scheduleId}` as `${typeof all}/{scheduleId}`,
    parentParams,
    params: z.object({ ...parentParams, scheduleId: uuid('The schedule.', parent.exampleScheduleId) }),
  }
}

type ParentParams = { readonly projectId: string } | { readonly agentId: string }

/** The ID of the parent that a path names. */
export function getParentId(params: ParentParams): string {
  return 'projectId' in params ? params.projectId : params.agentId
}

/** The values of statements about the schedule that a path names. */
export function namedSchedule(params: ParentParams & { readonly scheduleId: string }) {
  return { parentId: getParentId(params), scheduleId: params.scheduleId }
}
