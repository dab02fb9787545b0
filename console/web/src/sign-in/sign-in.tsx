/** Sign in with an API key, for which the service makes a session. */
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { queryClient } from '../api.ts'
import { ErrorNote } from '../components/note.tsx'
import { signIn } from '../session.ts'
import styles from './sign-in.module.css'

const route = getRouteApi('/sign-in')

export function SignIn() {
  const { next } = route.useSearch()
  const router = useRouter()
  const [apiKey, setApiKey] = useState('')
  const ids = { field: useId(), help: useId() }
  const { mutate, isPending, error } = useMutation({
    mutationFn: signIn,
    onSuccess: async () => {
      queryClient.clear()
      // Another address than a path of this origin is not one of the console.
      router.history.push(next && /^\/(?![/\\])/.test(next) ? next : '/')
    },
  })
  useEffect(() => {
    document.title = 'Sign in · Workspace'
  }, [])
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    mutate(apiKey.trim())
  }
  return (
    <main className={styles.page}>
      <form className={styles.form} onSubmit={onSubmit}>
        <img src="/icon.svg" alt="" width="32" height="32" />
        <h1>Sign in to Workspace</h1>
        <div className={styles.field}>
          <label htmlFor={ids.field}>API key</label>
          <input
            id={ids.field}
            type="password"
            name="apiKey"
            // biome-ignore lint/a11y/noAutofocus: the page has nothing else.
            autoFocus
            required
            autoComplete="current-password"
            spellCheck={false}
            aria-describedby={ids.help}
            aria-invalid={error !== null}
            value={apiKey}
            onChange={(event) => setApiKey(event.target.value)}
          />
          <p id={ids.help} className="quiet small">
            The key itself is not kept. It makes a session with the same permissions, which ends after 12 hours, with
            the key, or when you sign out.
          </p>
        </div>
        {error && <ErrorNote error={error} />}
        <button type="submit" data-kind="primary" disabled={isPending || apiKey.trim() === ''}>
          {isPending ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}
