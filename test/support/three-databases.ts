/** A deployment with three databases, for tests of what concerns several, however many the other tests have. */
import { applyD1Migrations } from 'cloudflare:test'
import { afterAll, beforeAll } from 'vitest'
import type { MoveDatabases } from '../../operate/organization-move.ts'
import { requireDatabase } from '../../src/db/database.ts'
import { deployed, env } from './env.ts'
import { TABLES } from './stores.ts'

export const NUMBERS = [0, 1, 2] as const

/** The bindings of the deployment. */
export function threeDatabases(): Cloudflare.Env {
  const own = deployed(env)
  const further = { DB_1: env.SECOND_DB, DB_2: env.THIRD_DB }
  return env.DATABASES >= NUMBERS.length ? own : { ...own, ...further }
}

/** The same for `request`, which puts its `DB` under the number of the database that the file has. */
export function threeForRequests(environment: Partial<Cloudflare.Env> = {}): Cloudflare.Env {
  return { ...threeDatabases(), ...environment, DB: env.DB }
}

/** For a file of tests: the databases have the schema, and no rows before and after it. */
export function useThreeDatabases(): void {
  const empty = async () => {
    for (const number of NUMBERS) {
      const database = requireDatabase(threeDatabases(), number)
      await applyD1Migrations(database, env.MIGRATIONS)
      await database.batch(TABLES.map((table) => database.prepare(`DELETE FROM "${table}"`)))
    }
  }
  beforeAll(empty)
  afterAll(empty)
}

export async function rowsIn(number: number, sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  const { results } = await requireDatabase(threeDatabases(), number)
    .prepare(sql)
    .bind(...values)
    .all()
  return results
}

/** The databases as a move uses them. @param around what happens with each batch, which has this SQL. */
export function moveDatabases(
  around: (run: () => Promise<void>, sql: string) => Promise<void> = (run) => run(),
): MoveDatabases {
  return {
    numbers: NUMBERS,
    get: (number) => ({
      async batch(queries) {
        const database = requireDatabase(threeDatabases(), number)
        const statements = queries.map(({ sql, parameters = [] }) => database.prepare(sql).bind(...parameters))
        let rows: Record<string, string | number | null>[][] = []
        await around(
          async () => {
            const results = await database.batch<Record<string, string | number | null>>(statements)
            rows = results.map(({ results }) => results)
          },
          queries.map(({ sql }) => sql).join('\n'),
        )
        return rows
      },
    }),
  }
}

/** The options of a move of which a test needs none. */
export const QUIETLY = { rowsPerDeletion: 100, onCopying() {}, onCopied() {}, onStep() {} }
