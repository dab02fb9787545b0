/** The steps of a deployment, in order. Each finds out what exists already and creates what is missing. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, parse } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Unstable_Config as Configuration } from 'wrangler'
import { mintToken } from '../src/access/api-key.ts'
import { SCOPES } from '../src/access/scopes.ts'
import { isOn } from '../src/environment.ts'
import {
  addDatabases,
  callWrangler,
  type Deployment,
  getConfigFile,
  readConfiguration,
  refuseOtherWorker,
  runWrangler,
  type Target,
  writtenConfigurationOf,
} from '../tools/wrangler.ts'
import { copyBrakes } from './brakes.ts'
import { Account, type ServedVersion } from './cloudflare.ts'
import {
  databaseConfiguration,
  deployedCommandDatabase,
  deployedDatabase,
  requireDeployedDatabase,
  run,
} from './database.ts'
import { DATABASES_AT_ONCE, Databases, deployedIds, type ListedDatabase, listDatabases } from './databases.ts'
import { migrate, migrationNames } from './migrations.ts'
import { forEachAtOnce } from './objects.ts'

export const SECRET = 'ENCRYPTION_KEYS'
/** The bindings of the API Worker to the MCP Worker and to the console Worker. */
const MCP = 'MCP'
export const AUTH = 'AUTH'
export const UPLOAD = ['deploy']
const EXISTS = 'exists already'
const CREATED = 'created'
const IF_MISSING = 'created if the account has none of this name'
const HEALTH_CHECKS = 60
/** Of a Worker that served before: its address is known everywhere. */
const RECHECKS = 10
const HEALTH_CHECK_MS = 2000
const HEALTH_TIMEOUT_MS = 10_000
const SERVER_ERROR = 500

export interface Step {
  readonly title: string
  /** What a dry run prints about the step. */
  readonly lines: readonly string[]
  /** The wrangler commands that it may run. */
  readonly commands: readonly (readonly string[])[]
  /** The configuration of the commands, if it is not that of the API Worker. */
  readonly deployment?: Deployment
  /** @returns the result, for the operator to read. */
  readonly run: () => string | Promise<string>
  /** After this step or a later one failed. @returns what went back; undefined if there is nothing to go back to. */
  readonly goBack?: () => Promise<string | undefined>
}

export interface DeployOptions {
  readonly environment: string | undefined
  readonly config: string | undefined
  /** The name of the first key's organization. */
  readonly organization: string
  readonly userId: string | undefined
  /** The location of a new database and bucket. */
  readonly location: string | undefined
  /** The workers.dev subdomain of a new account. */
  readonly subdomain: string | undefined
  /** The address of the service, if the upload reports another. */
  readonly url: string | undefined
  /** A claim link is printed in place of the first key. */
  readonly claim: boolean
  /** False: without the console. */
  readonly console: boolean
}

/** What the steps share. */
export interface DeployContext {
  readonly options: DeployOptions
  readonly target: Target
  readonly config: Configuration
  readonly account: Account
  /** The MCP Worker, if the configuration binds one. */
  readonly mcp: OtherWorker | undefined
  readonly console: OtherWorker | undefined
  /** The databases beside the one that the configuration names, once they are read. */
  further: readonly ListedDatabase[]
  /** The bindings that the API Worker was uploaded without, because these Workers did not exist yet. */
  lacking?: readonly string[]
  /** The KV namespace of the console, if its configuration names none. */
  namespaceId?: string | undefined
  /** Uploaded with the code, if the Worker has no secret yet. */
  secretsFile?: string
  address?: string | undefined
  /** The versions of Workers that served before this deployment, by the names of the Workers. */
  readonly before: Map<string, readonly ServedVersion[]>
}

/** A Worker that calls the API Worker. */
interface OtherWorker {
  readonly name: string
  /** mcp/wrangler.toml or console/wrangler.toml, beside the configuration of the API Worker. */
  readonly deployment: Deployment
}

const beside = (deployment: Deployment, folder: string): Deployment => ({
  environment: deployment.environment,
  config: join(dirname(getConfigFile(deployment)), folder, 'wrangler.toml'),
})

function mcpWorkerOf(deployment: Deployment): OtherWorker | undefined {
  const { services } = readConfiguration(deployment)
  const name = services?.find(({ binding }) => binding === MCP)?.service
  return name === undefined ? undefined : { name, deployment: beside(deployment, 'mcp') }
}

/** @returns undefined without a folder `console` beside the configuration. */
function consoleWorkerOf(deployment: Deployment): OtherWorker | undefined {
  const own = beside(deployment, 'console')
  if (!existsSync(getConfigFile(own))) return undefined
  return { name: readConfiguration(own).name ?? '', deployment: own }
}

/** @param loggedIn the account, if it is logged in already. */
export function contextOf(options: DeployOptions, loggedIn?: Account): DeployContext {
  const { environment, config: file } = options
  const target = { remote: true, persistTo: undefined, environment, config: file }
  const config = readConfiguration(target)
  const accountId = config.account_id || process.env.CLOUDFLARE_ACCOUNT_ID || undefined
  const account = loggedIn ?? new Account(target, accountId)
  const console = options.console ? consoleWorkerOf(target) : undefined
  return { options, target, config, account, mcp: mcpWorkerOf(target), console, further: [], before: new Map() }
}

/** The names of the D1 databases, in order. */
export const databaseNames = ({ target, further }: DeployContext) => [
  databaseConfiguration(target).database_name ?? '',
  ...further.map(({ name }) => name ?? ''),
]

/**
 * The steps that switch a deployed Worker to the database that the configuration names now, and to further ones.
 */
export function switchStepsOf(
  options: Partial<DeployOptions> & Pick<DeployOptions, 'config' | 'url'>,
  account: Account,
  further: readonly ListedDatabase[],
): Step[] {
  const none = {
    environment: undefined,
    organization: '',
    userId: undefined,
    location: undefined,
    subdomain: undefined,
    claim: true,
    console: true,
  }
  const context = { ...contextOf({ ...none, ...options }, account), further }
  return [replication(context), upload(context), health(context)]
}

/**
 * @param isAdding one more database.
 * @throws what is wrong with the configuration.
 */
export function stepsOf(options: DeployOptions, isAdding = false): Step[] {
  const context = contextOf(options)
  const { config } = context
  return [
    check(context),
    logIn(context),
    ...(isAdding ? [newDatabase(context)] : []),
    database(context),
    replication(context),
    ...config.r2_buckets.map(({ bucket_name = '' }) => bucket(context, String(bucket_name))),
    ...queueNames(config).map((name) => queue(context, name)),
    ...(config.routes?.length ? [] : [subdomain(context)]),
    migrations(context),
    secret(context),
    takenBack(context, config.name, upload(context)),
    ...(context.mcp
      ? [takenBack(context, context.mcp.name, uploadOther(context.mcp, 'serves /mcp, through the API Worker'))]
      : []),
    ...(context.console ? consoleSteps(context, context.console) : []),
    ...(context.mcp ? [bindOthers(context)] : []),
    firstKey(context),
    health(context),
  ]
}

const CHECK = ['deploy', '--dry-run']

/** The first step: a Worker that cannot be uploaded creates no resources. */
function check({ target, mcp, console }: DeployContext): Step {
  return {
    title: 'Configuration and code',
    lines: [
      basename(getConfigFile(target)),
      ...(mcp ? ['mcp/wrangler.toml'] : []),
      ...(console ? ['console/wrangler.toml'] : []),
    ],
    commands: [CHECK],
    run: () => {
      checkDeployment(target, console !== undefined)
      return 'valid'
    },
  }
}

/** Builds the Workers without uploading them. @returns wrangler's reports. @throws what is wrong with them. */
export function checkDeployment(deployment: Deployment, hasConsole: boolean): string {
  const { name, vars } = readConfiguration(deployment)
  refuseOtherWorker(name, basename(getConfigFile(deployment)))
  if (isOn(String(vars.LOCAL_RECEIVERS))) {
    throw new Error(
      'LOCAL_RECEIVERS is "on", which allows receivers on local addresses; allowed in a deployment: "off".',
    )
  }
  const mcp = mcpWorkerOf(deployment)
  const console = hasConsole ? consoleWorkerOf(deployment) : undefined
  const bound = [mcp && { ...mcp, bindings: ['API'] }, console && { ...console, bindings: ['API', 'SIGN_IN'] }]
  const others = bound.filter((other) => other !== undefined)
  for (const { name: expected, deployment: own, bindings } of others) {
    const { name: found, services = [] } = readConfiguration(own)
    const isBound = bindings.every((each) =>
      services.some(({ binding, service }) => binding === each && service === name),
    )
    if (found === expected && isBound) continue
    throw new Error(
      `${own.config} does not match ${basename(getConfigFile(deployment))}; allowed: the name "${expected}", and ${bindings.length === 1 ? 'a binding' : 'bindings'} ${bindings.join(' and ')} of the service "${name}".`,
    )
  }
  const workers = [{ name, deployment }, ...others]
  if (workers.length === 1) return checkWorker(deployment)
  return workers.map((worker) => `Worker ${worker.name}\n${checkWorker(worker.deployment)}`).join('\n\n')
}

function checkWorker(deployment: Deployment): string {
  const { stdout, stderr } = callWrangler(CHECK, deployment)
  // wrangler only warns of unknown settings.
  if (/configuration:\s*$/m.test(stderr)) throw new Error(stderr.trim())
  return stdout.replace(/^.*(?=^Total Upload)/ms, '').replace(/\s+--dry-run: exiting now\.\s*$/, '')
}

function logIn({ account }: DeployContext): Step {
  return {
    title: 'Account',
    lines: ['the account of `npm run wrangler -- login`, or of CLOUDFLARE_API_TOKEN'],
    commands: [
      ['whoami', '--json'],
      ['auth', 'token', '--json'],
    ],
    run: () => account.logIn(),
  }
}

/**
 * A deployment never switches the Worker to another database. Only a restore does, which also revokes API
 * keys as needed.
 */
function database(context: DeployContext): Step {
  const { account, target, options } = context
  const { database_name: name = '' } = databaseConfiguration(target)
  const createCommand = (name: string) => ['d1', 'create', name, ...locationFlags(options)]
  const step = resource(`D1 database ${name}`, target, createCommand(name), () => deployedDatabase(account, target))
  return {
    ...step,
    run: async () => {
      const result = await step.run()
      if (result !== EXISTS) return result
      const { uuid } = await requireDeployedDatabase(account, target)
      context.further = (await listDatabases(deployedCommandDatabase(account, uuid))).slice(1)
      const ids = await deployedIds(account, target, context.further)
      const missing = context.further.filter(({ number }) => !ids.has(number))
      for (const { name } of missing) runWrangler(createCommand(String(name)), target)
      for (const { number, name, state } of context.further) {
        const id = ids.get(number)
        if (state === 'adding' && id !== undefined) await requireUnused(account, id, String(name))
      }
      const others = context.further.map(({ name, number }) => `, ${name} ${ids.has(number) ? EXISTS : CREATED}`)
      return `${result}${others.join('')}`
    },
  }
}

/** A database that is being added has the name of a new one. @throws if it has organizations. */
async function requireUnused(account: Account, id: string, name: string): Promise<void> {
  const [tables = []] = await account.query(id, [
    { sql: `SELECT "name" FROM sqlite_master WHERE "name" = 'organizations'` },
  ])
  if (tables.length === 0) return
  const [[row] = []] = await account.query(id, [{ sql: 'SELECT 1 FROM "organizations" LIMIT 1' }])
  if (!row) return
  throw new Error(
    `The account has a D1 database ${name} already, with organizations of another deployment. Delete it to continue: npm run wrangler -- d1 delete ${name}`,
  )
}

/** Lists a database in database 0. Until the deployment with it is healthy, it is repeated. */
function newDatabase({ account, target }: DeployContext): Step {
  return {
    title: 'New database',
    lines: ['listed in database 0, unless one is being added already'],
    commands: [],
    run: async () => {
      const current = await requireDeployedDatabase(account, target)
      const first = deployedCommandDatabase(account, current.uuid)
      const listed = await listDatabases(first)
      const adding = listed.find(({ state }) => state === 'adding')
      if (adding) return `${adding.name} is being added already`
      const number = Math.max(...listed.map((each) => each.number)) + 1
      const name = `${baseName(current.name)}-${number}`
      await migrate(first)
      await first.batch([
        {
          sql: `INSERT INTO "databases" ("number", "name", "state") VALUES (?, ?, 'adding')`,
          parameters: [number, name],
        },
      ])
      return `${name} is database ${number}`
    },
  }
}

/** The name of a database without the time that a restore adds. */
export function baseName(name: string): string {
  return name.replace(/-\d{8}t\d{6}$/, '')
}

/** A resource that one wrangler command creates. */
function resource(title: string, target: Target, create: readonly string[], find: () => Promise<unknown>): Step {
  return {
    title,
    lines: [IF_MISSING],
    commands: [create],
    run: async () => {
      if (await find()) return EXISTS
      runWrangler(create, target)
      return CREATED
    },
  }
}

export const replicationMode = ({ vars }: Configuration) => (vars.READ_REPLICATION === 'on' ? 'auto' : 'disabled')

/** Uses Cloudflare's API: wrangler has no command for read replication. */
function replication(context: DeployContext): Step {
  const { account, config } = context
  const mode = replicationMode(config)
  return {
    title: `Read replication of ${databaseNames(context).join(', ')}`,
    lines: [`READ_REPLICATION = "${config.vars.READ_REPLICATION ?? 'off'}", so replication is "${mode}"`],
    commands: [],
    run: async () => {
      const changed: string[] = []
      await forEachAtOnce(databaseNames(context), DATABASES_AT_ONCE, async (name) => {
        const { uuid, read_replication } = await account.databaseOf(name)
        if ((read_replication?.mode ?? 'disabled') === mode) return
        await account.put(`/d1/database/${uuid}`, { read_replication: { mode } })
        changed.push(name)
      })
      return changed.length > 0 ? `changed to ${mode}` : mode
    },
  }
}

function bucket({ account, target, options }: DeployContext, name: string): Step {
  const create = ['r2', 'bucket', 'create', name, ...locationFlags(options)]
  return resource(`R2 bucket ${name}`, target, create, () => account.get(`/r2/buckets/${name}`))
}

function locationFlags({ location }: DeployOptions): string[] {
  return location === undefined ? [] : ['--location', location]
}

/** The queues of producers and consumers, and dead letter queues. */
export function queueNames({ queues }: Configuration): string[] {
  const producers = queues.producers?.map(({ queue }) => queue) ?? []
  const consumers = queues.consumers?.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue]) ?? []
  return [...new Set([...producers, ...consumers])].filter((name) => typeof name === 'string')
}

function queue({ account, target }: DeployContext, name: string): Step {
  return resource(`Queue ${name}`, target, ['queues', 'create', name], async () => {
    const found = await account.get<{ queue_name: string }[]>(`/queues?${new URLSearchParams({ name })}`)
    return found?.find(({ queue_name }) => queue_name === name)
  })
}

/** An account has one workers.dev subdomain for all of its Workers. */
function subdomain({ account, config, options }: DeployContext): Step {
  const wanted = options.subdomain ?? `${config.name}-${randomBytes(3).toString('hex')}`
  return {
    title: 'Subdomain of workers.dev',
    lines: ['created if the account has none, with the name from --subdomain or a generated one'],
    commands: [],
    run: async () => {
      const found = await account.get<{ subdomain: string }>('/workers/subdomain')
      if (found) return `${found.subdomain}.workers.dev, ${EXISTS}`
      await account.put('/workers/subdomain', { subdomain: wanted })
      return `${wanted}.workers.dev, ${CREATED}`
    },
  }
}

/** The operator's copy of the encryption keys. Git ignores it. */
export function keyFileOf(target: Target): string {
  return join(dirname(getConfigFile(target)), `encryption-keys.${target.environment || 'production'}.json`)
}

function secret(context: DeployContext): Step {
  const { account, config, target } = context
  const file = keyFileOf(target)
  return {
    title: `Secret ${SECRET}`,
    lines: [`created if the Worker has none: a random key, written to ${basename(file)} and uploaded with the code`],
    commands: [],
    run: async () => {
      const found = await account.get<{ name: string }[]>(`/workers/scripts/${config.name}/secrets`)
      const left = existsSync(file)
      if (found?.some(({ name }) => name === SECRET)) {
        return left ? `${EXISTS}; ${basename(file)} is still here: move it into a password manager` : EXISTS
      }
      context.secretsFile = file
      if (left) return `from ${basename(file)}`
      await requireNothingEncrypted(context)
      // The ID is unique, so that an older key can be kept beside it.
      const keys = `key-${Date.now()}:${randomBytes(32).toString('base64')}`
      writeFileSync(file, `${JSON.stringify({ [SECRET]: keys })}\n`, { mode: 0o600, flag: 'wx' })
      const whereTo = process.env.CI
        ? 'The file ends with this build, and Cloudflare never shows a secret: to keep a copy, replace the secret before you store anything (docs/deploy.md, "Deploy without a terminal").'
        : 'Move this file into a password manager. If the key is lost, nobody can decrypt the environment variables, not even Cloudflare.'
      return `${CREATED}, in ${file}.\n${whereTo}`
    },
  }
}

/** The tables with values that only `ENCRYPTION_KEYS` decrypts. */
const ENCRYPTED = ['environmentVariables', 'runEndpoints', 'eventEndpoints']

/** @throws if stored values could not be read with a new key. */
async function requireNothingEncrypted(context: DeployContext): Promise<void> {
  const { account, target } = context
  const conditions = ENCRYPTED.map((table) => `EXISTS (SELECT 1 FROM "${table}")`)
  const sql = `SELECT 1 WHERE ${conditions.join(' OR ')}`
  await forEachAtOnce(databaseNames(context), DATABASES_AT_ONCE, async (name) => {
    const { uuid } = await account.databaseOf(name)
    const [rows = []] = await account.query(uuid, [{ sql, parameters: [] }])
    if (rows.length === 0) return
    throw new Error(
      `The Worker has no ${SECRET}, but the database ${name} has values that were encrypted with it. Put ${basename(keyFileOf(target))} back beside ${basename(getConfigFile(target))} (docs/operate.md, "ENCRYPTION_KEYS is lost").`,
    )
  })
}

/**
 * Runs before the upload. Migrations only add to the schema, so the code that is being replaced works with it.
 */
function migrations(context: DeployContext): Step {
  const { account } = context
  return {
    title: 'Migrations',
    lines: [...migrationNames(), 'applied to every database'],
    commands: [],
    run: async () => {
      const applied = new Set<string>()
      const failures: string[] = []
      await forEachAtOnce(databaseNames(context), DATABASES_AT_ONCE, async (name) => {
        try {
          const { uuid } = await account.databaseOf(name)
          for (const migration of await migrate(deployedCommandDatabase(account, uuid))) applied.add(migration)
        } catch (error) {
          failures.push(`${name}: ${(error as Error).message}`)
        }
      })
      if (failures.length > 0) {
        const databases = failures.length === 1 ? 'a database' : `${failures.length} databases`
        throw new Error(`The migrations of ${databases} failed.\n${failures.sort().join('\n')}`)
      }
      return applied.size > 0 ? 'applied' : 'up to date'
    },
  }
}

function upload(context: DeployContext): Step {
  const { config, target } = context
  const command = UPLOAD
  return {
    title: `Worker ${config.name}`,
    lines: [
      'with the secret if it was created now',
      ...(config.routes ?? []).map((route) => `route ${patternOf(route)}`),
      ...(config.triggers.crons ?? []).map((cron) => `cron trigger ${cron}`),
      ...(config.queues.consumers ?? []).map(({ queue }) => `consumer of queue ${queue}`),
      ...config.ratelimits.map(({ name, simple }) => `rate limit ${name}: ${simple.limit} in ${simple.period} s`),
      ...Object.entries(config.placement ?? {}).map(([name, value]) => `placement: ${name} ${value}`),
      ...Object.entries(config.limits ?? {}).map(([name, value]) => `limit: ${name} ${value}`),
      ...(config.assets?.directory ? [`assets from ${basename(config.assets.directory)}`] : []),
    ],
    commands: [[...command, '--secrets-file', basename(keyFileOf(target))], command],
    run: async () => {
      const { secretsFile } = context
      context.lacking = await lackingBindings(context)
      const args = [...command, ...(await consoleFlags(context))]
      const output = withConfiguration(context, (deployment) =>
        deployWorker(secretsFile ? [...args, '--secrets-file', secretsFile] : args, deployment),
      )
      context.address = addressOf(config, output)
      return `uploaded${context.address ? ` to ${context.address}` : ''}`
    },
  }
}

/** An upload that goes back if the step or a later one fails, unless the Worker is new. */
function takenBack({ account, before }: DeployContext, worker = '', step: Step): Step {
  return {
    ...step,
    run: async () => {
      const served = await account.servedVersions(worker)
      if (served) before.set(worker, served)
      return step.run()
    },
    goBack: async () => {
      const served = before.get(worker)
      if (!served || isDeepStrictEqual(await account.servedVersions(worker), served)) return undefined
      await account.serveVersions(worker, served)
      return `${worker} serves version ${served.map(({ version_id }) => version_id).join(' and ')} again`
    },
  }
}

/** Runs `wrangler deploy`. @returns wrangler's output file. */
function deployWorker(args: readonly string[], deployment: Deployment): string {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-api-deploy-'))
  const output = join(folder, 'output.ndjson')
  try {
    callWrangler(args, deployment, { WRANGLER_OUTPUT_FILE_PATH: output })
    return readFileSync(output, 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** `/console` of the API redirects to the console, whose address is known before it is uploaded. */
async function consoleFlags({ account, config, console }: DeployContext): Promise<string[]> {
  if (!console || config.vars.CONSOLE_URL !== undefined) return []
  return ['--var', `CONSOLE_URL:${await addressOfConsole(account, console)}`]
}

export async function addressOfConsole(account: Account, console: OtherWorker): Promise<string> {
  const { routes } = readConfiguration(console.deployment)
  const host = hostOf(routes) ?? `${console.name}.${await subdomainOf(account)}.workers.dev`
  return `https://${host}`
}

export async function subdomainOf(account: Account): Promise<string> {
  const found = await account.get<{ subdomain: string }>('/workers/subdomain')
  return found?.subdomain ?? ''
}

/** The bindings to Workers that do not exist, which Cloudflare refuses. */
async function lackingBindings({ account, config }: DeployContext): Promise<string[]> {
  const lacking: string[] = []
  for (const { binding, service } of config.services ?? []) {
    if (![MCP, AUTH].includes(binding)) continue
    if ((await account.get(`/workers/scripts/${service}/settings`)) === undefined) lacking.push(binding)
  }
  return lacking
}

/**
 * Does the work with the configuration of the API Worker: that of the operator, or a temporary one in the same folder, with
 * the further databases, and without the bindings to Workers that do not exist.
 */
function withConfiguration<Result>(
  { target, further, lacking = [] }: DeployContext,
  work: (deployment: Deployment) => Result,
): Result {
  if (lacking.length === 0 && further.length === 0) return work(target)
  const written = writtenConfigurationOf(target)
  addDatabases(
    written,
    target.environment,
    further.map(({ number, name }) => ({ number, name: String(name) })),
  )
  for (const each of [written, ...Object.values(written.env ?? {})]) {
    if (each.services) each.services = each.services.filter(({ binding }) => !lacking.includes(binding))
  }
  return withTemporary(target, written, work)
}

/** Does the work with a temporary configuration, in the folder of the one that it stands in for. */
function withTemporary<Result>(
  deployment: Deployment,
  written: ReturnType<typeof writtenConfigurationOf>,
  work: (deployment: Deployment) => Result,
): Result {
  const file = getConfigFile(deployment)
  const temporary = join(dirname(file), `.${parse(file).name}.generated.json`)
  writeFileSync(temporary, JSON.stringify(written))
  try {
    return work({ ...deployment, config: temporary })
  } finally {
    rmSync(temporary)
  }
}

function uploadOther({ name, deployment }: OtherWorker, purpose: string): Step {
  return {
    title: `Worker ${name}`,
    lines: [purpose],
    commands: [UPLOAD],
    deployment,
    run: () => {
      runWrangler(UPLOAD, deployment)
      return 'uploaded'
    },
  }
}

function consoleSteps(context: DeployContext, console: OtherWorker): Step[] {
  const { kv_namespaces: namespaces } = readConfiguration(console.deployment)
  const isMissing = namespaces.some(({ id }) => id === undefined)
  const upload = takenBack(context, console.name, uploadConsole(context, console))
  return [...(isMissing ? [namespace(context, console)] : []), upload]
}

/** wrangler finds a namespace by its ID only. */
function namespace(context: DeployContext, console: OtherWorker): Step {
  const title = `${console.name}-oauth`
  const find = async () => {
    const found = await context.account.get<{ id: string; title: string }[]>('/storage/kv/namespaces?per_page=1000')
    context.namespaceId = found?.find((each) => each.title === title)?.id
    return context.namespaceId
  }
  const step = resource(`KV namespace ${title}`, context.target, ['kv', 'namespace', 'create', title], find)
  return {
    ...step,
    run: async () => {
      const result = await step.run()
      if (context.namespaceId === undefined && (await find()) === undefined) {
        throw new Error(`The account does not list the namespace ${title} yet.`)
      }
      return result
    },
  }
}

function uploadConsole(context: DeployContext, console: OtherWorker): Step {
  const { routes } = readConfiguration(console.deployment)
  return {
    ...uploadOther(console, 'the console, on an address of its own'),
    run: async () => {
      const { account, config, options, namespaceId } = context
      const apiUrl = options.url ?? context.address
      const ownUrl = config.vars.CONSOLE_URL ?? (await addressOfConsole(account, console))
      const variables = [...(apiUrl === undefined ? [] : [`API_URL:${apiUrl}`]), `CONSOLE_URL:${ownUrl}`]
      const args = [...UPLOAD, ...variables.flatMap((variable) => ['--var', variable])]
      const upload = (deployment: Deployment) => deployWorker(args, deployment)
      const output =
        namespaceId === undefined
          ? upload(console.deployment)
          : withTemporary(console.deployment, withNamespace(console.deployment, namespaceId), upload)
      const address = addressOf({ routes }, output)
      return `uploaded${address ? ` to ${address}` : ''}`
    },
  }
}

function withNamespace(deployment: Deployment, id: string): ReturnType<typeof writtenConfigurationOf> {
  const written = writtenConfigurationOf(deployment)
  const place = deployment.environment ? written.env?.[deployment.environment] : written
  for (const each of place?.kv_namespaces ?? []) each.id ??= id
  return written
}

function bindOthers(context: DeployContext): Step {
  const { config } = context
  return {
    title: `Worker ${config.name} with the bindings to the other Workers`,
    lines: ['uploaded again if one of them did not exist before, because a binding needs an existing Worker'],
    commands: [UPLOAD],
    run: async () => {
      const before = context.lacking ?? []
      context.lacking = await lackingBindings(context)
      if (context.lacking.length === before.length) return 'uploaded before'
      const args = [...UPLOAD, ...(await consoleFlags(context))]
      withConfiguration(context, (deployment) => runWrangler(args, deployment))
      return 'uploaded'
    },
  }
}

/** The host of a route, or else the address in wrangler's output file, which has a line of JSON for each event. */
function addressOf({ routes }: Pick<Configuration, 'routes'>, output: string): string | undefined {
  const host = hostOf(routes)
  if (host !== undefined) return `https://${host}`
  const events: { targets?: string[] }[] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return events.flatMap(({ targets = [] }) => targets).find((each) => each.startsWith('https://'))
}

export function hostOf(routes: Configuration['routes'] = []): string | undefined {
  const hosts = routes.map((route) => patternOf(route).replace(/\/\*$/, ''))
  return hosts.find((pattern) => !pattern.includes('*'))
}

function patternOf(route: NonNullable<Configuration['routes']>[number]): string {
  return typeof route === 'string' ? route : route.pattern
}

function firstKey(context: DeployContext): Step {
  const { target, options } = context
  const { organization, userId, claim } = options
  const subject = userId === undefined ? 'no user' : `user "${userId}"`
  return {
    title: 'First key',
    lines: [
      `created if there is no organization: "${organization}", and a key that acts for ${subject}`,
      ...(claim ? ['shown by a claim link, which works once, for one hour; created again until it was used'] : []),
    ],
    commands: [],
    run: async () => {
      // Loaded on first use: Drizzle takes half a second.
      const { endClaimLinks, selectOldestOrganizations, selectUnclaimed } = await import('./provisioning.ts')
      const databases = await Databases.open(target)
      const answers = await databases.map((each) =>
        run(each, [
          { statement: selectOldestOrganizations, values: {} },
          { statement: selectUnclaimed, values: {} },
        ]),
      )
      const existing = answers.flatMap(([organizations = []]) => organizations)
      const unclaimed = answers.flatMap(([, unclaimed = []]) => unclaimed)
      if (existing.length > 1 || unclaimed.length < existing.length) return 'skipped: an organization exists'
      const [found] = unclaimed
      if (found) {
        const values = { organizationId: String(found.id), now: new Date().toISOString() }
        await databases.map((each) => run(each, [{ statement: endClaimLinks, values }]))
      }
      const { createKey } = await import('./first-key.ts')
      const { apiKey, claimLink, ...created } = await createKey(databases, {
        organization: found ? { id: String(found.id) } : { name: organization },
        userId,
        scopes: SCOPES,
        claimAt: claim ? addressOfService(context) : undefined,
      })
      if (claimLink === undefined) {
        return `${CREATED}; the API key is shown only this once\n${JSON.stringify({ ...created, apiKey })}`
      }
      return `open this link within one hour; it shows the API key once\n${JSON.stringify({ ...created, claimLink })}`
    },
  }
}

/** @throws if no address is known. */
function addressOfService({ options, address }: DeployContext): string {
  const found = (options.url ?? address)?.replace(/\/+$/, '')
  if (found) return found
  throw new Error('The upload reported no address. Pass the address of the service with --url.')
}

function health(context: DeployContext): Step {
  return {
    title: 'Health',
    lines: [
      'waits until GET /health answers 200, at the address of --url or of the upload, and asks the other Workers',
      'if one fails that served before, all go back to the code that served before',
    ],
    commands: [],
    run: async () => {
      const address = addressOfService(context)
      const { name = '' } = context.config
      await untilHealthy(`${address}/health`, context.further.length + 1, {
        checks: context.before.has(name) ? RECHECKS : HEALTH_CHECKS,
        headers: await versionHeader(context.account, name),
      })
      const others = await askOthers(context)
      await openAdded(context)
      return `${[`${address} is healthy`, ...others].join('; ')}\n\n    curl ${address}/v1/me -H "Authorization: Bearer $WORKSPACE_API_KEY"\n`
    },
  }
}

/** Asks the version that was uploaded now. Without it in the deployment, Cloudflare ignores the header. */
async function versionHeader(account: Account, worker: string): Promise<Record<string, string>> {
  const newest = (await account.servedVersions(worker))?.[0]
  return newest ? { 'Cloudflare-Workers-Version-Overrides': `${worker}="${newest.version_id}"` } : {}
}

/**
 * Asks the other Workers, if they served before: the address of a new one may be unknown for some minutes.
 * @returns a line for each. @throws if one fails.
 */
async function askOthers(context: DeployContext): Promise<string[]> {
  const { account, config, before, mcp, console } = context
  const lines: string[] = []
  if (mcp && before.has(mcp.name)) {
    // The API forwards nothing that has no well-formed key. This one is nobody's.
    const { tokenIn } = await mintToken()
    const headers = { Authorization: `Bearer ${tokenIn(0)}`, 'Content-Type': 'application/json' }
    lines.push(await withoutFailure(`${addressOfService(context)}/mcp`, { method: 'POST', headers, body: '{}' }))
  }
  if (console && before.has(console.name)) {
    const address = config.vars.CONSOLE_URL ?? (await addressOfConsole(account, console))
    const headers = await versionHeader(account, console.name)
    lines.push(await withoutFailure(`${address}/.well-known/oauth-authorization-server`, { headers }))
  }
  return lines
}

/** @throws if the Worker fails. An address that cannot be reached from here says nothing about it. */
async function withoutFailure(url: string, request: RequestInit): Promise<string> {
  let last = ''
  for (let check = 0; check < RECHECKS; check++) {
    if (check > 0) await setTimeout(HEALTH_CHECK_MS)
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) }).catch(
      (error: Error) => error,
    )
    if (response instanceof Error) return `${url} cannot be reached from here, and was not checked`
    if (response.status < SERVER_ERROR) return `${url} answers`
    last = `${response.status} ${await response.text()}`
  }
  throw new Error(`${url} fails: ${last}`)
}

/** A database that was added gets new organizations from now on, and stops what the others stop. */
async function openAdded({ account, target, further }: DeployContext): Promise<void> {
  const adding = further.filter(({ state }) => state === 'adding')
  if (adding.length === 0) return
  const { uuid } = await requireDeployedDatabase(account, target)
  const first = deployedCommandDatabase(account, uuid)
  for (const { name } of adding) {
    const added = await account.databaseOf(String(name))
    await copyBrakes(first, deployedCommandDatabase(account, added.uuid))
  }
  await account.query(uuid, [{ sql: `UPDATE "databases" SET "state" = 'open' WHERE "state" = 'adding'` }])
}

/**
 * @param databases how many the service has to have: an instance with the earlier code may answer.
 * @throws if the service is not healthy within the time that a new address takes to be known.
 */
async function untilHealthy(
  url: string,
  databases: number,
  { checks, headers }: { readonly checks: number; readonly headers: Record<string, string> },
): Promise<void> {
  let last = ''
  for (let check = 0; check < checks; check++) {
    if (check > 0) await setTimeout(HEALTH_CHECK_MS)
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
      const text = await response.text()
      if (response.ok && (databases === 1 || JSON.parse(text).databases === databases)) return
      last = `${response.status} ${text}`
    } catch (error) {
      last = String((error as Error).cause ?? error)
    }
  }
  throw new Error(`${url} is not healthy: ${last}\nA new address can take some minutes to work everywhere.`)
}

/** Runs the steps and prints the result of each. @throws which step failed, and why. */
export async function runSteps(steps: readonly Step[]): Promise<void> {
  for (const [index, { title, run }] of steps.entries()) {
    const heading = `${index + 1}/${steps.length} ${title}`
    try {
      console.log(`${heading}: ${await run()}`)
    } catch (error) {
      const failed = `${heading}: failed\n\n${messageOf(error)}\n\n`
      const back = await goBack(steps.slice(0, index + 1))
      if (back.length > 0) throw new Error(`${failed}${back.join('\n')}\n\n${STAYS}`)
      throw new Error(`${failed}The steps before this one are done. To continue from here, run the same command again.`)
    }
  }
}

const STAYS =
  'What these steps changed otherwise stays, and the code before works with it: the schema, secrets, queues and their consumers, cron triggers. Once the cause is gone, run the same command again.'

/** Takes back what was uploaded, the last first. @returns a line for each Worker. */
async function goBack(steps: readonly Step[]): Promise<string[]> {
  const lines: string[] = []
  for (const step of steps.toReversed()) {
    const line = await step
      .goBack?.()
      .catch((error: Error) => `${step.title} could not go back (${error.message}): npm run wrangler -- rollback`)
    if (line !== undefined) lines.push(line)
  }
  return lines
}

/** The message of the error and of its causes. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n\n${messageOf(error.cause)}`
}
