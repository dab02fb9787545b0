/** `If-Match` and `If-None-Match` on what has a revision (docs/contract.md, "Edits by several clients"). */
import { isNull, type SQLWrapper, sql } from 'drizzle-orm'
import { textOrNull } from '../db/parameters.ts'
import { ApiError } from '../errors.ts'
import { precondition } from './preconditions.ts'

/** The entity tags in `If-Match`, with their quotes; `*`; or null without the header. */
const ifMatch = textOrNull('ifMatch')
/** `*`, or null without the header. */
const ifNoneMatch = textOrNull('ifNoneMatch')

/** The revision of an edit: a value that the resource has not had. */
export const newRevision = sql<string>`lower(hex(randomblob(8)))`

/** @param revision of the named resource; NULL if it does not exist. */
export function matchesRevision(noun: string, revision: SQLWrapper) {
  return precondition(
    sql`${ifMatch} is null or (${ifMatch} = '*' and ${revision} is not null) or instr(${ifMatch}, '"' || ${revision} || '"') > 0`,
    () =>
      new ApiError(
        'etag_mismatch',
        `If-Match does not have the current ETag of the ${noun}. Retrieve the ${noun} and repeat the change with its ETag.`,
      ),
    [ifMatch],
  )
}

/** For a PUT. @param revision of the named resource; NULL if it does not exist. */
export function isNewIfRequired(noun: string, revision: SQLWrapper) {
  return precondition(
    sql`${ifNoneMatch} is null or ${isNull(revision)}`,
    () =>
      new ApiError(
        'already_exists',
        `The ${noun} exists already, and If-None-Match is "*". Leave the header out to change the ${noun}.`,
      ),
    [ifNoneMatch],
  )
}
