/** The caller: its API key, user and organization. */
import * as z from 'zod/mini'
import { BRAKES } from '../../brakes.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, instant, uuid } from '../../http/fields.ts'

export const retrieveMeContract = {
  operationId: 'retrieveMe',
  method: 'GET',
  path: '/v1/me',
  tag: 'API keys',
  summary: 'Retrieve the caller',
  description: 'Returns the organization, the user and the permissions of the API key that sends the request.',
  scope: null,
  params: z.object({}),
  success: {
    status: 200,
    description: 'The organization, user and API key of the caller.',
    schema: z
      .strictObject({
        organization: z.strictObject({ id: uuid(), name: z.string() }),
        user: z
          .nullable(z.strictObject({ id: z.string(), name: z.string() }))
          .register(docs, { description: 'The user that the key acts as; null if it acts as none.' }),
        apiKey: z.strictObject({
          id: uuid(),
          name: z.string(),
          kind: z.enum(['key', 'session', 'grant']),
          scopes: z.array(z.string()),
          projectIds: z.nullable(z.array(z.string())).register(docs, {
            description: 'The projects that the key is restricted to; null if it is not restricted.',
          }),
          expiresAt: z
            .nullable(instant())
            .register(docs, { description: 'When the key expires; null if it never expires.' }),
          identityId: z
            .nullable(uuid())
            .register(docs, { description: 'The identity of the person who signed in; null if nobody did.' }),
        }),
        stopped: z
          .array(z.strictObject({ what: z.enum(BRAKES), since: instant() }))
          .register(docs, { description: 'What the operator of the service has stopped for now.' }),
      })
      .register(docs, { id: 'Me' }),
    example: {
      organization: { id: EXAMPLE_IDS.organizationId, name: 'Acme' },
      user: { id: EXAMPLE_IDS.userId, name: 'Ada Lovelace' },
      apiKey: {
        id: EXAMPLE_IDS.apiKeyId,
        name: 'laptop',
        kind: 'key',
        scopes: ['pins:read', 'pins:write'],
        projectIds: null,
        expiresAt: null,
        identityId: null,
      },
      stopped: [],
    },
  },
} as const satisfies Contract
