/** SQL that is written with Drizzle, compiled once at module load, and bound for each request. */
import { fillPlaceholders, is, Placeholder } from 'drizzle-orm'
import { BaseSQLiteDatabase, SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core'

/** What a placeholder can be bound to. */
export type Value = string | number | null
export type Values = Readonly<Record<string, Value>>

/** A compiled statement whose rows have the shape `Row`. */
export interface Statement<Row = unknown> {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** Only for the type checker: no value is ever here. */
  readonly row?: Row
}

/** The rows that a list of statements answers with, in the same order. */
export type Rows<Statements extends readonly Statement[]> = {
  [Index in keyof Statements]: Statements[Index] extends Statement<infer Row> ? Row[] : never
}

interface Compilable<Result> extends PromiseLike<Result> {
  toSQL(): { sql: string; params: unknown[] }
}

type RowOf<Result> = Result extends readonly (infer Row)[] ? Row : never

/** What the guard, and an explanation of it, is bound to. */
const GUARD = ['keyHash', 'scope', 'now']

/** Builds SQL and runs none, which is why it needs no database. */
export const query = new BaseSQLiteDatabase<'async', D1Result>(
  'async',
  new SQLiteAsyncDialect(),
  undefined as never,
  undefined,
)

/**
 * Compiles a statement that the guard protects (access/caller.ts).
 * @throws if the guard isn't in it, so that a statement that forgets whose data it touches stops the start-up.
 */
export function compile<Result>(statement: Compilable<Result>): Statement<RowOf<Result>> {
  const compiled = compileUnguarded(statement)
  const names = compiled.parameters.map((parameter) => is(parameter, Placeholder) && parameter.name)
  if (!GUARD.every((name) => names.includes(name))) throw new Error(`No guard in: ${compiled.sql}`)
  return compiled
}

/** Compiles a statement of the service itself: the sweep, the health check, provisioning. */
export function compileUnguarded<Result>(statement: Compilable<Result>): Statement<RowOf<Result>> {
  const { sql, params } = statement.toSQL()
  return { sql, parameters: params }
}

/** @throws if a placeholder of the statement has no value. */
export function bind(database: D1Database, statement: Statement, values: Values): D1PreparedStatement {
  return database.prepare(statement.sql).bind(...parametersOf(statement, values))
}

/** The values for the `?` of the statement, in order. */
export function parametersOf(statement: Statement, values: Values): Value[] {
  return fillPlaceholders([...statement.parameters], values) as Value[]
}

/** One trip: runs the statements in one transaction and returns the rows of each. */
export async function runBatch<const Statements extends readonly Statement[]>(
  database: D1Database,
  statements: Statements,
  values: Values,
): Promise<Rows<Statements>> {
  const results = await database.batch(statements.map((statement) => bind(database, statement, values)))
  return results.map((result) => result.results) as Rows<Statements>
}
