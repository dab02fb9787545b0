/**
 * Puts a backup into the place of the database (docs/restore.md). The backup is verified before anything is changed, and
 * takes the place of the database in one step.
 *
 *     npm run restore -- --input backup.sqlite [--revoke-all-keys] [--yes] [--remote [--env staging] | --persist-to some/dir]
 *     npm run restore -- --time-travel 2026-03-29T01:00:00Z --remote [--env staging] [--yes]
 *
 * --url says where a deployment answers, if neither wrangler.toml nor the upload does.
 */
import './private-files.ts'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { loadBackup, tableNames } from './backups/backup-file.ts'
import { readLiveKeys, replaceLocal } from './backups/restore-local.ts'
import {
  fillDatabase,
  type RemotePlace,
  readLiveKeys as readDeployedKeys,
  replaceRemote,
  switchTo,
  withDatabase,
} from './backups/restore-remote.ts'
import { countingQuery, type KeyPolicy, revokeAllKeys } from './backups/restored-state.ts'
import { snapshotOf } from './backups/snapshot.ts'
import { WritePause } from './backups/write-pause.ts'
import { Account, type AccountDatabase, type Row } from './cloudflare.ts'
import {
  databaseConfiguration,
  deployedDatabase,
  localDatabaseFile,
  openLocalFile,
  runQuery,
} from './database.ts'
import { configFileOf, stateFolder, TARGET_OPTIONS, type Target, targetOf } from './wrangler.ts'

const { values: options } = parseArgs({
  options: {
    input: { type: 'string' },
    'time-travel': { type: 'string' },
    'revoke-all-keys': { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
    url: { type: 'string' },
    ...TARGET_OPTIONS,
  },
})

const folder = mkdtempSync(join(tmpdir(), 'workspace-api-restore-'))
try {
  await restore(targetOf(options))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}

async function restore(target: Target): Promise<void> {
  const { input, 'time-travel': instant } = options
  if ((input === undefined) === (instant === undefined)) {
    throw new Error('Give --input, a file that `npm run backup` wrote, or --time-travel, an instant.')
  }
  if (instant !== undefined) return restoreInstant(target, instant)
  if (!existsSync(input ?? '') || !statSync(input ?? '').isFile()) {
    throw new Error('--input: expected a file that `npm run backup` wrote')
  }
  const file = join(folder, 'backup.sqlite')
  const backup = await loadBackup(input ?? '', file).catch((error: Error) => {
    throw new Error(`${error.message} Nothing was changed.`)
  })
  if (target.remote) await restoreDeployed(await placeOf(target), backup)
  else await restoreLocal(target, backup, file)
}

async function restoreLocal(target: Target, backup: DatabaseSync, backupFile: string): Promise<void> {
  const file = localDatabaseFile(target)
  const current = existsSync(file) ? countLocal(file) : {}
  const policy = await agreeOn(`The database in ${stateFolder(target)}`, current)
  const now = new Date().toISOString()
  const hashes = revokeAllKeys(backup, policy, now)
  const rows = countRows(backup)
  backup.close()
  const safetyCopy =
    Object.keys(current).length === 0
      ? undefined
      : `${options.input}.replaced-${now.replaceAll(/[:.]/g, '-')}.sqlite`
  replaceLocal(file, safetyCopy, { backupFile, policy, hashes, now })
  if (safetyCopy) console.log(`What was there: ${safetyCopy}`)
  const database = openLocalFile(file)
  try {
    report(current, rows, readLiveKeys(database).length, '')
  } finally {
    database.close()
  }
}

/** @param agreed what is to happen to the keys; undefined: nobody was asked yet. */
async function restoreDeployed(place: RemotePlace, backup: DatabaseSync, agreed?: KeyPolicy): Promise<void> {
  const { account, current, target } = place
  const before = current ? await countDeployed(account, current) : {}
  const name = current?.name ?? databaseConfiguration(target).database_name
  const policy = agreed ?? (await agreeOn(`The database ${name}`, before))
  const now = new Date().toISOString()
  const hashes = revokeAllKeys(backup, policy, now)
  const database = await replaceRemote(place, { backup, policy, hashes, now })
  const keys = await readDeployedKeys(account, database.uuid)
  report(before, countRows(backup), keys.length, remoteFlags(target))
  if (!current) {
    console.log('Next: npm run deploy, with the ENCRYPTION_KEYS that sealed the values of the backup.')
    return
  }
  console.log(
    `The database ${current.name} is as it was. Once you do not need it: npm run wrangler -- d1 delete ${current.name}`,
  )
}

/**
 * Time Travel changes a database in place: it would bring back keys that were revoked. So the deployment first gets a
 * copy of its database as it is, and the original travels, which then is restored like any backup.
 */
async function restoreInstant(target: Target, text: string): Promise<void> {
  const instant = new Date(text)
  if (!target.remote)
    throw new Error('--time-travel: a history is kept by D1 alone, so it goes with --remote')
  if (Number.isNaN(instant.getTime()) || instant > new Date()) {
    throw new Error(`--time-travel: "${text}" is not an instant in the past, such as 2026-03-29T01:00:00Z`)
  }
  const place = await placeOf(target)
  const { account, current } = place
  if (!current) throw new Error('There is no database in this account whose history could be restored.')
  const policy = await agreeOn(`The database ${current.name}`, await countDeployed(account, current))
  const copied = await copyDeployed(place, current)
  await account.timeTravel(current.uuid, instant.toISOString())
  const dump = join(folder, 'instant.sqlite')
  await snapshotOf(account, current.uuid, dump)
  const backup = await loadBackup(dump, join(folder, 'backup.sqlite'))
  await restoreDeployed({ ...place, current: copied }, backup, policy)
  console.log(
    `The database ${current.name} is as it was at ${instant.toISOString()}. Once you do not need it: npm run wrangler -- d1 delete ${current.name}`,
  )
}

/** Puts the deployment onto a copy of its database. Changes are refused until it is done. */
async function copyDeployed(place: RemotePlace, current: AccountDatabase): Promise<AccountDatabase> {
  const { account } = place
  const pause = await WritePause.begin(account, current.uuid)
  try {
    const dump = join(folder, 'now.sqlite')
    await snapshotOf(account, current.uuid, dump)
    const source = await loadBackup(dump, join(folder, 'copy.sqlite'))
    const copy = await fillDatabase(place, source)
    source.close()
    await pause.confirm()
    await switchTo(place, current, copy)
    pause.abandon()
    return copy
  } catch (error) {
    await pause.end()
    throw error
  }
}

async function placeOf(target: Target): Promise<RemotePlace> {
  const account = await Account.of(target)
  const current = await deployedDatabase(account, target)
  // Before anything is made: whether the switch can be written down.
  if (current) withDatabase(configFileOf(target), current, current)
  return { account, target, current, url: options.url }
}

/** Says what will happen to the keys, and asks. @param rows of each table that is there now. */
async function agreeOn(place: string, rows: Row): Promise<KeyPolicy> {
  const policy: KeyPolicy = options['revoke-all-keys']
    ? 'none'
    : isEmpty(rows)
      ? 'as in the backup'
      : 'as today'
  const consequence = {
    none: 'Every API key of the backup will be revoked.',
    'as in the backup':
      'The API keys will be as the backup has them: a key that was revoked after the backup was made will act again.',
    'as today':
      'API keys that were revoked, rotated or deleted after the backup was made stay so; keys that were made after it will be gone.',
  }[policy]
  console.log(
    `${place} ${isEmpty(rows) ? 'is empty' : `has ${rows.organizations} organizations`}. The backup takes its place.\n${consequence}`,
  )
  if (options.yes) return policy
  if (!process.stdin.isTTY) throw new Error('Nothing was changed. Give --yes to go on.')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question('Go on? [y/N] ')
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.')
  return policy
}

/** True of a database without organizations: nobody uses it yet. */
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
    {
      sql: `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND "name" NOT LIKE 'sqlite%' AND "name" NOT LIKE '\\_cf%' ESCAPE '\\'`,
    },
  ])
  if (tables.length === 0) return {}
  const [[rows = {}] = []] = await account.query(uuid, [
    countingQuery(tables.map(({ name }) => String(name))),
  ])
  return rows
}

function remoteFlags({ environment }: Target): string {
  return ` --remote${environment ? ` --env ${environment}` : ''}`
}

function report(before: Row, restored: Row, liveKeys: number, flags: string): void {
  for (const [table, rows] of Object.entries(restored)) {
    const were = before[table] ?? 0
    if (rows !== 0 || were !== 0) console.log(`${table}: ${rows} rows, ${were} before`)
  }
  console.log(
    liveKeys > 0
      ? `Restored. ${liveKeys} API keys act.`
      : `Restored. No API key acts. To make one: npm run bootstrap -- --organization-id <id> --service${flags}`,
  )
}
