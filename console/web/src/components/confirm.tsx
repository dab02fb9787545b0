/** Asks before something is done that cannot be undone, and shows why it failed if it did. */
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Dialog, DialogActions } from './dialog.tsx'
import { ErrorNote } from './note.tsx'

interface ConfirmProps {
  readonly title: string
  /** What will happen. */
  readonly children: ReactNode
  /** The verb on the button, such as "Delete". */
  readonly verb: string
  readonly act: () => Promise<unknown>
  readonly onClose: () => void
}

export function Confirm({ title, children, verb, act, onClose }: ConfirmProps) {
  const { mutate, isPending, error } = useMutation({ mutationFn: act, onSuccess: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      {error && <ErrorNote error={error} />}
      <DialogActions>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" data-kind="danger" disabled={isPending} onClick={() => mutate()}>
          {verb}
        </button>
      </DialogActions>
    </Dialog>
  )
}
