/** Real bindings, watched or made to fail. */

import type { Environment } from '../../src/environment.ts'
import { env } from './env.ts'

export interface DatabaseUse {
  readonly DB: D1Database
  /** Round trips to D1. */
  calls: number
  rowsRead: number
  rowsWritten: number
  /** The SQL of every statement, with what it was bound to. */
  readonly statements: { sql: string; rowsRead: number; rowsWritten: number }[]
}

/**
 * The test's database, with a count of what is asked of it. The Worker asks in batches only.
 * @param page instead of each larger limit of a statement.
 */
export function watchedDatabase(page = Number.POSITIVE_INFINITY): DatabaseUse {
  const sqlOf = new WeakMap<D1PreparedStatement, string>()
  const use: DatabaseUse = {
    calls: 0,
    rowsRead: 0,
    rowsWritten: 0,
    statements: [],
    DB: {
      prepare(sql: string) {
        const statement = env.DB.prepare(sql.replace(LIMIT, (_, word, limit) => `${word}${atMost(page, word, limit)}`))
        const words = Array.from(sql.matchAll(PARAMETER), ([, word]) => word)
        return {
          bind(...values: unknown[]) {
            const bound = statement.bind(
              ...values.map((value, index) => (words[index] ? atMost(page, words[index], value) : value)),
            )
            sqlOf.set(bound, sql)
            return bound
          },
        }
      },
      async batch(statements: D1PreparedStatement[]) {
        use.calls++
        const results = await env.DB.batch(statements)
        for (const [index, { meta }] of results.entries()) {
          use.rowsRead += meta.rows_read
          use.rowsWritten += meta.rows_written
          use.statements.push({
            sql: sqlOf.get(statements[index] as D1PreparedStatement) ?? '',
            rowsRead: meta.rows_read,
            rowsWritten: meta.rows_written,
          })
        }
        return results
      },
    } as unknown as D1Database,
  }
  return use
}

const LIMIT = /(\blimit |\boffset )(\d+)/g
const PARAMETER = /(\blimit \+|\boffset )?\?/g

function atMost(page: number, word: string, limit: unknown): number {
  return Math.min(Number(limit), word === 'offset ' ? page - 1 : page)
}

/** The test's database, with another way to run a batch. The Worker asks in batches only. */
export function databaseWith(batch: (statements: D1PreparedStatement[]) => Promise<unknown>): D1Database {
  // Only what the Worker calls is here; the cast claims the rest.
  return { prepare: (sql: string) => env.DB.prepare(sql), batch } as unknown as D1Database
}

/** The test's database, as if it had this size. */
export const databaseOfSize = (gigabytes: number) =>
  databaseWith(async (statements) => {
    const results = await env.DB.batch(statements)
    return results.map((result) => ({ ...result, meta: { ...result.meta, size_after: gigabytes * 1e9 } }))
  })

/** The test's database; `happen` runs before the batch of this number. */
export function interruptedDatabase(happen: () => unknown, number = 2): D1Database {
  let batches = 0
  return databaseWith(async (statements) => {
    if (++batches === number) await happen()
    return env.DB.batch(statements)
  })
}

/** A database whose every batch fails with this error. */
export function failingDatabase(error: Error): D1Database {
  return databaseWith(() => Promise.reject(error))
}

/** An object store whose every call fails with this error. */
export function failingObjects(error: Error): R2Bucket {
  return new Proxy(env.OBJECTS, { get: () => () => Promise.reject(error) })
}

/** The object store, with some of its methods exchanged. */
export function objectsWith(methods: Partial<R2Bucket>): R2Bucket {
  const bound = (target: R2Bucket, name: keyof R2Bucket) => target[name].bind(target)
  return new Proxy(env.OBJECTS, {
    get: (target, name) => methods[name as keyof R2Bucket] ?? bound(target, name as keyof R2Bucket),
  })
}

/** An environment in which something happens while an upload is under way. */
export function whileStoring(happens: () => unknown): Pick<Environment, 'OBJECTS'> {
  const put = async (...[key, body]: Parameters<R2Bucket['put']>) => {
    await happens()
    return env.OBJECTS.put(key, body)
  }
  return { OBJECTS: objectsWith({ put: put as R2Bucket['put'] }) }
}
