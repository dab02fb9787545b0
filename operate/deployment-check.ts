/**
 * `npm run deploy -- --check`: compares an account with the configuration and changes nothing (docs/deploy.md, "Check a
 * deployment").
 */
import { globSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Unstable_Config as Configuration } from 'wrangler'
import { bindingOf } from '../src/db/database.ts'
import { temporaryFolder } from '../tools/command-line.ts'
import { type Deployment, getConfigFile, ROOT, readConfiguration, runWrangler } from '../tools/wrangler.ts'
import { databaseConfiguration, deployedCommandDatabase, requireDeployedDatabase } from './database.ts'
import { deployedIds, listDatabases } from './databases.ts'
import {
  AUTH,
  addressOfConsole,
  contextOf,
  type DeployContext,
  type DeployOptions,
  databaseNames,
  hostOf,
  keyFileOf,
  queueNames,
  replicationMode,
  SECRET,
  subdomainOf,
  UPLOAD,
} from './deploy-steps.ts'
import { describeDifferences, migrationNames, readMigrations } from './migrations.ts'

const DEPLOY = 'Run npm run deploy.'
const TIMEOUT_MS = 10_000

/** One thing that a deployment has. */
interface Check {
  readonly title: string
  /** @returns what differs and what to do; undefined if nothing does. */
  readonly find: () => Promise<string | undefined>
}

/** A Worker of the deployment, and what it should have. */
interface ExpectedWorker {
  readonly name: string
  readonly deployment: Deployment
  readonly config: Configuration
  readonly bindings: readonly Binding[]
  readonly secrets: readonly string[]
}

/** What Cloudflare's API says of a binding. */
interface Binding {
  readonly type: string
  readonly name: string
  readonly [field: string]: unknown
}

interface Consumer {
  /** The Worker. */
  readonly script?: string
  readonly script_name?: string
  readonly dead_letter_queue?: string
  readonly settings?: Readonly<Record<string, number | null>>
}

type ConfiguredConsumer = NonNullable<Configuration['queues']['consumers']>[number]

/** The settings of a Worker that Cloudflare's API has under the names of the configuration. */
const SETTINGS = ['compatibility_date', 'compatibility_flags', 'limits', 'placement', 'observability'] as const

const NOT_COMPARED =
  'This check does not compare the values of secrets, static files, routes, and what the configuration leaves to the defaults of Cloudflare.'

/** Prints a line for each thing. @returns how many differ. */
export async function checkAccount(options: DeployOptions): Promise<number> {
  const context = contextOf(options)
  console.log(`Account: ${context.account.logIn()}`)
  let differences = 0
  for (const { title, find } of await checksOf(context)) {
    const difference = await find().catch((error: Error) => `could not be checked: ${error.message}`)
    if (difference !== undefined) differences++
    console.log(`${title}: ${difference ?? 'as configured'}`)
  }
  console.log(NOT_COMPARED)
  return differences
}

async function checksOf(context: DeployContext): Promise<Check[]> {
  const { config, account } = context
  const address = await findAddress(context)
  const api: ExpectedWorker = {
    name: config.name ?? '',
    deployment: context.target,
    config,
    bindings: [
      // Without a console, the API Worker is not bound to one.
      ...bindingsOf(config).filter(({ name }) => context.console !== undefined || name !== AUTH),
      ...(context.console && config.vars.CONSOLE_URL === undefined
        ? [{ type: 'plain_text', name: 'CONSOLE_URL', text: await addressOfConsole(account, context.console) }]
        : []),
    ],
    secrets: [SECRET],
  }
  const others = [context.mcp, context.console].flatMap((other) => {
    if (!other) return []
    const own = readConfiguration(other.deployment)
    return [{ ...other, config: own, bindings: bindingsOf(own), secrets: signInSecretsOf(own) }]
  })
  const workers = [api, ...others]
  return [
    ...(await databaseChecks(context)),
    ...config.r2_buckets.map(({ bucket_name: name }) => ({
      title: `R2 bucket ${String(name)}`,
      find: async () => missingUnless(await account.get(`/r2/buckets/${String(name)}`)),
    })),
    ...queueNames(config).map((name) => queueCheck(context, name)),
    ...workers.flatMap((worker) => workerChecks(context, worker)),
    { title: 'Health', find: () => findIllness(address, databaseNames(context).length) },
    { title: 'Version of the code', find: () => findOtherVersion(address) },
  ]
}

const missingUnless = (found: unknown) => (found ? undefined : `missing. ${DEPLOY}`)

/** The databases that database 0 lists are known once it is found. */
async function databaseChecks(context: DeployContext): Promise<Check[]> {
  const { account, target, config } = context
  try {
    const { uuid } = await requireDeployedDatabase(account, target)
    context.further = (await listDatabases(deployedCommandDatabase(account, uuid))).slice(1)
    await deployedIds(account, target, context.further)
  } catch (error) {
    const title = `D1 database ${databaseConfiguration(target).database_name}`
    return [{ title, find: async () => (error as Error).message }]
  }
  const mode = replicationMode(config)
  return databaseNames(context).flatMap((name) => [
    { title: `D1 database ${name}`, find: async () => missingUnless(await account.databaseOf(name)) },
    {
      title: `Read replication of ${name}`,
      find: async () => {
        const found = (await account.databaseOf(name)).read_replication?.mode ?? 'disabled'
        return found === mode ? undefined : `is ${found}, and the configuration says ${mode}. ${DEPLOY}`
      },
    },
    {
      title: `Migrations of ${name}`,
      find: async () => {
        const { uuid } = await account.databaseOf(name)
        const { applied = [], differences } = await readMigrations(deployedCommandDatabase(account, uuid))
        if (differences.length > 0) return describeDifferences(differences)
        const missing = migrationNames().filter((each) => !applied.includes(each))
        return missing.length > 0 ? `missing: ${missing.join(', ')}. ${DEPLOY}` : undefined
      },
    },
  ])
}

function queueCheck({ account, config }: DeployContext, name: string): Check {
  const expected = config.queues.consumers?.find(({ queue }) => queue === name)
  return {
    title: `Queue ${name}`,
    find: async () => {
      const queues = await account.get<{ queue_name: string; consumers?: Consumer[] }[]>(
        `/queues?${new URLSearchParams({ name })}`,
      )
      const found = queues?.find(({ queue_name }) => queue_name === name)
      if (!found) return `missing. ${DEPLOY}`
      if (!expected) return undefined
      const consumer = found.consumers?.find(({ script, script_name }) => (script ?? script_name) === config.name)
      if (!consumer) return `its consumer ${config.name} is missing. ${DEPLOY}`
      const differing = settingsOf(expected, consumer).filter(([, is, should]) => is !== should)
      if (differing.length === 0) return undefined
      const list = differing.map(([setting, is = 'none', should]) => `${setting} ${is} instead of ${should}`)
      return `its consumer has ${list.join(', ')}. ${DEPLOY}`
    },
  }
}

/** The settings of a consumer that are configured, each with its value and the configured one. */
function settingsOf(expected: ConfiguredConsumer, { dead_letter_queue: deadLetters, settings = {} }: Consumer) {
  const { max_batch_timeout: seconds } = expected
  const numbers = [
    ['max_batch_size', settings.batch_size, expected.max_batch_size],
    ['max_batch_timeout', settings.max_wait_time_ms && settings.max_wait_time_ms / 1000, seconds],
    ['max_retries', settings.max_retries, expected.max_retries],
    ['retry_delay', settings.retry_delay, expected.retry_delay],
    ['max_concurrency', settings.max_concurrency, expected.max_concurrency],
  ] as const
  return [
    ['dead_letter_queue', deadLetters || 'none', expected.dead_letter_queue ?? 'none'] as const,
    ...numbers.filter(([, , should]) => should != null),
  ]
}

function workerChecks(context: DeployContext, worker: ExpectedWorker): Check[] {
  const { account } = context
  const { name, deployment, config, bindings, secrets } = worker
  const path = `/workers/scripts/${name}`
  const crons = config.triggers.crons ?? []
  return [
    {
      title: `Worker ${name}`,
      find: async () => {
        const settings = await account.get<{ bindings?: Binding[]; [setting: string]: unknown }>(`${path}/settings`)
        if (!settings) return `missing. ${DEPLOY}`
        const all = [...bindings, ...(config === context.config ? furtherBindings(context) : [])]
        const differing = [
          ...SETTINGS.filter((each) => config[each] !== undefined && !isSame(settings[each], config[each])),
          ...all.filter((each) => !settings.bindings?.some((found) => isSame(found, each))).map((each) => each.name),
        ]
        if (differing.length === 0) return undefined
        return `these settings and bindings are missing or have another value: ${differing.join(', ')}. ${DEPLOY}`
      },
    },
    {
      title: `Deployed version of ${name}`,
      find: async () => {
        const versions = (await account.servedVersions(name)) ?? []
        if (versions.length === 0) return `missing. ${DEPLOY}`
        return versions.length === 1 ? undefined : `${versions.length} versions share the requests. ${DEPLOY}`
      },
    },
    {
      title: `Code of ${name}`,
      find: async () => {
        const found = await account.modules(name)
        if (!found) return `missing. ${DEPLOY}`
        const modules = builtModules(deployment)
        const isCurrent = modules.length > 0 && modules.every((module) => found.includes(module))
        return isCurrent ? undefined : `is not the code of this folder. ${DEPLOY}`
      },
    },
    ...secrets.map((secret) => ({
      title: `Secret ${secret} of ${name}`,
      find: async () => {
        const found = await account.get<{ name: string }[]>(`${path}/secrets`)
        if (found?.some((each) => each.name === secret)) return undefined
        return secret === SECRET
          ? `missing. If this deployment had one, put ${basename(keyFileOf(context.target))} back beside the configuration: values that it sealed are lost without it. ${DEPLOY}`
          : `missing. Run npm run wrangler -- secret put ${secret} with the configuration of ${name} (docs/sign-in.md).`
      },
    })),
    ...(crons.length === 0
      ? []
      : [
          {
            title: `Cron Triggers of ${name}`,
            find: async () => {
              const { schedules = [] } =
                (await account.get<{ schedules: { cron: string }[] }>(`${path}/schedules`)) ?? {}
              const found = schedules.map(({ cron }) => cron)
              const missing = crons.filter((cron) => !found.includes(cron))
              const others = found.filter((cron) => !crons.includes(cron))
              if (missing.length > 0) return `missing: ${missing.join(', ')}. ${DEPLOY}`
              return others.length > 0 ? `not in the configuration: ${others.join(', ')}. ${DEPLOY}` : undefined
            },
          },
        ]),
  ]
}

/** The modules that a deployment uploads. */
function builtModules(deployment: Deployment): string[] {
  // In the project, because wrangler looks for its output relative to the project, through links.
  const place = join(realpathSync(dirname(getConfigFile(deployment))), '.wrangler')
  mkdirSync(place, { recursive: true })
  const folder = temporaryFolder(join(place, 'check-'))
  runWrangler([...UPLOAD, '--dry-run', '--outdir', folder], deployment)
  return globSync('*.{js,mjs}', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'))
}

/** The bindings that a configuration names, as far as it says what they are. */
function bindingsOf(config: Configuration): Binding[] {
  const { vars, d1_databases, r2_buckets, services = [], queues, kv_namespaces, ratelimits, assets } = config
  return [
    ...Object.entries(vars).map(([name, value]) =>
      typeof value === 'string' ? { type: 'plain_text', name, text: value } : { type: 'json', name, json: value },
    ),
    ...d1_databases.map(({ binding }) => ({ type: 'd1', name: binding })),
    ...r2_buckets.map(({ binding, bucket_name }) => ({ type: 'r2_bucket', name: binding, bucket_name })),
    ...services.map(({ binding, service, entrypoint }) => ({
      type: 'service',
      name: binding,
      service,
      ...(entrypoint !== undefined && { entrypoint }),
    })),
    ...(queues.producers ?? []).map(({ binding, queue }) => ({ type: 'queue', name: binding, queue_name: queue })),
    ...kv_namespaces.map(({ binding }) => ({ type: 'kv_namespace', name: binding })),
    ...ratelimits.map(({ name, namespace_id, simple }) => ({ type: 'ratelimit', name, namespace_id, simple })),
    ...(assets?.binding ? [{ type: 'assets', name: assets.binding }] : []),
  ]
}

const furtherBindings = ({ further }: DeployContext): Binding[] =>
  further.map(({ number }) => ({ type: 'd1', name: bindingOf(number) }))

/** Cloudflare may describe more than the configuration does, and lists in another order. */
const isSame = (found: unknown, expected: unknown): boolean =>
  Array.isArray(expected)
    ? Array.isArray(found) &&
      expected.length === found.length &&
      expected.every((each) => found.some((other) => isSame(other, each)))
    : typeof expected === 'object' && expected !== null && typeof found === 'object' && found !== null
      ? Object.entries(expected).every(([field, value]) => isSame((found as Record<string, unknown>)[field], value))
      : found === expected

/** The secrets of the identity providers of the console. */
function signInSecretsOf({ vars }: Configuration): string[] {
  const { SIGN_IN_PROVIDERS: providers = [] } = vars as { SIGN_IN_PROVIDERS?: readonly { id: string }[] }
  return providers.map(({ id }) => `SIGN_IN_SECRET_${id.toUpperCase().replaceAll('-', '_')}`)
}

async function findAddress({ options, account, config }: DeployContext): Promise<string> {
  const host = hostOf(config.routes) ?? `${config.name}.${await subdomainOf(account)}.workers.dev`
  return options.url?.replace(/\/+$/, '') ?? `https://${host}`
}

/** @param databases how many the service has to have. */
async function findIllness(address: string, databases: number): Promise<string | undefined> {
  const url = `${address}/health`
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const text = await response.text()
  if (!response.ok) return `${url} answered ${response.status} ${text}`
  const found: number = JSON.parse(text).databases ?? 1
  return found === databases ? undefined : `the service has ${found} databases instead of ${databases}. ${DEPLOY}`
}

async function findOtherVersion(address: string): Promise<string | undefined> {
  const response = await fetch(`${address}/openapi.json`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) return `${address}/openapi.json answered ${response.status}. ${DEPLOY}`
  const { info } = (await response.json()) as { info: { version: string } }
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return info.version === version ? undefined : `is ${info.version}, and this folder has ${version}. ${DEPLOY}`
}
