/**
 * The project that a request names, what operations require of it, and what organization-wide resources require of the
 * API key.
 */
import { and, eq, isNotNull, isNull, notExists, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Parameter, text, textOrNull } from '../db/parameters.ts'
import { apiKeys, projects } from '../db/schema.ts'
import { query } from '../db/statement.ts'
import { ApiError } from '../errors.ts'
import { isAccessible, isUnrestricted } from './guard.ts'
import { precondition, requiring } from './preconditions.ts'

export const projectId = text('projectId')
export const namedProject = {
  table: projects,
  on: and(eq(projects.organizationId, apiKeys.organizationId), eq(projects.id, projectId)),
  takes: [projectId],
}

/** @param condition true if the request names no unknown project. */
export const projectFound = (condition: SQL) =>
  precondition(condition, () => new ApiError('project_not_found', 'There is no project with this projectId.'))

export const projectExists = projectFound(isNotNull(projects.id))

/** @param projectIds JSON; NULL: all projects. */
export const projectsExist = <const P extends readonly Parameter[]>(projectIds: SQLWrapper, takes: P) =>
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
    () => new ApiError('project_not_found', 'projectIds names a project that the organization does not have.'),
    takes,
  )

/** @param holds true if the caller's API key is not restricted to other projects. */
export const accessibleIf = (holds: SQL | undefined) =>
  precondition(
    holds,
    () =>
      new ApiError(
        'project_forbidden',
        'This API key is restricted to other projects. Use a key that may use this project.',
      ),
  )

export const withAccessTo = (projectId: SQLWrapper) => accessibleIf(isAccessible(projectId))

export const projectIsAccessible = withAccessTo(projects.id)

export const projectIsActive = precondition(
  isNull(projects.archivedAt),
  () => new ApiError('project_archived', 'The project is archived. Unarchive it first.'),
)

/**
 * Organization-wide resources need an API key that is not restricted to projects.
 * @param subject what the operation is about, in the plural: "Audit events".
 * @param advice what a restricted key can do instead, as a sentence.
 */
export function unrestrictedFor(subject: string, advice?: string) {
  return precondition(isUnrestricted, unrestrictedKeyRequired(subject, advice))
}

const unrestrictedKeyRequired = (subject: string, advice?: string) => () => {
  const message = `${subject} need an API key that is not restricted to projects.`
  return new ApiError('unrestricted_key_required', advice ? `${message} ${advice}` : message)
}

/** The project that a list or a claim names; null: none. */
export const projectIdOrNull = textOrNull('projectId')
const named = alias(projects, 'named')

/** A key that is restricted to projects names one. @param subject what the list or the claim is of, in the plural. */
export const namesProjectIfRestricted = (subject: string) =>
  precondition(
    sql`${projectIdOrNull} is not null or ${isUnrestricted}`,
    unrestrictedKeyRequired(subject, 'Name one of its projects as projectId.'),
    [projectIdOrNull],
  )

/**
 * For a list or a claim of the whole organization, or of the project that the request names. A key that is restricted to
 * projects names one.
 * @param subject what the list or the claim is of without a project, in the plural: "Runs of all projects".
 */
export function ofAllProjectsOrOne(subject: string) {
  const on = and(eq(named.organizationId, apiKeys.organizationId), eq(named.id, projectIdOrNull))
  return requiring([{ table: named, on, takes: [projectIdOrNull] }], {
    projectExists: projectFound(sql`${projectIdOrNull} is null or ${named.id} is not null`),
    isUnrestricted: namesProjectIfRestricted(subject),
    isAccessible: accessibleIf(sql`${projectIdOrNull} is null or ${isAccessible(named.id)}`),
  })
}
