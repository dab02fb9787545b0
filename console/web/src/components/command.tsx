/** A command of a shell, with a button that copies it. */
import { useRef } from 'react'
import { showMessage } from '../messages.ts'
import styles from './command.module.css'

/** @param what it does, such as "Create a key". */
export function Command({ what, children }: { readonly what: string; readonly children: string }) {
  const code = useRef<HTMLElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(children)
      showMessage('Copied.')
    } catch {
      if (code.current) getSelection()?.selectAllChildren(code.current)
      showMessage('The browser did not allow to copy it. It is selected: press Ctrl+C or ⌘C.')
    }
  }
  return (
    <div className={styles.command}>
      <code ref={code}>{children}</code>
      <button type="button" aria-label={`Copy the command: ${what}`} onClick={() => void copy()}>
        Copy
      </button>
    </div>
  )
}

/** A text as one word of a shell of Linux or macOS. */
export function shellWord(text: string): string {
  return /^[\w./@:+][\w./@:+-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
