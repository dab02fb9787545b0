/** The audit events of an organization, in SQL. access/audit.ts writes them. */
import { and, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import { requiring } from '../../access/preconditions.ts'
import { unrestrictedFor } from '../../access/project.ts'
import { auditEvents } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'

const { organizationId, ...fields } = getTableColumns(auditEvents)

export const listable = requiring([], { isUnrestricted: unrestrictedFor('Audit events') })

export const selectAuditEvents = guarded(() =>
  query
    .select(fields)
    .from(auditEvents)
    .where(and(eq(organizationId, listable.organizationId), lt(auditEvents.id, sql.placeholder('before'))))
    .orderBy(desc(auditEvents.id))
    .limit(sql.placeholder('rowLimit')),
)
