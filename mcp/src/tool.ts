/**
 * Makes a tool from the contract of an operation: its input schema, its annotations, and the request that a call sends.
 */
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { type Contract, describeProblems, type retrieveMeContract } from '../../src/contracts.ts'
import { type Answer, type Api, ApiFailure } from './api.ts'
import { type Data, failure, invalidInput, success } from './output.ts'

type Shape = Record<string, z.ZodMiniType>
export type Input = Record<string, unknown>

/** What is wrong with an input, as a sentence. */
export type Wrong = string

/** What a tool takes of an operation. */
export type ToolContract = Pick<
  Contract,
  'method' | 'path' | 'description' | 'scope' | 'actsAsUser' | 'params' | 'query' | 'body'
>

export interface ToolOptions {
  /** Default: the first sentence of the description of the operation. */
  readonly description?: string
  /** Properties that the operation does not have, or has in another form, for the following options. */
  readonly extra?: Shape
  /** The operation of a call, if the tool has several. Default: the one that the names of the properties tell. */
  readonly operationOf?: (input: Input) => ToolContract | undefined
  /** True for a PUT that never replaces. */
  readonly onlyCreates?: true
  /** What to say instead of the API. */
  readonly sentence?: (failure: ApiFailure, input: Input) => Wrong | undefined
  /** Finds with further requests what the input leaves out. */
  readonly complete?: (input: Input, api: Api) => Promise<Input | Wrong>
  /** Headers and a body that are made from the input. Default: the properties of the contract's body, as JSON. */
  readonly request?: (input: Input) => RequestInit | Wrong
  /** The data that a response becomes. Default: its JSON. */
  readonly result?: (response: Response, input: Input) => Promise<Data | Wrong>
  /** The data that a failure becomes, if it is not a failure of the tool. */
  readonly recovered?: (failure: ApiFailure, input: Input) => Data | undefined
}

export interface Tool {
  readonly name: string
  /** What `tools/list` has. */
  readonly listed: ListedTool
  /** True if the caller may call one of its operations. */
  allows(caller: Caller): boolean
  call(api: Api, input: Input): Promise<CallToolResult>
}

/** What `GET /v1/me` says of the API key. */
export type Caller = Answer<typeof retrieveMeContract>

/**
 * @param contracts the operations. Without `operationOf`, a call is the first one of which the input has a property that
 *   the others do not have, in the path or else anywhere; otherwise the first one.
 */
export function tool(name: string, contracts: readonly ToolContract[], options: ToolOptions = {}): Tool {
  const variants = contracts.map((contract) => ({ contract, schema: inputSchema(contract, options) }))
  const [first] = variants
  if (!first) throw new Error(`The tool ${name} has no operation`)
  const variantOf = (input: Input) =>
    variants.find(({ contract }) => contract === options.operationOf?.(input)) ??
    firstWithOwn(input, variants, ({ contract }) => contract.params.shape) ??
    firstWithOwn(input, variants, ({ schema }) => schema.shape) ??
    first
  let listed: ListedTool | undefined
  return {
    name,
    // Made on first use: a call of a tool does not need it.
    get listed() {
      listed ??= {
        name,
        title: titleOf(name),
        description: options.description ?? firstSentence(first.contract.description),
        inputSchema: jsonSchemaOf(variants.map(({ schema }) => schema)),
        annotations: annotationsOf(contracts, options),
      }
      return listed
    },
    allows: (caller) => contracts.some((contract) => isAllowed(contract, caller)),
    call: (api, sent) => {
      // Some clients send null for each property that they leave out. No property may be null (`withoutNull`).
      const isKnown = (name: string) => variants.some(({ schema }) => Object.hasOwn(schema.shape, name))
      const input = Object.fromEntries(Object.entries(sent).filter(([name, value]) => value !== null || !isKnown(name)))
      const { contract, schema } = variantOf(input)
      return call(api, contract, schema, input, options)
    },
  }
}

/** `Read session file` of `read_session_file`. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/ i$/, ' I')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The first variant of which the input has a property that no other variant has. */
function firstWithOwn<Variant>(
  input: Input,
  variants: readonly Variant[],
  shapeOf: (variant: Variant) => object,
): Variant | undefined {
  const isOwn = (name: string) => variants.filter((variant) => name in shapeOf(variant)).length === 1
  const own = Object.keys(input).filter(isOwn)
  return variants.find((variant) => own.some((name) => name in shapeOf(variant)))
}

function inputSchema({ params, query, body }: ToolContract, { extra }: ToolOptions): z.ZodMiniObject {
  return z.strictObject({ ...params.shape, ...query?.shape, ...body?.shape, ...extra })
}

function isAllowed({ scope, actsAsUser }: ToolContract, { user, apiKey }: Caller): boolean {
  return (scope === null || apiKey.scopes.includes(scope)) && (!actsAsUser || user !== null)
}

function annotationsOf(contracts: readonly ToolContract[], { onlyCreates }: ToolOptions) {
  const methods = contracts.map(({ method }) => method)
  // The tools work on the data of one organization.
  const openWorldHint = false
  if (methods.every((method) => method === 'GET')) return { readOnlyHint: true, openWorldHint }
  return {
    destructiveHint: !onlyCreates && methods.some((method) => method !== 'POST'),
    // False is what clients assume.
    ...(methods.every((method) => method === 'PUT' || method === 'DELETE') && { idempotentHint: true }),
    openWorldHint,
  }
}

/** The properties of all variants; those that every variant needs are required. */
function jsonSchemaOf(schemas: readonly z.ZodMiniObject[]): ListedTool['inputSchema'] {
  const shape: Record<string, object> = Object.assign({}, ...schemas.map((schema) => schema.shape))
  const properties = mapValues(shape, (property, name) =>
    compacted(z.toJSONSchema(property as z.ZodMiniType, { io: 'input', unrepresentable: 'any' }), name),
  )
  const isRequired = (name: string) =>
    schemas.every(({ shape }) => name in shape && !z.safeParse(shape[name] as z.ZodMiniType, undefined).success)
  const required = Object.keys(properties).filter(isRequired)
  return {
    type: 'object',
    properties: properties as Properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

type Properties = NonNullable<ListedTool['inputSchema']['properties']>

/** The pattern of a number that the OpenAPI document describes as text. A tool takes a number. */
const DIGITS = '^\\d+$'

/** Left out, because the API says it of a wrong value, and a model reads the list before each task. */
const LEFT_OUT = [
  '$schema',
  'additionalProperties',
  'component',
  'example',
  'id',
  'maxItems',
  'maxLength',
  'maximum',
  'minLength',
  'minimum',
  'pattern',
]

/**
 * Properties that need no description: the name says it, or for `limit` and `cursor` the instructions of the server.
 */
const UNDESCRIBED = [
  'cursor',
  'id',
  'limit',
  'name',
  'note',
  'pauseAfterFailures',
  'position',
  'resourceId',
  'resourceType',
  'status',
  'type',
]

/** A description such as "The project.", of `projectId`. */
const SAYS_NOTHING = /^The \w+\.$/

/** The JSON Schema of a property with less text: only the first sentence of each description. */
function compacted(schema: unknown, name = ''): unknown {
  if (Array.isArray(schema)) return schema.map((each) => compacted(each))
  if (Object(schema) !== schema) return schema
  const kept = withoutNull(schema as Record<string, unknown>)
  if (kept.pattern === DIGITS) {
    kept.type = 'integer'
    if (kept.default !== undefined) kept.default = Number(kept.default)
  }
  for (const keyword of LEFT_OUT) if (typeof kept[keyword] !== 'object') delete kept[keyword]
  if (typeof kept.description === 'string') {
    const description = firstSentence(kept.description)
    if (UNDESCRIBED.includes(name) || SAYS_NOTHING.test(description)) delete kept.description
    else kept.description = description
  }
  return mapValues(kept, compacted)
}

/** A property that may be null may be left out instead. */
function withoutNull({ anyOf, ...kept }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(anyOf)) return kept
  const others = anyOf.filter(({ type }) => type !== 'null')
  return others.length === 1 ? { ...others[0], ...kept } : { ...kept, anyOf: others }
}

function firstSentence(text: string): string {
  return /^.*?\.(?= [A-Z`]|$)/s.exec(text)?.[0] ?? text
}

async function call(
  api: Api,
  contract: ToolContract,
  schema: z.ZodMiniObject,
  input: Input,
  options: ToolOptions,
): Promise<CallToolResult> {
  const queryShape = contract.query?.shape ?? {}
  // A query has texts only.
  const data = mapValues(input, (value, name) =>
    name in queryShape && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : value,
  )
  const parsed = schema.safeParse(data)
  if (!parsed.success) return invalidInput(describeProblems(parsed.error.issues, { schema, data, isSecret: false }))
  let values: Input = parsed.data
  try {
    const completed = (await options.complete?.(values, api)) ?? values
    if (typeof completed === 'string') return invalidInput(completed)
    values = completed
    return await send(api, contract, values, options)
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    const recovered = options.recovered?.(error, values)
    return recovered ? success(recovered) : failure(error, options.sentence?.(error, values))
  }
}

/** @throws {ApiFailure} if the response is not a success. */
async function send(api: Api, contract: ToolContract, values: Input, options: ToolOptions): Promise<CallToolResult> {
  const named = (shape: object) =>
    Object.entries(values).filter(([name, value]) => name in shape && value !== undefined)
  const path = contract.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name])))
  const search = new URLSearchParams(named(contract.query?.shape ?? {}).map(([name, value]) => [name, String(value)]))
  const own = options.request?.(values) ?? jsonRequest(contract.body && named(contract.body.shape))
  if (typeof own === 'string') return invalidInput(own)
  const headers = new Headers(own.headers)
  if (options.onlyCreates) headers.set('If-None-Match', '*')
  const request = { method: contract.method, ...own, headers }
  const response = await api.call(search.size > 0 ? `${path}?${search}` : path, request)
  const data = await (options.result ?? jsonOf)(response, values)
  return typeof data === 'string' ? invalidInput(data) : success(data)
}

function jsonRequest(properties: [string, unknown][] | undefined): RequestInit {
  if (properties === undefined) return {}
  return {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(properties)),
  }
}

async function jsonOf(response: Response): Promise<Data> {
  return response.json()
}

function mapValues(record: object, map: (value: unknown, name: string) => unknown): Input {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
}
