/** Replaces the database by a backup (docs/restore.md). */
import './private-files.ts'
import { existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import {
  countOf,
  describeScript,
  getTarget,
  parsed,
  temporaryFolder,
  UsageError,
  wholeNumber,
  withTarget,
} from '../tools/command-line.ts'
import { flagsOf, readConfiguration, stateFolder, type Target } from '../tools/wrangler.ts'
import { loadBackup, tableNames } from './backups/backup-file.ts'
import { readManifest } from './backups/manifest.ts'
import { objectFolder, putObjectsBack } from './backups/objects.ts'
import { type Replacement, readLiveKeys, replaceLocal } from './backups/restore-local.ts'
import {
  fillDatabase,
  paused,
  type RemotePlace,
  type RemoteReplacement,
  readDeployedKeys,
  replaceRemote,
  switchTo,
  withDatabase,
} from './backups/restore-remote.ts'
import {
  directoryQueries,
  keepStopped,
  keepSuspended,
  lostOrganizations,
  placesAfter,
  readRedirects,
  removeElsewhere,
  SELECT_SUSPENSIONS,
  writeFirst,
} from './backups/restored-places.ts'
import {
  countingQuery,
  type KeyPolicy,
  prepareBackup,
  SELECT_LIVE_KEYS,
  searchQuery,
} from './backups/restored-state.ts'
import { snapshotRemote } from './backups/snapshot.ts'
import { SELECT_STOPPED } from './brakes.ts'
import { Account, type AccountDatabase, type Row } from './cloudflare.ts'
import {
  type CommandDatabase,
  databaseNameOf,
  deployedCommandDatabase,
  deployedDatabase,
  localDatabase,
  localDatabaseFile,
  openLocalFile,
  runQuery,
} from './database.ts'
import { deployedIds, type ListedDatabase, listDatabases, type Place, readPlaces, rowsIfThere } from './databases.ts'
import { IS_SERVICE_TABLE } from './migrations.ts'
import { ObjectStore } from './objects.ts'
import { requireEmptyOrStateFolder } from './state-folder.ts'

const options = parsed(
  withTarget(
    describeScript(
      'operate restore',
      'Replaces the database by a backup, in one step, after the backup was verified (docs/restore.md).',
      ['--input backup.sqlite', '--time-travel 2026-03-29T01:00:00Z --remote'],
    )
      .option('--input <file>', 'a file that `npm run operate -- backup` wrote; or a folder, to restore all databases')
      .option('--database <number>', 'with several databases: restore only this one', wholeNumber)
      .option('--with-objects', 'upload the objects that `npm run operate -- backup --with-objects` copied')
      .option('--time-travel <instant>', 'with --remote: the state of the database at this time')
      .option('--revoke-all-keys', 'revoke every API key')
      .option('--yes', 'do not ask for confirmation')
      .option('--url <address>', 'the address of the deployment; default: where the upload puts it'),
  ),
).opts()

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** What happens to the API keys. */
const CONSEQUENCES: Readonly<Record<KeyPolicy, string>> = {
  none: 'Every API key will be revoked.',
  'as in the backup': 'API keys will be as in the backup: a key that was revoked since then will be valid again.',
  'as today':
    'API keys that were revoked, rotated or deleted since then stay that way. Keys that were created since then will be deleted.',
}

const FIRST: ListedDatabase = { number: 0, name: null, state: 'open' }

/** After a switch, instances of the Worker with the old database may run for this long. */
const SETTLING_MS = 10_000

const folder = temporaryFolder(join(tmpdir(), 'workspace-api-restore-'))
await restore(getTarget(options))

async function restore(target: Target): Promise<void> {
  const { input, timeTravel: instant } = options
  if ((input === undefined) === (instant === undefined)) {
    throw new UsageError(
      'Pass either --input <file>, a file that `npm run operate -- backup` wrote, or --time-travel <instant>.',
    )
  }
  requireEmptyOrStateFolder(target)
  if (options.withObjects && instant !== undefined)
    throw new UsageError('--with-objects needs --input: Time Travel changes no objects.')
  if (options.withObjects && !existsSync(objectFolder(input ?? ''))) {
    throw new UsageError(
      `--with-objects needs the folder ${objectFolder(input ?? '')}, which \`npm run operate -- backup --with-objects\` makes.`,
    )
  }
  if (instant !== undefined) return restoreInstant(target, instant)
  const manifest = readManifest(input ?? '')
  const files = manifest && new Map([...manifest.files].map(([number, { file }]) => [number, file]))
  if (!files && !existsSync(input ?? '')) {
    throw new UsageError(
      `--input does not exist; got "${input}"; allowed: a file or a folder that \`npm run operate -- backup\` wrote.`,
    )
  }
  const now = await readCurrent(target)
  try {
    await restoreFiles(now, files ?? new Map([[requireNumber(now), input ?? '']]))
  } finally {
    now.close()
  }
}

/** The number of the database that is restored. @throws if it is not clear. */
function requireNumber({ listed }: Current): number {
  const numbers = listed.map(({ number }) => number)
  const number = options.database ?? (numbers.length === 1 ? 0 : undefined)
  if (number !== undefined && numbers.includes(number)) return number
  throw new UsageError(
    `${number === undefined ? 'Pass --database <number>: there are several databases' : `There is no database ${number}`}; allowed: ${numbers.join(', ')}.`,
  )
}

/** What there is before the restore. */
interface Current {
  readonly target: Target
  readonly account: Account | undefined
  /** All databases; database 0 also if it does not exist. */
  readonly listed: readonly ListedDatabase[]
  readonly places: ReadonlyMap<string, Place>
  /** By their numbers, those that exist. */
  readonly databases: ReadonlyMap<number, CommandDatabase>
  /** The databases of a deployment, by their numbers. */
  readonly deployed: ReadonlyMap<number, AccountDatabase>
  /** True if there is a Worker to switch. */
  readonly isDeployed: boolean
  readonly close: () => void
}

async function readCurrent(target: Target): Promise<Current> {
  const account = target.remote ? await Account.of(target) : undefined
  const deployed = new Map<number, AccountDatabase>()
  const databases = new Map<number, CommandDatabase>()
  if (account) {
    const first = await deployedDatabase(account, target)
    if (first) deployed.set(0, first)
    // Fails before anything is created if the configuration cannot be changed.
    withDatabase(target, { name: '', uuid: '' })
  } else if (existsSync(localDatabaseFile(target))) databases.set(0, localDatabase(localDatabaseFile(target)))
  for (const [number, { uuid }] of deployed) {
    if (account) databases.set(number, deployedCommandDatabase(account, uuid))
  }
  const first = databases.get(0)
  const listed = first ? await listDatabases(first) : [FIRST]
  const ids = account ? await deployedIds(account, target, listed.slice(1), true) : new Map<number, string>()
  for (const { number } of listed.slice(1)) {
    const id = ids.get(number)
    if (account && id !== undefined) {
      deployed.set(number, await account.databaseOf(id))
      databases.set(number, deployedCommandDatabase(account, id))
    } else if (!account && existsSync(localDatabaseFile(target, number))) {
      databases.set(number, localDatabase(localDatabaseFile(target, number)))
    }
  }
  return {
    target,
    account,
    listed,
    places: first ? await readPlaces(first) : new Map(),
    databases,
    deployed,
    isDeployed: (await account?.boundDatabase(readConfiguration(target).name ?? '')) !== undefined,
    close: () => {
      for (const database of databases.values()) database.close()
    },
  }
}

/** Restores the files, or that of `--database`, database 0 last: it has the list of the others. */
async function restoreFiles(now: Current, files: ReadonlyMap<number, string>): Promise<void> {
  if (options.database !== undefined && !files.has(options.database))
    throw new UsageError(`The backup has no database ${options.database}; allowed: ${[...files.keys()].join(', ')}.`)
  const wanted = [...files]
    .filter(([number]) => options.database === undefined || number === options.database)
    .sort(([one], [other]) => other - one)
  const backups = new Map<number, DatabaseSync>()
  for (const [number, input] of wanted) {
    const backup = await loadBackup(input, scratchFile(number)).catch((error: Error) => {
      throw new Error(`${error.message} Nothing was changed.`)
    })
    backups.set(number, backup)
  }
  await restoreBackups(now, backups, 'The backup')
}

function scratchFile(number: number): string {
  return join(folder, `backup-${number}.sqlite`)
}

/**
 * @param source what is restored, for the question.
 * @param agreed the policy for API keys that the operator has confirmed; undefined: not confirmed yet.
 */
async function restoreBackups(
  now: Current,
  backups: ReadonlyMap<number, DatabaseSync>,
  source: string,
  agreed?: KeyPolicy,
): Promise<void> {
  const { target, account, databases } = now
  const areSeveral = now.listed.length > 1 || backups.size > 1
  const moving = areSeveral ? [...now.places].find(([, { movingTo }]) => movingTo !== null) : undefined
  if (moving) throw new Error(`The organization ${moving[0]} is moving to another database. Complete the move first.`)
  const after = placesAfter(now.places, backups)
  const lost = areSeveral ? lostOrganizations(now.places, backups) : []
  if (lost.length > 0) console.log(`Not in the backup, and lost: the organizations ${lost.join(', ')}.`)

  const plans: Plans = new Map()
  for (const number of backups.keys()) {
    const database = databases.get(number)
    const before = database ? await countAll(database) : {}
    const name = account
      ? (now.deployed.get(number)?.name ?? databaseNameOf(target, number))
      : localName(target, number, areSeveral)
    plans.set(number, { name, policy: agreed ?? keyPolicyFor(before), before })
  }
  if (!agreed) await confirm([...plans.values()], source)
  const listed = new Map(now.listed.map((each) => [each.number, each]))
  const suspensions = [...(await readBefore(now, plans, 'halts', SELECT_SUSPENSIONS)).values()].flat()
  const stopped = await Promise.all([...databases.values()].map((each) => rowsIfThere(each, SELECT_STOPPED)))
  // A key may have been in another database at the time of the backup.
  const readKeys = () =>
    backups.size > 1 ? readBefore(now, plans, 'apiKeys', SELECT_LIVE_KEYS) : new Map<number, Row[]>()
  // A local database is replaced in place. A deployed one stays as it is, so its keys are read as late as possible.
  const keysBefore = account ? undefined : await readKeys()
  for (const [number, backup] of backups) {
    const { policy, before } = plans.get(number) as Plan
    const database = databases.get(number)
    const time = new Date().toISOString()
    const hashes = prepareBackup(backup, policy, time)
    if (areSeveral) {
      const redirects = database ? await readRedirects(database) : new Map()
      removeElsewhere(backup, number, after, (each) => backups.has(each), redirects)
    }
    await keepSuspended(backup, number, after, suspensions)
    // If everything is lost, the backup alone knows.
    if (databases.size > 0) keepStopped(backup, stopped.flat())
    if (number === 0)
      writeFirst(
        backup,
        after,
        [...listed.values()].filter(({ number, state }) => number !== 0 || state !== 'open'),
      )
    const liveKeys = keysBefore ?? (await readKeys())
    const otherLiveKeys = [...liveKeys].filter(([each]) => each !== number).flatMap(([, keys]) => keys)
    const replacement = { policy, hashes, otherLiveKeys }
    const restored = account
      ? await restoreDeployed(placeOf(now, account, number, [...listed.values()]), backup, replacement, before)
      : await restoreLocal(target, number, backup, replacement, before)
    const state = listed.get(number)?.state ?? 'open'
    if (number !== 0) {
      listed.set(number, { number, name: restored?.name ?? null, state })
      const first = databases.get(0)
      if (first) await recordPlaces(first, number, after)
    }
  }
}

interface Plan {
  /** The name of the database. */
  readonly name: string
  readonly policy: KeyPolicy
  /** How many rows each table has now. */
  readonly before: Row
}

/** By the number of the database. */
type Plans = Map<number, Plan>

/** In the current database 0: that another one is restored now. */
async function recordPlaces(first: CommandDatabase, number: number, after: ReadonlyMap<string, Place>): Promise<void> {
  await first.batch([
    directoryQueries(after, number),
    { sql: `INSERT OR IGNORE INTO "databases" ("number", "state") VALUES (?, 'open')`, parameters: [number] },
    searchQuery(),
  ])
}

/** What the current databases have that are restored, by their numbers. @param table is empty or missing in a new one. */
async function readBefore(
  { databases }: Current,
  plans: Plans,
  table: string,
  sql: string,
): Promise<Map<number, Row[]>> {
  const found = new Map<number, Row[]>()
  for (const [number, { before }] of plans) {
    if (before[table]) found.set(number, (await databases.get(number)?.batch([{ sql }]))?.flat() ?? [])
  }
  return found
}

function localName(target: Target, number: number, areSeveral: boolean): string {
  return `${areSeveral ? `${number} ` : ''}in ${stateFolder(target)}`
}

/** @param listed the databases of now; some may be restored already. */
function placeOf(
  { target, deployed, isDeployed, listed: before }: Current,
  account: Account,
  number: number,
  listed: readonly ListedDatabase[] = before,
): RemotePlace {
  const isNew = (each: ListedDatabase) => each.name !== before.find((one) => one.number === each.number)?.name
  return {
    account,
    target,
    number,
    current: deployed.get(number),
    first: deployed.get(0),
    further: listed.filter((each) => each.number !== 0 && (deployed.has(each.number) || isNew(each))),
    isDeployed,
    url: options.url,
  }
}

/**
 * Uploads the objects of the backup before the database is replaced, and again after it: until then, the service may
 * delete an object that no row of the old database refers to.
 */
async function withObjects<Result>(
  target: Target,
  backup: DatabaseSync,
  replace: () => Promise<Result> | Result,
): Promise<Result> {
  if (!options.withObjects) return replace()
  const folder = objectFolder(options.input ?? '')
  const store = await ObjectStore.open(target)
  try {
    await putObjectsBack(store, backup, folder)
    const result = await replace()
    // The database is replaced: what follows may fail, but the restore is reported.
    const problem = await putObjectsBack(store, backup, folder).then(
      ({ length }) =>
        length > 0 && `${length} objects are neither in ${folder} nor in the bucket. Their files return 503.`,
      ({ message }: Error) =>
        `The database was replaced, but not all objects are back. Run the command again. ${message}`,
    )
    if (problem) {
      console.error(problem)
      process.exitCode = 1
    }
    return result
  } finally {
    await store.close()
  }
}

async function restoreLocal(
  target: Target,
  number: number,
  backup: DatabaseSync,
  replacement: Omit<Replacement, 'backupFile'>,
  before: Row,
): Promise<undefined> {
  const file = localDatabaseFile(target, number)
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const name = number === 0 ? options.input : `${options.input}-${number}`
  const safetyCopy = Object.keys(before).length === 0 ? undefined : `${name}.replaced-${time}.sqlite`
  const rows = countRows(backup)
  await withObjects(target, backup, () =>
    replaceLocal(file, safetyCopy, { ...replacement, backupFile: scratchFile(number) }),
  )
  backup.close()
  if (safetyCopy) console.log(`Copy of the database before the restore: ${safetyCopy}`)
  const database = openLocalFile(file)
  try {
    report(before, rows, readLiveKeys(database), '')
  } finally {
    database.close()
  }
}

async function restoreDeployed(
  place: RemotePlace,
  backup: DatabaseSync,
  replacement: Omit<RemoteReplacement, 'backup'>,
  before: Row,
): Promise<AccountDatabase> {
  const { account, current, target, isDeployed } = place
  const database = await withObjects(target, backup, () => replaceRemote(place, { ...replacement, backup }))
  report(before, countRows(backup), await readDeployedKeys(account, database.uuid), flagsOf(target))
  if (!isDeployed || !current) {
    console.log('Next: npm run deploy, with the ENCRYPTION_KEYS that encrypted the values in the backup.')
  }
  if (current) console.log(`The old database ${current.name} is unchanged. ${howToDelete(current)}`)
  return database
}

/**
 * Time Travel changes a database in place, which would make revoked keys valid again. So the deployment is
 * first switched to a copy of its database. Then the original is reset to the instant, and restored like a
 * backup.
 */
async function restoreInstant(target: Target, text: string): Promise<void> {
  if (!target.remote) throw new UsageError('--time-travel needs --remote: only a deployed database has a history.')
  const instant = new Date(text)
  if (!RFC_3339.test(text) || Number.isNaN(instant.getTime()) || instant > new Date()) {
    throw new UsageError(
      `--time-travel is not a past instant with a time zone; got "${text}"; example: 2026-03-29T01:00:00Z.`,
    )
  }
  const now = await readCurrent(target)
  const { account, isDeployed } = now
  const number = requireNumber(now)
  const current = now.deployed.get(number)
  if (!account || !current || !isDeployed) throw new Error('There is no deployment to restore.')
  const bookmark = await account.bookmarkAt(current.uuid, instant.toISOString())
  const source = `Its state at ${instant.toISOString()}`
  const before = await countAll(deployedCommandDatabase(account, current.uuid))
  const policy = keyPolicyFor(before)
  await confirm([{ name: current.name, policy, before }], source)
  const copied = await copyDeployed(placeOf(now, account, number), current)
  try {
    await setTimeout(SETTLING_MS)
    await account.timeTravel(current.uuid, bookmark)
    const dump = join(folder, 'instant.sqlite')
    await snapshotRemote(account, current.uuid, dump)
    const backup = await loadBackup(dump, scratchFile(number))
    await restoreBackups(await readCurrent(target), new Map([[number, backup]]), source, policy)
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe deployment uses ${copied.name}, a complete copy of its database.`)
  }
  console.log(`The old database ${current.name} was reset to ${instant.toISOString()}. ${howToDelete(current)}`)
}

/** Switches the deployment to a copy of its database. Writes are refused meanwhile. */
async function copyDeployed(place: RemotePlace, current: AccountDatabase): Promise<AccountDatabase> {
  const { account } = place
  let copy = current
  await paused(account, current, async (pause) => {
    const dump = join(folder, 'now.sqlite')
    await snapshotRemote(account, current.uuid, dump)
    const source = await loadBackup(dump, join(folder, 'copy.sqlite'))
    rmSync(dump)
    copy = await fillDatabase(place, source)
    source.close()
    await switchTo(place, pause, copy)
  })
  return copy
}

function howToDelete({ name }: AccountDatabase): string {
  return `To delete it: npm run wrangler -- d1 delete ${name}`
}

function keyPolicyFor(before: Row): KeyPolicy {
  if (options.revokeAllKeys) return 'none'
  return isEmpty(before) ? 'as in the backup' : 'as today'
}

/** Prints what will be replaced, and what will happen to the API keys. @throws unless the operator agrees. */
async function confirm(plans: readonly Plan[], source: string): Promise<void> {
  for (const [index, { name, policy, before }] of plans.entries()) {
    const content = isEmpty(before) ? 'is empty' : `has ${countOf(Number(before.organizations), 'organization')}`
    console.log(`The database ${name} ${content}. ${source} will replace it.`)
    if (policy !== plans[index + 1]?.policy) console.log(CONSEQUENCES[policy])
  }
  if (options.yes) return
  if (!process.stdin.isTTY) throw new Error('Nothing was changed. Pass --yes to restore without confirmation.')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question('Continue? [y/N] ')
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.')
}

/** A database without organizations is not in use. One that organizations have left still has their API keys. */
function isEmpty({ organizations = 0, apiKeys = 0 }: Row): boolean {
  return organizations === 0 && apiKeys === 0
}

function countRows(database: DatabaseSync): Row {
  const tables = tableNames(database)
  return tables.length === 0 ? {} : (runQuery(database, countingQuery(tables))[0] ?? {})
}

async function countAll(database: CommandDatabase): Promise<Row> {
  const [tables = []] = await database.batch([
    { sql: `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND ${IS_SERVICE_TABLE}` },
  ])
  if (tables.length === 0) return {}
  const [[rows = {}] = []] = await database.batch([countingQuery(tables.map(({ name }) => String(name)))])
  return rows
}

function report(before: Row, restored: Row, keys: readonly Row[], flags: string): void {
  for (const [table, rows] of Object.entries(restored)) {
    const previous = before[table] ?? 0
    if (rows !== 0 || previous !== 0) console.log(`${table}: ${countOf(Number(rows), 'row')}, ${previous} before`)
  }
  const now = new Date().toISOString()
  const valid = keys.filter(({ expiresAt }) => expiresAt === null || String(expiresAt) > now)
  console.log(
    valid.length > 0
      ? `Restored. Valid API keys: ${valid.length}.`
      : `Restored. No API key is valid. To create one: npm run operate -- bootstrap --organization-id <id> --service${flags}`,
  )
}
