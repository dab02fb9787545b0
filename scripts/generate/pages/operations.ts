/** The operations of the OpenAPI document, and each as compact Markdown. */
import { readFileSync } from 'node:fs'

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly example?: unknown
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly schema: Schema
}

interface Content {
  readonly description?: string
  readonly required?: boolean
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
  readonly method: string
  readonly path: string
}

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly summary: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly operations: readonly Operation[]
}

/** The errors that are the same for every operation that may return them; they are described once. */
const SHARED_ERRORS = ['401', '429', '500', '503', 'default']
const JSON_TYPE = 'application/json'

/** Reads the document with its references replaced by what they refer to. */
export function readDocument(file: string): Document {
  const document = JSON.parse(readFileSync(file, 'utf8'))
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (Object(value) !== value) return value
    const { $ref, ...rest } = value as Record<string, unknown>
    if ($ref === undefined) {
      return Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, resolve(inner)]))
    }
    const names = String($ref).split('/').slice(1)
    return resolve(names.reduce((parent, name) => parent[name.replaceAll('~1', '/')], document))
  }
  const paths = resolve(document.paths) as Record<string, Record<string, Operation>>
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
  return { ...document, operations }
}

/** @param level of its heading. */
export function operationMarkdown({ info }: Document, operation: Operation, level: number): string {
  const { parameters = [], requestBody, responses } = operation
  const [status = '', success] = Object.entries(responses)[0] ?? []
  const others = Object.entries(responses).filter(([each]) => each !== status && !SHARED_ERRORS.includes(each))
  const lines = [
    `${'#'.repeat(level)} ${operation.summary}`,
    '',
    `\`${operation.method} ${operation.path}\` (\`${operation.operationId}\`)`,
    '',
    operation.description.replaceAll('\n\n', ' '),
    ...section('Parameters', parameters.map(describeParameter)),
    ...(requestBody ? ['', bodyTitle(requestBody)] : []),
    ...section('', describeJson(requestBody)),
    '',
    `Response ${status}${typesOf(success)}: ${success?.description}`,
    ...section('', describeJson(success)),
    ...section(
      'Other responses',
      others.map(([each, { description }]) => `- ${each}: ${description}`),
    ),
    ...section('Example', exampleOf(operation, success)),
    ...(level === 1 ? ['', `Errors of all operations, and the rules: [${info.title} contract](contract.md)`] : []),
  ]
  return `${lines.join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length > 0 ? [...(title ? ['', title] : []), '', ...lines] : []
}

function bodyTitle(body: Content): string {
  const description = body.description ? `: ${body.description}` : ''
  return `Body${typesOf(body)}${body.required ? '' : ', optional'}${description}`
}

function typesOf(content: Content | undefined): string {
  const types = Object.keys(content?.content ?? {}).join(', ')
  return types && ` (${types})`
}

function describeParameter({ in: place, name, required, description, schema }: Parameter): string {
  const facts = [place, ...(required ? [] : ['optional']), ...factsOf(schema)]
  return `- \`${name}\` (${facts.join(', ')})${description ? `: ${description}` : ''}`
}

function describeJson(content: Content | undefined): string[] {
  const json = content?.content?.[JSON_TYPE]
  return json ? describeProperties(json.schema, '') : []
}

function describeProperties(schema: Schema, indent: string): string[] {
  const { properties = {}, required = [] } = objectIn(schema) ?? {}
  return Object.entries(properties).flatMap(([name, property]) => {
    const facts = [...(required.includes(name) ? [] : ['optional']), ...factsOf(property)]
    const description = property.description ? `: ${property.description}` : ''
    return [
      `${indent}- \`${name}\` (${facts.join(', ')})${description}`,
      ...describeProperties(property, `${indent}  `),
    ]
  })
}

/** The object whose properties the schema has: itself, one of its alternatives, or the items of its array. */
function objectIn(schema: Schema): Schema | undefined {
  if (schema.properties) return schema
  const inner = [...(schema.anyOf ?? schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])]
  return inner.map(objectIn).find((found) => found !== undefined)
}

/** The type of a value and its limits, each in a few words. */
function factsOf(schema: Schema): string[] {
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`]
    if (least !== undefined) return [`at least ${least}${unit}`]
    return most === undefined ? [] : [`at most ${most}${unit}`]
  }
  return [
    typeOf(schema),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minItems, schema.maxItems, ' items'),
    ...(schema.pattern && schema.format === undefined ? [`matches \`${schema.pattern}\``] : []),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ]
}

function typeOf({ type, format, enum: values, const: value, anyOf, oneOf, items }: Schema): string {
  const alternatives = anyOf ?? oneOf
  if (alternatives) return [...new Set(alternatives.map(typeOf))].join(' or ')
  if (values) return values.map((each) => JSON.stringify(each)).join(' or ')
  if (value !== undefined) return JSON.stringify(value)
  const [first = 'any', ...rest] = [type ?? []].flat()
  const named = first === 'array' && items ? `array of ${typeOf(items)}` : (format ?? first)
  return [named, ...rest].join(' or ')
}

/** A request and its response. */
function exampleOf(operation: Operation, success: Content | undefined): string[] {
  const { method, parameters = [], requestBody } = operation
  const exampleValue = (parameter: Parameter) =>
    encodeURIComponent(String(parameter.example ?? sampleOf(parameter.schema)))
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const parameter = parameters.find((each) => each.in === 'path' && each.name === name)
    return parameter ? exampleValue(parameter) : name
  })
  const query = parameters.filter((each) => each.in === 'query' && each.required)
  const search = query.map((each) => `${each.name}=${exampleValue(each)}`).join('&')
  const [[type = '', media] = []] = Object.entries(requestBody?.content ?? {})
  const isJson = type === JSON_TYPE
  const answer = success?.content?.[JSON_TYPE]
  const request = [
    'curl',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    `"$WORKSPACE_URL${filled}${search && `?${search}`}" -H "Authorization: Bearer $WORKSPACE_API_KEY"`,
    ...(media && isJson
      ? [
          `-H 'Content-Type: ${JSON_TYPE}' -d '${JSON.stringify(media.example ?? sampleOf(media.schema)).replaceAll("'", "'\\''")}'`,
        ]
      : []),
    ...(media && !isJson ? [`-H 'Content-Type: ${type}' --data-binary @file`] : []),
  ]
  return ['```sh', request.join(' '), ...(answer?.example === undefined ? [] : [JSON.stringify(answer.example)]), '```']
}

/** A value that the schema allows, from its examples. */
function sampleOf(schema: Schema): unknown {
  const { properties, required = [], items } = schema
  const [first] = [
    schema.example,
    ...(schema.examples ?? []),
    schema.const,
    schema.default,
    ...(schema.enum ?? []),
  ].filter((each) => each !== undefined)
  if (first !== undefined) return first
  if (properties) return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]))
  if (items) return [sampleOf(items)]
  const [alternative] = schema.anyOf ?? schema.oneOf ?? []
  return alternative ? sampleOf(alternative) : ''
}
