/** Check boxes of projects. */
import { useNames } from '../api.ts'
import styles from './field.module.css'
import { Check } from './field.tsx'

interface ProjectChoiceProps {
  /** The projects of the session; null: all. */
  readonly own: readonly string[] | null
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

export function ProjectChoice({ own, chosen, onChange }: ProjectChoiceProps) {
  const names = useNames('projects')
  // What is chosen may be gone, or behind the first names.
  const ids = own ?? Array.from(new Set([...names.keys(), ...chosen]))
  if (ids.length === 0) return <p className="quiet">This session may not list projects.</p>
  return (
    <div className={styles.box}>
      {ids.map((id) => (
        <Check
          key={id}
          label={names.get(id) ?? id}
          isChecked={chosen.has(id)}
          onChange={() => onChange(toggled(chosen, id))}
        />
      ))}
    </div>
  )
}

export function toggled(chosen: ReadonlySet<string>, value: string): ReadonlySet<string> {
  const next = new Set(chosen)
  if (!next.delete(value)) next.add(value)
  return next
}
