/**
 * Runs the service and its console on this machine: creates an encryption key, applies the migrations, starts
 * `wrangler dev`, fills an empty database with the demo workspace, fires the Cron Trigger each minute and receives the
 * demo's runs.
 */
import '../../operate/private-files.ts'
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, relative } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { printable } from '../../client/src/printable.ts'
import { localDatabaseFile } from '../../operate/database.ts'
import { Databases } from '../../operate/databases.ts'
import { prepareLocalDatabases, writeLocalConfiguration } from '../../operate/local-databases.ts'
import { checkStateFolder } from '../../operate/state-folder.ts'
import {
  describeScript,
  type Progress,
  parsed,
  portNumber,
  positiveInteger,
  startProgress,
} from '../../tools/command-line.ts'
import { ROOT, startDevelopmentServers, stateFolder } from '../../tools/wrangler.ts'
import {
  createDemoKeys,
  curlLines,
  type Demo,
  type DemoKeys,
  demoFile,
  fillDemo,
  firstCurlLines,
  loadDemo,
  saveDemo,
} from './demo.ts'
import { receiveRuns, tickEachMinute } from './local-runs.ts'
import type { DemoProvider } from './sign-in.ts'

const DEFAULT_PORT = 8787
const DEFAULT_DATABASES = 2
const HEALTH_CHECK_MS = 200
/** The databases, the service, the console and the demo. */
const STEPS = 4
const OTHER_FOLDER = '--persist-to some/dir'

/** Settings that differ from wrangler.toml on this machine, unless a `--var` flag sets them. */
const SETTINGS = { RATE_LIMIT: 'off', REQUEST_LOG: 'off', LOCAL_RECEIVERS: 'on' }

const VERBOSE = '--verbose'
const OWN = /^--(?:verbose|no-console|(?:console-port|databases|sign-in)\b.*)$/
const given = process.argv.slice(2)
/** The flags for wrangler. */
const args = given.filter((arg, index) => {
  const previous = given[index - 1] ?? ''
  const isValue = ['--console-port', '--databases'].includes(previous) || (previous === '--sign-in' && /^\d/.test(arg))
  return !OWN.test(arg) && !isValue
})
const options = parsed(
  describeScript(
    'dev',
    'Runs the service and its console on this machine. An empty database is filled with a demo workspace. Other options are passed to `wrangler dev`; `npm run wrangler -- dev --help` lists them.',
    ['', '--port 9000 --persist-to some/dir', '--var RATE_LIMIT:on --var REQUEST_LOG:on'],
  )
    .option('--port <number>', 'the port of the service', portNumber, DEFAULT_PORT)
    .option('--console-port <number>', 'the port of the console; default: the next one', portNumber)
    .option('--no-console', 'do not start the console')
    .option(
      '--sign-in [port]',
      'start an identity provider, too, with which people sign in to the console; default: the port after it',
      portNumber,
    )
    .option('--databases <number>', 'how many databases there are at least', positiveInteger, DEFAULT_DATABASES)
    .option('--persist-to <folder>', 'the state folder, created if missing; default: .wrangler/state')
    .option('--var <name:value...>', 'a setting (docs/limits.md); may be repeated')
    .option('--log-level <level>', "show wrangler's output of this level")
    .option(VERBOSE, "show wrangler's output, and one command for each of the seven core operations")
    .allowUnknownOption()
    .allowExcessArguments(),
).opts()
const target = { remote: false, persistTo: options.persistTo }
const baseUrl = `http://localhost:${options.port}`
const consolePort = options.console ? (options.consolePort ?? options.port + 1) : undefined
const consoleUrl = consolePort === undefined ? undefined : `http://localhost:${consolePort}`
/** The port of the demo's identity provider. */
const signInPort = signInPortOf(options.signIn)
const variables = options.var ?? []
const settings = Object.entries(SETTINGS)
  .map(([name, value]) => `${name}:${value}`)
  .filter((setting) => !variables.some((each) => each.startsWith(setting.replace(/:.*/, ':'))))
const receivesRuns = [...variables, ...settings].includes('LOCAL_RECEIVERS:on')
const isVerbose = options.verbose === true
/** The log of requests is at wrangler's level "log", as its tables are. */
const showsOutput = isVerbose || options.logLevel !== undefined || variables.includes('REQUEST_LOG:on')

/** Says on one line of a terminal what takes its time. The output of wrangler would mix with it. */
let progress: Progress | undefined

let hasServer = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Once there is a server, this process ends with it.
  process.on(signal, () => hasServer || process.exit(0))
}
await run()

async function run(): Promise<void> {
  const served = await servedAt(loadDemo(target))
  await checkPort(options.port, '--port', served)
  if (consolePort !== undefined) await checkPort(consolePort, '--console-port', served)
  if (signInPort !== undefined) await checkPort(signInPort, '--sign-in', served)
  checkStateFolder(target)
  if (served !== undefined) {
    throw new Error(
      `The state folder is already served at ${served}; stop that process, or name another folder: npm run dev -- ${OTHER_FOLDER}`,
    )
  }
  console.log(`Starting Workspace API with the state folder ${shown(stateFolder(target))}`)
  step('Preparing the databases')
  createSecret(join(ROOT, '.dev.vars'))
  // A configuration of the user has its own databases.
  const hasOwn = args.some((arg) => /^(--config|-c)\b/.test(arg))
  const isNew = !existsSync(localDatabaseFile(target))
  const count = await prepareLocalDatabases(target, hasOwn ? 1 : options.databases)
  const databases = await Databases.open(target)
  const demoKeys = await createDemoKeys(databases, isNew).finally(() => databases.close())
  const provider = await startSignIn(demoKeys?.organizationId ?? loadDemo(target)?.organizationId)
  await pendingSignals()
  step('Starting the service')
  hasServer = true
  startDevelopmentServers({
    args: [
      ...args,
      ...(args.some((arg) => /^--port\b/.test(arg)) ? [] : ['--port', String(DEFAULT_PORT)]),
      ...(target.persistTo === undefined ? ['--persist-to', stateFolder(target)] : []),
      ...settings.flatMap((setting) => ['--var', setting]),
      ...(consoleUrl === undefined ? [] : ['--var', `CONSOLE_URL:${consoleUrl}`]),
      // Otherwise a route in wrangler.toml would be the address that the Worker sees.
      '--local-upstream',
      `localhost:${options.port}`,
    ],
    config: writeLocalConfiguration(target, count),
    consolePort,
    consoleVariables: [
      ...(provider?.variables ?? []),
      ...[...variables, ...settings].filter((each) => /^(?:SIGN_IN_|RATE_LIMIT:)/.test(each)),
    ],
    consoleState: join(stateFolder(target), 'console'),
    url: baseUrl,
    registry: join(stateFolder(target), 'registry'),
    isVerbose: showsOutput,
  })
  await untilHealthy(`${baseUrl}/health`)
  if (consoleUrl !== undefined) {
    step('Starting the console')
    await untilHealthy(consoleUrl)
  }
  if (demoKeys) step('Filling the demo workspace')
  const demo = demoKeys ? await filledDemo(demoKeys) : loadDemo(target)
  progress?.end()
  if (demo && (demoKeys || (await isKeyValid(baseUrl, demo)))) await showDemo(demo, provider)
  else await showAddress()
  await tickEachMinute(baseUrl)
}

function step(title: string): void {
  if (!process.stderr.isTTY || showsOutput) return
  progress ??= startProgress(title, STEPS)
  progress.step(title)
  progress.add()
}

/** Saved before anything else can fail: only its file has the keys. */
async function filledDemo(keys: DemoKeys): Promise<Demo> {
  const demo = await fillDemo(baseUrl, keys).catch((error: Error) => {
    throw new Error(
      `The demo workspace is incomplete: ${error.message} To start again, delete the state folder ${shown(stateFolder(target))}.`,
    )
  })
  saveDemo(target, demo)
  return demo
}

function signInPortOf(given: number | true | undefined): number | undefined {
  if (given === undefined) return undefined
  if (consolePort === undefined) throw new Error('--sign-in needs the console; leave out --no-console.')
  return given === true ? consolePort + 1 : given
}

/** Its code is loaded only with `--sign-in`. */
async function startSignIn(organization: string | undefined) {
  if (signInPort === undefined || consoleUrl === undefined) return undefined
  const { startProvider } = await import('./sign-in.ts')
  return startProvider(signInPort, consoleUrl, organization)
}

/** Without the demo, as after a restore, only a command on the database can create an API key. */
async function showAddress(): Promise<void> {
  const organizations = await oldestOrganizations()
  print([
    'Workspace API is running. Press Ctrl-C to stop it.',
    '',
    ...(consoleUrl === undefined ? [] : [`Console     ${consoleUrl}`]),
    `Address     ${baseUrl}`,
    `Reference   ${baseUrl}/docs`,
    '',
    'The database has data, but no demo workspace with a valid API key. To create an API key of an organization:',
    ...organizations.flatMap(({ id, name }) => [
      '',
      `${printable(String(name))}:`,
      ['npm run operate -- bootstrap --organization-id', id, '--service', ...persistFlag()].join(' '),
    ]),
    '',
    'To list all organizations:',
    ['npm run operate -- organization list', ...persistFlag()].join(' '),
  ])
}

/** Up to three of each database. */
async function oldestOrganizations() {
  const databases = await Databases.open(target)
  const sql = 'SELECT "id", "name" FROM "organizations" ORDER BY "id" LIMIT 3'
  return databases.rows(sql).finally(() => databases.close())
}

async function showDemo(stored: Demo, provider: DemoProvider | undefined): Promise<void> {
  const { demo, otherReceiver } = receivesRuns ? await receiveRuns(baseUrl, stored) : { demo: stored }
  const current = { ...demo, baseUrl }
  saveDemo(target, current)
  if (provider) await (await import('./sign-in.ts')).createRules(provider, current)
  print([
    'Workspace API is running. Press Ctrl-C to stop it.',
    '',
    ...(consoleUrl === undefined ? [] : [`Console     ${consoleUrl}`]),
    `Address     ${baseUrl}`,
    `API key     ${demo.apiKey}`,
    `Lease key   ${demo.leaseKey}`,
    `Reference   ${baseUrl}/docs`,
    `Demo data   ${shown(demoFile(target))}`,
    ...(provider
      ? [`Sign-in     with ${provider.issuer}, as Ada (admin), Grace (member) or somebody without access`]
      : []),
    '',
    `Try these in a second terminal. ${whereRunsGo(otherReceiver)}`,
    '',
    ...(isVerbose ? [...curlLines(current), ''] : []),
    ...firstCurlLines(current),
  ])
}

function whereRunsGo(otherReceiver: string | undefined): string {
  if (!receivesRuns) return 'LOCAL_RECEIVERS is not "on", so runs are not received here.'
  if (otherReceiver) return `Runs go to the run endpoint that you have set: ${otherReceiver}`
  return 'The last one creates a schedule; each minute, its run is printed here.'
}

function print(lines: readonly string[]): void {
  console.log(`\n${lines.join('\n')}`)
}

function persistFlag(): string[] {
  return target.persistTo === undefined ? [] : [`--persist-to '${target.persistTo.replaceAll("'", "'\\''")}'`]
}

/** A path relative to the project, which is where npm runs scripts, if it is inside. */
function shown(path: string): string {
  const fromRoot = relative(ROOT, path)
  return fromRoot.startsWith('..') ? path : fromRoot
}

/** Waits until the signals are handled that came during synchronous work: Node polls for them once in each loop. */
async function pendingSignals(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

/**
 * @param served where another process serves the state folder: beside it, this one needs a folder of its own, too.
 * @throws if something answers at the port: requests of the demo would reach it.
 */
async function checkPort(port: number, flag: string, served: string | undefined): Promise<void> {
  if (!(await isUsed(port))) return
  const others = served === undefined ? 'port' : 'port and folder'
  const flags = [flag, await firstFreePort(), ...(served === undefined ? [] : [OTHER_FOLDER])].join(' ')
  throw new Error(
    `Port ${port} is already in use; stop the process that uses it, or name another ${others}: npm run dev -- ${flags}`,
  )
}

/** @returns a port after those of this server, which is free with the two after it: the console and `--sign-in` take them. */
async function firstFreePort(): Promise<number> {
  let first = Math.max(options.port, consolePort ?? 0, signInPort ?? 0) + 1
  for (let port = first; port < first + 3; port++) if (await isUsed(port)) first = port + 1
  return first
}

async function isUsed(port: number): Promise<boolean> {
  const socket = connect({ host: 'localhost', port })
  const isConnected = await new Promise<boolean>((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  })
  socket.destroy()
  return isConnected
}

/** @returns where another process serves the state folder: its service knows the demo's API key. */
async function servedAt(demo: Demo | undefined): Promise<string | undefined> {
  return demo && (await isKeyValid(demo.baseUrl, demo)) ? demo.baseUrl : undefined
}

/** False also if nothing answers there. A restore can revoke the key. */
async function isKeyValid(url: string, { apiKey }: Demo): Promise<boolean> {
  const headers = { Authorization: `Bearer ${apiKey}` }
  const response = await fetch(`${url}/v1/me`, { headers }).catch(() => undefined)
  return response?.ok === true
}

/** Waits without a limit: if the server cannot start, this process ends with it. */
async function untilHealthy(url: string): Promise<void> {
  let told = false
  for (;;) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
    if (response && !told) {
      const line = `The service is not ready: GET ${url} answers ${response.status}: ${await response.text()}`
      if (progress) progress.warn(line)
      else console.error(line)
      told = true
    }
    await setTimeout(HEALTH_CHECK_MS)
  }
}

/** Writes a random encryption key, unless the file exists. */
function createSecret(file: string): void {
  if (existsSync(file)) return
  writeFileSync(file, `ENCRYPTION_KEYS="dev-1:${randomBytes(32).toString('base64')}"\n`, { mode: 0o600 })
}
