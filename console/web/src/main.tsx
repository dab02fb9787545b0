/** The entry of the pages. */
import './tokens.css'
import './base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api.ts'
import { createConsoleRouter } from './router.tsx'
import { applyTheme } from './theme.ts'

applyTheme()
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
