import { failure } from '../../errors.ts'

/** @param cursor whose it is. @param advice what to do. */
export const cursorExpired = (cursor: string, advice: string) =>
  failure('cursor_expired', `The next event after ${cursor} is no longer kept, so events may be missing. ${advice}`)

export const listCursorExpired = cursorExpired(
  'this cursor',
  'Read what you keep a copy of again, and continue with after=now.',
)
