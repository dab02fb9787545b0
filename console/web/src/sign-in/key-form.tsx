/** Signs in with an API key, for which the service makes a session. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { ErrorNote } from '../components/note.tsx'
import { signIn } from '../session.ts'
import styles from './sign-in.module.css'

interface KeyFormProps {
  /** There is no other way to sign in. */
  readonly isAlone: boolean
  readonly onSignedIn: () => Promise<void>
}

export function KeyForm({ isAlone, onSignedIn }: KeyFormProps) {
  const [apiKey, setApiKey] = useState('')
  const ids = { field: useId(), help: useId() }
  const { mutate, isPending, error } = useMutation({
    // What it takes would be kept.
    gcTime: 0,
    mutationFn: async () => {
      await signIn(apiKey.trim())
      await onSignedIn()
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <div className={styles.field}>
        <label htmlFor={ids.field}>API key</label>
        <input
          id={ids.field}
          type="password"
          name="apiKey"
          // biome-ignore lint/a11y/noAutofocus: there is nothing else.
          autoFocus={isAlone}
          required
          autoComplete="current-password"
          spellCheck={false}
          aria-describedby={ids.help}
          aria-invalid={error !== null}
          value={apiKey}
          onChange={(event) => setApiKey(event.target.value)}
        />
        <p id={ids.help} className="quiet small">
          The key itself is not kept. It makes a session with the same permissions, which ends after 12 hours, with the
          key, or when you sign out.
        </p>
      </div>
      {error && <ErrorNote error={error} />}
      <button type="submit" data-kind={isAlone ? 'primary' : undefined} disabled={isPending || apiKey.trim() === ''}>
        {isPending ? 'Signing in …' : isAlone ? 'Sign in' : 'Sign in with the API key'}
      </button>
    </form>
  )
}
