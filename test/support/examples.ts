/** For each operation, a request that succeeds in a fresh workspace, and what can stand in its way. */
import { env } from 'cloudflare:workers'
import { v7 as newUuid } from 'uuid'
import { mintToken } from '../../src/access/api-key.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import type { Contract } from '../../src/http/endpoint.ts'
import { operations } from '../../src/operations.ts'
import { type ApiResponse, type RequestOptions, request } from './api.ts'
import { now, type ResourceType, type Workspace } from './workspace.ts'

/** A request, apart from its key. */
export interface Example extends Omit<RequestOptions, 'key'> {
  /** From `/v1/…`, with the query. */
  readonly path: string
  /** The ids in path and body of what has to exist in the caller's organization. */
  readonly ids: readonly string[]
  /** The projects that the key has to reach, if it is limited: of each of the ids in turn, where they differ. */
  readonly projectIds?: readonly string[]
}

/** Another state of the workspace, or another request. Those of an operation combine, in the order of the table. */
export interface Variation {
  /** The answer then, if it isn't the success. */
  readonly status?: 304 | 403 | 404 | 409 | 410
  /** The status comes only together with this other variation. */
  readonly needs?: string
  /** The refusals of this status hold no longer. */
  readonly lifts?: 409
  /** True if there may be nothing left to do or to find. */
  readonly idle?: true
  apply(workspace: Workspace, example: Example): Promise<Example>
}

export interface Row {
  prepare(workspace: Workspace): Promise<Example>
  /** What a key gets that is limited to other projects; without it, projects don't matter. */
  readonly outOfReach?: 403 | 404
  readonly variations: Readonly<Record<string, Variation>>
}

/** By operationId. */
export const examples: Readonly<Record<string, Row>> = {
  updatePin: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      const projectOfTarget = await workspace.addProject()
      const target = await workspace.addPullRequest(projectOfTarget)
      const id = await workspace.addSession(projectId)
      await workspace.pin('pull_request', target)
      await workspace.pin('project', projectId)
      await workspace.pin('session', id)
      return { projectIds: [projectId, projectOfTarget], ...placement(id, 'pull_request', target) }
    },
    outOfReach: 404,
    variations: {
      'the resource is not pinned yet': {
        async apply(workspace, example) {
          const id = await workspace.addSession(projectOf(example))
          return { ...example, ...placement(id, 'pull_request', firstAndSecond(example)[1]) }
        },
      },
      'the user has the most pins allowed': {
        status: 409,
        needs: 'the resource is not pinned yet',
        apply: async (_, example) => ({ ...example, environment: { PIN_LIMIT: '3' } }),
      },
      'the gap is full': {
        async apply(workspace, example) {
          const next = await workspace.addSession(projectOf(example))
          await workspace.pinAt(2 ** 30 + 1, 'session', next)
          return example
        },
      },
      'the pin stands there already': {
        idle: true,
        apply: async (_, example) => ({
          ...example,
          ...placement(firstAndSecond(example)[0], 'project', projectOf(example)),
        }),
      },
      'the target is not pinned': {
        status: 404,
        async apply(workspace, example) {
          const target = await workspace.addSession(projectOf(example))
          return { ...example, ...placement(firstAndSecond(example)[0], 'session', target) }
        },
      },
      'the target is a deleted session': {
        status: 404,
        async apply(workspace, example) {
          const target = await workspace.addSession(projectOf(example))
          await workspace.pin('session', target)
          await workspace.deleteSession(target)
          return { ...example, ...placement(firstAndSecond(example)[0], 'session', target) }
        },
      },
      'the resource is a deleted session': {
        status: 404,
        async apply(workspace, example) {
          await workspace.deleteSession(firstAndSecond(example)[0])
          return example
        },
      },
    },
  },

  createProjectSchedule: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      return {
        path: `/v1/projects/${projectId}/schedules`,
        json: { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
        ids: [projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    variations: scheduling({ cron: '0 1 * * *', timezone: 'UTC' }, (workspace, projectId) =>
      workspace.archiveProject(projectId),
    ),
  },

  createAgentSchedule: {
    async prepare(workspace) {
      const agentId = await workspace.addAgent()
      return { path: `/v1/agents/${agentId}/schedules`, json: { cron: '0 6 * * *' }, ids: [agentId] }
    },
    variations: scheduling({ cron: '0 1 * * *' }, (workspace, agentId) => workspace.archiveAgent(agentId)),
  },

  listSessionFiles: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      const sessionId = await workspace.addSession(projectId)
      await workspace.addSessionFiles(sessionId, 2)
      return { path: `/v1/sessions/${sessionId}/files`, ids: [sessionId], projectIds: [projectId] }
    },
    outOfReach: 403,
    variations: {
      'the page is not the last': {
        apply: async (_, example) => ({ ...example, path: `${example.path}?limit=1` }),
      },
      'the cursor is in another session': {
        status: 409,
        async apply(workspace, example) {
          const elsewhere = await workspace.addSession(projectOf(example))
          // Its id comes before those of the session's own files.
          const cursor = await workspace.addSessionFile(elsewhere, 'notes.md', `00${newUuid().slice(2)}`)
          return { ...example, path: `${example.path.replace(/\?.*/, '')}?cursor=${cursor}` }
        },
      },
      'the session has no files': {
        idle: true,
        async apply(workspace, example) {
          const [sessionId = ''] = example.ids
          const empty = await workspace.addSession(projectOf(example))
          return { ...example, path: example.path.replace(sessionId, empty), ids: [empty] }
        },
      },
      'the session is deleted': {
        status: 410,
        async apply(workspace, example) {
          await workspace.deleteSession(example.ids[0] ?? '')
          return example
        },
      },
    },
  },

  retrieveSkill: {
    async prepare(workspace) {
      const skillId = await workspace.addSkill({ 'SKILL.md': '# Notes', 'notes.txt': 'none' })
      return { path: `/v1/skills/${skillId}`, ids: [skillId] }
    },
    variations: {
      'the caller has it already': {
        status: 304,
        apply: async (_, example) => ({ ...example, headers: { 'If-None-Match': '*' } }),
      },
      'it has no files': {
        async apply(workspace, example) {
          const skillId = await workspace.addSkill({})
          return { ...example, path: `/v1/skills/${skillId}`, ids: [skillId] }
        },
      },
    },
  },

  deleteProfilePicture: {
    async prepare(workspace) {
      await workspace.addPicture()
      return { path: `/v1/users/${workspace.userId}/profile-picture`, ids: [workspace.userId] }
    },
    variations: {
      'there is no picture': {
        idle: true,
        async apply(workspace, example) {
          await send('deleteProfilePicture', example, await workspace.addKey())
          return example
        },
      },
      'an upload has failed': {
        async apply(workspace, example) {
          await workspace.leasePicture(new Date(0).toISOString())
          return example
        },
      },
      'an upload is under way': {
        status: 409,
        async apply(workspace, example) {
          await workspace.leasePicture(inAnHour())
          return example
        },
      },
      'it is the picture of another user': {
        status: 403,
        async apply(workspace) {
          const userId = await workspace.addUser()
          await workspace.addPicture(userId)
          return { path: `/v1/users/${userId}/profile-picture`, ids: [userId] }
        },
      },
    },
  },

  deleteEnvironmentVariable: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      await workspace.addVariable(projectId, 'DATABASE_URL')
      return {
        path: `/v1/projects/${projectId}/environment-variables/DATABASE_URL`,
        ids: [projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    variations: {
      'the project has no such variable': {
        status: 404,
        apply: async (_, example) => ({ ...example, path: `${example.path}_2` }),
      },
      'the project is archived': {
        status: 409,
        async apply(workspace, example) {
          await workspace.archiveProject(projectOf(example))
          return example
        },
      },
    },
  },
}

const LONG_AGO = '2020-01-01T00:00:00.000Z'
const FAR_AHEAD = '2999-01-01T00:00:00.000Z'

/** A key that an operation refuses. */
export interface RefusedKey {
  readonly name: string
  /** @returns the token, or undefined for none. */
  mint(workspace: Workspace, contract: Contract, example: Example): Promise<string | undefined>
  /** Undefined if such a key does what is asked. */
  status(contract: Contract, row: Row): number | undefined
}

/** Nothing is asked of the database about these. */
export const impossibleKeys: readonly RefusedKey[] = [
  { name: 'no key', mint: async () => undefined, status: () => 401 },
  { name: 'a malformed key', mint: async () => 'wsk_short', status: () => 401 },
  {
    name: 'a key with a wrong checksum',
    async mint(workspace) {
      const token = await workspace.addKey()
      return token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
    },
    status: () => 401,
  },
]

export const deadKeys: readonly RefusedKey[] = [
  { name: 'an unknown key', mint: async () => mintToken(), status: () => 401 },
  {
    name: 'a revoked key',
    async mint(workspace) {
      const { id, token } = await workspace.addKeyWithId({ expiresAt: FAR_AHEAD })
      await workspace.revokeKey(id)
      return token
    },
    status: () => 401,
  },
  {
    name: 'an expired key',
    mint: (workspace) => workspace.addKey({ expiresAt: LONG_AGO }),
    status: () => 401,
  },
]

export const insufficientKeys: readonly RefusedKey[] = [
  {
    name: 'a key without the scope',
    mint: (workspace, { scope }) => workspace.addKey({ scopes: SCOPES.filter((other) => other !== scope) }),
    status: () => 400,
  },
  {
    name: 'a key without any scope',
    mint: (workspace) => workspace.addKey({ scopes: [] }),
    status: () => 400,
  },
  {
    name: 'a key without a user',
    mint: (workspace) => workspace.addKey({ userId: null }),
    status: ({ actsAsUser }) => (actsAsUser ? 400 : undefined),
  },
  {
    name: 'a key limited to another project',
    mint: async (workspace) => workspace.addKey({ projectIds: [await workspace.addProject()] }),
    status: (_, { outOfReach }) => outOfReach,
  },
  {
    name: 'a key limited to no project',
    mint: (workspace) => workspace.addKey({ projectIds: [] }),
    status: (_, { outOfReach }) => outOfReach,
  },
  {
    name: 'a key limited to all projects but the first that it needs',
    mint: (workspace, _, { projectIds = [] }) => workspace.addKey({ projectIds: projectIds.slice(1) }),
    status: (_, { outOfReach }) => outOfReach,
  },
  {
    name: 'a key limited to all projects but the last that it needs',
    mint: (workspace, _, { projectIds = [] }) => workspace.addKey({ projectIds: projectIds.slice(0, -1) }),
    status: (_, { outOfReach }) => outOfReach,
  },
]

function placement(id: string, targetType: ResourceType, target: string) {
  return {
    path: `/v1/pins/session/${id}`,
    json: { placement: { target: { type: targetType, id: target }, position: 'after' } },
    ids: [id, target],
  }
}

/** What can stand in the way of a schedule: all but `otherBody` is the same for every kind of parent. */
function scheduling(
  otherBody: object,
  archive: (workspace: Workspace, parentId: string) => Promise<void>,
): Row['variations'] {
  const create = async (workspace: Workspace, { path }: Example, json: unknown, headers = {}) => {
    const { status } = await request('POST', path, { key: await workspace.addKey(), json, headers })
    if (status !== 201) throw new Error(`The schedule to begin with was answered with ${status}`)
  }
  return {
    'it has an Idempotency-Key': {
      apply: async (_, example) => ({ ...example, headers: { 'Idempotency-Key': 'new' } }),
    },
    'the Idempotency-Key was used with another body': {
      status: 409,
      async apply(workspace, example) {
        const headers = { 'Idempotency-Key': 'other' }
        await create(workspace, example, otherBody, headers)
        return { ...example, headers }
      },
    },
    'the request is repeated': {
      lifts: 409,
      async apply(workspace, example) {
        const headers = { 'Idempotency-Key': 'same' }
        await create(workspace, example, example.json, headers)
        return { ...example, headers }
      },
    },
    'the parent has the most schedules allowed': {
      status: 409,
      async apply(workspace, example) {
        await create(workspace, example, otherBody)
        return { ...example, environment: { SCHEDULE_LIMIT: '1' } }
      },
    },
    'the parent is archived': {
      status: 409,
      async apply(workspace, example) {
        await archive(workspace, example.ids[0] ?? '')
        return example
      },
    },
  }
}

function projectOf({ projectIds: [projectId] = [] }: Example): string {
  if (projectId === undefined) throw new Error('The example has no project')
  return projectId
}

function firstAndSecond({ ids: [first = '', second = ''] }: Example): [string, string] {
  return [first, second]
}

function inAnHour(): string {
  return new Date(Date.parse(now()) + 3_600_000).toISOString()
}

/** Every operation with its row. Those without one are missing here: test/access.test.ts names them. */
export const exampleList: readonly { operationId: string; contract: Contract; row: Row }[] =
  operations.flatMap(({ contract }) => {
    const row = examples[contract.operationId]
    return row ? [{ operationId: contract.operationId, contract, row }] : []
  })

/** Sends a request of the operation, with a key or without. */
export function send(operationId: string, example: Example, key?: string): Promise<ApiResponse> {
  const { path, ids, projectIds, ...options } = example
  const method = operations.find(({ contract }) => contract.operationId === operationId)?.contract.method
  if (!method) throw new Error(`There is no operation ${operationId}`)
  return request(method, path, { ...options, ...(key !== undefined && { key }) })
}

/** The request with other ids: one for each of its own, or as many new ones, which nobody has. */
export function withIds(
  example: Example,
  ids: readonly string[] = example.ids.map(() => newUuid()),
): Example {
  const replace = (text: string) =>
    example.ids.reduce((result, id, index) => result.replaceAll(id, ids[index] ?? id), text)
  return {
    ...example,
    ids,
    path: replace(example.path),
    ...(example.json !== undefined && { json: JSON.parse(replace(JSON.stringify(example.json))) }),
  }
}

/** The tables, as the database lists them. */
export async function listTables(): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'
     AND name NOT IN ('d1_migrations', 'sqlite_sequence') ORDER BY name`,
  ).all<{ name: string }>()
  return results.map(({ name }) => name)
}

/**
 * Every row of every table, and every object.
 * @param without a column that is left out: a refusal may note when its key was last used.
 */
export async function dumpStores(without = 'lastUsedAt'): Promise<Record<string, string[]>> {
  const tables = await listTables()
  const dumps = await env.DB.batch<Record<string, unknown>>(
    tables.map((table) => env.DB.prepare(`SELECT * FROM "${table}"`)),
  )
  const rows = tables.map((table, index): [string, string[]] => [
    table,
    (dumps[index]?.results ?? []).map((row) => JSON.stringify({ ...row, [without]: undefined })).sort(),
  ])
  const { objects } = await env.OBJECTS.list()
  return { ...Object.fromEntries(rows), objects: objects.map(({ key, etag }) => `${key} ${etag}`).sort() }
}
