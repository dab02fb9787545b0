/**
 * Shows the progress of a key rotation: after a new key was added to the front of ENCRYPTION_KEYS, the tick
 * re-encrypts the values of older keys. This command only reads, so it can be stopped and started at any
 * time.
 *
 *     npm run reseal -- --to key-2 [--remote [--env staging] | --persist-to some/dir]
 */
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'drizzle-orm'
import { environmentVariables, keyIdOf, runEndpoints } from '../src/db/schema.ts'
import { query, unguarded } from '../src/db/statement.ts'
import { openDatabase } from './database.ts'
import { TARGET_OPTIONS, targetOf } from './wrangler.ts'

const INTERVAL_MS = 10_000

const { values: options } = parseArgs({
  options: {
    to: { type: 'string' },
    ...TARGET_OPTIONS,
  },
})
const newest = options.to
if (!newest) {
  console.error('--to is missing; allowed: the ID of the first key in ENCRYPTION_KEYS.')
  process.exit(1)
}
const database = await openDatabase(targetOf(options))

const counts = [
  { table: environmentVariables, column: environmentVariables.sealedValue },
  { table: runEndpoints, column: runEndpoints.sealedSecret },
  { table: runEndpoints, column: runEndpoints.previousSealedSecret },
].map(({ table, column }) =>
  unguarded(() =>
    query
      .select({ keyId: keyIdOf(column).as('keyId'), count: sql<number>`count(*)`.as('count') })
      .from(table)
      .where(sql`${column} is not null`)
      .groupBy(keyIdOf(column)),
  ),
)

/** The number of values that each key has encrypted. */
async function countByKey(): Promise<Map<string, number>> {
  const rows = (await database.batch(counts.map(({ sql }) => ({ sql })))).flat()
  const total = new Map<string, number>()
  for (const { keyId, count } of rows) {
    total.set(String(keyId), (total.get(String(keyId)) ?? 0) + Number(count))
  }
  return total
}

let before = Number.POSITIVE_INFINITY
for (;;) {
  const total = await countByKey()
  const older = [...total].filter(([keyId]) => keyId !== newest)
  const left = older.reduce((sum, [, count]) => sum + count, 0)
  console.log(`${total.get(newest) ?? 0} values are encrypted with ${newest}, ${left} with older keys`)
  if (left === 0) {
    console.log('You can remove the older keys from ENCRYPTION_KEYS.')
    break
  }
  if (left >= before) {
    const names = older.map(([keyId, count]) => `${keyId} (${count})`).join(', ')
    console.log(
      `No progress in the last ${INTERVAL_MS / 1000} s. Values left: ${names}. The tick can only re-encrypt values whose key is in ENCRYPTION_KEYS.`,
    )
  }
  before = left
  await setTimeout(INTERVAL_MS)
}
