/** What is shown in the place of a page that failed. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { ErrorNote } from './note.tsx'

export function PageError({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const router = useRouter()
  const queryClient = useQueryClient()
  const retry = () => {
    void queryClient.resetQueries()
    reset()
    void router.invalidate()
  }
  return (
    <main className="page">
      <ErrorNote error={error} retry={retry} />
    </main>
  )
}
