/** The entry of the pages. */
import './tokens.css'
import './base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { continueSignedIn, meQuery } from './api.ts'
import { queryClient } from './connection.ts'
import { dropDrafts } from './drafts.ts'
import { createConsoleRouter } from './router.tsx'
import { isSignInPage } from './session.ts'
import { followSignIns } from './session-end.ts'
import { takeProblem } from './sign-in/problem.ts'
import { applyTheme } from './theme.ts'

applyTheme()
takeProblem()
// Every page but this one waits for it, so it is on its way before anything is drawn.
if (!isSignInPage(location.pathname)) void queryClient.prefetchQuery(meQuery)
followSignIns({ onSignIn: () => void continueSignedIn().catch(() => undefined), onSignOut: dropDrafts })
reloadForParts()
const router = createConsoleRouter()

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router
  }
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)

/**
 * The scripts of an earlier version are gone, or one could not be loaded: as soon as the console responds. What was typed
 * is kept. Once a minute at most, because a reload may not help.
 */
function reloadForParts(): void {
  window.addEventListener('vite:preloadError', async () => {
    // The page waits for the network by itself.
    if (!navigator.onLine) return
    const last = Number(sessionStorage.getItem('reloadedAt') ?? 0)
    const response = await fetch('/', { method: 'HEAD' }).catch(() => undefined)
    if (!response?.ok || Date.now() - last < 60_000) return
    sessionStorage.setItem('reloadedAt', String(Date.now()))
    location.reload()
  })
}
