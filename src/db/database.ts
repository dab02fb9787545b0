/** The database as the service uses it, and what it was asked. */

/** All that is called of D1, or of a session of it. */
export type Database = Pick<D1Database, 'prepare' | 'batch'>

/** For the log. */
export interface DatabaseUse {
  calls: number
  /** How long the Worker waited, in milliseconds. */
  ms: number
  rowsRead: number
  rowsWritten: number
}

export function noUse(): DatabaseUse {
  return { calls: 0, ms: 0, rowsRead: 0, rowsWritten: 0 }
}

/** The database, each of whose calls is added to the use. */
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
