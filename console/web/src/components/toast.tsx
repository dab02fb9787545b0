/** Short messages at the edge of the window, read aloud: what was done, or why it was not. */
import { useLayoutEffect, useSyncExternalStore } from 'react'
import { messageOf } from '../errors.ts'
import { Connection } from './connection.tsx'
import styles from './toast.module.css'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isError: boolean
  readonly action: ToastAction | undefined
}

/** What the message offers, such as to undo what was done. */
export interface ToastAction {
  readonly label: string
  readonly onSelect: () => void
}

const SHOWN_MS = 6000

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function setDialogs(next: readonly string[]): void {
  dialogs = next
  for (const listener of listeners) listener()
}

/** Errors stay until they are closed. What is shown is not shown twice. */
export function showToast(text: string, isError = false, action?: ToastAction): void {
  if (isError && toasts.some((shown) => shown.text === text)) return
  lastId += 1
  const id = lastId
  set([...toasts.slice(-2), { id, text, isError, action }])
  if (!isError) setTimeout(() => close(id), SHOWN_MS)
}

export function showError(error: unknown): void {
  showToast(messageOf(error), true)
}

function close(id: number): void {
  set(toasts.filter((toast) => toast.id !== id))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The IDs of the open dialogs, the topmost last. */
let dialogs: readonly string[] = []

interface ToastsProps {
  /** The ID of the dialog that they are in; without it, they are in the page, which an open dialog covers. */
  readonly dialog?: string
}

export function Toasts({ dialog }: ToastsProps) {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  const topmost = useSyncExternalStore(subscribe, () => dialogs.at(-1))
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
                close(id)
                action.onSelect()
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" data-kind="plain" onClick={() => close(id)}>
            Close
          </button>
        </div>
      ))}
    </section>
  )
}
