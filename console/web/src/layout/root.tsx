/** What every page has, also those that need no session. */
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useSyncExternalStore } from 'react'
import { Toasts } from '../components/toast.tsx'
import { loadPart } from '../connection.ts'
import { sessionEnd } from '../session-end.ts'

const SignInAgain = lazy(() => loadPart(() => import('../sign-in/sign-in-again.tsx')))

export function Root() {
  const end = useSyncExternalStore(sessionEnd.subscribe, sessionEnd.getAsked)
  return (
    <>
      <Outlet />
      <Toasts />
      {end && (
        <Suspense>
          <SignInAgain end={end} />
        </Suspense>
      )}
    </>
  )
}
