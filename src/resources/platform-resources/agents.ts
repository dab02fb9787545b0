/** Agents: coding agents of the organization, which work in all of its projects. */
import { unrestrictedKeyRequired } from '../../access/failures.ts'
import { keyIsUnrestricted } from '../../access/project.ts'
import { columnsIn } from '../../db/rows.ts'
import { agents } from '../../db/schema.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { uuid } from '../../http/fields.ts'
import { changingContract, type Kind, organizationResourceContracts } from './contract.ts'
import { changingEndpoint, organizationResourceEndpoints } from './handlers.ts'
import { changingStatements, DESCRIBED, organizationResourceStatements } from './statements.ts'

const AGENT = {
  type: 'agent',
  noun: 'agent',
  article: 'an',
  path: 'agents',
  name: 'Agent',
  idName: 'agentId',
  tag: 'Agents',
  id: () => uuid('The agent.', EXAMPLE_IDS.agentId),
  exampleId: EXAMPLE_IDS.agentId,
  exampleName: 'Reviewer',
  dependents: 'its schedules and their runs',
  table: agents,
  quota: 'agents',
} as const satisfies Kind

const forbidden = { change: unrestrictedKeyRequired }
const toChange = { isUnrestricted: keyIsUnrestricted }
const contracts = organizationResourceContracts(AGENT, forbidden)
const fields = columnsIn(agents, contracts.retrieve.success.schema)
export const statements = {
  ...organizationResourceStatements(AGENT, fields, { toChange }, DESCRIBED),
  ...changingStatements(AGENT, fields, toChange, DESCRIBED),
}
export const { put, retrieve, list, remove } = organizationResourceEndpoints(AGENT, contracts, statements)
export const update = changingEndpoint(AGENT, changingContract(AGENT, contracts, forbidden), statements)
