/** The events of an organization, in SQL. access/events.ts writes them. */

import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  isNotNull,
  isNull,
  lt,
  notExists,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { callersProjectIds } from '../../access/guard.ts'
import { precondition, requiring } from '../../access/preconditions.ts'
import { keyIsUnrestricted } from '../../access/project.ts'
import { hasType } from '../../access/wanted.ts'
import { MAX_EXAMINED } from '../../db/examined.ts'
import { type NamedParameters, number, type Parameter, rowLimit, textOrNull } from '../../db/parameters.ts'
import { equalsIfGiven } from '../../db/rows.ts'
import { apiKeys, auditEvents, eventUsage } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import type { Failure } from '../../errors.ts'
import { listCursorExpired } from './failures.ts'

/** The number that a page begins after; of an audit trail, the one that it ends before. */
const after = number('after')
const before = number('before')
/** The first number of an audit trail. */
const first = number('first')
/** The first number of the time from which events are kept. */
export const oldestKept = number('oldestKept')
/** JSON array of types, which may end in `.*`. */
const types = textOrNull('types')
/** The resource: the pattern of its types, and its ID. */
const resourceTypes = textOrNull('resourceTypes')
const resourceId = textOrNull('resourceId')
const projectId = textOrNull('projectId')
const apiKeyId = textOrNull('apiKeyId')
const userId = textOrNull('userId')
/** 1 if the request has filters, else 0. */
const isFiltered = number('isFiltered')

export const FILTERS = { types, resourceTypes, resourceId, projectId, apiKeyId, userId }

/** The columns of an event, and its number. */
export const eventColumns = {
  sequence: auditEvents.sequence,
  id: auditEvents.id,
  type: auditEvents.type,
  resourceId: auditEvents.resourceId,
  parentId: auditEvents.parentId,
  resourceName: auditEvents.resourceName,
  projectId: auditEvents.projectId,
  apiKeyId: auditEvents.apiKeyId,
  apiKeyName: auditEvents.apiKeyName,
  userId: auditEvents.userId,
  requestId: auditEvents.requestId,
}

type EventColumns = Readonly<Record<keyof typeof eventColumns, SQLWrapper>>

/** True for an event that the filters leave in. */
const isWanted = (event: Pick<EventColumns, 'type' | 'resourceId' | 'projectId' | 'apiKeyId' | 'userId'>) =>
  and(
    or(isNull(types), hasType(event.type, types)),
    sql`(${resourceId} is null or (${event.resourceId} = ${resourceId} and ${event.type} glob ${resourceTypes}))`,
    equalsIfGiven(event.projectId, projectId),
    equalsIfGiven(event.apiKeyId, apiKeyId),
    equalsIfGiven(event.userId, userId),
  )

/** Skills, feeds, and schedules and runs of agents are open to keys that are restricted to projects. */
const OPEN = ['skill.*', 'skill-feed.*', 'schedule.*', 'run.*']
const isVisible = (event: Pick<EventColumns, 'type' | 'projectId'>) =>
  sql`(${callersProjectIds} is null or case when ${event.projectId} is null
    then ${or(...OPEN.map((pattern) => sql`${event.type} glob ${sql.raw(`'${pattern}'`)}`))}
    else ${event.projectId} in (select value from json_each(${callersProjectIds})) end)`

/**
 * A list in one order. It is in the order of the examined events: an order of its own would have to sort them all.
 * @param range the parameters of the condition.
 */
function listed<P extends Parameter, Range extends NamedParameters>(
  listable: ReturnType<typeof requiring> & { readonly takes: readonly P[] },
  range: Range,
  isInRange: SQL | undefined,
  order: SQL,
) {
  const isExamined = and(eq(auditEvents.organizationId, listable.organizationId), isInRange)
  const examined = query
    .select(eventColumns)
    .from(auditEvents)
    .where(isExamined)
    .orderBy(order)
    .limit(MAX_EXAMINED)
    .as('examined')
  return {
    select: guarded(listable, { ...range, ...FILTERS, rowLimit }, () =>
      query
        .select()
        .from(examined)
        .where(and(isWanted(examined), isVisible(examined)))
        .limit(rowLimit),
    ),
    /** No row if all events of the range were examined, or no event can have been left out. */
    selectLastExamined: guarded(listable, { ...range, isFiltered }, () =>
      listable
        .rows({ sequence: auditEvents.sequence }, or(sql`${isFiltered}`, isNotNull(apiKeys.projectIds)))
        .innerJoin(auditEvents, and(eq(auditEvents.organizationId, apiKeys.organizationId), isInRange))
        .orderBy(order)
        .limit(1)
        .offset(MAX_EXAMINED - 1),
    ),
  }
}

const hasNoneOldAfter = (sequence: SQLWrapper) =>
  notExists(
    query
      .select({ one: sql`1` })
      .from(auditEvents)
      .where(
        and(
          eq(auditEvents.organizationId, apiKeys.organizationId),
          gt(auditEvents.sequence, sequence),
          lt(auditEvents.sequence, oldestKept),
        ),
      ),
  )

/** Those that were removed early, beyond `EVENT_BYTE_LIMIT`. A list from the start has what is left. */
const hasNoneRemovedAfter = (sequence: SQLWrapper) =>
  notExists(
    query
      .select({ one: sql`1` })
      .from(eventUsage)
      .where(
        and(
          eq(eventUsage.organizationId, apiKeys.organizationId),
          gt(eventUsage.removedTo, sequence),
          sql`${sequence} <> ${oldestKept} - 1`,
        ),
      ),
  )

/** True if no event after this number may have been deleted. */
export const isKeptAfter = (sequence: SQLWrapper) => and(hasNoneOldAfter(sequence), hasNoneRemovedAfter(sequence))

/** No event after the cursor of the request may have been deleted. */
export const keptAfter = (cursorExpired: Failure) =>
  precondition(isKeptAfter(after), cursorExpired, { after, oldestKept })

export const readable = requiring([], {
  isKept: keptAfter(listCursorExpired),
})

export const feed = listed(readable, { after }, gt(auditEvents.sequence, after), asc(auditEvents.sequence))

/** The number of the last event; NULL without events. */
export const selectEnd = guarded(readable, {}, () =>
  readable.rows({
    sequence: sql<number | null>`${query
      .select({ sequence: sql`max(${auditEvents.sequence})` })
      .from(auditEvents)
      .where(eq(auditEvents.organizationId, apiKeys.organizationId))}`.as('sequence'),
  }),
)

export const auditable = requiring([], { isUnrestricted: keyIsUnrestricted })

export const trail = listed(
  auditable,
  { first, before },
  and(gte(auditEvents.sequence, first), lt(auditEvents.sequence, before)),
  desc(auditEvents.sequence),
)
