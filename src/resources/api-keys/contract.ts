/** The API keys of an organization (docs/contract-keys.md, API keys). */
import * as z from 'zod/mini'
import {
  callerIsRotated,
  listedProjectNotFound,
  namedUserNotFound,
  quotaExceeded,
  userExceedsOwnKey,
} from '../../access/failures.ts'
import { SCOPES } from '../../access/scopes.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import {
  docs,
  externalId,
  flag,
  instant,
  integer,
  isUnique,
  overlapSeconds,
  projectIdList,
  rule,
  text,
  time,
  uuid,
} from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import {
  apiKeyAlreadyExpired,
  apiKeyAlreadyRotated,
  apiKeyForbidden,
  apiKeyNotFound,
  connectedAppNotFound,
  deletionScopeMissing,
  expiryExceedsOwnKey,
  freshSignInRequired,
  otherConnectedApp,
  projectsExceedOwnKey,
  rotatedEndExceedsOwnKey,
  rotatedScopesExceedOwnKey,
  scopesExceedOwnKey,
  sessionCreatesSession,
  sessionExceedsOwnKey,
  sessionIsRotated,
  tokenAlreadyReturned,
} from './failures.ts'

export const MAX_SESSION_SECONDS = 12 * 3600
const KINDS = ['key', 'session', 'grant'] as const

const fields = {
  id: uuid(),
  name: z.string(),
  kind: z.enum(KINDS).register(docs, {
    description:
      'A session was created by `POST /v1/me/sessions` or by a sign-in, a grant for an app that a person connected; any other is a key.',
  }),
  scopes: z.array(z.string()),
  userId: z
    .nullable(z.string())
    .register(docs, { description: 'The user that the key acts as; null if it acts as none.' }),
  projectIds: z.nullable(z.array(z.string())).register(docs, {
    description: 'The projects that the key is restricted to; null if it is not restricted.',
  }),
  expiresAt: z.nullable(instant()).register(docs, { description: 'When the key expires; null if it never expires.' }),
  rotatedAt: z.nullable(instant()).register(docs, { description: 'When the key was rotated; null if it was not.' }),
  lastUsedAt: z
    .nullable(instant())
    .register(docs, { description: 'The last use, to the hour; null before the first.' }),
  createdAt: instant(),
  createdByKeyId: z.nullable(uuid()).register(docs, {
    description:
      'The key that created it; null for a first key of the organization. Of a sign-in: the key that created the rule.',
  }),
  identityId: z.nullable(uuid()).register(docs, {
    description: 'The identity of the person who signed in, also of the keys created from there; null if nobody did.',
  }),
  app: z
    .nullable(
      z.strictObject({
        clientId: z.string(),
        name: z.string(),
        redirectHost: z.string(),
        endsAt: z.nullable(instant()).register(docs, { description: 'The end that the person chose.' }),
      }),
    )
    .register(docs, { description: 'The app of a grant; null for other kinds.' }),
}

export const apiKey = z.strictObject(fields).register(docs, { id: 'ApiKey' })

const newApiKey = z
  .strictObject({
    ...fields,
    token: z.string().register(docs, {
      description: 'The token to send as `Authorization: Bearer`. No other response contains it.',
    }),
  })
  .register(docs, { id: 'ApiKeyWithToken' })

const deletion = z
  .strictObject({
    deleted: z.literal(true),
    id: uuid(),
    descendants: z.int().check(z.minimum(0)).register(docs, {
      description: 'How many other keys the request revoked: sessions of the key and, if requested, its descendants.',
    }),
  })
  .register(docs, { id: 'ApiKeyDeletion' })

const exampleApiKey = {
  id: EXAMPLE_IDS.apiKeyId,
  name: 'laptop',
  kind: 'key',
  scopes: ['pins:read', 'pins:write'],
  userId: EXAMPLE_IDS.userId,
  projectIds: null,
  expiresAt: null,
  rotatedAt: null,
  lastUsedAt: null,
  createdAt: '2026-03-29T01:00:00.000Z',
  createdByKeyId: null,
  identityId: null,
  app: null,
}

const exampleNewApiKey = { ...exampleApiKey, token: 'wsk_…' }

const headers = z.object({
  'Idempotency-Key': z.optional(
    text(1, 255, {
      description:
        'Prevents a repeated request from creating a second API key: the response is 409 and names the first key.',
      example: 'laptop-2026',
    }),
  ),
})

const params = z.object({ apiKeyId: uuid('The API key.', EXAMPLE_IDS.apiKeyId) })

export const createApiKeyContract = {
  operationId: 'createApiKey',
  showsSecretOnce: true,
  method: 'POST',
  path: '/v1/api-keys',
  tag: 'API keys',
  summary: 'Create an API key',
  description:
    'Creates an API key that can do no more than yours: no further scope or project, no other user, and no later expiry. ' +
    '`userId`, `projectIds` and `expiresAt` default to those of your API key.',
  scope: 'api-keys:write',
  params: z.object({}),
  headers,
  body: z
    .strictObject({
      name: text(1, 255, { description: 'The display name.' }),
      scopes: z
        .array(z.enum(SCOPES), `an array of up to ${SCOPES.length} scopes`)
        .check(z.maxLength(SCOPES.length), rule(isUnique, 'has a scope several times', 'each scope once'))
        .register(docs, {
          description:
            'What the key may do. Two scopes allow more than their names say: with `skill-feeds:write`, a key publishes any skill, ' +
            'without `skills:read`; with `users:write`, a key that acts as no user and has no restriction to projects deletes any user, with all keys of the user.',
        }),
      userId: z
        .optional(z.nullable(externalId({})))
        .register(docs, { description: 'The user that the key acts as; null if it acts as none.' }),
      projectIds: z.optional(projectIdList()).register(docs, {
        description: 'The projects that the key is restricted to; null if it is not restricted.',
      }),
      expiresAt: z.optional(z.nullable(time())).register(docs, {
        description: 'When the key expires, in any form of RFC 3339; null if it never expires.',
      }),
    })
    .register(docs, {
      id: 'NewApiKey',
      example: { name: exampleApiKey.name, scopes: exampleApiKey.scopes },
    }),
  success: {
    status: 201,
    description: 'The API key was created. Only this response contains its token.',
    schema: newApiKey,
    example: exampleNewApiKey,
    headers: { Location: 'The path of the API key.' },
  },
  failures: [
    callerIsRotated,
    scopesExceedOwnKey,
    userExceedsOwnKey,
    projectsExceedOwnKey,
    expiryExceedsOwnKey,
    freshSignInRequired,
    namedUserNotFound,
    listedProjectNotFound,
    quotaExceeded,
    tokenAlreadyReturned,
  ],
} as const satisfies Contract

export const listApiKeysContract = {
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/v1/api-keys',
  tag: 'API keys',
  summary: 'List API keys',
  description:
    'Lists the API keys of the organization in order of creation. A key that acts as a user lists only the keys of that user, unless it is the session of an admin who signed in with an identity provider. A ' +
    'key that is restricted to projects lists only keys that are restricted to these projects or to some of them. Sessions and grants are listed with `kind=session` and `kind=grant` only. Tokens are never listed.',
  scope: 'api-keys:read',
  params: z.object({}),
  query: z.object({
    kind: z._default(z.enum(KINDS), 'key').register(docs, {
      description: 'Which API keys are listed: keys, sessions, or grants of apps.',
      example: 'session',
    }),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of API keys.',
    schema: pageSchema('ApiKeyPage', apiKey, uuid()),
    example: { items: [exampleApiKey], nextCursor: null },
  },
} as const satisfies Contract

export const rotateApiKeyContract = {
  operationId: 'rotateApiKey',
  // A leaked key.
  worksWhenFull: true,
  showsSecretOnce: true,
  method: 'POST',
  path: '/v1/api-keys/{apiKeyId}/rotate',
  tag: 'API keys',
  summary: 'Rotate an API key',
  description:
    'Creates a successor with the same permissions and a new token. The rotated key stays valid for `overlapSeconds`, so that ' +
    'there is time to replace it. Its sessions end with it.',
  scope: 'api-keys:write',
  params,
  headers,
  body: z
    .strictObject({
      overlapSeconds: overlapSeconds(
        'How many seconds the rotated key stays valid. With 0, a key that rotates itself loses access if the response is lost.',
      ),
    })
    .register(docs, { id: 'ApiKeyRotation', example: { overlapSeconds: 3600 } }),
  success: {
    status: 201,
    description: 'The successor. Only this response contains its token.',
    schema: newApiKey,
    example: exampleNewApiKey,
    headers: { Location: 'The path of the successor.' },
  },
  failures: [
    apiKeyForbidden,
    sessionIsRotated,
    callerIsRotated,
    rotatedScopesExceedOwnKey,
    rotatedEndExceedsOwnKey,
    freshSignInRequired,
    apiKeyNotFound,
    apiKeyAlreadyExpired,
    apiKeyAlreadyRotated,
    tokenAlreadyReturned,
  ],
} as const satisfies Contract

export const deleteApiKeyContract = {
  operationId: 'deleteApiKey',
  method: 'DELETE',
  path: '/v1/api-keys/{apiKeyId}',
  tag: 'API keys',
  summary: 'Delete an API key',
  description:
    'Revokes an API key and its sessions, with effect from the next request. The keys that were created with it stay valid, unless `descendants` is true.',
  scope: 'api-keys:write',
  params,
  query: z.object({
    descendants: z._default(flag(), 'false').register(docs, {
      default: false,
      description:
        'If true, also revokes the keys that were created with the key, the keys created with those, and so on. The ' +
        'successor of a key counts as created with the key that sent the rotation. The sign-in rules and roles that these keys made end too, with the keys of the people whom they admitted. With true, the key itself may already be revoked.',
      example: true,
    }),
  }),
  success: {
    status: 200,
    description: 'The API key is revoked.',
    schema: deletion,
    example: { deleted: true, id: exampleApiKey.id, descendants: 2 },
  },
  failures: [apiKeyForbidden, callerIsRotated, apiKeyNotFound],
} as const satisfies Contract

export const createApiKeySessionContract = {
  operationId: 'createApiKeySession',
  // To sign in, and delete.
  worksWhenFull: true,
  showsSecretOnce: true,
  method: 'POST',
  path: '/v1/me/sessions',
  tag: 'API keys',
  summary: 'Create a session of the API key',
  description:
    'Creates an API key of the kind `session` with the permissions of yours, for a person who works with it for a while. It ends ' +
    'with your API key, and after 12 hours at most. Each API key has at most 20 sessions: one more ends the oldest.',
  scope: null,
  params: z.object({}),
  body: z
    .strictObject({
      name: z
        .optional(text(1, 255, {}))
        .register(docs, { description: 'The display name; by default that of your API key.' }),
      expiresInSeconds: z.optional(integer(1, MAX_SESSION_SECONDS, 'whole seconds', '(12 hours)')).register(docs, {
        description:
          'How long the session lasts. The default is 12 hours, or the rest of the time of your API key if that is shorter.',
      }),
    })
    .register(docs, { id: 'NewApiKeySession', example: { name: 'console', expiresInSeconds: 3600 } }),
  success: {
    status: 201,
    description: 'The session was created. Only this response contains its token.',
    schema: newApiKey,
    example: {
      ...exampleNewApiKey,
      name: 'console',
      kind: 'session',
      expiresAt: '2026-03-29T13:00:00.000Z',
      createdByKeyId: EXAMPLE_IDS.apiKeyId,
    },
    headers: { Location: 'The path of the session.' },
  },
  failures: [sessionCreatesSession, callerIsRotated, sessionExceedsOwnKey],
} as const satisfies Contract

export const deleteOwnApiKeyContract = {
  operationId: 'deleteOwnApiKey',
  method: 'DELETE',
  path: '/v1/me/api-key',
  tag: 'API keys',
  summary: 'Delete the API key of the caller',
  description:
    'Revokes the API key that sends the request and its sessions, with effect from the next request. The keys that were created ' +
    'with it stay valid. A session and a rotated key can end themselves too.',
  scope: null,
  params: z.object({}),
  success: {
    status: 200,
    description: 'The API key is revoked.',
    schema: deletion,
    example: { deleted: true, id: exampleApiKey.id, descendants: 0 },
  },
} as const satisfies Contract

export const deleteOwnSessionsContract = {
  operationId: 'deleteOwnSessions',
  method: 'DELETE',
  path: '/v1/me/sessions',
  tag: 'API keys',
  summary: 'Sign out everywhere',
  description:
    'Ends all sessions of the user that your API key acts as, with effect from the next request; also the one that sends the request. ' +
    'An API key that is no session needs `api-keys:write`. Keys and grants stay valid. An API key that is restricted to projects ends only sessions that are restricted to these projects or to some of them.',
  scope: null,
  actsAsUser: true,
  params: z.object({}),
  success: {
    status: 200,
    description: 'The sessions ended.',
    schema: z
      .strictObject({ deleted: z.literal(true), sessions: z.int().check(z.minimum(0)) })
      .register(docs, { id: 'SessionsDeletion' }),
    example: { deleted: true, sessions: 2 },
  },
  failures: [callerIsRotated, deletionScopeMissing],
} as const satisfies Contract

export const deleteOwnAppContract = {
  operationId: 'deleteOwnApp',
  method: 'DELETE',
  path: '/v1/me/apps/{apiKeyId}',
  tag: 'API keys',
  summary: 'Disconnect an app',
  description:
    'Revokes the grant of an app that you connected, with effect from the next request. Your API key belongs to the person who ' +
    'connected it or, if that person signed in with an API key, is this key or a session of it.',
  scope: null,
  params: z.object({ apiKeyId: uuid('The grant of the app.', EXAMPLE_IDS.grantId) }),
  success: {
    status: 200,
    description: 'The app is disconnected.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'AppDeletion' }),
    example: { deleted: true, id: EXAMPLE_IDS.grantId },
  },
  failures: [otherConnectedApp, callerIsRotated, connectedAppNotFound],
} as const satisfies Contract
