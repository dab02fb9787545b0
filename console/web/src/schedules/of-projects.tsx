/** Where the schedules of its projects are, for a session that may not list all schedules. */
import { Link } from '@tanstack/react-router'
import { useCan, useMe } from '../api.ts'
import { Empty } from '../components/note.tsx'
import { ProjectName } from '../components/project-name.tsx'

export function OfProjects() {
  const canRead = useCan()('projects:read')
  const projectIds = useMe().apiKey.projectIds ?? []
  return (
    <Empty title="This session is restricted to projects">
      It may not list the schedules of the whole organization.
      {canRead && projectIds.length > 0 && ' Those of its projects are at:'}
      {canRead && (
        <ul>
          {projectIds.map((id) => (
            <li key={id}>
              <Link to="/people/$kind/$id" params={{ kind: 'projects', id }}>
                <bdi>
                  <ProjectName id={id} />
                </bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Empty>
  )
}
