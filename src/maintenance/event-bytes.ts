/**
 * The bytes of the events of each organization. Changes write nothing for it: a daily pass counts the new events, and removes
 * the oldest where there are more than `EVENT_BYTE_LIMIT` (retention.ts).
 */
import { and, desc, eq, gt, type SQL, sql } from 'drizzle-orm'
import { isSettled } from '../db/halts.ts'
import { now, number, text } from '../db/parameters.ts'
import { excluded, insertRow } from '../db/rows.ts'
import { auditEvents, eventUsage, organizations } from '../db/schema.ts'
import { query, unguarded } from '../db/statement.ts'
import { DAY_MS } from '../durations.ts'
import { oldestKept, sequenceOf } from '../resources/events/sequence.ts'

const PAGE_ROWS = 5000
/** No event younger is removed early: a stolen key must not erase its own trail. */
const KEPT_MS = 30 * DAY_MS
/** So many of the latest events tell which key writes most. */
const SAMPLE_ROWS = 5000

const after = text('after')
const last = text('last')
const countedBefore = number('countedBefore')
const removableBefore = number('removableBefore')
const oldestEvent = number('oldestEvent')
const byteLimit = number('byteLimit')
const organizationId = text('organizationId')

/** The values of the statements. @param eventByteLimit bytes of an organization. */
export function eventByteValues(instant: Date, eventByteLimit: number) {
  return {
    countedBefore: sequenceOf(instant.toISOString()),
    removableBefore: sequenceOf(new Date(instant.getTime() - KEPT_MS).toISOString()),
    oldestEvent: oldestKept(instant.toISOString()),
    byteLimit: eventByteLimit,
  }
}

/** The trigger `eventRemoved` has the same. */
const bytes = sql`octet_length(json_array(${sql.join(
  [
    auditEvents.organizationId,
    auditEvents.sequence,
    auditEvents.id,
    auditEvents.type,
    auditEvents.resourceId,
    auditEvents.parentId,
    auditEvents.resourceName,
    auditEvents.projectId,
    auditEvents.apiKeyId,
    auditEvents.apiKeyName,
    auditEvents.userId,
    auditEvents.requestId,
  ],
  sql`, `,
)}))`

const isOfPage = sql`${organizations.id} > ${after} and ${organizations.id} <= ${last} and ${isSettled(organizations.id)}`

const counted = sql`coalesce(${query
  .select({ countedTo: eventUsage.countedTo })
  .from(eventUsage)
  .where(eq(eventUsage.organizationId, organizations.id))}, -1)`

/** The oldest events of the page that are not counted, in order. */
const uncounted = (limit: number) => sql`(select ${auditEvents.organizationId} as "organizationId",
    ${auditEvents.sequence} as "sequence", ${bytes} as "bytes"
  from ${organizations} cross join ${auditEvents} on ${auditEvents.organizationId} = ${organizations.id}
    and ${auditEvents.sequence} > ${counted} and ${auditEvents.sequence} < ${countedBefore}
  where ${isOfPage} order by ${organizations.id}, ${auditEvents.sequence} limit ${sql.raw(String(limit))}) as "new"`

const OF_COUNT = { after, last, now, countedBefore }

export const findUncounted = unguarded(OF_COUNT, () => query.select({ one: sql`1` }).from(uncounted(1)))

export const countEvents = unguarded(OF_COUNT, () =>
  query
    .insert(eventUsage)
    .select(
      query
        .select(
          insertRow(eventUsage, {
            organizationId: sql`"new"."organizationId"`,
            countedTo: sql`max("new"."sequence")`,
            bytes: sql`sum("new"."bytes")`,
            removedTo: sql`-1`,
          }),
        )
        .from(uncounted(PAGE_ROWS))
        .groupBy(sql`"new"."organizationId"`),
    )
    .onConflictDoUpdate({
      target: eventUsage.organizationId,
      set: { countedTo: excluded('countedTo'), bytes: sql`${eventUsage.bytes} + ${excluded('bytes')}` },
    }),
)

/** The organization of the page with the most bytes beyond the limit, before the removal. */
export const selectLargest = unguarded({ after, last, now, byteLimit }, () =>
  query
    .select({ organizationId: eventUsage.organizationId, bytes: eventUsage.bytes })
    .from(organizations)
    .innerJoin(eventUsage, and(eq(eventUsage.organizationId, organizations.id), gt(eventUsage.bytes, byteLimit)))
    .where(isOfPage)
    .orderBy(desc(eventUsage.bytes))
    .limit(1),
)

/** The oldest events of organizations with too many bytes. Those that are too old for any organization go by their age. */
const oldest = (limit: number) => sql`(select ${auditEvents.organizationId} as "organizationId",
    ${auditEvents.sequence} as "sequence", ${bytes} as "bytes", ${eventUsage.bytes} as "total"
  from ${organizations}
  cross join ${eventUsage} on ${eventUsage.organizationId} = ${organizations.id} and ${eventUsage.bytes} > ${byteLimit}
  cross join ${auditEvents} on ${auditEvents.organizationId} = ${organizations.id}
    and ${auditEvents.sequence} >= ${oldestEvent} and ${auditEvents.sequence} < ${removableBefore}
    and ${auditEvents.sequence} <= ${eventUsage.countedTo}
  where ${isOfPage} order by ${organizations.id}, ${auditEvents.sequence} limit ${sql.raw(String(limit))}) as "oldest"`

const OF_REMOVAL = { after, last, now, byteLimit, oldestEvent, removableBefore }

export const findExcess = unguarded(OF_REMOVAL, () => query.select({ one: sql`1` }).from(oldest(1)))

const remaining: SQL = sql`"total" - sum("bytes") over (partition by "organizationId" order by "sequence") + "bytes"`

export const removeExcess = unguarded(OF_REMOVAL, () =>
  query.delete(auditEvents).where(
    sql`(${auditEvents.organizationId}, ${auditEvents.sequence}) in (select "organizationId", "sequence"
      from (select "organizationId", "sequence", ${remaining} as "remaining" from ${oldest(PAGE_ROWS)})
      where "remaining" > ${byteLimit})`,
  ),
)

/** The key that wrote the most bytes of the latest events. */
export const selectWriter = unguarded({ organizationId }, () => {
  const sample = sql`(select ${auditEvents.apiKeyId} as "apiKeyId", ${bytes} as "bytes" from ${auditEvents}
    where ${auditEvents.organizationId} = ${organizationId}
    order by ${auditEvents.sequence} desc limit ${sql.raw(String(SAMPLE_ROWS))}) as "sample"`
  return query
    .select({ apiKeyId: sql<string>`"sample"."apiKeyId"`.as('apiKeyId') })
    .from(sample)
    .where(sql`"sample"."apiKeyId" is not null`)
    .groupBy(sql`"sample"."apiKeyId"`)
    .orderBy(desc(sql`sum("sample"."bytes")`))
    .limit(1)
})
