/** Every operation with its example, and the keys that operations refuse. */

import { SCOPES } from '../../src/access/scopes.ts'
import type { Contract } from '../../src/http/contract.ts'
import { loadOperations } from '../../src/operations.ts'
import { apiKeyRows } from '../examples/api-keys.ts'
import { deletionRows } from '../examples/deletions.ts'
import { environmentVariableRows } from '../examples/environment-variables.ts'
import { eventEndpointRows } from '../examples/event-endpoints.ts'
import { eventRows } from '../examples/events.ts'
import { pinRows } from '../examples/pins.ts'
import { platformResourceRows } from '../examples/platform-resources.ts'
import { profilePictureRows } from '../examples/profile-pictures.ts'
import { runEndpointRows } from '../examples/run-endpoint.ts'
import { runRows } from '../examples/runs.ts'
import { scheduleRows } from '../examples/schedules.ts'
import { sessionFileRows } from '../examples/session-files.ts'
import { signInRows } from '../examples/sign-in.ts'
import { skillFeedRows } from '../examples/skill-feeds.ts'
import { skillRows } from '../examples/skills.ts'
import { type ApiResponse, request } from './api.ts'
import type { Example, Row, Rows, Variation } from './example.ts'
import { inOneBatch } from './set-up.ts'
import { newToken } from './tokens.ts'
import type { Workspace } from './workspace.ts'

const operations = await loadOperations()

export type { Example, Row, Variation } from './example.ts'
export { successOf, withIds } from './example.ts'
export { dumpStores, listTables } from './stores.ts'

const rows: Rows = {
  ...pinRows,
  ...scheduleRows,
  ...runRows,
  ...runEndpointRows,
  ...sessionFileRows,
  ...skillRows,
  ...skillFeedRows,
  ...profilePictureRows,
  ...environmentVariableRows,
  ...platformResourceRows,
  ...apiKeyRows,
  ...signInRows,
  ...deletionRows,
  ...eventRows,
  ...eventEndpointRows,
}

/** By operationId. */
export const examples: Rows = Object.fromEntries(
  Object.entries(rows).map(([operationId, row]) => [operationId, inBatches(row)]),
)

/** The row, whose set-ups are each written in one batch. */
function inBatches(row: Row): Row {
  const variations = Object.entries(row.variations).map(([name, variation]) => [
    name,
    {
      ...variation,
      apply: (...args: Parameters<Variation['apply']>) => inOneBatch(() => variation.apply(...args)),
    },
  ])
  return {
    ...row,
    prepare: (workspace) => inOneBatch(() => row.prepare(workspace)),
    variations: Object.fromEntries(variations),
  }
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
  { name: 'an unknown key', mint: async () => newToken(), status: () => 401 },
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
    status: ({ scope }) => (scope === null ? undefined : 400),
  },
  {
    name: 'a key without any scope',
    mint: (workspace) => workspace.addKey({ scopes: [] }),
    status: ({ scope }, { furtherScopes }) => (scope === null && !furtherScopes ? undefined : 400),
  },
  {
    name: 'a key without a user',
    mint: (workspace, _, { keyOptions }) => workspace.addKey({ ...keyOptions, userId: null }),
    status: ({ actsAsUser }) => (actsAsUser ? 400 : undefined),
  },
  {
    name: 'a key that is not limited to projects',
    mint: (workspace) => workspace.addKey(),
    status: (_, { needsLimit }) => (needsLimit ? 403 : undefined),
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

/** Every operation with its row. Those without one are missing here: test/access.test.ts names them. */
export const exampleList: readonly { operationId: string; contract: Contract; row: Row }[] = operations.flatMap(
  ({ contract }) => {
    const row = examples[contract.operationId]
    return row ? [{ operationId: contract.operationId, contract, row }] : []
  },
)

/** A key that succeeds. @returns its token. */
export function keyFor(workspace: Workspace, { keyOptions }: Example): Promise<string> {
  return workspace.addKey(keyOptions)
}

/** Sends a request of the operation, with a key or without. */
export function send(operationId: string, example: Example, key?: string): Promise<ApiResponse> {
  const { path, ids, projectIds, keyOptions, ...options } = example
  const method = operations.find(({ contract }) => contract.operationId === operationId)?.contract.method
  if (!method) throw new Error(`There is no operation ${operationId}`)
  return request(method, path, { ...options, ...(key !== undefined && { key }) })
}
