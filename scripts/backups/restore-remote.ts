/**
 * Puts a verified backup into the place of a deployed database: it fills a new database, verifies it there, and then switches
 * the binding of the Worker. The old database stays, and serves on whatever fails.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Account, AccountDatabase, Query, Row } from '../cloudflare.ts'
import { databaseConfiguration, runQuery } from '../database.ts'
import { switchStepsOf } from '../deploy-steps.ts'
import { configFileOf, configurationOf, type Target } from '../wrangler.ts'
import { OWN_TABLES, tableNames } from './backup-file.ts'
import {
  compareCounts,
  countingQuery,
  finishingQueries,
  type KeyPolicy,
  revivals,
  SELECT_LIVE_KEYS,
} from './restored-state.ts'
import { fillingQueries } from './table-rows.ts'
import { WritePause } from './write-pause.ts'

const MOST_ATTEMPTS = 3

export interface RemotePlace {
  readonly account: Account
  readonly target: Target
  /** The database that the deployment has; undefined: there is none yet. */
  readonly current: AccountDatabase | undefined
  /** Where the deployment answers, if wrangler.toml and the upload don't say. */
  readonly url: string | undefined
}

export interface RemoteReplacement {
  readonly backup: DatabaseSync
  readonly policy: KeyPolicy
  readonly hashes: ReadonlySet<string>
  readonly now: string
}

/** @returns the database that serves from now on. */
export async function replaceRemote(
  place: RemotePlace,
  { backup, policy, hashes, now }: RemoteReplacement,
): Promise<AccountDatabase> {
  const { account, current } = place
  const database = await fillDatabase(place, backup)
  const finish = async (liveKeys: readonly Row[]) => {
    for (const query of [...revivals(hashes, liveKeys, policy), ...finishingQueries(now)]) {
      await account.query(database.uuid, [query])
    }
  }
  if (!current) {
    await finish([])
    return database
  }
  // From here on no key can be revoked in the old database, which the new one would not know of.
  const pause = await WritePause.begin(account, current.uuid)
  try {
    await finish(policy === 'as today' ? await readLiveKeys(account, current.uuid) : [])
    await pause.confirm()
    await switchTo(place, current, database)
  } catch (error) {
    await pause.end()
    throw error
  }
  pause.abandon()
  return database
}

/** Makes a new database and copies everything into it. It serves nobody yet. */
export async function fillDatabase(place: RemotePlace, source: DatabaseSync): Promise<AccountDatabase> {
  const { account, target, current } = place
  const configured = databaseConfiguration(target).database_name ?? ''
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase()
  const name = current ? `${configured.replace(/-\d{8}t\d{6}$/, '')}-${stamp}` : configured
  const database = await account.createDatabase(name, current?.running_in_region)
  console.log(`New database: ${name}`)

  const schema = runQuery(source, {
    sql: `SELECT "type", "sql" FROM sqlite_master WHERE "sql" IS NOT NULL AND ${OWN_TABLES} ORDER BY "type" = 'table' DESC, rowid`,
  })
  const statements = (isTrigger: boolean): Query[] =>
    schema.filter(({ type }) => (type === 'trigger') === isTrigger).map(({ sql }) => ({ sql: String(sql) }))
  await account.query(database.uuid, statements(false))
  const tables = tableNames(source)
  for (const table of tables) {
    let rows = 0
    for (const page of fillingQueries(source, table)) {
      await persistently(() => account.query(database.uuid, page.queries))
      rows += page.rows
    }
    if (rows > 0) console.log(`${table}: ${rows} rows copied`)
  }
  // Triggers would count the rows that are counted already.
  await account.query(database.uuid, statements(true))

  const counting = countingQuery(tables)
  const [[counted = {}] = []] = await account.query(database.uuid, [counting])
  compareCounts(runQuery(source, counting)[0] ?? {}, counted)
  const [[check = {}] = []] = await account.query(database.uuid, [{ sql: 'PRAGMA quick_check' }])
  if (Object.values(check)[0] !== 'ok')
    throw new Error(`The database ${name} is damaged. Nothing was switched.`)
  return database
}

/** The statements of a page may run twice: they have the same effect. */
async function persistently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) throw error
    }
  }
}

export async function readLiveKeys(account: Account, databaseId: string): Promise<Row[]> {
  const keys: Row[] = []
  const page = { sql: `${SELECT_LIVE_KEYS} AND "hash" > ? ORDER BY "hash" LIMIT 1000` }
  for (let last = ''; ; ) {
    const [rows = []] = await account.query(databaseId, [{ ...page, parameters: [last] }])
    keys.push(...rows)
    if (rows.length === 0) return keys
    last = String(rows.at(-1)?.hash)
  }
}

/**
 * Deploys the Worker on another database, then writes that into wrangler.toml. `npm run deploy` refuses to switch
 * databases, so a stale wrangler.toml switches nothing back.
 */
export async function switchTo(
  place: RemotePlace,
  from: AccountDatabase,
  to: AccountDatabase,
): Promise<void> {
  const { account, target, url } = place
  const file = configFileOf(target)
  const changed = withDatabase(file, from, to)
  const worker = configurationOf(target).name ?? ''
  const temporary = join(dirname(file), `.${basename(file, '.toml')}.${to.name}.toml`)
  const deploy = async (config: string) => {
    for (const { title, run } of switchStepsOf({ ...target, config, url }))
      console.log(`${title}: ${await run()}`)
  }
  writeFileSync(temporary, changed)
  try {
    await deploy(temporary)
  } catch (error) {
    if ((await account.boundDatabase(worker)) === to.uuid) await deploy(file)
    throw error
  } finally {
    rmSync(temporary)
  }
  writeFileSync(`${file}.new`, changed)
  renameSync(`${file}.new`, file)
  console.log(`${basename(file)}: database_name is "${to.name}" now; commit that.`)
}

/** The configuration with another database. @throws if it does not name the database in one line. */
export function withDatabase(file: string, from: AccountDatabase, to: AccountDatabase): string {
  const replaced = (text: string, key: string, before: string, after: string) => {
    const line = new RegExp(`^(\\s*${key}\\s*=\\s*")${before}(")`, 'gm')
    return { text: text.replace(line, `$1${after}$2`), lines: text.match(line)?.length ?? 0 }
  }
  const named = replaced(readFileSync(file, 'utf8'), 'database_name', from.name, to.name)
  if (named.lines !== 1) {
    throw new Error(
      `${basename(file)}: expected one line \`database_name = "${from.name}"\`, got ${named.lines}`,
    )
  }
  return replaced(named.text, 'database_id', from.uuid, to.uuid).text
}
