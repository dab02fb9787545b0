/** Which events an endpoint wants, in SQL. */
import { and, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { eventEndpoints } from '../db/schema.ts'

/**
 * True if the list names the type, or all of its resource. D1 would count the rows of a `json_each` for each event.
 * @param patterns a JSON array of types and of patterns such as `skill.*`.
 */
export function hasType(type: SQLWrapper, patterns: SQLWrapper): SQL {
  const isNamed = (name: SQLWrapper) => sql`instr(${patterns}, '"' || ${name} || '"') > 0`
  return sql`(${isNamed(type)} or ${isNamed(sql`substr(${type}, 1, instr(${type}, '.')) || '*'`)})`
}

/** True for an event that the endpoint delivers. */
export const isWantedBy = (event: Readonly<Record<'type' | 'projectId', SQLWrapper>>) =>
  and(
    or(isNull(eventEndpoints.types), hasType(event.type, eventEndpoints.types)),
    sql`(${eventEndpoints.projectId} is null or ${event.projectId} = ${eventEndpoints.projectId})`,
  )
