/** The variables of a .env file, and the requests that store them. */
import { isUtf8 } from 'node:buffer'
import { parse } from 'dotenv'
import { describeProblems, MAX_VARIABLES_PER_REQUEST, setEnvironmentVariablesContract } from '../../src/contracts.ts'
import { readFile } from './local-files.ts'

/** dotenv's grammar of an assignment: the name and the value. dotenv does not say on which line they are. */
const ASSIGNMENT =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\n]+)?\s*(?:#.*)?$/dgm

interface Variable {
  readonly key: string
  readonly value: string
}

/** Where the text assigns a variable. */
interface Assignment extends Variable {
  readonly line: number
  readonly lastLine: number
}

/**
 * Prints what of the file may not be as intended.
 * @returns the variables, in as few requests as the limits of the service allow.
 * @throws if the file has no variables, or some that the service would reject: a wrong file changes nothing.
 */
export function readVariables(file: string): Variable[][] {
  const bytes = readFile(file)
  if (!isUtf8(bytes)) throw new Error(`${file} is not UTF-8 text.`)
  const variables = Object.entries(parse(bytes)).map(([key, value]) => ({ key, value }))
  if (variables.length === 0) throw new Error(`${file} has no variables.`)
  const text = bytes.toString('utf8').replaceAll(/\r\n?/g, '\n')
  const assignments = assignmentsIn(text)
  for (const warning of warningsOf(text, assignments)) console.error(`Warning: ${file}, ${warning}`)
  const chunks = chunksOf(variables)
  // Of several lines, the last one counts.
  const lines = new Map(assignments.map(({ key, line }) => [key, line]))
  for (const chunk of chunks) check(chunk, (key) => `${file}, line ${lines.get(key)}: ${key}`)
  return chunks
}

function assignmentsIn(text: string): Assignment[] {
  const lineAt = (index: number) => text.slice(0, index).split('\n').length
  return Array.from(text.matchAll(ASSIGNMENT), ({ 0: all, 1: key = '', 2: value = '', index, indices }) => ({
    key,
    value,
    line: lineAt(indices?.[1]?.[0] ?? index),
    lastLine: lineAt(index + all.length),
  }))
}

/** Duplicates, lines without an assignment, and references, by line. Without values, which are secret. */
function warningsOf(text: string, assignments: readonly Assignment[]): string[] {
  const lines = text.split('\n')
  const warnings = new Map<number, string>()
  const isAssigned = new Set<number>()
  const firstLines = new Map<string, number>()
  for (const { key, value, line, lastLine } of assignments) {
    for (let each = line; each <= lastLine; each++) isAssigned.add(each)
    const first = firstLines.get(key)
    firstLines.set(key, first ?? line)
    if (first !== undefined) warnings.set(line, `${key} is also on line ${first}; the last value is stored`)
    else if (value.includes('${') && !value.trimStart().startsWith("'"))
      warnings.set(line, `the value of ${key} refers to a variable; the reference is stored as text`)
  }
  for (const [index, content] of lines.entries()) {
    const line = index + 1
    if (!isAssigned.has(line) && !/^\s*(#|$)/.test(content))
      warnings.set(line, 'the line has no KEY=value; it is left out')
  }
  return [...warnings].sort(([a], [b]) => a - b).map(([line, warning]) => `line ${line}: ${warning}.`)
}

/** Splits the variables into as few requests as the limits of the service allow. */
function chunksOf(variables: readonly Variable[]): Variable[][] {
  const chunks: Variable[][] = []
  let chunk: Variable[] = []
  let freeBytes = 0
  for (const variable of variables) {
    const bytes = Buffer.byteLength(JSON.stringify(variable)) + ','.length
    if (chunk.length === MAX_VARIABLES_PER_REQUEST || bytes > freeBytes) {
      chunk = []
      chunks.push(chunk)
      freeBytes = setEnvironmentVariablesContract.bodyLimitBytes - JSON.stringify({ variables: [] }).length
    }
    chunk.push(variable)
    freeBytes -= bytes
  }
  return chunks
}

/** @param locate a variable, for a message. @throws if the service would reject one. */
function check(variables: readonly Variable[], locate: (key: string) => string): void {
  const schema = setEnvironmentVariablesContract.body
  const data = { variables }
  const result = schema.safeParse(data)
  if (result.success) return
  const problems = describeProblems(result.error.issues, { schema, data, isSecret: true })
  throw new Error(problems.replaceAll(/\bvariables\.(\d+)\.\w+/g, (_, index) => locate(variables[index]?.key ?? index)))
}
