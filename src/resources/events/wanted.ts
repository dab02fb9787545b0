/** Which events an endpoint wants, in SQL. */
import { and, exists, isNull, or, type SQLWrapper, sql } from 'drizzle-orm'
import { eventEndpoints } from '../../db/schema.ts'
import { query } from '../../db/statement.ts'

/** True if one of the patterns is the type, or begins it: `skill.*`. @param patterns a JSON array. */
export const hasType = (type: SQLWrapper, patterns: SQLWrapper) =>
  exists(
    query.select({ one: sql`1` }).from(sql`json_each(${patterns}) as "wanted"`).where(sql`${type} glob "wanted".value`),
  )

/** True for an event that the endpoint delivers. */
export const isWantedBy = (event: Readonly<Record<'type' | 'projectId', SQLWrapper>>) =>
  and(
    or(isNull(eventEndpoints.types), hasType(event.type, eventEndpoints.types)),
    sql`(${eventEndpoints.projectId} is null or ${event.projectId} = ${eventEndpoints.projectId})`,
  )
