/** The project that a request names, and what operations require of it. */
import { and, eq, isNotNull, isNull, type SQLWrapper, sql } from 'drizzle-orm'
import { apiKeys, projects } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { isInReach } from './guard.ts'
import { type Join, precondition } from './preconditions.ts'

/** Bound as `projectId`. */
export const namedProject: Join = {
  table: projects,
  on: and(eq(projects.organizationId, apiKeys.organizationId), eq(projects.id, sql.placeholder('projectId'))),
}

export const projectExists = precondition(
  isNotNull(projects.id),
  () => new ApiError(404, 'There is no project with this projectId.'),
)

/** The caller's API key is not restricted to projects other than this one. */
export const withinReach = (projectId: SQLWrapper) =>
  precondition(isInReach(projectId), () => new ApiError(403, 'This API key is restricted to other projects.'))

export const projectIsInReach = withinReach(projects.id)

export const projectIsActive = precondition(
  isNull(projects.archivedAt),
  () => new ApiError(409, 'The project is archived. Unarchive it first.'),
)
