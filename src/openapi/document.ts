/** The OpenAPI 3.1 document, which `npm run openapi` generates from the contracts. The Worker serves the result. */

import * as z from 'zod/mini'
import {
  createDocument,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import packageJson from '../../package.json' with { type: 'json' }
import { ERROR_STATUSES, type ErrorCode } from '../errors.ts'
import { isBodyOptional } from '../http/body.ts'
import type { Contract, Success, Tag } from '../http/contract.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { docs } from '../http/fields.ts'
import { scheduleRunWebhook } from './webhook.ts'

const error = z
  .strictObject({
    error: z.string().register(docs, { description: 'What is wrong and what to change.' }),
  })
  .register(docs, {
    id: 'Error',
    example: {
      error:
        'placement.position is not one of the allowed values; got "beside"; allowed: "before" or "after".',
    },
  })

const retryAfter = {
  'Retry-After': {
    description: 'The number of seconds to wait before a retry.',
    schema: { type: 'integer' as const, minimum: 0 },
  },
}

const errorCode = {
  'Error-Code': {
    description: 'Why the request failed, for programs. Codes never change their meaning.',
    schema: { type: 'string' as const },
  },
}

/** The headers of every response. */
const always = {
  'X-Request-Id': {
    description: 'The ID of the request in the log of the service.',
    schema: { type: 'string' as const, format: 'uuid' },
  },
  'Cache-Control': {
    description: '`no-store`, or `private, no-cache` if the response has an `ETag`.',
    schema: { type: 'string' as const },
  },
  'X-Content-Type-Options': { description: '`nosniff`.', schema: { type: 'string' as const } },
}

/** The codes of the errors that any operation may return. */
const GENERAL_CODES = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'method_not_allowed',
  'length_required',
  'body_too_large',
  'range_not_satisfiable',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'unavailable',
] as const

/** The errors that any operation may return. */
const SERVICE_ERRORS =
  'Other errors of the service: 401 without a valid API key, 405 for a method that the path does not support, 413 for a ' +
  'body over the size limit, 429 for too many requests (retry after the time in `Retry-After`), 431 for headers over 16 KiB.'

/** The groups of operations. */
const TAGS: Record<Tag, string> = {
  Pins: 'Sessions, pull requests and projects that a user pinned, in an order that the user chooses.',
  Projects:
    'The projects of an organization, with their build schedules and encrypted environment variables.',
  Agents: 'The coding agents of an organization, and their schedules.',
  Sessions: 'The sessions of agents, and the files that they stored.',
  Schedules: 'A preview of the times at which a cron expression fires.',
  Runs: 'The runs of schedules, and the run endpoint that they are sent to.',
  Skills: 'Instructions and files that agents load when a task needs them.',
  Users: 'The users of an organization, and their profile pictures.',
  'Pull requests': 'The pull requests of an organization.',
  'API keys': 'The API keys of an organization: their scopes, projects and expiry.',
  'Audit events': 'The changes in an organization, and the API keys that made them.',
}

/** The document as JSON text. */
export function openapiDocument(operations: readonly Endpoint[]): string {
  return `${JSON.stringify(describe(operations), null, 2)}\n`
}

function describe(operations: readonly Endpoint[]) {
  const paths: ZodOpenApiPathsObject = {}
  for (const { contract } of operations) {
    paths[contract.path] = {
      ...paths[contract.path],
      [contract.method.toLowerCase()]: describeOperation(contract),
    }
  }
  const tags = [...new Set(operations.map(({ contract }) => contract.tag))]
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Workspace API',
      version: packageJson.version,
      summary: 'The data that a team of coding agents shares.',
      description:
        'Pins, schedules, session files, skills, profile pictures and environment variables of an organization. ' +
        'Every error has the shape `{ "error": string }`; every response has an `X-Request-Id`. ' +
        'With read replication, send the `X-Bookmark` of a response with the next request, so that it sees the same or newer data.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'This deployment.' },
      { url: '/api/public-api', description: 'The same operations under a prefix.' },
    ],
    security: [{ apiKey: [] }],
    tags: tags.map((name) => ({ name, description: TAGS[name] })),
    paths,
    webhooks: { scheduleRun: scheduleRunWebhook },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer wsk_…`.' },
      },
    },
  })
}

function describeOperation(contract: Contract): ZodOpenApiOperationObject {
  const { params, query, headers, body, upload, success } = contract
  return {
    operationId: contract.operationId,
    tags: [contract.tag],
    summary: contract.summary,
    description: `${contract.description}\n\n${describeScope(contract)}`,
    requestParams: { path: params, ...(query && { query }), ...(headers && { header: headers }) },
    ...(body && {
      requestBody: { required: !isBodyOptional(body), content: { 'application/json': { schema: body } } },
    }),
    ...(upload && {
      requestBody: {
        required: true,
        description: upload.description,
        content: describeBinary(upload.mediaTypes),
      },
    }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: { ...always, ...describeHeaders(success.headers) },
        content: describeContent(success),
      },
      ...('created' in success && {
        201: {
          description: success.created,
          headers: {
            ...always,
            ...describeHeaders({ ...success.headers, Location: 'The path of what was created.' }),
          },
          content: describeContent(success),
        },
      }),
      ...('partial' in success && {
        206: {
          description: 'The range of bytes.',
          headers: {
            ...always,
            ...describeHeaders({
              ...success.headers,
              'Content-Range': 'The range, and the size of the whole content.',
            }),
          },
          content: describeContent(success),
        },
      }),
      ...(success.conditional && {
        304: {
          description: 'Not modified.',
          headers: { ...always, ...describeHeaders(success.headers) },
        },
      }),
      ...Object.fromEntries(
        Object.entries(contract.errors).map(([status, description]) => [
          status,
          describeError(
            [description, describeCodes(errorCodesOf(contract, Number(status)))].join(' '),
            status === '503' ? retryAfter : {},
          ),
        ]),
      ),
      default: describeError(SERVICE_ERRORS, {
        ...retryAfter,
        ...describeHeaders({
          'WWW-Authenticate': 'With 401: the authentication scheme (RFC 6750).',
          Allow: 'With 405: the methods that the path supports.',
        }),
      }),
    },
  }
}

/** The values of `Error-Code` that a response with this status may have. */
export function errorCodesOf(contract: Contract, status: number): ErrorCode[] {
  const { scope, actsAsUser, errorCodes = [] } = contract
  const general: ErrorCode[] = [
    'invalid_input',
    ...(scope === null ? [] : (['missing_scope'] as const)),
    ...(actsAsUser ? (['user_required'] as const) : []),
    ...GENERAL_CODES,
  ]
  return [...general, ...errorCodes].filter((code) => ERROR_STATUSES[code] === status)
}

const describeCodes = (codes: readonly ErrorCode[]) =>
  `\`Error-Code\`: ${codes.map((code) => `\`${code}\``).join(', ')}.`

function describeScope({ scope, actsAsUser }: Contract): string {
  if (scope === null) return 'Scope: none; any valid API key is accepted.'
  return `Scope: \`${scope}\`${actsAsUser ? ', with an API key that acts as a user' : ''}.`
}

function describeContent(success: Success): ZodOpenApiContentObject {
  if ('mediaTypes' in success) return describeBinary(success.mediaTypes)
  return { 'application/json': { schema: success.schema, example: success.example } }
}

function describeBinary(mediaTypes: readonly string[]): ZodOpenApiContentObject {
  const schema = { type: 'string' as const, format: 'binary' }
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]))
}

function describeError(description: string, headers: object) {
  return {
    description,
    headers: { ...always, ...errorCode, ...headers },
    content: { 'application/json': { schema: error } },
  }
}

function describeHeaders(headers: Readonly<Record<string, string>> = {}) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' as const } },
    ]),
  )
}
