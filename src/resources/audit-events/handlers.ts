import { explainUnlimited } from '../../access/guard.ts'
import { ApiError } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { END, pageOf, pagingOf } from '../../http/paging.ts'
import { listAuditEventsContract } from './contract.ts'
import { listAuditEvents as list } from './statements.ts'

export const listAuditEvents = endpoint(listAuditEventsContract, async ({ query }, context) => {
  const values = { ...pagingOf(query), before: query.cursor ?? END }
  const [facts, events] = await context.run({ check: explainUnlimited }, [list], values)
  if (!facts.inReach)
    throw new ApiError(403, 'This API key is limited to projects, and audit events are of all')
  return { body: pageOf(events, query, ({ id }) => id) }
})
