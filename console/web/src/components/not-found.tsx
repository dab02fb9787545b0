import { Link } from '@tanstack/react-router'
import { Empty } from './note.tsx'

export function NotFound() {
  return (
    <main className="page">
      <Empty title="There is no such page">
        The address may be misspelt. <Link to="/">Go to Today</Link>
      </Empty>
    </main>
  )
}
