/**
 * Watches how the tick seals values again after a new key was put in front of ENCRYPTION_KEYS, until none is left under
 * an older one. It changes nothing itself, so it can be stopped and started at will.
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
  console.error('--to: expected the id of the newest key of ENCRYPTION_KEYS')
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

/** How many values each key has sealed. */
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
  console.log(`${total.get(newest) ?? 0} values are sealed with ${newest}, ${left} with older keys`)
  if (left === 0) {
    console.log('The older keys can be taken out of ENCRYPTION_KEYS.')
    break
  }
  if (left >= before) {
    const names = older.map(([keyId, count]) => `${keyId} (${count})`).join(', ')
    console.log(
      `Nothing changed since. Left: ${names}. The tick seals again what a key of ENCRYPTION_KEYS opens.`,
    )
  }
  before = left
  await setTimeout(INTERVAL_MS)
}
