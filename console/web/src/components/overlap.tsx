/** How long a token or a secret stays valid after a rotation. */
import { Field } from './field.tsx'

const HOUR_SECONDS = 3600
const OVERLAPS = [
  [0, 'It ends at once'],
  [HOUR_SECONDS, 'One more hour'],
  [24 * HOUR_SECONDS, 'One more day'],
  [7 * 24 * HOUR_SECONDS, 'Seven more days'],
  [30 * 24 * HOUR_SECONDS, 'Thirty more days'],
] as const

export const DEFAULT_OVERLAP = 24 * HOUR_SECONDS

interface OverlapProps {
  readonly word: string
  readonly value: number
  readonly onChange: (seconds: number) => void
}

export function Overlap({ word, value, onChange }: OverlapProps) {
  return (
    <Field label={`How long the old ${word} stays valid`}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={({ target }) => onChange(Number(target.value))}>
          {OVERLAPS.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
