/**
 * Stores the variables of a .env file in a project.
 *
 *     npm run env:push -- <.env file> --project <id> [--url http://localhost:8787] [--key wsk_…]
 *
 * Sends up to 100 variables per request; each request stores all of them or none. Prints names, never values.
 * The project's other variables do not change. The API key is that of --key, of WORKSPACE_API_KEY or of the
 * demo workspace, in this order; it needs the scope environment-variables:write.
 */
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parse } from 'dotenv'
import { describeProblems } from '../src/http/problems.ts'
import {
  MAX_VARIABLES_PER_REQUEST,
  setEnvironmentVariablesContract,
} from '../src/resources/environment-variables/contract.ts'
import { Service } from './service.ts'

const USAGE = 'Usage: npm run env:push -- <.env file> --project <id> [--url <address>] [--key <API key>]'

interface Variable {
  readonly key: string
  readonly value: string
}

/** The response. A variable is new if both times are equal. */
interface Stored {
  readonly items: readonly { readonly key: string; readonly createdAt: string; readonly updatedAt: string }[]
}

try {
  await push()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function push(): Promise<void> {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: { project: { type: 'string' }, url: { type: 'string' }, key: { type: 'string' } },
  })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0 || options.project === undefined) throw new Error(USAGE)
  const path = pathOf(options.project)
  const variables = readVariables(file)
  const chunks = chunksOf(variables)
  for (const chunk of chunks) check(chunk)
  const service = Service.fromOptions(options)
  for (const chunk of chunks) {
    const { body } = await service.send<Stored>('POST', path, { variables: chunk })
    for (const { key, createdAt, updatedAt } of body.items) {
      console.log(`${createdAt === updatedAt ? 'created' : 'updated'}   ${key}`)
    }
  }
  console.log(`${variables.length} ${variables.length === 1 ? 'variable' : 'variables'} pushed`)
}

function pathOf(projectId: string): string {
  const schema = setEnvironmentVariablesContract.params
  const data = { projectId }
  const result = schema.safeParse(data)
  if (result.success) return `/v1/projects/${encodeURIComponent(result.data.projectId)}/environment-variables`
  throw new Error(
    describeProblems(result.error.issues, { schema, data, isSecret: false }).replace(
      'projectId',
      '--project',
    ),
  )
}

/** @throws if the file has no variables. */
function readVariables(file: string): Variable[] {
  const bytes = readBytes(file)
  if (!isUtf8(bytes)) throw new Error(`${file} is not UTF-8 text.`)
  const variables = Object.entries(parse(bytes)).map(([key, value]) => ({ key, value }))
  if (variables.length === 0) throw new Error(`${file} has no variables.`)
  return variables
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
