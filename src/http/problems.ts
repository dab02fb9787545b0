/**
 * Writes what is wrong with the input as sentences: `limit is not a whole number; got "ten"; allowed: at least 1.`
 *
 * The message of a schema or of a check says what is allowed. What is wrong follows from the code of zod's own checks; a check
 * of fields.ts says it in `params`.
 */
import type * as z from 'zod/mini'
import type { Problem } from '../errors.ts'

type Issue = z.core.$ZodIssue

/** What was validated, and by which schema. */
export interface Validated {
  readonly schema: z.core.$ZodType
  readonly data: unknown
  /** True if the data may hold a secret at any place, so that neither a value nor an unknown name is repeated. */
  readonly isSecret: boolean
}

const MAX_PROBLEMS = 5
const MAX_NAME_LENGTH = 60
const MAX_VALUE_LENGTH = 40
/** API keys and signing secrets of this service, which clients send at the wrong place. */
const SECRET = /wsk_|whsec_/

export function describeProblems(issues: readonly Issue[], validated: Validated): string {
  // Each issue has at least one problem. A large body can have a million, of which few are described.
  const sentences = issues.slice(0, MAX_PROBLEMS).flatMap((issue) => describeIssue(issue, validated))
  const count = issues.reduce((sum, issue) => sum + countOf(issue), 0)
  const rest = count - MAX_PROBLEMS
  const more = rest > 0 ? [`And ${rest} more ${rest === 1 ? 'problem' : 'problems'}.`] : []
  return [...sentences.slice(0, MAX_PROBLEMS), ...more].join(' ')
}

export function describeProblem(name: string, { wrong, sent, allowed }: Problem): string {
  const got = sent === undefined ? '' : `; got ${sent}`
  return `${name} ${wrong}${got}; allowed: ${allowed}.`
}

/** What was sent, as far as it may be repeated: `"beside"`, `12`, `an array of length 3`. */
export function describeSent(value: unknown, isSecret = false): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of length ${value.length}`
  const type = typeof value
  if (type === 'object' || isSecret || SECRET.test(String(value))) return withArticle(type)
  return type === 'string' ? JSON.stringify(shorten(String(value), MAX_VALUE_LENGTH)) : String(value)
}

const SIZE_UNITS = [
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['MB', 10 ** 6],
] as const

/** A limit in the first unit that writes it as a whole number: `16 MiB`, `64 KiB`, `95 MB`. */
export function describeSize(bytes: number): string {
  const [unit, size] = SIZE_UNITS.find(([, each]) => bytes >= each && bytes % each === 0) ?? ['bytes', 1]
  return `${bytes / size} ${unit}`
}

function describeIssue(issue: Issue, validated: Validated): string[] {
  const { schema, data, isSecret } = validated
  if (issue.code !== 'unrecognized_keys')
    return [describeProblem(nameOf(issue.path), problemOf(issue, valueAt(data, issue.path), validated))]
  const known = namesAt(schema, issue.path).join(', ') || 'none'
  return issue.keys
    .slice(0, MAX_PROBLEMS)
    .map((key) => nameOf([...issue.path, isSecret ? '…' : key]))
    .map((name) => `${name} is not a known property; known: ${known}.`)
}

function problemOf(issue: Issue, value: unknown, { schema, isSecret }: Validated): Problem {
  const allowed = allowedBy(issue, schema)
  const sent = describeSent(value, isSecret)
  if (issue.code === 'custom') {
    // The length of an array does not show what its check found.
    const shown = Object(value) === value ? {} : { sent }
    return { ...shown, allowed, ...(issue.params as Pick<Problem, 'wrong'>) }
  }
  if (value === undefined) return { wrong: 'is missing', allowed }
  if (isRepeated(issue, value)) return { wrong: 'has several values', allowed: 'one value' }
  return { wrong: wrongBy(issue), sent, allowed }
}

/** True for a query parameter that was sent several times. */
function isRepeated(issue: Issue, value: unknown): boolean {
  const isString = issue.code === 'invalid_type' && issue.expected === 'string'
  return isString && issue.path.length === 1 && Array.isArray(value) && value.length > 1
}

function wrongBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `is not ${withArticle(issue.expected === 'int' ? 'whole number' : issue.expected)}`
    case 'invalid_value':
      return 'is not one of the allowed values'
    case 'too_small':
      return issue.origin === 'array' ? 'has too few items' : 'is too small'
    case 'too_big':
      return issue.origin === 'array' ? 'has too many items' : 'is too large'
    default:
      return 'has the wrong format'
  }
}

function allowedBy(issue: Issue, schema: z.core.$ZodType): string {
  if (issue.code === 'invalid_value') return alternatives(issue.values.map((value) => JSON.stringify(value)))
  if (issue.code !== 'invalid_type') return issue.message
  if (issue.expected === 'boolean') return 'true or false'
  if (issue.expected !== 'object') return issue.message
  const names = namesAt(schema, issue.path)
  return names.length > 0 ? `an object with ${names.join(', ')}` : 'an object'
}

function countOf(issue: Issue): number {
  return issue.code === 'unrecognized_keys' ? issue.keys.length : 1
}

function alternatives(texts: readonly string[]): string {
  const last = texts.slice(-2).join(' or ')
  return [...texts.slice(0, -2), last].join(', ')
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`
}

/** The properties that the schema allows at the path. */
function namesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { innerType, element, shape } = schema._zod.def as {
    innerType?: z.core.$ZodType
    element?: z.core.$ZodType
    shape?: Record<PropertyKey, z.core.$ZodType>
  }
  if (innerType) return namesAt(innerType, path)
  const [name, ...deeper] = path
  if (name === undefined) return Object.keys(shape ?? {})
  const inner = element ?? shape?.[name]
  return inner ? namesAt(inner, deeper) : []
}

function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body'
  const names = path.map(String).map((name) => (/\S/.test(name) ? name : JSON.stringify(name)))
  return shorten(names.map((name) => (SECRET.test(name) ? '…' : name)).join('.'), MAX_NAME_LENGTH)
}

/** Counts code points and replaces lone surrogates. */
function shorten(text: string, maxLength: number): string {
  // A code point has at most two UTF-16 units, so the rest of a long text need not be split.
  const characters = [...text.slice(0, 2 * maxLength + 2).toWellFormed()]
  return characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : characters.join('')
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (Object(value) === value ? (value as never)[key] : undefined),
    data,
  )
}
