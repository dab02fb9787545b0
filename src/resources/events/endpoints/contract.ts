/** The operations on event endpoints (docs/events.md). */
import * as z from 'zod/mini'
import { rotationInProgress, unrestrictedKeyRequired } from '../../../access/failures.ts'
import type { Contract } from '../../../http/contract.ts'
import { EXAMPLE_IDS } from '../../../http/example-ids.ts'
import { docs, externalId, instant, overlapSeconds, someOf, text, uuid } from '../../../http/fields.ts'
import { deliveryAttempt } from '../../../webhooks/contract.ts'
import { cursorField, MAX_TYPES, typePattern } from '../fields.ts'
import {
  endpointCursorExpired,
  endpointLimit,
  endpointNotFound,
  endpointUnsigned,
  rewindCursorExpired,
} from './failures.ts'

const SETTINGS = {
  url: () =>
    text(1, 2000, {
      description: 'An https URL of a public host, without credentials. Redirects are not followed.',
      example: 'https://hooks.example.com/events',
    }),
  types: () =>
    z
      .nullable(
        z.array(typePattern(), `an array of 1 to ${MAX_TYPES} types`).check(z.minLength(1), z.maxLength(MAX_TYPES)),
      )
      .register(docs, { description: 'Only events of these types; `skill.*` is all of a resource. Null: all events.' }),
  projectId: () =>
    z
      .nullable(externalId({ example: EXAMPLE_IDS.projectId }))
      .register(docs, { description: 'Only events of this project; null: all events.' }),
  note: () =>
    z.nullable(text(1, 1000)).register(docs, { description: 'What the endpoint is for; null if there is no note.' }),
  batch: () =>
    z.boolean().register(docs, {
      description: 'With `false`, each message has one event. By default up to 100, or 20 sentences.',
    }),
}

const fields = {
  id: uuid(),
  url: z.string().register(docs, {
    description: 'The host and the last four characters of the URL, which can be a secret itself.',
  }),
  format: z.enum(['standard', 'text']),
  types: z.nullable(z.array(z.string())),
  projectId: z.nullable(z.string()),
  note: z.nullable(z.string()),
  batch: z.boolean(),
  cursor: cursorField().register(docs, {
    description: 'Its place in `GET /v1/events`: what is after it is not delivered yet.',
  }),
  behind: z.int().register(docs, {
    description: 'How many events it has to deliver, of the next 1,000 events of the organization.',
  }),
  behindSince: z
    .nullable(instant())
    .register(docs, { description: 'The time of the first event that it has to deliver; null if there is none.' }),
  lastAttempts: z.array(deliveryAttempt).register(docs, { description: 'At most ten, the latest first.' }),
  failingSince: z
    .nullable(instant())
    .register(docs, { description: 'Since when every attempt has failed; null if the last one succeeded.' }),
  nextAttemptAt: z
    .nullable(instant())
    .register(docs, { description: 'When it tries again; null if it is not failing.' }),
  disabledAt: z.nullable(instant()).register(docs, { description: 'When it was disabled; null if it is enabled.' }),
  disabledReason: z.nullable(z.string()),
  previousSecretExpiresAt: z
    .nullable(instant())
    .register(docs, { description: 'When the secret before the last rotation expires; null if it has.' }),
  createdAt: instant(),
  updatedAt: instant(),
}

const eventEndpoint = z.strictObject(fields).register(docs, { id: 'EventEndpoint' })
const withSecret = z
  .strictObject({
    ...fields,
    secret: z.nullable(z.string()).register(docs, {
      description: 'The secret that signs its messages, which no other response contains; null for the format `text`.',
    }),
  })
  .register(docs, { id: 'EventEndpointWithSecret' })

const example = {
  id: EXAMPLE_IDS.eventEndpointId,
  url: 'hooks.example.com…ents',
  format: 'standard',
  types: ['skill.*', 'environment-variable.set'],
  projectId: null,
  note: 'Keeps the cache of the build machines fresh',
  batch: true,
  cursor: '0hjv8mo2h8g',
  behind: 0,
  behindSince: null,
  lastAttempts: [{ startedAt: '2026-03-27T14:30:01.700Z', status: 204, milliseconds: 82, error: null }],
  failingSince: null,
  nextAttemptAt: null,
  disabledAt: null,
  disabledReason: null,
  previousSecretExpiresAt: null,
  createdAt: '2026-03-27T14:05:09.120Z',
  updatedAt: '2026-03-27T14:05:09.120Z',
} as const
const exampleSecret = 'whsec_YW4gZXhhbXBsZSBvZiAzMiBieXRlcywgbm8gc2VjcmV0ISE='

const params = z.object({ eventEndpointId: uuid('The event endpoint.', EXAMPLE_IDS.eventEndpointId) })
const common = { tag: 'Events', failures: [unrestrictedKeyRequired, endpointNotFound] } as const
const onOne = '/v1/event-endpoints/{eventEndpointId}'

export const createEventEndpointContract = {
  operationId: 'createEventEndpoint',
  showsSecretOnce: true,
  takesSecret: true,
  method: 'POST',
  path: '/v1/event-endpoints',
  tag: 'Events',
  summary: 'Create an event endpoint',
  description:
    'Sends each event from now on to a URL, in order and at least once. With the format `standard`, a message is a page of `GET /v1/events`, signed according to Standard Webhooks. With `text` it is `{ "text": … }` with a sentence for each event, as incoming webhooks of chats take it. ' +
    'A message without a 2xx within 15 seconds is sent again, with the same `webhook-id`. After 3 days without a success, or at once with 410, the endpoint is disabled.',
  scope: 'event-endpoints:write',
  params: z.object({}),
  body: z
    .strictObject({
      url: SETTINGS.url(),
      format: z._default(z.enum(['standard', 'text']), 'standard').register(docs, {
        description: 'What is sent. It cannot be changed later.',
      }),
      types: z.optional(SETTINGS.types()),
      projectId: z.optional(SETTINGS.projectId()),
      note: z.optional(SETTINGS.note()),
      batch: z._default(SETTINGS.batch(), true),
    })
    .register(docs, {
      id: 'NewEventEndpoint',
      example: { url: 'https://hooks.example.com/events', types: ['skill.*', 'environment-variable.set'] },
    }),
  success: {
    status: 201,
    description: 'The event endpoint was created. Only this response contains its secret.',
    schema: withSecret,
    example: { ...example, lastAttempts: [], secret: exampleSecret },
    headers: { Location: 'The path of the event endpoint.' },
  },
  failures: [unrestrictedKeyRequired, endpointLimit],
} as const satisfies Contract

export const listEventEndpointsContract = {
  operationId: 'listEventEndpoints',
  method: 'GET',
  path: '/v1/event-endpoints',
  tag: 'Events',
  summary: 'List the event endpoints',
  description: 'Lists all event endpoints of the organization, at most ten, in order of creation.',
  scope: 'event-endpoints:read',
  params: z.object({}),
  success: {
    status: 200,
    description: 'The event endpoints.',
    schema: z
      .strictObject({ items: z.array(eventEndpoint), nextCursor: z.null() })
      .register(docs, { id: 'EventEndpointPage' }),
    example: { items: [example], nextCursor: null },
  },
  failures: [unrestrictedKeyRequired],
} as const satisfies Contract

export const retrieveEventEndpointContract = {
  ...common,
  operationId: 'retrieveEventEndpoint',
  method: 'GET',
  path: onOne,
  summary: 'Retrieve an event endpoint',
  description: 'Returns an event endpoint with its last attempts and how far behind it is.',
  scope: 'event-endpoints:read',
  params,
  success: { status: 200, description: 'The event endpoint.', schema: eventEndpoint, example },
} as const satisfies Contract

export const updateEventEndpointContract = {
  ...common,
  operationId: 'updateEventEndpoint',
  takesSecret: true,
  method: 'PATCH',
  path: onOne,
  summary: 'Update an event endpoint',
  description:
    'Changes the properties in the body. With `enabled: true`, a disabled endpoint continues where it stopped, and a failing one tries again at once.',
  scope: 'event-endpoints:write',
  params,
  body: someOf({
    url: z.optional(SETTINGS.url()),
    types: z.optional(SETTINGS.types()),
    projectId: z.optional(SETTINGS.projectId()),
    note: z.optional(SETTINGS.note()),
    batch: z.optional(SETTINGS.batch()),
    enabled: z
      .optional(z.boolean())
      .register(docs, { description: '`false` disables the endpoint, `true` enables it.' }),
  }).register(docs, { id: 'EventEndpointUpdate', example: { enabled: true } }),
  success: { status: 200, description: 'The event endpoint as it is now.', schema: eventEndpoint, example },
  failures: [...common.failures, endpointCursorExpired],
} as const satisfies Contract

export const deleteEventEndpointContract = {
  ...common,
  operationId: 'deleteEventEndpoint',
  method: 'DELETE',
  path: onOne,
  summary: 'Delete an event endpoint',
  description: 'Deletes an event endpoint and its secret. A message that is being sent may still arrive.',
  scope: 'event-endpoints:write',
  params,
  success: {
    status: 200,
    description: 'The event endpoint was deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'EventEndpointDeletion' }),
    example: { deleted: true, id: example.id },
  },
} as const satisfies Contract

export const rotateEventEndpointContract = {
  ...common,
  operationId: 'rotateEventEndpoint',
  showsSecretOnce: true,
  method: 'POST',
  path: `${onOne}/rotate`,
  summary: 'Rotate the secret of an event endpoint',
  description: 'Creates a new secret. Messages are signed with both secrets until the previous one expires.',
  scope: 'event-endpoints:write',
  params,
  body: z
    .strictObject({
      overlapSeconds: overlapSeconds('How many seconds the previous secret stays valid.'),
    })
    .register(docs, { id: 'EventEndpointRotation', example: { overlapSeconds: 3600 } }),
  success: {
    status: 200,
    description: 'The event endpoint with its new secret, which no other response contains.',
    schema: withSecret,
    example: { ...example, previousSecretExpiresAt: '2026-03-28T14:05:09.120Z', secret: exampleSecret },
  },
  failures: [...common.failures, endpointUnsigned, rotationInProgress],
} as const satisfies Contract

export const testEventEndpointContract = {
  ...common,
  operationId: 'testEventEndpoint',
  method: 'POST',
  path: `${onOne}/test`,
  summary: 'Test an event endpoint',
  description:
    'Sends one event of the type `event-endpoint.tested` to the endpoint, also if it is disabled, and waits for the response. Its place in the events does not change.',
  scope: 'event-endpoints:write',
  params,
  success: {
    status: 200,
    description: 'What became of the attempt. It failed if `error` is not null.',
    schema: deliveryAttempt,
    example: example.lastAttempts[0],
  },
} as const satisfies Contract

export const rewindEventEndpointContract = {
  ...common,
  operationId: 'rewindEventEndpoint',
  method: 'POST',
  path: `${onOne}/rewind`,
  summary: 'Send events again',
  description:
    'Moves the endpoint to a place in the events. With an earlier one, the events after it are sent again, in new messages; with `now`, what it has not delivered is left out.',
  scope: 'event-endpoints:write',
  params,
  body: z
    .strictObject({
      after: cursorField('now').register(docs, {
        description:
          'A `nextCursor` of `GET /v1/events` or of a message, or the `cursor` of an endpoint; `now` is the end.',
        example: example.cursor,
      }),
    })
    .register(docs, { id: 'EventEndpointRewind' }),
  success: { status: 200, description: 'The event endpoint at its new place.', schema: eventEndpoint, example },
  failures: [...common.failures, rewindCursorExpired],
} as const satisfies Contract
