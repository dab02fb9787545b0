/** Reads from the nearest replica, if the operator turned read replication on (docs/clients.md, Bookmarks). */
import { type Environment, isOn } from '../environment.ts'

/** Names a state of the database: in a response the one that was read, in a request the oldest that may be read. */
export const BOOKMARK = 'X-Bookmark'

/** The form of D1's bookmarks: numbers in hexadecimal. */
const PATTERN = /^[0-9a-f]{1,64}(?:-[0-9a-f]{1,64}){3}$/i

/**
 * The session of a request. A read uses any replica that is not older than its bookmark. Every other request, and a
 * read with `latest` or another value that is no bookmark, begins at the primary. Undefined if read replication is off.
 */
export function openSession(request: Request, environment: Environment): D1DatabaseSession | undefined {
  if (!isOn(environment.READ_REPLICATION)) return undefined
  return environment.DB.withSession(constraintOf(request))
}

function constraintOf({ method, headers }: Request): D1SessionBookmark | D1SessionConstraint {
  if (method !== 'GET' && method !== 'HEAD') return 'first-primary'
  const bookmark = headers.get(BOOKMARK)
  if (bookmark === null) return 'first-unconstrained'
  return PATTERN.test(bookmark) ? bookmark : 'first-primary'
}
