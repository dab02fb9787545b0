/** Pins, in SQL: the order is one list for each user, of integers with gaps between them. */
import { and, asc, eq, isNotNull, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { callerUser, explaining, isInReach, mayAct, now } from '../../access/guard.ts'
import { apiKeys, pins, projects, pullRequests, sessions } from '../../db/schema.ts'
import { excluded, guarded, guardedChange, insertRow, query } from '../../db/statement.ts'

/** The distance between neighbours after a renumbering and at either end: room for 30 placements into one gap. */
const GAP = 2 ** 30

const resourceType = sql.placeholder('resourceType')
const resourceId = sql.placeholder('resourceId')
const targetType = sql.placeholder('targetType')
const targetId = sql.placeholder('targetId')
/** -1: before the target; 1: after it. D1 binds every number as a float, and positions are integers. */
const direction = sql`cast(${sql.placeholder('direction')} as integer)`
const pinLimit = sql.placeholder('pinLimit')

type Projects = (projectId: SQLWrapper) => SQL

/** True if the organization has the resource, in one of those projects, which is there itself. */
function resourceExists(
  organizationId: SQLWrapper,
  type: SQLWrapper,
  id: SQLWrapper,
  inProjects: Projects,
): SQL<0 | 1> {
  const hasInProject = (table: typeof sessions | typeof pullRequests) =>
    sql`select 1 from ${table} join ${projects}
        on ${projects.organizationId} = ${table.organizationId} and ${projects.id} = ${table.projectId}
        where ${table.organizationId} = ${organizationId} and ${table.id} = ${id} and ${inProjects(projects.id)}`
  return sql<0 | 1>`case ${type}
    when 'session' then exists (${hasInProject(sessions)})
    when 'pull_request' then exists (${hasInProject(pullRequests)})
    else exists (select 1 from ${projects} where ${projects.organizationId} = ${organizationId}
                 and ${projects.id} = ${id} and ${inProjects(projects.id)}) end`
}

/** The most pins allowed are of resources that are still there, whatever projects this key is limited to. */
function countPins(organizationId: SQLWrapper, userId: SQLWrapper): SQL<number> {
  const counted = alias(pins, 'counted')
  const isThere = resourceExists(
    counted.organizationId,
    counted.resourceType,
    counted.resourceId,
    () => sql`true`,
  )
  return sql<number>`${query
    .select({ count: sql`count(*)` })
    .from(counted)
    .where(and(eq(counted.organizationId, organizationId), eq(counted.userId, userId), isThere))}`
}

const own = alias(pins, 'own')
const target = alias(pins, 'target')

/** Joins the caller's pins to `apiKeys`: the one of this resource and the one of the target. */
const isOwn = and(
  eq(own.organizationId, apiKeys.organizationId),
  eq(own.userId, apiKeys.userId),
  eq(own.resourceType, resourceType),
  eq(own.resourceId, resourceId),
)
const isTarget = and(
  eq(target.organizationId, apiKeys.organizationId),
  eq(target.userId, apiKeys.userId),
  eq(target.resourceType, targetType),
  eq(target.resourceId, targetId),
)

const hasResource = resourceExists(apiKeys.organizationId, resourceType, resourceId, isInReach)
const hasTarget = resourceExists(apiKeys.organizationId, targetType, targetId, isInReach)
const pinCount = countPins(apiKeys.organizationId, apiKeys.userId)

export const explainPlacement = guarded(() =>
  explaining({
    resourceExists: hasResource.as('resourceExists'),
    targetExists: sql<0 | 1>`${isNotNull(target.position)} and ${hasTarget}`.as('targetExists'),
    isPinned: sql<0 | 1>`${isNotNull(own.position)}`.as('isPinned'),
    // Only a new pin counts against the limit.
    pinCount: sql<number>`case when ${isNull(own.position)} then ${pinCount} end`.as('pinCount'),
  })
    .leftJoin(own, isOwn)
    .leftJoin(target, isTarget),
)

/** The nearest pin on the side of the target where this one is to stand, apart from this one; NULL at the list's end. */
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

/** Between which positions the pin goes. No row if the caller may not place it. */
const placement = query
  .select({
    organizationId: target.organizationId,
    userId: target.userId,
    targetPosition: sql<number>`${target.position}`.as('targetPosition'),
    neighbourPosition: neighbourPosition().as('neighbourPosition'),
    ownPosition: sql<number | null>`${own.position}`.as('ownPosition'),
  })
  .from(apiKeys)
  .innerJoin(target, isTarget)
  .leftJoin(own, isOwn)
  .where(and(mayAct, hasResource, hasTarget, or(isNotNull(own.position), sql`${pinCount} < ${pinLimit}`)))
  .as('placement')

/** False if the pin stands there already. */
const isMove = sql`case
  when ${placement.ownPosition} is null then true
  when ${placement.ownPosition} = ${placement.targetPosition} then false
  when ${direction} * ${placement.ownPosition} < ${direction} * ${placement.targetPosition} then true
  else ${direction} * ${placement.ownPosition} > ${direction} * ${placement.neighbourPosition} end`

const isGapFull = sql`exists ${query
  .select({ one: sql`1` })
  .from(placement)
  .where(and(isMove, sql`abs(${placement.neighbourPosition} - ${placement.targetPosition}) < 2`))}`

/** The pins of the user in order, if the pin is to move into a gap that is full. */
const ranked = query
  .select({
    organizationId: pins.organizationId,
    userId: pins.userId,
    resourceType: pins.resourceType,
    resourceId: pins.resourceId,
    rank: sql<number>`row_number() over (order by ${pins.position})`.as('rank'),
  })
  .from(apiKeys)
  .innerJoin(pins, and(eq(pins.organizationId, apiKeys.organizationId), eq(pins.userId, apiKeys.userId)))
  .where(and(mayAct, isGapFull))
  .as('ranked')

/** Spreads them evenly again. */
export const renumber = guarded(() =>
  query
    .update(pins)
    .set({ position: sql`${ranked.rank} * ${sql.raw(String(GAP))}` })
    .from(ranked)
    .where(
      and(
        eq(pins.organizationId, ranked.organizationId),
        eq(pins.userId, ranked.userId),
        eq(pins.resourceType, ranked.resourceType),
        eq(pins.resourceId, ranked.resourceId),
      ),
    ),
)

/** Moves the pin, or makes it. A row comes back if the order changed. */
export const place = guardedChange(() =>
  query
    .insert(pins)
    .select(
      query
        .select(
          insertRow(pins, {
            organizationId: placement.organizationId,
            userId: placement.userId,
            resourceType,
            resourceId,
            position: sql`coalesce(
            (${placement.targetPosition} + ${placement.neighbourPosition}) / 2,
            ${placement.targetPosition} + ${direction} * ${sql.raw(String(GAP))})`,
            createdAt: now,
          }),
        )
        .from(placement)
        .where(isMove),
    )
    .onConflictDoUpdate({
      target: [pins.organizationId, pins.userId, pins.resourceType, pins.resourceId],
      set: { position: excluded('position') },
    })
    .returning({ resourceId: pins.resourceId }),
)

/** Of a pin, in the shape of the wire. */
const pin = { resourceType: own.resourceType, resourceId: own.resourceId, createdAt: own.createdAt }

const isCallers = and(eq(own.organizationId, apiKeys.organizationId), eq(own.userId, apiKeys.userId))

export const selectPins = guarded(() =>
  query
    .select(pin)
    .from(apiKeys)
    .innerJoin(own, isCallers)
    .where(
      and(
        mayAct,
        resourceExists(apiKeys.organizationId, sql`${own.resourceType}`, sql`${own.resourceId}`, isInReach),
      ),
    )
    .orderBy(asc(own.position)),
)

/** The join keeps the columns of the fact apart: Drizzle names no tables where there is only one. */
export const explainPin = guarded(() =>
  explaining({ resourceExists: hasResource.as('resourceExists') }).leftJoin(own, isOwn),
)

const lastPosition = query
  .select({ position: sql`max(${pins.position})` })
  .from(pins)
  .where(and(eq(pins.organizationId, apiKeys.organizationId), eq(pins.userId, apiKeys.userId)))

/** Makes the pin, at the end of the list. */
export const appendPin = guardedChange(() =>
  query
    .insert(pins)
    .select(
      query
        .select(
          insertRow(pins, {
            organizationId: apiKeys.organizationId,
            userId: apiKeys.userId,
            resourceType,
            resourceId,
            position: sql`coalesce(${lastPosition}, 0) + ${sql.raw(String(GAP))}`,
            createdAt: now,
          }),
        )
        .from(apiKeys)
        .where(and(mayAct, isNotNull(apiKeys.userId), hasResource, sql`${pinCount} < ${pinLimit}`)),
    )
    .onConflictDoNothing(),
)

export const selectPin = guarded(() =>
  query.select(pin).from(apiKeys).innerJoin(own, isOwn).where(and(mayAct, hasResource)),
)

/** The organization whose pin may be removed, or NULL, which matches no row. */
const removableFrom = query
  .select({ organizationId: own.organizationId })
  .from(apiKeys)
  .innerJoin(own, isOwn)
  .where(and(mayAct, hasResource))

export const removePin = guardedChange(() =>
  query
    .delete(pins)
    .where(
      and(
        eq(pins.organizationId, removableFrom),
        eq(pins.userId, callerUser),
        eq(pins.resourceType, resourceType),
        eq(pins.resourceId, resourceId),
      ),
    )
    .returning({ resourceId: pins.resourceId }),
)
