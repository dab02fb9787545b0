/** Deletions that can be undone: the row moves to `deletions` as JSON, and its dependents stay until the purge. */
import { getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import { now, type Parameter, text } from '../db/parameters.ts'
import { insertRow } from '../db/rows.ts'
import { deletions } from '../db/schema.ts'
import { guarded, query } from '../db/statement.ts'
import { DAY_MS } from '../durations.ts'
import type { Limits } from '../environment.ts'
import type { Preconditions } from './preconditions.ts'

export type DeletedType = (typeof deletions.$inferSelect)['resourceType']

const deletionId = text('deletionId')
const finalAt = text('finalAt')

/** About a century. A longer time would not be a valid date. */
const MAX_UNDO_DAYS = 36_500

/** The values of `copyToDeletions`. */
export function deletionValues({ now, limits }: { readonly now: string; readonly limits: Limits }) {
  const undoMs = Math.min(limits.undoDays, MAX_UNDO_DAYS) * DAY_MS
  return { deletionId: newUuid(), finalAt: new Date(Date.parse(now) + undoMs).toISOString() }
}

/** D1 allows 32 arguments of a function: a name and a value for each column. */
const COLUMNS_AT_ONCE = 16

/** The row of the table, as JSON. Columns that are null may be left out. */
function toJson(table: SQLiteTable): SQL {
  const columns = Object.entries(getTableColumns(table))
  const parts = Array.from({ length: Math.ceil(columns.length / COLUMNS_AT_ONCE) }, (_, part) => {
    const pairs = columns
      .slice(part * COLUMNS_AT_ONCE, (part + 1) * COLUMNS_AT_ONCE)
      .map(([name, column]) => sql`${sql.raw(`'${name}'`)}, ${column}`)
    return sql`json_object(${sql.join(pairs, sql`, `)})`
  })
  return parts.reduce((all, part) => sql`json_patch(${all}, ${part})`)
}

/** The row that `toJson` made, to be inserted again. A column that was added since has its default. */
export function fromJson(table: SQLiteTable, json: SQLWrapper): Record<string, SQL> {
  const columns: [string, SQLiteColumn][] = Object.entries(getTableColumns(table))
  return Object.fromEntries(
    columns.map(([name, column]) => {
      const value = sql`${json} ->> ${sql.raw(`'$.${name}'`)}`
      const { default: defaultValue } = column
      return [name, defaultValue === undefined ? value : sql`coalesce(${value}, ${sql.raw(`'${defaultValue}'`)})`]
    }),
  )
}

type DeletableTable = SQLiteTable & Record<'organizationId' | 'id', SQLiteColumn>

/** Copies the named row to `deletions`, before the deletion of the row. A deletion that is final at once has no copy. */
export function copyToDeletions<P extends Parameter>(
  deletable: Pick<Preconditions<unknown, P>, 'rows' | 'takes'>,
  resourceType: DeletedType,
  table: DeletableTable,
  parent: { readonly projectId?: SQLWrapper | undefined; readonly agentId?: SQLWrapper | undefined } = {},
) {
  const ifRestorable = (value: SQLWrapper) => sql`case when ${finalAt} > ${now} then ${value} end`
  return guarded(deletable, { deletionId, finalAt }, () =>
    query.insert(deletions).select(
      deletable.rows(
        insertRow(deletions, {
          organizationId: table.organizationId,
          resourceType: sql.raw(`'${resourceType}'`),
          resourceId: table.id,
          projectId: parent.projectId ?? null,
          agentId: parent.agentId ?? null,
          deletedAt: now,
          finalAt,
          id: ifRestorable(deletionId),
          row: ifRestorable(toJson(table)),
        }),
      ),
    ),
  )
}
