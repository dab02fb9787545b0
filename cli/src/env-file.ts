/** The variables of a .env file, and the requests that store them. */
import { isUtf8 } from 'node:buffer'
import { parse } from 'dotenv'
import { describeProblems, MAX_VARIABLES_PER_REQUEST, setEnvironmentVariablesContract } from '../../src/contracts.ts'

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
 * @param name of the file, for messages.
 * @param skipsInvalid leaves out what the service would reject, and prints that.
 * @returns the variables, in as few requests as the limits of the service allow.
 * @throws if the file has no variables, or some that the service would reject: a wrong file changes nothing.
 */
export function readVariables(name: string, bytes: Buffer, skipsInvalid = false): Variable[][] {
  if (!isUtf8(bytes)) throw new Error(`${name} is not UTF-8 text.`)
  const text = bytes.toString('utf8').replaceAll(/\r\n?/g, '\n')
  const assignments = assignmentsIn(text)
  for (const warning of warningsOf(text, assignments)) console.error(`Warning: ${name}, ${warning}`)
  // The last of several lines counts.
  const lines = new Map(assignments.map(({ key, line }) => [key, line]))
  const problemsOf = (variables: readonly Variable[]) =>
    problemsIn(variables, (key) => `${name}, line ${lines.get(key)}: ${key}`)
  const variables = Object.entries(parse(bytes))
    .map(([key, value]) => ({ key, value }))
    .filter((variable) => {
      const problem = skipsInvalid ? problemsOf([variable]) : undefined
      if (problem !== undefined) console.error(`Warning: ${problem} It is left out.`)
      return problem === undefined
    })
  if (variables.length === 0) throw new Error(`${name} has no variables${skipsInvalid ? ' that are valid' : ''}.`)
  const chunks = chunksOf(variables)
  for (const chunk of chunks) {
    const problems = problemsOf(chunk)
    if (problems !== undefined) throw new Error(problems)
  }
  return chunks
}

/** @returns the text of a .env file from which dotenv reads the same values. @throws if it has no way to write one. */
export function writeVariables(variables: Readonly<Record<string, string>>): string {
  const lines = new Map(Object.entries(variables).map(([key, value]) => [key, lineOf(key, value)]))
  const wrong = [...lines].filter(([, line]) => line === undefined).map(([key]) => key)
  if (wrong.length > 0) {
    throw new Error(
      `A .env file cannot have the values of ${wrong.join(', ')}, which have quotes of every kind or a backslash at the end; allowed: other variables, which --only names.`,
    )
  }
  return [...lines.values()].map((line) => `${line}\n`).join('')
}

/** @returns undefined if dotenv would read another value from every form. */
function lineOf(key: string, value: string): string | undefined {
  if (/^[\w./:@%+,=-]*$/.test(value)) return `${key}=${value}`
  const escaped = value.replaceAll('\n', '\\n').replaceAll('\r', '\\r')
  // Not every program reads a value that has its own quotes.
  const quotes = ["'", '"', '`'].sort((a, b) => Number(value.includes(a)) - Number(value.includes(b)))
  const quoted = quotes.map((quote) => `${quote}${quote === '"' ? escaped : value}${quote}`)
  // A backslash would escape the last quote, depending on the next line.
  const forms = value.endsWith('\\') ? (/^[^\s'"`#][^#\n]*$/.test(value) ? [value] : []) : quoted
  return forms.map((form) => `${key}=${form}`).find((line) => isRead(line, key, value))
}

/** Whether dotenv reads the value, and the line that follows, whatever its quotes are. */
function isRead(line: string, key: string, value: string): boolean {
  const [a, b, c] = [`${key}_1`, `${key}_2`, `${key}_3`]
  const read = parse(`${line}\n${a}='x'\n${b}="x"\n${c}=\`x\`\n`)
  return read[key] === value && read[a] === 'x' && read[b] === 'x' && read[c] === 'x'
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

/** @param locate a variable, for a message. @returns why the service would reject some; undefined if it would not. */
function problemsIn(variables: readonly Variable[], locate: (key: string) => string): string | undefined {
  const schema = setEnvironmentVariablesContract.body
  const data = { variables }
  const result = schema.safeParse(data)
  if (result.success) return undefined
  const problems = describeProblems(result.error.issues, { schema, data, isSecret: true })
  return problems.replaceAll(/\bvariables\.(\d+)\.\w+/g, (_, index) => locate(variables[index]?.key ?? index))
}
