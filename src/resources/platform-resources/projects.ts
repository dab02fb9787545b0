/** Projects: an API key may be restricted to some of them. */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { projectForbidden } from '../../access/failures.ts'
import { isUnrestricted } from '../../access/guard.ts'
import { resourceId } from '../../access/platform-resource.ts'
import { authorized } from '../../access/preconditions.ts'
import { withAccessTo } from '../../access/project.ts'
import { cursor, rowLimit } from '../../db/parameters.ts'
import { columnsIn, containsIfGiven } from '../../db/rows.ts'
import { apiKeys, projects } from '../../db/schema.ts'
import { guarded } from '../../db/statement.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { externalId } from '../../http/fields.ts'
import { changingContract, type Kind, organizationResourceContracts } from './contract.ts'
import { changingEndpoint, organizationResourceEndpoints } from './handlers.ts'
import { changingStatements, DESCRIBED, nameQuery, organizationResourceStatements } from './statements.ts'

const PROJECT = {
  type: 'project',
  noun: 'project',
  article: 'a',
  path: 'projects',
  name: 'Project',
  idName: 'projectId',
  tag: 'Projects',
  id: () => externalId({ description: 'The project.', example: EXAMPLE_IDS.projectId }),
  exampleId: EXAMPLE_IDS.projectId,
  exampleName: 'Website',
  dependents: 'its sessions, pull requests, schedules, environment variables and pins',
  table: projects,
  quota: 'projects',
} as const satisfies Kind

const toAccess = { isAccessible: withAccessTo(resourceId) }
const forbidden = { read: projectForbidden, change: projectForbidden }
const contracts = organizationResourceContracts(PROJECT, forbidden)
const fields = columnsIn(projects, contracts.retrieve.success.schema)

const access = { toRead: toAccess, toChange: toAccess, toList: isUnrestricted }
const shared = organizationResourceStatements(PROJECT, fields, access, DESCRIBED)

/**
 * Lists the projects that a restricted API key is restricted to. The other list has all, for an API key that is not
 * restricted.
 */
const listAccessible = guarded(authorized, { cursor, nameQuery, rowLimit }, () =>
  authorized
    .rows({ ...fields, isLastExamined: sql<0>`0`.as('isLastExamined') }, containsIfGiven(projects.name, nameQuery))
    .innerJoin(
      projects,
      and(
        eq(projects.organizationId, apiKeys.organizationId),
        gt(projects.id, cursor),
        sql`${projects.id} in (select value from json_each(${apiKeys.projectIds}))`,
      ),
    )
    .orderBy(asc(projects.id))
    .limit(rowLimit),
)

export const statements = {
  ...shared,
  listAccessible,
  ...changingStatements(PROJECT, fields, toAccess, DESCRIBED),
}
export const { put, retrieve, list, remove } = organizationResourceEndpoints(PROJECT, contracts, statements)
export const update = changingEndpoint(PROJECT, changingContract(PROJECT, contracts, forbidden), statements)
