/** Who is signed in, the colors, and the way out. */
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Keyboard, LogOut } from 'lucide-react'
import { useState } from 'react'
import { useCan, useMe } from '../api.ts'
import { queryClient } from '../connection.ts'
import { showError } from '../messages.ts'
import { signOut } from '../session.ts'
import { applyTheme, readTheme, THEMES } from '../theme.ts'
import styles from './layout.module.css'

const THEME_NAMES = { system: 'System colors', light: 'Light', dark: 'Dark' } as const

export function Person({ onShowKeys }: { readonly onShowKeys: () => void }) {
  const { user, apiKey } = useMe()
  const can = useCan()
  const [theme, setTheme] = useState(readTheme)
  const navigate = useNavigate()
  const leave = useMutation({
    mutationFn: signOut,
    // The session may still be valid: the person sees that, and can try again.
    onError: showError,
    onSuccess: async () => {
      await navigate({ to: '/sign-in' })
      queryClient.clear()
    },
  })
  // The key of a person who signed in has the name of the person.
  const signedIn = apiKey.identityId === null ? `signed in with ${apiKey.name}` : 'signed in'
  return (
    <section className={styles.person} aria-label="You">
      <p className="anywhere">
        {user && can('users:read') ? (
          <Link className={styles.self} to="/people/$kind/$id" params={{ kind: 'users', id: user.id }}>
            {user.name}
          </Link>
        ) : (
          <strong>{user?.name ?? apiKey.name}</strong>
        )}
        <br />
        <span className="quiet small">{user ? signedIn : 'a key without a user'}</span>
      </p>
      <select
        aria-label="Colors"
        value={theme}
        onChange={({ target }) => {
          const chosen = THEMES.find((each) => each === target.value) ?? 'system'
          applyTheme(chosen)
          setTheme(chosen)
        }}
      >
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {THEME_NAMES[each]}
          </option>
        ))}
      </select>
      <div className={styles.personActions}>
        <button type="button" data-kind="plain" onClick={onShowKeys}>
          <Keyboard size={16} aria-hidden="true" />
          Help
        </button>
        <button type="button" data-kind="plain" disabled={leave.isPending} onClick={() => leave.mutate()}>
          <LogOut size={16} aria-hidden="true" />
          Sign out
        </button>
      </div>
    </section>
  )
}
