/** The steps of a deployment, in order: what each is about, what it runs, and how it tells what is there already. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Unstable_Config as Configuration } from 'wrangler'
import { selectAnyOrganization } from '../src/access/provisioning.ts'
import { SCOPES } from '../src/access/scopes.ts'
import { isOn } from '../src/environment.ts'
import { Account } from './cloudflare.ts'
import { databaseConfiguration, deployedDatabase, execute } from './database.ts'
import { makeKey } from './first-key.ts'
import {
  applyMigrations,
  callWrangler,
  configFileOf,
  configurationOf,
  type Deployment,
  runWrangler,
  type Target,
} from './wrangler.ts'

const SECRET = 'ENCRYPTION_KEYS'
const THERE = 'there already'
const MADE = 'made'
const IF_MISSING = 'if there is none of this name in the account'
const HEALTH_CHECKS = 60
const HEALTH_CHECK_MS = 2000
const HEALTH_TIMEOUT_MS = 10_000

export interface Step {
  readonly title: string
  /** What it is about, a line each. */
  readonly lines: readonly string[]
  /** What it runs of wrangler, as far as that is needed. */
  readonly commands: readonly (readonly string[])[]
  /** @returns what came of it. */
  readonly run: () => string | Promise<string>
}

export interface Wishes {
  readonly environment: string | undefined
  readonly config: string | undefined
  /** Of the first key. */
  readonly organization: string
  readonly userId: string | undefined
  /** Where a new database and a new bucket are. */
  readonly location: string | undefined
  /** A new account's name below workers.dev. */
  readonly subdomain: string | undefined
  /** Where the service answers, if not where the upload says. */
  readonly url: string | undefined
}

/** What the steps know of each other. */
interface Deploying {
  readonly wishes: Wishes
  readonly target: Target
  readonly config: Configuration
  readonly account: Account
  /** Uploaded with the code, if the Worker has no secret yet. */
  secretsFile?: string
  address?: string | undefined
}

function deployingOf(wishes: Wishes): Deploying {
  const { environment, config: file } = wishes
  const target = { remote: true, persistTo: undefined, environment, config: file }
  const config = configurationOf(target)
  const account = new Account(target, config.account_id || process.env.CLOUDFLARE_ACCOUNT_ID || undefined)
  return { wishes, target, config, account }
}

const databaseNames = ({ config }: Deploying) =>
  config.d1_databases.map(({ database_name = '' }) => database_name)

/** The steps that put a Worker that is deployed onto the database that the configuration names now. */
export function switchStepsOf(wishes: Partial<Wishes> & Pick<Wishes, 'config' | 'url'>): Step[] {
  const none = {
    environment: undefined,
    organization: '',
    userId: undefined,
    location: undefined,
    subdomain: undefined,
  }
  const deploying = deployingOf({ ...none, ...wishes })
  deploying.account.logIn()
  return [
    ...databaseNames(deploying).map((name) => replication(deploying, name)),
    upload(deploying),
    health(deploying),
  ]
}

/** @throws what is wrong with the configuration. */
export function stepsOf(wishes: Wishes): Step[] {
  const deploying = deployingOf(wishes)
  const { config } = deploying
  const databases = databaseNames(deploying)
  return [
    check(deploying),
    logIn(deploying),
    ...databases.map((name) => database(deploying, name)),
    ...databases.map((name) => replication(deploying, name)),
    ...config.r2_buckets.map(({ bucket_name = '' }) => bucket(deploying, String(bucket_name))),
    ...queueNames(config).map((name) => queue(deploying, name)),
    ...(config.routes?.length ? [] : [subdomain(deploying)]),
    secret(deploying),
    migrations(deploying),
    upload(deploying),
    firstKey(deploying),
    health(deploying),
  ]
}

const CHECK = ['deploy', '--dry-run', '--minify']

/** Comes first, so that nothing is made for what can't be uploaded. */
function check({ target }: Deploying): Step {
  return {
    title: 'Configuration and code',
    lines: [basename(configFileOf(target))],
    commands: [CHECK],
    run: () => {
      checkDeployment(target)
      return 'valid'
    },
  }
}

/** Builds the Worker, and changes nothing. @returns what it would be. @throws what is wrong with it. */
export function checkDeployment(deployment: Deployment): string {
  if (isOn(String(configurationOf(deployment).vars.LOCAL_RUN_ENDPOINTS))) {
    throw new Error(
      'LOCAL_RUN_ENDPOINTS is "on", which lets a run endpoint be an address of the machine that delivers; allowed in a deployment: "off".',
    )
  }
  const { stdout, stderr } = callWrangler(CHECK, deployment)
  // Of a setting that it does not know, wrangler only warns.
  if (/configuration:\s*$/m.test(stderr)) throw new Error(stderr.trim())
  return stdout.replace(/^.*(?=^Total Upload)/ms, '').replace(/\s+--dry-run: exiting now\.\s*$/, '')
}

function logIn({ account }: Deploying): Step {
  return {
    title: 'Account',
    lines: ['who is logged in: by `npm run wrangler -- login`, or CLOUDFLARE_API_TOKEN'],
    commands: [
      ['whoami', '--json'],
      ['auth', 'token', '--json'],
    ],
    run: () => account.logIn(),
  }
}

/** A deployment never exchanges the database of a Worker: that is for a restore, which sees to the keys. */
function database({ account, target, wishes }: Deploying, name: string): Step {
  const create = ['d1', 'create', name, ...located(wishes)]
  return resource(`D1 database ${name}`, target, create, () =>
    name === databaseConfiguration(target).database_name
      ? deployedDatabase(account, target)
      : account.get(`/d1/database/${name}`),
  )
}

/** What is made by one command, if it is not found. */
function resource(
  title: string,
  target: Target,
  create: readonly string[],
  find: () => Promise<unknown>,
): Step {
  return {
    title,
    lines: [IF_MISSING],
    commands: [create],
    run: async () => {
      if (await find()) return THERE
      runWrangler(create, target)
      return MADE
    },
  }
}

/** Wrangler has no command for it. */
function replication({ account, config }: Deploying, name: string): Step {
  const mode = config.vars.READ_REPLICATION === 'on' ? 'auto' : 'disabled'
  return {
    title: `Read replication of ${name}`,
    lines: [`READ_REPLICATION = "${config.vars.READ_REPLICATION ?? 'off'}", so the database's is "${mode}"`],
    commands: [],
    run: async () => {
      const { uuid, read_replication } = await account.databaseOf(name)
      if ((read_replication?.mode ?? 'disabled') === mode) return mode
      await account.put(`/d1/database/${uuid}`, { read_replication: { mode } })
      return `${mode} from now on`
    },
  }
}

function bucket({ account, target, wishes }: Deploying, name: string): Step {
  const create = ['r2', 'bucket', 'create', name, ...located(wishes)]
  return resource(`R2 bucket ${name}`, target, create, () => account.get(`/r2/buckets/${name}`))
}

function located({ location }: Wishes): string[] {
  return location === undefined ? [] : ['--location', location]
}

/** Those that are sent to, received from, and for what could not be delivered. */
function queueNames({ queues }: Configuration): string[] {
  const producers = queues.producers?.map(({ queue }) => queue) ?? []
  const consumers =
    queues.consumers?.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue]) ?? []
  return [...new Set([...producers, ...consumers])].filter((name) => typeof name === 'string')
}

function queue({ account, target }: Deploying, name: string): Step {
  return resource(`Queue ${name}`, target, ['queues', 'create', name], async () => {
    const found = await account.get<{ queue_name: string }[]>(`/queues?${new URLSearchParams({ name })}`)
    return found?.find(({ queue_name }) => queue_name === name)
  })
}

/** An account has one for all of its Workers, once it is registered. */
function subdomain({ account, config, wishes }: Deploying): Step {
  const wanted = wishes.subdomain ?? `${config.name}-${randomBytes(3).toString('hex')}`
  return {
    title: 'Name below workers.dev',
    lines: ['if the account has none yet: the one of --subdomain, or else one is made up'],
    commands: [],
    run: async () => {
      const found = await account.get<{ subdomain: string }>('/workers/subdomain')
      if (found) return `${found.subdomain}.workers.dev, ${THERE}`
      await account.put('/workers/subdomain', { subdomain: wanted })
      return `${wanted}.workers.dev, ${MADE}`
    },
  }
}

/** The operator's copy of the secret. Git ignores it. */
function keyFileOf(target: Target): string {
  return join(dirname(configFileOf(target)), `encryption-keys.${target.environment || 'production'}.json`)
}

function secret(deploying: Deploying): Step {
  const { account, config, target } = deploying
  const file = keyFileOf(target)
  return {
    title: `Secret ${SECRET}`,
    lines: [`if the Worker has none yet: a random key, in ${basename(file)} and uploaded with the code`],
    commands: [],
    run: async () => {
      const found = await account.get<{ name: string }[]>(`/workers/scripts/${config.name}/secrets`)
      const left = existsSync(file)
      if (found?.some(({ name }) => name === SECRET)) {
        return left ? `${THERE}; ${basename(file)} belongs in a password manager, not here` : THERE
      }
      deploying.secretsFile = file
      if (left) return `from ${basename(file)}`
      // Each key has an id of its own, so that an older one can be put beside it.
      const keys = `key-${Date.now()}:${randomBytes(32).toString('base64')}`
      writeFileSync(file, `${JSON.stringify({ [SECRET]: keys })}\n`, { mode: 0o600, flag: 'wx' })
      return `${MADE}, in ${file}.
Without it nobody can read the environment variables again, not even Cloudflare. Move it into a password manager.`
    },
  }
}

/** Before the code: all since 0002 only add, so the code that is being replaced works on the new schema. */
function migrations({ config, target }: Deploying): Step {
  const folder = config.d1_databases.find(({ binding }) => binding === 'DB')?.migrations_dir ?? 'migrations'
  const files = readdirSync(join(dirname(configFileOf(target)), folder)).filter((file) =>
    file.endsWith('.sql'),
  )
  return {
    title: 'Migrations',
    lines: files.sort(),
    commands: [['d1', 'migrations', 'apply', 'DB', '--remote']],
    run: () => {
      const printed = applyMigrations(target)
      return printed.includes('No migrations to apply') ? 'none is new' : 'applied'
    },
  }
}

function upload(deploying: Deploying): Step {
  const { config, target } = deploying
  const command = ['deploy', '--minify']
  return {
    title: `Worker ${config.name}`,
    lines: [
      'the first time with the secret, then without',
      ...(config.routes ?? []).map((route) => `route ${patternOf(route)}`),
      ...(config.triggers.crons ?? []).map((cron) => `cron trigger ${cron}`),
      ...(config.queues.consumers ?? []).map(({ queue }) => `consumer of queue ${queue}`),
      ...config.ratelimits.map(({ name, simple }) => `${name}: ${simple.limit} in ${simple.period} s`),
      ...Object.entries(config.placement ?? {}).map(([name, value]) => `placement: ${name} ${value}`),
      ...Object.entries(config.limits ?? {}).map(([name, value]) => `limit: ${name} ${value}`),
      ...(config.assets?.directory ? [`assets of ${basename(config.assets.directory)}`] : []),
    ],
    commands: [[...command, '--secrets-file', basename(keyFileOf(target))], command],
    run: () => {
      const folder = mkdtempSync(join(tmpdir(), 'workspace-api-deploy-'))
      const output = join(folder, 'output.ndjson')
      try {
        const { secretsFile } = deploying
        const args = secretsFile ? [...command, '--secrets-file', secretsFile] : command
        callWrangler(args, target, { WRANGLER_OUTPUT_FILE_PATH: output })
        deploying.address = addressOf(config, readFileSync(output, 'utf8'))
        return `uploaded${deploying.address ? ` to ${deploying.address}` : ''}`
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  }
}

/** A route of the configuration, or what the upload wrote down: a line of JSON for each event. */
function addressOf({ routes = [] }: Configuration, output: string): string | undefined {
  const hosts = routes.map((route) => patternOf(route).replace(/\/\*$/, ''))
  const host = hosts.find((pattern) => !pattern.includes('*'))
  if (host !== undefined) return `https://${host}`
  const events: { targets?: string[] }[] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return events.flatMap(({ targets = [] }) => targets).find((each) => each.startsWith('https://'))
}

function patternOf(route: NonNullable<Configuration['routes']>[number]): string {
  return typeof route === 'string' ? route : route.pattern
}

function firstKey({ target, wishes }: Deploying): Step {
  const { organization, userId } = wishes
  const whose = userId === undefined ? 'that acts for no user' : `of user "${userId}"`
  return {
    title: 'First key',
    lines: [
      `if there is no organization yet: "${organization}", and a key ${whose}, as by \`npm run bootstrap\``,
    ],
    commands: [],
    run: async () => {
      const [found] = await execute(target, [{ statement: selectAnyOrganization, values: {} }])
      if (found && found.length > 0) return 'none made, as there is an organization'
      const made = await makeKey(target, { organization: { name: organization }, userId, scopes: SCOPES })
      return `${MADE}, and shown only here\n${JSON.stringify(made)}`
    },
  }
}

function health(deploying: Deploying): Step {
  return {
    title: 'Health',
    lines: ['GET /health of where it was uploaded to, or of --url'],
    commands: [],
    run: async () => {
      const address = deploying.wishes.url?.replace(/\/+$/, '') ?? deploying.address
      if (!address) throw new Error('Give --url: the upload did not say where the service answers.')
      await untilHealthy(`${address}/health`)
      return `${address} is well\n\n    curl ${address}/v1/me -H "Authorization: Bearer $API_KEY"\n`
    },
  }
}

/** @throws if it is not for longer than a new address takes. */
async function untilHealthy(url: string): Promise<void> {
  let last = ''
  for (let check = 0; check < HEALTH_CHECKS; check++) {
    if (check > 0) await setTimeout(HEALTH_CHECK_MS)
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
      if (response.ok) return
      last = `${response.status} ${await response.text()}`
    } catch (error) {
      last = String((error as Error).cause ?? error)
    }
  }
  throw new Error(
    `${url} is not healthy: ${last}\nA new address can take some minutes until it is known everywhere.`,
  )
}
