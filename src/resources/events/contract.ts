/** The operations that read events (docs/contract-resources.md, Events). */

import * as z from 'zod/mini'
import { unrestrictedKeyRequired } from '../../access/failures.ts'
import type { Contract } from '../../http/contract.ts'
import { docs, time } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { listCursorExpired } from './failures.ts'
import { cursorField, eventFilters, eventSchema, exampleEvent } from './fields.ts'

const { limit, cursor } = pageQuery(cursorField())

const KEPT =
  'Events are kept for 365 days and never contain the values of a request. With filters, a page examines up to 2,500 events: it may have few items or none'

/** A page of events in order, as it is also sent to event endpoints. */
export const eventPage = z
  .strictObject({
    items: z.array(eventSchema),
    nextCursor: cursorField().register(docs, {
      description:
        'The `after` of the next page: opaque, never null. It moves past events that the filters leave out, too.',
    }),
    hasMore: z.boolean().register(docs, { description: 'True if there may be more events already.' }),
  })
  .register(docs, { id: 'EventFeedPage' })

const exampleCursor = '0hjv8mo2h8g'

export const examplePage = { items: [exampleEvent], nextCursor: exampleCursor, hasMore: false }

export const listEventsContract = {
  operationId: 'listEvents',
  method: 'GET',
  path: '/v1/events',
  tag: 'Events',
  summary: 'List events in order',
  description:
    'Lists the changes in the organization in the order in which they were committed, the earliest first. Ask again with `after` set to `nextCursor` to hear of every later change exactly once. ' +
    `${KEPT}, and \`nextCursor\` moves on nevertheless. ` +
    'An API key that is restricted to projects sees the events of its projects, of skills, of feeds and of the schedules of agents.',
  scope: 'audit-events:read',
  params: z.object({}),
  query: z.object({
    after: z.optional(cursorField('now')).register(docs, {
      description:
        'The `nextCursor` of the page before; `now` begins after the last event. Without it, the list begins with the oldest event that is kept.',
      example: exampleCursor,
    }),
    ...eventFilters,
    limit,
  }),
  success: {
    status: 200,
    description: 'A page of events.',
    schema: eventPage,
    example: examplePage,
  },
  failures: [listCursorExpired],
} as const satisfies Contract

export const listAuditEventsContract = {
  operationId: 'listAuditEvents',
  method: 'GET',
  path: '/v1/audit-events',
  tag: 'Events',
  summary: 'List audit events',
  description: `Lists the same events, the latest first. ${KEPT}, and still a \`nextCursor\`.`,
  scope: 'audit-events:read',
  params: z.object({}),
  query: z.object({
    since: z.optional(time()).register(docs, { description: 'Only the events at or after this time.' }),
    until: z.optional(time()).register(docs, { description: 'Only the events before this time.' }),
    ...eventFilters,
    limit,
    cursor,
  }),
  success: {
    status: 200,
    description: 'A page of events.',
    schema: pageSchema('EventPage', eventSchema, cursorField()),
    example: { items: [exampleEvent], nextCursor: null },
  },
  failures: [unrestrictedKeyRequired],
} as const satisfies Contract
