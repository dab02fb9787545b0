/** The page that writes the next version of a skill. */
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan } from '../api.ts'
import { ErrorNote, Skeleton } from '../components/note.tsx'
import { Page } from '../components/page.tsx'
import { readCurrent } from './data.ts'
import { SkillEditor } from './editor.tsx'

export const Route = createLazyRoute('/app/skills/$skillId/edit')({ component: EditSkill })

function EditSkill() {
  const { skillId } = Route.useParams()
  const { file } = Route.useSearch()
  const can = useCan()
  const isAllowed = can('skills:read') && can('skills:write')
  const [opening] = useState(() => crypto.randomUUID())
  const { data, error, refetch } = useQuery({
    // What is written on stays the same, whatever event there is, and is read again when the page is opened again.
    queryKey: ['contents', skillId, opening],
    queryFn: () => readCurrent(skillId),
    enabled: isAllowed,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (data) {
    return (
      <SkillEditor
        key={skillId}
        title={`Edit ${data.version.name}`}
        skillId={skillId}
        files={data.version.files}
        etag={data.etag}
        opened={file}
      />
    )
  }
  return (
    <Page title="Edit skill">
      {!isAllowed ? (
        <p className="quiet">This session may not change skills.</p>
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}
