/** Says what is wrong with the connection or the session, and since when the pages are not up to date. */
import { useSyncExternalStore } from 'react'
import { type Trouble, useTrouble } from '../connection.ts'
import { isUnreachable, WorkspaceError } from '../errors.ts'
import { askAgain, sessionEnd } from '../session-end.ts'
import { toClock } from '../time.ts'
import styles from './toast.module.css'

/** In the words of people. */
export function wordsOf({ kind, error }: Trouble): string {
  if (kind === 'offline') return 'Offline.'
  if (kind === 'slow') return 'The service takes long to respond.'
  if (isUnreachable(error)) return 'The console is not reachable. Trying again …'
  if (error instanceof WorkspaceError && error.status === 429) return 'Too many requests. Trying again …'
  return 'The service is temporarily unavailable. Trying again …'
}

/** At the edge of the window, on every page. */
export function Connection() {
  const trouble = useTrouble()
  const end = useSyncExternalStore(sessionEnd.subscribe, sessionEnd.get)
  const requestId = trouble?.error instanceof WorkspaceError ? trouble.error.requestId : null
  return (
    <div role="status">
      {end?.isDismissed ? (
        <div className={styles.toast}>
          <p>Session ended.</p>
          <button type="button" onClick={askAgain}>
            Sign in again
          </button>
        </div>
      ) : (
        trouble && (
          <div className={styles.toast}>
            <p className="anywhere">
              {wordsOf(trouble)}
              {trouble.staleSince !== null && ` Not up to date since ${toClock(new Date(trouble.staleSince))}.`}
              {requestId && (
                <span className="quiet small">
                  {' '}
                  Request <code>{requestId}</code>
                </span>
              )}
            </p>
          </div>
        )
      )}
    </div>
  )
}
