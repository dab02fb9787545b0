/** An identity has no page: its person has one. */
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Navigate } from '@tanstack/react-router'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { identityQuery } from '../sign-in-data.ts'

export const Route = createLazyRoute('/app/people/identities/$identityId')({ component: ToPerson })

function ToPerson() {
  const { identityId } = Route.useParams()
  const { data, error, refetch } = useQuery(identityQuery(identityId))
  if (data) return <Navigate to="/people/$kind/$id" params={{ kind: 'users', id: data.userId }} replace />
  return <Page title="People">{error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}</Page>
}
