/** Converts the rows of a table of a backup to INSERT statements. */
import type { DatabaseSync } from 'node:sqlite'
import type { Row } from '../cloudflare.ts'
import { insertingQueries, type Page } from '../row-pages.ts'
import { columnNames, keyNames } from './backup-file.ts'

export function fillingQueries(source: DatabaseSync, table: string): Generator<Page> {
  const rows = source.prepare(`SELECT * FROM "${table}"`).iterate() as Iterable<Row>
  return insertingQueries({ table, columns: columnNames(source, table), key: keyNames(source, table) }, rows)
}
