/** The views of the page People. */
import { useNavigate } from '@tanstack/react-router'
import { useMaySignIn } from '../sign-in-data.ts'
import { WORDS } from './data.ts'
import { KINDS, type Kind } from './kinds.ts'
import styles from './people.module.css'

export function Tabs({ current }: { readonly current: Kind | 'sign-in' }) {
  const navigate = useNavigate()
  const may = useMaySignIn()
  return (
    <div className={styles.tabs}>
      {KINDS.map((kind) => (
        <button
          key={kind}
          type="button"
          aria-pressed={current === kind}
          onClick={() => void navigate({ to: '/people', search: kind === 'users' ? {} : { kind } })}
        >
          {WORDS[kind].plural}
        </button>
      ))}
      {may.read && (
        <button
          type="button"
          aria-pressed={current === 'sign-in'}
          onClick={() => void navigate({ to: '/people/sign-in' })}
        >
          Sign-in
        </button>
      )}
    </div>
  )
}
