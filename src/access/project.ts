/**
 * The project that a request names, what operations require of it, and the requirement of organization-wide resources
 * that the API key is not restricted to projects.
 */
import { and, eq, isNotNull, isNull, notExists, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type NamedParameters, text, textOrNull } from '../db/parameters.ts'
import { apiKeys, projects } from '../db/schema.ts'
import { query } from '../db/statement.ts'
import {
  listedProjectNotFound,
  projectArchived,
  projectForbidden,
  projectNotFound,
  projectRequired,
  unrestrictedKeyRequired,
} from './failures.ts'
import { isAccessible, isUnrestricted } from './guard.ts'
import { type NamedPreconditions, precondition, requiring } from './preconditions.ts'

export const projectId = text('projectId')
export const namedProject = {
  table: projects,
  on: and(eq(projects.organizationId, apiKeys.organizationId), eq(projects.id, projectId)),
  takes: { projectId },
}

/** @param condition true if the request names no unknown project. */
export const projectFound = (condition: SQL) => precondition(condition, projectNotFound)

export const projectExists = projectFound(isNotNull(projects.id))

/** @param projectIds JSON; NULL: all projects. */
export const projectsExist = <Own extends NamedParameters>(projectIds: SQLWrapper, takes: Own) =>
  precondition(
    notExists(
      query
        .select({ one: sql`1` })
        .from(sql`json_each(${projectIds})`)
        .where(
          notExists(
            query
              .select({ id: projects.id })
              .from(projects)
              .where(and(eq(projects.organizationId, apiKeys.organizationId), sql`${projects.id} = value`)),
          ),
        ),
    ),
    listedProjectNotFound,
    takes,
  )

/** @param holds true if the caller's API key is not restricted to other projects. */
export const accessibleIf = (holds: SQL | undefined) => precondition(holds, projectForbidden)

export const withAccessTo = (projectId: SQLWrapper) => accessibleIf(isAccessible(projectId))

export const projectIsAccessible = withAccessTo(projects.id)

export const projectIsActive = precondition(isNull(projects.archivedAt), projectArchived)

/** Organization-wide resources need an API key that is not restricted to projects. */
export const keyIsUnrestricted = precondition(isUnrestricted, unrestrictedKeyRequired)

/** The project that a list or a claim names; null: none. */
export const projectIdOrNull = textOrNull('projectId')
const named = alias(projects, 'named')

/** A key that is restricted to projects names one. */
export const namesProjectIfRestricted = precondition(
  sql`${projectIdOrNull} is not null or ${isUnrestricted}`,
  projectRequired,
  { projectIdOrNull },
)

/**
 * For a list or a claim of the whole organization, or of the project that the request names. A key that is restricted to
 * projects names one.
 * @param further what else must hold.
 */
export function ofAllProjectsOrOne<const Further extends NamedPreconditions = Record<never, never>>(further?: Further) {
  const on = and(eq(named.organizationId, apiKeys.organizationId), eq(named.id, projectIdOrNull))
  return requiring([{ table: named, on, takes: { projectIdOrNull } }], {
    projectExists: projectFound(sql`${projectIdOrNull} is null or ${named.id} is not null`),
    isUnrestricted: namesProjectIfRestricted,
    isAccessible: accessibleIf(sql`${projectIdOrNull} is null or ${isAccessible(named.id)}`),
    ...(further ?? ({} as Further)),
  })
}
