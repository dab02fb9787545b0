/** What several operations say: what an error status means in most of them, and how a deletion is undone. */

export const INVALID_INPUT = 'The input is invalid, or the API key lacks the required scope.'
export const OTHER_PROJECTS = 'The API key is restricted to other projects.'
export const UNDO = '`POST /v1/deletions/{deletionId}/restore` restores it within 7 days (`UNDO_DAYS`).'
export const LENGTH_REQUIRED = 'The request has no `Content-Length`.'
export const NO_SUCH_RANGE = 'The content has no bytes in this range.'
export const UNAUTHORIZED = 'The API key is missing, malformed, unknown, revoked or expired.'
export const TOO_MANY_REQUESTS = 'Too many requests. Retry after the time in `Retry-After`.'
export const DATABASE_FULL = 'The database is nearly full. Deletions and changes of what exists still work.'
export const INTERNAL_ERROR = 'Internal error.'
export const STORE_UNAVAILABLE =
  'A store is temporarily unavailable. Retry after the time in `Retry-After`; retry a POST only with the same `Idempotency-Key`.'
