/**
 * Lists that may leave out rows of their order: those that do not meet a filter, which has no index because an index
 * would add a row to every change, and those that depend on something deleted, until the purge has removed them.
 */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type NamedParameters, type Parameter, rowLimit } from './parameters.ts'
import { namesOf, selectedAs } from './rows.ts'
import { deletions } from './schema.ts'
import { guarded, query, type Statement } from './statement.ts'

/** A page examines at most this many rows. Finding the last of them reads as many entries of an index. */
export const MAX_EXAMINED = 2500

type Fields = Readonly<Record<string, SQLiteColumn | SQL.Aliased>>

/** The row that a select of these fields returns. */
export type RowOfFields<Selected extends Fields> = {
  readonly [Name in keyof Selected]: Selected[Name] extends SQLiteColumn
    ? Selected[Name]['_']['data']
    : Selected[Name] extends SQL.Aliased<infer Data>
      ? Data
      : never
}

/**
 * A row of a page: an item, or the last row that the page examined, of which only the columns of the cursor are known.
 */
export type Examined<Item> = Item & { readonly isLastExamined: 0 | 1 }

interface ExaminedList<Listed extends Fields> {
  readonly table: SQLiteTable
  /** The table by the index of the order, if that is not the primary key. */
  readonly source?: SQL
  /** The rows after the cursor. */
  readonly isInRange: SQL | undefined
  readonly order: SQL
  /** The columns that a cursor is made from. */
  readonly position: Readonly<Record<string, SQLiteColumn>>
  /** The columns of an item. */
  readonly fields: Listed
  /** The joins that the columns and the condition need. */
  readonly joins?: SQL
  /** True for the examined rows that are listed. */
  readonly isListed?: SQL | undefined
  /** False if the page lists all rows of its range. */
  readonly mayLeaveOut: SQL | undefined
}

/** True if the organization has ever deleted something of these types. */
export const hasDeleted = (organizationId: SQLWrapper, ...types: (typeof deletions.$inferSelect)['resourceType'][]) =>
  sql`exists (select 1 from ${deletions} where ${deletions.organizationId} = ${organizationId}
    and ${deletions.resourceType} in (${sql.raw(types.map((type) => `'${type}'`).join(', '))}))`

/**
 * A page in one statement: its items, and after them the last row that it examined, unless it has all the items that it
 * may have or has examined the whole range. SQLite looks for that row only then.
 * @param listable whose parameters the statement takes.
 * @param parameters of the range and the conditions.
 */
export function listOf<P extends Parameter, Own extends NamedParameters, Listed extends Fields>(
  listable: { readonly takes: readonly P[] },
  parameters: Own,
  list: ExaminedList<Listed>,
): Statement<Examined<RowOfFields<Listed>>, P | Own[keyof Own] | typeof rowLimit> {
  const { table, source = sql`${table}`, isInRange, order, position, fields, joins, isListed, mayLeaveOut } = list
  return guarded(listable, { ...parameters, rowLimit }, () => {
    const lastColumns = Object.keys(fields).map((name) => sql`${position[name] ?? sql`null`}`)
    // The items keep the order of the examined rows: an order of their own would have to sort them all.
    const items = sql`select ${selectedAs(fields)}, 0 as "isLastExamined"
      from (select * from ${source} where ${isInRange} order by ${order} limit ${sql.raw(String(MAX_EXAMINED))}) as ${table}
      ${joins} where ${isListed ?? sql`true`}`
    // A condition in the limit is tested once, before the first row.
    const last = sql`select * from (select ${sql.join(lastColumns, sql`, `)}, 1
      from ${source} where ${isInRange} order by ${order}
      limit (${mayLeaveOut}) offset ${sql.raw(String(MAX_EXAMINED - 1))})`
    return query
      .select({ ...namesOf<Fields>(fields), isLastExamined: sql<0 | 1>`"isLastExamined"`.as('isLastExamined') })
      .from(sql`(${items} union all ${last})`)
      .limit(rowLimit)
  }) as Statement<Examined<RowOfFields<Listed>>, P | Own[keyof Own] | typeof rowLimit>
}
