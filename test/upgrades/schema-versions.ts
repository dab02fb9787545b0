/**
 * The rows of every schema version. A migration that changes what the service writes begins a version: add it here,
 * with what it makes of existing rows (`becomes`), and with new rows. A version keeps its rows, so that they stay as
 * its service wrote them.
 */
import { env } from '../support/env.ts'
import { initial } from './0000-initial.ts'
import { brakes } from './0001-brakes.ts'
import type { Rows, SchemaVersion } from './schema-version.ts'

export const schemaVersions: readonly SchemaVersion[] = [initial, brakes]

/** The names of the migrations, in order. */
export const MIGRATIONS = env.MIGRATIONS.map(({ name }) => name)

/** The schema versions up to a migration. */
export function schemaVersionsUntil(migration: string): SchemaVersion[] {
  return schemaVersions.filter((version) => MIGRATIONS.indexOf(version.migration) <= MIGRATIONS.indexOf(migration))
}

/** The rows of a database whose newest migration this is, as its service left them. */
export function rowsAt(migration: string): Rows {
  return schemaVersionsUntil(migration).reduce<Rows>(
    (rows, version) => withRows(rowsAfter(version.migration, rows), version.rows),
    {},
  )
}

/** What a migration makes of rows. */
export function rowsAfter(migration: string, rows: Rows): Rows {
  const version = schemaVersions.find((each) => each.migration === migration)
  return version?.becomes?.(rows) ?? rows
}

function withRows(rows: Rows, more: Rows): Rows {
  const tables = [...new Set([...Object.keys(rows), ...Object.keys(more)])]
  return Object.fromEntries(tables.map((table) => [table, [...(rows[table] ?? []), ...(more[table] ?? [])]]))
}
