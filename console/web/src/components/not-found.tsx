import { Link } from '@tanstack/react-router'
import { Page } from './page.tsx'

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p className="quiet">
        The address may be misspelt. <Link to="/">Go to Today</Link>
      </p>
    </Page>
  )
}
