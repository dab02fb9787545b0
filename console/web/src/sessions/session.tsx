import { createLazyRoute } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'

export const Route = createLazyRoute('/app/sessions/$sessionId')({ component: Session })

function Session() {
  return <Page title="Session">…</Page>
}
