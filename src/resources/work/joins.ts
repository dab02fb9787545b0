/** How SQL joins a schedule or a run to what it depends on: its parent, its schedule, its run endpoint. */
import { and, eq, exists, isNotNull, lte, or, sql } from 'drizzle-orm'
import { now } from '../../db/parameters.ts'
import { agents, type missedSpans, projects, runEndpoints, type runs, schedules } from '../../db/schema.ts'
import { query } from '../../db/statement.ts'

/** Joins the schedule of a run or a missed span. */
export function isScheduleOf(dependent: typeof runs | typeof missedSpans) {
  return and(eq(schedules.organizationId, dependent.organizationId), eq(schedules.id, dependent.scheduleId))
}

/** True if the organization of a schedule has a run endpoint. */
export const hasRunEndpoint = exists(
  query.select({ one: sql`1` }).from(runEndpoints).where(eq(runEndpoints.organizationId, schedules.organizationId)),
)

/**
 * When a run is created or sent again. It is never before the run endpoint of the organization was set, although a tick
 * may be late and the clocks of two machines differ: a run is not sent to an endpoint that was set after that.
 */
export function notBeforeRunEndpoint({ organizationId }: typeof schedules | typeof runs) {
  return sql<string>`max(${now}, coalesce(${query
    .select({ createdAt: runEndpoints.createdAt })
    .from(runEndpoints)
    .where(eq(runEndpoints.organizationId, organizationId))}, ''))`
}

/** Joins the run endpoint that a run is sent to: not one that was set after the run was created or sent again. */
export function isRunEndpointOf(run: typeof runs) {
  return and(
    eq(runEndpoints.organizationId, run.organizationId),
    lte(runEndpoints.createdAt, sql`coalesce(${run.redeliveredAt}, ${run.createdAt})`),
  )
}

/** Joins the project of a schedule or run whose parent is a project. */
export function isProjectOf(dependent: typeof schedules | typeof runs) {
  return and(
    eq(dependent.parentType, 'project'),
    eq(projects.organizationId, dependent.organizationId),
    eq(projects.id, dependent.parentId),
  )
}

/** Joins the agent of a schedule or run whose parent is an agent. */
export function isAgentOf(dependent: typeof schedules | typeof runs) {
  return and(
    eq(dependent.parentType, 'agent'),
    eq(agents.organizationId, dependent.organizationId),
    eq(agents.id, dependent.parentId),
  )
}

/** Joins both, as SQL. */
export const joinParents = (dependent: typeof schedules | typeof runs) =>
  sql`left join ${projects} on ${isProjectOf(dependent)} left join ${agents} on ${isAgentOf(dependent)}`

/** The ID of the parent, if it is of this type. */
export function parentIdOf({ parentType, parentId }: typeof schedules | typeof runs, type: 'project' | 'agent') {
  return sql<string | null>`case ${parentType} when ${sql.raw(`'${type}'`)} then ${parentId} end`
}

/** The parent of a schedule or run, in its events. */
export function parentOf(dependent: typeof schedules | typeof runs) {
  return { projectId: parentIdOf(dependent, 'project'), parentId: parentIdOf(dependent, 'agent') }
}

/** The event of a schedule that the service pauses. */
export const pausedEvent = {
  type: 'schedule.paused',
  organizationId: schedules.organizationId,
  id: schedules.id,
  name: schedules.name,
  ...parentOf(schedules),
} as const

/** With both joined: true if the parent exists. A schedule or run whose parent was deleted is no longer visible. */
export const hasParent = or(isNotNull(projects.id), isNotNull(agents.id))

/** With both joined: when the parent was archived; null if it is active. */
export const parentArchivedAt = sql<string | null>`coalesce(${projects.archivedAt}, ${agents.archivedAt})`
