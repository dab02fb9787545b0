import { expect } from 'vitest'
import { ROLES } from '../../src/access/roles.ts'
import { identities, invitations } from '../../src/db/schema.ts'
import {
  type Example,
  type ExampleEvent,
  eventOf,
  ifMatchVariations,
  ifNoneMatchVariations,
  noEvents,
  type Row,
  type Rows,
} from '../support/example.ts'
import { now, type Workspace } from '../support/workspace.ts'

const RULES = '/v1/sign-in-rules'
const IDENTITIES = '/v1/identities'
const INVITATIONS = '/v1/invitations'
const RULE = { issuer: 'https://login.example.com', claim: 'groups', value: 'engineers', role: 'viewer' } as const
const name = 'groups=engineers'
const INVITATION = { email: 'Grace@example.com', issuer: RULE.issuer, role: 'viewer' } as const

/** No key that is restricted to projects reads or changes them. */
const organizationWide = { outOfReach: 403, reachesAll: true } as const
/** A key gives away only what it has. */
const givesRole = { furtherScopes: ROLES.viewer }

const withJson = (json: object, events?: Row['events']): Row['variations'][string] => ({
  ...(events && { events }),
  apply: async (_, example) => ({ ...example, json }),
})

const prepareRule =
  (json?: object) =>
  async (workspace: Workspace): Promise<Example> => {
    const id = await workspace.addSignInRule(RULE)
    return { path: `${RULES}/${id}`, ids: [id], ...(json && { json }) }
  }

/** The person is the user of the key of the request, which is none of theirs. */
const prepareIdentity =
  (json?: object) =>
  async (workspace: Workspace): Promise<Example> => {
    const id = await workspace.addIdentity({ userId: workspace.userId, email: 'ada@example.com' })
    return { path: `${IDENTITIES}/${id}`, ids: [id], ...(json && { json }) }
  }

const email = 'ada@example.com'
const invited = 'grace@example.com'
const lastSegment = ({ path }: Example) => path.slice(path.lastIndexOf('/') + 1)

/** The event of a session that ends because of the request. */
const endedSession = (path: string): ExampleEvent => ({ type: 'api-key.session-ended', path, name: 'test' })

/** The person has a session, which the change ends. @param of the session, before or after. */
function withSession(identityOf: (workspace: Workspace, example: Example) => Promise<string>, event: Row['events']) {
  let session = ''
  return {
    events: (...parameters) => [endedSession(`/v1/api-keys/${session}`), ...(event?.(...parameters) ?? [])],
    async apply(workspace, example) {
      const identityId = await identityOf(workspace, example)
      const { id } = await workspace.addKeyWithId({
        kind: 'session',
        expiresAt: '2998-01-01T00:00:00.000Z',
        identityId,
      })
      session = id
      return example
    },
  } satisfies Row['variations'][string]
}

const ofRule = (workspace: Workspace, example: Example) =>
  workspace.addIdentity({ userId: workspace.userId, ruleIds: JSON.stringify([lastSegment(example)]) })
const ofIdentity = async (_: Workspace, example: Example) => lastSegment(example)

/** The event of a session whose ID the example doesn't know. */
const endedOwn = endedSession(expect.stringMatching(/^\/v1\/api-keys\/[0-9a-f-]{36}$/))

export const signInRows: Rows = {
  createSignInRule: {
    prepare: async () => ({ path: RULES, json: RULE, ids: [] }),
    ...organizationWide,
    ...givesRole,
    namesNothing: true,
    events: eventOf('sign-in-rule.created', { isNew: true, name }),
    variations: {
      'it is restricted to a project': {
        apply: async (workspace, example) => ({
          ...example,
          json: { ...RULE, projectIds: [await workspace.addProject()] },
        }),
      },
      'the project does not exist': { ...withJson({ ...RULE, projectIds: ['unknown'] }), status: 404 },
      'the organization has the most rules allowed': {
        status: 409,
        async apply(workspace, example) {
          for (let count = 0; count < 100; count++) await workspace.addSignInRule()
          return example
        },
      },
    },
  },

  listSignInRules: {
    async prepare(workspace) {
      await workspace.addSignInRule()
      return { path: RULES, ids: [] }
    },
    ...organizationWide,
    namesNothing: true,
    variations: {},
  },

  previewSignIn: {
    async prepare(workspace) {
      await workspace.addSignInRule(RULE)
      const { issuer, claim, value } = RULE
      return { path: `${RULES}/preview`, json: { issuer, claims: [{ claim, value }] }, ids: [] }
    },
    ...organizationWide,
    namesNothing: true,
    variations: {
      'no rule admits the person': withJson({ issuer: 'https://other.example', claims: [] }),
    },
  },

  retrieveSignInRule: { prepare: prepareRule(), ...organizationWide, variations: ifNoneMatchVariations },

  updateSignInRule: {
    prepare: prepareRule({ value: 'admins' }),
    ...organizationWide,
    ...givesRole,
    events: eventOf('sign-in-rule.updated', { name: 'groups=admins' }),
    variations: {
      'it changes everything': {
        events: eventOf('sign-in-rule.updated', { name: 'team=red' }),
        apply: async (workspace, example) => ({
          ...example,
          json: {
            issuer: 'https://other.example',
            claim: 'team',
            value: 'red',
            role: 'admin',
            projectIds: [await workspace.addProject()],
          },
        }),
      },
      'the project does not exist': { ...withJson({ projectIds: ['unknown'] }), status: 404 },
      'a person of the rule has a session': withSession(
        ofRule,
        eventOf('sign-in-rule.updated', { name: 'groups=admins' }),
      ),
      ...ifMatchVariations,
    },
  },

  deleteSignInRule: {
    prepare: prepareRule(),
    ...organizationWide,
    events: eventOf('sign-in-rule.deleted', { name }),
    variations: {
      'a person of the rule has a session': withSession(ofRule, eventOf('sign-in-rule.deleted', { name })),
      ...ifMatchVariations,
    },
  },

  createInvitation: {
    prepare: async () => ({ path: INVITATIONS, json: INVITATION, ids: [] }),
    ...organizationWide,
    ...givesRole,
    namesNothing: true,
    events: eventOf('invitation.created', { isNew: true, name: invited }),
    variations: {
      'it is restricted to a project': {
        apply: async (workspace, example) => ({
          ...example,
          json: { ...INVITATION, projectIds: [await workspace.addProject()] },
        }),
      },
      'it names the user of the key': {
        apply: async (workspace, example) => ({ ...example, json: { ...INVITATION, userId: workspace.userId } }),
      },
      'one for the address has expired': {
        async apply(workspace, example) {
          await workspace.addInvitation({ email: invited, expiresAt: '2020-01-01T00:00:00.000Z' })
          return example
        },
      },
      'the project does not exist': { ...withJson({ ...INVITATION, projectIds: ['unknown'] }), status: 404 },
      'the user does not exist': { ...withJson({ ...INVITATION, userId: 'unknown' }), status: 404 },
      'there is one for the address': {
        status: 409,
        async apply(workspace, example) {
          await workspace.addInvitation({ email: invited })
          return example
        },
      },
      'the organization has the most invitations allowed': {
        status: 409,
        async apply(workspace, example) {
          for (let count = 0; count < 100; count++) await workspace.addInvitation()
          return example
        },
      },
    },
  },

  listInvitations: {
    async prepare(workspace) {
      await workspace.addInvitation()
      return { path: INVITATIONS, ids: [] }
    },
    ...organizationWide,
    namesNothing: true,
    variations: {},
  },

  deleteInvitation: {
    async prepare(workspace) {
      const id = await workspace.addInvitation({ email })
      return { path: `${INVITATIONS}/${id}`, ids: [id] }
    },
    ...organizationWide,
    events: eventOf('invitation.deleted', { name: email }),
    variations: {
      'it was accepted': {
        status: 409,
        async apply(workspace, example) {
          const identityId = await workspace.addIdentity()
          await workspace.change(invitations, lastSegment(example), { acceptedAt: now(), identityId })
          return example
        },
      },
    },
  },

  listIdentities: {
    async prepare(workspace) {
      await workspace.addIdentity()
      await workspace.addIdentity()
      return { path: `${IDENTITIES}?limit=1`, ids: [] }
    },
    ...organizationWide,
    namesNothing: true,
    variations: {
      'it is of a user': {
        async apply(workspace, example) {
          await workspace.addIdentity({ userId: workspace.userId })
          return { ...example, path: `${IDENTITIES}?userId=${workspace.userId}` }
        },
      },
    },
  },

  retrieveIdentity: { prepare: prepareIdentity(), ...organizationWide, variations: {} },

  updateIdentity: {
    prepare: prepareIdentity({ blocked: true }),
    ...organizationWide,
    events: eventOf('identity.blocked', { name: email }),
    variations: {
      'the person gets a role': {
        events: eventOf('identity.updated', { name: email }),
        apply: async (workspace, example) => ({
          ...example,
          json: { role: 'admin', projectIds: [await workspace.addProject()] },
        }),
      },
      'the person may sign in again': {
        events: eventOf('identity.unblocked', { name: email }),
        async apply(workspace, example) {
          await workspace.change(identities, lastSegment(example), { blockedAt: new Date().toISOString() })
          return { ...example, json: { blocked: false } }
        },
      },
      'the rules decide again': {
        events: eventOf('identity.updated', { name: email }),
        async apply(workspace, example) {
          await workspace.change(identities, lastSegment(example), { ruleIds: null })
          return { ...example, json: { role: null } }
        },
      },
      'the rules decide, and they did': withJson({ role: null }, noEvents),
      'the project does not exist': { ...withJson({ role: 'viewer', projectIds: ['unknown'] }), status: 404 },
      'the person has a session': withSession(ofIdentity, eventOf('identity.blocked', { name: email })),
    },
  },

  deleteIdentity: {
    prepare: prepareIdentity(),
    ...organizationWide,
    events: eventOf('identity.deleted', { name: email }),
    variations: {
      'the person has a session': withSession(ofIdentity, eventOf('identity.deleted', { name: email })),
    },
  },

  deleteOwnSessions: {
    furtherScopes: ['api-keys:write'],
    // Any key of the user ends it.
    async prepare(workspace) {
      await workspace.addKey({ kind: 'session', expiresAt: '2998-01-01T00:00:00.000Z', projectIds: [] })
      return { path: '/v1/me/sessions', ids: [] }
    },
    namesNothing: true,
    idle: true,
    isForAnyUser: true,
    events: () => [endedOwn],
    variations: {
      'the key is a session': {
        events: () => [endedOwn, endedOwn],
        apply: async (_, example) => ({
          ...example,
          keyOptions: { kind: 'session', expiresAt: '2999-01-01T00:00:00.000Z' },
        }),
      },
    },
  },
}
