/** Runs wrangler, on the Node of this project. */
import { spawn, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { parametersOf, type Statement, type Value, type Values } from '../src/db/statement.ts'

export const ROOT = resolve(import.meta.dirname, '..')

const COMMAND = join(
  dirname(createRequire(import.meta.url).resolve('wrangler/package.json')),
  'bin',
  'wrangler.js',
)
const ENVIRONMENT = { ...process.env, WRANGLER_SEND_METRICS: 'false' }

/** Which database a command works on: the deployed one, or the local one in its state folder. */
export interface Target {
  readonly remote: boolean
  /** As `--persist-to` names it; wrangler's own, if it is left out. */
  readonly persistTo: string | undefined
}

/** The folder that holds the local state. */
export function stateFolder({ persistTo }: Target): string {
  return persistTo === undefined ? join(ROOT, '.wrangler', 'state') : resolve(persistTo)
}

/** Brings the schema of the database up to date. */
export function applyMigrations(target: Target): void {
  runWrangler(['d1', 'migrations', 'apply', 'DB', ...flags(target)])
}

/** Runs statements in order on the database. @returns the rows of each. */
export function execute(
  target: Target,
  statements: readonly { statement: Statement; values: Values }[],
): Record<string, Value>[][] {
  const command = statements.map(({ statement, values }) => literalSql(statement, values)).join(';\n')
  const output = runWrangler(['d1', 'execute', 'DB', '--json', '--command', command, ...flags(target)])
  const results: { results: Record<string, Value>[] }[] = JSON.parse(output)
  return results.map((result) => result.results)
}

const PARENT_CHECK_MS = 500

/** Starts `wrangler dev` in the foreground and ends with it. */
export function startDevelopmentServer(args: readonly string[]): void {
  const server = spawn(process.execPath, [COMMAND, 'dev', ...args], {
    cwd: ROOT,
    env: ENVIRONMENT,
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))
  // npm passes a signal on to its shell and no further; so the server also ends when its parent has.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && server.kill(), PARENT_CHECK_MS).unref()
  server.on('exit', (code) => process.exit(code ?? 0))
}

/** @returns what the command printed. @throws if it failed, with what it said. */
export function runWrangler(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    cwd: ROOT,
    // Without a terminal, wrangler asks no questions.
    env: { ...ENVIRONMENT, CI: 'true' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) throw new Error(`wrangler ${args.slice(0, 3).join(' ')} failed:\n${stdout}${stderr}`)
  return stdout
}

function flags(target: Target): string[] {
  if (target.remote) return ['--remote']
  return ['--local', '--persist-to', stateFolder(target)]
}

/** The SQL of a statement with its values written into it: wrangler's command line binds nothing. */
function literalSql(statement: Statement, values: Values): string {
  const parameters = parametersOf(statement, values)
  let index = 0
  return statement.sql.replaceAll('?', () => literal(parameters[index++] ?? null))
}

function literal(value: Value): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL')
}
