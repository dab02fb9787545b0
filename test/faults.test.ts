/**
 * Faults of the stores, injected on purpose into every operation: 10,000 in the long form, a sample in `npm test`.
 */

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTransient, isUnavailable } from '../src/db/failures.ts'
import { documents503 } from '../src/http/full-database.ts'
import { databaseWith, objectsWith } from './support/bindings.ts'
import { env } from './support/env.ts'
import { exampleList, keyFor, listTables, send, successOf } from './support/examples.ts'
import { sized } from './support/long-form.ts'
import { Workspace } from './support/workspace.ts'

const INJECTIONS = sized(150, 10_000)

/** What D1 says when it fails (Cloudflare's D1 documentation, "Debug D1"), and an error that is nobody's. */
const D1_ERRORS = [
  'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
  'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
  'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
  'D1_ERROR: D1 DB exceeded its memory limit and was reset.',
  'D1_ERROR: D1 DB reset because its code was updated.',
  'D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.',
  'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
  'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  'D1_ERROR: Network connection lost.',
  "D1_ERROR: Can't read from request stream because client disconnected.",
  'D1_TYPE_ERROR: Type "undefined" not supported for value "undefined"',
  'D1_COLUMN_NOTFOUND: Column not found (secret_column)',
  'The value secret_value is wrong',
]

interface Fault {
  readonly store: 'DB' | 'OBJECTS'
  readonly message: string
  /** Which call to the store fails first, and how many do. */
  readonly call: number
  readonly times: number
  /** The work is not done, or done and not answered, or done after a while. */
  readonly when: 'before' | 'after' | 'late'
}

const fault: fc.Arbitrary<Fault> = fc.record({
  store: fc.constantFrom('DB', 'DB', 'DB', 'OBJECTS'),
  message: fc.constantFrom(...D1_ERRORS),
  call: fc.constantFrom(1, 1, 1, 2),
  times: fc.constantFrom(1, 1, 2, 9),
  when: fc.constantFrom('before', 'before', 'after', 'after', 'late'),
})

/** A store that fails, and how often it was asked. */
function failing({ store, message, call, times, when }: Fault) {
  const use = { calls: 0, failures: 0 }
  const work = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    use.calls++
    const isFaulty = use.calls >= call && use.calls < call + times
    if (isFaulty && when === 'late') await new Promise((resolve) => setTimeout(resolve, 5))
    if (!isFaulty || when === 'late') return run()
    use.failures++
    if (when === 'after') await run()
    throw new Error(message)
  }
  const environment: Partial<Cloudflare.Env> =
    store === 'DB'
      ? {
          DB: databaseWith((statements) => work(() => env.DB.batch(statements))),
        }
      : {
          OBJECTS: objectsWith({
            put: ((...values: Parameters<R2Bucket['put']>) => work(() => env.OBJECTS.put(...values))) as never,
            get: ((...values: Parameters<R2Bucket['get']>) => work(() => env.OBJECTS.get(...values))) as never,
            delete: (keys: string | string[]) => work(() => env.OBJECTS.delete(keys)),
          }),
        }
  return { use, environment }
}

/** How many rows the organization has in each table. The sweep removes what is orphaned, whatever became of it. */
async function countsOf({ organizationId }: Workspace): Promise<Record<string, number>> {
  const tables = (await listTables()).filter((table) => table !== 'organizations' && table !== 'orphanedObjects')
  const results = await env.DB.batch<{ count: number }>(
    tables.map((table) =>
      env.DB.prepare(`SELECT count(*) AS count FROM "${table}" WHERE "organizationId" = ?`).bind(organizationId),
    ),
  )
  return Object.fromEntries(tables.map((table, index) => [table, results[index]?.results[0]?.count ?? 0]))
}

const differenceOf = (before: Record<string, number>, after: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(after)
      .map(([table, count]): [string, number] => [table, count - (before[table] ?? 0)])
      .filter(([, difference]) => difference !== 0),
  )

/** What the operation changes when nothing fails: by how many rows in which table. */
async function changeOf({ operationId, row }: (typeof exampleList)[number]) {
  const workspace = await Workspace.create()
  const example = await row.prepare(workspace)
  const key = await used(await keyFor(workspace, example))
  const before = await countsOf(workspace)
  const { status } = await send(operationId, example, key)
  expect(status).toBeLessThan(300)
  return differenceOf(before, await countsOf(workspace))
}

/** Uses the key, so that its next use within the hour is not recorded, and its organization is known. */
async function used(key: string): Promise<string> {
  await send('retrieveMe', { path: '/v1/me', ids: [] }, key)
  return key
}

/** What an upload leaves that failed half-way: the lease, which expires. */
const BEGUN: Record<string, object> = { putProfilePicture: { profilePictures: 1 } }

const changes = new Map<string, Record<string, number>>()

describe('whatever store fails, whenever', () => {
  it(`nothing that was acknowledged is lost and nothing is half done, in ${INJECTIONS} injections`, async () => {
    for (const each of exampleList) changes.set(each.operationId, await changeOf(each))
    const seen = { acknowledged: 0, refused: 0, repeated: 0 }
    const property = fc.asyncProperty(fc.constantFrom(...exampleList), fault, async (each, injected) => {
      const { operationId, contract, row } = each
      const workspace = await Workspace.create()
      const example = await row.prepare(workspace)
      const key = await used(await keyFor(workspace, example))
      const before = await countsOf(workspace)
      const { use, environment } = failing(injected)
      const { status, body } = await send(operationId, { ...example, environment }, key)
      const difference = differenceOf(before, await countsOf(workspace))
      const change = changes.get(operationId) ?? {}
      const context = JSON.stringify({ operationId, injected, status, difference })

      const error = new Error(injected.message)
      const isAway = injected.store === 'OBJECTS' || isUnavailable(error)
      const failed = isAway && documents503(contract) ? 503 : 500
      // The service repeats some requests: a PUT may find what its first attempt created.
      expect([successOf(contract), contract.success.status, failed], context).toContain(status)
      if (use.failures === 0) expect(status, context).toBe(successOf(contract))

      if (status < 300) {
        seen.acknowledged++
        expect(difference, context).toEqual(change)
      } else {
        seen.refused++
        expect(JSON.stringify(body), context).not.toMatch(/D1|secret|overload|reset|connection|memory/)
        expect([{}, change, BEGUN[operationId] ?? {}], context).toContainEqual(difference)
      }
      const calls = row.calls ?? 1
      if (injected.store === 'DB') {
        expect(use.calls, context).toBeLessThanOrEqual(calls + 2)
        if (!isTransient(error)) expect(use.calls, context).toBeLessThanOrEqual(calls)
      }
      if (use.calls > calls) seen.repeated++
    })
    await fc.assert(property, { numRuns: INJECTIONS, endOnFailure: true })
    expect(seen.acknowledged).toBeGreaterThan(INJECTIONS / 10)
    expect(seen.refused).toBeGreaterThan(INJECTIONS / 10)
    expect(seen.repeated).toBeGreaterThan(INJECTIONS / 100)
  }, 3_600_000)
})
