/** Reads from the nearest replica, where the operator turned them on (docs/clients.md, Bookmarks). */
import { type Environment, isOn } from '../environment.ts'
import { describeSent } from '../http/problems.ts'

/** The header that names a state of the database: of an answer, the one that it saw; of a request, the oldest that it may see. */
export const BOOKMARK = 'X-Bookmark'

/** What D1 gives out: numbers in hexadecimal. */
const PATTERN = /^[0-9a-f]{1,64}(?:-[0-9a-f]{1,64}){3}$/i

/**
 * The session of a request: a read may be answered by any replica that is not older than its bookmark; everything else
 * begins at the primary. Undefined where replicas are not used.
 */
export function sessionOf(request: Request, environment: Environment): D1DatabaseSession | undefined {
  if (!isOn(environment.READ_REPLICATION)) return undefined
  if (!isRead(request)) return environment.DB.withSession('first-primary')
  const bookmark = request.headers.get(BOOKMARK) ?? ''
  return environment.DB.withSession(PATTERN.test(bookmark) ? bookmark : 'first-unconstrained')
}

/** What is wrong with the bookmark of a read, if anything is. */
export function problemOfBookmark(request: Request, environment: Environment): string | undefined {
  const bookmark = request.headers.get(BOOKMARK)
  if (!isOn(environment.READ_REPLICATION) || !isRead(request)) return undefined
  if (bookmark === null || PATTERN.test(bookmark)) return undefined
  return `${BOOKMARK}: expected that of an earlier answer, got ${describeSent(bookmark)}`
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}
