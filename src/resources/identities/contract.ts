/** The people who signed in, as their identity providers know them (docs/people.md). */
import * as z from 'zod/mini'
import {
  callerIsRotated,
  listedProjectNotFound,
  roleExceedsOwnKey,
  unrestrictedKeyRequired,
} from '../../access/failures.ts'
import { ROLE_NAMES } from '../../access/roles.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, externalId, instant, projectIdList, rule, someOf, uuid } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { blockedExceedsOwnKey, identityNotFound, ownRole, userDeleted } from './failures.ts'

export const identity = z
  .strictObject({
    id: uuid(),
    issuer: z.string().register(docs, { description: 'The identity provider.' }),
    subject: z.string().register(docs, { description: 'The ID of the person at the identity provider.' }),
    userId: z.string().register(docs, { description: 'The user that the person is.' }),
    userName: z.string().register(docs, {
      description: 'The name of the user; the e-mail address or the subject if the user was deleted.',
    }),
    email: z
      .nullable(z.string())
      .register(docs, { description: 'The verified e-mail address of the last sign-in; null if there was none.' }),
    role: z.enum(ROLE_NAMES).register(docs, {
      description: 'The role of the last sign-in, or the one that the person was given.',
    }),
    projectIds: z.nullable(z.array(z.string())).register(docs, {
      description: 'The projects that the role is restricted to; null if it is not restricted.',
    }),
    ruleIds: z.nullable(z.array(uuid())).register(docs, {
      description: 'The rules that gave the role; null if it was given to this person, so that no rule matters.',
    }),
    blockedAt: z.nullable(instant()).register(docs, {
      description: 'Since when the person cannot sign in; null if the person is not blocked.',
    }),
    lastSignInAt: z.nullable(instant()),
    createdAt: instant(),
  })
  .register(docs, { id: 'Identity' })

const example = {
  id: EXAMPLE_IDS.identityId,
  issuer: 'https://login.example.com',
  subject: '00u1a2b3c4',
  userId: EXAMPLE_IDS.userId,
  userName: 'Ada Lovelace',
  email: 'ada@example.com',
  role: 'member',
  projectIds: null,
  ruleIds: [EXAMPLE_IDS.signInRuleId],
  blockedAt: null,
  lastSignInAt: '2026-03-27T14:05:09.120Z',
  createdAt: '2026-03-02T09:15:00.000Z',
} as const

const params = z.object({ identityId: uuid('The identity.', EXAMPLE_IDS.identityId) })
const onOne = '/v1/identities/{identityId}'

export const listIdentitiesContract = {
  operationId: 'listIdentities',
  method: 'GET',
  path: '/v1/identities',
  tag: 'Sign-in',
  summary: 'List identities',
  description: 'Lists the people who signed in, in the order of their first sign-in.',
  scope: 'sign-in:read',
  params: z.object({}),
  query: z.object({
    userId: z.optional(externalId({ description: 'Only the identities of this user.', example: EXAMPLE_IDS.userId })),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of identities.',
    schema: pageSchema('IdentityPage', identity, uuid()),
    example: { items: [example], nextCursor: null },
  },
  failures: [unrestrictedKeyRequired],
} as const satisfies Contract

export const retrieveIdentityContract = {
  operationId: 'retrieveIdentity',
  method: 'GET',
  path: onOne,
  tag: 'Sign-in',
  summary: 'Retrieve an identity',
  description: 'Returns one identity.',
  scope: 'sign-in:read',
  params,
  success: { status: 200, description: 'The identity.', schema: identity, example },
  failures: [unrestrictedKeyRequired, identityNotFound],
} as const satisfies Contract

export const updateIdentityContract = {
  operationId: 'updateIdentity',
  method: 'PATCH',
  path: onOne,
  tag: 'Sign-in',
  summary: 'Update an identity',
  description:
    "Gives a person a role, or blocks or unblocks them. It ends the person's sessions, apps and API keys; unless they are blocked, they can sign in again. Nobody gives a role to themselves.",
  scope: 'sign-in:write',
  params,
  body: someOf({
    role: z.optional(z.nullable(z.enum(ROLE_NAMES))).register(docs, {
      description: 'The role of this person, whatever the rules say. Null: the rules decide again.',
    }),
    projectIds: z.optional(projectIdList()).register(docs, {
      description: 'Together with a role: the projects that it is restricted to. Null, the default: all projects.',
    }),
    blocked: z.optional(z.boolean()).register(docs, { description: 'True: the person cannot sign in.' }),
  })
    .check(
      rule(
        ({ role, projectIds }) => projectIds === undefined || (role !== undefined && role !== null),
        'has projectIds without a role',
        'projectIds together with a role',
      ),
    )
    .register(docs, { id: 'IdentityUpdate', example: { role: 'viewer' } }),
  success: {
    status: 200,
    description: 'The identity as it is now.',
    schema: identity,
    example: { ...example, role: 'viewer', ruleIds: null },
  },
  failures: [
    unrestrictedKeyRequired,
    ownRole,
    roleExceedsOwnKey,
    callerIsRotated,
    identityNotFound,
    listedProjectNotFound,
    userDeleted,
  ],
} as const satisfies Contract

export const deleteIdentityContract = {
  operationId: 'deleteIdentity',
  method: 'DELETE',
  path: onOne,
  tag: 'Sign-in',
  summary: 'Delete an identity',
  description:
    'Deletes the identity, and ends the sessions, apps and API keys of the person. The user stays. If a rule still admits the person, the next sign-in creates another identity with a new user; to keep a person out, block them.',
  scope: 'sign-in:write',
  params,
  success: {
    status: 200,
    description: 'The identity is deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'IdentityDeletion' }),
    example: { deleted: true, id: example.id },
  },
  failures: [unrestrictedKeyRequired, blockedExceedsOwnKey, callerIsRotated, identityNotFound],
} as const satisfies Contract
