/** Stores the variables of a .env file in a project. Prints names, never values. */
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { describeProblems } from '../src/http/problems.ts'
import {
  MAX_VARIABLES_PER_REQUEST,
  setEnvironmentVariablesContract,
} from '../src/resources/environment-variables/contract.ts'
import { describeScript, parsed, startProgress, UsageError, withService } from './command-line.ts'
import { Service } from './service.ts'

/** dotenv's grammar of an assignment: the name and the value. dotenv does not say on which line they are. */
const ASSIGNMENT =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\n]+)?\s*(?:#.*)?$/dgm

const command = parsed(
  withService(
    describeScript(
      'env:push',
      "Stores the variables of a .env file in a project. The project's other variables do not change. Prints names, never values. The API key needs the scope environment-variables:write.",
      ['.env --project website', '.env --project website --url https://api.example.com --key wsk_…'],
    )
      .argument('<file>', 'a .env file')
      .requiredOption('--project <id>', 'the project'),
  ),
)

interface Variable {
  readonly key: string
  readonly value: string
}

/** The response. A variable is new if both times are equal. */
interface Stored {
  readonly items: readonly { readonly key: string; readonly createdAt: string; readonly updatedAt: string }[]
}

await push()

/** Sends up to 100 variables per request. Each request stores all of them or none. */
async function push(): Promise<void> {
  const options = command.opts()
  const [file] = command.processedArgs
  const path = pathOf(options.project)
  const variables = readVariables(file)
  const chunks = chunksOf(variables)
  for (const chunk of chunks) check(chunk)
  const service = Service.fromOptions(options)
  const progress = startProgress('Storing variables', variables.length)
  for (const chunk of chunks) {
    const { body } = await service.send<Stored>('POST', path, { variables: chunk })
    for (const { key, createdAt, updatedAt } of body.items) {
      progress.log(`${createdAt === updatedAt ? 'created' : 'updated'}   ${key}`)
    }
    progress.add(chunk.length)
  }
  progress.end(`${variables.length} ${variables.length === 1 ? 'variable' : 'variables'} pushed`)
}

function pathOf(projectId: string): string {
  const schema = setEnvironmentVariablesContract.params
  const data = { projectId }
  const result = schema.safeParse(data)
  if (result.success) return `/v1/projects/${encodeURIComponent(result.data.projectId)}/environment-variables`
  throw new UsageError(
    describeProblems(result.error.issues, { schema, data, isSecret: false }).replace(
      'projectId',
      '--project',
    ),
  )
}

/** Prints what of the file may not be as intended. @throws if the file has no variables. */
function readVariables(file: string): Variable[] {
  const bytes = readBytes(file)
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

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`)
  }
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

/** @throws if the service would reject these variables. All are checked first, so that a wrong file changes nothing. */
function check(variables: readonly Variable[]): void {
  const schema = setEnvironmentVariablesContract.body
  const data = { variables }
  const result = schema.safeParse(data)
  if (result.success) return
  const problems = describeProblems(result.error.issues, { schema, data, isSecret: true })
  throw new Error(
    problems.replaceAll(/\bvariables\.(\d+)\.\w+/g, (_, index) => variables[index]?.key ?? index),
  )
}
