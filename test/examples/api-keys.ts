import { expect } from 'vitest'
import { request } from '../support/api.ts'
import { type EventsOf, type Example, type ExampleEvent, noEvents, type Row, type Rows } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const POWER = { scopes: ['api-keys:write'], expiresAt: '2998-01-01T00:00:00.000Z' } as const

/** An event of an API key whose ID the example doesn't know. */
const ofUnknown = (type: ExampleEvent['type']): ExampleEvent => ({
  type,
  path: expect.stringMatching(/^\/v1\/api-keys\/[0-9a-f-]{36}$/),
  name: 'test',
})

const created =
  (name: string): EventsOf =>
  (_, { created }) => [{ type: 'api-key.created', path: `/v1/api-keys/${created}`, name }]

const createdSession: EventsOf = (_, { created }) => [
  { type: 'api-key.session-created', path: `/v1/api-keys/${created}`, name: 'test' },
]

/** The events of the first ID: a key that is deleted, or that gets a successor. */
const ofNamed =
  (
    type: 'api-key.revoked' | 'api-key.rotated' | 'api-key.app-disconnected',
    ...others: readonly ExampleEvent[]
  ): EventsOf =>
  ({ ids }) => [{ type, path: `/v1/api-keys/${ids[0]}`, name: 'test' }, ...others]

/** An API key that any other key of its project and user may manage. */
async function prepareKey(workspace: Workspace) {
  const projectId = await workspace.addProject()
  const { id } = await workspace.addKeyWithId({ ...POWER, projectIds: [projectId] })
  return { path: `/v1/api-keys/${id}`, ids: [id], projectIds: [projectId] }
}

/** The deletion of the key and its descendants. */
function includingDescendants(example: Example): Example {
  return { ...example, path: `/v1/api-keys/${example.ids[0]}?descendants=true` }
}

async function withSession(workspace: Workspace, example: Example): Promise<Example> {
  const {
    ids: [createdByKeyId = ''],
    projectIds = [],
  } = example
  await workspace.addKey({ ...POWER, projectIds, createdByKeyId, kind: 'session' })
  return example
}

/** The variations of a creation or rotation. */
const creating: Row['variations'] = {
  'it has an Idempotency-Key': {
    apply: async (_, example) => ({ ...example, headers: { 'Idempotency-Key': 'new' } }),
  },
  'the Idempotency-Key created a key before': {
    status: 409,
    async apply(workspace, example) {
      const headers = { 'Idempotency-Key': 'used' }
      const { path, json } = example
      await request('POST', path, { key: await workspace.addKey(), json, headers })
      return { ...example, headers }
    },
  },
}

export const apiKeyRows: Rows = {
  retrieveMe: {
    prepare: async () => ({ path: '/v1/me', ids: [] }),
    namesNothing: true,
    variations: {
      'an unknown query parameter': {
        status: 400,
        apply: async (_, example) => ({ ...example, path: '/v1/me?expand=user' }),
      },
    },
  },

  createApiKeySession: {
    prepare: async () => ({ path: '/v1/me/sessions', json: { expiresInSeconds: 60 }, ids: [] }),
    namesNothing: true,
    events: createdSession,
    variations: {
      'no time at all': {
        status: 400,
        apply: async (_, example) => ({ ...example, json: { expiresInSeconds: 0 } }),
      },
      'the key has the most sessions allowed': {
        events: (...all) => [ofUnknown('api-key.session-ended'), ...createdSession(...all)],
        apply: async (_, example) => ({ ...example, keyOptions: { ...example.keyOptions, sessions: 20 } }),
      },
    },
  },

  deleteOwnApiKey: {
    // A key of its own, because the request ends it.
    prepare: async () => ({ path: '/v1/me/api-key', ids: [], keyOptions: {} }),
    namesNothing: true,
    events: (_, { keyId }) => [{ type: 'api-key.revoked', path: `/v1/api-keys/${keyId}`, name: 'test' }],
    variations: {
      'an unknown query parameter': {
        status: 400,
        apply: async (_, example) => ({ ...example, path: '/v1/me/api-key?descendants=true' }),
      },
      'the key is a session': {
        events: (_, { keyId }) => [{ type: 'api-key.session-ended', path: `/v1/api-keys/${keyId}`, name: 'test' }],
        apply: async (_, example) => ({
          ...example,
          keyOptions: { kind: 'session', expiresAt: '2999-01-01T00:00:00.000Z' },
        }),
      },
    },
  },

  deleteOwnApp: {
    async prepare(workspace) {
      await workspace.signIn()
      const projectId = await workspace.addProject()
      const { id } = await workspace.addKeyWithId({ ...POWER, projectIds: [projectId], kind: 'grant' })
      return { path: `/v1/me/apps/${id}`, ids: [id], projectIds: [projectId] }
    },
    outOfReach: 403,
    events: ofNamed('api-key.app-disconnected'),
    variations: {
      'an unknown query parameter': {
        status: 400,
        apply: async (_, example) => ({ ...example, path: `${example.path}?descendants=true` }),
      },
      'the key is a session': {
        apply: async (_, example) => ({
          ...example,
          keyOptions: { kind: 'session', expiresAt: '2999-01-01T00:00:00.000Z' },
        }),
      },
    },
  },

  createApiKey: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      return {
        path: '/v1/api-keys',
        json: { name: 'laptop', ...POWER, userId: workspace.userId, projectIds: [projectId] },
        ids: [workspace.userId, projectId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    events: created('laptop'),
    variations: {
      ...creating,
      'the organization has the most keys allowed': {
        status: 409,
        apply: async (_, example) => ({ ...example, environment: { API_KEY_LIMIT: '0' } }),
      },
    },
  },

  listApiKeys: {
    async prepare(workspace) {
      await workspace.addKey()
      return { path: '/v1/api-keys?limit=1', ids: [] }
    },
    namesNothing: true,
    variations: {
      'the key acts for no user': {
        apply: async (_, example) => ({ ...example, keyOptions: { userId: null } }),
      },
    },
  },

  deleteApiKey: {
    prepare: prepareKey,
    outOfReach: 403,
    events: ofNamed('api-key.revoked'),
    variations: {
      'it includes a descendant': {
        events: ofNamed('api-key.revoked', ofUnknown('api-key.revoked')),
        async apply(workspace, example) {
          const {
            ids: [createdByKeyId = ''],
            projectIds = [],
          } = example
          await workspace.addKey({ ...POWER, projectIds, createdByKeyId })
          return includingDescendants(example)
        },
      },
      'it includes a descendant that made a rule and gave a role': {
        events: (...all) => [
          {
            type: 'sign-in-rule.deleted',
            path: expect.stringMatching(/^\/v1\/sign-in-rules\//),
            name: 'groups=engineers',
          },
          {
            type: 'identity.updated',
            path: expect.stringMatching(/^\/v1\/identities\//),
            name: expect.any(String),
          },
          ...ofNamed('api-key.revoked', ofUnknown('api-key.revoked'))(...all),
        ],
        async apply(workspace, example) {
          const {
            ids: [createdByKeyId = ''],
            projectIds = [],
          } = example
          const { id } = await workspace.addKeyWithId({ ...POWER, projectIds, createdByKeyId })
          await workspace.addSignInRule({ createdByKeyId: id })
          await workspace.addIdentity({ userId: workspace.userId, roleByKeyId: id, ruleIds: null })
          return includingDescendants(example)
        },
      },
      'it includes a descendant that invited people': {
        events: (...all) => [
          {
            type: 'invitation.deleted',
            path: expect.stringMatching(/^\/v1\/invitations\//),
            name: 'grace@example.com',
          },
          {
            type: 'identity.deleted',
            path: expect.stringMatching(/^\/v1\/identities\//),
            name: 'ada@example.com',
          },
          ...ofNamed('api-key.revoked', ofUnknown('api-key.revoked'))(...all),
        ],
        async apply(workspace, example) {
          const {
            ids: [createdByKeyId = ''],
            projectIds = [],
          } = example
          const { userId } = workspace
          const { id } = await workspace.addKeyWithId({ ...POWER, projectIds, createdByKeyId })
          await workspace.addInvitation({ email: 'grace@example.com', createdByKeyId: id })
          await workspace.addIdentity({ userId, email: 'ada@example.com', linkedByKeyId: id })
          return includingDescendants(example)
        },
      },
      'it has a session': {
        events: ofNamed('api-key.revoked', ofUnknown('api-key.session-ended')),
        apply: withSession,
      },
      'it includes descendants, and the key is revoked': {
        idle: true,
        events: noEvents,
        async apply(workspace, example) {
          await workspace.revokeKey(example.ids[0] ?? '')
          return includingDescendants(example)
        },
      },
    },
  },

  rotateApiKey: {
    async prepare(workspace) {
      const { path, ...rest } = await prepareKey(workspace)
      return { path: `${path}/rotate`, json: { overlapSeconds: 60 }, ...rest }
    },
    outOfReach: 403,
    events: ofNamed('api-key.rotated'),
    variations: {
      ...creating,
      'it has a session': { apply: withSession },
      'it has a session, which ends at once': {
        events: ofNamed('api-key.rotated', ofUnknown('api-key.session-ended')),
        apply: async (workspace, example) => ({
          ...(await withSession(workspace, example)),
          json: { overlapSeconds: 0 },
        }),
      },
      'it has a feed of skills': {
        async apply(workspace, example) {
          await workspace.addSkillFeed(example.ids[0])
          return example
        },
      },
      'it has a successor': {
        status: 409,
        async apply(workspace, example) {
          await request('POST', example.path, { key: await workspace.addKey(), json: {} })
          return example
        },
      },
    },
  },
}
