/** The one place that reads the words of an engine's error. */

/** A store that cannot answer now; asking again is safe. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/**
 * What D1 says when it is away for a moment: overload, a lost connection, a reset of the object that holds the
 * database (Cloudflare's D1 documentation, "Debug D1", list of errors).
 */
const PASSING = [
  'D1 DB is overloaded',
  'Network connection lost',
  'caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue',
  'D1 DB storage operation exceeded timeout',
]

/** True if the error says that a store is away for now, not that the service is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true
  return error instanceof Error && PASSING.some((words) => error.message.includes(words))
}

/**
 * What may be logged of an error: its name, the engine's words if they are D1's (they name tables and columns,
 * never values), and where it was thrown. Any other message is left out: it could repeat what a caller sent.
 */
export function describeFailure(error: unknown): {
  name: string
  message?: string
  stack: string[]
  cause?: unknown
} {
  if (!(error instanceof Error)) return { name: typeof error, stack: [] }
  const isEngine = error instanceof StoreUnavailable || error.message.startsWith('D1_')
  return {
    name: error.name,
    ...(isEngine && { message: error.message }),
    stack: (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at ')),
    ...(error.cause !== undefined && { cause: describeFailure(error.cause) }),
  }
}
