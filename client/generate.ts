/** Writes the types of the API, src/api.ts, and the resources of the client, src/resources.ts, from the OpenAPI document. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { factory } from 'typescript'

const DOCUMENT = join(import.meta.dirname, '..', 'public', 'openapi.json')
const SOURCES = join(import.meta.dirname, 'src')
const HEADING = '/** Generated from the OpenAPI document by generate.ts. */\n\n'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
const JSON_TYPE = 'application/json'

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly unknown[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, unknown>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: unknown }>> }>>
  readonly 'x-repeatable'?: true
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<string, Operation>>>>>
}

/** A method of the client. */
interface Method {
  /** Where the client has it: `['sessions', 'files', 'list']`. */
  readonly name: readonly string[]
  /** What the client needs at run time. */
  readonly call: string
  /** With its documentation. */
  readonly signature: string
}

export async function writeTypes(): Promise<void> {
  const text = readFileSync(DOCUMENT, 'utf8')
  writeFileSync(join(SOURCES, 'api.ts'), `${HEADING}${await describeTypes(text)}`)
  writeFileSync(join(SOURCES, 'resources.ts'), `${HEADING}${describeResources(JSON.parse(text))}`)
}

async function describeTypes(document: string): Promise<string> {
  const named = (...names: string[]) =>
    factory.createUnionTypeNode(names.map((name) => factory.createTypeReferenceNode(name)))
  const types = await openapiTS(JSON.parse(document, withNumbers), {
    transform: ({ format }, { path = '' }) => {
      // The content of an upload. What a response contains depends on the option `parseAs` of the call.
      if (format === 'binary' && path.includes('/requestBody/')) return named('Blob', 'ArrayBuffer', 'Uint8Array')
      return format === 'date-time' && path.includes('/parameters/') ? named('Date', 'string') : undefined
    },
  })
  return astToString(types)
}

/** For `JSON.parse`: every `limit` is a number, also the one whose specification has digits. */
function withNumbers(_: string, value: unknown): unknown {
  const { name, in: place } = (value ?? {}) as Partial<Parameter>
  return name === 'limit' && place === 'query' ? { ...(value as object), schema: { type: 'number' } } : value
}

function describeResources(document: Document): string {
  const { methods, headers } = readMethods(document)
  const calls = methods.map(({ name, call }) => `  '${name.join('.')}': '${call}',`)
  return `import type { Body, Call, Content, Data, Expanded, List, Options, Path } from './operation.ts'

/** The resources, each with its methods. */
export interface Resources {
${describeLevel(methods, 0)}}

/** The method, the path and what else the client needs to know of each operation. */
export const CALLS: Readonly<Record<string, string>> = {
${calls.join('\n')}
}

/** The headers that are options. */
export const HEADERS: Readonly<Record<string, string>> = ${JSON.stringify(headers)}
`
}

function readMethods(document: Document) {
  const resolve = (value: unknown): unknown => {
    const { $ref } = value as { $ref?: string }
    if ($ref === undefined) return value
    const steps = $ref.split('/').slice(1)
    return steps.reduce((found, step) => (found as Record<string, unknown>)[step], document as unknown)
  }
  const headers: Record<string, string> = { contentType: 'Content-Type' }
  const queries = new Set(['maxRetries', 'timeout', 'signal', 'headers'])
  const methods = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      const parameters = (operation.parameters ?? []).map((each) => resolve(each) as Parameter)
      for (const { name, in: place } of parameters) {
        if (place === 'header') headers[camelCase(name)] = name
        if (place === 'query') queries.add(name)
      }
      return [describeMethod(method, path, operation, parameters, resolve)]
    }),
  )
  for (const name of Object.keys(headers)) {
    if (queries.has(name)) throw new Error(`The option ${name} would be a header and a parameter of a query.`)
  }
  const names = methods.map(({ name }) => name.join('.'))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new Error(`Two operations have the name ${twice}.`)
  return { methods, headers }
}

function describeMethod(
  method: (typeof METHODS)[number],
  path: string,
  operation: Operation,
  parameters: readonly Parameter[],
  resolve: (value: unknown) => unknown,
): Method {
  const { operationId: id, requestBody, responses } = operation
  const inPath = parameters.filter(({ in: place }) => place === 'path')
  const query = parameters.filter(({ in: place }) => place === 'query')
  const isUpload = requestBody !== undefined && !(JSON_TYPE in requestBody.content)
  const [found, created] = [responses['200'], responses['201']].map((each) => each?.content?.[JSON_TYPE]?.schema)
  const isList =
    method === 'get' && found !== undefined && 'nextCursor' in ((resolve(found) as Schema).properties ?? {})
  const isContent = found === undefined && created === undefined
  const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key')
  const isRepeatable = method !== 'post' || operation['x-repeatable'] === true
  const flags = [
    isList && 'list',
    isContent && 'content',
    requestBody !== undefined && (isUpload ? 'upload' : 'body'),
    isRepeatable && takesKey && 'key',
    !isRepeatable && 'once',
  ]
  const options = `Options<'${id}'>`
  const isRequired = query.some(({ required }) => required)
  const fixed = [
    ...inPath.map(({ name }) => `${name}: Path<'${id}'>['${name}']`),
    ...(isUpload ? ['content: Content'] : []),
    ...(requestBody !== undefined && !isUpload
      ? [`body${requestBody.required === false ? '?' : ''}: Body<'${id}'>`]
      : []),
  ]
  const signatureWith = (more: string, result: string, typeParameters = '') =>
    `${typeParameters}(${[...fixed, more].join(', ')}): ${result}`
  const result = isContent ? 'Call<Response>' : isList ? `List<Data<'${id}'>>` : `Call<Data<'${id}'>>`
  const name = nameOf(path, operation)
  const last = name.at(-1)
  const documented = (signature: string) => `${describeComment(operation, method, path)}${last}${signature}`
  const signatures = query.some(({ name: each }) => each === 'expand')
    ? [
        signatureWith(
          `options?: ${options} & { readonly expand?: Expand }`,
          `List<Expanded<'${id}', Expand>>`,
          `<Expand extends ${options}['expand'] = undefined>`,
        ),
      ]
    : !isContent && '304' in responses
      ? [
          signatureWith(`options: ${options} & { readonly ifNoneMatch: string }`, `Call<Data<'${id}'> | null>`),
          signatureWith(`options?: ${options} & { readonly ifNoneMatch?: undefined }`, result),
        ]
      : [signatureWith(`options${isRequired ? '' : '?'}: ${options}`, result)]
  return {
    name,
    call: [method.toUpperCase(), path, ...flags.filter((flag) => flag !== false)].join(' '),
    signature: signatures.map(documented).join('\n'),
  }
}

function describeComment({ summary, description }: Operation, method: string, path: string): string {
  const lines = [`${summary}.`, '', ...description.split('\n'), '', `\`${method.toUpperCase()} ${path}\``]
  const text = lines.map((line) => ` * ${line}`.trimEnd().replaceAll('*/', '*\\/'))
  return `/**\n${text.join('\n')}\n */\n`
}

/**
 * The resource is the fixed part of the path, and the method is the first word of the operation's ID: `sessions`,
 * `files`, `list` for `listSessionFiles` at `/v1/sessions/{sessionId}/files`. An action has its name at the end of both.
 */
function nameOf(path: string, { operationId }: Operation): string[] {
  const verb = /^[a-z]+/.exec(operationId)?.[0] ?? ''
  const fixed = path.split('/').filter((part) => part !== 'v1' && part !== '' && !part.startsWith('{'))
  const isAction = fixed.at(-1) === verb
  const [noun, action] = (fixed.at(-1) ?? '').split('-')
  // `schedule-preview`: an action of a resource, with `GET`.
  const resource = isAction ? fixed.slice(0, -1) : action === verb ? [`${noun}s`] : fixed
  return [...resource.map(camelCase), verb]
}

function camelCase(name: string): string {
  const text = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** The members of a resource, and those of the resources in it. */
function describeLevel(methods: readonly Method[], depth: number): string {
  const indent = '  '.repeat(depth + 1)
  const indented = (text: string) => text.replaceAll(/^(?=.)/gm, indent)
  const [own, inner] = [
    methods.filter(({ name }) => name.length === depth + 1),
    methods.filter(({ name }) => name.length > depth + 1),
  ]
  const resources = [...new Set(inner.map(({ name }) => name[depth] ?? ''))]
  return [
    ...own.map(({ signature }) => `${indented(signature)}\n`),
    ...resources.map((resource) => {
      const members = inner.filter(({ name }) => name[depth] === resource)
      return `${indent}readonly ${resource}: {\n${describeLevel(members, depth + 1)}${indent}}\n`
    }),
  ].join('')
}

if (import.meta.main) await writeTypes()
