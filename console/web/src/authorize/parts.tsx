/** What the pages have in common on which a person lets a program in. They have nothing else, so that nobody is led astray. */
import type { ReactNode } from 'react'
import { MAX_GRANT_DAYS } from '../../../../src/contracts.ts'
import { Field } from '../components/field.tsx'
import styles from './authorize.module.css'

export function Frame({ children }: { readonly children: ReactNode }) {
  return (
    <main className={styles.page}>
      <div className={styles.content}>
        <img src="/icon.svg" alt="" width="32" height="32" />
        {children}
      </div>
    </main>
  )
}

export function Warning({ children }: { readonly children: ReactNode }) {
  return (
    <p className={styles.warning} role="note">
      {children}
    </p>
  )
}

export const DEFAULT_DAYS = 30
const DAYS = [1, 7, DEFAULT_DAYS, MAX_GRANT_DAYS] as const

interface DurationProps {
  readonly days: number
  readonly onChange: (days: number) => void
}

export function Duration({ days, onChange }: DurationProps) {
  return (
    <Field label="For how long" help="You can disconnect it at any time under Keys.">
      {(attributes) => (
        <select {...attributes} value={days} onChange={({ target }) => onChange(Number(target.value))}>
          {DAYS.map((each) => (
            <option key={each} value={each}>
              {each === 1 ? 'A day' : `${each} days`}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface DecisionProps {
  /** The verb of the button that lets the program in. */
  readonly verb: string
  readonly isDecided: boolean
  readonly problem?: string | undefined
  readonly onCancel: () => void
}

export function DecisionButtons({ verb, isDecided, problem, onCancel }: DecisionProps) {
  return (
    <div className={styles.actions}>
      <button type="button" disabled={isDecided} onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" data-kind="primary" disabled={isDecided || problem !== undefined}>
        {verb}
      </button>
    </div>
  )
}

/** Back to the program. Its address was checked, but a script would still be one. */
export function leaveTo(address: string): void {
  if (/^https?:$/.test(new URL(address).protocol)) location.assign(address)
}
