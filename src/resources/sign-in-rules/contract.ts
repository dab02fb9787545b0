/** The rules that decide who may sign in (docs/people.md). */
import * as z from 'zod/mini'
import {
  callerIsRotated,
  etagMismatch,
  listedProjectNotFound,
  roleExceedsOwnKey,
  unrestrictedKeyRequired,
} from '../../access/failures.ts'
import { ROLE_NAMES } from '../../access/roles.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import {
  docs,
  ENTITY_TAG,
  ifMatch,
  ifNoneMatch,
  instant,
  projectIdList,
  someOf,
  text,
  uuid,
} from '../../http/fields.ts'
import { ruleLimit, ruleNotFound } from './failures.ts'

const MAX_CLAIMS = 2000
const MAX_CLAIM_LENGTH = 1000

const SETTINGS = {
  issuer: () =>
    text(1, MAX_CLAIM_LENGTH, {
      description: 'The identity provider: the issuer (`iss`) of its ID tokens.',
      example: 'https://login.example.com',
    }),
  claim: () =>
    text(1, MAX_CLAIM_LENGTH, {
      description:
        'The claim that decides. `outer.inner` is a claim within another. `iss` admits everyone of the issuer.',
      example: 'groups',
    }),
  value: () =>
    text(1, MAX_CLAIM_LENGTH, {
      description:
        'The value that the claim has, or that its list contains. Upper and lower case differ, except in `email`, which only a verified address has.',
      example: 'engineers',
    }),
  role: () =>
    z.enum(ROLE_NAMES).register(docs, {
      description: 'What a person may do; docs/people.md lists the scopes of each role.',
    }),
  projectIds: () =>
    projectIdList().register(docs, { description: 'The projects that the role is restricted to; null: all projects.' }),
}

export const signInRule = z
  .strictObject({
    id: uuid(),
    issuer: z.string(),
    claim: z.string(),
    value: z.string(),
    role: z.enum(ROLE_NAMES),
    projectIds: z.nullable(z.array(z.string())),
    createdByKeyId: z.nullable(uuid()).register(docs, {
      description:
        'The API key that created it or changed it last; null once a first key of the organization is removed.',
    }),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .register(docs, { id: 'SignInRule' })

const example = {
  id: EXAMPLE_IDS.signInRuleId,
  issuer: 'https://login.example.com',
  claim: 'groups',
  value: 'engineers',
  role: 'member',
  projectIds: null,
  createdByKeyId: EXAMPLE_IDS.apiKeyId,
  createdAt: '2026-03-27T14:05:09.120Z',
  updatedAt: '2026-03-27T14:05:09.120Z',
} as const

const params = z.object({ signInRuleId: uuid('The sign-in rule.', EXAMPLE_IDS.signInRuleId) })
const onOne = '/v1/sign-in-rules/{signInRuleId}'
const ENDS =
  'ends the sessions, apps and API keys of the people whom the rule admitted; they can sign in again if a rule admits them'

export const createSignInRuleContract = {
  operationId: 'createSignInRule',
  method: 'POST',
  path: '/v1/sign-in-rules',
  tag: 'Sign-in',
  summary: 'Create a sign-in rule',
  description:
    'Admits the people who have a claim with a value, from their next sign-in on. Of several rules that admit a person, those with the highest role decide, and their projects add up. ' +
    'Your API key needs every scope of the role. An organization has at most 100 rules.',
  scope: 'sign-in:write',
  params: z.object({}),
  body: z
    .strictObject({
      issuer: SETTINGS.issuer(),
      claim: SETTINGS.claim(),
      value: SETTINGS.value(),
      role: SETTINGS.role(),
      projectIds: z.optional(SETTINGS.projectIds()),
    })
    .register(docs, {
      id: 'NewSignInRule',
      example: { issuer: example.issuer, claim: example.claim, value: example.value, role: example.role },
    }),
  success: {
    status: 201,
    description: 'The sign-in rule was created.',
    schema: signInRule,
    example,
    headers: { ...ENTITY_TAG, Location: 'The path of the sign-in rule.' },
  },
  failures: [unrestrictedKeyRequired, roleExceedsOwnKey, callerIsRotated, listedProjectNotFound, ruleLimit],
} as const satisfies Contract

export const listSignInRulesContract = {
  operationId: 'listSignInRules',
  method: 'GET',
  path: '/v1/sign-in-rules',
  tag: 'Sign-in',
  summary: 'List the sign-in rules',
  description: 'Lists all sign-in rules of the organization, at most 100, in order of creation.',
  scope: 'sign-in:read',
  params: z.object({}),
  success: {
    status: 200,
    description: 'The sign-in rules.',
    schema: z
      .strictObject({ items: z.array(signInRule), nextCursor: z.null() })
      .register(docs, { id: 'SignInRulePage' }),
    example: { items: [example], nextCursor: null },
  },
  failures: [unrestrictedKeyRequired],
} as const satisfies Contract

export const retrieveSignInRuleContract = {
  operationId: 'retrieveSignInRule',
  method: 'GET',
  path: onOne,
  tag: 'Sign-in',
  summary: 'Retrieve a sign-in rule',
  description: 'Returns one sign-in rule.',
  scope: 'sign-in:read',
  params,
  headers: z.object({ 'If-None-Match': ifNoneMatch() }),
  success: {
    status: 200,
    description: 'The sign-in rule.',
    schema: signInRule,
    example,
    headers: ENTITY_TAG,
    conditional: true,
  },
  failures: [unrestrictedKeyRequired, ruleNotFound],
} as const satisfies Contract

export const updateSignInRuleContract = {
  operationId: 'updateSignInRule',
  method: 'PATCH',
  path: onOne,
  tag: 'Sign-in',
  summary: 'Update a sign-in rule',
  description: `Changes the properties in the body, and ${ENDS}. Your API key needs every scope of the role that the rule has then.`,
  scope: 'sign-in:write',
  params,
  headers: z.object({ 'If-Match': ifMatch() }),
  body: someOf({
    issuer: z.optional(SETTINGS.issuer()),
    claim: z.optional(SETTINGS.claim()),
    value: z.optional(SETTINGS.value()),
    role: z.optional(SETTINGS.role()),
    projectIds: z.optional(SETTINGS.projectIds()),
  }).register(docs, { id: 'SignInRuleUpdate', example: { role: 'viewer' } }),
  success: {
    status: 200,
    description: 'The sign-in rule as it is now.',
    schema: signInRule,
    example: { ...example, role: 'viewer' },
    headers: ENTITY_TAG,
  },
  failures: [
    unrestrictedKeyRequired,
    roleExceedsOwnKey,
    callerIsRotated,
    ruleNotFound,
    listedProjectNotFound,
    etagMismatch,
  ],
} as const satisfies Contract

export const deleteSignInRuleContract = {
  operationId: 'deleteSignInRule',
  method: 'DELETE',
  path: onOne,
  tag: 'Sign-in',
  summary: 'Delete a sign-in rule',
  description: `Deletes the rule, and ${ENDS}.`,
  scope: 'sign-in:write',
  params,
  headers: z.object({ 'If-Match': ifMatch() }),
  success: {
    status: 200,
    description: 'The sign-in rule is deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'SignInRuleDeletion' }),
    example: { deleted: true, id: example.id },
  },
  failures: [unrestrictedKeyRequired, callerIsRotated, ruleNotFound, etagMismatch],
} as const satisfies Contract

export const previewSignInContract = {
  operationId: 'previewSignIn',
  isRepeatable: true,
  method: 'POST',
  path: '/v1/sign-in-rules/preview',
  tag: 'Sign-in',
  summary: 'Preview what a person would get',
  description:
    'Says what the rules give a person with these claims. It changes nothing, and looks at no identity: a person may be blocked, or have a role of their own.',
  scope: 'sign-in:read',
  params: z.object({}),
  body: z
    .strictObject({
      issuer: SETTINGS.issuer(),
      claims: z
        .array(
          z.strictObject({ claim: SETTINGS.claim(), value: SETTINGS.value() }),
          `an array of up to ${MAX_CLAIMS} claims`,
        )
        .check(z.maxLength(MAX_CLAIMS))
        .register(docs, {
          description: 'Each claim with a value. A claim with a list has an item for each of its values.',
        }),
    })
    .register(docs, {
      id: 'SignInPreviewRequest',
      example: { issuer: example.issuer, claims: [{ claim: example.claim, value: example.value }] },
    }),
  success: {
    status: 200,
    description: 'What the person would get.',
    schema: z
      .strictObject({
        admitted: z.boolean(),
        role: z.nullable(z.enum(ROLE_NAMES)).register(docs, { description: 'Null if no rule admits the person.' }),
        projectIds: z.nullable(z.array(z.string())).register(docs, {
          description: 'The projects that the role is restricted to; null if it is not restricted.',
        }),
        ruleIds: z.array(uuid()).register(docs, { description: 'The rules that decide.' }),
      })
      .register(docs, { id: 'SignInPreview' }),
    example: { admitted: true, role: 'member', projectIds: null, ruleIds: [example.id] },
  },
  failures: [unrestrictedKeyRequired],
} as const satisfies Contract
