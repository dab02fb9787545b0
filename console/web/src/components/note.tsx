/** What a page says when it has nothing to show, or could not do what it was asked. */
import type { ReactNode } from 'react'
import { useTrouble } from '../connection.ts'
import { messageOf, WorkspaceError } from '../errors.ts'
import { wordsOf } from './connection.tsx'
import styles from './note.module.css'

/** @param children what to do now. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      <div className="quiet">{children}</div>
    </div>
  )
}

/** The sentence of the API, and the ID by which the operator finds the request. */
export function ErrorNote({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const requestId = error instanceof WorkspaceError ? error.requestId : null
  return (
    <div className={styles.error} role="alert">
      <p className="anywhere">{messageOf(error)}</p>
      {requestId && (
        <p className="small">
          Request <code>{requestId}</code>
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** Lines where rows will be. They appear after 200 ms, so that a fast response does not flicker. They say why it takes long. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  const trouble = useTrouble()
  return (
    <div className={styles.skeleton} aria-busy="true">
      {trouble ? <p className="quiet">{wordsOf(trouble)}</p> : <span className="only-read-aloud">Loading</span>}
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same.
        <span key={index} />
      ))}
    </div>
  )
}
