/** A dialog of the browser: it keeps the focus, and Escape closes it. */
import { X } from 'lucide-react'
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import styles from './dialog.module.css'
import { Toasts } from './toast.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

const FIRST_FIELD = ':scope form :is(input:not([hidden]), select, textarea)'

/** It is open as long as it is rendered. A form begins with the focus in its first field. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // An effect would end after the dialog is gone, and the focus would not return to where it was.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    element?.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        // Chromium closes a dialog without asking it if Escape is pressed twice.
        event.preventDefault()
        // It may be within another one.
        event.stopPropagation()
        onClose()
      }}
    >
      <div className={styles.content}>
        <header className={styles.header}>
          <h2 id={titleId}>{title}</h2>
          <button type="button" data-kind="icon" aria-label="Close" onClick={onClose}>
            <X size={16} aria-hidden="true" />
          </button>
        </header>
        {children}
      </div>
      <Toasts dialog={titleId} />
    </dialog>
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}
