/** The variables of a .env file, and the requests that store them. */
import { isUtf8 } from 'node:buffer'
import { parse } from 'dotenv'
import { describeProblems } from '../../src/http/problems.ts'
import {
  MAX_VARIABLES_PER_REQUEST,
  setEnvironmentVariablesContract,
} from '../../src/resources/environment-variables/contract.ts'
import { readFile } from './local-files.ts'

/** dotenv's grammar of an assignment: the name and the value. dotenv does not say on which line they are. */
const ASSIGNMENT =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\n]+)?\s*(?:#.*)?$/dgm

export interface Variable {
  readonly key: string
  readonly value: string
}

/** Prints what of the file may not be as intended. @throws if the file has no variables. */
export function readVariables(file: string): Variable[] {
  const bytes = readFile(file)
  if (!isUtf8(bytes)) throw new Error(`${file} is not UTF-8 text.`)
  const variables = Object.entries(parse(bytes)).map(([key, value]) => ({ key, value }))
  if (variables.length === 0) throw new Error(`${file} has no variables.`)
  for (const warning of warningsOf(bytes.toString('utf8').replaceAll(/\r\n?/g, '\n'))) {
    console.error(`Warning: ${file}, ${warning}`)
  }
  return variables
}

/** Duplicates, lines without an assignment, and references, by line. Without values, which are secret. */
function warningsOf(text: string): string[] {
  const lines = text.split('\n')
  const lineAt = (index: number) => text.slice(0, index).split('\n').length
  const warnings = new Map<number, string>()
  const isAssigned = new Set<number>()
  const firstLines = new Map<string, number>()
  for (const { 0: all, 1: key = '', 2: value = '', index, indices } of text.matchAll(ASSIGNMENT)) {
    const line = lineAt(indices?.[1]?.[0] ?? index)
    for (let each = line; each <= lineAt(index + all.length); each++) isAssigned.add(each)
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
export function chunksOf(variables: readonly Variable[]): Variable[][] {
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

/** @throws if the service would reject these variables. All are checked first, so that a wrong file changes nothing. */
export function check(variables: readonly Variable[]): void {
  const schema = setEnvironmentVariablesContract.body
  const data = { variables }
  const result = schema.safeParse(data)
  if (result.success) return
  const problems = describeProblems(result.error.issues, { schema, data, isSecret: true })
  throw new Error(
    problems.replaceAll(/\bvariables\.(\d+)\.\w+/g, (_, index) => variables[index]?.key ?? index),
  )
}
