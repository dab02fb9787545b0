/** A page: its heading, which is also the title of the browser's tab, what can be done with all of it, its content. */
import { type ReactNode, useEffect } from 'react'
import { visible } from '../visible.ts'
import styles from './page.module.css'

interface PageProps {
  readonly title: string
  /** Beside the heading. */
  readonly actions?: ReactNode
  /** Below the heading. */
  readonly details?: ReactNode
  readonly children: ReactNode
}

export function Page({ title, actions, details, children }: PageProps) {
  useEffect(() => {
    document.title = `${visible(title)} · Workspace`
  }, [title])
  return (
    <main className="page" id="content" tabIndex={-1}>
      <header className={styles.header}>
        <div className={styles.heading}>
          <h1 className="anywhere">{title}</h1>
          {actions && <div className={styles.actions}>{actions}</div>}
        </div>
        {details}
      </header>
      {children}
    </main>
  )
}
