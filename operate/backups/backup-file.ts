/**
 * A backup is a SQLite database in its own file. It is verified after it was written, and before it is restored.
 */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { IS_SERVICE_TABLE, migrationNames, readMigration, schemaAfter, schemaOf } from '../migrations.ts'
import { MOVE_TRIGGERS } from '../move-guard.ts'
import { loadDump } from './sql-dump.ts'

/** D1's limit for a row. The local D1 allows larger rows, which a deployment rejects. */
const LARGEST_ROW_BYTES = 2_000_000

const SQLITE_HEADER = 'SQLite format 3\0'

/** Refuses writes while a deployed database is copied or replaced (write-pause.ts). A dump may contain it. */
export const PAUSE_TRIGGER = 'restoreUnderWay'

/**
 * Loads a backup, or a dump that D1 or wrangler wrote, into a new SQLite file, verifies it, and migrates it.
 * @throws what is wrong, if it is incomplete, damaged, or not a backup of this service.
 */
export async function loadBackup(input: string, file: string): Promise<DatabaseSync> {
  let database: DatabaseSync | undefined
  try {
    if (isSqliteFile(input)) copySqliteFile(input, file)
    database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
    database.exec('PRAGMA trusted_schema = OFF')
    if (!isSqliteFile(input)) await loadDump(database, createReadStream(input, 'utf8') as AsyncIterable<string>)
    stripCopy(database)
    verifyBackup(database)
    migrate(database)
    return database
  } catch (error) {
    database?.close()
    throw new Error(`${basename(input)} can't be restored: ${(error as Error).message}.`)
  }
}

/** Copies a consistent snapshot, also of a file that another process has open. @throws what is damaged. */
function copySqliteFile(input: string, file: string): void {
  const source = new DatabaseSync(input, { readOnly: true })
  try {
    verifyIntegrity(source)
    source.prepare('VACUUM INTO ?').run(file)
  } finally {
    source.close()
  }
}

function verifyIntegrity(database: DatabaseSync): void {
  const [{ integrity_check: result } = {}] = database.prepare('PRAGMA integrity_check').all()
  if (result !== 'ok') throw new Error(`it is damaged: ${result}`)
}

/** @throws what is wrong with the backup. */
export function verifyBackup(database: DatabaseSync): void {
  verifyIntegrity(database)
  const applied = appliedMigrations(database)
  const known = migrationNames()
  const unknown = applied.find((name, index) => name !== known[index])
  if (unknown !== undefined) {
    throw new Error(`its schema is that of another version of the service: it has the migration ${unknown}`)
  }
  const expected = schemaAfter(applied)
  const actual = schemaOf(database)
  for (const [name, sql] of expected) {
    if (!actual.has(name)) throw new Error(`it is incomplete: the ${name} is missing`)
    if (actual.get(name) !== sql) throw new Error(`the ${name} differs from that of this service`)
  }
  for (const name of actual.keys()) {
    if (!expected.has(name)) throw new Error(`it has the ${name}, which this service does not have`)
  }
  for (const table of tableNames(database)) verifyRows(database, table)
}

function verifyRows(database: DatabaseSync, table: string): void {
  const columns = columnNames(database, table)
  const size = columns.map((column) => `coalesce(octet_length("${column}"), 0)`).join(' + ')
  const isBlob = columns.map((column) => `typeof("${column}") = 'blob'`).join(' OR ')
  const [{ largest, blobs } = {}] = database
    .prepare(`SELECT max(${size}) AS "largest", coalesce(sum(${isBlob}), 0) AS "blobs" FROM "${table}"`)
    .all()
  if (Number(largest ?? 0) > LARGEST_ROW_BYTES) {
    throw new Error(`a row of the table ${table} has ${largest} bytes; D1 allows ${LARGEST_ROW_BYTES}`)
  }
  if (blobs !== 0) throw new Error(`the table ${table} has binary values, which this service does not store`)
}

/** Applies the migrations that came after the backup. */
function migrate(database: DatabaseSync): void {
  for (const name of migrationNames().slice(appliedMigrations(database).length)) {
    database.exec(readMigration(name))
    database.prepare('INSERT INTO "d1_migrations" ("name") VALUES (?)').run(name)
  }
}

function appliedMigrations(database: DatabaseSync): string[] {
  const isThere = database.prepare(`SELECT 1 FROM sqlite_master WHERE "name" = 'd1_migrations'`).get()
  const rows = isThere ? database.prepare('SELECT "name" FROM "d1_migrations" ORDER BY "id"').all() : []
  if (rows.length === 0) throw new Error('it is not a backup of this service')
  return rows.map(({ name }) => String(name))
}

/** The statements that create tables, indexes and triggers, tables first. */
export function schemaStatements(database: DatabaseSync, schema = 'main'): { type: string; sql: string }[] {
  return database
    .prepare(
      `SELECT "type", "sql" FROM "${schema}".sqlite_master WHERE "sql" IS NOT NULL AND ${IS_SERVICE_TABLE}
       ORDER BY "type" = 'table' DESC, rowid`,
    )
    .all() as { type: string; sql: string }[]
}

export function tableNames(database: DatabaseSync, schema = 'main'): string[] {
  return database
    .prepare(
      `SELECT "name" FROM "${schema}".sqlite_master WHERE "type" = 'table' AND ${IS_SERVICE_TABLE} ORDER BY "name"`,
    )
    .all()
    .map(({ name }) => String(name))
}

/** Of all tables together. */
export function countRows(database: DatabaseSync): number {
  return tableNames(database).reduce(
    (sum, table) => sum + Number(database.prepare(`SELECT count(*) AS "rows" FROM "${table}"`).get()?.rows),
    0,
  )
}

export function columnNames(database: DatabaseSync, table: string): string[] {
  return database
    .prepare('SELECT "name" FROM pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name))
}

/** The columns of the primary key, in order. */
export function keyNames(database: DatabaseSync, table: string): string[] {
  return database
    .prepare('SELECT "name" FROM pragma_table_info(?) WHERE "pk" > 0 ORDER BY "pk"')
    .all(table)
    .map(({ name }) => String(name))
}

/** Removes what belongs only to the database that was copied: the trigger of a pause, and D1's own tables. */
export function stripCopy(database: DatabaseSync): void {
  const triggers = database
    .prepare(`SELECT "name" FROM sqlite_master WHERE "type" = 'trigger' AND ("name" = ? OR "name" LIKE ?)`)
    .all(PAUSE_TRIGGER, `${MOVE_TRIGGERS}%`)
  for (const { name } of triggers) database.exec(`DROP TRIGGER "${name}"`)
  const tables = database
    .prepare(`SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND "name" LIKE '\\_cf\\_%' ESCAPE '\\'`)
    .all()
  for (const { name } of tables) database.exec(`DROP TABLE "${name}"`)
}

function isSqliteFile(file: string): boolean {
  const bytes = Buffer.alloc(SQLITE_HEADER.length)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, bytes)
  } finally {
    closeSync(handle)
  }
  return bytes.toString('latin1') === SQLITE_HEADER
}
