/** How SQL finds what a schedule or a run hangs on. It hangs on nothing once that is deleted: then it is gone too. */
import { and, eq, isNotNull, or, sql } from 'drizzle-orm'
import { agents, projects, runs, schedules } from '../db/schema.ts'

/** Joins the schedule of a run. */
export const isScheduleOfRun = and(
  eq(schedules.organizationId, runs.organizationId),
  eq(schedules.parentType, runs.parentType),
  eq(schedules.parentId, runs.parentId),
  eq(schedules.id, runs.scheduleId),
)

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
