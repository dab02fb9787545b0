/** Copies a consistent snapshot of a database into a SQLite file. */
import { DatabaseSync } from 'node:sqlite'
import type { Value } from '../../src/db/parameters.ts'
import type { Account, Row } from '../cloudflare.ts'
import { openLocalFile } from '../database.ts'
import type { Source } from '../databases.ts'
import { columnNames, keyNames, tableNames } from './backup-file.ts'
import { loadDump } from './sql-dump.ts'
import { WritePause } from './write-pause.ts'

/** Bounds the size of a response: a row has up to 1 MiB. */
const ROWS_PER_QUERY = 5

/** Refuses writes to a deployed database meanwhile. @param file is created. */
export async function snapshot(source: Source, file: string): Promise<void> {
  if ('file' in source) return snapshotLocal(source.file, file)
  const { account, uuid } = source
  const pause = await WritePause.begin(account, uuid)
  try {
    await snapshotRemote(account, uuid, file)
    await pause.confirm()
  } finally {
    await pause.end()
  }
}

/** Consistent, also while a running service writes. */
export function snapshotLocal(source: string, file: string): void {
  const database = openLocalFile(source)
  try {
    database.prepare('VACUUM INTO ?').run(file)
  } finally {
    database.close()
  }
}

/** Loads D1's export. The caller pauses writes to the database. */
export async function snapshotRemote(account: Account, databaseId: string, file: string): Promise<void> {
  const dump = await account.export(databaseId)
  const copy = new DatabaseSync(file)
  try {
    // The types of workerd's streams, which this project has, do not know that Node's can be iterated.
    await loadDump(copy, dump.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>)
    for (const table of tableNames(copy)) {
      for (const column of columnNames(copy, table)) await correctText(account, databaseId, copy, table, column)
    }
  } finally {
    copy.close()
  }
}

/**
 * D1 exports a line break as the two characters `\n` within `replace(…, '\n', char(10))`, and does not escape these two
 * characters where a text has them itself. So both are loaded as line breaks. This reads texts that have both
 * from D1 again.
 */
async function correctText(
  account: Account,
  databaseId: string,
  copy: DatabaseSync,
  table: string,
  column: string,
): Promise<void> {
  const key = keyNames(copy, table)
  if (key.length === 0) return
  const names = key.map((name) => `"${name}"`).join(', ')
  const hasBoth = (letter: string, code: number) =>
    `(instr("${column}", char(92) || '${letter}') > 0 AND instr("${column}", char(${code})) > 0)`
  const select = (after: string) => `SELECT ${names}, "${column}" AS "text" FROM "${table}"
    WHERE (${hasBoth('n', 10)} OR ${hasBoth('r', 13)})${after} ORDER BY ${names} LIMIT ${ROWS_PER_QUERY}`
  const isRow = key.map((name) => `"${name}" IS ?`).join(' AND ')
  const values = (row: Row): Value[] => key.map((name) => row[name] ?? null)

  for (let last: Row | undefined; ; ) {
    const query = last
      ? { sql: select(` AND (${names}) > (${key.map(() => '?').join(', ')})`), parameters: values(last) }
      : { sql: select('') }
    const [rows = []] = await account.query(databaseId, [query])
    for (const row of rows) {
      const [found] = copy.prepare(`SELECT "${column}" AS "text" FROM "${table}" WHERE ${isRow}`).all(...values(row))
      if (found?.text === row.text) continue
      if (found?.text !== asExported(String(row.text))) {
        throw new Error(`The table ${table} was changed during the export. Try again.`)
      }
      copy.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${isRow}`).run(row.text ?? null, ...values(row))
    }
    if (rows.length < ROWS_PER_QUERY) return
    last = rows.at(-1)
  }
}

/** The result of exporting and loading a text. */
function asExported(text: string): string {
  const withReturns = text.includes('\r') ? text.replaceAll('\\r', '\r') : text
  return text.includes('\n') ? withReturns.replaceAll('\\n', '\n') : withReturns
}
