/**
 * Pins, in SQL: the order is one list for each user, of even integers with gaps between them. So between two neighbours
 * there is always an integer. If it is odd, the gap has no more room, and the list is renumbered.
 */
import { and, eq, getTableColumns, isNotNull, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { guardedChange, recordedAfter } from '../../access/events.ts'
import { callersProjectIds, callerUser, isAccessible } from '../../access/guard.ts'
import { hasProject, type ResourceTable } from '../../access/platform-resource.ts'
import { authorized, isNew, precondition, requiring, uncheckedPrecondition } from '../../access/preconditions.ts'
import { now, number, type Parameter, text } from '../../db/parameters.ts'
import { excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, pins, projects, pullRequests, sessions } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import type { Limits } from '../../environment.ts'
import { filled } from '../../errors.ts'
import { pinLimitReached, pinNotFound, resourceNotFound, targetNotPinned } from './failures.ts'

/** The distance between neighbours after a renumbering and at either end: room for 29 placements into one gap. */
const GAP = sql.raw(String(2 ** 30))

/** The resource that the path names. */
const named = { resourceType: text('resourceType'), resourceId: text('resourceId') }
const { resourceType, resourceId } = named
const targetType = text('targetType')
const targetId = text('targetId')
const pinLimit = number('pinLimit')
/** -1: before the target; 1: after it. */
const side = number('direction')
/** D1 binds every number as a float, and positions are integers. */
const direction = sql`cast(${side} as integer)`

type ProjectCondition = (projectId: SQLWrapper) => SQL

/** True if the organization has the resource in a project that exists and meets the condition. */
function resourceExists(
  organizationId: SQLWrapper,
  type: SQLWrapper,
  id: SQLWrapper,
  isIncluded: ProjectCondition,
): SQL<0 | 1> {
  const hasInProject = (table: typeof sessions | typeof pullRequests) =>
    sql`select 1 from ${table} where ${table.organizationId} = ${organizationId} and ${table.id} = ${id}
        and ${hasProject(table)} and ${isIncluded(table.projectId)}`
  return sql<0 | 1>`case ${type}
    when 'session' then exists (${hasInProject(sessions)})
    when 'pull_request' then exists (${hasInProject(pullRequests)})
    else ${hasProject({ organizationId, projectId: id })} and ${isIncluded(id)} end`
}

/** The resource exists in the caller's organization, in a project that its key may access. */
const existsForCaller = (type: SQLWrapper, id: SQLWrapper) =>
  resourceExists(apiKeys.organizationId, type, id, isAccessible)

const own = alias(pins, 'own')
const target = alias(pins, 'target')

/** The caller's pin of a resource. */
const pinOf = <const Type extends Parameter, const Id extends Parameter>(
  pin: typeof own | typeof target,
  type: Type,
  id: Id,
) => ({
  table: pin,
  on: and(
    eq(pin.organizationId, apiKeys.organizationId),
    eq(pin.userId, apiKeys.userId),
    eq(pin.resourceType, type),
    eq(pin.resourceId, id),
  ),
  takes: { type, id },
})
const ownPin = pinOf(own, resourceType, resourceId)
const targetPin = pinOf(target, targetType, targetId)
const isPinned = isNotNull(own.position)

/** The user's pins of resources that still exist, also in projects that the API key is not restricted to. */
function countPins(): SQL<number> {
  const counted = alias(pins, 'counted')
  const isCounted = and(
    eq(counted.organizationId, apiKeys.organizationId),
    eq(counted.userId, apiKeys.userId),
    resourceExists(counted.organizationId, counted.resourceType, counted.resourceId, () => sql`true`),
  )
  return sql<number>`${query.select({ count: sql`count(*)` }).from(counted).where(isCounted)}`
}

const pinnableResourceExists = precondition(existsForCaller(resourceType, resourceId), resourceNotFound, named)

const pinExists = precondition(isPinned, pinNotFound)

const targetIsPinned = precondition(
  and(isNotNull(target.position), existsForCaller(targetType, targetId)),
  targetNotPinned,
  { targetType, targetId },
)

/** Only a new pin counts against the limit. */
const staysWithinLimit = sql`case when ${isPinned} then true else ${countPins()} < ${pinLimit} end`
const tooManyPins = ({ limits }: { limits: Limits }) => filled(pinLimitReached, { limit: limits.pins })

export const placeable = requiring([ownPin, targetPin], {
  resourceExists: pinnableResourceExists,
  targetIsPinned,
  isWithinLimit: precondition(staysWithinLimit, tooManyPins, { pinLimit }),
})

/** The position of the nearest other pin on the side of the target where this one goes; NULL at the end of the list. */
function neighbourPosition(): SQL<number | null> {
  const other = alias(pins, 'other')
  return sql<number | null>`${query
    .select({ position: sql`${direction} * min(${direction} * ${other.position})` })
    .from(other)
    .where(
      and(
        eq(other.organizationId, target.organizationId),
        eq(other.userId, target.userId),
        sql`not (${other.resourceType} = ${resourceType} and ${other.resourceId} = ${resourceId})`,
        sql`${direction} * ${other.position} > ${direction} * ${target.position}`,
      ),
    )}`
}

/** Between which positions the pin goes: one row, if the caller may place it. */
const placement = placeable
  .rows({
    organizationId: target.organizationId,
    userId: target.userId,
    targetPosition: sql<number>`${target.position}`.as('targetPosition'),
    neighbourPosition: neighbourPosition().as('neighbourPosition'),
    ownPosition: sql<number | null>`${own.position}`.as('ownPosition'),
  })
  // SQLite does not merge a subquery that has a limit into the statement, where it would look for the neighbour twice.
  .limit(1)
  .as('placement')

/** False if the pin is there already. */
const isMove = sql`case
  when ${placement.ownPosition} is null then true
  when ${placement.ownPosition} = ${placement.targetPosition} then false
  when ${direction} * ${placement.ownPosition} < ${direction} * ${placement.targetPosition} then true
  else ${direction} * ${placement.ownPosition} > ${direction} * ${placement.neighbourPosition} end`

/** The even integer in the middle of the gap, or the odd one if there is no even one; NULL at the end of the list. */
const middle = sql`case abs(${placement.targetPosition} - ${placement.neighbourPosition})
  when 2 then (${placement.targetPosition} + ${placement.neighbourPosition}) / 2
  else (${placement.targetPosition} + ${placement.neighbourPosition}) / 4 * 2 end`

/** What an insert does with a pin that is there. */
const moved = {
  target: [pins.organizationId, pins.userId, pins.resourceType, pins.resourceId],
  set: { position: excluded('position') },
}

const recorded = (type: 'pin.created' | 'pin.placed' | 'pin.deleted') =>
  recordedAfter(named, { type, id: resourceId, parentId: resourceType })

/** Moves or adds the pin. Returns a row if the order changed. */
export const place = guardedChange(placeable, { side }, recorded('pin.placed'), () =>
  query
    .insert(pins)
    .select(
      query
        .select(
          insertRow(pins, {
            organizationId: placement.organizationId,
            userId: placement.userId,
            ...named,
            position: sql`coalesce(${middle}, ${placement.targetPosition} + ${direction} * ${GAP})`,
            createdAt: now,
          }),
        )
        .from(placement)
        .where(isMove),
    )
    .onConflictDoUpdate(moved)
    .returning({ resourceId: pins.resourceId }),
)

/** Spreads the user's pins evenly after `place`, if the gap of the placed one has no more room. */
export const renumber = guarded(authorized, named, () =>
  query
    .insert(pins)
    .select(
      authorized
        .rows(
          {
            ...getTableColumns(pins),
            position: sql<number>`row_number() over (order by ${pins.position}) * ${GAP}`.as('position'),
          },
          sql`${own.position} % 2 <> 0`,
        )
        .innerJoin(own, ownPin.on)
        .innerJoin(pins, and(eq(pins.organizationId, own.organizationId), eq(pins.userId, own.userId))),
    )
    .onConflictDoUpdate(moved),
)

/** A pin as the API returns it, joined to what is pinned. */
const pin = {
  resourceType: own.resourceType,
  resourceId: own.resourceId,
  name: sql<string>`coalesce(${sessions.name}, ${pullRequests.name}, ${projects.name})`.as('name'),
  createdAt: own.createdAt,
}

const isCallers = and(eq(own.organizationId, apiKeys.organizationId), eq(own.userId, apiKeys.userId))

/** Joins the pinned resource if it has the type. For another type, the ID is NULL, so nothing is looked up. */
const pinnedIn = (type: 'session' | 'pull_request' | 'project', table: ResourceTable) =>
  and(
    eq(table.organizationId, own.organizationId),
    eq(table.id, sql`case ${own.resourceType} when ${sql.raw(`'${type}'`)} then ${own.resourceId} end`),
  )

const itsProjectId = sql<string | null>`coalesce(${sessions.projectId}, ${pullRequests.projectId})`
/** The project that is pinned, or that has what is pinned; NULL if that was deleted. */
const projectId = sql<string>`coalesce(${itsProjectId}, ${projects.id})`

/** The pins of resources that exist that the key may access, each with its resource. */
export const selectPins = guarded(authorized, {}, () =>
  authorized
    .rows(
      {
        ...pin,
        position: own.position,
        projectId: itsProjectId.as('projectId'),
        archivedAt: projects.archivedAt,
      },
      and(hasProject({ organizationId: own.organizationId, projectId }), isAccessible(projectId, callersProjectIds)),
    )
    .innerJoin(own, isCallers)
    .leftJoin(sessions, pinnedIn('session', sessions))
    .leftJoin(pullRequests, pinnedIn('pull_request', pullRequests))
    .leftJoin(projects, pinnedIn('project', projects)),
)

export const pinnable = requiring(
  [ownPin],
  {
    resourceExists: pinnableResourceExists,
    isWithinLimit: uncheckedPrecondition(staysWithinLimit, tooManyPins, { pinLimit }),
  },
  { isNew: isNew(own.position) },
)

const lastPosition = query
  .select({ position: sql`max(${pins.position})` })
  .from(pins)
  .where(and(eq(pins.organizationId, apiKeys.organizationId), eq(pins.userId, apiKeys.userId)))

/** Adds the pin at the end of the list, if the resource is not pinned yet. */
export const appendPin = guardedChange(pinnable, {}, recorded('pin.created'), () =>
  query.insert(pins).select(
    pinnable.rows(
      insertRow(pins, {
        organizationId: apiKeys.organizationId,
        userId: apiKeys.userId,
        ...named,
        position: sql`coalesce(${lastPosition}, 0) + ${GAP}`,
        createdAt: now,
      }),
      and(isNotNull(apiKeys.userId), isNull(own.position)),
    ),
  ),
)

export const selectPin = guarded(pinnable, {}, () =>
  pinnable
    .rows(pin, isPinned)
    .leftJoin(sessions, pinnedIn('session', sessions))
    .leftJoin(pullRequests, pinnedIn('pull_request', pullRequests))
    .leftJoin(projects, pinnedIn('project', projects)),
)

export const deletable = requiring([ownPin], { resourceExists: pinnableResourceExists, pinExists })

export const deletePin = guardedChange(deletable, {}, recorded('pin.deleted'), () =>
  query
    .delete(pins)
    .where(
      and(
        eq(pins.organizationId, deletable.organizationId),
        eq(pins.userId, callerUser),
        eq(pins.resourceType, resourceType),
        eq(pins.resourceId, resourceId),
      ),
    )
    .returning({ resourceId: pins.resourceId }),
)
