/** The audit events of an organization, in SQL. access/audit.ts writes them. */
import { and, desc, eq, gte, lt } from 'drizzle-orm'
import { requiring } from '../../access/preconditions.ts'
import { unrestrictedFor } from '../../access/project.ts'
import { maxExamined, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn, equalsIfGiven } from '../../db/rows.ts'
import { auditEvents } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { MAX_EXAMINED } from '../../http/paging.ts'
import { auditEvent } from './contract.ts'

const first = text('first')
const before = text('before')
const operation = textOrNull('operation')
const apiKeyId = textOrNull('apiKeyId')
const userId = textOrNull('userId')

export const listable = requiring([], { isUnrestricted: unrestrictedFor('Audit events') })

/** The IDs are in the order of the times (db/time-ids.ts). */
const isInRange = and(
  eq(auditEvents.organizationId, listable.organizationId),
  gte(auditEvents.id, first),
  lt(auditEvents.id, before),
)

const examined = query
  .select(columnsIn(auditEvents, auditEvent))
  .from(auditEvents)
  .where(isInRange)
  .orderBy(desc(auditEvents.id))
  .limit(maxExamined)
  .as('examined')

/** In the order of the examined events: an order of its own would have to sort them all. */
export const selectAuditEvents = guarded(
  listable,
  [first, before, maxExamined, operation, apiKeyId, userId, rowLimit],
  () =>
    query
      .select()
      .from(examined)
      .where(
        and(
          equalsIfGiven(examined.operation, operation),
          equalsIfGiven(examined.apiKeyId, apiKeyId),
          equalsIfGiven(examined.userId, userId),
        ),
      )
      .limit(rowLimit),
)

/** No row if all events of the range were examined. */
export const selectLastExamined = guarded(listable, [first, before], () =>
  query
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(isInRange)
    .orderBy(desc(auditEvents.id))
    .limit(1)
    .offset(MAX_EXAMINED - 1),
)
