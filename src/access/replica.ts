/** Reads from the nearest replica, where the operator turned them on (docs/clients.md, Bookmarks). */
import { type Environment, isOn } from '../environment.ts'

/** The header that names a state of the database: of an answer, the one that it saw; of a request, the oldest that it may see. */
export const BOOKMARK = 'X-Bookmark'

/** What D1 gives out: numbers in hexadecimal. */
const PATTERN = /^[0-9a-f]{1,64}(?:-[0-9a-f]{1,64}){3}$/i

/**
 * The session of a request: a read may be answered by any replica that is not older than its bookmark; everything else
 * begins at the primary, and so does a read whose bookmark is none. Undefined where replicas are not used.
 */
export function sessionOf(request: Request, environment: Environment): D1DatabaseSession | undefined {
  if (!isOn(environment.READ_REPLICATION)) return undefined
  return environment.DB.withSession(beginningOf(request))
}

function beginningOf({ method, headers }: Request): D1SessionBookmark | D1SessionConstraint {
  if (method !== 'GET' && method !== 'HEAD') return 'first-primary'
  const bookmark = headers.get(BOOKMARK)
  if (bookmark === null) return 'first-unconstrained'
  return PATTERN.test(bookmark) ? bookmark : 'first-primary'
}
