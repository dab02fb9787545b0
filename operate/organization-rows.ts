/**
 * The rows of an organization: in which tables they are, and how a page of them is selected. Without Node's modules,
 * because tests run it in workerd.
 */
import type { Value } from '../src/db/parameters.ts'
import type { Query, Row } from './cloudflare.ts'

/** What moves and purges call of a `CommandDatabase`. */
export interface Batches {
  /** Runs the statements in one transaction. @returns the rows of each. */
  batch(queries: readonly Query[]): Promise<Row[][]>
}

/** The tables without rows that belong to an organization. */
const OF_NO_ORGANIZATION = [
  'alerts',
  'brakes',
  'd1_migrations',
  'databases',
  'lastTick',
  'objectSearches',
  'passes',
  'tickReports',
]
/** Where an organization is, not what it has: each database has its own. */
const OF_THE_MOVE = ['directory', 'halts']

/** The tables that refer to the organization in another way than by a column `organizationId`. */
const CONDITIONS: Readonly<Record<string, (row: string) => string>> = {
  organizations: (row) => `${row}"id"`,
  // `<kind>/<organization>/<UUID>`
  orphanedObjects: (row) => `substr(${row}"objectKey", instr(${row}"objectKey", '/') + 1, 36)`,
}

/** Bounds the memory of a page. A row of `skillContents` has up to 1.4 MB, one of `skillVersions` up to 230 KB. */
const PAGE_SIZE = 1000
const PAGE_SIZES: Readonly<Record<string, number>> = { skillContents: 20, skillVersions: 100 }
export const pageSizeOf = (table: string): number => PAGE_SIZES[table] ?? PAGE_SIZE

export interface OrganizationTable {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns of the primary key. */
  readonly key: readonly string[]
  /** The columns by which the rows of one organization are ordered, without the organization. */
  readonly order: readonly string[]
  /** The organization of a row. @param row what precedes the name of a column, such as `new.`. */
  readonly organizationOf: (row?: string) => string
  readonly pageSize: number
}

/**
 * The tables with rows of organizations: first that of the organizations, last that of their usage, because triggers
 * make and count the usage when rows are inserted.
 * @throws for a table that this module does not know.
 */
export async function organizationTables(database: Batches): Promise<OrganizationTable[]> {
  const [columns = []] = await database.batch([
    {
      sql: `SELECT "tables"."name" AS "table", "columns"."name", "columns"."pk"
        FROM sqlite_master AS "tables" JOIN pragma_table_info("tables"."name") AS "columns"
        WHERE "tables"."type" = 'table' AND "tables"."name" NOT LIKE 'sqlite\\_%' ESCAPE '\\'
          AND "tables"."name" NOT LIKE '\\_cf\\_%' ESCAPE '\\'
        ORDER BY "tables"."name" <> 'organizations', "tables"."name" = 'organizationUsage',
          "tables"."name" IN ('apiKeys', 'skillFeeds'), "tables"."name", "columns"."cid"`,
    },
  ])
  const byTable = Map.groupBy(columns, ({ table }) => String(table))
  return Array.from(byTable).flatMap(([name, own]) => tableOf(name, own) ?? [])
}

function tableOf(name: string, columns: readonly Row[]): OrganizationTable | undefined {
  if (OF_NO_ORGANIZATION.includes(name) || OF_THE_MOVE.includes(name)) return undefined
  const names = columns.map((column) => String(column.name))
  const known = CONDITIONS[name]
  if (!known && !names.includes('organizationId')) {
    throw new Error(
      `The table ${name} is not known to have rows of organizations or none (operate/organization-rows.ts).`,
    )
  }
  const key = columns.filter(({ pk }) => pk !== 0).sort((one, other) => Number(one.pk) - Number(other.pk))
  const keyNames = key.map((column) => String(column.name))
  // Keys and feeds have their hash as primary key, and a unique index by organization and ID.
  const isByHash = !known && !keyNames.includes('organizationId')
  return {
    name,
    columns: names,
    key: keyNames,
    order: isByHash ? ['id'] : keyNames.filter((column) => column !== 'organizationId'),
    organizationOf: (row = '') => known?.(row) ?? `${row}"organizationId"`,
    pageSize: pageSizeOf(name),
  }
}

const listed = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

/** The rows after `last`, in order, up to a page. */
export function selectPage(table: OrganizationTable, organizationId: string, last: Row | undefined): Query {
  const { name, columns, order, organizationOf, pageSize } = table
  // The table with one row for each organization has no further column in its key.
  const isAfter = last && order.length > 0 ? ` AND (${listed(order)}) > (${order.map(() => '?').join(', ')})` : ''
  const orderBy = order.length > 0 ? ` ORDER BY ${listed(order)}` : ''
  return {
    sql: `SELECT ${listed(columns)} FROM "${name}" WHERE ${organizationOf()} = ?${isAfter}${orderBy} LIMIT ${pageSize}`,
    parameters: [organizationId, ...(isAfter ? order.map((column): Value => last?.[column] ?? null) : [])],
  }
}

/** One row: how many rows each table has of the organization. */
export function countRows(tables: readonly OrganizationTable[], organizationId: string): Query {
  const counts = tables.map(
    ({ name, organizationOf }) => `(SELECT count(*) FROM "${name}" WHERE ${organizationOf()} = ?1) AS "${name}"`,
  )
  return { sql: `SELECT ${counts.join(', ')}`, parameters: [organizationId] }
}

/** Deletes some rows, in order of their key. */
export function deletePage(
  { name, key, organizationOf }: OrganizationTable,
  organizationId: string,
  rows: number,
): Query {
  return {
    sql: `DELETE FROM "${name}" WHERE (${listed(key)}) IN
      (SELECT ${listed(key)} FROM "${name}" WHERE ${organizationOf()} = ? LIMIT ${rows})`,
    parameters: [organizationId],
  }
}
