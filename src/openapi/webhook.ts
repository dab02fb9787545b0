/** The requests that run endpoints and event endpoints receive, for the OpenAPI document. */
import * as z from 'zod/mini'
import type { ZodOpenApiPathItemObject } from 'zod-openapi'
import { docs, instant, uuid } from '../http/fields.ts'
import { eventPage, examplePage } from '../resources/events/contract.ts'
import { exampleWork, reportedOutcome, work } from '../resources/work/runs/contract.ts'

/** The headers of a message. @param id what its ID is. */
const signature = (id: string) =>
  z.object({
    'webhook-id': uuid(id),
    'webhook-timestamp': z.string().register(docs, {
      description: 'The time of the attempt, in seconds since 1970-01-01T00:00:00Z.',
      example: '1774855801',
    }),
    'webhook-signature': z.string().register(docs, {
      description:
        '`v1,` and an HMAC-SHA-256 in base64. During the overlap of a rotation there are two, separated by a space.',
      example: 'v1,bm90IGEgc2lnbmF0dXJlLCBidXQgMzIgYnl0ZXMuLi4=',
    }),
  })

const body = z
  .strictObject({
    type: z.literal('schedule.run'),
    timestamp: instant(),
    data: work,
  })
  .register(docs, {
    id: 'ScheduleRunMessage',
    example: {
      type: 'schedule.run',
      timestamp: '2026-03-30T07:30:00.000Z',
      data: exampleWork,
    },
  })

export const scheduleRunWebhook: ZodOpenApiPathItemObject = {
  post: {
    operationId: 'scheduleRun',
    tags: ['Runs'],
    summary: 'A schedule is due',
    description:
      'Sent to the run endpoint at least once for each run, signed as the Standard Webhooks specification requires. Verify ' +
      'the signature with one of its libraries and the secret of the run endpoint.',
    security: [],
    requestParams: {
      header: signature('The ID of the run.'),
    },
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      200: {
        description:
          'The run is delivered. If the body is an outcome, of up to 16 KiB, the run is finished with it; any other body is ' +
          'ignored.',
        content: { 'application/json': { schema: reportedOutcome } },
      },
      '2XX': { description: 'The run is delivered. Its outcome is reported later, if at all.' },
      410: { description: 'The service deletes the run endpoint. The run stays pending.' },
      default: {
        description:
          'The attempt failed. Retries follow after 1, 5, 15, 60 and 180 minutes. If all fail, the status of the run is `failed`.',
      },
    },
  },
}

const page = z.strictObject({ type: z.literal('events'), timestamp: instant(), data: eventPage }).register(docs, {
  id: 'EventsMessage',
  example: { type: 'events', timestamp: '2026-03-27T14:30:01.457Z', data: examplePage },
})

export const eventsWebhook: ZodOpenApiPathItemObject = {
  post: {
    operationId: 'events',
    tags: ['Events'],
    summary: 'Events have happened',
    description:
      'Sent to each event endpoint of the format `standard`, in order and at least once, signed as the Standard Webhooks ' +
      'specification requires. `timestamp` is the time of the last event.',
    security: [],
    requestParams: {
      header: signature('The ID of the message, the same for each attempt to send it.'),
    },
    requestBody: { required: true, content: { 'application/json': { schema: page } } },
    responses: {
      '2XX': { description: 'The events are delivered.' },
      410: { description: 'The service disables the event endpoint.' },
      default: {
        description:
          'The attempt failed. Retries follow after 1, 5, 15, 60 and 180 minutes, then every 6 hours. After 3 days the service disables the event endpoint.',
      },
    },
  },
}
