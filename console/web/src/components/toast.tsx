/** Shows the messages at the edge of the window, read aloud. */
import { useLayoutEffect, useSyncExternalStore } from 'react'
import { closeMessage, shownMessages, subscribe } from '../messages.ts'
import { Connection } from './connection.tsx'
import styles from './toast.module.css'

/** The IDs of the open dialogs, the topmost last. */
let dialogs: readonly string[] = []
const dialogListeners = new Set<() => void>()

function setDialogs(next: readonly string[]): void {
  dialogs = next
  for (const listener of dialogListeners) listener()
}

function subscribeToDialogs(listener: () => void): () => void {
  dialogListeners.add(listener)
  return () => dialogListeners.delete(listener)
}

interface ToastsProps {
  /** The ID of the dialog that they are in; without it, they are in the page, which an open dialog covers. */
  readonly dialog?: string
}

export function Toasts({ dialog }: ToastsProps) {
  const shown = useSyncExternalStore(subscribe, shownMessages)
  const topmost = useSyncExternalStore(subscribeToDialogs, () => dialogs.at(-1))
  useLayoutEffect(() => {
    if (dialog === undefined) return
    setDialogs([...dialogs, dialog])
    return () => setDialogs(dialogs.filter((each) => each !== dialog))
  }, [dialog])
  if (topmost !== dialog) return dialog === undefined && <section className={styles.toasts} aria-live="polite" />
  return (
    <section className={styles.toasts} aria-live="polite" aria-label="Messages">
      <Connection />
      {shown.map(({ id, text, isError, action }) => (
        <div key={id} className={styles.toast} data-error={isError}>
          <p className="anywhere">{text}</p>
          {action && (
            <button
              type="button"
              onClick={() => {
                closeMessage(id)
                action.onSelect()
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" data-kind="plain" onClick={() => closeMessage(id)}>
            Close
          </button>
        </div>
      ))}
    </section>
  )
}
