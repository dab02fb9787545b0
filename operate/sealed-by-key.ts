/** The sealed values of a database, by the key that encrypted them. */
import { sql } from 'drizzle-orm'
import { keyIdOf } from '../src/db/schema.ts'
import { query, unguarded } from '../src/db/statement.ts'
import { SEALED } from '../src/maintenance/reseal.ts'

/** Each column of sealed values, and the number of its values by the ID of their key. */
export const SEALED_BY_KEY = SEALED.map(({ table, column, select, contextOf }) => ({
  select,
  contextOf,
  counts: unguarded({}, () =>
    query
      .select({ keyId: keyIdOf(column).as('keyId'), count: sql<number>`count(*)`.as('count') })
      .from(table)
      .where(sql`${column} is not null`)
      .groupBy(keyIdOf(column)),
  ),
}))
