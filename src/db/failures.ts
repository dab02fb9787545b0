/** Classifies errors by their messages. No other module reads the message of an error. */

/** A store is temporarily unavailable. A retry is safe. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/**
 * D1's messages for transient failures: a lost connection, or a reset of the object that holds the database
 * (Cloudflare's D1 documentation, "Debug D1", list of errors).
 */
const TRANSIENT = [
  'Network connection lost',
  'caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue',
  // A local database while another process writes to it, such as `npm run operate -- organization delete`.
  'SQLITE_BUSY',
  'Failed to get session commit token',
]

/** The database's message for a change during a backup or restore (operate/backups/write-pause.ts). */
export const PAUSE_MESSAGE = 'A backup or restore is under way'

/** The database's message for a change of an organization that moves to another database (operate/move-guard.ts). */
export const MOVE_MESSAGE = 'The organization moves to another database'

/** D1's messages for overload, which an immediate retry would make worse. */
const OVERLOADED = ['D1 DB is overloaded', 'D1 DB storage operation exceeded timeout', PAUSE_MESSAGE, MOVE_MESSAGE]

/** D1's message, and that of SQLite. */
const FULL = ['Exceeded maximum DB size', 'SQLITE_FULL', 'database or disk is full']

/** True if a store is temporarily unavailable, rather than the service faulty. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true
  return isTransient(error) || hasMessage(error, OVERLOADED)
}

/** True if the database has no room for a change. */
export function isFull(error: unknown): boolean {
  return hasMessage(error, FULL)
}

/** True if an immediate retry may succeed. */
export function isTransient(error: unknown): boolean {
  return hasMessage(error, TRANSIENT) && !hasMessage(error, OVERLOADED)
}

/** True before the first migration. */
export function isMissingTable(error: unknown): boolean {
  return hasMessage(error, ['no such table'])
}

function hasMessage(error: unknown, messages: readonly string[]): boolean {
  return error instanceof Error && messages.some((message) => error.message.includes(message))
}

/** The most nested causes of an error that are described. */
const MAX_CAUSE_DEPTH = 3

interface Failure {
  readonly name: string
  readonly message?: string
  readonly stack: readonly string[]
  readonly cause?: Failure
}

/**
 * The part of an error that may be logged: its name, its stack and, if it is a store's, its message without quoted
 * text. Any other message is left out, because it could repeat a caller's input.
 */
export function describeFailure(error: unknown, depth = 0): Failure {
  if (!(error instanceof Error)) return { name: typeof error, stack: [] }
  const { name, message, cause } = error
  const isOfStore = error instanceof StoreUnavailable || message.startsWith('D1_')
  return {
    name,
    ...(isOfStore && { message: message.replace(/['"].*['"]/s, '…') }),
    stack: framesOf(error),
    ...(cause !== undefined && depth < MAX_CAUSE_DEPTH && { cause: describeFailure(cause, depth + 1) }),
  }
}

/** The lines of the stack after the message. */
function framesOf({ stack = '', message }: Error): string[] {
  const frames = stack.slice(stack.indexOf(message) + message.length)
  return frames.split('\n').filter((line) => line.trimStart().startsWith('at '))
}
