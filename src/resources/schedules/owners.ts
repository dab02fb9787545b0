/** Whose schedules they are: projects' and agents'. Both kinds are the same but for names. */
import * as z from 'zod/mini'
import type { CallerFacts } from '../../access/guard.ts'
import { ApiError, outOfReach } from '../../errors.ts'
import { externalId, uuid } from '../../http/fields.ts'

export interface Owner {
  readonly noun: 'project' | 'agent'
  readonly path: 'projects' | 'agents'
  readonly idName: 'projectId' | 'agentId'
  /** As operations and schemas name it. */
  readonly name: 'Project' | 'Agent'
  readonly tag: 'Projects' | 'Agents'
  id(): z.ZodMiniType<string, string>
}

export const PROJECT = {
  noun: 'project',
  path: 'projects',
  idName: 'projectId',
  name: 'Project',
  tag: 'Projects',
  id: () => externalId({ description: 'The project.', example: 'website' }),
} as const satisfies Owner

export const AGENT = {
  noun: 'agent',
  path: 'agents',
  idName: 'agentId',
  name: 'Agent',
  tag: 'Agents',
  id: () => uuid('The agent.'),
} as const satisfies Owner

/** The path of all schedules of an owner and of one of them, and their parameters. */
export function pathsOf<const O extends Owner>(owner: O) {
  const all = `/v1/${owner.path}/{${owner.idName}}/schedules` as `/v1/${O['path']}/{${O['idName']}}/schedules`
  const parentParams = { [owner.idName as string]: owner.id() }
  return {
    all,
    one: `${all}/{scheduleId}` as `${typeof all}/{scheduleId}`,
    parentParams,
    params: z.object({ ...parentParams, scheduleId: uuid('The schedule.') }),
  }
}

/** What the statements are bound to of the path. */
export function idsOf({ idName }: Owner, params: Readonly<Record<string, string>>) {
  return { parentId: params[idName] ?? '', scheduleId: params.scheduleId ?? '' }
}

export const noParent = ({ noun }: Pick<Owner, 'noun'>) =>
  new ApiError(404, `${noun}Id: there is no ${noun} with this id`)

const noSchedule = ({ noun }: Pick<Owner, 'noun'>) =>
  new ApiError(404, `scheduleId: the ${noun} has no schedule with this id`)

export const archived = ({ noun }: Pick<Owner, 'noun'>) =>
  new ApiError(409, `The ${noun} is archived: unarchive it first`)

/** What is explained of the parent that a request names, and of its schedule. */
export interface ParentFacts extends CallerFacts {
  parentExists: 0 | 1
  inReach: 0 | 1
  isArchived: 0 | 1
}
export interface ScheduleFacts extends ParentFacts {
  scheduleExists: 0 | 1
}

/** What stands in the way of reading the schedule, in the order of docs/contract.md. */
export function refusalOf(owner: Owner, facts: ScheduleFacts): ApiError | undefined {
  if (!facts.parentExists) return noParent(owner)
  if (!facts.scheduleExists) return noSchedule(owner)
  return facts.inReach ? undefined : outOfReach()
}
