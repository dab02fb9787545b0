/** The deliveries of event endpoints, in SQL. */
import { and, asc, eq, gt, isNull, lte, or, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordedByService } from '../../../access/events.ts'
import { isWantedBy } from '../../../access/wanted.ts'
import { MAX_EXAMINED } from '../../../db/examined.ts'
import { isActive, isNotStopped } from '../../../db/halts.ts'
import { now, number, text, textOrNull } from '../../../db/parameters.ts'
import { jsonRows } from '../../../db/rows.ts'
import { auditEvents, eventEndpoints, projects, users } from '../../../db/schema.ts'
import { query, unguarded } from '../../../db/statement.ts'
import { withAttempt } from '../../../webhooks/attempts.ts'
import { rotationOf } from '../../../webhooks/rotation.ts'
import { eventColumns } from '../statements.ts'

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

const isNamed = and(eq(eventEndpoints.organizationId, organizationId), eq(eventEndpoints.id, endpointId))
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

/**
 * The number of the last event of a new message. If the endpoint wants fewer of the examined events than the message may
 * have, it is that of the last examined one: an accepted message goes past the events that are left out, too.
 */
const newMessageEnd = sql`(select case when count(*) < ${messageSize}
    then (select max(${examined.sequence}) from ${examined}) else max("sequence") end
  from (select ${examined.sequence} as "sequence" from ${examined} where ${isWantedBy(examined)} limit ${messageSize}))`

const lastEvent = query
  .select({ sequence: sql`max(${auditEvents.sequence})` })
  .from(auditEvents)
  .where(eq(auditEvents.organizationId, eventEndpoints.organizationId))

const isDelivering = and(
  isActive(eventEndpoints.organizationId),
  isNotStopped('deliveries', eventEndpoints.organizationId),
)

/** There is an event to deliver or to leave out. */
const hasNext = sql`(${eventEndpoints.messageEnd} is not null or ${eventEndpoints.deliveredSequence} < ${lastEvent})`

/** Takes the endpoint for one message: the one that failed before, or a new one. */
export const take = unguarded({ organizationId, endpointId, leaseId, leaseExpiresAt, newMessageId, now }, () =>
  query
    .update(eventEndpoints)
    .set({
      leaseId: sql`${leaseId}`,
      leaseExpiresAt: sql`${leaseExpiresAt}`,
      messageId: sql`coalesce(${eventEndpoints.messageId}, ${newMessageId})`,
      messageEnd: sql`coalesce(${eventEndpoints.messageEnd}, ${newMessageEnd})`,
    })
    .where(and(isNamed, isFree, isDue, hasNext, isDelivering))
    .returning({
      organizationId: eventEndpoints.organizationId,
      id: eventEndpoints.id,
      format: eventEndpoints.format,
      sealedUrl: eventEndpoints.sealedUrl,
      sealedSecret: eventEndpoints.sealedSecret,
      previousSealedSecret: rotationOf(eventEndpoints).previousSealedSecret,
      messageId: sql<string>`${eventEndpoints.messageId}`.as('messageId'),
      messageEnd: sql<number>`${eventEndpoints.messageEnd}`.as('messageEnd'),
      failures: eventEndpoints.failures,
      failingSince: eventEndpoints.failingSince,
      end: sql<number>`${lastEvent}`.as('end'),
      updatedAt: eventEndpoints.updatedAt,
    }),
)

/** The events of the message, with the names for sentences. */
export const selectMessage = unguarded({ organizationId, endpointId, leaseId }, () =>
  query
    .select({
      ...eventColumns,
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
/** In one pass over the next events. @param others another reason. */
const isBehind = (others = sql`false`) => sql<0 | 1>`coalesce((select max(${isWantedBy(near)})
  or count(*) = ${sql.raw(String(MAX_UNWANTED))} or ${others} from ${near}), 0)`

/** The message that was accepted, or of which the endpoint wants nothing; null if the attempt failed. */
const acceptedMessageId = textOrNull('acceptedMessageId')
/** The attempt, as JSON; null if there was nothing to send. */
const attempt = textOrNull('attempt')
const failures = number('failures')
const failingSince = textOrNull('failingSince')
const nextAttemptAt = textOrNull('nextAttemptAt')
const disabledAt = textOrNull('disabledAt')
const disabledReason = textOrNull('disabledReason')
/** When the endpoint that was taken had been changed last. */
const takenUpdatedAt = text('takenUpdatedAt')

/** False if the endpoint was rewound meanwhile, or wants other events. */
const isAccepted = sql`${eventEndpoints.messageId} = ${acceptedMessageId}`
const unlessAccepted = (column: SQLWrapper) => sql`case when ${isAccepted} then null else ${column} end`
/** A result says nothing of an endpoint that got another URL or was enabled meanwhile. */
const ifUnchanged = (value: SQLWrapper, column: SQLWrapper) =>
  sql`case when ${eventEndpoints.updatedAt} = ${takenUpdatedAt} then ${value} else ${column} end`

/** Gives the endpoint back after an attempt. Does nothing if the lease has ended and somebody else took it. */
export const storeResult = unguarded(
  {
    organizationId,
    endpointId,
    leaseId,
    acceptedMessageId,
    attempt,
    failures,
    failingSince,
    nextAttemptAt,
    disabledAt,
    disabledReason,
    takenUpdatedAt,
  },
  () =>
    query
      .update(eventEndpoints)
      .set({
        deliveredSequence: sql`case when ${isAccepted} then ${eventEndpoints.messageEnd}
          else ${eventEndpoints.deliveredSequence} end`,
        messageId: unlessAccepted(eventEndpoints.messageId),
        messageEnd: unlessAccepted(eventEndpoints.messageEnd),
        leaseId: null,
        leaseExpiresAt: null,
        failures: ifUnchanged(sql`cast(${failures} as integer)`, eventEndpoints.failures),
        failingSince: ifUnchanged(failingSince, eventEndpoints.failingSince),
        nextAttemptAt: ifUnchanged(nextAttemptAt, eventEndpoints.nextAttemptAt),
        // A request may have disabled it meanwhile.
        disabledAt: sql`coalesce(${eventEndpoints.disabledAt}, ${ifUnchanged(disabledAt, sql`null`)})`,
        disabledReason: sql`coalesce(${eventEndpoints.disabledReason}, ${ifUnchanged(disabledReason, sql`null`)})`,
        lastAttempts: sql`case when ${attempt} is null then ${eventEndpoints.lastAttempts}
          else ${withAttempt(eventEndpoints.lastAttempts, attempt, MAX_ATTEMPTS)} end`,
      })
      .where(and(isNamed, eq(eventEndpoints.leaseId, leaseId)))
      .returning({
        isBehind: sql<0 | 1>`case when ${acceptedMessageId} is null then 0 else ${isBehind()} end`.as('isBehind'),
      }),
)

/** For the statement before. */
export const recordDisabling = recordedByService(
  { organizationId, endpointId, disabledAt },
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

// The tick

const isDayBehind = sql`min(${near.sequence}) <= ${dayAgo}`

const PAGE_SIZE = 1000
const queuedUntil = text('queuedUntil')

const isWaiting = and(isDue, or(isNull(eventEndpoints.leaseExpiresAt), lte(eventEndpoints.leaseExpiresAt, now)))

/** Endpoints that nobody takes care of, as those whose hint was lost or whose next attempt is due. */
export const selectBehind = unguarded({ now, dayAgo }, () =>
  query
    .select({ organizationId: eventEndpoints.organizationId, id: eventEndpoints.id })
    .from(eventEndpoints)
    .where(and(isWaiting, isDelivering, sql`(${eventEndpoints.messageEnd} is not null or ${isBehind(isDayBehind)})`))
    .limit(PAGE_SIZE),
)

export const foundEndpoints = jsonRows('found', 'organizationId', 'id')

/** Until then, no other tick puts them into the queue. A lease that has ended is given back. */
export const markQueued = unguarded({ parameter: foundEndpoints.parameter, queuedUntil, now }, () =>
  query
    .update(eventEndpoints)
    .set({ leaseId: null, leaseExpiresAt: sql`${queuedUntil}` })
    .from(foundEndpoints.table)
    .where(and(foundEndpoints.matches(eventEndpoints, 'organizationId', 'id'), isWaiting, isDelivering)),
)
