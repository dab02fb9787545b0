/** The database that is upgraded, apart from the service: migrations, rows and schema. */
import { applyD1Migrations } from 'cloudflare:test'
import { insertPlace } from '../../operate/provisioning.ts'
import { databaseNumbers, requireDatabase } from '../../src/db/database.ts'
import { bind } from '../../src/db/statement.ts'
import { COUNT_USAGE } from '../../src/db/usage.ts'
import { databaseNumber, deployed, env } from '../support/env.ts'
import { listTables } from '../support/examples.ts'
import { ACME, GLOBEX, type Row, type Rows } from './schema-version.ts'
import { MIGRATIONS } from './schema-versions.ts'

/** Kept by triggers: no service writes it. */
export const USAGE = 'organizationUsage'

/** Applies the migrations up to one. */
export async function migrateTo(migration: string): Promise<void> {
  await applyD1Migrations(env.DB, env.MIGRATIONS.slice(0, MIGRATIONS.indexOf(migration) + 1))
}

/** The other databases of the deployment, as they are after an upgrade. */
export async function prepareOthers(): Promise<void> {
  if (env.DATABASES === 1) return
  const others = deployed(env)
  for (const number of databaseNumbers(others)) {
    if (number !== databaseNumber()) await applyD1Migrations(requireDatabase(others, number), env.MIGRATIONS)
  }
  if (databaseNumber() === 0) return
  const places = [ACME, GLOBEX].map((organizationId) => ({ organizationId, database: databaseNumber() }))
  const insertions = places.map((place) => bind(others.DB, insertPlace, place))
  await others.DB.batch([others.DB.prepare('DELETE FROM "directory"'), ...insertions])
}

export async function insert(rows: Rows): Promise<void> {
  for (const [table, each] of Object.entries(rows)) {
    const statements = each.map((row) => {
      const columns = Object.keys(row).map((column) => `"${column}"`)
      const values = Object.keys(row).map(() => '?')
      return env.DB.prepare(`INSERT INTO "${table}" (${columns}) VALUES (${values})`).bind(...Object.values(row))
    })
    if (statements.length > 0) await env.DB.batch(statements)
  }
}

/** Every row of every table but the one that triggers keep. */
export async function dump(): Promise<Rows> {
  const tables = (await listTables()).filter((table) => table !== USAGE)
  const results = await env.DB.batch<Row>(tables.map((table) => env.DB.prepare(`SELECT * FROM "${table}"`)))
  return Object.fromEntries(tables.map((table, index) => [table, sorted(results[index]?.results ?? [])]))
}

/** Rows as `dump` has them. */
export async function asDumped(rows: Rows): Promise<Rows> {
  const columns = await listColumns()
  const empty = (table: string): Row =>
    Object.fromEntries(columns.filter((column) => column.table === table).map(({ name }) => [name, null]))
  const tables = [...new Set([...columns.map(({ table }) => table), ...Object.keys(rows)])]
  const whole = tables.map((table): [string, Row[]] => [
    table,
    sorted((rows[table] ?? []).map((row) => ({ ...empty(table), ...row }))),
  ])
  return Object.fromEntries(whole.filter(([table]) => table !== USAGE))
}

function sorted(rows: readonly Row[]): Row[] {
  const text = (row: Row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))
  return rows.toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
}

/** What organizations have of each quota, as the triggers keep it. */
export async function usage(): Promise<unknown[]> {
  return (await env.DB.prepare(`SELECT * FROM "${USAGE}" ORDER BY "organizationId"`).all()).results
}

/** The same, counted from their rows. */
export async function countedUsage(): Promise<unknown[]> {
  return (await env.DB.prepare(`${COUNT_USAGE} ORDER BY "id"`).all()).results
}

interface Column {
  readonly table: string
  readonly name: string
  readonly notNull: number
}

export async function listColumns(): Promise<Column[]> {
  const columns = `SELECT "tables".value AS "table", "columns".name, "columns"."notnull" AS "notNull"
    FROM json_each(?) AS "tables" JOIN pragma_table_info("tables".value) AS "columns"`
  return (
    await env.DB.prepare(columns)
      .bind(JSON.stringify(await listTables()))
      .all<Column>()
  ).results
}

/** Every table, index and trigger, as it was made. */
export async function schema(): Promise<unknown[][]> {
  const made = `SELECT type, name, tbl_name, sql FROM sqlite_master
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' ORDER BY type, name`
  return env.DB.prepare(made).raw()
}
