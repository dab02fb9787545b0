import { describe, expect, it } from 'vitest'
import { createApp } from '../src/app.ts'
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
  type Variation,
  withIds,
} from './support/examples.ts'
import { isLong, sampled } from './support/long-form.ts'
import { inOneBatch } from './support/set-up.ts'
import { emptyStores } from './support/stores.ts'
import { Workspace } from './support/workspace.ts'

const operations = await loadOperations()

const PUBLIC_PATHS = ['/health', '/openapi.json']
/** The metadata of /mcp, where there is an authorization server (console/test/oauth.test.ts). */
const METADATA_PATHS = ['', '/mcp'].map((path) => `/.well-known/oauth-protected-resource${path}`)
/** A token in the path, and no key: test/resources/skill-feeds/skill-feeds.test.ts. */
const FEED_PATH = '/feeds/:token/.well-known/agent-skills/:file'
/** Public too: test/docs.test.ts. */
const PAGE_PATHS = ['/', PREFIX, '/docs', '/docs/', '/docs/:file', '/claim', '/console', '/llms.txt', '/llms-full.txt']
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
function prepared(row: Row): Promise<{ workspace: Workspace; example: Example }> {
  return inOneBatch(async () => {
    const workspace = await Workspace.create()
    return { workspace, example: await row.prepare(workspace) }
  })
}

/** The same, with a key that `mint` makes. */
function preparedWithKey<T>(row: Row, mint: (workspace: Workspace, example: Example) => Promise<T>) {
  return inOneBatch(async () => {
    const { workspace, example } = await prepared(row)
    return { workspace, example, key: await mint(workspace, example) }
  })
}

/** Where projects do not matter, they succeed for the reason for which a key limited to no project does. */
const LIMITED_ALIKE = [
  'a key that is not limited to projects',
  'a key limited to another project',
  'a key limited to all projects but the first that it needs',
  'a key limited to all projects but the last that it needs',
]

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
      ...[...PUBLIC_PATHS, ...METADATA_PATHS, FEED_PATH, ...PAGE_PATHS].map((path) => `GET ${path}`),
      'POST /mcp',
      // The token of a claim link, and no key: test/resources/claim-links/claim-links.test.ts.
      'POST /claim',
    ]
    const found = new Set(routes.map(({ method, path }) => `${method} ${path}`))
    expect([...found].sort()).toEqual(expected.sort())
  })

  it.each(['', PREFIX])('are found under the base path "%s", and not below it again', async (basePath) => {
    for (const { contract } of operations) {
      const { status } = await request(contract.method, `${basePath}${contract.path}`)
      expect([contract.operationId, status]).toEqual([contract.operationId, contract.upload?.needsLength ? 411 : 401])
      const below = await request(contract.method, `${basePath}${PREFIX}${PREFIX}${contract.path}`)
      expect(below.status).toBe(404)
    }
  })

  it('have no other that answers every method than the middleware', () => {
    const routes = createApp().routes.filter(({ method }) => method === 'ALL')
    expect(new Set(routes.map(({ path }) => path))).toEqual(new Set(['/*', '/mcp']))
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

  const basePath = sampled(2, exampleList).some((each) => each.operationId === operationId) ? '' : PREFIX
  it(`succeeds for a key of the one scope, under the base path "${basePath}"`, async () => {
    const { example, key } = await preparedWithKey(row, (workspace, { keyOptions }) =>
      workspace.addKey({
        ...keyOptions,
        scopes: [...(contract.scope === null ? [] : [contract.scope]), ...(row.furtherScopes ?? [])],
        expiresAt: '2999-01-01T00:00:00.000Z',
      }),
    )
    const answer = await send(operationId, { ...example, path: basePath + example.path }, key)
    expect(answer.status).toBe(success)
  })

  it('succeeds for a key limited to its project among others', async () => {
    const { example, key } = await preparedWithKey(row, async (workspace, { projectIds = [] }) =>
      workspace.addKey({ projectIds: [await workspace.addProject(), ...projectIds] }),
    )
    const { status } = await send(operationId, example, key)
    expect(status).toBe(row.reachesAll ? row.outOfReach : success)
  })

  const isRefused = ({ status }: RefusedKey) => status(contract, row) !== undefined

  /** The example with a key of every kind that is refused, in one workspace: no request with them changes it. */
  const refused = once(async () => {
    await emptyStores()
    const { example, key: keys } = await preparedWithKey(row, async (workspace, example) => {
      const minted: { name: string; token: string | undefined; status: number | undefined }[] = []
      for (const { name, mint, status } of refusedKeys.filter(isRefused)) {
        minted.push({ name, token: await mint(workspace, contract, example), status: status(contract, row) })
      }
      return minted
    })
    return { example, keys }
  })

  it('refuses each key that may not do it, and changes nothing', async () => {
    const { example, keys } = await refused()
    const before = await dumpStores()
    const answers: unknown[] = []
    for (const { name, token } of keys) {
      const { status, headers } = await send(operationId, example, token)
      answers.push([name, status, headers.get('WWW-Authenticate'), status === 401 && headers.get('Error-Code')])
    }
    expect(answers).toEqual(
      keys.map(({ name, status = 0 }) => [
        name,
        status,
        challengeOf(name, status),
        status === 401 && (CODES[name] ?? 'api_key_invalid'),
      ]),
    )
    expect(await dumpStores()).toEqual(before)
  })

  const accepted = refusedKeys.filter((key) => !isRefused(key) && (isLong || !LIMITED_ALIKE.includes(key.name)))
  it.each(accepted)('succeeds with $name', async ({ mint }) => {
    const { example, key } = await preparedWithKey(row, (workspace, prepared) => mint(workspace, contract, prepared))
    const { status, headers } = await send(operationId, example, key)
    expect([status, headers.get('WWW-Authenticate')]).toEqual([success, null])
  })

  it('tells every invalid key why it is refused, also if the input is invalid', async () => {
    const { example, keys } = await refused()
    const wrong = {
      ...withIds(
        example,
        example.ids.map(() => '%ff'),
      ),
      ...(example.json !== undefined && { json: {} }),
    }
    for (const { name, token } of keys.filter(({ status }) => status === 401)) {
      const { status, headers } = await send(operationId, wrong, token)
      expect([name, status, headers.get('Error-Code')]).toEqual([name, 401, CODES[name] ?? 'api_key_invalid'])
    }
  })

  it('answers the same for what another organization has as for what nobody has', async () => {
    const { example } = await prepared(row)
    if (example.ids.length === 0) return
    const { key: foreignKey, ...foreign } = await preparedWithKey(row, (workspace) => workspace.addKey())
    const before = await dumpStores()
    for (const ids of mixtures(foreign.example.ids, example.ids)) {
      const theirs = await send(operationId, withIds(foreign.example, ids), foreignKey)
      const nobodys = await send(operationId, withIds(foreign.example, unknownFor(ids, example.ids)), foreignKey)
      expect([theirs.status, theirs.body]).toEqual([404, nobodys.body])
      expect(nobodys.status).toBe(404)
    }
    expect(await dumpStores()).toEqual(before)
  })
})

type Stores = Record<string, string[]>

/** What the stores have for an organization. */
function storedOf({ organizationId }: Workspace, stores: Stores): Stores {
  return Object.fromEntries(
    Object.entries(stores).map(([store, entries]) => [
      store,
      entries.filter((entry) => entry.includes(organizationId)),
    ]),
  )
}

/** IDs that are the same for each workspace, in the order in which it asks for them. */
function countedIds(): () => string {
  let count = 0
  return () => `01900000-0000-7000-8000-${String(++count).padStart(12, '0')}`
}

/** What differs from one request to the next: times, and what the service draws at random. */
const DRAWN = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'],
  [/\b(?!01900000-0000-7000-8000)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'id'],
  [/\b(?:ws[kf]\d*_|whsec_)[\w+/=]+/g, 'token'],
  [/"[\w+/=-]{40,}"/g, '"bytes"'],
  // Cursors of events and their feed, and of a request that is sent.
  [/(?<=ursor":")[\da-z]{11}(?=")/g, 'place'],
  [/(?<="milliseconds":)\d+/g, '0'],
] as const
const withoutDrawn = (value: unknown) =>
  DRAWN.reduce((text, [pattern, name]) => text.replace(pattern, name), JSON.stringify(value))

describe('another organization with the same IDs everywhere', () => {
  /** The operation in one workspace, after the twin was prepared like it. */
  async function outcome({ operationId, row }: (typeof exampleList)[number], variation: string, hasTwin: boolean) {
    await emptyStores()
    const apply = row.variations[variation]?.apply ?? (async (_, example) => example)
    const { workspace, example, key, twin } = await inOneBatch(async () => {
      const prepare = async () => {
        const workspace = await Workspace.create(countedIds())
        return { workspace, example: await apply(workspace, await row.prepare(workspace)) }
      }
      const twin = hasTwin ? await prepare() : undefined
      const own = await prepare()
      return { ...own, key: await keyFor(own.workspace, own.example), twin: twin?.workspace }
    })
    const before = twin && storedOf(twin, await dumpStores(''))
    const { status, body } = await send(operationId, example, key)
    const stores = await dumpStores('')
    return {
      before,
      after: twin && storedOf(twin, stores),
      answer: [status, withoutDrawn(body)],
      counts: Object.entries(storedOf(workspace, stores)).map(([store, entries]) => [store, entries.length]),
    }
  }

  it.each(exampleList)('changes nothing for $operationId, and is not changed by it', async (operation) => {
    const variations = Object.entries(operation.row.variations)
    const succeeding = variations.filter(([, { status = 200 }]) => status < 400)
    const refused = variations.filter(([, { status = 200 }]) => status >= 400)
    const tried = [...succeeding, ...sampled(4, refused, exampleList.indexOf(operation))]
    for (const variation of ['as it is', ...tried.map(([name]) => name)]) {
      const alone = await outcome(operation, variation, false)
      const beside = await outcome(operation, variation, true)
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
  eventEndpoints: () => 'organization',
  identities: () => 'organization',
  invitations: () => 'organization',
  signInRules: () => 'organization',
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
  'alerts',
  'auditEvents',
  'brakes',
  'databases',
  'deletions',
  'directory',
  'eventUsage',
  'halts',
  'orphanedObjects',
  'organizationBrakes',
  'lastTick',
  'passes',
  'objectSearches',
  'organizationUsage',
  'tickReports',
]

describe('a change', () => {
  const changing = exampleList.filter(({ contract }) => contract.method !== 'GET')

  it('is of a row whose owner is known', async () => {
    expect([...Object.keys(OWNERS), ...BOOKKEEPING].sort()).toEqual(await listTables())
  })

  it.each(changing)(
    'by $operationId stays within the projects and the user of the key',
    async ({ operationId, row }) => {
      const succeeding = Object.values(row.variations).filter(({ status = 200 }) => status < 400)
      for (const variation of [undefined, ...succeeding]) {
        for (const limit of limitsFor(variation)) {
          const { workspace, example, key, caller } = await inOneBatch(async () => {
            const { workspace, example: asItIs } = await prepared(row)
            const example = (await variation?.apply(workspace, asItIs)) ?? asItIs
            const projectIds = limit === 'another project' ? [await workspace.addProject()] : (example.projectIds ?? [])
            const caller = {
              ...(limit !== 'its user' && { projectIds }),
              userId: limit.endsWith('user') ? workspace.userId : null,
            }
            return { workspace, example, caller, key: await workspace.addKeyWithId(caller) }
          })
          const before = await rowsOf(workspace)
          await send(operationId, example, key.token)
          const changed = changes(before, await rowsOf(workspace))
          const beyond = changed.filter(([table, values]) => !isWithin(OWNERS[table]?.(values, before), key.id, caller))
          expect([limit, beyond]).toEqual([limit, []])
        }
      }
    },
  )
})

const LIMITS = ['its projects', 'another project', 'its user', 'its projects and user'] as const

/** The limits of the keys that try a variation: of a sample, the narrowest that it allows. */
function limitsFor(variation: Variation | undefined): readonly (typeof LIMITS)[number][] {
  if (variation === undefined || isLong) return LIMITS
  if (variation.reachesAll) return ['its user']
  return variation.refusesUsers ? ['its projects'] : ['its projects and user']
}

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
    const [old, current] = [before, after].map((state) => (state[table] ?? []).map((row) => JSON.stringify(row)))
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
