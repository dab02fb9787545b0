/** The end of a sign-in in a window of its own: the page that waits for it continues. */
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { useEffect } from 'react'
import { tellSignIn } from '../api.ts'
import { ErrorNote } from '../components/note.tsx'
import styles from './sign-in.module.css'

export const Route = createLazyRoute('/signed-in')({ component: SignedIn })

function SignedIn() {
  const { isSuccess, error, refetch } = useQuery({
    queryKey: ['signed-in'],
    queryFn: async () => {
      await tellSignIn()
      return true
    },
  })
  useEffect(() => {
    document.title = 'Signed in · Workspace'
    if (isSuccess) window.close()
  }, [isSuccess])
  return (
    <main className={styles.page}>
      <div className={styles.form}>
        <img src="/icon.svg" alt="" width="32" height="32" />
        <h1>{isSuccess ? 'You are signed in' : 'Signing in'}</h1>
        {error && <ErrorNote error={error} retry={() => void refetch()} />}
        {isSuccess && <p>You can close this window.</p>}
      </div>
    </main>
  )
}
