/** The request that a run endpoint receives (delivery/attempt.ts), for the OpenAPI document. */
import * as z from 'zod/mini'
import type { ZodOpenApiPathItemObject } from 'zod-openapi'
import { EXAMPLE_IDS } from '../http/example-ids.ts'
import { docs, instant, uuid } from '../http/fields.ts'

const body = z
  .strictObject({
    type: z.literal('schedule.run'),
    timestamp: instant(),
    data: z.strictObject({
      id: uuid(
        'The ID of the run. It is the same for every attempt, so that a receiver can recognize a repeated delivery.',
      ),
      scheduleId: uuid(),
      projectId: z.nullable(z.string()),
      agentId: z.nullable(uuid()),
      cron: z.string(),
      timezone: z.string(),
      scheduledAt: instant(),
    }),
  })
  .register(docs, {
    id: 'ScheduleRunMessage',
    example: {
      type: 'schedule.run',
      timestamp: '2026-03-30T07:30:00.000Z',
      data: {
        id: EXAMPLE_IDS.runId,
        scheduleId: EXAMPLE_IDS.projectScheduleId,
        projectId: EXAMPLE_IDS.projectId,
        agentId: null,
        cron: '30 9 * * mon-fri',
        timezone: 'Europe/Paris',
        scheduledAt: '2026-03-30T07:30:00.000Z',
      },
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
      '2XX': { description: 'The run is delivered.' },
      410: { description: 'The service deletes the run endpoint. The run stays pending.' },
      default: {
        description:
          'The attempt failed. Retries follow after 1, 5, 15, 60 and 180 minutes. If all fail, the status of the run is `failed`.',
      },
    },
  },
}
