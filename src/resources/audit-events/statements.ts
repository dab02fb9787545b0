/** The audit events of an organization, in SQL. access/audit.ts writes them. */
import { and, desc, eq, getTableColumns, gte, lt, sql } from 'drizzle-orm'
import { requiring } from '../../access/preconditions.ts'
import { unrestrictedFor } from '../../access/project.ts'
import { equalsIfGiven } from '../../db/rows.ts'
import { auditEvents } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { MOST_EXAMINED } from '../../http/paging.ts'

const { organizationId, ...fields } = getTableColumns(auditEvents)
const rowLimit = sql.placeholder('rowLimit')

export const listable = requiring([], { isUnrestricted: unrestrictedFor('Audit events') })

/** The IDs are in the order of the times (db/time-ids.ts). */
const isInRange = and(
  eq(organizationId, listable.organizationId),
  gte(auditEvents.id, sql.placeholder('first')),
  lt(auditEvents.id, sql.placeholder('before')),
)

const examined = query
  .select(fields)
  .from(auditEvents)
  .where(isInRange)
  .orderBy(desc(auditEvents.id))
  .limit(sql.placeholder('mostExamined'))
  .as('examined')

/** In the order of the examined events: an order of its own would have to sort them all. */
export const selectAuditEvents = guarded(() =>
  query
    .select()
    .from(examined)
    .where(
      and(
        equalsIfGiven(examined.operation, 'operation'),
        equalsIfGiven(examined.apiKeyId, 'apiKeyId'),
        equalsIfGiven(examined.userId, 'userId'),
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
