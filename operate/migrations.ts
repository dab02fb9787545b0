/** The migrations of this version, and how they are applied. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissingTable } from '../src/db/failures.ts'
import { ROOT } from '../tools/wrangler.ts'
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

/** Between two statements of a migration. */
const BREAKPOINT = '--> statement-breakpoint'

/**
 * Applies the missing migrations, each in a transaction with its record, as wrangler does. Another process may do the same
 * at once.
 * @returns the names of the migrations that the database lacked.
 */
export async function migrate(database: CommandDatabase): Promise<string[]> {
  const applied = await appliedMigrations(database)
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
      if (!(await appliedMigrations(database))?.includes(name)) throw error
    }
  }
  return missing
}

/** In order; undefined before the first migration. */
export async function appliedMigrations(database: CommandDatabase): Promise<string[] | undefined> {
  try {
    const [rows = []] = await database.batch([{ sql: 'SELECT "name" FROM "d1_migrations" ORDER BY "id"' }])
    return rows.map(({ name }) => String(name))
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}
