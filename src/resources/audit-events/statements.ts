/** The audit events of an organization, in SQL. access/audit.ts writes them. */
import { and, desc, eq, getTableColumns, gte, lt, type SQLWrapper, sql } from 'drizzle-orm'
import { requiring } from '../../access/preconditions.ts'
import { unrestrictedFor } from '../../access/project.ts'
import { auditEvents } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'

/**
 * No index serves the filters, so a page examines up to this many events. Finding the last of them reads as many entries of
 * the primary key, so a page reads up to 5,000 rows besides its items.
 */
export const MOST_EXAMINED = 2500

const { organizationId, ...fields } = getTableColumns(auditEvents)
const rowLimit = sql.placeholder('rowLimit')

export const listable = requiring([], { isUnrestricted: unrestrictedFor('Audit events') })

/** The IDs are in the order of the times (db/time-ids.ts). */
const isInRange = and(
  eq(organizationId, listable.organizationId),
  gte(auditEvents.id, sql.placeholder('first')),
  lt(auditEvents.id, sql.placeholder('before')),
)

export const selectAuditEvents = guarded(() =>
  query.select(fields).from(auditEvents).where(isInRange).orderBy(desc(auditEvents.id)).limit(rowLimit),
)

/** A filter that is null holds for every event. */
const equals = (column: SQLWrapper, filter: string) =>
  sql`(${sql.placeholder(filter)} is null or ${column} = ${sql.placeholder(filter)})`

const examined = query
  .select(fields)
  .from(auditEvents)
  .where(isInRange)
  .orderBy(desc(auditEvents.id))
  .limit(MOST_EXAMINED)
  .as('examined')

/** In the order of the examined events: an order of its own would have to sort them all. */
export const selectMatchingEvents = guarded(() =>
  query
    .select()
    .from(examined)
    .where(
      and(
        equals(examined.operation, 'operation'),
        equals(examined.apiKeyId, 'apiKeyId'),
        equals(examined.userId, 'userId'),
      ),
    )
    .limit(rowLimit),
)

/** No row if all events of the range were examined. */
export const selectLastExamined = guarded(() =>
  query
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(isInRange)
    .orderBy(desc(auditEvents.id))
    .limit(1)
    .offset(MOST_EXAMINED - 1),
)
