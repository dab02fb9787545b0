import { deleted, unrestrictedKeyRequiredOr } from '../../access/failures.ts'
import { failure } from '../../errors.ts'

export const cursorMismatch = failure(
  'cursor_mismatch',
  'The cursor is a file of another session. Use the nextCursor of the previous page.',
)
export const uploadExpired = failure('upload_expired', 'The upload took more than an hour. Send a smaller file.')
export const sessionFileNotFound = failure('session_file_not_found', 'The session has no file with this fileId.')
export const sessionRequired = unrestrictedKeyRequiredOr('Name a session as sessionId.')
export const SESSION = { type: 'session', noun: 'session', idName: 'sessionId' } as const
export const sessionDeleted = deleted(SESSION)
