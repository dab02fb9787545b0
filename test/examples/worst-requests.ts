/** The largest request of each operation whose rows or bytes depend on more than the lengths of its texts. */
import { SCOPES } from '../../src/access/scopes.ts'
import * as tables from '../../src/db/schema.ts'
import { MAX_VARIABLES_PER_REQUEST } from '../../src/resources/environment-variables/contract.ts'
import { MAX_CLAIMED } from '../../src/resources/work/runs/contract.ts'
import { type Example, projectOf } from '../support/example.ts'
import { skillOf } from '../support/skills.ts'
import type { Workspace } from '../support/workspace.ts'

export interface WorstRequest {
  /** The most of what one request ends at once, each of which took another request before. */
  readonly most?: number
  /** @param count of what the request ends. */
  apply(workspace: Workspace, example: Example, count: number): Promise<Example>
}

/** As many IDs of 255 characters as fit into 8 KiB, beside the ID of the example. */
const LONGEST_PROJECTS = 7
const KEY_LIMIT = 2000
const USER_LIMIT = 5000
const SESSIONS_OF_KEY = 20
/** With their sessions. */
const MOST_KEYS = KEY_LIMIT * (1 + SESSIONS_OF_KEY)
const SESSION = { kind: 'session', expiresAt: '2998-01-01T00:00:00.000Z' } as const
const MAX_PAYLOAD = 'x'.repeat(16 * 1024 - 2)

const projectsOf = async (workspace: Workspace): Promise<string[]> => {
  const ids: string[] = []
  for (let count = 0; count < LONGEST_PROJECTS; count++) ids.push(await workspace.addProject())
  return ids
}

/** The key of the request is restricted to as many projects as its own creation takes. */
const withLongestKey = async (workspace: Workspace, example: Example): Promise<Example> => ({
  ...example,
  keyOptions: { ...example.keyOptions, projectIds: [...(example.projectIds ?? []), ...(await projectsOf(workspace))] },
})

const withJson = (json: object): WorstRequest => ({
  apply: async (_, example) => ({ ...example, json: { ...Object(example.json), ...json } }),
})

/** Sessions of a key, or of its user. */
async function addSessions(workspace: Workspace, count: number, options: { createdByKeyId: string; userId?: string }) {
  for (let index = 0; index < count; index++) await workspace.addKey({ ...options, ...SESSION })
}

/** The key of the example is restricted to as many projects as possible. */
async function lengthenKey(workspace: Workspace, example: Example): Promise<void> {
  const projectIds = JSON.stringify([...(example.projectIds ?? []), ...(await projectsOf(workspace))])
  await workspace.change(tables.apiKeys, example.ids[0] ?? '', { projectIds })
}

/** Persons whom a rule admits, each with a session. */
async function addPersons(workspace: Workspace, example: Example, count: number): Promise<Example> {
  for (let index = 0; index < count; index++) {
    const identityId = await workspace.addIdentity({ ruleIds: JSON.stringify([example.ids[0]]) })
    await workspace.addKey({ ...SESSION, identityId })
  }
  return example
}

const schedule = withJson({ payload: MAX_PAYLOAD })

const longestSkill = (name: string) => {
  const files = Array.from({ length: 499 }, (_, index) => ({
    filename: `${'f'.repeat(155)}/${`${index}`.padEnd(99, 'n')}`,
    content: `${index}`.padEnd(16_000, 'n'),
  }))
  return skillOf({ name, description: 'd'.repeat(1024), files })
}

export const worstRequests: Readonly<Record<string, WorstRequest>> = {
  updatePin: {
    async apply(workspace, example) {
      const project = projectOf(example)
      // No gap anywhere, so all pins get new positions.
      for (let count = 0; count < 45; count++) {
        await workspace.pinAt(2 ** 30 + 2 + count, 'session', await workspace.addSession(project))
      }
      return example
    },
  },
  putProjectSchedule: schedule,
  putAgentSchedule: schedule,
  updateProjectSchedule: schedule,
  updateAgentSchedule: schedule,
  createApiKey: {
    apply: async (workspace, example) => ({
      ...example,
      json: {
        ...Object(example.json),
        scopes: SCOPES,
        projectIds: [...(example.projectIds ?? []), ...(await projectsOf(workspace))],
      },
    }),
  },
  createApiKeySession: {
    apply: async (workspace, example) =>
      withLongestKey(workspace, { ...example, keyOptions: { ...example.keyOptions, sessions: SESSIONS_OF_KEY } }),
  },
  rotateApiKey: {
    async apply(workspace, example) {
      await lengthenKey(workspace, example)
      await addSessions(workspace, SESSIONS_OF_KEY, { createdByKeyId: example.ids[0] ?? '' })
      return { ...example, json: { overlapSeconds: 0 } }
    },
  },
  deleteApiKey: {
    most: MOST_KEYS,
    async apply(workspace, example, count) {
      await addSessions(workspace, count, { createdByKeyId: example.ids[0] ?? '' })
      return { ...example, path: `${example.path}?descendants=true` }
    },
  },
  deleteUser: {
    most: MOST_KEYS,
    async apply(workspace, example, count) {
      const userId = example.ids[0] ?? ''
      const { id: createdByKeyId } = await workspace.addKeyWithId({ userId })
      await addSessions(workspace, count, { createdByKeyId, userId })
      return { ...example, keyOptions: { userId: null } }
    },
  },
  deleteOwnSessions: {
    most: MOST_KEYS,
    async apply(workspace, example, count) {
      const { id: createdByKeyId } = await workspace.addKeyWithId()
      await addSessions(workspace, count, { createdByKeyId })
      return example
    },
  },
  updateSignInRule: { most: USER_LIMIT, apply: addPersons },
  deleteSignInRule: { most: USER_LIMIT, apply: addPersons },
  createSkill: withJson(longestSkill('longest')),
  updateSkill: withJson(longestSkill('renamed')),
  createSkillFeed: {
    async apply(workspace, example) {
      await workspace.addSkills(499)
      const skills = await workspace.dump('skills')
      return { ...example, json: { name: 'Laptops', skills: skills.map(({ id }) => ({ skillId: id })) } }
    },
  },
  // A claim that ends leaves its runs to the next, so it needs no other requests.
  claimRuns: {
    async apply(workspace, example) {
      const scheduleId = await workspace.addSchedule('project', await workspace.addProject())
      for (let minute = 1; minute <= MAX_CLAIMED; minute++) {
        await workspace.addRun(scheduleId, { scheduledAt: new Date(Date.now() - minute * 60_000).toISOString() })
      }
      return { ...example, json: { leaseSeconds: 60, limit: MAX_CLAIMED } }
    },
  },
  setEnvironmentVariables: {
    apply: async (_, example) => ({
      ...example,
      json: {
        variables: Array.from({ length: MAX_VARIABLES_PER_REQUEST }, (_, index) => ({
          key: `K_${index}`.padEnd(255, 'K'),
          value: 'v'.repeat(64 * 1024),
        })),
      },
    }),
  },
  leaseEnvironmentVariables: {
    async apply(workspace, example) {
      for (let index = 0; index < 5; index++) {
        await workspace.addVariable(projectOf(example), `K_${index}`.padEnd(255, 'K'))
      }
      return example
    },
  },
}
