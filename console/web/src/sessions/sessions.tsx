import { createLazyRoute } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'

export const Route = createLazyRoute('/app/sessions')({ component: Sessions })

function Sessions() {
  return <Page title="Sessions">…</Page>
}
