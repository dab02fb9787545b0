/** The migrations of this version, and how they are applied. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isMissingTable } from '../src/db/failures.ts'
import { ROOT } from '../tools/wrangler.ts'
import type { Row } from './cloudflare.ts'
import type { CommandDatabase } from './database.ts'

/** The migrations of this version, in order. */
export function migrationNames(): string[] {
  return readdirSync(join(ROOT, 'migrations'))
    .filter((file) => file.endsWith('.sql'))
    .sort()
}

export function readMigration(name: string): string {
  return readFileSync(join(ROOT, 'migrations', name), 'utf8')
}

/** The table that wrangler creates when it applies migrations. */
export const MIGRATIONS_TABLE = `CREATE TABLE d1_migrations(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`

/** Excludes the tables of SQLite and of D1 themselves. */
export const IS_SERVICE_TABLE = `"name" NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND "name" NOT LIKE '\\_cf\\_%' ESCAPE '\\'`

const SELECT_SCHEMA = `SELECT "type", "name", "sql" FROM sqlite_master WHERE ${IS_SERVICE_TABLE}`

/** Between two statements of a migration. */
const BREAKPOINT = '--> statement-breakpoint'

/**
 * Applies the missing migrations, each in a transaction with its record, as wrangler does. Another process may do the same
 * at once.
 * @returns the names of the migrations that the database lacked.
 * @throws if the database differs from what its migrations make now. Nothing is changed then.
 */
export async function migrate(database: CommandDatabase): Promise<string[]> {
  const { applied, differences } = await readMigrations(database)
  if (differences.length > 0) throw new Error(`${describeDifferences(differences)} Nothing was changed.`)
  if (!applied) await database.batch([{ sql: MIGRATIONS_TABLE.replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS') }])
  const missing = migrationNames().filter((name) => !applied?.includes(name))
  for (const name of missing) {
    const statements = readMigration(name)
      .split(BREAKPOINT)
      .map((sql) => ({ sql: sql.trim() }))
      .filter(({ sql }) => sql !== '')
    // First, because it fails if another process was faster.
    const record = { sql: 'INSERT INTO "d1_migrations" ("name") VALUES (?)', parameters: [name] }
    try {
      await database.batch([record, ...statements])
    } catch (error) {
      if (!(await readMigrations(database)).applied?.includes(name)) throw error
    }
  }
  return missing
}

export interface AppliedMigrations {
  /** In order; undefined before the first migration. */
  readonly applied?: readonly string[]
  /**
   * The tables, indexes and triggers that are missing or differ from what the applied migrations make, such as
   * `table projects`. None if a newer version has migrated the database, whose migrations are not here.
   */
  readonly differences: readonly string[]
}

export async function readMigrations(database: CommandDatabase): Promise<AppliedMigrations> {
  try {
    const [rows = []] = await database.batch([
      {
        sql: `SELECT 'migration' AS "type", "name", NULL AS "sql" FROM (SELECT "name" FROM "d1_migrations" ORDER BY "id")
          UNION ALL ${SELECT_SCHEMA}`,
      },
    ])
    const applied = rows.filter(({ type }) => type === 'migration').map(({ name }) => String(name))
    return { applied, differences: differencesFrom(applied, rows) }
  } catch (error) {
    if (isMissingTable(error)) return { differences: [] }
    throw error
  }
}

/** What an operator reads of `differences`. */
export function describeDifferences(differences: readonly string[]): string {
  return `The database is not what its migrations make: ${differences.join(', ')}. Either somebody changed its schema: put back what differs. Or code from before 1.0.0 made it, whose migrations have changed since: go on with that code, or begin with an empty database.`
}

function differencesFrom(applied: readonly string[], rows: readonly Row[]): string[] {
  const known = migrationNames()
  if (applied.some((name) => !known.includes(name))) return []
  const actual = definitionsIn(rows)
  return [...schemaAfter(applied)]
    .filter(([name, sql]) => name !== 'table d1_migrations' && actual.get(name) !== sql)
    .map(([name]) => name)
}

/** What the migrations make, as `schemaOf` has it. */
export function schemaAfter(migrations: readonly string[]): Map<string, string> {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec(MIGRATIONS_TABLE)
    for (const name of migrations) database.exec(readMigration(name))
    return schemaOf(database)
  } finally {
    database.close()
  }
}

/** The SQL of each table, index and trigger by its type and name, such as `table projects`, without white space and quotes. */
export function schemaOf(database: DatabaseSync): Map<string, string> {
  return definitionsIn(database.prepare(SELECT_SCHEMA).all() as Row[])
}

function definitionsIn(rows: readonly Row[]): Map<string, string> {
  return new Map(
    rows
      .filter(({ sql }) => sql !== null)
      .map(({ type, name, sql }) => [
        `${type} ${name}`,
        String(sql)
          .replaceAll(/[\s"`]+/g, '')
          .toLowerCase(),
      ]),
  )
}
