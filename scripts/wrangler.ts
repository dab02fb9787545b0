/** Runs wrangler, on the Node of this project. */
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parametersOf, type Statement, type Value, type Values } from '../src/db/statement.ts'

export const ROOT = resolve(import.meta.dirname, '..')

const COMMAND = join(
  dirname(createRequire(import.meta.url).resolve('wrangler/package.json')),
  'bin',
  'wrangler.js',
)
const LARGEST_OUTPUT_BYTES = 2 ** 29

/** As wrangler.toml names it. */
const BUCKET = 'workspace-api-objects'

const ENVIRONMENT = { ...process.env, WRANGLER_SEND_METRICS: 'false' }

/** Which database a command works on: the deployed one, or the local one in its state folder. */
export interface Target {
  readonly remote: boolean
  /** As `--persist-to` names it; wrangler's own, if it is left out. */
  readonly persistTo: string | undefined
}

/** The flags that name a target, for `parseArgs`. */
export const TARGET_OPTIONS = {
  remote: { type: 'boolean', default: false },
  'persist-to': { type: 'string' },
} as const

/** @param options as `parseArgs` has them. */
export function targetOf(options: { remote: boolean; 'persist-to'?: string | undefined }): Target {
  return { remote: options.remote, persistTo: options['persist-to'] }
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
  return run(target, statements.map(({ statement, values }) => literalSql(statement, values)).join(';\n'))
}

/** Runs one statement as it is written. @returns its rows. */
export function executeSql(target: Target, sql: string): Record<string, Value>[] {
  return run(target, sql)[0] ?? []
}

function run(target: Target, command: string): Record<string, Value>[][] {
  const output = runWrangler(['d1', 'execute', 'DB', '--json', '--command', command, ...flags(target)])
  const results: { results: Record<string, Value>[] }[] = JSON.parse(output)
  return results.map((result) => result.results)
}

/** Runs the statements of a file. */
export function executeFile(target: Target, file: string): void {
  runWrangler(['d1', 'execute', 'DB', '--yes', '--file', file, ...flags(target)])
}

/** Writes schema and rows of the database to a file of SQL. */
export function exportDatabase(target: Target, file: string): void {
  const output = ['--output', resolve(file)]
  if (target.remote) {
    runWrangler(['d1', 'export', 'DB', '--remote', '--skip-confirmation', ...output])
    return
  }
  // The export knows no other state folder than the one beside its configuration.
  const folder = mkdtempSync(join(tmpdir(), 'workspace-api-export-'))
  try {
    mkdirSync(join(folder, '.wrangler'))
    symlinkSync(stateFolder(target), join(folder, '.wrangler', 'state'), 'junction')
    copyFileSync(join(ROOT, 'wrangler.toml'), join(folder, 'wrangler.toml'))
    runWrangler(['d1', 'export', 'DB', '--local', '--config', join(folder, 'wrangler.toml'), ...output])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Writes an object of the store to a file. */
export function readObject(target: Target, key: string, file: string): void {
  runWrangler(['r2', 'object', 'get', `${BUCKET}/${key}`, '--file', file, ...flags(target)])
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
    maxBuffer: LARGEST_OUTPUT_BYTES,
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

/** A value as SQL. */
export function literal(value: Value): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL')
}
