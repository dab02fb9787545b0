/** Edits: what they change, and `If-Match` and `If-None-Match` (docs/contract.md, "Edits by several clients"). */
import { isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { now, text, textOrNull } from '../db/parameters.ts'
import { asJson } from '../db/rows.ts'
import { alreadyExists, etagMismatch } from './failures.ts'
import { precondition } from './preconditions.ts'

/** The entity tags in `If-Match`, with their quotes; `*`; or null without the header. */
const ifMatch = textOrNull('ifMatch')
/** `*`, or null without the header. */
const ifNoneMatch = textOrNull('ifNoneMatch')

/** The revision of an edit: a value that the resource has not had. */
export const newRevision = sql<string>`lower(hex(randomblob(8)))`

/** JSON object of the columns that a PATCH changes. */
export const changes = text('changes')

/** The value of a column after a PATCH. */
export function changed(name: string, column: SQLWrapper): SQL {
  const path = sql.raw(`'$.${name}'`)
  return sql`case when json_type(${changes}, ${path}) is null then ${column} else ${changes} ->> ${path} end`
}

/** True if an edit gives one of the columns another value. @param settings the new value of each column. */
export function differs<Column extends string>(
  table: Readonly<Record<NoInfer<Column>, SQLWrapper>>,
  settings: Readonly<Record<Column, SQLWrapper>>,
): SQL {
  const columns = Object.entries(settings) as [Column, SQLWrapper][]
  return sql`(${sql.join(
    columns.map(([column, value]) => sql`${table[column]} is not ${value}`),
    sql` or `,
  )})`
}

/**
 * The columns that an edit sets. If all settings stay equal, so do `updatedAt` and the revision; the event of the edit has
 * the condition `differs`.
 */
export function edited<Column extends string>(
  table: Readonly<Record<NoInfer<Column> | 'updatedAt', SQLWrapper> & { revision?: SQLWrapper }>,
  settings: Readonly<Record<Column, SQL>>,
) {
  const unlessEqual = (column: SQLWrapper, value: SQLWrapper) =>
    sql`case when ${differs(table, settings)} then ${value} else ${column} end`
  return {
    ...settings,
    updatedAt: unlessEqual(table.updatedAt, now),
    ...(table.revision && { revision: unlessEqual(table.revision, newRevision) }),
  }
}

/**
 * What the check of an update returns besides: the row as JSON, if the update leaves it as it is. The update has the same
 * condition and writes no row then, so that nothing follows from it.
 */
export const unchangedIf = (isChanged: SQL, fields: Parameters<typeof asJson>[0]) => ({
  unchanged: sql<string>`case when not ${isChanged} then ${asJson(fields)} end`,
})

/** The row after such an update. @param updated what the update returned. */
export function rowAfter<Row>([updated]: readonly Row[], { unchanged }: { readonly unchanged: string }): Row {
  return updated ?? (JSON.parse(unchanged) as Row)
}

/** @param revision of the named resource; NULL if it does not exist. */
export function matchesRevision(revision: SQLWrapper) {
  return precondition(
    sql`${ifMatch} is null or (${ifMatch} = '*' and ${revision} is not null) or instr(${ifMatch}, '"' || ${revision} || '"') > 0`,
    etagMismatch,
    { ifMatch },
  )
}

/** For a PUT. @param revision of the named resource; NULL if it does not exist. */
export function isNewIfRequired(revision: SQLWrapper) {
  return precondition(sql`${ifNoneMatch} is null or ${isNull(revision)}`, alreadyExists, { ifNoneMatch })
}
