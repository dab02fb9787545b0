import { createLazyRoute } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'

export const Route = createLazyRoute('/app/activity')({ component: Activity })

function Activity() {
  return <Page title="Activity">…</Page>
}
