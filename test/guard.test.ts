import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { namedStatements } from '../scripts/named-statements.ts'
import { recordUse } from '../src/access/guard.ts'
import { authorized } from '../src/access/preconditions.ts'
import { SCOPES } from '../src/access/scopes.ts'
import { selectWakeable } from '../src/access/wake.ts'
import type { Value } from '../src/db/parameters.ts'
import type { Statement } from '../src/db/statement.ts'
import type { Contract } from '../src/http/contract.ts'
import { connectable, insertGrant, redeemCode, restoreCode } from '../src/resources/api-keys/grants.ts'
import { feed, trail } from '../src/resources/events/statements.ts'
import * as files from '../src/resources/session-files/statements.ts'
import { env } from './support/env.ts'
import {
  deadKeys,
  dumpStores,
  type Example,
  exampleList,
  insufficientKeys,
  keyFor,
  type RefusedKey,
  type Row,
  send,
  successOf,
  type Variation,
  withIds,
} from './support/examples.ts'
import { sampled, sized } from './support/long-form.ts'
import { inOneBatch } from './support/set-up.ts'
import { emptyStores } from './support/stores.ts'
import { hashOf, newToken } from './support/tokens.ts'
import { type KeyOptions, Workspace } from './support/workspace.ts'

declare global {
  interface ImportMeta {
    glob(pattern: string[], options: { eager: true }): Record<string, Record<string, unknown>>
  }
}

/** A statement as the Worker ran it, and what came of it. */
interface Ran {
  readonly sql: string
  readonly values: readonly Value[]
  readonly rows: number
  readonly written: number
}

/**
 * The test's database, with a record of each batch. @param most so many batches run, those after are only
 * recorded, and fail.
 */
function recordingDatabase(most = Number.POSITIVE_INFINITY): { DB: D1Database; batches: Ran[][] } {
  const boundTo = new WeakMap<D1PreparedStatement, { sql: string; values: Value[] }>()
  const batches: Ran[][] = []
  const DB = {
    prepare: (sql: string) => ({
      bind(...values: Value[]) {
        const bound = env.DB.prepare(sql).bind(...values)
        boundTo.set(bound, { sql, values })
        return bound
      },
    }),
    async batch(statements: D1PreparedStatement[]) {
      const asked = statements.map((statement) => ({ sql: '', values: [], ...boundTo.get(statement) }))
      if (batches.length >= most) {
        batches.push(asked.map((statement) => ({ ...statement, rows: 0, written: 0 })))
        throw new Error('D1_ERROR: Network connection lost.')
      }
      const results = await env.DB.batch(statements)
      batches.push(
        asked.map((statement, index) => ({
          ...statement,
          rows: results[index]?.results.length ?? 0,
          written: results[index]?.meta.rows_written ?? 0,
        })),
      )
      return results
    },
  }
  return { DB: DB as unknown as D1Database, batches }
}

/** Without what the service reads after a change to wake event endpoints: no response has it. */
const actingOf = ([, ...others]: Ran[]) => others.filter(({ sql }) => sql !== selectWakeable.sql)

/** Sends the request. The first statement of the operation's batch explains, the others act. */
async function sendRecorded(operationId: string, example: Example, key: string | undefined) {
  const { DB, batches } = recordingDatabase()
  const environment = { ...example.environment, DB }
  const { status } = await send(operationId, { ...example, environment }, key)
  return {
    status,
    explaining: batches.flatMap(([first]) => first ?? []),
    acting: batches.flatMap(actingOf),
    actingLast: batches.slice(-1).flatMap(actingOf),
  }
}

const hasActed = ({ rows, written }: Ran) => rows > 0 || written > 0
const sqlOf = (statements: readonly { sql: string }[]) => statements.map(({ sql }) => sql)

/** How many random states of each operation are tried. */
const STATES = sized(3, 40)

type Situation = [name: string, apply: Variation['apply'], isOfNoProject: true | undefined]

/** The example as it is, and with each variation after which it still succeeds. */
function situations({ variations }: Row): Situation[] {
  const succeeding = Object.entries(variations).filter(([, { status = 200 }]) => status < 400)
  return [
    ['as it is', async (_, example) => example, undefined],
    ...succeeding.map(([name, { apply, isOfNoProject }]): Situation => [name, apply, isOfNoProject]),
  ]
}

/**
 * The keys that the operation refuses. The example as it is, the first situation, is tried with all of them, each other
 * with a sample.
 */
function refusedKeysOf(
  contract: Contract,
  { outOfReach, ...row }: Row,
  situation: number,
  isOfNoProject = false,
): readonly RefusedKey[] {
  const its = isOfNoProject || !outOfReach ? row : { ...row, outOfReach }
  const keys = [...deadKeys, ...insufficientKeys, ...foreignKeys].filter(
    ({ status }) => status(contract, its) !== undefined,
  )
  return situation === 0 ? keys : sampled(3, keys, situation)
}

/** The example in this situation, and what `mint` makes for it, in a workspace of its own. */
function prepared<T>(
  row: Row,
  apply: Variation['apply'],
  mint: (workspace: Workspace, example: Example) => Promise<T>,
) {
  return inOneBatch(async () => {
    const workspace = await Workspace.create()
    const example = await apply(workspace, await row.prepare(workspace))
    return { workspace, example, minted: await mint(workspace, example) }
  })
}

type Bound = Pick<Ran, 'sql' | 'values'>

/** Runs statements in one batch. @returns those that returned or changed something, each with the key that it is of. */
async function runActing(statements: readonly (Bound & { name: string })[]): Promise<[key: string, sql: string][]> {
  if (statements.length === 0) return []
  const results = await env.DB.batch(statements.map(({ sql, values }) => env.DB.prepare(sql).bind(...values)))
  return statements.flatMap(({ name, sql }, index): [string, string][] => {
    const { results: rows = [], meta } = results[index] ?? {}
    return rows.length > 0 || (meta?.rows_written ?? 0) > 0 ? [[name, sql]] : []
  })
}

/** A request that names nothing that has to exist has nothing that could be another's. */
function notFound(_: Contract, row: Row): 404 | undefined {
  return row.namesNothing ? undefined : 404
}

const foreignKeys: RefusedKey[] = [
  {
    name: 'a key of another organization',
    mint: async () => (await Workspace.create()).addKey(),
    status: notFound,
  },
  {
    name: 'a key of another organization that acts as a user of the same id',
    mint: async ({ userId }) => {
      const other = await Workspace.create()
      await other.addUser(userId)
      return other.addKey({ userId })
    },
    status: (contract, row) => (row.isOfCaller ? undefined : notFound(contract, row)),
  },
  {
    name: 'a key of another user',
    mint: async (workspace) => workspace.addKey({ userId: await workspace.addUser() }),
    status: (contract, row) => (contract.actsAsUser && !row.isForAnyUser ? notFound(contract, row) : undefined),
  },
]

beforeEach(emptyStores)

/** The SQL of the statements that ran, by what they did. */
interface Successes {
  readonly explaining: ReadonlySet<string>
  readonly acted: ReadonlySet<string>
  /** Some acted in another situation. */
  readonly idle: ReadonlySet<string>
}

const successes = new Map<string, Promise<Successes>>()

/** What runs for a key that may, in all situations in which the operation succeeds. */
function successOfAll({ operationId, row }: (typeof exampleList)[number]): Promise<Successes> {
  const known = successes.get(operationId) ?? inAllSituations()
  successes.set(operationId, known)
  return known

  async function inAllSituations(): Promise<Successes> {
    const [explained, acted, idle] = [new Set<string>(), new Set<string>(), new Set<string>()]
    for (const [, apply] of situations(row)) {
      const { example, minted: key } = await prepared(row, apply, keyFor)
      const { explaining, acting } = await sendRecorded(operationId, example, key)
      for (const { sql } of explaining) explained.add(sql)
      for (const statement of acting) (hasActed(statement) ? acted : idle).add(statement.sql)
    }
    return { explaining: explained, acted, idle }
  }
}

describe.each(exampleList)('the statements of $operationId', (operation) => {
  const { operationId, contract, row } = operation

  it.each(situations(row).map(([name, apply, isOfNoProject], index) => ({ name, apply, isOfNoProject, index })))(
    'return and change nothing for a key that may not, on their own: $name',
    async ({ apply, isOfNoProject, index }) => {
      const { workspace, example, minted } = await prepared(row, apply, async (workspace, example) => {
        const keys: { name: string; token: string | undefined }[] = []
        for (const { name, mint } of refusedKeysOf(contract, row, index, isOfNoProject)) {
          keys.push({ name, token: await mint(workspace, contract, example) })
        }
        return keys
      })
      const before = await dumpStores()
      const sent: { name: string; acting: readonly Bound[] }[] = []
      for (const { name, token } of minted) {
        sent.push({ name, acting: (await sendRecorded(operationId, example, token)).acting })
      }
      const refused = sent.flatMap(({ name, acting }) => acting.map((bound) => ({ name, ...bound })))
      expect(await runActing(refused)).toEqual([])
      expect(await dumpStores()).toEqual(before)
      const allowed = sqlOf((await sendRecorded(operationId, example, await keyFor(workspace, example))).acting)
      for (const { name, acting } of sent) {
        expect([name, allowed.slice(0, acting.length)]).toEqual([name, sqlOf(acting)])
      }
    },
  )

  it('each return or change something for a key that may', async () => {
    const { acted, idle } = await successOfAll(operation)
    // Where any live key will do there may be nothing to guard.
    if (contract.scope !== null) expect(acted.size).toBeGreaterThan(0)
    // These act only where an upload outlasts its lease (test/resources/session-files/session-files.test.ts), and where
    // a page of events examines as many as it may (test/resources/events/audit-trail.test.ts,
    // test/resources/events/feed.test.ts).
    const rare = [files.addUnrecordedToOrphans, feed.selectLastExamined, trail.selectLastExamined].map(({ sql }) => sql)
    expect([...idle].filter((sql) => !acted.has(sql) && !rare.includes(sql))).toEqual([])
  })
})

describe.each(exampleList.filter(({ row }) => row.calls === 2))(
  'after the object store, the statements of $operationId',
  ({ operationId, contract, row }) => {
    const storing = situations(row)
      .map(([name, apply, isOfNoProject], index) => ({ name, apply, isOfNoProject, index }))
      .filter(({ name }) => (row.variations[name]?.calls ?? 2) === 2)
    it.each(storing)(
      'return and change nothing for a key that may not, on their own: $name',
      async ({ apply, isOfNoProject, index }) => {
        const { workspace, example, minted: key } = await prepared(row, apply, keyFor)
        const { DB, batches } = recordingDatabase(1)
        // Its next use within the hour is not recorded, which would be a batch of its own.
        await send('retrieveMe', { path: '/v1/me', ids: [] }, key)
        const { status } = await send(operationId, { ...example, environment: { DB } }, key)
        expect(status).toBe(503)
        const acting = actingOf(batches[1] ?? [])
        expect(acting.length).toBeGreaterThan(0)

        const hashes = await inOneBatch(async () => {
          const minted: [name: string, hash: string][] = []
          for (const { name, mint } of refusedKeysOf(contract, row, index, isOfNoProject)) {
            minted.push([name, hashOf((await mint(workspace, contract, example)) ?? '')])
          }
          return minted
        })
        const before = await dumpStores()
        const refused = hashes.flatMap(([name, hash]) =>
          acting.map(({ sql, values }) => ({
            name,
            sql,
            values: values.map((value) => (value === hashOf(key) ? hash : value)),
          })),
        )
        expect(await runActing(refused)).toEqual([])
        expect(await dumpStores()).toEqual(before)
        expect(await runActing(acting.map((bound) => ({ name: 'its own', ...bound })))).not.toEqual([])
      },
    )
  },
)

describe('the statements of all operations', () => {
  it('are those that the resources export', async () => {
    const ran = new Set<string>()
    for (const operation of exampleList) {
      for (const found of Object.values(await successOfAll(operation))) for (const sql of found) ran.add(sql)
    }
    const modules = import.meta.glob(
      [
        '../src/resources/**/statements.ts',
        '../src/resources/platform-resources/*.ts',
        '../src/resources/api-keys/*.ts',
        // No operation reaches these.
        '!../src/resources/events/delivery/statements.ts',
        '!../src/resources/claim-links/statements.ts',
      ],
      { eager: true },
    )
    const exported = new Set(sqlOf(Object.values(modules).flatMap(statementsIn)))
    // No operation connects an app, nor exchanges its code.
    const ofConsent = [connectable.check, insertGrant, insertGrant.recording, redeemCode, restoreCode]
    for (const { sql } of [authorized.check, recordUse, selectWakeable, ...ofConsent]) {
      ran.delete(sql)
      exported.delete(sql)
    }
    expect([...ran].sort()).toEqual([...exported].sort())
  })
})

/** Each operation has a seed of its own, so that all together try more states. */
function seedOf(operationId: string): number {
  return [...operationId].reduce((seed, letter) => Math.imul(seed, 31) + letter.charCodeAt(0), env.SEED)
}

function statementsIn(module: Record<string, unknown>): Statement[] {
  return namedStatements(module).map(([, statement]) => statement)
}

interface State {
  readonly life: 'live' | 'unknown' | 'revoked' | 'expired'
  readonly inScope: boolean
  readonly hasUser: boolean
  readonly limit: 'none' | 'its project' | 'another project' | 'no project'
  readonly ids: 'its own' | 'unknown' | 'of another organization'
  readonly variations: readonly string[]
}

/** In the order in which docs/contract.md has them checked; 304 stands in for the success. */
const ORDER = [400, 404, 403, 410, 409, 412, 304, 416, 206]

describe.each(exampleList)(`in ${STATES} random states $operationId`, ({ operationId, contract, row }) => {
  const names = Object.keys(row.variations)
  const often = <T>(usual: T, ...others: T[]) =>
    fc.oneof({ weight: 3 * others.length, arbitrary: fc.constant(usual) }, ...others.map(fc.constant))
  const state: fc.Arbitrary<State> = fc.record({
    life: often<State['life']>('live', 'unknown', 'revoked', 'expired'),
    inScope: often(true, false),
    hasUser: often(true, false),
    limit: often<State['limit']>('none', 'its project', 'another project', 'no project'),
    ids: often<State['ids']>('its own', 'unknown', 'of another organization'),
    variations: fc.subarray(names),
  })

  function expectedStatus({ life, inScope, hasUser, limit, ids, variations }: State, example: Example): number {
    if (life !== 'live') return 401
    if ((!inScope && contract.scope !== null) || (contract.actsAsUser && !hasUser)) return 400
    const all = variations.map((name) => row.variations[name] as Variation)
    const applied = all.slice(
      Math.max(
        all.findLastIndex(({ replaces }) => replaces),
        0,
      ),
    )
    const reasons = applied
      .filter(({ needs }) => needs === undefined || variations.includes(needs))
      .map(({ status }) => status as number | undefined)
      .filter((status) => !applied.some(({ lifts }) => lifts !== undefined && lifts === status))
    if (ids !== 'its own' && example.ids.length > 0) reasons.push(404)
    const isOfNoProject = applied.some((variation) => variation.isOfNoProject)
    if (limit.endsWith(' project') && limit !== 'its project' && !isOfNoProject) reasons.push(row.outOfReach)
    if (limit !== 'none' && (row.reachesAll || applied.some(({ reachesAll }) => reachesAll))) reasons.push(403)
    if (limit === 'none' && row.needsLimit) reasons.push(403)
    if (hasUser && applied.some(({ refusesUsers }) => refusesUsers)) reasons.push(403)
    return ORDER.find((status) => reasons.includes(status)) ?? successOf(contract, applied)
  }

  async function keyFor({ life, inScope, hasUser, limit }: State, workspace: Workspace, example: Example) {
    if (life === 'unknown') return newToken()
    const limits: Record<State['limit'], KeyOptions> = {
      none: {},
      'its project': { projectIds: example.projectIds ?? [] },
      'another project': { projectIds: [await workspace.addProject()] },
      'no project': { projectIds: [] },
    }
    const { id, token } = await workspace.addKeyWithId({
      scopes: SCOPES.filter((scope) => inScope || scope !== contract.scope),
      ...(!hasUser && { userId: null }),
      ...limits[limit],
      ...(life === 'expired' && { expiresAt: '2020-01-01T00:00:00.000Z' }),
    })
    if (life === 'revoked') await workspace.revokeKey(id)
    return token
  }

  async function requestFor({ ids, variations }: State, workspace: Workspace): Promise<Example> {
    let example = await row.prepare(workspace)
    for (const [name, { apply }] of Object.entries(row.variations)) {
      if (variations.includes(name)) example = await apply(workspace, example)
    }
    if (ids === 'unknown') return withIds(example)
    if (ids === 'of another organization') {
      const others = await row.prepare(await Workspace.create())
      return withIds(example, others.ids.slice(0, example.ids.length))
    }
    return example
  }

  it('answers as the contract says, and acts exactly if it succeeds', async () => {
    const property = fc.asyncProperty(state, async (given) => {
      const { example, key } = await inOneBatch(async () => {
        const workspace = await Workspace.create()
        const example = await requestFor(given, workspace)
        return { example, key: await keyFor(given, workspace, example) }
      })
      const expected = expectedStatus(given, example)
      const before = expected >= 400 ? await dumpStores() : undefined
      const { status, acting, actingLast } = await sendRecorded(operationId, example, key)
      expect(status).toBe(expected)
      const acted = sqlOf(acting.filter(hasActed))
      if (status === 416) return
      if (status >= 400) {
        expect(sqlOf(actingLast.filter(hasActed))).toEqual([])
        expect(await dumpStores()).toEqual(before)
      } else if (!row.idle && !given.variations.some((name) => row.variations[name]?.idle)) {
        expect(acted).not.toEqual([])
      }
    })
    await fc.assert(property, { numRuns: STATES, seed: seedOf(operationId) })
  })
})
