/** Statements: SQL that is written with Drizzle, compiled on first use, and bound for each request. */
import { fillPlaceholders, is, Placeholder } from 'drizzle-orm'
import {
  type BaseSQLiteDatabase,
  type SelectedFields,
  SQLiteAsyncDialect,
  SQLiteDeleteBase,
  SQLiteInsertBuilder,
  SQLiteSelectBuilder,
  type SQLiteTable,
  SQLiteUpdateBuilder,
} from 'drizzle-orm/sqlite-core'
import type { Database } from './database.ts'

/** The value of a placeholder. */
export type Value = string | number | null
export type Values = Readonly<Record<string, Value>>

/** SQL with its parameters: a statement whose rows have the shape `Row`. */
export interface Statement<Row = unknown> {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** True if it is the change of its operation, which the audit trail records (access/audit.ts). */
  readonly isChange: boolean
  /** Only for the type checker; it never has a value. */
  readonly row?: Row
}

/** One statement of a batch, or several whose rows are returned together. */
export type Step = Statement | readonly Statement[]

/** The rows that a list of steps returns, in the same order. */
export type Rows<Steps extends readonly Step[]> = {
  [Index in keyof Steps]: Steps[Index] extends Statement<infer Row> | readonly Statement<infer Row>[]
    ? Row[]
    : never
}

interface Compiled {
  readonly sql: string
  readonly params: unknown[]
}

/** A query of Drizzle. */
interface Compilable<Result> extends PromiseLike<Result> {
  toSQL(): Compiled
}

type RowOf<Result> = Result extends readonly (infer Row)[] ? Row : never

/** The placeholders of the guard. */
const GUARD = ['caller.keyHash', 'caller.scope', 'now']

const dialect = new SQLiteAsyncDialect()
/** Drizzle's builders only build SQL here and never run it, so they need no session. */
const session = undefined as never

/** The part of Drizzle's database that builds SQL. The rest stays out of the bundle. */
export const query: Pick<BaseSQLiteDatabase<'async', D1Result>, 'select' | 'insert' | 'update' | 'delete'> = {
  select: (fields?: SelectedFields) => new SQLiteSelectBuilder({ fields, session, dialect }),
  insert: (table: SQLiteTable) => new SQLiteInsertBuilder(table, session, dialect),
  update: (table: SQLiteTable) => new SQLiteUpdateBuilder(table, session, dialect),
  delete: (table: SQLiteTable) => new SQLiteDeleteBase(table, session, dialect),
} as never

/**
 * A statement that carries the guard (access/guard.ts).
 * Its first use throws if the guard isn't in it, so a statement without authorization never reaches the database.
 */
export function guarded<Result>(build: () => Compilable<Result>): Statement<RowOf<Result>> {
  return compiledOnFirstUse(() => requireGuard(build().toSQL()))
}

/** A guarded statement that is the change of its operation. */
export function guardedChange<Result>(build: () => Compilable<Result>): Statement<RowOf<Result>> {
  return compiledOnFirstUse(() => requireGuard(build().toSQL()), true)
}

/**
 * A statement that no operation runs: those of the tick, deliveries, the health check, feeds of skills, and provisioning
 * (operate/provisioning.ts).
 */
export function unguarded<Result>(build: () => Compilable<Result>): Statement<RowOf<Result>> {
  return compiledOnFirstUse(() => build().toSQL())
}

function requireGuard(compiled: Compiled): Compiled {
  const names = compiled.params.map((parameter) => is(parameter, Placeholder) && parameter.name)
  if (!GUARD.every((name) => names.includes(name))) throw new Error(`No guard in: ${compiled.sql}`)
  return compiled
}

/**
 * SQLite plans a statement for the value of a parameter that is its limit, and compiles it again when the parameter is bound. It
 * does not look into an expression.
 */
function withLimitAsExpression({ sql, params }: Compiled): Compiled {
  return { sql: sql.replaceAll(' limit ?', ' limit +?'), params }
}

/** Every statement of the loaded modules: `npm run sql` writes them, and tests prove that they carry the guard. */
export const statements: Statement[] = []

function compiledOnFirstUse<Row>(compile: () => Compiled, isChange = false): Statement<Row> {
  let compiled: Compiled | undefined
  const once = () => {
    compiled ??= withLimitAsExpression(compile())
    return compiled
  }
  const statement: Statement<Row> = {
    get sql() {
      return once().sql
    },
    get parameters() {
      return once().params
    },
    isChange,
  }
  statements.push(statement)
  return statement
}

/** @throws if a placeholder of the statement has no value. */
export function bind(database: Database, statement: Statement, values: Values): D1PreparedStatement {
  return database.prepare(statement.sql).bind(...parametersOf(statement, values))
}

/** The values for the `?` of the statement, in order. */
export function parametersOf(statement: Statement, values: Values): Value[] {
  return fillPlaceholders([...statement.parameters], values) as Value[]
}

/** One trip: runs the steps in one transaction and returns the rows of each. */
export async function runBatch<const Steps extends readonly Step[]>(
  database: Database,
  steps: Steps,
  values: Values,
): Promise<Rows<Steps>> {
  const results = await database.batch(steps.flat().map((statement) => bind(database, statement, values)))
  const rows = results.map((result) => result.results)
  // Each step takes its rows in order, which the type checker can't follow.
  return steps.map((step) =>
    Array.isArray(step) ? rows.splice(0, step.length).flat() : rows.shift(),
  ) as unknown as Rows<Steps>
}
