/** Reads an SQL dump statement by statement: a dump may be larger than the longest string. */
import type { DatabaseSync } from 'node:sqlite'
import { type Progress, startProgress } from '../../tools/command-line.ts'

/** The statements that D1, wrangler and sqlite3 write into a dump. Others, such as ATTACH, are refused. */
const EXPECTED =
  /^(?:CREATE\s+(?:TABLE|(?:UNIQUE\s+)?INDEX|TRIGGER)\b|INSERT\s+INTO\b|DELETE\s+FROM\s+"?sqlite_sequence"?|PRAGMA\s+(?:defer_)?foreign_keys\b|ANALYZE\b)/i

/** A dump may contain its own transaction. */
const TRANSACTION = /^(?:BEGIN(?:\s+TRANSACTION)?|COMMIT)\s*;$/i

const TRIGGER = /^CREATE\s+TRIGGER\b/i

/**
 * Runs the statements of a dump.
 * @throws if one fails or is not allowed, or if the last one is cut off.
 */
export async function loadDump(database: DatabaseSync, chunks: AsyncIterable<string>): Promise<void> {
  const progress = startProgress('Loading statements')
  try {
    await runStatements(database, chunks, progress)
  } finally {
    progress.end()
  }
}

async function runStatements(database: DatabaseSync, chunks: AsyncIterable<string>, progress: Progress): Promise<void> {
  database.exec('BEGIN')
  for await (const statement of statementsOf(chunks, database)) {
    progress.add()
    if (TRANSACTION.test(statement)) continue
    if (!EXPECTED.test(statement)) throw new Error(`it has the statement "${statement.slice(0, 40)}"`)
    const prepared = database.prepare(statement)
    // SQLite prepares only the first statement, so a difference shows that the scanner missed the end of it.
    if (prepared.sourceSQL.trim() !== statement) throw new Error('it has a statement that hides another one')
    prepared.run()
  }
  database.exec('COMMIT')
}

/** Splits the dump into statements, each with its semicolon. */
async function* statementsOf(chunks: AsyncIterable<string>, database: DatabaseSync): AsyncGenerator<string> {
  let text = ''
  let position = 0
  const scanner = new Scanner()
  for await (const chunk of chunks) {
    text += chunk
    for (;;) {
      const end = scanner.nextSemicolon(text, position)
      if (end < 0) {
        position = text.length
        break
      }
      position = end + 1
      const statement = text.slice(0, position).trim()
      if (TRIGGER.test(statement) && isIncomplete(statement, database)) continue
      yield statement
      text = text.slice(position)
      position = 0
    }
  }
  if (text.trim() !== '') throw new Error('its last statement is cut off')
}

/** True if SQLite expects more text: the body of a trigger contains semicolons. */
function isIncomplete(statement: string, database: DatabaseSync): boolean {
  try {
    database.prepare(statement)
    return false
  } catch (error) {
    return (error as Error).message.includes('incomplete input')
  }
}

/** Finds semicolons outside of quotes and comments, and keeps its state between chunks. */
class Scanner {
  /** The quote that is open, or `-` in a line comment, or `*` in a block comment. */
  #inside: "'" | '"' | '`' | '-' | '*' | undefined
  #previous = ''

  /** @returns -1 if there is none from `start` on. */
  nextSemicolon(text: string, start: number): number {
    for (let index = start; index < text.length; index++) {
      const character = text.charAt(index)
      const pair = this.#previous + character
      this.#previous = character
      if (this.#inside === '-') {
        if (character === '\n') this.#inside = undefined
      } else if (this.#inside === '*') {
        if (pair !== '*/') continue
        this.#inside = undefined
        // The slash that ends the comment does not open another.
        this.#previous = ''
      } else if (this.#inside !== undefined) {
        if (character === this.#inside) this.#inside = undefined
      } else if (character === "'" || character === '"' || character === '`') this.#inside = character
      else if (pair === '--') this.#inside = '-'
      else if (pair === '/*') {
        this.#inside = '*'
        // The asterisk that opens the comment does not end it too.
        this.#previous = ''
      } else if (character === ';') return index
    }
    return -1
  }
}
