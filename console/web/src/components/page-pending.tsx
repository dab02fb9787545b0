/** In the place of a page whose code or session has not arrived yet. */
import { Skeleton } from './note.tsx'

export function PagePending() {
  return (
    <main className="page" id="content" tabIndex={-1}>
      <Skeleton />
    </main>
  )
}
