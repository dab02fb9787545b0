/** The deliveries of event endpoints, in SQL. */
import { and, asc, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordedByService } from '../../../access/events.ts'
import { now, number, numberOrNull, text, textOrNull } from '../../../db/parameters.ts'
import { jsonRows } from '../../../db/rows.ts'
import { auditEvents, eventEndpoints, projects, users } from '../../../db/schema.ts'
import { query, unguarded } from '../../../db/statement.ts'
import { MAX_EXAMINED } from '../../../http/paging.ts'
import { withAttempt } from '../../../webhooks/attempts.ts'
import { isWantedBy } from '../wanted.ts'

/** How many events a message of the format `standard` has, and how many sentences one of `text`. */
const MAX_EVENTS = 100
const MAX_SENTENCES = 20
/** How many attempts an endpoint shows. */
const MAX_ATTEMPTS = 10

const organizationId = text('organizationId')
const endpointId = text('endpointId')
const leaseId = text('leaseId')
const leaseExpiresAt = text('leaseExpiresAt')
const newMessageId = text('newMessageId')
/** 1 for a message of the queue of slow endpoints. */
const isSlow = number('isSlow')

const isNamed = and(eq(eventEndpoints.organizationId, organizationId), eq(eventEndpoints.id, endpointId))
const isEndpointSlow = sql<0 | 1>`coalesce(${eventEndpoints.slowUntil} > ${now}, 0)`
/** Nobody else is sending. A hint in the queue is not in the way. */
const isFree = or(isNull(eventEndpoints.leaseId), lte(eventEndpoints.leaseExpiresAt, now))
/** An endpoint that failed waits until its next attempt. */
const isDue = and(
  isNull(eventEndpoints.disabledAt),
  or(isNull(eventEndpoints.nextAttemptAt), lte(eventEndpoints.nextAttemptAt, now)),
)

/** The next events after the place of the endpoint. */
const nextEvents = (limit: number, name: string) =>
  query
    .select({ sequence: auditEvents.sequence, type: auditEvents.type, projectId: auditEvents.projectId })
    .from(auditEvents)
    .where(
      and(
        eq(auditEvents.organizationId, eventEndpoints.organizationId),
        gt(auditEvents.sequence, eventEndpoints.deliveredSequence),
      ),
    )
    .orderBy(asc(auditEvents.sequence))
    .limit(limit)
    .as(name)
const examined = nextEvents(MAX_EXAMINED, 'examined')

const sized = alias(eventEndpoints, 'sized')
/** How many events a message has. Not of the outer row, which LIMIT cannot see. */
const messageSize = query
  .select({
    size: sql`case when not ${sized.batch} then 1 when ${sized.format} = 'text' then ${sql.raw(String(MAX_SENTENCES))}
      else ${sql.raw(String(MAX_EVENTS))} end`,
  })
  .from(sized)
  .where(and(eq(sized.organizationId, organizationId), eq(sized.id, endpointId)))

/** The number of the last event of a new message; NULL if the endpoint wants none of the examined ones. */
const newMessageEnd = sql`(select max("sequence") from (
  select ${examined.sequence} as "sequence" from ${examined} where ${isWantedBy(examined)} limit ${messageSize}))`

const lastEvent = query
  .select({ sequence: sql`max(${auditEvents.sequence})` })
  .from(auditEvents)
  .where(eq(auditEvents.organizationId, eventEndpoints.organizationId))

export const selectIsSlow = unguarded([organizationId, endpointId, now], () =>
  query
    .select({ isSlow: isEndpointSlow.as('isSlow') })
    .from(eventEndpoints)
    .where(isNamed),
)

/** Takes the endpoint for one message: the one that failed before, or a new one. */
export const take = unguarded([organizationId, endpointId, leaseId, leaseExpiresAt, newMessageId, isSlow, now], () =>
  query
    .update(eventEndpoints)
    .set({
      leaseId: sql`${leaseId}`,
      leaseExpiresAt: sql`${leaseExpiresAt}`,
      messageId: sql`coalesce(${eventEndpoints.messageId}, ${newMessageId})`,
      messageEnd: sql`coalesce(${eventEndpoints.messageEnd}, ${newMessageEnd})`,
    })
    .where(and(isNamed, isFree, isDue, or(sql`${isSlow}`, sql`not ${isEndpointSlow}`)))
    .returning({
      organizationId: eventEndpoints.organizationId,
      id: eventEndpoints.id,
      format: eventEndpoints.format,
      sealedUrl: eventEndpoints.sealedUrl,
      sealedSecret: eventEndpoints.sealedSecret,
      previousSealedSecret: sql<string | null>`case when ${eventEndpoints.previousExpiresAt} > ${now}
          then ${eventEndpoints.previousSealedSecret} end`.as('previousSealedSecret'),
      messageId: sql<string>`${eventEndpoints.messageId}`.as('messageId'),
      messageEnd: eventEndpoints.messageEnd,
      failures: eventEndpoints.failures,
      failingSince: eventEndpoints.failingSince,
      examinedEnd: sql<number | null>`(select max(${examined.sequence}) from ${examined})`.as('examinedEnd'),
      end: sql<number | null>`${lastEvent}`.as('end'),
    }),
)

/** The events of the message, with the names for sentences. */
export const selectMessage = unguarded([organizationId, endpointId, leaseId], () =>
  query
    .select({
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
      user: sql<string | null>`${users.name}`.as('user'),
      project: sql<string | null>`${projects.name}`.as('project'),
    })
    .from(eventEndpoints)
    .innerJoin(
      auditEvents,
      and(
        eq(auditEvents.organizationId, eventEndpoints.organizationId),
        gt(auditEvents.sequence, eventEndpoints.deliveredSequence),
        lte(auditEvents.sequence, eventEndpoints.messageEnd),
      ),
    )
    .leftJoin(
      users,
      and(
        eq(eventEndpoints.format, 'text'),
        eq(users.organizationId, auditEvents.organizationId),
        eq(users.id, auditEvents.userId),
      ),
    )
    .leftJoin(
      projects,
      and(
        eq(eventEndpoints.format, 'text'),
        eq(projects.organizationId, auditEvents.organizationId),
        eq(projects.id, auditEvents.projectId),
      ),
    )
    .where(and(isNamed, eq(eventEndpoints.leaseId, leaseId), isWantedBy(auditEvents)))
    .orderBy(asc(auditEvents.sequence)),
)

/** An endpoint goes past events that it does not want once there are so many, or after a day. */
const MAX_UNWANTED = 1000
const dayAgo = number('dayAgo')
const near = nextEvents(MAX_UNWANTED, 'near')
const isBehind = sql<0 | 1>`(exists (select 1 from ${near} where ${isWantedBy(near)})
  or (select count(*) from ${near}) = ${sql.raw(String(MAX_UNWANTED))})`
const isDayBehind = sql`(select min(${near.sequence}) from ${near}) <= ${dayAgo}`

const messageId = text('messageId')
/** The number of the last event that was delivered or left out; null if the attempt failed. */
const acceptedEnd = numberOrNull('acceptedEnd')
/** The attempt, as JSON; null if there was nothing to send. */
const attempt = textOrNull('attempt')
const failures = number('failures')
const failingSince = textOrNull('failingSince')
const nextAttemptAt = textOrNull('nextAttemptAt')
const disabledAt = textOrNull('disabledAt')
const disabledReason = textOrNull('disabledReason')

/** True if the message is still the one that was sent: the endpoint was not rewound, and wants the same events. */
const isSameMessage = eq(eventEndpoints.messageId, messageId)
const isAccepted = sql`(${acceptedEnd} is not null and ${isSameMessage})`
const unlessAccepted = (column: SQL | typeof eventEndpoints.messageId | typeof eventEndpoints.messageEnd) =>
  sql`case when not coalesce(${isAccepted}, 0) then ${column} end`

/** Gives the endpoint back after an attempt. Does nothing if the lease has ended and somebody else took it. */
export const storeResult = unguarded(
  [
    organizationId,
    endpointId,
    leaseId,
    messageId,
    acceptedEnd,
    attempt,
    failures,
    failingSince,
    nextAttemptAt,
    disabledAt,
    disabledReason,
  ],
  () =>
    query
      .update(eventEndpoints)
      .set({
        deliveredSequence: sql`case when ${isAccepted} then ${acceptedEnd} else ${eventEndpoints.deliveredSequence} end`,
        messageId: unlessAccepted(eventEndpoints.messageId),
        messageEnd: unlessAccepted(eventEndpoints.messageEnd),
        leaseId: null,
        leaseExpiresAt: null,
        failures: sql`cast(${failures} as integer)`,
        failingSince: sql`${failingSince}`,
        nextAttemptAt: sql`${nextAttemptAt}`,
        disabledAt: sql`coalesce(${eventEndpoints.disabledAt}, ${disabledAt})`,
        disabledReason: sql`coalesce(${eventEndpoints.disabledReason}, ${disabledReason})`,
        lastAttempts: sql`case when ${attempt} is null then ${eventEndpoints.lastAttempts}
          else ${withAttempt(eventEndpoints.lastAttempts, attempt, MAX_ATTEMPTS)} end`,
      })
      .where(and(isNamed, eq(eventEndpoints.leaseId, leaseId)))
      .returning({ isBehind: isBehind.as('isBehind') }),
)

/** For the statement before. */
export const recordDisabling = recordedByService(
  [organizationId, endpointId, disabledAt],
  {
    type: 'event-endpoint.disabled',
    organizationId: eventEndpoints.organizationId,
    id: eventEndpoints.id,
    name: eventEndpoints.url,
  },
  (row) =>
    query
      .select(row)
      .from(eventEndpoints)
      .where(and(isNamed, eq(eventEndpoints.disabledAt, disabledAt), sql`changes() > 0`)),
)

const slowUntil = text('slowUntil')

export const markSlow = unguarded([organizationId, endpointId, slowUntil], () =>
  query
    .update(eventEndpoints)
    .set({ slowUntil: sql`${slowUntil}` })
    .where(isNamed),
)

// The tick

const PAGE_SIZE = 1000
const queuedUntil = text('queuedUntil')

const isWaiting = and(isDue, or(isNull(eventEndpoints.leaseExpiresAt), lte(eventEndpoints.leaseExpiresAt, now)))

/** Endpoints that nobody takes care of, as those whose hint was lost or whose next attempt is due. */
export const selectBehind = unguarded([now, dayAgo], () =>
  query
    .select({
      organizationId: eventEndpoints.organizationId,
      id: eventEndpoints.id,
      isSlow: isEndpointSlow.as('isSlow'),
    })
    .from(eventEndpoints)
    .where(and(isWaiting, sql`(${eventEndpoints.messageEnd} is not null or ${isBehind} or ${isDayBehind})`))
    .limit(PAGE_SIZE),
)

export const foundEndpoints = jsonRows('found', 'organizationId', 'id')

/** Until then, no other tick puts them into the queue. A lease that has ended is given back. */
export const markQueued = unguarded([foundEndpoints.parameter, queuedUntil, now], () =>
  query
    .update(eventEndpoints)
    .set({ leaseId: null, leaseExpiresAt: sql`${queuedUntil}` })
    .from(foundEndpoints.table)
    .where(and(foundEndpoints.matches(eventEndpoints, 'organizationId', 'id'), isWaiting)),
)
