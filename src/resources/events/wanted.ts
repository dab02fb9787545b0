/** Which events an endpoint wants, in SQL. */
import { and, isNull, or, type SQLWrapper, sql } from 'drizzle-orm'
import { eventEndpoints } from '../../db/schema.ts'

/** True if the list names the type or pattern. D1 would count the rows of a `json_each` for each event. */
const isNamed = (name: SQLWrapper, list: SQLWrapper) => sql`instr(${list}, '"' || ${name} || '"') > 0`

/** True if the list has the type, or the pattern of its resource: `skill.*`. @param list a JSON array. */
export const hasType = (type: SQLWrapper, list: SQLWrapper) =>
  or(isNamed(type, list), isNamed(sql`substr(${type}, 1, instr(${type}, '.')) || '*'`, list))

/** True for an event that the endpoint delivers. */
export const isWantedBy = (event: Readonly<Record<'type' | 'projectId', SQLWrapper>>) =>
  and(
    or(isNull(eventEndpoints.types), hasType(event.type, eventEndpoints.types)),
    sql`(${eventEndpoints.projectId} is null or ${event.projectId} = ${eventEndpoints.projectId})`,
  )
