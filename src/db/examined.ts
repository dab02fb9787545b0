/** Lists with filters that no index serves, because an index would add a row to every change. */
import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { maxExamined, type Parameter } from './parameters.ts'
import { asSql } from './rows.ts'
import { guarded, query, type Statement } from './statement.ts'

/** A page with such a filter examines at most this many rows. Finding the last of them reads as many entries of an index. */
export const MAX_EXAMINED = 2500

type Columns = Readonly<Record<string, SQLiteColumn>>

/** The row that a select of these columns returns. */
export type RowOfColumns<Selected extends Columns> = {
  readonly [Name in keyof Selected]: Selected[Name]['_']['data']
}

interface Range<Position> {
  readonly table: SQLiteTable
  /** The table by the index of the order, if that is not the primary key. */
  readonly source?: SQL
  /** The rows after the cursor. */
  readonly isInRange: SQL | undefined
  readonly order: SQL
  /** The columns that a cursor is made from. */
  readonly position: Position
}

/**
 * The rows that a page examines, in order. The list selects from them: an order of its own would have to sort them all.
 * @param listable whose parameters the statements take.
 * @param parameters of the range.
 */
export function examined<P extends Parameter, const Own extends readonly Parameter[], Position extends Columns>(
  listable: { readonly takes: readonly P[] },
  parameters: Own,
  { table, source = sql`${table}`, isInRange, order, position }: Range<Position>,
) {
  const columns: Columns = position
  return {
    rows: sql`(select * from ${source} where ${isInRange} order by ${order} limit ${maxExamined}) as ${table}`,
    parameters: [...parameters, maxExamined] as const,
    /** No row if all rows of the range were examined. */
    selectLastExamined: guarded(listable, parameters, () =>
      query
        .select(asSql(columns))
        .from(source)
        .where(isInRange)
        .orderBy(order)
        .limit(1)
        .offset(MAX_EXAMINED - 1),
    ) as Statement<RowOfColumns<Position>, P | Own[number]>,
  }
}
