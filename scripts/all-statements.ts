/** Loads every module of the Worker, for the checks of its statements. */
import './node-stand-in.ts'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { type Statement, statements } from '../src/db/statement.ts'
import { ROOT } from '../tools/wrangler.ts'
import { namedStatements } from './named-statements.ts'

interface NamedStatement {
  /** The module that exports it: `src/resources/pins/statements.ts`. */
  readonly path: string
  readonly name: string
  readonly statement: Statement
}

/**
 * Every statement of `src/`, each once, in order of the paths.
 * @throws if a module keeps a statement to itself.
 */
export async function allStatements(): Promise<NamedStatement[]> {
  const found = new Map<Statement, NamedStatement>()
  for (const path of globSync('src/**/*.ts', { cwd: ROOT, exclude: ['src/db/statement.ts'] }).sort()) {
    for (const [name, statement] of namedStatements(await import(join(ROOT, path)))) {
      if (!found.has(statement)) found.set(statement, { path, name, statement })
    }
  }
  const hidden = statements.find((statement) => !found.has(statement))
  if (hidden) throw new Error(`This statement is not exported, so no check finds it: ${hidden.sql}`)
  return [...found.values()]
}
