/** Replaces the database by a backup (docs/restore.md). */
import './private-files.ts'
import { existsSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { IS_SERVICE_TABLE, loadBackup, tableNames } from './backups/backup-file.ts'
import { objectFolder, putObjectsBack } from './backups/objects.ts'
import { readLiveKeys, replaceLocal } from './backups/restore-local.ts'
import {
  fillDatabase,
  paused,
  type RemotePlace,
  readDeployedKeys,
  replaceRemote,
  switchTo,
  withDatabase,
} from './backups/restore-remote.ts'
import { countingQuery, type KeyPolicy, prepareBackup } from './backups/restored-state.ts'
import { snapshotRemote } from './backups/snapshot.ts'
import { Account, type AccountDatabase, type Row } from './cloudflare.ts'
import { describeScript, getTarget, parsed, temporaryFolder, UsageError, withTarget } from './command-line.ts'
import { databaseConfiguration, deployedDatabase, localDatabaseFile, openLocalFile, runQuery } from './database.ts'
import { ObjectStore } from './objects.ts'
import { requireEmptyOrStateFolder } from './state-folder.ts'
import { readConfiguration, stateFolder, type Target } from './wrangler.ts'

const options = parsed(
  withTarget(
    describeScript(
      'restore',
      'Replaces the database by a backup, in one step, after the backup was verified (docs/restore.md).',
      ['--input backup.sqlite', '--time-travel 2026-03-29T01:00:00Z --remote'],
    )
      .option('--input <file>', 'a file that `npm run backup` wrote')
      .option('--with-objects', 'upload the objects that `npm run backup -- --with-objects` copied')
      .option('--time-travel <instant>', 'with --remote: the state of the database at this time')
      .option('--revoke-all-keys', 'revoke every API key')
      .option('--yes', 'do not ask for confirmation')
      .option('--url <address>', 'the address of the deployment; default: that of the upload'),
  ),
).opts()

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** After a switch, instances of the Worker with the old database may run for this long. */
const SETTLING_MS = 10_000

const folder = temporaryFolder(join(tmpdir(), 'workspace-api-restore-'))
await restore(getTarget(options))

async function restore(target: Target): Promise<void> {
  const { input, timeTravel: instant } = options
  if ((input === undefined) === (instant === undefined)) {
    throw new UsageError('Pass either --input <file>, a file that `npm run backup` wrote, or --time-travel <instant>.')
  }
  requireEmptyOrStateFolder(target)
  if (options.withObjects && instant !== undefined)
    throw new UsageError('--with-objects needs --input: Time Travel changes no objects.')
  if (options.withObjects && !existsSync(objectFolder(input ?? ''))) {
    throw new UsageError(
      `--with-objects needs the folder ${objectFolder(input ?? '')}, which \`npm run backup -- --with-objects\` makes.`,
    )
  }
  if (instant !== undefined) return restoreInstant(target, instant)
  if (!existsSync(input ?? '') || !statSync(input ?? '').isFile()) {
    throw new UsageError(`--input is not a file; got "${input}"; allowed: a file that \`npm run backup\` wrote.`)
  }
  const file = join(folder, 'backup.sqlite')
  const backup = await loadBackup(input ?? '', file).catch((error: Error) => {
    throw new Error(`${error.message} Nothing was changed.`)
  })
  if (target.remote) await restoreDeployed(await placeOf(target), backup)
  else await restoreLocal(target, backup, file)
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

async function restoreLocal(target: Target, backup: DatabaseSync, backupFile: string): Promise<void> {
  const file = localDatabaseFile(target)
  const current = existsSync(file) ? countLocal(file) : {}
  const policy = await confirmKeyPolicy(`The database in ${stateFolder(target)}`, 'The backup', current)
  const now = new Date().toISOString()
  const hashes = prepareBackup(backup, policy, now)
  const rows = countRows(backup)
  const safetyCopy =
    Object.keys(current).length === 0 ? undefined : `${options.input}.replaced-${now.replaceAll(/[:.]/g, '-')}.sqlite`
  await withObjects(target, backup, () => replaceLocal(file, safetyCopy, { backupFile, policy, hashes }))
  backup.close()
  if (safetyCopy) console.log(`Copy of the database before the restore: ${safetyCopy}`)
  const database = openLocalFile(file)
  try {
    report(current, rows, readLiveKeys(database), '')
  } finally {
    database.close()
  }
}

/** @param agreed the policy for API keys that the operator has confirmed; undefined: not confirmed yet. */
async function restoreDeployed(place: RemotePlace, backup: DatabaseSync, agreed?: KeyPolicy): Promise<void> {
  const { account, current, target, isDeployed } = place
  const before = current ? await countDeployed(account, current) : {}
  const name = current?.name ?? databaseConfiguration(target).database_name
  const policy = agreed ?? (await confirmKeyPolicy(`The database ${name}`, 'The backup', before))
  const hashes = prepareBackup(backup, policy, new Date().toISOString())
  const database = await withObjects(target, backup, () => replaceRemote(place, { backup, policy, hashes }))
  report(before, countRows(backup), await readDeployedKeys(account, database.uuid), remoteFlags(target))
  if (!isDeployed) {
    console.log('Next: npm run deploy, with the ENCRYPTION_KEYS that encrypted the values in the backup.')
  }
  if (current) console.log(`The old database ${current.name} is unchanged. ${howToDelete(current)}`)
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
  const place = await placeOf(target)
  const { account, current, isDeployed } = place
  if (!current || !isDeployed) throw new Error('There is no deployment to restore.')
  const bookmark = await account.bookmarkAt(current.uuid, instant.toISOString())
  const before = await countDeployed(account, current)
  const policy = await confirmKeyPolicy(`The database ${current.name}`, `Its state at ${instant.toISOString()}`, before)
  const copied = await copyDeployed(place, current)
  try {
    await setTimeout(SETTLING_MS)
    await account.timeTravel(current.uuid, bookmark)
    const dump = join(folder, 'instant.sqlite')
    await snapshotRemote(account, current.uuid, dump)
    const backup = await loadBackup(dump, join(folder, 'backup.sqlite'))
    await restoreDeployed({ ...place, current: copied }, backup, policy)
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

async function placeOf(target: Target): Promise<RemotePlace> {
  const account = await Account.of(target)
  const current = await deployedDatabase(account, target)
  const isDeployed = (await account.boundDatabase(readConfiguration(target).name ?? '')) !== undefined
  // Fails before anything is created if the configuration cannot be changed.
  withDatabase(target, { name: '', uuid: '' })
  return { account, target, current, isDeployed, url: options.url }
}

function howToDelete({ name }: AccountDatabase): string {
  return `To delete it: npm run wrangler -- d1 delete ${name}`
}

/**
 * Prints what will happen to the API keys, and asks for confirmation. @param rows the number of rows in each
 * table now.
 */
async function confirmKeyPolicy(database: string, source: string, rows: Row): Promise<KeyPolicy> {
  const policy: KeyPolicy = options.revokeAllKeys ? 'none' : isEmpty(rows) ? 'as in the backup' : 'as today'
  const consequence = {
    none: 'Every API key will be revoked.',
    'as in the backup': 'API keys will be as in the backup: a key that was revoked since then will be valid again.',
    'as today':
      'API keys that were revoked, rotated or deleted since then stay that way. Keys that were created since then will be deleted.',
  }[policy]
  console.log(
    `${database} ${isEmpty(rows) ? 'is empty' : `has ${rows.organizations} organizations`}. ${source} will replace it.\n${consequence}`,
  )
  if (options.yes) return policy
  if (!process.stdin.isTTY) throw new Error('Nothing was changed. Pass --yes to restore without confirmation.')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question('Continue? [y/N] ')
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.')
  return policy
}

/** A database without organizations is not in use. */
function isEmpty({ organizations = 0 }: Row): boolean {
  return organizations === 0
}

function countLocal(file: string): Row {
  const database = openLocalFile(file)
  try {
    return countRows(database)
  } finally {
    database.close()
  }
}

function countRows(database: DatabaseSync): Row {
  const tables = tableNames(database)
  return tables.length === 0 ? {} : (runQuery(database, countingQuery(tables))[0] ?? {})
}

async function countDeployed(account: Account, { uuid }: AccountDatabase): Promise<Row> {
  const [tables = []] = await account.query(uuid, [
    { sql: `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND ${IS_SERVICE_TABLE}` },
  ])
  if (tables.length === 0) return {}
  const [[rows = {}] = []] = await account.query(uuid, [countingQuery(tables.map(({ name }) => String(name)))])
  return rows
}

function remoteFlags({ environment }: Target): string {
  return ` --remote${environment ? ` --env ${environment}` : ''}`
}

function report(before: Row, restored: Row, keys: readonly Row[], flags: string): void {
  for (const [table, rows] of Object.entries(restored)) {
    const previous = before[table] ?? 0
    if (rows !== 0 || previous !== 0) console.log(`${table}: ${rows} rows, ${previous} before`)
  }
  const now = new Date().toISOString()
  const valid = keys.filter(({ expiresAt }) => expiresAt === null || String(expiresAt) > now)
  console.log(
    valid.length > 0
      ? `Restored. ${valid.length} API keys are valid.`
      : `Restored. No API key is valid. To create one: npm run bootstrap -- --organization-id <id> --service${flags}`,
  )
}
