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
import { type NamedParameters, type Parameter, type Value, type Values, type ValuesOf, valuesIn } from './parameters.ts'

/** SQL with its parameters: a statement whose rows have the shape `Row`. */
export interface Statement<Row = unknown, P extends Parameter = Parameter> {
  readonly sql: string
  /** For each `?` of the SQL, its value or its parameter. */
  readonly params: readonly unknown[]
  /** The parameters that need a value, without those that the service binds to every statement. */
  readonly takes: readonly P[]
  /** Only for the type checker; it never has a value. */
  readonly row?: Row
}

/** One statement of a batch, or several whose rows are returned together. */
export type Step = Statement | readonly Statement[]
export type Steps = Readonly<Record<string, Step>>

export type RowOf<S extends Step> = S extends Statement<infer Row> | readonly Statement<infer Row>[] ? Row : never
export type ParameterOf<S extends Step> = S extends Statement<unknown, infer P> | readonly Statement<unknown, infer P>[]
  ? P
  : never

/** The rows of each step, by its name. */
export type Rows<S extends Steps> = { readonly [Name in keyof S]: RowOf<S[Name]>[] }

/** What has parameters: the preconditions of an operation (access/preconditions.ts). */
interface Takes<P extends Parameter> {
  readonly takes: readonly P[]
}

interface Compiled {
  readonly sql: string
  readonly params: unknown[]
}

/** A query of Drizzle. */
export interface Compilable<Result> extends PromiseLike<Result> {
  toSQL(): Compiled
}

export type ResultRow<Result> = Result extends readonly (infer Row)[] ? Row : never

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
 * A statement of an operation. It carries the guard (access/guard.ts): its first use throws if the guard is not in it,
 * so a statement without authorization never reaches the database.
 * @param preconditions whose parameters it takes: those that it begins from.
 * @param parameters of its own.
 */
export function guarded<Result, P extends Parameter, Own extends NamedParameters>(
  preconditions: Takes<P>,
  parameters: Own,
  build: () => Compilable<Result>,
): Statement<ResultRow<Result>, P | Own[keyof Own]> {
  const takes = [...preconditions.takes, ...valuesIn(parameters)]
  return compiledOnFirstUse(takes, () => requireGuard(build().toSQL()))
}

/**
 * A statement that no operation runs: those of the tick, deliveries, the health check, feeds of skills, claim
 * links, and provisioning (operate/provisioning.ts).
 */
export function unguarded<Result, Own extends NamedParameters>(
  parameters: Own,
  build: () => Compilable<Result>,
): Statement<ResultRow<Result>, Own[keyof Own]> {
  return compiledOnFirstUse(valuesIn(parameters), () => build().toSQL())
}

function requireGuard(compiled: Compiled): Compiled {
  const names = compiled.params.map((parameter) => is(parameter, Placeholder) && parameter.name)
  if (!GUARD.every((name) => names.includes(name))) throw new Error(`No guard in: ${compiled.sql}`)
  return compiled
}

/**
 * SQLite plans a statement for the value of a parameter that is its limit or that a column equals, and compiles it again
 * when the parameter is bound. It does not look into an expression.
 */
function withExpressions({ sql, params }: Compiled): Compiled {
  return { sql: sql.replaceAll(/ (limit|=|is) \?/g, ' $1 +?'), params }
}

/** Every statement of the loaded modules: `npm run generate -- sql` writes them, and tests prove that they carry the guard. */
export const statements: Statement[] = []

function compiledOnFirstUse<Row, P extends Parameter>(takes: readonly P[], compile: () => Compiled): Statement<Row, P> {
  let compiled: Compiled | undefined
  const once = () => {
    compiled ??= withExpressions(compile())
    return compiled
  }
  const statement: Statement<Row, P> = {
    get sql() {
      return once().sql
    },
    get params() {
      return once().params
    },
    takes,
  }
  statements.push(statement)
  return statement
}

/** @throws if a parameter of the statement has no value. */
export function bind(database: Database, statement: Statement, values: Values): D1PreparedStatement {
  return database.prepare(statement.sql).bind(...boundValues(statement, values))
}

/** The values for the `?` of the statement, in order. */
export function boundValues(statement: Statement, values: Values): Value[] {
  return fillPlaceholders([...statement.params], values) as Value[]
}

/** One round trip: runs the steps in their order, in one transaction. */
export async function runBatch<const S extends Steps>(
  database: Database,
  steps: S,
  values: ValuesOf<ParameterOf<S[keyof S]>>,
): Promise<Rows<S>> {
  const named = Object.entries(steps).map(([name, step]) => [name, [step].flat()] as const)
  const results = await database.batch(
    named.flatMap(([, statements]) => statements.map((statement) => bind(database, statement, values))),
  )
  const rows = results.map((result) => result.results)
  // Each step takes its rows in order, which the type checker cannot follow.
  return Object.fromEntries(named.map(([name, { length }]) => [name, rows.splice(0, length).flat()])) as Rows<S>
}
