import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod/mini'
import { createApp } from '../src/app.ts'
import { honoPath } from '../src/http/mount.ts'
import { loadOperations } from '../src/operations.ts'
import { request } from './support/api.ts'
import { databaseOfSize, failingDatabase, failingObjects } from './support/bindings.ts'
import { document, documentText, seenStatuses, validatorOf } from './support/document.ts'
import { env } from './support/env.ts'
import {
  type Example,
  exampleList,
  insufficientKeys,
  keyFor,
  send,
  successOf,
  type Variation,
  withIds,
} from './support/examples.ts'
import { inOneBatch } from './support/set-up.ts'
import { Workspace } from './support/workspace.ts'

const operations = await loadOperations()

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly example?: unknown
}

interface Content {
  readonly required?: boolean
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema; readonly example?: unknown } }
}

interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
  readonly example?: unknown
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
  readonly security?: unknown
}

const documented = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
)

function operationOf(operationId: string) {
  const operation = documented.find((candidate) => candidate.operationId === operationId)
  if (!operation) throw new Error(`The document has no ${operationId}`)
  return operation
}

function resolved(schema: Schema): Schema {
  return schema.$ref ? document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] : schema
}

/** Every schema of an object in this one, with where it stands. */
function objectsIn(given: Schema, place: string): { place: string; schema: Schema }[] {
  const schema = resolved(given)
  const children = [
    ...Object.entries(schema.properties ?? {}),
    ...(schema.items ? [['[]', schema.items] as const] : []),
    ...(schema.anyOf ?? []).map((choice) => ['', choice] as const),
  ]
  return [
    ...(schema.type === 'object' || schema.properties ? [{ place, schema }] : []),
    ...children.flatMap(([name, child]) => objectsIn(child, `${place}.${name}`)),
  ]
}

const schemaOf = (content: Content | undefined) => content?.content?.['application/json']?.schema

const requestObjects = documented.flatMap(({ operationId, requestBody }) => {
  const schema = schemaOf(requestBody)
  return schema ? objectsIn(schema, operationId) : []
})

const responseObjects = documented.flatMap(({ operationId, responses }) =>
  Object.entries(responses).flatMap(([status, response]) => {
    const schema = schemaOf(response)
    return schema ? objectsIn(schema, `${operationId} ${status}`) : []
  }),
)

/** docs/contract.md, "Status codes"; in the order of "The seven core operations". */
const SEVEN: Record<string, { route: string; statuses: number[] }> = {
  updatePin: {
    route: 'PATCH /v1/pins/{resourceType}/{resourceId}',
    statuses: [200, 400, 404, 409, 500],
  },
  createProjectSchedule: {
    route: 'POST /v1/projects/{projectId}/schedules',
    statuses: [201, 400, 403, 404, 409, 500],
  },
  createAgentSchedule: {
    route: 'POST /v1/agents/{agentId}/schedules',
    statuses: [201, 400, 404, 409, 500],
  },
  listSessionFiles: {
    route: 'GET /v1/sessions/{sessionId}/files',
    statuses: [200, 400, 403, 404, 409, 410, 500, 503],
  },
  retrieveSkill: {
    route: 'GET /v1/skills/{skillId}',
    statuses: [200, 304, 400, 404, 500],
  },
  deleteProfilePicture: {
    route: 'DELETE /v1/users/{userId}/profile-picture',
    statuses: [200, 400, 403, 404, 409, 500, 503],
  },
  deleteEnvironmentVariable: {
    route: 'DELETE /v1/projects/{projectId}/environment-variables/{key}',
    statuses: [200, 400, 403, 404, 409, 500],
  },
}

/** The parameters in the query that can't be left out. */
const REQUIRED: Record<string, string[]> = { putSessionFile: ['path'], previewSchedule: ['cron'] }

describe('the document', () => {
  it('names the service, its version, its two addresses and its one way in', () => {
    expect(document.info).toMatchObject({ title: 'Workspace API', version: '1.0.0' })
    expect(document.servers.map(({ url }: { url: string }) => url)).toEqual(['/', '/api/public-api'])
    expect(Object.keys(document.components.securitySchemes)).toEqual(['apiKey'])
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' })
    expect(document.security).toEqual([{ apiKey: [] }])
  })

  it.each(operations.map(({ contract }) => contract))('has the scope of $operationId', (contract) => {
    const { operationId, scope } = contract
    expect(operationOf(operationId).security).toEqual([{ apiKey: scope === null ? [] : [scope] }])
  })

  it('has up to 400 KB, and up to 44 KB in gzip', async () => {
    expect(Buffer.byteLength(documentText)).toBeLessThanOrEqual(400_000)
    const gzip = new Blob([documentText]).stream().pipeThrough(new CompressionStream('gzip'))
    expect((await new Response(gzip).arrayBuffer()).byteLength).toBeLessThanOrEqual(44_000)
  })

  it('has what many operations share once, in its components', () => {
    const { paths, components } = JSON.parse(documentText)
    const shared = {
      parameters: ['limit', 'Idempotency-Key', 'If-None-Match', 'projectId', 'agentId'],
      headers: ['X-Request-Id', 'Error-Code', 'ETag', 'Location', 'Retry-After'],
      responses: ['Unauthorized', 'RateLimited', 'InternalError', 'Unavailable', 'ServiceError'],
    } as const
    for (const [kind, names] of Object.entries(shared)) {
      expect(Object.keys(components[kind])).toEqual(expect.arrayContaining([...names]))
    }
    expect(JSON.stringify(paths)).not.toMatch(/"in":"query","name":"limit"|"X-Request-Id":\{"description"/)
  })

  it('has exactly the operations that the app answers', () => {
    const inDocument = documented.map(({ operationId, method, path }) => [operationId, method, path])
    const inList = operations.map(({ contract }) => [
      contract.operationId,
      contract.method.toLowerCase(),
      contract.path,
    ])
    expect(inDocument.sort()).toEqual(inList.sort())
    const routes = new Set(createApp().routes.map(({ method, path }) => `${method} ${path}`))
    const missing = documented.filter(({ method, path }) => !routes.has(`${method.toUpperCase()} ${honoPath(path)}`))
    expect(missing).toEqual([])
  })

  it('comes from a list that begins with the seven, in the order of the specification', () => {
    const expected = Object.entries(SEVEN).map(([operationId, { route }]) => `${operationId}: ${route}`)
    const routes = operations
      .slice(0, 7)
      .map(({ contract }) => `${contract.operationId}: ${contract.method} ${contract.path}`)
    expect(routes).toEqual(expected)
  })

  it.each([
    ['Agents', ['listAgents', 'putAgent', 'retrieveAgent', 'updateAgent', 'deleteAgent']],
    [
      'Skills',
      [
        ...['createSkill', 'listSkills', 'retrieveSkill', 'updateSkill', 'deleteSkill'],
        ...['listSkillVersions', 'retrieveSkillVersion', 'publishSkillVersion', 'retrieveSkillArchive'],
      ],
    ],
    ['Pins', ['listPins', 'putPin', 'updatePin', 'deletePin']],
  ])('has the operations of %s in the order in which they are needed', (tag, expected) => {
    const names = documented.filter(({ tags }) => tags.includes(tag)).map(({ operationId }) => operationId)
    expect(names.slice(0, expected.length)).toEqual(expected)
  })

  it.each(operations.map(({ contract }) => contract))('has the parameters of $operationId', (contract) => {
    const { parameters = [], requestBody } = operationOf(contract.operationId)
    const names = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name)
    const inTemplate = Array.from(contract.path.matchAll(/\{(\w+)\}/g), ([, name]) => name)
    expect(names('path')).toEqual(inTemplate)
    expect(Object.keys(contract.params.shape)).toEqual(inTemplate)
    expect(names('query')).toEqual(Object.keys(contract.query?.shape ?? {}))
    expect(names('header')).toEqual(Object.keys(contract.headers?.shape ?? {}))
    const required = parameters.filter((each) => each.required).map(({ name }) => name)
    expect(required).toEqual([...inTemplate, ...(REQUIRED[contract.operationId] ?? [])])
    const isOptional = ['createApiKeySession', 'rotateApiKey', 'rotateEventEndpoint', 'rotateRunEndpoint'].includes(
      contract.operationId,
    )
    expect(requestBody?.required).toBe((contract.body ?? contract.upload) && !isOptional)
  })

  it.each(Object.entries(SEVEN))('has exactly the statuses of %s, and default', (operationId, { statuses }) => {
    expect(Object.keys(operationOf(operationId).responses)).toEqual([...statuses.map(String), 'default'])
  })

  it('leaves to default only what comes from the service', () => {
    for (const { operationId, responses } of documented) {
      const statuses = Object.keys(responses)
      const ofCompanions = operationId in SEVEN ? [] : ['401', '429']
      expect(statuses).toEqual(expect.arrayContaining(['500', 'default']))
      expect(statuses.filter((status) => ['401', '405', '413', '429'].includes(status))).toEqual(ofCompanions)
    }
  })

  it('has the one shape of every error', () => {
    for (const { responses } of documented) {
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 400) continue
        expect(resolved(schemaOf(response) ?? {})).toMatchObject({
          type: 'object',
          properties: { error: { type: 'string' } },
          required: ['error'],
          additionalProperties: false,
        })
      }
    }
  })

  it('takes and answers no property that it does not name, and answers each that it names', () => {
    const open = [...requestObjects, ...responseObjects].filter(({ schema }) => schema.additionalProperties !== false)
    expect(open.map(({ place }) => place)).toEqual([])
    for (const { place, schema } of responseObjects) {
      expect([place, [...(schema.required ?? [])].sort()]).toEqual([place, Object.keys(schema.properties ?? {}).sort()])
    }
  })
})

/** What is wrong with an example, or undefined. */
function problemOf(schema: Schema, example: unknown): unknown {
  const { valid, errors } = validatorOf(schema).validate(example)
  return valid ? undefined : errors
}

/** Every schema within this one. */
function schemasIn(value: unknown): Schema[] {
  if (Object(value) !== value) return []
  return [value as Schema, ...Object.values(value as object).flatMap(schemasIn)]
}

describe('the examples', () => {
  it.each(documented)('of $operationId are valid', ({ parameters = [], requestBody, responses }) => {
    for (const { name, schema, required, example } of parameters) {
      expect([name, required === true && example === undefined]).toEqual([name, false])
      if (example !== undefined) expect([name, problemOf(schema, example)]).toEqual([name, undefined])
    }
    for (const [status, response] of Object.entries({ ...responses, body: requestBody ?? {} })) {
      const json = response.content?.['application/json']
      if (!json) continue
      const example = json.example ?? exampleOf(json.schema)
      expect([status, problemOf(json.schema, example)]).toEqual([status, undefined])
    }
  })

  /** What a viewer fills in. */
  function exampleOf(given: Schema): unknown {
    const { example, properties = {} } = resolved(given)
    if (example !== undefined) return example
    return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, resolved(property).example]))
  }

  it('of properties are valid', () => {
    const examples = schemasIn(document.components.schemas).filter(
      ({ type, example }) => type !== undefined && example !== undefined,
    )
    expect(examples.length).toBeGreaterThan(10)
    for (const schema of examples) {
      expect([schema.example, problemOf(schema, schema.example)]).toEqual([schema.example, undefined])
    }
  })

  it('leave out headers and cursors, which the reference page would send', () => {
    const filled = documented.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ in: place, name, example }) => example !== undefined && (place === 'header' || name === 'cursor'))
        .map(({ name }) => `${operationId}: ${name}`),
    )
    expect(filled).toEqual([])
  })

  it.each(['createSkill', 'updateSkill', 'retrieveSkill'])(
    'of %s have a SKILL.md as the Agent Skills specification requires',
    (operationId) => {
      const { requestBody, responses } = operationOf(operationId)
      const answer = Object.values(responses)[0]?.content?.['application/json']?.example as Skill
      const sent = requestBody && (exampleOf(schemaOf(requestBody) ?? {}) as Skill)
      for (const skill of [answer, ...(sent ? [{ ...answer, ...sent }] : [])]) {
        const { content = '' } = skill.files.find(({ filename }) => filename === 'SKILL.md') ?? {}
        const [, frontMatter = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(content) ?? []
        expect(parse(frontMatter)).toEqual({ name: skill.name, description: skill.description })
        expect(text).toMatch(/\S/)
      }
    },
  )
})

interface Skill {
  readonly name: string
  readonly description: string
  readonly files: readonly { readonly filename: string; readonly content: string }[]
}

const uuid = { type: 'string', format: 'uuid' }
const upTo = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength })
const resourceType = { type: 'string', enum: ['session', 'pull_request', 'project'] }

/** docs/contract.md, "The seven core operations". */
const PARAMETERS: [string, string, string, Schema][] = [
  ['updatePin', 'path', 'resourceType', resourceType],
  ['updatePin', 'path', 'resourceId', uuid],
  ['createProjectSchedule', 'path', 'projectId', upTo(255)],
  ['createProjectSchedule', 'header', 'Idempotency-Key', upTo(255)],
  ['createAgentSchedule', 'path', 'agentId', uuid],
  ['createAgentSchedule', 'header', 'Idempotency-Key', upTo(255)],
  ['listSessionFiles', 'path', 'sessionId', uuid],
  ['listSessionFiles', 'query', 'limit', { type: 'string', pattern: '^\\d+$' }],
  ['listSessionFiles', 'query', 'cursor', upTo(1000)],
  ['retrieveSkill', 'path', 'skillId', uuid],
  ['deleteProfilePicture', 'path', 'userId', upTo(255)],
  ['deleteEnvironmentVariable', 'path', 'projectId', upTo(255)],
  ['deleteEnvironmentVariable', 'path', 'key', { ...upTo(255), pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }],
]

/** docs/contract.md, "The seven core operations"; all properties are required. */
const BODIES: [string, Record<string, Schema>][] = [
  [
    'updatePin',
    {
      'updatePin.placement.target.type': resourceType,
      'updatePin.placement.target.id': uuid,
      'updatePin.placement.position': { type: 'string', enum: ['before', 'after'] },
    },
  ],
  ['createProjectSchedule', { 'createProjectSchedule.cron': upTo(255), 'createProjectSchedule.timezone': upTo(255) }],
  ['createAgentSchedule', { 'createAgentSchedule.cron': upTo(500) }],
]

/** docs/contract.md, "The seven core operations"; `or null` where a property may have no value. */
const ANSWERS: [string, Record<string, string>][] = [
  ['updatePin', { '.updated': 'boolean' }],
  [
    'createProjectSchedule',
    {
      '.id': 'uuid',
      '.projectId': 'string',
      '.cron': 'string',
      '.timezone': 'string',
      '.enabledAt': 'date-time or null',
      '.lastRunAt': 'date-time or null',
      '.nextRunAt': 'date-time or null',
      '.createdAt': 'date-time',
      '.updatedAt': 'date-time',
    },
  ],
  [
    'createAgentSchedule',
    {
      '.id': 'uuid',
      '.agentId': 'uuid',
      '.cron': 'string',
      '.enabledAt': 'date-time or null',
      '.lastRunAt': 'date-time or null',
      '.nextRunAt': 'date-time or null',
      '.createdAt': 'date-time',
      '.updatedAt': 'date-time',
    },
  ],
  [
    'listSessionFiles',
    {
      '.items': 'array',
      '.items.[].id': 'uuid',
      '.items.[].sessionId': 'uuid',
      '.items.[].path': 'string',
      '.items.[].createdAt': 'date-time',
      '.items.[].updatedAt': 'date-time',
      '.nextCursor': 'uuid or null',
    },
  ],
  [
    'retrieveSkill',
    {
      '.id': 'uuid',
      '.name': 'string',
      '.description': 'string',
      '.createdAt': 'date-time',
      '.updatedAt': 'date-time',
      '.files': 'array',
      '.files.[].id': 'uuid',
      '.files.[].filename': 'string',
      '.files.[].content': 'string',
    },
  ],
  ['deleteProfilePicture', { '.userId': 'string', '.deleted': 'true' }],
  ['deleteEnvironmentVariable', { '.deleted': 'true', '.key': 'string' }],
]

/** Every property in the objects, by its place. */
function fieldsOf(objects: { place: string; schema: Schema }[]): Record<string, Schema> {
  return Object.fromEntries(
    objects.flatMap(({ place, schema }) =>
      Object.entries(schema.properties ?? {}).map(([name, property]) => [`${place}.${name}`, property]),
    ),
  )
}

function kindOf(given: Schema): string {
  const { anyOf, const: constant, format, type } = resolved(given)
  if (anyOf) return anyOf.map(kindOf).join(' or ')
  return constant === undefined ? (format ?? type ?? '') : String(constant)
}

describe('the limits of the specification', () => {
  it.each(PARAMETERS)('are documented: %s, %s, %s', (operationId, place, name, limits) => {
    const { parameters = [] } = operationOf(operationId)
    const found = parameters.find((each) => each.in === place && each.name === name)
    expect(found?.schema).toMatchObject(limits)
  })

  it('leave out no parameter of the seven', () => {
    const found = Object.keys(SEVEN).flatMap((operationId) =>
      (operationOf(operationId).parameters ?? []).map((each) => [operationId, each.in, each.name]),
    )
    const conditional = ['retrieveSkill', 'header', 'If-None-Match']
    expect(found.sort()).toEqual(
      [...PARAMETERS.map(([operationId, place, name]) => [operationId, place, name]), conditional].sort(),
    )
  })

  it.each(BODIES)('are documented: the body of %s', (operationId, limits) => {
    const objects = requestObjects.filter(({ place }) => place.split('.')[0] === operationId)
    const leaves = Object.entries(fieldsOf(objects)).filter(([, { type }]) => type !== 'object')
    expect(Object.fromEntries(leaves)).toMatchObject(limits)
    expect(leaves.map(([place]) => place).sort()).toEqual(Object.keys(limits).sort())
    for (const { schema } of objects) expect(schema.required).toEqual(Object.keys(schema.properties ?? {}))
  })

  it('know of no other body of the seven', () => {
    const withBody = Object.keys(SEVEN).filter((operationId) => operationOf(operationId).requestBody)
    expect(withBody).toEqual(BODIES.map(([operationId]) => operationId))
  })

  it.each(ANSWERS)('are documented: the answer of %s', (operationId, kinds) => {
    const [status = ''] = Object.keys(operationOf(operationId).responses)
    const schema = schemaOf(operationOf(operationId).responses[status]) ?? {}
    const found = Object.entries(fieldsOf(objectsIn(schema, ''))).map(([place, field]) => [place, kindOf(field)])
    expect(Object.fromEntries(found)).toEqual(kinds)
  })

  const limited = exampleList.flatMap(({ operationId, contract, row }) =>
    (operationOf(operationId).parameters ?? [])
      .filter((each) => each.in === 'path' && each.schema.maxLength !== undefined)
      .map(({ name, schema }) => ({ operationId, contract, row, name, schema })),
  )

  it.each(limited)('are kept: $operationId, $name', async ({ operationId, contract, row, name, schema }) => {
    const { maxLength = 0, pattern } = schema
    const { path } = contract
    const accepted = row.newNames?.includes(name) ? successOf(contract) : 404
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const example = await row.prepare(workspace)
    const place = path.split('/').indexOf(`{${name}}`)
    const statusOf = async (value: string) => {
      const [pathname = '', query] = example.path.split('?')
      const segments = pathname.split('/').with(place, encodeURIComponent(value))
      const sent = segments.join('/') + (query === undefined ? '' : `?${query}`)
      return (await send(operationId, { ...example, path: sent }, key)).status
    }
    const characters = pattern ? ['A'] : ['A', '\u{1f4cc}', '/', '%']
    for (const character of characters) {
      expect(await statusOf(character)).toBe(accepted)
      expect(await statusOf(character.repeat(maxLength))).toBe(accepted)
      expect(await statusOf(character.repeat(maxLength + 1))).toBe(400)
    }
    for (const wrong of ['\0', 'a\0b', ...(pattern ? ['1A', 'A-B', 'A\n', 'É'] : [])]) {
      expect([wrong, await statusOf(wrong)]).toEqual([wrong, 400])
    }
  })
})

describe('the numbers and booleans of paths and queries', () => {
  const inUrls = operations.flatMap(({ contract: { operationId, params, query } }) => {
    const shape: Record<string, z.core.$ZodType> = { ...params.shape, ...query?.shape }
    return (operationOf(operationId).parameters ?? []).flatMap(({ name, schema }) =>
      shape[name] ? [{ operationId, name, schema, field: shape[name] }] : [],
    )
  })
  const typed = inUrls.filter(({ schema }) => schema.type !== 'string')

  it('have these types', () => {
    const schemas = new Map(typed.map(({ name, schema }) => [name, schema]))
    expect(Object.fromEntries(schemas)).toEqual({
      count: { type: 'integer', minimum: 1, maximum: 100, default: 5 },
      descendants: { type: 'boolean', default: false },
      enabled: { type: 'boolean' },
      limit: { type: 'integer', minimum: 1, default: 50 },
      version: { type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 },
    })
    const inText = inUrls.filter(({ schema }) => schema.pattern === '^\\d+$' || schema.enum?.includes('true'))
    expect(inText.map(({ operationId, name }) => [operationId, name])).toEqual([
      ['listSessionFiles', 'limit'],
      ['listSkillVersions', 'cursor'],
    ])
  })

  it.each(typed)('are what the service accepts: $operationId, $name', ({ schema, field }) => {
    const { type, minimum = 0, maximum } = schema
    const accepts = (value: unknown) => z.safeParse(field, value).success
    const [right, wrong] =
      type === 'boolean'
        ? [
            [false, true],
            [0, 'yes'],
          ]
        : [
            [minimum, maximum ?? 1e6],
            [minimum - 1, 'ten', 1.5, ...(maximum === undefined ? [] : [maximum + 1])],
          ]
    for (const value of right) expect([value, accepts(String(value))]).toEqual([value, true])
    for (const value of wrong) expect([value, accepts(String(value))]).toEqual([value, false])
    if (schema.default !== undefined) expect(z.parse(field, undefined)).toBe(String(schema.default))
  })
})

/** The operations that ask the object store. */
const USES_OBJECTS = [
  'deleteProfilePicture',
  'putSessionFile',
  'retrieveSessionFileContent',
  'putProfilePicture',
  'retrieveProfilePicture',
]

/** What brings about the statuses that no state and no key of the table does. */
const CAUSES: Record<string, (example: Example, key: string) => Promise<void>> = {
  async putSessionFile(example, key) {
    const { headers, body, ...rest } = example
    const undeclared = { ...rest, body: new Blob([body as string]).stream() }
    expect((await send('putSessionFile', undeclared, key)).status).toBe(411)
  },
  async deleteOwnSessions(example, key) {
    const { body } = await send('retrieveMe', { path: '/v1/me', ids: [] }, key)
    await send('rotateApiKey', { path: `/v1/api-keys/${body.apiKey.id}/rotate`, json: {}, ids: [] }, key)
    expect((await send('deleteOwnSessions', example, key)).status).toBe(403)
  },
  async createApiKeySession(example, key) {
    const { body } = await send('createApiKeySession', example, key)
    expect((await send('createApiKeySession', example, body.token)).status).toBe(403)
  },
  async putProfilePicture(example, key) {
    const OBJECTS = new Proxy(env.OBJECTS, {
      get: () => async (name: string, body: ArrayBuffer) => {
        await send('putProfilePicture', example, key)
        return env.OBJECTS.put(name, body)
      },
    })
    const overtaken = await send('putProfilePicture', { ...example, environment: { OBJECTS } }, key)
    expect(overtaken.status).toBe(409)
  },
  async leaseEnvironmentVariables(example, key) {
    // JSON writes each character with six bytes, in 16 MiB at most.
    const path = example.path.replace(/\/lease$/, '')
    for (const letter of ['A', 'B', 'C']) {
      const variables = Array.from({ length: 100 }, (_, index) => ({
        key: `${letter}_${index}`,
        value: '\u0001'.repeat(10_000),
      }))
      const stored = await send('setEnvironmentVariables', { path, ids: [], json: { variables } }, key)
      expect(stored.status).toBe(201)
    }
    expect((await send('leaseEnvironmentVariables', example, key)).status).toBe(409)
  },
}

describe.each(exampleList)('$operationId', ({ operationId, contract, row }) => {
  const statuses = Object.keys(operationOf(operationId).responses)
    .filter((status) => status !== 'default')
    .map(Number)
  const orUnforeseen = (status: number) => (statuses.includes(status) ? status : 500)

  /** The request of the example, with these variations. */
  function prepared(variations: Variation[] = []) {
    return inOneBatch(async () => {
      const workspace = await Workspace.create()
      let example = await row.prepare(workspace)
      for (const { apply } of variations) example = await apply(workspace, example)
      return { workspace, example, key: await keyFor(workspace, example) }
    })
  }

  it('answers with every documented status, each for a cause of its own', async () => {
    seenStatuses.clear()
    const plain = await prepared()
    expect((await send(operationId, plain.example, plain.key)).status).toBe(successOf(contract))
    expect((await send(operationId, plain.example)).status).toBe(401)
    const limiting = {
      RATE_LIMIT: 'on',
      KEY_RATE_LIMIT: { limit: async () => ({ success: false }) },
    } as const
    const limited = { ...plain.example, environment: limiting }
    expect((await send(operationId, limited, plain.key)).status).toBe(429)

    const tried = new Set<number | undefined>([undefined])
    for (const { mint, status } of insufficientKeys) {
      const refusal = status(contract, row)
      if (tried.has(refusal)) continue
      tried.add(refusal)
      const { workspace, example } = await prepared()
      const answer = await send(operationId, example, await mint(workspace, contract, example))
      expect(answer.status).toBe(refusal)
    }

    const { example, key } = await prepared()
    if (example.ids.length > 0) {
      expect((await send(operationId, withIds(example), key)).status).toBe(404)
    }

    for (const variation of Object.values(row.variations)) {
      const { status, needs } = variation
      const expected = status ?? successOf(contract, [variation])
      // test/counters.test.ts tries every variation.
      if (seenStatuses.has(`${operationId} ${expected}`)) continue
      const needed = needs === undefined ? undefined : row.variations[needs]
      const varied = await prepared([...(needed ? [needed] : []), variation])
      expect((await send(operationId, varied.example, varied.key)).status).toBe(expected)
    }

    const mayCreate = operationId !== 'rotateApiKey' && operationId !== 'createApiKeySession' && statuses.includes(201)
    const isRefused = mayCreate || operationId === 'updateSkill'
    const whenFull = isRefused && !(operationId in SEVEN) ? 507 : orUnforeseen(503)
    const nearlyFull = { DB: databaseOfSize(9.5) }
    // What the isolate knows is from its last batch.
    await request('GET', '/v1/me', { key, environment: nearlyFull })
    const full = await prepared()
    const refused = await send(operationId, { ...full.example, environment: nearlyFull }, full.key)
    expect(refused.status).toBe(isRefused ? whenFull : successOf(contract))
    if (isRefused) {
      expect(refused.body.error).toContain('The database is nearly full.')
      expect(refused.headers.has('Retry-After')).toBe(whenFull === 500)
    }
    const roomAgain = { ...full.example, environment: { DB: databaseOfSize(9.4) } }
    if (isRefused) expect((await send(operationId, roomAgain, full.key)).status).toBe(successOf(contract))
    await request('GET', '/v1/me', { key })

    for (const [message, status] of [
      ['D1_ERROR: Exceeded maximum DB size.', whenFull],
      ['D1_ERROR: database or disk is full: SQLITE_FULL', whenFull],
      ['D1_ERROR: no such column: position', 500],
      ['D1_ERROR: D1 DB is overloaded. Requests queued for too long.', orUnforeseen(503)],
      ['D1_ERROR: Network connection lost.', orUnforeseen(503)],
    ] as const) {
      const environment = { DB: failingDatabase(new Error(message)) }
      const answer = await send(operationId, { ...example, environment }, key)
      expect([message, answer.status]).toEqual([message, status])
      const isPassing = status !== 507 && !message.includes('column')
      expect([message, answer.headers.has('Retry-After')]).toEqual([message, isPassing])
      expect(answer.body.error).not.toMatch(/D1|column|position|overloaded|connection/)
    }

    if (USES_OBJECTS.includes(operationId)) {
      const OBJECTS = failingObjects(new Error('We encountered an internal error.'))
      const stored = await prepared()
      const away = await send(operationId, { ...stored.example, environment: { OBJECTS } }, stored.key)
      expect(away.status).toBe(503)
      expect(away.headers.get('Retry-After')).toMatch(/^\d+$/)
      expect(away.body.error).not.toMatch(/internal/)
      expect((await send(operationId, stored.example, stored.key)).status).toBe(successOf(contract))
    }

    await CAUSES[operationId]?.(plain.example, plain.key)
    expect(statuses.filter((status) => !seenStatuses.has(`${operationId} ${status}`))).toEqual([])
  })
})
