import { startOfIds, timeOfId } from '../../db/time-ids.ts'
import { endpoint } from '../../http/endpoint.ts'
import { END, toFilters, toPage, toPaging } from '../../http/paging.ts'
import { listAuditEventsContract } from './contract.ts'
import { listable, selectAuditEvents, selectLastExamined } from './statements.ts'

export const listAuditEvents = endpoint(listAuditEventsContract, async (c, context) => {
  const query = c.req.valid('query')
  const { since, until, operation = null, apiKeyId = null, userId = null, cursor = END } = query
  const { isFiltered, values: filters } = toFilters({ operation, apiKeyId, userId })
  const [before = END] = [cursor, until === undefined ? END : startOfIds(until)].sort()
  const { events, lastExamined } = await context.run(
    listable,
    { events: selectAuditEvents, lastExamined: isFiltered ? [selectLastExamined] : [] },
    { ...toPaging(query), ...filters, first: since === undefined ? '' : startOfIds(since), before },
  )
  const { items, nextCursor } = toPage(events, query, ({ id }) => id, lastExamined[0])
  const timed = items.map((event) => ({ ...event, createdAt: timeOfId(event.id) }))
  return { body: { items: timed, nextCursor } }
})
