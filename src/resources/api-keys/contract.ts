/** The keys of an organization (docs/contract.md, Keys). */
import * as z from 'zod/mini'
import { SCOPES } from '../../access/scopes.ts'
import type { Contract } from '../../http/contract.ts'
import { docs, externalId, instant, overlapSeconds, text, uuid } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, STORE_UNAVAILABLE } from '../../http/statuses.ts'

const MOST_PROJECTS = 100

const fields = {
  id: uuid(),
  name: z.string(),
  scopes: z.array(z.string()),
  userId: z.nullable(z.string()).register(docs, { description: 'The user that it acts as; null: none.' }),
  projectIds: z
    .nullable(z.array(z.string()))
    .register(docs, { description: 'The projects that it is limited to; null: all.' }),
  expiresAt: z.nullable(instant()).register(docs, { description: 'Null: never.' }),
  rotatedAt: z
    .nullable(instant())
    .register(docs, { description: 'Since when it has a successor, and an end; null: it has none.' }),
  lastUsedAt: z
    .nullable(instant())
    .register(docs, { description: 'Its latest use, to the hour; null before the first.' }),
  createdAt: instant(),
}

const apiKey = z.strictObject(fields).register(docs, { id: 'ApiKey' })

const newApiKey = z
  .strictObject({
    ...fields,
    token: z.string().register(docs, {
      description: 'What to send as `Authorization: Bearer`. It is shown here only.',
    }),
  })
  .register(docs, { id: 'ApiKeyWithToken' })

const exampleApiKey = {
  id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
  name: 'laptop',
  scopes: ['pins:read', 'pins:write'],
  userId: 'ada',
  projectIds: null,
  expiresAt: '2027-03-29T01:00:00.000Z',
  rotatedAt: null,
  lastUsedAt: null,
  createdAt: '2026-03-29T01:00:00.000Z',
}

const exampleNewApiKey = { ...exampleApiKey, token: 'wsk_…' }

const isUnique = (values: readonly string[]) => new Set(values).size === values.length

const headers = z.object({
  'Idempotency-Key': z.optional(
    text(1, 255, {
      description:
        'Keeps a repeated request from making a second key: the same key again is 409 and names the first.',
      example: 'laptop-2026',
    }),
  ),
})

const errors = { 400: INVALID_INPUT, 500: INTERNAL_ERROR, 503: STORE_UNAVAILABLE }
const NO_KEY = 'The organization has no key with this id.'
const ROTATED = 'Or your key was rotated: it manages only itself.'
const BEYOND = `The key acts for another user than yours, or reaches projects that yours does not. ${ROTATED}`
const params = z.object({ apiKeyId: uuid('The key.') })

export const createApiKeyContract = {
  operationId: 'createApiKey',
  answersOnce: true,
  method: 'POST',
  path: '/v1/api-keys',
  tag: 'API keys',
  summary: 'Create an API key',
  description:
    'Makes a key that can do no more than the one that makes it: no further scope, no further project, no later end, ' +
    'no other user. What is left out of user, projects and end is as with your own key.',
  scope: 'api-keys:write',
  params: z.object({}),
  headers,
  body: z
    .strictObject({
      name: text(1, 255, { description: 'What people call it.' }),
      scopes: z
        .array(z.enum(SCOPES))
        .check(
          z.maxLength(SCOPES.length, `expected up to ${SCOPES.length} scopes`),
          z.refine(isUnique, 'expected each scope once'),
        )
        .register(docs, { description: 'What it may do.' }),
      userId: z
        .optional(z.nullable(externalId({})))
        .register(docs, { description: 'The user that it acts as; null: none.' }),
      projectIds: z
        .optional(
          z.nullable(
            z
              .array(externalId({}))
              .check(
                z.maxLength(MOST_PROJECTS, `expected up to ${MOST_PROJECTS} projects`),
                z.refine(isUnique, 'expected each project once'),
              ),
          ),
        )
        .register(docs, { description: 'The projects that it is limited to; null: all.' }),
      expiresAt: z.optional(z.nullable(instant())).register(docs, { description: 'Null: never.' }),
    })
    .register(docs, {
      id: 'NewApiKey',
      example: {
        name: exampleApiKey.name,
        scopes: exampleApiKey.scopes,
        expiresAt: exampleApiKey.expiresAt,
      },
    }),
  success: {
    status: 201,
    description: 'The key is made. Its token is shown here only.',
    schema: newApiKey,
    example: exampleNewApiKey,
    headers: { Location: 'The path of the key.' },
  },
  errors: {
    ...errors,
    403: `Your key lacks what the new one would have. ${ROTATED}`,
    404: 'The organization has no such user or project.',
    409: 'The `Idempotency-Key` made a key before, or the organization has the most keys allowed.',
  },
} as const satisfies Contract

export const listApiKeysContract = {
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/v1/api-keys',
  tag: 'API keys',
  summary: 'List API keys',
  description:
    'Lists the keys of the organization in order of creation; with a key that acts as a user or is limited to ' +
    'projects, those that reach no more. A token is never shown again.',
  scope: 'api-keys:read',
  params: z.object({}),
  query: z.object(pageQuery(uuid())),
  success: {
    status: 200,
    description: 'A page of keys.',
    schema: pageSchema('ApiKeyPage', apiKey, uuid()),
    example: { items: [exampleApiKey], nextCursor: null },
  },
  errors,
} as const satisfies Contract

export const rotateApiKeyContract = {
  operationId: 'rotateApiKey',
  answersOnce: true,
  method: 'POST',
  path: '/v1/api-keys/{apiKeyId}/rotate',
  tag: 'API keys',
  summary: 'Rotate an API key',
  description:
    'Makes a successor that can do the same, with a token of its own. The key lives on for the overlap, so that ' +
    'whoever uses it has time to change. The body may be `{}`.',
  scope: 'api-keys:write',
  params,
  headers,
  body: z
    .strictObject({
      overlapSeconds: overlapSeconds(
        'How long the key lives on. 0 ends it at once: if the answer is lost then, so is the way in of a key that rotates itself.',
      ),
    })
    .register(docs, { id: 'ApiKeyRotation', example: { overlapSeconds: 3600 } }),
  success: {
    status: 201,
    description: 'The successor. Its token is shown here only.',
    schema: newApiKey,
    example: exampleNewApiKey,
    headers: { Location: 'The path of the successor.' },
  },
  errors: {
    ...errors,
    403: `${BEYOND} Or it has a scope or a lifetime that yours lacks.`,
    404: NO_KEY,
    409: 'The key has expired or has a successor, or the `Idempotency-Key` made a key before.',
  },
} as const satisfies Contract

export const deleteApiKeyContract = {
  operationId: 'deleteApiKey',
  method: 'DELETE',
  path: '/v1/api-keys/{apiKeyId}',
  tag: 'API keys',
  summary: 'Delete an API key',
  description:
    'Revokes the key. It is refused from the next request on. The keys that it created stay, unless `descendants` is true.',
  scope: 'api-keys:write',
  params,
  query: z.object({
    descendants: z._default(z.enum(['true', 'false']), 'false').register(docs, {
      description:
        'True: also revokes the keys that were created with the key, the keys created with those, and so on; a successor ' +
        'was created with the key that sent the rotation. The key itself may be revoked already.',
      example: 'true',
    }),
  }),
  success: {
    status: 200,
    description: 'The key is revoked.',
    schema: z
      .strictObject({
        deleted: z.literal(true),
        id: uuid(),
        descendants: z.int().check(z.minimum(0)).register(docs, {
          description: 'How many other keys the request revoked; 0 unless `descendants` is true.',
        }),
      })
      .register(docs, { id: 'ApiKeyDeletion' }),
    example: { deleted: true, id: exampleApiKey.id, descendants: 2 },
  },
  errors: {
    ...errors,
    403: `${BEYOND} It can't delete its descendants.`,
    404: 'The organization has no key with this id, or it is revoked and `descendants` is not true.',
  },
} as const satisfies Contract
