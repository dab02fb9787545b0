/** The API key that creates or rotates a key that outlives the session. */
import { useMe } from '../api.ts'
import { Field } from '../components/field.tsx'
import { Time } from '../components/time.tsx'

interface ConfirmingKeyProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

export function ConfirmingKey({ value, onChange }: ConfirmingKeyProps) {
  const { expiresAt } = useMe().apiKey
  return (
    <Field
      label="Your API key"
      help={
        <>
          Your sign-in ends {expiresAt && <Time at={expiresAt} />} and makes no key that outlives it. Enter an API key
          that may do this: it is used once, and not kept.
        </>
      }
    >
      {(attributes) => (
        <input
          {...attributes}
          type="password"
          required
          autoComplete="current-password"
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
