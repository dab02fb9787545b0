/** A token or a secret that is shown once. Only the state of this dialog's caller has it, until the dialog closes. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { showSecret } from '../session-end.ts'
import { Dialog, DialogActions } from './dialog.tsx'
import styles from './secret-once.module.css'

interface SecretOnceProps {
  readonly title: string
  /** What it is, such as "token". */
  readonly word: string
  readonly secret: string
  /** What to do with it. */
  readonly children?: ReactNode
  readonly onClose: () => void
}

export function SecretOnce({ title, word, secret, children, onClose }: SecretOnceProps) {
  const [state, setState] = useState<'new' | 'copied' | 'selected' | 'warned'>('new')
  const code = useRef<HTMLElement>(null)
  useEffect(showSecret, [])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret)
      setState('copied')
    } catch {
      if (code.current) getSelection()?.selectAllChildren(code.current)
      setState('selected')
    }
  }
  return (
    // Escape must not lose it.
    <Dialog title={title} onClose={() => (state === 'copied' ? onClose() : setState('warned'))}>
      <p>
        Copy the {word} now: it is not shown again. {children}
      </p>
      <code ref={code} className={styles.secret} data-secret>
        {secret}
      </code>
      <p role="status" className="quiet small">
        {
          {
            new: '',
            copied: 'Copied.',
            selected: 'The browser did not allow to copy it. It is selected: press Ctrl+C or ⌘C.',
            warned: `Copy the ${word} first, or choose Done: it is not shown again.`,
          }[state]
        }
      </p>
      <DialogActions>
        <button type="button" data-kind="primary" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={onClose}>
          Done
        </button>
      </DialogActions>
    </Dialog>
  )
}
