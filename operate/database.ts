/**
 * Queries the database of a command: the local one through SQLite, a deployed one through D1's HTTP API. SQL
 * does not go through wrangler, because wrangler removes `BEGIN TRANSACTION;` and `COMMIT;` from it, also
 * inside string values.
 */
import { createHash, createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { bindingOf } from '../src/db/database.ts'
import type { Values } from '../src/db/parameters.ts'
import type { Statement } from '../src/db/statement.ts'
import { getConfigFile, readConfiguration, stateFolder, type Target } from '../tools/wrangler.ts'
import { Account, type AccountDatabase, type Query, type Row } from './cloudflare.ts'

/** `npm run dev` holds the lock for the duration of a batch. */
export const LOCK_TIMEOUT_MS = 10_000

const SIZE = {
  sql: 'SELECT page_count * page_size AS "bytes" FROM pragma_page_count, pragma_page_size',
}

export interface CommandDatabase {
  /** Runs the statements in one transaction. @returns the rows of each. */
  batch(queries: readonly Query[]): Promise<Row[][]>
  sizeBytes(): Promise<number>
  close(): void
}

/** Opens database 0 of the target. @throws if there is none. */
export async function openDatabase(target: Target): Promise<CommandDatabase> {
  if (!target.remote) return localDatabase(existingDatabaseFile(target))
  const account = await Account.of(target)
  return deployedCommandDatabase(account, (await requireDeployedDatabase(account, target)).uuid)
}

export function deployedCommandDatabase(account: Account, uuid: string): CommandDatabase {
  return {
    batch: (queries) => account.query(uuid, queries),
    sizeBytes: async () => (await account.databaseOf(uuid)).file_size ?? 0,
    close: () => undefined,
  }
}

/** @param file is created if it is missing. */
export function localDatabase(file: string): CommandDatabase {
  const database = openLocalFile(file)
  return {
    batch: async (queries) => {
      const run = () => queries.map((query) => runQuery(database, query))
      // One statement is a transaction by itself, and a SELECT then takes no lock that keeps the service from writing.
      return queries.length === 1 ? run() : inTransaction(database, run)
    },
    sizeBytes: async () => Number(runQuery(database, SIZE)[0]?.bytes),
    close: () => database.close(),
  }
}

/** The names of the columns of a table, and of those in its primary key, in order. */
export async function listColumns(database: CommandDatabase, table: string): Promise<{ all: string[]; key: string[] }> {
  const [columns = []] = await database.batch([
    { sql: 'SELECT "name", "pk" FROM pragma_table_info(?)', parameters: [table] },
  ])
  const key = columns.filter(({ pk }) => pk !== 0).sort((a, b) => Number(a.pk) - Number(b.pk))
  return { all: columns.map(({ name }) => String(name)), key: key.map(({ name }) => String(name)) }
}

/** Names of columns in SQL. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

export interface Call {
  readonly statement: Statement
  readonly values: Values
}

/** Runs statements in one transaction. @returns the rows of each. */
export async function run(database: CommandDatabase, calls: readonly Call[]): Promise<Row[][]> {
  // Loaded on first use: Drizzle takes half a second.
  const { boundValues } = await import('../src/db/statement.ts')
  return database.batch(
    calls.map(({ statement, values }) => ({ sql: statement.sql, parameters: boundValues(statement, values) })),
  )
}

/** Runs statements in one transaction on database 0 of the target. @returns the rows of each. */
export async function execute(target: Target, calls: readonly Call[]): Promise<Row[][]> {
  const database = await openDatabase(target)
  try {
    return await run(database, calls)
  } finally {
    database.close()
  }
}

/**
 * Finds the database that the configuration names. @returns undefined if the account does not have it.
 * @throws if the deployed Worker uses another one: a restore was interrupted, or the configuration is outdated.
 */
export async function deployedDatabase(account: Account, target: Target): Promise<AccountDatabase | undefined> {
  const name = databaseConfiguration(target).database_name ?? ''
  const found = await account.get<AccountDatabase>(`/d1/database/${name}`)
  const bound = await account.boundDatabase(readConfiguration(target).name ?? '')
  if (bound === undefined || bound === found?.uuid) return found
  const { name: current } = await account.databaseOf(bound)
  throw new Error(
    `The deployed Worker uses the database ${current}, but ${basename(getConfigFile(target))} names ${name}. Set database_name = "${current}".`,
  )
}

export async function requireDeployedDatabase(account: Account, target: Target): Promise<AccountDatabase> {
  const found = await deployedDatabase(account, target)
  if (found) return found
  throw new Error(
    `The account has no D1 database ${databaseConfiguration(target).database_name}. \`npm run deploy\` creates it.`,
  )
}

/** The binding `DB` in the configuration of the target. */
export function databaseConfiguration(target: Target) {
  const found = readConfiguration(target).d1_databases.find(({ binding }) => binding === 'DB')
  if (!found) throw new Error('The configuration has no D1 database with the binding "DB".')
  return found
}

/** The name of a database that no list names. */
export function databaseNameOf(target: Target, number = 0): string {
  return `${databaseConfiguration(target).database_name}${number === 0 ? '' : `-${number}`}`
}

export function openLocalFile(file: string): DatabaseSync {
  return new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS, enableForeignKeyConstraints: false })
}

/** Runs the work in one transaction. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

export function runQuery(database: DatabaseSync, { sql, parameters = [] }: Query): Row[] {
  return database.prepare(sql).all(...parameters) as Row[]
}

/** The SQLite file of a local database. @throws if there is none. */
export function existingDatabaseFile(target: Target, number = 0): string {
  const file = localDatabaseFile(target, number)
  if (existsSync(file)) return file
  const name = number === 0 ? '' : ` ${number}`
  throw new Error(`There is no database${name} in ${stateFolder(target)}. \`npm run dev\` creates one.`)
}

/**
 * The SQLite file of a local database. workerd names it by the ID of a Durable Object, which is derived
 * from the binding.
 */
export function localDatabaseFile(target: Target, number = 0): string {
  const namespace = 'miniflare-D1DatabaseObject'
  const key = createHash('sha256').update(namespace).digest()
  const half = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const name = half(number === 0 ? localName(target) : bindingOf(number))
  const id = Buffer.concat([name, half(name)]).toString('hex')
  return join(stateFolder(target), 'v3', 'd1', namespace, `${id}.sqlite`)
}

function localName(target: Target): string {
  const { preview_database_id, database_id, binding } = databaseConfiguration(target)
  return preview_database_id ?? database_id ?? binding
}
