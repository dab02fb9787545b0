/** Projects: an API key may be restricted to some of them. */
import { sql } from 'drizzle-orm'
import { isUnrestricted } from '../../access/guard.ts'
import { authorized } from '../../access/preconditions.ts'
import { projectId, withAccessTo } from '../../access/project.ts'
import { columnsIn } from '../../db/rows.ts'
import { apiKeys, projects } from '../../db/schema.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { externalId } from '../../http/fields.ts'
import { OTHER_PROJECTS } from '../../http/statuses.ts'
import { archivingContract, type Kind, organizationResourceContracts } from './contract.ts'
import { archivingEndpoint, organizationResourceEndpoints } from './handlers.ts'
import { archivingStatements, listStatement, organizationResourceStatements } from './statements.ts'

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

const toAccess = { isAccessible: withAccessTo(projectId) }
const forbidden = { read: OTHER_PROJECTS, change: OTHER_PROJECTS, code: 'project_forbidden' } as const
const contracts = organizationResourceContracts(PROJECT, forbidden)
const fields = columnsIn(projects, contracts.retrieve.success.schema)

const shared = organizationResourceStatements(PROJECT, fields, {
  toRead: toAccess,
  toChange: toAccess,
  toList: isUnrestricted,
})

/**
 * Lists the projects that a restricted API key is restricted to. The other list has all, for an API key that is not
 * restricted.
 */
const listAccessible = listStatement(
  projects,
  fields,
  authorized,
  sql`${projects.id} in (select value from json_each(${apiKeys.projectIds}))`,
)

export const statements = {
  ...shared,
  list: [shared.list, listAccessible],
  ...archivingStatements(PROJECT, fields, toAccess),
}
export const { put, retrieve, list, remove } = organizationResourceEndpoints(contracts, statements)
export const update = archivingEndpoint(archivingContract(PROJECT, contracts, forbidden), statements)
