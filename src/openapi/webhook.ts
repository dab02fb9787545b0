/** The request that a run endpoint receives (delivery/attempt.ts), for the OpenAPI document. */
import * as z from 'zod/mini'
import type { ZodOpenApiPathItemObject } from 'zod-openapi'
import { docs, instant, uuid } from '../http/fields.ts'
import { exampleWork, reportedOutcome, work } from '../resources/schedules/runs/contract.ts'

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
      header: z.object({
        'webhook-id': uuid('The ID of the run.'),
        'webhook-timestamp': z.string().register(docs, {
          description: 'The time of the attempt, in seconds since 1970-01-01T00:00:00Z.',
          example: '1774855801',
        }),
        'webhook-signature': z.string().register(docs, {
          description:
            '`v1,` and an HMAC-SHA-256 in base64. During the overlap of a rotation there are two, separated by a space.',
          example: 'v1,bm90IGEgc2lnbmF0dXJlLCBidXQgMzIgYnl0ZXMuLi4=',
        }),
      }),
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
