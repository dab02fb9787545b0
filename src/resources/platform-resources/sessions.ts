/** Sessions: each is one run of a coding agent in a project. */
import { sessions } from '../../db/schema.ts'
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
  id: () => uuid('The session.'),
  exampleId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
  exampleName: 'Rebuild the checkout',
  dependents: 'its files and pins',
  table: sessions,
  quota: 'sessions',
} as const satisfies Kind

export const statements = projectResourceStatements(SESSION)
export const { put, retrieve, list, remove } = projectResourceEndpoints(
  projectResourceContracts(SESSION),
  statements,
)
