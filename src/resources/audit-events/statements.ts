/** Audit events, in SQL. They are written by access/audit.ts. */
import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { isUnrestricted, mayAct } from '../../access/guard.ts'
import { apiKeys, auditEvents } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'

const { organizationId, ...fields } = getTableColumns(auditEvents)

/** They are of every project, so a key that is limited to some sees none. */
const listedFrom = query
  .select({ organizationId: apiKeys.organizationId })
  .from(apiKeys)
  .where(and(mayAct, isUnrestricted))

export const listAuditEvents = guarded(() =>
  query
    .select(fields)
    .from(auditEvents)
    .where(and(eq(organizationId, listedFrom), sql`${auditEvents.id} < ${sql.placeholder('before')}`))
    .orderBy(desc(auditEvents.id))
    .limit(sql.placeholder('rowLimit')),
)
