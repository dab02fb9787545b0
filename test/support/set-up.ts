/** Writes the rows of a set-up in one batch: each batch takes two milliseconds, whatever is in it. */
import { env } from './env.ts'

const waiting: D1PreparedStatement[] = []
let depth = 0
let written: Promise<unknown> = Promise.resolve()

/** Statements that `write` gets in the meantime wait until the set-up ends, reads rows or sends a request. */
export async function inOneBatch<T>(setUp: () => Promise<T>): Promise<T> {
  depth++
  try {
    return await setUp()
  } finally {
    depth--
    if (depth === 0) await writeWaiting()
  }
}

export async function write(...statements: D1PreparedStatement[]): Promise<void> {
  waiting.push(...statements)
  if (depth === 0) await writeWaiting()
}

export async function writeWaiting(): Promise<void> {
  const statements = waiting.splice(0)
  if (statements.length > 0) {
    const before = written.catch(() => {})
    written = before.then(() => env.DB.batch(statements))
  }
  await written
}
