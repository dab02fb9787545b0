/** Finds statements by the names of the exports that hold them. */
import { type Statement, statements } from '../src/db/statement.ts'

/** The statements of a module by the names of its exports, those within objects and lists too. */
export function namedStatements(exported: unknown, name = ''): [string, Statement][] {
  if (typeof exported !== 'object' || exported === null) return []
  if (statements.includes(exported as Statement)) {
    const recording = 'recording' in exported ? namedStatements(exported.recording, `${name}.recording`) : []
    return [[name, exported as Statement], ...recording]
  }
  const isPlain = Array.isArray(exported) || [null, Object.prototype].includes(Object.getPrototypeOf(exported))
  if (!isPlain) return []
  return Object.entries(exported).flatMap(([key, value]) => namedStatements(value, name ? `${name}.${key}` : key))
}
