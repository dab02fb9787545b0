/**
 * Events: one for each change, written in the batch of the change. The database runs one batch at a time, so the number
 * that an event gets within it is the order of the commits (docs/design.md, "Events").
 */
import { and, eq, gte, isNull, lte, notExists, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias, type SQLiteInsertSelectQueryBuilder, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import { now, number, type Parameter, text, textOrNull } from '../db/parameters.ts'
import { insertRow } from '../db/rows.ts'
import { apiKeys, auditEvents, eventEndpoints } from '../db/schema.ts'
import { type Compilable, guarded, query, type ResultRow, type Statement, unguarded } from '../db/statement.ts'
import type { EventType, ResourceOf } from './event-types.ts'
import { isCallersKey, isInScope } from './guard.ts'
import type { Preconditions } from './preconditions.ts'

/** An event has the time of its request as the first number that it can have: 1024 for each millisecond. */
export const SEQUENCES_PER_MS = 1024

/** Bound for every request (request-context.ts). No field of a contract can have these names (http/endpoint.ts). */
const eventId = text('event.id')
const firstSequence = number('event.firstSequence')
const instant = text('event.instant')
const requestId = textOrNull('event.requestId')
/** The attempt of the round trip, from 1 (caller.ts). */
const attempt = number('caller.attempt')

/** The values of the statements that record events. @param instant of the request or of the tick. */
export function eventValues(instant: string, requestId: string | null) {
  return {
    'event.id': newUuid(),
    'event.firstSequence': Date.parse(instant) * SEQUENCES_PER_MS,
    'event.instant': instant,
    'event.requestId': requestId,
  }
}

/** What an event is about, in SQL. No value and no content of a request. */
interface EventFields {
  readonly type: EventType | SQL<EventType>
  readonly id: SQLWrapper
  /** See event-types.ts. */
  readonly parentId?: SQLWrapper | undefined
  readonly name?: SQLWrapper | undefined
  readonly projectId?: SQLWrapper | undefined
}

/** The type of an event that depends on what the change finds. */
export const eventType = (type: SQL) => type as SQL<EventType>

const literal = (text: string) => sql.raw(`'${text}'`)

/** The type of an event of a PUT: `created` if there is no row yet. @param id of the row. */
export function createdOrUpdated(resource: ResourceOf<'updated'>, id: SQLWrapper): SQL<EventType> {
  return sql`case when ${isNull(id)} then ${literal(`${resource}.created`)} else ${literal(`${resource}.updated`)} end`
}

const last = alias(auditEvents, 'last')

/** The position of an event among those that a statement records: of the only one, and of each of several. */
const ONLY = sql`0`
const EACH = sql`row_number() over () - 1`

/**
 * The row of an event that is inserted.
 * @param position among the events of its organization that the statement records.
 */
function eventRow(
  { type, id, parentId, name, projectId }: EventFields,
  organizationId: SQLWrapper,
  newId: SQL,
  actor: Actor,
  position: SQL,
) {
  const lastSequence = query
    .select({ sequence: sql`max(${last.sequence})` })
    .from(last)
    .where(eq(last.organizationId, organizationId))
  return insertRow(auditEvents, {
    organizationId,
    sequence: sql`max(${firstSequence}, coalesce(${lastSequence}, 0) + 1) + ${position}`,
    id: newId,
    type: typeof type === 'string' ? literal(type) : type,
    resourceId: id,
    ...(parentId && { parentId }),
    ...(name && { resourceName: name }),
    ...(projectId && { projectId }),
    ...actor,
  })
}

type Actor = Partial<Record<'apiKeyId' | 'apiKeyName' | 'userId' | 'requestId', SQLWrapper>>
/** The key of the request. */
const caller: Actor = { apiKeyId: apiKeys.id, apiKeyName: apiKeys.name, userId: apiKeys.userId, requestId }

/** A request records its change, and what follows from it: other keys end, a schedule is paused. */
type Part = 'change' | 'consequence'

/** One request has up to 32,768 events of each part. Their IDs differ in the last digits. */
const ID_DIGITS = 4
const FIRST_NUMBER: Readonly<Record<Part, number>> = { change: 0, consequence: 2 ** (4 * ID_DIGITS - 1) }

function idOf(part: Part, position: SQL): SQL {
  const format = literal(`%0${ID_DIGITS}x`)
  const start = sql.raw(String(36 - ID_DIGITS))
  const first = sql.raw(String(FIRST_NUMBER[part]))
  return sql`substr(${eventId}, 1, ${start}) || printf(${format}, ${first} + ${position})`
}

const recorded = alias(auditEvents, 'recorded')

/**
 * False if an earlier attempt of the request was committed, although its response was lost. The first attempt, which has
 * none before it, reads nothing.
 */
const isFirstAttempt = (part: Part) =>
  sql`(${attempt} = 1 or ${notExists(
    query
      .select({ one: sql`1` })
      .from(recorded)
      .where(
        and(
          eq(recorded.organizationId, apiKeys.organizationId),
          gte(recorded.sequence, firstSequence),
          eq(recorded.id, idOf(part, sql`0`)),
        ),
      ),
  )})`

const callersRow = (fields: EventFields, part: Part, position: SQL, actor = caller) =>
  eventRow(fields, apiKeys.organizationId, idOf(part, position), actor, position)

/** What a recorded event returns: which endpoints may want it (wake.ts). */
export interface RecordedRow {
  readonly organizationId: string
  readonly type: string
  readonly projectId: string | null
  /** JSON array of the endpoints that are neither disabled nor failing nor sending. */
  readonly endpoints: string
}

const wakeable = query
  .select({
    endpoints: sql`json_group_array(json_object('id', ${eventEndpoints.id}, 'types', json(${eventEndpoints.types}),
      'projectId', ${eventEndpoints.projectId}, 'isSlow', coalesce(${eventEndpoints.slowUntil} > ${instant}, 0)))`,
  })
  .from(eventEndpoints)
  .where(
    and(
      eq(eventEndpoints.organizationId, auditEvents.organizationId),
      isNull(eventEndpoints.disabledAt),
      isNull(eventEndpoints.nextAttemptAt),
      // Who sends looks for more when it gives the lease back. Batches do not overlap, so it finds this event.
      or(isNull(eventEndpoints.leaseId), lte(eventEndpoints.leaseExpiresAt, instant)),
    ),
  )

const recordedRow = {
  organizationId: auditEvents.organizationId,
  type: auditEvents.type,
  projectId: auditEvents.projectId,
  endpoints: sql<string>`${wakeable}`.as('endpoints'),
}

/** Inserts the rows of events. */
const insertEvents = (rows: SQLiteInsertSelectQueryBuilder<typeof auditEvents>) =>
  query.insert(auditEvents).select(rows).returning(recordedRow)

/** A statement that records events. */
export interface Recording<P extends Parameter = Parameter> extends Statement<RecordedRow, P> {
  readonly isRecording: true
  /** True if it runs before the change. */
  readonly isBefore: boolean
}

function recording<P extends Parameter>(statement: Statement<RecordedRow, P>, isBefore: boolean): Recording<P> {
  return Object.assign(statement, { isRecording: true as const, isBefore })
}

/** The guard before the change, which may have revoked or ended the caller's own key. */
const mightAct = and(
  isCallersKey,
  isInScope,
  or(isNull(apiKeys.revokedAt), eq(apiKeys.revokedAt, now)),
  or(isNull(apiKeys.expiresAt), gte(apiKeys.expiresAt, now)),
)

interface AfterOptions {
  /** A table whose joined rows have an event each. */
  readonly join?: { readonly table: SQLiteTable | SQL; readonly on: SQL | undefined }
  /** True for what the service does because of the change. */
  readonly isByService?: true
}

/**
 * Records a change if the statement before it changed a row: for changes that may have nothing to do.
 * @param parameters of the event.
 */
export function recordedAfter<const Own extends readonly Parameter[]>(
  parameters: Own,
  fields: EventFields,
  { join, isByService }: AfterOptions = {},
): Recording<Own[number]> {
  const part = isByService ? 'consequence' : 'change'
  const statement = guarded({ takes: parameters }, [], () => {
    const row = callersRow(fields, part, join ? EACH : ONLY, isByService ? { requestId } : caller)
    const rows = query.select(row).from(apiKeys).$dynamic()
    if (join) rows.innerJoin(join.table, join.on)
    return insertEvents(rows.where(and(mightAct, sql`changes() > 0`, isFirstAttempt(part))))
  })
  return recording(statement, false)
}

/** The rows that a change begins from: one if its guard holds. */
type Rows = (fields: ReturnType<typeof callersRow>) => SQLiteInsertSelectQueryBuilder<typeof auditEvents>
type Source<P extends Parameter> = Pick<Preconditions<unknown, P>, 'rows' | 'takes'>

function recordedFrom<P extends Parameter, const Own extends readonly Parameter[]>(
  { takes }: Pick<Source<P>, 'takes'>,
  parameters: Own,
  part: Part,
  position: SQL,
  rows: (fields: ReturnType<typeof callersRow>, condition: SQL) => ReturnType<Rows>,
  fields: EventFields,
): Recording<P | Own[number]> {
  const build = () => insertEvents(rows(callersRow(fields, part, position), isFirstAttempt(part)))
  return recording(guarded({ takes }, parameters, build), true)
}

/**
 * Records a change before it is made: for changes that happen whenever their guard holds. The rows that the change
 * deletes or overwrites can be read.
 * @param parameters of the event and of the condition.
 * @param condition of the change, beside its guard.
 */
export function recordedBefore<P extends Parameter, const Own extends readonly Parameter[]>(
  preconditions: Source<P>,
  parameters: Own,
  fields: EventFields,
  condition?: SQL,
): Recording<P | Own[number]> {
  return recordedFrom(
    preconditions,
    parameters,
    'change',
    ONLY,
    (row, isFirst) => preconditions.rows(row, and(condition, isFirst)),
    fields,
  )
}

/**
 * Like `recordedBefore`, for a change of several rows, or of rows that its guard does not join.
 * @param rows selects the rows where the condition holds.
 */
export function recordedForEach<P extends Parameter, const Own extends readonly Parameter[]>(
  preconditions: Pick<Source<P>, 'takes'>,
  parameters: Own,
  fields: EventFields,
  rows: (fields: ReturnType<typeof callersRow>, condition: SQL) => ReturnType<Rows>,
  part: Part = 'change',
): Recording<P | Own[number]> {
  return recordedFrom(preconditions, parameters, part, EACH, rows, fields)
}

/** A statement that is the change of its operation, with the statement that records it. */
export interface Change<Row = unknown, P extends Parameter = Parameter> extends Statement<Row, P> {
  readonly recording: Recording
}

/** A guarded statement that is the change of its operation. @param recording its parameters are required too. */
export function guardedChange<Result, P extends Parameter, const Own extends readonly Parameter[], E extends Parameter>(
  preconditions: Pick<Source<P>, 'takes'>,
  parameters: Own,
  recording: Recording<E>,
  build: () => Compilable<Result>,
): Change<ResultRow<Result>, P | Own[number] | E> {
  return Object.assign(guarded(preconditions, parameters, build), { recording })
}

const SERVICE_PARAMETERS = [eventId, firstSequence, instant] as const

/**
 * Records what the service does by itself. It has no actor.
 * @param rows selects the rows, each with the columns of its event.
 */
export function recordedByService<const Own extends readonly Parameter[]>(
  parameters: Own,
  fields: EventFields & { readonly organizationId: SQLWrapper },
  rows: Rows,
): Recording<Own[number] | (typeof SERVICE_PARAMETERS)[number]> {
  const { organizationId } = fields
  const newId = sql`substr(${eventId}, 1, 24) || lower(hex(randomblob(6)))`
  const position = sql`row_number() over (partition by ${organizationId}) - 1`
  const build = () => insertEvents(rows(eventRow(fields, organizationId, newId, {}, position)))
  return recording(unguarded([...parameters, ...SERVICE_PARAMETERS], build), false)
}
