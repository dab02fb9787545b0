import { createLazyRoute } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'

export const Route = createLazyRoute('/app/pins')({ component: Pins })

function Pins() {
  return <Page title="Pins">…</Page>
}
