/** The event endpoints of an organization, in SQL. No statement of an HTTP operation but the test selects what is sealed. */

import { and, asc, count, eq, gt, gte, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import {
  eventType,
  firstSequence,
  guardedChange,
  recordedAfter,
  recordedBefore,
  requestId,
} from '../../../access/events.ts'
import { precondition, requiring } from '../../../access/preconditions.ts'
import { keyIsUnrestricted } from '../../../access/project.ts'
import { changed as changedIn, changes, differs, edited } from '../../../access/revision.ts'
import { isWantedBy } from '../../../access/wanted.ts'
import { now, number, numberOrNull, text, textOrNull } from '../../../db/parameters.ts'
import { insertRow } from '../../../db/rows.ts'
import { apiKeys, auditEvents, eventEndpoints, users } from '../../../db/schema.ts'
import { guarded, query } from '../../../db/statement.ts'
import { filled } from '../../../errors.ts'
import { rotationOf } from '../../../webhooks/rotation.ts'
import { eventColumns, isKeptAfter, keptAfter, oldestKept } from '../statements.ts'
import {
  endpointCursorExpired,
  endpointLimit,
  endpointNotFound,
  endpointUnsigned,
  rewindCursorExpired,
} from './failures.ts'

/** The most endpoints of an organization. */
const MAX_ENDPOINTS = 10
/** How many events are looked at for `behind`. */
const MAX_BEHIND = 1000

/** The columns that a new endpoint takes from the request. */
const created = {
  id: text('id'),
  format: text('format'),
  sealedUrl: text('sealedUrl'),
  url: text('url'),
  sealedSecret: textOrNull('sealedSecret'),
  types: textOrNull('types'),
  projectId: textOrNull('projectId'),
  note: textOrNull('note'),
  batch: number('batch'),
}
const { id, url, batch } = created
const eventEndpointId = text('eventEndpointId')
/** The organization that the URL and the secret are sealed for. */
const sealedFor = text('sealedFor')
/** 1 enables the endpoint, 0 disables it; null leaves it as it is. */
const enabled = numberOrNull('enabled')
/** The number that the endpoint goes on after. */
const after = number('after')

const isUnrestricted = keyIsUnrestricted
const { noThirdSecret, previousSealedSecret, ...rotation } = rotationOf(eventEndpoints)
const isOwn = eq(eventEndpoints.organizationId, apiKeys.organizationId)

/** The number of the last event of the organization; 0 without events. */
const end = sql<number>`coalesce(${query
  .select({ sequence: sql`max(${auditEvents.sequence})` })
  .from(auditEvents)
  .where(eq(auditEvents.organizationId, apiKeys.organizationId))}, 0)`

/** The number and the time of the next events, and of those that the endpoint wants. */
const ahead = query
  .select({ sequence: auditEvents.sequence, type: auditEvents.type, projectId: auditEvents.projectId })
  .from(auditEvents)
  .where(
    and(
      eq(auditEvents.organizationId, eventEndpoints.organizationId),
      gt(auditEvents.sequence, eventEndpoints.deliveredSequence),
    ),
  )
  .orderBy(asc(auditEvents.sequence))
  .limit(MAX_BEHIND)
  .as('ahead')
const ofAhead = (value: SQL) => sql`(select ${value} from ${ahead} where ${isWantedBy(ahead)})`

/** An endpoint as the API returns it, in its order, with numbers and JSON where that has cursors, times and arrays. */
const fields = {
  id: eventEndpoints.id,
  url: eventEndpoints.url,
  format: eventEndpoints.format,
  types: eventEndpoints.types,
  projectId: eventEndpoints.projectId,
  note: eventEndpoints.note,
  batch: eventEndpoints.batch,
  cursor: sql<number>`${eventEndpoints.deliveredSequence}`.as('cursor'),
  behind: sql<number>`${ofAhead(sql`count(*)`)}`.as('behind'),
  behindSince: sql<number | null>`${ofAhead(sql`min(${ahead.sequence})`)}`.as('behindSince'),
  lastAttempts: eventEndpoints.lastAttempts,
  failingSince: eventEndpoints.failingSince,
  nextAttemptAt: sql<string | null>`case when ${eventEndpoints.disabledAt} is null
    then ${eventEndpoints.nextAttemptAt} end`.as('nextAttemptAt'),
  disabledAt: eventEndpoints.disabledAt,
  disabledReason: eventEndpoints.disabledReason,
  previousSecretExpiresAt: rotation.previousSecretExpiresAt,
  createdAt: eventEndpoints.createdAt,
  updatedAt: eventEndpoints.updatedAt,
}

const named = {
  table: eventEndpoints,
  on: and(isOwn, eq(eventEndpoints.id, eventEndpointId)),
  takes: { eventEndpointId },
}
const isNamed = (organizationId: SQL<string>) =>
  and(eq(eventEndpoints.organizationId, organizationId), eq(eventEndpoints.id, eventEndpointId))
const endpointExists = precondition(isNotNull(eventEndpoints.id), endpointNotFound)
/** What the event of an endpoint says. */
const ofEndpoint = { id: eventEndpoints.id, name: eventEndpoints.url }

export const creatable = requiring([], {
  isUnrestricted,
  isWithinLimit: precondition(
    sql`${query.select({ count: count() }).from(eventEndpoints).where(isOwn)} < ${sql.raw(String(MAX_ENDPOINTS))}`,
    filled(endpointLimit, { limit: MAX_ENDPOINTS }),
  ),
})

const recordedCreation = recordedAfter({ id, url }, { type: 'event-endpoint.created', id, name: url })

/** It begins after the last event, which is not its own creation yet. */
export const insertEndpoint = guardedChange(creatable, { ...created, sealedFor }, recordedCreation, () =>
  query.insert(eventEndpoints).select(
    creatable.rows(
      insertRow(eventEndpoints, {
        ...created,
        organizationId: apiKeys.organizationId,
        batch: sql`cast(${batch} as integer)`,
        deliveredSequence: end,
        failures: sql`0`,
        createdAt: now,
        updatedAt: now,
      }),
      eq(apiKeys.organizationId, sealedFor),
    ),
  ),
)

export const listable = requiring([], { isUnrestricted })

export const selectCreated = guarded(listable, { id }, () =>
  listable.rows(fields).innerJoin(eventEndpoints, and(isOwn, eq(eventEndpoints.id, id))),
)

export const selectEndpoints = guarded(listable, {}, () =>
  listable.rows(fields).innerJoin(eventEndpoints, isOwn).orderBy(asc(eventEndpoints.id)),
)

export const accessible = requiring([named], { endpointExists, isUnrestricted })

export const selectEndpoint = guarded(accessible, {}, () => accessible.rows(fields))

const changed = <Column extends 'sealedUrl' | 'url' | 'types' | 'projectId' | 'note' | 'batch'>(column: Column) =>
  changedIn(column, eventEndpoints[column])

const isEnabling = sql`coalesce(${enabled}, 0)`
const isDisabling = sql`not coalesce(${enabled}, 1)`

export const updatable = requiring([named], {
  endpointExists,
  isUnrestricted,
  /** An endpoint that was disabled for long would leave out events without saying so. */
  isKept: precondition(
    sql`(not ${isEnabling} or ${isKeptAfter(eventEndpoints.deliveredSequence)})`,
    endpointCursorExpired,
    { enabled, oldestKept },
  ),
})

const ofMessage = { types: changed('types'), projectId: changed('projectId'), batch: changed('batch') }
/** A URL is always a change: each time it is sealed, it is another text. */
const settings = {
  sealedUrl: changed('sealedUrl'),
  url: changed('url'),
  ...ofMessage,
  note: changed('note'),
  disabledAt: sql`case when ${isDisabling} then coalesce(${eventEndpoints.disabledAt}, ${now})
    when not ${isEnabling} then ${eventEndpoints.disabledAt} end`,
  disabledReason: sql`case when ${isDisabling} then coalesce(${eventEndpoints.disabledReason}, 'A request disabled it.')
    when not ${isEnabling} then ${eventEndpoints.disabledReason} end`,
}

const recordedUpdate = recordedBefore(
  updatable,
  { changes },
  {
    ...ofEndpoint,
    type: eventType(sql`case when ${isDisabling} and ${isNull(eventEndpoints.disabledAt)} then 'event-endpoint.disabled'
      else 'event-endpoint.updated' end`),
    name: changed('url'),
  },
  differs(eventEndpoints, settings),
)

/** What is being sent stays the same message only if it has the same events. */
const isOtherMessage = differs(eventEndpoints, ofMessage)

export const updateEndpoint = guardedChange(updatable, { changes, sealedFor }, recordedUpdate, () =>
  query
    .update(eventEndpoints)
    .set({
      ...edited(eventEndpoints, settings),
      messageId: sql`case when not ${isOtherMessage} then ${eventEndpoints.messageId} end`,
      messageEnd: sql`case when not ${isOtherMessage} then ${eventEndpoints.messageEnd} end`,
      failures: sql`case when ${isEnabling} then 0 else ${eventEndpoints.failures} end`,
      failingSince: sql`case when not ${isEnabling} then ${eventEndpoints.failingSince} end`,
      nextAttemptAt: sql`case when not ${isEnabling} then ${eventEndpoints.nextAttemptAt} end`,
    })
    .where(and(isNamed(updatable.organizationId), eq(eventEndpoints.organizationId, sealedFor))),
)

export const selectUpdated = guarded(updatable, {}, () => updatable.rows(fields))

const recordedDeletion = recordedBefore(accessible, {}, { ...ofEndpoint, type: 'event-endpoint.deleted' })

export const deleteEndpoint = guardedChange(accessible, {}, recordedDeletion, () =>
  query.delete(eventEndpoints).where(isNamed(accessible.organizationId)).returning({ id: eventEndpoints.id }),
)

export const rotatable = requiring([named], {
  endpointExists,
  isUnrestricted,
  isSigned: precondition(eq(eventEndpoints.format, 'standard'), endpointUnsigned),
  noThirdSecret,
})

const recordedRotation = recordedBefore(rotatable, {}, { ...ofEndpoint, type: 'event-endpoint.rotated' })

export const rotateSecret = guardedChange(
  rotatable,
  { parameter: rotation.parameter, sealedFor },
  recordedRotation,
  () =>
    query
      .update(eventEndpoints)
      .set(rotation.rotated)
      .where(and(isNamed(rotatable.organizationId), eq(eventEndpoints.organizationId, sealedFor))),
)

/** Only after the rotation: a second one would be refused now, so its preconditions do not guard this. */
export const selectRotated = guarded(accessible, { parameter: rotation.parameter }, () =>
  accessible.rows(fields, eq(eventEndpoints.sealedSecret, rotation.parameter)),
)

export const rewindable = requiring([named], {
  endpointExists,
  isUnrestricted,
  isKept: keptAfter(rewindCursorExpired),
})

/**
 * True if the rewind moves the endpoint, or gives up the message that is being sent. The numbers after that of the
 * endpoint, up to the last event, are behind it.
 */
const isElsewhere = sql`(${isNotNull(eventEndpoints.messageId)} or case when ${after} > ${eventEndpoints.deliveredSequence}
  then ${end} > ${eventEndpoints.deliveredSequence} else ${after} < ${eventEndpoints.deliveredSequence} end)`

const recordedRewind = recordedBefore(rewindable, {}, { ...ofEndpoint, type: 'event-endpoint.rewound' }, isElsewhere)

/** Never beyond the last event: the next one would be left out. */
export const rewind = guardedChange(rewindable, {}, recordedRewind, () =>
  query
    .update(eventEndpoints)
    .set({
      deliveredSequence: sql`min(${after}, ${query
        .select({ sequence: sql`coalesce(max(${auditEvents.sequence}), 0)` })
        .from(auditEvents)
        .where(eq(auditEvents.organizationId, eventEndpoints.organizationId))})`,
      messageId: null,
      messageEnd: null,
      updatedAt: sql`${now}`,
    })
    .where(isNamed(rewindable.organizationIdIf(isElsewhere))),
)

export const selectRewound = guarded(rewindable, {}, () => rewindable.rows(fields))

/** Recorded, although no row changes: the service sends something to the URL. */
export const recordTest = recordedBefore(accessible, {}, { ...ofEndpoint, type: 'event-endpoint.tested' })

/** What a test needs to send it. */
export const selectTestable = guarded(accessible, {}, () =>
  accessible.rows({
    id: eventEndpoints.id,
    organizationId: eventEndpoints.organizationId,
    format: eventEndpoints.format,
    deliveredSequence: eventEndpoints.deliveredSequence,
    sealedUrl: eventEndpoints.sealedUrl,
    sealedSecret: eventEndpoints.sealedSecret,
    previousSealedSecret,
  }),
)

/** What the test sends: its event, which the statement before has recorded. */
export const selectTest = guarded(accessible, {}, () =>
  accessible
    .rows({
      ...eventColumns,
      user: sql<string | null>`${users.name}`.as('user'),
      project: sql<string | null>`null`.as('project'),
    })
    .innerJoin(
      auditEvents,
      and(
        eq(auditEvents.organizationId, apiKeys.organizationId),
        gte(auditEvents.sequence, firstSequence),
        eq(auditEvents.requestId, requestId),
      ),
    )
    .leftJoin(users, and(eq(users.organizationId, auditEvents.organizationId), eq(users.id, auditEvents.userId))),
)
