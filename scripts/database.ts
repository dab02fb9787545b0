/**
 * The database that a command works on, asked with bound parameters: the local one through SQLite, that of a deployment
 * through D1's HTTP API. No text of SQL passes through wrangler, which removes `BEGIN TRANSACTION;` and `COMMIT;` from it,
 * inside contents too.
 */
import { createHash, createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parametersOf, type Statement, type Values } from '../src/db/statement.ts'
import { Account, type AccountDatabase, type Query, type Row } from './cloudflare.ts'
import { configFileOf, configurationOf, stateFolder, type Target } from './wrangler.ts'

/** A process of `npm run dev` may hold the lock for as long as one of its batches takes. */
const LOCK_TIMEOUT_MS = 10_000

/** What a command does with a database. */
export interface CommandDatabase {
  /** Runs the statements in one transaction. @returns the rows of each. */
  batch(queries: readonly Query[]): Promise<Row[][]>
  close(): void
}

/** Opens the database of the target. @throws if there is none. */
export async function openDatabase(target: Target): Promise<CommandDatabase> {
  if (target.remote) {
    const account = await Account.of(target)
    const { uuid } = await requireDeployedDatabase(account, target)
    return { batch: (queries) => account.query(uuid, queries), close: () => undefined }
  }
  const file = localDatabaseFile(target)
  if (!existsSync(file)) {
    throw new Error(`There is no database in ${stateFolder(target)}. \`npm run dev\` makes one.`)
  }
  const database = openLocalFile(file)
  return {
    batch: async (queries) =>
      inTransaction(database, () => queries.map((query) => runQuery(database, query))),
    close: () => database.close(),
  }
}

/** Runs statements in one transaction on the database of the target. @returns the rows of each. */
export async function execute(
  target: Target,
  statements: readonly { statement: Statement; values: Values }[],
): Promise<Row[][]> {
  const database = await openDatabase(target)
  try {
    return await database.batch(
      statements.map(({ statement, values }) => ({
        sql: statement.sql,
        parameters: parametersOf(statement, values),
      })),
    )
  } finally {
    database.close()
  }
}

/**
 * The database that the configuration names; undefined: the account has none of this name.
 * @throws if the Worker is deployed with another one: a restore that was cut off, or an outdated configuration.
 */
export async function deployedDatabase(
  account: Account,
  target: Target,
): Promise<AccountDatabase | undefined> {
  const name = databaseConfiguration(target).database_name ?? ''
  const found = await account.get<AccountDatabase>(`/d1/database/${name}`)
  const bound = await account.boundDatabase(configurationOf(target).name ?? '')
  if (bound === undefined || bound === found?.uuid) return found
  const { name: current } = await account.databaseOf(bound)
  throw new Error(
    `The Worker uses the database ${current}, and ${basename(configFileOf(target))} names ${name}. Set database_name = "${current}".`,
  )
}

export async function requireDeployedDatabase(account: Account, target: Target): Promise<AccountDatabase> {
  const found = await deployedDatabase(account, target)
  if (found) return found
  throw new Error(
    `The account has no D1 database ${databaseConfiguration(target).database_name}. \`npm run deploy\` makes it.`,
  )
}

/** The binding `DB` in the configuration of the target. */
export function databaseConfiguration(target: Target) {
  const found = configurationOf(target).d1_databases.find(({ binding }) => binding === 'DB')
  if (!found) throw new Error('The configuration has no D1 database with the binding "DB".')
  return found
}

export function openLocalFile(file: string): DatabaseSync {
  return new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS, enableForeignKeyConstraints: false })
}

/** Does the work in one transaction, which other processes see as a whole or not at all. */
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

/** The SQLite file that workerd keeps the local database in: it is named by the id of a Durable Object. */
export function localDatabaseFile(target: Target): string {
  const { preview_database_id, database_id, binding } = databaseConfiguration(target)
  const namespace = 'miniflare-D1DatabaseObject'
  const key = createHash('sha256').update(namespace).digest()
  const half = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const name = half(preview_database_id ?? database_id ?? binding)
  const id = Buffer.concat([name, half(name)]).toString('hex')
  return join(stateFolder(target), 'v3', 'd1', namespace, `${id}.sqlite`)
}
