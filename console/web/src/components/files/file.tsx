/** One file: its name, what can be done with it, and its content, formatted or as its source. */
import type { ReactNode } from 'react'
import { Empty } from '../note.tsx'
import { toSize } from './content.ts'
import styles from './file.module.css'

/** What the button says that shows a file of a kind as more than its source. */
export const FORMATTED_VIEWS = { markdown: 'Formatted', json: 'Formatted', html: 'Render', image: 'Picture' } as const

/** Whether a file is shown as its source or as more. */
interface View {
  readonly formatted: string
  readonly isSource: boolean
  readonly onSource: (isSource: boolean) => void
}

interface FileArticleProps {
  readonly name: string
  readonly details: ReactNode
  readonly actions?: ReactNode
  /** Undefined: there is nothing to choose. */
  readonly view?: View | undefined
  readonly children: ReactNode
}

export function FileArticle({ name, details, actions, view, children }: FileArticleProps) {
  return (
    <article className={styles.viewer} aria-label={name}>
      <header className={styles.header}>
        <div>
          <h2 className="anywhere">
            <bdi>{name}</bdi>
          </h2>
          <p className="quiet small">{details}</p>
        </div>
        <div className={styles.actions}>
          {view && (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
            <div role="group" aria-label="View" className={styles.views}>
              <button type="button" aria-pressed={!view.isSource} onClick={() => view.onSource(false)}>
                {view.formatted}
              </button>
              <button type="button" aria-pressed={view.isSource} onClick={() => view.onSource(true)}>
                Source
              </button>
            </div>
          )}
          {actions}
        </div>
      </header>
      {children}
    </article>
  )
}

export function NotShown({ sizeBytes }: { readonly sizeBytes: number }) {
  return <Empty title="This file is not text">Download it to open its {toSize(sizeBytes)} in another program.</Empty>
}
