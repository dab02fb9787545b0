/**
 * The operations on the run endpoint: the URL that receives the runs of an organization (docs/contract.md, Run
 * endpoint).
 */
import * as z from 'zod/mini'
import { rotationInProgress, unrestrictedKeyRequired } from '../../../access/failures.ts'
import type { Contract } from '../../../http/contract.ts'
import { docs, instant, overlapSeconds, text } from '../../../http/fields.ts'
import { runEndpointNotFound } from './failures.ts'

const fields = {
  url: z.string(),
  previousSecretExpiresAt: z.nullable(instant()).register(docs, {
    description: 'Until when deliveries are also signed with the previous secret; null if there is none.',
  }),
  createdAt: instant(),
  updatedAt: instant(),
}

const runEndpoint = z.strictObject(fields).register(docs, { id: 'RunEndpoint' })

const exampleRunEndpoint = {
  url: 'https://hooks.example.com/runs',
  previousSecretExpiresAt: null,
  createdAt: '2026-03-27T14:05:09.120Z',
  updatedAt: '2026-03-27T14:05:09.120Z',
}
const exampleSecret = 'whsec_YW4gZXhhbXBsZSBvZiAzMiBieXRlcywgbm8gc2VjcmV0ISE='

export const putRunEndpointContract = {
  operationId: 'putRunEndpoint',
  method: 'PUT',
  path: '/v1/run-endpoint',
  tag: 'Runs',
  summary: 'Set the run endpoint',
  description:
    'Sets the URL that receives each run that is created from now on, as a POST signed according to Standard Webhooks. ' +
    'Runs that were created before stay pending. If the organization already has a run endpoint, its URL changes, also for ' +
    'runs that are not delivered yet, and its secret stays the same.',
  scope: 'run-endpoint:write',
  params: z.object({}),
  takesSecret: true,
  body: z
    .strictObject({
      url: text(1, 2000, {
        description: 'An https URL of a public host, without credentials. Redirects are not followed.',
        example: 'https://hooks.example.com/runs',
      }),
    })
    .register(docs, { id: 'RunEndpointUpdate' }),
  success: {
    status: 200,
    description: 'The run endpoint has the new URL. `secret` is null.',
    created: 'The run endpoint was created. `secret` is its secret, which no other response contains.',
    schema: z
      .strictObject({
        ...fields,
        secret: z.nullable(z.string()).register(docs, {
          description: 'The secret that signs deliveries; null if the run endpoint is not new.',
        }),
      })
      .register(docs, { id: 'RunEndpointWithSecret' }),
    example: { ...exampleRunEndpoint, secret: exampleSecret },
  },
  failures: [unrestrictedKeyRequired],
} as const satisfies Contract

export const retrieveRunEndpointContract = {
  operationId: 'retrieveRunEndpoint',
  method: 'GET',
  path: '/v1/run-endpoint',
  tag: 'Runs',
  summary: 'Retrieve the run endpoint',
  description: 'Returns the run endpoint, without its secret.',
  scope: 'run-endpoint:read',
  params: z.object({}),
  success: {
    status: 200,
    description: 'The run endpoint.',
    schema: runEndpoint,
    example: exampleRunEndpoint,
  },
  failures: [unrestrictedKeyRequired, runEndpointNotFound],
} as const satisfies Contract

export const deleteRunEndpointContract = {
  operationId: 'deleteRunEndpoint',
  method: 'DELETE',
  path: '/v1/run-endpoint',
  tag: 'Runs',
  summary: 'Delete the run endpoint',
  description:
    'Deletes the run endpoint and its secret. Pending runs can still be pulled, but are not sent to a run endpoint that is set later.',
  scope: 'run-endpoint:write',
  params: z.object({}),
  success: {
    status: 200,
    description: 'The run endpoint is deleted.',
    schema: z.strictObject({ deleted: z.literal(true) }).register(docs, { id: 'RunEndpointDeletion' }),
    example: { deleted: true },
  },
  failures: [unrestrictedKeyRequired, runEndpointNotFound],
} as const satisfies Contract

export const rotateRunEndpointContract = {
  operationId: 'rotateRunEndpoint',
  method: 'POST',
  path: '/v1/run-endpoint/rotate',
  tag: 'Runs',
  summary: 'Rotate the secret of the run endpoint',
  description:
    'Creates a new secret. Deliveries are signed with both secrets until the previous one expires, so that the receiver ' +
    'has time to change to the new one.',
  scope: 'run-endpoint:write',
  params: z.object({}),
  body: z
    .strictObject({
      overlapSeconds: overlapSeconds(
        'How many seconds the previous secret stays valid. With 0, all earlier secrets expire at once.',
      ),
    })
    .register(docs, { id: 'RunEndpointRotation', example: { overlapSeconds: 3600 } }),
  success: {
    status: 200,
    description: 'The run endpoint with its new secret, which no other response contains.',
    schema: z.strictObject({ ...fields, secret: z.string() }).register(docs, { id: 'RotatedRunEndpoint' }),
    example: {
      ...exampleRunEndpoint,
      previousSecretExpiresAt: '2026-03-28T14:05:09.120Z',
      secret: exampleSecret,
    },
  },
  failures: [unrestrictedKeyRequired, runEndpointNotFound, rotationInProgress],
} as const satisfies Contract
