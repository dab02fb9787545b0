/** The database as the service uses it, and a count of its use. */
import type { Environment } from '../environment.ts'

/** The methods of D1, or of a session of it, that the service calls. */
export type Database = Pick<D1Database, 'prepare' | 'batch'>

/** The environment of work on one database: of a tick or of a message. */
export type DatabaseEnvironment = Environment & { readonly database: Database; readonly databaseNumber: number }

/**
 * The only way to a database: 0 is bound as `DB`, every other number as `DB_` and the number. The type `Environment`
 * lacks these bindings, so that nothing else reads them.
 * @returns undefined if the deployment has no such database.
 */
export function databaseOf(environment: Environment, number: number): D1Database | undefined {
  return (environment as unknown as Readonly<Record<string, D1Database | undefined>>)[bindingOf(number)]
}

/** The numbers of all databases, in order. */
export function databaseNumbers(environment: Environment): number[] {
  const numbers = Object.keys(environment).flatMap((name) => BINDING.exec(name)?.[1] ?? [])
  return [0, ...numbers.map(Number).sort((one, other) => one - other)]
}

/** @throws if the deployment has no such database. */
export function requireDatabase(environment: Environment, number: number): D1Database {
  const database = databaseOf(environment, number)
  if (!database) throw new Error(`This deployment has no database ${number}.`)
  return database
}

const BINDING = /^DB_([1-9]\d{0,3})$/

export const bindingOf = (number: number) => (number === 0 ? 'DB' : `DB_${number}`)

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

/** The size at which D1 refuses writes, on the paid plan. */
export const MAX_DATABASE_BYTES = 10_000_000_000

/** From this share on, creations are refused. */
const NEARLY_FULL = 0.95

export const isNearlyFull = ({ sizeBytes }: DatabaseHealth) => sizeBytes >= NEARLY_FULL * MAX_DATABASE_BYTES

/** What a tick learns of its database, for alerts (alerts/), and an isolate, for creations. */
export interface DatabaseHealth {
  failedCalls: number
  /** 0 until a call has succeeded. */
  sizeBytes: number
}

export function unknownHealth(): DatabaseHealth {
  return { failedCalls: 0, sizeBytes: 0 }
}

/** The database, with each call added to the use and to the health. */
export function instrumented(database: Database, use: DatabaseUse, health = unknownHealth()): Database {
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
          health.sizeBytes = meta.size_after
        }
        return results
      } catch (error) {
        health.failedCalls++
        throw error
      } finally {
        use.ms += Date.now() - start
      }
    },
  }
}
