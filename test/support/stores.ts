/** The stores of the tests as a whole: their tables, everything that is in them, and nothing. */

import { getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { databaseNumbers, requireDatabase } from '../../src/db/database.ts'
import * as schema from '../../src/db/schema.ts'
import { deployed, env } from './env.ts'
import { writeWaiting } from './set-up.ts'

/** test/counters.test.ts compares them with those of the database. */
export const TABLES = Object.values(schema)
  .filter((value) => is(value, SQLiteTable))
  .map(getTableName)

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
 * @param withoutTables tables that are left out.
 */
export async function dumpStores(
  without = 'lastUsedAt',
  withoutTables: readonly string[] = [],
): Promise<Record<string, string[]>> {
  await writeWaiting()
  const tables = TABLES.filter((table) => !withoutTables.includes(table))
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

/** Deletes every row and every object. */
export async function emptyStores(): Promise<void> {
  for (const number of databaseNumbers(deployed(env))) {
    const database = requireDatabase(deployed(env), number)
    await database.batch(TABLES.map((table) => database.prepare(`DELETE FROM "${table}"`)))
  }
  for (;;) {
    const { objects } = await env.OBJECTS.list()
    if (objects.length === 0) return
    await env.OBJECTS.delete(objects.map(({ key }) => key))
  }
}
