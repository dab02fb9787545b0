/** The OpenAPI document as the judge of every response that a test sees. */
import { dereference, type ValidationResult, validate } from '@cfworker/json-schema'
import { expect } from 'vitest'
import { nameOfFailure } from '../../scripts/checks/unseen-failures.ts'
import { ERROR_STATUSES, type ErrorCode } from '../../src/errors.ts'
import { listErrorCodes, openapiDocument } from '../../src/openapi/document.ts'
import { loadOperations } from '../../src/operations.ts'

export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; its bytes, if it is not JSON; null if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape, and compare them with what they expect
  readonly body: any
}

const operations = await loadOperations()
const contracts = operations.map(({ contract }) => contract)

export const documentText = openapiDocument(operations)

/** The document with its parameters, headers and errors where they are used. */
// biome-ignore lint/suspicious/noExplicitAny: a document is walked by names that only it knows
export const document: any = JSON.parse(documentText)
/** By reference, so that all operations share the schema of an error, and its validator. */
// biome-ignore lint/suspicious/noExplicitAny: see above
const inlined = new Map<string, any>()
document.paths = inPlace(document.paths)

// biome-ignore lint/suspicious/noExplicitAny: see above
function inPlace(value: any): any {
  if (Object(value) !== value) return value
  const [reference = '', kind, name] = /^#\/components\/(parameters|headers|responses)\/(.+)$/.exec(value.$ref) ?? []
  if (kind && name) {
    const target = inlined.get(reference) ?? inPlace(document.components[kind][name])
    inlined.set(reference, target)
    return target
  }
  if (Array.isArray(value)) return value.map(inPlace)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inPlace(inner)]))
}

/** Which statuses of which operation the tests have seen: `updatePin 200`. */
export const seenStatuses = new Set<string>()

/** Which failures of contracts the tests have seen (scripts/checks/unseen-failures.ts). */
export const seenFailures = new Set<string>()

interface Validator {
  validate(value: unknown): ValidationResult
}
const validators = new Map<object, Validator>()

/** Fails the test if the response is not one that the document allows. */
export function expectDocumented(method: string, path: string, response: ApiResponse): void {
  expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const operation = operationAt(method, path)
  const isFile = operation
    ? operation.responses[304] && !('application/json' in operation.responses[200].content)
    : /\.tar\.gz$|\/archive$/.test(path)
  const kept = isFile ? 'private, no-cache, no-transform' : 'private, no-cache'
  expect(response.headers.get('Cache-Control')).toBe(response.headers.has('ETag') ? kept : 'no-store')

  const documented = operation?.responses[response.status] ?? operation?.responses.default
  if (operation) {
    seenStatuses.add(`${operation.operationId} ${response.status}`)
    const fromService = [401, 405, 413, 429, 431]
    const isListed = operation.responses[response.status] !== undefined
    expect(isListed || fromService.includes(response.status), `${operation.operationId} ${response.status}`).toBe(true)
  }
  if (response.status >= 400) {
    expect(Object.keys(response.body)).toEqual(['error'])
    expect(response.body.error).toMatch(/\S/)
    const code = response.headers.get('Error-Code') as ErrorCode
    expect(ERROR_STATUSES[code], code).toBe(response.status)
    const contract = contracts.find(({ operationId }) => operationId === operation?.operationId)
    // A path with `.` or `..` is another path when it arrives.
    if (contract && code !== 'path_not_found') {
      expect(listErrorCodes(contract, response.status), `${contract.operationId} ${code}`).toContain(code)
      const own = contract.failures?.filter((failure) => failure.code === code) ?? []
      const told = own.filter(({ message }) => patternOf(message).test(response.body.error))
      for (const failure of told) seenFailures.add(nameOfFailure(contract, failure))
      const isItsMessage = own.length === 0 || told.length > 0 || response.status === 400
      expect(isItsMessage, `${contract.operationId} ${code}: ${response.body.error}`).toBe(true)
    }
  }
  const schema = documented?.content?.['application/json']?.schema
  const isContent = response.body instanceof Uint8Array
  if (isContent && operation) {
    const mediaTypes = Object.keys(documented?.content ?? {})
    const mediaType = mediaTypes.includes('*/*') ? '*/*' : response.headers.get('Content-Type')
    expect(mediaTypes, `${operation?.operationId}`).toContain(mediaType)
  }
  if (schema && !isContent && response.body !== null) {
    const { valid, errors } = validatorOf(schema).validate(response.body)
    expect(errors, `${operation.operationId} ${response.status}`).toEqual([])
    expect(valid).toBe(true)
  }
  for (const header of requiredHeaders(response.status, documented)) {
    expect(response.headers.has(header), `${operation.operationId} ${response.status}: ${header}`).toBe(true)
  }
}

/** How the message of a failure begins, with any values in it. */
function patternOf(message: string): RegExp {
  return new RegExp(`^${message.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '.+')}`)
}

function requiredHeaders(status: number, documented: { headers?: object } | undefined): string[] {
  return status < 400 || status === 503 ? Object.keys(documented?.headers ?? {}) : []
}

/** What references in schemas name. It is found once, because the components are large. */
const named = dereference({ components: document.components })

export function validatorOf(schema: object): Validator {
  let validator = validators.get(schema)
  if (!validator) {
    dereference(schema, named, undefined, `/validated/${validators.size}`)
    validator = { validate: (value) => validate(value, schema, '2020-12', named, false) }
    validators.set(schema, validator)
  }
  return validator
}

// biome-ignore lint/suspicious/noExplicitAny: see above
const templates = Object.entries<any>(document.paths).map(([template, operationsOf]) => ({
  pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  operationsOf,
}))

function operationAt(method: string, path: string) {
  const pathname = path.replace(/[?#].*$/, '').replace(/^\/api\/public-api(?=\/)/, '')
  const name = method.toLowerCase()
  return templates.find(({ pattern, operationsOf }) => operationsOf[name] && pattern.test(pathname))?.operationsOf[name]
}
