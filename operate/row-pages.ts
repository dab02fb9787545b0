/** Converts rows to INSERT statements with bound parameters, within D1's limits. */
import type { Value } from '../src/db/parameters.ts'
import type { Query, Row } from './cloudflare.ts'

/** In characters. JSON may escape a character with six bytes, and D1 allows 2,000,000 bytes for a parameter. */
const MAX_TEXT_LENGTH = 100_000
/** The rows of a page are one parameter. The last row may exceed this size. */
const PAGE_BYTES = 500_000

/** Idempotent statements, and how many rows they insert. */
export interface Page {
  readonly queries: readonly Query[]
  readonly rows: number
}

export interface InsertedTable {
  readonly table: string
  readonly columns: readonly string[]
  /** The columns of the primary key. */
  readonly key: readonly string[]
}

/**
 * Inserts every row. Texts that are too long for one parameter are appended in pieces.
 * @param conflict whether a row that has the key already stays or is replaced.
 */
export function* insertingQueries(
  { table, columns, key }: InsertedTable,
  source: Iterable<Row>,
  conflict: 'IGNORE' | 'REPLACE' = 'IGNORE',
): Generator<Page> {
  const values = columns.map((_, index) => `"row".value ->> ${index}`)
  const insert = `INSERT OR ${conflict} INTO "${table}" (${columns.map((column) => `"${column}"`).join(', ')})
    SELECT ${values.join(', ')} FROM json_each(?) AS "row"`

  let rows: string[] = []
  let size = 0
  let pieces: Query[] = []
  const page = (): Page => ({
    queries: [{ sql: insert, parameters: [`[${rows.join(',')}]`] }, ...pieces],
    rows: rows.length,
  })
  for (const row of source) {
    const first = columns.map((column) => firstPiece(row[column] ?? null))
    const text = JSON.stringify(first)
    rows.push(text)
    size += Buffer.byteLength(text)
    pieces.push(...columns.flatMap((column) => furtherPieces(table, column, key, row)))
    if (size < PAGE_BYTES && pieces.length === 0) continue
    yield page()
    ;[rows, size, pieces] = [[], 0, []]
  }
  if (rows.length > 0) yield page()
}

function firstPiece(value: Value): Value {
  return typeof value === 'string' ? value.slice(0, cutAt(value, MAX_TEXT_LENGTH)) : value
}

/** Each statement sets the text up to a position and appends a piece, so that it is idempotent. */
function furtherPieces(table: string, column: string, key: readonly string[], row: Row): Query[] {
  const text = row[column]
  if (typeof text !== 'string') return []
  const isRow = key.map((name) => `"${name}" = ?`).join(' AND ')
  const queries: Query[] = []
  for (let start = cutAt(text, MAX_TEXT_LENGTH); start < text.length; ) {
    const end = cutAt(text, start + MAX_TEXT_LENGTH)
    queries.push({
      sql: `UPDATE "${table}" SET "${column}" = substr("${column}", 1, ?) || ? WHERE ${isRow}`,
      // SQLite counts code points.
      parameters: [[...text.slice(0, start)].length, text.slice(start, end), ...key.map((name) => row[name] ?? null)],
    })
    start = end
  }
  return queries
}

/** The largest length at which a text can be cut without splitting a surrogate pair. */
function cutAt(text: string, length: number): number {
  if (length >= text.length) return text.length
  const last = text.charCodeAt(length - 1)
  return last >= 0xd800 && last < 0xdc00 ? length - 1 : length
}
