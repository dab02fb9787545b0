import { Field } from '../components/field.tsx'

interface DescriptionFieldProps {
  readonly value: string
  readonly onChange: (description: string) => void
}

export function DescriptionField({ value, onChange }: DescriptionFieldProps) {
  return (
    <Field label="Description" help="What it is for. Agents can read it too.">
      {(attributes) => (
        <textarea
          {...attributes}
          rows={3}
          maxLength={500}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
