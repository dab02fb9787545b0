/** The entry of the pages. */
import './tokens.css'
import './base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { meQuery, queryClient } from './api.ts'
import { createConsoleRouter } from './router.tsx'
import { isSignInPage } from './session.ts'
import { takeProblem } from './sign-in/problem.ts'
import { applyTheme } from './theme.ts'

applyTheme()
takeProblem()
// Every page but this one waits for it, so it is on its way before anything is drawn.
if (!isSignInPage(location.pathname)) void queryClient.prefetchQuery(meQuery)
reloadAfterDeployments()
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

/** The scripts of an earlier version are gone. Once a minute at most, because a reload may not help. */
function reloadAfterDeployments(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem('reloadedAt') ?? 0)
    if (Date.now() - last < 60_000) return
    event.preventDefault()
    sessionStorage.setItem('reloadedAt', String(Date.now()))
    location.reload()
  })
}
