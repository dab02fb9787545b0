import { one } from '../../access/request-context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { toPage, toPaging } from '../../http/paging.ts'
import { listAuditEventsContract, listEventsContract } from './contract.ts'
import { toEvent } from './event.ts'
import { fromCursor, oldestKept as oldestKeptAt, sequenceOf, toCursor } from './sequence.ts'
import { auditable, feed, readable, selectEnd, trail } from './statements.ts'

interface SentFilters {
  readonly types?: string | undefined
  readonly resource?: string | undefined
  readonly projectId?: string | undefined
  readonly apiKeyId?: string | undefined
  readonly userId?: string | undefined
}

/** The values of the filters: one that is null holds for every event. */
function toFilters({ types, resource, projectId, apiKeyId, userId }: SentFilters) {
  const slash = resource?.indexOf('/') ?? 0
  const filters = {
    types: types === undefined ? null : JSON.stringify(types.split(',')),
    resourceTypes: resource === undefined ? null : `${resource.slice(0, slash)}.*`,
    resourceId: resource === undefined ? null : resource.slice(slash + 1),
    projectId: projectId ?? null,
    apiKeyId: apiKeyId ?? null,
    userId: userId ?? null,
  }
  return { ...filters, isFiltered: Number(Object.values(filters).some((filter) => filter !== null)) }
}

export const listEvents = endpoint(listEventsContract, async (c, context) => {
  const query = c.req.valid('query')
  const oldestKept = oldestKeptAt(context.now)
  const isAtEnd = query.after === 'now'
  const after = query.after === undefined || isAtEnd ? oldestKept - 1 : fromCursor(query.after)
  const { rowLimit } = toPaging(query)
  const { events, lastExamined, end } = await context.run(
    readable,
    {
      events: isAtEnd ? [] : [feed.select],
      lastExamined: isAtEnd ? [] : [feed.selectLastExamined],
      end: one(selectEnd),
    },
    { after, oldestKept, rowLimit, ...toFilters(query) },
  )
  const rows = events.slice(0, rowLimit - 1)
  const last = end.sequence ?? 0
  const examined = rows.length < events.length ? rows.at(-1)?.sequence : lastExamined[0]?.sequence
  const next = Math.max(examined ?? last, isAtEnd ? 0 : after)
  return { body: { items: rows.map(toEvent), nextCursor: toCursor(next), hasMore: next < last } }
})

export const listAuditEvents = endpoint(listAuditEventsContract, async (c, context) => {
  const query = c.req.valid('query')
  const { since, until, cursor } = query
  const ends = [until === undefined ? Number.MAX_SAFE_INTEGER : sequenceOf(until)]
  if (cursor !== undefined) ends.push(fromCursor(cursor))
  const { rowLimit } = toPaging(query)
  const { events, lastExamined } = await context.run(
    auditable,
    { events: trail.select, lastExamined: trail.selectLastExamined },
    {
      first: since === undefined ? 0 : sequenceOf(since),
      before: Math.min(...ends),
      rowLimit,
      ...toFilters(query),
    },
  )
  const { items, nextCursor } = toPage(events, query, ({ sequence }) => toCursor(sequence), lastExamined[0])
  return { body: { items: items.map(toEvent), nextCursor } }
})
