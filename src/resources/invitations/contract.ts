/** Invitations: who may sign in by an admin's word, without a rule (docs/people.md). */
import * as z from 'zod/mini'
import {
  callerIsRotated,
  listedProjectNotFound,
  namedUserNotFound,
  roleExceedsOwnKey,
  unrestrictedKeyRequired,
  userExceedsOwnKey,
} from '../../access/failures.ts'
import { ROLE_NAMES } from '../../access/roles.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, externalId, instant, integer, projectIdList, rule, text, uuid } from '../../http/fields.ts'
import { invitationAccepted, invitationExists, invitationLimit, invitationNotFound } from './failures.ts'

const MAX_ISSUER_LENGTH = 1000
const [MIN_EMAIL_LENGTH, MAX_EMAIL_LENGTH] = [3, 254]
const MAX_DAYS = 30

const EMAIL = /^[^\s@]+@[^\s@]+$/
const emailDocs = {
  description:
    'The e-mail address that the identity provider has to have verified. ASCII letters are stored in lower case.',
  example: 'grace@example.com',
}

export const invitation = z
  .strictObject({
    id: uuid(),
    issuer: z.string(),
    email: z.string(),
    role: z.enum(ROLE_NAMES),
    projectIds: z.nullable(z.array(z.string())),
    userId: z.nullable(z.string()).register(docs, {
      description: 'The user that the person becomes; null: a new one.',
    }),
    createdByKeyId: z.nullable(uuid()).register(docs, {
      description: 'The API key that created it; null once a first key of the organization is removed.',
    }),
    createdAt: instant(),
    expiresAt: instant(),
    acceptedAt: z.nullable(instant()).register(docs, { description: 'When somebody accepted it; null if nobody has.' }),
    identityId: z.nullable(uuid()).register(docs, { description: 'The identity of the person who accepted it.' }),
  })
  .register(docs, { id: 'Invitation' })

const example = {
  id: EXAMPLE_IDS.invitationId,
  issuer: 'https://login.example.com',
  email: 'grace@example.com',
  role: 'member',
  projectIds: null,
  userId: null,
  createdByKeyId: EXAMPLE_IDS.apiKeyId,
  createdAt: '2026-03-27T14:05:09.120Z',
  expiresAt: '2026-04-03T14:05:09.120Z',
  acceptedAt: null,
  identityId: null,
} as const

export const createInvitationContract = {
  operationId: 'createInvitation',
  method: 'POST',
  path: '/v1/invitations',
  tag: 'Sign-in',
  summary: 'Invite a person',
  description:
    'The first person who signs in with this verified e-mail address at this issuer gets the role as their own, whatever the rules say. ' +
    'No e-mail is sent: tell the person the address of the console, `/sign-in/{organizationId}`. ' +
    'Who has a role of their own already keeps it. Your API key needs every scope of the role. An organization has at most 100 open invitations; the request removes those that were accepted or have expired.',
  scope: 'sign-in:write',
  params: z.object({}),
  body: z
    .strictObject({
      email: text(MIN_EMAIL_LENGTH, MAX_EMAIL_LENGTH, emailDocs)
        .check(
          rule(
            (email) => EMAIL.test(email),
            'is not an e-mail address',
            `an e-mail address such as "${emailDocs.example}"`,
          ),
        )
        .register(docs, { minLength: MIN_EMAIL_LENGTH, maxLength: MAX_EMAIL_LENGTH, ...emailDocs }),
      issuer: text(1, MAX_ISSUER_LENGTH, {
        description:
          'The identity provider whose word counts for this address: the issuer (`iss`) of its ID tokens. The same address at another issuer is another person.',
        example: example.issuer,
      }),
      role: z.enum(ROLE_NAMES).register(docs, {
        description: 'What the person may do; docs/people.md lists the scopes of each role.',
      }),
      projectIds: z.optional(projectIdList()).register(docs, {
        description: 'The projects that the role is restricted to. Null, the default: all projects.',
      }),
      userId: z
        .optional(
          z.nullable(externalId({ description: 'The existing user that the person becomes.', example: 'grace' })),
        )
        .register(docs, {
          description:
            'The existing user that the person becomes. Null, the default: a new one. An API key that acts as a user can only name that user.',
        }),
      expiresInDays: z
        .optional(integer(1, MAX_DAYS, 'whole days'))
        .register(docs, { description: 'How long the invitation can be accepted. The default is 7 days.' }),
    })
    .register(docs, {
      id: 'NewInvitation',
      example: { email: example.email, issuer: example.issuer, role: example.role },
    }),
  success: {
    status: 201,
    description: 'The invitation was created.',
    schema: invitation,
    example,
    headers: { Location: 'The path of the invitation.' },
  },
  failures: [
    unrestrictedKeyRequired,
    roleExceedsOwnKey,
    userExceedsOwnKey,
    callerIsRotated,
    listedProjectNotFound,
    namedUserNotFound,
    invitationExists,
    invitationLimit,
  ],
} as const satisfies Contract

export const listInvitationsContract = {
  operationId: 'listInvitations',
  method: 'GET',
  path: '/v1/invitations',
  tag: 'Sign-in',
  summary: 'List the invitations',
  description:
    'Lists the invitations, in order of creation. Those that were accepted or have expired are listed until the next one is created.',
  scope: 'sign-in:read',
  params: z.object({}),
  success: {
    status: 200,
    description: 'The invitations.',
    schema: z
      .strictObject({ items: z.array(invitation), nextCursor: z.null() })
      .register(docs, { id: 'InvitationPage' }),
    example: { items: [example], nextCursor: null },
  },
  failures: [unrestrictedKeyRequired],
} as const satisfies Contract

export const deleteInvitationContract = {
  operationId: 'deleteInvitation',
  method: 'DELETE',
  path: '/v1/invitations/{invitationId}',
  tag: 'Sign-in',
  summary: 'Delete an invitation',
  description: 'Deletes an invitation that nobody has accepted. It admits nobody from then on.',
  scope: 'sign-in:write',
  params: z.object({ invitationId: uuid('The invitation.', EXAMPLE_IDS.invitationId) }),
  success: {
    status: 200,
    description: 'The invitation is deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'InvitationDeletion' }),
    example: { deleted: true, id: example.id },
  },
  failures: [unrestrictedKeyRequired, callerIsRotated, invitationNotFound, invitationAccepted],
} as const satisfies Contract
