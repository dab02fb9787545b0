/** The database of a local state folder, read and changed beside the service, for tests on Node. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Row } from '../../operate/cloudflare.ts'
import { existingDatabaseFile, localDatabase, localDatabaseFile, openLocalFile } from '../../operate/database.ts'
import { ROOT } from './commands.ts'
import { newFolder } from './dev-server.ts'

/** Every migration, in order. */
export const MIGRATIONS = readdirSync(join(ROOT, 'migrations'))
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((name) => ({ name, sql: readFileSync(join(ROOT, 'migrations', name), 'utf8') }))

/** A state folder whose database is empty and has the current schema, for which wrangler would need ten seconds. */
export function newState(): string {
  const state = newFolder()
  const file = localDatabaseFile({ remote: false, persistTo: state })
  mkdirSync(dirname(file), { recursive: true })
  const database = openLocalFile(file)
  database.exec('PRAGMA journal_mode = WAL')
  applyMigrations(database)
  database.close()
  return state
}

/** Brings an empty database to the current schema, as wrangler does. */
export function applyMigrations(database: DatabaseSync): void {
  database.exec(
    'CREATE TABLE d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)',
  )
  for (const { name, sql } of MIGRATIONS) {
    database.exec(sql)
    database.prepare('INSERT INTO "d1_migrations" ("name") VALUES (?)').run(name)
  }
}

export async function rowsOf(state: string, sql: string, number = 0): Promise<Row[]> {
  const database = localDatabase(existingDatabaseFile({ remote: false, persistTo: state }, number))
  try {
    const [rows = []] = await database.batch([{ sql }])
    return rows
  } finally {
    database.close()
  }
}

export async function countOf(state: string, sql: string, number = 0): Promise<number> {
  const [row] = await rowsOf(state, `SELECT count(*) AS "count" FROM ${sql}`, number)
  return Number(row?.count)
}
