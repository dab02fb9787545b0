/** Sessions: each is one run of a coding agent in a project. */
import { columnsIn } from '../../db/rows.ts'
import { sessions } from '../../db/schema.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { uuid } from '../../http/fields.ts'
import { type Kind, projectResourceContracts } from './contract.ts'
import { projectResourceEndpoints } from './handlers.ts'
import { projectResourceStatements } from './statements.ts'

const SESSION = {
  type: 'session',
  noun: 'session',
  article: 'a',
  path: 'sessions',
  name: 'Session',
  idName: 'sessionId',
  tag: 'Sessions',
  id: () => uuid('The session.', EXAMPLE_IDS.sessionId),
  exampleId: EXAMPLE_IDS.sessionId,
  exampleName: 'Rebuild the checkout',
  dependents: 'its files and pins',
  table: sessions,
  quota: 'sessions',
} as const satisfies Kind

const contracts = projectResourceContracts(SESSION)
const fields = columnsIn(sessions, contracts.retrieve.success.schema)
export const statements = projectResourceStatements(SESSION, fields)
export const { put, retrieve, list, remove } = projectResourceEndpoints(SESSION, contracts, statements)
