import { describe, expect, it } from 'vitest'
import { createApp } from '../src/app.ts'
import type { Contract } from '../src/http/contract.ts'
import { honoPath } from '../src/http/mount.ts'
import { operations as listed, loadOperations } from '../src/operations.ts'
import { PREFIX, request } from './support/api.ts'
import {
  deadKeys,
  dumpStores,
  type Example,
  exampleList,
  examples,
  impossibleKeys,
  insufficientKeys,
  keyFor,
  listTables,
  type RefusedKey,
  type Row,
  send,
  successOf,
  withIds,
} from './support/examples.ts'
import { emptyStores } from './support/stores.ts'
import { Workspace } from './support/workspace.ts'

const operations = await loadOperations()

const PUBLIC_PATHS = ['/health', '/openapi.json']
/** A token in the path, and no key: test/resources/skill-feeds/skill-feeds.test.ts. */
const FEED_PATH = '/feeds/:token/.well-known/agent-skills/:file'
/** Public too: test/docs.test.ts. */
const PAGE_PATHS = ['/', PREFIX, '/docs', '/docs/', '/docs/:file', '/llms.txt', '/llms-full.txt']
/** Why a key is refused, where it is not unknown or malformed. */
const CODES: Record<string, string> = {
  'no key': 'api_key_missing',
  'a revoked key': 'api_key_revoked',
  'an expired key': 'api_key_expired',
}

const refusedKeys = [...impossibleKeys, ...deadKeys, ...insufficientKeys]

/** RFC 6750, section 3.1: no error code if the request has no authentication information. */
function challengeOf(name: string, status: number): string | null {
  if (status !== 401) return null
  return name === 'no key' ? 'Bearer' : 'Bearer error="invalid_token"'
}

/** Makes something when it is first asked for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** The example of the operation in a workspace of its own. */
async function prepared(row: Row): Promise<{ workspace: Workspace; example: Example }> {
  const workspace = await Workspace.create()
  return { workspace, example: await row.prepare(workspace) }
}

describe('routes', () => {
  it('are those of the contracts, one by one', async () => {
    const inList = await Promise.all(
      listed.map(async ({ method, path, load }) => [`${method} ${path}`, (await load()).contract] as const),
    )
    expect(inList.map(([route]) => route)).toEqual(inList.map(([, { method, path }]) => `${method} ${path}`))
  })

  it('are exactly the operations and the public ones', () => {
    const routes = createApp().routes.filter(({ method }) => method !== 'ALL')
    const expected = [
      ...operations.map(({ contract: { method, path } }) => `${method} ${honoPath(path)}`),
      ...[...PUBLIC_PATHS, FEED_PATH, ...PAGE_PATHS].map((path) => `GET ${path}`),
      'POST /mcp',
    ]
    const found = new Set(routes.map(({ method, path }) => `${method} ${path}`))
    expect([...found].sort()).toEqual(expected.sort())
  })

  it.each(['', PREFIX])('are found under the base path "%s", and not below it again', async (basePath) => {
    for (const { contract } of operations) {
      const { status } = await request(contract.method, `${basePath}${contract.path}`)
      expect([contract.operationId, status]).toEqual([
        contract.operationId,
        contract.upload?.needsLength ? 411 : 401,
      ])
      const below = await request(contract.method, `${basePath}${PREFIX}${PREFIX}${contract.path}`)
      expect(below.status).toBe(404)
    }
  })

  it('have no other that answers every method than the middleware', () => {
    const routes = createApp().routes.filter(({ method }) => method === 'ALL')
    expect(new Set(routes.map(({ path }) => path))).toEqual(new Set(['/*']))
  })

  it('each have their example', () => {
    const operationIds = operations.map(({ contract }) => contract.operationId)
    expect(operationIds.filter((operationId) => !(operationId in examples))).toEqual([])
    expect(Object.keys(examples).filter((operationId) => !operationIds.includes(operationId))).toEqual([])
  })

  it.each(PUBLIC_PATHS)('answer %s without a key', async (path) => {
    for (const basePath of ['', PREFIX]) expect((await request('GET', basePath + path)).status).toBe(200)
  })
})

describe.each(exampleList)('$operationId', ({ operationId, contract, row }) => {
  const success = successOf(contract)

  it('succeeds for a key of the one scope, under both base paths', async () => {
    for (const basePath of ['', PREFIX]) {
      const { workspace, example } = await prepared(row)
      const key = await workspace.addKey({
        ...example.keyOptions,
        scopes: contract.scope === null ? [] : [contract.scope],
        expiresAt: '2999-01-01T00:00:00.000Z',
      })
      const answer = await send(operationId, { ...example, path: basePath + example.path }, key)
      expect(answer.status).toBe(success)
    }
  })

  it('succeeds for a key limited to its project among others', async () => {
    const { workspace, example } = await prepared(row)
    const projectIds = [await workspace.addProject(), ...(example.projectIds ?? [])]
    const { status } = await send(operationId, example, await workspace.addKey({ projectIds }))
    expect(status).toBe(row.reachesAll ? row.outOfReach : success)
  })

  const isRefused = ({ status }: RefusedKey) => status(contract, row) !== undefined

  /** The example with a key of every kind that is refused, in one workspace: no request with them changes it. */
  const refused = once(async () => {
    await emptyStores()
    const { workspace, example } = await prepared(row)
    const keys: { name: string; token: string | undefined; status: number | undefined }[] = []
    for (const { name, mint, status } of refusedKeys.filter(isRefused)) {
      keys.push({ name, token: await mint(workspace, contract, example), status: status(contract, row) })
    }
    return { example, keys }
  })

  it('refuses each key that may not do it, and changes nothing', async () => {
    const { example, keys } = await refused()
    const before = await dumpStores()
    const answers: unknown[] = []
    for (const { name, token } of keys) {
      const { status, headers } = await send(operationId, example, token)
      answers.push([name, status, headers.get('WWW-Authenticate')])
    }
    expect(answers).toEqual(keys.map(({ name, status = 0 }) => [name, status, challengeOf(name, status)]))
    expect(await dumpStores()).toEqual(before)
  })

  it.each(refusedKeys.filter((key) => !isRefused(key)))('succeeds with $name', async ({ mint }) => {
    const { workspace, example } = await prepared(row)
    const { status, headers } = await send(operationId, example, await mint(workspace, contract, example))
    expect([status, headers.get('WWW-Authenticate')]).toEqual([success, null])
  })

  it('tells every invalid key why it is refused, also with wrong input', async () => {
    const { example, keys } = await refused()
    const wrong = {
      ...withIds(
        example,
        example.ids.map(() => '%ff'),
      ),
      ...(example.json !== undefined && { json: {} }),
    }
    for (const { name, token } of keys.filter(({ status }) => status === 401)) {
      for (const request of [example, wrong]) {
        const { status, headers } = await send(operationId, request, token)
        expect([name, status, headers.get('Error-Code')]).toEqual([
          name,
          401,
          CODES[name] ?? 'api_key_invalid',
        ])
      }
    }
  })

  it('answers the same for what another organization has as for what nobody has', async () => {
    const { example } = await prepared(row)
    if (example.ids.length === 0) return
    const foreign = await prepared(row)
    const foreignKey = await foreign.workspace.addKey()
    const before = await dumpStores()
    for (const ids of mixtures(foreign.example.ids, example.ids)) {
      const theirs = await send(operationId, withIds(foreign.example, ids), foreignKey)
      const nobodys = await send(
        operationId,
        withIds(foreign.example, unknownFor(ids, example.ids)),
        foreignKey,
      )
      expect([theirs.status, theirs.body]).toEqual([404, nobodys.body])
      expect(nobodys.status).toBe(404)
    }
    expect(await dumpStores()).toEqual(before)
  })
})

/** Everything that is stored for an organization. */
async function storedOf({ organizationId }: Workspace): Promise<Record<string, string[]>> {
  const stores = Object.entries(await dumpStores(''))
  return Object.fromEntries(
    stores.map(([store, entries]) => [store, entries.filter((entry) => entry.includes(organizationId))]),
  )
}

describe('another organization', () => {
  it('keeps every row and every object through the whole matrix', async () => {
    const victim = await Workspace.create()
    const targets: { operationId: string; contract: Contract; row: Row; example: Example }[] = []
    for (const operation of exampleList) {
      targets.push({ ...operation, example: await operation.row.prepare(victim) })
    }
    const before = await storedOf(victim)
    for (const { operationId, contract, row, example } of targets) {
      const { workspace, example: own } = await prepared(row)
      const keys = refusedKeys.map(({ mint }) => mint(workspace, contract, own))
      for (const key of [...(await Promise.all(keys)), await workspace.addKey()]) {
        for (const ids of mixtures(own.ids, example.ids)) {
          const { status } = await send(operationId, withIds(own, ids), key)
          if (ids.length > 0) expect([400, 401, 403, 404]).toContain(status)
        }
      }
    }
    expect(await storedOf(victim)).toEqual(before)
  })
})

/** IDs that are the same for each workspace, in the order in which it asks for them. */
function countedIds(): () => string {
  let count = 0
  return () => `01900000-0000-7000-8000-${String(++count).padStart(12, '0')}`
}

/** What differs from one request to the next: times, and what the service draws at random. */
const DRAWN = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'],
  [/\b(?!01900000-0000-7000-8000)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'id'],
  [/\b(?:wsk_|wsf_|whsec_)[\w+/=]+/g, 'token'],
  [/"[\w+/=-]{40,}"/g, '"bytes"'],
] as const
const withoutDrawn = (value: unknown) =>
  DRAWN.reduce((text, [pattern, name]) => text.replace(pattern, name), JSON.stringify(value))

describe('another organization with the same IDs everywhere', () => {
  /** The operation in one workspace, after each of the twins was prepared like it. */
  async function outcome(
    { operationId, row }: (typeof exampleList)[number],
    variation: string,
    twins: number,
  ) {
    await emptyStores()
    const apply = row.variations[variation]?.apply ?? (async (_, example) => example)
    const prepare = async () => {
      const workspace = await Workspace.create(countedIds())
      return { workspace, example: await apply(workspace, await row.prepare(workspace)) }
    }
    const others = await Promise.all(Array.from({ length: twins }, prepare))
    const { workspace, example } = await prepare()
    const before = await Promise.all(others.map((other) => storedOf(other.workspace)))
    const { status, body } = await send(operationId, example, await keyFor(workspace, example))
    const after = await Promise.all(others.map((other) => storedOf(other.workspace)))
    return {
      before,
      after,
      answer: [status, withoutDrawn(body)],
      counts: Object.entries(await storedOf(workspace)).map(([store, entries]) => [store, entries.length]),
    }
  }

  it.each(exampleList)('changes nothing for $operationId, and is not changed by it', async (operation) => {
    for (const variation of ['as it is', ...Object.keys(operation.row.variations)]) {
      const alone = await outcome(operation, variation, 0)
      const beside = await outcome(operation, variation, 1)
      expect([variation, beside.after]).toEqual([variation, beside.before])
      expect([variation, beside.answer]).toEqual([variation, alone.answer])
      expect([variation, beside.counts]).toEqual([variation, alone.counts])
    }
  })
})

/** Whose a row is: of one project, of one user; of an organization as a whole. */
type Owner =
  | { readonly project: unknown }
  | { readonly user: unknown }
  | { readonly key: RowValues }
  | 'organization'
  | 'scopes alone'

type RowValues = Readonly<Record<string, unknown>>

const ofParent = ({ parentType, parentId }: RowValues): Owner =>
  // Every key with the scope changes the schedules of agents and acknowledges their runs.
  parentType === 'project' ? { project: parentId } : 'scopes alone'
const ofProject = ({ projectId }: RowValues): Owner => ({ project: projectId })
const ofUser = ({ userId }: RowValues): Owner => ({ user: userId })

/**
 * Whose the rows of each table are. A new table has to decide. `scopes alone`: the few things of the organization that
 * a key with the scope changes, whatever its projects and its user.
 */
const OWNERS: Record<string, (row: RowValues, before: Record<string, RowValues[]>) => Owner> = {
  organizations: () => 'organization',
  users: () => 'organization',
  agents: () => 'organization',
  runEndpoints: () => 'organization',
  skills: () => 'scopes alone',
  skillVersions: () => 'scopes alone',
  skillContents: () => 'scopes alone',
  skillFeeds: () => 'scopes alone',
  projects: ({ id }) => ({ project: id }),
  sessions: ofProject,
  pullRequests: ofProject,
  sessionFiles: ({ sessionId }, { sessions = [] }) => ({
    project: sessions.find(({ id }) => id === sessionId)?.projectId,
  }),
  environmentVariables: ofProject,
  variableRequests: ofProject,
  schedules: ofParent,
  runs: ofParent,
  missedSpans: ofParent,
  pins: ofUser,
  profilePictures: ofUser,
  apiKeys: (row) => ({ key: row }),
}
/** What the service notes beside a change. */
const BOOKKEEPING = [
  'auditEvents',
  'deletions',
  'orphanedObjects',
  'lastTick',
  'passes',
  'objectSearches',
  'organizationUsage',
]

describe('a change', () => {
  const changing = exampleList.filter(({ contract }) => contract.method !== 'GET')

  it('is of a row whose owner is known', async () => {
    expect([...Object.keys(OWNERS), ...BOOKKEEPING].sort()).toEqual(await listTables())
  })

  it.each(changing)(
    'by $operationId stays within the projects and the user of the key',
    async ({ operationId, row }) => {
      const situations = Object.values(row.variations).filter(({ status = 200 }) => status < 400)
      for (const apply of [undefined, ...situations.map((variation) => variation.apply)]) {
        for (const limit of [
          'its projects',
          'another project',
          'its user',
          'its projects and user',
        ] as const) {
          const workspace = await Workspace.create()
          const prepared = await row.prepare(workspace)
          const example = (await apply?.(workspace, prepared)) ?? prepared
          const projectIds =
            limit === 'another project' ? [await workspace.addProject()] : (example.projectIds ?? [])
          const caller = {
            ...(limit !== 'its user' && { projectIds }),
            userId: limit.endsWith('user') ? workspace.userId : null,
          }
          const key = await workspace.addKeyWithId(caller)
          const before = await rowsOf(workspace)
          await send(operationId, example, key.token)
          const changed = changes(before, await rowsOf(workspace))
          const beyond = changed.filter(
            ([table, values]) => !isWithin(OWNERS[table]?.(values, before), key.id, caller),
          )
          expect([limit, beyond]).toEqual([limit, []])
        }
      }
    },
  )
})

/** The rows of each table that has an owner. When a key was last used is no change of it. */
async function rowsOf(workspace: Workspace): Promise<Record<string, RowValues[]>> {
  const tables = Object.keys(OWNERS)
  const dumps = await workspace.dumpAll(tables)
  return Object.fromEntries(
    tables.map((table, index) => [table, (dumps[index] ?? []).map(({ lastUsedAt: _, ...values }) => values)]),
  )
}

/** The rows that came, that went, and that differ, as they were and as they are. */
function changes(before: Record<string, RowValues[]>, after: Record<string, RowValues[]>) {
  return Object.keys(OWNERS).flatMap((table) => {
    const [old, current] = [before, after].map((state) =>
      (state[table] ?? []).map((row) => JSON.stringify(row)),
    )
    const differing = [
      ...(old ?? []).filter((row) => !current?.includes(row)),
      ...(current ?? []).filter((row) => !old?.includes(row)),
    ]
    return differing.map((row): [string, RowValues] => [table, JSON.parse(row)])
  })
}

/** True if the key may change what is the owner's: a key without limits may change all. */
function isWithin(
  owner: Owner | undefined,
  keyId: string,
  { projectIds, userId }: { projectIds?: readonly string[]; userId: string | null },
): boolean {
  if (owner === undefined) return false
  if (owner === 'scopes alone') return true
  if (owner === 'organization') return projectIds === undefined
  if ('project' in owner) return projectIds?.includes(String(owner.project)) ?? true
  if ('user' in owner) return userId === null || owner.user === userId
  const { id, userId: keysUser, projectIds: keysProjects } = owner.key
  const reached: string[] | null = JSON.parse(String(keysProjects))
  return (
    id === keyId ||
    ((userId === null || keysUser === userId) &&
      (projectIds === undefined || reached?.every((projectId) => projectIds.includes(projectId)) === true))
  )
}

/** The caller's ids, with one of them, and then all of them, exchanged for those of the other organization. */
function mixtures(own: readonly string[], others: readonly string[]): string[][] {
  const single = others.map((other, index) => own.with(index, other))
  return others.length === 1 ? single : [...single, [...others]]
}

/** The ids with those of the other organization exchanged for new ones. */
function unknownFor(ids: readonly string[], others: readonly string[]): string[] {
  return ids.map((id) => (others.includes(id) ? crypto.randomUUID() : id))
}
