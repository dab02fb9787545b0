/** SPEC.txt, Endpoints, 1; docs/contract.md, Pins. */
import * as z from 'zod/mini'
import type { Contract } from '../http/endpoint.ts'
import { docs, uuid } from '../http/fields.ts'

const resourceType = (description: string) =>
  z.enum(['session', 'pull_request', 'project']).register(docs, { description })

export const updatePinContract = {
  operationId: 'updatePin',
  method: 'PATCH',
  path: '/v1/pins/{resourceType}/{resourceId}',
  tag: 'Pins',
  summary: 'Update a pin',
  description:
    'Places the pin of a resource directly before or after another pin of yours. ' +
    'If the resource is not pinned yet, the pin is made. The order is one list across all types.',
  scope: 'pins:write',
  actsAsUser: true,
  params: z.object({
    resourceType: resourceType('What kind of resource is pinned.'),
    resourceId: uuid('The pinned resource.'),
  }),
  body: z
    .strictObject({
      placement: z.strictObject({
        target: z.strictObject({
          type: resourceType('The kind of resource that the target pin pins.'),
          id: uuid('The resource that the target pin pins.'),
        }),
        position: z.enum(['before', 'after']).register(docs, { description: 'On which side of the target.' }),
      }),
    })
    .register(docs, {
      id: 'PinPlacement',
      example: {
        placement: {
          target: { type: 'project', id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70' },
          position: 'before',
        },
      },
    }),
  success: {
    status: 200,
    description: 'The pin stands where it was asked to.',
    schema: z
      .strictObject({
        updated: z.boolean().register(docs, { description: 'False if the pin already stood there.' }),
      })
      .register(docs, { id: 'PinUpdate' }),
    example: { updated: true },
  },
  errors: {
    400: 'The path or body is wrong, or the key lacks the caller scope.',
    404: "The resource, or the target's pin, does not exist for this caller.",
    409: 'The pin would be new, and the user already has the most pins allowed.',
    500: 'The pin operation failed.',
  },
} as const satisfies Contract
