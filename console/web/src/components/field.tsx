/** What the forms of dialogs are made of. */
import { type FormEvent, type ReactNode, useId } from 'react'
import type { Draft } from '../drafts.ts'
import { Dialog, DialogActions } from './dialog.tsx'
import styles from './field.module.css'
import { ErrorNote } from './note.tsx'
import { Time } from './time.tsx'

interface FieldProps {
  readonly label: string
  readonly help?: ReactNode
  /** The element that the label names. */
  readonly children: (attributes: { readonly id: string; readonly 'aria-describedby': string | undefined }) => ReactNode
}

export function Field({ label, help, children }: FieldProps) {
  const id = useId()
  const helpId = `${id}-help`
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': help ? helpId : undefined })}
      {help && (
        <p id={helpId} className="quiet small">
          {help}
        </p>
      )}
    </div>
  )
}

interface CheckProps {
  readonly label: ReactNode
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
  readonly type?: 'checkbox' | 'radio'
  readonly isDisabled?: boolean
}

export function Check({ label, isChecked, onChange, type = 'checkbox', isDisabled }: CheckProps) {
  return (
    <label className={styles.line}>
      <input
        type={type}
        checked={isChecked}
        disabled={isDisabled}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span className="anywhere">{label}</span>
    </label>
  )
}

/** Says that what was typed before is still there. */
export function KeptNote({ draft }: { readonly draft: Draft | null }) {
  if (!draft?.keptSince) return null
  return (
    <p role="status" className="quiet small">
      Not saved yet. Last typed: <Time at={draft.keptSince} />
    </p>
  )
}

interface FormDialogProps {
  readonly title: string
  /** The verb on the button, such as "Create". */
  readonly verb: string
  readonly isDangerous?: boolean
  /** What is typed, which is kept until it is saved or the dialog is closed; null if it has nothing but choices. */
  readonly draft: Draft | null
  readonly isPending: boolean
  readonly error: unknown
  /** Why it cannot be sent yet. */
  readonly problem?: string | undefined
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form in a dialog. What was typed stays if the request is refused. */
export function FormDialog({
  title,
  verb,
  isDangerous = false,
  draft,
  isPending,
  error,
  problem,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  const close = () => {
    draft?.drop()
    onClose()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (problem === undefined) onSubmit()
  }
  return (
    <Dialog title={title} onClose={close}>
      <form className={styles.form} onSubmit={submit}>
        <KeptNote draft={draft} />
        {children}
        {error !== null && error !== undefined && <ErrorNote error={error} />}
        {problem !== undefined && <p className="quiet small">{problem}</p>}
        <DialogActions>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            data-kind={isDangerous ? 'danger' : 'primary'}
            disabled={isPending || problem !== undefined}
          >
            {verb}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
