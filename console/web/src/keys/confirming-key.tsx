/** The API key that creates or rotates a key that outlives the session. */
import { useMe } from '../api.ts'
import { Field } from '../components/field.tsx'
import { Time } from '../components/time.tsx'

interface ConfirmingKeyProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

export function ConfirmingKey({ value, onChange }: ConfirmingKeyProps) {
  const { expiresAt, identityId } = useMe().apiKey
  return (
    <Field
      label="Your API key"
      help={
        <>
          {identityId === null ? (
            <>Your sign-in ends {expiresAt && <Time at={expiresAt} />} and makes no key that outlives it.</>
          ) : (
            'After a sign-in, you make keys of up to 90 days.'
          )}{' '}
          Enter an API key that may do this: it is used once, and not kept.
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
