/** The pins of a user (docs/contract-resources.md, Pins). */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, instant, uuid } from '../../http/fields.ts'
import { pinLimitReached, pinNotFound, resourceNotFound, targetNotPinned } from './failures.ts'

const resourceType = (description: string, example?: string) =>
  z.enum(['session', 'pull_request', 'project']).register(docs, { description, ...(example && { example }) })

/** IDs of projects may be any text. */
const pinnedId = (description: string, example?: string) =>
  uuid(description, example, ', because only IDs that are UUIDs can be pinned')

const pinned = z.object({
  resourceType: resourceType('The type of the pinned resource.', 'session'),
  resourceId: pinnedId('The ID of the pinned resource.', EXAMPLE_IDS.sessionId),
})

export const updatePinContract = {
  operationId: 'updatePin',
  method: 'PATCH',
  path: '/v1/pins/{resourceType}/{resourceId}',
  tag: 'Pins',
  summary: 'Update a pin',
  description:
    'Moves the pin of a resource directly before or after another pin of the user. ' +
    'If the resource is not pinned yet, it is pinned there. The order is one list across all types.',
  scope: 'pins:write',
  actsAsUser: true,
  params: pinned,
  body: z
    .strictObject({
      placement: z.strictObject({
        target: z.strictObject({
          type: resourceType('The type of the resource of the target pin.'),
          id: pinnedId('The ID of the resource of the target pin.'),
        }),
        position: z
          .enum(['before', 'after'])
          .register(docs, { description: 'Whether the pin goes before or after the target.' }),
      }),
    })
    .register(docs, {
      id: 'PinPlacement',
      example: {
        placement: {
          target: { type: 'pull_request', id: EXAMPLE_IDS.pullRequestId },
          position: 'after',
        },
      },
    }),
  success: {
    status: 200,
    description: 'The pin is at the requested position.',
    schema: z
      .strictObject({
        updated: z.boolean().register(docs, { description: 'False if the pin was already at this position.' }),
      })
      .register(docs, { id: 'PinUpdate' }),
    example: { updated: true },
  },
  failures: [resourceNotFound, targetNotPinned, pinLimitReached],
  errors: {
    400: 'The path or body is invalid, or the API key lacks the required scope.',
    404: 'The resource does not exist or the API key does not reach it, or the target is not pinned.',
    409: 'The resource is not pinned yet, and the user has the maximum number of pins.',
    500: 'The pin could not be updated.',
  },
} as const satisfies Contract

const pin = z
  .strictObject({
    resourceType: resourceType('The type of the pinned resource.'),
    resourceId: uuid(),
    name: z.string().register(docs, { description: 'The name of what is pinned.' }),
    createdAt: instant(),
  })
  .register(docs, { id: 'Pin' })

const pinnedResource = z
  .strictObject({
    id: uuid(),
    name: z.string(),
    projectId: z
      .nullable(z.string())
      .register(docs, { description: 'The project of the session or pull request; null for a project.' }),
    archivedAt: z.nullable(instant()).register(docs, {
      description: 'When the project was archived; null if it is not, and for a session or pull request.',
    }),
  })
  .register(docs, { id: 'PinnedResource' })

const pinWithResource = z.extend(pin, { resource: pinnedResource }).register(docs, { id: 'PinWithResource' })

const examplePin = {
  resourceType: 'session',
  resourceId: EXAMPLE_IDS.sessionId,
  name: 'Rebuild the checkout',
  createdAt: '2026-03-29T01:00:00.000Z',
} as const

export const listPinsContract = {
  operationId: 'listPins',
  method: 'GET',
  path: '/v1/pins',
  tag: 'Pins',
  summary: 'List pins',
  description: 'Lists all pins of the user, in their order.',
  scope: 'pins:read',
  actsAsUser: true,
  params: z.object({}),
  query: z.object({
    expand: z.optional(z.enum(['resource'])).register(docs, {
      description: '`resource`: with the project of each. Each pin has the property `resource`.',
    }),
  }),
  success: {
    status: 200,
    description: 'All pins, on one page.',
    schema: z
      .strictObject({ items: z.array(z.union([pin, pinWithResource])), nextCursor: z.null() })
      .register(docs, { id: 'PinPage' }),
    example: { items: [examplePin], nextCursor: null },
  },
} as const satisfies Contract

export const putPinContract = {
  operationId: 'putPin',
  method: 'PUT',
  path: '/v1/pins/{resourceType}/{resourceId}',
  tag: 'Pins',
  summary: 'Put a pin',
  description:
    'Pins a resource at the end of the list. If the resource is pinned already, its position does not change.',
  scope: 'pins:write',
  actsAsUser: true,
  params: pinned,
  success: {
    status: 200,
    description: 'The resource was pinned already.',
    created: 'The resource was pinned.',
    schema: pin,
    example: examplePin,
  },
  failures: [resourceNotFound, pinLimitReached],
} as const satisfies Contract

export const deletePinContract = {
  operationId: 'deletePin',
  method: 'DELETE',
  path: '/v1/pins/{resourceType}/{resourceId}',
  tag: 'Pins',
  summary: 'Delete a pin',
  description: 'Unpins a resource.',
  scope: 'pins:write',
  actsAsUser: true,
  params: pinned,
  success: {
    status: 200,
    description: 'The resource is no longer pinned.',
    schema: z
      .strictObject({
        deleted: z.literal(true),
        resourceType: resourceType('The type of the resource.'),
        resourceId: uuid(),
      })
      .register(docs, { id: 'PinDeletion' }),
    example: { deleted: true, resourceType: 'session', resourceId: examplePin.resourceId },
  },
  failures: [resourceNotFound, pinNotFound],
} as const satisfies Contract
