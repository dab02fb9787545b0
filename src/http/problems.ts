/**
 * Turns what a schema found wrong into a sentence for the caller, such as
 * `placement.position: expected "before" or "after", got "beside"`.
 */
import type * as z from 'zod/mini'

type Issue = z.core.$ZodIssue

/** What was checked, and by what. */
export interface Checked {
  readonly schema: z.core.$ZodType
  readonly data: unknown
  /** True if none of it may be repeated, no name that nobody knows either: there is a secret in it, maybe at the wrong place. */
  readonly isSecret: boolean
}

const MOST_PROBLEMS = 5
const LONGEST_NAME = 60
const LONGEST_VALUE = 40
/** Tokens and secrets of this service, which end up at the wrong place. */
const SECRET = /wsk_|whsec_/

export function describeProblems(issues: readonly Issue[], checked: Checked): string {
  // Each issue has at least one problem. A large body can have a million, of which few are described.
  const described = issues.slice(0, MOST_PROBLEMS).flatMap((issue) => describe(issue, checked))
  const count = issues.reduce((sum, issue) => sum + countOf(issue), 0)
  const rest = count - MOST_PROBLEMS
  return described.slice(0, MOST_PROBLEMS).join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}

/** What was sent, as far as it may be repeated: `"beside"`, `12`, `an array of 3`. */
export function describeSent(value: unknown, isSecret = false): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  const type = typeof value
  if (type === 'object' || isSecret || SECRET.test(String(value))) return kind(type)
  return type === 'string' ? JSON.stringify(shorten(String(value), LONGEST_VALUE)) : String(value)
}

function describe(issue: Issue, { schema, data, isSecret }: Checked): string[] {
  if (issue.code === 'unrecognized_keys') {
    const known = namesAt(schema, issue.path)
    const expectation = known.length > 0 ? `, expected ${known.join(', ')}` : ''
    return issue.keys
      .slice(0, MOST_PROBLEMS)
      .map((key) => `${nameOf([...issue.path, isSecret ? '…' : key])}: unknown property${expectation}`)
  }
  const value = valueAt(data, issue.path)
  const expectation = expectationOf(issue, value)
  if (value === undefined && issue.code !== 'custom')
    return [`${nameOf(issue.path)}: required, ${expectation}`]
  // What a rule of ours finds in a whole object is that it is empty.
  const isEmpty = issue.code === 'custom' && Object(value) === value && !Array.isArray(value)
  const isSaid = isEmpty || expectation.includes(', got ')
  return [`${nameOf(issue.path)}: ${expectation}${isSaid ? '' : `, got ${describeSent(value, isSecret)}`}`]
}

function countOf(issue: Issue): number {
  return issue.code === 'unrecognized_keys' ? issue.keys.length : 1
}

function expectationOf(issue: Issue, value: unknown): string {
  if (issue.code === 'invalid_value')
    return `expected ${issue.values.map((each) => JSON.stringify(each)).join(' or ')}`
  const areSeveral = issue.path.length === 1 && Array.isArray(value) && value.length > 1
  if (issue.code === 'invalid_type' && issue.expected === 'string' && areSeveral)
    return 'expected one value, got several'
  const isOurs = issue.message.startsWith('expected ')
  return issue.code === 'invalid_type' && !isOurs ? `expected ${kind(issue.expected)}` : issue.message
}

function kind(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`
}

/** The names of the properties that an object may have at the path, where the schema lists them. */
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
  return shorten(names.map((name) => (SECRET.test(name) ? '…' : name)).join('.'), LONGEST_NAME)
}

/** By code points, without lone surrogates. */
function shorten(text: string, longest: number): string {
  // Twice as many units hold as many code points, so that a long text is not taken apart.
  const characters = [...text.slice(0, 2 * longest + 2).toWellFormed()]
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : characters.join('')
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (Object(value) === value ? (value as never)[key] : undefined),
    data,
  )
}
