/** The OpenAPI 3.1 document, made from the contracts by `npm run openapi`. The Worker serves the text and never runs this. */

import * as z from 'zod/mini'
import {
  createDocument,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import type { Contract, Success, Tag } from '../http/contract.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { docs } from '../http/fields.ts'
import { scheduleRunWebhook } from './webhook.ts'

const error = z
  .strictObject({ error: z.string().register(docs, { description: 'What to change.' }) })
  .register(docs, {
    id: 'Error',
    example: { error: 'placement.position: expected "before" or "after", got "beside"' },
  })

const retryAfter = {
  'Retry-After': {
    description: 'In how many seconds to ask again.',
    schema: { type: 'integer' as const, minimum: 0 },
  },
}

/** The headers of every response. */
const always = {
  'X-Request-Id': {
    description: 'Names this response in the logs of the service.',
    schema: { type: 'string' as const, format: 'uuid' },
  },
  'Cache-Control': {
    description: '`no-store`; beside an `ETag`, `private, no-cache`.',
    schema: { type: 'string' as const },
  },
  'X-Content-Type-Options': { description: '`nosniff`.', schema: { type: 'string' as const } },
}

/** The answers that come from the service and not from an operation. */
const SERVICE_ERRORS =
  'Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too ' +
  'large, 431 for headers that are, 429 for too many requests (`Retry-After` says when to ask again).'

/** What the operations are about, for the reader of the document. */
const TAGS: Record<Tag, string> = {
  Pins: 'Sessions, pull requests and projects that a user keeps at hand, in an order of their own.',
  Projects: 'What a team works on, with its build schedules and encrypted environment variables.',
  Agents: 'Who does the work, and when it recurs.',
  Sessions: 'What agents worked on, and the files that they left behind.',
  Schedules: 'When a cron expression fires.',
  Runs: 'What became of each instant of a schedule, and where runs are sent.',
  Skills: 'Instructions and files that agents load when a task calls for them.',
  Users: 'The people of an organization, and their pictures.',
  'Pull requests': 'What sessions led to.',
  'API keys': 'Who may call, and what they may do.',
  'Audit events': 'Who did what.',
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
      version: '1.0.0',
      summary: 'What a team of coding agents shares.',
      description:
        'Pins, schedules, session files, skills, profile pictures and environment variables of an organization. ' +
        'Every error has the shape `{ "error": string }`; every response has an `X-Request-Id`. ' +
        'Where reads come from replicas, send the `X-Bookmark` of an answer with the next request to see nothing older.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: 'This deployment.' },
      { url: '/api/public-api', description: 'The same operations under the prefix.' },
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
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
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
      ...('partial' in success && {
        206: {
          description: 'The part that `Range` asks for.',
          headers: {
            ...always,
            ...describeHeaders({ ...success.headers, 'Content-Range': 'Which bytes of how many these are.' }),
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
          describeError(description, status === '503' ? retryAfter : {}),
        ]),
      ),
      default: describeError(SERVICE_ERRORS, {
        ...retryAfter,
        ...describeHeaders({
          'WWW-Authenticate': 'With 401: how to authenticate (RFC 6750).',
          Allow: 'With 405: the methods that the path answers.',
        }),
      }),
    },
  }
}

function describeScope({ scope, actsAsUser }: Contract): string {
  if (scope === null) return 'Scope: none; any live key will do.'
  return `Scope: \`${scope}\`${actsAsUser ? ', with a key that acts as a user' : ''}.`
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
    headers: { ...always, ...headers },
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
