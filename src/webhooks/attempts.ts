/** The last attempts to deliver a webhook: a column with a JSON array, the latest first. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

/**
 * The value of the column with one attempt more.
 * @param attempt as JSON.
 * @param most how many are kept.
 */
export function withAttempt(column: SQLWrapper, attempt: SQLWrapper, most: number): SQL {
  const earliest = sql.raw(`'$[${most}]'`)
  return sql`json_remove('[' || ${attempt} || coalesce(',' || substr(${column}, 2), ']'), ${earliest})`
}
