/** Deleting an environment variable, in SQL. The sealed value is never selected. */
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { explaining, isInReach, mayAct } from '../access/caller.ts'
import { apiKeys, environmentVariables, projects } from '../db/schema.ts'
import { compile, query } from '../db/statement.ts'

const projectId = sql.placeholder('projectId')
const key = sql.placeholder('key')

const isProject = and(eq(projects.organizationId, apiKeys.organizationId), eq(projects.id, projectId))

export const explainVariable = compile(
  explaining({
    projectExists: sql<0 | 1>`${isNotNull(projects.id)}`.as('projectExists'),
    inReach: sql<0 | 1>`${isInReach(projects.id)}`.as('inReach'),
    isArchived: sql<0 | 1>`${isNotNull(projects.archivedAt)}`.as('isArchived'),
    variableExists: sql<0 | 1>`${isNotNull(environmentVariables.key)}`.as('variableExists'),
  })
    .leftJoin(projects, isProject)
    .leftJoin(
      environmentVariables,
      and(
        eq(environmentVariables.organizationId, apiKeys.organizationId),
        eq(environmentVariables.projectId, projectId),
        eq(environmentVariables.key, key),
      ),
    ),
)

/** The organization of the project, if the caller may change it; else NULL, which matches no row. */
const changeableOrganization = query
  .select({ organizationId: projects.organizationId })
  .from(apiKeys)
  .innerJoin(projects, isProject)
  .where(and(mayAct, isInReach(projects.id), isNull(projects.archivedAt)))

export const deleteVariable = compile(
  query
    .delete(environmentVariables)
    .where(
      and(
        eq(environmentVariables.organizationId, changeableOrganization),
        eq(environmentVariables.projectId, projectId),
        eq(environmentVariables.key, key),
      ),
    )
    .returning({ key: environmentVariables.key }),
)
