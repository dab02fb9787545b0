/** Every string and every list that an operation takes, found in its contract. */
import type * as z from 'zod/mini'
import type { Contract } from '../../src/http/contract.ts'

export type Part = 'params' | 'query' | 'headers' | 'body'

export interface InputPlace {
  readonly part: Part
  /** The names that lead to it; an element of a list is `0`. */
  readonly path: readonly string[]
  readonly kind: 'string' | 'list'
  readonly schema: z.core.$ZodType
}

/** What the definitions of schemas have, by their type. */
interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly innerType?: z.core.$ZodType
  readonly element?: z.core.$ZodType
}

/** Any JSON (`unknown`) is limited by its size as a whole. */
const WITHOUT_TEXT = ['boolean', 'enum', 'literal', 'null', 'number', 'unknown']

export function inputPlacesOf(contract: Contract): InputPlace[] {
  const parts = ['params', 'query', 'headers', 'body'] as const
  return parts.flatMap((part) => {
    const schema = contract[part]
    return schema ? Array.from(placesIn(schema, []), (place) => ({ part, ...place })) : []
  })
}

/** @throws for a type of schema that it does not know, so that no place is missed. */
function* placesIn(schema: z.core.$ZodType, path: readonly string[]): Generator<Omit<InputPlace, 'part'>> {
  const { type, shape = {}, innerType, element } = schema._zod.def as Definition
  if (type === 'string') {
    yield { path, kind: 'string', schema }
  } else if (type === 'object') {
    for (const [name, inner] of Object.entries(shape)) yield* placesIn(inner, [...path, name])
  } else if (innerType) {
    yield* placesIn(innerType, path)
  } else if (type === 'array' && element) {
    yield { path, kind: 'list', schema }
    yield* placesIn(element, [...path, '0'])
  } else if (!WITHOUT_TEXT.includes(type)) {
    throw new Error(`${path.join('.')}: unknown type of schema ${type}`)
  }
}

/** A request that has what is exchanged. */
interface Request {
  /** From `/v1/…`, with the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
}

/** The example with the text at the place. */
export function withText<Sent extends Request>(
  example: Sent,
  contract: Contract,
  { part, path }: InputPlace,
  text: string,
): Sent {
  const [name = ''] = path
  const [pathname = '', query] = example.path.split('?')
  if (part === 'headers') return { ...example, headers: { ...example.headers, [name]: text } }
  if (part === 'body') return { ...example, json: withValue(example.json, path, text) }
  if (part === 'query') {
    const parameters = new URLSearchParams(query)
    parameters.set(name, text)
    return { ...example, path: `${pathname}?${parameters}` }
  }
  const index = contract.path.split('/').indexOf(`{${name}}`)
  return { ...example, path: pathname.split('/').with(index, encodeURIComponent(text)).join('/') }
}

/** The JSON with the value at the place that the names lead to, which is made if it is not there. */
export function withValue(json: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  if (name === '0') return [withValue((json as unknown[] | undefined)?.[0], rest, value)]
  const object = (json ?? {}) as Record<string, unknown>
  return { ...object, [name]: withValue(object[name], rest, value) }
}

/** True if the text is refused by the first check of its place. */
export function isTooLong({ schema }: InputPlace, text: string): boolean {
  return issuesOfFirstCheck(schema, text).length > 0
}

/** What the first check of a string says of the value. @throws if it has none. */
export function issuesOfFirstCheck(schema: z.core.$ZodType, value: unknown): z.core.$ZodRawIssue[] {
  // A format such as `z.guid()` is a check itself, which comes before all others.
  const [first] = schema._zod.traits.has('$ZodCheck') ? [] : (schema._zod.def.checks ?? [])
  if (!first) throw new Error('The string has no check of its length')
  const payload = { value, issues: [] as z.core.$ZodRawIssue[] }
  first._zod.check(payload as never)
  return payload.issues
}
