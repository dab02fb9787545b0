import { endpoint } from '../../http/endpoint.ts'
import { END, pageOf, pagingOf } from '../../http/paging.ts'
import { listAuditEventsContract } from './contract.ts'
import { listable, selectAuditEvents } from './statements.ts'

export const listAuditEvents = endpoint(listAuditEventsContract, async ({ query }, context) => {
  const values = { ...pagingOf(query), before: query.cursor ?? END }
  const [facts, events] = await context.run(listable, [selectAuditEvents], values)
  listable.requireMet(facts, context)
  return { body: pageOf(events, query, ({ id }) => id) }
})
