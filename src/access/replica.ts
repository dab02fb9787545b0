/** Reads from the nearest replica, if the operator turned read replication on (docs/clients.md, Bookmarks). */
import { databaseOf } from '../db/database.ts'
import { type Environment, isOn } from '../environment.ts'

/** Names a state of the database: in a response the one that was read, in a request the oldest that may be read. */
export const BOOKMARK = 'X-Bookmark'

/** The form of D1's bookmarks, numbers in hexadecimal, after the number of the database if it is not 0. */
const PATTERN = /^(?:([1-9][0-9]{0,3})\.)?([0-9a-f]{1,64}(?:-[0-9a-f]{1,64}){3})$/i

/**
 * The session of a request. A read uses any replica that is not older than its bookmark. Every other request, and a
 * read with `latest` or another value that is no bookmark of the database, begins at the primary. Undefined if read
 * replication is off.
 */
export function openSession(
  request: Request,
  environment: Environment,
  databaseNumber: number,
): D1DatabaseSession | undefined {
  if (!isOn(environment.READ_REPLICATION)) return undefined
  return databaseOf(environment, databaseNumber)?.withSession(constraintOf(request, databaseNumber))
}

function constraintOf({ method, headers }: Request, databaseNumber: number): D1SessionBookmark | D1SessionConstraint {
  if (method !== 'GET' && method !== 'HEAD') return 'first-primary'
  const sent = headers.get(BOOKMARK)
  if (sent === null) return 'first-unconstrained'
  const [, number = '0', bookmark] = PATTERN.exec(sent) ?? []
  return bookmark !== undefined && Number(number) === databaseNumber ? bookmark : 'first-primary'
}

/** The value of `X-Bookmark` for the state that the session has read. */
export function bookmarkOf(session: D1DatabaseSession, databaseNumber: number): string | null {
  const bookmark = session.getBookmark()
  return bookmark === null || databaseNumber === 0 ? bookmark : `${databaseNumber}.${bookmark}`
}
