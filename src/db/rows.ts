/** Rows within statements: those that an insert selects, and those that a request brings. */
import { and, getTableColumns, is, Placeholder, SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Parameter, text, type Value } from './parameters.ts'
import type { Statement } from './statement.ts'

/** The row that an insert selects: the value of each column, and NULL for those without one. */
export function insertRow<Table extends SQLiteTable>(
  table: Table,
  values: { readonly [Column in keyof Table['$inferSelect']]?: SQLWrapper | string | null },
) {
  const columns = Object.keys(getTableColumns(table)) as (keyof Table['$inferSelect'] & string)[]
  return Object.fromEntries(columns.map((column) => [column, sql`${values[column] ?? sql`null`}`.as(column)])) as {
    [Column in keyof Table['$inferSelect']]: SQL.Aliased<Table['$inferSelect'][Column]>
  }
}

/**
 * The columns of a table that a response has: those that are properties of its schema, in its order. So a new column
 * appears in no response by itself.
 * @param others the properties that are not columns of the table.
 */
export function columnsIn<
  Table extends SQLiteTable,
  Shape extends object,
  Others extends Readonly<Record<string, SQL.Aliased>> = Record<never, never>,
>(table: Table, { shape }: { readonly shape: Shape }, others = {} as Others) {
  const columns = { ...getTableColumns(table), ...others }
  const selected = Object.keys(shape).flatMap((name) => (columns[name] ? [[name, columns[name]]] : []))
  return Object.fromEntries(selected) as Others & Pick<Table['_']['columns'], keyof Table['_']['columns'] & keyof Shape>
}

/** The columns of the primary key, separated by commas. */
export function keyOf(table: SQLiteTable): SQL {
  const { columns, primaryKeys } = getTableConfig(table)
  return sql.join(primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary), sql`, `)
}

/**
 * The table by this index. Drizzle has no INDEXED BY. SQLite prefers the primary key of a table without rowid to an index
 * that fits better, and would read all rows of the organization.
 */
export function indexedBy(table: SQLiteTable, index: string): SQL {
  return sql`${table} indexed by ${sql.identifier(index)}`
}

/** True for the rows that the index finds, for a change: Drizzle's have a table without SQL. */
export function isFoundBy(table: SQLiteTable, index: string, condition: SQL | undefined): SQL {
  return sql`(${keyOf(table)}) in (select ${keyOf(table)} from ${indexedBy(table, index)} where ${condition})`
}

/** From SQL such as that of `indexedBy`, Drizzle selects only SQL. */
export function asSql<Fields extends Readonly<Record<string, SQLiteColumn | SQL.Aliased>>>(fields: Fields) {
  const selected = Object.entries(fields).map(([name, field]) => [name, sql`${columnOf(field)}`.as(name)])
  return Object.fromEntries(selected) as {
    [Name in keyof Fields]: Fields[Name] extends SQLiteColumn ? SQL.Aliased<Fields[Name]['_']['data']> : Fields[Name]
  }
}

/** A row as the text of a JSON object. */
export function asJson(fields: Readonly<Record<string, SQLiteColumn | SQL.Aliased>>): SQL<string> {
  const properties = Object.entries(fields).map(([name, field]) => sql`${sql.raw(`'${name}'`)}, ${columnOf(field)}`)
  return sql`json_object(${sql.join(properties, sql`, `)})`
}

/** The same fields by their names, of a subquery that selects them. */
export function namesOf<Fields extends Readonly<Record<string, SQLiteColumn | SQL.Aliased>>>(fields: Fields) {
  const selected = Object.keys(fields).map((name) => [name, sql`${sql.identifier(name)}`.as(name)])
  return Object.fromEntries(selected) as ReturnType<typeof asSql<Fields>>
}

/** The fields of a select that is written as SQL. */
export const selectedAs = (fields: Readonly<Record<string, SQLiteColumn | SQL.Aliased>>) =>
  sql.join(
    Object.entries(fields).map(([name, field]) => sql`${columnOf(field)} as ${sql.identifier(name)}`),
    sql`, `,
  )

function columnOf(field: SQLiteColumn | SQL.Aliased): SQLWrapper {
  return is(field, SQL.Aliased) ? field.sql : field
}

/** The filter of a list: true for every row if the parameter is null. */
export function equalsIfGiven(column: SQLWrapper, filter: Parameter): SQL {
  return sql`(${filter} is null or ${column} = ${filter})`
}

/**
 * The filter of a list: true for every row if the parameter is null, else where the text contains it. ASCII letters match
 * in any case, and no character is a wildcard.
 */
export function containsIfGiven(column: SQLWrapper, filter: Parameter): SQL {
  return sql`(${filter} is null or instr(lower(${column}), lower(${filter})) > 0)`
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

    column: (name: Column): SQL<string> => sql`"chunk".${sql.identifier(`column${columns.indexOf(name) + 1}`)}`,

    /** The statement, once for each chunk of rows. */
    fill<Row, P extends Parameter>(
      statement: Statement<Row, P>,
      rows: readonly Readonly<Record<Column, Value>>[],
    ): Statement<Row, P>[] {
      const chunks = Array.from({ length: Math.ceil(rows.length / CHUNK_ROWS) }, (_, index) =>
        rows.slice(index * CHUNK_ROWS, (index + 1) * CHUNK_ROWS),
      )
      return chunks.map((chunk) => {
        const bound = new Map<string, Value>()
        for (const index of indexes) {
          for (const column of columns) bound.set(placeholder(column, index), chunk[index]?.[column] ?? null)
        }
        const params = statement.params.map((param) =>
          is(param, Placeholder) && bound.has(param.name) ? bound.get(param.name) : param,
        )
        return { ...statement, params }
      })
    },
  }
}

/** The rows of `jsonRows` that have at least these columns. */
export type JsonRows<Column extends string> = Pick<ReturnType<typeof jsonRows<string, Column>>, 'matches' | 'column'>

/**
 * A table within a statement, whose rows are bound as one JSON array of objects: as many as fit into the 2 MB of a
 * parameter.
 */
export function jsonRows<const Name extends string, const Column extends string>(
  name: Name,
  ...columns: readonly Column[]
) {
  const table = sql.identifier(name)
  const parameter = text(name)
  const columnOf = (column: Column) => sql<string>`(${table}.value ->> ${sql.raw(`'${column}'`)})`
  return {
    /** To be joined, or to select from. */
    table: sql`json_each(${parameter}) as ${table}`,

    /** Its rows, as a parameter of the statement. */
    parameter,

    column: columnOf,

    /** Joins the rows of a stored table whose columns of these names are equal. */
    matches: <Name extends Column>(stored: Readonly<Record<Name, SQLWrapper>>, ...names: readonly Name[]) =>
      and(...names.map((each) => sql`${stored[each]} = ${columnOf(each)}`)),

    /** The value of the parameter: the columns of each row. */
    value: (rows: readonly Readonly<Record<Column, Value>>[]): string => JSON.stringify(rows, [...columns]),
  }
}
