/** The database as the service uses it, and a count of its use. */
import type { Environment } from '../environment.ts'

/** The methods of D1, or of a session of it, that the service calls. */
export type Database = Pick<D1Database, 'prepare' | 'batch'>

/** The environment of the tick, whose database is instrumented. */
export type TickEnvironment = Omit<Environment, 'DB'> & { readonly DB: Database }

/** How a request or a tick used the database, for the log. */
export interface DatabaseUse {
  calls: number
  /** How long the Worker waited for the database, in milliseconds. */
  ms: number
  rowsRead: number
  rowsWritten: number
}

export function noUse(): DatabaseUse {
  return { calls: 0, ms: 0, rowsRead: 0, rowsWritten: 0 }
}

/** The database, with each call added to the use. */
export function instrumented(database: Database, use: DatabaseUse): Database {
  return {
    prepare: (sql) => database.prepare(sql),
    async batch<Row>(statements: D1PreparedStatement[]) {
      const start = Date.now()
      use.calls++
      try {
        const results = await database.batch<Row>(statements)
        for (const { meta } of results) {
          use.rowsRead += meta.rows_read
          use.rowsWritten += meta.rows_written
        }
        return results
      } finally {
        use.ms += Date.now() - start
      }
    },
  }
}
