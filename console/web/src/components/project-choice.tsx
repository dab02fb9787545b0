/** To which projects something is restricted. */
import { useState } from 'react'
import { useMe } from '../api.ts'
import { useNames } from '../names.ts'
import styles from './field.module.css'
import { Check } from './field.tsx'

interface ProjectsFieldProps {
  /** Null: all. */
  readonly projectIds: readonly string[] | null
  readonly onChange: (projectIds: string[] | null) => void
}

/** All projects or some, as far as the session may give them. */
export function ProjectsField({ projectIds, onChange }: ProjectsFieldProps) {
  const { projectIds: own } = useMe().apiKey
  // For a change of mind.
  const [last, setLast] = useState(Array.from(projectIds ?? []))
  const choose = (chosen: string[]) => {
    setLast(chosen)
    onChange(chosen)
  }
  return (
    <fieldset>
      <legend>Projects</legend>
      {own === null && (
        <div className={styles.lines}>
          <Check type="radio" label="All" isChecked={projectIds === null} onChange={() => onChange(null)} />
          <Check type="radio" label="Only some" isChecked={projectIds !== null} onChange={() => onChange(last)} />
        </div>
      )}
      {projectIds && (
        <ProjectChoice own={own} chosen={new Set(projectIds)} onChange={(chosen) => choose(Array.from(chosen))} />
      )}
    </fieldset>
  )
}

interface ProjectChoiceProps {
  /** The projects of the session; null: all. */
  readonly own: readonly string[] | null
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

function ProjectChoice({ own, chosen, onChange }: ProjectChoiceProps) {
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
