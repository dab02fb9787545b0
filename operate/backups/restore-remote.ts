/**
 * Replaces a deployed database by a verified backup: fills a new database, verifies the copy, and switches
 * the Worker's binding to it. The old database is kept; it stays in use if anything fails.
 */
import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { bindingOf } from '../../src/db/database.ts'
import { startProgress } from '../../tools/command-line.ts'
import { getConfigFile, readConfiguration, type Target } from '../../tools/wrangler.ts'
import type { Account, AccountDatabase, Row } from '../cloudflare.ts'
import { databaseConfiguration, runQuery } from '../database.ts'
import type { ListedDatabase } from '../databases.ts'
import { baseName, switchStepsOf } from '../deploy-steps.ts'
import { columnNames, schemaStatements, tableNames } from './backup-file.ts'
import {
  compareTables,
  finishingQueries,
  type KeyPolicy,
  measuringQuery,
  reactivateKeys,
  SELECT_LIVE_KEYS,
} from './restored-state.ts'
import { fillingQueries } from './table-rows.ts'
import { WritePause } from './write-pause.ts'

export interface RemotePlace {
  readonly account: Account
  readonly target: Target
  /** The number of the database that is restored. */
  readonly number: number
  /** The database of now, if it exists. */
  readonly current: AccountDatabase | undefined
  /** The current database 0, if it exists. */
  readonly first: AccountDatabase | undefined
  /** The current databases beside database 0. */
  readonly further: readonly ListedDatabase[]
  /** If false, there is no Worker to switch. */
  readonly isDeployed: boolean
  /** The address of the deployment, if neither wrangler.toml nor the upload names it. */
  readonly url: string | undefined
}

export interface RemoteReplacement {
  readonly backup: DatabaseSync
  readonly policy: KeyPolicy
  /** The hashes of the keys that were valid in the backup. */
  readonly hashes: ReadonlySet<string>
  /** Live keys of other databases that are restored too. */
  readonly otherLiveKeys?: readonly Row[]
}

/** @returns the new database. */
export async function replaceRemote(
  place: RemotePlace,
  { backup, policy, hashes, otherLiveKeys = [] }: RemoteReplacement,
): Promise<AccountDatabase> {
  const { account, current, isDeployed } = place
  const database = await fillDatabase(place, backup)
  const finish = async (liveKeys: readonly Row[]) => {
    for (const query of [...reactivateKeys(hashes, liveKeys, policy), ...finishingQueries()]) {
      await account.query(database.uuid, [query])
    }
  }
  return named(database, async () => {
    const liveKeys = async () => {
      if (!current || policy !== 'as today') return []
      return [...(await readDeployedKeys(account, current.uuid)), ...otherLiveKeys]
    }
    if (!current || !isDeployed) {
      await finish(await liveKeys())
      await record(place, database)
      return database
    }
    // Blocks revocations, which the new database would not have.
    await paused(account, current, async (pause) => {
      await finish(await liveKeys())
      await switchTo(place, pause, database)
    })
    return database
  })
}

/** Refuses writes to a database during the work. After a switch, they are refused until the pause expires. */
export async function paused(
  account: Account,
  { uuid }: AccountDatabase,
  work: (pause: WritePause) => Promise<void>,
): Promise<void> {
  const pause = await WritePause.begin(account, uuid)
  try {
    await work(pause)
  } catch (error) {
    await pause.end()
    throw error
  }
  pause.abandon()
}

/** Creates a database and copies everything into it. No Worker uses it yet. */
export async function fillDatabase(place: RemotePlace, source: DatabaseSync): Promise<AccountDatabase> {
  const { account, target, current } = place
  const configured = baseName(databaseConfiguration(target).database_name ?? '')
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase()
  const base = place.number === 0 ? configured : `${configured}-${place.number}`
  const database = await account.createDatabase(`${base}-${stamp}`, current ?? place.first)
  console.log(`New database: ${database.name}`)
  return named(database, async () => {
    const schema = schemaStatements(source)
    const statements = (isTrigger: boolean) => schema.filter(({ type }) => (type === 'trigger') === isTrigger)
    await account.query(database.uuid, statements(false))
    const progress = startProgress('Copying rows', countAll(source))
    for (const table of tableNames(source)) {
      let rows = 0
      for (const page of fillingQueries(source, table)) {
        await account.repeatQuery(database.uuid, page.queries)
        rows += page.rows
        progress.add(page.rows)
      }
      const measuring = measuringQuery(table, columnNames(source, table))
      const [[copy] = []] = await account.query(database.uuid, [measuring])
      compareTables(table, runQuery(source, measuring)[0], copy)
      if (rows > 0) progress.log(`${table}: ${rows} rows copied`)
    }
    progress.end()
    // Created last: triggers would count rows that are already counted.
    await account.query(database.uuid, statements(true))
    return database
  })
}

function countAll(database: DatabaseSync): number {
  const counts = tableNames(database).map((table) => `(SELECT count(*) FROM "${table}")`)
  return Number(runQuery(database, { sql: `SELECT ${counts.join(' + ')} AS "rows"` })[0]?.rows)
}

/** Adds the name of the new database to the error message, and how to delete it. */
async function named<Result>({ name }: AccountDatabase, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { message } = error as Error
    if (message.includes(name)) throw error
    throw new Error(
      `${message}\nThe new database ${name} is incomplete and not in use. To delete it: npm run wrangler -- d1 delete ${name}`,
    )
  }
}

export async function readDeployedKeys(account: Account, databaseId: string): Promise<Row[]> {
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
 * Deploys the Worker with another database, then changes wrangler.toml. `npm run deploy` refuses to switch
 * databases, so an outdated wrangler.toml cannot switch back.
 * @param pause of the old database. The new one is paused too until the deployment is healthy: if the deployment fails,
 *   the Worker is switched back, and writes to the new database would be lost.
 */
export async function switchTo(place: RemotePlace, pause: WritePause, to: AccountDatabase): Promise<void> {
  const { account, target, number, further, url } = place
  const file = getConfigFile(target)
  const worker = readConfiguration(target).name ?? ''
  const temporary = join(dirname(file), `.${basename(file, '.toml')}.${to.name}.toml`)
  const switched = further.map((each) => (each.number === number ? { ...each, name: to.name } : each))
  const deploy = async (config: string, further: readonly ListedDatabase[]) => {
    for (const { title, run } of switchStepsOf({ ...target, config, url }, account, further)) {
      const [result = ''] = String(await run()).split('\n')
      console.log(`${title}: ${result}`)
    }
  }
  const newPause = await WritePause.begin(account, to.uuid)
  writeFileSync(temporary, number === 0 ? withDatabase(target, to) : readFileSync(file))
  try {
    await pause.confirm()
    await deploy(temporary, switched)
    await newPause.confirm()
  } catch (error) {
    const { message } = error as Error
    if ((await account.boundDatabase(worker, bindingOf(number))) !== to.uuid) throw error
    await deploy(file, further).catch((second: Error) => {
      throw new Error(`${message}\nSwitching back failed too: ${second.message}\nThe Worker uses ${to.name}.`)
    })
    throw error
  } finally {
    rmSync(temporary)
    newPause.abandon()
  }
  await record(place, to)
  await newPause.end()
}

/** Writes where the database is now: into wrangler.toml, or into the list in database 0. */
async function record({ account, target, number, first }: RemotePlace, to: AccountDatabase): Promise<void> {
  if (number === 0) return writeConfiguration(target, to)
  if (!first) return
  await account.query(first.uuid, [
    {
      sql: `INSERT INTO "databases" ("number", "name", "state") VALUES (?, ?, 'open')
        ON CONFLICT ("number") DO UPDATE SET "name" = excluded."name"`,
      parameters: [number, to.name],
    },
  ])
}

function writeConfiguration(target: Target, to: AccountDatabase): void {
  const file = getConfigFile(target)
  const changed = withDatabase(target, to)
  writeFileSync(`${file}.new`, changed)
  chmodSync(`${file}.new`, statSync(file).mode)
  renameSync(`${file}.new`, file)
  console.log(`${basename(file)}: database_name is now "${to.name}". Commit this change.`)
}

/** The configuration with another database. @throws if the name of the database is not in exactly one line. */
export function withDatabase(target: Target, to: Pick<AccountDatabase, 'name' | 'uuid'>): string {
  const file = getConfigFile(target)
  const { database_name: name = '', database_id: id } = databaseConfiguration(target)
  const replaced = (text: string, key: string, before: string, after: string) => {
    const line = new RegExp(`^(\\s*${key}\\s*=\\s*")${before}(")`, 'gm')
    return { text: text.replace(line, `$1${after}$2`), lines: text.match(line)?.length ?? 0 }
  }
  const changed = replaced(readFileSync(file, 'utf8'), 'database_name', name, to.name)
  if (changed.lines !== 1) {
    throw new Error(`${basename(file)}: expected one line \`database_name = "${name}"\`, got ${changed.lines}`)
  }
  return id === undefined ? changed.text : replaced(changed.text, 'database_id', id, to.uuid).text
}
