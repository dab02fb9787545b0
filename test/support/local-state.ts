/** The database of a local state folder, read and changed beside the service, for tests on Node. */

import type { Row } from '../../scripts/cloudflare.ts'
import { type CommandDatabase, openDatabase } from '../../scripts/database.ts'

export async function rowsOf(state: string, sql: string): Promise<Row[]> {
  const database: CommandDatabase = await openDatabase({ remote: false, persistTo: state })
  try {
    const [rows = []] = await database.batch([{ sql }])
    return rows
  } finally {
    database.close()
  }
}

export async function countOf(state: string, sql: string): Promise<number> {
  const [row] = await rowsOf(state, `SELECT count(*) AS "count" FROM ${sql}`)
  return Number(row?.count)
}
