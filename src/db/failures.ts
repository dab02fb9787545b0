/** The one place that reads the words of an engine's error. */

/** A store that cannot answer now; asking again is safe. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/**
 * What D1 says when it is away for a moment: overload, a lost connection, a reset of the object that holds the
 * database (Cloudflare's D1 documentation, "Debug D1", list of errors).
 */
const TRANSIENT = [
  'Network connection lost',
  'caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue',
]

/** What the database answers a change with while an operator copies or exchanges it (scripts/backups/write-pause.ts). */
export const PAUSE_MESSAGE = 'A backup or restore is under way'

/** What it says when it has too much to do: to ask again at once would make it worse. */
const OVERLOADED = ['D1 DB is overloaded', 'D1 DB storage operation exceeded timeout', PAUSE_MESSAGE]

/** True if the error says that a store is away for now, not that the service is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true
  return isTransient(error) || says(error, OVERLOADED)
}

/** True if the store may well answer the next moment. */
export function isTransient(error: unknown): boolean {
  return says(error, TRANSIENT) && !says(error, OVERLOADED)
}

function says(error: unknown, sentences: readonly string[]): boolean {
  return error instanceof Error && sentences.some((sentence) => error.message.includes(sentence))
}

/** How many causes of an error are described. */
const DEEPEST_CAUSE = 3

interface Failure {
  readonly name: string
  readonly message?: string
  readonly stack: readonly string[]
  readonly cause?: Failure
}

/**
 * What may be logged of an error: its name, where it was thrown, and the words of the store if they are a store's,
 * apart from what these quote. Any other message is left out: it could repeat what a caller sent.
 */
export function describeFailure(error: unknown, depth = 0): Failure {
  if (!(error instanceof Error)) return { name: typeof error, stack: [] }
  const { name, message, cause } = error
  const isStores = error instanceof StoreUnavailable || message.startsWith('D1_')
  return {
    name,
    ...(isStores && { message: message.replace(/['"].*['"]/s, '…') }),
    stack: framesOf(error),
    ...(cause !== undefined && depth < DEEPEST_CAUSE && { cause: describeFailure(cause, depth + 1) }),
  }
}

/** The lines of the stack that come after the message. */
function framesOf({ stack = '', message }: Error): string[] {
  const frames = stack.slice(stack.indexOf(message) + message.length)
  return frames.split('\n').filter((line) => line.trimStart().startsWith('at '))
}
