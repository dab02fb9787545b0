/** Turns what a schema found wrong into a sentence for the caller, such as `placement.position: expected "before" or "after"`. */
import type * as z from 'zod/mini'

type Issue = z.core.$ZodIssue

const MOST_PROBLEMS = 5
const LONGEST_NAME = 60

/** @param data what was checked: it tells a missing value from a wrong one. */
export function describeProblems(issues: readonly Issue[], data: unknown): string {
  const problems = issues.flatMap((issue) => describe(issue, data))
  const rest = problems.length - MOST_PROBLEMS
  return problems.slice(0, MOST_PROBLEMS).join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}

function describe(issue: Issue, data: unknown): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${nameOf([...issue.path, key])}: unknown property`)
  }
  const expectation = expectationOf(issue, data)
  const missing = issue.code !== 'custom' && valueAt(data, issue.path) === undefined
  return [`${nameOf(issue.path)}: ${missing ? 'required, ' : ''}${expectation}`]
}

function expectationOf(issue: Issue, data: unknown): string {
  if (issue.code === 'invalid_value')
    return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
  if (issue.code === 'invalid_type' && issue.path.length === 1 && Array.isArray(valueAt(data, issue.path))) {
    return 'expected one value, got several'
  }
  if (issue.code === 'invalid_type') return `expected ${article(issue.expected)} ${issue.expected}`
  return issue.message
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? 'an' : 'a'
}

function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'body'
  return shorten(path.map(String).join('.'))
}

function shorten(name: string): string {
  const characters = [...name.toWellFormed()]
  return characters.length > LONGEST_NAME
    ? `${characters.slice(0, LONGEST_NAME).join('')}…`
    : characters.join('')
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (Object(value) === value ? (value as never)[key] : undefined),
    data,
  )
}
