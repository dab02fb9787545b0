/** The OpenAPI 3.1 document, which `npm run generate -- openapi` generates from the contracts. The Worker serves the result. */

import * as z from 'zod/mini'
import {
  createDocument,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import packageJson from '../../package.json' with { type: 'json' }
import { ERROR_STATUSES, type ErrorCode, type Failure } from '../errors.ts'
import { isBodyOptional } from '../http/body.ts'
import type { Contract, Success, Tag } from '../http/contract.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { docs } from '../http/fields.ts'
import { isRefusedWhenFull } from '../http/full-database.ts'
import {
  DATABASE_FULL,
  INTERNAL_ERROR,
  INVALID_INPUT,
  LENGTH_REQUIRED,
  NO_SUCH_RANGE,
  STORE_UNAVAILABLE,
  TOO_MANY_REQUESTS,
  UNAUTHORIZED,
} from '../http/statuses.ts'
import { commonVariants, shareVariants } from './share.ts'
import { eventsWebhook, scheduleRunWebhook } from './webhook.ts'

const error = z
  .strictObject({
    error: z.string().register(docs, { description: 'What is wrong and what to change.' }),
  })
  .register(docs, {
    id: 'Error',
    example: {
      error: 'placement.position is not one of the allowed values; got "beside"; allowed: "before" or "after".',
    },
  })

/** `components.headers`: the headers that do not depend on the operation. */
const HEADERS = {
  'X-Request-Id': {
    description: 'The ID of the request in the log of the service.',
    schema: { type: 'string' as const, format: 'uuid' },
  },
  'Error-Code': {
    description: 'Why the request failed, for programs. Codes never change their meaning.',
    schema: { type: 'string' as const },
  },
  'Retry-After': {
    description: 'The number of seconds to wait before a retry.',
    schema: { type: 'integer' as const, minimum: 0 },
  },
  'RateLimit-Policy': {
    description: 'The rate limit that was exceeded (`draft-ietf-httpapi-ratelimit-headers-11`).',
    schema: { type: 'string' as const },
  },
  RateLimit: {
    description: 'What is left of this limit, and in how many seconds it is renewed.',
    schema: { type: 'string' as const },
  },
  'WWW-Authenticate': {
    description: 'With 401: the authentication scheme (RFC 6750).',
    schema: { type: 'string' as const },
  },
  Allow: {
    description: 'With 405: the methods that the path supports.',
    schema: { type: 'string' as const },
  },
}

/** The header of every response. Those that only caches and browsers need are in docs/contract.md. */
const always = headerRefs('X-Request-Id')

/** The codes of the errors that any operation may return. */
const GENERAL_CODES = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'organization_suspended',
  'method_not_allowed',
  'length_required',
  'body_too_large',
  'range_not_satisfiable',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'unavailable',
  'database_full',
] as const

/** The errors that any operation may return. */
const SERVICE_ERRORS =
  'Other errors of the service: 401 without a valid API key, 405 for a method that the path does not support, 413 for a ' +
  'body over the size limit, 429 for too many requests (retry after the time in `Retry-After`), 431 for headers over 16 KiB.'

/** The names in `components.responses` that would be too long. The others come from the codes. */
const ERROR_NAMES: Readonly<Record<string, string>> = { 401: 'Unauthorized', default: 'ServiceError' }

interface DocumentedError {
  readonly status: string
  readonly name: string
  readonly text: string
}

/** The errors of an operation whose specification does not say what each status means. */
function errorsOf(contract: Contract): DocumentedError[] {
  const { failures = [], upload, success } = contract
  const general: Readonly<Record<number, string>> = {
    400: INVALID_INPUT,
    401: UNAUTHORIZED,
    ...(upload?.needsLength && { 411: LENGTH_REQUIRED }),
    ...('partial' in success && { 416: NO_SUCH_RANGE }),
    429: TOO_MANY_REQUESTS,
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
    ...(isRefusedWhenFull(contract) && { 507: DATABASE_FULL }),
  }
  const statuses = new Set([...Object.keys(general), ...failures.map(({ code }) => String(ERROR_STATUSES[code]))])
  return Array.from(statuses, (status) => {
    const codes = listErrorCodes(contract, Number(status))
    const text = general[Number(status)]
    const own = failures.filter(({ code }) => ERROR_STATUSES[code] === Number(status))
    return describeError(status, codes, text === undefined ? describeFailures(own) : withCodes(text, codes))
  })
}

/** The messages of the failures of a status, each with its code. */
function describeFailures(failures: readonly Failure[]): string {
  const described = failures.map(({ code, message }) => `\`${code}\`: ${message}`)
  return described.length === 1 ? described.join() : described.map((line) => `- ${line}`).join('\n')
}

function withCodes(description: string, codes: readonly ErrorCode[]): string {
  return `${description} \`Error-Code\`: ${codes.map((code) => `\`${code}\``).join(', ')}.`
}

function describeError(status: string, codes: readonly ErrorCode[], text: string): DocumentedError {
  const name = codes.map((code) => code.replaceAll(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase()))
  return { status, name: ERROR_NAMES[status] ?? name.join('Or'), text }
}

/** The groups of operations, in the order in which a new user needs them. */
const TAGS: Record<Tag, string> = {
  Projects: 'The projects of an organization, with their build schedules and encrypted environment variables.',
  Agents: 'The coding agents of an organization, and their schedules.',
  Sessions: 'The sessions of agents, and the files that they stored.',
  'Pull requests': 'The pull requests of an organization.',
  Users: 'The users of an organization, and their profile pictures.',
  Pins: 'Sessions, pull requests and projects that a user pinned, in an order that the user chooses.',
  Skills: 'Instructions and files that agents load when a task needs them.',
  Schedules: 'The schedules of projects and agents, and a preview of the times at which a cron expression fires.',
  Runs: 'The runs of schedules, and the run endpoint that they are sent to.',
  'API keys': 'The API keys of an organization: their scopes, projects and expiry.',
  'Sign-in': 'Who may sign in with an identity provider: the rules, and the people who signed in.',
  Events: 'The changes in an organization, in order, and who made them.',
  Deletions: 'What was deleted and can be restored for some days.',
}

/** The core operations come first in the list. They return only the statuses that their specification lists. */
const CORE_OPERATIONS = 7

/** The order of the operations of a path. */
const METHODS = ['post', 'put', 'get', 'patch', 'delete'] as const

/** The document as JSON text, with a line for each operation and each component, so that a diff shows what changed. */
export function openapiDocument(operations: readonly Endpoint[]): string {
  const document = describe(operations)
  return `${print(shareVariants(document), 3)}\n`
}

function print(value: unknown, depth: number): string {
  if (depth === 0 || Array.isArray(value) || Object(value) !== value) return JSON.stringify(value)
  const lines = Object.entries(value as object).map(
    ([name, inner]) => `${JSON.stringify(name)}:${print(inner, depth - 1)}`,
  )
  return `{\n${lines.join(',\n')}\n}`
}

function describe(operations: readonly Endpoint[]) {
  const listed = operations.map(({ contract }) => {
    const others = GENERAL_CODES.filter((code) => [401, 405, 413, 429, 431].includes(ERROR_STATUSES[code]))
    const specified = Object.entries(contract.errors ?? {}).map(([status, description]) => {
      const codes = listErrorCodes(contract, Number(status))
      return describeError(status, codes, withCodes(description, codes))
    })
    const errors = contract.errors ? specified : errorsOf(contract)
    return { contract, errors: [...errors, describeError('default', others, withCodes(SERVICE_ERRORS, others))] }
  })
  const allErrors = listed.flatMap(({ errors }) => errors)
  const commonErrors = commonVariants(allErrors.map(({ name, text }) => ({ name, variant: text })))
  const byPath: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  // Each core operation goes where the list has the others of its path.
  for (const { contract, errors } of [...listed.slice(CORE_OPERATIONS), ...listed.slice(0, CORE_OPERATIONS)]) {
    byPath[contract.path] = {
      ...byPath[contract.path],
      [contract.method.toLowerCase()]: describeOperation(contract, errors, commonErrors),
    }
  }
  const paths: ZodOpenApiPathsObject = Object.fromEntries(
    Object.entries(byPath).map(([path, methods]) => [
      path,
      Object.fromEntries(METHODS.filter((method) => methods[method]).map((method) => [method, methods[method]])),
    ]),
  )
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Workspace API',
        version: packageJson.version,
        summary: 'The data that a team of coding agents shares.',
        description:
          'Pins, schedules, session files, skills, profile pictures and environment variables of an organization.\n\n' +
          'Guides: [API contract](docs/contract), [Write a client](docs/clients), [TypeScript client](docs/client), [Command](docs/command), [Add a person](docs/people), [Schedule work and receive its runs](docs/schedules), [Follow what happens](docs/events), [Connect an agent by MCP](docs/mcp). For agents: [llms.txt](llms.txt).\n\n' +
          'Every error has the shape `{ "error": string }`; every response has an `X-Request-Id`. ' +
          'With read replication, send the `X-Bookmark` of a response with the next request, so that it sees the same or newer data.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [
        { url: '/', description: 'This deployment.' },
        { url: '/api/public-api', description: 'The same operations under a prefix.' },
      ],
      security: [{ apiKey: [] }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      paths,
      webhooks: { scheduleRun: scheduleRunWebhook, events: eventsWebhook },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An API key: `Authorization: Bearer wsk_…`. The reference page keeps it until the tab is closed (session storage).',
          },
        },
        headers: HEADERS,
        responses: Object.fromEntries(
          allErrors
            .filter(({ name, text }) => commonErrors.get(name) === text)
            .map((shared) => [shared.name, errorResponse(shared)]),
        ),
      },
    },
    {
      // `format` says the same in fewer bytes.
      override({ jsonSchema, io }) {
        if (jsonSchema.format === 'uuid') delete jsonSchema.pattern
        // Every integer of a response has these limits of JavaScript.
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.format !== 'date-time') return
        if (io === 'input') delete jsonSchema.pattern
        else jsonSchema.pattern = '\\.\\d{3}Z$'
      },
    },
  )
}

function describeOperation(
  contract: Contract,
  errors: readonly DocumentedError[],
  commonErrors: ReadonlyMap<string, string>,
): ZodOpenApiOperationObject {
  const { params, query, headers, body, upload, success, scope } = contract
  return {
    operationId: contract.operationId,
    tags: contract.alsoUnder ? [contract.tag, contract.alsoUnder] : [contract.tag],
    summary: contract.summary,
    description: `${contract.description}\n\n${describeScope(contract)}`,
    security: [{ apiKey: scope === null ? [] : [scope] }],
    ...(isRepeatablePost(contract) && { 'x-repeatable': true }),
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
        errors.map((given) => {
          const isShared = commonErrors.get(given.name) === given.text
          return [given.status, isShared ? { $ref: `#/components/responses/${given.name}` } : errorResponse(given)]
        }),
      ),
    },
  }
}

/** For clients that repeat requests whose response was lost. Every other method may be repeated. */
function isRepeatablePost({ method, headers, showsSecretOnce, isRepeatable }: Contract): boolean {
  const takesKey = headers !== undefined && 'Idempotency-Key' in headers.shape
  return method === 'POST' && (isRepeatable === true || (takesKey && !showsSecretOnce))
}

/** The values of `Error-Code` that a response with this status may have. */
export function listErrorCodes(contract: Contract, status: number): ErrorCode[] {
  const { scope, actsAsUser, failures = [] } = contract
  const general: ErrorCode[] = [
    'invalid_input',
    ...(scope === null ? [] : (['missing_scope'] as const)),
    ...(actsAsUser ? (['user_required'] as const) : []),
    ...GENERAL_CODES,
  ]
  const codes = new Set([...general, ...failures.map(({ code }) => code)])
  return [...codes].filter((code) => ERROR_STATUSES[code] === status)
}

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

/** The headers that only errors of this status have. */
const ERROR_HEADERS: Readonly<Record<string, readonly (keyof typeof HEADERS)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  503: ['Retry-After'],
  default: ['Retry-After', 'WWW-Authenticate', 'Allow'],
}

function errorResponse({ status, text }: DocumentedError) {
  return {
    description: text,
    headers: { ...always, ...headerRefs('Error-Code', ...(ERROR_HEADERS[status] ?? [])) },
    content: { 'application/json': { schema: error } },
  }
}

function headerRefs(...names: readonly (keyof typeof HEADERS)[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function describeHeaders(headers: Readonly<Record<string, string>> = {}) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' as const } }]),
  )
}
