/** The encrypted environment variables of a project (docs/contract-resources.md, Environment variables). */
import * as z from 'zod/mini'
import { projectArchived, projectForbidden, projectNotFound, quotaExceeded } from '../../access/failures.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import {
  boundedString,
  content,
  docs,
  externalId,
  idempotencyKey,
  instant,
  rule,
  text,
  uuid,
} from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import {
  keyReusedForVariables,
  leaseTooLarge,
  namedVariablesNotFound,
  restrictedKeyRequired,
  variableLimitReached,
  variableNotFound,
} from './failures.ts'

const variableKey = text(1, 255, {
  description: 'The name of the variable.',
  example: EXAMPLE_IDS.variableKey,
}).check(
  z.regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'letters, digits and underscores, not beginning with a digit, such as "DATABASE_URL"',
  ),
)

const projectId = externalId({ description: 'The project.', example: EXAMPLE_IDS.projectId })
const params = z.object({ projectId, key: variableKey })

export const deleteEnvironmentVariableContract = {
  operationId: 'deleteEnvironmentVariable',
  method: 'DELETE',
  path: '/v1/projects/{projectId}/environment-variables/{key}',
  tag: 'Projects',
  summary: 'Delete a project environment variable',
  description: 'Deletes one encrypted environment variable of a project.',
  scope: 'environment-variables:write',
  params,
  success: {
    status: 200,
    description: 'The variable was deleted.',
    schema: z
      .strictObject({ deleted: z.literal(true), key: z.string() })
      .register(docs, { id: 'EnvironmentVariableDeletion' }),
    example: { deleted: true, key: EXAMPLE_IDS.variableKey },
  },
  failures: [projectForbidden, projectNotFound, variableNotFound, projectArchived],
  errors: {
    400: 'The path is invalid, or the API key lacks the required scope.',
    403: 'The API key is restricted to other projects.',
    404: 'The organization has no project with this projectId, or the project has no variable with this key.',
    409: 'The project is archived.',
    500: 'The variable could not be deleted.',
  },
} as const satisfies Contract

const KIBIBYTE = 1024
const MAX_VALUE_BYTES = 64 * KIBIBYTE
export const MAX_VARIABLES_PER_REQUEST = 100

const value = content(MAX_VALUE_BYTES, {
  description: 'Up to 64 KiB in UTF-8. It is stored encrypted, and no operation returns it in the clear.',
  example: 'postgres://app@db.internal/shop',
})

const variable = z
  .strictObject({ key: z.string(), createdAt: instant(), updatedAt: instant() })
  .register(docs, { id: 'EnvironmentVariable' })

const exampleVariable = {
  key: EXAMPLE_IDS.variableKey,
  createdAt: '2026-03-02T09:15:00.000Z',
  updatedAt: '2026-03-29T01:00:00.000Z',
}

export const listEnvironmentVariablesContract = {
  operationId: 'listEnvironmentVariables',
  method: 'GET',
  path: '/v1/projects/{projectId}/environment-variables',
  tag: 'Projects',
  summary: 'List project environment variables',
  description:
    'Lists the variables of the project, sorted by name, with the times of their creation and last change. Values are never returned.',
  scope: 'environment-variables:read',
  params: z.object({ projectId }),
  query: z.object(pageQuery(variableKey)),
  success: {
    status: 200,
    description: 'A page of variables.',
    schema: pageSchema('EnvironmentVariablePage', variable, variableKey),
    example: { items: [exampleVariable], nextCursor: null },
  },
  failures: [projectForbidden, projectNotFound],
} as const satisfies Contract

export const putEnvironmentVariableContract = {
  operationId: 'putEnvironmentVariable',
  method: 'PUT',
  path: '/v1/projects/{projectId}/environment-variables/{key}',
  tag: 'Projects',
  summary: 'Put a project environment variable',
  description:
    'Stores one variable encrypted. An existing variable gets the new value. ' +
    'Each success is a change with an event, because encrypted values cannot be compared.',
  scope: 'environment-variables:write',
  params,
  takesSecret: true,
  body: z.strictObject({ value }).register(docs, {
    id: 'EnvironmentVariableValue',
    example: { value: 'postgres://app@db.internal/shop' },
  }),
  // JSON can escape one byte as six characters.
  bodyLimitBytes: 6 * MAX_VALUE_BYTES + KIBIBYTE,
  success: {
    status: 200,
    description: 'The variable has the new value.',
    created: 'The variable was created.',
    schema: variable,
    example: exampleVariable,
  },
  failures: [projectForbidden, projectNotFound, projectArchived, variableLimitReached, quotaExceeded],
} as const satisfies Contract

export const setEnvironmentVariablesContract = {
  operationId: 'setEnvironmentVariables',
  method: 'POST',
  path: '/v1/projects/{projectId}/environment-variables',
  tag: 'Projects',
  summary: 'Set project environment variables',
  description:
    'Stores up to 100 variables encrypted: all of them or none. Existing variables get the new values. ' +
    'Other variables do not change. Each success is a change with one event, because encrypted values cannot be compared.',
  scope: 'environment-variables:write',
  params: z.object({ projectId }),
  headers: z.object({
    'Idempotency-Key': idempotencyKey(' The key is stored for one day.'),
  }),
  takesSecret: true,
  body: z
    .strictObject({
      variables: z
        .array(z.strictObject({ key: variableKey, value }), `an array of 1 to ${MAX_VARIABLES_PER_REQUEST} variables`)
        .check(
          z.minLength(1),
          z.maxLength(MAX_VARIABLES_PER_REQUEST),
          rule(
            (variables) => new Set(variables.map(({ key }) => key)).size === variables.length,
            'has a key several times',
            'each key once',
          ),
        ),
    })
    .register(docs, {
      id: 'EnvironmentVariableValues',
      example: { variables: [{ key: EXAMPLE_IDS.variableKey, value: 'postgres://app@db.internal/shop' }] },
    }),
  bodyLimitBytes: 8 * KIBIBYTE * KIBIBYTE,
  success: {
    status: 201,
    description: 'The variables were stored, by this request or an earlier one with the same `Idempotency-Key`.',
    schema: z.strictObject({ items: z.array(variable) }).register(docs, { id: 'EnvironmentVariables' }),
    example: { items: [exampleVariable] },
    headers: { Location: 'The path of the list of variables.' },
  },
  failures: [
    projectForbidden,
    projectNotFound,
    projectArchived,
    variableLimitReached,
    keyReusedForVariables,
    quotaExceeded,
  ],
} as const satisfies Contract

/** Nobody has its private key. */
const EXAMPLE_PUBLIC_KEY = '85fK1n5XY8EJE2hjyYDgPnuVh7GjLrOFVGPyJ1Cv8BE'
const PUBLIC_KEY_LENGTH = 43
const PUBLIC_KEY_FORMAT = 'the 32 bytes of an X25519 public key in base64url, without padding'

const publicKey = boundedString(PUBLIC_KEY_LENGTH, {
  wrong: 'has the wrong format',
  allowed: PUBLIC_KEY_FORMAT,
})
  // 43 characters have two bits more than 32 bytes; they are zero.
  .check(z.regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, PUBLIC_KEY_FORMAT))
  .register(docs, {
    description:
      'The 32 bytes of an X25519 public key in base64url, without padding. Make a new key pair for each lease.',
    example: EXAMPLE_PUBLIC_KEY,
  })

export const leaseEnvironmentVariablesContract = {
  operationId: 'leaseEnvironmentVariables',
  isRepeatable: true,
  method: 'POST',
  path: '/v1/projects/{projectId}/environment-variables/lease',
  tag: 'Projects',
  summary: 'Lease project environment variables',
  description:
    "Returns the values of variables, sealed to the caller's public key by HPKE (RFC 9180). " +
    'The API key has to be restricted to projects. Each lease is an event with the names.',
  scope: 'environment-variables:lease',
  params: z.object({ projectId }),
  body: z
    .strictObject({
      publicKey,
      keys: z
        .optional(
          z.array(variableKey, `an array of 1 to ${MAX_VARIABLES_PER_REQUEST} names`).check(
            z.minLength(1),
            z.maxLength(MAX_VARIABLES_PER_REQUEST),
            rule((keys) => new Set(keys).size === keys.length, 'has a key several times', 'each key once'),
          ),
        )
        .register(docs, {
          description: 'Without it, all variables of the project.',
        }),
    })
    .register(docs, { id: 'EnvironmentVariableLeaseRequest', example: { publicKey: EXAMPLE_PUBLIC_KEY } }),
  success: {
    status: 200,
    description: 'The values, sealed.',
    schema: z
      .strictObject({
        organizationId: uuid(),
        projectId: z.string(),
        keys: z.array(z.string()).register(docs, { description: 'In order.' }),
        enc: z.string().register(docs, { description: "HPKE's encapsulated key in base64url." }),
        ciphertext: z.string().register(docs, {
          description: 'The JSON object of the values by name, sealed, in base64url.',
        }),
      })
      .register(docs, { id: 'EnvironmentVariableLease' }),
    example: {
      organizationId: EXAMPLE_IDS.organizationId,
      projectId: EXAMPLE_IDS.projectId,
      keys: [EXAMPLE_IDS.variableKey],
      enc: 'rvJVihpGX1ZqqL9r9M5OvG2TD2hilCm3Z__j9ZT9qG4',
      ciphertext: 'BNllodxPYjvVrHM5ewq3eqKW0GDEX7GhrTOgFOa2AANBuKPDoZjkQle03UB3CUQAeajArIsjU6KHlCwBk4SWBcdj',
    },
  },
  failures: [restrictedKeyRequired, projectForbidden, projectNotFound, namedVariablesNotFound, leaseTooLarge],
} as const satisfies Contract
