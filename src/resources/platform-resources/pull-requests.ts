/** Pull requests of projects. */
import { columnsIn } from '../../db/rows.ts'
import { pullRequests } from '../../db/schema.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { uuid } from '../../http/fields.ts'
import { type Kind, projectResourceContracts } from './contract.ts'
import { projectResourceEndpoints } from './handlers.ts'
import { projectResourceStatements } from './statements.ts'

const PULL_REQUEST = {
  type: 'pull_request',
  noun: 'pull request',
  article: 'a',
  path: 'pull-requests',
  name: 'PullRequest',
  idName: 'pullRequestId',
  tag: 'Pull requests',
  id: () => uuid('The pull request.', EXAMPLE_IDS.pullRequestId),
  exampleId: EXAMPLE_IDS.pullRequestId,
  exampleName: 'Accept Apple Pay',
  dependents: 'its pins',
  table: pullRequests,
  quota: 'pullRequests',
} as const satisfies Kind

const contracts = projectResourceContracts(PULL_REQUEST)
const fields = columnsIn(pullRequests, contracts.retrieve.success.schema)
export const statements = projectResourceStatements(PULL_REQUEST, fields)
export const { put, retrieve, list, remove } = projectResourceEndpoints(PULL_REQUEST, contracts, statements)
