/** Which organizations the tick and the queues leave alone, and what the operator has stopped. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { now } from './parameters.ts'
import { brakes, halts, organizationBrakes } from './schema.ts'

/** A look into a table that has halted organizations only, so it reads no row of the others. */
const isHalted = (organizationId: SQLWrapper, condition: SQL = sql``) =>
  sql`exists (select 1 from ${halts} where ${halts.organizationId} = ${organizationId}
    and (${halts.until} is null or ${halts.until} > ${now})${condition})`

/** False if the organization is suspended or moves to another database: nothing is fired or delivered. */
export const isActive = (organizationId: SQLWrapper) => sql`not ${isHalted(organizationId)}`

/** False if the organization moves to another database: its rows do not change here. */
export const isSettled = (organizationId: SQLWrapper) =>
  sql`not ${isHalted(organizationId, sql` and ${halts.kind} <> 'suspended'`)}`

/** False if the operator has stopped this, for the organization or for all. */
export function isNotStopped(kind: typeof brakes.$inferSelect.kind, organizationId: SQLWrapper): SQL {
  const itsKind = sql.raw(`'${kind}'`)
  // The first is asked once for all rows.
  return sql`(not exists (select 1 from ${brakes} where ${brakes.kind} = ${itsKind})
    and not exists (select 1 from ${organizationBrakes} where ${organizationBrakes.organizationId} = ${organizationId}
      and ${organizationBrakes.kind} = ${itsKind}))`
}
