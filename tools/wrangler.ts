/** Runs wrangler, on the Node of this project. */
import './wrangler-environment.ts'
import { spawn, spawnSync } from 'node:child_process'
import { createRequire, enableCompileCache, getCompileCacheDir } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type { Unstable_Config as Configuration, Unstable_RawConfig as WrittenConfiguration } from 'wrangler'
import { bindingOf } from '../src/db/database.ts'

export const ROOT = resolve(import.meta.dirname, '..')

/** The configurations of the other Workers, which belong to wrangler.toml. */
const MCP_CONFIG = join(ROOT, 'mcp', 'wrangler.toml')
const CONSOLE_CONFIG = join(ROOT, 'console', 'wrangler.toml')

// Wrangler has 10 MB of code.
enableCompileCache()

const require = createRequire(import.meta.url)
const COMMAND = join(dirname(require.resolve('wrangler/package.json')), 'bin', 'wrangler.js')
const PRELOADED = new URL('wrangler-without-inspector.ts', import.meta.url).href
const LARGEST_OUTPUT_BYTES = 2 ** 29

/** An environment of a configuration file. */
export interface Deployment {
  /** The name in wrangler.toml. If undefined, production. */
  readonly environment?: string | undefined
  /** The configuration file. If undefined, wrangler.toml. */
  readonly config?: string | undefined
}

/** The database of a command: that of a deployment, or the local one in a state folder. */
export interface Target extends Deployment {
  readonly remote: boolean
  /** The state folder. If undefined, .wrangler/state. */
  readonly persistTo: string | undefined
}

/** What names the target in a command that a message prints. */
export function flagsOf({ remote, environment, persistTo }: Target): string {
  if (!remote) return persistTo === undefined ? '' : ` --persist-to ${persistTo}`
  return ` --remote${environment ? ` --env ${environment}` : ''}`
}

export function getConfigFile({ config }: Deployment): string {
  return config === undefined ? join(ROOT, 'wrangler.toml') : resolve(config)
}

/** Reads the configuration as wrangler does. @throws what is wrong with it. */
export function readConfiguration(deployment: Deployment): Configuration {
  // Loaded on first use: it takes most of a second.
  const { unstable_readConfig: readConfig } = require('wrangler') as typeof import('wrangler')
  const config = getConfigFile(deployment)
  try {
    return readConfig({ config, env: deployment.environment ?? '' }, { hideWarnings: true })
  } catch (error) {
    // Further paragraphs show how to write a configuration.
    const [problems = ''] = (error as Error).message.split('\n\n')
    throw new Error(problems.replaceAll(/\s*\n\s*/g, ' '))
  }
}

/** The configuration as its file has it, with all environments. */
export function writtenConfigurationOf(deployment: Deployment): WrittenConfiguration {
  const { experimental_readRawConfig: readRawConfig } = require('wrangler') as typeof import('wrangler')
  return readRawConfig({ config: getConfigFile(deployment) }).rawConfig
}

/** A database beside the one that a configuration names, and its D1 database. */
export interface FurtherDatabase {
  readonly number: number
  readonly name: string
}

/** Adds further databases to a configuration as its file has it. */
export function addDatabases(
  written: WrittenConfiguration,
  environment: string | undefined,
  further: readonly FurtherDatabase[],
): void {
  const place = environment ? written.env?.[environment] : written
  const added = further.map(({ number, name }) => ({ binding: bindingOf(number), database_name: name }))
  if (place) place.d1_databases = [...(place.d1_databases ?? []), ...added]
}

/** The folder that holds the local state. */
export function stateFolder({ persistTo }: Target): string {
  return persistTo === undefined ? join(ROOT, '.wrangler', 'state') : resolve(persistTo)
}

const PARENT_CHECK_MS = 500

/** Wrangler's warnings that do not concern the user: `npm run dev` fires the Cron Trigger itself. */
const IRRELEVANT_WARNING = /WARNING.*Scheduled Workers are not automatically triggered/

/** What `npm run dev` starts. */
export interface DevelopmentServers {
  /** The flags of `wrangler dev` for the API Worker. */
  readonly args: readonly string[]
  /** The configuration of the API Worker, unless the flags name one. */
  readonly config: string
  /** The port of the console; undefined: no console. */
  readonly consolePort: number | undefined
  /** Settings of the console, as `--var` has them. */
  readonly consoleVariables: readonly string[]
  /** The address of the API Worker. */
  readonly url: string
  /** The folder of what the console stores: the apps that people connected. No two processes use one at the same time. */
  readonly consoleState: string
  /** A folder in which the two processes of wrangler find each other's Workers. */
  readonly registry: string
  /** Shows all output of wrangler. Otherwise warnings and errors, those that the Workers log included. */
  readonly isVerbose: boolean
}

/**
 * Starts `wrangler dev`: once for the API with the MCP Worker, and once for the console, because a process serves only its
 * first Worker. Ends this process when one of them ends: with code 0 after Ctrl-C or `kill`.
 */
export function startDevelopmentServers({
  args,
  config,
  consolePort,
  consoleVariables,
  consoleState,
  url,
  registry,
  isVerbose,
}: DevelopmentServers): void {
  const named = args.some((arg) => /^(--env|-e)\b/.test(arg))
  const configured = args.some((arg) => /^(--config|-c)\b/.test(arg))
  const configs = configured ? [] : ['--config', config, '--config', MCP_CONFIG]
  const servers = [startServer([...configs, ...(named ? args : toArguments(args, {}))], registry, isVerbose)]
  if (consolePort !== undefined) {
    const environment = args.find((_arg, index) => /^(--env|-e)$/.test(args[index - 1] ?? ''))
    const own = [`API_URL:${url}`, `CONSOLE_URL:http://localhost:${consolePort}`]
    const settings = [...own, ...consoleVariables].flatMap((variable) => ['--var', variable])
    const flags = ['--port', String(consolePort), '--persist-to', consoleState, ...settings]
    servers.push(startServer(toArguments(flags, { environment, config: CONSOLE_CONFIG }), registry, isVerbose))
  }
  let isStopping = false
  let running = servers.length
  const stop = (signal: NodeJS.Signals) => {
    isStopping = true
    for (const server of servers) server.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  // Also if this process fails.
  process.on('exit', () => stop('SIGTERM'))
  // npm passes a signal on to its shell and no further; so the servers also end when their parent has.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && stop('SIGTERM'), PARENT_CHECK_MS).unref()
  let exitCode = 0
  for (const server of servers) {
    server.on('close', (code, signal) => {
      running -= 1
      if (!isStopping) {
        if (signal) console.error(`wrangler dev was ended by ${signal}.`)
        exitCode = code ?? 1
        stop('SIGTERM')
      }
      if (running === 0) process.exit(exitCode)
    })
  }
}

function startServer(args: readonly string[], registry: string, isVerbose: boolean) {
  const quietly = isVerbose ? [] : ['--log-level', 'warn', '--show-interactive-dev-session', 'false']
  const server = spawn(process.execPath, ['--import', PRELOADED, COMMAND, 'dev', ...args, ...quietly], {
    cwd: ROOT,
    env: {
      // The Workers do not use `request.cf`, which wrangler would fetch from the internet.
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_REGISTRY_PATH: registry,
      ...quiet(),
    },
    stdio: ['inherit', 'pipe', 'pipe'],
  })
  void printWithoutPrefix(server.stdout)
  void printRelevant(server.stderr, isVerbose)
  return server
}

/** Wrangler prints the path of each request, and that of a feed has its token. */
function withoutTokens(line: string): string {
  return line.replaceAll(/wsf\d*_[\w-]+/g, 'wsf_…')
}

/** With several Workers, wrangler puts this before each line that a Worker logs. */
const LOG_PREFIX = /^\[undefined\] /

async function printWithoutPrefix(stdout: Readable): Promise<void> {
  for await (const line of createInterface({ input: stdout })) {
    const isLogged = LOG_PREFIX.test(stripVTControlCharacters(line))
    const shown = isLogged ? stripVTControlCharacters(line).replace(LOG_PREFIX, '') : line
    process.stdout.write(`${withoutTokens(shown)}\n`)
  }
}

/**
 * Prints what wrangler writes to stderr. @param all if false, without the irrelevant warning and the indented lines
 * that belong to it.
 */
async function printRelevant(stderr: Readable, all: boolean): Promise<void> {
  let isIrrelevant = false
  for await (const line of createInterface({ input: stderr })) {
    const text = stripVTControlCharacters(line)
    isIrrelevant = IRRELEVANT_WARNING.test(text) || (isIrrelevant && /^(\s|$)/.test(text))
    if (all || !isIrrelevant) process.stderr.write(`${withoutTokens(line)}\n`)
  }
}

/** @returns the output of the command. @throws the output, if it failed. */
export function runWrangler(args: readonly string[], deployment: Deployment = {}): string {
  return callWrangler(args, deployment).stdout
}

/** @param variables added to the environment. @throws the output, if the command failed. */
export function callWrangler(
  args: readonly string[],
  deployment: Deployment,
  variables: Readonly<Record<string, string>> = {},
): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...toArguments(args, deployment)], {
    cwd: ROOT,
    // With CI set, wrangler asks no questions.
    env: { ...quiet(), CI: 'true', ...variables },
    encoding: 'utf8',
    maxBuffer: LARGEST_OUTPUT_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const warnings = stripVTControlCharacters(stderr)
  if (status !== 0) throw new Error(`wrangler ${args.slice(0, 3).join(' ')} failed:\n${stdout}${warnings}`)
  return { stdout, stderr: warnings }
}

/** Adds the flags of the deployment. An empty `--env` selects production explicitly. */
export function toArguments(args: readonly string[], { environment = '', config }: Deployment): string[] {
  return [...args, ...(config === undefined ? [] : ['--config', resolve(config)]), `--env=${environment}`]
}

/**
 * In a build of Cloudflare's, these variables name its Worker, and wrangler would upload the other Workers under that
 * name. `refuseOtherWorker` compares the name instead.
 */
const OF_WORKERS_BUILDS = { WRANGLER_CI_OVERRIDE_NAME: undefined, WRANGLER_CI_MATCH_TAG: undefined }

/** @throws if Cloudflare builds another Worker than the one that the configuration names. */
export function refuseOtherWorker(name: string | undefined, file: string): void {
  const built = process.env.WRANGLER_CI_OVERRIDE_NAME
  if (built === undefined || built === name) return
  throw new Error(
    `This is a build of the Worker "${built}", but ${file} names "${name}". Connect the repository to the Worker "${name}".`,
  )
}

function quiet(): NodeJS.ProcessEnv {
  const own = { NODE_COMPILE_CACHE: getCompileCacheDir(), WRANGLER_SEND_METRICS: 'false' }
  return { ...process.env, ...OF_WORKERS_BUILDS, ...own }
}
