/** How SQL finds what a schedule or a run hangs on. It hangs on nothing once that is deleted: then it is gone too. */
import { and, eq, isNotNull, lte, or, sql } from 'drizzle-orm'
import { agents, type missedSpans, projects, runEndpoints, type runs, schedules } from '../../db/schema.ts'
import { query } from '../../db/statement.ts'

/** Joins the schedule that it is of. */
export function isScheduleOf(child: typeof runs | typeof missedSpans) {
  return and(
    eq(schedules.organizationId, child.organizationId),
    eq(schedules.parentType, child.parentType),
    eq(schedules.parentId, child.parentId),
    eq(schedules.id, child.scheduleId),
  )
}

/** Of a schedule: true if there is somewhere to send its runs. */
export const hasRunEndpoint = sql`exists ${query
  .select({ one: sql`1` })
  .from(runEndpoints)
  .where(eq(runEndpoints.organizationId, schedules.organizationId))}`

/**
 * Of a run that is made: when. It is never before the run endpoint that `hasRunEndpoint` found, though a tick may be late
 * and the clocks of two machines differ: a run is not sent to an endpoint that was set after it was made.
 */
export const runCreatedAt = sql<string>`max(${sql.placeholder('now')}, coalesce(${query
  .select({ createdAt: runEndpoints.createdAt })
  .from(runEndpoints)
  .where(eq(runEndpoints.organizationId, schedules.organizationId))}, ''))`

/** Joins the run endpoint that a run is sent to: one that was set after the run was made gets none of it. */
export function isRunEndpointOf(run: typeof runs) {
  return and(eq(runEndpoints.organizationId, run.organizationId), lte(runEndpoints.createdAt, run.createdAt))
}

/** Joins the project that a schedule or run is of, if it is of one. */
export function isProjectOf(child: typeof schedules | typeof runs) {
  return and(
    eq(child.parentType, 'project'),
    eq(projects.organizationId, child.organizationId),
    eq(projects.id, child.parentId),
  )
}

/** Joins the agent that a schedule or run is of, if it is of one. */
export function isAgentOf(child: typeof schedules | typeof runs) {
  return and(
    eq(child.parentType, 'agent'),
    eq(agents.organizationId, child.organizationId),
    eq(agents.id, child.parentId),
  )
}

/** With both joined: true if the parent is there. */
export const hasParent = or(isNotNull(projects.id), isNotNull(agents.id))

/** With both joined: since when the parent is archived. */
export const parentArchivedAt = sql<string | null>`coalesce(${projects.archivedAt}, ${agents.archivedAt})`
