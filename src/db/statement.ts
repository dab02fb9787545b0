/** Statements: SQL that is written with Drizzle, compiled on first use, and bound for each request. */
import {
  and,
  fillPlaceholders,
  getTableColumns,
  is,
  Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
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
const GUARD = ['keyHash', 'scope', 'now']

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

/** A statement of the service itself, which no HTTP operation runs: the tick, deliveries, the health check, provisioning. */
export function unguarded<Result>(build: () => Compilable<Result>): Statement<RowOf<Result>> {
  return compiledOnFirstUse(() => build().toSQL())
}

function requireGuard(compiled: Compiled): Compiled {
  const names = compiled.params.map((parameter) => is(parameter, Placeholder) && parameter.name)
  if (!GUARD.every((name) => names.includes(name))) throw new Error(`No guard in: ${compiled.sql}`)
  return compiled
}

/** Every statement of the loaded modules: `npm run sql` writes them, and tests prove that they carry the guard. */
export const statements: Statement[] = []

function compiledOnFirstUse<Row>(compile: () => Compiled, isChange = false): Statement<Row> {
  let compiled: Compiled | undefined
  const once = () => {
    compiled ??= compile()
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

/** The row that an insert selects: the value of each column, and NULL for those without one. */
export function insertRow<Table extends SQLiteTable>(
  table: Table,
  values: { readonly [Column in keyof Table['$inferSelect']]?: SQLWrapper | string | null },
) {
  const columns = Object.keys(getTableColumns(table)) as (keyof Table['$inferSelect'] & string)[]
  return Object.fromEntries(
    columns.map((column) => [column, sql`${values[column] ?? sql`null`}`.as(column)]),
  ) as { [Column in keyof Table['$inferSelect']]: SQL.Aliased<Table['$inferSelect'][Column]> }
}

/** The value that an insert would have written to a conflicting row. */
export function excluded(column: string): SQL<string> {
  return sql<string>`excluded.${sql.identifier(column)}`
}

/** D1 accepts up to 100 parameters in a statement, of up to 2 MB each. */
const CHUNK_ROWS = 25

/** A table of the request's rows within a statement, which runs once for each chunk of rows. */
export function chunkOf<Column extends string>(...columns: readonly Column[]) {
  const placeholder = (column: Column, row: number) => `chunk.${row}.${column}`
  const row = (index: number) =>
    sql`(${sql.join(
      columns.map((column) => sql.placeholder(placeholder(column, index))),
      sql`, `,
    )})`
  const indexes = Array.from({ length: CHUNK_ROWS }, (_, index) => index)
  return {
    /** To be joined. The last chunk is filled up with rows of NULLs. */
    table: sql`(values ${sql.join(indexes.map(row), sql`, `)}) as "chunk"`,

    column: (name: Column): SQL<string> =>
      sql`"chunk".${sql.identifier(`column${columns.indexOf(name) + 1}`)}`,

    /** The statement, once for each chunk of rows. */
    fill<Row>(statement: Statement<Row>, rows: readonly Readonly<Record<Column, Value>>[]): Statement<Row>[] {
      const chunks = Array.from({ length: Math.ceil(rows.length / CHUNK_ROWS) }, (_, index) =>
        rows.slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS),
      )
      return chunks.map((chunk) => {
        const bound = new Map<string, Value>()
        for (const index of indexes) {
          for (const column of columns) bound.set(placeholder(column, index), chunk[index]?.[column] ?? null)
        }
        const parameters = statement.parameters.map((parameter) =>
          is(parameter, Placeholder) && bound.has(parameter.name) ? bound.get(parameter.name) : parameter,
        )
        return { ...statement, parameters }
      })
    },
  }
}

/**
 * A table within a statement, whose rows are bound as one JSON array of objects: as many as fit into the 2 MB of a
 * parameter.
 */
export function jsonRows<Column extends string>(name: string, ...columns: readonly Column[]) {
  const table = sql.identifier(name)
  const columnOf = (column: Column) => sql<string>`(${table}.value ->> ${sql.raw(`'${column}'`)})`
  return {
    /** To be joined, or to select from. */
    table: sql`json_each(${sql.placeholder(name)}) as ${table}`,

    column: columnOf,

    /** Joins the rows of a stored table whose columns of these names are equal. */
    matches: <Name extends Column>(stored: Readonly<Record<Name, SQLWrapper>>, ...names: readonly Name[]) =>
      and(...names.map((each) => sql`${stored[each]} = ${columnOf(each)}`)),

    /** The value of the statement: the columns of each row. */
    values: (rows: readonly Readonly<Record<Column, Value>>[]): Values => ({
      [name]: JSON.stringify(rows, [...columns]),
    }),
  }
}
