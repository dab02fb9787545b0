/** The operation on audit events (docs/contract.md, Audit events). */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, externalId, instant, text, time, uuid } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, STORE_UNAVAILABLE } from '../../http/statuses.ts'

export const auditEvent = z
  .strictObject({
    id: uuid(),
    operation: z.string().register(docs, { description: 'The `operationId` of the change or lease.' }),
    target: z.string().register(docs, { description: 'The path of the changed resource; of a lease, with the names.' }),
    apiKeyId: uuid('The API key that made the change.'),
    apiKeyName: z.string().register(docs, { description: 'The name of the API key at that time.' }),
    userId: z
      .nullable(z.string())
      .register(docs, { description: 'The user that the API key acts as; null if it acts as none.' }),
    requestId: uuid('The `X-Request-Id` of the response.'),
    createdAt: instant(),
  })
  .register(docs, { id: 'AuditEvent' })

export const listAuditEventsContract = {
  operationId: 'listAuditEvents',
  method: 'GET',
  path: '/v1/audit-events',
  tag: 'Audit events',
  summary: 'List audit events',
  description:
    'Lists the changes in the organization and the API keys that made them, the latest first. Events are kept for 365 days and never contain the values of a request. ' +
    'With `operation`, `apiKeyId` or `userId`, a page examines up to 2,500 events: it may have few items or none, and still a `nextCursor`.',
  scope: 'audit-events:read',
  params: z.object({}),
  query: z.object({
    since: z.optional(time()).register(docs, { description: 'Only the events at or after this time.' }),
    until: z.optional(time()).register(docs, { description: 'Only the events before this time.' }),
    operation: z.optional(
      text(1, 255, {
        description: 'Only the changes by this operation: its `operationId`.',
        example: 'deleteEnvironmentVariable',
      }),
    ),
    apiKeyId: z.optional(uuid('Only the changes that this API key made.')),
    userId: z.optional(
      externalId({
        description: 'Only the changes by API keys that act as this user.',
        example: EXAMPLE_IDS.userId,
      }),
    ),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of audit events.',
    schema: pageSchema('AuditEventPage', auditEvent, uuid()),
    example: {
      items: [
        {
          id: '019d2ff5-7f31-7c02-9d5b-40d6a0e2c8b1',
          operation: 'deleteEnvironmentVariable',
          target: '/v1/projects/website/environment-variables/DATABASE_URL',
          apiKeyId: EXAMPLE_IDS.apiKeyId,
          apiKeyName: 'laptop',
          userId: EXAMPLE_IDS.userId,
          requestId: '3f0e8a9c-52d7-4f7e-8a44-7d1b6c2e9f05',
          createdAt: '2026-03-27T14:30:01.457Z',
        },
      ],
      nextCursor: null,
    },
  },
  errorCodes: ['unrestricted_key_required'],
  errors: {
    400: INVALID_INPUT,
    403: 'The API key is restricted to projects.',
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  },
} as const satisfies Contract
