/**
 * Events: one for each change, written in the batch of the change. The database runs one batch at a time, so the number
 * that an event gets within it is the order of the commits (docs/design.md, "Events").
 */
import { and, eq, gte, isNull, notExists, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias, type SQLiteInsertSelectQueryBuilder, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import { type NamedParameters, now, number, type Parameter, text, textOrNull } from '../db/parameters.ts'
import { insertRow } from '../db/rows.ts'
import { apiKeys, auditEvents } from '../db/schema.ts'
import { type Compilable, guarded, query, type ResultRow, type Statement, unguarded } from '../db/statement.ts'
import { type EventType, type ResourceOf, SEQUENCES_PER_MS } from './event-types.ts'
import { isCallersKey, isInScope } from './guard.ts'
import type { Preconditions } from './preconditions.ts'

/** Bound for every request (request-context.ts). No field of a contract can have these names (http/endpoint.ts). */
const eventId = text('event.id')
export const firstSequence = number('event.firstSequence')
export const requestId = textOrNull('event.requestId')
/** 1 if the batch may be tried again after its response was lost. Attempts may arrive in another order. */
const isRepeatable = number('event.isRepeatable')

/**
 * The values of the statements that record events.
 * @param instant of the request or of the tick.
 * @param request null for what the service does by itself.
 */
export function eventValues(instant: string, request: { requestId: string; isRepeatable: boolean } | null) {
  return {
    'event.id': newUuid(),
    'event.firstSequence': Date.parse(instant) * SEQUENCES_PER_MS,
    'event.requestId': request?.requestId ?? null,
    'event.isRepeatable': Number(request?.isRepeatable ?? false),
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
  const [created, updated] = [literal(`${resource}.created`), literal(`${resource}.updated`)]
  return eventType(sql`case when ${isNull(id)} then ${created} else ${updated} end`)
}

const last = alias(auditEvents, 'last')

/**
 * The row of an event that is inserted.
 * @param position of the event among those of its organization that the statement records, from 0.
 */
function eventRow(
  { type, id, parentId, name, projectId }: EventFields,
  organizationId: SQLWrapper,
  newId: SQL,
  position: SQL,
  actor: Actor,
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

/** A request records its change, and in further parts what follows from it: other keys end, a schedule is paused. */
type Part = 'change' | 'further' | 'consequence' | 'invitation' | 'role'

/** One request has up to 8,192 events of each part, and of most parts twice as many. Their IDs differ in the last digits. */
const ID_DIGITS = 4
const FIRST_NUMBER: Readonly<Record<Part, number>> = {
  change: 0,
  further: 2 ** (4 * ID_DIGITS - 2),
  consequence: 2 ** (4 * ID_DIGITS - 1),
  invitation: 3 * 2 ** (4 * ID_DIGITS - 2),
  role: 7 * 2 ** (4 * ID_DIGITS - 3),
}

function idOf(part: Part, position: SQL): SQL {
  const format = literal(`%0${ID_DIGITS}x`)
  const start = sql.raw(String(36 - ID_DIGITS))
  const first = sql.raw(String(FIRST_NUMBER[part]))
  return sql`substr(${eventId}, 1, ${start}) || printf(${format}, ${first} + ${position})`
}

const recorded = alias(auditEvents, 'recorded')

/** False if another attempt of the request was committed, although its response was lost. */
const isNotRecorded = (part: Part) =>
  sql`(not ${isRepeatable} or ${notExists(
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

/** The number of an event: of the only one, or of one of several. D1 counts the rows of a window as read. */
const ONLY = sql`0`
const EACH = sql`row_number() over () - 1`

const callersRow = (fields: EventFields, part: Part, position: SQL, actor = caller) =>
  eventRow(fields, apiKeys.organizationId, idOf(part, position), position, actor)

/** A statement that records events. */
export interface Recording<P extends Parameter = Parameter> extends Statement<unknown, P> {
  readonly isRecording: true
  /** True if it runs before the change. */
  readonly isBefore: boolean
}

function recording<P extends Parameter>(statement: Statement<unknown, P>, isBefore: boolean): Recording<P> {
  return Object.assign(statement, { isRecording: true as const, isBefore })
}

/** The guard before the change, which may have revoked or ended the caller's own key. */
export const mightAct = and(
  isCallersKey,
  isInScope,
  or(isNull(apiKeys.revokedAt), eq(apiKeys.revokedAt, now)),
  or(isNull(apiKeys.expiresAt), gte(apiKeys.expiresAt, now)),
  isNull(apiKeys.suspendedAt),
  isNull(apiKeys.movedTo),
)

interface EventJoin {
  readonly table: SQLiteTable | SQL
  readonly on: SQL | undefined
}

interface AfterOptions {
  /** A table that has one row for the event. */
  readonly join?: EventJoin
  /** A table whose rows have an event each. */
  readonly each?: EventJoin
  /** True for what the service does because of the change. */
  readonly isByService?: true
}

/**
 * Records a change if the statement before it changed a row: for changes that may have nothing to do.
 * @param parameters of the event.
 */
export function recordedAfter<Own extends NamedParameters>(
  parameters: Own,
  fields: EventFields,
  { each, join = each, isByService }: AfterOptions = {},
): Recording<Own[keyof Own]> {
  const part = isByService ? 'consequence' : 'change'
  const statement = guarded({ takes: [] }, parameters, () => {
    const row = callersRow(fields, part, each ? EACH : ONLY, isByService ? { requestId } : caller)
    const rows = query.select(row).from(apiKeys).$dynamic()
    if (join) rows.innerJoin(join.table, join.on)
    return query.insert(auditEvents).select(rows.where(and(mightAct, sql`changes() > 0`, isNotRecorded(part))))
  })
  return recording(statement, false)
}

/** The rows that a change begins from: one if its guard holds. */
type Rows = (fields: ReturnType<typeof callersRow>) => SQLiteInsertSelectQueryBuilder<typeof auditEvents>
type Source<P extends Parameter> = Pick<Preconditions<unknown, P>, 'rows' | 'takes'>

function recordedFrom<P extends Parameter, Own extends NamedParameters>(
  { takes }: Pick<Source<P>, 'takes'>,
  parameters: Own,
  part: Part,
  position: SQL,
  rows: (fields: ReturnType<typeof callersRow>, condition: SQL) => ReturnType<Rows>,
  fields: EventFields,
): Recording<P | Own[keyof Own]> {
  const build = () => query.insert(auditEvents).select(rows(callersRow(fields, part, position), isNotRecorded(part)))
  return recording(guarded({ takes }, parameters, build), true)
}

/**
 * Records a change before it is made: for changes that happen whenever their guard holds. The rows that the change
 * deletes or overwrites can be read.
 * @param parameters of the event and of the condition.
 * @param condition of the change, beside its guard.
 */
export function recordedBefore<P extends Parameter, Own extends NamedParameters>(
  preconditions: Source<P>,
  parameters: Own,
  fields: EventFields,
  condition?: SQL,
): Recording<P | Own[keyof Own]> {
  return recordedFrom(
    preconditions,
    parameters,
    'change',
    ONLY,
    (row, isNew) => preconditions.rows(row, and(condition, isNew)),
    fields,
  )
}

/**
 * Like `recordedBefore`, for a change of several rows, or of rows that its guard does not join.
 * @param rows selects the rows where the condition holds.
 */
export function recordedForEach<P extends Parameter, Own extends NamedParameters>(
  preconditions: Pick<Source<P>, 'takes'>,
  parameters: Own,
  fields: EventFields,
  rows: (fields: ReturnType<typeof callersRow>, condition: SQL) => ReturnType<Rows>,
  part: Part = 'change',
): Recording<P | Own[keyof Own]> {
  return recordedFrom(preconditions, parameters, part, EACH, rows, fields)
}

/** A statement that is the change of its operation, with the statement that records it. */
export interface Change<Row = unknown, P extends Parameter = Parameter> extends Statement<Row, P> {
  readonly recording: Recording
}

/** A guarded statement that is the change of its operation. @param recording its parameters are required too. */
export function guardedChange<Result, P extends Parameter, Own extends NamedParameters, E extends Parameter>(
  preconditions: Pick<Source<P>, 'takes'>,
  parameters: Own,
  recording: Recording<E>,
  build: () => Compilable<Result>,
): Change<ResultRow<Result>, P | Own[keyof Own] | E> {
  return Object.assign(guarded(preconditions, parameters, build), { recording })
}

const SERVICE_PARAMETERS = { eventId, firstSequence }

/**
 * Records what the service does by itself, or what somebody does without a request of the API.
 * @param fields with the actor, if there is one.
 * @param rows selects the rows, each with the columns of its event.
 */
export function recordedByService<Own extends NamedParameters>(
  parameters: Own,
  { actor = {}, ...fields }: EventFields & { readonly organizationId: SQLWrapper; readonly actor?: Actor },
  rows: Rows,
): Recording<Own[keyof Own] | (typeof SERVICE_PARAMETERS)[keyof typeof SERVICE_PARAMETERS]> {
  const newId = sql`substr(${eventId}, 1, 24) || lower(hex(randomblob(6)))`
  const position = sql`row_number() over (partition by ${fields.organizationId}) - 1`
  const build = () =>
    query.insert(auditEvents).select(rows(eventRow(fields, fields.organizationId, newId, position, actor)))
  return recording(unguarded({ ...parameters, ...SERVICE_PARAMETERS }, build), false)
}
