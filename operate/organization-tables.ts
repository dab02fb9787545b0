/** The tables with rows of organizations, as the commands on an organization find them. */
import type { Value } from '../src/db/parameters.ts'
import type { CommandDatabase } from './database.ts'

/** The columns that refer to objects. */
export const OBJECT_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  sessionFiles: ['objectKey'],
  profilePictures: ['objectKey', 'uploadingObjectKey'],
  skillVersions: ['objectKey'],
}

/** Where the organization is, and what the operator has stopped: not a part of its data, so not of an export. */
export const OPERATOR_TABLES: readonly string[] = ['directory', 'halts', 'organizationBrakes']

/** Not deleted with the organization: the sweep deletes the objects only of organizations whose place is known. */
const KEPT = 'directory'

/**
 * The tables with rows of the organization, and how many, in the order of their deletion: API keys first, and the halt
 * last, until which nothing is fired.
 */
export async function countRows(database: CommandDatabase, id: Value): Promise<[table: string, count: number][]> {
  const tables = await listTables(database)
  const counts = tables.map((name) => `(SELECT count(*) FROM "${name}" WHERE "organizationId" = ?1) AS "${name}"`)
  const [[row = {}] = []] = await database.batch([{ sql: `SELECT ${counts.join(', ')}`, parameters: [id] }])
  return Object.entries(row)
    .map(([table, count]): [string, number] => [table, Number(count)])
    .filter(([, count]) => count > 0)
}

/** Every table with a column `organizationId`, but the one that is kept. */
export async function listTables(database: CommandDatabase): Promise<string[]> {
  const [rows = []] = await database.batch([
    {
      sql: `SELECT "name" FROM sqlite_master AS "table" WHERE "type" = 'table' AND "name" <> ?
        AND EXISTS (SELECT 1 FROM pragma_table_info("table"."name") AS "column" WHERE "column"."name" = 'organizationId')
        ORDER BY "name" <> 'apiKeys', "name" IN ('halts', 'organizationBrakes'), "name" = 'halts', "name"`,
      parameters: [KEPT],
    },
  ])
  return rows.map(({ name }) => String(name))
}
