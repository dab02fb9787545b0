/** Runs wrangler, on the Node of this project. */
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Unstable_Config as Configuration } from 'wrangler'
import { parametersOf, type Statement, type Value, type Values } from '../src/db/statement.ts'

export const ROOT = resolve(import.meta.dirname, '..')

const require = createRequire(import.meta.url)
const COMMAND = join(dirname(require.resolve('wrangler/package.json')), 'bin', 'wrangler.js')
const LARGEST_OUTPUT_BYTES = 2 ** 29

/** One of the deployments that a configuration describes. */
export interface Deployment {
  /** As wrangler.toml names it; production, if it is left out. */
  readonly environment?: string | undefined
  /** In the place of wrangler.toml. */
  readonly config?: string | undefined
}

/** Which database a command works on: that of a deployment, or the local one in its state folder. */
export interface Target extends Deployment {
  readonly remote: boolean
  /** As `--persist-to` names it; wrangler's own, if it is left out. */
  readonly persistTo: string | undefined
}

/** The flags that name a target, for `parseArgs`. */
export const TARGET_OPTIONS = {
  remote: { type: 'boolean', default: false },
  env: { type: 'string' },
  'persist-to': { type: 'string' },
} as const

/** @param options as `parseArgs` has them. Ends the process if they contradict each other. */
export function targetOf(options: {
  remote: boolean
  env?: string | undefined
  'persist-to'?: string | undefined
}): Target {
  if (options.env && !options.remote) {
    console.error('--env: names a deployment, so it goes with --remote')
    process.exit(1)
  }
  return { remote: options.remote, environment: options.env, persistTo: options['persist-to'] }
}

export function configFileOf({ config }: Deployment): string {
  return config === undefined ? join(ROOT, 'wrangler.toml') : resolve(config)
}

/** What wrangler reads for a deployment. @throws what is wrong with it. */
export function configurationOf(deployment: Deployment): Configuration {
  // Loaded here alone: it takes most of a second.
  const { unstable_readConfig: readConfig } = require('wrangler') as typeof import('wrangler')
  const config = configFileOf(deployment)
  return readConfig({ config, env: deployment.environment ?? '' }, { hideWarnings: true })
}

/** The folder that holds the local state. */
export function stateFolder({ persistTo }: Target): string {
  return persistTo === undefined ? join(ROOT, '.wrangler', 'state') : resolve(persistTo)
}

/** Brings the schema of the database up to date. @returns what wrangler says of it. */
export function applyMigrations(target: Target): string {
  return runWrangler(['d1', 'migrations', 'apply', 'DB', ...flags(target)], target)
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
  const output = runWrangler(
    ['d1', 'execute', 'DB', '--json', '--command', command, ...flags(target)],
    target,
  )
  const results: { results: Record<string, Value>[] }[] = JSON.parse(output)
  return results.map((result) => result.results)
}

/** Runs the statements of a file. */
export function executeFile(target: Target, file: string): void {
  runWrangler(['d1', 'execute', 'DB', '--yes', '--file', file, ...flags(target)], target)
}

/** Writes schema and rows of the database to a file of SQL. */
export function exportDatabase(target: Target, file: string): void {
  const output = ['--output', resolve(file)]
  if (target.remote) {
    runWrangler(['d1', 'export', 'DB', '--remote', '--skip-confirmation', ...output], target)
    return
  }
  // The export knows no other state folder than the one beside its configuration.
  const folder = mkdtempSync(join(tmpdir(), 'workspace-api-export-'))
  try {
    mkdirSync(join(folder, '.wrangler'))
    symlinkSync(stateFolder(target), join(folder, '.wrangler', 'state'), 'junction')
    const config = join(folder, 'wrangler.toml')
    copyFileSync(configFileOf(target), config)
    runWrangler(['d1', 'export', 'DB', '--local', ...output], { config })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Writes an object of the store to a file. */
export function readObject(target: Target, key: string, file: string): void {
  const bucket = configurationOf(target).r2_buckets.find(({ binding }) => binding === 'OBJECTS')?.bucket_name
  runWrangler(['r2', 'object', 'get', `${bucket}/${key}`, '--file', file, ...flags(target)], target)
}

const PARENT_CHECK_MS = 500

/** Starts `wrangler dev` in the foreground and ends with it. */
export function startDevelopmentServer(args: readonly string[]): void {
  const named = args.some((arg) => /^(--env|-e)\b/.test(arg))
  const server = spawn(process.execPath, [COMMAND, 'dev', ...(named ? args : argumentsOf(args, {}))], {
    cwd: ROOT,
    env: quiet(),
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))
  // npm passes a signal on to its shell and no further; so the server also ends when its parent has.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && server.kill(), PARENT_CHECK_MS).unref()
  server.on('exit', (code) => process.exit(code ?? 0))
}

/** @returns what the command printed. @throws if it failed, with what it said. */
export function runWrangler(args: readonly string[], deployment: Deployment = {}): string {
  return callWrangler(args, deployment).stdout
}

/** @param variables of its environment. @throws if it failed, with what it said. */
export function callWrangler(
  args: readonly string[],
  deployment: Deployment,
  variables: Readonly<Record<string, string>> = {},
): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [COMMAND, ...argumentsOf(args, deployment)],
    {
      cwd: ROOT,
      // Without a terminal, wrangler asks no questions.
      env: { ...quiet(), CI: 'true', ...variables },
      encoding: 'utf8',
      maxBuffer: LARGEST_OUTPUT_BYTES,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const warnings = stripVTControlCharacters(stderr)
  if (status !== 0) throw new Error(`wrangler ${args.slice(0, 3).join(' ')} failed:\n${stdout}${warnings}`)
  return { stdout, stderr: warnings }
}

/** With the deployment: an empty `--env` is production, and names it. */
export function argumentsOf(args: readonly string[], { environment = '', config }: Deployment): string[] {
  return [...args, ...(config === undefined ? [] : ['--config', resolve(config)]), `--env=${environment}`]
}

function quiet(): NodeJS.ProcessEnv {
  return { ...process.env, WRANGLER_SEND_METRICS: 'false' }
}

function flags(target: Target): string[] {
  if (target.remote) return ['--remote']
  return ['--local', '--persist-to', stateFolder(target)]
}

/** The SQL of a statement with its values written into it: wrangler's command line binds nothing. */
export function literalSql(statement: Statement, values: Values): string {
  const parameters = parametersOf(statement, values)
  let index = 0
  return statement.sql.replaceAll('?', () => literal(parameters[index++] ?? null))
}

/** A value as SQL. */
export function literal(value: Value): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL')
}
