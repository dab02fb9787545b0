/**
 * Writes what is wrong with the input as sentences: `limit is not a whole number; got "ten"; allowed: at least 1.`
 *
 * The message of a schema or of a check says what is allowed. What is wrong follows from the code of zod's own checks;
 * a check of fields.ts says it in `params`.
 */
import type * as z from 'zod/mini'
import type { Problem } from '../errors.ts'
import { closest, closestName } from './closest.ts'
import type { TakenElsewhere } from './contract.ts'

type Issue = z.core.$ZodIssue

/** What was validated, and by which schema. */
export interface Validated {
  readonly schema: z.core.$ZodType
  readonly data: unknown
  /** True if the data may hold a secret at any place, so that neither a value nor an unknown name is repeated. */
  readonly isSecret: boolean
  /** What the names of an object in the data are, if not properties. */
  readonly noun?: 'query parameter' | undefined
  readonly takenElsewhere?: TakenElsewhere | undefined
}

const MAX_PROBLEMS = 5
const MAX_NAME_LENGTH = 60
const MAX_VALUE_LENGTH = 40
/** Tokens and signing secrets of this service, which clients send at the wrong place. */
const SECRET = /ws[kfc]\d*_|whsec_/

export function describeProblems(found: readonly Issue[], validated: Validated): string {
  const issues = withoutMisspelt(found, validated)
  // Each issue has at least one problem. A large body can have a million, of which few are described.
  const sentences = issues
    .slice(0, MAX_PROBLEMS)
    .flatMap((issue, index) => describeIssue(issue, validated, issues.slice(0, index)))
  const count = issues.reduce((sum, issue) => sum + countOf(issue), 0)
  const rest = count - MAX_PROBLEMS
  const more = rest > 0 ? [`And ${rest} more ${rest === 1 ? 'problem' : 'problems'}.`] : []
  return [...sentences.slice(0, MAX_PROBLEMS), ...more].join(' ')
}

export function describeProblem(name: string, { wrong, sent, allowed, advice }: Problem): string {
  const got = sent === undefined ? '' : `; got ${sent}`
  return `${name} ${wrong}${got}; allowed: ${allowed}.${advice === undefined ? '' : ` ${advice}`}`
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

/** @param earlier the issues that are described before it. */
function describeIssue(issue: Issue, validated: Validated, earlier: readonly Issue[]): string[] {
  const { schema, data, isSecret, noun = 'property' } = validated
  if (issue.code !== 'unrecognized_keys') {
    const problem = problemOf(issue, valueAt(data, issue.path), validated)
    const isRepeated = earlier.some((other) => hasSameList(other, issue))
    return [describeProblem(nameOf(issue.path), { ...problem, ...(isRepeated && { allowed: 'the same values' }) })]
  }
  const known = namesAt(schema, issue.path).join(', ') || 'none'
  return issue.keys.slice(0, MAX_PROBLEMS).map((key) => {
    // A name that every object has is no secret.
    const name = nameOf([...issue.path, isSecret && !(key in Object.prototype) ? '…' : key])
    return `${name} is not a known ${noun}; known: ${known}.${adviceFor(key, issue, validated)}`
  })
}

function adviceFor(key: string, issue: Issue, validated: Validated): string {
  const meant = meantBy(key, issue, validated)
  if (meant !== undefined) return ` Did you mean ${meant}?`
  const { takenElsewhere } = validated
  const isTaken = issue.path.length === 0 && takenElsewhere?.properties.includes(key)
  return isTaken ? ` ${takenElsewhere?.operation} takes it.` : ''
}

/** The known name that an unknown one probably means. */
function meantBy(key: string, { path }: Issue, { schema, isSecret }: Validated): string | undefined {
  return isSecret ? undefined : closestName(key, namesAt(schema, path))
}

/** The issues without those that a name is missing that was only misspelt. */
function withoutMisspelt(issues: readonly Issue[], validated: Validated): readonly Issue[] {
  const meant = issues
    .filter((issue) => issue.code === 'unrecognized_keys')
    .slice(0, MAX_PROBLEMS)
    .flatMap((issue) =>
      issue.keys.slice(0, MAX_PROBLEMS).map((key) => nameOf([...issue.path, meantBy(key, issue, validated) ?? key])),
    )
  const isMisspelt = ({ code, path }: Issue) =>
    code !== 'unrecognized_keys' && valueAt(validated.data, path) === undefined && meant.includes(nameOf(path))
  return meant.length === 0 ? issues : issues.filter((issue) => !isMisspelt(issue))
}

function problemOf(issue: Issue, value: unknown, validated: Validated): Problem {
  const { schema, isSecret } = validated
  const allowed = allowedBy(issue, schema)
  const sent = describeSent(value, isSecret)
  if (issue.code === 'custom') {
    // The length of an array does not show what its check found.
    const shown = Object(value) === value ? {} : { sent }
    return { ...shown, allowed, ...(issue.params as Pick<Problem, 'wrong'>) }
  }
  if (value === undefined) return { wrong: 'is missing', allowed }
  if (isRepeated(value, validated)) return { wrong: 'has several values', allowed: 'one value' }
  const isText = typeof value === 'string' && !isSecret
  const meant = isText && hasLongList(issue) ? closest(value, issue.values.map(String)) : undefined
  return { wrong: wrongBy(issue), sent, allowed, ...(meant && { advice: `Did you mean "${meant}"?` }) }
}

type ValueIssue = Extract<Issue, { code: 'invalid_value' }>

const MANY_VALUES = 6

/** True if the issue has a list of allowed values that is long: it is written once, and searched for what was meant. */
function hasLongList(issue: Issue): issue is ValueIssue {
  return issue.code === 'invalid_value' && issue.values.length >= MANY_VALUES
}

/** True if both are of one schema. */
function hasSameList(a: Issue, b: Issue): boolean {
  return hasLongList(a) && hasLongList(b) && a.values === b.values
}

/** True for a query parameter that was sent several times. */
function isRepeated(value: unknown, { noun }: Validated): boolean {
  return noun === 'query parameter' && Array.isArray(value)
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
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    data,
  )
}
