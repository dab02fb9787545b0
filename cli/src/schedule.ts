/** One schedule, as people name it. */
import type { Workspace } from '../../client/src/index.ts'
import { isUuid } from '../../src/contracts.ts'
import { find, KINDS, resolve } from './resolve.ts'

export const SCHEDULE = 'the ID of the schedule, its first characters, or its name'
export const PROJECT = [
  '--project <project>',
  'the project that it belongs to; needed with a restricted API key',
] as const
export const AGENT = ['--agent <agent>', 'the agent that it belongs to'] as const

export interface Parent {
  readonly project?: string | undefined
  readonly agent?: string | undefined
}

const ALL = { limit: 1000 }

/**
 * With a parent, a UUID is taken as it is. Without one, the schedules of the organization say which parent it has.
 * @returns the methods of the client, and the IDs that they take.
 */
export async function scheduleOf(workspace: Workspace, text: string, { project, agent }: Parent) {
  if (project === undefined && agent === undefined) {
    const { id, projectId, agentId } = await find(workspace, KINDS.schedule, text)
    const parentId = projectId ?? agentId ?? ''
    return { schedules: methodsOf(workspace, projectId !== null), parentId, id }
  }
  const kind = project === undefined ? KINDS.agent : KINDS.project
  const parentId = await resolve(workspace, kind, project ?? agent ?? '')
  const schedules = methodsOf(workspace, project !== undefined)
  if (isUuid(text)) return { schedules, parentId, id: text }
  const { id } = await find(workspace, { noun: 'schedule', list: () => schedules.list(parentId, ALL) }, text)
  return { schedules, parentId, id }
}

/** Those of projects and of agents differ in the time zone only, which an agent's schedule does not have. */
export function methodsOf({ projects, agents }: Workspace, isOfProject: boolean) {
  return isOfProject ? projects.schedules : (agents.schedules as unknown as Workspace['projects']['schedules'])
}
